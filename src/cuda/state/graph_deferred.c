/* Parts of graph launches that are decided when the stream reaches them: which bodies of
 * conditional nodes run, and how kernels have updated kernels. */
#include "cuda/state/graph_condition.h"
#include "cuda/state/graph_updates.h"

#include <stdlib.h>

/* ---- bodies ---- */

/* A launch of a conditional node. */
struct bodies_run {
    struct step *step; /* its graph exists until the launch has ended */
    CUcontext context;
    hd_event *before; /* the events that the node waits for */
    bool begun;
};

/* The next body to run; NULL if none. */
static CUgraphExec choose(const struct bodies_run *r)
{
    const struct work *w = &r->step->work;
    unsigned value = condition_value(w->condition.of), n = w->condition.n, at;
    switch (w->condition.type) {
    case CU_GRAPH_COND_TYPE_WHILE: at = value ? 0 : n; break;
    case CU_GRAPH_COND_TYPE_IF: at = r->begun ? n : !value; break;
    default: at = r->begun ? n : value; break;
    }
    return at < n ? r->step->bodies[at] : NULL;
}

static CUresult launch(struct bodies_run *r, CUgraphExec body, hd_event *until)
{
    TRY(branches_launch_apart(body, r->context, NULL, r->begun ? NULL : r->before, until));
    r->begun = true;
    return CUDA_SUCCESS;
}

static bool next_body(void *data, hd_result status, hd_event *until)
{
    struct bodies_run *r = data;
    CUgraphExec body = status ? NULL : choose(r);
    CUresult failed = body ? launch(r, body, until) : CUDA_SUCCESS;
    if (failed)
        log_line(LOG_ERROR, "a body of a conditional node cannot be launched: error %d", (int)failed);
    if (body && !failed)
        return true;
    hd_event_destroy(r->before);
    free(r);
    return false;
}

CUresult bodies_launch(struct step *s, hd_stream *stream, CUcontext c)
{
    struct bodies_run *r = calloc(1, sizeof *r);
    if (!r)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *r = (struct bodies_run){.step = s, .context = c};
    hd_result e = hd_event_create(&r->before);
    e = e ? e : hd_event_follow(r->before, stream);
    e = e ? e : hd_stream_loop(stream, next_body, r);
    return from_hd(e);
}

/* ---- kernels that kernels update ---- */

/* A launch's work for an updatable node. */
struct updatable_run {
    struct work work; /* the launch's own copy */
    CUcontext context;
    hd_stream *stream;
    bool begun; /* the kernel was submitted, or is disabled */
};

static void end_run(struct updatable_run *r)
{
    hd_stream_destroy(r->stream);
    work_disown(&r->work);
    free(r);
}

static CUresult run_updated(struct updatable_run *r, hd_event *until)
{
    struct work w = r->work;
    r->begun = true;
    if (updatable_read(w.launch.updatable, &w.launch))
        TRY(work_run(r->stream, r->context, &w, WORK_IN_GRAPH));
    return from_hd(hd_event_follow(until, r->stream));
}

static bool next_updated(void *data, hd_result status, hd_event *until)
{
    struct updatable_run *r = data;
    bool first = !status && !r->begun;
    CUresult failed = first ? run_updated(r, until) : CUDA_SUCCESS;
    if (failed)
        log_line(LOG_ERROR, "a kernel of a graph cannot be launched after its update by a kernel: error %d",
                 (int)failed);
    if (first && !failed)
        return true;
    end_run(r);
    return false;
}

CUresult updatable_launch(const struct work *w, hd_stream *stream, CUcontext c)
{
    hd_event *before = NULL;
    struct updatable_run *r = calloc(1, sizeof *r);
    if (!r)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r->context = c;
    CUresult e = work_own(w, c->handle, &r->work);
    if (e) {
        free(r);
        return e;
    }
    e = from_hd(hd_stream_create(c->context, HD_STREAM_NON_BLOCKING, &r->stream));
    e = e ? e : from_hd(hd_event_create(&before));
    e = e ? e : from_hd(hd_event_follow(before, stream));
    e = e ? e : from_hd(hd_stream_wait_event(r->stream, before));
    hd_event_destroy(before);
    e = e ? e : from_hd(hd_stream_loop(stream, next_updated, r));
    if (e)
        end_run(r);
    return e;
}
