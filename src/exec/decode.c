/* Decoding a function for the interpreter: its rows and operations; see code.h. */
#include "exec/preparer.h"

#include "exec/matrix.h"
#include "exec/texture.h"

static uint64_t base_value(struct preparer *p, const struct ir_const *c)
{
    const struct mem *m = p->env->mem;
    switch ((enum ir_base)c->base) {
    case BASE_SYMBOL: return preparer_symbol_address(p, c->symbol);
    case BASE_SHARED_WINDOW: return mem_shared_window(m);
    case BASE_LOCAL_WINDOW: return mem_local_window(m);
    case BASE_SHARED_WINDOW_SIZE: return MEM_SHARED_WINDOW_BYTES;
    case BASE_CLUSTER_WINDOW_SIZE: return MEM_CLUSTER_WINDOW_BYTES;
    case BASE_LOCAL_WINDOW_SIZE: return MEM_LOCAL_WINDOW_BYTES;
    case BASE_CONST_START: return m->const_start;
    case BASE_CONST_SIZE: return m->const_size;
    default: return 0;
    }
}

/* ---- rows ---- */

static void splat(uint8_t *row, unsigned width, uint64_t v)
{
    uint64_t value[2] = {v, 0};
    if (width == 1) {
        uint32_t mask = v ? UINT32_MAX : 0;
        memcpy(row, &mask, 4);
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        memcpy(row + l * width / 8, value, width / 8);
}

static void fill_consts(struct preparer *p, struct code *c, const struct code_layout *l)
{
    const struct ir_func *ir = c->ir;
    c->consts = (uint8_t *)(((uintptr_t)arena_alloc(p->arena, l->const_bytes + 64) + 63) & ~(uintptr_t)63);
    for (uint32_t i = 1; i < ir->consts.n; i++) {
        const struct ir_const *k = &ir->consts.at[i];
        splat(c->consts + l->consts[i], k->width, k->lo + base_value(p, k));
    }
}

struct decoder {
    struct preparer *p;
    struct code *c;
    const struct code_layout *layout;
};

static row_ref row_of(const struct decoder *d, ir_ref r)
{
    block_rows_add(&d->p->k->block_rows, d->c->ir, r, d->p->arena);
    return layout_row(d->layout, d->c->ir, &d->p->k->block_rows, r);
}

static uint8_t width_of(const struct decoder *d, ir_ref r)
{
    return layout_width(d->c->ir, r);
}

/* ---- operations ---- */

static const struct op_access *decode_access(const struct decoder *d, const struct ir_insn *in)
{
    const struct ir_access *a = in->access;
    struct op_access *x = ARENA_NEW(d->p->arena, struct op_access);
    *x = (struct op_access){.mem = a->mem, .base_width = width_of(d, in->a), .disp = a->disp};
    if (a->disp_const) {
        const struct ir_const *c = &d->c->ir->consts.at[ir_ref_index(a->disp_const)];
        x->disp = (int64_t)((uint64_t)x->disp + c->lo + base_value(d->p, c));
    }
    for (unsigned k = 0; k < 8; k++) {
        x->regs[k] = row_of(d, a->regs[k]);
        x->width[k] = width_of(d, a->regs[k]);
        x->has_reg[k] = a->regs[k] != REF_NONE;
        x->operands[k] = row_of(d, a->operands[k]);
        x->has_operand[k] = a->operands[k] != REF_NONE;
    }
    return x;
}

static const struct op_matrix *decode_matrix(const struct decoder *d, const struct ir_matrix *ir)
{
    struct op_matrix *x = ARENA_NEW(d->p->arena, struct op_matrix);
    x->ir = ir;
    x->reads = ARENA_ARRAY(d->p->arena, row_ref, ir->n_reads);
    x->writes = ARENA_ARRAY(d->p->arena, row_ref, ir->n_writes);
    for (unsigned k = 0; k < ir->n_reads; k++)
        x->reads[k] = row_of(d, ir->reads[k]);
    for (unsigned k = 0; k < ir->n_writes; k++)
        x->writes[k] = row_of(d, ir->writes[k]);
    matrix_prepare(x);
    return x;
}

static const struct op_texture *decode_texture(const struct decoder *d, const struct ir_texture *ir)
{
    struct op_texture *x = ARENA_NEW(d->p->arena, struct op_texture);
    x->ir = ir;
    for (unsigned k = 0; k < ir->n_reads; k++)
        x->reads[k] = row_of(d, ir->reads[k]);
    for (unsigned k = 0; k < ir->n_writes; k++) {
        x->writes[k] = row_of(d, ir->writes[k]);
        x->write_width[k] = ir->writes[k] ? width_of(d, ir->writes[k]) : 0;
    }
    return x;
}

/* What the texels of an access are to who watches. */
static const struct op_access *texture_access(const struct decoder *d, const struct ir_texture *ir)
{
    const struct texture_form *f = &ir->form;
    struct op_access *x = ARENA_NEW(d->p->arena, struct op_access);
    bool reduces = f->op == SURFACE_REDUCE;
    x->mem = (struct mem_access){.space = SPACE_GLOBAL,
                                 .bytes = (uint8_t)(f->is_surface ? isa_type_bits((enum isa_type)f->type) / 8 : 4),
                                 .n = f->is_surface ? f->n : 1};
    if (reduces) {
        x->mem.atom = ir->atom;
        x->mem.type = f->type;
        x->mem.order = ORDER_RELAXED;
        x->mem.scope = MOD_gpu;
    }
    return x;
}

static void decode_lanes(struct op *o, const struct ir_insn *in, lane_fn *const *lanes)
{
    const struct lane_info *info = lane_info(in->lane);
    o->kind = info->e ? OP_LANES : info->c ? OP_LANES : info->b ? OP_LANES2 : OP_LANES1;
    o->fn = lanes[in->lane];
    o->width = info->d;
    o->e_kind = (uint8_t)info->e;
}

static enum op_kind plain_kind(const struct ir_insn *in)
{
    static const uint8_t kinds[] = {
        [IR_LD] = OP_LD,
        [IR_ST] = OP_ST,
        [IR_ATOM] = OP_ATOM,
        [IR_FRAME] = OP_FRAME,
        [IR_NOW] = OP_NOW,
        [IR_ACTIVEMASK] = OP_ACTIVEMASK,
        [IR_FENCE] = OP_FENCE,
        [IR_ASYNC] = OP_ASYNC,
        [IR_GROUP] = OP_GROUP,
        [IR_TEXTURE] = OP_TEXTURE,
        [IR_ALLOCA] = OP_ALLOCA,
        [IR_STACKSAVE] = OP_STACKSAVE,
        [IR_STACKRESTORE] = OP_STACKRESTORE,
        [IR_BRA] = OP_BRA,
        [IR_BRX] = OP_BRX,
        [IR_CALL] = OP_CALL,
        [IR_RET] = OP_RET,
        [IR_EXIT] = OP_EXIT,
        [IR_TRAP] = OP_TRAP,
        [IR_BRKPT] = OP_BRKPT,
        [IR_BAR] = OP_BAR,
        [IR_MBARRIER] = OP_MBARRIER,
        [IR_NANOSLEEP] = OP_NANOSLEEP,
    };
    _Static_assert(OP_LANES1 == 0, "no entry is 0");
    if (ir_is_copy(in))
        return in->kind == IR_LD ? OP_FETCH : OP_ASYNC;
    uint8_t kind = in->kind < sizeof kinds ? kinds[in->kind] : 0;
    return kind ? (enum op_kind)kind : OP_COLLECTIVE;
}

static void decode_insn(const struct decoder *d, const struct ir_insn *in, uint32_t next, struct op *o)
{
    *o = (struct op){.kind = (uint8_t)plain_kind(in),
                     .flags = (uint8_t)((in->guard ? OPF_GUARD : 0) | (in->guard_negated ? OPF_GUARD_NEGATED : 0)),
                     .mode = in->mode,
                     .width = width_of(d, in->d),
                     .next = next,
                     .guard = row_of(d, in->guard),
                     .d = row_of(d, in->d),
                     .e = row_of(d, in->e),
                     .a = row_of(d, in->a),
                     .b = row_of(d, in->b),
                     .c = row_of(d, in->c),
                     .f = row_of(d, in->f),
                     .imm = in->imm,
                     .has_d = in->d != REF_NONE,
                     .has_e = in->e != REF_NONE,
                     .has_b = in->b != REF_NONE,
                     .origin = in};
    d->p->k->has_async |= in->kind == IR_ASYNC || ir_is_copy(in);
    switch (in->kind) {
    case IR_LANES: decode_lanes(o, in, d->p->env->lanes); break;
    case IR_ASYNC:
    case IR_LD:
    case IR_ST:
    case IR_ATOM:
    case IR_MBARRIER: o->access = decode_access(d, in); break;
    case IR_MATRIX:
        o->matrix = decode_matrix(d, in->matrix);
        o->access = in->access ? decode_access(d, in) : NULL;
        break;
    case IR_TEXTURE:
        o->texture = decode_texture(d, in->texture);
        o->access = texture_access(d, in->texture);
        break;
    case IR_CALL: o->call = in->call; break;
    case IR_BRA: o->target = layout_order(d->c->ir, in->targets[0]); break;
    case IR_BRX: {
        uint32_t *targets = ARENA_ARRAY(d->p->arena, uint32_t, in->n_targets);
        for (uint32_t k = 0; k < in->n_targets; k++)
            targets[k] = layout_order(d->c->ir, in->targets[k]);
        o->targets = targets;
        o->n_targets = in->n_targets;
        break;
    }
    default:
        if (o->kind == OP_COLLECTIVE && !in->f)
            o->flags |= OPF_NO_MASK;
        break;
    }
}

static void decode_blocks(const struct decoder *d)
{
    struct code *c = d->c;
    const struct ir_func *ir = c->ir;
    c->n_ops = d->layout->blocks[ir->n_ordered];
    c->n_blocks = ir->n_ordered;
    c->ops = ARENA_ARRAY(d->p->arena, struct op, c->n_ops);
    c->blocks = ARENA_ARRAY(d->p->arena, struct code_block, c->n_blocks);
    for (uint32_t i = 0; i < ir->n_ordered; i++) {
        const struct ir_block *b = &ir->blocks.at[ir->order[i]];
        uint32_t next = layout_order(ir, b->next);
        struct op *o = &c->ops[d->layout->blocks[i]];
        c->blocks[i] = (struct code_block){.first = d->layout->blocks[i],
                                           .n = layout_operations(b),
                                           .spins = b->spins,
                                           .polls = b->polls,
                                           .serial_from = b->serial_from,
                                           .serial_to = b->serial_to};
        for (uint32_t k = 0; k < b->n; k++)
            decode_insn(d, &ir->insns.at[b->first + k], next, o++);
        if (!layout_has_end(ir, b))
            *o = (struct op){.kind = OP_FALL, .next = next};
        c->has_serial |= b->serial_to > 0;
    }
    for (uint32_t i = 0; i < c->n_ops; i++)
        c->ops[i].runs_as = c->ops[i].kind;
}

void code_decode(struct preparer *p, struct code *c)
{
    struct code_layout layout;
    struct decoder d = {p, c, &layout};
    layout_find(&layout, c->ir, p->arena);
    fill_consts(p, c, &layout);
    decode_blocks(&d);
    c->frame_bytes = layout.frame_bytes;
    c->register_bytes = c->ir->register_bytes;
    for (uint32_t i = 0; i < c->ir->zeroed.n; i++) {
        const struct ir_reg *r = &c->ir->regs.at[c->ir->zeroed.at[i]];
        *VEC_PUSH(p->arena, &c->zeroed) = (struct row_fill){.at = r->slot, .width = r->width};
    }
    p->k->suspends |= c->ir->suspends;
    p->k->instructions += c->ir->insns.n;
}
