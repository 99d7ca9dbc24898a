/* Grids that launch grids: their beginning and their end; see nested.h. */
#include "api/nest.h"

#include <stdlib.h>

/* ---- life ---- */

static _Atomic uint64_t numbers;

bool nest_was_numbered(uint64_t number)
{
    return number && number <= atomic_load(&numbers);
}

struct nest *nest_new(hd_context *c, hd_module *m, const char *kernel)
{
    struct nest *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->nested = (struct nested){c->nested_hooks, n};
    n->context = c;
    n->module = m;
    module_hold(m);
    n->kernel = kernel;
    n->number = atomic_fetch_add(&numbers, 1) + 1;
    pthread_mutex_init(&n->lock, NULL);
    return n;
}

static void release_all(struct task *const *at, uint32_t *n)
{
    for (uint32_t i = 0; i < *n; i++)
        task_release(at[i]);
    *n = 0;
}

void nest_empty(struct nest *n)
{
    nest_destroy_streams(n);
    for (uint32_t i = 0; i < n->parameters.n; i++)
        mem_free(&nest_engine(n)->mem, (void *)(uintptr_t)n->parameters.at[i].address);
    n->parameters.n = 0;
    release_all(n->events.at, &n->events.n);
    release_all(n->tails.at, &n->tails.n);
}

void nest_free(struct nest *n)
{
    if (!n)
        return;
    nest_uncount(n);
    nest_empty(n);
    module_release(n->module);
    release_all(n->parts.at, &n->parts.n);
    free(n->events.at);
    free(n->parts.at);
    free(n->tails.at);
    free(n->parameters.at);
    free(n->streams.at);
    free(n->done.at);
    free(n->errors.at);
    pthread_mutex_destroy(&n->lock);
    free(n);
}

const struct nested *nest_calls(const struct nest *n)
{
    return &n->nested;
}

void nest_begin(struct nest *n, const struct launch_request *q, uint64_t stream)
{
    n->request = q;
    n->task = q->task;
    n->stream = stream;
}

hd_machine *nest_machine(const struct nest *n)
{
    return n->context->machine;
}

void nest_tell_limits(hd_context *c, const size_t *limits)
{
    c->limits = limits;
}

const size_t *nest_limits(const struct nest *n)
{
    return n->context->limits;
}

/* ---- the end of a grid ---- */

void nest_uncount_pending(struct machine *m)
{
    atomic_fetch_sub(&m->pending_launches, 1);
    atomic_fetch_add(&m->ended_launches, 1);
}

void nest_uncount(struct nest *n)
{
    if (n->is_pending)
        nest_uncount_pending(nest_engine(n));
    n->is_pending = false;
}

/* Releases complete parts, which are no longer needed, when there are many. */
bool nest_add_part(struct nest *n, struct task *t)
{
    if (n->parts.n == n->parts.capacity) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n->parts.n; i++)
            if (task_is_done(n->parts.at[i]) && !n->parts.at[i]->number)
                task_release(n->parts.at[i]);
            else
                n->parts.at[kept++] = n->parts.at[i];
        n->parts.n = kept;
    }
    struct task **new = VEC_ADD(&n->parts);
    if (new)
        *new = t;
    return new;
}

/* An incomplete part, with a reference. Releases complete ones, but keeps their numbers for the
 * order of tasks. */
static struct task *pending_part(struct nest *n)
{
    while (n->parts.n) {
        struct task *t = n->parts.at[--n->parts.n];
        uint32_t *number = t->number ? VEC_ADD(&n->done) : NULL;
        if (number)
            *number = t->number;
        if (!task_is_done(t))
            return t;
        task_release(t);
    }
    return NULL;
}

/* What follows the grid is ordered behind the completed tasks that it launched. */
static void order_done(struct nest *n)
{
    const struct order_hooks *order = atomic_load(&nest_engine(n)->order);
    const struct task_note note = {.kind = TASK_MARK, .stream = n->stream, .by = n->task};
    uint32_t timeline = 0;
    if (order && n->task && n->done.n) {
        uint32_t join = order->submit(order->data, &timeline, &note, n->done.at, n->done.n);
        order->begin(order->data, join);
        order->end(order->data, join);
        order->learn(order->data, n->task, join);
        order->close(order->data, timeline);
    }
    n->done.n = 0;
}

/* Submits the tail launches to one stream: they run in order, each with all that it launches. */
static void put_tails(struct nest *n)
{
    struct stream *s = n->tails.n ? nest_new_stream(n) : NULL;
    for (uint32_t i = 0; i < n->tails.n; i++) {
        struct task *held = NULL;
        if (!s)
            task_release(n->tails.at[i]);
        bool put = s && stream_put(s, n->tails.at[i], &held);
        n->no_memory |= !put || !nest_add_part(n, held);
    }
    n->tails.n = 0;
    if (s)
        stream_destroy(s);
    if (n->no_memory)
        context_fail(n->context->context, HD_ERROR_OUT_OF_MEMORY);
}

struct task *nest_part(struct nest *n)
{
    struct task *t = pending_part(n);
    if (t)
        return t;
    order_done(n);
    nest_uncount(n);
    put_tails(n);
    t = pending_part(n);
    if (t)
        return t;
    order_done(n);
    nest_tell_errors(n);
    nest_destroy_streams(n);
    return NULL;
}

void nest_finish(struct nest *n, hd_result result)
{
    if (result)
        context_fail(n->context->context, result);
    for (struct task *t; (t = nest_part(n)); task_release(t))
        task_wait(t);
}
