/* Runs one instruction of the host's with registers of its own and its operand elsewhere. Private to check/host. */
#ifndef HEDDLE_CHECK_HOST_RUN_H
#define HEDDLE_CHECK_HOST_RUN_H

#include "x86/insn.h"

/* Runs it with its operand at `address`, and changes registers, flags and extended state (as XSAVE has it) as it does. False where the
 * system lets nobody write code: host_can_run() has asked. */
bool host_can_run(void);
bool host_run_moved(const struct x86_moved *m, uint64_t address, struct x86_registers *r, uint64_t *flags,
                    void *extended);

#endif
