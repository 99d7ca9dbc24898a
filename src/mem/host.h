/* The host's own memory, as far as kernels may reach it: what is mapped into this process beside
 * the machine's range, or what of that the machine's owner allows.
 *
 * The ranges come from /proc/self/maps. They are read when a launch first needs them, and again
 * when an address that the owner allows is in none of them. An access to an address that is not
 * allowed does not read them again: it asks the owner, who may allow the address meanwhile. The
 * host may map and unmap memory at any time, so the address counts as mapped only once a byte there
 * was read by a system call. A kernel that uses memory while the host unmaps it dies with the
 * process, as the host's own threads would.
 */
#ifndef HEDDLE_MEM_HOST_H
#define HEDDLE_MEM_HOST_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "heddle.h"

struct host_range {
    uint64_t start, end;
    bool writable;
};

struct host_ranges {
    struct host_range *at; /* by address; neighbours with the same rights are one */
    size_t n, capacity;
};

/* Returns the host memory that kernels may use: hd_machine_options.host_ranges. */
typedef size_t host_ranges_fn(void *data, hd_range *ranges, size_t n);

struct host_maps {
    pthread_rwlock_t lock;
    struct host_ranges ranges;
    _Atomic bool stale;
    uint64_t hidden_start, hidden_end; /* the machine's own range */
    host_ranges_fn *allowed_now;       /* NULL: all of it */
    void *data;
    VEC(hd_range) asked;        /* its last answer */
    struct host_ranges allowed; /* whole pages; their rights are those of the mappings */
};

void host_init(struct host_maps *h, uint64_t hidden_start, uint64_t hidden_end, host_ranges_fn *allowed_now,
               void *data);
void host_destroy(struct host_maps *h);
/* Finds the range of host memory that holds the address; false if kernels may not use it, or it
 * cannot be read. */
bool host_find(struct host_maps *h, uint64_t address, struct host_range *range);
/* Whether this process can read a byte there. */
bool host_is_there(uint64_t address);

#endif
