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
    free(h->ranges.at);
    free(h->allowed.at);
    free(h->asked.at);
    pthread_rwlock_destroy(&h->lock);
}

/* ---- ranges ---- */

/* Adds a range, which does not begin before the existing ones. */
static bool add(struct host_ranges *all, struct host_range r)
{
    struct host_range *last = all->n ? &all->at[all->n - 1] : NULL;
    if (last && last->end >= r.start && last->writable == r.writable) {
        last->end = r.end > last->end ? r.end : last->end;
        return true;
    }
    struct host_range *new = VEC_ADD(all);
    if (new)
        *new = r;
    return new;
}

/* The index of the first range that ends behind the address; n if there is none. */
static size_t find(const struct host_ranges *all, uint64_t address)
{
    size_t low = 0, high = all->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all->at[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- what is allowed ---- */

/* Asks the owner for the ranges it allows now, into h->asked; false if memory is exhausted. */
static bool ask_allowed(struct host_maps *h)
{
    size_t wanted = 1;
    do {
        h->asked.n = 0;
        if (!VEC_RESERVE(&h->asked, wanted))
            return false;
        wanted = h->allowed_now(h->data, h->asked.at, h->asked.capacity);
    } while (wanted > h->asked.capacity);
    h->asked.n = wanted;
    return true;
}

static int by_address(const void *a, const void *b)
{
    const hd_range *p = a, *q = b;
    return p->start < q->start ? -1 : p->start > q->start;
}

/* Rounds to whole pages: all of a page is pinned and mapped, whatever part is registered. */
static struct host_range to_whole_pages(const hd_range *r)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = (uint64_t)(uintptr_t)r->start;
    return (struct host_range){.start = start & ~(page - 1), .end = (start + r->bytes + page - 1) & ~(page - 1)};
}

/* Does the owner allow the address now, if it is mapped? */
static bool is_allowed_now(struct host_maps *h, uint64_t address)
{
    if (!h->allowed_now)
        return true;
    if (!ask_allowed(h))
        return false;
    for (size_t i = 0; i < h->asked.n; i++) {
        struct host_range r = to_whole_pages(&h->asked.at[i]);
        if (address - r.start < r.end - r.start)
            return true;
    }
    return false;
}

static bool read_allowed(struct host_maps *h)
{
    bool ok = ask_allowed(h);
    h->allowed.n = 0;
    if (ok && h->asked.n)
        qsort(h->asked.at, h->asked.n, sizeof *h->asked.at, by_address);
    for (size_t i = 0; ok && i < h->asked.n; i++)
        ok = add(&h->allowed, to_whole_pages(&h->asked.at[i]));
    return ok;
}

/* Adds the allowed parts of a mapping. */
static bool add_allowed(struct host_maps *h, struct host_range r)
{
    const struct host_ranges *allowed = &h->allowed;
    if (!h->allowed_now)
        return add(&h->ranges, r);
    for (size_t i = find(allowed, r.start); i < allowed->n && allowed->at[i].start < r.end; i++) {
        uint64_t start = allowed->at[i].start, end = allowed->at[i].end;
        if (!add(&h->ranges,
                 (struct host_range){start > r.start ? start : r.start, end < r.end ? end : r.end, r.writable}))
            return false;
    }
    return true;
}

/* ---- what there is ---- */

/* Adds the parts of a mapping that are outside the machine's range. */
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
    h->ranges.n = 0;
    h->stale = false;
    if (h->allowed_now && !read_allowed(h))
        return;
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
    size_t i = find(&h->ranges, address);
    if (i == h->ranges.n || h->ranges.at[i].start > address)
        return false;
    *range = h->ranges.at[i];
    return true;
}

enum answer { NO, YES, UNKNOWN };

/* Reads a byte by a system call, which returns an error where a load would raise a signal; UNKNOWN
 * if the call is not allowed (sandbox, qemu-user). */
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
    /* The mapping may be gone, in which case there is not YES. */
    bool found = there == YES && !h->stale && look_up(h, address, range);
    pthread_rwlock_unlock(&h->lock);
    if (found)
        return true;
    pthread_rwlock_wrlock(&h->lock);
    if (is_allowed_now(h, address)) {
        read_maps(h);
        found = look_up(h, address, range);
    }
    pthread_rwlock_unlock(&h->lock);
    return found;
}
