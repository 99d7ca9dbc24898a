/* The devices that machines claim to be. Limits that all devices share are constants,
 * DEVICE_WARP_SIZE and so on, the entries of device.def. What differs between devices is in its
 * model. */
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
    bool claimable; /* a machine can claim to be it; else it is for reports only */
};

/* "sm_90", "90" or "H200"; NULL: the default. Returns NULL if there is no such model that a
 * machine can claim to be. */
const struct device_model *device_model(const char *name);
/* The same among all models, including those for reports only. */
const struct device_model *device_model_of_report(const char *name);
/* Registers of a multiprocessor; threads that a block may have. */
uint32_t device_registers(const struct device_model *d);
uint32_t device_block_threads(const struct device_model *d);
/* An attribute by CUDA's number; false if the model does not differ from device.def. */
bool device_model_attribute(const struct device_model *d, int number, int *value);

/* How many blocks fit on a multiprocessor (occupancy), by each of its limits; UINT32_MAX: the
 * limit does not count. */
struct device_occupancy {
    uint32_t by_threads, by_blocks, by_registers, by_shared;
    uint32_t blocks; /* the minimum */
};

/* For blocks with this number of threads (not 0), bytes of shared memory (static and dynamic),
 * and registers of a thread (0: not counted). 0 if a block exceeds the limits of a block. */
struct device_occupancy device_occupancy(const struct device_model *d, uint32_t threads, uint32_t shared_bytes,
                                         uint32_t registers);

/* The multiprocessors that clusters of this size (1: none) can use: a cluster takes as many
 * multiprocessors of one GPC as it has blocks. All, if the GPCs are unknown. */
uint32_t device_cluster_multiprocessors(const struct device_model *d, uint32_t cluster);
/* How many clusters fit on the device, if a multiprocessor has room for `blocks` blocks. */
uint32_t device_clusters(const struct device_model *d, uint32_t blocks, uint32_t cluster);

#endif
