/* The checker's view of tasks: the order of their submission (exec/queue.h), accesses by tasks that
 * are not launches, and accesses by the host.
 *
 * While the host has not waited for all that it has put into streams, its accesses to memory that
 * it shares with kernels are trapped one by one (check/host/host.h).
 */
#include "check/checker.h"

#include "exec/machine.h"
#include "exec/queue.h"

/* ---- order: exec/queue.h ---- */

/* What a thread of a launch has released to the host comes before all that the host submits from
 * now on, and with it the whole launch, as the order of tasks knows no parts of them. */
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

/* For whom this thread puts tasks. */
static _Thread_local struct {
    const struct event_block *block;
    unsigned warp, lane;
} putting;

void checker_puts_for(const struct event_block *block, unsigned warp, unsigned lane)
{
    putting.block = block;
    putting.warp = warp;
    putting.lane = lane;
}

static uint32_t on_submit(void *data, uint32_t *timeline, const struct task_note *note, const uint32_t *after,
                          uint32_t n)
{
    struct checker *c = data;
    struct task_note placed = *note;
    if (note->kind != TASK_MARK && !note->by && !note->where && c->options.place)
        placed.where = c->options.place(c->options.data);
    checker_hold(c);
    pass_learnt(c);
    struct host_event e = {.kind = HOST_SUBMIT,
                           .timeline = *timeline,
                           .note = &placed,
                           .tasks = after,
                           .n_tasks = n,
                           .block = putting.block,
                           .warp = putting.warp,
                           .lane = putting.lane};
    struct clock *published = putting.block ? races_publish(putting.block, putting.warp, putting.lane) : NULL;
    uint32_t task = e.task = timelines_submit(c->timelines, timeline, &placed, after, n, published);
    e.timeline_after = *timeline;
    checker_tell(c, &e);
    /* The host cannot access its memory. */
    if (c->host && note->kind != TASK_MARK && note->kind != TASK_ALLOC)
        host_watch_set(c->host, true);
    checker_give_back(c);
    return task;
}

static void on_begin(void *data, uint32_t task)
{
    checker_host(data, &(struct host_event){.kind = HOST_BEGIN, .task = task});
}

static void on_end(void *data, uint32_t task)
{
    checker_host(data, &(struct host_event){.kind = HOST_END, .task = task});
}

static void on_learn(void *data, uint32_t task, uint32_t part)
{
    checker_host(data, &(struct host_event){.kind = HOST_LEARN, .task = task, .tasks = &part, .n_tasks = 1});
}

static void on_wait(void *data, const uint32_t *tasks, uint32_t n)
{
    checker_host(data, &(struct host_event){.kind = HOST_WAIT, .tasks = tasks, .n_tasks = n});
}

static void on_close(void *data, uint32_t timeline)
{
    checker_host(data, &(struct host_event){.kind = HOST_CLOSE, .timeline = timeline});
}

/* ---- accesses ---- */

/* The place of an instruction is the same while its function has the same caller. The caller's
 * return address is on top of the stack in functions of the C library that push nothing. */
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
    checker_host(c, &(struct host_event){.kind = HOST_ACCESS,
                                         .address = a->address,
                                         .bytes = a->bytes,
                                         .write = a->write,
                                         .whole = a->whole,
                                         .done = done,
                                         .place = timelines_host(c->timelines) ? place_of(c, a) : NULL});
}

/* ---- what the host does ---- */

/* The host may have waited for all work now. */
static void look_at_host(struct checker *c)
{
    if (c->host && timelines_is_synchronized(c->timelines))
        host_watch_set(c->host, false);
}

static void host_accesses(struct checker *c, const struct host_event *e)
{
    const struct host_access a = {.address = e->address, .bytes = e->bytes, .write = e->write, .whole = e->whole};
    uint32_t task = timelines_host(c->timelines);
    uint32_t learnt = task ? races_host(c->race.races, task, e->place, &a, e->done) : 0;
    if (learnt)
        keep_learnt(c, learnt);
}

static void forget(struct checker *c, uint64_t address, uint64_t bytes)
{
    memory_forget(c, address, bytes);
    if (c->race.races)
        races_forget(c->race.races, address, bytes);
}

static void end_launch(struct checker *c)
{
    pthread_mutex_lock(&c->lock);
    if (--c->running == 0)
        memory_idle(c);
    pthread_mutex_unlock(&c->lock);
    if (c->race.races)
        races_launch_end(c->race.races);
    memory_end(c);
}

static void finish(struct checker *c)
{
    pthread_mutex_lock(&c->findings.lock);
    c->finished = true;
    pthread_mutex_unlock(&c->findings.lock);
}

bool checker_has_order(const struct checker *c, enum host_event_kind kind)
{
    return c->timelines || kind >= HOST_UNDEFINED;
}

uint32_t checker_submit(struct checker *c, uint32_t *timeline, const struct task_note *note, const uint32_t *after,
                        uint32_t n)
{
    return c->timelines ? on_submit(c, timeline, note, after, n) : 0;
}

static bool do_event(struct checker *c, const struct host_event *e)
{
    switch (e->kind) {
    case HOST_BEGIN: timelines_begin(c->timelines, e->task); break;
    case HOST_END:
        timelines_end(c->timelines, e->task);
        look_at_host(c);
        break;
    case HOST_WAIT:
        timelines_wait(c->timelines, e->tasks, e->n_tasks);
        look_at_host(c);
        break;
    case HOST_LEARN: timelines_learn(c->timelines, e->task, e->tasks[0]); break;
    case HOST_CLOSE: timelines_close(c->timelines, e->timeline); break;
    case HOST_RANGE: races_range(c->race.races, e->task, e->address, e->bytes, e->write); break;
    case HOST_ACCESS: host_accesses(c, e); break;
    case HOST_UNDEFINED: return memory_set_undefined(c, e->address, e->bytes, e->name);
    case HOST_DEFINED: memory_set_defined(c, e->address, e->bytes); break;
    case HOST_COPIED: memory_copy_defined(c, e->address, e->from, e->bytes); break;
    case HOST_FORGET: forget(c, e->address, e->bytes); break;
    case HOST_WRITTEN: memory_set_all_defined(c); break;
    case HOST_LAUNCH_END: end_launch(c); break;
    case HOST_FINISH: finish(c); break;
    case HOST_SUBMIT: /* checker_submit() */
    case HOST_EVENT_KINDS: break;
    }
    return true;
}

bool checker_host(struct checker *c, const struct host_event *e)
{
    if (e->kind == HOST_RANGE && (!c->race.races || !e->task))
        return true;
    checker_hold(c);
    checker_tell(c, e);
    bool done = do_event(c, e);
    checker_give_back(c);
    return done;
}

/* ---- life ---- */

void tasks_watch(struct checker *c)
{
    c->order = (struct order_hooks){c, on_submit, on_begin, on_end, on_wait, on_learn, on_close};
    if (!c->machine)
        return;
    if (c->options.host)
        c->host = host_watch_new(&c->machine->mem, on_host_access, c);
    atomic_store(&c->machine->order, &c->order);
}

void tasks_unwatch(struct checker *c)
{
    if (!c->machine)
        return;
    atomic_store(&c->machine->order, NULL);
    host_watch_free(c->host);
}

struct timelines *checker_timelines(struct checker *c)
{
    return c->timelines;
}
