/* The process's CUDA: what handles point to, and the locks. Private to cuda/.
 *
 * What lives as long as the process stands in the file of its subject: contexts.h, devices.h, registered.h, mapping.h, module.h,
 * printed.h; watch.h and stack.h for what is kept about them. Handles begin with a word that says what they are, so that a
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
    bool refused;        /* it could not be made, which has been said */
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
    unsigned attached; /* times: cuCtxAttach */
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
    struct CUstream_st *next, **link; /* in its context's list */
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
    bool capture_is_over;    /* the same, and that has ended: it stands for nothing */
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
enum { MAX_PARAMETER_BYTES = 32764 };

/* What cuLaunchGrid launches with. */
struct set_before {
    unsigned block[3], shared_bytes, parameter_bytes;
    unsigned char parameters[MAX_PARAMETER_BYTES];
};

struct CUfunc_st {
    enum handle_kind kind;
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

/* Has CUDA been started in this process (start.h), and not only in its parent? Else CUDA_ERROR_NOT_INITIALIZED. */
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
