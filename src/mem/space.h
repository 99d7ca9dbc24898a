/* The address space of a machine: one reserved range of host addresses that holds all of its
 * memory.
 *
 *     start                      window of local memory        (never mapped: the same addresses for all
 * threads)
 *     + MEM_LOCAL_WINDOW_BYTES   windows of shared memory      (never mapped: the same addresses for all
 * clusters; a block that is in none has the first)
 *     + MEM_CLUSTER_WINDOW_BYTES handles of functions          (never mapped)
 *     + MEM_CODE_BYTES           constant variables and kernel parameters
 *     + MEM_CONST_BYTES          global memory: allocations, module variables, the kernels' own heap
 *
 * The value of a generic address (PTX ISA 6.4.1.1) tells which of these it points to. Global memory
 * is host memory, so that a device pointer is a host pointer. Bounds are exact: mem_find() gives
 * the allocation that holds an address. Any thread may call it, while others allocate and free; it
 * takes a few nanoseconds and no lock.
 *
 * Global memory is divided into units of 64 KB. A small allocation is a slot of a unit that holds
 * slots of one size; a large one is a run of units. Pages get memory when they are first touched,
 * and lose it when a whole run is freed; large runs use pages of 2 MB if the system has them. Units
 * whose memory is shared with other processes (mem_share) are mapped from a file.
 *
 * The tail of an allocation is the space between its end and the next multiple of an H200's
 * allocation granularity: MEM_ALIGN_BYTES, MEM_VARIABLE_BYTES for variables, MEM_HEAP_BYTES for
 * malloc in kernels. No other allocation uses it. If tails are open (mem_open_tails), a tail starts
 * as zeros, and mem_reach_bytes() lets kernels use it.
 *
 * If the host's accesses to shared memory are watched (mem_watch_host), that memory is a file that
 * is mapped twice: at its own addresses, where pages can be closed to the host, and at a fixed
 * distance, where the machine accesses it.
 */
#ifndef HEDDLE_MEM_SPACE_H
#define HEDDLE_MEM_SPACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem/host.h"

#define MEM_LOCAL_WINDOW_BYTES  (1ull << 30)
#define MEM_SHARED_WINDOW_BYTES (1ull << 24) /* of a block */
#define MEM_CLUSTER_BLOCKS      16
/* Of the largest cluster. */
#define MEM_CLUSTER_WINDOW_BYTES (MEM_CLUSTER_BLOCKS * MEM_SHARED_WINDOW_BYTES)
#define MEM_CODE_BYTES           (1ull << 24)
#define MEM_CONST_BYTES          ((1ull << 30) - (1ull << 25))

/* Allocations begin at multiples of MEM_ALIGN_BYTES, those of the kernels' own malloc of
 * MEM_HEAP_BYTES. */
enum {
    MEM_UNIT_BYTES = 64 << 10,
    MEM_ALIGN_BYTES = 512,
    MEM_VARIABLE_BYTES = 256,
    MEM_HEAP_BYTES = 16,
    MEM_FREED = 64
};
/* In a guarded space: how many freed allocations, and bytes of them, are not reused yet, and the
 * least gap behind an allocation (MEM_HEAP: 16). */
enum { MEM_HELD = 1 << 16, MEM_HELD_BYTES = 64 << 20, MEM_GAP_BYTES = 256 };

/* MEM_FOREIGN is the host's own memory. */
enum mem_kind {
    MEM_NONE,
    MEM_FOREIGN,
    MEM_DEVICE,
    /* Memory of host and kernels, in which the host's accesses are watched: mem_watch_host(). */
    MEM_HOST,
    MEM_HOST_VARIABLE, /* the same; a .managed variable */
    MEM_HEAP,
    MEM_VARIABLE,
    MEM_MANAGED_VARIABLE, /* where nobody watches */
    MEM_CONST,
    MEM_PARAM
};

static inline bool mem_is_variable(enum mem_kind kind)
{
    return kind == MEM_VARIABLE || kind == MEM_MANAGED_VARIABLE || kind == MEM_HOST_VARIABLE || kind == MEM_CONST;
}

struct mem_block {
    uint64_t start, size;
    enum mem_kind kind;
    const char *name; /* for messages, or NULL; outlives the allocation */
    void *data;       /* set by its owner: mem_set_data() */
};

struct mem_unit; /* what a unit holds; see units.h */
struct mem_held; /* freed, and not reused yet */

struct mem_run {
    uint32_t first, n;
};

struct mem {
    uint8_t *start; /* of the reserved range */
    uint64_t reserved_bytes;
    uint64_t limit_bytes; /* of charged_bytes */
    /* Host memory that allocations take, or that mem_charge() has counted. */
    _Atomic uint64_t charged_bytes;
    _Atomic uint64_t allocated_bytes;
    uint64_t peak_bytes;
    /* Grows when an allocation ends, which may make earlier results of mem_find() false. */
    _Atomic uint64_t version;
    uint64_t const_start, const_size;
    uint64_t heap_start, heap_size;         /* all units: const and global */
    struct mem_unit *_Atomic *units;        /* by number; NULL = free */
    uint32_t n_units, used_units;           /* units from used_units on were never used */
    uint32_t const_units, used_const_units; /* the first const_units units are the constants' */
    VEC(struct mem_run) free_runs;          /* by address, not adjacent */
    struct mem_unit *open_units[3][13];     /* units with free slots: by area, by size class */
    struct mem_unit *all_units, *retired_units[3];
    /* Of MEM_HOST; an address's place there is its distance from heap_start. */
    int host_file;
    /* From its addresses to where the machine finds it; 0: nobody watches. */
    uint64_t host_shift;
    _Atomic bool host_closed; /* to the host */
    struct mem_unit *host_units;
    struct mem_block freed[MEM_FREED]; /* the last ones, for messages; a ring */
    uint32_t n_freed;
    bool guarded, open_tails;
    /* A ring of MEM_HELD, where it is guarded; oldest_held is the place of the first of n_held. */
    struct mem_held *held;
    uint32_t oldest_held, n_held;
    uint64_t held_bytes;    /* of the host's memory */
    struct host_maps *host; /* where kernels may reach the host's own memory, else NULL */
    pthread_mutex_t lock;
    /* A thread that unmaps or exchanges memory holds the lock and keeps others from starting to use
     * it. That thread writes `closed` and then reads `users`; a user writes `users` and then reads
     * `closed`. */
    struct {
        pthread_mutex_t lock;
        _Atomic uint32_t users;
        _Atomic bool closed, awaited; /* awaited: the end of all use */
        pthread_cond_t none;
    } use;
};

/* Counts host memory against the limit; false if that would be exceeded. */
bool mem_charge(struct mem *m, uint64_t bytes);
void mem_discharge(struct mem *m, uint64_t bytes);

/* false with errno set where no address range can be reserved. */
bool mem_init(struct mem *m, uint64_t limit_bytes);
void mem_destroy(struct mem *m);

/* From now on freed memory is not reused soon, so that accesses by stale pointers are found: the
 * last MEM_HELD allocations are held back, or MEM_HELD_BYTES of small ones (slots), fewer if
 * addresses run out. Gaps separate allocations. */
void mem_guard(struct mem *m);

/* From now on kernels may use the tails of allocations. */
void mem_open_tails(struct mem *m);

/* A thread calls this before it reads or writes memory that mem_find() has found and that others
 * may free. Memory that is freed until mem_end_use() stays mapped, so that a late access finds
 * undefined contents instead of raising a signal. Another thread may call mem_end_use(). */
void mem_begin_use(struct mem *m);
void mem_end_use(struct mem *m);

/* A new allocation aligned to MEM_ALIGN_BYTES (MEM_HEAP: to 16), or NULL where the limit or the
 * system is exhausted. Its contents are undefined. Size 0 gives NULL. */
void *mem_alloc(struct mem *m, uint64_t size, enum mem_kind kind, const char *name);
/* The same, filled with zeros. A large allocation takes no memory before it is written. */
void *mem_alloc_zero(struct mem *m, uint64_t size, enum mem_kind kind, const char *name);
/* false where `p` is not the start of an allocation. */
bool mem_free(struct mem *m, void *p);
/* mem_close() removes an allocation, given by its start, but keeps its addresses reserved.
 * mem_open() brings it back with undefined contents; mem_free_closed() ends it. They return false
 * if it is not in the right state, or if memory is exhausted. */
bool mem_close(struct mem *m, void *p);
bool mem_open(struct mem *m, void *p, uint64_t size);
void mem_free_closed(struct mem *m, void *p);
/* Moves the memory of an allocation, given by its start, into a file that other processes can map,
 * and keeps its contents. Returns the file, which the space keeps, or -1 with errno set. It waits
 * for the users of the space (mem_begin_use), and they wait for it. */
int mem_share(struct mem *m, void *p, uint64_t *offset);
/* Sets the `data` that mem_find() reports for an allocation, given by its start; NULL at first. */
void mem_set_data(struct mem *m, void *p, void *data);

/* From here on the host's accesses to memory of kind MEM_HOST can be watched; false if the system
 * has no room for the second mapping. */
bool mem_watch_host(struct mem *m);
/* Closes all memory of kind MEM_HOST to the host, or opens it again. */
void mem_close_host(struct mem *m, bool closed);
/* Opens that memory for good in a child process, which has no threads that could hold the lock. */
void mem_open_host_in_child(struct mem *m);
/* Is the address in a page of kind MEM_HOST? */
bool mem_is_host(const struct mem *m, uint64_t address);
/* The distance from the block's addresses to those by which the machine's own threads access it. */
static inline uint64_t mem_shift(const struct mem *m, const struct mem_block *b)
{
    return b->kind == MEM_HOST || b->kind == MEM_HOST_VARIABLE ? m->host_shift : 0;
}

/* The allocation that holds the address; false where none does. */
bool mem_find(const struct mem *m, uint64_t address, struct mem_block *block);
/* As mem_find(); also finds the host's own memory if kernels may reach it: MEM_FOREIGN, or
 * MEM_CONST if it can only be read. */
bool mem_reach(const struct mem *m, uint64_t address, struct mem_block *block);
/* May a kernel use these bytes? *block is mem_reach()'s answer for the first byte; with *in_tail it
 * is the allocation in whose open tail some of the bytes are. */
bool mem_reach_bytes(const struct mem *m, uint64_t address, uint64_t bytes, struct mem_block *block, bool *in_tail);
/* Lets kernels reach the host's own memory, or the ranges that the function allows (NULL: all);
 * false if memory is exhausted. Call it once, before any launch. */
bool mem_open_host(struct mem *m, host_ranges_fn *ranges, void *data);
/* Invalidates earlier answers of mem_reach() about the host's memory. */
void mem_forget_host(struct mem *m);
/* The allocation nearest to an address that none holds; false where there is none at all. */
bool mem_nearest(struct mem *m, uint64_t address, struct mem_block *block);
/* The last freed allocation, of the recent ones, that held the address; false where none did. */
bool mem_was_freed(struct mem *m, uint64_t address, struct mem_block *block);
/* Calls visit for every allocation, in no order, with the lock held. */
void mem_for_each(struct mem *m, void (*visit)(const struct mem_block *, void *), void *data);

static inline uint64_t mem_local_window(const struct mem *m)
{
    return (uint64_t)(uintptr_t)m->start;
}
static inline uint64_t mem_shared_window(const struct mem *m)
{
    return mem_local_window(m) + MEM_LOCAL_WINDOW_BYTES;
}
static inline uint64_t mem_code_window(const struct mem *m)
{
    return mem_shared_window(m) + MEM_CLUSTER_WINDOW_BYTES;
}

#endif
