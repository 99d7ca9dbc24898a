/* See device.h. */
#include "exec/device.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct device_model models[] = {
#define MODEL(...)    {__VA_ARGS__, true},
#define REPORTED(...) {__VA_ARGS__, false},
#include "exec/models.def"
};

/* How a multiprocessor gives out what blocks need. */
static const struct allocation {
    uint32_t arch;
    uint32_t registers, register_unit;
    enum { WARP, BLOCK } registers_go_to;
    uint32_t partitions, shared_unit, block_threads;
} allocations[] = {
#define ALLOCATION(...) {__VA_ARGS__},
#include "exec/models.def"
};

enum { MOST_GPCS = 16 };
static const struct gpcs {
    const char *product;
    uint32_t blocks;                     /* of a cluster, on one multiprocessor */
    uint32_t multiprocessors[MOST_GPCS]; /* 0: no further one */
} gpcs[] = {
#define GPCS(product, blocks, ...) {#product, blocks, {__VA_ARGS__}},
#include "exec/models.def"
};

enum { N_MODELS = sizeof models / sizeof models[0] };

static const struct device_model *find_model(const char *name, bool reports)
{
    const char *number = !name || !*name ? "90" : strncmp(name, "sm_", 3) == 0 ? name + 3 : name;
    char *end;
    unsigned long arch = strtoul(number, &end, 10);
    for (unsigned i = 0; i < N_MODELS; i++)
        if ((reports || models[i].claimable) &&
            ((*end == 0 && models[i].arch == arch) || (name && strcasecmp(name, models[i].product) == 0)))
            return &models[i];
    return NULL;
}

const struct device_model *device_model(const char *name)
{
    return find_model(name, false);
}

const struct device_model *device_model_of_report(const char *name)
{
    return find_model(name, true);
}

bool device_model_attribute(const struct device_model *d, int number, int *value)
{
    switch (number) { /* CUdevice_attribute; the entries of device.def have the names */
    case 13: *value = d->clock_khz; return true;
    case 16: *value = (int)d->multiprocessors; return true;
    case 36: *value = d->memory_clock_khz; return true;
    case 37: *value = d->memory_bus_bits; return true;
    case 38: *value = d->l2_bytes; return true;
    case 39: *value = (int)d->max_threads; return true;
    case 75: *value = (int)d->arch / 10; return true;
    case 76: *value = (int)d->arch % 10; return true;
    case 81: *value = (int)d->max_shared_bytes; return true;
    case 97: *value = (int)d->shared_bytes_optin; return true;
    case 106: *value = (int)d->max_blocks; return true;
    case 108: /* three quarters of the L2 cache at most, since sm_80 */
        *value = d->arch == 90 ? DEVICE_MAX_PERSISTING_L2_CACHE_SIZE : d->arch >= 80 ? d->l2_bytes / 4 * 3 : 0;
        return true;
    case 111: *value = (int)d->shared_bytes_reserved; return true;
    case 120: *value = d->arch >= 90; return true;
    default: return false;
    }
}

static uint32_t at_most(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t round_up(uint32_t n, uint32_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static uint32_t blocks_by_registers(const struct allocation *a, uint32_t warps, uint32_t registers)
{
    if (a->registers_go_to == BLOCK)
        return a->registers / round_up(registers * round_up(warps, a->partitions) * DEVICE_WARP_SIZE, a->register_unit);
    uint32_t of_warp = round_up(registers * DEVICE_WARP_SIZE, a->register_unit);
    /* A warp's lie in one partition. */
    return a->registers / a->partitions / of_warp * a->partitions / warps;
}

static const struct allocation *allocation_of(const struct device_model *d)
{
    const struct allocation *a = allocations;
    for (unsigned i = 0; i < sizeof allocations / sizeof allocations[0]; i++)
        if (allocations[i].arch <= d->arch)
            a = &allocations[i];
    return a;
}

uint32_t device_registers(const struct device_model *d)
{
    return allocation_of(d)->registers;
}

uint32_t device_block_threads(const struct device_model *d)
{
    return allocation_of(d)->block_threads;
}

struct device_occupancy device_occupancy(const struct device_model *d, uint32_t threads, uint32_t shared_bytes,
                                         uint32_t registers)
{
    const struct allocation *a = allocation_of(d);
    uint32_t warps = (threads + DEVICE_WARP_SIZE - 1) / DEVICE_WARP_SIZE;
    uint32_t shared = round_up(shared_bytes + d->shared_bytes_reserved, a->shared_unit);
    bool too_large = threads > a->block_threads || shared_bytes > d->shared_bytes_optin;
    struct device_occupancy o = {
        .by_threads = threads > a->block_threads ? 0 : d->max_threads / DEVICE_WARP_SIZE / warps,
        .by_blocks = d->max_blocks,
        .by_registers = registers ? blocks_by_registers(a, warps, registers) : UINT32_MAX,
        .by_shared = shared_bytes > d->shared_bytes_optin ? 0
                     : shared                             ? d->max_shared_bytes / shared
                                                          : UINT32_MAX,
    };
    o.blocks = too_large ? 0 : at_most(at_most(o.by_threads, o.by_blocks), at_most(o.by_registers, o.by_shared));
    return o;
}

static const struct gpcs *gpcs_of(const struct device_model *d)
{
    for (unsigned i = 0; i < sizeof gpcs / sizeof gpcs[0]; i++)
        if (strcmp(gpcs[i].product, d->product) == 0)
            return &gpcs[i];
    return NULL;
}

uint32_t device_cluster_multiprocessors(const struct device_model *d, uint32_t cluster)
{
    const struct gpcs *known = gpcs_of(d);
    uint32_t all = 0;
    if (!known || cluster <= 1)
        return d->multiprocessors;
    for (unsigned i = 0; i < MOST_GPCS; i++)
        all += known->multiprocessors[i] / cluster * cluster;
    return all;
}

uint32_t device_clusters(const struct device_model *d, uint32_t blocks, uint32_t cluster)
{
    const struct gpcs *known = gpcs_of(d);
    uint32_t all = 0;
    if (!known)
        return blocks * d->multiprocessors / cluster;
    for (unsigned i = 0; i < MOST_GPCS; i++)
        if (known->multiprocessors[i] >= cluster)
            all += known->multiprocessors[i] * at_most(blocks, known->blocks) / cluster;
    return all;
}
