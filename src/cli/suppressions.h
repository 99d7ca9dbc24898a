/* Findings that are not to be shown: by rules of a text file, by comments of the source, and by
 * known.def.
 *
 * A rule is a line `CODE PLACE FUNCTION`. CODE is the finding's, or a pattern that fits some; PLACE
 * is FILE or FILE:LINE of one of its places, with all lines that are inlined there and its notes'
 * included: FILE is the path from the root of the sources, or its end behind a slash, or the
 * absolute path. FUNCTION is the kernel by the name that its source has, or a function of the host
 * that stands in the call stack, to the end of the line. In all, * and ? stand for anything and any
 * character (fnmatch); what a finding does not have is "-"; what is left out at the end of a rule
 * is *. Empty lines and those that start with # say nothing.
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
    bool fitted;   /* a finding that was looked at */
};

struct suppressions {
    const char *path, *root; /* root: of the sources */
    VEC(struct suppression) rules;
    VEC(const char *) remarks; /* about comments */
};

/* Returns NULL, or what is wrong with the file, in the arena. */
const char *suppressions_read(struct suppressions *s, const char *path, struct arena *arena);
/* Takes the findings that a rule, a comment or known.def names out of the list, and returns how
 * many. */
uint32_t suppressions_apply(struct suppressions *s, struct diags *d);
/* Of each rule of the file that has fitted no finding a line that says so, and the remarks. */
struct str suppressions_unused(const struct suppressions *s, struct arena *arena);
/* A file of rules for all that is in the list, each by its file and function. */
struct str suppressions_text(const struct suppressions *s, const struct diags *d, struct arena *arena);

#endif
