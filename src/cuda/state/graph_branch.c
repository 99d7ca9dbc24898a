/* Launches of graphs. Each step of a branch depends on the one before it; what depends on nothing common stands in branches of
 * its own, which run beside each other. The first branch runs in the stream that the graph is launched in, the others in streams
 * of the graph's own, between two moments of that stream: so a graph is one piece of work to all that is around it.
 */
#include "cuda/state/graph.h"

#include "cuda/state/contexts.h"

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

/* The step goes on where one that it depends on is the last of its branch; else it begins a branch. `after`: what it depends on. */
static void choose_branch(CUgraphExec x, struct step *s, struct step *const *after, size_t n, struct step **last)
{
    s->branch = x->n_branches;
    for (size_t i = 0; i < n && s->branch == x->n_branches; i++)
        if (last[after[i]->branch] == after[i])
            s->branch = after[i]->branch;
    x->n_branches += s->branch == x->n_branches;
}

static CUresult add_step(CUgraphExec x, struct step *s, struct step **after, struct step **last)
{
    size_t n = s->n_after;
    for (size_t i = 0; i < n; i++) {
        after[i] = &x->steps[x->after[s->after + i]];
        after[i]->is_last = false;
    }
    choose_branch(x, s, after, n, last);
    for (size_t i = 0; i < n; i++)
        if (after[i]->branch != s->branch)
            TRY(wait_for(s, after[i]));
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
    x->streams = r ? NULL : calloc(x->n_branches + 1, sizeof *x->streams);
    r = r ? r : from_hd(hd_event_create(&x->begun));
    r = r ? r : from_hd(hd_event_create(&x->ended));
    return !r && !x->streams ? CUDA_ERROR_OUT_OF_MEMORY : r;
}

void branches_free(CUgraphExec x)
{
    for (size_t i = 0; i < x->n; i++) {
        hd_event_destroy(x->steps[i].event);
        free(x->steps[i].waits_for.at);
    }
    for (size_t b = 1; x->streams && b < x->n_branches; b++)
        if (x->streams[b] && context_lives(x->streams_of, x->streams_of_id))
            hd_stream_destroy(x->streams[b]);
    hd_event_destroy(x->begun);
    hd_event_destroy(x->ended);
    free(x->streams);
}

/* ---- launching them ---- */

/* However large, one launch is put without waiting for earlier ones; of large ones only few may be pending. */
enum { NODES_PER_TASK = 256 };

static CUresult open_stream(CUcontext c, hd_stream **stream)
{
    TRY(from_hd(hd_stream_create(c->context, HD_STREAM_NON_BLOCKING, stream)));
    hd_stream_begin_batch(*stream); /* the launch is counted where it is put */
    return CUDA_SUCCESS;
}

/* Streams for all branches but the first, in the context that the graph is launched in. */
static CUresult open_streams(CUgraphExec x, CUcontext c)
{
    bool same = x->streams_of_id == c->id;
    for (size_t b = 1; b < x->n_branches; b++) {
        if (x->streams[b] && !same && context_lives(x->streams_of, x->streams_of_id))
            hd_stream_destroy(x->streams[b]);
        if (!x->streams[b] || !same)
            TRY(open_stream(c, &x->streams[b]));
    }
    x->streams_of = c->handle;
    x->streams_of_id = c->id;
    return CUDA_SUCCESS;
}

static CUresult run_step(CUgraphExec x, struct step *s, CUcontext c)
{
    hd_stream *stream = x->streams[s->branch];
    if (s->is_first && s->branch > 0)
        TRY(from_hd(hd_stream_wait_event(stream, x->begun)));
    for (size_t i = 0; i < s->waits_for.n; i++)
        TRY(from_hd(hd_stream_wait_event(stream, s->waits_for.at[i]->event)));
    if (!s->disabled)
        TRY(work_run(stream, c, &s->work, WORK_IN_GRAPH));
    return s->event ? from_hd(hd_event_follow(s->event, stream)) : CUDA_SUCCESS;
}

static CUresult run_steps(CUgraphExec x, hd_stream *stream, CUcontext c)
{
    if (x->n_branches > 1)
        TRY(from_hd(hd_event_record(x->begun, stream)));
    for (size_t i = 0; i < x->n; i++)
        TRY(run_step(x, &x->steps[i], c));
    for (size_t i = 0; i < x->n; i++)
        if (x->steps[i].is_last && x->steps[i].branch > 0)
            TRY(from_hd(hd_stream_wait_event(stream, x->steps[i].event)));
    return from_hd(hd_event_follow(x->ended, stream));
}

/* One launch of it is also after the one before ("CUDA Driver API", cuGraphLaunch). */
CUresult branches_launch(CUgraphExec x, hd_stream *stream, CUcontext c)
{
    bool same = x->streams_of_id == c->id && x->launched_in == hd_stream_number(stream);
    if (!same)
        TRY(from_hd(hd_stream_wait_event(stream, x->ended)));
    TRY(open_streams(x, c));
    x->streams[0] = stream;
    x->launched_in = hd_stream_number(stream);
    hd_stream_begin_batch(stream);
    CUresult r = run_steps(x, stream, c);
    hd_stream_end_batch(stream, (unsigned)(x->n / NODES_PER_TASK) + 1);
    return r;
}
