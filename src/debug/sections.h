/* The debugging sections of a PTX text (PTX ISA 11.5.1), laid out as an ELF file that holds nothing
 * else: what labels and variables they name become numbers.
 *
 * A place in the code is the number of its function, from 1 on, times CODE_OF_FUNCTION, and the
 * number of the statement in its body. A variable is VARIABLE and its number in `variables`. */
#ifndef HEDDLE_DEBUG_SECTIONS_H
#define HEDDLE_DEBUG_SECTIONS_H

#include "base/map.h"
#include "ptx/module.h"

#define CODE_OF_FUNCTION (1ull << 24)
#define VARIABLE         (1ull << 62)

struct sections {
    const struct ptx_module *module;
    struct str image;   /* empty: there are none, or not such as compilers write */
    struct map places;  /* uint64_t, by the address of an instruction */
    struct map labels;  /* uint64_t: places in the code, and in their section */
    struct str strings; /* .debug_str */
    VEC(struct str) variables;
    VEC(const struct ptx_func *) functions;
};

void sections_read(struct sections *s, const struct ptx_module *m, struct arena *arena);
/* The string at a label of .debug_str, and so many bytes on; NULL: there is none. */
const char *sections_string(const struct sections *s, struct str label, int64_t on);
/* The place of an instruction; 0: there is none. */
uint64_t sections_place(const struct sections *s, const struct ptx_insn *i);

#endif
