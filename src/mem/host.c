/* See host.h. */
#include "mem/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

void host_init(struct host_maps *h, uint64_t hidden_start, uint64_t hidden_end, host_allows *allows, void *data)
{
    *h = (struct host_maps){.hidden_start = hidden_start, .hidden_end = hidden_end, .allows = allows, .data = data};
    pthread_rwlock_init(&h->lock, NULL);
}

void host_destroy(struct host_maps *h)
{
    free(h->ranges);
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

/* What the machine's range leaves of a mapping. */
static bool add_visible(struct host_maps *h, struct host_range r)
{
    struct host_range before = r, after = r;
    before.end = r.end < h->hidden_start ? r.end : h->hidden_start;
    after.start = r.start > h->hidden_end ? r.start : h->hidden_end;
    return (before.start >= before.end || add(h, before)) && (after.start >= after.end || add(h, after));
}

static void read_maps(struct host_maps *h)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char line[512];
    h->n = 0;
    h->stale = false;
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

static bool find_mapped(struct host_maps *h, uint64_t address, struct host_range *range)
{
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

bool host_find(struct host_maps *h, uint64_t address, struct host_range *range)
{
    const void *start = NULL;
    size_t bytes = SIZE_MAX;
    if (address - h->hidden_start < h->hidden_end - h->hidden_start)
        return false;
    if (h->allows && !h->allows(h->data, (const void *)(uintptr_t)address, &start, &bytes))
        return false;
    if (!find_mapped(h, address, range))
        return false;
    uint64_t first = (uint64_t)(uintptr_t)start, end = first + bytes;
    range->start = first > range->start ? first : range->start;
    range->end = end < range->end ? end : range->end;
    return true;
}
