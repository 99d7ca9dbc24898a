/* The types of debugging information, as libdw reads them: for the library of dwarf_reader.c. */
#ifndef HEDDLE_DEBUG_DWARF_TYPES_H
#define HEDDLE_DEBUG_DWARF_TYPES_H

#include <elfutils/libdw.h>

#include "base/map.h"
#include "base/str.h"
#include "debug/type.h"

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

/* An attribute of an entry, or of what it is an instance of: a number; the name; another entry. */
bool dwarf_number(Dwarf_Die *die, unsigned name, uint64_t *value);
const char *dwarf_name(struct reader *r, Dwarf_Die *die);
bool dwarf_leads(Dwarf_Die *die, unsigned name, Dwarf_Die *to);

const struct c_type *dwarf_type(struct reader *r, Dwarf_Die *die);

/* ---- dwarf_reader.c ---- */

/* The first entry that fits and has the compact name, in a scope, its classes and its functions. */
bool dwarf_find(struct reader *r, Dwarf_Die *scope, const char *name, bool (*fits)(Dwarf_Die *), unsigned depth,
                Dwarf_Die *to);

/* ---- dwarf_constants.c ---- */

bool dwarf_is_class(Dwarf_Die *die);

/* The bytes of an entry's constant value, of at most 8. */
bool dwarf_constant_value(Dwarf_Die *die, uint64_t *bits);
/* A constant that a function sees: a template argument of its own or of its class,
 * or a static member of that. */
bool dwarf_function_constant(Dwarf_Die function, const char *name, Dwarf_Die *to);
/* A static member that is named with its class, "S::N". */
bool dwarf_class_constant(struct reader *r, struct str name, Dwarf_Die *to);

#endif
