/* See contexts.h. */
#include "cuda/state/contexts.h"

#include <time.h>

#include "cuda/process/printed.h"
#include "cuda/state/devices.h"

enum { STACK_DEPTH = 64 };

/* The thread's stack of current contexts, newest last: handles; an empty entry is a NULL that was
   set. */
static _Thread_local struct {
    CUcontext at[STACK_DEPTH];
    unsigned n;
} stack;

bool context_lives(CUcontext handle, uint64_t id)
{
    CUcontext c = record_of(handle, HANDLE_CONTEXT);
    return c && c->id == id;
}

static void visit_context(void *data, void *record)
{
    void (*const *visit)(CUcontext) = data;
    (*visit)(record);
}

void context_each(void (*visit)(CUcontext context))
{
    records_each(HANDLE_CONTEXT, visit_context, &visit);
}

/* ---- waiting for all of them ---- */

enum { MOST_CONTEXTS = 256 };

struct all_contexts {
    hd_context *at[MOST_CONTEXTS];
    size_t n;
};

static void note_context(void *data, void *record)
{
    struct all_contexts *all = data;
    if (all->n < MOST_CONTEXTS)
        all->at[all->n++] = ((CUcontext)record)->context;
}

/* Holds no lock while it waits; contexts stay until the call ends. */
static void *synchronize_all(void *data)
{
    struct all_contexts all = {.n = 0};
    _Atomic uint32_t *call = call_begin();
    (void)data;
    records_each(HANDLE_CONTEXT, note_context, &all);
    for (size_t i = 0; i < all.n; i++)
        hd_context_synchronize(all.at[i]);
    call_end(call);
    return NULL;
}

void contexts_wait(void)
{
    synchronize_all(NULL);
}

bool contexts_finish(double seconds)
{
    pthread_t thread;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)seconds;
    if (pthread_create(&thread, NULL, synchronize_all, NULL))
        return false;
    bool done = pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &end) == 0;
    for (int i = 0; i < device_count() && !done; i++)
        if (device_at(i)->machine)
            hd_machine_cancel(device_at(i)->machine);
    if (!done)
        pthread_join(thread, NULL);
    print_flush();
    return done;
}

/* ---- the thread's ---- */

CUcontext context_current_handle(void)
{
    return stack.n ? stack.at[stack.n - 1] : NULL;
}

CUresult context_push(CUcontext handle)
{
    if (stack.n == STACK_DEPTH)
        return CUDA_ERROR_INVALID_VALUE;
    stack.at[stack.n++] = handle;
    return CUDA_SUCCESS;
}

CUresult context_pop(CUcontext *handle)
{
    if (!stack.n)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack.n--;
    if (handle)
        *handle = stack.at[stack.n];
    return CUDA_SUCCESS;
}

CUresult context_set(CUcontext handle)
{
    if (stack.n)
        stack.n--;
    return handle ? context_push(handle) : CUDA_SUCCESS;
}

CUcontext context_top(void)
{
    return record_of(context_current_handle(), HANDLE_CONTEXT);
}

CUresult context_current(CUcontext *context)
{
    CUresult r = state_ready();
    if (r)
        return r;
    CUcontext handle = context_current_handle();
    *context = record_of(handle, HANDLE_CONTEXT);
    if (!*context)
        return handle ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
    return from_hd(hd_context_status((*context)->context));
}

CUresult context_failure(void)
{
    CUcontext c = context_top();
    return c ? from_hd(hd_context_status(c->context)) : CUDA_SUCCESS;
}
