/* Which bytes an instruction of the host's accesses: as far as x86-64's common instructions go. */
#ifndef HEDDLE_CHECK_HOST_INSN_H
#define HEDDLE_CHECK_HOST_INSN_H

#include <stdbool.h>
#include <stdint.h>

/* The registers in the order of their numbers in instructions: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15. */
struct host_registers {
    uint64_t at[16], pc, fs, gs;
    uint64_t masks[8]; /* k0 to k7 */
};

struct host_operand {
    uint64_t address; /* of masked vectors, where the mask's first byte is */
    uint32_t bytes;   /* 0: not known */
};

/* The operand in memory of the instruction at registers->pc, one of the general form; false where it has none, or is not
 * known. */
bool host_insn_operand(const uint8_t *code, const struct host_registers *r, struct host_operand *operand);

/* The same instruction with its operand at [rdi] or [rsi]. */
struct host_moved {
    uint64_t address; /* where it has its operand */
    uint32_t original_length;
    uint8_t base; /* the number of rdi or rsi */
    uint8_t length;
    uint8_t code[16];
};
/* False where it is none that host_insn_operand() knows, uses the stack pointer, or divides. */
bool host_insn_moved(const uint8_t *code, const struct host_registers *r, struct host_moved *m);

/* host_run.c: runs it with its operand at `address`, and changes registers, flags and extended state (as XSAVE has it) as it does.
 * False where the system lets nobody write code: host_insn_can_run() has asked. */
bool host_insn_can_run(void);
bool host_insn_run(const struct host_moved *m, uint64_t address, struct host_registers *r, uint64_t *flags,
                   void *extended);

/* A string instruction with a count: how much it copies or sets. */
struct host_string {
    uint32_t length; /* of the instruction */
    uint32_t element_bytes;
    bool copies; /* rep movs; else rep stos */
};
bool host_insn_string(const uint8_t *code, struct host_string *s);

#endif
