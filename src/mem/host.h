/* The host's own memory, as far as kernels may reach it: what is mapped into this process beside the machine's range, or
 * what of that the machine's owner allows.
 *
 * The ranges come from /proc/self/maps. They are read when a launch first needs them, and again where an address is in
 * none of them. Since the host maps and unmaps as it likes, a byte at the address is read through the system before it is
 * called there. A kernel that uses memory while the host unmaps it dies with the process, as the host's own threads would.
 */
#ifndef HEDDLE_MEM_HOST_H
#define HEDDLE_MEM_HOST_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_range {
    uint64_t start, end;
    bool writable;
};

/* Whether kernels may use memory at the address, and the range around it of which that is true. */
typedef bool host_allows(void *data, const void *address, const void **start, size_t *bytes);

struct host_maps {
    pthread_rwlock_t lock;
    struct host_range *ranges; /* by address; neighbours with the same rights are one */
    size_t n, capacity;
    _Atomic bool stale;
    uint64_t hidden_start, hidden_end; /* the machine's own range */
    host_allows *allows;               /* NULL: all of it */
    void *data;
};

void host_init(struct host_maps *h, uint64_t hidden_start, uint64_t hidden_end, host_allows *allows, void *data);
void host_destroy(struct host_maps *h);
/* The range of host memory that the address lies in; false where there is none that can be read and may be. */
bool host_find(struct host_maps *h, uint64_t address, struct host_range *range);
/* Whether this process can read a byte there. */
bool host_is_there(uint64_t address);

#endif
