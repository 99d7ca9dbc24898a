/* The process's CUDA: devices, contexts, what is current in a thread, and what handles point to. Private to cuda/.
 *
 * All that lives as long as the process stands in state.c. Handles begin with a word that says what they are, so that a
 * CUkernel serves where a CUfunction is asked for, and a foreign pointer is refused.
 */
#ifndef HEDDLE_CUDA_STATE_H
#define HEDDLE_CUDA_STATE_H

#define HEDDLE_CUDA_VERSIONS
#include "cuda/api.h"

#include <pthread.h>

#include "cuda/fatbin.h"
#include "heddle.h"

enum { MAX_DEVICES = 16, LIMITS = 16 };
enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 }; /* of streams */

enum handle_kind {
    HANDLE_CONTEXT = 0x43647548,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_MODULE, /* a CUmodule or a CUlibrary */
    HANDLE_FUNCTION,
    HANDLE_LINK,
    HANDLE_POOL,
    HANDLE_GRAPH,
    HANDLE_NODE,
    HANDLE_EXEC,
    HANDLE_PHYSICAL,
    HANDLE_USER_OBJECT,
};

struct device {
    int ordinal;
    hd_machine *machine; /* made at first use */
    hd_range addresses;  /* of it */
    struct CUctx_st *primary;
    unsigned primary_refs, primary_flags;
    struct CUmemPoolHandle_st *default_pool, *pool;
    size_t mapped_bytes; /* of memory that is no allocation of the machine's; atomic */
};

/* Of cuStreamSetAttribute. */
struct stream_attributes {
    CUaccessPolicyWindow window;
    CUsynchronizationPolicy policy;
    int priority;
    CUlaunchMemSyncDomainMap domains;
    CUlaunchMemSyncDomain domain;
};

struct CUctx_st {
    enum handle_kind kind;
    struct CUctx_st *next;
    struct device *device;
    hd_context *context;
    uint64_t id;
    unsigned flags, api_version;
    bool primary;
    int cache_config, shared_config;
    size_t limits[LIMITS]; /* by CUlimit */
    struct allocation *allocations;
    struct CUmod_st *modules; /* loaded in it: not libraries */
    struct CUstream_st *streams;
    struct stream_attributes attributes; /* of its legacy default stream */
    uint32_t peers;                      /* devices whose memory it may use, by bit */
};

struct CUstream_st {
    enum handle_kind kind; /* 0: its context has gone */
    struct CUstream_st *next;
    CUcontext context;
    hd_stream *stream;
    struct capture *capture; /* that it takes part in, or NULL */
    unsigned flags;
    struct stream_attributes attributes;
};

struct CUevent_st {
    enum handle_kind kind;
    CUcontext context;
    hd_event *event; /* or, of several processes: */
    struct ipc_event *shared;
    struct capture *capture; /* in whose streams it was recorded last, or NULL */
    unsigned flags;
    bool recorded;
};

/* Memory that a program has asked for; hd_find's data. */
struct allocation {
    struct allocation *next, **link; /* in its context's list */
    CUcontext context;
    void *start;
    size_t bytes;
    CUmemorytype type; /* DEVICE or HOST */
    unsigned flags;    /* of cuMemHostAlloc or cuMemAllocManaged */
    bool managed;
    uint64_t id;
    struct CUmemPoolHandle_st *pool;
    const struct stack *stack; /* of the call that gave it, where watch.h is on */
};

/* PTX that has been loaded; on a device it becomes a hd_module when it is first asked for there. */
struct CUmod_st {
    enum handle_kind kind;
    struct CUmod_st *next;
    CUcontext context; /* NULL: a library */
    char name[96];     /* in messages */
    struct image image;
    hd_module *on[MAX_DEVICES];
    struct CUfunc_st *functions;
    struct placed *placed; /* variables at addresses of the host's, or NULL */
    unsigned n_placed;
    bool placed_once; /* they have their initial values */
};

struct placed {
    char *name;
    void *at;
    size_t bytes;
};

/* A kernel: a CUfunction and a CUkernel at once. */
struct CUfunc_st {
    enum handle_kind kind;
    struct CUfunc_st *next;
    struct CUmod_st *module;
    char *name;
    hd_kernel *on[MAX_DEVICES];
    int dynamic_shared_limit; /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES where it was set, else -1 */
    int carveout;
    bool non_portable_cluster; /* CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
    int cluster_policy;        /* CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE */
};

/* CUDA_SUCCESS once cuInit has been called. */
CUresult state_init(void);
CUresult state_ready(void);
/* What the environment allows this program: limits.h. */
struct limits;
const struct limits *state_limits(void);
int state_device_count(void);
/* The device with its machine; errors: CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_DEVICE. */
CUresult device_get(CUdevice ordinal, struct device **device);
/* One lock for all lists of this file. */
void state_lock(void);
void state_unlock(void);
uint64_t state_number(void); /* each time another */
/* Another, of the devices' primary contexts; to be taken first. */
void primary_lock(void);
void primary_unlock(void);

/* ---- contexts ---- */

CUresult context_new(struct device *d, unsigned flags, CUcontext *context);
/* One that has nothing begins. */
CUresult context_start(CUcontext context);
/* No thread has it any more, and no list. */
void context_remove(CUcontext context);
/* Waits for the work of all contexts. */
void contexts_wait(void);
/* The same, when the process ends; false where it was not done after so long: it is then cancelled. */
bool contexts_finish(double seconds);
/* Its list of streams. */
void stream_add(CUstream s);
void stream_remove(CUstream s);
bool is_context(CUcontext context);
/* Is there still the context with this number? */
bool context_lives(uint64_t id);
void context_each(void (*visit)(CUcontext context));
/* The thread's; NULL where there is none. */
CUcontext context_top(void);
CUresult context_push(CUcontext context);
CUresult context_pop(CUcontext *context);
/* NULL is allowed: an empty stack, or one without its top. */
CUresult context_set(CUcontext context);
/* The current context, which must be without a fault. Errors: CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_CONTEXT,
 * the fault. */
CUresult context_current(CUcontext *context);

/* ---- streams ---- */

/* A stream by its handle: one that was created, or 0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD of the current context. */
CUresult stream_get(CUstream handle, hd_stream **stream, CUcontext *context);
/* The same, but not one that is being captured: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED. */
CUresult stream_run(CUstream handle, hd_stream **stream, CUcontext *context);
/* A stream's attributes; *context may be NULL. */
CUresult stream_attributes(CUstream handle, struct stream_attributes **attributes, CUcontext *context);
/* What they are at first. */
struct stream_attributes stream_first_attributes(int priority);
/* The nearest priority that there is. */
int stream_priority(int priority);
/* Of the calling thread. */
CUstreamCaptureMode *capture_mode(void);

/* ---- memory ---- */

/* The allocation that an address lies in, or NULL; *info, if not NULL, as hd_find says. */
struct allocation *allocation_find(const void *address, hd_memory_info *info, struct device **device);
/* `host`: which the host reads and writes itself. */
CUresult allocation_new(CUcontext c, size_t bytes, bool host, struct allocation **allocation);
/* Nothing has been written into it yet, which checkers are to know. */
void allocation_is_undefined(const struct allocation *a);
/* Memory of a pool, or of NULL, has been freed. */
void pool_freed(struct CUmemPoolHandle_st *pool, size_t bytes);
/* Takes it out of its context's list and forgets it; the memory is not freed. */
void allocation_forget(struct allocation *a);
/* A machine's memory (also a module's variable): the device it is on, or NULL. */
struct device *device_of(const void *address, hd_memory_info *info);
/* Is an address one of a machine's, which is never the host's own, allocated or not? */
bool is_of_machines(const void *address);

/* Host memory that has been registered, by the program or for its __managed__ variables. */
struct registered {
    void *start;
    size_t bytes;
    unsigned flags;
    CUcontext context;
    bool managed; /* a variable at the host's address: the device's memory, too */
};
/* Kernels reach all of the host's memory (CUDA's pageable memory access): HEDDLE_PAGEABLE=1. An H200's do not. */
bool host_is_pageable(void);
bool registered_find(const void *address, struct registered *r);
CUresult registered_add(const struct registered *r);
CUresult registered_add_held(const struct registered *r); /* with the lock held */
CUresult registered_remove(const void *start);

/* ---- modules ---- */

bool is_module(const struct CUmod_st *m, bool library);
struct CUmod_st *library_first(void); /* with the lock held: all libraries, by next */
void library_add(struct CUmod_st *m);
void library_remove(struct CUmod_st *m);

/* ---- what kernels print ---- */

/* Writes to stdout what kernels have printed so far; CUDA does so where the host waits for the device. */
void print_flush(void);

/* Returns from an entry point with what went wrong. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        CUresult try_result = (call);                                                                                  \
        if (try_result)                                                                                                \
            return try_result;                                                                                         \
    } while (0)
#define NEED(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return CUDA_ERROR_INVALID_VALUE;                                                                           \
    } while (0)

static inline CUresult from_hd(hd_result r)
{
    return (CUresult)r; /* the numbers are CUDA's */
}

#endif
