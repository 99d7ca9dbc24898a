/* See device.h. */
#include "exec/device.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct device_model models[] = {
#define MODEL(arch, product, mps, threads, blocks, shared, optin, reserved, l2, clock, memory_clock, bus)              \
    {arch, product, mps, threads, blocks, shared, optin, reserved, l2, clock, memory_clock, bus},
#include "exec/models.def"
#undef MODEL
};

enum { N_MODELS = sizeof models / sizeof models[0] };

const struct device_model *device_model_at(unsigned i)
{
    return i < N_MODELS ? &models[i] : NULL;
}

const struct device_model *device_model(const char *name)
{
    const char *number = !name || !*name ? "90" : strncmp(name, "sm_", 3) == 0 ? name + 3 : name;
    char *end;
    unsigned long arch = strtoul(number, &end, 10);
    for (unsigned i = 0; i < N_MODELS; i++)
        if ((*end == 0 && models[i].arch == arch) || (name && strcasecmp(name, models[i].product) == 0))
            return &models[i];
    return NULL;
}

bool device_model_attribute(const struct device_model *d, int number, int *value)
{
    switch (number) { /* CUdevice_attribute; the rows of device.def have the names */
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

uint32_t device_blocks_per_multiprocessor(const struct device_model *d, uint32_t threads, uint32_t shared_bytes,
                                          uint32_t registers)
{
    /* Shared memory is given out in units of 128 bytes, registers in units of 256 to warps, and warps to four
     * partitions. */
    enum { SHARED_UNIT = 128, REGISTER_UNIT = 256, PARTITIONS = 4 };
    uint32_t warps = (threads + DEVICE_WARP_SIZE - 1) / DEVICE_WARP_SIZE;
    uint32_t blocks = at_most(d->max_threads / DEVICE_WARP_SIZE / warps, d->max_blocks);
    uint32_t shared = (shared_bytes + d->shared_bytes_reserved + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    if (shared)
        blocks = at_most(blocks, d->max_shared_bytes / shared);
    if (registers) {
        uint32_t of_warp = (registers * DEVICE_WARP_SIZE + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
        uint32_t fit = DEVICE_MAX_REGISTERS_PER_MULTIPROCESSOR / PARTITIONS / of_warp * PARTITIONS;
        blocks = at_most(blocks, fit / warps);
    }
    return blocks;
}
