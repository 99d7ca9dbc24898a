/* What a use of a form needs beyond the form's own entry, and what may not stand together: the
 * entries of needs.def. */
#ifndef HEDDLE_ISA_NEEDS_H
#define HEDDLE_ISA_NEEDS_H

#include "isa/isa.h"

/* Raises inst->need, and sets inst->gone and inst->ban, by the words of the opcode as written. */
void isa_apply_rules(struct isa_inst *inst, struct str op, const struct str *words, unsigned n);

/* The next of the words that `separator` parts; false at the end. */
bool isa_next_word(const char **rest, char separator, struct str *word);

#endif
