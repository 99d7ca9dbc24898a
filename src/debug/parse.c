/* Expressions from text; see expression.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "debug/parse.h"

enum { DEEPEST = 200 };

static struct node *parse_binary(struct parsing *p, int least);
static struct node *parse_whole(struct parsing *p);

/* ---- operands ---- */

static struct node *parse_sizeof(struct parsing *p)
{
    const char *start = p->at;
    const struct c_type *t = NULL;
    if (expr_take(p, "(")) {
        t = expr_type(p);
        if (t && !expr_take(p, ")"))
            return expr_fail(p, "a `)` is missing");
        if (!t)
            p->at = start;
    }
    if (!t) {
        struct node *n = parse_binary(p, 100);
        if (!n)
            return NULL;
        t = n->type;
    }
    return node_const((int64_t)t->bytes, &c_ulong, p->arena);
}

static bool take_word(struct parsing *p, const char *word)
{
    const char *start = p->at;
    if (expr_take(p, word) && !is_name_char(*p->at))
        return true;
    p->at = start;
    return false;
}

static struct node *parse_primary(struct parsing *p)
{
    expr_skip(p);
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return expr_number(p);
    if (*p->at == '\'')
        return expr_character(p);
    if (*p->at == '$' || *p->at == '%')
        return expr_convenience(p);
    if (take_word(p, "sizeof"))
        return parse_sizeof(p);
    if (expr_take(p, "(")) {
        struct node *n = parse_whole(p);
        return !n || expr_take(p, ")") ? n : expr_fail(p, "a `)` is missing");
    }
    if (isalpha((unsigned char)*p->at) || *p->at == '_' || *p->at == ':')
        return expr_name(p);
    if (!*p->at)
        return expr_fail(p, "the expression is incomplete");
    return expr_fail(p, arena_printf(p->arena, "`%.20s` is not allowed there", p->at));
}

/* ---- behind and before an operand ---- */

/* An array is the address of its first element. */
static struct node *decayed(struct parsing *p, struct node *n)
{
    if (n && n->kind == NODE_MEMORY && n->type->kind == C_ARRAY) {
        struct node *address = node_address(n, p->arena);
        return node_cast(address, c_pointer_to(n->type->of, address->type->space, p->arena), p->arena);
    }
    return n;
}

static struct node *dereferenced(struct parsing *p, struct node *n)
{
    n = decayed(p, n);
    if (!n)
        return NULL;
    if (n->type->kind != C_POINTER)
        return expr_fail(
            p, arena_printf(p->arena, "it has type %s, which is not a pointer: cast it, as in *(int *)0x7f0000000000",
                            c_type_text(n->type, p->arena)));
    if (n->type->of->kind == C_FUNCTION)
        return expr_fail(p, "a function has no value to show: print the pointer, which shows the function's name");
    if (!n->type->of->bytes)
        return expr_fail(p, "a pointer to void has no type to show: cast it, as in *(int *)p");
    return node_memory(n, n->type->of, p->arena);
}

static struct node *scaled_sum(struct parsing *p, struct node *pointer, struct node *by, bool minus)
{
    int64_t size = (int64_t)(pointer->type->of->bytes ? pointer->type->of->bytes : 1);
    struct node *bytes =
        node_binary(p->arena, B_MUL, node_cast(by, &c_long, p->arena), node_const(size, &c_long, p->arena), &c_long);
    return node_binary(p->arena, minus ? B_SUB : B_ADD, pointer, bytes, pointer->type);
}

/* Also finds members of base classes and unnamed members; *at is the offset. */
static const struct c_member *find_member(const struct c_type *t, struct str name, uint64_t *at)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->members[i].name && str_is(name, t->members[i].name))
            return &t->members[i];
    for (uint32_t i = 0; i < t->n; i++)
        if (!t->members[i].name && t->members[i].type->kind == C_STRUCT) {
            const struct c_member *m = find_member(t->members[i].type, name, at);
            if (m) {
                *at += t->members[i].at;
                return m;
            }
        }
    return NULL;
}

static struct node *member_of(struct parsing *p, struct node *n, struct str name)
{
    uint64_t at = 0;
    const struct c_member *m =
        n->type->kind == C_STRUCT && n->kind == NODE_MEMORY ? find_member(n->type, name, &at) : NULL;
    return m ? node_member(node_memory(node_offset(n->a, (int64_t)at, p->arena), n->type, p->arena), m, p->arena)
             : NULL;
}

/* A static member belongs to the class. */
static struct node *static_member(struct parsing *p, const struct c_type *of, struct str name)
{
    const struct scope *s = p->scope;
    const char *whole = of->name ? arena_printf(p->arena, "%s::%.*s", of->name, STR_ARG(name)) : NULL;
    return whole && s->variable ? s->variable(s->data, str_of(whole), p->arena) : NULL;
}

static struct node *parse_member(struct parsing *p, struct node *n)
{
    struct str name = expr_take_name(p);
    bool is_struct = n->type->kind == C_STRUCT;
    struct node *m = member_of(p, n, name);
    if (m || (is_struct && (m = static_member(p, n->type, name))))
        return m;
    const char *type = c_type_text(n->type, p->arena);
    if (is_struct && expr_take(p, "("))
        return expr_fail(
            p, arena_printf(p->arena, "functions cannot be called from here: `%.*s` of %s", STR_ARG(name), type));
    return expr_fail(p, is_struct ? arena_printf(p->arena, "%s has no member `%.*s`", type, STR_ARG(name))
                                  : arena_printf(p->arena, "it has type %s, which has no members", type));
}

struct node *expr_own_member(struct parsing *p, struct str name)
{
    const struct scope *s = p->scope;
    struct node *object = s->variable ? s->variable(s->data, str_of("this"), p->arena) : NULL;
    bool leads = object && object->kind != NODE_GONE && object->type->kind == C_POINTER && object->type->of->bytes;
    return leads ? member_of(p, node_memory(object, object->type->of, p->arena), name) : NULL;
}

/* x[i, k] of a numba array, which is a struct with its data and the stride of each dimension in
 * bytes; pair[0] of a tuple, whose members are f0, f1, ... NULL: the node is neither. */
static struct node *python_element(struct parsing *p, struct node *n, struct node *const *index, unsigned dims)
{
    struct node *data = member_of(p, n, str_of("data")), *strides = member_of(p, n, str_of("strides"));
    if (dims == 1 && index[0]->kind == NODE_CONST)
        if (!data && (data = member_of(p, n, str_of(arena_printf(p->arena, "f%lld", (long long)index[0]->value.i)))))
            return data;
    if (!data || !strides || data->type->kind != C_POINTER || strides->type->kind != C_ARRAY)
        return NULL;
    if (strides->type->count != dims)
        return expr_fail(p,
                         arena_printf(p->arena, "the array has %llu dimension%s",
                                      (unsigned long long)strides->type->count, strides->type->count == 1 ? "" : "s"));
    struct node *address = data;
    for (unsigned i = 0; i < dims; i++) {
        struct node *stride =
            node_memory(node_offset(strides->a, (int64_t)(i * sizeof(int64_t)), p->arena), &c_long, p->arena);
        struct node *bytes = node_binary(p->arena, B_MUL, stride, node_cast(index[i], &c_long, p->arena), &c_long);
        address = node_binary(p->arena, B_ADD, address, bytes, data->type);
    }
    return dereferenced(p, address);
}

static struct node *parse_element(struct parsing *p, struct node *n)
{
    enum { MOST_DIMS = 8 };
    struct node *index[MOST_DIMS];
    unsigned dims = 0;
    do {
        index[dims] = parse_whole(p);
        if (!index[dims] || !n)
            return NULL;
        if (!c_is_integer(index[dims++]->type))
            return expr_fail(p, "only arrays and pointers can be indexed, by integers");
    } while (dims < MOST_DIMS && expr_take(p, ","));
    if (!expr_take(p, "]"))
        return expr_fail(p, "a `]` is missing");
    struct node *element = python_element(p, n, index, dims);
    if (element || p->wrong)
        return element;
    n = decayed(p, n);
    if (n->type->kind != C_POINTER || dims > 1)
        return expr_fail(p, "only arrays and pointers can be indexed, by integers");
    return dereferenced(p, scaled_sum(p, n, index[0], false));
}

static struct node *parse_postfix(struct parsing *p)
{
    struct node *n = parse_primary(p);
    while (n) {
        if (expr_take(p, "[")) {
            n = parse_element(p, n);
        } else if (expr_take(p, "->")) {
            n = dereferenced(p, n);
            n = n ? parse_member(p, n) : NULL;
        } else if (p->at[0] == '.' && !isdigit((unsigned char)p->at[1])) {
            p->at++;
            n = n->type->kind == C_POINTER ? dereferenced(p, n) : n;
            n = n ? parse_member(p, n) : NULL;
        } else {
            break;
        }
        expr_skip(p);
    }
    return n;
}

static struct node *unary(struct parsing *p, enum node_kind kind, struct node *a)
{
    if (!a)
        return NULL;
    const struct c_type *t = c_is_float(a->type)  ? (a->type->bytes == 8 ? &c_double : &c_float)
                             : a->type->bytes < 4 ? &c_int
                                                  : a->type;
    if (kind == NODE_NOT ? !c_is_scalar(a->type)
                         : !c_is_integer(a->type) && !(kind == NODE_NEGATE && c_is_float(a->type)))
        return expr_fail(p, arena_printf(p->arena, "this operator does not take a value of type %s",
                                         c_type_text(a->type, p->arena)));
    struct node *n = node_new(p->arena, kind, kind == NODE_NOT ? &c_bool : t);
    n->a = kind == NODE_NOT ? a : node_cast(a, t, p->arena);
    return n;
}

/* A cast, where a type stands in the parentheses. *is_one tells. */
static struct node *parse_cast(struct parsing *p, bool *is_one)
{
    const char *start = p->at;
    p->at++;
    const struct c_type *t = expr_type(p);
    *is_one = t && expr_take(p, ")");
    if (!*is_one) {
        p->at = start;
        return NULL;
    }
    struct node *a = decayed(p, parse_binary(p, 100));
    if (!a)
        return NULL;
    if (t->kind == C_ARRAY || t->kind == C_STRUCT) { /* memory read as another type */
        struct node *address = a->kind == NODE_MEMORY                               ? node_address(a, p->arena)
                               : a->kind == NODE_CAST && a->type->kind == C_POINTER ? a
                                                                                    : NULL;
        return address ? node_memory(address, t, p->arena)
                       : expr_fail(p, "only what is in memory can be read as an array or a struct");
    }
    if (!c_is_scalar(t) || !c_is_scalar(a->type))
        return expr_fail(
            p, arena_printf(p->arena, "%s cannot become %s", c_type_text(a->type, p->arena), c_type_text(t, p->arena)));
    return node_cast(a, t, p->arena);
}

static struct node *parse_unary(struct parsing *p)
{
    bool is_cast;
    struct node *n;
    expr_skip(p);
    if (p->depth++ > DEEPEST)
        return expr_fail(p, "it is nested too deep");
    if (*p->at == '(' && ((n = parse_cast(p, &is_cast)) || is_cast))
        ;
    else if (expr_take(p, "-"))
        n = unary(p, NODE_NEGATE, parse_unary(p));
    else if (expr_take(p, "!"))
        n = unary(p, NODE_NOT, parse_unary(p));
    else if (expr_take(p, "~"))
        n = unary(p, NODE_INVERT, parse_unary(p));
    else if (expr_take(p, "+"))
        n = parse_unary(p);
    else if (expr_take(p, "*"))
        n = dereferenced(p, parse_unary(p));
    else if (p->at[0] == '&' && p->at[1] != '&' && expr_take(p, "&")) {
        n = parse_unary(p);
        struct node *address = n ? node_address(n, p->arena) : NULL;
        n = !n || address ? address : expr_fail(p, "it is in a register, or not a variable, and has no address");
    } else
        n = parse_postfix(p);
    p->depth--;
    return n;
}

/* ---- operators ---- */

static const struct {
    const char *text;
    enum binary op;
    int level;
} operators[] = {
    {"<<", B_SHL, 8},  {">>", B_SHR, 8}, {"<=", B_LE, 7},  {">=", B_GE, 7},  {"==", B_EQ, 6},  {"!=", B_NE, 6},
    {"&&", B_LAND, 2}, {"||", B_LOR, 1}, {"*", B_MUL, 10}, {"/", B_DIV, 10}, {"%", B_MOD, 10}, {"+", B_ADD, 9},
    {"-", B_SUB, 9},   {"<", B_LT, 7},   {">", B_GT, 7},   {"&", B_AND, 5},  {"^", B_XOR, 4},  {"|", B_OR, 3},
};
enum { OPERATORS = sizeof operators / sizeof operators[0] };

static int operator_at(const struct parsing *p)
{
    for (int i = 0; i < OPERATORS; i++)
        if (strncmp(p->at, operators[i].text, strlen(operators[i].text)) == 0)
            return i;
    return -1;
}

/* C's usual arithmetic conversions. */
static const struct c_type *common_type(const struct c_type *a, const struct c_type *b)
{
    if (c_is_float(a) || c_is_float(b)) {
        uint64_t x = c_is_float(a) ? a->bytes : 0, y = c_is_float(b) ? b->bytes : 0;
        return x == 8 || y == 8 ? &c_double : &c_float;
    }
    bool wide = a->bytes == 8 || b->bytes == 8;
    bool is_unsigned =
        (!c_is_signed(a) && a->bytes == (wide ? 8u : 4u)) || (!c_is_signed(b) && b->bytes == (wide ? 8u : 4u));
    return wide ? (is_unsigned ? &c_ulong : &c_long) : is_unsigned ? &c_uint : &c_int;
}

static bool compares(enum binary op)
{
    return op >= B_LT && op <= B_NE;
}

static struct node *pointer_sum(struct parsing *p, enum binary op, struct node *a, struct node *b)
{
    if (op == B_ADD && a->type->kind == C_POINTER && c_is_integer(b->type))
        return scaled_sum(p, a, b, false);
    if (op == B_ADD && b->type->kind == C_POINTER && c_is_integer(a->type))
        return scaled_sum(p, b, a, false);
    if (op == B_SUB && a->type->kind == C_POINTER && c_is_integer(b->type))
        return scaled_sum(p, a, b, true);
    if (op == B_SUB && a->type->kind == C_POINTER && b->type->kind == C_POINTER && a->type->of->bytes) {
        struct node *bytes =
            node_binary(p->arena, B_SUB, node_cast(a, &c_long, p->arena), node_cast(b, &c_long, p->arena), &c_long);
        return node_binary(p->arena, B_DIV, bytes, node_const((int64_t)a->type->of->bytes, &c_long, p->arena), &c_long);
    }
    return expr_fail(p, "pointers can be compared, subtracted from each other, and have integers added");
}

static struct node *combine(struct parsing *p, enum binary op, struct node *a, struct node *b)
{
    a = decayed(p, a);
    b = decayed(p, b);
    if (!c_is_scalar(a->type) || !c_is_scalar(b->type))
        return expr_fail(p, arena_printf(p->arena, "this operator does not take a value of type %s",
                                         c_type_text(c_is_scalar(a->type) ? b->type : a->type, p->arena)));
    if (op >= B_LAND)
        return node_binary(p->arena, op, a, b, &c_bool);
    bool pointers = a->type->kind == C_POINTER || b->type->kind == C_POINTER;
    if (pointers && !compares(op))
        return pointer_sum(p, op, a, b);
    bool floats = c_is_float(a->type) || c_is_float(b->type);
    if (floats && op != B_MUL && op != B_DIV && op != B_ADD && op != B_SUB && !compares(op))
        return expr_fail(p, "floating-point numbers have no such operator");
    const struct c_type *t = pointers ? &c_ulong : common_type(a->type, b->type);
    if (op == B_SHL || op == B_SHR) {
        t = common_type(a->type, &c_int);
        return node_binary(p->arena, op, node_cast(a, t, p->arena), node_cast(b, &c_ulong, p->arena), t);
    }
    return node_binary(p->arena, op, node_cast(a, t, p->arena), node_cast(b, t, p->arena), compares(op) ? &c_bool : t);
}

/* Parses operators of at least this precedence; level 100: only operands. */
static struct node *parse_binary(struct parsing *p, int least)
{
    struct node *a = parse_unary(p);
    for (;;) {
        expr_skip(p);
        int i = a ? operator_at(p) : -1;
        if (i < 0 || operators[i].level < least)
            return a;
        p->at += strlen(operators[i].text);
        struct node *b = parse_binary(p, operators[i].level + 1);
        a = b ? combine(p, operators[i].op, a, b) : NULL;
    }
}

/* Any expression but for what stands behind @. */
static struct node *parse_whole(struct parsing *p)
{
    if (p->depth++ > DEEPEST)
        return expr_fail(p, "it is nested too deep");
    struct node *test = parse_binary(p, 0);
    if (test && expr_take(p, "?")) {
        struct node *yes = parse_whole(p), *no = yes && expr_take(p, ":") ? parse_whole(p) : NULL;
        if (!no)
            return expr_fail(p, "`?` needs two values with `:` between them");
        yes = decayed(p, yes);
        no = decayed(p, no);
        if (!c_is_scalar(yes->type) || !c_is_scalar(no->type))
            return expr_fail(p, "?: chooses only between numbers or pointers");
        const struct c_type *t = yes->type->kind == C_POINTER ? yes->type : common_type(yes->type, no->type);
        struct node *n = node_new(p->arena, NODE_CHOOSE, t);
        n->a = test;
        n->b = node_cast(yes, t, p->arena);
        n->c = node_cast(no, t, p->arena);
        test = n;
    }
    p->depth--;
    return test;
}

static struct node *parse_many(struct parsing *p, struct node *n)
{
    char *end;
    unsigned long long count = strtoull(p->at, &end, 0);
    p->at = end;
    if (!count || n->kind != NODE_MEMORY)
        return expr_fail(p, "e@8 shows 8 elements from e on, and e must be in memory");
    return node_memory(n->a, c_array_of(n->type, count, p->arena), p->arena);
}

struct node *expression_parse(const char *text, const struct scope *scope, struct arena *arena, const char **wrong)
{
    struct parsing p = {.at = text, .scope = scope, .arena = arena};
    struct node *n = parse_whole(&p);
    if (n && expr_take(&p, "@"))
        n = parse_many(&p, n);
    expr_skip(&p);
    if (n && *p.at == '=')
        n = expr_fail(&p, "an expression cannot change a value: use `set var EXPRESSION = VALUE`");
    else if (n && *p.at)
        n = expr_fail(&p, arena_printf(arena, "`%.20s` is not allowed there", p.at));
    *wrong = p.wrong;
    return n;
}

const struct c_type *expression_type(const char *text, const struct scope *scope, struct arena *arena,
                                     const char **wrong)
{
    struct parsing p = {.at = text, .scope = scope, .arena = arena};
    const struct node *n = expression_parse(text, scope, arena, wrong);
    const struct c_type *t = n ? n->type : expr_type(&p);
    expr_skip(&p);
    return n || !*p.at ? t : NULL;
}
