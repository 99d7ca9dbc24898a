/* Instructions of the host's processor, where that is an x86-64, as Zydis reads them: which memory
 * they access, how one is run on another operand, whether code looks at what a call has returned.
 *
 * All of it is in libheddle-x86.so, which is loaded when it is first asked for: who only runs
 * programs does not pay for it, and the names of a program's own Zydis and of this one do not meet.
 * Functions read code and registers and nothing else: they may be called from a signal's handler.
 */
#ifndef HEDDLE_X86_INSN_H
#define HEDDLE_X86_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a thread that has stopped before an instruction. */
struct x86_registers {
    /* By their numbers in instructions: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15. */
    uint64_t at[16];
    uint64_t pc;
    uint64_t masks[8]; /* k0 to k7 */
    /* Vectors, as XSAVE lays them out (SDM, volume 1, 13.5); NULL where all are zeros there, or
     * not known. */
    struct {
        const uint8_t *xmm;    /* bytes 0 to 15 of 0 to 15 */
        const uint8_t *ymm;    /* bytes 16 to 31 of these */
        const uint8_t *zmm;    /* bytes 32 to 63 */
        const uint8_t *zmm_16; /* bytes 0 to 63 of 16 to 31 */
    } vectors;
};

/* An instruction that has been read; the library knows how (reader.h). */
struct x86_insn {
    _Alignas(16) unsigned char decoded[1152];
};

/* Memory in one piece that an instruction accesses. */
struct x86_range {
    uint64_t address;
    uint32_t bytes;
    bool writes; /* also where it reads first, or decides whether to write */
};
enum { X86_MOST_RANGES = 32 };

/* The same instruction with its operand in memory at a register's address. */
struct x86_moved {
    uint64_t address; /* where it has its operand */
    uint32_t original_length;
    uint8_t base; /* the number of that register, which the instruction does not use otherwise */
    uint8_t length;
    uint8_t code[16];
};

/* A string instruction with a count: how much it copies or sets. */
struct x86_string {
    uint32_t length; /* of the instruction */
    uint32_t element_bytes;
    bool copies; /* rep movs; else rep stos */
};

enum x86_result_use {
    RESULT_READ,     /* or it cannot be told */
    RESULT_DROPPED,  /* the register is overwritten first, on all ways that lead on */
    RESULT_RETURNED, /* it is still there when the caller returns: look at that one's caller */
};

struct x86_reader {
    /* At most 15 bytes are read, and no more than the instruction has.
     * False where they are none. */
    bool (*read)(struct x86_insn *i, const uint8_t *code);
    /* What the instruction at r->pc accesses, what its masks leave out not among it; how many
     * ranges that is, 0 where it is not known. Nothing of the stack that only push, call and their
     * like find by the stack pointer. */
    unsigned (*ranges)(const struct x86_insn *i, const struct x86_registers *r,
                       struct x86_range ranges[X86_MOST_RANGES]);
    /* False where it has not one operand in memory, that in registers of other kinds than x86/run.h
     * restores, uses the stack pointer, goes elsewhere, or may trap by what it computes. */
    bool (*moved)(const struct x86_insn *i, const struct x86_registers *r, struct x86_moved *m);
    /* False where it is another instruction. */
    bool (*string)(const struct x86_insn *i, struct x86_string *s);
    /* What happens to the 32-bit integer that has just been returned. `code` is what runs next; no
     * instruction at or after `end` is looked at (NULL: all memory there may be read). */
    enum x86_result_use (*result_use)(const uint8_t *code, const uint8_t *end);
};

/* NULL on other CPUs, and where the library is not found. Not from a signal's handler. */
const struct x86_reader *x86_reader(void);

/* library.c, in the library. */
extern const struct x86_reader heddle_x86_reader;

#endif
