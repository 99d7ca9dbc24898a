/* Graphs that kernels launch, through the context's function (include/heddle.h,
 * hd_kernel_call_loop). */
#include "api/nest.h"

/* Submits the task behind a moment in the stream, and takes ownership of it. Call with the lock
   held. */
static hd_result put_behind(struct stream *s, struct task *moment, struct task *t, hd_event *begun, hd_event *ended)
{
    struct task *held;
    if (!stream_put(s, moment, &held)) {
        task_release(t);
        return HD_ERROR_OUT_OF_MEMORY;
    }
    event_become(begun, held);
    if (!stream_put(s, t, &held))
        return HD_ERROR_OUT_OF_MEMORY;
    event_become(ended, held);
    return HD_SUCCESS;
}

static hd_result put_loop(const struct nest *n, struct task *t, hd_event *begun, hd_event *ended)
{
    struct stream *s = nest_new_stream(n);
    struct task *moment = s ? task_new(sizeof *moment) : NULL;
    hd_result r = HD_ERROR_OUT_OF_MEMORY;
    if (moment) {
        moment->note.by = n->task;
        r = put_behind(s, moment, t, begun, ended);
    } else {
        task_release(t);
    }
    if (s)
        stream_destroy(s);
    return r;
}

hd_result hd_kernel_call_loop(hd_kernel_call *call, bool (*next)(void *data, hd_result status, hd_event *until),
                              void *data, hd_event *begun, hd_event *ended)
{
    struct task *t = call && next && begun && ended ? loop_task_new(next, data) : NULL;
    if (!t)
        return HD_ERROR_OUT_OF_MEMORY;
    struct nest *n = call->nest;
    pthread_mutex_lock(&n->lock);
    checker_puts_for(nested_told(call->call), nested_warp(call->call), call->call->lane);
    hd_result r = put_loop(n, t, begun, ended);
    checker_puts_for(NULL, 0, 0);
    pthread_mutex_unlock(&n->lock);
    return r;
}
