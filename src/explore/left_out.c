/* Atomic operations that change nothing, in iterations that were left out (loops.c): could
 * another thread's access tell the difference? If so, the search ends and starts again with
 * them. */
#include "explore/search.h"

/* Could the access tell, of another thread, that atomic operations like the event have been left
 * out just before the round that begins with the thread's event `first`? What is morally strong
 * with them cannot; nor can a weak access that is before all of them, or after them: it does not
 * come between, and observes nothing. */
static bool could_tell(const struct graph *g, uint16_t event, uint16_t first, uint16_t access)
{
    const struct event *e = &g->events[event], *a = &g->events[access];
    if (a->thread == e->thread || has(graph_row(g, g->strong, e->location, e->member), a->member))
        return false;
    bool is_before = first > 0 && graph_precedes(g, access, graph_event(g, e->thread, first - 1));
    return a->strong || !(is_before || graph_precedes(g, event, access));
}

void updates_left_out(struct explorer *x, struct graph *g, uint16_t event, uint16_t round)
{
    struct graph_location *l = &g->locations[g->events[event].location];
    l->left_out = true;
    for (unsigned m = 1; m < l->n; m++)
        if (could_tell(g, event, round, graph_member(g, g->events[event].location, m)))
            tree_stop(x->tree, TREE_SHOWS);
}

void access_added(struct explorer *x, const struct graph *g, uint16_t event)
{
    uint16_t l = g->events[event].location;
    for (unsigned m = 1; m < g->locations[l].n; m++) {
        uint16_t other = graph_member(g, l, m);
        if (g->events[other].kind == GRAPH_UPDATE && could_tell(g, other, 0, event))
            tree_stop(x->tree, TREE_SHOWS);
    }
}
