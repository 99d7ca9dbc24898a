/* Litmus tests in herd's format for PTX, as the community writes them:
 *
 *     PTX MP
 *     { x=0; P1:r0=0; }
 *      P0@cta 0,gpu 0   | P1@cta 1,gpu 0        ;
 *      st.weak x, 1     | ld.acquire.gpu r0, f  ;
 *      st.release.gpu f, 1 | ld.weak r1, x      ;
 *     exists (P1:r0 == 1 /\ P1:r1 == 0)
 *
 * becomes the text of a kernel with two parameters: where its variables are, and where each
 * observed register is stored at the end. Each thread is one of the launch, the first of a warp of
 * its own where there are barriers. Where threads are on several GPUs, a GPU is a cluster of the
 * launch, .gpu becomes .cluster and .sys becomes .gpu: the scopes include each other as they do
 * there. */
#ifndef HEDDLE_CLI_HERD_H
#define HEDDLE_CLI_HERD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

enum herd_quantifier { HERD_EXISTS, HERD_NOT_EXISTS, HERD_FORALL };

struct herd_variable {
    const char *name;
    uint32_t value; /* the initial value */
};

/* A place that the condition, or the list of locations, names: a word in one of the two buffers. */
struct herd_place {
    const char *name; /* "P1:r0" or "x" */
    bool of_memory;   /* in the memory buffer; else in the buffer of registers */
    uint32_t offset;
};

struct herd_test {
    const char *name;
    const char *ptx;
    uint32_t grid, block, cluster; /* cluster: 0: none */
    VEC(struct herd_variable) variables;
    VEC(struct herd_place) places;
    uint32_t memory_bytes, register_bytes;
    enum herd_quantifier quantifier;
    const char *condition; /* the condition as the test writes it */
    /* a condition that outcomes must meet to count, like `expression`; NULL: all count */
    const char *filter;
    bool is_signed;         /* the test has negative numbers */
    const char *expression; /* for condition_parse(), with a place written #N */
};

/* NULL; else what is wrong, in the arena: "FILE:LINE: ...". `text` ends with a zero. */
const char *herd_read(struct arena *arena, const char *path, const char *text, struct herd_test *test);

#endif
