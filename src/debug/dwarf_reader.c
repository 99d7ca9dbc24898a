/* See dwarf_reader.h. */
#include "debug/dwarf_reader.h"

#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum { DEEPEST = 64 };

struct reader {
    Elf *elf;
    Dwarf *dwarf;
    struct arena arena;
    struct map types; /* struct c_type by the offset of its entry */
    unsigned depth;
    VEC(Dwarf_Die) spaces;
    VEC(Dwarf_Die) functions;
};

/* ---- attributes ---- */

static bool number_of(Dwarf_Die *die, unsigned name, uint64_t *value)
{
    Dwarf_Attribute a;
    Dwarf_Word v;
    if (!dwarf_attr_integrate(die, name, &a) || dwarf_formudata(&a, &v) != 0)
        return false;
    *value = v;
    return true;
}

static const char *name_of(struct reader *r, Dwarf_Die *die)
{
    Dwarf_Attribute a;
    const char *name = dwarf_attr_integrate(die, DW_AT_name, &a) ? dwarf_formstring(&a) : NULL;
    return name ? arena_strdup(&r->arena, name) : NULL;
}

static bool die_of(Dwarf_Die *die, unsigned name, Dwarf_Die *to)
{
    Dwarf_Attribute a;
    return dwarf_attr_integrate(die, name, &a) && dwarf_formref_die(&a, to);
}

/* Where a member begins: a number, or a location that adds one. */
static uint64_t place_of_member(Dwarf_Die *die)
{
    uint64_t at = 0;
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    size_t n;
    if (number_of(die, DW_AT_data_member_location, &at))
        return at;
    if (dwarf_attr(die, DW_AT_data_member_location, &a) && dwarf_getlocation(&a, &ops, &n) == 0 && n == 1)
        return ops[0].number;
    return 0;
}

/* ---- types ---- */

static const struct c_type *type_of(struct reader *r, Dwarf_Die *die);

static const struct c_type *base_type(struct reader *r, Dwarf_Die *die)
{
    struct c_type *t = ARENA_NEW(&r->arena, struct c_type);
    uint64_t encoding = 0, bytes = 0;
    number_of(die, DW_AT_encoding, &encoding);
    number_of(die, DW_AT_byte_size, &bytes);
    *t = (struct c_type){.kind = C_INT, .bytes = bytes, .name = name_of(r, die), .is_signed = true};
    switch (encoding) {
    case DW_ATE_boolean: t->kind = C_BOOL; break;
    case DW_ATE_float: t->kind = bytes == 2 ? C_HALF : C_FLOAT; break;
    case DW_ATE_signed_char: t->kind = bytes == 1 ? C_CHAR : C_INT; break;
    case DW_ATE_unsigned_char:
        t->kind = bytes == 1 ? C_CHAR : C_UINT;
        t->is_signed = false;
        break;
    case DW_ATE_unsigned: t->kind = C_UINT; break;
    default: break;
    }
    bool odd = bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8;
    if (odd || (t->kind == C_FLOAT && bytes < 4)) /* __int128, and what nobody has heard of: as bytes */
        return c_array_of(&c_uchar, bytes, &r->arena);
    return t;
}

static bool starts(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

/* nvcc gives base classes and what has no name one of its own. */
static const char *source_name(const char *name)
{
    return starts(name, "__b_") || starts(name, "__C") ? NULL : name;
}

/* What a struct holds where that is one scalar, however deep; NULL: it holds something else. */
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
            !die_of(&child, DW_AT_type, &of))
            continue;
        struct c_member m = {.name = tag == DW_TAG_member ? source_name(name_of(r, &child)) : NULL,
                             .type = type_of(r, &of),
                             .at = place_of_member(&child)};
        if (number_of(&child, DW_AT_bit_size, &bits) && bits <= 64) {
            storage = m.type->bytes;
            number_of(&child, DW_AT_byte_size, &storage);
            if (number_of(&child, DW_AT_data_bit_offset, &bit_at)) {
                m.at = bit_at / 8 / (storage ? storage : 1) * (storage ? storage : 1);
                m.bit_at = (uint8_t)(bit_at - 8 * m.at);
            } else if (number_of(&child, DW_AT_bit_offset, &bit_at)) {
                m.bit_at = (uint8_t)(8 * storage - bit_at - bits);
            }
            m.bits = m.bit_at < 64 && m.bit_at + bits <= 64 ? (uint8_t)bits : 0;
            m.bit_at = m.bits ? m.bit_at : 0;
        }
        *VEC_PUSH(&r->arena, &list) = m;
    }
    t->members = list.at;
    t->n = list.n;
    const char *name = t->name;
    const struct c_type *value = starts(name, "atomic<") ? only_scalar(t) : NULL; /* cuda::atomic and std::atomic */
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
        if (dwarf_tag(&child) == DW_TAG_enumerator && dwarf_attr(&child, DW_AT_const_value, &a) &&
            dwarf_formsdata(&a, &v) == 0)
            *VEC_PUSH(&r->arena, &list) = (struct c_enumerator){enumerator_name(r, name_of(r, &child)), v};
    }
    t->enumerators = list.at;
    t->n = list.n;
    t->is_signed = true;
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
        if (!number_of(&child, DW_AT_count, &count) && number_of(&child, DW_AT_upper_bound, &count))
            count++;
        counts[n++] = count;
    }
    while (n)
        of = c_array_of(of, counts[--n], &r->arena);
    return of;
}

static struct c_type *new_type(struct reader *r, Dwarf_Die *die, enum c_kind kind)
{
    struct c_type *t = ARENA_NEW(&r->arena, struct c_type);
    t->kind = kind;
    t->name = source_name(name_of(r, die));
    number_of(die, DW_AT_byte_size, &t->bytes);
    return t;
}

static const struct c_type *struct_type(struct reader *r, Dwarf_Die *die)
{
    const char *name = name_of(r, die);
    if (name && (strcmp(name, "__half") == 0 || strcmp(name, "__nv_bfloat16") == 0))
        return strcmp(name, "__half") == 0 ? &c_half : &c_bfloat;
    return new_type(r, die, C_STRUCT);
}

static const struct c_type *make_type(struct reader *r, Dwarf_Die *die)
{
    Dwarf_Die of;
    bool has_of = die_of(die, DW_AT_type, &of);
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
    case DW_TAG_array_type: return has_of ? array_type(r, die, type_of(r, &of)) : &c_void;
    case DW_TAG_pointer_type: return c_pointer_to(has_of ? type_of(r, &of) : &c_void, C_GENERIC, &r->arena);
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type: {
        struct c_type *t = ARENA_NEW(&r->arena, struct c_type);
        *t = *c_pointer_to(has_of ? type_of(r, &of) : &c_void, C_GENERIC, &r->arena);
        t->is_reference = true;
        return t;
    }
    case DW_TAG_subroutine_type: return new_type(r, die, C_FUNCTION);
    default: return has_of ? type_of(r, &of) : &c_void; /* const, volatile, typedef */
    }
}

static const struct c_type *type_of(struct reader *r, Dwarf_Die *die)
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
    if (t->kind == C_STRUCT && !t->members && dwarf_tag(die) != DW_TAG_base_type && t->name != c_half.name)
        add_members(r, die, (struct c_type *)t); /* which may lead back to it */
    r->depth--;
    return t;
}

/* ---- variables ---- */

static void gone(struct dwarf_variable *v, const char *why)
{
    v->kind = DWARF_GONE;
    v->why = why;
}

static void read_location(struct dwarf_variable *v, const Dwarf_Op *ops, size_t n)
{
    if (n == 1 && ops[0].atom == DW_OP_regx) {
        v->kind = DWARF_REGISTER;
        v->number = ops[0].number;
    } else if (n && n <= 2 && ops[0].atom == DW_OP_addr && (n == 1 || ops[1].atom == DW_OP_plus_uconst)) {
        v->kind = DWARF_MEMORY;
        v->address = ops[0].number;
        v->offset = n == 2 ? (int64_t)ops[1].number : 0;
    } else if (n == 1 && ops[0].atom == DW_OP_bregx) {
        v->kind = DWARF_MEMORY;
        v->number = ops[0].number;
        v->offset = (int64_t)ops[0].number2;
    } else if (n && (ops[0].atom == DW_OP_consts || ops[0].atom == DW_OP_constu) &&
               ops[n - 1].atom == DW_OP_stack_value) {
        v->kind = DWARF_VALUE;
        v->address = ops[0].number;
    } else {
        gone(v, n ? "it is in pieces, or computed" : "the compiler has kept it nowhere here");
    }
}

static bool read_variable(struct reader *r, Dwarf_Die *die, uint64_t at, struct dwarf_variable *v)
{
    Dwarf_Die of;
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    size_t n = 0;
    Dwarf_Word value;
    *v = (struct dwarf_variable){.name = name_of(r, die), .is_parameter = dwarf_tag(die) == DW_TAG_formal_parameter};
    if (!v->name || !die_of(die, DW_AT_type, &of))
        return false;
    v->type = type_of(r, &of);
    if (dwarf_attr_integrate(die, DW_AT_location, &a)) {
        if (dwarf_getlocation_addr(&a, at, &ops, &n, 1) == 1)
            read_location(v, ops, n);
        else
            gone(v, "the compiler has kept it nowhere here");
    } else if (dwarf_attr_integrate(die, DW_AT_const_value, &a) && dwarf_formudata(&a, &value) == 0) {
        v->kind = DWARF_VALUE;
        v->address = value;
    } else {
        gone(v, "the compiler has left it out");
    }
    return true;
}

/* Lexical blocks and inlined calls at a place, from the function in; the level of each: how many
 * inlined calls it is in. */
struct blocks {
    Dwarf_Die at[DEEPEST];
    unsigned level[DEEPEST], n;
};

static void find_blocks(struct reader *r, uint64_t at, struct blocks *to)
{
    unsigned level = 0;
    to->n = 0;
    for (uint32_t i = 0; i < r->functions.n && !to->n; i++)
        if (dwarf_haspc(&r->functions.at[i], at) == 1) {
            to->at[0] = r->functions.at[i];
            to->level[to->n++] = 0;
        }
    for (bool deeper = to->n; deeper && to->n < DEEPEST;) {
        Dwarf_Die child, *in = &to->at[to->n - 1];
        deeper = false;
        for (int more = dwarf_child(in, &child); more == 0 && !deeper; more = dwarf_siblingof(&child, &child)) {
            int tag = dwarf_tag(&child);
            if ((tag != DW_TAG_lexical_block && tag != DW_TAG_inlined_subroutine) || dwarf_haspc(&child, at) != 1)
                continue;
            level += tag == DW_TAG_inlined_subroutine;
            to->at[to->n] = child;
            to->level[to->n++] = level;
            deeper = true;
        }
    }
}

struct collecting {
    struct reader *r;
    uint64_t at;
    struct dwarf_variable *to;
    unsigned n, most;
};

static void collect(struct collecting *c, Dwarf_Die *scope, bool global)
{
    Dwarf_Die child;
    uint32_t parameters = 0;
    for (int more = dwarf_child(scope, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        parameters += tag == DW_TAG_formal_parameter;
        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && c->n < c->most &&
            read_variable(c->r, &child, c->at, &c->to[c->n])) {
            c->to[c->n].parameter = dwarf_tag(scope) == DW_TAG_subprogram ? parameters : 0;
            c->to[c->n++].is_global = global;
        }
    }
}

static unsigned variables(void *reader, uint64_t at, unsigned level, struct dwarf_variable *to, unsigned most)
{
    struct collecting c = {reader, at, to, 0, most};
    struct blocks blocks;
    find_blocks(c.r, at, &blocks);
    unsigned innermost = blocks.n ? blocks.level[blocks.n - 1] : 0;
    for (unsigned i = blocks.n; i-- > 0;)
        if (blocks.level[i] == (level < innermost ? level : innermost))
            collect(&c, &blocks.at[i], false);
    for (uint32_t i = 0; i < c.r->spaces.n; i++)
        collect(&c, &c.r->spaces.at[i], true);
    return c.n;
}

static unsigned calls(void *reader, uint64_t at, struct dwarf_call *to, unsigned most)
{
    struct reader *r = reader;
    struct blocks blocks;
    unsigned n = 0;
    find_blocks(r, at, &blocks);
    for (unsigned i = 0; i < blocks.n && n < most; i++) {
        Dwarf_Attribute a;
        uint64_t file = 0, line = 0;
        Dwarf_Die *die = &blocks.at[i];
        if (dwarf_tag(die) != DW_TAG_inlined_subroutine)
            continue;
        number_of(die, DW_AT_call_file, &file);
        number_of(die, DW_AT_call_line, &line);
        const char *name = dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ? dwarf_formstring(&a) : NULL;
        to[n++] =
            (struct dwarf_call){name ? arena_strdup(&r->arena, name) : name_of(r, die), (uint32_t)file, (uint32_t)line};
    }
    return n;
}

static const struct c_type *find_type(struct reader *r, Dwarf_Die *scope, const char *name, unsigned depth)
{
    Dwarf_Die child;
    for (int more = dwarf_child(scope, &child); more == 0 && depth < DEEPEST; more = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        bool is_type = tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
                       tag == DW_TAG_enumeration_type || tag == DW_TAG_typedef;
        const char *called = is_type ? dwarf_diename(&child) : NULL;
        if (called && strcmp(called, name) == 0)
            return type_of(r, &child);
        const struct c_type *t = is_type || tag == DW_TAG_subprogram ? find_type(r, &child, name, depth + 1) : NULL;
        if (t)
            return t;
    }
    return NULL;
}

static const struct c_type *find_enumerator(struct reader *r, Dwarf_Die *scope, const char *of, const char *name,
                                            int64_t *value, unsigned depth)
{
    Dwarf_Die child;
    const struct c_type *t = NULL;
    for (int more = dwarf_child(scope, &child); more == 0 && !t && depth < DEEPEST;
         more = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        const char *called = tag == DW_TAG_enumeration_type ? dwarf_diename(&child) : NULL;
        Dwarf_Attribute a;
        bool is_class = tag == DW_TAG_enumeration_type && dwarf_attr(&child, DW_AT_enum_class, &a);
        if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_subprogram ||
            tag == DW_TAG_lexical_block)
            t = find_enumerator(r, &child, of, name, value, depth + 1);
        if (tag != DW_TAG_enumeration_type || (of ? !called || strcmp(called, of) != 0 : is_class))
            continue;
        const struct c_type *e = type_of(r, &child);
        for (uint32_t i = 0; i < e->n && e->kind == C_ENUM && !t; i++)
            if (e->enumerators[i].name && strcmp(e->enumerators[i].name, name) == 0) {
                *value = e->enumerators[i].value;
                t = e;
            }
    }
    return t;
}

/* Units and namespaces, which have variables that are visible everywhere, and the functions with
 * code. */
static void add_space(struct reader *r, Dwarf_Die *space, unsigned depth)
{
    Dwarf_Die child;
    *VEC_PUSH(&r->arena, &r->spaces) = *space;
    for (int more = dwarf_child(space, &child); more == 0 && depth < DEEPEST; more = dwarf_siblingof(&child, &child)) {
        Dwarf_Addr low;
        if (dwarf_tag(&child) == DW_TAG_namespace)
            add_space(r, &child, depth + 1);
        else if (dwarf_tag(&child) == DW_TAG_subprogram && dwarf_lowpc(&child, &low) == 0)
            *VEC_PUSH(&r->arena, &r->functions) = child;
    }
}

static void add_spaces(struct reader *r)
{
    Dwarf_Off offset = 0, next;
    size_t header;
    while (dwarf_nextcu(r->dwarf, offset, &next, &header, NULL, NULL, NULL) == 0) {
        Dwarf_Die unit;
        if (dwarf_offdie(r->dwarf, offset + header, &unit))
            add_space(r, &unit, 0);
        offset = next;
    }
}

static const struct c_type *type_named(void *reader, const char *name)
{
    struct reader *r = reader;
    const struct c_type *t = NULL;
    for (uint32_t i = 0; !t && i < r->spaces.n; i++)
        t = find_type(r, &r->spaces.at[i], name, 0);
    return t;
}

static const struct c_type *enumerator_named(void *reader, const char *name, int64_t *value)
{
    struct reader *r = reader;
    const struct c_type *t = NULL;
    const char *last = name, *colons;
    while ((colons = strstr(last, "::")))
        last = colons + 2;
    const char *of = last > name ? arena_strndup(&r->arena, name, (size_t)(last - 2 - name)) : NULL;
    for (const char *q = of; q && (q = strstr(q, "::")); q += 2)
        of = q + 2;
    for (uint32_t i = 0; !t && i < r->spaces.n; i++)
        t = find_enumerator(r, &r->spaces.at[i], of, last, value, 0);
    for (uint32_t i = 0; of && !t && i < r->spaces.n; i++) { /* of a namespace */
        const char *space = dwarf_diename(&r->spaces.at[i]);
        if (space && strcmp(space, of) == 0)
            t = find_enumerator(r, &r->spaces.at[i], NULL, last, value, 0);
    }
    return t;
}

/* ---- opening ---- */

static void close_reader(void *reader)
{
    struct reader *r = reader;
    if (r->dwarf)
        dwarf_end(r->dwarf);
    if (r->elf)
        elf_end(r->elf);
    arena_free(&r->arena);
    free(r);
}

static void *open_reader(const void *image, size_t bytes)
{
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    map_init(&r->types, &r->arena);
    elf_version(EV_CURRENT);
    r->elf = elf_memory((char *)(uintptr_t)image, bytes);
    r->dwarf = r->elf ? dwarf_begin_elf(r->elf, DWARF_C_READ, NULL) : NULL;
    if (r->dwarf) {
        add_spaces(r);
        return r;
    }
    close_reader(r);
    return NULL;
}

__attribute__((visibility("default"))) const struct dwarf_reader_calls heddle_dwarf = {
    open_reader, close_reader, variables, calls, type_named, enumerator_named};
