/* Constants of debugging information, which lie nowhere: template arguments and static
 * members. See dwarf_types.h. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/qualified.h"
#include "debug/dwarf_types.h"

bool dwarf_constant_value(Dwarf_Die *die, uint64_t *bits)
{
    Dwarf_Attribute a;
    Dwarf_Word number;
    Dwarf_Block block;
    *bits = 0;
    if (!dwarf_attr_integrate(die, DW_AT_const_value, &a))
        return false;
    if (dwarf_formudata(&a, &number) == 0) {
        *bits = number;
        return true;
    }
    if (dwarf_formblock(&a, &block) != 0 || block.length > sizeof *bits) /* nvcc's of floats */
        return false;
    memcpy(bits, block.data, block.length);
    return true;
}

bool dwarf_is_class(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* A constant that a function or class has by itself. */
static bool own_constant(Dwarf_Die *of, const char *name, Dwarf_Die *to)
{
    for (int more = dwarf_child(of, to); more == 0; more = dwarf_siblingof(to, to)) {
        int tag = dwarf_tag(to);
        bool may_be = tag == DW_TAG_template_value_parameter || tag == DW_TAG_member || tag == DW_TAG_variable;
        const char *called = may_be ? dwarf_diename(to) : NULL;
        Dwarf_Attribute a;
        if (called && strcmp(called, name) == 0 && dwarf_attr(to, DW_AT_const_value, &a))
            return true;
    }
    return false;
}

/* What an entry is an instance, or the definition, of. */
static bool instance_of(Dwarf_Die *die)
{
    Dwarf_Attribute a;
    Dwarf_Die of;
    bool is = dwarf_attr(die, DW_AT_abstract_origin, &a) || dwarf_attr(die, DW_AT_specification, &a);
    if (!is || !dwarf_formref_die(&a, &of))
        return false;
    *die = of;
    return true;
}

bool dwarf_function_constant(Dwarf_Die function, const char *name, Dwarf_Die *to)
{
    Dwarf_Die *scopes;
    unsigned depth = 0;
    do
        if (own_constant(&function, name, to))
            return true;
    while (++depth < DEEPEST && instance_of(&function));
    int n = dwarf_getscopes_die(&function, &scopes);
    bool found = false;
    for (int i = 1; i < n && !found; i++)
        found = dwarf_is_class(&scopes[i]) && own_constant(&scopes[i], name, to);
    if (n > 0)
        free(scopes);
    return found;
}

static bool is_whole_class(Dwarf_Die *die)
{
    Dwarf_Attribute a;
    return dwarf_is_class(die) && !dwarf_attr(die, DW_AT_declaration, &a);
}

bool dwarf_class_constant(struct reader *r, struct str name, Dwarf_Die *to)
{
    struct str of = name_last(name_before(name));
    const char *class = name_compact(arena_strndup(&r->arena, of.p, of.n), &r->arena);
    const char *member = arena_strndup(&r->arena, name_last(name).p, name_last(name).n);
    Dwarf_Die found;
    for (uint32_t i = 0; of.n && i < r->spaces.n; i++)
        if (dwarf_find(r, &r->spaces.at[i], class, is_whole_class, 0, &found) && own_constant(&found, member, to))
            return true;
    return false;
}
