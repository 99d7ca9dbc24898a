/* What machines claim to be. Limits that all devices share are constants, DEVICE_WARP_SIZE and so
 * on, the entries of device.def; what differs from device to device is in its model. */
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
    bool claimable; /* by a machine; else for reports alone */
};

/* "sm_90", "90" or "H200"; NULL: the default. Returns NULL where there is no such model that a
 * machine can claim to be. */
const struct device_model *device_model(const char *name);
/* The same among all, those for reports alone included. */
const struct device_model *device_model_of_report(const char *name);
/* Registers of a multiprocessor; threads that a block may have. */
uint32_t device_registers(const struct device_model *d);
uint32_t device_block_threads(const struct device_model *d);
/* An attribute by CUDA's number; false where the model does not say otherwise than device.def. */
bool device_model_attribute(const struct device_model *d, int number, int *value);

/* How many blocks a multiprocessor holds (occupancy), as each of its limits lets it; UINT32_MAX
 * where a limit does not count. */
struct device_occupancy {
    uint32_t by_threads, by_blocks, by_registers, by_shared;
    uint32_t blocks; /* the least */
};

/* Of blocks with so many threads (not 0), bytes of shared memory (static and dynamic), and
 * registers a thread (0: not counted). Nothing fits where a block is larger than a block may be. */
struct device_occupancy device_occupancy(const struct device_model *d, uint32_t threads, uint32_t shared_bytes,
                                         uint32_t registers);

/* Multiprocessors that clusters of so many blocks (1: none) can lie on: a cluster takes as many of
 * one GPC as it has blocks. All, where the GPCs are not known. */
uint32_t device_cluster_multiprocessors(const struct device_model *d, uint32_t cluster);
/* How many clusters the device holds, where a multiprocessor has room for so many blocks. */
uint32_t device_clusters(const struct device_model *d, uint32_t blocks, uint32_t cluster);

#endif
