/* A model of L1: which sectors a load finds there. An estimate, as the device's is not documented.
 *
 * Each multiprocessor has one, of what shared memory leaves of it; block b of a grid is on
 * multiprocessor b modulo their number, and a multiprocessor's blocks come one after the other, as
 * a worker runs them. Lines of four sectors, sets of four lines, of which the least recently used
 * one goes. Stores and atomics change nothing in it.
 */
#ifndef HEDDLE_EXPLAIN_L1_H
#define HEDDLE_EXPLAIN_L1_H

#include <stdint.h>

#include "exec/device.h"

/* What the driver gives to shared memory of the memory that it has in common with L1: the smallest
 * of the sizes to choose from that has room for twice the blocks that are resident. So on 97 of 102
 * kernels recorded on an H200 (launch__shared_mem_config_size); how it chooses is not documented. */
uint32_t l1_carveout(const struct device_model *d, uint32_t threads, uint32_t shared_bytes, uint32_t registers);
/* What is left for L1; 0 where the device has none. */
uint32_t l1_bytes(const struct device_model *d, uint32_t carveout);

enum { L1_WAYS = 4 };

struct l1 {
    uint32_t sets;
    uint64_t at[][L1_WAYS]; /* by set: 16 * (1 + the line's number) + its sectors, the most recently used line first */
};

/* NULL where memory is exhausted. Freed with free(). */
struct l1 *l1_new(uint64_t bytes);
/* The sectors of a line that are not there; from now on they are. */
uint32_t l1_load(struct l1 *c, uint64_t line, uint32_t sectors);

#endif
