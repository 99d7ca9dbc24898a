/* See dwarf_reader.h. */
#include "debug/dwarf_reader.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/qualified.h"
#include "debug/dwarf_types.h"

/* ---- variables ---- */

static void gone(struct dwarf_variable *v, const char *why)
{
    v->kind = DWARF_GONE;
    v->why = why;
}

/* DW_OP_lit0 to DW_OP_consts, DWARF 4 2.5.1.1. */
static bool is_constant(const Dwarf_Op *op, uint64_t *value)
{
    bool is_literal = op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31;
    *value = is_literal ? (uint64_t)(op->atom - DW_OP_lit0) : op->number;
    return is_literal || (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts);
}

/* In DWARF 2, LLVM writes a constant without the DW_OP_stack_value that came with DWARF 4. */
static void read_location(struct dwarf_variable *v, const Dwarf_Op *ops, size_t n)
{
    uint64_t value = 0;
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
    } else if (n && is_constant(&ops[0], &value) && (n == 1 || (n == 2 && ops[1].atom == DW_OP_stack_value))) {
        v->kind = DWARF_VALUE;
        v->address = value;
    } else {
        gone(v, n ? "its value is in several pieces, or computed" : "the compiler keeps no value of it here");
    }
}

/* "heddle_extern_17_s" has the type of dynamic shared memory `s` (cc/dynamic.c). */
static bool is_dynamic(struct dwarf_variable *v)
{
    static const char mark[] = "heddle_extern_";
    const char *name = strncmp(v->name, mark, strlen(mark)) == 0 ? strchr(v->name + strlen(mark), '_') : NULL;
    if (!name || v->type->kind != C_POINTER)
        return false;
    v->name = name + 1;
    v->type = v->type->of;
    v->kind = DWARF_DYNAMIC;
    return true;
}

static bool read_variable(struct reader *r, Dwarf_Die *die, uint64_t at, struct dwarf_variable *v)
{
    Dwarf_Die of;
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    size_t n = 0;
    uint64_t value;
    *v = (struct dwarf_variable){.name = dwarf_name(r, die), .is_parameter = dwarf_tag(die) == DW_TAG_formal_parameter};
    if (!v->name || !dwarf_leads(die, DW_AT_type, &of))
        return false;
    v->type = dwarf_type(r, &of);
    if (is_dynamic(v))
        return true;
    if (dwarf_attr_integrate(die, DW_AT_location, &a)) {
        if (dwarf_getlocation_addr(&a, at, &ops, &n, 1) == 1)
            read_location(v, ops, n);
        else
            gone(v, "the compiler keeps no value of it here");
    } else if (dwarf_constant_value(die, &value)) {
        v->kind = DWARF_VALUE;
        v->address = value;
    } else {
        gone(v, "the compiler has removed it");
    }
    return true;
}

/* Lexical blocks and inlined calls at a place, from the function inwards. The level of each is the
 * number of inlined calls around it. */
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

static bool constant(void *reader, uint64_t at, unsigned level, const char *name, struct dwarf_variable *v)
{
    struct reader *r = reader;
    struct blocks blocks;
    Dwarf_Die die;
    bool found = false;
    find_blocks(r, at, &blocks);
    for (unsigned i = blocks.n; i-- > 0 && !found;)
        if (blocks.level[i] == level && dwarf_tag(&blocks.at[i]) != DW_TAG_lexical_block)
            found = dwarf_function_constant(blocks.at[i], name, &die);
    found = found || dwarf_class_constant(r, str_of(name), &die);
    return found && read_variable(r, &die, at, v) && v->kind == DWARF_VALUE;
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
        dwarf_number(die, DW_AT_call_file, &file);
        dwarf_number(die, DW_AT_call_line, &line);
        const char *name = dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ? dwarf_formstring(&a) : NULL;
        to[n++] = (struct dwarf_call){name ? arena_strdup(&r->arena, name) : dwarf_name(r, die), (uint32_t)file,
                                      (uint32_t)line};
    }
    return n;
}

static const struct c_type *returns(void *reader, uint64_t at)
{
    struct blocks blocks;
    Dwarf_Die of;
    find_blocks(reader, at, &blocks);
    return blocks.n && dwarf_leads(&blocks.at[0], DW_AT_type, &of) ? dwarf_type(reader, &of) : NULL;
}

static bool is_type(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return dwarf_is_class(die) || tag == DW_TAG_enumeration_type || tag == DW_TAG_typedef;
}

bool dwarf_find(struct reader *r, Dwarf_Die *scope, const char *name, bool (*fits)(Dwarf_Die *), unsigned depth,
                Dwarf_Die *to)
{
    Dwarf_Die child;
    for (int more = dwarf_child(scope, &child); more == 0 && depth < DEEPEST; more = dwarf_siblingof(&child, &child)) {
        const char *called = fits(&child) ? dwarf_diename(&child) : NULL;
        if (called && strcmp(name_compact(called, &r->arena), name) == 0) {
            *to = child;
            return true;
        }
        bool may_have = dwarf_is_class(&child) || dwarf_tag(&child) == DW_TAG_subprogram;
        if (may_have && dwarf_find(r, &child, name, fits, depth + 1, to))
            return true;
    }
    return false;
}

/* Is an enumeration called so, or one of a class or namespace that is? nvcc mangles such
 * names: "_ZN3geo2pt4kindE". */
static bool is_enumeration_of(const char *called, const char *of)
{
    char part[128];
    if (!called || strncmp(called, "_ZN", 3) != 0)
        return called && strcmp(called, of) == 0;
    int n = snprintf(part, sizeof part, "%zu%s", strlen(of), of);
    return n < (int)sizeof part && strstr(called, part);
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
        bool is_struct = tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
        const char *space = is_struct ? dwarf_diename(&child) : NULL;
        bool is_meant = of && space && strcmp(space, of) == 0; /* of an enumeration in it */
        if (is_struct || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block)
            t = find_enumerator(r, &child, is_meant ? NULL : of, name, value, depth + 1);
        if (tag != DW_TAG_enumeration_type || (of ? !is_enumeration_of(called, of) : is_class))
            continue;
        const struct c_type *e = dwarf_type(r, &child);
        for (uint32_t i = 0; i < e->n && e->kind == C_ENUM && !t; i++)
            if (e->enumerators[i].name && strcmp(e->enumerators[i].name, name) == 0) {
                *value = e->enumerators[i].value;
                t = e;
            }
    }
    return t;
}

/* Reads units and namespaces, whose variables are visible everywhere, and functions with code. */
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
    const char *compact = name_compact(name, &r->arena);
    Dwarf_Die found;
    for (uint32_t i = 0; !t && i < r->spaces.n; i++)
        t = dwarf_find(r, &r->spaces.at[i], compact, is_type, 0, &found) ? dwarf_type(r, &found) : NULL;
    return t;
}

static const struct c_type *enumerator_named(void *reader, const char *name, int64_t *value)
{
    struct reader *r = reader;
    const struct c_type *t = NULL;
    struct str whole = str_of(name), space = name_last(name_before(whole));
    const char *last = name_last(whole).p; /* the end of `name` */
    const char *of = space.n ? arena_strndup(&r->arena, space.p, space.n) : NULL;
    for (uint32_t i = 0; !t && i < r->spaces.n; i++)
        t = find_enumerator(r, &r->spaces.at[i], of, last, value, 0);
    for (uint32_t i = 0; of && !t && i < r->spaces.n; i++) { /* of a namespace */
        const char *called = dwarf_diename(&r->spaces.at[i]);
        if (called && strcmp(called, of) == 0)
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
    open_reader, close_reader, variables, constant, calls, returns, type_named, enumerator_named};
