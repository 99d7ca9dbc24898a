/* Text of strangers, as messages may show it. A file that Heddle reads may hold anything: sequences
 * that a terminal obeys, characters that turn the order of a line round, bytes that are no UTF-8,
 * words of megabytes. What comes out is one line of UTF-8 that a terminal, JSON and SARIF take as
 * it is: other bytes stand as \x1b, other characters as \u202e.
 */
#ifndef HEDDLE_BASE_PRINTABLE_H
#define HEDDLE_BASE_PRINTABLE_H

#include "base/str.h"
#include "base/text.h"

/* The length of the character of UTF-8 at the start of n > 0 bytes (RFC 3629, section 4); 0 where
 * there is none. */
unsigned utf8_decode(const char *p, size_t n, uint32_t *code);

/* Appends all of `s`; tabs stay. Returns how many columns it takes, tabs as one. */
size_t printable_put(struct text *t, struct str s);
/* The same in the arena. */
const char *printable(struct arena *arena, struct str s);

enum { EXCERPT_WORD_BYTES = 512, EXCERPT_BYTES = 16 << 10 };
/* The same of a message: a word of more than EXCERPT_WORD_BYTES loses its middle, and what is
 * behind EXCERPT_BYTES is cut. `lines`: ends of lines are our own, and stay. */
const char *printable_excerpt(struct arena *arena, struct str s, bool lines);

#endif
