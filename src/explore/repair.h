/* A repair: changes of orders, scopes and fences (change.h) after which what was found is gone. It
 * only strengthens, so that no execution comes that was not there before; it is verified by
 * exploring the changed kernel, and minimal: each part of it, taken back, brings something back
 * that was found, which is explored, too.
 *
 * Executions in which something is found are collected, one after the other; the cheapest changes
 * that forbid all of them, on their graphs, are explored, and either verified or another such
 * execution is found. What even the strongest changes allow on its graph is sequentially
 * consistent: no order, scope or fence forbids it. */
#ifndef HEDDLE_EXPLORE_REPAIR_H
#define HEDDLE_EXPLORE_REPAIR_H

#include "explore/exploration.h"

struct repair_options {
    /* Explores the kernel with these changes, until something wanted is seen. */
    void (*explore)(void *data, const struct changes *c, const struct wanted *w, struct explore_result *r);
    void *data;
    const struct wanted *findings; /* what has to go */
};

struct repair {
    struct arena arena;
    struct changes changes;       /* n 0: none are needed, or none were found */
    bool verified, minimal;       /* of the changes */
    VEC(struct notice) remaining; /* what no order, scope or fence forbids */
    const char *reason;           /* why nothing was verified; NULL: it was, or `remaining` says it */
    uint32_t n_explored, n_parts; /* kernels; parts that were taken back */
};

void repair(const struct repair_options *o, struct repair *r);
void repair_free(struct repair *r);

/* What was found in an exploration, as findings that have to go: `wanted` for repair(). */
struct wanted repair_findings(const struct exploration *e);
/* "the race at a.cu:3 (PTX 12) and a.cu:7 (PTX 20)", "the outcome 2[0]=1" */
const char *notice_text(const struct exploration *e, const struct notice *n);
/* As text and JSON. */
void repair_text(const struct exploration *e, const struct repair *r, struct text *t);
json_t *repair_json(const struct exploration *e, const struct repair *r);

#endif
