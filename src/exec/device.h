/* What machines claim to be. Limits that all devices share are constants, DEVICE_WARP_SIZE and so on, the rows of
 * device.def; what differs from device to device is in its model. */
#ifndef HEDDLE_EXEC_DEVICE_H
#define HEDDLE_EXEC_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

enum device_attribute {
#define ATTRIBUTE(number, name, value) DEVICE_##name = (value),
#include "exec/device.def"
#undef ATTRIBUTE
};

struct device_model {
    unsigned arch; /* 90: sm_90 */
    const char *product;
    uint32_t multiprocessors;
    uint32_t max_threads, max_blocks, max_shared_bytes; /* of a multiprocessor */
    uint32_t shared_bytes_optin, shared_bytes_reserved; /* of a block */
    int l2_bytes, clock_khz, memory_clock_khz, memory_bus_bits;
};

/* "sm_90", "90" or "H200"; NULL: the default. Returns NULL where there is no such model. */
const struct device_model *device_model(const char *name);
/* By place; NULL after the last. */
const struct device_model *device_model_at(unsigned i);
/* An attribute by CUDA's number; false where the model does not say otherwise than device.def. */
bool device_model_attribute(const struct device_model *d, int number, int *value);

/* How many blocks a multiprocessor holds (occupancy): by threads, blocks, shared memory (static and dynamic), and
 * registers of a thread (0: not counted). */
uint32_t device_blocks_per_multiprocessor(const struct device_model *d, uint32_t threads, uint32_t shared_bytes,
                                          uint32_t registers);

#endif
