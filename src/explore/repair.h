/* A repair: changes of orders, scopes and fences (change.h) that remove the findings. A change only
 * strengthens, so it adds no execution. The repair is verified by exploring the changed kernel, and
 * it is minimal: without any one of its parts, some finding returns, which is explored, too.
 *
 * Executions with findings are collected one after the other. The cheapest changes that forbid all
 * of them, on their graphs, are explored: they are either verified, or another such execution is
 * found. An execution that even the strongest changes allow on its graph is sequentially
 * consistent: no order, scope or fence forbids it. */
#ifndef HEDDLE_EXPLORE_REPAIR_H
#define HEDDLE_EXPLORE_REPAIR_H

#include "explore/exploration.h"

struct repair_options {
    /* Explores the kernel with these changes until something wanted is seen. */
    void (*explore)(void *data, const struct changes *c, const struct wanted *w, struct explore_result *r);
    void *data;
    const struct wanted *findings; /* the findings to remove */
};

struct repair {
    struct arena arena;
    struct changes changes;       /* n is 0 if none are needed, or none were found */
    bool verified, minimal;       /* properties of the changes */
    VEC(struct notice) remaining; /* findings that no order, scope or fence forbids */
    /* Why nothing was verified; NULL if it was, or if `remaining` tells why. */
    const char *reason;
    uint32_t n_explored, n_parts; /* explored kernels; parts that were tried without */
};

void repair(const struct repair_options *o, struct repair *r);
void repair_free(struct repair *r);

/* The findings of an exploration as `wanted` for repair(). */
struct wanted repair_findings(const struct exploration *e);
/* "the race at a.cu:3 (PTX 12) and a.cu:7 (PTX 20)", "the outcome 2[0]=1" */
const char *notice_text(const struct exploration *e, const struct notice *n);
/* As text and JSON. */
void repair_text(const struct exploration *e, const struct repair *r, struct text *t);
json_t *repair_json(const struct exploration *e, const struct repair *r);

#endif
