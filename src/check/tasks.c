/* What the order of tasks is to the checker, and what tasks that are no launches, and the host itself, do to memory.
 *
 * While the host has not waited for all that it has put into streams, what it does to memory that it shares with kernels is
 * watched, access by access (host.h).
 */
#include "check/findings.h"

/* ---- order: exec/queue.h ---- */

static uint32_t on_submit(void *data, uint32_t *strand, const struct task_note *note, const uint32_t *after, uint32_t n)
{
    struct checker *c = data;
    uint32_t task = strands_submit(c->strands, strand, note, after, n);
    if (c->host && note->kind != TASK_MARK)
        host_watch_set(c->host, true);
    return task;
}

/* What there is may all be waited for now. */
static void look_at_host(struct checker *c)
{
    if (c->host && strands_is_synchronized(c->strands))
        host_watch_set(c->host, false);
}

static void on_begin(void *data, uint32_t task)
{
    struct checker *c = data;
    strands_begin(c->strands, task);
}

static void on_end(void *data, uint32_t task)
{
    struct checker *c = data;
    strands_end(c->strands, task);
    look_at_host(c);
}

static void on_wait(void *data, const uint32_t *tasks, uint32_t n)
{
    struct checker *c = data;
    strands_wait(c->strands, tasks, n);
    look_at_host(c);
}

static void on_close(void *data, uint32_t strand)
{
    struct checker *c = data;
    strands_close(c->strands, strand);
}

/* ---- accesses ---- */

void checker_range(struct checker *c, uint32_t task, const void *p, uint64_t bytes, bool write)
{
    if (c->races && task)
        races_range(c->races, task, p, bytes, write);
}

void checker_host_access(struct checker *c, uint32_t task, const struct host_access *a)
{
    checker_range(c, task, (const void *)(uintptr_t)a->address, a->bytes, a->write);
}

static void on_host_access(void *data, const struct host_access *a)
{
    struct checker *c = data;
    uint32_t task = strands_host(c->strands);
    if (task)
        checker_host_access(c, task, a);
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

struct strands *checker_strands(struct checker *c)
{
    return c->strands;
}
