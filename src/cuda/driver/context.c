/* Primary contexts and context management ("CUDA Driver API", 6.7 to 6.9). */
#include "cuda/state/state.h"

#include "cuda/state/allocations.h"
#include "cuda/state/capture.h"
#include "cuda/watch/check.h"
#include "cuda/state/contexts.h"
#include "cuda/state/events.h"
#include "cuda/state/limits.h"
#include "cuda/state/machines.h"
#include "cuda/state/module.h"
#include "cuda/process/printed.h"
#include "cuda/state/registered.h"
#include "cuda/state/streams.h"
#include "cuda/watch/watch.h"
#include "cuda/state/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the beginning of a context ---- */

/* From a stream's thread: the paragraph that says what a kernel has done. */
static void show_fault(void *data, hd_result result, hd_report *report)
{
    (void)data;
    if (result == HD_ERROR_CANCELLED) /* contexts_finish() */
        return;
    print_flush();
    fflush(stdout);
    if (!check_found(report))
        fputs(hd_report_text(report), stderr);
}

/* An H200's (recorded). */
static const size_t first_limits[LIMITS] = {
    [CU_LIMIT_STACK_SIZE] = 1024,
    [CU_LIMIT_MALLOC_HEAP_SIZE] = 8388608,
    [CU_LIMIT_PRINTF_FIFO_SIZE] = 8650752,
    [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
    [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
    [CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = 11796480,
    [CU_LIMIT_SHMEM_SIZE] = 232448,
};

/* A context that has nothing yet, and no handle. */
static CUresult context_start(struct device *d, unsigned flags, CUcontext *context)
{
    CUcontext c = calloc(1, sizeof *c);
    hd_context_options o = {.fault = show_fault};
    hd_result r = c ? hd_context_create(d->machine, &o, &c->context) : HD_ERROR_OUT_OF_MEMORY;
    if (r) {
        free(c);
        return from_hd(r);
    }
    c->device = d;
    c->flags = flags;
    c->id = state_number();
    c->api_version = 3020;
    c->attributes = stream_first_attributes(LEAST_PRIORITY);
    memcpy(c->limits, first_limits, sizeof c->limits);
    *context = c;
    return CUDA_SUCCESS;
}

static void free_context(void *record)
{
    CUcontext c = record;
    hd_context_destroy(c->context);
    free(c);
}

static CUresult context_new(struct device *d, unsigned flags, bool primary, CUcontext *handle)
{
    CUcontext c;
    TRY(context_start(d, flags, &c));
    c->primary = primary;
    CUresult r = handle_give(HANDLE_CONTEXT, c, NULL, &c->handle);
    if (r)
        free_context(c);
    else
        *handle = c->handle;
    return r;
}

/* ---- the end of a context ---- */

/* What is a part of it: its handles are no more. */
static void end_part(unsigned kind, void *part)
{
    switch (kind) {
    case HANDLE_STREAM: /* hd_context_destroy() ends it */
        capture_stream_gone(part);
        call_later(free, part);
        break;
    case HANDLE_EVENT:
        capture_event_gone(part);
        call_later(event_free, part);
        break;
    default: module_end(part);
    }
}

static void end_parts(CUcontext c)
{
    uint32_t at = 0;
    unsigned kind;
    state_lock();
    c->ended = true;
    state_unlock();
    for (void *part; (part = record_take_of(c, &at, &kind)) != NULL;)
        end_part(kind, part);
}

static void free_memory(CUcontext c, struct allocation *a)
{
    for (struct allocation *next; a; a = next) {
        next = a->next;
        hd_free(c->device->machine, a->start);
        pool_freed(a->pool, a->bytes);
        allocation_end(a);
    }
}

/* Waits for its work, and takes no more; its memory, modules, streams and events go with it. `next`: what its handle stands for from now on, or NULL. */
static void context_end(CUcontext c, CUcontext next)
{
    capture_context_gone(c);
    hd_context_close(c->context);
    print_flush();
    if (next)
        libraries_leave(c->device);
    watch_leaks(c);
    end_parts(c);
    state_lock();
    if (next)
        record_replace(c->handle, next);
    else
        registered_leave_held(c->handle);
    struct allocation *memory = c->allocations;
    c->allocations = NULL;
    for (struct allocation *a = memory; a; a = a->next)
        a->link = NULL;
    call_later(free_context, c);
    state_unlock();
    free_memory(c, memory);
}

/* ---- primary contexts ---- */

static CUcontext primary_of(const struct device *d)
{
    return record_of(d->primary, HANDLE_CONTEXT);
}

CU_API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice dev)
{
    struct device *d;
    CUresult r = CUDA_SUCCESS;
    TRY(device_get(dev, &d));
    NEED(context);
    primary_lock();
    if (!d->primary)
        r = context_new(d, d->primary_flags, true, &d->primary);
    if (!r) {
        d->primary_refs++;
        *context = d->primary;
    }
    primary_unlock();
    return r;
}

/* The context's resources go; the handle stays what it was for all threads in which it is current, and is one of a fresh context. */
static CUresult reset_primary(struct device *d)
{
    CUcontext old = primary_of(d), fresh;
    if (!old)
        return CUDA_SUCCESS;
    TRY(context_start(d, old->flags, &fresh));
    fresh->handle = old->handle;
    fresh->primary = true;
    context_end(old, fresh);
    return CUDA_SUCCESS;
}

CU_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    struct device *d;
    CUresult r = CUDA_ERROR_INVALID_CONTEXT;
    TRY(device_get(dev, &d));
    primary_lock();
    if (d->primary_refs > 0)
        r = --d->primary_refs == 0 ? reset_primary(d) : CUDA_SUCCESS;
    primary_unlock();
    return r;
}

CU_API CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return cuDevicePrimaryCtxRelease_v2(dev);
}

CU_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    primary_lock();
    CUresult r = reset_primary(d);
    primary_unlock();
    return r;
}

CU_API CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
    return cuDevicePrimaryCtxReset_v2(dev);
}

CU_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned flags)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED((flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0);
    CUcontext c = primary_of(d);
    d->primary_flags = flags;
    if (c)
        c->flags = flags;
    return CUDA_SUCCESS;
}

CU_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CU_API CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned *flags, int *active)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(flags && active);
    *flags = d->primary_flags;
    *active = d->primary_refs > 0;
    return CUDA_SUCCESS;
}

/* ---- contexts ---- */

static CUresult create(CUcontext *context, unsigned flags, CUdevice dev)
{
    struct device *d;
    TRY(device_get(dev, &d));
    NEED(context && (flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0);
    TRY(context_new(d, flags, false, context));
    return context_push(*context);
}

CU_API CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice dev)
{
    return create(context, flags, dev);
}

CU_API CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *params, int n, unsigned flags, CUdevice dev)
{
    if (params || n)
        return api_not_supported("cuCtxCreate with execution affinity");
    return create(context, flags, dev);
}

CU_API CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice dev)
{
    if (params && (params->execAffinityParams || params->cigParams))
        return api_not_supported("cuCtxCreate with execution affinity or a shared graphics context");
    return create(context, flags, dev);
}

CU_API CUresult cuCtxDestroy_v2(CUcontext handle)
{
    TRY(state_ready());
    CUcontext c = record_of(handle, HANDLE_CONTEXT);
    if (!c || c->primary || !record_take(handle, HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context_current_handle() == handle)
        context_pop(NULL);
    context_end(c, NULL);
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxDestroy(CUcontext context)
{
    return cuCtxDestroy_v2(context);
}

CU_API CUresult cuCtxAttach(CUcontext *context, unsigned flags)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(context && !flags);
    state_lock();
    c->attached++;
    state_unlock();
    *context = c->handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxDetach(CUcontext handle)
{
    TRY(state_ready());
    CUcontext c = record_of(handle, HANDLE_CONTEXT);
    if (!c || context_current_handle() != handle)
        return CUDA_ERROR_INVALID_CONTEXT;
    state_lock();
    bool last = c->attached == 0;
    c->attached -= !last;
    state_unlock();
    return last ? cuCtxDestroy_v2(handle) : CUDA_SUCCESS;
}

CU_API CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    TRY(state_ready());
    if (!record_of(context, HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    return context_push(context);
}

CU_API CUresult cuCtxPushCurrent(CUcontext context)
{
    return cuCtxPushCurrent_v2(context);
}

CU_API CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    TRY(state_ready());
    return context_pop(context);
}

CU_API CUresult cuCtxPopCurrent(CUcontext *context)
{
    return cuCtxPopCurrent_v2(context);
}

CU_API CUresult cuCtxSetCurrent(CUcontext context)
{
    TRY(state_ready());
    if (context && !record_of(context, HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    return context_set(context);
}

CU_API CUresult cuCtxGetCurrent(CUcontext *context)
{
    TRY(state_ready());
    NEED(context);
    *context = context_current_handle();
    return CUDA_SUCCESS;
}

/* A context by its handle; NULL: the current one. */
static CUresult named(CUcontext handle, CUcontext *context)
{
    TRY(state_ready());
    bool ended = !handle && context_current_handle();
    *context = record_of(handle ? handle : context_current_handle(), HANDLE_CONTEXT);
    return *context ? CUDA_SUCCESS : ended ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
}

CU_API CUresult cuCtxGetDevice_v2(CUdevice *dev, CUcontext context)
{
    CUcontext c;
    TRY(named(context, &c));
    NEED(dev);
    *dev = c->device->ordinal;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetDevice(CUdevice *dev)
{
    return cuCtxGetDevice_v2(dev, NULL);
}

CU_API CUresult cuCtxSynchronize_v2(CUcontext context)
{
    CUcontext c;
    TRY(named(context, &c));
    TRY(capture_context(c));
    hd_result r = hd_context_synchronize(c->context);
    print_flush();
    return from_hd(r);
}

CU_API CUresult cuCtxSynchronize(void)
{
    return cuCtxSynchronize_v2(NULL);
}

CU_API CUresult cuCtxGetFlags(unsigned *flags)
{
    CUcontext c;
    TRY(named(NULL, &c));
    NEED(flags);
    *flags = c->flags;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxSetFlags(unsigned flags)
{
    CUcontext c;
    TRY(named(NULL, &c));
    NEED((flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0);
    c->flags = flags;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
    CUcontext c;
    TRY(named(context, &c));
    NEED(id);
    *id = c->id;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    CUcontext c;
    TRY(named(context, &c));
    NEED(version);
    *version = c->api_version;
    return CUDA_SUCCESS;
}

/* An H200's range; priorities are kept, and make no difference here. */
CU_API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUcontext c;
    TRY(named(NULL, &c));
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return CUDA_SUCCESS;
}

/* ---- limits and preferences ---- */

/* A stack here is never smaller than this: frames are not those of the real compiler. */
enum { LEAST_STACK_BYTES = 64 << 10 };

/* Nor larger than the environment allows. */
static size_t stack_bytes(size_t value)
{
    size_t most = limits_given()->stack_bytes, bytes = value < LEAST_STACK_BYTES ? LEAST_STACK_BYTES : value;
    return most && bytes > most ? most : bytes;
}

/* CUDA's buffer holds what printf is given, and is drained while the kernel runs: an H200 has shown 27 MB of text of a kernel with
 * its 8 MiB, and of 512 KiB, the least, what stands last. Here the limit is one of text: so much for each byte of the buffer. */
enum { LEAST_FIFO_BYTES = 512 << 10, TEXT_OF_FIFO_BYTE = 8 };

static hd_result set_print_limit(CUcontext c, size_t value)
{
    return hd_machine_set_limit(c->device->machine, HD_LIMIT_PRINT_BYTES, value * TEXT_OF_FIFO_BYTE);
}

/* What an H200 does not have, or does not know. */
static CUresult check_limit(CUlimit limit)
{
    NEED((unsigned)limit < CU_LIMIT_MAX);
    bool gone = limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH || limit == CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED;
    return gone ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_SUCCESS;
}

static size_t between(size_t least, size_t value, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* What an H200 takes, and makes of it (tests/forbidden/graph_rules.txt). */
static CUresult round_limit(CUcontext c, CUlimit limit, size_t *value)
{
    enum { MOST_STACK = 512 << 10, MOST_PENDING = 599186, L2_PART = 3932160, L2 = 39321600 };
    switch (limit) {
    case CU_LIMIT_STACK_SIZE: /* one that grows is allocated */
        NEED(*value <= MOST_STACK);
        *value = *value > c->limits[limit] ? (*value + 15) / 16 * 16 : *value;
        return CUDA_SUCCESS;
    case CU_LIMIT_PRINTF_FIFO_SIZE: *value = between(LEAST_FIFO_BYTES, *value, (size_t)2 << 30); return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE: *value = between(4 << 20, *value, SIZE_MAX); return CUDA_SUCCESS;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: *value = between(32, *value, MOST_PENDING); return CUDA_SUCCESS;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: NEED(*value <= 128); return CUDA_SUCCESS;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        NEED(*value <= L2);
        *value = (*value + L2_PART - 1) / L2_PART * L2_PART;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_NOT_PERMITTED;
    }
}

/* Stack, heap and what a launch may print are the machine's; the others are hints, or sizes of what has no fixed size here. */
CU_API CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    CUcontext c;
    hd_result r = HD_SUCCESS;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    TRY(check_limit(limit));
    TRY(round_limit(c, limit, &value));
    if (limit == CU_LIMIT_STACK_SIZE)
        r = hd_machine_set_limit(c->device->machine, HD_LIMIT_STACK_BYTES, stack_bytes(value));
    else if (limit == CU_LIMIT_MALLOC_HEAP_SIZE)
        r = hd_machine_set_limit(c->device->machine, HD_LIMIT_HEAP_BYTES, value);
    else if (limit == CU_LIMIT_PRINTF_FIFO_SIZE)
        r = set_print_limit(c, value);
    if (!r)
        c->limits[limit] = value;
    return from_hd(r);
}

CU_API CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(value);
    TRY(check_limit(limit));
    *value = c->limits[limit];
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(config);
    *config = (CUfunc_cache)c->cache_config;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    CUcontext c;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    NEED((unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL);
    c->cache_config = (int)config;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(config);
    *config = (CUsharedconfig)c->shared_config;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED((unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    c->shared_config = (int)config;
    return CUDA_SUCCESS;
}

/* There is no cache to persist in. */
CU_API CUresult cuCtxResetPersistingL2Cache(void)
{
    CUcontext c;
    return context_current(&c);
}
