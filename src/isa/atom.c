/* See atom.h. */
#include "isa/atom.h"
#include "isa/lane_ids.h"

static const struct operation {
    const char *name;
    bool locks;
} operations[ATOM_COUNT] = {
#define LOCKS_LOCKS       true
#define LOCKS__           false
#define ATOM(name, locks) [ATOM_##name] = {#name, LOCKS_##locks},
#include "isa/atoms.def"
};

static const struct cell {
    uint8_t host;
    uint16_t lane;
} cells[CELL_COUNT] = {
#define CELL(op, type, T, A, B, C, host, expr) [CELL_##op##_##type] = {HOST_##host, LANE_atom_##op##_##type},
#define SHARED(op, type, T, A, B, C, host, expr)                                                                       \
    [CELL_##op##_##type##_shared] = {HOST_##host, LANE_atom_##op##_##type##_shared},
#define INTERPRETED(op, type, T, A, B, C, host, expr) [CELL_##op##_##type] = {HOST_##host, LANE_none},
#define WIDE(op, expr)                                [CELL_##op##_b128] = {HOST__, LANE_none},
#include "isa/atoms.def"
};

/* Entries by operation and type. */
static const uint8_t everywhere[ATOM_COUNT][TYPE_COUNT] = {
#define CELL(op, type, T, A, B, C, host, expr)        [ATOM_##op][TYPE_##type] = CELL_##op##_##type,
#define INTERPRETED(op, type, T, A, B, C, host, expr) [ATOM_##op][TYPE_##type] = CELL_##op##_##type,
#define WIDE(op, expr)                                [ATOM_##op][TYPE_b128] = CELL_##op##_b128,
#include "isa/atoms.def"
};

static const uint8_t in_shared[ATOM_COUNT][TYPE_COUNT] = {
#define SHARED(op, type, T, A, B, C, host, expr) [ATOM_##op][TYPE_##type] = CELL_##op##_##type##_shared,
#include "isa/atoms.def"
};

/* Integers whose sign does not matter. */
static const uint8_t untyped[TYPE_COUNT] = {
    [TYPE_u32] = TYPE_b32, [TYPE_s32] = TYPE_b32, [TYPE_u64] = TYPE_b64, [TYPE_s64] = TYPE_b64};

const char *atom_name(enum atom_op op)
{
    return operations[op].name;
}

bool atom_locks(enum atom_op op)
{
    return operations[op].locks;
}

enum atom_cell atom_cell_of(enum atom_op op, enum isa_type type, bool shared)
{
    if (shared && in_shared[op][type])
        return (enum atom_cell)in_shared[op][type];
    if (!everywhere[op][type] && untyped[type])
        type = (enum isa_type)untyped[type];
    return (enum atom_cell)everywhere[op][type];
}

enum atom_host atom_cell_host(enum atom_cell c)
{
    return (enum atom_host)cells[c].host;
}

lane_id atom_cell_lane(enum atom_cell c)
{
    return (lane_id)cells[c].lane;
}
