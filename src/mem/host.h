/* The host's own memory, as far as kernels may reach it: what is mapped into this process beside
 * the machine's range, or what of that the machine's owner allows.
 *
 * The ranges come from /proc/self/maps. They are read when a launch first needs them, and again
 * where an address that may be used is in none of them: a launch that is at addresses which it may
 * not use, access by access, asks the owner each time, who may allow them meanwhile, and reads
 * nothing. Since the host maps and unmaps as it likes, a byte at the address is read through the
 * system before it is called there. A kernel that uses memory while the host unmaps it dies with
 * the process, as the host's own threads would.
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

/* Of all host memory, what kernels may use: hd_machine_options.host_ranges. */
typedef size_t host_ranges_fn(void *data, hd_range *ranges, size_t n);

struct host_maps {
    pthread_rwlock_t lock;
    struct host_ranges ranges;
    _Atomic bool stale;
    uint64_t hidden_start, hidden_end; /* the machine's own range */
    host_ranges_fn *allowed_now;       /* NULL: all of it */
    void *data;
    VEC(hd_range) asked;        /* what it has answered last */
    struct host_ranges allowed; /* whole pages; their rights are those of the mappings */
};

void host_init(struct host_maps *h, uint64_t hidden_start, uint64_t hidden_end, host_ranges_fn *allowed_now,
               void *data);
void host_destroy(struct host_maps *h);
/* The range of host memory that the address lies in; false where there is none that can be read and
 * may be. */
bool host_find(struct host_maps *h, uint64_t address, struct host_range *range);
/* Whether this process can read a byte there. */
bool host_is_there(uint64_t address);

#endif
