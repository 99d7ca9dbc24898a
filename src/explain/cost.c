/* See cost.h. */
#include "explain/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/code.h"
#include "explain/rates.h"
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

enum { UNROLLED = 4, UNROLLED_INSNS = 40 }; /* how often ptxas unrolls loops of up to so many instructions */

/* What is known of a register of a function. */
struct use {
    uint32_t reads, address_reads; /* address_reads: by 64-bit additions and as an address */
    uint32_t shared_reads;         /* as an address in shared memory, or of what is only that */
    uint32_t trace;                /* 1 + that in which it was defined last, while costs are made */
    bool is_product, pending;      /* product: by mul.wide or shl.b64 alone; pending: left so at the end of a block */
    float ready[CLOCK_LEVELS];
};

struct coster {
    const struct device_rates *rates;
    const struct code *code;
    const struct ir_func *ir;
    struct arena *arena;
    struct use *uses; /* by register */
    float *scale;     /* by operation: how much of it is left when loops are unrolled */
    uint32_t *trace;  /* by block: the first block of its trace */
    bool *predicated; /* by block: the branch at its end becomes a predicate of what it jumps over */
    struct block_cost *costs;
};

/* ---- classes ---- */

static bool is_float(enum isa_type t)
{
    return isa_type_class(t) == CLASS_F || t == TYPE_f32x2;
}

static enum cost_class arithmetic(const struct isa_inst *i)
{
    enum isa_type t = i->n_types ? i->type[0] : TYPE_none;
    unsigned bits = isa_type_bits(t);
    return is_float(t)  ? bits == 64 && t == TYPE_f64 ? COST_fp64 : COST_fp32
           : bits == 64 ? COST_integer64
                        : COST_integer;
}

static enum cost_class multiplication(const struct isa_inst *i)
{
    enum isa_type t = i->n_types ? i->type[0] : TYPE_none;
    if (is_float(t))
        return arithmetic(i);
    return isa_type_bits(t) == 64 || isa_has(i, MOD_hi) ? COST_imul64 : COST_imul;
}

static enum cost_class division(const struct isa_inst *i)
{
    enum isa_type t = i->n_types ? i->type[0] : TYPE_none;
    if (t == TYPE_f64)
        return COST_fp64_div;
    if (is_float(t))
        return isa_has(i, MOD_approx) ? COST_sfu_scaled : COST_fp32_div;
    return isa_type_bits(t) == 64 ? COST_idiv64 : COST_idiv;
}

static enum cost_class special(const struct isa_inst *i)
{
    enum isa_type t = i->n_types ? i->type[0] : TYPE_none;
    if (t == TYPE_f64)
        return COST_fp64_div;
    if (!isa_has(i, MOD_approx))
        return i->op == OP_sqrt ? COST_fp32_sqrt : i->op == OP_rcp ? COST_fp32_div : COST_sfu;
    return isa_has(i, MOD_ftz) && i->op != OP_sin && i->op != OP_cos && i->op != OP_sqrt ? COST_sfu : COST_sfu_scaled;
}

static enum cost_class conversion(const struct isa_inst *i)
{
    enum isa_type to = i->n_types ? i->type[0] : TYPE_none, from = i->n_types > 1 ? i->type[1] : to;
    if (!is_float(to) && !is_float(from))
        return COST_mov;
    return isa_type_bits(to) == 64 || isa_type_bits(from) == 64 ? COST_cvt64 : COST_cvt;
}

static enum cost_class of_comparison(const struct isa_inst *i, enum cost_class other)
{
    return arithmetic(i) == COST_fp64 ? COST_fp64 : other;
}

static enum cost_class matrix(const struct isa_inst *i)
{
    if (isa_has(i, MOD_load) || isa_has(i, MOD_store))
        return COST_memory;
    return i->op == OP_wmma || isa_has(i, MOD_mma_async) ? COST_mma : COST_group;
}

static enum cost_class barrier(const struct isa_inst *i)
{
    return !isa_has(i, MOD_cluster) ? COST_bar : isa_has(i, MOD_wait) ? COST_cluster_bar : COST_group;
}

static enum cost_class copy(const struct isa_inst *i)
{
    bool is_group = isa_has(i, MOD_commit_group) || isa_has(i, MOD_wait_group) || isa_has(i, MOD_wait_all);
    return is_group                   ? COST_group
           : isa_has(i, MOD_bulk)     ? COST_bulk
           : isa_has(i, MOD_mbarrier) ? COST_mbarrier
                                      : COST_copy;
}

static enum cost_class class_of_op(const struct isa_inst *i)
{
    switch (i->op) {
#define OPCODE(op, class)                                                                                              \
    case OP_##op: return class;
#include "explain/cost.def"
#undef OPCODE
    default: return COST_other;
    }
}

static bool is_wide_sum(const struct ir_insn *i)
{
    return i->kind == IR_LANES && i->origin && i->origin->inst->op == OP_add && i->origin->inst->n_types &&
           isa_type_bits(i->origin->inst->type[0]) == 64 && i->origin->inst->type[0] != TYPE_f64;
}

static bool is_product(const struct ir_insn *i)
{
    const struct isa_inst *inst = i->origin ? i->origin->inst : NULL;
    return i->kind == IR_LANES && inst &&
           (isa_has(inst, MOD_wide) || (inst->op == OP_shl && isa_type_bits(inst->type[0]) == 64));
}

static struct use *use_of(const struct coster *c, ir_ref r)
{
    return ir_ref_kind(r) == REF_REG ? &c->uses[ir_ref_index(r)] : NULL;
}

static bool feeds_sums_alone(const struct use *u)
{
    return u && u->reads && u->reads == u->address_reads;
}

/* LDS and STS add a scaled register and a constant to their address themselves. */
static bool is_shared_address(const struct coster *c, const struct ir_insn *i)
{
    const struct use *d = use_of(c, i->d);
    isa_op op = i->kind == IR_LANES && i->origin ? i->origin->inst->op : OP_COUNT;
    return d && d->reads && d->reads == d->shared_reads && (op == OP_shl || op == OP_add);
}

static bool reads_product(const struct coster *c, const struct ir_insn *i)
{
    const struct use *a = use_of(c, i->a), *b = use_of(c, i->b);
    return (a && a->is_product && feeds_sums_alone(a)) || (b && b->is_product && feeds_sums_alone(b));
}

static bool reads_sreg(const struct ir_insn *i)
{
    return ir_ref_kind(i->a) == REF_SREG;
}

/* In the text, or by contraction. */
static bool is_fma(const struct ir_insn *i)
{
    return i->kind == IR_LANES && strncmp(lane_info(i->lane)->name, "fma_", 4) == 0;
}

static bool is_product_of_matrices(const struct ir_insn *i)
{
    return i->kind == IR_MATRIX && (i->matrix->form.kind == MATRIX_PRODUCT || i->matrix->form.kind == MATRIX_WARPGROUP);
}

static enum cost_class product_class(const struct matrix *x)
{
    enum { WHOLE_ROW = 256 }; /* bits of A that the tensor core takes of a row at once */
    unsigned row = (unsigned)x->k * x->a.bits / (x->sparse ? 2 : 1);
    if (x->kind == MATRIX_WARPGROUP)
        return COST_wgmma;
    if (x->a_type == TYPE_f64)
        return COST_mma64;
    if (x->is_wmma)
        return x->a_type == TYPE_tf32 ? COST_wmma_tf32 : x->a.bits <= 8 ? COST_wmma_s8 : COST_wmma;
    return row < WHOLE_ROW ? COST_mma_half : COST_mma;
}

static bool waits_for_products(const struct ir_insn *i)
{
    return i->kind == IR_GROUP && i->mode == GROUP_WGMMA_WAIT && i->imm == 0;
}

/* `previous`: the operation before it; what lowering made of one instruction counts once. */
static enum cost_class class_of(const struct coster *c, const struct ir_insn *i, const struct ir_insn *previous)
{
    if (!i || !i->origin || i->kind == IR_JUMP || (previous && previous->origin == i->origin))
        return COST_folded;
    if (i->kind == IR_LD && i->access->mem.space == SPACE_PARAM)
        return COST_param;
    if (is_product_of_matrices(i))
        return product_class(&i->matrix->form);
    if (waits_for_products(i))
        return COST_wgmma_wait;
    enum cost_class class = class_of_op(i->origin->inst);
    if (is_fma(i))
        return class == COST_fp64 ? COST_fma64 : COST_fma32;
    if (class == COST_mov)
        return reads_sreg(i) ? COST_sreg : feeds_sums_alone(use_of(c, i->d)) ? COST_folded : COST_mov;
    if ((is_product(i) && feeds_sums_alone(use_of(c, i->d))) || is_shared_address(c, i))
        return COST_folded;
    return is_wide_sum(i) && reads_product(c, i) ? COST_imul : class;
}

/* Types without a rate of their own, of 4 bits and 1, at that of 8. */
static enum product_type product_type(enum isa_type t)
{
    switch (t) {
    case TYPE_f64: return PRODUCT_f64;
    case TYPE_tf32: return PRODUCT_tf32;
    case TYPE_f16:
    case TYPE_bf16: return PRODUCT_f16;
    case TYPE_e4m3:
    case TYPE_e5m2: return PRODUCT_f8;
    default: return PRODUCT_s8;
    }
}

/* Each of the four warps of a warpgroup does its share; tensor cores leave out the half that is 0 of sparse matrices. */
static float operations_of(const struct matrix *x)
{
    return (x->sparse ? 1.f : 2.f) * (float)x->m * (float)x->n * (float)x->k;
}

static void add_product(struct block_cost *cost, const struct matrix *x, float scale)
{
    enum { WARPS_OF_WARPGROUP = 4 };
    float of_warp = x->kind == MATRIX_WARPGROUP ? 1.f / WARPS_OF_WARPGROUP : 1;
    cost->tensor[product_type((enum isa_type)x->a_type)] += scale * of_warp * operations_of(x);
}

static double tensor_rate(const struct device_rates *r, enum product_type t)
{
    const double rates[] = {
#define TENSOR(name) r->tensor_##name,
#include "explain/cost.def"
#undef TENSOR
    };
    return rates[t];
}

/* ---- latencies ---- */

static double memory_latency(const struct device_rates *r, const struct ir_insn *i, unsigned level)
{
    const struct ir_access *x = i->access;
    unsigned bytes = x->mem.bytes * x->mem.n;
    double from[CLOCK_LEVELS] = {r->latency_l1, r->latency_l2, r->latency_dram};
    if (i->kind == IR_MATRIX && i->matrix->form.kind == MATRIX_LOAD_ROWS) /* latency_ldmatrix_x1, _x4 */
        bytes = 4u * i->matrix->form.count;
    if (i->kind == IR_ATOM)
        return x->mem.space == SPACE_SHARED ? r->latency_shared_atomic : r->latency_atomic;
    switch (x->mem.space) {
    case SPACE_SHARED: return r->latency_shared + (bytes >= 16 ? 8.5 : bytes >= 8 ? 3 : 0); /* latency_lds16, _lds8 */
    case SPACE_LOCAL: return r->latency_l1;
    case SPACE_CONST:
    case SPACE_PARAM: return r->latency_const;
    default: return from[level];
    }
}

void copy_latency(const struct device_rates *r, unsigned mode, bool past_l1, uint64_t bytes,
                  double cycles[CLOCK_LEVELS])
{
    const double from[CLOCK_LEVELS] = {past_l1 ? r->latency_l2 : r->latency_l1, r->latency_l2, r->latency_dram};
    for (unsigned i = 0; i < CLOCK_LEVELS; i++)
        switch ((enum async_mode)mode) {
        case ASYNC_COPY: cycles[i] = from[i] + r->latency_copy; break;
        case ASYNC_BULK_FROM_GLOBAL:
        case ASYNC_TENSOR_LOAD:
            cycles[i] = r->latency_bulk_load + fmax(0, from[i] - r->latency_l2) + (double)bytes / r->bulk_load;
            break;
        default: cycles[i] = r->latency_bulk_store + (double)bytes / r->bulk_store; break;
        }
}

static float latency_of(const struct coster *c, const struct ir_insn *i, enum cost_class class, unsigned level)
{
    if (ir_is_copy(i)) /* nobody waits for it here */
        return class_costs[class].latency;
    if (class == COST_wgmma) {
        const struct matrix *x = &i->matrix->form;
        return operations_of(x) / (float)tensor_rate(c->rates, product_type((enum isa_type)x->a_type));
    }
    bool loads = i->kind == IR_LD || i->kind == IR_ATOM || (i->kind == IR_MATRIX && i->access);
    return loads ? (float)memory_latency(c->rates, i, level) : class_costs[class].latency;
}

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
            if (use_of(c, refs[k])) {
                use_of(c, refs[k])->reads++;
                if (is_wide_sum(i) || (is_access(i) && refs[k] == i->a))
                    use_of(c, refs[k])->address_reads++;
            }
        for (unsigned k = 0, all = ir_writes(i, refs); k < all; k++)
            if (use_of(c, refs[k]))
                use_of(c, refs[k])->is_product = is_product(i);
    }
    for (uint32_t n = c->ir->insns.n; n-- > 0;) { /* backwards: what reads an address before what makes it */
        const struct ir_insn *i = &c->ir->insns.at[n];
        bool shared = is_access(i) && i->access->mem.space == SPACE_SHARED, folded = is_shared_address(c, i);
        if ((shared || folded) && use_of(c, i->a))
            use_of(c, i->a)->shared_reads++;
        if (folded && use_of(c, i->b))
            use_of(c, i->b)->shared_reads++;
    }
}

/* The operation in [from, to) that defines `wanted`, from the last one back; NULL. */
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

/* Of a loop that is unrolled only one is left of its branch, its test and the step of its counter. */
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
            continue; /* not one that has a loop inside */
        inner = b;
        if (!ir_keeps_rolled(c->ir, b))
            scale_loop(c, b, ends[b]);
    }
}

/* ---- traces: blocks that are scheduled together ---- */

enum { PREDICATED_INSNS = 8 }; /* what a branch jumps over at most, for ptxas to predicate it instead */

struct entries {
    uint32_t n;
    bool previous, skipping; /* from the block before it; from that before that */
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
    return block->n <= PREDICATED_INSNS && end <= OP_BRA; /* no barrier, vote or call, no way out */
}

/* A block that can only be entered from the one before it goes on with its trace, and so does one behind a few instructions that a
 * branch may jump over. */
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

/* Of one trace while instructions go by, by level. */
struct chain {
    float last, ordered;          /* starts: the latest; of the latest access that keeps its place */
    float store[SPACE_PARAM + 1]; /* of the latest store to a space; generic: to any */
    float held;                   /* nothing starts before */
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

/* What the instructions behind it wait for, whatever they read: barriers, fences, the target of a branch, a called function. */
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
    float start = waits_for_products(i) && at->products > at->held ? at->products : at->held;
    for (unsigned k = 0, all = ir_reads(i, refs); k < all; k++) {
        const struct use *u = use_of(c, refs[k]);
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
        struct use *u = use_of(c, refs[k]);
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

/* `at`: where the trace stands when the block begins. */
static void cost_block(struct coster *c, uint32_t b, struct chain at[CLOCK_LEVELS])
{
    struct block_cost *cost = &c->costs[b];
    const struct ir_insn *previous = NULL;
    float issued = 0, from[CLOCK_LEVELS];
    for (unsigned level = 0; level < CLOCK_LEVELS; level++)
        from[level] = at[level].last;
    for (uint32_t k = 0; k < c->code->blocks[b].n; k++) {
        const struct ir_insn *i = insn_at(c->code, b, k);
        enum cost_class class = is_predicated(c, b, i) ? COST_folded : class_of(c, i, previous);
        float scale = c->scale[c->code->blocks[b].first + k];
        cost->classes[class] += scale;
        if (i && is_product_of_matrices(i))
            add_product(cost, &i->matrix->form, scale);
        issued += scale * class_costs[class].instructions;
        float start[CLOCK_LEVELS] = {0};
        for (unsigned level = 0; i && level < CLOCK_LEVELS; level++)
            start[level] = start_of(c, i, &at[level], c->trace[b], level);
        for (unsigned level = 0; i && level < CLOCK_LEVELS; level++) {
            note_start(&at[level], i, start[level], scale * holds_up(class));
            float ready = start[level] + scale * latency_of(c, i, class, level);
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

/* What the block leaves pending of what others need. */
static void find_tail(struct coster *c, uint32_t b, const struct chain at[CLOCK_LEVELS], const struct ir_live *live)
{
    for (uint32_t k = 0; k < c->code->blocks[b].n; k++) {
        const struct ir_insn *i = insn_at(c->code, b, k);
        ir_ref refs[IR_MAX_REFS];
        for (unsigned r = 0, all = i ? ir_writes(i, refs) : 0; r < all; r++)
            for (unsigned level = 0; is_live_out(live, b, refs[r]) && level < CLOCK_LEVELS; level++) {
                struct use *u = use_of(c, refs[r]);
                float pending = u->ready[level] - at[level].last;
                u->pending |= pending > 0;
                if (pending > c->costs[b].tail[level])
                    c->costs[b].tail[level] = pending;
            }
    }
}

/* Does a block read what some block leaves pending, other than those before it in its trace, which have been waited for? */
static bool reads_pending(struct coster *c, uint32_t b)
{
    bool pending = false;
    for (uint32_t k = 0; k < c->code->blocks[b].n; k++) {
        const struct ir_insn *i = insn_at(c->code, b, k);
        ir_ref refs[IR_MAX_REFS];
        for (unsigned r = 0, all = i ? ir_reads(i, refs) : 0; r < all; r++) {
            const struct use *u = use_of(c, refs[r]);
            pending |= u && u->pending && u->trace != c->trace[b] + 1;
        }
        for (unsigned r = 0, all = i ? ir_writes(i, refs) : 0; r < all; r++)
            if (use_of(c, refs[r]))
                use_of(c, refs[r])->trace = c->trace[b] + 1;
    }
    return pending;
}

static void forget_definitions(struct coster *c)
{
    for (uint32_t r = 0; r < c->ir->regs.n; r++)
        c->uses[r].trace = 0;
}

/* live: NULL where the function is too large to find it. */
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
