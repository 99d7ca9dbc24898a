/* Tasks, the faults of their contexts, and the hooks for the order of tasks; see queue.h and
 * streams.h. */
#include "exec/streams.h"

#include <stdlib.h>

#include "base/spin_lock.h"

enum { SPINS = 400 };

/* ---- contexts, as tasks know them ---- */

void context_release(struct context *c)
{
    if (atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->changed);
    free(c);
}

hd_result context_fault(struct context *c)
{
    return (hd_result)atomic_load(&c->fault);
}

hd_result task_status(const struct task *t)
{
    return (hd_result)atomic_load(&t->context->fault);
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

void task_let_go(struct task *t)
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
    task_let_go(t);
    if (t->drop)
        t->drop(t);
    if (t->context)
        context_release(t->context);
    free(t);
}

/* The context's lock and condition are the task's as long as somebody may wait for it. */
void task_set_context(struct task *t, struct context *c)
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

/* The numbers of what it waits for, to be freed; NULL where there are
 * none, or memory is exhausted. */
static uint32_t *numbers_after(const struct task *t)
{
    uint32_t *numbers = t->after.n ? malloc(t->after.n * sizeof *numbers) : NULL;
    for (uint32_t i = 0; numbers && i < t->after.n; i++)
        numbers[i] = t->after.at[i]->number;
    return numbers;
}

void task_order_submit(struct task *t, struct stream *s)
{
    const struct order_hooks *order = context_order(t->context);
    if (!order)
        return;
    uint32_t *after = numbers_after(t);
    t->note.stream = s->number;
    t->number = order->submit(order->data, &s->timeline, &t->note, after, after ? t->after.n : 0);
    free(after);
}

void task_order_wait(const struct context *c, const struct task *t)
{
    const struct order_hooks *order = context_order(c);
    uint32_t *after = order ? numbers_after(t) : NULL;
    if (after)
        order->wait(order->data, after, t->after.n);
    free(after);
}

void task_order_host(struct task *t)
{
    const struct order_hooks *order = t->number ? context_order(t->context) : NULL;
    if (order)
        order->wait(order->data, &t->number, 1);
}
