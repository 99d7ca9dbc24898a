/* Relocations, by CPU: what is written where code or data refers to a symbol. Each kind is an
 * entry of a table (System V ABI, AMD64 supplement, 4.4.1; ELF for the Arm 64-bit Architecture,
 * 5.7). All of them can be applied on any host. */
#ifndef HEDDLE_JIT_RELOCATION_H
#define HEDDLE_JIT_RELOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STUB_BYTES = 16, RELOCATION_ERROR_BYTES = 128 };

struct relocation; /* an entry */

/* A reference to a symbol: a place with a given size that will be at the address `at`, and the
 * symbol's address with its addend. */
struct reference {
    uint32_t type;
    uint8_t *place;
    size_t room;
    uint64_t at, value;
};

struct relocation_cpu {
    uint16_t machine; /* of the ELF header */
    const char *name;
    uint8_t jump[8]; /* a stub's code: a jump to the address stored after it */
    const struct relocation *entries;
    size_t n;
};

/* NULL if no code is made for this CPU. */
const struct relocation_cpu *relocation_cpu(uint16_t machine);
/* That of this host, or NULL. */
const struct relocation_cpu *relocation_host(void);

/* Writes the address in the place. False with the reason if the kind is unknown, needs more
 * room, or cannot express the address; then nothing was written. */
bool relocation_apply(const struct relocation_cpu *cpu, const struct reference *x, char error[RELOCATION_ERROR_BYTES]);

#endif
