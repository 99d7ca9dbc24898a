/* See queue.h. */
#include "exec/queue.h"

#include <stdlib.h>

#include "base/monotonic.h"
#include "base/spin_lock.h"
#include "exec/machine.h"
#include "exec/thread_pool.h"

enum { THROTTLE = 512, SPINS = 400 };

struct stream {
    struct job job; /* runs its tasks */
    struct context *context;
    struct stream *next, **link; /* in the context's list, where something has been put */
    bool blocking, closed;
    bool active;               /* its job has turns, or will have */
    uint32_t batches;          /* that have begun and not ended */
    uint64_t number, n_put;    /* n_put: since the mark */
    struct task *first, **end; /* not taken yet */
    struct task *last;         /* put last; held; NULL where it is known to be done */
    struct task *join;         /* not put yet: what the next task is to come after */
    struct task *mark;         /* one of the last THROTTLE tasks; held */
    uint32_t strand;           /* for order hooks */
    /* The job's, for whoever runs it: */
    struct task *taken; /* the first of them is to run, or runs */
    uint32_t n_awaited; /* of those it comes after, so many are done */
    bool asked, begun;  /* that one: it has its permit, or waits for it; its turns have begun */
    bool skips;         /* it, as nothing is to be done, or the context had a fault when it began */
    struct stream *next_awaiting;
};

/* The last task of a stream that has gone, as long as what comes after it has to be told. */
struct tail {
    struct task *last; /* held */
    bool blocking;
};

struct context {
    struct machine *machine;
    _Atomic uint32_t refs; /* its owner's, and its tasks' */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a task that somebody watches is done; no stream is active any more */
    struct stream *streams; /* that have a last task, or something to come after */
    struct stream *legacy;
    uint32_t n_active;
    VEC(struct tail) tails;
    _Atomic uint64_t n_streams;
    _Atomic int fault;
};

static void context_release(struct context *c)
{
    if (atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->changed);
    free(c);
}

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
    for (uint32_t i = 0; i < t->after.n; i++)
        task_release(t->after.at[i]);
    free(t->after.at);
    memset(&t->after, 0, sizeof t->after);
}

void task_release(struct task *t)
{
    if (!t || atomic_fetch_sub(&t->refs, 1) != 1)
        return;
    let_go(t);
    if (t->drop)
        t->drop(t);
    if (t->context)
        context_release(t->context);
    free(t);
}

/* The context's lock and condition are the task's as long as somebody may wait for it. */
static void set_context(struct task *t, struct context *c)
{
    t->context = c;
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
}

/* What is done matters only to those who look at the order. */
bool task_after(struct task *t, struct task *earlier)
{
    if (!earlier || (task_is_done(earlier) && !earlier->number))
        return true;
    struct task **new = VEC_ADD(&t->after);
    if (!new)
        return false;
    task_hold(earlier);
    *new = earlier;
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
    uint32_t *numbers = t->after.n ? malloc(t->after.n * sizeof *numbers) : NULL;
    for (uint32_t i = 0; numbers && i < t->after.n; i++)
        numbers[i] = t->after.at[i]->number;
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
    t->number = order->submit(order->data, &s->strand, &t->note, after, after ? t->after.n : 0);
    free(after);
}

/* The host has waited for what `t`, which is in no stream, waits for. */
static void order_wait(const struct context *c, const struct task *t)
{
    const struct order_hooks *order = order_of(c);
    uint32_t *after = order ? numbers_after(t) : NULL;
    if (after)
        order->wait(order->data, after, t->after.n);
    free(after);
}

void task_order_host(struct task *t)
{
    const struct order_hooks *order = t->number ? order_of(t->context) : NULL;
    if (order)
        order->wait(order->data, &t->number, 1);
}

/* ---- running ---- */

hd_result task_status(const struct task *t)
{
    return (hd_result)atomic_load(&t->context->fault);
}

static struct thread_pool *threads_of(const struct context *c)
{
    return c->machine->threads;
}

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
        thread_pool_put(threads_of(s->context), &s->job);
    }
}

/* The stream has its next turn when the task, which may be another context's, is done; false where it is done already. */
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
    return thread_pool_take_permit(threads_of(s->context), permit, &s->job);
}

static void give_permit(struct stream *s, const struct task *t)
{
    enum permit permit;
    if (is_permitted(t->note.kind, &permit))
        thread_pool_give_permit(threads_of(s->context), permit);
}

/* False where the task waits: then the stream may be having its next turn already. */
static bool begin(struct stream *s, struct task *t)
{
    const struct order_hooks *order = t->number ? order_of(s->context) : NULL;
    if (s->begun)
        return true;
    while (s->n_awaited < t->after.n)
        if (await(s, t->after.at[s->n_awaited++]))
            return false;
    if (!take_permit(s, t))
        return false;
    let_go(t);
    if (order)
        order->begin(order->data, t->number);
    s->skips = !t->turn || (!t->always && atomic_load(&s->context->fault));
    s->begun = true;
    return true;
}

static void end(struct stream *s, struct task *t)
{
    const struct order_hooks *order = t->number ? order_of(s->context) : NULL;
    if (order)
        order->end(order->data, t->number);
    give_permit(s, t);
    s->n_awaited = 0;
    s->asked = s->begun = false;
    s->taken = t->next;
    finish(t);
    task_release(t);
}

/* True where it is done. One that has begun goes on to its end, whatever the context's fault is meanwhile: it has to give back what it
 * holds. */
static bool have_turn(struct stream *s, struct task *t)
{
    struct context *c = s->context;
    hd_result fault = HD_SUCCESS;
    int none = HD_SUCCESS;
    if (s->skips)
        return true;
    bool done = t->turn(t, &fault);
    if (done && fault)
        atomic_compare_exchange_strong(&c->fault, &none, (int)fault);
    return done;
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

static void drop_tail(struct context *c, uint32_t i)
{
    task_release(c->tails.at[i].last);
    c->tails.at[i] = c->tails.at[--c->tails.n];
}

static void unlist(struct stream *s)
{
    if (!s->link)
        return;
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    s->link = NULL;
}

static void enlist(struct stream *s)
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

static void free_stream(struct stream *s)
{
    struct context *c = s->context;
    const struct order_hooks *order = order_of(c);
    if (s->last && s->last->number)
        keep_tail(c, s);
    if (order && s->strand)
        order->close(order->data, s->strand);
    unlist(s);
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
            free_stream(s);
        if (--c->n_active == 0)
            pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return t;
}

static void run_stream(struct job *job)
{
    struct stream *s = (struct stream *)job;
    struct thread_pool *threads = threads_of(s->context);
    for (struct task *t; (t = next_task(s));) {
        if (!begin(s, t))
            return;
        bool done = have_turn(s, t);
        if (done)
            end(s, t);
        if (!done || thread_pool_is_crowded(threads)) {
            thread_pool_put(threads, job);
            return;
        }
    }
}

/* ---- streams ---- */

struct stream *stream_create(struct context *c, bool blocking)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->job.turn = run_stream;
    s->context = c;
    s->blocking = blocking;
    s->end = &s->first;
    s->number = atomic_fetch_add(&c->n_streams, 1) + 1;
    return s;
}

static void append(struct stream *s, struct task *t)
{
    *s->end = t;
    s->end = &t->next;
    task_release(s->last);
    s->last = t;
    s->n_put += !s->batches;
    task_hold(t);
    enlist(s);
    if (!s->active) {
        s->active = true;
        s->context->n_active++;
        thread_pool_put(threads_of(s->context), &s->job);
    }
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
    for_implicit(s, task_after, t); /* where memory is exhausted, the next task will not be put, either */
    order_submit(t, s);
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
        unlist(s);
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
        free_stream(s);
    pthread_mutex_unlock(&c->lock);
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

/* The legacy stream is behind blocking streams that have gone: what comes after it need not be told of them. */
static void forget_tails(struct stream *s)
{
    struct context *c = s->context;
    for (uint32_t i = s == c->legacy ? c->tails.n : 0; i-- > 0;)
        if (c->tails.at[i].blocking)
            drop_tail(c, i);
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

/* The task comes after all that it has to; false, with nothing changed, where memory is exhausted. */
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
    set_context(t, c);
    pthread_mutex_lock(&c->lock);
    bool ok = thread_pool_is_ready(threads_of(c)) && find_earlier(s, t);
    if (ok && held) {
        *held = t;
        task_hold(t);
    }
    if (ok) {
        order_submit(t, s);
        forget_tails(s);
        append(s, t);
        earlier = throttle(s);
    }
    pthread_mutex_unlock(&c->lock);
    if (!ok)
        task_release(t);
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
        set_context(s->join, c);
    bool ok = s->join && task_after(s->join, earlier) && thread_pool_is_ready(threads_of(c));
    enlist(s);
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
    bool idle = !s->join && !is_busy(s) && for_implicit(s, is_done, NULL);
    pthread_mutex_unlock(&s->context->lock);
    return idle;
}

bool stream_is_watched(const struct stream *s)
{
    return order_of(s->context) != NULL;
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
        drop_tail(c, 0);
    free(c->tails.at);
    pthread_mutex_unlock(&c->lock);
    context_release(c);
}

/* What began to be put before the fault was there is waited for, too; what is put later does not run. */
void context_close(struct context *c)
{
    int none = HD_SUCCESS;
    context_wait(c);
    atomic_compare_exchange_strong(&c->fault, &none, HD_ERROR_CONTEXT_IS_DESTROYED);
    context_wait(c);
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
    for (struct stream *s = c->streams, *next; s && ok; s = next) {
        next = s->next;
        ok = task_after(t, last_of(s));
    }
    for (; c->tails.n && ok; drop_tail(c, c->tails.n - 1))
        ok = task_after(t, c->tails.at[c->tails.n - 1].last);
    pthread_mutex_unlock(&c->lock);
    return wait_for_all(c, t, ok);
}
