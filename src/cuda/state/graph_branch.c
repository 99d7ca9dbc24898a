/* Launches of graphs. A branch is a chain of steps, each depending on the previous one; different
 * branches run concurrently. The first branch runs in the stream of the launch, the others in
 * streams of the graph, between two events of that stream. So to its surroundings a graph is one
 * piece of work.
 */
#include "cuda/state/graph.h"

#include "cuda/state/contexts.h"
#include "cuda/state/graph_condition.h"
#include "cuda/state/graph_memory.h"
#include "cuda/state/graph_updates.h"

#include <stdlib.h>

/* ---- finding them ---- */

static CUresult wait_for(struct step *s, struct step *earlier)
{
    struct step **new = VEC_ADD(&s->waits_for);
    if (!new)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *new = earlier;
    return earlier->event ? CUDA_SUCCESS : from_hd(hd_event_create(&earlier->event));
}

/* Continues the branch of a dependency that is the last of its branch; otherwise begins a branch.
 * `after`: its dependencies. */
static void choose_branch(CUgraphExec x, struct step *s, struct step *const *after, size_t n, struct step **last)
{
    s->branch = x->n_branches;
    for (size_t i = 0; i < n && s->branch == x->n_branches; i++)
        if (last[after[i]->branch] == after[i])
            s->branch = after[i]->branch;
    x->n_branches += s->branch == x->n_branches;
}

/* May the next kernel begin when a programmatic event allows it? */
static bool is_programmatic(struct edge_kind k)
{
    return k.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && k.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
}

static CUresult add_step(CUgraphExec x, struct step *s, struct step **after, struct step **last)
{
    size_t n = s->n_after;
    for (size_t i = 0; i < n; i++) {
        after[i] = &x->steps[x->after[s->after + i].place];
        after[i]->is_last = false;
    }
    choose_branch(x, s, after, n, last);
    for (size_t i = 0; i < n; i++)
        if (after[i]->branch != s->branch)
            TRY(wait_for(s, after[i]));
    s->overlaps = n == 1 && after[0]->branch == s->branch && is_programmatic(x->after[s->after].kind);
    s->is_first = n == 0;
    s->is_last = true;
    last[s->branch] = s;
    return CUDA_SUCCESS;
}

CUresult branches_find(CUgraphExec x)
{
    struct step **last = calloc(x->n + 1, sizeof *last), **after = calloc(x->n + 1, sizeof *after);
    CUresult r = last && after ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < x->n && !r; i++)
        r = add_step(x, &x->steps[i], after, last);
    for (size_t i = 0; i < x->n && !r; i++)
        if (x->steps[i].is_last && x->steps[i].branch > 0 && !x->steps[i].event)
            r = from_hd(hd_event_create(&x->steps[i].event));
    free(last);
    free(after);
    x->n_branches += x->n_branches == 0;
    x->streams = r ? NULL : calloc(x->n_branches + 1, sizeof *x->streams);
    r = r ? r : from_hd(hd_event_create(&x->begun));
    r = r ? r : from_hd(hd_event_create(&x->ended));
    return !r && !x->streams ? CUDA_ERROR_OUT_OF_MEMORY : r;
}

/* ---- launching them ---- */

/* One launch of any size is submitted without waiting; of large launches
 * only a few may be pending. */
enum { NODES_PER_TASK = 256 };

static CUresult open_stream(CUcontext c, hd_stream **stream)
{
    TRY(from_hd(hd_stream_create(c->context, HD_STREAM_NON_BLOCKING, stream)));
    hd_stream_begin_batch(*stream); /* the launch is counted when it is submitted */
    return CUDA_SUCCESS;
}

/* Creates streams for all branches but the first, and one for that, too, if the launch is `apart`,
 * in the context of the launch. */
static CUresult open_streams(CUgraphExec x, CUcontext c, bool apart)
{
    bool same = x->streams_of_id == c->id;
    for (size_t b = 1; b <= x->n_branches; b++) {
        if (x->streams[b] && !same && context_lives(x->streams_of, x->streams_of_id))
            hd_stream_destroy(x->streams[b]);
        if (!same)
            x->streams[b] = NULL;
        if (!x->streams[b] && (apart || b < x->n_branches))
            TRY(open_stream(c, &x->streams[b]));
    }
    x->streams_of = c->handle;
    x->streams_of_id = c->id;
    return CUDA_SUCCESS;
}

static CUresult run_work(const struct CUgraphExec_st *x, struct step *s, hd_stream *stream, CUcontext c,
                         struct graph_run *run)
{
    struct work w = run && run_is_by_kernel(run) ? s->uploaded : s->work;
    switch (w.kind) {
    case WORK_GIVE: return graph_memory_give(w.memory.at, stream, c, w.memory.bytes);
    case WORK_TAKE: return graph_memory_take(w.memory.at, stream);
    case WORK_BODIES: return bodies_launch(s, stream, c);
    case WORK_LAUNCH:
        w.launch.config.graph = x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH ? (uintptr_t)x->handle : 0;
        w.launch.config.graph_run = run;
        if (w.launch.updatable)
            return updatable_launch(&w, stream, c);
        w.launch.config.flags |= s->overlaps ? HD_LAUNCH_PROGRAMMATIC : 0; /* fall through */
    default: return work_run(stream, c, &w, WORK_IN_GRAPH);
    }
}

static CUresult run_step(CUgraphExec x, struct step *s, CUcontext c, struct graph_run *run)
{
    hd_stream *stream = x->streams[s->branch];
    if (s->is_first && s->branch > 0)
        TRY(from_hd(hd_stream_wait_event(stream, x->begun)));
    for (size_t i = 0; i < s->waits_for.n; i++)
        TRY(from_hd(hd_stream_wait_event(stream, s->waits_for.at[i]->event)));
    bool disabled = run && run_is_by_kernel(run) ? s->uploaded_disabled : s->disabled;
    if (!disabled || (s->work.kind == WORK_LAUNCH && s->work.launch.updatable))
        TRY(run_work(x, s, stream, c, run));
    return s->event ? from_hd(hd_event_follow(s->event, stream)) : CUDA_SUCCESS;
}

static CUresult run_steps(CUgraphExec x, hd_stream *stream, CUcontext c, struct graph_run *run)
{
    if (x->n_branches > 1)
        TRY(from_hd(hd_event_record(x->begun, stream)));
    for (size_t i = 0; i < x->n; i++)
        TRY(run_step(x, &x->steps[i], c, run));
    for (size_t i = 0; i < x->n; i++)
        if (x->steps[i].is_last && x->steps[i].branch > 0)
            TRY(from_hd(hd_stream_wait_event(stream, x->steps[i].event)));
    return conditions_end(x->conditions, stream);
}

/* Was this the last operation on the memory before a step? */
static bool was_last(const struct CUgraphExec_st *x, size_t step, const struct graph_memory *m, enum work_kind kind)
{
    for (size_t i = step; i-- > 0;) {
        const struct work *w = &x->steps[i].work;
        if ((w->kind == WORK_GIVE || w->kind == WORK_TAKE) && w->memory.at == m)
            return w->kind == kind;
    }
    return kind == (graph_memory_is_given(m) ? WORK_GIVE : WORK_TAKE);
}

/* A launch must not allocate memory that is allocated, unless it frees it first; and memory that it
 * frees must be allocated. */
static CUresult check_memory(CUgraphExec x)
{
    for (size_t i = 0; x->uses_memory && i < x->n; i++) {
        const struct work *w = &x->steps[i].work;
        if (w->kind == WORK_GIVE)
            NEED(was_last(x, i, w->memory.at, WORK_TAKE) || x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
        if (w->kind == WORK_TAKE)
            NEED(was_last(x, i, w->memory.at, WORK_GIVE));
    }
    return CUDA_SUCCESS;
}

/* Frees what earlier launches have left allocated. */
static CUresult free_left(CUgraphExec x, hd_stream *stream)
{
    for (size_t i = 0; x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH && i < x->n; i++) {
        const struct work *w = &x->steps[i].work;
        if (w->kind == WORK_GIVE && graph_memory_is_given(w->memory.at))
            TRY(graph_memory_take(w->memory.at, stream));
    }
    return CUDA_SUCCESS;
}

static CUresult begin_launch(CUgraphExec x, hd_stream *stream, CUcontext c)
{
    TRY(exec_upload(x));
    if (x->uses_memory) {
        TRY(free_left(x, stream));
        graph_memory_count(c->device, x->memory_bytes);
    }
    return conditions_begin(x->conditions, stream);
}

static CUresult put(CUgraphExec x, hd_stream *stream, CUcontext c, struct graph_run *run)
{
    x->launched_in = hd_stream_number(stream);
    x->streams[0] = stream;
    if (!run || !run_is_by_kernel(run))
        TRY(begin_launch(x, stream, c));
    return run_steps(x, stream, c, run);
}

/* Submits it with a run, which owns what its kernels launch. */
static CUresult put_with_run(CUgraphExec x, hd_stream *stream, CUcontext c)
{
    struct graph_run *run = NULL;
    if (x->n_launching)
        TRY(run_new(x, c, &run));
    CUresult r = put(x, stream, c, run);
    if (run && !r)
        r = run_finish(run, stream);
    else if (run)
        run_free(run);
    return r;
}

/* A launch is ordered behind the graph's previous launch ("CUDA Driver API", cuGraphLaunch). */
static CUresult launch(CUgraphExec x, hd_stream *stream, CUcontext c)
{
    bool same = x->streams_of_id == c->id && x->launched_in == hd_stream_number(stream);
    TRY(check_memory(x));
    if (!same)
        TRY(from_hd(hd_stream_wait_event(stream, x->ended)));
    TRY(open_streams(x, c, false));
    hd_stream_begin_batch(stream);
    CUresult r = put_with_run(x, stream, c);
    r = r ? r : from_hd(hd_event_follow(x->ended, stream));
    hd_stream_end_batch(stream, (unsigned)(x->n / NODES_PER_TASK) + 1);
    return r;
}

CUresult branches_launch(CUgraphExec x, hd_stream *stream, CUcontext c)
{
    pthread_mutex_lock(&x->launching);
    CUresult r = launch(x, stream, c);
    pthread_mutex_unlock(&x->launching);
    return r;
}

static CUresult launch_apart(CUgraphExec x, CUcontext c, struct graph_run *run, hd_event *after, hd_event *ended)
{
    TRY(open_streams(x, c, true));
    hd_stream *stream = x->streams[x->n_branches];
    if (after)
        TRY(from_hd(hd_stream_wait_event(stream, after)));
    CUresult r = put(x, stream, c, run);
    r = r ? r : from_hd(hd_event_follow(x->ended, stream));
    return r ? r : from_hd(hd_event_follow(ended, stream));
}

CUresult branches_launch_apart(CUgraphExec x, CUcontext c, struct graph_run *run, hd_event *after, hd_event *ended)
{
    pthread_mutex_lock(&x->launching);
    CUresult r = launch_apart(x, c, run, after, ended);
    pthread_mutex_unlock(&x->launching);
    return r;
}
