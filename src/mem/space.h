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
 * A generic address (PTX ISA 6.4.1.1) says by its value which of these it is. Global memory is host
 * memory, so that a device pointer is a host pointer. Bounds are exact: mem_find() gives the
 * allocation an address lies in, in a few nanoseconds, from any thread, without a lock, while
 * others allocate and free.
 *
 * Global memory is divided into units of 64 KB. A small allocation is a slot of a unit that holds
 * slots of one size; a large one is a run of units. Pages get memory when they are touched, of 2 MB
 * each where a run is large and the system has such, and lose it when a whole run is freed. Units
 * whose memory is shared with other processes (mem_share) are mapped from a file.
 *
 * The tail of an allocation is what lies between its end and the next multiple of what an H200
 * gives out at a time: MEM_ALIGN_BYTES, for variables MEM_VARIABLE_BYTES, MEM_HEAP_BYTES for the
 * kernels' own malloc. It is nobody else's; where tails are open (mem_open_tails), it is zeros at
 * first, and mem_reach_bytes() lets kernels use it.
 *
 * Where the host's accesses to what it shares with kernels are watched (mem_watch_host), such
 * memory is a file that is mapped twice: at its addresses, where pages can be closed to the host,
 * and at a distance, where the machine finds it.
 */
#ifndef HEDDLE_MEM_SPACE_H
#define HEDDLE_MEM_SPACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem/host.h"

#define MEM_LOCAL_WINDOW_BYTES   (1ull << 30)
#define MEM_SHARED_WINDOW_BYTES  (1ull << 24) /* of a block; */
#define MEM_CLUSTER_BLOCKS       16
#define MEM_CLUSTER_WINDOW_BYTES (MEM_CLUSTER_BLOCKS * MEM_SHARED_WINDOW_BYTES) /* of all that a cluster can have */
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
/* Of a space that is guarded: what is kept from use after it was freed, and the least gap behind an
 * allocation (MEM_HEAP: 16). */
enum { MEM_HELD = 1 << 16, MEM_HELD_BYTES = 64 << 20, MEM_GAP_BYTES = 256 };

/* MEM_FOREIGN is the host's own memory. */
enum mem_kind {
    MEM_NONE,
    MEM_FOREIGN,
    MEM_DEVICE,
    MEM_HOST, /* the host's as well as the kernels', where somebody watches what the host does there: mem_watch_host() */
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
    void *data;       /* of whoever allocated it: mem_set_data() */
};

struct mem_unit; /* what a unit holds; see units.h */
struct mem_held; /* what has been freed and is not used again yet */

struct mem_run {
    uint32_t first, n;
};

struct mem {
    uint8_t *start; /* of the reserved range */
    uint64_t reserved_bytes;
    uint64_t limit_bytes;           /* of charged_bytes */
    _Atomic uint64_t charged_bytes; /* what allocations take of the host's memory, and others have charged */
    _Atomic uint64_t allocated_bytes;
    uint64_t peak_bytes;
    _Atomic uint64_t version; /* grows when an allocation ends: what mem_find said may be false then */
    uint64_t const_start, const_size;
    uint64_t heap_start, heap_size;         /* all units: const and global */
    struct mem_unit *_Atomic *units;        /* by number; NULL = free */
    uint32_t n_units, used_units;           /* units from used_units on were never used */
    uint32_t const_units, used_const_units; /* the first const_units units are the constants' */
    VEC(struct mem_run) free_runs;          /* by address, not adjacent */
    struct mem_unit *open_units[3][13];     /* units with free slots: by area, by size class */
    struct mem_unit *all_units, *retired_units[3];
    int host_file;            /* of MEM_HOST; an address's place there is its distance from heap_start */
    uint64_t host_shift;      /* from its addresses to where the machine finds it; 0: nobody watches */
    _Atomic bool host_closed; /* to the host */
    struct mem_unit *host_units;
    struct mem_block freed[MEM_FREED]; /* the last ones, for messages; a ring */
    uint32_t n_freed;
    bool guarded, open_tails;
    struct mem_held
        *held; /* a ring of MEM_HELD, where it is guarded; oldest_held is the place of the first of n_held */
    uint32_t oldest_held, n_held;
    uint64_t held_bytes;    /* of the host's memory */
    struct host_maps *host; /* where kernels may reach the host's own memory, else NULL */
    pthread_mutex_t lock;
    /* Who takes away, or exchanges, what is behind addresses holds the lock, and keeps others from
     * beginning to use it. Each side writes its own of `users` and `closed`, and then reads the
     * other's. */
    struct {
        pthread_mutex_t lock;
        _Atomic uint32_t users;
        _Atomic bool closed, awaited; /* awaited: the end of all use */
        pthread_cond_t none;
    } use;
};

/* Counts memory of the host's against the limit; false where that is exceeded. */
bool mem_charge(struct mem *m, uint64_t bytes);
void mem_discharge(struct mem *m, uint64_t bytes);

/* false with errno set where no address range can be reserved. */
bool mem_init(struct mem *m, uint64_t limit_bytes);
void mem_destroy(struct mem *m);

/* From now on what is freed is not used again soon, so that who still has its address is found out:
 * the last MEM_HELD allocations, of small ones (slots) MEM_HELD_BYTES, fewer where addresses run
 * out; and there are gaps between allocations. */
void mem_guard(struct mem *m);

/* From now on kernels may use the tails of what is allocated. */
void mem_open_tails(struct mem *m);

/* To be held by whoever reads or writes memory of the space at addresses that mem_find() has given,
 * while others may free it: what is freed meanwhile stays mapped, so that a late access meets
 * undefined contents, and not a signal. Another thread may end it than has begun. */
void mem_begin_use(struct mem *m);
void mem_end_use(struct mem *m);

/* A new allocation aligned to MEM_ALIGN_BYTES (MEM_HEAP: to 16), or NULL where the limit or the
 * system is exhausted. Its contents are undefined. Size 0 gives NULL. */
void *mem_alloc(struct mem *m, uint64_t size, enum mem_kind kind, const char *name);
/* The same, of zeros. What is large has no memory behind it before it is written. */
void *mem_alloc_zero(struct mem *m, uint64_t size, enum mem_kind kind, const char *name);
/* false where `p` is not the start of an allocation. */
bool mem_free(struct mem *m, void *p);
/* An allocation, given by its start, is not there any more, but its addresses stay its own:
 * mem_open() brings it back, with undefined contents, mem_free_closed() ends it. False where it is
 * not open, or not closed, or for want of memory. */
bool mem_close(struct mem *m, void *p);
bool mem_open(struct mem *m, void *p, uint64_t size);
void mem_free_closed(struct mem *m, void *p);
/* Makes the memory of an allocation, given by its start, that of a file, which other processes can
 * map; returns the file, which stays the space's, or -1 with errno set. What is in it stays: it
 * waits for those who use the space (mem_begin_use), and they for it. */
int mem_share(struct mem *m, void *p, uint64_t *offset);
/* What mem_find() is to say of an allocation, given by its start; NULL at first. */
void mem_set_data(struct mem *m, void *p, void *data);

/* From here on the host's accesses to memory of kind MEM_HOST can be watched. False where the
 * system has no room for it. */
bool mem_watch_host(struct mem *m);
/* Takes the host's access to all of it, or gives it back. */
void mem_close_host(struct mem *m, bool closed);
/* The same in a child process, which has no threads that hold the lock: its memory is open for
 * good. */
void mem_open_host_in_child(struct mem *m);
/* Does the address lie in a page of it? */
bool mem_is_host(const struct mem *m, uint64_t address);
/* From addresses of the block to where the machine's own threads access it. */
static inline uint64_t mem_shift(const struct mem *m, const struct mem_block *b)
{
    return b->kind == MEM_HOST || b->kind == MEM_HOST_VARIABLE ? m->host_shift : 0;
}

/* The allocation that holds the address; false where none does. */
bool mem_find(const struct mem *m, uint64_t address, struct mem_block *block);
/* The same, or the part of the host's own memory that holds it, where kernels may reach that: then
 * MEM_FOREIGN, or MEM_CONST where it can only be read. */
bool mem_reach(const struct mem *m, uint64_t address, struct mem_block *block);
/* May a kernel use these bytes? *block is what mem_reach() says of the first of them, or, with
 * *in_tail, the allocation whose open tail some of them are in. */
bool mem_reach_bytes(const struct mem *m, uint64_t address, uint64_t bytes, struct mem_block *block, bool *in_tail);
/* Lets kernels reach the host's own memory, or what of it is allowed (NULL: all); false where
 * memory is exhausted. To be called once, before any launch. */
bool mem_open_host(struct mem *m, host_ranges_fn *ranges, void *data);
/* What mem_reach() has said of the host's memory may be false from now on. */
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
