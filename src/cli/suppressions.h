/* Findings that are left out: by rules in a text file, by comments in the source, and by known.def.
 *
 * A rule is a line `CODE PLACE FUNCTION`. CODE is the finding's, or a pattern that fits some; PLACE
 * is FILE or FILE:LINE of one of its places, with all lines that are inlined there and its notes'
 * included: FILE is the path from the root of the sources, or its end behind a slash, or the
 * absolute path. FUNCTION, which extends to the end of the line, is the kernel's name in the
 * source, or a host function in the call stack. In all three, * and ? stand for any text and any
 * character (fnmatch). A part that a finding does not have is "-". A part that is missing at the
 * end of a rule is *. Empty lines and lines that start with # are ignored.
 *
 * A comment `heddle: allow(CODE, ...) reason` at a line of a finding, or at the line above, is a
 * rule for that line.
 */
#ifndef HEDDLE_CLI_SUPPRESSIONS_H
#define HEDDLE_CLI_SUPPRESSIONS_H

#include "base/diag.h"

struct suppression {
    const char *code, *place, *function;
    uint32_t line; /* of the file */
    bool fitted;   /* it has matched a finding */
};

struct suppressions {
    const char *path, *root; /* root: of the sources */
    VEC(struct suppression) rules;
    VEC(const char *) remarks; /* about comments */
};

/* Returns NULL, or what is wrong with the file, in the arena. */
const char *suppressions_read(struct suppressions *s, const char *path, struct arena *arena);
/* Removes findings that a rule, a comment or known.def names from the list, and returns their
 * number. */
uint32_t suppressions_apply(struct suppressions *s, struct diags *d);
/* A line for each rule of the file that matched no finding, and the remarks. */
struct str suppressions_unused(const struct suppressions *s, struct arena *arena);
/* A file of rules for all findings of the list, each by its file and function. */
struct str suppressions_text(const struct suppressions *s, const struct diags *d, struct arena *arena);

#endif
