/* Runs one instruction of the host's with registers of its own and its operand elsewhere. */
#ifndef HEDDLE_X86_RUN_H
#define HEDDLE_X86_RUN_H

#include "x86/insn.h"

/* Runs it with its operand at `address`, and changes registers, flags and extended state (as XSAVE
 * has it) as it does. False where the system lets nobody write code: x86_can_run() has asked. */
bool x86_can_run(void);
bool x86_run_moved(const struct x86_moved *m, uint64_t address, struct x86_registers *r, uint64_t *flags,
                   void *extended);

#endif
