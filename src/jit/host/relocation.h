/* References of relocatable objects, by CPU: what is written where code or data names a symbol.
 * Each kind is an entry of a table (System V ABI, AMD64 supplement, 4.4.1; ELF for the Arm 64-bit
 * Architecture, 5.7). Any of them can be filled in on any host.
 */
#ifndef HEDDLE_JIT_RELOCATION_H
#define HEDDLE_JIT_RELOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STUB_BYTES = 16, RELOCATION_ERROR_BYTES = 128 };

struct relocation; /* an entry */

/* Where code or data names a symbol: a place, which has so much room and will be at the address
 * `at`, and the symbol's address with its addend. */
struct reference {
    uint32_t type;
    uint8_t *place;
    size_t room;
    uint64_t at, value;
};

struct relocation_cpu {
    uint16_t machine; /* of the ELF header */
    const char *name;
    uint8_t jump[8]; /* to the address that stands behind it: a stub's code */
    const struct relocation *entries;
    size_t n;
};

/* NULL where the CPU is none of those that code is made for. */
const struct relocation_cpu *relocation_cpu(uint16_t machine);
/* That of this host, or NULL. */
const struct relocation_cpu *relocation_host(void);

/* Fills in what stands there of the address. False with the reason where the kind is not known,
 * needs more room, or cannot say that address; nothing has been written then. */
bool relocation_apply(const struct relocation_cpu *cpu, const struct reference *x, char error[RELOCATION_ERROR_BYTES]);

#endif
