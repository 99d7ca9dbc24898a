/* Iterations that were left out (loops.c) may contain atomic operations that change nothing. Could
 * another thread's access tell the difference? If so, the search restarts with these iterations. */
#include "explore/search.h"

/* Could another thread's access tell that atomic operations like `event` were left out just before
 * the iteration that begins with the thread's event `first`? An access that is morally strong with
 * them cannot. Nor can a weak access that is ordered before or behind all of them, because it
 * neither comes between them nor observes them. */
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
