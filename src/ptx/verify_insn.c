/* Instructions: words, operand counts, operands, the lists with rules of their own (PTX ISA 9); see
 * verify.h. */
#include "isa/tensor_map.h"
#include "isa/opcodes.h"
#include "ptx/verify.h"

/* ---- words ---- */

static void check_words(struct verifier *v)
{
    const struct isa_inst *inst = v->insn->inst;
    struct arena *a = v->diags->arena;
    if (!isa_need_met(inst->need, v->m->version, v->m->target))
        verify_need(v, insn_place(v), arena_printf(a, "`%.*s`", STR_ARG(inst->text)), inst->need);
    if (inst->gone.ptx && v->m->version >= inst->gone.ptx && v->m->target.sm >= inst->gone.sm)
        diag_error(v->diags, insn_place(v), "ptx-version", inst->gone_help,
                   "`%.*s` is no longer valid from .version %u.%u%s on", STR_ARG(inst->text), inst->gone.ptx / 10u,
                   inst->gone.ptx % 10u, inst->gone.sm > 10 ? arena_printf(a, " and sm_%u", inst->gone.sm) : "");
    if (inst->ban)
        diag_error(v->diags, insn_place(v), "ptx-opcode", NULL, "`%.*s`: %s", STR_ARG(inst->text), inst->ban);
}

/* ---- operand counts ---- */

enum presence { MUST, MAY, MUST_NOT };

/* When does an operand that isa/ops.def marks "?" stand? */
static enum presence presence_of(const struct verifier *v, const struct isa_operand *spec)
{
    const struct isa_inst *inst = v->insn->inst;
    if (!spec->optional)
        return MUST;
    switch (inst->kind) {
    case KIND_SET:
    case KIND_SETP: return isa_pick(v->m->isa, inst, SLOT_BOOL) ? MUST : MUST_NOT;
    case KIND_LD:
    case KIND_ST:
    case KIND_ATOM:
    case KIND_RED: return isa_has(inst, MOD_L2_cache_hint) ? MUST : MUST_NOT;
    case KIND_ASYNC:
        if (spec->kind == OPERAND_LIST)
            return strcmp(spec->list, "IM2COL") ? MAY : isa_has(inst, MOD_im2col) ? MUST : MUST_NOT;
        return isa_has(inst, spec->type == TYPE_u64 ? MOD_L2_cache_hint : MOD_multicast) ? MUST : MUST_NOT;
    case KIND_VIDEO: return isa_pick(v->m->isa, inst, SLOT_VOP2) ? MUST : MAY;
    default: return MAY;
    }
}

/* The entries of the operands that stand: those that may be absent are taken from the left. Returns
 * their number, or -1 where too many or too few stand. */
static int match_operands(const struct verifier *v, const struct isa_operand **of)
{
    const struct isa_inst *inst = v->insn->inst;
    unsigned must = 0, may = 0, n = 0;
    for (unsigned k = 0; k < inst->n_operands; k++) {
        enum presence p = presence_of(v, &inst->operand[k]);
        must += p == MUST;
        may += p == MAY;
    }
    unsigned written = v->insn->n_operands;
    if (written < must || written > must + may)
        return -1;
    unsigned spare = written - must;
    for (unsigned k = 0; k < inst->n_operands; k++) {
        enum presence p = presence_of(v, &inst->operand[k]);
        if (p == MUST || (p == MAY && spare && spare--))
            of[n++] = &inst->operand[k];
    }
    return (int)n;
}

static void report_count(struct verifier *v)
{
    const struct isa_inst *inst = v->insn->inst;
    struct arena *a = v->diags->arena;
    char usage[64];
    unsigned least = 0, most = 0;
    for (unsigned k = 0; k < inst->n_operands; k++) {
        enum presence p = presence_of(v, &inst->operand[k]);
        least += p == MUST;
        most += p != MUST_NOT;
    }
    isa_operands_text(usage, sizeof usage, inst->form->operands);
    const char *range = least == most ? arena_printf(a, "%u", least) : arena_printf(a, "%u to %u", least, most);
    diag_error(v->diags, insn_place(v), "ptx-operand", arena_printf(a, "%.*s %s;", STR_ARG(inst->text), usage),
               "`%.*s` takes %s operand%s, not %u", STR_ARG(inst->text), range, most == 1 ? "" : "s",
               v->insn->n_operands);
}

/* ---- lists with rules of their own ---- */

static enum ptx_space space_of(const struct verifier *v)
{
    switch (isa_pick(v->m->isa, v->insn->inst, SLOT_ANYSPACE)) {
    case MOD_global: return SPACE_GLOBAL;
    case MOD_const: return SPACE_CONST;
    case MOD_local: return SPACE_LOCAL;
    case MOD_shared:
    case MOD_shared_cta:
    case MOD_shared_cluster: return SPACE_SHARED;
    case MOD_param:
    case MOD_param_entry: return SPACE_PARAM;
    default: return isa_has(v->insn->inst, MOD_param_func) ? SPACE_PARAM : SPACE_GENERIC;
    }
}

/* `_` is a destination's in the PTX ISA. ptxas takes it in what mov.b32 packs, too, beside a
 * register: as 0. */
static void check_elements(struct verifier *v, const struct ptx_operand *o, unsigned bits, bool write)
{
    static const enum isa_type types[] = {TYPE_b8, TYPE_b16, TYPE_b32, TYPE_b64};
    unsigned n = ptx_n_elements(o), each = bits / n, width = each <= 8 ? 0 : each <= 16 ? 1 : each <= 32 ? 2 : 3;
    if (n != 2 && n != 4 && n != 8) {
        operand_error(v, o, NULL, "a vector has 2, 4 or 8 elements");
        return;
    }
    if (each < 8) {
        operand_error(v, o, NULL, "%u values do not fit in %u bits", n, bits);
        return;
    }
    bool has_register = false;
    for (unsigned k = 0; k < n; k++)
        has_register |= ptx_element(o, k).kind == OPND_REG;
    for (unsigned k = 0; k < n; k++) {
        struct ptx_operand e = ptx_element(o, k);
        if (write)
            verify_destination(v, &e, types[width], false);
        else if (e.kind != OPND_SINK || bits != 32 || !has_register)
            verify_source(v, &e, types[width], false);
    }
}

/* mov d, a; mov {d, ...}, a; mov d, {a, ...} (9.7.9.3, 9.7.9.4); with .v2 or .v4 element by
 * element, which is how all of a vector special register is read (10.1: ".sreg .v4 .u32 %tid"). */
static void check_mov(struct verifier *v)
{
    const struct ptx_insn *in = v->insn;
    enum isa_type type = (enum isa_type)in->inst->type[0];
    if (in->n_operands != 2) {
        report_count(v);
        return;
    }
    if (isa_has(in->inst, MOD_v2) || isa_has(in->inst, MOD_v4)) {
        verify_vector_mov(v);
        return;
    }
    const struct ptx_operand *to = &in->operands[0], *from = &in->operands[1];
    bool unpacks = ptx_is_list(to), packs = ptx_is_list(from);
    if ((unpacks || packs) && isa_type_class(type) != CLASS_B) {
        operand_error(v, unpacks ? to : from, "write mov.b32, mov.b64 or mov.b128",
                      "`%.*s` cannot take vectors apart or put them together", STR_ARG(in->inst->text));
        return;
    }
    if (unpacks && packs) {
        operand_error(
            v, from, "as in mov.v2.b32 {%r1, %r2}, {%r3, %r4}",
            "`%.*s` either takes a vector apart or puts one together, not both; to move a vector, add .v2 or .v4",
            STR_ARG(in->inst->text));
        return;
    }
    if (unpacks)
        check_elements(v, to, isa_type_bits(type), true);
    else if (to->kind == OPND_SINK)
        operand_error(v, to, NULL, "the result of `%.*s` cannot be dropped", STR_ARG(in->inst->text));
    else
        verify_destination(v, to, type, false);
    if (packs)
        check_elements(v, from, isa_type_bits(type), false);
    else
        verify_source(v, from, type, false);
}

/* The source of cvta and mapa: a register or a variable of the state space. */
static void check_address_value(struct verifier *v, const struct ptx_operand *o)
{
    enum isa_type type = (enum isa_type)v->insn->inst->type[0];
    enum ptx_space space = v->insn->inst->op == OP_cvta ? space_of(v) : SPACE_SHARED;
    if (o->kind != OPND_SYMBOL || o->symbol->kind != SYMBOL_VAR) {
        verify_source(v, o, type, false);
        return;
    }
    const struct ptx_var *var = (const struct ptx_var *)o->symbol;
    if (var->space != space)
        operand_error(v, o, NULL, "`%.*s` is in .%s, not in .%s", STR_ARG(operand_text(v, o)),
                      ptx_space_name(var->space), ptx_space_name(space));
}

/* The space of a memory operand. */
static enum ptx_space space_of_operand(const struct verifier *v, const struct isa_operand *spec)
{
    return spec->shared ? SPACE_SHARED : spec->global ? SPACE_GLOBAL : space_of(v);
}

/* cp.async's fourth operand: how many bytes are read, or, as a predicate, whether none is
 * (9.7.9.25.3.1). */
static void check_source_size(struct verifier *v, const struct ptx_operand *o)
{
    bool predicate = o->kind == OPND_REG && o->reg->type == TYPE_pred;
    const struct ptx_operand *size = &v->insn->operands[2];
    verify_source(v, o, predicate ? TYPE_pred : TYPE_u32, false);
    if (o->kind == OPND_INT && size->kind == OPND_INT && o->bits > size->bits)
        operand_error(v, o, NULL, "`%.*s` copies %u bytes, and cannot read more", STR_ARG(v->insn->inst->text),
                      (unsigned)size->bits);
}

static unsigned dimensions(const struct verifier *v)
{
    return (unsigned)isa_pick(v->m->isa, v->insn->inst, SLOT_DIM) - MOD_d1 + 1;
}

static void check_vector(struct verifier *v, const struct ptx_operand *o, unsigned n, enum isa_type type,
                         const char *what)
{
    bool one = n == 1 && o->kind == OPND_REG;
    if (!one && (o->kind != OPND_VECTOR || o->n != n)) {
        operand_error(v, o, NULL, "`%.*s` needs %u %s in braces", STR_ARG(v->insn->inst->text), n, what);
        return;
    }
    for (unsigned k = 0; k < n; k++)
        verify_source(v, one ? o : &o->elems[k], type, false);
}

/* A tensor map by its generic address, and coordinates (9.7.9.27). */
static void check_tensor(struct verifier *v, const struct ptx_operand *o)
{
    verify_address(v, o, SPACE_GENERIC);
    if (o->kind == OPND_MEM && o->n == 2)
        check_vector(v, &o->elems[1], dimensions(v), TYPE_s32, "coordinates");
    else if (o->kind == OPND_MEM)
        operand_error(v, o, "as in [%rd1, {%r1, %r2}]", "`%.*s` needs coordinates here", STR_ARG(v->insn->inst->text));
}

static void check_list(struct verifier *v, const struct ptx_operand *o, const char *list)
{
    if (strcmp(list, "TENSOR") == 0)
        check_tensor(v, o);
    if (strcmp(list, "IM2COL") == 0 && dimensions(v) > 2)
        check_vector(v, o, dimensions(v) - 2, TYPE_u16, "offsets");
    if (strcmp(list, "SRCSIZE") == 0)
        check_source_size(v, o);
    if (strcmp(list, "CVTA") == 0 || strcmp(list, "MAPA") == 0)
        check_address_value(v, o);
}

/* ---- constants ---- */

static const struct {
    isa_op op;
    enum isa_mod mod;
    uint8_t operand;
    uint16_t least, greatest, multiple;
} ranges[] = {
#define RANGE(op, mod, operand, least, greatest, multiple) {OP_##op, MOD_##mod, operand, least, greatest, multiple},
#include "isa/ranges.def"
#undef RANGE
};

static void check_range(struct verifier *v, unsigned k)
{
    const struct ptx_operand *o = &v->insn->operands[k];
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (ranges[i].op != v->insn->inst->op || ranges[i].operand != k ||
            (ranges[i].mod && !isa_has(v->insn->inst, ranges[i].mod)))
            continue;
        if (o->bits < ranges[i].least || o->bits > ranges[i].greatest)
            operand_error(v, o, NULL, "operand %u of `%.*s` must be from %u to %u", k + 1, STR_ARG(v->insn->inst->text),
                          ranges[i].least, ranges[i].greatest);
        else if (o->bits % ranges[i].multiple)
            operand_error(v, o, NULL, "operand %u of `%.*s` must be a multiple of %u", k + 1,
                          STR_ARG(v->insn->inst->text), ranges[i].multiple);
        return;
    }
}

/* Barriers are numbered 0 to 15, and take whole warps (9.7.13.1). */
static void check_barrier(struct verifier *v)
{
    const struct ptx_insn *in = v->insn;
    unsigned at = isa_has(in->inst, MOD_red) ? 1 : 0;
    if (in->n_operands > at && in->operands[at].kind == OPND_INT && (uint32_t)in->operands[at].bits > 15)
        operand_error(v, &in->operands[at], NULL, "a block has the barriers 0 to 15");
    unsigned threads = at + 1;
    bool counted = in->n_operands > threads + (at ? 1 : 0);
    if (counted && in->operands[threads].kind == OPND_INT && in->operands[threads].bits % 32)
        operand_error(v, &in->operands[threads], "write a multiple of 32", "a barrier counts threads of whole warps");
}

/* 9.7.9.28: which of a field's elements, and the constants that a field takes. */
static void check_tensor_map(struct verifier *v)
{
    static const struct {
        enum isa_mod word;
        uint8_t elements, greatest;
    } fields[] = {
#define FIELD(name, elements, less, mask, greatest) {MOD_##name, elements, greatest},
#include "isa/tensor_map.def"
    };
    const struct ptx_insn *in = v->insn;
    const struct ptx_operand *last = &in->operands[in->n_operands - 1];
    if (isa_has(in->inst, MOD_cp_fenceproxy) && (uint32_t)last->bits != TENSOR_MAP_BYTES)
        operand_error(v, last, "write 128", "a tensor map has %d bytes", TENSOR_MAP_BYTES);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (!isa_has(in->inst, fields[i].word))
            continue;
        if (fields[i].elements > 1 && (uint32_t)in->operands[1].bits >= fields[i].elements)
            operand_error(v, &in->operands[1], NULL, "this field has the elements 0 to %u", fields[i].elements - 1);
        if (fields[i].greatest && (uint32_t)last->bits > fields[i].greatest)
            operand_error(v, last, NULL, "this field is from 0 to %u", fields[i].greatest);
    }
}

/* 9.7.13.15.13: what is not in its own entry. Arrivals at another block's object have no state to
 * give. */
static void check_mbarrier(struct verifier *v)
{
    const struct ptx_insn *in = v->insn;
    bool arrives = isa_has(in->inst, MOD_arrive) || isa_has(in->inst, MOD_arrive_drop);
    bool sinks = in->operands[0].kind == OPND_SINK, counts = arrives && !isa_has(in->inst, MOD_expect_tx);
    if (counts && in->n_operands == 3 && !isa_has(in->inst, MOD_noComplete))
        verify_need(v, insn_place(v), "a count without .noComplete", (struct isa_need){70, 90, false});
    if (counts && in->n_operands == 3 && in->operands[2].kind == OPND_INT && (uint32_t)in->operands[2].bits == 0)
        operand_error(v, &in->operands[2], NULL, "an arrival counts at least 1");
    if (arrives && sinks)
        verify_need(v, insn_place(v), "a state that is dropped", (struct isa_need){71, 80, false});
    if (arrives && !sinks && isa_has(in->inst, MOD_shared_cluster))
        operand_error(v, &in->operands[0], "write `_`", "`%.*s` has no state as its result", STR_ARG(in->inst->text));
    if (!arrives && sinks)
        operand_error(v, &in->operands[0], "write an unused register", "the result of `%.*s` cannot be dropped",
                      STR_ARG(in->inst->text));
}

/* 9.7.9.25: sizes that are constants. */
static void check_async(struct verifier *v)
{
    const struct ptx_insn *in = v->insn;
    bool bulk = isa_has(in->inst, MOD_bulk), all = isa_has(in->inst, MOD_ca);
    const struct ptx_operand *size = in->n_operands > 2 ? &in->operands[2] : NULL;
    bool needs_three = isa_has(in->inst, MOD_im2col) || isa_has(in->inst, MOD_im2col_no_offs);
    if (needs_three && dimensions(v) < 3)
        operand_error(v, &in->operands[0], NULL, "im2col takes 3 to 5 dimensions");
    if (in->inst->op != OP_cp || isa_has(in->inst, MOD_tensor) || !size || size->kind != OPND_INT)
        return;
    if (bulk && size->bits % 16)
        operand_error(v, size, NULL, "`%.*s` copies a multiple of 16 bytes", STR_ARG(in->inst->text));
    else if (!bulk && size->bits != 16 && !(all && (size->bits == 4 || size->bits == 8)))
        operand_error(v, size, NULL, "`%.*s` copies %s bytes", STR_ARG(in->inst->text), all ? "4, 8 or 16" : "16");
}

/* ---- all ---- */

static bool is_relaxed(const struct isa_inst *inst, const struct isa_operand *spec)
{
    switch (inst->kind) {
    case KIND_LD: return spec->kind == OPERAND_DST;
    case KIND_ST: return spec->kind == OPERAND_SRC && !spec->optional;
    default: return inst->op == OP_cvt;
    }
}

static void check_store_to_param(struct verifier *v)
{
    const struct ptx_operand *o = &v->insn->operands[0];
    if (o->kind != OPND_MEM || o->elems->kind != OPND_SYMBOL)
        return;
    const struct ptx_symbol *s = o->elems->symbol;
    if (s->kind == SYMBOL_VAR && ((const struct ptx_var *)s)->is_param)
        operand_error(v, o->elems, "parameters can only be read; write results to the return parameters",
                      "`%.*s` is an input of the function", STR_ARG(s->name));
}

static void check_load_of_result(struct verifier *v)
{
    const struct ptx_operand *o = &v->insn->operands[1];
    if (o->kind != OPND_MEM || o->elems->kind != OPND_SYMBOL)
        return;
    for (uint32_t i = 0; i < v->func->signature.returns.n; i++)
        if (&v->func->signature.returns.at[i]->symbol == o->elems->symbol)
            operand_error(v, o->elems, "keep the value in a register", "`%.*s` is a result of the function",
                          STR_ARG(o->elems->symbol->name));
}

/* isspacep takes addresses of 32 bits in modules of 64, too (9.7.9.19). */
static bool is_short_address(const struct ptx_operand *o)
{
    return o->kind == OPND_REG && register_fits(o->reg, TYPE_u32, false);
}

static void check_operands(struct verifier *v)
{
    const struct ptx_insn *in = v->insn;
    const struct isa_operand *of[ISA_MAX_OPERANDS];
    int n = match_operands(v, of);
    if (n < 0) {
        report_count(v);
        return;
    }
    for (int k = 0; k < n; k++) {
        if (of[k]->kind == OPERAND_MEM)
            verify_address(v, &in->operands[k], space_of_operand(v, of[k]));
        else if (of[k]->kind == OPERAND_LIST)
            check_list(v, &in->operands[k], of[k]->list);
        else if (!(in->inst->kind == KIND_ISSPACEP && is_short_address(&in->operands[k])))
            verify_operand(v, &in->operands[k], of[k], is_relaxed(in->inst, of[k]));
        if (in->operands[k].kind == OPND_INT)
            check_range(v, (unsigned)k);
    }
    bool three_inputs = (in->inst->op == OP_min || in->inst->op == OP_max) && n == 4;
    if (three_inputs && in->inst->kind == KIND_PURE)
        verify_need(v, insn_place(v), "a third input", (struct isa_need){88, 100, false});
    if (in->inst->kind == KIND_BAR)
        check_barrier(v);
    if (in->inst->kind == KIND_MBARRIER)
        check_mbarrier(v);
    if (in->inst->kind == KIND_ASYNC)
        check_async(v);
    if (in->inst->kind == KIND_TENSORMAP)
        check_tensor_map(v);
    if (in->inst->kind == KIND_ST)
        check_store_to_param(v);
    if (in->inst->kind == KIND_LD)
        check_load_of_result(v);
}

static void check_branch_table(struct verifier *v)
{
    const struct ptx_table *t = (const struct ptx_table *)v->insn->table;
    if (t && (t->symbol.kind != SYMBOL_TABLE || t->table_kind != TABLE_BRANCHTARGETS))
        operand_error(v, &v->insn->operands[0], "name: .branchtargets L1, L2;", "`%.*s` is not a .branchtargets list",
                      STR_ARG(t->symbol.name));
    else
        for (uint32_t i = 0; t && i < t->targets.n; i++)
            if (t->targets.at[i] && t->targets.at[i]->kind != SYMBOL_LABEL)
                operand_error(v, &v->insn->operands[0], NULL, "target %u of `%.*s` is not a label", i + 1,
                              STR_ARG(t->symbol.name));
    verify_source(v, &v->insn->operands[0], TYPE_u32, false);
}

void verify_insn(struct verifier *v, const struct ptx_insn *insn)
{
    v->insn = insn;
    check_words(v);
    if (insn->inst->open)
        return;
    switch (insn->inst->kind) {
    case KIND_MOV: check_mov(v); break;
    case KIND_CALL: verify_call(v); break;
    case KIND_MATRIX: verify_matrix(v); break;
    case KIND_TEXTURE: verify_texture(v); break;
    case KIND_BRX: check_branch_table(v); break;
    case KIND_BRA:
        if (insn->operands[0].symbol && insn->operands[0].symbol->kind != SYMBOL_LABEL)
            operand_error(v, &insn->operands[0], NULL, "`%.*s` is not a label",
                          STR_ARG(operand_text(v, insn->operands)));
        break;
    default: check_operands(v); break;
    }
}
