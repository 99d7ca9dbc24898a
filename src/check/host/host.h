/* Observes single loads and stores of the host in memory that it shares with kernels.
 *
 * While memory is closed (mem_close_host), an access by the program raises SIGSEGV. The handler
 * reports the access, and performs it on the mapping that the machine's own threads use, which
 * stays open. x86/insn.h decodes the instruction to find its bytes. For an unknown instruction the
 * handler opens the page, lets the processor execute that one instruction, and closes the page
 * again at the SIGTRAP that follows.
 *
 * Other signals go to their previous handlers. A handler that the program installs over ours is
 * found when memory is closed next; ours then calls it. Not observed are accesses by system calls,
 * which fail on closed memory unless host_view() translates their addresses, and accesses of other
 * threads to a page while one thread single-steps on it.
 *
 * Single-stepping from user space exists on x86-64 only.
 */
#ifndef HEDDLE_CHECK_HOST_H
#define HEDDLE_CHECK_HOST_H

#include "mem/space.h"

struct host_watch;

struct host_access {
    uint64_t address, bytes;
    bool write; /* true for a read-modify-write, too */
    /* One aligned access of at most 8 bytes, which is atomic in the C++ of other threads. */
    bool whole;
    uint64_t pc; /* of the instruction; 0: a system call */
    uint64_t sp; /* the stack pointer */
};

/* Called from the signal handler, in the accessing thread, before and after the access. */
typedef void host_access_fn(void *data, const struct host_access *a, bool done);

/* NULL where accesses cannot be observed. */
struct host_watch *host_watch_new(struct mem *m, host_access_fn *tell, void *data);
void host_watch_free(struct host_watch *w); /* NULL is allowed */
/* Begins or stops observing the host. */
void host_watch_set(struct host_watch *w, bool on);

/* For system calls, which cannot access closed memory: the machine's address of the same memory,
 * or `p` if it is open; and a report that the system has accessed it for the calling thread. */
void *host_view(const void *p);
void host_tell(const void *p, uint64_t bytes, bool write);

#endif
