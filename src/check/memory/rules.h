/* The program's own rules about its memory, beyond CUDA's: which parts of a memory pool of its
 * own are in use, and which accesses kernels may make (NVTX: cuda/watch/nvtx_memory.c). A launch
 * is judged by the rules at its submission. */
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
    bool given;    /* false: memory of a pool that the program has not handed out */
    const char *name;
};

/* Immutable; sorted by address, without overlaps. */
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
