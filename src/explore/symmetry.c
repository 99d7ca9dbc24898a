/* Threads that can take each other's place: exchanging them gives the same graph. One of two
 * executions that are images of each other is enough, because outcomes, races and other findings do
 * not name threads. See search.h. */
#include <string.h>

#include "explore/machine.h"
#include "explore/search.h"

/* ---- what is still to come ---- */

static bool is_identity(ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    if (ir_ref_kind(r) != REF_SREG)
        return false;
    if (i >= IR_ENVREG)
        return i == IR_SHARED_START;
    switch ((enum isa_sreg)(i / 4)) {
    case SREG_tid:
    case SREG_laneid:
    case SREG_warpid:
    case SREG_ctaid:
    case SREG_smid:
    case SREG_clusterid:
    case SREG_cluster_ctaid:
    case SREG_cluster_ctarank:
    case SREG_lanemask_eq:
    case SREG_lanemask_le:
    case SREG_lanemask_lt:
    case SREG_lanemask_ge:
    case SREG_lanemask_gt: return true;
    default: return false;
    }
}

/* Does the instruction use the thread's identity, or lead to code that is not followed here? */
static bool asks(const struct ir_insn *i)
{
    ir_ref refs[IR_MAX_REFS];
    if (i->kind == IR_CALL)
        return true;
    for (unsigned k = ir_reads(i, refs); k-- > 0;)
        if (is_identity(refs[k]))
            return true;
    return false;
}

static bool block_asks(const struct ir_func *f, uint32_t block, uint32_t from)
{
    const struct ir_block *b = &f->blocks.at[block];
    for (uint32_t i = from; i < b->n; i++)
        if (asks(&f->insns.at[b->first + i]))
            return true;
    return false;
}

/* Does any code that is reachable from an instruction? */
static bool rest_asks(const struct ir_func *f, uint32_t block, uint32_t at)
{
    uint64_t seen[(f->blocks.n + 63) / 64];
    uint32_t list[f->blocks.n + 1], n = 0;
    if (block_asks(f, block, at))
        return true;
    memset(seen, 0, sizeof seen);
    list[n++] = block;
    while (n) {
        uint32_t b = list[--n];
        for (uint32_t k = 0; k < ir_successor_count(f, b); k++) {
            uint32_t next = ir_successor(f, b, k);
            if (next == NO_BLOCK || ir_in_set(seen, next))
                continue;
            ir_set_add(seen, next);
            if (block_asks(f, next, 0))
                return true;
            list[n++] = next;
        }
    }
    return false;
}

/* Did the block write it before an instruction? */
static bool is_written(const struct frame *f, uint32_t reg)
{
    const struct ir_block *b = &f->code->ir->blocks.at[f->block];
    ir_ref refs[IR_MAX_REFS];
    for (uint32_t i = 0; i < f->at; i++)
        for (unsigned k = ir_writes(&f->code->ir->insns.at[b->first + i], refs); k-- > 0;)
            if (ir_ref_kind(refs[k]) == REF_REG && ir_ref_index(refs[k]) == reg)
                return true;
    return false;
}

/* Are the live registers equal? Registers that do not cross blocks all count, and those that the
 * block has written. */
static bool same_registers(const struct program *p, const struct machine *a, const struct machine *b)
{
    const struct frame *f = &a->frames[0];
    const struct ir_live *live = &p->live[f->code->index];
    const uint64_t *in = live->in + (size_t)f->code->ir->blocks.at[f->block].order * live->words;
    for (uint32_t r = 1; r < f->code->ir->regs.n; r++) {
        uint32_t number = live->number[r];
        const struct value *v = &a->values[r], *w = &b->values[r];
        bool same = v->lo == w->lo && v->hi == w->hi && v->needs == w->needs;
        if (!same && (!number || ir_in_set(in, number - 1) || is_written(f, r)))
            return false;
    }
    return a->n_local == b->n_local && (!a->n_local || !memcmp(a->local, b->local, a->n_local));
}

/* Will both threads do the same if their reads return the same values? */
static bool same_futures(const struct explorer *x, const struct state *s, uint16_t t, uint16_t u)
{
    const struct machine *a = s->runs[t]->machine, *b = s->runs[u]->machine;
    const struct place_in_grid *at = &x->runners[t].at, *other = &x->runners[u].at;
    if (!a || !b || a->n_frames != 1 || b->n_frames != 1 || at->lanes & (at->lanes - 1) ||
        (at->block != other->block && x->program->shared_bytes))
        return false;
    const struct frame *f = &a->frames[0], *g = &b->frames[0];
    return f->block == g->block && f->at == g->at && same_registers(x->program, a, b) &&
           !rest_asks(f->code->ir, f->block, f->at);
}

/* ---- what has been ---- */

static bool same_place(const struct explorer *x, const struct state *s, uint16_t a, uint16_t b)
{
    for (uint16_t t = 0; t < s->n_threads; t++)
        if (t != a && t != b && x->threads.level[a * x->threads.n + t] != x->threads.level[b * x->threads.n + t])
            return false;
    return true;
}

static bool same_runs(const struct run *a, const struct run *b)
{
    if (a->n_events != b->n_events || a->end != b->end || a->stopped != b->stopped || a->needs != b->needs)
        return false;
    for (uint16_t i = 0; i < a->n_events; i++) {
        const struct run_event *e = &a->events[i], *f = &b->events[i];
        if (e->insn != f->insn || e->kind != f->kind || e->flags != f->flags || e->location != f->location ||
            e->read != f->read || e->wrote != f->wrote || e->step != f->step || e->value_needs != f->value_needs ||
            e->place_needs != f->place_needs || e->kind == RUN_BARRIER || e->kind == RUN_EXCHANGE)
            return false;
    }
    return true;
}

/* Has no other thread read from this one, or been ordered behind it? */
static bool is_unseen(const struct graph *g, uint16_t thread)
{
    for (uint16_t e = 0; e < g->n_events; e++) {
        const struct event *r = &g->events[e];
        if (r->thread == thread || r->thread == NO_EVENT)
            continue;
        if (graph_clock(g, e)[thread])
            return false;
        if (r->rf != NO_MEMBER && r->rf != INITIAL && g->events[graph_member(g, r->location, r->rf)].thread == thread)
            return false;
    }
    return true;
}

static bool same_sets(const uint64_t *a, const uint64_t *b, unsigned words)
{
    for (unsigned k = 0; k < words; k++)
        if (a[k] != b[k])
            return false;
    return true;
}

/* Did both read from the same writes, none of their own, and do they follow the same events? */
static bool same_pasts(const struct graph *g, uint16_t a, uint16_t b)
{
    for (uint16_t po = 0; po < g->n_by_po[a]; po++) {
        uint16_t x = graph_event(g, a, po), y = graph_event(g, b, po);
        const struct event *e = &g->events[x], *f = &g->events[y];
        if (e->rf != f->rf || !same_sets(graph_event_set(g, x, EXCLUDED), graph_event_set(g, y, EXCLUDED), g->words) ||
            e->location != f->location || e->kind != f->kind)
            return false;
        for (uint16_t t = 0; t < g->n_threads; t++)
            if (t != a && t != b && graph_clock(g, x)[t] != graph_clock(g, y)[t])
                return false;
    }
    return true;
}

/* No undecided read of a third thread has excluded a write of one and not of the other. */
static bool same_exclusions(const struct graph *g, uint16_t a, uint16_t b)
{
    for (uint16_t e = 0; e < g->n_events; e++) {
        const struct event *r = &g->events[e];
        FOR_MEMBERS(m, k, g->words, graph_event_set(g, e, EXCLUDED)[k] & ~word_of(INITIAL, k))
        {
            uint16_t thread = g->events[graph_member(g, r->location, m)].thread;
            if (thread == a || thread == b)
                return false;
        }
    }
    return true;
}

static bool are_twins(const struct explorer *x, const struct state *s, uint16_t a, uint16_t b)
{
    return same_runs(s->runs[a], s->runs[b]) && same_futures(x, s, a, b) && same_place(x, s, a, b) &&
           is_unseen(&s->g, a) && is_unseen(&s->g, b) && same_pasts(&s->g, a, b) && same_exclusions(&s->g, a, b);
}

void exclude_twins(const struct explorer *x, struct state *s, uint16_t event, const uint64_t *now)
{
    uint16_t thread = s->g.events[event].thread, po = s->g.events[event].po;
    bool twin[s->n_threads];
    /* Undoes the decision. */
    take_from_set(graph_event_set(&s->g, event, EXCLUDED), now, s->g.words);
    for (uint16_t t = 0; t < s->n_threads; t++)
        twin[t] = t != thread && are_twins(x, s, thread, t);
    join_set(graph_event_set(&s->g, event, EXCLUDED), now, s->g.words);
    for (uint16_t t = 0; t < s->n_threads; t++)
        if (twin[t])
            join_set(graph_event_set(&s->g, graph_event(&s->g, t, po), EXCLUDED), now, s->g.words);
}
