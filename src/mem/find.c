/* Finds the allocation at an address, a freed one, or the nearest one; see space.h. */
#include "mem/units.h"

#include <stdlib.h>

/* Sizes as on an H200. A slot has room for the allocation with its tail. */
uint64_t mem_tail_bytes(uint64_t size, enum mem_kind kind)
{
    switch (kind) {
    case MEM_DEVICE:
    case MEM_MANAGED_VARIABLE: return -size % MEM_ALIGN_BYTES;
    case MEM_VARIABLE: return -size % MEM_VARIABLE_BYTES;
    case MEM_HEAP: return -size % MEM_HEAP_BYTES;
    default: return 0;
    }
}

bool mem_is_host(const struct mem *m, uint64_t address)
{
    const struct mem_unit *u = mem_unit_of(m, address);
    return u && u->area == AREA_HOST && u->mapped;
}

/* Reads without a lock: a slot's size is 0 while its other fields change, so what is read between
 * two equal sizes is consistent. */
static bool describe(const struct mem_unit *u, uint32_t slot, struct mem_block *block)
{
    uint64_t size = u->sizes[slot];
    if (!size)
        return false;
    *block = (struct mem_block){mem_slot_address(u, slot), size, (enum mem_kind)u->kinds[slot], u->names[slot],
                                u->data[slot]};
    return u->sizes[slot] == size;
}

void mem_set_data(struct mem *m, void *p, void *data)
{
    struct mem_unit *u = mem_unit_of(m, (uint64_t)(uintptr_t)p);
    u->data[mem_slot_of(u, (uint64_t)(uintptr_t)p)] = data;
}

bool mem_find(const struct mem *m, uint64_t address, struct mem_block *block)
{
    const struct mem_unit *u = mem_unit_of(m, address);
    return u && describe(u, mem_slot_of(u, address), block) && address - block->start < block->size;
}

bool mem_reach(const struct mem *m, uint64_t address, struct mem_block *block)
{
    struct host_range r;
    if (mem_find(m, address, block))
        return true;
    if (!m->host || !host_find(m->host, address, &r))
        return false;
    *block = (struct mem_block){r.start, r.end - r.start, r.writable ? MEM_FOREIGN : MEM_CONST, NULL, NULL};
    return true;
}

static bool holds(const struct mem_block *b, uint64_t more, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - b->start, size = b->size + more;
    return offset < size && bytes <= size - offset;
}

bool mem_reach_bytes(const struct mem *m, uint64_t address, uint64_t bytes, struct mem_block *block, bool *in_tail)
{
    const struct mem_unit *u = m->open_tails ? mem_unit_of(m, address) : NULL;
    *in_tail = false;
    if (mem_reach(m, address, block) && holds(block, 0, address, bytes))
        return true;
    *in_tail = u && describe(u, mem_slot_of(u, address), block) &&
               holds(block, mem_tail_bytes(block->size, block->kind), address, bytes);
    return *in_tail;
}

bool mem_open_host(struct mem *m, host_ranges_fn *ranges, void *data)
{
    m->host = malloc(sizeof *m->host);
    if (m->host)
        host_init(m->host, mem_local_window(m), mem_local_window(m) + m->reserved_bytes, ranges, data);
    return m->host;
}

void mem_forget_host(struct mem *m)
{
    if (m->host) {
        m->host->stale = true;
        m->version++;
    }
}

struct nearest {
    uint64_t address, distance;
    struct mem_block *block;
};

static void consider(const struct mem_block *b, void *data)
{
    struct nearest *n = data;
    uint64_t distance = n->address < b->start ? b->start - n->address : n->address - (b->start + b->size) + 1;
    if (n->address >= b->start && n->address < b->start + b->size)
        distance = 0;
    if (distance < n->distance) {
        n->distance = distance;
        *n->block = *b;
    }
}

void mem_for_each(struct mem *m, void (*visit)(const struct mem_block *, void *), void *data)
{
    pthread_mutex_lock(&m->lock);
    for (const struct mem_unit *u = m->all_units; u; u = u->next) {
        struct mem_block b;
        for (uint32_t s = 0; s < u->n_slots; s++)
            if (describe(u, s, &b))
                visit(&b, data);
    }
    pthread_mutex_unlock(&m->lock);
}

bool mem_nearest(struct mem *m, uint64_t address, struct mem_block *block)
{
    struct nearest n = {address, UINT64_MAX, block};
    mem_for_each(m, consider, &n);
    return n.distance != UINT64_MAX;
}

bool mem_was_freed(struct mem *m, uint64_t address, struct mem_block *block)
{
    bool found = false;
    pthread_mutex_lock(&m->lock);
    uint32_t n = m->n_freed < MEM_FREED ? m->n_freed : MEM_FREED;
    for (uint32_t i = 1; i <= n + m->n_held && !found; i++) {
        const struct mem_block *b = i <= n ? &m->freed[(m->n_freed - i) % MEM_FREED]
                                           : &m->held[(m->oldest_held + m->n_held + n - i) % MEM_HELD].block;
        found = address - b->start < b->size;
        *block = found ? *b : *block;
    }
    pthread_mutex_unlock(&m->lock);
    return found;
}
