/* Running the tasks of streams; see queue.h and streams.h. */
#include "exec/streams.h"

#include <stdlib.h>

#include "base/monotonic.h"

static void finish(struct task *t)
{
    struct context *c = t->context;
    t->time = seconds_now();
    atomic_store(&t->done, true);
    if (!atomic_load(&t->watched))
        return;
    pthread_mutex_lock(&c->lock);
    struct stream *s = t->awaiting;
    t->awaiting = NULL;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    for (struct stream *next; s; s = next) {
        next = s->next_awaiting;
        thread_pool_put(context_threads(s->context), &s->job);
    }
}

/* The stream has its next turn when the task, which may be another context's, is done; false where
 * it is done already. */
static bool await(struct stream *s, struct task *t)
{
    struct context *c = t->context;
    if (task_is_done(t))
        return false;
    pthread_mutex_lock(&c->lock);
    atomic_store(&t->watched, true);
    bool waits = !task_is_done(t);
    if (waits) {
        s->next_awaiting = t->awaiting;
        t->awaiting = s;
    }
    pthread_mutex_unlock(&c->lock);
    return waits;
}

static bool is_permitted(enum task_kind kind, enum permit *permit)
{
    *permit = kind == TASK_LAUNCH ? PERMIT_LAUNCH : PERMIT_CALL;
    return kind == TASK_LAUNCH || kind == TASK_CALL;
}

/* False where the stream has its next turn when it may have a permit, and has it then. */
static bool take_permit(struct stream *s, const struct task *t)
{
    enum permit permit;
    if (!is_permitted(t->note.kind, &permit) || s->asked)
        return true;
    s->asked = true;
    return thread_pool_take_permit(context_threads(s->context), permit, &s->job);
}

static void give_permit(struct stream *s, const struct task *t)
{
    enum permit permit;
    if (is_permitted(t->note.kind, &permit))
        thread_pool_give_permit(context_threads(s->context), permit);
}

/* False where the task waits: then the stream may be having its next turn already. */
static bool begin(struct stream *s, struct task *t)
{
    const struct order_hooks *order = t->number ? context_order(s->context) : NULL;
    while (s->n_awaited < t->after.n)
        if (await(s, t->after.at[s->n_awaited++]))
            return false;
    if (!s->begun && !take_permit(s, t))
        return false;
    task_let_go(t);
    s->n_awaited = 0;
    if (s->begun)
        return true;
    if (order)
        order->begin(order->data, t->number);
    s->skips = !t->turn || (!t->always && atomic_load(&s->context->fault));
    s->begun = true;
    return true;
}

static void end(struct stream *s, struct task *t)
{
    const struct order_hooks *order = t->number ? context_order(s->context) : NULL;
    if (order)
        order->end(order->data, t->number);
    s->n_awaited = 0;
    s->asked = s->begun = s->turned = false;
    s->taken = t->next;
    finish(t);
    task_release(t);
}

/* True where it is done. One that has begun goes on to its end, whatever the context's fault is
 * meanwhile: it has to give back what it holds. The first fault ends the launches that run, as the
 * device's does. */
static bool have_turn(struct stream *s, struct task *t)
{
    hd_result fault = HD_SUCCESS;
    if (s->turned)
        return true;
    bool done = s->skips || t->turn(t, &fault);
    if (done && fault)
        context_fail(s->context, fault);
    if (done)
        give_permit(s, t);
    s->turned = done;
    return done;
}

/* False where the stream has its next turn when one of them is done. */
static bool await_parts(struct stream *s, struct task *t)
{
    bool waits = false;
    for (struct task *part; !waits && !s->skips && t->part && (part = t->part(t)); task_release(part))
        waits = await(s, part);
    return !waits;
}

/* ---- a stream's turns ---- */

/* What comes after a stream that has gone is not told of it by the stream any more. */
static void keep_tail(struct context *c, struct stream *s)
{
    struct tail *tail = VEC_ADD(&c->tails);
    if (!tail)
        return;
    task_hold(s->last);
    *tail = (struct tail){s->last, s->blocking};
}

void context_drop_tail(struct context *c, uint32_t i)
{
    task_release(c->tails.at[i].last);
    c->tails.at[i] = c->tails.at[--c->tails.n];
}

void stream_unlist(struct stream *s)
{
    if (!s->link)
        return;
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    s->link = NULL;
}

void stream_enlist(struct stream *s)
{
    struct context *c = s->context;
    if (s->link)
        return;
    s->next = c->streams;
    s->link = &c->streams;
    if (s->next)
        s->next->link = &s->next;
    c->streams = s;
}

void stream_free(struct stream *s)
{
    struct context *c = s->context;
    const struct order_hooks *order = context_order(c);
    if (s->last && s->last->number)
        keep_tail(c, s);
    if (order && s->timeline)
        order->close(order->data, s->timeline);
    stream_unlist(s);
    task_release(s->last);
    task_release(s->mark);
    free(s);
}

/* What the stream is to run next; NULL where it rests, or has gone. */
static struct task *next_task(struct stream *s)
{
    struct context *c = s->context;
    if (s->taken)
        return s->taken;
    pthread_mutex_lock(&c->lock);
    struct task *t = s->taken = s->first;
    s->first = NULL;
    s->end = &s->first;
    if (!t) {
        s->active = false;
        if (s->closed)
            stream_free(s);
        if (--c->n_active == 0)
            pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return t;
}

void stream_turn_once(struct stream *s)
{
    struct task *t = next_task(s);
    if (!begin(s, t))
        return;
    bool done = have_turn(s, t);
    if (done && !await_parts(s, t))
        return;
    if (done)
        end(s, t);
    if (!done || next_task(s))
        thread_pool_put(context_threads(s->context), &s->job);
}

void stream_turn(struct job *job)
{
    struct stream *s = (struct stream *)job;
    struct thread_pool *threads = context_threads(s->context);
    for (struct task *t; (t = next_task(s));) {
        if (!begin(s, t))
            return;
        bool done = have_turn(s, t);
        if (done && !await_parts(s, t))
            return;
        if (done)
            end(s, t);
        if (!done || thread_pool_is_crowded(threads)) {
            thread_pool_put(threads, job);
            return;
        }
    }
}
