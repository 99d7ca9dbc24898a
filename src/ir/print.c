/* A function as text; see text.h. */
#include "ir/text.h"
#include "isa/isa.h"

struct printer {
    struct text t;
    const struct ir_func *f;
    const struct ir_notes *notes;
};

/* ---- words ---- */

static const struct ir_operation operations[] = {
#define OPERATION(kind, mode, text, operands) {kind, mode, text, operands},
#include "ir/operations.def"
#undef OPERATION
};

static const char *const bases[] = {
    [BASE_NONE] = "",
    [BASE_SYMBOL] = "symbol",
    [BASE_SHARED_WINDOW] = "shared_window",
    [BASE_LOCAL_WINDOW] = "local_window",
    [BASE_SHARED_WINDOW_SIZE] = "shared_window_size",
    [BASE_CLUSTER_WINDOW_SIZE] = "cluster_window_size",
    [BASE_LOCAL_WINDOW_SIZE] = "local_window_size",
    [BASE_CONST_START] = "const_start",
    [BASE_CONST_SIZE] = "const_size",
};

static const char *const orders[] = {
    [ORDER_WEAK] = "weak",       [ORDER_RELAXED] = "relaxed", [ORDER_ACQUIRE] = "acquire",
    [ORDER_RELEASE] = "release", [ORDER_ACQ_REL] = "acq_rel", [ORDER_SC] = "sc",
};

static const char *const mbarriers[] = {
    [MBARRIER_INIT] = "init",           [MBARRIER_INVAL] = "inval",
    [MBARRIER_ARRIVE] = "arrive",       [MBARRIER_ARRIVE_DROP] = "arrive_drop",
    [MBARRIER_TEST_WAIT] = "test_wait", [MBARRIER_TRY_WAIT] = "try_wait",
    [MBARRIER_EXPECT_TX] = "expect_tx", [MBARRIER_COMPLETE_TX] = "complete_tx",
};
static const char *const asyncs[] = {
    [ASYNC_NONE] = "none",
    [ASYNC_COPY] = "copy",
    [ASYNC_ARRIVE] = "arrive",
    [ASYNC_ARRIVE_NOINC] = "arrive_noinc",
    [ASYNC_STORE] = "store",
    [ASYNC_BULK_FROM_GLOBAL] = "bulk_from_global",
    [ASYNC_BULK_SHARED] = "bulk_shared",
    [ASYNC_BULK_TO_GLOBAL] = "bulk_to_global",
    [ASYNC_TENSOR_LOAD] = "tensor_load",
    [ASYNC_TENSOR_STORE] = "tensor_store",
    [ASYNC_TENSOR_REDUCE] = "tensor_reduce",
};

const struct ir_operation *ir_operation(size_t i)
{
    return i < sizeof operations / sizeof operations[0] ? &operations[i] : NULL;
}

const char *ir_base_text(size_t base)
{
    return base < sizeof bases / sizeof bases[0] ? bases[base] : NULL;
}

const char *ir_atom_text(size_t atom)
{
    return atom < ATOM_COUNT ? atom_name((enum atom_op)atom) : NULL;
}

const char *ir_order_text(size_t order)
{
    return order < sizeof orders / sizeof orders[0] ? orders[order] : NULL;
}

const char *ir_async_text(size_t mode)
{
    return mode < sizeof asyncs / sizeof asyncs[0] ? asyncs[mode] : NULL;
}

const char *ir_mbarrier_text(size_t mode)
{
    return mode < sizeof mbarriers / sizeof mbarriers[0] ? mbarriers[mode] : NULL;
}

/* ---- operands ---- */

static void print_number(struct printer *p, int64_t v)
{
    if (v < 65536 && v > -65536)
        text_printf(&p->t, "%lld", (long long)v);
    else
        text_printf(&p->t, "0x%llx", (unsigned long long)v);
}

/* `width`: that it has without saying so. */
static void print_const(struct printer *p, const struct ir_const *c, unsigned width)
{
    uint64_t sign = c->width > 1 && c->width < 64 ? 1ull << (c->width - 1) : 0;
    int64_t v = (int64_t)((c->lo ^ sign) - sign);
    if (c->base)
        text_printf(&p->t, "%s + %lld", bases[c->base], (long long)c->lo);
    else
        print_number(p, v < 0 && v <= -65536 ? (int64_t)c->lo : v);
    if (c->width != width)
        text_printf(&p->t, ":%u", c->width);
}

static void print_sreg(struct printer *p, uint32_t i)
{
    if (i == IR_PARAM_BASE) {
        text_puts(&p->t, "%parameters");
    } else if (i == IR_SHARED_START) {
        text_puts(&p->t, "%shared_start");
    } else if (i >= IR_ENVREG) {
        text_printf(&p->t, "%%envreg%u", i - IR_ENVREG);
    } else {
        const struct isa_sreg_info *info = isa_sreg_info((enum isa_sreg)(i / 4));
        text_printf(&p->t, "%%%s", info->name);
        if (info->components > 1)
            text_printf(&p->t, ".%c", "xyzw"[i % 4]);
    }
}

static void print_ref(struct printer *p, ir_ref r, unsigned width)
{
    uint32_t i = ir_ref_index(r);
    switch (ir_ref_kind(r)) {
    case REF_REG: text_printf(&p->t, "%%%u", i); break;
    case REF_CONST: print_const(p, &p->f->consts.at[i], width); break;
    case REF_SREG: print_sreg(p, i); break;
    default: text_puts(&p->t, "_"); break;
    }
}

static void print_result(struct printer *p, ir_ref r)
{
    print_ref(p, r, 0);
    if (ir_ref_kind(r) == REF_REG)
        text_printf(&p->t, ":%u", p->f->regs.at[ir_ref_index(r)].width);
}

/* A list: " " stands before the first, ", " before the others. */
static void print_comma(struct printer *p, bool *is_first)
{
    text_puts(&p->t, *is_first ? " " : ", ");
    *is_first = false;
}

/* ---- accesses ---- */

static const char *const access_kinds[] = {
    [IR_LD] = "ld",       [IR_ST] = "st",        [IR_ATOM] = "atom", [IR_MBARRIER] = "mbarrier",
    [IR_ASYNC] = "async", [IR_MATRIX] = "access"};

static void print_access_word(struct printer *p, const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    text_puts(&p->t, !ir_is_copy(i) ? access_kinds[i->kind] : i->kind == IR_LD ? "fetch" : "copy");
    if (i->kind == IR_MBARRIER)
        text_printf(&p->t, ".%s", mbarriers[i->mode]);
    if (i->kind == IR_ASYNC)
        text_printf(&p->t, ".%s", asyncs[i->mode]);
    text_printf(&p->t, ".%s%s", ptx_space_name(a->mem.space), a->mem.is_volatile ? ".volatile" : "");
    if (a->mem.order != ORDER_WEAK)
        text_printf(&p->t, ".%s", orders[a->mem.order]);
    if (a->mem.scope != MOD_none)
        text_printf(&p->t, ".%s", isa_mod_text((enum isa_mod)a->mem.scope));
    if (a->mem.is_const && a->mem.space != SPACE_CONST)
        text_puts(&p->t, ".nc");
    if (i->kind == IR_ATOM || (i->kind == IR_ASYNC && a->mem.type))
        text_printf(&p->t, ".%s.%s", atom_name((enum atom_op)a->mem.atom), isa_type_name((enum isa_type)a->mem.type));
    text_printf(&p->t, ".%c%u", a->mem.sign ? 's' : 'b', 8u * a->mem.bytes);
    if (a->mem.n > 1)
        text_printf(&p->t, "x%u", a->mem.n);
}

static void print_address(struct printer *p, const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    const char *plus = "";
    text_puts(&p->t, " [");
    if (a->mem.frame) {
        text_puts(&p->t, "frame");
        plus = " + ";
    }
    if (i->a) {
        text_puts(&p->t, plus);
        print_ref(p, i->a, 0);
        plus = " + ";
    }
    if (a->disp_const) {
        text_puts(&p->t, plus);
        print_ref(p, a->disp_const, 0);
        plus = " + ";
    }
    if (a->disp || !*plus)
        text_printf(&p->t, "%s%lld", plus, (long long)a->disp);
    text_puts(&p->t, "]");
}

/* Operands and, behind all eight of them, regs: up to the last that there is. */
static unsigned async_operands(const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    unsigned n = i->kind == IR_ASYNC ? 16 : 0;
    while (n > 0 && !(n > 8 ? a->regs[n - 9] : a->operands[n - 1]))
        n--;
    return n;
}

static void print_access(struct printer *p, const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    print_access_word(p, i);
    print_address(p, i);
    for (unsigned k = 0; k < a->mem.n && i->kind == IR_ST; k++) {
        text_puts(&p->t, ", ");
        print_ref(p, a->regs[k], ir_element_width(a));
    }
    if (i->kind == IR_ST && ir_is_copy(i)) {
        text_puts(&p->t, ", ");
        print_ref(p, a->operands[ASYNC_SOURCE], 64);
    }
    for (unsigned k = 0; k < (a->mem.atom == ATOM_cas ? 2u : a->mem.n) && i->kind == IR_ATOM; k++) {
        text_puts(&p->t, ", ");
        print_ref(p, a->operands[k], ir_element_width(a));
    }
    for (unsigned k = 0, n = async_operands(i); k < n; k++) {
        text_puts(&p->t, ", ");
        print_ref(p, k < 8 ? a->operands[k] : a->regs[k - 8], 64);
    }
    if (i->kind == IR_MBARRIER) {
        text_puts(&p->t, ", ");
        print_ref(p, i->b, 32);
        text_printf(&p->t, ", %s", orders[i->imm]);
    }
}

/* ---- instructions ---- */

static void print_lanes(struct printer *p, const struct ir_insn *i)
{
    const struct lane_info *info = lane_info((enum lane_id)i->lane);
    const unsigned widths[] = {info->a, info->b, info->c, info->e & (CARRY_IN | CARRY_FOURTH) ? 32 : 0};
    const ir_ref refs[] = {i->a, i->b, i->c, i->e};
    bool is_first = true;
    text_puts(&p->t, info->name);
    for (unsigned k = 0; k < 4; k++) {
        if (!widths[k])
            continue;
        print_comma(p, &is_first);
        print_ref(p, refs[k], widths[k]);
    }
    if (i->imm) {
        print_comma(p, &is_first);
        text_puts(&p->t, "imm ");
        print_number(p, (int64_t)i->imm);
    }
}

static uint32_t order_of(const struct ir_func *f, uint32_t block)
{
    return f->blocks.at[block].order;
}

static void print_operand(struct printer *p, const struct ir_insn *i, char what)
{
    switch (what) {
    case 'a': print_ref(p, i->a, 32); break;
    case 'b': print_ref(p, i->b, 32); break;
    case 'c': print_ref(p, i->c, 32); break;
    case 'f': print_ref(p, i->f, 32); break;
    case 'i': print_number(p, (int64_t)i->imm); break;
    case 'o': text_puts(&p->t, orders[i->imm]); break;
    case 's': print_sreg(p, (uint32_t)i->imm * 4); break;
    default:
        for (uint32_t k = 0; k < i->n_targets; k++)
            text_printf(&p->t, k ? ", %u" : "%u", order_of(p->f, i->targets[k]));
    }
}

/* How many of the operands are written. */
static size_t operands_there(const struct ir_insn *i, const char *operands)
{
    size_t n = strlen(operands);
    for (; n > 0; n--) {
        char what = operands[n - 1];
        if (!strchr("abcf", what) || (what == 'a' ? i->a : what == 'b' ? i->b : what == 'c' ? i->c : i->f))
            break;
    }
    return n;
}

static void print_operation(struct printer *p, const struct ir_insn *i)
{
    const struct ir_operation *o = operations;
    uint8_t mode = i->kind == IR_CALL ? (uint8_t)i->call->syscall : i->mode;
    bool is_first = true;
    while (o->kind != i->kind || o->mode != mode)
        o++; /* each has its entry */
    text_puts(&p->t, o->text);
    for (size_t k = 0, n = operands_there(i, o->operands); k < n; k++) {
        print_comma(p, &is_first);
        print_operand(p, i, o->operands[k]);
    }
}

/* What stands before the `=`: all elements of a load or an atomic operation that gives some, be they dropped. */
static unsigned results(const struct ir_insn *i, ir_ref out[FRAGMENT_MAX_REGS])
{
    bool is_any = false;
    for (unsigned k = 0; i->kind == IR_MATRIX && k < i->matrix->n_writes; k++)
        out[k] = i->matrix->writes[k];
    if (i->kind == IR_MATRIX)
        return i->matrix->n_writes;
    if (i->kind == IR_LD || i->kind == IR_ATOM) {
        for (unsigned k = 0; k < i->access->mem.n; k++) {
            out[k] = i->access->regs[k];
            is_any |= out[k] != REF_NONE;
        }
        return is_any || i->kind == IR_LD ? i->access->mem.n : 0;
    }
    out[0] = i->d;
    out[1] = i->kind != IR_LANES || lane_info((enum lane_id)i->lane)->e & CARRY_OUT ? i->e : REF_NONE;
    return out[1] ? 2 : i->d ? 1 : 0;
}

/* The opcode as in PTX, and what it reads: registers of fragments, then an address. */
static void print_matrix(struct printer *p, const struct ir_insn *i)
{
    bool is_first = true;
    text_printf(&p->t, "%.*s", STR_ARG(i->matrix->name));
    for (unsigned k = 0; k < i->matrix->n_reads; k++) {
        print_comma(p, &is_first);
        print_ref(p, i->matrix->reads[k], 32);
    }
    if (i->access) {
        print_comma(p, &is_first);
        print_access(p, i);
    }
}

static void print_insn_text(struct printer *p, const struct ir_insn *i)
{
    ir_ref out[FRAGMENT_MAX_REGS];
    unsigned n = results(i, out);
    text_puts(&p->t, "    ");
    if (i->guard) {
        text_puts(&p->t, i->guard_negated ? "@!" : "@");
        print_ref(p, i->guard, 1);
        text_puts(&p->t, " ");
    }
    for (unsigned k = 0; k < n; k++) {
        text_puts(&p->t, k ? ", " : "");
        print_result(p, out[k]);
    }
    text_puts(&p->t, n ? " = " : "");
    if (i->kind == IR_LANES)
        print_lanes(p, i);
    else if (i->kind == IR_MATRIX)
        print_matrix(p, i);
    else if (ir_has_access(i))
        print_access(p, i);
    else
        print_operation(p, i);
}

/* ---- lines ---- */

enum { NOTES_AT = 56 };

/* The end of a line that began at `start`; a note that has been written behind `end` becomes a comment. */
static void end_line(struct printer *p, size_t start, struct text note)
{
    if (note.n) {
        size_t length = p->t.n - start;
        text_printf(&p->t, "%*s; ", length < NOTES_AT ? (int)(NOTES_AT - length) : 2, "");
        text_put(&p->t, note.p, note.n);
    }
    text_puts(&p->t, "\n");
}

static void print_insn(struct printer *p, uint32_t insn)
{
    size_t start = p->t.n;
    struct text note = {.arena = p->t.arena};
    print_insn_text(p, &p->f->insns.at[insn]);
    if (p->notes->of_insn)
        p->notes->of_insn(p->notes->data, insn, &note);
    end_line(p, start, note);
}

static void print_block(struct printer *p, uint32_t order)
{
    const struct ir_block *b = &p->f->blocks.at[p->f->order[order]];
    size_t start = p->t.n;
    struct text note = {.arena = p->t.arena};
    text_printf(&p->t, "block %u:%s", order, b->loop_header ? " loop" : "");
    text_puts(&p->t, !b->spins ? "" : b->loop_header ? ", spins" : " spins");
    if (b->serial_to)
        text_printf(&p->t, "%s serial %u..%u", b->loop_header || b->spins ? "," : "", b->serial_from, b->serial_to);
    if (p->notes->of_block)
        p->notes->of_block(p->notes->data, order, &note);
    end_line(p, start, note);
    for (uint32_t k = 0; k < b->n; k++)
        print_insn(p, b->first + k);
    if (b->next != NO_BLOCK)
        text_printf(&p->t, "    -> %u\n", order_of(p->f, b->next));
}

static void print_head(struct printer *p)
{
    size_t start = p->t.n;
    struct text note = {.arena = p->t.arena};
    text_printf(&p->t, "%s %.*s", p->f->func->entry ? "kernel" : "func", STR_ARG(p->f->func->symbol.name));
    if (p->notes->of_function)
        p->notes->of_function(p->notes->data, &note);
    end_line(p, start, note);
    if (p->f->frame_bytes)
        text_printf(&p->t, "    frame %u\n", p->f->frame_bytes);
    for (uint32_t k = 0; k < p->f->zeroed.n; k++) {
        text_puts(&p->t, k ? ", " : "    zeroed ");
        print_result(p, ir_make_ref(REF_REG, p->f->zeroed.at[k]));
    }
    text_puts(&p->t, p->f->zeroed.n ? "\n" : "");
}

struct str ir_print(const struct ir_func *f, const struct ir_notes *notes, struct arena *arena)
{
    static const struct ir_notes none;
    struct printer p = {.t = {.arena = arena}, .f = f, .notes = notes ? notes : &none};
    print_head(&p);
    for (uint32_t b = 0; b < f->n_ordered; b++)
        print_block(&p, b);
    return (struct str){p.t.p, p.t.n};
}

/* ---- shapes as notes ---- */

struct shape_notes {
    const struct ir_func *f;
    const struct ir_shapes *s;
};

static void note_shape(const struct ir_shapes *s, uint16_t shape, struct text *t)
{
    if (shape == SHAPE_UNIFORM || shape == SHAPE_DIVERGENT) {
        text_puts(t, shape == SHAPE_UNIFORM ? "uniform" : "divergent");
        return;
    }
    const struct lane_offsets *offsets = &s->lane_offsets.at[shape];
    bool is_linear = true;
    for (int l = 0; l < WARP_LANES; l++)
        is_linear &= (uint64_t)offsets->at[l] == (uint64_t)l * (uint64_t)offsets->at[1];
    if (is_linear) {
        text_printf(t, "lane * %lld", (long long)offsets->at[1]);
        return;
    }
    for (int l = 0; l < WARP_LANES; l++)
        text_printf(t, l ? ",%lld" : "lanes %lld", (long long)offsets->at[l]);
    if (offsets->piecewise)
        text_printf(t, " in %u pieces", s->pieces);
}

static void note_insn_shapes(const void *data, uint32_t insn, struct text *t)
{
    const struct shape_notes *n = data;
    ir_ref out[IR_MAX_REFS];
    unsigned count = ir_writes(&n->f->insns.at[insn], out);
    for (unsigned k = 0; k < count; k++) {
        text_puts(t, k ? "; " : "");
        note_shape(n->s, ir_ref_kind(out[k]) == REF_REG ? n->s->regs[ir_ref_index(out[k])] : SHAPE_DIVERGENT, t);
    }
    if (n->s->assumptions[insn])
        text_puts(t, n->s->assumptions[insn] == NO_WRAP_SIGNED ? ", assumed not to wrap (signed)"
                                                               : ", assumed not to wrap");
}

static void note_block_shapes(const void *data, uint32_t order, struct text *t)
{
    const struct shape_notes *n = data;
    const struct ir_block *b = &n->f->blocks.at[n->f->order[order]];
    if (b->serial_to || n->s->lane_serial[order])
        text_puts(t, "lane after lane");
    if (!ir_is_full(n->s, order) && !b->serial_to)
        text_puts(t, t->n ? ", not always by all lanes" : "not always by all lanes");
}

static void note_threads(const void *data, struct text *t)
{
    const struct shape_notes *n = data;
    text_printf(t, "blocks of %u x %u x %u threads", n->s->block[0], n->s->block[1], n->s->block[2]);
}

struct str ir_print_shapes(const struct ir_func *f, const struct ir_shapes *s, struct arena *arena)
{
    const struct shape_notes shapes = {f, s};
    const struct ir_notes notes = {&shapes, note_threads, note_block_shapes, note_insn_shapes};
    return ir_print(f, &notes, arena);
}
