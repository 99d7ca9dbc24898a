/* Clients of events, and the slots of those that keep something of blocks; see events.h. */
#include "exec/events.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "exec/emit_events.h"

static _Atomic unsigned n_slots;

void event_slot_take(unsigned *slot)
{
    static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&taking);
    if (!*slot)
        *slot = atomic_fetch_add(&n_slots, 1) + 1;
    pthread_mutex_unlock(&taking);
}

unsigned event_slots(void)
{
    return atomic_load(&n_slots);
}

static void sum_up(struct event_list *list)
{
    list->wants = 0;
    list->by_piece = list->by_one = false;
    for (unsigned i = 0; i < list->n; i++) {
        list->wants |= list->at[i]->wants;
        list->by_piece |= list->at[i]->by_piece;
        list->by_one |= list->at[i]->by_one;
    }
}

bool events_add(struct event_list *list, const struct event_client *client)
{
    const struct event_client **at = VEC_ADD(list);
    if (!at)
        return false;
    *at = client;
    sum_up(list);
    return true;
}

bool events_add_first(struct event_list *list, const struct event_client *client)
{
    if (!events_add(list, client))
        return false;
    memmove(list->at + 1, list->at, (list->n - 1) * sizeof *list->at);
    list->at[0] = client;
    return true;
}

bool events_tell_fault(const struct event_list *list, const struct fault_event *e)
{
    bool left_out = false;
    for (unsigned i = 0; i < list->n; i++)
        if (list->at[i]->wants & EVENT_BIT(EVENT_FAULT))
            left_out |= list->at[i]->fault(list->at[i]->data, e);
    return left_out;
}

void events_close(struct event_list *list)
{
    free(list->at);
    *list = (struct event_list){0};
}
