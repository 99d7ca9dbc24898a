/* A function as text, with what is known of each register: HEDDLE_DUMP=ir (docs/JIT.md).
 *
 * Blocks stand in their order of execution. A line is an instruction and, for its results, widths in bits (1: a predicate) and
 * shapes: `uniform`, `lane * 4` (so much over lane 0), `divergent`, or the values over lane 0, one by one.
 */
#include "base/text.h"
#include "ir/shape.h"
#include "isa/isa.h"

struct printer {
    struct text t;
    const struct ir_func *f;
    const struct ir_shapes *s;
};

static const char *const kinds[] = {
    [IR_LD] = "ld",
    [IR_ST] = "st",
    [IR_ATOM] = "atom",
    [IR_FRAME] = "frame",
    [IR_NOW] = "now",
    [IR_SHFL] = "shfl",
    [IR_VOTE] = "vote",
    [IR_MATCH] = "match",
    [IR_REDUX] = "redux",
    [IR_ELECT] = "elect",
    [IR_ACTIVEMASK] = "activemask",
    [IR_WARPSYNC] = "bar.warp.sync",
    [IR_BAR] = "bar",
    [IR_FENCE] = "fence",
    [IR_MBARRIER] = "mbarrier",
    [IR_NANOSLEEP] = "nanosleep",
    [IR_ALLOCA] = "alloca",
    [IR_STACKSAVE] = "stacksave",
    [IR_STACKRESTORE] = "stackrestore",
    [IR_BRA] = "bra",
    [IR_BRX] = "brx",
    [IR_CALL] = "call",
    [IR_RET] = "ret",
    [IR_EXIT] = "exit",
    [IR_TRAP] = "trap",
    [IR_BRKPT] = "brkpt",
    [IR_JUMP] = "jump",
};

/* ---- operands ---- */

static void print_const(struct printer *p, const struct ir_const *c)
{
    static const char *const bases[] = {
        [BASE_NONE] = "",
        [BASE_SYMBOL] = "symbol + ",
        [BASE_SHARED_WINDOW] = "shared window + ",
        [BASE_LOCAL_WINDOW] = "local window + ",
        [BASE_SHARED_WINDOW_SIZE] = "shared window's size + ",
        [BASE_LOCAL_WINDOW_SIZE] = "local window's size + ",
        [BASE_CONST_START] = "constants + ",
        [BASE_CONST_SIZE] = "constants' size + ",
    };
    text_puts(&p->t, bases[c->base]);
    if (c->hi)
        text_printf(&p->t, "0x%llx%016llx", (unsigned long long)c->hi, (unsigned long long)c->lo);
    else
        text_printf(&p->t, c->lo < 65536 ? "%llu" : "0x%llx", (unsigned long long)c->lo);
}

static void print_sreg(struct printer *p, uint32_t i)
{
    if (i == IR_PARAM_BASE) {
        text_puts(&p->t, "parameters");
    } else if (i >= IR_ENVREG) {
        text_printf(&p->t, "%%envreg%u", i - IR_ENVREG);
    } else {
        const struct isa_sreg_info *info = isa_sreg_info((enum isa_sreg)(i / 4));
        text_printf(&p->t, "%%%s", info->name);
        if (info->components > 1)
            text_printf(&p->t, ".%c", "xyzw"[i % 4]);
    }
}

static void print_ref(struct printer *p, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    switch (ir_ref_kind(r)) {
    case REF_REG: text_printf(&p->t, "%%%u", i); break;
    case REF_CONST: print_const(p, &p->f->consts.at[i]); break;
    case REF_SREG: print_sreg(p, i); break;
    default: text_puts(&p->t, "_"); break;
    }
}

/* Those that are there, with commas. */
static void print_refs(struct printer *p, const ir_ref *refs, unsigned n, const char *first)
{
    for (unsigned k = 0; k < n; k++) {
        if (!refs[k])
            continue;
        text_puts(&p->t, first);
        print_ref(p, refs[k]);
        first = ", ";
    }
}

/* ---- instructions ---- */

static bool has_access(const struct ir_insn *i)
{
    return i->kind == IR_LD || i->kind == IR_ST || i->kind == IR_ATOM;
}

static void print_address(struct printer *p, const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    const char *plus = "";
    text_puts(&p->t, a->frame ? " [frame + " : " [");
    if (i->a) {
        print_ref(p, i->a);
        plus = " + ";
    }
    if (a->disp_const) {
        text_puts(&p->t, plus);
        print_ref(p, a->disp_const);
        plus = " + ";
    }
    if (a->disp || !*plus)
        text_printf(&p->t, "%s%lld", plus, (long long)a->disp);
    text_puts(&p->t, "]");
}

static void print_access(struct printer *p, const struct ir_insn *i)
{
    static const char *const orders[] = {"", ".relaxed", ".acquire", ".release", ".acq_rel", ".sc"};
    const struct ir_access *a = i->access;
    text_printf(&p->t, "%s.%s%s%s", kinds[i->kind], ptx_space_name(a->space), a->is_volatile ? ".volatile" : "",
                orders[a->order]);
    if (i->kind == IR_ATOM)
        text_printf(&p->t, ".%s", atom_name((enum atom_op)a->atom));
    text_printf(&p->t, a->n > 1 ? ".%ub x %u" : ".%ub", 8u * a->bytes, a->n);
    print_address(p, i);
    if (i->kind == IR_ST)
        print_refs(p, a->regs, 8, ", ");
    print_refs(p, a->operands, 8, ", ");
}

static void print_operation(struct printer *p, const struct ir_insn *i)
{
    if (has_access(i)) {
        print_access(p, i);
        return;
    }
    const struct lane_info *info = i->kind == IR_LANES ? lane_info((enum lane_id)i->lane) : NULL;
    const ir_ref operands[] = {i->a, i->b, i->c, i->f, info && info->e & (CARRY_IN | CARRY_FOURTH) ? i->e : REF_NONE};
    text_puts(&p->t, info ? info->name : kinds[i->kind]);
    print_refs(p, operands, sizeof operands / sizeof operands[0], " ");
    if (i->kind == IR_FRAME || (info && i->imm))
        text_printf(&p->t, ", %llu", (unsigned long long)i->imm);
}

/* ---- results ---- */

static void print_shape(struct printer *p, uint32_t reg)
{
    uint16_t shape = p->s->regs[reg];
    if (shape == SHAPE_UNIFORM || shape == SHAPE_DIVERGENT) {
        text_puts(&p->t, shape == SHAPE_UNIFORM ? "uniform" : "divergent");
        return;
    }
    const struct lane_offsets *offsets = &p->s->lane_offsets.at[shape];
    bool is_linear = true;
    for (int l = 0; l < WARP_LANES; l++)
        is_linear &= offsets->at[l] == l * offsets->at[1];
    if (is_linear) {
        text_printf(&p->t, "lane * %lld", (long long)offsets->at[1]);
        return;
    }
    for (int l = 0; l < WARP_LANES; l++)
        text_printf(&p->t, l ? ",%lld" : "lanes %lld", (long long)offsets->at[l]);
    if (offsets->piecewise)
        text_printf(&p->t, " in %u pieces", p->s->pieces);
}

/* Registers that the instruction writes. */
static unsigned results(const struct ir_insn *i, ir_ref out[10])
{
    unsigned n = 0;
    bool carry = i->kind != IR_LANES || lane_info((enum lane_id)i->lane)->e & CARRY_OUT;
    if (i->d)
        out[n++] = i->d;
    if (i->e && carry && !has_access(i))
        out[n++] = i->e;
    for (unsigned k = 0; k < 8 && (i->kind == IR_LD || i->kind == IR_ATOM); k++)
        if (i->access->regs[k])
            out[n++] = i->access->regs[k];
    return n;
}

static void print_insn(struct printer *p, const struct ir_insn *i)
{
    ir_ref out[10];
    unsigned n = results(i, out);
    size_t start = p->t.n;
    text_puts(&p->t, "    ");
    if (i->guard) {
        text_puts(&p->t, i->guard_negated ? "@!" : "@");
        print_ref(p, i->guard);
        text_puts(&p->t, " ");
    }
    print_refs(p, out, n, "");
    text_puts(&p->t, n ? " = " : "");
    print_operation(p, i);
    for (unsigned k = 0; k < n; k++) {
        if (ir_ref_kind(out[k]) != REF_REG)
            continue;
        text_printf(&p->t, "%*s", p->t.n - start < 56 ? (int)(56 - (p->t.n - start)) : 2, "");
        text_printf(&p->t, "; %u, ", p->f->regs.at[ir_ref_index(out[k])].width);
        print_shape(p, ir_ref_index(out[k]));
    }
    text_puts(&p->t, "\n");
}

static void print_block(struct printer *p, uint32_t order)
{
    const struct ir_block *b = &p->f->blocks.at[p->f->order[order]];
    text_printf(&p->t, "block %u:%s%s%s%s\n", order, b->loop_header ? " a loop begins" : "",
                b->spins ? ", which spins" : "", b->serial_to || p->s->lane_serial[order] ? "  ; lane after lane" : "",
                ir_is_full(p->s, order) || b->serial_to ? "" : "  ; not always by all lanes");
    for (uint32_t k = 0; k < b->n; k++)
        print_insn(p, &p->f->insns.at[b->first + k]);
    uint32_t n = ir_successor_count(p->f, p->f->order[order]);
    for (uint32_t k = 0; k < n; k++)
        text_printf(&p->t, k ? ", %u" : "    -> %u", p->f->blocks.at[ir_successor(p->f, p->f->order[order], k)].order);
    text_puts(&p->t, n ? "\n" : "");
}

struct str ir_print(const struct ir_func *f, const struct ir_shapes *s, struct arena *arena)
{
    struct printer p = {.t = {.arena = arena}, .f = f, .s = s};
    text_str(&p.t, f->func->symbol.name);
    text_puts(&p.t, ":\n");
    for (uint32_t b = 0; b < f->n_ordered; b++)
        print_block(&p, b);
    return (struct str){p.t.p, p.t.n};
}
