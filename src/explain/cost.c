/* See cost.h. */
#include "explain/coster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/spill.h"
#include "ir/shape.h"
#include "isa/opcodes.h"

const struct class_cost class_costs[COST_CLASSES] = {
#define COST(name, ...) {#name, __VA_ARGS__},
#include "explain/cost.def"
#undef COST
};

const char *const product_names[PRODUCT_TYPES] = {
#define TENSOR(name) #name,
#include "explain/cost.def"
#undef TENSOR
};

struct cost_table {
    struct block_cost **functions; /* by struct code.index, then by block */
    uint32_t spilled_bytes;
};

/* ptxas unrolls loops of up to so many instructions, so many times */
enum { UNROLLED = 4, UNROLLED_INSNS = 40 };

/* ---- a function ---- */

static const struct ir_insn *insn_at(const struct code *code, uint32_t block, uint32_t k)
{
    return code->ops[code->blocks[block].first + k].origin;
}

static bool is_access(const struct ir_insn *i)
{
    return i->kind == IR_LD || i->kind == IR_ST || i->kind == IR_ATOM;
}

static void note_uses(struct coster *c)
{
    for (uint32_t n = 0; n < c->ir->insns.n; n++) {
        const struct ir_insn *i = &c->ir->insns.at[n];
        ir_ref refs[IR_MAX_REFS];
        for (unsigned k = 0, all = ir_reads(i, refs); k < all; k++)
            if (cost_use_of(c, refs[k])) {
                cost_use_of(c, refs[k])->reads++;
                if (cost_is_wide_sum(i) || (is_access(i) && refs[k] == i->a))
                    cost_use_of(c, refs[k])->address_reads++;
            }
        for (unsigned k = 0, all = ir_writes(i, refs); k < all; k++)
            if (cost_use_of(c, refs[k]))
                cost_use_of(c, refs[k])->is_product = cost_is_product(i);
    }
    /* backwards: from readers of an address to its definition. */
    for (uint32_t n = c->ir->insns.n; n-- > 0;) {
        const struct ir_insn *i = &c->ir->insns.at[n];
        bool shared = is_access(i) && i->access->mem.space == SPACE_SHARED, folded = cost_is_shared_address(c, i);
        if ((shared || folded) && cost_use_of(c, i->a))
            cost_use_of(c, i->a)->shared_reads++;
        if (folded && cost_use_of(c, i->b))
            cost_use_of(c, i->b)->shared_reads++;
    }
}

/* The last operation in [from, to) that defines `wanted`; or NULL. */
static const struct ir_insn *definition(const struct coster *c, uint32_t from, uint32_t to, ir_ref wanted, uint32_t *at)
{
    for (*at = to; wanted && (*at)-- > from;)
        if (c->code->ops[*at].origin && ir_defines(c->code->ops[*at].origin, wanted))
            return c->code->ops[*at].origin;
    return NULL;
}

static bool counts(const struct ir_insn *i)
{
    return i->origin && i->origin->inst->op == OP_add && ir_ref_kind(i->b) == REF_CONST;
}

/* An unrolled loop keeps one of its branches, tests and counter steps. */
static void scale_loop(struct coster *c, uint32_t first, uint32_t last)
{
    const struct code_block *end = &c->code->blocks[last];
    uint32_t from = c->code->blocks[first].first, to = end->first + end->n, test_at, step_at;
    const struct ir_insn *branch = c->code->ops[to - 1].origin;
    if (to - from > UNROLLED_INSNS || !branch)
        return;
    const struct ir_insn *test = definition(c, from, to - 1, branch->guard, &test_at);
    const struct ir_insn *step = test ? definition(c, from, to - 1, test->a, &step_at) : NULL;
    if (!step || !counts(step))
        return;
    c->scale[to - 1] = c->scale[test_at] = c->scale[step_at] = 1.f / UNROLLED;
}

static void scale_loops(struct coster *c)
{
    uint32_t *ends = ir_find_loop_ends(c->ir, c->arena), inner = UINT32_MAX;
    for (uint32_t b = c->code->n_blocks; b-- > 0;) {
        bool is_loop = c->ir->blocks.at[c->ir->order[b]].loop_header;
        if (!is_loop || (inner != UINT32_MAX && inner <= ends[b]))
            continue; /* only innermost loops are unrolled */
        inner = b;
        if (!ir_keeps_rolled(c->ir, b))
            scale_loop(c, b, ends[b]);
    }
}

/* ---- traces: blocks that are scheduled together ---- */

/* Ptxas predicates instructions instead of branching over them, up to so many. */
enum { PREDICATED_INSNS = 8 };

struct entries {
    uint32_t n;
    /* The state behind the previous block, and behind the one before that. */
    bool previous, skipping;
};

static struct entries *count_entries(const struct coster *c)
{
    struct entries *e = ARENA_ARRAY(c->arena, struct entries, c->code->n_blocks);
    for (uint32_t b = 0; b < c->code->n_blocks; b++)
        for (uint32_t k = 0; k < ir_count_from(c->ir, b); k++) {
            uint32_t to = ir_order_from(c->ir, b, k);
            e[to].n++;
            e[to].previous |= to == b + 1;
            e[to].skipping |= to == b + 2;
        }
    return e;
}

static bool can_be_predicated(const struct coster *c, uint32_t b)
{
    const struct code_block *block = &c->code->blocks[b];
    uint8_t end = c->code->ops[block->first + block->n - 1].kind;
    return block->n <= PREDICATED_INSNS && end <= OP_BRA; /* no barrier, vote, call or exit */
}

/* A block that is entered only from the previous one continues its trace, and so does a block
 * behind a few instructions that a branch may skip. */
static void find_traces(struct coster *c)
{
    const struct entries *e = count_entries(c);
    c->trace = ARENA_ARRAY(c->arena, uint32_t, c->code->n_blocks);
    c->predicated = ARENA_ARRAY(c->arena, bool, c->code->n_blocks);
    for (uint32_t b = 0; b < c->code->n_blocks; b++) {
        bool skipped = b >= 2 && e[b].n == 2 && e[b].previous && e[b].skipping && e[b - 1].n == 1 &&
                       e[b - 1].previous && can_be_predicated(c, b - 1);
        bool goes_on = b >= 1 && e[b].previous && (e[b].n == 1 || skipped);
        c->trace[b] = goes_on ? c->trace[b - 1] : b;
        if (skipped)
            c->predicated[b - 2] = true;
    }
}

/* ---- chains ---- */

/* The schedule of one trace so far, by level. */
struct chain {
    /* starts of the latest instruction, and of the latest access that keeps its order */
    float last, ordered;
    float store[SPACE_PARAM + 1]; /* of the latest store to each space; generic: to any */
    float held;                   /* nothing starts before this */
    float products;               /* end of the latest wgmma */
};

static bool keeps_place(const struct ir_access *x)
{
    return x->mem.is_volatile || x->mem.order != ORDER_WEAK;
}

static float store_before(const struct chain *at, enum ptx_space space)
{
    float most = at->store[SPACE_GENERIC];
    for (unsigned k = 0; k <= SPACE_PARAM; k++)
        if ((space == SPACE_GENERIC || k == space) && at->store[k] > most)
            most = at->store[k];
    return most;
}

/* How long the following instructions wait, whatever they read: behind barriers, fences, branch
 * targets, calls. */
static float holds_up(enum cost_class class)
{
    switch (class) {
    case COST_bar:
    case COST_cluster_bar:
    case COST_mbarrier:
    case COST_bulk:
    case COST_fence:
    case COST_proxy_fence:
    case COST_wgmma_wait:
    case COST_bra:
    case COST_call: return class_costs[class].latency;
    default: return 0;
    }
}

static float start_of(const struct coster *c, const struct ir_insn *i, const struct chain *at, uint32_t trace,
                      unsigned level)
{
    ir_ref refs[IR_MAX_REFS];
    float start = cost_waits_for_products(i) && at->products > at->held ? at->products : at->held;
    for (unsigned k = 0, all = ir_reads(i, refs); k < all; k++) {
        const struct use *u = cost_use_of(c, refs[k]);
        if (u && u->trace == trace + 1 && u->ready[level] > start)
            start = u->ready[level];
    }
    if (is_access(i) && i->access->mem.space != SPACE_PARAM && i->access->mem.space != SPACE_CONST) {
        float before = i->access->mem.is_const ? 0 : store_before(at, i->access->mem.space);
        start = before > start ? before : start;
        if (keeps_place(i->access) && start < at->ordered)
            start = at->ordered;
    }
    return start;
}

static void note_start(struct chain *at, const struct ir_insn *i, float start, float waits)
{
    if (start + waits > at->last)
        at->last = start + waits;
    if (waits > 0)
        at->held = at->last;
    if (!is_access(i))
        return;
    float *store = &at->store[i->access->mem.space];
    if (i->kind != IR_LD && start > *store)
        *store = start;
    if (keeps_place(i->access))
        at->ordered = start + 1;
}

static void define(const struct coster *c, const struct ir_insn *i, uint32_t trace, unsigned level, float ready)
{
    ir_ref refs[IR_MAX_REFS];
    for (unsigned k = 0, all = ir_writes(i, refs); k < all; k++) {
        struct use *u = cost_use_of(c, refs[k]);
        if (!u)
            continue;
        u->trace = trace + 1;
        u->ready[level] = ready;
    }
}

static bool is_predicated(const struct coster *c, uint32_t b, const struct ir_insn *i)
{
    return c->predicated[b] && i && i->kind == IR_BRA;
}

/* `at`: the trace's schedule when the block begins. */
static void cost_block(struct coster *c, uint32_t b, struct chain at[CLOCK_LEVELS])
{
    struct block_cost *cost = &c->costs[b];
    const struct ir_insn *previous = NULL;
    float issued = 0, from[CLOCK_LEVELS];
    for (unsigned level = 0; level < CLOCK_LEVELS; level++)
        from[level] = at[level].last;
    for (uint32_t k = 0; k < c->code->blocks[b].n; k++) {
        const struct ir_insn *i = insn_at(c->code, b, k);
        enum cost_class class = is_predicated(c, b, i) ? COST_folded : cost_class_of(c, i, previous);
        float scale = c->scale[c->code->blocks[b].first + k];
        cost->classes[class] += scale;
        if (i && cost_is_product_of_matrices(i))
            cost_add_product(cost, &i->matrix->form, scale);
        issued += scale * class_costs[class].instructions;
        float start[CLOCK_LEVELS] = {0};
        for (unsigned level = 0; i && level < CLOCK_LEVELS; level++)
            start[level] = start_of(c, i, &at[level], c->trace[b], level);
        for (unsigned level = 0; i && level < CLOCK_LEVELS; level++) {
            note_start(&at[level], i, start[level], scale * holds_up(class));
            float ready = start[level] + scale * cost_latency_of(c, i, class, level);
            define(c, i, c->trace[b], level, ready);
            if (class == COST_wgmma)
                at[level].products = ready;
        }
        previous = i;
    }
    for (unsigned level = 0; level < CLOCK_LEVELS; level++) {
        if (at[level].last < from[level] + issued)
            at[level].last = from[level] + issued;
        cost->chain[level] = at[level].last - from[level];
    }
}

static bool is_live_out(const struct ir_live *live, uint32_t b, ir_ref r)
{
    uint32_t n = ir_ref_kind(r) == REF_REG ? live->number[ir_ref_index(r)] : 0;
    return n && ir_in_set(live->out + (size_t)b * live->words, n - 1);
}

/* Finds the results that are still pending at the block's end and that others need. */
static void find_tail(struct coster *c, uint32_t b, const struct chain at[CLOCK_LEVELS], const struct ir_live *live)
{
    for (uint32_t k = 0; k < c->code->blocks[b].n; k++) {
        const struct ir_insn *i = insn_at(c->code, b, k);
        ir_ref refs[IR_MAX_REFS];
        for (unsigned r = 0, all = i ? ir_writes(i, refs) : 0; r < all; r++)
            for (unsigned level = 0; is_live_out(live, b, refs[r]) && level < CLOCK_LEVELS; level++) {
                struct use *u = cost_use_of(c, refs[r]);
                float pending = u->ready[level] - at[level].last;
                u->pending |= pending > 0;
                if (pending > c->costs[b].tail[level])
                    c->costs[b].tail[level] = pending;
            }
    }
}

/* Does a block read pending results of another block? Those of its trace's earlier blocks are
 * waited for already. */
static bool reads_pending(struct coster *c, uint32_t b)
{
    bool pending = false;
    for (uint32_t k = 0; k < c->code->blocks[b].n; k++) {
        const struct ir_insn *i = insn_at(c->code, b, k);
        ir_ref refs[IR_MAX_REFS];
        for (unsigned r = 0, all = i ? ir_reads(i, refs) : 0; r < all; r++) {
            const struct use *u = cost_use_of(c, refs[r]);
            pending |= u && u->pending && u->trace != c->trace[b] + 1;
        }
        for (unsigned r = 0, all = i ? ir_writes(i, refs) : 0; r < all; r++)
            if (cost_use_of(c, refs[r]))
                cost_use_of(c, refs[r])->trace = c->trace[b] + 1;
    }
    return pending;
}

static void forget_definitions(struct coster *c)
{
    for (uint32_t r = 0; r < c->ir->regs.n; r++)
        c->uses[r].trace = 0;
}

/* live: NULL if the function is too large to compute it. */
static struct block_cost *cost_function(const struct device_rates *rates, const struct code *code,
                                        const struct ir_live *live, struct arena *arena)
{
    struct coster c = {.rates = rates, .code = code, .ir = code->ir, .arena = arena};
    struct chain at[CLOCK_LEVELS];
    c.costs = ARENA_ARRAY(arena, struct block_cost, code->n_blocks);
    c.uses = ARENA_ARRAY(arena, struct use, code->ir->regs.n);
    c.scale = ARENA_ARRAY(arena, float, code->n_ops);
    for (uint32_t k = 0; k < code->n_ops; k++)
        c.scale[k] = 1;
    note_uses(&c);
    scale_loops(&c);
    find_traces(&c);
    for (uint32_t b = 0; b < code->n_blocks; b++) {
        if (c.trace[b] == b)
            memset(at, 0, sizeof at);
        cost_block(&c, b, at);
        if (live)
            find_tail(&c, b, at, live);
    }
    forget_definitions(&c);
    for (uint32_t b = 0; b < code->n_blocks; b++) {
        c.costs[b].starts = c.trace[b] == b;
        c.costs[b].waits = !live || reads_pending(&c, b);
    }
    return c.costs;
}

static void add_spills(struct cost_table *t, const struct kernel *k, const struct ir_live *const *live,
                       struct arena *arena)
{
    struct spills **spills = spills_find(k, live, arena);
    t->spilled_bytes = spilled_bytes(k, spills);
    for (uint32_t i = 0; spills && i < k->functions.n; i++) {
        uint32_t f = k->functions.at[i]->index;
        for (uint32_t b = 0; b < k->functions.at[i]->n_blocks; b++) {
            t->functions[f][b].spill_loads = spills[f][b].loads;
            t->functions[f][b].spill_stores = spills[f][b].stores;
        }
    }
}

struct cost_table *cost_table_make(const struct kernel *k, const struct device_rates *rates, struct arena *arena)
{
    struct cost_table *t = arena_alloc(arena, sizeof *t);
    t->functions = ARENA_ARRAY(arena, struct block_cost *, k->functions.n);
    const struct ir_live **live = ARENA_ARRAY(arena, const struct ir_live *, k->functions.n);
    for (uint32_t i = 0; i < k->functions.n; i++) {
        const struct code *code = k->functions.at[i];
        struct ir_live *l = ARENA_NEW(arena, struct ir_live);
        live[code->index] = ir_find_live(code->ir, arena, l) ? l : NULL;
        t->functions[code->index] = cost_function(rates, code, live[code->index], arena);
    }
    add_spills(t, k, live, arena);
    return t;
}

const struct block_cost *cost_of(const struct cost_table *t, const struct code *code, uint32_t block)
{
    return &t->functions[code->index][block];
}

uint32_t cost_spilled_bytes(const struct cost_table *t)
{
    return t->spilled_bytes;
}
