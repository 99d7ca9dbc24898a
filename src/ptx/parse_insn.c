/* Instructions and their operands (PTX ISA 6, 9.3); see parser.h. */
#include "ptx/parser.h"

enum { MAX_OPERANDS = 16 };

/* ---- operands ---- */

/* .x .y .z .w of a vector or special register; other words are selectors of video instructions. */
static bool parse_component(struct parser *p, struct ptx_operand *o)
{
    /* 5.4.2: colours are other names of the same elements. */
    static const char names[] = "xyzwrgba";
    while (p->tok.kind == TOKEN_DOT) {
        const char *c = p->tok.text.n == 1 ? strchr(names, p->tok.text.p[0]) : NULL;
        bool vector = o->kind == OPND_SREG || (o->kind == OPND_REG && o->reg->vector > 1);
        if (c && *c && vector)
            o->component = (uint8_t)((c - names) % 4);
        else
            o->selector = p->tok.text;
        o->length = (uint32_t)(p->tok.offset + p->tok.text.n + 1 - o->offset);
        parse_advance(p);
    }
    return true;
}

/* %envreg12: the number is part of the name. */
static bool find_sreg(struct parser *p, struct str name, struct ptx_operand *o)
{
    uintptr_t index = (uintptr_t)map_get(&p->sregs, name);
    if (!index && str_starts(name, "%envreg") && name.n <= 9 && name.n > 7) {
        unsigned n = 0;
        for (size_t i = 7; i < name.n; i++) {
            if (name.p[i] < '0' || name.p[i] > '9')
                return false;
            n = n * 10 + (unsigned)(name.p[i] - '0');
        }
        if (n > 31)
            return false;
        o->disp = n;
        index = SREG_envreg + 1;
    }
    o->sreg = (uint32_t)(index - 1);
    return index != 0;
}

/* A register, variable, function or, where nothing of that name is declared, a special register or
 * the sink. */
static bool parse_named(struct parser *p, struct ptx_operand *o)
{
    struct token t = p->tok;
    o->reg = parse_find_reg(p, t.text, &o->number);
    if (o->reg) {
        o->kind = OPND_REG;
    } else if ((o->symbol = parse_find_symbol(p, t.text))) {
        o->kind = OPND_SYMBOL;
    } else if (str_is(t.text, "_")) {
        o->kind = OPND_SINK;
    } else if (find_sreg(p, t.text, o)) {
        o->kind = OPND_SREG;
    } else {
        return parse_fail_undeclared(p, t, "");
    }
    parse_advance(p);
    return true;
}

static bool parse_displacement(struct parser *p, struct ptx_operand *o)
{
    struct constant c;
    if (!at_punct(p, '+') && !at_punct(p, '-'))
        return true;
    if (at_punct(p, '+'))
        parse_advance(p);
    if (!parse_constant(p, &c))
        return false;
    if (c.kind != CONSTANT_INT)
        return parse_fail(p, NULL, "an offset must be an integer");
    o->disp = (int64_t)((uint64_t)o->disp + c.bits);
    return true;
}

/* name[3]: the address of an element (6.4.2), of a vector's, too. */
static bool parse_index(struct parser *p, struct ptx_operand *o)
{
    struct token at = p->tok;
    uint64_t index;
    parse_advance(p);
    if (!parse_size(p, 1ull << 40, &index, "an index") || !parse_expect(p, ']', "the index"))
        return false;
    const struct ptx_var *v = o->symbol->kind == SYMBOL_VAR ? (const struct ptx_var *)o->symbol : NULL;
    if (!v || !v->n_dims)
        return parse_fail_at(p, at, "an offset in bytes follows `+`", "only an array can be indexed");
    o->disp += (int64_t)(index * (isa_type_bits(v->type) / 8));
    return true;
}

static bool parse_operand(struct parser *p, struct ptx_operand *o);

/* What stands in the brackets behind the address: coordinates of a tensor (9.7.9.27), or a sampler
 * and coordinates of a texture (9.7.10). */
static bool parse_coordinates(struct parser *p, struct ptx_operand *o)
{
    enum { MOST = 3 };
    struct ptx_operand *all = ARENA_ARRAY(p->arena, struct ptx_operand, MOST);
    all[0] = o->elems[0];
    o->elems = all;
    while (accept(p, ',')) {
        if (o->n == MOST)
            return parse_fail(p, NULL, "an address cannot have so many parts");
        struct ptx_operand *e = &o->elems[o->n++];
        if (!parse_enter(p) || !parse_leave(p, parse_operand(p, e)))
            return false;
    }
    return true;
}

static bool parse_memory(struct parser *p, struct ptx_operand *o)
{
    parse_advance(p);
    o->kind = OPND_MEM;
    o->n = 1;
    o->elems = ARENA_NEW(p->arena, struct ptx_operand);
    o->elems->component = COMPONENT_NONE;
    o->elems->offset = p->tok.offset;
    o->elems->length = (uint32_t)p->tok.text.n;
    if (p->tok.kind == TOKEN_IDENT) {
        if (!parse_named(p, o->elems) || !parse_component(p, o->elems))
            return false;
        if (o->elems->kind == OPND_SYMBOL && at_punct(p, '[')) {
            if (!parse_index(p, o->elems))
                return false;
            o->disp = o->elems->disp;
            o->elems->disp = 0;
        }
    } else {
        struct constant c;
        if (!parse_constant(p, &c))
            return false;
        o->elems->kind = OPND_INT;
        o->elems->bits = c.bits;
    }
    if (!parse_displacement(p, o))
        return false;
    if (at_punct(p, ',') && !parse_coordinates(p, o))
        return false;
    if (!parse_expect(p, ']', "the address"))
        return false;
    if (at_dot(p, "unified")) {
        o->selector = p->tok.text;
        parse_advance(p);
    }
    return true;
}

/* A fragment of wgmma; other instructions take less (verify_operand.c). */
enum { MAX_VECTOR = 128 };

static bool parse_vector(struct parser *p, struct ptx_operand *o)
{
    VEC(struct ptx_operand) elems = {0};
    parse_advance(p);
    o->kind = OPND_VECTOR;
    do {
        if (elems.n == MAX_VECTOR)
            return parse_fail(p, NULL, "a vector has at most %d elements", MAX_VECTOR);
        struct ptx_operand *e = VEC_PUSH(p->arena, &elems);
        if (!parse_enter(p) || !parse_leave(p, parse_operand(p, e)))
            return false;
    } while (accept(p, ','));
    o->elems = elems.at;
    o->n = (uint8_t)elems.n;
    return parse_expect(p, '}', "the vector");
}

static bool parse_literal(struct parser *p, struct ptx_operand *o)
{
    struct constant c;
    if (!parse_constant(p, &c))
        return false;
    o->kind = c.kind == CONSTANT_INT ? OPND_INT : OPND_FLOAT;
    o->is_unsigned = c.is_unsigned;
    o->float_type = c.kind == CONSTANT_F32 ? TYPE_f32 : TYPE_f64;
    o->bits = c.bits;
    return true;
}

/* -%r1 stands in vmad only; other minus signs start constants. */
static bool at_negated_name(const struct parser *p)
{
    struct lexer ahead = p->lex;
    return at_punct(p, '-') && lex_next(&ahead).kind == TOKEN_IDENT;
}

static bool parse_single(struct parser *p, struct ptx_operand *o)
{
    if (accept(p, '!') || (at_negated_name(p) && accept(p, '-')))
        o->negated = true;
    if (p->tok.kind == TOKEN_IDENT && !str_is(p->tok.text, "WARP_SZ")) {
        if (!parse_named(p, o) || !parse_component(p, o))
            return false;
        if (o->kind == OPND_SYMBOL && at_punct(p, '['))
            return parse_index(p, o);
        return o->kind != OPND_SYMBOL || parse_displacement(p, o);
    }
    if (o->negated && p->tok.kind == TOKEN_INT && p->tok.value <= 1 && !o->selector.n)
        return parse_literal(p, o); /* !1 as a predicate */
    if (at_punct(p, '{'))
        return parse_vector(p, o);
    if (at_punct(p, '['))
        return parse_memory(p, o);
    return parse_literal(p, o);
}

static bool parse_operand(struct parser *p, struct ptx_operand *o)
{
    *o = (struct ptx_operand){.component = COMPONENT_NONE, .offset = p->tok.offset, .length = (uint32_t)p->tok.text.n};
    if (!parse_single(p, o))
        return false;
    if (at_punct(p, '|') && (o->kind == OPND_REG || o->kind == OPND_SINK)) {
        struct ptx_operand *pair = ARENA_ARRAY(p->arena, struct ptx_operand, 2);
        pair[0] = *o;
        parse_advance(p);
        pair[1] = (struct ptx_operand){
            .component = COMPONENT_NONE, .offset = p->tok.offset, .length = (uint32_t)p->tok.text.n};
        if (!parse_single(p, &pair[1]))
            return false;
        o->kind = OPND_PAIR;
        o->elems = pair;
        o->n = 2;
    }
    return true;
}

/* ---- instructions ---- */

static void use_label(struct parser *p, struct token name, struct ptx_symbol **symbol)
{
    *VEC_PUSH(p->arena, &p->label_uses) = (struct label_use){p->scope, name.text, name.offset, symbol};
}

/* A list stands before its use, so that one of a scope behind it does not hide it. */
static bool parse_table_use(struct parser *p, struct ptx_symbol **symbol, const char *what)
{
    struct token at = p->tok;
    struct str name;
    uint32_t offset;
    if (!parse_take_name(p, &name, &offset, what))
        return false;
    *symbol = parse_find_symbol(p, name);
    return *symbol || parse_fail_undeclared(p, at, "label ");
}

static bool parse_branch(struct parser *p, struct ptx_insn *i)
{
    i->operands = ARENA_NEW(p->arena, struct ptx_operand);
    i->n_operands = 1;
    *i->operands = (struct ptx_operand){
        .kind = OPND_SYMBOL, .component = COMPONENT_NONE, .offset = p->tok.offset, .length = (uint32_t)p->tok.text.n};
    struct token at = p->tok;
    struct str name;
    uint32_t offset;
    if (!parse_take_name(p, &name, &offset, "a label"))
        return false;
    use_label(p, at, &i->operands->symbol);
    return true;
}

static bool parse_indexed_branch(struct parser *p, struct ptx_insn *i)
{
    i->operands = ARENA_NEW(p->arena, struct ptx_operand);
    i->n_operands = 1;
    return parse_operand(p, i->operands) && parse_expect(p, ',', "the index") &&
           parse_table_use(p, &i->table, "a .branchtargets list");
}

static bool parse_call_list(struct parser *p, struct ptx_operand **list, uint32_t *n)
{
    VEC(struct ptx_operand) v = {0};
    parse_advance(p);
    while (!at_punct(p, ')')) {
        if (!parse_operand(p, VEC_PUSH(p->arena, &v)))
            return false;
        if (!accept(p, ','))
            break;
    }
    *list = v.at;
    *n = v.n;
    return parse_expect(p, ')', "the list");
}

/* call {(returns),} callee {, (args)} {, table}; (9.7.12.4) */
static bool parse_call(struct parser *p, struct ptx_insn *i)
{
    struct ptx_call *c = i->call = ARENA_NEW(p->arena, struct ptx_call);
    if (at_punct(p, '(') &&
        (!parse_call_list(p, &c->returns, &c->n_returns) || !parse_expect(p, ',', "the return parameters")))
        return false;
    if (!parse_operand(p, &c->callee))
        return false;
    while (accept(p, ',')) {
        if (at_punct(p, '(')) {
            if (!parse_call_list(p, &c->args, &c->n_args))
                return false;
        } else {
            return parse_table_use(p, &c->table, "a .calltargets or .callprototype list");
        }
    }
    return true;
}

static bool parse_raw(struct parser *p, struct ptx_insn *i)
{
    uint32_t start = p->tok.offset, end = start;
    unsigned depth = 0;
    while (p->tok.kind != TOKEN_END && !at_punct(p, ';')) {
        if (at_punct(p, '{'))
            depth++;
        if (at_punct(p, '}') && depth-- == 0)
            return parse_fail(p, NULL, "expected `;` before `}`");
        end = p->tok.offset + (uint32_t)p->tok.text.n + (p->tok.kind == TOKEN_DOT) + 2 * (p->tok.kind == TOKEN_STRING);
        parse_advance(p);
    }
    i->raw = (struct str){p->module->source->text.p + start, end - start};
    return true;
}

/* An element that is loaded or stored may stand without brackets:
 * ld.global.u32 %r1, a[3] (6.4.2). */
static void make_memory(struct parser *p, struct ptx_operand *o)
{
    struct ptx_operand *base = ARENA_NEW(p->arena, struct ptx_operand);
    *base = *o;
    base->disp = 0;
    o->kind = OPND_MEM;
    o->n = 1;
    o->elems = base;
}

static bool parse_operands(struct parser *p, struct ptx_insn *i)
{
    struct ptx_operand ops[MAX_OPERANDS];
    if (at_punct(p, ';') || at_punct(p, '}') || p->tok.kind == TOKEN_END)
        return true;
    do {
        if (i->n_operands == MAX_OPERANDS)
            return parse_fail(p, NULL, "more operands than any instruction has");
        struct ptx_operand *o = &ops[i->n_operands];
        bool address = (i->inst->kind == KIND_LD && i->n_operands == 1) || (i->inst->kind == KIND_ST && !i->n_operands);
        i->n_operands++;
        if (!parse_operand(p, o))
            return false;
        bool alone = o->kind == OPND_REG && o->component == COMPONENT_NONE && !o->selector.n;
        /* Register + constant: verify_operand.c. */
        if (alone && at_punct(p, '+') && !parse_displacement(p, o))
            return false;
        bool indexed = p->module->source->text.p[p->taken_to - 1] == ']';
        if (address && indexed && o->kind == OPND_SYMBOL)
            make_memory(p, o);
    } while (accept(p, ','));
    i->operands = ARENA_ARRAY(p->arena, struct ptx_operand, i->n_operands);
    memcpy(i->operands, ops, i->n_operands * sizeof *ops);
    return true;
}

static bool resolve_opcode(struct parser *p, struct ptx_insn *i, struct str text, uint32_t offset)
{
    struct isa_error error;
    i->inst = isa_resolve(p->module->isa, text, &error);
    if (!i->inst && isa_version_is_newer(p->module->version))
        i->inst = isa_unknown(p->module->isa, text);
    i->offset = offset;
    i->length = (uint32_t)text.n;
    if (i->inst)
        return true;
    diag_error(p->diags, ptx_place(p->module, offset + error.offset, error.length), "ptx-opcode", error.help, "%s",
               error.text);
    return false;
}

bool parse_guard(struct parser *p, struct ptx_insn *i)
{
    parse_advance(p);
    i->guard_negated = accept(p, '!');
    struct token at = p->tok;
    struct str name;
    uint32_t offset;
    if (!parse_take_name(p, &name, &offset, "a predicate"))
        return false;
    i->guard = parse_find_reg(p, name, &i->guard_number);
    if (!i->guard && !parse_find_symbol(p, name))
        return parse_fail_undeclared(p, at, "");
    if (!i->guard || i->guard->type != TYPE_pred)
        return parse_fail_at(p, at, "compare first, with setp", "`%.*s` is not a predicate register", STR_ARG(name));
    return true;
}

/* The opcode continues in the text behind its name. */
bool parse_insn(struct parser *p, struct ptx_insn *i)
{
    struct token name = p->tok;
    struct str text = lex_opcode(&p->lex, name);
    parse_advance(p);
    if (!resolve_opcode(p, i, text, name.offset))
        return false;
    bool ok;
    switch (i->inst->kind) {
    case KIND_BRA: ok = parse_branch(p, i); break;
    case KIND_BRX: ok = parse_indexed_branch(p, i); break;
    case KIND_CALL: ok = parse_call(p, i); break;
    default: ok = i->inst->open ? parse_raw(p, i) : parse_operands(p, i); break;
    }
    return ok && parse_expect_end(p, "the instruction");
}
