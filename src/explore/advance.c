/* Turns runs into graph events: an operation enters the graph when it is complete; see search.h. */
#include "explore/search.h"

#include <string.h>

uint64_t member_value(const struct explorer *x, const struct graph *g, uint16_t location, unsigned member)
{
    if (member == INITIAL)
        return x->program->locations.at[g->locations[location].id].initial;
    return g->events[graph_member(g, location, member)].wrote;
}

static void refuse_overlap(struct explorer *x, const struct run_event *e, bool writes)
{
    const struct location *l = &x->program->locations.at[e->location];
    if (!writes || !l->overlapped)
        return;
    const struct location *observed = program_observed_at(x->program, l);
    if (observed)
        program_refuse(
            x->program, e->insn,
            "`%s` is observed as %u bytes, but this writes %u: observe exactly what is written, for example by "
            "`--observe 2[0]:u%u`",
            observed->observed_as, observed->bytes, l->bytes, 8 * l->bytes);
    else
        program_refuse(
            x->program, e->insn,
            "accesses of different sizes, or at overlapping places, to memory that is written are not explored "
            "(PTX ISA 8.7.2: mixed-size)");
}

void advance_place(struct graph *g, const struct threads *t, uint16_t event, const struct run_event *e)
{
    struct event *to = &g->events[event];
    static const uint8_t kinds[] = {
        [RUN_READ] = GRAPH_READ,       [RUN_WRITE] = GRAPH_WRITE,  [RUN_UPDATE] = GRAPH_UPDATE,
        [RUN_FENCE] = GRAPH_FENCE,     [RUN_BARRIER] = GRAPH_MEET, [RUN_EXCHANGE] = GRAPH_MEET,
        [RUN_NOTHING] = GRAPH_NOTHING,
    };
    to->kind = kinds[e->kind];
    if (to->kind == GRAPH_FENCE && e->order == ORDER_SC) {
        if (g->n_fences == MAX_FENCES) {
            g->exceeds = "256 fences of .sc";
            return;
        }
        g->fences[g->n_fences++] = event;
    }
    g->meets |= to->kind == GRAPH_MEET;
    to->order = e->order;
    to->scope = e->scope;
    to->strong = e->flags & RUN_STRONG;
    to->red = e->flags & RUN_RED;
    to->reads = e->kind == RUN_READ || e->kind == RUN_UPDATE;
    if (e->location != NO_LOCATION) {
        graph_place(g, t, event, e->location);
        if (g->exceeds)
            return;
        to = &g->events[event];
        add_member(graph_location_set(g, to->location, to->reads ? PENDING : UNVALUED), to->member);
    }
    if (to->kind == GRAPH_FENCE || to->reads)
        model_added(g, t, event);
}

void advance_value(struct graph *g, const struct threads *t, uint16_t event, const struct run_event *e)
{
    struct event *to = &g->events[event];
    to->wrote = e->wrote;
    to->writes = to->valued = true;
    drop_member(graph_location_set(g, to->location, UNVALUED), to->member);
    add_member(graph_location_set(g, to->location, WRITES), to->member);
    g->locations[to->location].dirty = true;
    model_added(g, t, event);
}

void advance(struct explorer *x, struct state *s, uint16_t thread)
{
    const struct run *run = s->runs[thread];
    struct graph *g = &s->g;
    for (uint16_t po = 0; po < run->n_events; po++) {
        const struct run_event *e = &run->events[po];
        uint16_t event = po < g->n_by_po[thread] ? graph_event(g, thread, po) : graph_add(g, thread);
        if (!g->exceeds && g->events[event].kind == GRAPH_PENDING &&
            (e->flags & RUN_PLACED || e->kind == RUN_NOTHING)) {
            if (e->location != NO_LOCATION)
                refuse_overlap(x, e, e->kind == RUN_WRITE || e->kind == RUN_UPDATE);
            advance_place(g, &x->threads, event, e);
            if (e->location != NO_LOCATION && !g->exceeds && g->locations[g->events[event].location].left_out)
                access_added(x, g, event);
        }
        if (g->events[event].kind == GRAPH_WRITE && !g->events[event].valued && e->flags & RUN_VALUED && !g->exceeds)
            advance_value(g, &x->threads, event, e);
        if (g->exceeds) {
            program_refuse(x->program, e->insn, "an execution has more than %s", g->exceeds);
            return;
        }
    }
}

void resolve(struct explorer *x, struct state *s, uint16_t event, uint64_t value)
{
    const struct event *e = &s->g.events[event];
    uint16_t thread = e->thread;
    s->runs[thread] = run_resolve(&x->runners[thread], s->runs[thread], e->po, value);
}

struct run *run_taking(struct explorer *x, struct state *s, uint16_t event, unsigned member)
{
    const struct event *e = &s->g.events[event];
    return run_resolve(&x->runners[e->thread], s->runs[e->thread], e->po, member_value(x, &s->g, e->location, member));
}

bool take_all(struct explorer *x, struct state *s, const struct taken *all, unsigned n)
{
    uint16_t thread = s->g.events[all[0].event].thread;
    struct answer answers[n + 1];
    memset(answers, 0, sizeof answers);
    for (unsigned i = 0; i < n; i++) {
        const struct event *e = &s->g.events[all[i].event];
        answers[i] = (struct answer){member_value(x, &s->g, e->location, all[i].member), e->po};
    }
    struct run *run = run_resolve_all(&x->runners[thread], s->runs[thread], answers, n);
    if (n > 1 && run->end == RUN_SPINS)
        return false;
    s->runs[thread] = run;
    for (unsigned i = 0; i < n; i++) {
        const struct run_event *e = &run->events[answers[i].event];
        s->g.events[all[i].event].read = answers[i].value;
        model_read(&s->g, &x->threads, all[i].event, all[i].member, e->kind == RUN_UPDATE ? GRAPH_UPDATE : GRAPH_READ,
                   e->wrote);
    }
    advance(x, s, thread);
    return true;
}

void take(struct explorer *x, struct state *s, uint16_t event, unsigned member)
{
    take_all(x, s, &(struct taken){event, (uint16_t)member}, 1);
}
