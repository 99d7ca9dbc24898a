/* See work.h. */
#include "cuda/state/work.h"

#include "cuda/process/printed.h"
#include "cuda/state/arrays.h"
#include "cuda/state/events.h"
#include "cuda/state/limits.h"
#include "cuda/state/memops.h"
#include "cuda/state/module.h"
#include "cuda/watch/check.h"
#include "cuda/watch/explain.h"
#include "cuda/watch/explore.h"
#include "cuda/watch/nvtx_memory.h"

#include <stdlib.h>
#include <string.h>

enum { STAGED_BYTES = 64 << 10 };

/* ---- launches ---- */

/* Launches must not have more dynamic shared memory than 48 KiB, unless
 * CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES was set. */
static CUresult check_shared(const struct CUfunc_st *f, size_t shared_bytes, CUcontext c, hd_kernel *kernel)
{
    int limit = 0;
    hd_kernel_info info;
    hd_machine_get_attribute(c->device->machine, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &limit);
    hd_kernel_get_info(kernel, &info);
    size_t most = info.static_shared_bytes < (size_t)limit ? (size_t)limit - info.static_shared_bytes : 0;
    if (f->dynamic_shared_limit >= 0 && (size_t)f->dynamic_shared_limit > most)
        most = (size_t)f->dynamic_shared_limit;
    if (shared_bytes <= most)
        return CUDA_SUCCESS;
    log_line(LOG_ERROR,
             "`%s`: %zu bytes of dynamic shared memory; %zu are possible without "
             "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES (cudaFuncAttributeMaxDynamicSharedMemorySize)",
             f->name, shared_bytes, most);
    return CUDA_ERROR_INVALID_VALUE;
}

/* The error of an H200 if there are more parameters than the kernel has. */
static CUresult check_packed(size_t packed_bytes, hd_kernel *kernel)
{
    hd_kernel_info info;
    hd_kernel_get_info(kernel, &info);
    return packed_bytes > info.param_bytes ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}

/* Do `heddle check` or `heddle explain` want this launch? Each is asked once for a launch. */
static bool is_wanted(const char *kernel)
{
    bool checked = check_wants(kernel), explained = explain_wants(kernel);
    return checked && explained;
}

/* The launch configuration with the kernel's current settings. */
static hd_launch_config config_of(const struct CUfunc_st *f, const struct work_launch *l)
{
    hd_launch_config c = l->config;
    c.flags |= l->cooperative ? HD_LAUNCH_COOPERATIVE : 0;
    c.flags |= f->non_portable_cluster ? HD_LAUNCH_NON_PORTABLE_CLUSTER : 0;
    return c;
}

/* Handles a launch's report before it began; frees the report. */
static CUresult launched(const struct CUfunc_st *f, hd_result r, hd_report *report)
{
    hd_diagnostic first;
    if (hd_report_get(report, 0, &first))
        log_line(LOG_ERROR, "`%s` cannot be launched: %s", f->name, first.text);
    hd_report_free(report);
    return from_hd(r);
}

/* A cooperative grid cannot call the device runtime, as on an H200. */
static CUresult check_cooperative(const struct work_launch *l, unsigned calls)
{
    return l->cooperative && calls & HD_NESTS_KERNELS ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

static CUresult launch(hd_stream *s, CUcontext c, const struct work_launch *l)
{
    struct CUfunc_st *f;
    hd_kernel *kernel;
    hd_report *report = NULL;
    TRY(function_find(l->function, c->device, &f, &kernel));
    const unsigned calls = hd_kernel_nesting(kernel);
    if (calls & HD_NESTS_GRAPHS && !l->config.graph_run)
        return api_not_supported("a launch, outside of a graph, of a kernel that launches graphs");
    TRY(check_cooperative(l, calls));
    if (l->config.shared_bytes)
        TRY(check_shared(f, l->config.shared_bytes, c, kernel));
    if (l->config.packed_args)
        TRY(check_packed(l->config.packed_bytes, kernel));
    hd_launch_config config = config_of(f, l);
    config.flags |= is_wanted(f->name) ? 0 : HD_LAUNCH_UNCHECKED;
    config.flags |= check_replays(f->name) ? HD_LAUNCH_REPLAYED | HD_LAUNCH_CLOSED : 0;
    config.timeout_seconds = limits_time_left(limits_given());
    TRY(from_hd(explore_launch(s, kernel, f->name, &config)));
    config.rules = nvtx_memory_rules(c->device->ordinal);
    hd_result r = hd_stream_launch(s, kernel, &config, &report);
    hd_memory_rules_destroy(config.rules);
    if (!r && calls & ~c->called)
        c->called |= calls;
    return launched(f, r, report);
}

CUresult work_check(const struct work *w, CUcontext c)
{
    struct CUfunc_st *f;
    hd_kernel *kernel;
    hd_report *report = NULL;
    if (w->kind != WORK_LAUNCH)
        return CUDA_SUCCESS;
    TRY(function_find(w->launch.function, c->device, &f, &kernel));
    TRY(check_cooperative(&w->launch, hd_kernel_nesting(kernel)));
    TRY(check_shared(f, w->launch.config.shared_bytes, c, kernel));
    hd_launch_config config = config_of(f, &w->launch);
    hd_result r = hd_launch_check(kernel, &config, &report);
    return launched(f, r, report);
}

/* ---- copies ---- */

static void free_staged(void *data, hd_result status)
{
    (void)status;
    free(data);
}

/* Packs the rows of a box. */
static void *stage(const hd_copy *c)
{
    char *staged = malloc(c->width * c->height * c->depth), *to = staged;
    for (size_t z = 0; staged && z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++, to += c->width)
            memcpy(to, (const char *)c->from + z * c->from_slice + y * c->from_pitch, c->width);
    return staged;
}

/* Functions without Async ("API synchronization behavior", 2, "Memcpy"): a copy from pageable
 * memory to the device waits for the stream but not for the copy; a copy within the device does not
 * wait. With managed memory both wait, as was documented up to CUDA 11. */
static CUresult copy_sync(hd_stream *s, const struct work *w)
{
    enum memory_kind to = w->to_kind, from = w->from_kind;
    if (to == MEMORY_DEVICE && from == MEMORY_PAGEABLE)
        TRY(from_hd(hd_stream_synchronize(s)));
    bool promised = to != MEMORY_DEVICE || from == MEMORY_PINNED || from == MEMORY_MANAGED;
    return from_hd(hd_stream_copy(s, &w->copy, promised ? HD_WAIT : HD_WAIT_UNPROMISED));
}

/* Pageable memory may change, or be read, as soon as an asynchronous copy returns: small copies are
 * staged, others waited for. Copies within the host are synchronous; those with one pageable side
 * may be. */
static CUresult copy_async(hd_stream *s, const struct work *w)
{
    const hd_copy *c = &w->copy;
    size_t bytes = c->width * c->height * c->depth;
    enum memory_kind to = w->to_kind, from = w->from_kind;
    bool pageable = to == MEMORY_PAGEABLE || from == MEMORY_PAGEABLE, host = memory_is_host(to) && memory_is_host(from);
    if (from != MEMORY_PAGEABLE || host || bytes > STAGED_BYTES || hd_stream_is_done(s))
        return from_hd(hd_stream_copy(s, c, host ? HD_WAIT : pageable ? HD_WAIT_UNPROMISED : HD_NO_WAIT));
    void *staged = stage(c);
    if (!staged)
        return from_hd(hd_stream_copy(s, c, HD_WAIT_UNPROMISED));
    hd_copy from_staged = *c;
    from_staged.from = staged;
    from_staged.from_pitch = c->width;
    from_staged.from_slice = c->width * c->height;
    hd_result r = hd_stream_copy(s, &from_staged, HD_NO_WAIT),
              freed = hd_stream_call(s, free_staged, staged, HD_CALL_ALWAYS | HD_CALL_UPKEEP);
    return from_hd(r ? r : freed);
}

/* In a graph, memory may have been replaced, and an array freed, since the node was made. */
static CUresult copy_in_graph(hd_stream *s, const struct work *w)
{
    hd_copy c = w->copy;
    if ((w->from_array && !array_of(w->from_array)) || (w->to_array && !array_of(w->to_array)))
        return CUDA_ERROR_INVALID_HANDLE;
    c.host = memory_is_host(memory_kind_of(c.to, NULL)) || memory_is_host(memory_kind_of(c.from, NULL));
    return from_hd(hd_stream_copy(s, &c, HD_NO_WAIT));
}

static CUresult copy(hd_stream *s, const struct work *w, enum work_how how)
{
    return work_is_nothing(w)     ? CUDA_SUCCESS
           : how == WORK_IN_GRAPH ? copy_in_graph(s, w)
           : how == WORK_SYNC     ? copy_sync(s, w)
                                  : copy_async(s, w);
}

/* Functions without Async wait for fills of memory that the host can access ("API synchronization
 * behavior", 2, "Memset"). */
static CUresult fill(hd_stream *s, const struct work *w, enum work_how how)
{
    bool wait = how == WORK_SYNC && w->to_kind != MEMORY_DEVICE;
    return from_hd(hd_stream_fill(s, &w->fill, wait ? HD_WAIT : HD_NO_WAIT));
}

/* ---- host functions ---- */

struct call {
    CUhostFn function;
    void *data;
};

static void run_call(void *data, hd_result status)
{
    struct call c = *(struct call *)data;
    free(data);
    print_flush();
    if (!status)
        c.function(c.data);
}

static CUresult call(hd_stream *s, CUhostFn function, void *data)
{
    struct call *c = malloc(sizeof *c);
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *c = (struct call){function, data};
    return from_hd(hd_stream_call(s, run_call, c, HD_CALL_ALWAYS));
}

/* ---- events ---- */

static CUresult event(hd_stream *s, CUevent handle, bool wait)
{
    struct CUevent_st *e = event_of(handle);
    return !e ? CUDA_ERROR_INVALID_HANDLE : wait ? event_wait(e, s) : event_record(e, s);
}

/* ---- all of them ---- */

CUresult work_run(hd_stream *s, CUcontext c, const struct work *w, enum work_how how)
{
    summary_count(w);
    switch (w->kind) {
    case WORK_LAUNCH: return launch(s, c, &w->launch);
    case WORK_COPY: return copy(s, w, how);
    case WORK_FILL: return fill(s, w, how);
    case WORK_CALL: return call(s, w->call.function, w->call.data);
    case WORK_RECORD: return event(s, w->event, false);
    case WORK_WAIT: return event(s, w->event, true);
    case WORK_MEMOPS: return memops_run(s, c, w->memops->at, w->memops->count);
    case WORK_LIBRARY: return library_work_run(s, w->library, how == WORK_SYNC);
    default: return CUDA_SUCCESS;
    }
}
