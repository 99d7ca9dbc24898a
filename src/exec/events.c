/* Clients of events, and the slots of those that keep something of blocks; see events.h. */
#include "exec/events.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "exec/tell.h"

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
    list->by_piece = false;
    for (unsigned i = 0; i < list->n; i++) {
        list->wants |= list->at[i]->wants;
        list->by_piece |= list->at[i]->by_piece;
    }
}

bool events_add(struct event_list *list, const struct event_client *client)
{
    if (list->n == list->room) {
        unsigned room = list->room ? 2 * list->room : 8;
        const struct event_client **more = realloc(list->at, room * sizeof(const struct event_client *));
        if (!more)
            return false;
        list->at = more;
        list->room = room;
    }
    list->at[list->n++] = client;
    sum_up(list);
    return true;
}

void events_remove(struct event_list *list, const struct event_client *client)
{
    unsigned n = 0;
    for (unsigned i = 0; i < list->n; i++)
        if (list->at[i] != client)
            list->at[n++] = list->at[i];
    list->n = n;
    sum_up(list);
}

void events_close(struct event_list *list)
{
    free(list->at);
    *list = (struct event_list){0};
}
