/* What a program has said of its memory beyond what CUDA knows: which parts of a pool of its own it
 * has given out, and what kernels may do where (NVTX: cuda/watch/nvtx_memory.c). A launch is held
 * to the rules as they were when it was put into its stream. */
#ifndef HEDDLE_CHECK_RULES_H
#define HEDDLE_CHECK_RULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle.h"

struct memory_rule {
    uint64_t start, end;
    unsigned uses; /* of enum hd_memory_use */
    bool given;    /* false: memory of a pool that it has not given out */
    const char *name;
};

/* Immutable; in the order of addresses, none over another. */
struct memory_rules {
    _Atomic uint32_t users;
    size_t n;
    struct memory_rule at[];
};

/* Names are copied. NULL where memory is exhausted. */
struct memory_rules *rules_new(const hd_memory_rule *rules, size_t n);
struct memory_rules *rules_keep(struct memory_rules *rules); /* NULL of NULL */
void rules_release(struct memory_rules *rules);

#endif
