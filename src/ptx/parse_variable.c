/* Variables and parameters (PTX ISA 5, 7.1); see parser.h. */
#include "ptx/parser.h"

enum { MAX_DIMS = 8, MAX_RANGED = 1 << 16 };

bool parse_attribute(struct parser *p, struct ptx_var *v)
{
    parse_advance(p);
    if (!parse_expect(p, '(', "`.attribute`"))
        return false;
    do {
        if (at_dot(p, "managed")) {
            parse_advance(p);
            v->managed = true;
        } else if (at_dot(p, "unified")) {
            parse_advance(p);
            v->unified = true;
            if (!parse_expect(p, '(', "`.unified`") || !parse_size(p, UINT64_MAX, &v->unified_id[0], "the id") ||
                !parse_expect(p, ',', "the id") || !parse_size(p, UINT64_MAX, &v->unified_id[1], "the id") ||
                !parse_expect(p, ')', "the id"))
                return false;
        } else {
            return parse_fail(p, "known: .managed, .unified", "unknown attribute %s", parse_describe(p, p->tok));
        }
    } while (accept(p, ','));
    return parse_expect(p, ')', "the attribute");
}

static bool parse_align(struct parser *p, struct ptx_var *v)
{
    uint64_t align;
    struct token at = p->tok;
    parse_advance(p);
    if (!parse_size(p, 1u << 20, &align, ".align"))
        return false;
    if (align == 0 || (align & (align - 1)))
        return parse_fail_at(p, at, NULL, ".align must be a power of two");
    v->align = (uint32_t)align;
    v->align_written = true;
    return true;
}

/* What stands between the state space and the name: alignment, vector, type, pointer attributes of
 * parameters. */
static bool parse_type(struct parser *p, struct ptx_var *v)
{
    v->vector = 1;
    for (; p->tok.kind == TOKEN_DOT;) {
        struct str w = p->tok.text;
        enum isa_type type = isa_type_by_name(w);
        if (type) {
            v->type = type;
            parse_advance(p);
        } else if (str_is(w, "align")) {
            if (!parse_align(p, v))
                return false;
        } else if (str_is(w, "attribute")) {
            if (!parse_attribute(p, v))
                return false;
        } else if (w.n == 2 && w.p[0] == 'v' && (w.p[1] == '2' || w.p[1] == '4' || w.p[1] == '8')) {
            v->vector = (uint8_t)(w.p[1] - '0');
            parse_advance(p);
        } else if (str_is(w, "ptr")) {
            /* 4.? Kernel function parameter attributes: .ptr {.space} {.align N} */
            v->pointer = true;
            parse_advance(p);
            if (p->tok.kind == TOKEN_DOT && ptx_space_by_name(p->tok.text, &v->pointer_space))
                parse_advance(p);
            if (at_dot(p, "align")) {
                uint64_t align;
                parse_advance(p);
                if (!parse_size(p, 1u << 20, &align, ".align"))
                    return false;
                v->pointer_align = (uint32_t)align;
            }
        } else {
            return parse_fail(p, NULL, "unexpected `.%.*s` in a declaration", STR_ARG(w));
        }
    }
    return v->type ||
           parse_fail(p, "for example .u32, .f32, .b8", "expected a type, not %s", parse_describe(p, p->tok));
}

static bool parse_dims(struct parser *p, struct ptx_var *v)
{
    uint64_t dims[MAX_DIMS];
    while (accept(p, '[')) {
        if (v->n_dims == MAX_DIMS)
            return parse_fail(p, NULL, "more than %d dimensions", MAX_DIMS);
        if (at_punct(p, ']')) {
            if (v->n_dims > 0)
                return parse_fail(p, NULL, "only the first dimension may be left out");
            v->unsized = true;
            dims[v->n_dims++] = 0;
        } else if (!parse_size(p, max_bytes, &dims[v->n_dims++], "an array dimension")) {
            return false;
        }
        if (!parse_expect(p, ']', "the dimension"))
            return false;
    }
    v->dims = ARENA_ARRAY(p->arena, uint64_t, v->n_dims);
    memcpy(v->dims, dims, v->n_dims * sizeof *dims);
    return true;
}

static bool compute_size(struct parser *p, struct ptx_var *v)
{
    uint64_t element = (isa_type_bits(v->type) + 7) / 8 * v->vector;
    if (!v->align_written)
        v->align = (uint32_t)(element ? element : 1);
    v->size = element;
    for (unsigned d = v->unsized ? 1 : 0; d < v->n_dims; d++)
        if (__builtin_mul_overflow(v->size, v->dims[d], &v->size) || v->size > max_bytes)
            return parse_fail(p, NULL, "`%.*s` is larger than any memory", STR_ARG(v->symbol.name));
    if (v->unsized)
        v->size = 0;
    return true;
}

static struct ptx_var *new_variable(struct parser *p, const struct ptx_var *base)
{
    struct ptx_var *v = ARENA_NEW(p->arena, struct ptx_var);
    *v = *base;
    v->symbol.kind = SYMBOL_VAR;
    v->func = p->func;
    v->number = p->func ? p->func->n_vars++ : 0;
    v->definition = v;
    return v;
}

/* A variable from its state space on; the types stand in `base`, whose name and dimensions are its
 * own. */
static struct ptx_var *parse_declarator(struct parser *p, const struct ptx_var *base)
{
    struct ptx_var *v = new_variable(p, base);
    if (!parse_take_name(p, &v->symbol.name, &v->symbol.offset, "a variable") || !parse_dims(p, v) ||
        !compute_size(p, v))
        return NULL;
    return v;
}

/* '<' count '>' behind the name of `first`: the variables name0, name1, ... (5.4.6), which are
 * neither arrays nor initialised.
 */
static bool parse_variable_range(struct parser *p, struct ptx_var *first,
                                 void (*take)(struct parser *, struct ptx_var *))
{
    uint64_t count;
    if (!parse_expect(p, '<', "the name") ||
        !parse_count(p, MAX_RANGED - p->n_ranged, &count, "the number of variables that a module declares by `<N>`") ||
        !parse_expect(p, '>', "the number"))
        return false;
    if (first->n_dims || at_punct(p, '[') || at_punct(p, '='))
        return parse_fail(p, NULL,
                          "`%.*s<%u>` declares several variables, which cannot be arrays or have initial values",
                          STR_ARG(first->symbol.name), (unsigned)count);
    p->n_ranged += (uint32_t)count;
    struct ptx_var *vars = ARENA_ARRAY(p->arena, struct ptx_var, count);
    for (uint32_t i = 0; i < count; i++) {
        vars[i] = *first;
        vars[i].symbol.name = str_of(arena_printf(p->arena, "%.*s%u", STR_ARG(first->symbol.name), i));
        vars[i].number = p->func ? p->func->n_vars++ : 0;
        vars[i].definition = &vars[i];
    }
    if (!parse_declare_range(p, &first->symbol, (uint32_t)count, vars))
        return false;
    for (uint32_t i = 0; i < count; i++)
        take(p, &vars[i]);
    return true;
}

/* '= initialiser', where it stands. */
static bool parse_value(struct parser *p, struct ptx_var *v)
{
    if (!at_punct(p, '='))
        return true;
    if (v->linkage == LINK_EXTERN)
        return parse_fail(p, "initialise it where it is defined", "`%.*s` is .extern, and cannot have a value",
                          STR_ARG(v->symbol.name));
    parse_advance(p);
    if (v->space != SPACE_GLOBAL && v->space != SPACE_CONST)
        return parse_fail(p, "store the value at the start of the kernel instead",
                          "only .global and .const variables can be initialised");
    return parse_initialiser(p, v);
}

bool parse_variables(struct parser *p, enum ptx_linkage linkage, void (*take)(struct parser *, struct ptx_var *))
{
    struct ptx_var base = {.linkage = linkage};
    if (p->tok.kind != TOKEN_DOT || !ptx_space_by_name(p->tok.text, &base.space))
        return parse_fail(p, NULL, "expected a state space, not %s", parse_describe(p, p->tok));
    parse_advance(p);
    if (base.space == SPACE_CONST && accept(p, '[')) { /* constant banks of PTX before 2.2 */
        uint64_t bank;
        if (!parse_size(p, 10, &bank, "the constant bank") || !parse_expect(p, ']', "the bank"))
            return false;
    }
    if (!parse_type(p, &base))
        return false;
    do {
        struct ptx_var *v = parse_declarator(p, &base);
        if (!v)
            return false;
        if (at_punct(p, '<')) {
            if (!parse_variable_range(p, v, take))
                return false;
            continue;
        }
        if (!parse_value(p, v))
            return false;
        take(p, v);
    } while (accept(p, ','));
    return parse_expect_end(p, "the declaration");
}

static void declare_reg_param(struct parser *p, struct ptx_var *v)
{
    struct ptx_reg *reg = ARENA_NEW(p->arena, struct ptx_reg);
    *reg = (struct ptx_reg){.symbol = {SYMBOL_REG, v->symbol.name, v->symbol.offset},
                            .type = v->type,
                            .vector = v->vector,
                            .count = 1,
                            .first = p->func->n_registers};
    p->func->n_registers += v->vector;
    *VEC_PUSH(p->arena, &p->func->regs) = reg;
    v->reg = reg;
    parse_declare(p, &reg->symbol);
}

static bool parse_parameter(struct parser *p, struct ptx_signature *s, bool returns, bool in_scope)
{
    struct ptx_var base = {0};
    if (p->tok.kind != TOKEN_DOT || !ptx_space_by_name(p->tok.text, &base.space) ||
        (base.space != SPACE_PARAM && base.space != SPACE_REG))
        return parse_fail(p, NULL, "a parameter starts with .param or .reg, not %s", parse_describe(p, p->tok));
    parse_advance(p);
    if (!parse_type(p, &base))
        return false;
    struct ptx_var *v;
    if (p->tok.kind != TOKEN_IDENT || str_is(p->tok.text, "_")) { /* prototypes need no names */
        if (p->tok.kind == TOKEN_IDENT)
            parse_advance(p);
        v = new_variable(p, &base);
        v->symbol = (struct ptx_symbol){SYMBOL_VAR, {"_", 1}, p->tok.offset};
        if (!parse_dims(p, v) || !compute_size(p, v))
            return false;
    } else {
        v = parse_declarator(p, &base);
        if (!v)
            return false;
        if (in_scope && v->space == SPACE_REG)
            declare_reg_param(p, v);
        else if (in_scope && !parse_declare(p, &v->symbol))
            return false;
    }
    if (v->unsized) {
        if (returns || s->variadic)
            return parse_fail(p, NULL, "only the last parameter may be an array without a size");
        s->variadic = true;
    }
    if (returns) {
        *VEC_PUSH(p->arena, &s->returns) = v;
    } else {
        v->is_param = in_scope;
        v->param_at = (s->param_bytes + v->align - 1) & ~(uint64_t)(v->align - 1);
        s->param_bytes = v->param_at + v->size;
        *VEC_PUSH(p->arena, &s->params) = v;
    }
    return true;
}

bool parse_signature_side(struct parser *p, struct ptx_signature *s, bool returns, bool in_scope)
{
    if (!parse_expect(p, '(', "the function"))
        return false;
    while (!at_punct(p, ')')) {
        if (!parse_parameter(p, s, returns, in_scope))
            return false;
        if (!accept(p, ','))
            break;
    }
    return parse_expect(p, ')', "the parameters");
}
