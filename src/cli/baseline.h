/* Findings that are known, by their fingerprints, from a report that was saved earlier: `--baseline
 * FILE`. */
#ifndef HEDDLE_CLI_BASELINE_H
#define HEDDLE_CLI_BASELINE_H

#include "base/diag.h"
#include "base/map.h"

struct baseline {
    const char *path;
    struct map known; /* fingerprints */
    uint32_t n;       /* of them */
    uint32_t met;     /* of them, in this run */
};

/* FILE is what --save or --format has written, JSON or SARIF. Returns NULL, or
 * what is wrong, in the arena. */
const char *baseline_read(struct baseline *b, const char *path, struct arena *arena);
/* Counts the known findings of this run before a suppression takes some of them out of the list. */
void baseline_meet(struct baseline *b, const struct diags *d);
/* Takes known findings out of the list and returns how many. `baseline` is a struct baseline. */
uint32_t baseline_apply(void *baseline, struct diags *d);
/* The end of the last line of a check's text: how many are known, if any, and a newline. */
const char *baseline_verdict(uint32_t known, struct arena *arena);
/* A line about findings of the baseline that did not occur this time, or "". */
const char *baseline_remark(const struct baseline *b, struct arena *arena);

#endif
