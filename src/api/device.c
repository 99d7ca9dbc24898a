/* What the machine claims to be (include/heddle.h): the rows of device.def, and this host. */
#include <stdio.h>

#include "api/handles.h"

void hd_machine_get_info(const hd_machine *m, hd_machine_info *info)
{
    const struct mem *mem = &m->machine->mem;
    *info = (hd_machine_info){
        .compute_major = DEVICE_COMPUTE_CAPABILITY_MAJOR,
        .compute_minor = DEVICE_COMPUTE_CAPABILITY_MINOR,
        .multiprocessors = DEVICE_MULTIPROCESSOR_COUNT,
        .warp_lanes = WARP_LANES,
        .workers = m->machine->config.workers,
        .cpu_level = m->machine->cpu_level,
        .policy = m->machine->schedule.name,
        .max_threads_per_block = DEVICE_MAX_THREADS_PER_BLOCK,
        .max_block = {DEVICE_MAX_BLOCK_DIM_X, DEVICE_MAX_BLOCK_DIM_Y, DEVICE_MAX_BLOCK_DIM_Z},
        .max_grid = {DEVICE_MAX_GRID_DIM_X, DEVICE_MAX_GRID_DIM_Y, DEVICE_MAX_GRID_DIM_Z},
        .max_threads_per_multiprocessor = DEVICE_MAX_THREADS_PER_MULTIPROCESSOR,
        .max_blocks_per_multiprocessor = DEVICE_MAX_BLOCKS_PER_MULTIPROCESSOR,
        .shared_bytes_per_block = DEVICE_MAX_SHARED_MEMORY_PER_BLOCK,
        .shared_bytes_per_block_optin = DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        .shared_bytes_per_multiprocessor = DEVICE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        .registers_per_block = DEVICE_MAX_REGISTERS_PER_BLOCK,
        .memory_bytes = mem->limit_bytes,
        .memory_used_bytes = mem->allocated_bytes,
        .constant_bytes = DEVICE_TOTAL_CONSTANT_MEMORY,
    };
    snprintf(info->name, sizeof info->name, "Heddle virtual GPU (as H200, sm_90)");
}

static const struct {
    const char *name; /* NULL: no such attribute */
    int value;
} attributes[HD_ATTRIBUTE_LAST + 1] = {
#define ATTRIBUTE(number, name, value) [number] = {#name, value},
#include "exec/device.def"
#undef ATTRIBUTE
};

bool hd_machine_get_attribute(const hd_machine *m, int number, int *value)
{
    if (!m || !value || !hd_attribute_name(number))
        return false;
    *value = attributes[number].value;
    return true;
}

const char *hd_attribute_name(int number)
{
    return number > 0 && number <= HD_ATTRIBUTE_LAST ? attributes[number].name : NULL;
}

const char *hd_cpu_level(size_t i)
{
    return lane_level(i);
}

unsigned device_max_threads(const struct kernel *k)
{
    bool lower = k->max_ntid && k->max_ntid < DEVICE_MAX_THREADS_PER_BLOCK;
    return lower ? k->max_ntid : DEVICE_MAX_THREADS_PER_BLOCK;
}
