/* A model of L1 that tells which sectors of a load hit. An estimate, because the device's L1 is not
 * documented.
 *
 * Each multiprocessor has an L1 of what shared memory leaves. Block b of a grid runs on
 * multiprocessor b modulo their number, and a multiprocessor's blocks follow one another, as a
 * worker runs them. Lines have four sectors and sets four lines, with least-recently-used
 * replacement. Stores and atomics do not change it.
 */
#ifndef HEDDLE_EXPLAIN_L1_H
#define HEDDLE_EXPLAIN_L1_H

#include <stdint.h>

#include "exec/device.h"

/* The part of the combined memory that the driver gives to shared memory: the smallest size on
 * offer that holds twice the resident blocks. This matches 97 of 102 kernels recorded on an H200
 * (launch__shared_mem_config_size); the driver's rule is not documented. */
uint32_t l1_carveout(const struct device_model *d, uint32_t threads, uint32_t shared_bytes, uint32_t registers);
/* What is left for L1; 0 if the device has none. */
uint32_t l1_bytes(const struct device_model *d, uint32_t carveout);

enum { L1_WAYS = 4 };

struct l1 {
    uint32_t sets;
    /* by set, the most recently used line first: 16 * (1 + the line's number) + its sectors */
    uint64_t at[][L1_WAYS];
};

/* Returns NULL if memory is exhausted. Freed with free(). */
struct l1 *l1_new(uint64_t bytes);
/* Returns the sectors of a line that miss, and loads them. */
uint32_t l1_load(struct l1 *c, uint64_t line, uint32_t sectors);

#endif
