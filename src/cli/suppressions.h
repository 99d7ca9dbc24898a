/* Findings that are not to be shown, by rules of a text file: a line `CODE PLACE KERNEL` each. CODE is the finding's; PLACE is
 * FILE:LINE of one of its places, with all lines that are inlined there, its notes' included, where the file's name without its folders does, too; KERNEL is the kernel
 * by the name that its source has, to the end of the line. In all, * and ? stand for anything and any character (fnmatch); what a
 * finding does not have is "-"; what is left out at the end of a rule is *. Empty lines and those that start with # say nothing.
 * The rules of known.def hold always.
 */
#ifndef HEDDLE_CLI_SUPPRESSIONS_H
#define HEDDLE_CLI_SUPPRESSIONS_H

#include "base/diag.h"

struct suppression {
    const char *code, *place, *kernel;
    uint32_t line; /* of the file */
    bool fitted;   /* a finding that was looked at */
};

struct suppressions {
    const char *path;
    VEC(struct suppression) rules;
};

/* Returns NULL, or what is wrong with the file, in the arena. */
const char *suppressions_read(struct suppressions *s, const char *path, struct arena *arena);
/* Takes the findings that a rule, or known.def, names out of the list, and returns how many. */
uint32_t suppressions_apply(struct suppressions *s, struct diags *d);
/* Of each rule of the file that has fitted no finding: a line that says so. */
struct str suppressions_unused(const struct suppressions *s, struct arena *arena);
/* A file of rules for all that is in the list. */
struct str suppressions_text(const struct diags *d, struct arena *arena);

#endif
