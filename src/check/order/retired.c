/* Retirement: a task that happens before all unfinished tasks, and before all that the host will
 * submit, no longer needs a record. */
#include "check/order/timelines_state.h"

#include <stdlib.h>
#include <string.h>

bool timelines_all_waited_for(struct timelines *s)
{
    struct task_clock_reader now = {.clock = s->now};
    if (!task_clock_counts(s->now, s->unwaited, s->timelines.at[s->unwaited].last_work))
        return false;
    for (uint32_t i = 0; i < s->timelines.n; i++)
        if (task_clock_read(&now, i) < s->timelines.at[i].last_work) {
            s->unwaited = i;
            return false;
        }
    return true;
}

static void lower(struct timelines *s, uint32_t timeline, uint32_t place)
{
    if (place < s->least.at[timeline])
        s->least.at[timeline] = place;
}

static void lower_all_but(struct timelines *s, uint32_t but, const struct clock *c)
{
    struct task_clock_reader counted = {.clock = c};
    for (uint32_t i = 0; i < s->timelines.n; i++)
        if (i != but)
            lower(s, i, task_clock_read(&counted, i));
}

/* Finds what comes before all tasks that have not ended and all future ones. Of such tasks of a
 * timeline, the first has the least clock, and comes after all that has ended there. A clock that
 * many have is read for the first of them; to the others that one's timeline is one more. */
static void find_retired(struct timelines *s)
{
    struct task_clock_reader now = {.clock = s->now};
    const struct clock *read = NULL;
    uint32_t read_for = HOST_TIMELINE;
    for (uint32_t i = 0; i < s->timelines.n; i++)
        s->least.at[i] = task_clock_read(&now, i);
    for (uint32_t i = HOST_TIMELINE + 1; i < s->timelines.n; i++) {
        const struct timeline *x = &s->timelines.at[i];
        if (x->ended == x->n)
            continue;
        const struct task_record *first = task_record_of(s, task_at(x, x->ended + 1));
        const struct clock *c = first->pending ? first->pending->host : first->clock;
        if (read_for != HOST_TIMELINE && c == read)
            lower(s, read_for, task_clock_at(c, read_for));
        else
            lower_all_but(s, i, c);
        lower(s, i, x->ended);
        read = c;
        read_for = i;
    }
}

void timelines_drop_record(struct task_record *r)
{
    clock_release(r->clock);
    clock_release(r->published);
    if (r->pending)
        clock_release(r->pending->host);
    free(r->pending);
}

/* By whole chunks. A running task is after all of these by its frontier. A thread of the host may
 * still be about to ask for the segment that it was in when another thread waited, so the last
 * chunk stays a while. */
static void forget_records(struct timelines *s, uint32_t retired)
{
    for (;;) {
        uint32_t first = atomic_load(&s->forgotten) + 1, chunk = first >> CHUNK_LOG2, end = (chunk + 1) << CHUNK_LOG2;
        if (retired < end || retired - end < CHUNK_TASKS)
            return;
        atomic_store(&s->forgotten, end - 1);
        for (uint32_t t = first; t < end; t++)
            timelines_drop_record(task_record_of(s, t));
        free(atomic_exchange(&s->chunks[chunk], NULL));
    }
}

/* No thread asks for these places any more: the clocks of all that could already include them. */
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
    find_retired(s);
    uint32_t retired = s->n_tasks;
    for (uint32_t i = 0; i < s->timelines.n; i++)
        retired = timeline_counted(&s->timelines.at[i], s->least.at[i], retired);
    forget_records(s, retired);
    for (uint32_t i = 0; i < s->timelines.n; i++)
        forget_places(&s->timelines.at[i], s->least.at[i]);
    if (timelines_all_waited_for(s))
        retired = s->n_tasks; /* what is left are marks */
    if (retired > atomic_load(&s->retired))
        atomic_store(&s->retired, retired);
}
