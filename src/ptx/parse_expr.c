/* Constant expressions (PTX ISA 4.5) and initialisers (5.4.4). */
#include "ptx/parser.h"

#include <math.h>
#include <stdlib.h>

static double as_f64(struct constant c)
{
    double d;
    if (c.kind == CONSTANT_F64)
        memcpy(&d, &c.bits, 8);
    else
        d = c.is_unsigned ? (double)c.bits : (double)(int64_t)c.bits;
    return d;
}

static struct constant of_f64(double d)
{
    struct constant c = {.kind = CONSTANT_F64};
    memcpy(&c.bits, &d, 8);
    return c;
}

static struct constant of_int(uint64_t bits, bool is_unsigned)
{
    return (struct constant){CONSTANT_INT, is_unsigned, bits};
}

static bool parse_unary(struct parser *p, struct constant *c);
static bool parse_ternary(struct parser *p, struct constant *c);

/* '(' .s64 ')' and '(' .u64 ')' change the type of the operand that follows, as unary operators do;
 * else a parenthesis. */
static bool parse_parenthesis(struct parser *p, struct constant *c)
{
    parse_advance(p);
    bool to_unsigned = at_dot(p, "u64");
    if (to_unsigned || at_dot(p, "s64")) {
        parse_advance(p);
        struct token operand = p->tok;
        if (!parse_expect(p, ')', "the type of a cast") || !parse_enter(p) || !parse_leave(p, parse_unary(p, c)))
            return false;
        if (c->kind != CONSTANT_INT)
            return parse_fail_at(p, operand, NULL, "a cast to .%s needs an integer", to_unsigned ? "u64" : "s64");
        *c = of_int(c->bits, to_unsigned);
        return true;
    }
    return parse_enter(p) && parse_leave(p, parse_ternary(p, c)) && parse_expect(p, ')', "the expression");
}

static bool parse_unary(struct parser *p, struct constant *c)
{
    struct token t = p->tok;
    if (t.kind == TOKEN_INT) {
        if (t.overflow)
            return parse_fail(p, "constants have 64 bits", "the number does not fit in 64 bits");
        parse_advance(p);
        *c = of_int(t.value, t.is_unsigned || t.value >> 63);
        return true;
    }
    if (t.kind == TOKEN_F32 || t.kind == TOKEN_F64) {
        if (t.overflow)
            return parse_fail(p, "write its bits: 0d7ff0000000000000 is infinity",
                              "the number is not a normal .f64 number");
        parse_advance(p);
        *c = (struct constant){t.kind == TOKEN_F32 ? CONSTANT_F32 : CONSTANT_F64, false, t.value};
        return true;
    }
    if (t.kind == TOKEN_IDENT && str_is(t.text, "WARP_SZ")) {
        parse_advance(p);
        *c = of_int(32, false);
        return true;
    }
    if (at_punct(p, '('))
        return parse_parenthesis(p, c);
    char op = t.kind == TOKEN_PUNCT ? t.punct : 0;
    if (op != '-' && op != '+' && op != '~' && op != '!')
        return parse_fail(p, NULL, "expected a constant, not %s", parse_describe(p, p->tok));
    parse_advance(p);
    if (!parse_enter(p) || !parse_leave(p, parse_unary(p, c)))
        return false;
    if (c->kind == CONSTANT_F32 && op == '-')
        c->bits ^= 0x80000000u;
    else if (c->kind == CONSTANT_F64 && op == '-')
        c->bits ^= 1ull << 63;
    else if (c->kind != CONSTANT_INT && op != '+')
        return parse_fail_at(p, t, NULL, "`%c` needs an integer", op);
    else if (op == '-')
        *c = of_int(0 - c->bits, c->is_unsigned);
    else if (op == '~')
        *c = of_int(~c->bits, true);
    else if (op == '!')
        *c = of_int(c->bits == 0, false);
    return true;
}

static int precedence(char op)
{
    switch (op) {
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case 'L':
    case 'R': return 8;
    case '<':
    case '>':
    case 'l':
    case 'g': return 7;
    case 'e':
    case 'n': return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case 'a': return 2;
    case 'o': return 1;
    default: return 0;
    }
}

static bool apply_f64(struct parser *p, struct token op, struct constant *l, struct constant r)
{
    double a = as_f64(*l), b = as_f64(r);
    switch (op.punct) {
    case '+': *l = of_f64(a + b); return true;
    case '-': *l = of_f64(a - b); return true;
    case '*': *l = of_f64(a * b); return true;
    case '/': *l = of_f64(a / b); return true;
    case '<': *l = of_int(a < b, false); return true;
    case '>': *l = of_int(a > b, false); return true;
    case 'l': *l = of_int(a <= b, false); return true;
    case 'g': *l = of_int(a >= b, false); return true;
    case 'e': *l = of_int(a == b, false); return true;
    case 'n': *l = of_int(a != b, false); return true;
    default: return parse_fail_at(p, op, NULL, "`%.*s` needs integers", STR_ARG(op.text));
    }
}

static bool apply_int(struct parser *p, struct token op, struct constant *l, struct constant r)
{
    /* 4.5.5: the usual arithmetic conversions at 64 bits; shifts keep the type of the
     * left side. As with the vendor's assembler, counts of shifts are taken modulo 64,
     * and ~ and % are unsigned. */
    bool u = l->is_unsigned || r.is_unsigned;
    uint64_t a = l->bits, b = r.bits;
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    if ((op.punct == '/' || op.punct == '%') && b == 0)
        return parse_fail_at(p, op, NULL, "division by zero in a constant");
    bool wraps = !u && sb == -1;
    switch (op.punct) {
    case '*': *l = of_int(a * b, u); break;
    case '/': *l = of_int(u ? a / b : wraps ? 0 - a : (uint64_t)(sa / sb), u); break;
    case '%': *l = of_int(a % b, true); break;
    case '+': *l = of_int(a + b, u); break;
    case '-': *l = of_int(a - b, u); break;
    case 'L': *l = of_int(a << (b & 63), l->is_unsigned); break;
    case 'R': *l = of_int(l->is_unsigned ? a >> (b & 63) : (uint64_t)(sa >> (b & 63)), l->is_unsigned); break;
    case '<': *l = of_int(u ? a < b : sa < sb, false); break;
    case '>': *l = of_int(u ? a > b : sa > sb, false); break;
    case 'l': *l = of_int(u ? a <= b : sa <= sb, false); break;
    case 'g': *l = of_int(u ? a >= b : sa >= sb, false); break;
    case 'e': *l = of_int(a == b, false); break;
    case 'n': *l = of_int(a != b, false); break;
    case '&': *l = of_int(a & b, u); break;
    case '^': *l = of_int(a ^ b, u); break;
    case '|': *l = of_int(a | b, u); break;
    case 'a': *l = of_int(a && b, false); break;
    default: *l = of_int(a || b, false); break;
    }
    return true;
}

static bool parse_binary(struct parser *p, struct constant *c, int least)
{
    if (!parse_unary(p, c))
        return false;
    while (p->tok.kind == TOKEN_PUNCT && precedence(p->tok.punct) >= least) {
        struct token op = p->tok;
        struct constant right;
        parse_advance(p);
        if (!parse_enter(p) || !parse_leave(p, parse_binary(p, &right, precedence(op.punct) + 1)))
            return false;
        if (c->kind == CONSTANT_F32 || right.kind == CONSTANT_F32)
            return parse_fail_at(p, op, NULL, "0f constants cannot be combined");
        bool floating = c->kind == CONSTANT_F64 || right.kind == CONSTANT_F64;
        if (!(floating ? apply_f64(p, op, c, right) : apply_int(p, op, c, right)))
            return false;
    }
    return true;
}

static bool parse_ternary(struct parser *p, struct constant *c)
{
    if (!parse_binary(p, c, 1))
        return false;
    if (!accept(p, '?'))
        return true;
    struct constant yes, no;
    if (!parse_enter(p) ||
        !parse_leave(p, parse_ternary(p, &yes) && parse_expect(p, ':', "the first choice") && parse_ternary(p, &no)))
        return false;
    *c = c->bits ? yes : no;
    return true;
}

bool parse_constant(struct parser *p, struct constant *c)
{
    return parse_ternary(p, c);
}

bool parse_count(struct parser *p, uint64_t limit, uint64_t *value, const char *what)
{
    struct token at = p->tok;
    struct constant c;
    if (!parse_binary(p, &c, precedence('L')))
        return false;
    if (c.kind != CONSTANT_INT || c.bits > limit)
        return parse_fail_at(p, at, NULL, "%s must be an integer from 0 to %llu", what, (unsigned long long)limit);
    *value = c.bits;
    return true;
}

bool parse_size(struct parser *p, uint64_t limit, uint64_t *value, const char *what)
{
    struct token at = p->tok;
    struct constant c;
    if (!parse_constant(p, &c))
        return false;
    if (c.kind != CONSTANT_INT || (!c.is_unsigned && (int64_t)c.bits < 0) || c.bits > limit)
        return parse_fail_at(p, at, NULL, "%s must be an integer from 0 to %llu", what, (unsigned long long)limit);
    *value = c.bits;
    return true;
}

/* ---- initialisers ---- */

/* Where the next value of an initialiser goes. */
struct filling {
    struct ptx_var *var;
    uint64_t at, element_bytes, capacity; /* capacity of var->init */
    struct token incomplete;              /* the brace that closed a list too early, if one has */
};

static bool room_for(struct parser *p, struct filling *f, uint64_t bytes)
{
    struct ptx_var *v = f->var;
    if (!v->unsized && f->at + bytes > v->size)
        return parse_fail(p, NULL, "more values than `%.*s` has elements", STR_ARG(v->symbol.name));
    if (f->at + bytes > f->capacity) {
        uint64_t more = f->capacity ? f->capacity * 2 : 64;
        more = more < f->at + bytes ? f->at + bytes : more;
        v->init = arena_grow(p->arena, v->init, f->capacity, more);
        f->capacity = more;
    }
    return true;
}

static bool put_constant(struct parser *p, struct filling *f, struct token at, struct constant c)
{
    struct ptx_var *v = f->var;
    uint64_t bits = c.bits;
    if ((v->type == TYPE_f32 || v->type == TYPE_f64) && c.kind == CONSTANT_INT)
        return parse_fail_at(p, at, "write it with a point, as in 1.0", "an integer cannot initialise .%s",
                             isa_type_name(v->type));
    if ((v->type == TYPE_f32 || v->type == TYPE_b32) && c.kind == CONSTANT_F64) {
        float x = (float)as_f64(c);
        uint32_t b;
        memcpy(&b, &x, 4);
        bits = b;
    } else if (c.kind != CONSTANT_INT && f->element_bytes != 8 && !(f->element_bytes == 4 && c.kind == CONSTANT_F32)) {
        return parse_fail_at(p, at, NULL, "a floating-point constant cannot initialise .%s", isa_type_name(v->type));
    }
    if (!room_for(p, f, f->element_bytes))
        return false;
    memcpy(v->init + f->at, &bits, f->element_bytes < 8 ? f->element_bytes : 8);
    f->at += f->element_bytes;
    if (f->at > v->init_bytes)
        v->init_bytes = f->at;
    return true;
}

/* symbol, symbol + n, generic(symbol) + n; `mask` is 0 or that of 0xff00(symbol). */
static bool put_address(struct parser *p, struct filling *f, uint64_t mask)
{
    struct ptx_var *v = f->var;
    struct ptx_reloc r = {.at = f->at, .bytes = (uint8_t)f->element_bytes};
    bool has_room = mask || f->element_bytes == 4 || f->element_bytes == 8;
    if (!has_room || isa_type_class(v->type) == CLASS_F)
        return parse_fail(p, "write .u64, or bytes: 0xff(name), 0xff00(name), ...", "an address cannot initialise .%s",
                          isa_type_name(v->type));
    struct str name;
    uint32_t offset;
    r.generic = p->tok.kind == TOKEN_IDENT && str_is(p->tok.text, "generic");
    if (r.generic) {
        parse_advance(p);
        if (!parse_expect(p, '(', "`generic`"))
            return false;
    }
    struct token at = p->tok;
    if (!parse_take_name(p, &name, &offset, "a variable or function"))
        return false;
    r.symbol = parse_find_symbol(p, name);
    if (!r.symbol || (r.symbol->kind != SYMBOL_VAR && r.symbol->kind != SYMBOL_FUNC))
        return parse_fail_at(p, at, NULL, "`%.*s` is not a variable or function declared so far", STR_ARG(name));
    const struct ptx_var *target = r.symbol->kind == SYMBOL_VAR ? (const struct ptx_var *)r.symbol : NULL;
    if (target && target->space != SPACE_GLOBAL && target->space != SPACE_CONST)
        return parse_fail_at(p, at, "only variables in .global and .const have addresses before a launch",
                             "`%.*s` is in .%s", STR_ARG(name), ptx_space_name(target->space));
    if (r.generic && !parse_expect(p, ')', "the name"))
        return false;
    struct constant c = {0};
    if ((at_punct(p, '+') || at_punct(p, '-')) && !parse_constant(p, &c))
        return false;
    r.addend = (int64_t)c.bits;
    if (mask) {
        r.shift = (uint8_t)__builtin_ctzll(mask);
        r.bytes = 1;
        if (mask >> r.shift != 0xff || r.shift % 8)
            return parse_fail_at(p, at, NULL, "the mask must be 0xff, 0xff00, 0xff0000 or another whole byte");
    }
    if (!room_for(p, f, f->element_bytes))
        return false;
    *VEC_PUSH(p->arena, &v->relocs) = r;
    f->at += f->element_bytes;
    v->init_bytes = f->at;
    return true;
}

static bool put_value(struct parser *p, struct filling *f)
{
    struct token at = p->tok;
    if (at.kind == TOKEN_IDENT && !str_is(at.text, "WARP_SZ"))
        return put_address(p, f, 0);
    const struct ptx_var *v = f->var;
    bool scalar = v->n_dims == 0 && v->vector < 2;
    if (at_punct(p, '{'))
        return parse_fail(p, scalar ? "leave the braces out, or declare an array" : NULL,
                          scalar ? "`%.*s` is no array and no vector: it has one value, without braces"
                                 : "too many braces: an element of `%.*s` is one value",
                          STR_ARG(v->symbol.name));
    struct constant c;
    if (!parse_constant(p, &c))
        return false;
    if (accept(p, '(')) /* 0xff00(symbol) */
        return put_address(p, f, c.bits) && parse_expect(p, ')', "the name");
    return put_constant(p, f, at, c);
}

/* The bytes that one entry at nesting `depth` takes: the product of the inner dimensions. */
static uint64_t stride(const struct filling *f, unsigned depth)
{
    uint64_t bytes = f->element_bytes * f->var->vector;
    for (unsigned d = f->var->n_dims; d > depth; d--)
        bytes *= f->var->dims[d - 1];
    return bytes;
}

/* What stands at nesting `depth`: a list for each dimension and for a vector, then values. A list
 * may be incomplete: what is left at the end is zero. As with the vendor's assembler, what follows
 * an inner list that is incomplete follows its last value; 5.4.4 says, in other words, that zeros
 * come between. */
static bool put_entry(struct parser *p, struct filling *f, unsigned depth)
{
    struct ptx_var *v = f->var;
    unsigned depths = v->n_dims + (v->vector > 1);
    if (depth == depths) {
        if (f->incomplete.kind == TOKEN_PUNCT)
            diag_warn(
                p->diags, parse_place_of(p, f->incomplete), "ptx-initialiser", "write the missing zeros",
                "this list has too few values: the next list's values follow its last one, with no zeros in between");
        f->incomplete.kind = TOKEN_END;
        return put_value(p, f);
    }
    bool open = depth == 0 && v->unsized;
    uint64_t start = f->at, end = start + stride(f, depth);
    if (!parse_expect(p, '{',
                      depth == 0 ? "`=`: an array and a vector have their values in braces" : "the initialiser"))
        return false;
    while (!at_punct(p, '}')) {
        if (!open && f->at >= end)
            return parse_fail(p, NULL, "more values than `%.*s` has elements", STR_ARG(v->symbol.name));
        if (!put_entry(p, f, depth + 1))
            return false;
        if (open)
            v->dims[0]++;
        if (!accept(p, ','))
            break;
        if (at_punct(p, '}'))
            return parse_fail(p, NULL, "a value is missing after `,`");
    }
    if (f->at < end && depth == v->n_dims)
        return parse_fail(p, NULL, "a vector has %u values", v->vector);
    if (!open && f->at < end)
        f->incomplete = p->tok;
    return parse_expect(p, '}', "the last value");
}

bool parse_initialiser(struct parser *p, struct ptx_var *v)
{
    struct filling f = {.var = v, .element_bytes = isa_type_bits(v->type) / 8, .incomplete.kind = TOKEN_END};
    bool half = isa_type_class(v->type) == CLASS_F && v->type != TYPE_f32 && v->type != TYPE_f64;
    if (f.element_bytes == 0 || half)
        return parse_fail(p, NULL, ".%s cannot be initialised", isa_type_name(v->type));
    if (v->type == TYPE_texref || v->type == TYPE_surfref || v->type == TYPE_samplerref)
        return parse_fail(p,
                          "leave it out, and set the modes when it is bound (cuTexRefSetAddressMode, hd_texture_bind)",
                          "initial values of .%s (PTX ISA 5.3) are not supported", isa_type_name(v->type));
    v->initialised = true;
    if (!put_entry(p, &f, 0))
        return false;
    if (v->unsized) {
        if (__builtin_mul_overflow(v->dims[0], stride(&f, 1), &v->size) || v->size > max_bytes)
            return parse_fail(p, NULL, "`%.*s` is larger than any memory", STR_ARG(v->symbol.name));
        v->unsized = false;
    }
    return true;
}
