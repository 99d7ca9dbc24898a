/* Retirement: a task that comes before all that has not ended, and before all that the host will submit, needs no record any more. */
#include "check/order/timelines_state.h"

#include <stdlib.h>
#include <string.h>

bool timelines_all_waited_for(const struct timelines *s)
{
    for (uint32_t i = 0; i < s->timelines.n; i++)
        if (times_at(&s->now, i) < s->timelines.at[i].last_work)
            return false;
    return true;
}

uint32_t timelines_counted(const struct timelines *s, const struct times *t, uint32_t last, uint32_t least,
                           uint32_t but)
{
    for (uint32_t i = 0; i < s->timelines.n && last > least; i++) {
        const struct timeline *x = &s->timelines.at[i];
        uint32_t place = times_at(t, i);
        if (i != but && place < x->n && task_at(x, place + 1) <= last)
            last = task_at(x, place + 1) - 1;
    }
    return last;
}

/* What comes before all tasks that have not ended and all future ones. Of such tasks of a timeline, the first has the least clock. */
static void find_retired(const struct timelines *s, struct times *t)
{
    times_set(t, &s->now);
    for (uint32_t i = HOST_TIMELINE + 1; i < s->timelines.n && t->n; i++) {
        const struct timeline *x = &s->timelines.at[i];
        if (x->ended == x->n)
            continue;
        const struct task_record *first = record_of(s, task_at(x, x->ended + 1));
        const struct task_clock *c = first->pending ? first->pending->host : first->clock;
        uint32_t own = times_at(t, i) < x->ended ? times_at(t, i) : x->ended, known = c ? c->n : 0;
        t->n = t->n < known ? t->n : known;
        for (uint32_t k = 0; k < t->n; k++)
            t->at[k] = t->at[k] < c->at[k] ? t->at[k] : c->at[k];
        if (i < t->n)
            t->at[i] = own;
        else
            times_join_place(t, i, own);
    }
}

void timelines_drop_record(struct task_record *r)
{
    task_clock_release(r->clock);
    if (r->pending)
        task_clock_release(r->pending->host);
    free(r->pending);
}

/* By whole chunks. A running task is after all of these by its frontier. A thread of the host may still be about to ask for the segment
 * that it was in when another thread waited, so the last chunk stays a while. */
static void forget_records(struct timelines *s, uint32_t retired)
{
    for (;;) {
        uint32_t first = atomic_load(&s->forgotten) + 1, chunk = first >> CHUNK_LOG2, end = (chunk + 1) << CHUNK_LOG2;
        if (retired < end || retired - end < CHUNK_TASKS)
            return;
        atomic_store(&s->forgotten, end - 1);
        for (uint32_t t = first; t < end; t++)
            timelines_drop_record(record_of(s, t));
        free(atomic_exchange(&s->chunks[chunk], NULL));
    }
}

/* Nobody asks for these places any more: whoever could has them in his clock. */
static void forget_places(struct timeline *x, uint32_t retired)
{
    uint32_t more = retired > x->gone ? retired - x->gone : 0;
    if (more < CHUNK_TASKS || more < (x->n - x->gone) / 2)
        return;
    VEC_REMOVE(&x->tasks, 0, more);
    x->gone += more;
}

void timelines_retire(struct timelines *s)
{
    find_retired(s, &s->scratch);
    uint32_t retired = timelines_counted(s, &s->scratch, s->n_tasks, 0, UINT32_MAX);
    forget_records(s, retired);
    for (uint32_t i = 0; i < s->timelines.n; i++)
        forget_places(&s->timelines.at[i], times_at(&s->scratch, i));
    if (timelines_all_waited_for(s))
        retired = s->n_tasks; /* what is left are marks */
    if (retired > atomic_load(&s->retired))
        atomic_store(&s->retired, retired);
}
