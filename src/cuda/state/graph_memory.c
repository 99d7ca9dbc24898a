/* See graph_memory.h. */
#include "cuda/state/graph_memory_state.h"

#include <stdlib.h>

#define BLOCK_BYTES ((size_t)32 << 20) /* the unit in which an H200 counts */

static struct {
    pthread_mutex_t lock;
    struct graph_memory *first;
    struct {
        size_t reserved, used_high, reserved_high;
    } amounts[MAX_DEVICES];
} memories = {.lock = PTHREAD_MUTEX_INITIALIZER};

void graph_memory_lock(void)
{
    pthread_mutex_lock(&memories.lock);
}

void graph_memory_unlock(void)
{
    pthread_mutex_unlock(&memories.lock);
}

/* ---- life ---- */

CUresult graph_memory_new(struct device *d, size_t bytes, struct graph_memory **made)
{
    struct graph_memory *m = calloc(1, sizeof *m);
    hd_result r = m ? hd_reserve(d->machine, bytes, &m->start) : HD_ERROR_OUT_OF_MEMORY;
    if (r) {
        free(m);
        return from_hd(r);
    }
    m->refs = 1;
    m->device = d;
    m->bytes = bytes;
    graph_memory_lock();
    m->next = memories.first;
    m->link = &memories.first;
    if (m->next)
        m->next->link = &m->next;
    __atomic_store_n(&memories.first, m, __ATOMIC_RELEASE);
    graph_memory_unlock();
    *made = m;
    return CUDA_SUCCESS;
}

struct graph_memory *graph_memory_hold(struct graph_memory *m)
{
    if (m)
        m->refs++;
    return m;
}

void graph_memory_release(struct graph_memory *m)
{
    if (!m)
        return;
    graph_memory_lock();
    bool last = --m->refs == 0;
    if (last) {
        *m->link = m->next;
        if (m->next)
            m->next->link = m->link;
    }
    graph_memory_unlock();
    if (!last)
        return;
    hd_unreserve(m->device->machine, m->start);
    free(m);
}

static bool is_none(void)
{
    return !__atomic_load_n(&memories.first, __ATOMIC_ACQUIRE);
}

struct graph_memory *graph_memory_at(const void *start)
{
    graph_memory_lock();
    struct graph_memory *m = memories.first;
    while (m && m->start != start)
        m = m->next;
    graph_memory_hold(m);
    graph_memory_unlock();
    return m;
}

void *graph_memory_start(const struct graph_memory *m)
{
    return m->start;
}

size_t graph_memory_bytes(const struct graph_memory *m)
{
    return m->bytes;
}

struct device *graph_memory_device(const struct graph_memory *m)
{
    return m->device;
}

bool graph_memory_is_given(const struct graph_memory *m)
{
    return m->given;
}

struct device *graph_memory_find(const void *address, hd_memory_info *info, bool *given)
{
    struct device *d = NULL;
    if (is_none())
        return NULL;
    graph_memory_lock();
    for (const struct graph_memory *m = memories.first; m && !d; m = m->next) {
        size_t bytes = m->given ? m->given->bytes : m->bytes;
        if ((size_t)((const char *)address - (const char *)m->start) >= bytes)
            continue;
        d = m->device;
        *given = m->given != NULL;
        *info = (hd_memory_info){.start = m->start, .bytes = bytes, .allocated = true, .data = m->given};
    }
    graph_memory_unlock();
    return d;
}

/* ---- how much there is ---- */

size_t graph_memory_blocks(size_t bytes)
{
    return bytes / BLOCK_BYTES * BLOCK_BYTES + (bytes % BLOCK_BYTES ? BLOCK_BYTES : 0);
}

/* The number of allocated bytes. Call with the lock held. */
static size_t given_bytes(const struct device *d)
{
    size_t small = 0, large = 0;
    for (const struct graph_memory *m = memories.first; m; m = m->next) {
        if (m->device != d || !m->given)
            continue;
        if (m->bytes < BLOCK_BYTES)
            small += m->bytes;
        else
            large += graph_memory_blocks(m->bytes);
    }
    return large + graph_memory_blocks(small);
}

void graph_memory_count(struct device *d, size_t needs)
{
    graph_memory_lock();
    size_t *reserved = &memories.amounts[d->ordinal].reserved, *high = &memories.amounts[d->ordinal].reserved_high,
           *used_high = &memories.amounts[d->ordinal].used_high;
    needs += given_bytes(d);
    *reserved = needs > *reserved ? needs : *reserved;
    *high = *reserved > *high ? *reserved : *high;
    *used_high = *reserved > *used_high ? *reserved : *used_high;
    graph_memory_unlock();
}

cuuint64_t graph_memory_amount(const struct device *d, CUgraphMem_attribute a)
{
    graph_memory_lock();
    size_t reserved = memories.amounts[d->ordinal].reserved;
    cuuint64_t amount = a == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH       ? memories.amounts[d->ordinal].used_high
                        : a == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH ? memories.amounts[d->ordinal].reserved_high
                                                                   : reserved;
    graph_memory_unlock();
    return amount;
}

void graph_memory_reset_high(struct device *d, CUgraphMem_attribute a)
{
    graph_memory_lock();
    size_t reserved = memories.amounts[d->ordinal].reserved;
    if (a == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
        memories.amounts[d->ordinal].used_high = reserved;
    else
        memories.amounts[d->ordinal].reserved_high = reserved;
    graph_memory_unlock();
}

void graph_memory_trim(struct device *d)
{
    graph_memory_lock();
    for (struct graph_memory *m = memories.first; m; m = m->next)
        if (m->device == d && m->there && !m->given) {
            hd_close(d->machine, m->start);
            m->there = false;
        }
    memories.amounts[d->ordinal].reserved = given_bytes(d);
    graph_memory_unlock();
}
