/* See queue.h. */
#include "exec/queue.h"

#include <stdlib.h>

#include "base/monotonic.h"
#include "base/spin_lock.h"
#include "exec/machine.h"
#include "exec/worker.h"

enum { THROTTLE = 512, SPINS = 400 };

struct stream {
    struct context *context;
    struct stream *next; /* in the context's list */
    bool blocking, closed, sleeping, started;
    uint64_t number, n_put;
    struct task *first, **end; /* not taken yet */
    struct task *last;         /* put last; held; NULL where it is known to be done */
    struct task *mark;         /* one of the last THROTTLE tasks; held */
    uint32_t strand;           /* for order hooks */
    pthread_cond_t wake;
};

/* The last task of a stream that has gone, as long as what comes after it has to be told. */
struct tail {
    struct task *last; /* held */
    bool blocking;
};

struct context {
    struct machine *machine;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a task that somebody watches is done; a stream has gone */
    struct stream *streams; /* with the closed ones that still have tasks */
    struct stream *legacy;
    struct tail *tails;
    uint32_t n_tails, cap_tails;
    _Atomic uint64_t n_streams;
    _Atomic int fault;
};

/* ---- tasks ---- */

struct task *task_new(size_t bytes)
{
    struct task *t = calloc(1, bytes);
    if (t)
        t->refs = 1;
    return t;
}

void task_hold(struct task *t)
{
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
}

static void let_go(struct task *t)
{
    for (uint32_t i = 0; i < t->n_after; i++)
        task_release(t->after[i]);
    free(t->after);
    t->after = NULL;
    t->n_after = t->cap_after = 0;
}

void task_release(struct task *t)
{
    if (!t || atomic_fetch_sub(&t->refs, 1) != 1)
        return;
    let_go(t);
    if (t->drop)
        t->drop(t);
    free(t);
}

/* What is done matters only to those who look at the order. */
bool task_after(struct task *t, struct task *earlier)
{
    if (!earlier || (task_is_done(earlier) && !earlier->number))
        return true;
    if (t->n_after == t->cap_after) {
        uint32_t cap = t->cap_after ? 2 * t->cap_after : 4;
        struct task **more = realloc(t->after, cap * sizeof(struct task *));
        if (!more)
            return false;
        t->after = more;
        t->cap_after = cap;
    }
    task_hold(earlier);
    t->after[t->n_after++] = earlier;
    return true;
}

bool task_is_done(const struct task *t)
{
    return atomic_load(&t->done);
}

/* Short tasks are awaited without sleeping. */
void task_wait(struct task *t)
{
    for (int i = 0; i < SPINS; i++) {
        if (task_is_done(t))
            return;
        spin_pause();
    }
    struct context *c = t->context;
    pthread_mutex_lock(&c->lock);
    atomic_store(&t->watched, true);
    while (!task_is_done(t))
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

/* ---- the order of tasks, for those who look at it ---- */

static const struct order_hooks *order_of(const struct context *c)
{
    return atomic_load_explicit(&c->machine->order, memory_order_acquire);
}

/* The numbers of what it waits for, to be freed; NULL where there are none, or memory is exhausted. */
static uint32_t *numbers_after(const struct task *t)
{
    uint32_t *numbers = t->n_after ? malloc(t->n_after * sizeof *numbers) : NULL;
    for (uint32_t i = 0; numbers && i < t->n_after; i++)
        numbers[i] = t->after[i]->number;
    return numbers;
}

/* With the context's lock held, so that numbers are in the order of the stream. */
static void order_submit(struct task *t, struct stream *s)
{
    const struct order_hooks *order = order_of(t->context);
    if (!order)
        return;
    uint32_t *after = numbers_after(t);
    t->note.stream = s->number;
    t->number = order->submit(order->data, &s->strand, &t->note, after, after ? t->n_after : 0);
    free(after);
}

/* The host has waited for what `t`, which is in no stream, waits for. */
static void order_wait(const struct context *c, const struct task *t)
{
    const struct order_hooks *order = order_of(c);
    uint32_t *after = order ? numbers_after(t) : NULL;
    if (after)
        order->wait(order->data, after, t->n_after);
    free(after);
}

void task_order_host(struct task *t)
{
    const struct order_hooks *order = order_of(t->context);
    if (order && t->number)
        order->wait(order->data, &t->number, 1);
}

/* ---- running ---- */

hd_result task_status(const struct task *t)
{
    return (hd_result)atomic_load(&t->context->fault);
}

static void finish(struct task *t)
{
    struct context *c = t->context;
    t->time = seconds_now();
    atomic_store(&t->done, true);
    if (atomic_load(&t->watched)) {
        pthread_mutex_lock(&c->lock);
        pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->lock);
    }
}

static void run_task(struct task *t, struct worker *k)
{
    struct context *c = t->context;
    for (uint32_t i = 0; i < t->n_after; i++)
        task_wait(t->after[i]);
    let_go(t);
    const struct order_hooks *order = t->number ? order_of(c) : NULL;
    if (order)
        order->begin(order->data, t->number);
    if (t->run && (t->always || !atomic_load(&c->fault))) {
        int none = HD_SUCCESS, fault = t->run(t, k);
        if (fault)
            atomic_compare_exchange_strong(&c->fault, &none, fault);
    }
    if (order)
        order->end(order->data, t->number);
    finish(t);
}

/* ---- a stream's thread ---- */

/* What comes after a stream that has gone is not told of it by the stream any more. */
static void keep_tail(struct context *c, struct stream *s)
{
    if (c->n_tails == c->cap_tails) {
        uint32_t cap = c->cap_tails ? 2 * c->cap_tails : 8;
        struct tail *more = realloc(c->tails, cap * sizeof *more);
        if (!more)
            return;
        c->tails = more;
        c->cap_tails = cap;
    }
    task_hold(s->last);
    c->tails[c->n_tails++] = (struct tail){s->last, s->blocking};
}

static void drop_tail(struct context *c, uint32_t i)
{
    task_release(c->tails[i].last);
    c->tails[i] = c->tails[--c->n_tails];
}

static void free_stream(struct stream *s)
{
    struct context *c = s->context;
    struct stream **link = &c->streams;
    const struct order_hooks *order = order_of(c);
    if (s->last && s->last->number)
        keep_tail(c, s);
    if (order && s->strand)
        order->close(order->data, s->strand);
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
    task_release(s->last);
    task_release(s->mark);
    pthread_cond_destroy(&s->wake);
    free(s);
    pthread_cond_broadcast(&c->changed);
}

static struct task *take_all(struct stream *s)
{
    struct task *all = s->first;
    s->first = NULL;
    s->end = &s->first;
    return all;
}

static void *stream_main(void *data)
{
    struct stream *s = data;
    struct context *c = s->context;
    struct worker *k = worker_create(c->machine);
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!s->first && !s->closed) {
            s->sleeping = true;
            pthread_cond_wait(&s->wake, &c->lock);
        }
        s->sleeping = false;
        if (!s->first)
            break;
        struct task *t = take_all(s);
        pthread_mutex_unlock(&c->lock);
        while (t) {
            struct task *next = t->next;
            run_task(t, k);
            task_release(t);
            t = next;
        }
        pthread_mutex_lock(&c->lock);
    }
    worker_destroy(k);
    free_stream(s);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static bool start(struct stream *s)
{
    pthread_t thread;
    if (!s->started && pthread_create(&thread, NULL, stream_main, s) == 0) {
        pthread_detach(thread);
        s->started = true;
    }
    return s->started;
}

/* ---- streams ---- */

struct stream *stream_create(struct context *c, bool blocking)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->context = c;
    s->blocking = blocking;
    s->end = &s->first;
    pthread_cond_init(&s->wake, NULL);
    pthread_mutex_lock(&c->lock);
    s->number = ++c->n_streams;
    s->next = c->streams;
    c->streams = s;
    pthread_mutex_unlock(&c->lock);
    return s;
}

void stream_destroy(struct stream *s)
{
    struct context *c = s->context;
    pthread_mutex_lock(&c->lock);
    s->closed = true;
    if (s->started)
        pthread_cond_signal(&s->wake);
    else
        free_stream(s);
    pthread_mutex_unlock(&c->lock);
}

/* The stream's last task, done or not; NULL where it matters to nobody any more. */
static struct task *last_of(struct stream *s)
{
    if (s->last && task_is_done(s->last) && !s->last->number) {
        task_release(s->last);
        s->last = NULL;
    }
    return s->last;
}

static bool is_busy(struct stream *s)
{
    return last_of(s) && !task_is_done(s->last);
}

/* The rule of the legacy default stream: calls `each` for the last tasks that a new one of s has to wait for; stops
 * where it says false. */
static bool for_implicit(struct stream *s, bool (*each)(struct task *, struct task *), struct task *t)
{
    struct context *c = s->context;
    if (s != c->legacy)
        return !s->blocking || each(t, last_of(c->legacy));
    for (struct stream *o = c->streams; o; o = o->next)
        if (o != s && o->blocking && !each(t, last_of(o)))
            return false;
    for (uint32_t i = 0; i < c->n_tails; i++)
        if (c->tails[i].blocking && !each(t, c->tails[i].last))
            return false;
    return true;
}

static bool is_done(struct task *t, struct task *earlier)
{
    (void)t;
    return !earlier || task_is_done(earlier);
}

/* The legacy stream is behind blocking streams that have gone: what comes after it need not be told of them. */
static void forget_tails(struct stream *s)
{
    struct context *c = s->context;
    for (uint32_t i = s == c->legacy ? c->n_tails : 0; i-- > 0;)
        if (c->tails[i].blocking)
            drop_tail(c, i);
}

static void append(struct stream *s, struct task *t)
{
    *s->end = t;
    s->end = &t->next;
    task_release(s->last);
    s->last = t;
    task_hold(t);
    if (s->sleeping)
        pthread_cond_signal(&s->wake);
}

/* Every THROTTLE tasks, the one put that long ago has to be done. */
static struct task *throttle(struct stream *s, struct task *t)
{
    if (++s->n_put % THROTTLE != 0)
        return NULL;
    struct task *earlier = s->mark;
    s->mark = t;
    task_hold(t);
    return earlier;
}

bool stream_put(struct stream *s, struct task *t, struct task **held)
{
    struct context *c = s->context;
    struct task *earlier = NULL;
    t->context = c;
    pthread_mutex_lock(&c->lock);
    bool ok = for_implicit(s, task_after, t) && start(s);
    if (ok && held) {
        *held = t;
        task_hold(t);
    }
    if (ok) {
        order_submit(t, s);
        forget_tails(s);
        append(s, t);
        earlier = throttle(s, t);
    }
    pthread_mutex_unlock(&c->lock);
    if (!ok)
        task_release(t);
    if (earlier) {
        task_wait(earlier);
        task_release(earlier);
    }
    return ok;
}

/* Waits for what `t`, which has not been put, would wait for. */
static bool wait_for_all(struct context *c, struct task *t, bool ok)
{
    for (uint32_t i = 0; ok && i < t->n_after; i++)
        task_wait(t->after[i]);
    if (ok)
        order_wait(c, t);
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
    bool idle = !order_of(s->context) && !is_busy(s) && for_implicit(s, is_done, NULL);
    pthread_mutex_unlock(&s->context->lock);
    return idle;
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
    c->machine = m;
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
    pthread_mutex_lock(&c->lock);
    for (struct stream *s = c->streams, *next; s; s = next) {
        next = s->next;
        s->closed = true;
        if (s->started)
            pthread_cond_signal(&s->wake);
        else
            free_stream(s);
    }
    while (c->streams)
        pthread_cond_wait(&c->changed, &c->lock);
    while (c->n_tails)
        drop_tail(c, 0);
    free(c->tails);
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->changed);
    free(c);
}

struct stream *context_legacy_stream(struct context *c)
{
    return c->legacy;
}

hd_result context_fault(struct context *c)
{
    return (hd_result)atomic_load(&c->fault);
}

bool context_wait(struct context *c)
{
    struct task *t = task_new(sizeof *t);
    bool ok = t != NULL;
    pthread_mutex_lock(&c->lock);
    for (struct stream *s = c->streams; s && ok; s = s->next)
        ok = task_after(t, last_of(s));
    for (; c->n_tails && ok; drop_tail(c, c->n_tails - 1))
        ok = task_after(t, c->tails[c->n_tails - 1].last);
    pthread_mutex_unlock(&c->lock);
    return wait_for_all(c, t, ok);
}
