/* heddle ptx --isa: the instruction set as text, JSON, and docs/ISA.md. */
#ifndef HEDDLE_CLI_ISA_TABLE_H
#define HEDDLE_CLI_ISA_TABLE_H

#include "cli/cli.h"

/* Shows the opcodes and %registers that the session's words name, or
 * all. Returns the exit status. */
int isa_table(struct session *s);

#endif
