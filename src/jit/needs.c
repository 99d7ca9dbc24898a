/* What the interpreter needs where it takes over from compiled code: to rows, and back; see emit.h. */
#include "jit/emit.h"

#include <stddef.h>
#include <string.h>

bool has_waiting(const struct emit *e)
{
    return !e->gang && ir_has_waiting(e->shapes, e->at);
}

/* ---- from a place in a block on ---- */

/* What is needed from a place in the block on: read there before it is written, or behind the block and not written in it.
 * Nothing else may go to its row, which can be that of another register by now. */
struct needs {
    struct emit *e;
    uint8_t *seen; /* by register: visited already, or written */
    void (*visit)(struct needs *n, uint32_t reg);
    value mask;
    bool but_kept;
    struct reg_list list;
};

static bool is_kept(const struct emit *e, uint32_t reg)
{
    uint32_t n = e->shapes->live.number[reg];
    return n && ir_in_set(e->kept, n - 1);
}

static void need(struct needs *n, ir_ref r)
{
    uint32_t reg = ir_ref_index(r);
    if (ir_ref_kind(r) == REF_REG && !n->seen[reg]) {
        n->seen[reg] = 1;
        if (!n->but_kept || !is_kept(n->e, reg))
            n->visit(n, reg);
    }
}

static void need_insn(struct needs *n, const struct ir_insn *i)
{
    ir_ref refs[IR_MAX_REFS];
    unsigned reads = ir_reads(i, refs);
    for (unsigned k = 0; k < reads; k++)
        need(n, refs[k]);
    unsigned writes = ir_writes(i, refs);
    for (unsigned k = 0; k < writes; k++) {
        if (i->guard) /* what was there may stay */
            need(n, refs[k]);
        if (ir_ref_kind(refs[k]) == REF_REG)
            n->seen[ir_ref_index(refs[k])] = 1;
    }
}

/* What is needed from instruction `index` of the present block on. */
static void visit_needs(struct needs *n, uint32_t index)
{
    struct emit *e = n->e;
    const struct ir_live *live = &e->shapes->live;
    const uint64_t *out = live->out + (size_t)e->at * live->words;
    const struct ir_block *block = &e->ir->blocks.at[e->ir->order[e->at]];
    uint8_t seen[e->ir->regs.n];
    n->seen = seen;
    n->list.regs = ARENA_ARRAY(e->arena, uint32_t, e->ir->regs.n);
    memset(seen, 0, sizeof seen);
    for (uint32_t k = index; k < block->n; k++)
        need_insn(n, &e->ir->insns.at[block->first + k]);
    for (uint32_t k = 0; k < live->n; k++)
        if (ir_in_set(out, k))
            need(n, ir_make_ref(REF_REG, live->regs[k]));
}

/* ---- registers that do not vary, as a table ---- */

value emit_constant(struct emit *e, value array)
{
    value global = LLVMAddGlobal(e->module, LLVMTypeOf(array), "");
    LLVMSetInitializer(global, array);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

static value pattern_array(struct emit *e, uint16_t shape)
{
    if (!e->patterns[shape]) {
        value lanes[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            lanes[l] = const_int(e, e->i64, (uint64_t)e->shapes->patterns.at[shape].at[l]);
        e->patterns[shape] = emit_constant(e, LLVMConstArray2(e->i64, lanes, WARP_LANES));
    }
    return e->patterns[shape];
}

value shapes_table(struct emit *e, const struct reg_list *l)
{
    value rows[l->n + 1];
    for (uint32_t k = 0; k < l->n; k++) {
        uint32_t reg = l->regs[k];
        uint16_t shape = e->shapes->regs[reg];
        value fields[4] = {const_int(e, e->i32, e->ir->regs.at[reg].slot),
                           const_int(e, e->i32, e->ir->regs.at[reg].width),
                           const_int(e, e->i64, WARP_LANES / parts_of(e, shape)), pattern_array(e, shape)};
        rows[k] = LLVMConstStructInContext(e->context, fields, 4, false);
    }
    return l->n ? emit_constant(e, LLVMConstArray2(LLVMTypeOf(rows[0]), rows, l->n)) : NULL;
}

static void add_to_list(struct emit *e, struct reg_list *l, uint32_t reg)
{
    if (e->shapes->regs[reg] != SHAPE_VARYING)
        l->regs[l->n++] = reg;
}

struct reg_list scalars_of(struct emit *e, const uint64_t *set)
{
    const struct ir_live *live = &e->shapes->live;
    struct reg_list l = {.regs = ARENA_ARRAY(e->arena, uint32_t, live->n + 1)};
    for (uint32_t k = 0; k < live->n; k++)
        if (ir_in_set(set, k))
            add_to_list(e, &l, live->regs[k]);
    return l;
}

void emit_fill_call(struct emit *e, const struct reg_list *l)
{
    if (!l->n)
        return;
    value args[3] = {e->a, shapes_table(e, l), const_int(e, e->i32, l->n)};
    value call = load_field(e, e->ptr, e->calls, offsetof(struct compiled_calls, fill), "");
    LLVMBuildCall2(e->b, e->fill_type, call, args, 3, "");
}

/* ---- to rows, and back ---- */

static void visit_spill(struct needs *n, uint32_t reg)
{
    spill(n->e, reg, n->mask);
}

/* Of what does not vary, numbers; emit_fill_call() makes rows of them. */
static void visit_spare(struct needs *n, uint32_t reg)
{
    if (!is_clean(n->e, reg))
        add_to_list(n->e, &n->list, reg);
    spill_sparely(n->e, reg);
}

static void visit_reload(struct needs *n, uint32_t reg)
{
    reload(n->e, reg, n->mask);
}

static void visit_list(struct needs *n, uint32_t reg)
{
    add_to_list(n->e, &n->list, reg);
}

static value waiting_mask(struct emit *e)
{
    return has_waiting(e) ? emit_mask(e) : NULL;
}

void spill_needs(struct emit *e, uint32_t index)
{
    struct needs n = {.e = e, .visit = visit_spill, .mask = waiting_mask(e)};
    visit_needs(&n, index);
}

void spill_needs_sparely(struct emit *e, uint32_t index)
{
    struct needs n = {.e = e, .visit = visit_spare};
    visit_needs(&n, index);
}

void spill_needs_but_kept(struct emit *e, uint32_t index)
{
    struct needs n = {
        .e = e, .visit = has_waiting(e) ? visit_spill : visit_spare, .mask = waiting_mask(e), .but_kept = true};
    visit_needs(&n, index);
    emit_fill_call(e, &n.list);
}

void spill_set_rarely(struct emit *e, const uint64_t *set, value mask)
{
    const struct ir_live *live = &e->shapes->live;
    struct needs n = {.e = e,
                      .visit = has_waiting(e) ? visit_spill : visit_spare,
                      .mask = has_waiting(e) ? mask : NULL,
                      .list.regs = ARENA_ARRAY(e->arena, uint32_t, live->n + 1)};
    for (uint32_t k = 0; k < live->n; k++)
        if (ir_in_set(set, k))
            n.visit(&n, live->regs[k]);
    emit_fill_call(e, &n.list);
}

void spill_kept(struct emit *e)
{
    start_clean(e, e->at);
    spill_set_rarely(e, e->kept, waiting_mask(e));
}

void reload_needs(struct emit *e, uint32_t index)
{
    struct needs n = {.e = e, .visit = visit_reload, .mask = const_int(e, e->i32, UINT32_MAX)};
    visit_needs(&n, index);
}

struct reg_list scalars_needed(struct emit *e, uint32_t index)
{
    struct needs n = {.e = e, .visit = visit_list};
    visit_needs(&n, index);
    return n.list;
}

/* Registers that are needed behind the block and are not written in it: wherever it is left they are to be spilled, so there is
 * one piece of code for that. */
void find_kept(struct emit *e)
{
    const struct ir_live *live = &e->shapes->live;
    const struct ir_block *block = &e->ir->blocks.at[e->ir->order[e->at]];
    ir_ref writes[IR_MAX_REFS];
    memcpy(e->kept, live->out + (size_t)e->at * live->words, live->words * sizeof *e->kept);
    for (uint32_t k = 0; k < block->n; k++) {
        unsigned n = ir_writes(&e->ir->insns.at[block->first + k], writes);
        for (unsigned w = 0; w < n; w++) {
            uint32_t number = ir_ref_kind(writes[w]) == REF_REG ? live->number[ir_ref_index(writes[w])] : 0;
            if (number)
                e->kept[(number - 1) / 64] &= ~(1ull << ((number - 1) % 64));
        }
    }
}
