/* Expressions from text; see expression.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "debug/expression.h"
#include "exec/launch.h"

enum { DEEPEST = 200 };

struct parsing {
    const char *at;
    const struct scope *scope;
    struct arena *arena;
    const char *wrong;
    unsigned depth;
};

static struct node *parse_binary(struct parsing *p, int least);
static struct node *parse_whole(struct parsing *p);

/* ---- nodes ---- */

static struct node *new_node(struct arena *arena, enum node_kind kind, const struct c_type *type)
{
    struct node *n = ARENA_NEW(arena, struct node);
    n->kind = kind;
    n->type = type;
    return n;
}

struct node *node_const(int64_t value, const struct c_type *type, struct arena *arena)
{
    struct node *n = new_node(arena, NODE_CONST, type);
    n->value.i = value;
    return n;
}

struct node *node_memory(struct node *address, const struct c_type *type, struct arena *arena)
{
    struct node *n = new_node(arena, NODE_MEMORY, type);
    n->a = address;
    return n;
}

static struct node *binary(struct arena *arena, enum binary op, struct node *a, struct node *b,
                           const struct c_type *type)
{
    struct node *n = new_node(arena, NODE_BINARY, type);
    n->binary = op;
    n->a = a;
    n->b = b;
    if (b->kind == NODE_CONST) {
        n->all = ARENA_NEW(arena, struct lanes_value);
        expression_fill(n->all, b->value);
    }
    return n;
}

static struct node *cast(struct parsing *p, struct node *a, const struct c_type *type)
{
    struct node *n = new_node(p->arena, NODE_CAST, type);
    if (a->type == type)
        return a;
    if (a->kind == NODE_CONST) {
        n->kind = NODE_CONST;
        n->value = c_convert(type, a->type, a->value);
        return n;
    }
    n->a = a;
    return n;
}

struct node *node_offset(struct node *address, int64_t by, struct arena *arena)
{
    if (!by)
        return address;
    /* The result keeps what the address is: of which space. */
    return binary(arena, B_ADD, address, node_const(by, &c_long, arena), address->type);
}

struct node *node_register(const struct code *code, uint32_t reg, const struct c_type *type, struct arena *arena)
{
    struct node *n = new_node(arena, NODE_ROW, type);
    n->row = code->ir->regs.at[reg].slot | ROW_FRAME;
    n->width = code->ir->regs.at[reg].width;
    return n;
}

struct node *node_address(struct node *n, struct arena *arena)
{
    struct node *a = new_node(arena, NODE_CAST, NULL);
    if (n->kind != NODE_MEMORY || n->bits)
        return NULL;
    const struct c_type *of = n->a->type;
    a->a = n->a;
    a->type = c_pointer_to(n->type, of->kind == C_POINTER ? of->space : C_GENERIC, arena);
    return a;
}

struct node *node_member(struct node *of, const struct c_member *m, struct arena *arena)
{
    struct node *n = node_memory(node_offset(of->a, (int64_t)m->at, arena), m->type, arena);
    n->bit_at = m->bit_at;
    n->bits = m->bits;
    return n;
}

struct node *node_element(struct node *of, uint64_t i, struct arena *arena)
{
    return node_memory(node_offset(of->a, (int64_t)(i * of->type->of->bytes), arena), of->type->of, arena);
}

/* ---- registers ---- */

uint32_t register_named(const struct code *code, struct str name)
{
    for (uint32_t r = 1; r < code->ir->regs.n; r++) {
        const struct ir_reg *reg = &code->ir->regs.at[r];
        struct str base = reg->origin ? reg->origin->symbol.name : (struct str){0};
        if (base.n && base.p[0] == '%')
            base = (struct str){base.p + 1, base.n - 1};
        if (!reg->origin || name.n < base.n || memcmp(name.p, base.p, base.n) != 0)
            continue;
        if (!reg->origin->parametrised ? name.n == base.n && reg->number == reg->origin->first
                                       : name.n > base.n && isdigit((unsigned char)name.p[base.n])) {
            char digits[16] = "", *end = digits;
            if (!reg->origin->parametrised)
                return r;
            if (name.n - base.n >= sizeof digits)
                continue;
            memcpy(digits, name.p + base.n, name.n - base.n);
            unsigned long number = strtoul(digits, &end, 10);
            if (!*end && number == reg->number - reg->origin->first)
                return r;
        }
    }
    return 0;
}

const char *register_name(const struct code *code, uint32_t reg, struct arena *arena)
{
    static const char components[] = "xyzw";
    const struct ir_reg *r = &code->ir->regs.at[reg];
    uint32_t number = r->number - r->origin->first;
    if (r->origin->vector > 1)
        return arena_printf(arena, "%.*s.%c", STR_ARG(r->origin->symbol.name), components[number % 4]);
    return r->origin->parametrised ? arena_printf(arena, "%.*s%u", STR_ARG(r->origin->symbol.name), number)
                                   : arena_strndup(arena, r->origin->symbol.name.p, r->origin->symbol.name.n);
}

/* The type that a PTX type is, as a register or variable of it is shown. */
static const struct c_type *type_of_ptx(enum isa_type t)
{
    switch (t) {
    case TYPE_pred: return &c_bool;
    case TYPE_s8: return &c_schar;
    case TYPE_u8:
    case TYPE_b8: return &c_uchar;
    case TYPE_s16: return &c_short;
    case TYPE_u16:
    case TYPE_b16: return &c_ushort;
    case TYPE_f16: return &c_half;
    case TYPE_bf16: return &c_bfloat;
    case TYPE_s32: return &c_int;
    case TYPE_s64: return &c_long;
    case TYPE_u64:
    case TYPE_b64: return &c_ulong;
    case TYPE_f32: return &c_float;
    case TYPE_f64: return &c_double;
    default: return &c_uint;
    }
}

/* ---- words ---- */

static struct node *fail(struct parsing *p, const char *wrong)
{
    if (!p->wrong)
        p->wrong = wrong;
    return NULL;
}

static void skip(struct parsing *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool take(struct parsing *p, const char *word)
{
    skip(p);
    size_t n = strlen(word);
    if (strncmp(p->at, word, n) != 0)
        return false;
    p->at += n;
    return true;
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* A name, with what :: joins. */
static struct str take_name(struct parsing *p)
{
    skip(p);
    const char *start = p->at;
    if (!isalpha((unsigned char)*start) && *start != '_' && !(start[0] == ':' && start[1] == ':'))
        return (struct str){0};
    while (is_name_char(*p->at) || (p->at[0] == ':' && p->at[1] == ':' && (p->at += 1)))
        p->at++;
    return (struct str){start, (size_t)(p->at - start)};
}

/* ---- types ---- */

static const struct c_type *named_type(struct parsing *p, struct str name)
{
    const struct c_type *t = c_type_named(name);
    return t ? t : p->scope->type ? p->scope->type(p->scope->data, name, p->arena) : NULL;
}

static bool is_qualifier(struct str word)
{
    return str_is(word, "const") || str_is(word, "volatile") || str_is(word, "__restrict__");
}

/* "Vec<double>" of a name where < follows: with all up to the > that belongs to it. Empty: there is none. */
static struct str template_name(struct parsing *p, struct str name)
{
    unsigned depth = 0;
    skip(p);
    if (*p->at != '<')
        return (struct str){0};
    do {
        depth += *p->at == '<';
        depth -= *p->at == '>';
    } while (*p->at && p->at++ && depth);
    return depth ? (struct str){0} : (struct str){name.p, (size_t)(p->at - name.p)};
}

/* "unsigned long", "struct P", "std::pair": as many words as make a type. */
static const struct c_type *parse_type_words(struct parsing *p)
{
    struct text words = {.arena = p->arena};
    const struct c_type *t = NULL;
    const char *end = p->at;
    for (;;) {
        struct str word = take_name(p);
        if (!word.n)
            break;
        if (is_qualifier(word)) {
            end = t ? p->at : end;
            continue;
        }
        const char *name_end = p->at;
        struct str with_arguments = template_name(p, word);
        if (with_arguments.n && (t = named_type(p, with_arguments))) {
            end = p->at;
            break;
        }
        p->at = name_end;
        size_t before = words.n;
        text_printf(&words, "%s%.*s", words.n ? " " : "", STR_ARG(word));
        const struct c_type *longer = named_type(p, (struct str){words.p, words.n});
        bool may_go_on =
            str_is(word, "struct") || str_is(word, "class") || str_is(word, "union") || str_is(word, "enum");
        if (!longer && !may_go_on) {
            words.n = before;
            break;
        }
        t = longer ? longer : t;
        end = longer ? p->at : end;
    }
    p->at = end;
    return t;
}

/* A type, if one is there: "@shared float *", "int", "P **". NULL leaves the place where it is. */
static const struct c_type *parse_type(struct parsing *p)
{
    const char *start = p->at;
    enum c_space space = take(p, "@shared") ? C_SHARED : take(p, "@local") ? C_LOCAL : C_GENERIC;
    if (!space && !take(p, "@global"))
        take(p, "@generic");
    const struct c_type *t = parse_type_words(p);
    if (!t) {
        p->at = start;
        return NULL;
    }
    for (;;) {
        const char *before = p->at;
        if (take(p, "*")) {
            t = c_pointer_to(t, space, p->arena);
            continue;
        }
        struct str word = take_name(p);
        if (!is_qualifier(word)) {
            p->at = before;
            break;
        }
    }
    skip(p);
    if (*p->at == '[') {
        p->at++;
        char *end;
        unsigned long long n = strtoull(p->at, &end, 0);
        p->at = end;
        t = take(p, "]") ? c_array_of(t, n, p->arena) : NULL;
    }
    if (!t)
        p->at = start;
    return t;
}

/* ---- operands ---- */

static struct node *parse_number(struct parsing *p)
{
    char *end, *float_end;
    const char *start = p->at;
    unsigned long long v = strtoull(start, &end, 0);
    double f = strtod(start, &float_end);
    bool hex = start[0] == '0' && (start[1] == 'x' || start[1] == 'X');
    if (float_end > end && !hex) {
        struct node *n = new_node(p->arena, NODE_CONST, &c_double);
        n->value.f = f;
        p->at = float_end;
        if (*p->at == 'f' || *p->at == 'F') {
            n->type = &c_float;
            p->at++;
        }
        return n;
    }
    bool is_unsigned = false, is_long = false;
    for (p->at = end; *p->at && strchr("uUlL", *p->at); p->at++) {
        is_unsigned |= *p->at == 'u' || *p->at == 'U';
        is_long |= *p->at == 'l' || *p->at == 'L';
    }
    is_long |= v > (is_unsigned || hex ? UINT32_MAX : INT32_MAX);
    is_unsigned |= v > INT64_MAX || (hex && !is_long && v > INT32_MAX);
    if (is_name_char(*p->at))
        return fail(p, arena_printf(p->arena, "`%.*s%c` is no number", (int)(p->at - start), start, *p->at));
    const struct c_type *t = is_long ? (is_unsigned ? &c_ulong : &c_long) : is_unsigned ? &c_uint : &c_int;
    return node_const(c_convert(t, &c_ulong, (union c_value){.i = (int64_t)v}).i, t, p->arena);
}

static struct node *parse_character(struct parsing *p)
{
    static const char escapes[] = "n\nt\tr\r0\0\\\\''";
    char c = p->at[1], value = c;
    p->at += 2;
    if (c == '\\' && *p->at) {
        for (size_t i = 0; i + 1 < sizeof escapes; i += 2)
            if (escapes[i] == *p->at)
                value = escapes[i + 1];
        p->at++;
    }
    return take(p, "'") ? node_const(value, &c_char, p->arena) : fail(p, "a character stands between two '");
}

/* A member of threadIdx and its kind, or all of them as an array. */
static struct node *special(struct parsing *p, enum isa_sreg sreg)
{
    static const char components[] = "xyz";
    struct node *all = new_node(p->arena, NODE_PLACES, &c_dim3);
    all->value.i = (int64_t)sreg;
    if (!take(p, "."))
        return all;
    struct str name = take_name(p);
    const char *c = name.n == 1 ? strchr(components, name.p[0]) : NULL;
    if (!c)
        return fail(p, "its members are x, y and z");
    uint32_t component = (uint32_t)(c - components);
    struct node *n = new_node(p->arena, NODE_ROW, &c_uint);
    n->width = 32;
    if (sreg == SREG_tid) {
        n->row = component * 128 | ROW_WARP;
        return n;
    }
    n->kind = NODE_PLACE;
    n->value.i = (int64_t)sreg * 4 + component;
    return n;
}

static struct node *named_shared(struct parsing *p, struct str name)
{
    const struct kernel *k = p->scope->kernel;
    for (uint32_t i = 0; k && i < k->shared_vars.n; i++) {
        const struct ptx_var *v = k->shared_vars.at[i].var;
        const char *readable = demangle(v->symbol.name, p->arena), *last = strstr(readable, "::");
        for (const char *q = last; q && (q = strstr(q + 2, "::"));)
            last = q;
        if (!str_eq(v->symbol.name, name) && !str_is(name, readable) && !(last && str_is(name, last + 2)))
            continue;
        uint64_t bytes = v->size;
        const struct c_type *t = type_of_ptx(v->type);
        t = t->bytes == 1 && v->align == 8 ? &c_ulong : t->bytes == 1 && v->align == 4 ? &c_uint : t;
        if (!bytes && p->scope->kernel)
            bytes = t->bytes; /* extern __shared__: as long as the launch says */
        const struct c_type *whole = v->n_dims || bytes != t->bytes ? c_array_of(t, bytes / t->bytes, p->arena) : t;
        struct node *window = new_node(p->arena, NODE_SHARED, &c_ulong);
        return node_memory(node_offset(window, k->shared_vars.at[i].at, p->arena), whole, p->arena);
    }
    return NULL;
}

static struct node *named_global(struct parsing *p, struct str name)
{
    const struct scope *s = p->scope;
    const struct ptx_var *v;
    uint64_t address;
    if (!s->global || !s->global(s->data, name, &address, &v))
        return NULL;
    const struct c_type *t = type_of_ptx(v->type);
    t = t->bytes == 1 && v->align == 8 ? &c_ulong : t->bytes == 1 && v->align == 4 ? &c_uint : t;
    const struct c_type *whole = v->n_dims || v->size != t->bytes ? c_array_of(t, v->size / t->bytes, p->arena) : t;
    return node_memory(node_const((int64_t)address, &c_ulong, p->arena), whole, p->arena);
}

/* A kernel's parameter. */
static struct node *parameter(struct parsing *p, unsigned long number)
{
    const struct ptx_signature *s = p->scope->kernel ? &p->scope->kernel->func->signature : NULL;
    if (!s)
        return fail(p, "no kernel is at hand, whose arguments these would be");
    if (number < 1 || number > s->params.n)
        return fail(p, arena_printf(p->arena, "the kernel takes %u argument%s: $arg1%s", s->params.n,
                                    s->params.n == 1 ? "" : "s", s->params.n > 1 ? ", $arg2 and so on" : ""));
    const struct ptx_var *v = s->params.at[number - 1];
    const struct c_type *t = type_of_ptx(v->type);
    t = v->n_dims || v->size != t->bytes ? c_array_of(&c_uint, v->size / 4, p->arena) : t;
    struct node *base = new_node(p->arena, NODE_PARAM, &c_ulong);
    return node_memory(node_offset(base, (int64_t)v->param_at, p->arena), t, p->arena);
}

/* $r5, $lane, $arg1. */
static struct node *parse_convenience(struct parsing *p)
{
    const char *start = p->at++;
    while (is_name_char(*p->at) || *p->at == '$')
        p->at++;
    struct str name = {start + 1, (size_t)(p->at - start - 1)};
    char digits[8] = "";
    uint32_t reg;
    if (name.n > 3 && name.n < 3 + sizeof digits && str_starts(name, "arg")) {
        memcpy(digits, name.p + 3, name.n - 3);
        return parameter(p, strtoul(digits, NULL, 10));
    }
    if (str_is(name, "lane") || str_is(name, "laneid"))
        return new_node(p->arena, NODE_LANE, &c_uint);
    if (str_is(name, "warp"))
        return new_node(p->arena, NODE_WARP, &c_uint);
    if (str_is(name, "tid"))
        return special(p, SREG_tid);
    if (str_is(name, "ctaid"))
        return special(p, SREG_ctaid);
    if (str_is(name, "ntid"))
        return special(p, SREG_ntid);
    if (str_is(name, "nctaid"))
        return special(p, SREG_nctaid);
    if (p->scope->code && (reg = register_named(p->scope->code, name)))
        return node_register(p->scope->code, reg, type_of_ptx(p->scope->code->ir->regs.at[reg].origin->type), p->arena);
    if (!p->scope->code)
        return fail(p, "no thread is at hand, whose register it would be");
    return fail(p,
                arena_printf(p->arena, "the function has no register %%%.*s that it uses; `info registers` lists them",
                             STR_ARG(name)));
}

static struct node *parse_name(struct parsing *p)
{
    struct str name = take_name(p);
    struct node *n;
    if (str_is(name, "threadIdx"))
        return special(p, SREG_tid);
    if (str_is(name, "blockIdx"))
        return special(p, SREG_ctaid);
    if (str_is(name, "blockDim"))
        return special(p, SREG_ntid);
    if (str_is(name, "gridDim"))
        return special(p, SREG_nctaid);
    if (str_is(name, "warpSize"))
        return node_const(WARP_LANES, &c_int, p->arena);
    if (str_is(name, "true") || str_is(name, "false"))
        return node_const(name.n == 4, &c_bool, p->arena);
    if (str_is(name, "nullptr") || str_is(name, "NULL"))
        return node_const(0, c_pointer_to(&c_void, C_GENERIC, p->arena), p->arena);
    if (p->scope->variable && (n = p->scope->variable(p->scope->data, name, p->arena)))
        return n;
    if ((n = named_shared(p, name)) || (n = named_global(p, name)))
        return n;
    return fail(p, arena_printf(p->arena, "there is no `%.*s` here", STR_ARG(name)));
}

static struct node *parse_sizeof(struct parsing *p)
{
    const char *start = p->at;
    const struct c_type *t = NULL;
    if (take(p, "(")) {
        t = parse_type(p);
        if (t && !take(p, ")"))
            return fail(p, "a `)` is missing");
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
    if (take(p, word) && !is_name_char(*p->at))
        return true;
    p->at = start;
    return false;
}

static struct node *parse_primary(struct parsing *p)
{
    skip(p);
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return parse_number(p);
    if (*p->at == '\'')
        return parse_character(p);
    if (*p->at == '$' || *p->at == '%')
        return parse_convenience(p);
    if (take_word(p, "sizeof"))
        return parse_sizeof(p);
    if (take(p, "(")) {
        struct node *n = parse_whole(p);
        return !n || take(p, ")") ? n : fail(p, "a `)` is missing");
    }
    if (isalpha((unsigned char)*p->at) || *p->at == '_' || *p->at == ':')
        return parse_name(p);
    if (!*p->at)
        return fail(p, "something is missing at the end");
    return fail(p, arena_printf(p->arena, "`%.20s` cannot stand there", p->at));
}

/* ---- behind and before an operand ---- */

/* An array is the address of its first element. */
static struct node *decayed(struct parsing *p, struct node *n)
{
    if (n && n->kind == NODE_MEMORY && n->type->kind == C_ARRAY) {
        struct node *address = node_address(n, p->arena);
        return cast(p, address, c_pointer_to(n->type->of, address->type->space, p->arena));
    }
    return n;
}

static struct node *dereferenced(struct parsing *p, struct node *n)
{
    n = decayed(p, n);
    if (!n)
        return NULL;
    if (n->type->kind != C_POINTER)
        return fail(p, arena_printf(p->arena,
                                    "it is of type %s, and no pointer: a cast says what is there, as in "
                                    "*(int *)0x7f0000000000",
                                    c_type_text(n->type, p->arena)));
    if (!n->type->of->bytes)
        return fail(p,
                    "a pointer to void leads to nothing that can be shown: a cast says what is there, as in *(int *)p");
    return node_memory(n, n->type->of, p->arena);
}

static struct node *scaled_sum(struct parsing *p, struct node *pointer, struct node *by, bool minus)
{
    int64_t size = (int64_t)(pointer->type->of->bytes ? pointer->type->of->bytes : 1);
    struct node *bytes = binary(p->arena, B_MUL, cast(p, by, &c_long), node_const(size, &c_long, p->arena), &c_long);
    return binary(p->arena, minus ? B_SUB : B_ADD, pointer, bytes, pointer->type);
}

/* Also of a base class, and of what has no name: *at is set to where that begins. */
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

static struct node *parse_member(struct parsing *p, struct node *n)
{
    struct str name = take_name(p);
    uint64_t at = 0;
    const struct c_member *m =
        n->type->kind == C_STRUCT && n->kind == NODE_MEMORY ? find_member(n->type, name, &at) : NULL;
    if (!m)
        return fail(
            p, n->type->kind == C_STRUCT
                   ? arena_printf(p->arena, "%s has no member `%.*s`", c_type_text(n->type, p->arena), STR_ARG(name))
                   : arena_printf(p->arena, "it is of type %s, which has no members", c_type_text(n->type, p->arena)));
    return node_member(node_memory(node_offset(n->a, (int64_t)at, p->arena), n->type, p->arena), m, p->arena);
}

static struct node *parse_postfix(struct parsing *p)
{
    struct node *n = parse_primary(p);
    while (n) {
        if (take(p, "[")) {
            struct node *i = parse_whole(p);
            n = decayed(p, n);
            if (!i || !n)
                return NULL;
            if (!take(p, "]"))
                return fail(p, "a `]` is missing");
            if (n->type->kind != C_POINTER || !c_is_integer(i->type))
                return fail(p, "only arrays and pointers have elements, which integers number");
            n = dereferenced(p, scaled_sum(p, n, i, false));
        } else if (take(p, "->")) {
            n = dereferenced(p, n);
            n = n ? parse_member(p, n) : NULL;
        } else if (p->at[0] == '.' && !isdigit((unsigned char)p->at[1])) {
            p->at++;
            n = n->type->kind == C_POINTER ? dereferenced(p, n) : n;
            n = n ? parse_member(p, n) : NULL;
        } else {
            break;
        }
        skip(p);
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
        return fail(
            p, arena_printf(p->arena, "a value of type %s cannot be calculated with", c_type_text(a->type, p->arena)));
    struct node *n = new_node(p->arena, kind, kind == NODE_NOT ? &c_bool : t);
    n->a = kind == NODE_NOT ? a : cast(p, a, t);
    return n;
}

/* A cast, where a type stands in the parentheses. *is_one tells. */
static struct node *parse_cast(struct parsing *p, bool *is_one)
{
    const char *start = p->at;
    p->at++;
    const struct c_type *t = parse_type(p);
    *is_one = t && take(p, ")");
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
                       : fail(p, "only what is in memory can be read as an array or a struct");
    }
    if (!c_is_scalar(t) || !c_is_scalar(a->type))
        return fail(
            p, arena_printf(p->arena, "%s cannot become %s", c_type_text(a->type, p->arena), c_type_text(t, p->arena)));
    return cast(p, a, t);
}

static struct node *parse_unary(struct parsing *p)
{
    bool is_cast;
    struct node *n;
    skip(p);
    if (p->depth++ > DEEPEST)
        return fail(p, "it is nested too deep");
    if (*p->at == '(' && ((n = parse_cast(p, &is_cast)) || is_cast))
        ;
    else if (take(p, "-"))
        n = unary(p, NODE_NEGATE, parse_unary(p));
    else if (take(p, "!"))
        n = unary(p, NODE_NOT, parse_unary(p));
    else if (take(p, "~"))
        n = unary(p, NODE_INVERT, parse_unary(p));
    else if (take(p, "+"))
        n = parse_unary(p);
    else if (take(p, "*"))
        n = dereferenced(p, parse_unary(p));
    else if (p->at[0] == '&' && p->at[1] != '&' && take(p, "&")) {
        n = parse_unary(p);
        struct node *address = n ? node_address(n, p->arena) : NULL;
        n = !n || address ? address : fail(p, "it is in a register, or no variable, and has no address");
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
        struct node *bytes = binary(p->arena, B_SUB, cast(p, a, &c_long), cast(p, b, &c_long), &c_long);
        return binary(p->arena, B_DIV, bytes, node_const((int64_t)a->type->of->bytes, &c_long, p->arena), &c_long);
    }
    return fail(p, "pointers can be compared, subtracted from each other, and have integers added");
}

static struct node *combine(struct parsing *p, enum binary op, struct node *a, struct node *b)
{
    a = decayed(p, a);
    b = decayed(p, b);
    if (!c_is_scalar(a->type) || !c_is_scalar(b->type))
        return fail(p, arena_printf(p->arena, "a value of type %s cannot be calculated with",
                                    c_type_text(c_is_scalar(a->type) ? b->type : a->type, p->arena)));
    if (op >= B_LAND)
        return binary(p->arena, op, a, b, &c_bool);
    bool pointers = a->type->kind == C_POINTER || b->type->kind == C_POINTER;
    if (pointers && !compares(op))
        return pointer_sum(p, op, a, b);
    bool floats = c_is_float(a->type) || c_is_float(b->type);
    if (floats && op != B_MUL && op != B_DIV && op != B_ADD && op != B_SUB && !compares(op))
        return fail(p, "floating-point numbers have no such operator");
    const struct c_type *t = pointers ? &c_ulong : common_type(a->type, b->type);
    if (op == B_SHL || op == B_SHR) {
        t = common_type(a->type, &c_int);
        return binary(p->arena, op, cast(p, a, t), cast(p, b, &c_ulong), t);
    }
    return binary(p->arena, op, cast(p, a, t), cast(p, b, t), compares(op) ? &c_bool : t);
}

/* Operators of a level at least so high; level 100: operands alone. */
static struct node *parse_binary(struct parsing *p, int least)
{
    struct node *a = parse_unary(p);
    for (;;) {
        skip(p);
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
        return fail(p, "it is nested too deep");
    struct node *test = parse_binary(p, 0);
    if (test && take(p, "?")) {
        struct node *yes = parse_whole(p), *no = yes && take(p, ":") ? parse_whole(p) : NULL;
        if (!no)
            return fail(p, "behind `?` there are two values with `:` in between");
        yes = decayed(p, yes);
        no = decayed(p, no);
        if (!c_is_scalar(yes->type) || !c_is_scalar(no->type))
            return fail(p, "only numbers and pointers can be chosen from by ?:");
        const struct c_type *t = yes->type->kind == C_POINTER ? yes->type : common_type(yes->type, no->type);
        struct node *n = new_node(p->arena, NODE_CHOOSE, t);
        n->a = test;
        n->b = cast(p, yes, t);
        n->c = cast(p, no, t);
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
        return fail(p, "e@8 is 8 elements from e on, which is in memory");
    return node_memory(n->a, c_array_of(n->type, count, p->arena), p->arena);
}

struct node *expression_parse(const char *text, const struct scope *scope, struct arena *arena, const char **wrong)
{
    struct parsing p = {.at = text, .scope = scope, .arena = arena};
    struct node *n = parse_whole(&p);
    if (n && take(&p, "@"))
        n = parse_many(&p, n);
    skip(&p);
    if (n && *p.at)
        n = fail(&p, arena_printf(arena, "`%.20s` cannot stand there", p.at));
    *wrong = p.wrong;
    return n;
}
