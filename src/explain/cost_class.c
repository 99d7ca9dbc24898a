/* Maps an instruction to the pipes of a multiprocessor: its class (cost.def), its products, the
 * latency of its result; see cost.h. */
#include "explain/coster.h"

#include <math.h>

#include "ir/shape.h"
#include "isa/opcodes.h"

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

bool cost_is_wide_sum(const struct ir_insn *i)
{
    return i->kind == IR_LANES && i->origin && i->origin->inst->op == OP_add && i->origin->inst->n_types &&
           isa_type_bits(i->origin->inst->type[0]) == 64 && i->origin->inst->type[0] != TYPE_f64;
}

bool cost_is_product(const struct ir_insn *i)
{
    const struct isa_inst *inst = i->origin ? i->origin->inst : NULL;
    return i->kind == IR_LANES && inst &&
           (isa_has(inst, MOD_wide) || (inst->op == OP_shl && isa_type_bits(inst->type[0]) == 64));
}

struct use *cost_use_of(const struct coster *c, ir_ref r)
{
    return ir_ref_kind(r) == REF_REG ? &c->uses[ir_ref_index(r)] : NULL;
}

static bool feeds_sums_alone(const struct use *u)
{
    return u && u->reads && u->reads == u->address_reads;
}

/* LDS and STS add a scaled register and a constant to their address themselves. */
bool cost_is_shared_address(const struct coster *c, const struct ir_insn *i)
{
    const struct use *d = cost_use_of(c, i->d);
    isa_op op = i->kind == IR_LANES && i->origin ? i->origin->inst->op : OP_COUNT;
    return d && d->reads && d->reads == d->shared_reads && (op == OP_shl || op == OP_add);
}

static bool reads_product(const struct coster *c, const struct ir_insn *i)
{
    const struct use *a = cost_use_of(c, i->a), *b = cost_use_of(c, i->b);
    return (a && a->is_product && feeds_sums_alone(a)) || (b && b->is_product && feeds_sums_alone(b));
}

static bool reads_sreg(const struct ir_insn *i)
{
    return ir_ref_kind(i->a) == REF_SREG;
}

/* Is it a multiply-add, written as one or contracted? */
static bool is_fma(const struct ir_insn *i)
{
    return i->kind == IR_LANES && strncmp(lane_info(i->lane)->name, "fma_", 4) == 0;
}

bool cost_is_product_of_matrices(const struct ir_insn *i)
{
    return i->kind == IR_MATRIX && (i->matrix->form.kind == MATRIX_PRODUCT || i->matrix->form.kind == MATRIX_WARPGROUP);
}

static enum cost_class product_class(const struct matrix *x)
{
    enum { WHOLE_ROW = 256 }; /* bits of a row of A that a tensor core takes at once */
    unsigned row = (unsigned)x->k * x->a.bits / (x->sparse ? 2 : 1);
    if (x->kind == MATRIX_WARPGROUP)
        return COST_wgmma;
    if (x->a_type == TYPE_f64)
        return COST_mma64;
    if (x->is_wmma)
        return x->a_type == TYPE_tf32 ? COST_wmma_tf32 : x->a.bits <= 8 ? COST_wmma_s8 : COST_wmma;
    return row < WHOLE_ROW ? COST_mma_half : COST_mma;
}

bool cost_waits_for_products(const struct ir_insn *i)
{
    return i->kind == IR_GROUP && i->mode == GROUP_WGMMA_WAIT && i->imm == 0;
}

/* `previous`: the operation before it. What one PTX instruction was lowered to counts once. */
enum cost_class cost_class_of(const struct coster *c, const struct ir_insn *i, const struct ir_insn *previous)
{
    if (!i || !i->origin || i->kind == IR_JUMP || (previous && previous->origin == i->origin))
        return COST_folded;
    if (i->kind == IR_LD && i->access->mem.space == SPACE_PARAM)
        return COST_param;
    if (cost_is_product_of_matrices(i))
        return product_class(&i->matrix->form);
    if (cost_waits_for_products(i))
        return COST_wgmma_wait;
    enum cost_class class = class_of_op(i->origin->inst);
    if (is_fma(i))
        return class == COST_fp64 ? COST_fma64 : COST_fma32;
    if (class == COST_mov)
        return reads_sreg(i) ? COST_sreg : feeds_sums_alone(cost_use_of(c, i->d)) ? COST_folded : COST_mov;
    if ((cost_is_product(i) && feeds_sums_alone(cost_use_of(c, i->d))) || cost_is_shared_address(c, i))
        return COST_folded;
    return cost_is_wide_sum(i) && reads_product(c, i) ? COST_imul : class;
}

/* Types of 4 bits and 1 bit have no rate of their own, and take that of 8 bits. */
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

/* Each of a warpgroup's four warps does its share. Tensor cores skip the half of a sparse matrix
 * that is 0. */
static float operations_of(const struct matrix *x)
{
    return (x->sparse ? 1.f : 2.f) * (float)x->m * (float)x->n * (float)x->k;
}

void cost_add_product(struct block_cost *cost, const struct matrix *x, float scale)
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
    /* latency_ldmatrix_x1, _x4. */
    if (i->kind == IR_MATRIX && i->matrix->form.kind == MATRIX_LOAD_ROWS)
        bytes = 4u * i->matrix->form.count;
    if (i->kind == IR_ATOM)
        return x->mem.space == SPACE_SHARED ? r->latency_shared_atomic : r->latency_atomic;
    switch (x->mem.space) {
    /* latency_lds16, _lds8 */
    case SPACE_SHARED: return r->latency_shared + (bytes >= 16 ? 8.5 : bytes >= 8 ? 3 : 0);
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

float cost_latency_of(const struct coster *c, const struct ir_insn *i, enum cost_class class, unsigned level)
{
    if (ir_is_copy(i)) /* a copy is not waited for here */
        return class_costs[class].latency;
    if (class == COST_wgmma) {
        const struct matrix *x = &i->matrix->form;
        return operations_of(x) / (float)tensor_rate(c->rates, product_type((enum isa_type)x->a_type));
    }
    bool loads = i->kind == IR_LD || i->kind == IR_ATOM || (i->kind == IR_MATRIX && i->access);
    return loads ? (float)memory_latency(c->rates, i, level) : class_costs[class].latency;
}
