/* Vector clocks over timelines; see task_clock.h. */
#include "check/order/task_clock.h"

#include <stdlib.h>
#include <string.h>

void task_clock_release(struct task_clock *c)
{
    if (c && --c->refs == 0)
        free(c);
}

struct task_clock *task_clock_new(const struct times *t)
{
    struct task_clock *c = malloc(sizeof *c + t->n * sizeof *t->at);
    if (!c)
        return NULL;
    c->refs = 1;
    c->n = t->n;
    memcpy(c->at, t->at, t->n * sizeof *t->at);
    return c;
}

void times_set(struct times *to, const struct times *from)
{
    memcpy(to->at, from->at, from->n * sizeof *to->at);
    to->n = from->n;
}

static void reach(struct times *t, uint32_t n)
{
    if (n <= t->n)
        return;
    memset(t->at + t->n, 0, (n - t->n) * sizeof *t->at);
    t->n = n;
}

void times_join(struct times *t, const struct task_clock *c)
{
    reach(t, c ? c->n : 0);
    for (uint32_t i = 0; c && i < c->n; i++)
        t->at[i] = t->at[i] > c->at[i] ? t->at[i] : c->at[i];
}

void times_join_place(struct times *t, uint32_t timeline, uint32_t place)
{
    if (place <= times_at(t, timeline))
        return;
    reach(t, timeline + 1);
    t->at[timeline] = place;
}

bool times_equal(const struct task_clock *c, const struct times *t)
{
    return c->n == t->n && memcmp(c->at, t->at, t->n * sizeof *t->at) == 0;
}
