/* The beginning and the end of contexts: contexts.h. */
#include "api/nested.h"
#include "cuda/process/printed.h"
#include "cuda/state/allocations.h"
#include "cuda/state/arrays.h"
#include "cuda/state/capture.h"
#include "cuda/state/contexts.h"
#include "cuda/state/events.h"
#include "cuda/state/graph.h"
#include "cuda/state/graph_memory.h"
#include "cuda/state/module.h"
#include "cuda/state/pools.h"
#include "cuda/state/references.h"
#include "cuda/state/registered.h"
#include "cuda/state/state.h"
#include "cuda/state/streams.h"
#include "cuda/watch/check.h"
#include "cuda/watch/watch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the beginning ---- */

/* Prints the paragraph about a kernel's fault; called by a stream's thread. */
static void show_fault(void *data, hd_result result, hd_report *report)
{
    (void)data;
    if (result == HD_ERROR_CANCELLED) /* cancelled by contexts_finish() */
        return;
    print_flush();
    fflush(stdout);
    if (!check_found(report))
        fputs(hd_report_text(report), stderr);
}

/* The initial limits of an H200 (recorded). */
static const size_t first_limits[LIMITS] = {
    [CU_LIMIT_STACK_SIZE] = 1024,
    [CU_LIMIT_MALLOC_HEAP_SIZE] = 8388608,
    [CU_LIMIT_PRINTF_FIFO_SIZE] = 8650752,
    [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
    [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
    [CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = 11796480,
    [CU_LIMIT_SHMEM_SIZE] = 232448,
};

CUresult context_start(struct device *d, unsigned flags, CUcontext *context)
{
    CUcontext c = calloc(1, sizeof *c);
    hd_context_options o = {.fault = show_fault, .launch_graph = run_launch_graph};
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
    nest_tell_limits(c->context, c->limits);
    *context = c;
    return CUDA_SUCCESS;
}

void context_free(void *record)
{
    CUcontext c = record;
    hd_context_destroy(c->context);
    free(c);
}

CUresult context_new(struct device *d, unsigned flags, bool primary, CUcontext *handle)
{
    CUcontext c;
    TRY(context_start(d, flags, &c));
    c->primary = primary;
    CUresult r = handle_give(HANDLE_CONTEXT, c, NULL, &c->handle);
    if (r)
        context_free(c);
    else
        *handle = c->handle;
    return r;
}

/* ---- the end ---- */

/* Ends an object of the context: its handle becomes invalid. */
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
    case HANDLE_ARRAY: array_end(part); break;
    case HANDLE_MIPMAP: mipmap_end(part); break;
    case HANDLE_REFERENCE: reference_end(part); break;
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
    textures_leave(c);
    for (void *part; (part = record_take_of(c, &at, &kind)) != NULL;)
        end_part(kind, part);
}

static void free_memory(CUcontext c, struct allocation *a)
{
    for (struct allocation *next; a; a = next) {
        next = a->next;
        if (a->of_graph)
            graph_memory_drop(a->of_graph);
        else
            hd_free(c->device->machine, a->start);
        pool_freed(a->pool, a->bytes);
        allocation_end(a);
    }
}

void context_end(CUcontext c, CUcontext next)
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
    call_later(context_free, c);
    state_unlock();
    free_memory(c, memory);
}
