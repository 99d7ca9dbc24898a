/* What the files of libheddle-x86.so share. Private to x86/. */
#ifndef HEDDLE_X86_READER_H
#define HEDDLE_X86_READER_H

#include <Zydis/Zydis.h>

#include "x86/insn.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, NO_NUMBER = -1 };

struct insn {
    ZydisDecodedInstruction head;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

_Static_assert(sizeof(struct insn) <= sizeof(struct x86_insn), "the one is in the other");

/* Of at most `bytes` bytes at `code`, of which no more are read than the instruction has; false
 * where they are none. */
bool insn_read(struct insn *i, const uint8_t *code, size_t bytes);

/* Of a general register or a part of it; else NO_NUMBER. */
int register_number(ZydisRegister r);

/* Memory that is accessed, not an address that is computed. */
bool is_memory(const ZydisDecodedOperand *o);

/* Where an operand lies whose address general registers say; false where they do not. */
bool operand_address(const struct insn *i, const ZydisDecodedOperand *o, const struct x86_registers *r,
                     uint64_t *address);

unsigned insn_ranges(const struct x86_insn *x, const struct x86_registers *r, struct x86_range ranges[X86_MOST_RANGES]);
bool insn_moved(const struct x86_insn *x, const struct x86_registers *r, struct x86_moved *m);
enum x86_result_use insn_result_use(const uint8_t *code, const uint8_t *end);

#endif
