/* See mapping.h. */
#include "cuda/state/mapping.h"

#include "base/memory_file.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

static struct mappings {
    struct mapping *at; /* sorted by address */
    size_t n, capacity;
    VEC(struct reservation) reserved;
} mappings;

/* ---- files ---- */

static CUresult physical_of(struct device *d, int file, struct physical **physical)
{
    struct stat s;
    struct physical *p = fstat(file, &s) == 0 ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        close(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *p = (struct physical){
        .refs = 1, .file = file, .number = (uint64_t)s.st_ino, .bytes = (size_t)s.st_size, .device = d};
    *physical = p;
    return CUDA_SUCCESS;
}

size_t device_free_bytes(struct device *d)
{
    hd_machine_info info;
    hd_machine_get_info(d->machine, &info);
    size_t used = info.memory_used_bytes + __atomic_load_n(&d->mapped_bytes, __ATOMIC_RELAXED);
    return used < info.memory_bytes ? info.memory_bytes - used : 0;
}

CUresult physical_grow(struct physical *p, size_t bytes, size_t *offset)
{
    state_lock();
    bool good = bytes <= device_free_bytes(p->device) && memory_file_resize(p->file, p->bytes + bytes);
    if (good) {
        if (offset)
            *offset = p->bytes;
        p->bytes += bytes;
        __atomic_add_fetch(&p->counted, bytes, __ATOMIC_RELAXED);
        __atomic_add_fetch(&p->device->mapped_bytes, bytes, __ATOMIC_RELAXED);
    }
    state_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult physical_new(struct device *d, size_t bytes, const CUmemAllocationProp *properties, struct physical **physical)
{
    int file = memory_file_new(0);
    if (file < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    TRY(physical_of(d, file, physical));
    CUresult r = physical_grow(*physical, bytes, NULL);
    if (r)
        physical_drop(*physical);
    else if (properties)
        (*physical)->properties = *properties;
    return r;
}

CUresult physical_open(struct device *d, int file, struct physical **physical)
{
    NEED(memory_file_is(file));
    int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    return own < 0 ? CUDA_ERROR_OUT_OF_MEMORY : physical_of(d, own, physical);
}

bool physical_keep(struct physical *p)
{
    unsigned refs = __atomic_load_n(&p->refs, __ATOMIC_RELAXED);
    while (refs && !__atomic_compare_exchange_n(&p->refs, &refs, refs + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return refs != 0;
}

static void free_physical(void *record)
{
    struct physical *p = record;
    close(p->file);
    free(p);
}

/* Frees the memory now unless another process has it; the descriptor refers to an empty file until
 * no call can be using it. */
static void let_memory_go(const struct physical *p)
{
    int nothing = memory_file_new(0);
    if (nothing < 0)
        return;
    dup3(nothing, p->file, O_CLOEXEC);
    close(nothing);
}

void physical_drop(struct physical *p)
{
    if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    let_memory_go(p);
    __atomic_sub_fetch(&p->device->mapped_bytes, p->counted, __ATOMIC_RELAXED);
    call_later(free_physical, p);
}

/* ---- the list of mappings; with the lock held ---- */

/* The number of mappings that begin at or before an address. */
static size_t before(const struct mappings *l, const void *address)
{
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->at[middle].start <= (const char *)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct mapping *at_address(const struct mappings *l, const void *address)
{
    size_t i = before(l, address);
    struct mapping *m = i ? &l->at[i - 1] : NULL;
    return m && (size_t)((const char *)address - m->start) < m->bytes ? m : NULL;
}

static struct mapping *that_begins(const struct mappings *l, const void *start)
{
    struct mapping *m = at_address(l, start);
    return m && m->start == start ? m : NULL;
}

static bool insert(struct mappings *l, const struct mapping *m)
{
    if (!VEC_RESERVE(l, 1))
        return false;
    size_t i = before(l, m->start);
    memmove(&l->at[i + 1], &l->at[i], (l->n - i) * sizeof *m);
    l->at[i] = *m;
    __atomic_store_n(&l->n, l->n + 1, __ATOMIC_RELEASE);
    return true;
}

/* Rounds a mapping to whole pages: small memory of another process need not begin at a page. */
static void pages_of(const struct mapping *m, char **start, size_t *bytes)
{
    size_t skip = m->offset % PAGE;
    *start = m->start - skip;
    *bytes = (m->bytes + skip + PAGE - 1) / PAGE * PAGE;
}

static void forget(struct mappings *l, struct mapping *m)
{
    __atomic_store_n(&l->n, l->n - 1, __ATOMIC_RELEASE);
    memmove(m, m + 1, (size_t)(&l->at[l->n] - m) * sizeof *m);
}

static void take_out(struct mappings *l, struct mapping *m, bool reserve)
{
    char *start;
    size_t bytes;
    pages_of(m, &start, &bytes);
    if (reserve)
        mmap(start, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    else
        munmap(start, bytes);
    physical_drop(m->physical);
    forget(l, m);
}

/* ---- mappings ---- */

CUresult mapping_add(struct mapping *m, int protection)
{
    struct mappings *l = &mappings;
    char *start;
    size_t bytes;
    bool fixed = m->start;
    pages_of(m, &start, &bytes);
    char *at = mmap(fixed ? start : NULL, bytes, protection, MAP_SHARED | (fixed ? MAP_FIXED : 0), m->physical->file,
                    (off_t)(m->offset - m->offset % PAGE));
    if (at == MAP_FAILED)
        return errno == ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_MAP_FAILED;
    m->start = at + m->offset % PAGE;
    state_lock();
    bool kept = physical_keep(m->physical), known = kept && insert(l, m);
    state_unlock();
    if (kept && !known)
        physical_drop(m->physical);
    if (!known)
        munmap(at, bytes);
    return known ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

bool mapping_take(const void *start, struct mapping *m)
{
    struct mappings *l = &mappings;
    state_lock();
    struct mapping *found = that_begins(l, start);
    bool good = found && found->pool;
    if (good) {
        *m = *found;
        forget(l, found);
    }
    state_unlock();
    return good;
}

void mapping_end(const struct mapping *m)
{
    struct physical *p = m->physical;
    char *start;
    size_t bytes;
    pages_of(m, &start, &bytes);
    munmap(start, bytes);
    if (__atomic_load_n(&p->counted, __ATOMIC_RELAXED)) {
        fallocate(p->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)m->offset, (off_t)bytes);
        __atomic_sub_fetch(&p->counted, bytes, __ATOMIC_RELAXED);
        __atomic_sub_fetch(&p->device->mapped_bytes, bytes, __ATOMIC_RELAXED);
    }
    physical_drop(p);
}

bool mapping_find(const void *address, struct mapping *m)
{
    const struct mappings *l = &mappings;
    if (!__atomic_load_n(&l->n, __ATOMIC_ACQUIRE))
        return false;
    state_lock();
    const struct mapping *found = at_address(l, address);
    if (found)
        *m = *found;
    state_unlock();
    return found;
}

unsigned mapping_access(const struct mapping *m)
{
    unsigned all = m->opened || m->pool ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    for (int i = 0; i < MAX_DEVICES; i++)
        all |= m->access[i];
    return all;
}

static const struct reservation *reservation_of(const struct mappings *l, const char *address)
{
    size_t i = 0;
    while (i < l->reserved.n && (size_t)(address - l->reserved.at[i].start) >= l->reserved.at[i].bytes)
        i++;
    return i < l->reserved.n ? &l->reserved.at[i] : NULL;
}

static bool all_allow(const struct mappings *l, const char *at, const char *end, unsigned wanted)
{
    const struct mapping *m = at_address(l, at);
    if (!m)
        return !reservation_of(l, at);
    for (; m && at < end; m = at_address(l, at)) {
        if ((mapping_access(m) & wanted) != wanted)
            return false;
        at = m->start + m->bytes;
    }
    return at >= end;
}

bool mapping_allows(const void *start, size_t bytes, bool writes)
{
    const struct mappings *l = &mappings;
    const char *at = start;
    if (!bytes || (!__atomic_load_n(&l->n, __ATOMIC_ACQUIRE) && !__atomic_load_n(&l->reserved.n, __ATOMIC_ACQUIRE)))
        return true;
    state_lock();
    bool allowed =
        all_allow(l, at, at + bytes, writes ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ);
    state_unlock();
    return allowed;
}

struct device *mapping_device(const void *address, hd_memory_info *info)
{
    const struct mappings *l = &mappings;
    struct device *d = NULL;
    if (!__atomic_load_n(&l->n, __ATOMIC_ACQUIRE))
        return NULL;
    state_lock();
    const struct mapping *m = at_address(l, address);
    if (m) {
        const struct mapping *first = m, *last = m;
        while (first > l->at && first[-1].start + first[-1].bytes == first->start)
            first--;
        while (last + 1 < l->at + l->n && last->start + last->bytes == last[1].start)
            last++;
        d = m->physical->device;
        *info = (hd_memory_info){.start = first->start, .bytes = (size_t)(last->start + last->bytes - first->start)};
    }
    state_unlock();
    return d;
}

bool mapping_open_again(uint64_t number, size_t offset, size_t bytes, void **start)
{
    struct mappings *l = &mappings;
    bool found = false;
    state_lock();
    for (struct mapping *m = l->at; m < l->at + l->n && !found; m++) {
        found = m->opened && m->physical->number == number && m->offset == offset && m->bytes == bytes;
        m->opened += found;
        *start = m->start;
    }
    state_unlock();
    return found;
}

bool mapping_close(const void *start)
{
    struct mappings *l = &mappings;
    state_lock();
    struct mapping *m = that_begins(l, start);
    bool found = m && m->opened;
    if (found && --m->opened == 0)
        take_out(l, m, false);
    state_unlock();
    return found;
}

bool mapping_each(const void *start, size_t bytes, bool (*visit)(struct mapping *m, void *data), void *data)
{
    struct mappings *l = &mappings;
    const char *end = (const char *)start + bytes;
    state_lock();
    struct mapping *first = that_begins(l, start), *last = first;
    while (last && last + 1 < l->at + l->n && last[1].start == last->start + last->bytes && last[1].start < end)
        last++;
    bool good = last && last->start + last->bytes == end;
    /* backwards, because a visit may remove its mapping */
    for (struct mapping *m = last; good && m >= first; m--)
        good = visit(m, data);
    state_unlock();
    return good;
}

static bool unmap(struct mapping *m, void *data)
{
    take_out(data, m, true);
    return true;
}

bool mapping_unmap(const void *start, size_t bytes)
{
    return mapping_each(start, bytes, unmap, &mappings);
}

/* ---- reserved addresses ---- */

CUresult reservation_add(struct reservation r)
{
    struct mappings *l = &mappings;
    state_lock();
    struct reservation *new = VEC_ADD(&l->reserved);
    if (new)
        *new = r;
    state_unlock();
    return new ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static bool is_mapped(const struct mappings *l, const char *start, size_t bytes)
{
    size_t i = before(l, start + bytes - 1);
    return i && l->at[i - 1].start + l->at[i - 1].bytes > start;
}

bool reservation_remove(struct reservation r)
{
    struct mappings *l = &mappings;
    size_t i = 0;
    state_lock();
    while (i < l->reserved.n && (l->reserved.at[i].start != r.start || l->reserved.at[i].bytes != r.bytes))
        i++;
    bool good = i < l->reserved.n && !is_mapped(l, r.start, r.bytes);
    if (good)
        l->reserved.at[i] = l->reserved.at[--l->reserved.n];
    state_unlock();
    return good;
}

bool reservation_find(const void *address, struct reservation *r)
{
    state_lock();
    const struct reservation *found = reservation_of(&mappings, address);
    if (found)
        *r = *found;
    state_unlock();
    return found;
}

bool reservation_is_free(const void *start, size_t bytes)
{
    const struct mappings *l = &mappings;
    const char *p = start;
    bool inside = false;
    state_lock();
    for (size_t i = 0; i < l->reserved.n && !inside; i++) {
        const struct reservation *r = &l->reserved.at[i];
        inside = p >= r->start && bytes <= r->bytes && (size_t)(p - r->start) <= r->bytes - bytes;
    }
    bool good = inside && !is_mapped(l, p, bytes);
    state_unlock();
    return good;
}

size_t mapping_ranges_held(hd_range *ranges, size_t n, size_t at)
{
    for (size_t i = 0; i < mappings.n; i++, at++)
        if (at < n)
            ranges[at] = (hd_range){mappings.at[i].start, mappings.at[i].bytes};
    return at;
}
