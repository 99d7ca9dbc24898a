/* What the order of tasks is to the checker, and what tasks that are no launches, and the host itself, do to memory.
 *
 * While the host has not waited for all that it has put into streams, what it does to memory that it shares with kernels is
 * watched, access by access (host.h).
 */
#include "check/checker.h"

#include "exec/machine.h"
#include "exec/queue.h"

/* ---- order: exec/queue.h ---- */

/* What a thread of a launch has released to the host is before all that the host submits from now on; so is then all of the
 * launch, since order among tasks knows no parts of them. */
static void pass_learnt(struct checker *c)
{
    for (unsigned i = 0; i < MOST_LEARNT; i++) {
        uint32_t task = atomic_exchange(&c->learnt[i], 0);
        if (task)
            timelines_wait(c->timelines, &task, 1);
    }
}

static void keep_learnt(struct checker *c, uint32_t task)
{
    uint32_t none = 0;
    for (unsigned i = 0; i < MOST_LEARNT; i++, none = 0)
        if (atomic_load(&c->learnt[i]) == task || atomic_compare_exchange_strong(&c->learnt[i], &none, task))
            return;
    timelines_wait(c->timelines, &task, 1);
}

static uint32_t on_submit(void *data, uint32_t *strand, const struct task_note *note, const uint32_t *after, uint32_t n)
{
    struct checker *c = data;
    struct task_note placed = *note;
    if (note->kind != TASK_MARK && c->options.place)
        placed.where = c->options.place(c->options.data);
    pass_learnt(c);
    uint32_t task = timelines_submit(c->timelines, strand, &placed, after, n);
    if (c->host && note->kind != TASK_MARK && note->kind != TASK_ALLOC) /* the host does not reach what that gives */
        host_watch_set(c->host, true);
    return task;
}

/* What there is may all be waited for now. */
static void look_at_host(struct checker *c)
{
    if (c->host && timelines_is_synchronized(c->timelines))
        host_watch_set(c->host, false);
}

static void on_begin(void *data, uint32_t task)
{
    struct checker *c = data;
    timelines_begin(c->timelines, task);
}

static void on_end(void *data, uint32_t task)
{
    struct checker *c = data;
    timelines_end(c->timelines, task);
    look_at_host(c);
}

static void on_wait(void *data, const uint32_t *tasks, uint32_t n)
{
    struct checker *c = data;
    timelines_wait(c->timelines, tasks, n);
    look_at_host(c);
}

static void on_close(void *data, uint32_t strand)
{
    struct checker *c = data;
    timelines_close(c->timelines, strand);
}

/* ---- accesses ---- */

void checker_range(struct checker *c, uint32_t task, const void *p, uint64_t bytes, bool write)
{
    if (c->race.races && task)
        races_range(c->race.races, task, p, bytes, write);
}

/* An instruction is at one place as long as the function that it is in has the same caller: its return address is where the stack
 * ends in functions of the C library that have not pushed anything. */
static const void *place_of(struct checker *c, const struct host_access *a)
{
    if (!c->options.place)
        return NULL;
    if (!a->pc)
        return c->options.place(c->options.data);
    const struct host_place now = {a->pc, a->sp, *(const uint64_t *)(uintptr_t)a->sp, NULL};
    struct host_place *known = &c->host_places[(a->pc ^ a->pc >> 6) % HOST_PLACES], found;
    pthread_mutex_lock(&c->host_places_lock);
    found = *known;
    pthread_mutex_unlock(&c->host_places_lock);
    if (found.pc == now.pc && found.sp == now.sp && found.top == now.top)
        return found.place;
    found = now;
    found.place = c->options.place(c->options.data);
    pthread_mutex_lock(&c->host_places_lock);
    *known = found;
    pthread_mutex_unlock(&c->host_places_lock);
    return found.place;
}

static void on_host_access(void *data, const struct host_access *a, bool done)
{
    struct checker *c = data;
    uint32_t task = timelines_host(c->timelines);
    uint32_t learnt = task ? races_host(c->race.races, task, place_of(c, a), a, done) : 0;
    if (learnt)
        keep_learnt(c, learnt);
}

/* ---- life ---- */

void tasks_watch(struct checker *c)
{
    c->order = (struct order_hooks){c, on_submit, on_begin, on_end, on_wait, on_close};
    if (c->options.host)
        c->host = host_watch_new(&c->machine->mem, on_host_access, c);
    atomic_store(&c->machine->order, &c->order);
}

void tasks_unwatch(struct checker *c)
{
    atomic_store(&c->machine->order, NULL);
    host_watch_free(c->host);
}

struct timelines *checker_timelines(struct checker *c)
{
    return c->timelines;
}
