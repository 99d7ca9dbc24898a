/* What is known of codes of findings and errors: the rows of codes.def. */
#ifndef HEDDLE_REPORT_CODES_H
#define HEDDLE_REPORT_CODES_H

#include <stdbool.h>
#include <stddef.h>

/* Texts as codes.def has them; `tool` is one of `heddle check`'s, or NULL. */
struct report_code {
    const char *tool, *code, *title, *meaning, *example, *fix;
};

/* NULL: it is none of the table. */
const struct report_code *report_code_find(const char *code);
/* The one that is written most alike, never NULL. */
const struct report_code *report_code_nearest(const char *word);
/* Does the pattern (* and ? as in fnmatch) name any? */
bool report_code_fits(const char *pattern);

#endif
