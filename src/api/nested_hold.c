/* Launches of a grid that a debugger may run again: they wait until it does not; see nested.h.
 *
 * A grid cannot wait for what it launches, so nothing that it does depends on when that begins. */
#include "api/nest.h"

#include <stdlib.h>

void nest_hold(void *nest)
{
    struct nest *n = nest;
    pthread_mutex_lock(&n->lock);
    n->holds = true;
    pthread_mutex_unlock(&n->lock);
}

void nest_forget(void *nest)
{
    struct nest *n = nest;
    pthread_mutex_lock(&n->lock);
    for (uint32_t i = 0; i < n->held.n; i++)
        task_release(n->held.at[i].task); /* NULL is allowed */
    n->held.n = n->errors.n = 0;
    atomic_store(&n->n_errors, 0);
    nest_empty(n);
    pthread_mutex_unlock(&n->lock);
}

/* Does what was held, in the order of the calls. */
static bool perform(struct nest *n, const struct nest_held *h)
{
    if (h->task)
        return !nest_submit(n, h->task, h->stream);
    struct task **event = &n->events.at[h->event];
    if (!h->records)
        return !*event || stream_after(h->stream, *event);
    task_release(*event);
    *event = stream_last(h->stream);
    return true;
}

void nest_let_go(void *nest)
{
    struct nest *n = nest;
    pthread_mutex_lock(&n->lock);
    n->holds = false;
    for (uint32_t i = 0; i < n->held.n; i++)
        n->no_memory |= !perform(n, &n->held.at[i]);
    free(n->held.at);
    n->held.at = NULL;
    n->held.n = n->held.capacity = 0;
    bool no_memory = n->no_memory;
    pthread_mutex_unlock(&n->lock);
    if (no_memory)
        context_fail(n->context->context, HD_ERROR_OUT_OF_MEMORY);
}
