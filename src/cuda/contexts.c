/* See contexts.h. */
#include "cuda/contexts.h"

#include <time.h>

#include "cuda/devices.h"
#include "cuda/printed.h"

enum { STACK_DEPTH = 64 };

static struct CUctx_st *contexts;

/* What is current in a thread, newest last; an empty place is a NULL that was set. */
static _Thread_local struct {
    CUcontext at[STACK_DEPTH];
    unsigned n;
} stack;

void context_add(CUcontext c)
{
    state_lock();
    c->next = contexts;
    contexts = c;
    state_unlock();
}

void context_remove(CUcontext c)
{
    state_lock();
    CUcontext *link = &contexts;
    while (*link && *link != c)
        link = &(*link)->next;
    if (*link)
        *link = c->next;
    state_unlock();
    for (unsigned i = 0; i < stack.n; i++)
        if (stack.at[i] == c)
            stack.at[i] = NULL;
}

bool is_context(CUcontext context)
{
    bool found = false;
    state_lock();
    for (CUcontext c = contexts; c && !found; c = c->next)
        found = c == context;
    state_unlock();
    return found;
}

bool context_lives_held(uint64_t id)
{
    bool found = false;
    for (CUcontext c = contexts; c && !found; c = c->next)
        found = c->id == id;
    return found;
}

bool context_lives(uint64_t id)
{
    state_lock();
    bool found = context_lives_held(id);
    state_unlock();
    return found;
}

void context_each(void (*visit)(CUcontext context))
{
    state_lock();
    for (CUcontext c = contexts; c; c = c->next)
        visit(c);
    state_unlock();
}

/* ---- waiting for all of them ---- */

static void *synchronize_all(void *data)
{
    enum { MOST = 256 };
    hd_context *all[MOST];
    size_t n = 0;
    (void)data;
    state_lock(); /* not while waiting: launches ask for it (host_ranges) */
    for (CUcontext c = contexts; c && n < MOST; c = c->next)
        if (c->context)
            all[n++] = c->context;
    state_unlock();
    for (size_t i = 0; i < n; i++)
        hd_context_synchronize(all[i]);
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

CUcontext context_top(void)
{
    return stack.n ? stack.at[stack.n - 1] : NULL;
}

CUresult context_push(CUcontext context)
{
    if (stack.n == STACK_DEPTH)
        return CUDA_ERROR_INVALID_VALUE;
    stack.at[stack.n++] = context;
    return CUDA_SUCCESS;
}

CUresult context_pop(CUcontext *context)
{
    if (!stack.n)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack.n--;
    if (context)
        *context = stack.at[stack.n];
    return CUDA_SUCCESS;
}

CUresult context_set(CUcontext context)
{
    if (stack.n)
        stack.n--;
    return context ? context_push(context) : CUDA_SUCCESS;
}

CUresult context_current(CUcontext *context)
{
    CUresult r = state_ready();
    if (r)
        return r;
    *context = context_top();
    if (!*context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return from_hd(hd_context_status((*context)->context));
}

CUresult context_failure(void)
{
    CUcontext c = context_top();
    return c ? from_hd(hd_context_status(c->context)) : CUDA_SUCCESS;
}
