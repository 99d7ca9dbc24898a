/* See space.h. */
#include "mem/space.h"

#include "base/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sparse.h"

/* A run so large asks the system for large pages: what goes through much memory misses fewer of them. */
enum { LARGE_PAGES_FROM = 4 << 20 };

/* Slots: 16 bytes (the kernels' own malloc) to 32 KB. */
enum { CLASS_FIRST_LOG2 = 4, CLASS_LAST_LOG2 = 15, LARGE = -1 };

enum area { AREA_GLOBAL, AREA_CONST, AREA_HOST };

/* One unit of slots, or the run of units of one large allocation. */
struct mem_unit {
    struct mem_unit *next_open, *next, *next_host;
    _Atomic uint64_t start; /* of a large one: changes when it is used again */
    int class_log2;         /* log2 of the slot size, or LARGE */
    int file;               /* that its memory is shared by, or -1 */
    enum area area;
    bool mapped; /* AREA_HOST: at both places */
    uint32_t n_slots, n_free, n_units;
    uint32_t *free_slots;    /* stack of n_free */
    _Atomic uint64_t *sizes; /* by slot: bytes asked for, 0 = free */
    _Atomic uint8_t *kinds;
    const char *_Atomic *names;
    void *_Atomic *data;
};

struct mem_held {
    struct mem_block block;
    struct mem_unit *unit; /* of its slot; NULL: it was a run of units */
    uint32_t slot;
    struct mem_run run;
};

static uint64_t round_up(uint64_t x, uint64_t to)
{
    return (x + to - 1) / to * to;
}

static void *reserve(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

bool mem_init(struct mem *m, uint64_t limit_bytes)
{
    const uint64_t fixed = MEM_LOCAL_WINDOW_BYTES + MEM_CLUSTER_WINDOW_BYTES + MEM_CODE_BYTES;
    *m = (struct mem){.limit_bytes = limit_bytes, .host_file = -1};
    /* Twice the limit leaves room for fragments; less where the system allows less. */
    uint64_t least = fixed + MEM_CONST_BYTES + (64u << 20);
    uint64_t want = fixed + MEM_CONST_BYTES + round_up(2 * limit_bytes, MEM_UNIT_BYTES);
    want = want < least ? least : want;
    for (; !m->start && want >= least; want -= want / 4) {
        m->reserved_bytes = round_up(want, MEM_UNIT_BYTES);
        m->start = reserve(m->reserved_bytes);
    }
    if (!m->start)
        return false;
    m->const_start = mem_local_window(m) + fixed;
    m->const_size = MEM_CONST_BYTES;
    m->heap_start = m->const_start;
    m->heap_size = m->reserved_bytes - fixed;
    m->n_units = (uint32_t)(m->heap_size / MEM_UNIT_BYTES);
    m->const_units = m->used_units = (uint32_t)(m->const_size / MEM_UNIT_BYTES);
    m->units = mmap(NULL, m->n_units * sizeof *m->units, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m->units == MAP_FAILED) {
        munmap(m->start, m->reserved_bytes);
        return false;
    }
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->use.lock, NULL);
    pthread_cond_init(&m->use.none, NULL);
    return true;
}

static void free_unit(struct mem_unit *u)
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

void mem_destroy(struct mem *m)
{
    if (!m->start)
        return;
    for (struct mem_unit *u = m->all_units; u;) {
        struct mem_unit *next = u->next;
        free_unit(u);
        u = next;
    }
    if (m->host)
        host_destroy(m->host);
    free(m->host);
    free(m->free_runs.at);
    free(m->held);
    munmap((void *)m->units, m->n_units * sizeof *m->units);
    munmap(m->start, m->reserved_bytes);
    if (m->host_shift)
        munmap((void *)(uintptr_t)(m->heap_start + m->host_shift), m->heap_size);
    if (m->host_file >= 0)
        close(m->host_file);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->use.lock);
    pthread_cond_destroy(&m->use.none);
    m->start = NULL;
}

/* ---- runs of units ---- */

static uint64_t unit_address(const struct mem *m, uint32_t unit)
{
    return m->heap_start + (uint64_t)unit * MEM_UNIT_BYTES;
}

/* `n` consecutive free units; UINT32_MAX where there are none. */
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

/* The same with memory behind them. */
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
        madvise(at, bytes, MADV_HUGEPAGE); /* it may have none */
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

/* Keeps others from beginning to use it, with the lock held, until keep_out_end(); false where somebody does already. */
static bool close_to_all(struct mem *m)
{
    m->use.closed = true;
    bool unused = m->use.users == 0;
    m->use.closed = unused;
    return unused;
}

/* Waits for nobody: the space's lock is held, for which others may wait who keep all out. */
static bool keep_out(struct mem *m)
{
    if (pthread_mutex_trylock(&m->use.lock) != 0)
        return false;
    bool unused = close_to_all(m);
    if (!unused)
        pthread_mutex_unlock(&m->use.lock);
    return unused;
}

/* The same, when those that use it have ended. */
static void await_and_keep_out(struct mem *m)
{
    pthread_mutex_lock(&m->use.lock);
    for (m->use.awaited = true; !close_to_all(m); m->use.awaited = true) /* another may have been here first */
        pthread_cond_wait(&m->use.none, &m->use.lock);
    m->use.awaited = false;
}

static void keep_out_end(struct mem *m)
{
    m->use.closed = false;
    pthread_mutex_unlock(&m->use.lock);
}

/* Memory goes back to the system. Its addresses can be used no more, unless someone may have just looked them up: a kernel
 * that reads what another of its threads frees. */
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
        keep_out_end(m);
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
    if (run) /* without memory the range is lost, not what is behind it */
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

/* The unit's addresses show the file, and so do those at the distance. */
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
        keep_out_end(m);
}

bool mem_watch_host(struct mem *m)
{
    if (m->host_shift)
        return true;
    void *view = reserve(m->heap_size);
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

/* The records of freed large allocations serve the next ones. */
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

static struct mem_unit *new_unit(struct mem *m, uint64_t size, int class_log2, enum area area)
{
    struct mem_unit *again = class_log2 == LARGE ? retired_unit(m, area) : NULL;
    uint32_t n_units = class_log2 == LARGE ? (uint32_t)(round_up(size, MEM_UNIT_BYTES) / MEM_UNIT_BYTES) : 1;
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
        free_unit(u);
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

static int class_of(uint64_t size)
{
    int log2 = CLASS_FIRST_LOG2;
    while ((1ull << log2) < size)
        log2++;
    return log2 > CLASS_LAST_LOG2 ? LARGE : log2;
}

bool mem_charge(struct mem *m, uint64_t bytes)
{
    uint64_t before = atomic_load_explicit(&m->charged_bytes, memory_order_relaxed);
    do
        if (bytes > m->limit_bytes || before > m->limit_bytes - bytes)
            return false;
    while (!atomic_compare_exchange_weak(&m->charged_bytes, &before, before + bytes));
    return true;
}

void mem_discharge(struct mem *m, uint64_t bytes)
{
    atomic_fetch_sub(&m->charged_bytes, bytes);
}

/* What an allocation takes of the host's memory: of small ones the slot, and what is noted of it. */
static uint64_t cost_of(uint64_t size, int class_log2)
{
    enum { NOTED_BYTES = 32, SMALL_LOG2 = 12 };
    return class_log2 == LARGE || class_log2 > SMALL_LOG2 ? size : (1ull << class_log2) + NOTED_BYTES;
}

/* What an allocation takes of addresses. */
static uint64_t room_of(const struct mem *m, uint64_t size, enum mem_kind kind)
{
    uint64_t gap = !m->guarded ? 0 : kind == MEM_HEAP ? 16 : MEM_GAP_BYTES;
    return kind != MEM_HEAP && size + gap < MEM_ALIGN_BYTES ? MEM_ALIGN_BYTES : size + gap;
}

/* As on an H200. Slots have room for what they hold with its tail. */
static uint64_t tail_bytes(uint64_t size, enum mem_kind kind)
{
    switch (kind) {
    case MEM_DEVICE:
    case MEM_MANAGED_VARIABLE: return -size % MEM_ALIGN_BYTES;
    case MEM_VARIABLE: return -size % MEM_VARIABLE_BYTES;
    case MEM_HEAP: return -size % MEM_HEAP_BYTES;
    default: return 0;
    }
}

static enum area area_of(enum mem_kind kind)
{
    switch (kind) {
    case MEM_CONST:
    case MEM_PARAM: return AREA_CONST;
    case MEM_HOST:
    case MEM_HOST_VARIABLE: return AREA_HOST;
    default: return AREA_GLOBAL;
    }
}

void *mem_alloc(struct mem *m, uint64_t size, enum mem_kind kind, const char *name)
{
    enum area area = area_of(kind);
    if (size == 0 || size > m->heap_size)
        return NULL;
    uint64_t room = room_of(m, size, kind);
    int class_log2 = class_of(room);
    void *p = NULL;
    if (!mem_charge(m, cost_of(size, class_log2)))
        return NULL;
    pthread_mutex_lock(&m->lock);
    struct mem_unit **open = class_log2 == LARGE ? NULL : &m->open_units[area][class_log2 - CLASS_FIRST_LOG2];
    struct mem_unit *u = open ? *open : NULL;
    if (!u) {
        u = new_unit(m, room, class_log2, area);
        if (u && open)
            *open = u;
    }
    if (u) {
        uint32_t slot = u->free_slots[--u->n_free];
        if (open && u->n_free == 0)
            *open = u->next_open;
        u->kinds[slot] = (uint8_t)kind;
        u->names[slot] = name;
        u->data[slot] = NULL;
        u->sizes[slot] = size;
        m->allocated_bytes += size;
        if (m->allocated_bytes > m->peak_bytes)
            m->peak_bytes = m->allocated_bytes;
        p = (void *)(uintptr_t)(u->start + (class_log2 == LARGE ? 0 : (uint64_t)slot << class_log2));
    }
    pthread_mutex_unlock(&m->lock);
    if (!p)
        mem_discharge(m, cost_of(size, class_log2));
    else if (m->open_tails)
        memset((char *)p + size, 0, tail_bytes(size, kind));
    return p;
}

void *mem_alloc_zero(struct mem *m, uint64_t size, enum mem_kind kind, const char *name)
{
    char *p = mem_alloc(m, size, kind, name);
    bool large = p && class_of(size) == LARGE;
    if (large && area_of(kind) == AREA_HOST)
        return p; /* a hole of the file */
    /* A kernel may have written to what is freed: the system gives pages of zeros once more. */
    if (p && (!large || madvise(p, (size_t)round_up(size, SPARSE_PAGE_BYTES), MADV_DONTNEED) != 0))
        memset(p + (area_of(kind) == AREA_HOST ? m->host_shift : 0), 0, size);
    return p;
}

static struct mem_unit *unit_of(const struct mem *m, uint64_t address)
{
    uint64_t offset = address - m->heap_start;
    return offset < m->heap_size ? m->units[offset / MEM_UNIT_BYTES] : NULL;
}

static uint32_t slot_of(const struct mem_unit *u, uint64_t address)
{
    return u->class_log2 == LARGE ? 0 : (uint32_t)((address - u->start) >> u->class_log2);
}

static uint64_t slot_address(const struct mem_unit *u, uint32_t slot)
{
    return u->class_log2 == LARGE ? u->start : u->start + ((uint64_t)slot << u->class_log2);
}

bool mem_is_host(const struct mem *m, uint64_t address)
{
    const struct mem_unit *u = unit_of(m, address);
    return u && u->area == AREA_HOST && u->mapped;
}

/* ---- memory of several processes ---- */

/* A file of the unit's size with what is in it; pages of zeros stay holes. */
static int file_of(const struct mem_unit *u)
{
    const size_t page = SPARSE_PAGE_BYTES, bytes = (size_t)u->n_units * MEM_UNIT_BYTES;
    const char *from = (const char *)(uintptr_t)u->start;
    int file = memory_file_new(bytes);
    bool good = file >= 0;
    for (size_t at = 0; good && at < bytes; at += page)
        good = is_zero(from + at, page) || pwrite(file, from + at, page, (off_t)at) == (ssize_t)page;
    if (good || file < 0)
        return file;
    close(file);
    return -1;
}

/* A file in the place of a unit's memory. With the lock held, and nobody using the space. */
static void share(struct mem_unit *u)
{
    int file = file_of(u);
    if (file < 0)
        return;
    void *at = mmap((void *)(uintptr_t)u->start, (size_t)u->n_units * MEM_UNIT_BYTES, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED, file, 0);
    if (at == MAP_FAILED)
        close(file);
    else
        u->file = file;
}

int mem_share(struct mem *m, void *p, uint64_t *offset)
{
    uint64_t address = (uint64_t)(uintptr_t)p;
    int file = -1;
    await_and_keep_out(m); /* what is written between the copy and the change would be lost */
    pthread_mutex_lock(&m->lock);
    struct mem_unit *u = unit_of(m, address);
    if (!u || u->area != AREA_GLOBAL || !u->sizes[slot_of(u, address)]) {
        errno = EINVAL;
    } else {
        if (u->file < 0)
            share(u);
        file = u->file;
        *offset = address - u->start;
    }
    pthread_mutex_unlock(&m->lock);
    keep_out_end(m);
    return file;
}

/* ---- freeing ---- */

/* A slot can be used again. */
static void give_slot(struct mem *m, struct mem_unit *u, uint32_t slot)
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

/* What has been held for the longest time can be used again. */
static void let_go(struct mem *m)
{
    const struct mem_held *h = &m->held[m->oldest_held];
    m->oldest_held = (m->oldest_held + 1) % MEM_HELD;
    m->n_held--;
    m->held_bytes -= held_cost(h);
    if (h->unit)
        give_slot(m, h->unit, h->slot);
    else
        give_run(m, h->run.first, h->run.n);
}

/* False where nothing is held: then it can be used again at once. */
static bool hold(struct mem *m, const struct mem_held *h)
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

void mem_open_tails(struct mem *m)
{
    m->open_tails = true;
}

void mem_guard(struct mem *m)
{
    m->guarded = true;
}

/* A large allocation's unit goes back. Readers may still look at it: it is unlinked here and freed with the space. */
static void give_unit(struct mem *m, struct mem_unit *u, const struct mem_block *block)
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
    if (u->area != AREA_CONST && !hold(m, &(struct mem_held){.block = *block, .run = run}))
        give_run(m, run.first, run.n);
    retire_unit(m, u);
}

/* Units of slots stay for the next of their size. */
bool mem_free(struct mem *m, void *p)
{
    uint64_t address = (uint64_t)(uintptr_t)p;
    bool ok = false;
    pthread_mutex_lock(&m->lock);
    struct mem_unit *u = unit_of(m, address);
    uint32_t slot = u ? slot_of(u, address) : 0;
    if (u && u->sizes[slot] && slot_address(u, slot) == address) {
        struct mem_block block = {address, u->sizes[slot], (enum mem_kind)u->kinds[slot], u->names[slot], NULL};
        ok = true;
        m->allocated_bytes -= block.size;
        mem_discharge(m, cost_of(block.size, u->class_log2));
        m->freed[m->n_freed++ % MEM_FREED] = block;
        u->sizes[slot] = 0;
        m->version++;
        if (u->class_log2 == LARGE) {
            u->free_slots[u->n_free++] = slot;
            give_unit(m, u, &block);
        } else if (!hold(m, &(struct mem_held){.block = block, .unit = u, .slot = slot})) {
            give_slot(m, u, slot);
        }
    }
    pthread_mutex_unlock(&m->lock);
    return ok;
}

/* Without a lock: the size is 0 while the rest changes, so what was read between two equal sizes belongs together. */
static bool describe(const struct mem_unit *u, uint32_t slot, struct mem_block *block)
{
    uint64_t size = u->sizes[slot];
    if (!size)
        return false;
    *block =
        (struct mem_block){slot_address(u, slot), size, (enum mem_kind)u->kinds[slot], u->names[slot], u->data[slot]};
    return u->sizes[slot] == size;
}

void mem_set_data(struct mem *m, void *p, void *data)
{
    struct mem_unit *u = unit_of(m, (uint64_t)(uintptr_t)p);
    u->data[slot_of(u, (uint64_t)(uintptr_t)p)] = data;
}

bool mem_find(const struct mem *m, uint64_t address, struct mem_block *block)
{
    const struct mem_unit *u = unit_of(m, address);
    return u && describe(u, slot_of(u, address), block) && address - block->start < block->size;
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
    const struct mem_unit *u = m->open_tails ? unit_of(m, address) : NULL;
    *in_tail = false;
    if (mem_reach(m, address, block) && holds(block, 0, address, bytes))
        return true;
    *in_tail = u && describe(u, slot_of(u, address), block) &&
               holds(block, tail_bytes(block->size, block->kind), address, bytes);
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
