/* See space.h. */
#include "mem/units.h"

#include "base/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sparse.h"

bool mem_init(struct mem *m, uint64_t limit_bytes)
{
    const uint64_t fixed = MEM_LOCAL_WINDOW_BYTES + MEM_CLUSTER_WINDOW_BYTES + MEM_CODE_BYTES;
    *m = (struct mem){.limit_bytes = limit_bytes, .host_file = -1};
    /* Twice the limit leaves room for fragments; less where the system allows less. */
    uint64_t least = fixed + MEM_CONST_BYTES + (64u << 20);
    uint64_t want = fixed + MEM_CONST_BYTES + mem_round_up(2 * limit_bytes, MEM_UNIT_BYTES);
    want = want < least ? least : want;
    for (; !m->start && want >= least; want -= want / 4) {
        m->reserved_bytes = mem_round_up(want, MEM_UNIT_BYTES);
        m->start = mem_reserve(m->reserved_bytes);
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

void mem_destroy(struct mem *m)
{
    if (!m->start)
        return;
    for (struct mem_unit *u = m->all_units; u;) {
        struct mem_unit *next = u->next;
        mem_unit_free(u);
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

/* What an allocation takes of the host's memory; for a small one, its slot and its records. */
static uint64_t charge_of(uint64_t size, int class_log2)
{
    enum { NOTED_BYTES = 32, SMALL_LOG2 = 12 };
    return class_log2 == LARGE || class_log2 > SMALL_LOG2 ? size : (1ull << class_log2) + NOTED_BYTES;
}

/* What an allocation takes of the address space. */
static uint64_t room_of(const struct mem *m, uint64_t size, enum mem_kind kind)
{
    uint64_t gap = !m->guarded ? 0 : kind == MEM_HEAP ? 16 : MEM_GAP_BYTES;
    return kind != MEM_HEAP && size + gap < MEM_ALIGN_BYTES ? MEM_ALIGN_BYTES : size + gap;
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
    if (!mem_charge(m, charge_of(size, class_log2)))
        return NULL;
    pthread_mutex_lock(&m->lock);
    struct mem_unit **open = class_log2 == LARGE ? NULL : &m->open_units[area][class_log2 - CLASS_FIRST_LOG2];
    struct mem_unit *u = open ? *open : NULL;
    if (!u) {
        u = mem_unit_new(m, room, class_log2, area);
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
        mem_discharge(m, charge_of(size, class_log2));
    else if (m->open_tails)
        memset((char *)p + size, 0, mem_tail_bytes(size, kind));
    return p;
}

void *mem_alloc_zero(struct mem *m, uint64_t size, enum mem_kind kind, const char *name)
{
    char *p = mem_alloc(m, size, kind, name);
    bool large = p && class_of(size) == LARGE;
    if (large && area_of(kind) == AREA_HOST)
        return p; /* a hole of the file, which reads as zeros */
    /* A kernel may have written to memory after it was freed: the system supplies pages of zeros
       again. */
    if (p && (!large || madvise(p, (size_t)mem_round_up(size, SPARSE_PAGE_BYTES), MADV_DONTNEED) != 0))
        memset(p + (area_of(kind) == AREA_HOST ? m->host_shift : 0), 0, size);
    return p;
}

/* ---- memory of several processes ---- */

/* A file with the unit's contents; pages of zeros stay holes. */
static int unit_file(const struct mem_unit *u)
{
    const size_t page = SPARSE_PAGE_BYTES, bytes = (size_t)u->n_units * MEM_UNIT_BYTES;
    const char *from = (const char *)(uintptr_t)u->start;
    int file = memory_file_new(bytes);
    bool good = file >= 0;
    for (size_t at = 0; good && at < bytes; at += page)
        good = bytes_are_zero(from + at, page) || pwrite(file, from + at, page, (off_t)at) == (ssize_t)page;
    if (good || file < 0)
        return file;
    close(file);
    return -1;
}

/* Replaces a unit's memory by a file. Call with the lock held, while nobody uses the space. */
static void share(struct mem_unit *u)
{
    int file = unit_file(u);
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
    mem_await_and_keep_out(m); /* writes between the copy and the exchange would be lost */
    pthread_mutex_lock(&m->lock);
    struct mem_unit *u = mem_unit_of(m, address);
    if (!u || u->area != AREA_GLOBAL || !u->sizes[mem_slot_of(u, address)]) {
        errno = EINVAL;
    } else {
        if (u->file < 0)
            share(u);
        file = u->file;
        *offset = address - u->start;
    }
    pthread_mutex_unlock(&m->lock);
    mem_keep_out_end(m);
    return file;
}

/* ---- freeing ---- */

void mem_open_tails(struct mem *m)
{
    m->open_tails = true;
}

void mem_guard(struct mem *m)
{
    m->guarded = true;
}

/* The slot that begins at the address, used or free; NULL if there is none. */
static struct mem_unit *find_slot(struct mem *m, uint64_t address, uint32_t *slot)
{
    struct mem_unit *u = mem_unit_of(m, address);
    *slot = u ? mem_slot_of(u, address) : 0;
    return u && mem_slot_address(u, *slot) == address ? u : NULL;
}

/* Removes the allocation from look-ups, and adds it to the freed ones. */
static struct mem_block take(struct mem *m, struct mem_unit *u, uint32_t slot)
{
    struct mem_block block = {mem_slot_address(u, slot), u->sizes[slot], (enum mem_kind)u->kinds[slot], u->names[slot],
                              NULL};
    m->allocated_bytes -= block.size;
    mem_discharge(m, charge_of(block.size, u->class_log2));
    m->freed[m->n_freed++ % MEM_FREED] = block;
    u->sizes[slot] = 0;
    m->version++;
    return block;
}

bool mem_close(struct mem *m, void *p)
{
    uint32_t slot;
    pthread_mutex_lock(&m->lock);
    struct mem_unit *u = find_slot(m, (uint64_t)(uintptr_t)p, &slot);
    bool ok = u && u->sizes[slot];
    if (ok)
        take(m, u, slot);
    if (ok && u->class_log2 == LARGE)
        madvise(p, (size_t)u->n_units * MEM_UNIT_BYTES,
                MADV_DONTNEED); /* a reader that has just looked it up reads zeros */
    pthread_mutex_unlock(&m->lock);
    return ok;
}

bool mem_open(struct mem *m, void *p, uint64_t size)
{
    uint32_t slot;
    pthread_mutex_lock(&m->lock);
    struct mem_unit *u = find_slot(m, (uint64_t)(uintptr_t)p, &slot);
    bool ok = u && !u->sizes[slot] && mem_charge(m, charge_of(size, u->class_log2));
    if (ok) {
        u->sizes[slot] = size;
        m->allocated_bytes += size;
        if (m->allocated_bytes > m->peak_bytes)
            m->peak_bytes = m->allocated_bytes;
    }
    pthread_mutex_unlock(&m->lock);
    return ok;
}

/* Frees the memory. Units of slots are kept for allocations of their size. */
static void give(struct mem *m, struct mem_unit *u, uint32_t slot, const struct mem_block *block)
{
    if (u->class_log2 == LARGE) {
        u->free_slots[u->n_free++] = slot;
        mem_unit_give(m, u, block);
    } else if (!mem_hold(m, &(struct mem_held){.block = *block, .unit = u, .slot = slot})) {
        mem_slot_give(m, u, slot);
    }
}

void mem_free_closed(struct mem *m, void *p)
{
    uint32_t slot;
    pthread_mutex_lock(&m->lock);
    struct mem_unit *u = find_slot(m, (uint64_t)(uintptr_t)p, &slot);
    if (u)
        give(m, u, slot, &(struct mem_block){.start = (uint64_t)(uintptr_t)p});
    pthread_mutex_unlock(&m->lock);
}

bool mem_free(struct mem *m, void *p)
{
    uint32_t slot;
    pthread_mutex_lock(&m->lock);
    struct mem_unit *u = find_slot(m, (uint64_t)(uintptr_t)p, &slot);
    bool ok = u && u->sizes[slot];
    if (ok) {
        struct mem_block block = take(m, u, slot);
        give(m, u, slot, &block);
    }
    pthread_mutex_unlock(&m->lock);
    return ok;
}
