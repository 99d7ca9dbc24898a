/* See dwarf_types.h. */
#include "debug/dwarf_types.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

bool dwarf_number(Dwarf_Die *die, unsigned name, uint64_t *value)
{
    Dwarf_Attribute a;
    Dwarf_Word v;
    if (!dwarf_attr_integrate(die, name, &a) || dwarf_formudata(&a, &v) != 0)
        return false;
    *value = v;
    return true;
}

const char *dwarf_name(struct reader *r, Dwarf_Die *die)
{
    Dwarf_Attribute a;
    const char *name = dwarf_attr_integrate(die, DW_AT_name, &a) ? dwarf_formstring(&a) : NULL;
    return name ? arena_strdup(&r->arena, name) : NULL;
}

bool dwarf_leads(Dwarf_Die *die, unsigned name, Dwarf_Die *to)
{
    Dwarf_Attribute a;
    return dwarf_attr_integrate(die, name, &a) && dwarf_formref_die(&a, to);
}

/* The offset of a member: a number, or a location expression that adds a number. */
static uint64_t place_of_member(Dwarf_Die *die)
{
    uint64_t at = 0;
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    size_t n;
    if (dwarf_number(die, DW_AT_data_member_location, &at))
        return at;
    if (dwarf_attr(die, DW_AT_data_member_location, &a) && dwarf_getlocation(&a, &ops, &n) == 0 && n == 1)
        return ops[0].number;
    return 0;
}

/* ---- types ---- */

/* An integer of 128 bits. */
static const struct c_type *halves(struct reader *r, const char *name, bool is_signed)
{
    struct c_type *t = ARENA_NEW(&r->arena, struct c_type);
    struct c_member *m = ARENA_ARRAY(&r->arena, struct c_member, 2);
    m[0] = (struct c_member){.name = "low", .type = &c_ulong};
    m[1] = (struct c_member){.name = "high", .type = is_signed ? &c_long : &c_ulong, .at = 8};
    *t = (struct c_type){.kind = C_STRUCT, .bytes = 16, .name = name, .members = m, .n = 2};
    return t;
}

static const struct c_type *base_type(struct reader *r, Dwarf_Die *die)
{
    struct c_type *t = ARENA_NEW(&r->arena, struct c_type);
    uint64_t encoding = 0, bytes = 0;
    dwarf_number(die, DW_AT_encoding, &encoding);
    dwarf_number(die, DW_AT_byte_size, &bytes);
    *t = (struct c_type){.kind = C_INT, .bytes = bytes, .name = dwarf_name(r, die), .is_signed = true};
    switch (encoding) {
    case DW_ATE_boolean: t->kind = C_BOOL; break;
    case DW_ATE_float: t->kind = bytes == 2 ? C_HALF : C_FLOAT; break;
    case DW_ATE_signed_char: t->kind = bytes == 1 ? C_CHAR : C_INT; break;
    case DW_ATE_unsigned_char:
        t->kind = bytes == 1 ? C_CHAR : C_UINT;
        t->is_signed = false;
        break;
    case DW_ATE_unsigned: t->kind = C_UINT; break;
    case DW_ATE_UTF:
        t->kind = bytes == 1 ? C_CHAR : C_UINT;
        t->is_signed = false;
        break;
    default: break;
    }
    if (bytes == 16 && (encoding == DW_ATE_signed || encoding == DW_ATE_unsigned))
        return halves(r, t->name, encoding == DW_ATE_signed);
    bool odd = bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8;
    if (odd || (t->kind == C_FLOAT && bytes < 4)) /* an unknown type: shown as bytes */
        return c_array_of(&c_uchar, bytes, &r->arena);
    return t;
}

static bool starts(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

/* nvcc gives base classes and what has no name one of its own: "__b_4base", "__C12", and
 * "_ZN4itemUt0_E", an unnamed type as it is mangled (Itanium C++ ABI 5.1.8). */
static const char *source_name(const char *name)
{
    bool numbered = starts(name, "__C") && isdigit((unsigned char)name[3]);
    const char *unnamed = starts(name, "_ZN") ? strstr(name, "Ut") : NULL;
    if (unnamed)
        for (unnamed += 2; isdigit((unsigned char)*unnamed); unnamed++)
            ;
    return starts(name, "__b_") || numbered || (unnamed && strcmp(unnamed, "_E") == 0) ? NULL : name;
}

/* The only scalar that a struct holds, possibly nested; NULL: it holds something else. */
static const struct c_type *only_scalar(const struct c_type *t)
{
    const struct c_type *only = t;
    for (unsigned depth = 0; only && only->kind == C_STRUCT && depth < DEEPEST; depth++) {
        const struct c_type *next = NULL;
        for (uint32_t i = 0; i < only->n; i++)
            if (only->members[i].type->bytes == t->bytes)
                next = only->members[i].type;
        only = next;
    }
    return only && c_is_scalar(only) ? only : NULL;
}

static void add_members(struct reader *r, Dwarf_Die *die, struct c_type *t)
{
    VEC(struct c_member) list = {0};
    Dwarf_Die child;
    for (int more = dwarf_child(die, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        uint64_t bits = 0, bit_at = 0, storage = 0;
        Dwarf_Die of;
        Dwarf_Attribute a;
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_attr(&child, DW_AT_external, &a) ||
            !dwarf_leads(&child, DW_AT_type, &of))
            continue;
        struct c_member m = {.name = tag == DW_TAG_member ? source_name(dwarf_name(r, &child)) : NULL,
                             .type = dwarf_type(r, &of),
                             .at = place_of_member(&child)};
        if (dwarf_number(&child, DW_AT_bit_size, &bits) && bits <= 64) {
            storage = m.type->bytes;
            dwarf_number(&child, DW_AT_byte_size, &storage);
            if (dwarf_number(&child, DW_AT_data_bit_offset, &bit_at)) {
                m.at = bit_at / 8 / (storage ? storage : 1) * (storage ? storage : 1);
                m.bit_at = (uint8_t)(bit_at - 8 * m.at);
            } else if (dwarf_number(&child, DW_AT_bit_offset, &bit_at)) {
                m.bit_at = (uint8_t)(8 * storage - bit_at - bits);
            }
            m.bits = m.bit_at < 64 && m.bit_at + bits <= 64 ? (uint8_t)bits : 0;
            m.bit_at = m.bits ? m.bit_at : 0;
        }
        if (!m.name && dwarf_attr(&child, DW_AT_bit_size, &a)) /* only takes room */
            continue;
        *VEC_PUSH(&r->arena, &list) = m;
    }
    t->members = list.at;
    t->n = list.n;
    const char *name = t->name;
    /* cuda::atomic and std::atomic. */
    const struct c_type *value = starts(name, "atomic<") ? only_scalar(t) : NULL;
    if (value) {
        *t = *value;
        t->name = name;
    }
}

/* nvcc writes mangled names: "_ZN5color3REDE" is RED. */
static const char *enumerator_name(struct reader *r, const char *name)
{
    char *p = (char *)(uintptr_t)name;
    if (!starts(name, "_ZN"))
        return name;
    for (p += 3; isdigit((unsigned char)*p);) {
        size_t n = strtoul(p, &p, 10);
        if (n > strlen(p) || strcmp(p + n, "E") == 0)
            return n > strlen(p) ? name : arena_strndup(&r->arena, p, n);
        p += n;
    }
    return name;
}

static void add_enumerators(struct reader *r, Dwarf_Die *die, struct c_type *t)
{
    VEC(struct c_enumerator) list = {0};
    Dwarf_Die child;
    for (int more = dwarf_child(die, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
        Dwarf_Attribute a;
        Dwarf_Sword v;
        if (dwarf_tag(&child) != DW_TAG_enumerator || !dwarf_attr(&child, DW_AT_const_value, &a) ||
            dwarf_formsdata(&a, &v) != 0)
            continue;
        t->is_signed |= v < 0 && dwarf_whatform(&a) == DW_FORM_sdata;
        *VEC_PUSH(&r->arena, &list) = (struct c_enumerator){enumerator_name(r, dwarf_name(r, &child)), v};
    }
    for (uint32_t i = 0; i < list.n; i++) /* as a variable that has this value */
        list.at[i].value = c_load(t, &list.at[i].value).i;
    t->enumerators = list.at;
    t->n = list.n;
}

/* From the last dimension to the first. */
static const struct c_type *array_type(struct reader *r, Dwarf_Die *die, const struct c_type *of)
{
    uint64_t counts[8], n = 0;
    Dwarf_Die child;
    for (int more = dwarf_child(die, &child); more == 0 && n < 8; more = dwarf_siblingof(&child, &child)) {
        uint64_t count = 0;
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        if (!dwarf_number(&child, DW_AT_count, &count) && dwarf_number(&child, DW_AT_upper_bound, &count))
            count++;
        counts[n++] = count;
    }
    while (n)
        of = c_array_of(of, counts[--n], &r->arena);
    return of;
}

/* The types of a function's parameters, without the object of a member function. */
static const struct c_type *function_type(struct reader *r, Dwarf_Die *die)
{
    VEC(struct c_member) list = {0};
    struct c_type *t = ARENA_NEW(&r->arena, struct c_type);
    Dwarf_Die child, of;
    Dwarf_Attribute a;
    *t = (struct c_type){.kind = C_FUNCTION, .of = dwarf_leads(die, DW_AT_type, &of) ? dwarf_type(r, &of) : &c_void};
    for (int more = dwarf_child(die, &child); more == 0; more = dwarf_siblingof(&child, &child))
        if (dwarf_tag(&child) == DW_TAG_formal_parameter && !dwarf_attr(&child, DW_AT_artificial, &a) &&
            dwarf_leads(&child, DW_AT_type, &of))
            *VEC_PUSH(&r->arena, &list) = (struct c_member){.type = dwarf_type(r, &of)};
    t->members = list.at;
    t->n = list.n;
    return t;
}

/* A pointer to a member: to a variable, the bytes from the object's start on, of which -1 is
 * none; to a function, it and how far the object lies from what it takes (Itanium C++ ABI 2.3). */
static const struct c_type *member_pointer(struct reader *r, Dwarf_Die *die, const struct c_type *to)
{
    Dwarf_Die class, child;
    struct c_type *t = ARENA_NEW(&r->arena, struct c_type);
    const char *name = dwarf_leads(die, DW_AT_containing_type, &class) ? dwarf_name(r, &class) : NULL;
    bool is_function = to->kind == C_FUNCTION;
    *t = (struct c_type){.kind = is_function ? C_STRUCT : C_ENUM, .bytes = is_function ? 16 : 8, .is_signed = true};
    t->name =
        c_declaration(to, arena_printf(&r->arena, is_function ? "(%s::*)" : "%s::*", name ? name : "?"), &r->arena);
    if (is_function) {
        struct c_member *m = ARENA_ARRAY(&r->arena, struct c_member, 2);
        m[0] = (struct c_member){.name = "f", .type = c_pointer_to(to, C_GENERIC, &r->arena)};
        m[1] = (struct c_member){.name = "d", .type = &c_long, .at = 8};
        t->members = m;
        t->n = 2;
        return t;
    }
    VEC(struct c_enumerator) list = {0};
    *VEC_PUSH(&r->arena, &list) = (struct c_enumerator){"nullptr", -1};
    for (int more = name ? dwarf_child(&class, &child) : 1; more == 0; more = dwarf_siblingof(&child, &child)) {
        const char *member = dwarf_tag(&child) == DW_TAG_member ? dwarf_name(r, &child) : NULL;
        if (member)
            *VEC_PUSH(&r->arena, &list) = (struct c_enumerator){arena_printf(&r->arena, "&%s::%s", name, member),
                                                                (int64_t)place_of_member(&child)};
    }
    t->enumerators = list.at;
    t->n = list.n;
    return t;
}

/* nvcc writes "__SO__5shape" of the part of a class that its base is, and mangled names
 * of what is in namespaces. */
static const char *type_name(struct reader *r, Dwarf_Die *die)
{
    static const char part[] = "__SO__";
    const char *name = source_name(dwarf_name(r, die));
    bool is_part = starts(name, part);
    if (!is_part)
        return name ? enumerator_name(r, name) : NULL;
    for (name += strlen(part); isdigit((unsigned char)*name); name++)
        ;
    return name;
}

static struct c_type *new_type(struct reader *r, Dwarf_Die *die, enum c_kind kind)
{
    struct c_type *t = ARENA_NEW(&r->arena, struct c_type);
    t->kind = kind;
    t->name = type_name(r, die);
    dwarf_number(die, DW_AT_byte_size, &t->bytes);
    return t;
}

static const struct c_type *struct_type(struct reader *r, Dwarf_Die *die)
{
    const char *name = dwarf_name(r, die);
    if (name && (strcmp(name, "__half") == 0 || strcmp(name, "__nv_bfloat16") == 0))
        return strcmp(name, "__half") == 0 ? &c_half : &c_bfloat;
    struct c_type *t = new_type(r, die, C_STRUCT);
    t->is_union = dwarf_tag(die) == DW_TAG_union_type;
    return t;
}

static const struct c_type *make_type(struct reader *r, Dwarf_Die *die)
{
    Dwarf_Die of;
    bool has_of = dwarf_leads(die, DW_AT_type, &of);
    switch (dwarf_tag(die)) {
    case DW_TAG_base_type: return base_type(r, die);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type: return struct_type(r, die);
    case DW_TAG_enumeration_type: {
        struct c_type *t = new_type(r, die, C_ENUM);
        t->bytes = t->bytes == 1 || t->bytes == 2 || t->bytes == 8 ? t->bytes : 4;
        add_enumerators(r, die, t);
        return t;
    }
    case DW_TAG_array_type: return has_of ? array_type(r, die, dwarf_type(r, &of)) : &c_void;
    case DW_TAG_pointer_type: return c_pointer_to(has_of ? dwarf_type(r, &of) : &c_void, C_GENERIC, &r->arena);
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type: {
        struct c_type *t = ARENA_NEW(&r->arena, struct c_type);
        *t = *c_pointer_to(has_of ? dwarf_type(r, &of) : &c_void, C_GENERIC, &r->arena);
        t->is_reference = true;
        return t;
    }
    case DW_TAG_subroutine_type: return function_type(r, die);
    case DW_TAG_ptr_to_member_type: return has_of ? member_pointer(r, die, dwarf_type(r, &of)) : &c_void;
    default: return has_of ? dwarf_type(r, &of) : &c_void; /* const, volatile, typedef */
    }
}

static bool is_struct(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

const struct c_type *dwarf_type(struct reader *r, Dwarf_Die *die)
{
    Dwarf_Off *at = ARENA_NEW(&r->arena, Dwarf_Off);
    *at = dwarf_dieoffset(die);
    const struct str key = {(const char *)at, sizeof *at};
    const struct c_type *t = map_get(&r->types, key);
    if (t)
        return t;
    if (r->depth++ > DEEPEST) {
        r->depth--;
        return &c_void;
    }
    t = make_type(r, die);
    map_put(&r->types, key, (void *)t);
    if (t->kind == C_STRUCT && !t->members && is_struct(die) && t->name != c_half.name)
        add_members(r, die, (struct c_type *)t); /* a member may refer to the type itself */
    r->depth--;
    return t;
}
