/* A function as text; see text.h. */
#include "ir/text.h"
#include "isa/isa.h"

struct printer {
    struct text t;
    const struct ir_func *f;
    const struct ir_notes *notes;
};

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
        text_printf(&p->t, "%s + %lld", ir_base_text(c->base), (long long)c->lo);
    else
        print_number(p, v < 0 && v <= -65536 ? (int64_t)c->lo : v);
    if (c->width != width)
        text_printf(&p->t, ":%u", c->width);
}

static void print_ref(struct printer *p, ir_ref r, unsigned width)
{
    uint32_t i = ir_ref_index(r);
    switch (ir_ref_kind(r)) {
    case REF_REG: text_printf(&p->t, "%%%u", i); break;
    case REF_CONST: print_const(p, &p->f->consts.at[i], width); break;
    case REF_SREG: text_printf(&p->t, "%%%s", ir_sreg_text(i, p->t.arena)); break;
    default: text_puts(&p->t, "_"); break;
    }
}

static void print_result(struct printer *p, ir_ref r)
{
    print_ref(p, r, 0);
    if (ir_ref_kind(r) == REF_REG)
        text_printf(&p->t, ":%u", p->f->regs.at[ir_ref_index(r)].width);
}

/* ---- accesses ---- */

/* Behind the operation, in one word with it. */
static void print_access(struct printer *p, const struct ir_insn *i)
{
    const struct mem_access *m = &i->access->mem;
    text_printf(&p->t, ".%s%s", ptx_space_name(m->space), m->is_volatile ? ".volatile" : "");
    if (m->order != ORDER_WEAK)
        text_printf(&p->t, ".%s", ir_order_text(m->order));
    if (m->scope != MOD_none)
        text_printf(&p->t, ".%s", isa_mod_text((enum isa_mod)m->scope));
    if (m->is_const && m->space != SPACE_CONST)
        text_puts(&p->t, ".nc");
    if (i->kind == IR_ATOM || (i->kind == IR_ASYNC && m->type))
        text_printf(&p->t, ".%s.%s", atom_name((enum atom_op)m->atom), isa_type_name((enum isa_type)m->type));
    text_printf(&p->t, m->n > 1 ? ".%c%ux%u" : ".%c%u", m->sign ? 's' : 'b', 8u * m->bytes, m->n);
}

static void print_address(struct printer *p, const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    const ir_ref refs[] = {i->a, a->disp_const};
    const char *plus = a->mem.frame ? " + " : "";
    text_puts(&p->t, a->mem.frame ? "[frame" : "[");
    for (unsigned k = 0; k < 2; k++)
        if (refs[k]) {
            text_puts(&p->t, plus);
            print_ref(p, refs[k], 0);
            plus = " + ";
        }
    if (a->disp || !*plus)
        text_printf(&p->t, "%s%lld", plus, (long long)a->disp);
    text_puts(&p->t, "]");
}

/* ---- instructions ---- */

static uint32_t order_of(const struct ir_func *f, uint32_t block)
{
    return f->blocks.at[block].order;
}

static void print_operand(struct printer *p, const struct ir_insn *i, const struct ir_text_operand *o)
{
    switch (o->what) {
    case 'm': print_address(p, i); break;
    case 'I':
    case 'i':
        text_puts(&p->t, o->what == 'I' ? "imm " : "");
        print_number(p, (int64_t)i->imm);
        break;
    case 'o': text_puts(&p->t, ir_order_text(i->imm)); break;
    case 's': print_ref(p, ir_make_ref(REF_SREG, (uint32_t)i->imm * 4), 0); break;
    case 't':
    case 'T':
        for (uint32_t k = 0; k < i->n_targets; k++)
            text_printf(&p->t, k ? ", %u" : "%u", order_of(p->f, i->targets[k]));
        break;
    default: print_ref(p, *o->ref, o->width);
    }
}

/* The name of an instruction, and what its operands are. */
static const char *print_name(struct printer *p, const struct ir_insn *i)
{
    const struct ir_operation *o = ir_operation(0);
    uint8_t mode = i->kind == IR_CALL ? (uint8_t)i->call->syscall : i->mode;
    if (i->kind == IR_LANES) {
        text_puts(&p->t, lane_info(i->lane)->name);
        return "";
    }
    if (i->kind == IR_MATRIX) {
        text_printf(&p->t, i->access ? "%.*s access" : "%.*s", STR_ARG(i->matrix->name));
        return i->access ? "mq" : "q";
    }
    if (i->kind == IR_TEXTURE) {
        text_printf(&p->t, "%.*s", STR_ARG(i->texture->name));
        return "Q";
    }
    while (o->kind != i->kind || o->mode != mode)
        o++; /* each has its entry */
    text_puts(&p->t, o->text);
    return o->operands;
}

static void print_insn_text(struct printer *p, struct ir_insn i)
{
    ir_ref *results[FRAGMENT_MAX_REGS];
    struct ir_text_operand operands[IR_MAX_REFS];
    unsigned n_results = ir_text_results(&i, results);
    while (n_results && !*results[n_results - 1] && i.kind != IR_LD)
        n_results--;
    text_puts(&p->t, "    ");
    if (i.guard) {
        text_puts(&p->t, i.guard_negated ? "@!" : "@");
        print_ref(p, i.guard, 1);
        text_puts(&p->t, " ");
    }
    for (unsigned k = 0; k < n_results; k++) {
        text_puts(&p->t, k ? ", " : "");
        print_result(p, *results[k]);
    }
    text_puts(&p->t, n_results ? " = " : "");
    const char *form = print_name(p, &i);
    if (*form == 'm')
        print_access(p, &i);
    unsigned n = ir_text_operands(&i, form, operands);
    while (n && operands[n - 1].is_optional && !(operands[n - 1].ref ? *operands[n - 1].ref : i.imm))
        n--;
    for (unsigned k = 0; k < n; k++) {
        text_puts(&p->t, k ? ", " : " ");
        print_operand(p, &i, &operands[k]);
    }
}

/* ---- lines ---- */

enum { NOTES_AT = 56 };

/* The end of a line that began at `start`; a note that has been written behind `end` becomes a
 * comment. */
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
    print_insn_text(p, p->f->insns.at[insn]);
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
