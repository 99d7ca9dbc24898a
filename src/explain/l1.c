/* See l1.h. */
#include "explain/l1.h"

#include <stdlib.h>

#include "explain/rules.h"

uint32_t l1_carveout(const struct device_model *d, uint32_t threads, uint32_t shared_bytes, uint32_t registers)
{
    static const uint32_t kib[] = {8, 32, 64, 100, 132, 164, 196};
    struct device_occupancy o = device_occupancy(d, threads, shared_bytes, registers);
    uint32_t most = o.by_blocks < o.by_shared ? o.by_blocks : o.by_shared;
    uint64_t blocks = 2 * (uint64_t)o.blocks < most ? 2 * (uint64_t)o.blocks : most;
    uint64_t needed = blocks * (shared_bytes + d->shared_bytes_reserved);
    for (size_t i = 0; i < sizeof kib / sizeof kib[0]; i++)
        if (kib[i] << 10 >= needed && kib[i] << 10 < d->max_shared_bytes)
            return kib[i] << 10;
    return d->max_shared_bytes;
}

uint32_t l1_bytes(const struct device_model *d, uint32_t carveout)
{
    enum { L1_ALONE = 28 << 10 }; /* not available to shared memory: of 128, 192 or 256 KiB */
    /* CUDA C Programming Guide 4.2, F.4.2: global memory is cached since compute capability 2.0 */
    enum { FIRST_WITH_L1 = 20 };
    return d->arch < FIRST_WITH_L1 ? 0 : d->max_shared_bytes + L1_ALONE - carveout;
}

enum { SECTOR_MASK = (1 << LINE_SECTORS) - 1 };

struct l1 *l1_new(uint64_t bytes)
{
    uint64_t sets = bytes / (LINE_BYTES * L1_WAYS);
    struct l1 *c = calloc(1, sizeof *c + (sets ? sets : 1) * sizeof c->at[0]);
    if (c)
        c->sets = (uint32_t)(sets ? sets : 1);
    return c;
}

uint32_t l1_load(struct l1 *c, uint64_t line, uint32_t sectors)
{
    uint64_t key = (line + 1) * (SECTOR_MASK + 1), found = key;
    uint64_t *set = c->at[((line * 0x9E3779B97F4A7C15u >> 32) * c->sets) >> 32];
    unsigned way = 0;
    while (way < L1_WAYS - 1 && (set[way] & ~(uint64_t)SECTOR_MASK) != key)
        way++;
    if ((set[way] & ~(uint64_t)SECTOR_MASK) == key)
        found = set[way];
    for (; way; way--)
        set[way] = set[way - 1];
    set[0] = found | sectors;
    return sectors & ~(uint32_t)found;
}
