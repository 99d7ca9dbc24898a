/* The nodes of expressions; see expression.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "debug/expression.h"

/* ---- nodes ---- */

struct node *node_new(struct arena *arena, enum node_kind kind, const struct c_type *type)
{
    struct node *n = ARENA_NEW(arena, struct node);
    n->kind = kind;
    n->type = type;
    return n;
}

struct node *node_const(int64_t value, const struct c_type *type, struct arena *arena)
{
    struct node *n = node_new(arena, NODE_CONST, type);
    n->value.i = value;
    return n;
}

struct node *node_memory(struct node *address, const struct c_type *type, struct arena *arena)
{
    struct node *n = node_new(arena, NODE_MEMORY, type);
    n->a = address;
    return n;
}

struct node *node_binary(struct arena *arena, enum binary op, struct node *a, struct node *b, const struct c_type *type)
{
    struct node *n = node_new(arena, NODE_BINARY, type);
    n->binary = op;
    n->a = a;
    n->b = b;
    if (b->kind == NODE_CONST) {
        n->all = ARENA_NEW(arena, struct lanes_value);
        expression_fill(n->all, b->value);
        b->words = ARENA_ARRAY(arena, uint32_t, WARP_LANES);
        for (unsigned l = 0; l < WARP_LANES; l++)
            b->words[l] = (uint32_t)b->value.i;
    }
    return n;
}

struct node *node_cast(struct node *a, const struct c_type *type, struct arena *arena)
{
    struct node *n = node_new(arena, NODE_CAST, type);
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
    return node_binary(arena, B_ADD, address, node_const(by, &c_long, arena), address->type);
}

struct node *node_register(const struct code *code, uint32_t reg, const struct c_type *type, struct arena *arena)
{
    struct node *n = node_new(arena, NODE_ROW, type);
    n->row = code->ir->regs.at[reg].slot | ROW_FRAME;
    n->width = code->ir->regs.at[reg].width;
    return n;
}

struct node *node_address(struct node *n, struct arena *arena)
{
    struct node *a = node_new(arena, NODE_CAST, NULL);
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
const struct c_type *c_type_of_ptx(enum isa_type t)
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
