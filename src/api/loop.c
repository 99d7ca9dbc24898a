/* Work that a stream decides when it reaches it (include/heddle.h, hd_stream_loop). */
#include "api/handles.h"

struct loop_task {
    struct task task;
    hd_event *until;
    bool (*next)(void *data, hd_result status, hd_event *until);
    void *data;
};

/* The task waits only for tasks before it in the stream. */
static bool run_loop(struct task *t, hd_result *result)
{
    struct loop_task *l = (struct loop_task *)t;
    if (!l->next(l->data, task_status(t), l->until))
        return true;
    struct task *until = event_task(l->until);
    if (until && !task_after(t, until))
        *result = HD_ERROR_OUT_OF_MEMORY;
    task_release(until);
    return false;
}

static void drop_loop(struct task *t)
{
    hd_event_destroy(((struct loop_task *)t)->until);
}

struct task *loop_task_new(bool (*next)(void *data, hd_result status, hd_event *until), void *data)
{
    struct loop_task *t = (struct loop_task *)task_new(sizeof *t);
    if (!t || hd_event_create(&t->until)) {
        task_release(t ? &t->task : NULL);
        return NULL;
    }
    t->task.turn = run_loop;
    t->task.drop = drop_loop;
    t->task.note.kind = TASK_GATE;
    t->task.always = true;
    t->next = next;
    t->data = data;
    return &t->task;
}

hd_result hd_stream_loop(hd_stream *s, bool (*next)(void *data, hd_result status, hd_event *until), void *data)
{
    if (!s || !next)
        return HD_ERROR_INVALID_VALUE;
    struct task *t = loop_task_new(next, data);
    return t ? stream_put_task(s, t, HD_NO_WAIT) : HD_ERROR_OUT_OF_MEMORY;
}
