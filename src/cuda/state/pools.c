/* See pools.h. */
#include "cuda/state/pools.h"

#include <stdlib.h>

#include "cuda/state/mapping.h"

#define POOL_UNIT_BYTES ((uint64_t)512) /* granularity of an H200 */

/* Call with the state's lock held. */
static CUmemoryPool pool_new_held(struct device *d)
{
    CUmemoryPool p = calloc(1, sizeof *p);
    if (!p || handle_give_held(HANDLE_POOL, p, NULL, &p->handle)) {
        free(p);
        return NULL;
    }
    p->device = d;
    p->refs = 1;
    for (int i = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
         i <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; i++)
        p->values[i] = 1;
    return p;
}

CUmemoryPool pool_new(struct device *d)
{
    state_lock();
    CUmemoryPool p = pool_new_held(d);
    state_unlock();
    return p;
}

/* Returns false if it is about to be freed. */
bool pool_keep(CUmemoryPool p)
{
    unsigned refs = __atomic_load_n(&p->refs, __ATOMIC_RELAXED);
    while (refs && !__atomic_compare_exchange_n(&p->refs, &refs, refs + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return refs != 0;
}

static void free_pool(void *record)
{
    CUmemoryPool p = record;
    physical_drop(p->file);
    free(p);
}

void pool_drop(CUmemoryPool p)
{
    if (__atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) == 0)
        call_later(free_pool, p);
}

CUresult pool_default(struct device *d, CUmemoryPool *handle)
{
    state_lock();
    if (!d->default_pool && (d->default_pool = pool_new_held(d)))
        d->default_pool->is_default = true;
    CUmemoryPool p = d->default_pool;
    state_unlock();
    if (!p)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = p->handle;
    return CUDA_SUCCESS;
}

CUmemoryPool pool_handle(CUmemoryPool p)
{
    return p ? p->handle : NULL;
}

CUresult pool_of(CUmemoryPool handle, CUmemoryPool *p)
{
    TRY(state_ready());
    *p = record_of(handle, HANDLE_POOL);
    return *p ? CUDA_SUCCESS : handle_error(handle);
}

void pool_count(CUmemoryPool p, int64_t bytes)
{
    state_lock();
    for (int a = CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT; a <= CU_MEMPOOL_ATTR_USED_MEM_CURRENT; a += 2) {
        p->values[a] += (uint64_t)bytes;
        if (p->values[a] > p->values[a + 1])
            p->values[a + 1] = p->values[a];
    }
    state_unlock();
}

static uint64_t in_units(size_t bytes)
{
    return bytes / POOL_UNIT_BYTES * POOL_UNIT_BYTES + (bytes % POOL_UNIT_BYTES ? POOL_UNIT_BYTES : 0);
}

/* Counts an allocation against the pool's size limit; false if that is exceeded. */
bool pool_take_room(CUmemoryPool p, size_t bytes)
{
    state_lock();
    bool fits = !p->most_bytes || (bytes <= p->most_bytes && in_units(bytes) <= p->most_bytes - p->given_bytes);
    if (fits)
        p->given_bytes += in_units(bytes);
    uint64_t most = p->most_bytes, given = p->given_bytes;
    state_unlock();
    if (!fits)
        log_line(LOG_ERROR, "out of memory for %zu bytes: of the pool's %llu bytes (maxSize), %llu are in use", bytes,
                 (unsigned long long)most, (unsigned long long)given);
    return fits;
}

void pool_give_room(CUmemoryPool p, size_t bytes)
{
    state_lock();
    p->given_bytes -= in_units(bytes);
    state_unlock();
}

void pool_freed(CUmemoryPool pool, size_t bytes)
{
    if (!pool)
        return;
    pool_give_room(pool, bytes);
    pool_count(pool, -(int64_t)bytes);
    pool_drop(pool);
}
