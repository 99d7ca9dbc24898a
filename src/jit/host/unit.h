/* The unit of compiling: code of a kernel for one shape of block, by one tier. engine.h decides
 * what is compiled and who waits. */
#ifndef HEDDLE_JIT_UNIT_H
#define HEDDLE_JIT_UNIT_H

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "exec/compiled.h"
#include "jit/host/brokered_compiler.h"
#include "jit/host/code_cache.h"
#include "jit/host/compiler_process.h"
#include "jit/host/elf_loader.h"
#include "jit/host/gdb.h"
#include "jit/host/settings.h"

struct kernel;
struct machine;

enum unit_state { UNIT_NEW, UNIT_QUEUED, UNIT_READY, UNIT_FAILED };

/* The code of a kernel for a shape of block, by one tier. It stays until the kernel is freed,
 * even when it has been replaced, as warps may be inside. */
struct unit {
    struct compiled compiled; /* first: launches point to it */
    struct unit *next, *next_queued;
    enum jit_tier tier;
    bool is_last;                /* no better code will follow */
    struct unit *_Atomic better; /* the kernel's code by the second tier; NULL: not wanted yet */
    struct str name;             /* of the kernel, stored after this record */
    uint32_t n_functions;
    uint64_t instructions;
    /* For a kernel of large functions: the work after which compiling it pays off; else 0. */
    uint64_t worth;
    uint32_t block[3];
    uint8_t *request; /* the request as bytes, until it is compiled */
    size_t request_bytes;
    struct code_cache_key key;
    _Atomic int state;
    /* UNIT_QUEUED: the process that queued it; its children cannot use it. */
    _Atomic pid_t queued_by;
    _Atomic uint64_t work; /* warp instructions in finished launches */
    bool asked;            /* requested by a launch that waits for it */
    bool abandoned;        /* its kernel has been freed in the meantime */
    bool is_overtime;      /* UNIT_FAILED: compiling it took too long */
    struct loaded_object object;
    struct gdb_entry *gdb;
    char why[256]; /* UNIT_FAILED */
};

/* The queue of a tier, with the process that compiles. Each tier has one, so that no kernel
 * waits for code while another's is improved. */
struct compile_queue {
    struct jit *jit;
    pthread_cond_t work;
    pthread_t thread;
    bool has_thread;
    struct unit *first, *busy;
    struct jit_process process;       /* used by the queue's thread */
    struct brokered_compiler outside; /* used instead if this process is in the sandbox */
};

struct jit {
    struct machine *machine;
    /* the process: its children have no threads; negative while a child discards what it has
     * inherited */
    _Atomic pid_t owner;
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool stopping;
    struct compile_queue queues[JIT_TIERS];
    bool is_confined;
    struct brokered_compiler disk; /* for is_confined: the compiled code on disk */
    FILE *perf_map;                /* for is_confined; else opened when needed */
    char program[PROGRAM_BYTES];
    struct settings settings;
};

/* The queue of the unit's tier. */
static inline struct compile_queue *queue_of(struct jit *j, const struct unit *u)
{
    return &j->queues[u->tier - TIER_FIRST];
}

static inline bool unit_is_ready(const struct unit *u)
{
    return u && atomic_load_explicit(&u->state, memory_order_acquire) == UNIT_READY;
}

/* The unit of a kernel; a new one if there is none yet. NULL without memory. `asked`, for a new
 * one: is it for a launch that waits, or that has waited for the tier before? */
struct unit *unit_find(struct jit *j, struct kernel *k, const uint32_t block[3], enum jit_tier tier, bool asked);
/* It must be unreachable. */
void unit_free(struct unit *u);
/* Is nobody compiling it? A thread that a fork has left behind does not count. */
bool unit_is_free(const struct jit *j, const struct unit *u);
/* True for the caller who must have it compiled. With the lock held. */
bool unit_claim(const struct jit *j, struct unit *u, bool asked);
/* It has its code, or has failed: wakes those who wait. With the lock held. */
void unit_finish(struct jit *j, struct unit *u, bool ok);

#endif
