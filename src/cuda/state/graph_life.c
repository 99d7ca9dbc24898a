/* Instantiated graphs after their creation: launches and updates by kernels, and destruction; see
 * graph.h. */
#include "cuda/state/contexts.h"
#include "cuda/state/graph_condition.h"
#include "cuda/state/graph_updates.h"
#include "cuda/state/module.h"

#include <stdlib.h>

/* ---- uploads ---- */

static void allow_updates(CUgraphExec x, bool allowed)
{
    for (size_t i = 0; x->has_updatable && i < x->n; i++)
        if (x->steps[i].work.kind == WORK_LAUNCH && x->steps[i].work.launch.updatable)
            updatable_upload(x->steps[i].work.launch.updatable, allowed);
}

CUresult exec_upload(CUgraphExec x)
{
    allow_updates(x, true);
    bool wanted = x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH && (!x->uploaded || x->is_changed);
    for (size_t i = 0; wanted && i < x->n; i++) {
        struct step *s = &x->steps[i];
        struct work own;
        TRY(work_own(&s->work, s->context, &own));
        work_disown(&s->uploaded);
        s->uploaded = own;
        s->uploaded_disabled = s->disabled;
    }
    x->uploaded = true;
    x->is_changed = false;
    return CUDA_SUCCESS;
}

/* ---- which launch others ---- */

unsigned work_nesting(const struct work *w, CUcontext context)
{
    struct CUfunc_st *f;
    hd_kernel *kernel;
    CUcontext c = w->kind == WORK_LAUNCH ? record_of(context, HANDLE_CONTEXT) : NULL;
    return c && !function_find(w->launch.function, c->device, &f, &kernel) ? hd_kernel_nesting(kernel) : 0;
}

void step_find_launches(CUgraphExec x, struct step *s)
{
    bool launches = work_nesting(&s->work, s->context) & HD_NESTS_GRAPHS;
    x->n_launching = x->n_launching - s->launches + launches;
    s->launches = launches;
}

void exec_find_launches(CUgraphExec x)
{
    for (size_t i = 0; i < x->n; i++)
        step_find_launches(x, &x->steps[i]);
}

/* ---- the end ---- */

static void free_branches(CUgraphExec x)
{
    for (size_t i = 0; i < x->n; i++) {
        hd_event_destroy(x->steps[i].event);
        free(x->steps[i].waits_for.at);
    }
    for (size_t b = 1; x->streams && b <= x->n_branches; b++)
        if (x->streams[b] && context_lives(x->streams_of, x->streams_of_id))
            hd_stream_destroy(x->streams[b]);
    hd_event_destroy(x->begun);
    hd_event_destroy(x->ended);
    free(x->streams);
}

static void free_step(struct step *s)
{
    for (unsigned i = 0; s->bodies && i < s->work.condition.n; i++)
        if (s->bodies[i])
            exec_free(s->bodies[i]);
    free((void *)s->bodies);
    work_disown(&s->work);
    work_disown(&s->uploaded);
}

CUgraphExec exec_hold(CUgraphExec x)
{
    x->refs++;
    return x;
}

void exec_free(void *record)
{
    CUgraphExec x = record;
    if (--x->refs)
        return;
    allow_updates(x, false);
    if ((x->kept || x->has_bodies) && x->ended)
        hd_event_synchronize(x->ended);
    for (size_t i = 0; i < x->n; i++)
        free_step(&x->steps[i]);
    free_branches(x);
    node_index_free(&x->index);
    free(x->ends);
    free(x->after);
    kept_release(&x->kept);
    if (x->outline)
        graph_end(x->outline);
    conditions_release(&x->conditions);
    pthread_mutex_destroy(&x->launching);
    free(x);
}
