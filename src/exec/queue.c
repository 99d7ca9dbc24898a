/* See queue.h. */
#include "exec/streams.h"

#include <stdlib.h>

enum { THROTTLE = 512 };

/* ---- streams ---- */

struct stream *stream_create_within(struct context *c, uint64_t number)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->job.turn = stream_turn;
    s->context = c;
    s->end = &s->first;
    s->batches = 1;
    s->number = number;
    return s;
}

struct stream *stream_create(struct context *c, bool blocking)
{
    struct stream *s = stream_create_within(c, atomic_fetch_add(&c->n_streams, 1) + 1);
    if (!s)
        return NULL;
    s->blocking = blocking;
    s->batches = 0;
    return s;
}

/* True where the stream's job has no turn to come yet. */
static bool append_task(struct stream *s, struct task *t)
{
    *s->end = t;
    s->end = &t->next;
    task_release(s->last);
    s->last = t;
    s->n_put += !s->batches;
    task_hold(t);
    stream_enlist(s);
    if (s->active)
        return false;
    s->active = true;
    s->context->n_active++;
    return true;
}

static void append(struct stream *s, struct task *t)
{
    if (append_task(s, t))
        thread_pool_put(context_threads(s->context), &s->job);
}

static bool for_implicit(struct stream *s, bool (*each)(struct task *, struct task *), struct task *t);
static void forget_tails(struct stream *s);

/* What the next task is to come after becomes a moment of the stream: there may be no next task. */
static void put_join(struct stream *s)
{
    struct task *t = s->join;
    s->join = NULL;
    if (!t)
        return;
    /* Where memory is exhausted, the next task will not be put, either. */
    for_implicit(s, task_after, t);
    task_order_submit(t, s);
    forget_tails(s);
    append(s, t);
}

/* The stream's last task, done or not; NULL where it matters to nobody any more. */
static struct task *last_of(struct stream *s)
{
    put_join(s);
    if (s->last && task_is_done(s->last) && !s->last->number) {
        task_release(s->last);
        s->last = NULL;
        stream_unlist(s);
    }
    return s->last;
}

struct task *stream_last(struct stream *s)
{
    pthread_mutex_lock(&s->context->lock);
    struct task *last = last_of(s);
    if (last)
        task_hold(last);
    pthread_mutex_unlock(&s->context->lock);
    return last;
}

void stream_destroy(struct stream *s)
{
    struct context *c = s->context;
    pthread_mutex_lock(&c->lock);
    put_join(s);
    s->closed = true;
    if (!s->active)
        stream_free(s);
    pthread_mutex_unlock(&c->lock);
}

static bool is_busy(struct stream *s)
{
    return last_of(s) && !task_is_done(s->last);
}

/* The rule of the legacy default stream: calls `each` for the last tasks that a new one of s has to
 * wait for; stops where it says false. */
static bool for_implicit(struct stream *s, bool (*each)(struct task *, struct task *), struct task *t)
{
    struct context *c = s->context;
    if (s != c->legacy)
        return !s->blocking || each(t, last_of(c->legacy));
    for (struct stream *o = c->streams, *next; o; o = next) {
        next = o->next;
        if (o != s && o->blocking && !each(t, last_of(o)))
            return false;
    }
    for (uint32_t i = 0; i < c->tails.n; i++)
        if (c->tails.at[i].blocking && !each(t, c->tails.at[i].last))
            return false;
    return true;
}

static bool is_done(struct task *t, struct task *earlier)
{
    (void)t;
    return !earlier || task_is_done(earlier);
}

/* The legacy stream is behind blocking streams that have gone: what comes after it need not be told
 * of them. */
static void forget_tails(struct stream *s)
{
    struct context *c = s->context;
    for (uint32_t i = s == c->legacy ? c->tails.n : 0; i-- > 0;)
        if (c->tails.at[i].blocking)
            context_drop_tail(c, i);
}

/* Every THROTTLE tasks, the one put that long ago has to be done: it is returned, held. */
static struct task *throttle(struct stream *s)
{
    if (s->batches || s->n_put < THROTTLE)
        return NULL;
    struct task *earlier = s->mark;
    s->n_put = 0;
    s->mark = s->last;
    if (s->mark)
        task_hold(s->mark);
    return earlier;
}

static void wait_and_release(struct task *t)
{
    if (t)
        task_wait(t);
    task_release(t);
}

/* The task comes after all that it has to; false, with nothing changed,
 * where memory is exhausted. */
static bool find_earlier(struct stream *s, struct task *t)
{
    struct task *join = s->join;
    s->join = NULL;
    if (!for_implicit(s, task_after, join ? join : t)) {
        s->join = join;
        return false;
    }
    if (join) {
        t->after = join->after;
        context_release(join->context);
        free(join);
    }
    return true;
}

bool stream_put(struct stream *s, struct task *t, struct task **held)
{
    struct context *c = s->context;
    struct task *earlier = NULL;
    bool runs = false;
    task_set_context(t, c);
    pthread_mutex_lock(&c->lock);
    bool ok = thread_pool_is_ready(context_threads(c)) && find_earlier(s, t);
    if (ok && held) {
        *held = t;
        task_hold(t);
    }
    if (ok) {
        task_order_submit(t, s);
        forget_tails(s);
        t->brief &= !s->active && !t->number && !t->after.n;
        runs = t->brief;
        runs ? (void)append_task(s, t) : append(s, t);
        earlier = throttle(s);
    }
    pthread_mutex_unlock(&c->lock);
    if (!ok)
        task_release(t);
    if (runs)
        stream_turn_once(s);
    wait_and_release(earlier);
    return ok;
}

bool stream_after(struct stream *s, struct task *earlier)
{
    struct context *c = s->context;
    if (task_is_done(earlier) && !earlier->number)
        return true;
    pthread_mutex_lock(&c->lock);
    if (!s->join && (s->join = task_new(sizeof *s->join)))
        task_set_context(s->join, c);
    bool ok = s->join && task_after(s->join, earlier) && thread_pool_is_ready(context_threads(c));
    stream_enlist(s);
    pthread_mutex_unlock(&c->lock);
    return ok;
}

void stream_begin_batch(struct stream *s)
{
    pthread_mutex_lock(&s->context->lock);
    s->batches++;
    pthread_mutex_unlock(&s->context->lock);
}

void stream_end_batch(struct stream *s, uint32_t n)
{
    pthread_mutex_lock(&s->context->lock);
    s->batches--;
    s->n_put += n;
    struct task *earlier = throttle(s);
    pthread_mutex_unlock(&s->context->lock);
    wait_and_release(earlier);
}

/* Waits for what `t`, which has not been put, would wait for. */
static bool wait_for_all(struct context *c, struct task *t, bool ok)
{
    for (uint32_t i = 0; ok && i < t->after.n; i++)
        task_wait(t->after.at[i]);
    if (ok)
        task_order_wait(c, t);
    task_release(t);
    return ok;
}

bool stream_wait(struct stream *s)
{
    struct task *t = task_new(sizeof *t);
    pthread_mutex_lock(&s->context->lock);
    bool ok = t && task_after(t, last_of(s)) && (s != s->context->legacy || for_implicit(s, task_after, t));
    pthread_mutex_unlock(&s->context->lock);
    return wait_for_all(s->context, t, ok);
}

bool stream_is_idle(struct stream *s)
{
    pthread_mutex_lock(&s->context->lock);
    bool idle = !s->join && !is_busy(s) && for_implicit(s, is_done, NULL);
    pthread_mutex_unlock(&s->context->lock);
    return idle;
}

bool stream_is_watched(const struct stream *s)
{
    return context_order(s->context) != NULL;
}

bool stream_is_done(struct stream *s)
{
    pthread_mutex_lock(&s->context->lock);
    bool done = !is_busy(s) && (s != s->context->legacy || for_implicit(s, is_done, NULL));
    pthread_mutex_unlock(&s->context->lock);
    return done;
}

uint64_t stream_number(const struct stream *s)
{
    return s->number;
}

/* ---- contexts ---- */

struct context *context_create(struct machine *m)
{
    struct context *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    static _Atomic uint64_t numbers;
    c->machine = m;
    c->number = atomic_fetch_add(&numbers, 1) + 1;
    c->refs = 1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    c->legacy = stream_create(c, false);
    if (!c->legacy) {
        context_destroy(c);
        return NULL;
    }
    return c;
}

void context_destroy(struct context *c)
{
    if (!c)
        return;
    if (c->legacy)
        stream_destroy(c->legacy);
    pthread_mutex_lock(&c->lock);
    while (c->n_active)
        pthread_cond_wait(&c->changed, &c->lock);
    while (c->tails.n)
        context_drop_tail(c, 0);
    free(c->tails.at);
    pthread_mutex_unlock(&c->lock);
    context_release(c);
}

/* What began to be put before the fault was there is waited for, too; what is put later does not
 * run. */
void context_close(struct context *c)
{
    int none = HD_SUCCESS;
    context_wait(c);
    atomic_compare_exchange_strong(&c->fault, &none, HD_ERROR_CONTEXT_IS_DESTROYED);
    context_wait(c);
}

void context_fail(struct context *c, hd_result fault)
{
    int none = HD_SUCCESS;
    if (atomic_compare_exchange_strong(&c->fault, &none, (int)fault) && fault_ends_context(fault))
        machine_cancel(c->machine, c);
}

uint64_t context_number(const struct context *c)
{
    return c->number;
}

struct stream *context_legacy_stream(struct context *c)
{
    return c->legacy;
}

bool context_wait(struct context *c)
{
    struct task *t = task_new(sizeof *t);
    bool ok = t != NULL;
    pthread_mutex_lock(&c->lock);
    for (struct stream *s = c->streams, *next; s && ok; s = next) {
        next = s->next;
        ok = task_after(t, last_of(s));
    }
    for (; c->tails.n && ok; context_drop_tail(c, c->tails.n - 1))
        ok = task_after(t, c->tails.at[c->tails.n - 1].last);
    pthread_mutex_unlock(&c->lock);
    return wait_for_all(c, t, ok);
}
