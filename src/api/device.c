/* Properties that the machine reports (include/heddle.h): of its model, the entries of
 * exec/device.def, and this host. */
#include <stdio.h>

#include "api/handles.h"
#include "api/sized.h"

static hd_machine_info info_of(const hd_machine *m)
{
    const struct mem *mem = &m->machine->mem;
    const struct device_model *d = m->machine->model;
    hd_machine_info info = {
        .compute_major = d->arch / 10,
        .compute_minor = d->arch % 10,
        .multiprocessors = d->multiprocessors,
        .warp_lanes = WARP_LANES,
        .workers = m->machine->config.workers,
        .cpu_level = m->machine->cpu_level,
        .policy = m->machine->schedule.name,
        .max_threads_per_block = DEVICE_MAX_THREADS_PER_BLOCK,
        .max_block = {DEVICE_MAX_BLOCK_DIM_X, DEVICE_MAX_BLOCK_DIM_Y, DEVICE_MAX_BLOCK_DIM_Z},
        .max_grid = {DEVICE_MAX_GRID_DIM_X, DEVICE_MAX_GRID_DIM_Y, DEVICE_MAX_GRID_DIM_Z},
        .max_threads_per_multiprocessor = d->max_threads,
        .max_blocks_per_multiprocessor = d->max_blocks,
        .shared_bytes_per_block = DEVICE_MAX_SHARED_MEMORY_PER_BLOCK,
        .shared_bytes_per_block_optin = d->shared_bytes_optin,
        .shared_bytes_per_multiprocessor = d->max_shared_bytes,
        .registers_per_block = DEVICE_MAX_REGISTERS_PER_BLOCK,
        .memory_bytes = mem->limit_bytes,
        .memory_used_bytes = mem->allocated_bytes,
        .constant_bytes = DEVICE_TOTAL_CONSTANT_MEMORY,
        .addresses = {(const void *)(uintptr_t)mem_local_window(mem), mem->reserved_bytes},
    };
    snprintf(info.name, sizeof info.name, "Heddle virtual GPU (as %s, sm_%u)", d->product, d->arch);
    return info;
}

void hd_machine_get_info_sized(const hd_machine *m, hd_machine_info *info, size_t bytes)
{
    const hd_machine_info own = m ? info_of(m) : (hd_machine_info){0};
    SIZED_WRITE(info, bytes, &own);
}

static const struct {
    const char *name; /* NULL: the attribute does not exist */
    int value;
} attributes[HD_ATTRIBUTE_LAST + 1] = {
#define ATTRIBUTE(number, name, value) [number] = {#name, value},
#include "exec/device.def"
#undef ATTRIBUTE
};

enum { PAGEABLE_MEMORY_ACCESS = 88, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100 };

bool hd_machine_get_attribute(const hd_machine *m, int number, int *value)
{
    if (!m || !value || !hd_attribute_name(number))
        return false;
    bool host = number == PAGEABLE_MEMORY_ACCESS || number == PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES;
    if (host)
        *value = m->machine->config.host_memory;
    else if (!device_model_attribute(m->machine->model, number, value))
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

hd_result hd_kernel_allow_shared(hd_kernel *k, size_t dynamic_bytes)
{
    if (!k || dynamic_bytes > k->module->machine->machine->model->shared_bytes_optin - k->kernel->static_shared_bytes)
        return HD_ERROR_INVALID_VALUE;
    atomic_store(&k->dynamic_shared_bytes, (uint32_t)dynamic_bytes);
    return HD_SUCCESS;
}

unsigned hd_kernel_max_blocks(const hd_kernel *k, unsigned threads, size_t dynamic_shared_bytes)
{
    const struct device_model *d = k->module->machine->machine->model;
    uint64_t shared = k->kernel->static_shared_bytes + (uint64_t)dynamic_shared_bytes;
    if (threads == 0 || threads > DEVICE_MAX_THREADS_PER_BLOCK || dynamic_shared_bytes > d->shared_bytes_optin ||
        shared > d->shared_bytes_optin)
        return 0; /* .maxntid does not count, as in the answer of an H200's driver */
    return device_occupancy(d, threads, (uint32_t)shared, kernel_registers(k->kernel, NULL)).blocks;
}

unsigned hd_kernel_max_clusters(const hd_kernel *k, unsigned threads, size_t dynamic_shared_bytes, unsigned cluster)
{
    if (!k || !cluster)
        return 0;
    return device_clusters(k->module->machine->machine->model, hd_kernel_max_blocks(k, threads, dynamic_shared_bytes),
                           cluster);
}
