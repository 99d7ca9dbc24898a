/* See units.h. */
#include "mem/units.h"

#include "base/memory_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* From this size on, runs ask the system for large pages, which reduce TLB misses. */
enum { LARGE_PAGES_FROM = 4 << 20 };

void *mem_reserve(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void mem_unit_free(struct mem_unit *u)
{
    if (u->file >= 0)
        close(u->file);
    free(u->free_slots);
    free((void *)u->sizes);
    free((void *)u->kinds);
    free((void *)u->names);
    free((void *)u->data);
    free(u);
}

/* ---- runs of units ---- */

static uint64_t unit_address(const struct mem *m, uint32_t unit)
{
    return m->heap_start + (uint64_t)unit * MEM_UNIT_BYTES;
}

/* Finds `n` consecutive free units; UINT32_MAX if there are none. */
static uint32_t find_run(struct mem *m, uint32_t n, bool constant)
{
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; !constant && i < m->free_runs.n && first == UINT32_MAX; i++) {
        struct mem_run *r = &m->free_runs.at[i];
        if (r->n < n)
            continue;
        first = r->first;
        r->first += n;
        r->n -= n;
        if (r->n == 0)
            VEC_REMOVE(&m->free_runs, i, 1);
    }
    if (first == UINT32_MAX) {
        uint32_t *used = constant ? &m->used_const_units : &m->used_units;
        uint32_t end = constant ? m->const_units : m->n_units;
        if (end - *used < n)
            return UINT32_MAX;
        first = *used;
        *used += n;
    }
    return first;
}

static void let_go(struct mem *m);

/* The same, with memory. */
static uint32_t take_run(struct mem *m, uint32_t n, enum area area)
{
    bool constant = area == AREA_CONST;
    uint32_t first = find_run(m, n, constant);
    while (first == UINT32_MAX && !constant && m->n_held) {
        let_go(m);
        first = find_run(m, n, constant);
    }
    if (first == UINT32_MAX)
        return first;
    void *at = (void *)(uintptr_t)unit_address(m, first);
    size_t bytes = (size_t)n * MEM_UNIT_BYTES;
    if (mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0)
        return UINT32_MAX;
    if (bytes >= LARGE_PAGES_FROM && area != AREA_HOST)
        madvise(at, bytes, MADV_HUGEPAGE); /* fails if the system has no large pages */
    return first;
}

void mem_end_use(struct mem *m)
{
    if (atomic_fetch_sub(&m->use.users, 1) != 1 || !m->use.awaited)
        return;
    pthread_mutex_lock(&m->use.lock);
    pthread_cond_broadcast(&m->use.none);
    pthread_mutex_unlock(&m->use.lock);
}

void mem_begin_use(struct mem *m)
{
    while (atomic_fetch_add(&m->use.users, 1), m->use.closed) {
        mem_end_use(m);
        pthread_mutex_lock(&m->use.lock);
        pthread_mutex_unlock(&m->use.lock);
    }
}

/* Keeps others from beginning to use it until mem_keep_out_end(); false if somebody uses it. Call
 * with the lock held. */
static bool close_to_all(struct mem *m)
{
    m->use.closed = true;
    bool unused = m->use.users == 0;
    m->use.closed = unused;
    return unused;
}

/* Tries to keep users out, without waiting: a waiting thread that holds the lock could block those
   it waits for. */
static bool keep_out(struct mem *m)
{
    if (pthread_mutex_trylock(&m->use.lock) != 0)
        return false;
    bool unused = close_to_all(m);
    if (!unused)
        pthread_mutex_unlock(&m->use.lock);
    return unused;
}

/* Keeps users out after waiting for them to end. */
void mem_await_and_keep_out(struct mem *m)
{
    pthread_mutex_lock(&m->use.lock);
    /* another thread may have closed it first */
    for (m->use.awaited = true; !close_to_all(m); m->use.awaited = true)
        pthread_cond_wait(&m->use.none, &m->use.lock);
    m->use.awaited = false;
}

void mem_keep_out_end(struct mem *m)
{
    m->use.closed = false;
    pthread_mutex_unlock(&m->use.lock);
}

/* Returns memory to the system. Its addresses become inaccessible, unless somebody may have just
 * looked them up: a kernel that reads what another of its threads frees. */
static void give_memory(struct mem *m, uint64_t start, size_t bytes, bool is_file)
{
    void *at = (void *)(uintptr_t)start;
    bool used = !keep_out(m);
    int protection = used ? PROT_READ | PROT_WRITE : PROT_NONE;
    if (is_file)
        mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    else
        madvise(at, bytes, MADV_DONTNEED);
    if (!used) {
        mprotect(at, bytes, PROT_NONE);
        mem_keep_out_end(m);
    }
}

static void give_run(struct mem *m, uint32_t first, uint32_t n)
{
    uint32_t i = 0;
    while (i < m->free_runs.n && m->free_runs.at[i].first < first)
        i++;
    bool joins_before = i > 0 && m->free_runs.at[i - 1].first + m->free_runs.at[i - 1].n == first;
    bool joins_after = i < m->free_runs.n && first + n == m->free_runs.at[i].first;
    if (joins_before) {
        m->free_runs.at[i - 1].n += n + (joins_after ? m->free_runs.at[i].n : 0);
        if (joins_after)
            VEC_REMOVE(&m->free_runs, i, 1);
        return;
    }
    if (joins_after) {
        m->free_runs.at[i].first = first;
        m->free_runs.at[i].n += n;
        return;
    }
    struct mem_run *run = VEC_INSERT(&m->free_runs, i);
    if (run) /* if memory is exhausted only this range is lost, not those behind it */
        *run = (struct mem_run){first, n};
}

/* ---- memory of the host and the kernels, watched ---- */

static void *machines_view(const struct mem *m, const struct mem_unit *u)
{
    return (void *)(uintptr_t)(u->start + m->host_shift);
}

static int host_protection(const struct mem *m)
{
    return m->host_closed ? PROT_NONE : PROT_READ | PROT_WRITE;
}

/* Maps the file at the unit's addresses, and again at the fixed distance. */
static bool map_host_unit(struct mem *m, struct mem_unit *u)
{
    size_t bytes = (size_t)u->n_units * MEM_UNIT_BYTES;
    off_t at = (off_t)(u->start - m->heap_start);
    u->mapped = mmap((void *)(uintptr_t)u->start, bytes, host_protection(m), MAP_SHARED | MAP_FIXED, m->host_file,
                     at) != MAP_FAILED &&
                mmap(machines_view(m, u), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, m->host_file, at) !=
                    MAP_FAILED;
    return u->mapped;
}

static void unmap_host_unit(struct mem *m, struct mem_unit *u)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    size_t bytes = (size_t)u->n_units * MEM_UNIT_BYTES;
    bool used = !keep_out(m); /* as in give_memory() */
    u->mapped = false;
    fallocate(m->host_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(u->start - m->heap_start),
              (off_t)bytes);
    mmap((void *)(uintptr_t)u->start, bytes, used ? PROT_READ | PROT_WRITE : PROT_NONE, flags, -1, 0);
    mmap(machines_view(m, u), bytes, used ? PROT_READ | PROT_WRITE : PROT_NONE, flags, -1, 0);
    if (!used)
        mem_keep_out_end(m);
}

bool mem_watch_host(struct mem *m)
{
    if (m->host_shift)
        return true;
    void *view = mem_reserve(m->heap_size);
    m->host_file = memory_file_new(m->heap_size);
    if (!view || m->host_file < 0) {
        if (view)
            munmap(view, m->heap_size);
        return false;
    }
    m->host_shift = (uint64_t)(uintptr_t)view - m->heap_start;
    return true;
}

static void close_host(struct mem *m, bool closed)
{
    m->host_closed = closed;
    for (struct mem_unit *u = m->host_units; u; u = u->next_host)
        if (u->mapped)
            mprotect((void *)(uintptr_t)u->start, (size_t)u->n_units * MEM_UNIT_BYTES, host_protection(m));
}

void mem_close_host(struct mem *m, bool closed)
{
    if (m->host_closed == closed)
        return;
    pthread_mutex_lock(&m->lock);
    close_host(m, closed);
    pthread_mutex_unlock(&m->lock);
}

void mem_open_host_in_child(struct mem *m)
{
    if (m->host_closed)
        close_host(m, false);
}

/* ---- units ---- */

/* Reuses the record of a freed large allocation. */
static struct mem_unit *retired_unit(struct mem *m, enum area area)
{
    struct mem_unit *u = m->retired_units[area];
    if (u)
        m->retired_units[area] = u->next_open;
    return u;
}

static void retire_unit(struct mem *m, struct mem_unit *u)
{
    u->next_open = m->retired_units[u->area];
    m->retired_units[u->area] = u;
}

static bool map_unit(struct mem *m, struct mem_unit *u)
{
    uint32_t first = take_run(m, u->n_units, u->area);
    if (first == UINT32_MAX)
        return false;
    u->start = unit_address(m, first);
    if (u->area == AREA_HOST && !map_host_unit(m, u)) {
        give_run(m, first, u->n_units);
        return false;
    }
    for (uint32_t i = 0; i < u->n_units; i++)
        m->units[first + i] = u;
    return true;
}

struct mem_unit *mem_unit_new(struct mem *m, uint64_t size, int class_log2, enum area area)
{
    struct mem_unit *again = class_log2 == LARGE ? retired_unit(m, area) : NULL;
    uint32_t n_units = class_log2 == LARGE ? (uint32_t)(mem_round_up(size, MEM_UNIT_BYTES) / MEM_UNIT_BYTES) : 1;
    uint32_t n_slots = class_log2 == LARGE ? 1 : MEM_UNIT_BYTES >> class_log2;
    if (again) {
        again->n_units = n_units;
        if (map_unit(m, again))
            return again;
        retire_unit(m, again);
        return NULL;
    }
    struct mem_unit *u = calloc(1, sizeof *u);
    if (!u)
        return NULL;
    u->class_log2 = class_log2;
    u->file = -1;
    u->area = area;
    u->n_slots = u->n_free = n_slots;
    u->n_units = n_units;
    u->free_slots = malloc(n_slots * sizeof *u->free_slots);
    u->sizes = calloc(n_slots, sizeof *u->sizes);
    u->kinds = calloc(n_slots, sizeof *u->kinds);
    u->names = calloc(n_slots, sizeof *u->names);
    u->data = calloc(n_slots, sizeof *u->data);
    bool ok = u->free_slots && u->sizes && u->kinds && u->names && u->data;
    if (!ok || !map_unit(m, u)) {
        mem_unit_free(u);
        return NULL;
    }
    for (uint32_t i = 0; i < n_slots; i++)
        u->free_slots[i] = n_slots - 1 - i;
    u->next = m->all_units;
    m->all_units = u;
    if (area == AREA_HOST) {
        u->next_host = m->host_units;
        m->host_units = u;
    }
    return u;
}

/* ---- what was freed ---- */

void mem_slot_give(struct mem *m, struct mem_unit *u, uint32_t slot)
{
    u->free_slots[u->n_free++] = slot;
    if (u->n_free > 1)
        return;
    struct mem_unit **open = &m->open_units[u->area][u->class_log2 - CLASS_FIRST_LOG2];
    u->next_open = *open;
    *open = u;
}

static uint64_t held_cost(const struct mem_held *h)
{
    return h->unit ? 1ull << h->unit->class_log2 : 0;
}

/* Releases what has been held longest. */
static void let_go(struct mem *m)
{
    const struct mem_held *h = &m->held[m->oldest_held];
    m->oldest_held = (m->oldest_held + 1) % MEM_HELD;
    m->n_held--;
    m->held_bytes -= held_cost(h);
    if (h->unit)
        mem_slot_give(m, h->unit, h->slot);
    else
        give_run(m, h->run.first, h->run.n);
}

bool mem_hold(struct mem *m, const struct mem_held *h)
{
    if (!m->guarded || (h->unit && h->unit->area == AREA_CONST))
        return false;
    if (!m->held && !(m->held = calloc(MEM_HELD, sizeof *m->held)))
        return false;
    if (m->n_held == MEM_HELD)
        let_go(m);
    m->held[(m->oldest_held + m->n_held++) % MEM_HELD] = *h;
    m->held_bytes += held_cost(h);
    while (m->held_bytes > MEM_HELD_BYTES)
        let_go(m);
    return true;
}

void mem_unit_give(struct mem *m, struct mem_unit *u, const struct mem_block *block)
{
    struct mem_run run = {(uint32_t)((u->start - m->heap_start) / MEM_UNIT_BYTES), u->n_units};
    for (uint32_t i = 0; i < run.n; i++)
        m->units[run.first + i] = NULL;
    if (u->area == AREA_HOST)
        unmap_host_unit(m, u);
    else if (u->file >= 0 || u->area != AREA_CONST)
        give_memory(m, u->start, (size_t)run.n * MEM_UNIT_BYTES, u->file >= 0);
    if (u->file >= 0)
        close(u->file);
    u->file = -1;
    if (u->area != AREA_CONST && !mem_hold(m, &(struct mem_held){.block = *block, .run = run}))
        give_run(m, run.first, run.n);
    retire_unit(m, u);
}
