/* The operations of atom and red, and the meanings that each has by the type of the cell: the
 * entries of atoms.def. */
#ifndef HEDDLE_ISA_ATOM_H
#define HEDDLE_ISA_ATOM_H

#include <stdbool.h>

#include "isa/isa.h"
#include "isa/lanes.h"

enum atom_op {
#define ATOM(name, locks) ATOM_##name,
#include "isa/atoms.def"
    ATOM_COUNT
};

/* What an operation makes of a cell: CELL_add_b32, ... */
enum atom_cell {
    CELL_NONE,
#define CELL(op, type, T, A, B, C, host, expr)        CELL_##op##_##type,
#define SHARED(op, type, T, A, B, C, host, expr)      CELL_##op##_##type##_shared,
#define INTERPRETED(op, type, T, A, B, C, host, expr) CELL_##op##_##type,
#define WIDE(op, expr)                                CELL_##op##_b128,
#include "isa/atoms.def"
    CELL_COUNT
};

/* The CPU's own atomic instructions, by LLVM's names. */
enum atom_host {
    HOST__, /* none: read and exchange */
    HOST_And,
    HOST_Or,
    HOST_Xor,
    HOST_Xchg,
    HOST_Add,
    HOST_Min,
    HOST_Max,
    HOST_UMin,
    HOST_UMax,
};

const char *atom_name(enum atom_op op);
/* May it take a lock? */
bool atom_locks(enum atom_op op);
/* CELL_NONE where the operation knows no such type. */
enum atom_cell atom_cell_of(enum atom_op op, enum isa_type type, bool shared);
enum atom_host atom_cell_host(enum atom_cell c);
/* LANE_none where compiled code leaves it to the interpreter. */
lane_id atom_cell_lane(enum atom_cell c);
/* May what several lanes add to a cell be added up before? */
static inline bool atom_cell_sums(enum atom_cell c)
{
    return atom_cell_host(c) == HOST_Add;
}

#endif
