/* Instructions of textures and surfaces (PTX ISA 9.7.10, 9.7.11): operands become lists of
 * registers; see builder.h and isa/texture.h. */
#include "ir/builder.h"

/* The operands of one instruction. */
struct walk {
    struct builder *b;
    struct ir_texture *t;
    unsigned at; /* the next operand */
    struct ir_dest writes[IR_TEXTURE_WRITES];
};

static const struct ptx_operand *next_operand(struct walk *w)
{
    return w->at < w->b->insn->n_operands ? &w->b->insn->operands[w->at++] : NULL;
}

static void add_read(struct walk *w, ir_ref r)
{
    w->t->reads[w->t->n_reads++] = r;
}

static void add_write(struct walk *w, const struct ptx_operand *o, enum isa_type type)
{
    w->writes[w->t->n_writes] = o->kind == OPND_SINK ? (struct ir_dest){0} : ir_destination(w->b, o, type);
    w->t->writes[w->t->n_writes] = w->writes[w->t->n_writes].ref;
    w->t->n_writes++;
}

/* A parameter of an opaque type holds a handle (5.3). */
static ir_ref load_handle(struct builder *b, const struct ptx_operand *o)
{
    struct ptx_operand base = *o, memory = {.kind = OPND_MEM, .component = COMPONENT_NONE, .n = 1, .elems = &base};
    struct ir_access *a = ir_new_access(b, SPACE_PARAM, 8, 1);
    ir_ref at = lower_place(b, &memory, a), handle = ir_temp(b, 64);
    a->regs[0] = handle;
    ir_emit_access(b, IR_LD, at, a);
    return handle;
}

static ir_ref handle_of(struct builder *b, const struct ptx_operand *o)
{
    if (o->kind == OPND_REG)
        return ir_source(b, o, TYPE_b64);
    const struct ptx_var *v = o->symbol->kind == SYMBOL_VAR ? (const struct ptx_var *)o->symbol : NULL;
    return v && v->space == SPACE_PARAM ? load_handle(b, o) : ir_symbol_place(b, o->symbol, 0, 64);
}

/* The first n elements, one after the other. */
static void read_elements(struct walk *w, const struct ptx_operand *o, unsigned n, enum isa_type type)
{
    for (unsigned k = 0; k < n; k++) {
        struct ptx_operand e = ptx_element(o, k);
        add_read(w, ir_source(w->b, &e, type));
    }
}

static void read_place(struct walk *w)
{
    const struct ptx_operand *o = next_operand(w);
    enum texture_shape shape = (enum texture_shape)w->t->form.shape;
    enum isa_type type = w->t->form.by_integers ? TYPE_b32 : TYPE_f32;
    add_read(w, handle_of(w->b, &o->elems[0]));
    if (o->n == 3) {
        w->t->at_sampler = w->t->n_reads;
        add_read(w, handle_of(w->b, &o->elems[1]));
    }
    o = &o->elems[o->n - 1];
    w->t->at_coordinates = w->t->n_reads;
    unsigned n = shape_coordinates(shape);
    for (unsigned k = 0; k < n + shape_is_layered(shape); k++) {
        struct ptx_operand e = ptx_element(o, k);
        bool layer = k == 0 && shape_is_layered(shape);
        add_read(w, ir_source(w->b, &e, layer ? TYPE_b32 : type));
    }
}

static void write_results(struct walk *w)
{
    const struct ptx_operand *o = next_operand(w);
    const struct texture_form *f = &w->t->form;
    const struct ptx_operand *resident = NULL;
    if (o->kind == OPND_PAIR) {
        resident = &o->elems[1];
        o = &o->elems[0];
    }
    for (unsigned k = 0; k < f->n; k++) {
        struct ptx_operand e = ptx_element(o, k);
        add_write(w, &e, (enum isa_type)f->type);
    }
    if (resident) {
        w->t->tells_resident = true;
        add_write(w, resident, TYPE_pred);
    }
}

static void read_lod(struct walk *w)
{
    const struct texture_form *f = &w->t->form;
    unsigned n = shape_coordinates((enum texture_shape)f->shape);
    w->t->at_lod = w->t->n_reads;
    if (f->lod == LOD_LEVEL)
        add_read(w, ir_source(w->b, next_operand(w), f->by_integers ? TYPE_b32 : TYPE_f32));
    for (int k = 0; f->lod == LOD_GRADIENTS && k < 2; k++)
        read_elements(w, next_operand(w), n, TYPE_f32);
}

/* Offsets stand before a depth that is compared with, which is of textures that Heddle has not. */
static bool read_offsets(struct walk *w)
{
    unsigned n = shape_coordinates((enum texture_shape)w->t->form.shape);
    const struct ptx_operand *o = next_operand(w);
    if (o && (ptx_is_list(o) || (o->kind != OPND_FLOAT && n == 1))) {
        w->t->at_offsets = w->t->n_reads;
        read_elements(w, o, n, TYPE_b32);
        o = next_operand(w);
    }
    if (o)
        build_error(w->b, "not-supported", "read a texture without depths, and compare its value",
                    "`%.*s` compares depths: Heddle has no depth textures yet", STR_ARG(w->b->insn->inst->text));
    return !o;
}

/* True: it is. */
static bool refuse(struct walk *w)
{
    const struct texture_form *f = &w->t->form;
    if (f->lod != LOD_GRADIENTS || !shape_is_cube((enum texture_shape)f->shape))
        return false;
    build_error(w->b, "not-supported", "read a level: tex.level, texCubemapLod",
                "`%.*s` is not supported: Heddle has no gradients of cubes yet", STR_ARG(w->b->insn->inst->text));
    return true;
}

static void read_query(struct walk *w)
{
    const struct ptx_operand *d = next_operand(w), *o = next_operand(w);
    bool tests = w->t->form.op == TEXTURE_TEST;
    add_write(w, d, tests ? TYPE_pred : TYPE_u32);
    add_read(w, handle_of(w->b, tests ? o : &o->elems[0]));
    if (w->t->form.lod == LOD_LEVEL) {
        w->t->at_lod = w->t->n_reads;
        add_read(w, ir_source(w->b, next_operand(w), TYPE_b32));
    }
}

static void read_values(struct walk *w)
{
    const struct ptx_operand *o = next_operand(w);
    w->t->at_values = w->t->n_reads;
    read_elements(w, o, w->t->form.n, (enum isa_type)w->t->form.type);
}

/* False: it is refused. */
static bool find_operands(struct walk *w)
{
    switch ((enum texture_op)w->t->form.op) {
    case TEXTURE_QUERY:
    case TEXTURE_TEST: read_query(w); return true;
    case SURFACE_LOAD:
        write_results(w);
        read_place(w);
        return true;
    case SURFACE_STORE:
    case SURFACE_REDUCE:
        read_place(w);
        read_values(w);
        return true;
    default:
        write_results(w);
        read_place(w);
        read_lod(w);
        return read_offsets(w);
    }
}

void lower_texture(struct builder *b)
{
    const struct isa_inst *inst = b->insn->inst;
    struct walk w = {.b = b, .t = ARENA_NEW(b->arena, struct ir_texture)};
    w.t->form = texture_form_of(b->module->isa, inst);
    if (w.t->form.op == SURFACE_REDUCE)
        w.t->atom = (uint8_t)lower_atom_op(inst);
    w.t->name = inst->text;
    w.t->reads = ARENA_ARRAY(b->arena, ir_ref, IR_TEXTURE_READS);
    w.t->writes = ARENA_ARRAY(b->arena, ir_ref, IR_TEXTURE_WRITES);
    if (refuse(&w) || !find_operands(&w))
        return;
    ir_emit_guarded(b, IR_TEXTURE)->texture = w.t;
    for (unsigned k = 0; k < w.t->n_writes; k++)
        if (w.writes[k].ref)
            ir_finish(b, w.writes[k]);
}
