/* Contexts, streams and events of the library (include/heddle.h). */
#include <stdlib.h>

#include "api/nested.h"
#include "api/sized.h"
#include "exec/call.h"

/* ---- contexts ---- */

static hd_stream *new_stream(hd_context *c, struct stream *stream)
{
    hd_stream *s = stream ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    s->context = c;
    s->stream = stream;
    pthread_mutex_lock(&c->lock);
    s->next = c->streams;
    s->link = &c->streams;
    if (s->next)
        s->next->link = &s->next;
    c->streams = s;
    pthread_mutex_unlock(&c->lock);
    return s;
}

hd_result hd_context_create_sized(hd_machine *machine, const hd_context_options *options, size_t bytes,
                                  hd_context **context)
{
    hd_context_options own;
    hd_result r = SIZED_READ(hd_context_options, &own, options, bytes);
    if (r)
        return r;
    if (!machine || !context)
        return HD_ERROR_INVALID_VALUE;
    hd_context *c = calloc(1, sizeof *c);
    if (!c)
        return HD_ERROR_OUT_OF_MEMORY;
    c->machine = machine;
    c->options = own;
    c->nested_hooks = &nest_hooks;
    pthread_mutex_init(&c->lock, NULL);
    c->context = context_create(machine->machine);
    c->default_stream = c->context ? new_stream(c, context_legacy_stream(c->context)) : NULL;
    if (!c->default_stream) {
        hd_context_destroy(c);
        return HD_ERROR_OUT_OF_MEMORY;
    }
    *context = c;
    return HD_SUCCESS;
}

void hd_context_destroy(hd_context *c)
{
    if (!c)
        return;
    for (hd_stream *s = c->streams, *next; s; s = next) {
        next = s->next;
        if (s != c->default_stream)
            stream_destroy(s->stream);
        free(s);
    }
    context_destroy(c->context);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void forget_heap(void *machine, const struct mem_block *b)
{
    hd_machine *m = machine;
    if (m->checker)
        checker_memory(m->checker->checker, HOST_FORGET, (void *)(uintptr_t)b->start, b->size);
}

void hd_context_close(hd_context *c)
{
    if (!c)
        return;
    context_close(c->context);
    heap_leave(c->machine->machine, c->context, forget_heap, c->machine);
}

hd_result hd_context_status(hd_context *c)
{
    return c ? context_fault(c->context) : HD_ERROR_INVALID_VALUE;
}

void hd_context_fail(hd_context *c, hd_result fault)
{
    if (c && fault)
        context_fail(c->context, fault);
}

hd_result hd_context_synchronize(hd_context *c)
{
    if (!c)
        return HD_ERROR_INVALID_VALUE;
    if (!context_wait(c->context))
        return HD_ERROR_OUT_OF_MEMORY;
    return context_fault(c->context);
}

/* ---- streams ---- */

hd_stream *hd_context_default_stream(hd_context *c)
{
    return c ? c->default_stream : NULL;
}

hd_result hd_stream_create(hd_context *c, unsigned flags, hd_stream **stream)
{
    if (!c || !stream || (flags & ~(unsigned)HD_STREAM_NON_BLOCKING))
        return HD_ERROR_INVALID_VALUE;
    struct stream *made = stream_create(c->context, !(flags & HD_STREAM_NON_BLOCKING));
    *stream = new_stream(c, made);
    if (!*stream && made)
        stream_destroy(made);
    return *stream ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

void hd_stream_destroy(hd_stream *s)
{
    if (!s || s == s->context->default_stream)
        return;
    hd_context *c = s->context;
    pthread_mutex_lock(&c->lock);
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    pthread_mutex_unlock(&c->lock);
    stream_destroy(s->stream);
    free(s);
}

uint64_t hd_stream_number(const hd_stream *s)
{
    return s ? stream_number(s->stream) : 0;
}

hd_result hd_stream_query(hd_stream *s)
{
    if (!s)
        return HD_ERROR_INVALID_VALUE;
    bool done = stream_is_done(s->stream);
    hd_result fault = context_fault(s->context->context);
    if (fault || !done)
        return fault ? fault : HD_ERROR_NOT_READY;
    return hd_stream_synchronize(s); /* orders the completed work before the caller's next call */
}

bool hd_stream_is_done(hd_stream *s)
{
    return s && stream_is_done(s->stream);
}

void hd_stream_begin_batch(hd_stream *s)
{
    if (s)
        stream_begin_batch(s->stream);
}

void hd_stream_end_batch(hd_stream *s, unsigned n)
{
    if (s)
        stream_end_batch(s->stream, n);
}

hd_result hd_stream_synchronize(hd_stream *s)
{
    if (!s)
        return HD_ERROR_INVALID_VALUE;
    if (!stream_wait(s->stream))
        return HD_ERROR_OUT_OF_MEMORY;
    return context_fault(s->context->context);
}

/* ---- events ---- */

struct hd_event {
    pthread_mutex_t lock;
    struct task *task; /* the task whose end the event is, with a reference; NULL: never recorded */
};

hd_result hd_event_create(hd_event **event)
{
    hd_event *e = event ? calloc(1, sizeof *e) : NULL;
    if (!e)
        return event ? HD_ERROR_OUT_OF_MEMORY : HD_ERROR_INVALID_VALUE;
    pthread_mutex_init(&e->lock, NULL);
    *event = e;
    return HD_SUCCESS;
}

void hd_event_destroy(hd_event *e)
{
    if (!e)
        return;
    task_release(e->task);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

struct task *event_task(hd_event *e)
{
    pthread_mutex_lock(&e->lock);
    struct task *t = e->task;
    if (t)
        task_hold(t);
    pthread_mutex_unlock(&e->lock);
    return t;
}

void event_become(hd_event *e, struct task *t)
{
    pthread_mutex_lock(&e->lock);
    struct task *old = e->task;
    e->task = t;
    pthread_mutex_unlock(&e->lock);
    task_release(old);
}

static hd_result make_event(hd_event *e, const hd_stream *s, struct task *t)
{
    event_become(e, t);
    return context_fault(s->context->context);
}

hd_result hd_event_record(hd_event *e, hd_stream *s)
{
    if (!e || !s)
        return HD_ERROR_INVALID_VALUE;
    struct task *t = task_new(sizeof *t), *held;
    if (!t || !stream_put(s->stream, t, &held))
        return HD_ERROR_OUT_OF_MEMORY;
    return make_event(e, s, held);
}

hd_result hd_event_follow(hd_event *e, hd_stream *s)
{
    if (!e || !s)
        return HD_ERROR_INVALID_VALUE;
    return make_event(e, s, stream_last(s->stream));
}

hd_result hd_event_query(hd_event *e)
{
    if (!e)
        return HD_ERROR_INVALID_VALUE;
    struct task *t = event_task(e);
    bool done = !t || task_is_done(t);
    if (t && done)
        task_order_host(t);
    task_release(t);
    return done ? HD_SUCCESS : HD_ERROR_NOT_READY;
}

hd_result hd_event_synchronize(hd_event *e)
{
    if (!e)
        return HD_ERROR_INVALID_VALUE;
    struct task *t = event_task(e);
    if (t) {
        task_wait(t);
        task_order_host(t);
    }
    task_release(t);
    return HD_SUCCESS;
}

hd_result hd_stream_wait_event(hd_stream *s, hd_event *e)
{
    if (!s || !e)
        return HD_ERROR_INVALID_VALUE;
    struct task *earlier = event_task(e);
    bool ok = !earlier || stream_after(s->stream, earlier);
    task_release(earlier);
    return ok ? context_fault(s->context->context) : HD_ERROR_OUT_OF_MEMORY;
}

hd_result hd_event_elapsed(hd_event *start, hd_event *end, double *seconds)
{
    if (!start || !end || !seconds)
        return HD_ERROR_INVALID_VALUE;
    struct task *a = event_task(start), *b = event_task(end);
    hd_result r = !a || !b                               ? HD_ERROR_INVALID_VALUE
                  : !task_is_done(a) || !task_is_done(b) ? HD_ERROR_NOT_READY
                                                         : HD_SUCCESS;
    if (!r) {
        *seconds = b->time - a->time;
        task_order_host(a);
        task_order_host(b);
    }
    task_release(a);
    task_release(b);
    return r;
}
