/* Lowering a function: statements to blocks of instructions; see ir.h and builder.h. */
#include "ir/builder.h"
#include "isa/lane_ids.h"
#include "isa/opcodes.h"

/* Steps that a function's passes may take beyond what grows with its size alone: about a second. */
static const uint64_t FUNCTION_WORK = 1ull << 30;

static struct place place_of_symbol(const struct builder *b, const struct ptx_symbol *s)
{
    return ptx_place(b->module, s->offset, (uint32_t)s->name.n);
}

/* ---- blocks ---- */

/* Labels become blocks before anything is lowered, so that branches forward know their targets.
 * Here a block is numbered by its label's statement until the numbers are known. */
static uint32_t target_of(const struct ptx_symbol *symbol)
{
    return ((const struct ptx_label *)symbol)->stmt;
}

static void set_targets(struct builder *b, struct ir_insn *i, uint32_t n)
{
    ir_spend(b->f, (uint64_t)n * INSN_WORK); /* many branches may have one table */
    i->n_targets = n;
    i->targets = ARENA_ARRAY(b->arena, uint32_t, n);
}

static void lower_branch(struct builder *b)
{
    struct ir_insn *i = ir_emit_guarded(b, IR_BRA);
    set_targets(b, i, 1);
    i->targets[0] = target_of(b->insn->operands[0].symbol);
}

static void lower_indexed_branch(struct builder *b)
{
    const struct ptx_table *t = (const struct ptx_table *)b->insn->table;
    ir_ref index = ir_source(b, &b->insn->operands[0], TYPE_u32);
    struct ir_insn *i = ir_emit_guarded(b, IR_BRX);
    i->a = index;
    set_targets(b, i, t->targets.n);
    for (uint32_t k = 0; k < t->targets.n; k++)
        i->targets[k] = target_of(t->targets.at[k]);
}

static void lower_bar(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    const struct isa_inst *inst = in->inst;
    bool reduces = isa_has(inst, MOD_red), counts = isa_has(inst, MOD_popc);
    uint32_t at = reduces ? 1 : 0, n = in->n_operands - (reduces ? 1u : 0u);
    ir_ref barrier = ir_source(b, &in->operands[at], TYPE_u32);
    ir_ref threads = n > at + 1 ? ir_source(b, &in->operands[at + 1], TYPE_u32) : REF_NONE;
    ir_ref predicate = reduces ? ir_predicate(b, &in->operands[in->n_operands - 1]) : REF_NONE;
    struct ir_dest d = {0};
    if (reduces)
        d = ir_destination(b, &in->operands[0], counts ? TYPE_u32 : TYPE_pred);
    struct ir_insn *i = ir_emit_guarded(b, IR_BAR);
    i->mode = ir_mode_of(IR_BAR, inst);
    i->a = barrier;
    i->b = threads;
    i->c = predicate;
    i->d = d.ref;
}

/* shfl, vote, match, redux, elect, bar.warp.sync. The operand list ends with the membermask where
 * there is .sync. */
static void lower_warp(struct builder *b, enum ir_kind kind)
{
    const struct ptx_insn *in = b->insn;
    const struct isa_inst *inst = in->inst;
    bool has_mask = isa_has(inst, MOD_sync);
    unsigned n = in->n_operands, at = kind == IR_WARPSYNC ? 0 : 1;
    ir_ref mask = has_mask ? ir_source(b, &in->operands[n - 1], TYPE_u32) : REF_NONE;
    ir_ref src[3] = {0};
    for (unsigned k = 0; at + k + (has_mask ? 1 : 0) < n && k < 3; k++) {
        const struct isa_operand *spec = &inst->operand[at + k];
        src[k] = spec->kind == OPERAND_SPRED ? ir_predicate(b, &in->operands[at + k])
                                             : ir_source(b, &in->operands[at + k], isa_operand_type(inst, spec));
    }
    if (isa_has(inst, MOD_abs)) /* redux */
        src[0] = ir_lanes(b, LANE_abs_f32, src[0], REF_NONE, REF_NONE);
    struct ir_dest d = {0}, p = {0};
    if (at) {
        const struct ptx_operand *o = &in->operands[0];
        bool pair = o->kind == OPND_PAIR;
        d = ir_destination(b, pair ? &o->elems[0] : o, isa_operand_type(inst, &inst->operand[0]));
        if (pair)
            p = ir_destination(b, &o->elems[1], TYPE_pred);
    }
    struct ir_insn *i = ir_emit_guarded(b, kind);
    i->mode = ir_mode_of(kind, inst);
    i->d = d.ref;
    i->e = p.ref;
    i->a = src[0];
    i->b = src[1];
    i->c = src[2];
    i->f = mask;
}

/* fence, membar; and griddepcontrol.wait, behind which a thread sees what grids before its own have
 * done. All proxies see one memory here: what orders them alone is for who watches. */
static void lower_fence(struct builder *b)
{
    const struct isa_inst *inst = b->insn->inst;
    bool weaker = isa_has(inst, MOD_acq_rel) || isa_has(inst, MOD_acquire) || isa_has(inst, MOD_release) ||
                  inst->op == OP_griddepcontrol;
    struct ir_insn *i = ir_emit_guarded(b, IR_FENCE);
    i->imm = isa_has(inst, MOD_proxy) && !weaker ? ORDER_WEAK
             : inst->op == OP_membar || !weaker  ? ORDER_SC
                                                 : ORDER_ACQ_REL;
}

/* An instruction with at most one source, and a kind of its own. */
static void lower_simple(struct builder *b, enum ir_kind kind)
{
    struct ir_operands o = lower_operands(b);
    struct ir_insn *i = ir_emit_guarded(b, kind);
    i->d = o.d.ref;
    i->a = o.src[0];
    i->imm = o.imm;
    ir_finish(b, o.d);
}

static void lower_return(struct builder *b)
{
    lower_register_params(b, false);
    ir_emit_guarded(b, b->func->entry ? IR_EXIT : IR_RET);
}

/* What the lanes of a warp do together. */
static const uint8_t of_warps[] = {[KIND_WARPSYNC] = IR_WARPSYNC, [KIND_SHFL] = IR_SHFL,   [KIND_VOTE] = IR_VOTE,
                                   [KIND_MATCH] = IR_MATCH,       [KIND_REDUX] = IR_REDUX, [KIND_ELECT] = IR_ELECT};

static void lower_insn(struct builder *b)
{
    switch (b->insn->inst->kind) {
    case KIND_PURE: lower_pure(b); break;
    case KIND_SET:
    case KIND_SETP: lower_compare(b); break;
    case KIND_LOP3P: lower_lop3p(b); break;
    case KIND_VIDEO: lower_video(b); break;
    case KIND_MOV: lower_mov(b); break;
    case KIND_LD:
    case KIND_ST:
    case KIND_ATOM:
    case KIND_RED: lower_memory(b); break;
    case KIND_CVTA:
    case KIND_ISSPACEP:
    case KIND_MAPA:
    case KIND_GETCTARANK:
    case KIND_POLICY: lower_address(b); break;
    case KIND_ALLOCA:
        b->f->uses_dynamic_stack = true;
        lower_simple(b, IR_ALLOCA);
        break;
    case KIND_STACKSAVE: lower_simple(b, IR_STACKSAVE); break;
    case KIND_STACKRESTORE: lower_simple(b, IR_STACKRESTORE); break;
    case KIND_BRA: lower_branch(b); break;
    case KIND_BRX: lower_indexed_branch(b); break;
    case KIND_CALL: lower_call(b); break;
    case KIND_RET: lower_return(b); break;
    case KIND_EXIT: ir_emit_guarded(b, IR_EXIT); break;
    case KIND_TRAP: ir_emit_guarded(b, IR_TRAP); break;
    case KIND_BRKPT: ir_emit_guarded(b, IR_BRKPT); break;
    case KIND_BAR: lower_bar(b); break;
    case KIND_CLUSTERBAR:
        b->f->needs_clustered = true;
        ir_emit_guarded(b, IR_BAR)->mode = ir_mode_of(IR_BAR, b->insn->inst);
        break;
    case KIND_MBARRIER: lower_mbarrier(b); break;
    case KIND_ASYNC: lower_async(b); break;
    case KIND_GROUP: lower_group(b); break;
    case KIND_TENSORMAP: lower_tensor_map(b); break;
    case KIND_MATRIX: lower_matrix(b); break;
    case KIND_TEXTURE: lower_texture(b); break;
    case KIND_WARPSYNC:
    case KIND_SHFL:
    case KIND_VOTE:
    case KIND_MATCH:
    case KIND_REDUX:
    case KIND_ELECT: lower_warp(b, (enum ir_kind)of_warps[b->insn->inst->kind]); break;
    case KIND_ACTIVEMASK: lower_simple(b, IR_ACTIVEMASK); break;
    case KIND_FENCE: lower_fence(b); break;
    case KIND_NANOSLEEP: lower_simple(b, IR_NANOSLEEP); break;
    case KIND_PREFETCH:
    case KIND_NOP: break;
    case KIND_REFUSED:
        build_error(b, "not-supported", "this kernel cannot run here; others of the module can",
                    "`%.*s` is not supported: Heddle has no %s yet", STR_ARG(b->insn->inst->text),
                    b->insn->inst->form->meaning);
        break;
    }
}

/* ---- statements ---- */

static void lower_at_its_line(struct builder *b, const struct ptx_insn *insn, uint32_t index)
{
    const struct ptx_loc *loc = b->loc;
    if (loc && !loc->line && insn->inst->op == OP_ld)
        b->loc = ptx_loc_of_use(b->func, index);
    lower_insn(b);
    b->loc = loc;
}

static void lower_statement(struct builder *b, const struct ptx_stmt *s, uint32_t index)
{
    switch (s->kind) {
    case STMT_LABEL:
        ir_cut(b);
        b->block_of[index] = b->f->blocks.n - 1;
        break;
    case STMT_LOC: b->loc = s->loc; break;
    case STMT_VAR:
        b->place = place_of_symbol(b, &s->var->symbol);
        if (s->var->space == SPACE_LOCAL || s->var->space == SPACE_PARAM)
            ir_add_frame_var(b, s->var);
        break;
    case STMT_INSN:
        b->insn = s->insn;
        b->place = ptx_place(b->module, s->insn->offset, s->insn->length);
        b->guard = s->insn->guard ? ir_reg_of(b, s->insn->guard, s->insn->guard_number) : REF_NONE;
        lower_outer_registers(b, true);
        lower_at_its_line(b, s->insn, index);
        if (b->f->insns.n && ir_ends_block((enum ir_kind)b->f->insns.at[b->f->insns.n - 1].kind))
            ir_cut(b);
        else
            lower_outer_registers(b, false);
        break;
    default: break;
    }
}

/* Where a block that has nothing but a branch for all leads, or NO_BLOCK for another. */
static uint32_t only_branch(const struct ir_func *f, uint32_t block)
{
    const struct ir_block *b = &f->blocks.at[block];
    const struct ir_insn *i = b->n == 1 ? &f->insns.at[b->first] : NULL;
    return i && i->kind == IR_BRA && !i->guard ? i->targets[0] : NO_BLOCK;
}

/* Where a branch leads: past blocks that have nothing but a branch, for all, back to the block that
 * it is the end of. Clang ends loops with a branch out and another, back; without that one, which
 * is neither run nor counted then, it is a loop of one block. Elsewhere such a block stays: lanes
 * that come there wait for each other. */
static uint32_t destination_of(const struct ir_func *f, uint32_t from, uint32_t block)
{
    enum { LONGEST_WAY = 8 };
    uint32_t at = block;
    for (unsigned n = 0; n < LONGEST_WAY && at != from && at != NO_BLOCK; n++)
        at = only_branch(f, at);
    return at == from ? from : block;
}

/* Targets were statements; make them blocks. A block that does not end by itself goes on in the
 * text's next one. */
static void finish_blocks(struct builder *b)
{
    struct ir_func *f = b->f;
    for (uint32_t i = 0; i < f->insns.n; i++) {
        struct ir_insn *in = &f->insns.at[i];
        if (in->kind == IR_BRA || in->kind == IR_BRX)
            for (uint32_t k = 0; k < in->n_targets; k++)
                in->targets[k] = b->block_of[in->targets[k]];
    }
    for (uint32_t i = 0; i < f->blocks.n; i++)
        f->blocks.at[i].n = (i + 1 < f->blocks.n ? f->blocks.at[i + 1].first : f->insns.n) - f->blocks.at[i].first;
    for (uint32_t i = 0; i < f->blocks.n; i++) {
        struct ir_block *block = &f->blocks.at[i];
        const struct ir_insn *branch = ir_branch_of(f, block);
        for (uint32_t k = 0; branch && k < branch->n_targets; k++)
            branch->targets[k] = destination_of(f, i, branch->targets[k]);
        if (!ir_falls_through(f, block))
            block->next = NO_BLOCK;
        else if (branch)
            block->next = destination_of(f, i, block->next);
    }
}

/* Running off the end of a body is a return. */
static void end_body(struct builder *b)
{
    ir_cut(b);
    b->guard = REF_NONE;
    lower_register_params(b, false);
    ir_emit(b, b->func->entry ? IR_EXIT : IR_RET);
}

static void add_params(struct builder *b)
{
    struct ptx_signature *s = (struct ptx_signature *)&b->func->signature;
    if (b->func->entry)
        return;
    for (uint32_t i = 0; i < s->returns.n; i++)
        ir_add_frame_var(b, s->returns.at[i]);
    for (uint32_t i = 0; i < s->params.n; i++)
        ir_add_frame_var(b, s->params.at[i]);
}

static bool is_suspension(const struct ir_insn *i)
{
    return ir_ends_block((enum ir_kind)i->kind) && i->kind < IR_BRA;
}

/* The way back to a loop's test from what ends a block and is no branch, such as a barrier, gets a
 * block of its own, which has nothing: engines let a warp give way where a branch goes back, and
 * where a block just ends. */
static bool add_ways_back(struct ir_func *f, struct arena *arena)
{
    uint32_t n = f->blocks.n;
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_block *block = &f->blocks.at[i];
        const struct ir_insn *last = block->n ? &f->insns.at[block->first + block->n - 1] : NULL;
        if (!last || ir_branch_of(f, block) || !ir_ends_block((enum ir_kind)last->kind) || block->order == NO_BLOCK ||
            !ir_falls_through(f, block) || block->next == NO_BLOCK || f->blocks.at[block->next].order > block->order)
            continue;
        struct ir_block way = {.first = block->first, .next = block->next};
        f->blocks.at[i].next = f->blocks.n;
        *VEC_PUSH(arena, &f->blocks) = way;
    }
    return f->blocks.n > n;
}

/* What the lowered function is made into; false where its share of work is spent. */
static bool run_passes(struct ir_func *f, bool serial_walks)
{
    bool has_cut = true;
    bool enough =
        ir_order_blocks(f) && (!add_ways_back(f, f->arena) || ir_order_blocks(f)) && ir_contract(f) && ir_find_spins(f);
    ir_drop_unread(f);
    while (enough && (enough = ir_find_serial(f, serial_walks, &has_cut)) && has_cut)
        enough = ir_order_blocks(f) && ir_find_spins(f);
    return enough && ir_assign_slots(f);
}

static void begin(struct builder *b)
{
    const struct ptx_func *func = b->func;
    b->reg_of = ARENA_ARRAY(b->arena, uint32_t, func->n_registers + 1);
    b->block_of = ARENA_ARRAY(b->arena, uint32_t, func->body.n + 1);
    b->f->frame_at = ARENA_ARRAY(b->arena, uint32_t, func->n_vars + 1);
    b->f->work_left = ARENA_NEW(b->arena, uint64_t);
    *b->f->work_left = FUNCTION_WORK;
    *VEC_PUSH(b->arena, &b->f->regs) = (struct ir_reg){0};
    *VEC_PUSH(b->arena, &b->f->consts) = (struct ir_const){0};
    b->place = place_of_symbol(b, &func->symbol);
    add_params(b);
    ir_cut(b);
    lower_register_params(b, true);
}

struct ir_func *ir_build(struct arena *arena, struct ptx_func *func, unsigned options, bool clustered,
                         struct diags *diags)
{
    static const struct ptx_insn none;
    struct ir_func *f = ARENA_NEW(arena, struct ir_func);
    f->func = func;
    f->clustered = clustered;
    f->keeps_registers = options & IR_KEEPS_REGISTERS;
    f->arena = arena;
    struct builder b = {.f = f, .arena = arena, .diags = diags, .func = func, .module = func->module, .insn = &none};
    uint32_t errors = diags->errors;
    begin(&b);
    for (uint32_t i = 0; i < func->body.n && ir_spend(f, 1); i++)
        lower_statement(&b, &func->body.at[i], i);
    end_body(&b);
    if (ir_spend(f, 1))
        finish_blocks(&b);
    if (diags->errors != errors)
        return NULL;
    for (uint32_t i = 0; i < f->insns.n; i++)
        f->suspends |= is_suspension(&f->insns.at[i]) || f->insns.at[i].kind == IR_CALL;
    f->frame_bytes = (f->frame_bytes + 15) & ~15u;
    if (ir_spend(f, 1) && run_passes(f, options & IR_SERIAL_WALKS))
        return f;
    b.place = place_of_symbol(&b, &func->symbol);
    build_error(&b, "not-supported", "divide it into several functions",
                "`%.*s` is too large: %u blocks of code, nested loops, and registers that are live across them",
                STR_ARG(func->symbol.name), f->blocks.n);
    return NULL;
}
