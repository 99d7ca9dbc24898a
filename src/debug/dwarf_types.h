/* The types of debugging information, as libdw reads them: for the library of dwarf_reader.c. */
#ifndef HEDDLE_DEBUG_DWARF_TYPES_H
#define HEDDLE_DEBUG_DWARF_TYPES_H

#include <elfutils/libdw.h>

#include "base/map.h"
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

#endif
