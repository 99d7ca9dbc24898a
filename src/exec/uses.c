/* Looks ahead in the code that lanes will run. For each register it tracks the lanes in
 * which the register depends on the value, and whether it is overwritten with an unknown
 * value.
 */
#include "exec/uses.h"

#include <string.h>

#include "exec/block.h"
#include "isa/lane_ids.h"

enum { STEPS_MOST = 256, REGISTERS_MOST = 32, PATHS_MOST = 16 };

struct tainted {
    ir_ref reg;
    uint32_t lanes;
};

/* One way on. */
struct path {
    const struct op *op;
    uint32_t lanes; /* that go it and have tainted registers */
    unsigned n_tainted, n_written;
    struct tainted tainted[REGISTERS_MOST];
    ir_ref written[REGISTERS_MOST];
};

struct look_ahead {
    const struct code *code;
    uint8_t *base[4];
    uint32_t used;
    unsigned steps, n_paths;
    struct path paths[PATHS_MOST];
};

static uint32_t taint_of(const struct path *p, ir_ref r)
{
    for (unsigned i = 0; i < p->n_tainted; i++)
        if (p->tainted[i].reg == r)
            return p->tainted[i].lanes & p->lanes;
    return 0;
}

static uint32_t all_taints(const struct path *p)
{
    uint32_t lanes = 0;
    for (unsigned i = 0; i < p->n_tainted; i++)
        lanes |= p->tainted[i].lanes & p->lanes;
    return lanes;
}

/* False where there is no room to note it. */
static bool set_taint(struct path *p, ir_ref r, uint32_t lanes)
{
    unsigned i = 0;
    while (i < p->n_tainted && p->tainted[i].reg != r)
        i++;
    if (i == REGISTERS_MOST)
        return false;
    if (i == p->n_tainted && !lanes)
        return true;
    p->n_tainted += i == p->n_tainted;
    p->tainted[i] = (struct tainted){r, lanes};
    return true;
}

static bool is_written(const struct path *p, ir_ref r)
{
    for (unsigned i = 0; i < p->n_written; i++)
        if (p->written[i] == r)
            return true;
    return false;
}

static bool note_written(struct path *p, ir_ref r)
{
    if (is_written(p, r))
        return true;
    if (p->n_written == REGISTERS_MOST)
        return false;
    p->written[p->n_written++] = r;
    return true;
}

/* The lanes in which a predicate holds; false where it is not known yet. */
static bool predicate(const struct look_ahead *a, const struct path *p, ir_ref r, row_ref row, uint32_t *lanes)
{
    if (is_written(p, r))
        return false;
    memcpy(lanes, row_at(a->base, row), sizeof *lanes);
    return true;
}

static bool is_selection(const struct ir_insn *i)
{
    return i->lane == LANE_selp_b16 || i->lane == LANE_selp_b32 || i->lane == LANE_selp_b64;
}

/* The lanes in which what an instruction of lanes makes hangs on the value. */
static uint32_t result_taint(const struct look_ahead *a, const struct path *p, const struct op *o)
{
    const struct ir_insn *i = o->origin;
    uint32_t lanes = taint_of(p, i->a) | taint_of(p, i->b) | taint_of(p, i->c) | taint_of(p, i->f), holds;
    if (is_selection(i) && predicate(a, p, i->c, o->c, &holds))
        return (taint_of(p, i->a) & holds) | (taint_of(p, i->b) & ~holds);
    return lanes;
}

/* The lanes in which the guard of an operation holds: all, where it has none or nobody knows yet;
 * then it may not hold, either. */
static uint32_t guarded_lanes(const struct look_ahead *a, const struct path *p, const struct op *o, bool *known)
{
    uint32_t holds = UINT32_MAX;
    *known = !(o->flags & OPF_GUARD) || predicate(a, p, o->origin->guard, o->guard, &holds);
    return *known && o->flags & OPF_GUARD_NEGATED ? ~holds : holds;
}

/* One that is no end of a block. False where there is no room to go on. */
static bool pass_one(struct look_ahead *a, struct path *p, const struct op *o)
{
    const struct ir_insn *i = o->origin;
    ir_ref refs[IR_MAX_REFS];
    bool known, good = true, of_lanes = i->kind == IR_LANES;
    uint32_t go = guarded_lanes(a, p, o, &known), taint = of_lanes ? result_taint(a, p, o) : 0;
    unsigned n = of_lanes ? 0 : ir_reads(i, refs);
    a->used |= taint_of(p, i->guard);
    for (unsigned k = 0; k < n; k++)
        a->used |= taint_of(p, refs[k]) & go;
    n = ir_writes(i, refs);
    for (unsigned k = 0; k < n; k++) {
        uint32_t stays = taint_of(p, refs[k]) & (known ? ~go : UINT32_MAX);
        good &= set_taint(p, refs[k], (taint & go) | stays) && note_written(p, refs[k]);
    }
    return good;
}

static void go_on_at(struct look_ahead *a, const struct path *from, uint32_t block, uint32_t lanes)
{
    if (!lanes)
        return;
    if (a->n_paths == PATHS_MOST || block >= a->code->n_blocks) {
        a->used |= all_taints(from) & lanes;
        return;
    }
    struct path *p = &a->paths[a->n_paths++];
    *p = *from;
    p->op = &a->code->ops[a->code->blocks[block].first];
    p->lanes = lanes;
}

/* Lanes part where the guard is known. Those that come to a call, or to one of many targets, use
 * what they have. */
static void end_block(struct look_ahead *a, const struct path *p, const struct op *o)
{
    bool known;
    uint32_t go = guarded_lanes(a, p, o, &known) & p->lanes;
    if (!known) {
        a->used |= all_taints(p);
        return;
    }
    switch (o->kind) {
    case OP_FALL: go_on_at(a, p, o->next, go); break;
    case OP_BRA: go_on_at(a, p, o->target, go); break;
    case OP_RET:
    case OP_EXIT: break;
    default: a->used |= all_taints(p) & go;
    }
    go_on_at(a, p, o->next, p->lanes & ~go);
}

static void follow(struct look_ahead *a, struct path *p)
{
    while (all_taints(p) & ~a->used) {
        const struct op *o = p->op++;
        bool gives_up = a->steps++ >= STEPS_MOST;
        if (!gives_up && o->kind >= OP_FALL) {
            end_block(a, p, o);
            return;
        }
        if (gives_up || !pass_one(a, p, o)) {
            a->used |= all_taints(p);
            return;
        }
    }
}

const struct activation *activation_of(const struct warp *w, const struct op *o)
{
    const struct activation *found = NULL;
    for (const struct activation *a = w->acts; a; a = a->next)
        if (o >= a->code->ops && o < a->code->ops + a->code->n_ops) {
            if (found)
                return NULL;
            found = a;
        }
    return found;
}

uint32_t lanes_that_use(const struct warp *w, const struct op *read, uint32_t lanes)
{
    const struct activation *act = read->kind == OP_LD ? activation_of(w, read) : NULL;
    if (!act)
        return lanes;
    struct look_ahead a = {.code = act->code, .n_paths = 1};
    warp_bases(w, act, a.base);
    struct path first = {.op = read + 1, .lanes = lanes};
    ir_ref refs[IR_MAX_REFS];
    unsigned n = ir_writes(read->origin, refs);
    for (unsigned k = 0; k < n; k++) {
        set_taint(&first, refs[k], lanes);
        note_written(&first, refs[k]);
    }
    a.paths[0] = first;
    while (a.n_paths) {
        struct path p = a.paths[--a.n_paths];
        follow(&a, &p);
    }
    return a.used & lanes;
}
