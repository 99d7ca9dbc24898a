/* The process's CUDA: what handles stand for, and the locks. Private to cuda/.
 *
 * What lives as long as the process stands in the file of its subject: contexts.h, devices.h,
 * registered.h, mapping.h, module.h, printed.h; watch.h and stack.h for what is kept about them.
 *
 * A program has handles, which are numbers of a table (base/handle_table.h); an entry point looks
 * up those that it is given, and goes on with their records. The API's types are those of both:
 * what is a handle is called so, here and in variables. A record that outlives the call keeps
 * handles of others, not the others. Whoever takes a handle from the table frees its record by
 * call_later() (base/calls.h), since other calls may be using it.
 */
#ifndef HEDDLE_CUDA_STATE_STATE_H
#define HEDDLE_CUDA_STATE_STATE_H

#define HEDDLE_CUDA_VERSIONS
#include "cuda/api.h"

#include <pthread.h>

#include "base/calls.h"
#include "base/handle_table.h"
#include "cuda/image/fatbin.h"
#include "heddle.h"

enum { MAX_DEVICES = 16, LIMITS = 16 };
enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 }; /* of streams */

enum handle_kind {
    HANDLE_CONTEXT = 1,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_MODULE,   /* a CUmodule or a CUlibrary */
    HANDLE_FUNCTION, /* a CUfunction and a CUkernel at once */
    HANDLE_LINK,
    HANDLE_POOL,
    HANDLE_GRAPH,
    HANDLE_NODE,
    HANDLE_EXEC,
    HANDLE_PHYSICAL,
    HANDLE_USER_OBJECT,
    HANDLE_ARRAY,
    HANDLE_MIPMAP,
    HANDLE_REFERENCE, /* a CUtexref or a CUsurfref */
};

struct device {
    int ordinal;
    int number;          /* among this computer's: what CUDA_VISIBLE_DEVICES names */
    bool refused;        /* it could not be made, which has been said */
    hd_machine *machine; /* made at first use */
    hd_range addresses;  /* of it */
    CUcontext primary;   /* its handle */
    unsigned primary_refs, primary_flags;
    struct CUmemPoolHandle_st *default_pool;
    CUmemoryPool pool;   /* its handle */
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
    CUcontext handle;
    struct device *device;
    hd_context *context;
    uint64_t id;
    bool ended; /* nothing becomes a part of it any more */
    unsigned flags, api_version;
    bool primary;
    unsigned attached; /* times: cuCtxAttach */
    int cache_config, shared_config;
    size_t limits[LIMITS];   /* by CUlimit */
    _Atomic unsigned called; /* by kernels that were launched: enum hd_nesting */
    struct allocation *allocations;
    struct stream_attributes attributes; /* of its legacy default stream */
    uint32_t peers;                      /* devices whose memory it may use, by bit */
};

struct CUstream_st {
    CUstream handle;
    CUcontext context;
    hd_stream *stream;
    struct capture *capture; /* that it takes part in, or NULL, */
    struct member *member;   /* as that member */
    unsigned flags;
    struct stream_attributes attributes;
};

struct CUevent_st {
    CUevent handle;
    CUcontext context;
    hd_event *event; /* or, of several processes: */
    struct ipc_event *shared;
    struct capture *capture;   /* in whose streams it was recorded last, or NULL, */
    struct captured *captured; /* and what it stands for there */
    bool capture_is_over;      /* the same, and that has ended: it stands for nothing */
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
    struct graph_memory *of_graph; /* that it is, or NULL */
    const struct stack *stack;     /* of the call that gave it, where watch.h is on */
};

/* PTX that has been loaded; on a device it becomes a hd_module when it is first asked for there. */
struct CUmod_st {
    CUmodule handle;
    CUcontext context; /* NULL: a library */
    char name[96];     /* in messages */
    struct image image;
    struct companion *companion; /* companion.h, where the image has machine code alone; or NULL */
    hd_module *on[MAX_DEVICES];
    struct CUfunc_st *functions;
    struct CUtexref_st *references; /* references.h */
    bool ended;                     /* it gets no more functions */
    struct placed *placed;          /* variables at addresses of the host's, or NULL */
    unsigned n_placed;
    bool placed_once; /* they have their initial values */
};

struct placed {
    char *name;
    void *at;
    size_t bytes;
};

enum { MAX_PARAMETER_BYTES = 32764 };

/* What cuLaunchGrid launches with. */
struct set_before {
    unsigned block[3], shared_bytes, parameter_bytes;
    unsigned char parameters[MAX_PARAMETER_BYTES];
};

struct CUfunc_st {
    CUfunction handle;
    struct CUfunc_st *next;
    struct CUmod_st *module;
    char *name;
    hd_kernel *on[MAX_DEVICES];
    int dynamic_shared_limit; /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES where it was set, else -1 */
    int carveout;
    bool non_portable_cluster;     /* CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
    int cluster_policy;            /* CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE */
    struct set_before *set_before; /* or NULL */
};

/* Has CUDA been started in this process (start.h), and not only in its parent? Else
 * CUDA_ERROR_NOT_INITIALIZED. */
CUresult state_ready(void);
void state_set_ready(void);
bool state_has_forked(void);
void state_after_fork(void);
/* One lock for all lists of contexts, of what is in them, and of memory. */
void state_lock(void);
void state_unlock(void);
/* Another, of the devices' primary contexts; to be taken first. */
void primary_lock(void);
void primary_unlock(void);
uint64_t state_number(void); /* each time another */

/* Gives a record its handle, which ends with a context, or is of none (NULL).
 * CUDA_ERROR_CONTEXT_IS_DESTROYED: that has ended. */
CUresult handle_give(enum handle_kind kind, void *record, CUcontext context, void *handle);
CUresult handle_give_held(enum handle_kind kind, void *record, CUcontext context,
                          void *handle); /* with the state's lock held */
/* The record of a handle; NULL where it is none of this kind. */
static inline void *record_of(const void *handle, enum handle_kind kind)
{
    extern struct handle_table handle_table;
    return handle_find(&handle_table, handle, kind);
}
/* What a call says of one of a graph's handles or a memory's that is none. */
static inline CUresult handle_error(const void *handle)
{
    return handle ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
}
/* The record, for the one caller who ends it: no handle stands for it from now on. */
void *record_take(const void *handle, enum handle_kind kind);
/* From now on the handle stands for another record. */
void record_replace(const void *handle, void *record);
/* Takes what ends with a context, one after the other: *at is 0 at first, NULL the end. Nothing
 * becomes a part of the context any more. */
void *record_take_of(CUcontext context, uint32_t *at, unsigned *kind);
void records_each(enum handle_kind kind, void (*visit)(void *data, void *record), void *data);

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
