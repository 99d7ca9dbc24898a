/* Code of a kernel for one shape of block, by one tier: the unit of compiling. What makes it, and
 * who waits for it, is engine.h's. */
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

/* The code of a kernel for a shape of block, by one tier; it stays until the kernel is freed,
 * whatever replaces it: warps may be inside. */
struct unit {
    struct compiled compiled; /* first: what launches point to */
    struct unit *next, *next_queued;
    enum jit_tier tier;
    bool is_last;                /* no better code follows */
    struct unit *_Atomic better; /* the kernel's by the second tier; NULL: not yet wanted */
    struct str name;             /* of the kernel, behind this record */
    uint32_t n_functions;
    uint64_t instructions;
    uint64_t worth; /* the work after which compiling a kernel of large functions is; else 0 */
    uint32_t block[3];
    uint8_t *request; /* as bytes, while it is to be compiled */
    size_t request_bytes;
    struct code_cache_key key;
    _Atomic int state;
    _Atomic pid_t queued_by; /* UNIT_QUEUED: the process; of no use to a child of it */
    _Atomic uint64_t work;   /* instructions of warps, in launches that have ended */
    bool asked;              /* by a launch that waits for it */
    bool abandoned;          /* its kernel has been freed meanwhile */
    bool is_overtime;        /* UNIT_FAILED: compiling it took too long */
    struct loaded_object object;
    struct gdb_entry *gdb;
    char why[256]; /* UNIT_FAILED */
};

/* What a tier has to compile, with what does it: one for each, so that no kernel waits for code
 * while another's is improved. */
struct compile_queue {
    struct jit *jit;
    pthread_cond_t work;
    pthread_t thread;
    bool has_thread;
    struct unit *first, *busy;
    struct jit_process process;       /* the thread's */
    struct brokered_compiler outside; /* in its place where this process is in the sandbox */
};

struct jit {
    struct machine *machine;
    _Atomic pid_t
        owner; /* the process: a child of it has no threads; negative while it puts away what it has inherited */
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool stopping;
    struct compile_queue queues[JIT_TIERS];
    bool is_confined;
    struct brokered_compiler disk; /* for is_confined: compiled code that is there */
    FILE *perf_map;                /* the same; else it is opened when it is needed */
    char program[PROGRAM_BYTES];
    struct settings settings;
};

/* Where its tier waits. */
static inline struct compile_queue *queue_of(struct jit *j, const struct unit *u)
{
    return &j->queues[u->tier - TIER_FIRST];
}

static inline bool unit_is_ready(const struct unit *u)
{
    return u && atomic_load_explicit(&u->state, memory_order_acquire) == UNIT_READY;
}

/* The unit of a kernel, a new one where there is none yet; NULL without memory. `asked`: of a new
 * one, whether it is for a launch that waits, or has waited for the tier before. */
struct unit *unit_find(struct jit *j, struct kernel *k, const uint32_t block[3], enum jit_tier tier, bool asked);
/* Of none who may still reach it. */
void unit_free(struct unit *u);
/* Does nobody have it in hand? A thread that a fork has left behind does not count. */
bool unit_is_free(const struct jit *j, const struct unit *u);
/* True for the one who is to have it compiled. With the lock held. */
bool unit_claim(const struct jit *j, struct unit *u, bool asked);
/* It has its code, or has failed: wakes those who wait for it. With the lock held. */
void unit_finish(struct jit *j, struct unit *u, bool ok);

#endif
