/* Loads and stores of the host in memory that it shares with kernels, seen one by one.
 *
 * While memory is closed (mem_close_host) an access of the program's ends in SIGSEGV. The handler
 * tells of it, and does what the instruction does on the mapping that the machine's own threads
 * use, which meet none of this. The instruction is read to know which bytes it accesses
 * (x86/insn.h). For one that is not known the handler opens the page, has the processor stop after
 * the one instruction, and closes the page again at that SIGTRAP.
 *
 * Signals that are not ours go to whoever had them: handlers that the program has put in our place
 * are found at the next closing, and called by ours from then on. What is not seen: accesses by the
 * system, as of read() into such memory, which would fail, but for host_view(); another thread's
 * accesses to the page while one steps on it.
 *
 * Only where a processor stops after an instruction at a process's own wish: x86-64.
 */
#ifndef HEDDLE_CHECK_HOST_H
#define HEDDLE_CHECK_HOST_H

#include "mem/space.h"

struct host_watch;

struct host_access {
    uint64_t address, bytes;
    bool write; /* also of what reads and writes */
    bool
        whole; /* one access of at most 8 bytes, aligned: what the C++ of other threads may do to it at the same time, too */
    uint64_t pc; /* of the instruction; 0: a system call */
    uint64_t sp; /* the stack pointer */
};

/* Called in the thread that accesses, from a signal's handler, before the access and again when it
 * is done. */
typedef void host_access_fn(void *data, const struct host_access *a, bool done);

/* NULL where it cannot be done. */
struct host_watch *host_watch_new(struct mem *m, host_access_fn *tell, void *data);
void host_watch_free(struct host_watch *w); /* NULL is allowed */
/* Is the host watched now? It is told of accesses from here on, or no more. */
void host_watch_set(struct host_watch *w, bool on);

/* For system calls, which cannot access what is closed: where the machine finds the same memory, or
 * `p` where it is open; and that the system has accessed it for the calling thread. */
void *host_view(const void *p);
void host_tell(const void *p, uint64_t bytes, bool write);

#endif
