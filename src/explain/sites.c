/* See sites.h. */
#include "explain/sites.h"

#include "ir/def_use.h"

/* ---- values that are provably the same in all lanes ---- */

struct definitions {
    const struct ir_defs *of;
    uint8_t *known; /* by register: 0: not asked yet; 1: uniform; 2: not uniform, or in progress */
    unsigned depth; /* recursion depth; beyond MOST_DEPTH the answer is no */
};

enum { MOST_DEPTH = 500 };

/* The only definition of a register if it is a pure instruction or reads a kernel parameter; else
 * NULL. */
static const struct ir_insn *simple_definition(const struct definitions *d, ir_ref r)
{
    const struct ir_func *f = d->of->f;
    struct ir_def_list list = ir_defs_within(d->of, r, 0, f->n_ordered);
    const struct ir_insn *i = list.n == 1 && !d->of->zeroed[ir_ref_index(r)] ? &f->insns.at[list.at[0].insn] : NULL;
    if (i && i->kind == IR_LANES && i->d == r)
        return i;
    bool parameter = i && i->kind == IR_LD && i->access->mem.space == SPACE_PARAM && !i->access->mem.frame;
    return parameter && i->access->regs[0] == r ? i : NULL;
}

static bool is_uniform(struct definitions *d, ir_ref r);

static bool register_is_uniform(struct definitions *d, ir_ref r)
{
    const struct ir_insn *i = simple_definition(d, r);
    ir_ref read[IR_MAX_REFS];
    if (!i)
        return false;
    unsigned n = ir_reads(i, read);
    for (unsigned k = 0; k < n; k++)
        if (!is_uniform(d, read[k]))
            return false;
    return true;
}

static bool is_uniform(struct definitions *d, ir_ref r)
{
    uint32_t index = ir_ref_index(r);
    switch (ir_ref_kind(r)) {
    case REF_NONE:
    case REF_CONST: return true;
    case REF_SREG: {
        if (index >= IR_ENVREG)
            return true;
        enum isa_when when = isa_sreg_info((enum isa_sreg)(index / 4))->when;
        return when == WHEN_BLOCK || when == WHEN_LAUNCH;
    }
    case REF_REG: break;
    }
    if (!d->known[index] && d->depth < MOST_DEPTH) {
        d->known[index] = 2;
        d->depth++;
        d->known[index] = register_is_uniform(d, r) ? 1 : 2;
        d->depth--;
    }
    return d->known[index] == 1;
}

/* ---- sites ---- */

static bool is_integer_add(const struct op *o)
{
    const struct mem_access *m = &o->access->mem;
    return o->kind == OP_ATOM && m->atom == ATOM_add && m->n == 1 && (m->type == TYPE_u32 || m->type == TYPE_s32);
}

static bool adds_one(const struct op *o, const struct ir_func *ir)
{
    ir_ref r = o->origin->access->operands[0];
    const struct ir_const *c = ir_ref_kind(r) == REF_CONST ? &ir->consts.at[ir_ref_index(r)] : NULL;
    return c && c->base == BASE_NONE && (uint32_t)c->lo == 1 && !o->access->has_reg[0];
}

/* Does it access a parameter or result of a function (.param)? These are in the frame here. */
static bool is_of_call(const struct op *o)
{
    const struct isa_inst *i = o->origin->origin ? o->origin->origin->inst : NULL;
    return i && (isa_has(i, MOD_param) || isa_has(i, MOD_param_func) || isa_has(i, MOD_param_entry));
}

static bool is_past_l1(const struct op *o)
{
    const struct isa_inst *i = o->origin->origin ? o->origin->origin->inst : NULL;
    return mem_access_is_strong(&o->access->mem) || (i && (isa_has(i, MOD_cg) || isa_has(i, MOD_cv)));
}

/* Bulk copies move bytes between global and shared memory, or between the shared memories of
   blocks. */
static struct access_site make_async_site(const struct op *o)
{
    static const uint8_t in_global[] = {
        [ASYNC_COPY] = KIND_of_copy_ca,           [ASYNC_BULK_FROM_GLOBAL] = KIND_of_bulk_ld,
        [ASYNC_BULK_TO_GLOBAL] = KIND_of_bulk_st, [ASYNC_TENSOR_LOAD] = KIND_of_bulk_ld,
        [ASYNC_TENSOR_STORE] = KIND_of_bulk_st,   [ASYNC_TENSOR_REDUCE] = KIND_of_bulk_red};
    enum async_mode mode = (enum async_mode)o->mode;
    bool reduces = mode == ASYNC_BULK_TO_GLOBAL && o->access->mem.type;
    struct access_site s = {.op = o, .past_l1 = is_past_l1(o)};
    s.kind[SITE_GLOBAL] = reduces ? KIND_of_bulk_red : mode < sizeof in_global ? in_global[mode] : 0;
    if (mode == ASYNC_COPY && s.past_l1)
        s.kind[SITE_GLOBAL] = KIND_of_copy_cg;
    s.kind[SITE_SHARED] = mode == ASYNC_COPY ? KIND_of_copy_st : KIND_of_cluster_st;
    return s;
}

/* Bytes that wgmma reads: 64 rows of A, if it is in shared memory, and B. Elements smaller than 8
 * bits do not occur (9.7.15.2). */
static struct access_site make_warpgroup_site(const struct op *o)
{
    const struct ir_matrix *m = o->origin->matrix;
    const struct matrix *x = &m->form;
    uint32_t a = (uint32_t)x->m * x->k * x->a.bits / 8 / (x->sparse ? 2 : 1), b = (uint32_t)x->n * x->k * x->b.bits / 8;
    return (struct access_site){
        .op = o, .warpgroup_bytes = b + (m->a_by_descriptor ? a : 0), .kind = {[SITE_SHARED] = KIND_of_wgmma_ld}};
}

static bool is_warpgroup_product(const struct op *o)
{
    const struct ir_insn *i = o->origin;
    return i && i->kind == IR_MATRIX && i->matrix->form.kind == MATRIX_WARPGROUP;
}

static struct access_site make_site(const struct op *o, const struct ir_func *ir, struct definitions *d)
{
    if (o->kind == OP_ASYNC)
        return make_async_site(o);
    if (is_warpgroup_product(o))
        return make_warpgroup_site(o);
    struct access_site s = {.op = o};
    bool atom = o->kind == OP_ATOM || o->kind == OP_MBARRIER, result = atom && o->access->has_reg[0];
    bool ld = o->kind == OP_LD || (o->kind == OP_COLLECTIVE && op_reads(o));
    s.kind[SITE_GLOBAL] = ld       ? o->access->mem.space == SPACE_CONST ? KIND_of_const_ld : KIND_of_global_ld
                          : !atom  ? KIND_of_global_st
                          : result ? KIND_of_global_atom
                                   : KIND_of_global_red;
    s.kind[SITE_SHARED] = ld ? KIND_of_shared_ld : atom ? KIND_of_shared_atom : KIND_of_shared_st;
    s.kind[SITE_LOCAL] = ld ? KIND_of_local_ld : KIND_of_local_st;
    s.ignored = is_of_call(o) || o->kind == OP_MBARRIER; /* SYNCS does not use the data stage */
    s.past_l1 = ld && is_past_l1(o);
    if (is_integer_add(o)) {
        s.summed = is_uniform(d, o->origin->a);
        s.increments = adds_one(o, ir);
    }
    return s;
}

static bool accesses_memory(const struct op *o)
{
    bool is_matrix = o->kind == OP_COLLECTIVE && o->access;
    return o->kind == OP_LD || o->kind == OP_ST || o->kind == OP_ATOM || o->kind == OP_MBARRIER ||
           o->kind == OP_ASYNC || is_matrix || is_warpgroup_product(o);
}

static void find_in(struct sites *s, struct function_sites *f, struct arena *arena)
{
    struct arena scratch = {.on_oom = arena->on_oom};
    struct definitions d = {ir_find_defs(f->code->ir, &scratch), ARENA_ARRAY(&scratch, uint8_t, f->code->ir->regs.n),
                            0};
    uint32_t *of_op = ARENA_ARRAY(arena, uint32_t, f->code->n_ops);
    for (uint32_t i = 0; i < f->code->n_ops; i++) {
        if (!accesses_memory(&f->code->ops[i]))
            continue;
        s->at[s->n] = make_site(&f->code->ops[i], f->code->ir, &d);
        of_op[i] = s->of_site[f->code->ops[i].site] = ++s->n;
    }
    f->of_op = of_op;
    arena_free(&scratch);
}

struct sites *sites_find(const struct kernel *k, struct arena *arena)
{
    struct sites *s = ARENA_NEW(arena, struct sites);
    uint32_t most = 0, n_ops = 0;
    s->n_functions = k->functions.n;
    s->functions = ARENA_ARRAY(arena, struct function_sites, s->n_functions);
    for (uint32_t i = 0; i < s->n_functions; i++) {
        n_ops += k->functions.at[i]->n_ops;
        for (uint32_t o = 0; o < k->functions.at[i]->n_ops; o++)
            most += accesses_memory(&k->functions.at[i]->ops[o]);
    }
    s->at = ARENA_ARRAY(arena, struct access_site, most);
    s->of_site = ARENA_ARRAY(arena, uint32_t, n_ops);
    for (uint32_t i = 0; i < s->n_functions; i++) {
        s->functions[i] = (struct function_sites){.code = k->functions.at[i], .first_block = s->n_blocks};
        s->n_blocks += k->functions.at[i]->n_blocks;
        find_in(s, &s->functions[i], arena);
    }
    return s;
}
