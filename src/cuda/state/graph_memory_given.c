/* Graph memory that launches allocate and free; see graph_memory.h. */
#include "cuda/state/allocations.h"
#include "cuda/state/graph_memory_state.h"
#include "cuda/watch/watch.h"

/* A callback of the graph's own: the program does not learn of its progress. */
static void let_go(void *data, hd_result status)
{
    (void)status;
    graph_memory_release(data);
}

static CUresult open_in(struct graph_memory *m, hd_stream *stream, size_t bytes)
{
    if (hd_machine_checker(m->device->machine))
        return from_hd(hd_stream_open(stream, m->start, bytes));
    if (m->there)
        return CUDA_SUCCESS;
    TRY(from_hd(hd_open(m->device->machine, m->start, m->bytes)));
    m->there = true;
    return CUDA_SUCCESS;
}

CUresult graph_memory_give(struct graph_memory *m, hd_stream *stream, CUcontext c, size_t bytes)
{
    struct allocation *a;
    if (m->given)
        return CUDA_ERROR_INVALID_VALUE;
    TRY(open_in(m, stream, bytes));
    TRY(allocation_of_graph(c, m->start, bytes, m, &a));
    graph_memory_hold(m);
    graph_memory_lock();
    m->given = a;
    graph_memory_unlock();
    return CUDA_SUCCESS;
}

/* Keeps its memory until the stream has reached the free. */
static CUresult end_in(struct graph_memory *m, hd_stream *stream, size_t bytes)
{
    hd_result r = HD_SUCCESS;
    if (hd_machine_checker(m->device->machine))
        r = hd_stream_close(stream, m->start, bytes);
    if (hd_stream_call(stream, let_go, m, HD_CALL_ALWAYS | HD_CALL_UPKEEP))
        graph_memory_release(m);
    return from_hd(r);
}

static struct allocation *take(struct graph_memory *m)
{
    graph_memory_lock();
    struct allocation *a = m->given;
    m->given = NULL;
    graph_memory_unlock();
    return a;
}

CUresult graph_memory_take(struct graph_memory *m, hd_stream *stream)
{
    struct allocation *a = take(m);
    if (!a)
        return CUDA_ERROR_INVALID_VALUE;
    size_t bytes = a->bytes;
    watch_free_in(stream, a);
    allocation_forget(a);
    return end_in(m, stream, bytes);
}

CUresult graph_memory_free(struct allocation *a, hd_stream *stream)
{
    return graph_memory_take(a->of_graph, stream ? stream : hd_context_default_stream(a->context->context));
}

void graph_memory_drop(struct graph_memory *m)
{
    take(m);
    if (hd_machine_checker(m->device->machine))
        hd_close(m->device->machine, m->start);
    graph_memory_release(m);
}
