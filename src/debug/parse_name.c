/* Numbers, and what names mean; see parse.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/qualified.h"
#include "debug/parse.h"
#include "exec/launch.h"

/* ---- operands ---- */

struct node *expr_number(struct parsing *p)
{
    char *end, *float_end;
    const char *start = p->at;
    unsigned long long v = strtoull(start, &end, 0);
    double f = strtod(start, &float_end);
    bool hex = start[0] == '0' && (start[1] == 'x' || start[1] == 'X');
    if (float_end > end && !hex) {
        struct node *n = node_new(p->arena, NODE_CONST, &c_double);
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
        return expr_fail(p, arena_printf(p->arena, "`%.*s%c` is not a number", (int)(p->at - start), start, *p->at));
    const struct c_type *t = is_long ? (is_unsigned ? &c_ulong : &c_long) : is_unsigned ? &c_uint : &c_int;
    return node_const(c_convert(t, &c_ulong, (union c_value){.i = (int64_t)v}).i, t, p->arena);
}

struct node *expr_character(struct parsing *p)
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
    return expr_take(p, "'") ? node_const(value, &c_char, p->arena)
                             : expr_fail(p, "a character is written between two '");
}

/* A member of threadIdx and its kind, or all of them as an array. */
static struct node *special(struct parsing *p, enum isa_sreg sreg)
{
    static const char components[] = "xyz";
    struct node *all = node_new(p->arena, NODE_PLACES, &c_dim3);
    all->value.i = (int64_t)sreg;
    if (!expr_take(p, "."))
        return all;
    struct str name = expr_take_name(p);
    const char *c = name.n == 1 ? strchr(components, name.p[0]) : NULL;
    if (!c)
        return expr_fail(p, "its members are x, y and z");
    uint32_t component = (uint32_t)(c - components);
    struct node *n = node_new(p->arena, NODE_ROW, &c_uint);
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
        if (!str_eq(v->symbol.name, name) && !name_ends_with(str_of(demangle(v->symbol.name, p->arena)), name))
            continue;
        uint64_t bytes = v->size;
        const struct c_type *t = c_type_of_ptx(v->type);
        t = t->bytes == 1 && v->align == 8 ? &c_ulong : t->bytes == 1 && v->align == 4 ? &c_uint : t;
        if (!bytes && p->scope->kernel)
            bytes = t->bytes; /* extern __shared__: as long as the launch says */
        const struct c_type *whole = v->n_dims || bytes != t->bytes ? c_array_of(t, bytes / t->bytes, p->arena) : t;
        struct node *window = node_new(p->arena, NODE_SHARED, &c_ulong);
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
    const struct c_type *t = c_type_of_ptx(v->type);
    t = t->bytes == 1 && v->align == 8 ? &c_ulong : t->bytes == 1 && v->align == 4 ? &c_uint : t;
    const struct c_type *whole = v->n_dims || v->size != t->bytes ? c_array_of(t, v->size / t->bytes, p->arena) : t;
    return node_memory(node_const((int64_t)address, &c_ulong, p->arena), whole, p->arena);
}

/* A kernel's parameter. */
static struct node *parameter(struct parsing *p, unsigned long number)
{
    const struct ptx_signature *s = p->scope->kernel ? &p->scope->kernel->func->signature : NULL;
    if (!s)
        return expr_fail(p, "no kernel is selected, so there are no arguments");
    if (number < 1 || number > s->params.n)
        return expr_fail(p, arena_printf(p->arena, "the kernel takes %u argument%s: $arg1%s", s->params.n,
                                         s->params.n == 1 ? "" : "s", s->params.n > 1 ? ", $arg2 and so on" : ""));
    const struct ptx_var *v = s->params.at[number - 1];
    const struct c_type *t = c_type_of_ptx(v->type);
    t = v->n_dims || v->size != t->bytes ? c_array_of(&c_uint, v->size / 4, p->arena) : t;
    struct node *base = node_new(p->arena, NODE_PARAM, &c_ulong);
    return node_memory(node_offset(base, (int64_t)v->param_at, p->arena), t, p->arena);
}

/* PTX's name behind a $, or CUDA's; NULL if it is none. */
static struct node *special_named(struct parsing *p, struct str name, bool by_ptx)
{
    static const struct {
        const char *ptx, *cuda;
        enum isa_sreg sreg;
    } all[] = {{"tid", "threadIdx", SREG_tid},
               {"ctaid", "blockIdx", SREG_ctaid},
               {"ntid", "blockDim", SREG_ntid},
               {"nctaid", "gridDim", SREG_nctaid}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (str_is(name, by_ptx ? all[i].ptx : all[i].cuda))
            return special(p, all[i].sreg);
    return NULL;
}

/* $r5, $lane, $arg1. */
struct node *expr_convenience(struct parsing *p)
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
        return node_new(p->arena, NODE_LANE, &c_uint);
    if (str_is(name, "warp"))
        return node_new(p->arena, NODE_WARP, &c_uint);
    struct node *n = special_named(p, name, true);
    if (n || p->wrong)
        return n;
    if (p->scope->code && (reg = register_named(p->scope->code, name)))
        return node_register(p->scope->code, reg, c_type_of_ptx(p->scope->code->ir->regs.at[reg].origin->type),
                             p->arena);
    if (!name.n || isdigit((unsigned char)name.p[0]))
        return expr_fail(
            p, "printed values such as $1 cannot be used here; $r5 is a register, $arg1 an argument of the kernel");
    if (!p->scope->code)
        return expr_fail(p, "no thread is selected, so there are no registers");
    return expr_fail(
        p,
        arena_printf(p->arena, "the function does not use a register %%%.*s; `info registers` lists those that it uses",
                     STR_ARG(name)));
}

struct node *expr_name(struct parsing *p)
{
    struct str name = expr_take_name(p);
    struct node *n = special_named(p, name, false);
    if (n || p->wrong)
        return n;
    if (str_is(name, "warpSize"))
        return node_const(WARP_LANES, &c_int, p->arena);
    if (str_is(name, "true") || str_is(name, "false"))
        return node_const(name.n == 4, &c_bool, p->arena);
    if (str_is(name, "nullptr") || str_is(name, "NULL"))
        return node_const(0, c_pointer_to(&c_void, C_GENERIC, p->arena), p->arena);
    if (p->scope->variable && (n = p->scope->variable(p->scope->data, name, p->arena)))
        return n;
    if ((n = expr_own_member(p, name)) || (n = named_shared(p, name)) || (n = named_global(p, name)))
        return n;
    int64_t value;
    const struct c_type *t = p->scope->enumerator ? p->scope->enumerator(p->scope->data, name, &value, p->arena) : NULL;
    if (t)
        return node_const(value, t, p->arena);
    if (p->scope->function && p->scope->function(p->scope->data, name, p->arena))
        return expr_fail(
            p,
            arena_printf(p->arena, "`%.*s` is a function, which cannot be called from here; `break %.*s` stops in it",
                         STR_ARG(name), STR_ARG(name)));
    return expr_fail(p, arena_printf(p->arena, "there is no `%.*s` here", STR_ARG(name)));
}
