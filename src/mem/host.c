/* See host.h. */
#include "mem/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

void host_init(struct host_maps *h, uint64_t hidden_start, uint64_t hidden_end, host_ranges_fn *allowed_now, void *data)
{
    *h = (struct host_maps){
        .hidden_start = hidden_start, .hidden_end = hidden_end, .allowed_now = allowed_now, .data = data};
    pthread_rwlock_init(&h->lock, NULL);
}

void host_destroy(struct host_maps *h)
{
    free(h->ranges);
    free(h->allowed);
    pthread_rwlock_destroy(&h->lock);
}

static bool add(struct host_maps *h, struct host_range r)
{
    struct host_range *last = h->n ? &h->ranges[h->n - 1] : NULL;
    if (last && last->end == r.start && last->writable == r.writable) {
        last->end = r.end;
        return true;
    }
    if (h->n == h->capacity) {
        size_t capacity = h->capacity ? 2 * h->capacity : 256;
        struct host_range *more = realloc(h->ranges, capacity * sizeof *more);
        if (!more)
            return false;
        h->ranges = more;
        h->capacity = capacity;
    }
    h->ranges[h->n++] = r;
    return true;
}

/* ---- what is allowed ---- */

static bool ask_allowed(struct host_maps *h)
{
    for (;;) {
        h->n_allowed = h->allowed_now(h->data, h->allowed, h->allowed_capacity);
        if (h->n_allowed <= h->allowed_capacity)
            return true;
        hd_range *more = realloc(h->allowed, 2 * h->n_allowed * sizeof *more);
        if (!more)
            return false;
        h->allowed = more;
        h->allowed_capacity = 2 * h->n_allowed;
    }
}

static int by_address(const void *a, const void *b)
{
    const hd_range *p = a, *q = b;
    return p->start < q->start ? -1 : p->start > q->start;
}

static uint64_t range_start(const hd_range *r)
{
    return (uint64_t)(uintptr_t)r->start;
}

static uint64_t range_end(const hd_range *r)
{
    return range_start(r) + r->bytes;
}

/* Whole pages are pinned and mapped, whatever part of them is registered. */
static void to_whole_pages(struct host_maps *h)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    size_t n = 0;
    qsort(h->allowed, h->n_allowed, sizeof *h->allowed, by_address);
    for (size_t i = 0; i < h->n_allowed; i++) {
        uint64_t start = range_start(&h->allowed[i]) & ~(page - 1),
                 end = (range_end(&h->allowed[i]) + page - 1) & ~(page - 1);
        hd_range *last = n ? &h->allowed[n - 1] : NULL;
        if (last && start <= range_end(last))
            last->bytes = end > range_end(last) ? end - range_start(last) : last->bytes;
        else
            h->allowed[n++] = (hd_range){(const void *)(uintptr_t)start, end - start};
    }
    h->n_allowed = n;
}

/* What is allowed of a mapping. */
static bool add_allowed(struct host_maps *h, struct host_range r)
{
    size_t low = 0, high = h->n_allowed;
    if (!h->allowed_now)
        return add(h, r);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (range_end(&h->allowed[middle]) <= r.start)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < h->n_allowed && range_start(&h->allowed[low]) < r.end; low++) {
        uint64_t start = range_start(&h->allowed[low]), end = range_end(&h->allowed[low]);
        if (!add(h, (struct host_range){start > r.start ? start : r.start, end < r.end ? end : r.end, r.writable}))
            return false;
    }
    return true;
}

/* ---- what there is ---- */

/* What the machine's range leaves of a mapping. */
static bool add_visible(struct host_maps *h, struct host_range r)
{
    struct host_range before = r, after = r;
    before.end = r.end < h->hidden_start ? r.end : h->hidden_start;
    after.start = r.start > h->hidden_end ? r.start : h->hidden_end;
    return (before.start >= before.end || add_allowed(h, before)) &&
           (after.start >= after.end || add_allowed(h, after));
}

static void read_maps(struct host_maps *h)
{
    h->n = 0;
    h->stale = false;
    if (h->allowed_now && !ask_allowed(h))
        return;
    if (h->allowed_now)
        to_whole_pages(h);
    FILE *f = fopen("/proc/self/maps", "re");
    char line[512];
    while (f && fgets(line, sizeof line, f)) {
        unsigned long long start, end;
        char read, write;
        if (sscanf(line, "%llx-%llx %c%c", &start, &end, &read, &write) == 4 && read == 'r' &&
            !add_visible(h, (struct host_range){start, end, write == 'w'}))
            break;
    }
    if (f)
        fclose(f);
}

static bool look_up(const struct host_maps *h, uint64_t address, struct host_range *range)
{
    size_t low = 0, high = h->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (h->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == h->n || h->ranges[low].start > address)
        return false;
    *range = h->ranges[low];
    return true;
}

enum answer { NO, YES, UNKNOWN };

/* Reads through the system, which answers where a load would end in a signal; UNKNOWN where that is not allowed (a sandbox,
 * qemu-user). */
static enum answer is_there(uint64_t address)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)(uintptr_t)address, 1};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1)
        return YES;
    return errno == ENOSYS || errno == EPERM ? UNKNOWN : NO;
}

bool host_is_there(uint64_t address)
{
    return is_there(address) == YES;
}

bool host_find(struct host_maps *h, uint64_t address, struct host_range *range)
{
    if (address - h->hidden_start < h->hidden_end - h->hidden_start)
        return false;
    enum answer there = is_there(address);
    if (there == NO)
        return false;
    pthread_rwlock_rdlock(&h->lock);
    bool found =
        there == YES && !h->stale && look_up(h, address, range); /* the mapping may be gone: YES says it is not */
    pthread_rwlock_unlock(&h->lock);
    if (found)
        return true;
    pthread_rwlock_wrlock(&h->lock);
    read_maps(h);
    found = look_up(h, address, range);
    pthread_rwlock_unlock(&h->lock);
    return found;
}
