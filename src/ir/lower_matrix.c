/* Matrix instructions: fragments become lists of registers; see builder.h and isa/matrix.h. */
#include "ir/builder.h"
#include "isa/needs.h"

enum { MAX_READS = 2 * FRAGMENT_MAX_REGS };

/* The operands of one instruction, in the order in which its form names them. */
struct walk {
    struct builder *b;
    struct ir_matrix *m;
    struct ir_access *access;
    ir_ref base;
    unsigned at; /* the next operand */
};

static const struct ptx_operand *next_operand(struct walk *w)
{
    return w->at < w->b->insn->n_operands ? &w->b->insn->operands[w->at++] : NULL;
}

static enum isa_type register_type(const struct fragment *f)
{
    return f->reg_bits == 64 ? TYPE_b64 : TYPE_b32;
}

static void write_fragment(struct walk *w, const struct ptx_operand *o, const struct fragment *f)
{
    for (unsigned k = 0; k < f->n_regs; k++) {
        struct ptx_operand e = ptx_element(o, k);
        w->m->writes[w->m->n_writes++] = ir_named_reg(w->b, &e);
    }
}

static void read_one(struct walk *w, const struct ptx_operand *o, enum isa_type type)
{
    w->m->reads[w->m->n_reads++] = type == TYPE_pred ? ir_predicate(w->b, o) : ir_source(w->b, o, type);
}

/* No product reads copies (isa/matrix.def). */
static void read_fragment(struct walk *w, const struct ptx_operand *o, const struct fragment *f)
{
    unsigned n = w->m->form.kind == MATRIX_PRODUCT ? fragment_own_regs(f) : f->n_regs;
    for (unsigned k = 0; k < n; k++) {
        struct ptx_operand e = ptx_element(o, k);
        read_one(w, &e, register_type(f));
    }
}

/* Scales and transpositions behind scale-d, in the order of 9.7.15.5.2; and the accumulator, which
 * is D. */
static void lower_wgmma(struct walk *w)
{
    const struct ptx_operand *o = next_operand(w);
    struct ir_matrix *m = w->m;
    m->at_scale = m->n_reads;
    read_one(w, o, TYPE_pred);
    if (m->form.d_type != TYPE_s32) {
        m->negates_a = (int64_t)next_operand(w)->bits < 0;
        m->negates_b = (int64_t)next_operand(w)->bits < 0;
    }
    if (m->form.a.bits == 16 && m->a_by_descriptor)
        m->transposes_a = next_operand(w)->bits & 1;
    if (m->form.a.bits == 16)
        m->transposes_b = next_operand(w)->bits & 1;
    m->at_c = m->n_reads;
    read_fragment(w, &w->b->insn->operands[0], &m->form.d);
}

/* What a lane loads or stores at once: a register where its elements stand side by side, else an
 * element. */
static unsigned piece_bytes(const struct matrix *x, const struct fragment *f)
{
    enum matrix_coordinate inner = x->loads == 'a'   ? (x->a_by_column ? COORDINATE_M : COORDINATE_K)
                                   : x->loads == 'b' ? (x->a_by_column ? COORDINATE_K : COORDINATE_N)
                                                     : (x->a_by_column ? COORDINATE_M : COORDINATE_N);
    unsigned per = fragment_per_reg(f);
    bool together = true;
    for (unsigned b = 0; 1u << b < per; b++)
        together &= f->number[b].coordinate == inner && f->number[b].bit == b;
    return together ? f->reg_bits / 8u : f->bits / 8u;
}

static void lower_memory_operand(struct walk *w, const struct ptx_operand *o)
{
    const struct matrix *x = &w->m->form;
    bool by_rows = x->kind == MATRIX_LOAD_ROWS || x->kind == MATRIX_STORE_ROWS;
    bool loads = x->kind == MATRIX_LOAD || x->kind == MATRIX_LOAD_ROWS;
    unsigned bytes = by_rows ? 16 : piece_bytes(x, loads ? &x->d : &x->c);
    w->access = ir_new_access(w->b, lower_space(w->b, w->b->insn->inst), bytes, 1);
    w->base = lower_place(w->b, o, w->access);
}

static void lower_one(struct walk *w, struct str name)
{
    struct ir_matrix *m = w->m;
    if (str_is(name, "WGMMA")) {
        lower_wgmma(w);
        return;
    }
    const struct ptx_operand *o = next_operand(w);
    bool in_memory = m->form.kind == MATRIX_WARPGROUP && o && !ptx_is_list(o);
    if (!o)
        return; /* no stride */
    if (str_is(name, "D")) {
        write_fragment(w, o, &m->form.d);
    } else if (str_is(name, "A") && !in_memory) {
        read_fragment(w, o, &m->form.a);
    } else if (str_is(name, "A")) {
        m->a_by_descriptor = true;
        read_one(w, o, TYPE_b64);
    } else if (str_is(name, "B")) {
        m->at_b = m->n_reads;
        if (m->form.kind == MATRIX_WARPGROUP)
            read_one(w, o, TYPE_b64);
        else
            read_fragment(w, o, &m->form.b);
    } else if (str_is(name, "C")) {
        m->at_c = m->n_reads;
        read_fragment(w, o, &m->form.c);
    } else if (str_is(name, "M")) {
        lower_memory_operand(w, o);
    } else if (str_is(name, "SELECTOR")) {
        m->selector = (uint8_t)o->bits;
    } else {
        m->at_rest = m->n_reads;
        m->has_rest = true;
        read_one(w, o, TYPE_u32);
    }
}

void lower_matrix(struct builder *b)
{
    const struct isa_inst *inst = b->insn->inst;
    const char *why, *rest = inst->form->operands;
    struct walk w = {.b = b, .m = ARENA_NEW(b->arena, struct ir_matrix)};
    w.m->name = inst->text;
    w.m->writes = ARENA_ARRAY(b->arena, ir_ref, FRAGMENT_MAX_REGS);
    w.m->reads = ARENA_ARRAY(b->arena, ir_ref, MAX_READS);
    if (!matrix_of(inst, b->arena, &w.m->form, &why)) {
        build_error(b, "ptx-opcode", NULL, "`%.*s`: %s", STR_ARG(inst->text), why);
        return;
    }
    for (struct str name; isa_next_word(&rest, ' ', &name);)
        lower_one(&w, name);
    ir_ref everybody = ir_const_of(b, 32, UINT32_MAX);
    struct ir_insn *i = ir_emit_guarded(b, IR_MATRIX);
    i->mode = COLLECTIVE_MATRIX;
    i->matrix = w.m;
    i->access = w.access;
    i->a = w.base;
    i->f = everybody; /* .aligned: all lanes of the warp come together */
}
