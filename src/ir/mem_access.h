/* What an access to memory is, apart from where its operands stand: the same record in the IR, for
 * the interpreter (exec/code.h) and for compiled code. */
#ifndef HEDDLE_IR_MEM_ACCESS_H
#define HEDDLE_IR_MEM_ACCESS_H

#include "isa/atom.h"
#include "isa/lanes.h"
#include "ptx/module.h"

/* The semantics of PTX's qualifiers (PTX ISA 8.4). */
enum ir_order { ORDER_WEAK, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL, ORDER_SC };

struct mem_access {
    /* SPACE_GENERIC, GLOBAL, CONST, SHARED, LOCAL; PARAM: the kernel's parameters. */
    enum ptx_space space;
    bool frame;                 /* the address counts from the activation's frame, in .local */
    uint8_t bytes;              /* of one element: 1, 2, 4, 8, 16 */
    uint8_t n;                  /* elements: 1, 2, 4, 8 */
    bool sign;                  /* a load: extend by the sign to the register's width */
    bool is_volatile, is_const; /* is_const: .nc, ldu: read-only for the kernel */
    uint8_t order;              /* enum ir_order */
    uint8_t scope;              /* enum isa_mod: MOD_cta .. MOD_sys, MOD_none for weak */
    /* Enum atom_op, of an atomic operation, or an asynchronous one that reduces. */
    uint8_t atom;
    uint8_t type; /* enum isa_type of an element of these; TYPE_none: it does not */
};

/* Volatile, relaxed or ordered (PTX ISA 8.4, strong operations). */
static inline bool mem_access_is_strong(const struct mem_access *m)
{
    return m->order != ORDER_WEAK || m->is_volatile;
}
/* May it be at global memory? By its state space; a generic address may be any but that of a
 * parameter. */
static inline bool mem_access_may_be_global(const struct mem_access *m)
{
    return m->space == SPACE_GLOBAL || m->space == SPACE_GENERIC;
}
/* What an atomic operation makes of a cell, in shared memory or elsewhere. */
static inline enum atom_cell mem_access_cell(const struct mem_access *m, bool shared)
{
    return atom_cell_of((enum atom_op)m->atom, (enum isa_type)m->type, shared);
}
/* Is what a lane has one access, of more than a register? PTX leaves open whether others see a
 * strong vector as one (PTX ISA 8.2.2); GPUs keep the up to 16 bytes together, and CUB's scans by
 * key count on it: a sum and the word that says that it is there are one vector. */
static inline bool mem_access_is_whole(const struct mem_access *m)
{
    return mem_access_is_strong(m) && (m->n > 1 || m->bytes == 16);
}
/* Of lanes that store at one place with one instruction, CUDA leaves open which one's value stays
 * (Programming Guide, SIMT architecture). They go as on an H200 (docs/H200.md): as many at a time
 * as have 128 bytes, the lowest of these last. So the n-th to go is lane n ^
 * mem_access_store_order(). */
static inline unsigned mem_access_store_order(const struct mem_access *m)
{
    unsigned together = 128u / (m->bytes * m->n);
    return (together < WARP_LANES ? together : WARP_LANES) - 1;
}

#endif
