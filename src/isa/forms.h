/* Forms of ops.def as they are compared with opcodes. Private to isa/.
 *
 * A form's syntax is compiled, on the first use of its opcode, into elements: a word, a set of
 * words, or a set of types. An opcode text matches a form when its types fill the type elements in
 * order, each modifier fills one element, and every element that is not optional is filled.
 */
#ifndef HEDDLE_ISA_FORMS_H
#define HEDDLE_ISA_FORMS_H

#include "isa/isa.h"
#include "isa/lanes.h"

/* A word of an opcode text: a modifier, a type, a shape, or none of them. */
struct word {
    enum isa_mod mod;
    enum isa_type type;
    struct isa_shape shape;
};

/* SLOT_none where no set of words has the name. */
enum isa_slot isa_slot_by_name(struct str name);
/* What a word of an opcode is; a shape where no table has it. */
struct word isa_look_up(struct str text);
/* LANE_none where no lane function has the name. */
lane_id isa_lane_by_name(struct str name);

static inline bool isa_bit_test(const uint64_t *set, unsigned i)
{
    return set[i / 64] >> (i % 64) & 1;
}

/* One element of a form's syntax. Exactly one of mod, slot, type_mask, is_shape is set. */
struct element {
    enum isa_mod mod;
    enum isa_slot slot;
    uint64_t type_mask;
    enum isa_mod absent; /* the word that absence stands for */
    bool optional, is_shape;
};

enum { MAX_ELEMENTS = 16 };

struct compiled_form {
    const struct isa_form *form;
    uint8_t n, n_operands;
    bool open; /* any further words are accepted */
    struct element element[MAX_ELEMENTS];
    struct isa_operand operand[ISA_MAX_OPERANDS];
};

struct op_forms {
    unsigned n;
    struct compiled_form form[];
};

/* The forms of an operation, compiled. */
const struct op_forms *isa_forms_of(struct isa *isa, isa_op op);

#endif
