/* Going through a function's text for read.c: characters, words, numbers, lines, and the first
 * error. Blanks before what is asked for are passed, and comments. Where there has been an error
 * nothing is found any more. Private to ir/.
 */
#ifndef HEDDLE_IR_SCAN_H
#define HEDDLE_IR_SCAN_H

#include "base/diag.h"

struct scanner {
    struct diags *diags;
    const struct source *source;
    const char *p, *end; /* what is left of the text */
    bool failed;
};

/* The first error, at a place in the text; false. */
bool scan_fail(struct scanner *s, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The next character; at the end of a line, or of the text, '\n'. */
char scan_peek(struct scanner *s);
bool scan_at_line_end(struct scanner *s);
/* Is it the next? Then it is passed; where it is expected and is not there, that is an error. */
bool scan_take(struct scanner *s, char c);
bool scan_expect(struct scanner *s, char c);
/* To the next line that has something, or the end of the text; where a line is to end here, what is
 * left of it is an error. */
void scan_skip_lines(struct scanner *s);
bool scan_end_line(struct scanner *s);

/* The next word, with its dots; empty where there is none. */
struct str scan_word(struct scanner *s);
/* Does this word stand here? Then it is passed. */
bool scan_this(struct scanner *s, const char *word);
/* The number of a word in a list that a function tells one by one; -1: it is not there. */
int scan_among(struct str word, const char *(*text)(size_t));

/* A number: decimal, perhaps negative, or hexadecimal; one that is not greater than `most`; the
 * width of a register. */
uint64_t scan_number(struct scanner *s);
uint32_t scan_small(struct scanner *s, uint64_t most, const char *what);
uint8_t scan_width(struct scanner *s);

#endif
