/* The CUDA state of the process: handles and locks. Private to cuda/.
 *
 * State that lives as long as the process is in the file of its subject: contexts.h, devices.h,
 * registered.h, mapping.h, module.h, printed.h; records about it for `heddle check` are in watch.h
 * and stack.h.
 *
 * A program's handles are numbers of a table (base/handle_table.h). An entry point looks up the
 * handles that it is given, and continues with their records. Both have the API's types: what is a
 * handle is called so, here and in variables. A record that outlives the call stores handles of
 * other objects, not pointers to their records. The caller that takes a handle from the table frees
 * its record by call_later() (base/calls.h), because other calls may be using it.
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
    int number;          /* the device's number on this computer, as in CUDA_VISIBLE_DEVICES */
    bool refused;        /* it could not be created, and the user was told */
    hd_machine *machine; /* created on first use */
    hd_range addresses;  /* of it */
    CUcontext primary;   /* its handle */
    unsigned primary_refs, primary_flags;
    struct CUmemPoolHandle_st *default_pool;
    CUmemoryPool pool;   /* its handle */
    size_t mapped_bytes; /* mapped memory, which the machine did not allocate; atomic */
};

/* Attributes of cuStreamSetAttribute. */
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
    bool ended; /* no further objects may be added */
    unsigned flags, api_version;
    bool primary;
    unsigned attached; /* the number of cuCtxAttach calls */
    int cache_config, shared_config;
    size_t limits[LIMITS];   /* by CUlimit */
    _Atomic unsigned called; /* device runtime functions of launched kernels: enum hd_nesting */
    struct allocation *allocations;
    struct stream_attributes attributes; /* of its legacy default stream */
    uint32_t peers;                      /* a bit for each device whose memory it may use */
};

struct CUstream_st {
    CUstream handle;
    CUcontext context;
    hd_stream *stream;
    struct capture *capture; /* the capture that it takes part in, or NULL, */
    struct member *member;   /* and its membership there */
    unsigned flags;
    struct stream_attributes attributes;
};

struct CUevent_st {
    CUevent handle;
    CUcontext context;
    hd_event *event; /* NULL if it is shared by processes: */
    struct ipc_event *shared;
    struct capture *capture;   /* the capture in whose streams it was last recorded, or NULL, */
    struct captured *captured; /* and what it stands for there */
    bool capture_is_over;      /* that capture has ended, and the event is invalid */
    unsigned flags;
    bool recorded;
};

/* Memory that a program allocated; hd_find's data. */
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
    struct graph_memory *of_graph; /* its graph memory, or NULL */
    const struct stack *stack;     /* the allocating call, if watch.h is active */
};

/* A loaded image; it becomes a hd_module on a device when it is first used there. */
struct CUmod_st {
    CUmodule handle;
    CUcontext context; /* NULL: a library */
    char name[96];     /* for messages */
    struct image image;
    struct companion *companion; /* companion.h, if the image has only machine code; or NULL */
    hd_module *on[MAX_DEVICES];
    struct CUfunc_st *functions;
    struct CUtexref_st *references; /* references.h */
    bool ended;                     /* no further functions may be added */
    struct placed *placed;          /* variables at host addresses, or NULL */
    unsigned n_placed;
    bool placed_once; /* they have their initial values */
};

struct placed {
    char *name;
    void *at;
    size_t bytes;
};

enum { MAX_PARAMETER_BYTES = 32764 };

/* Settings for cuLaunchGrid. */
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
    /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES if it was set, else -1. */
    int dynamic_shared_limit;
    int carveout;
    bool non_portable_cluster;     /* CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
    int cluster_policy;            /* CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE */
    struct set_before *set_before; /* or NULL */
};

/* Was CUDA started in this process (start.h), not only in its parent? If not,
 * CUDA_ERROR_NOT_INITIALIZED. */
CUresult state_ready(void);
void state_set_ready(void);
bool state_has_forked(void);
void state_after_fork(void);
/* A lock for all lists of contexts, of their objects, and of memory. */
void state_lock(void);
void state_unlock(void);
/* Another lock, for the devices' primary contexts; taken first. */
void primary_lock(void);
void primary_unlock(void);
uint64_t state_number(void); /* a new number each time */

/* Gives a record its handle, which ends with a context unless that is NULL.
 * CUDA_ERROR_CONTEXT_IS_DESTROYED if the context has ended. */
CUresult handle_give(enum handle_kind kind, void *record, CUcontext context, void *handle);
CUresult handle_give_held(enum handle_kind kind, void *record, CUcontext context,
                          void *handle); /* call with the state's lock held */
/* The record of a handle; NULL if it is none of this kind. */
static inline void *record_of(const void *handle, enum handle_kind kind)
{
    extern struct handle_table handle_table;
    return handle_find(&handle_table, handle, kind);
}
/* The error for an invalid handle of a node or of memory. */
static inline CUresult handle_error(const void *handle)
{
    return handle ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
}
/* Takes the record away from its handle, which becomes invalid; only one caller gets the record. */
void *record_take(const void *handle, enum handle_kind kind);
/* Makes the handle refer to another record. */
void record_replace(const void *handle, void *record);
/* Takes the objects that end with a context, one at a time: *at is 0 at first; NULL is the end. No
 * object can be added to the context from now on. */
void *record_take_of(CUcontext context, uint32_t *at, unsigned *kind);
void records_each(enum handle_kind kind, void (*visit)(void *data, void *record), void *data);

/* Returns an error from an entry point. */
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
