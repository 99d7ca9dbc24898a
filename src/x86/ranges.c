/* Which memory an instruction accesses; see insn.h. */
#include <string.h>

#include "x86/reader.h"

struct ranges {
    struct x86_range *at;
    unsigned n;
    bool full; /* there would be more: not known, then */
};

static void add(struct ranges *to, uint64_t address, uint32_t bytes, bool writes)
{
    if (!bytes)
        return;
    if (to->n == X86_MOST_RANGES)
        to->full = true;
    else
        to->at[to->n++] = (struct x86_range){address, bytes, writes};
}

/* ---- vectors ---- */

static unsigned vector_number(ZydisRegister r)
{
    return (unsigned)ZydisRegisterGetId(r);
}

static bool is_vector(const ZydisDecodedOperand *o)
{
    ZydisRegisterClass c = o->type == ZYDIS_OPERAND_TYPE_REGISTER ? ZydisRegisterGetClass(o->reg.value) : 0;
    return c == ZYDIS_REGCLASS_XMM || c == ZYDIS_REGCLASS_YMM || c == ZYDIS_REGCLASS_ZMM;
}

/* Bytes of a vector, which do not lie over the boundaries of the saved parts. */
static uint64_t vector_bits(const struct x86_registers *r, unsigned number, unsigned byte, unsigned bytes)
{
    uint64_t v = 0;
    const uint8_t *part = number > 15 ? r->vectors.zmm_16
                          : byte < 16 ? r->vectors.xmm
                          : byte < 32 ? r->vectors.ymm
                                      : r->vectors.zmm;
    unsigned at = number > 15 ? (number - 16) * 64 + byte
                  : byte < 16 ? number * 16 + byte
                  : byte < 32 ? number * 16 + byte - 16
                              : number * 32 + byte - 32;
    if (part)
        memcpy(&v, part + at, bytes);
    return v;
}

/* The signs of a vector's elements. */
static uint64_t signs(const struct x86_registers *r, ZydisRegister vector, unsigned element_bytes, unsigned n)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < n; i++)
        mask |= (vector_bits(r, vector_number(vector), i * element_bytes, element_bytes) >> (8 * element_bytes - 1) & 1)
                << i;
    return mask;
}

/* ---- masks ---- */

static uint64_t first_bits(unsigned n)
{
    return n < 64 ? (1ull << n) - 1 : ~0ull;
}

/* EVEX: where an instruction with this class of exceptions (SDM, volume 2, 2.8) has a mask, the
 * elements that it leaves out are not accessed. */
static bool spares_masked(ZydisExceptionClass c)
{
    switch (c) {
    case ZYDIS_EXCEPTION_CLASS_E1:
    case ZYDIS_EXCEPTION_CLASS_E2:
    case ZYDIS_EXCEPTION_CLASS_E3:
    case ZYDIS_EXCEPTION_CLASS_E4:
    case ZYDIS_EXCEPTION_CLASS_E5:
    case ZYDIS_EXCEPTION_CLASS_E6: return true;
    default: return false;
    }
}

/* Are elements in memory those that the mask's bits are of? Not where one is broadcast. */
static bool elements_are_lanes(const struct insn *i, const ZydisDecodedOperand *memory)
{
    bool any = false;
    for (unsigned k = 0; k < i->head.operand_count; k++) {
        const ZydisDecodedOperand *o = &i->operands[k];
        if (is_vector(o) && o->element_count == memory->element_count)
            return true;
        any |= is_vector(o);
    }
    return !any;
}

/* Which elements of an operand in memory are accessed. */
static uint64_t lanes_of(const struct insn *i, const ZydisDecodedOperand *memory, const struct x86_registers *r)
{
    uint64_t all = first_bits(memory->element_count);
    switch (i->head.mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
        return signs(r, i->operands[1].reg.value, memory->element_size / 8u, memory->element_count);
    default: break;
    }
    bool masked = i->head.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED && i->head.avx.mask.reg != ZYDIS_REGISTER_K0 &&
                  spares_masked(i->head.meta.exception_class) && elements_are_lanes(i, memory);
    if (!masked)
        return all;
    uint64_t mask = all & r->masks[ZydisRegisterGetId(i->head.avx.mask.reg)];
    bool packed = i->head.meta.category == ZYDIS_CATEGORY_COMPRESS || i->head.meta.category == ZYDIS_CATEGORY_EXPAND;
    return packed ? first_bits((unsigned)__builtin_popcountll(mask)) : mask;
}

/* Neighbours are one range. */
static void add_lanes(struct ranges *to, uint64_t address, unsigned element_bytes, uint64_t lanes, bool writes)
{
    while (lanes) {
        unsigned first = (unsigned)__builtin_ctzll(lanes);
        uint64_t rest = lanes >> first;
        unsigned n = ~rest ? (unsigned)__builtin_ctzll(~rest) : 64;
        add(to, address + first * element_bytes, n * element_bytes, writes);
        lanes = n + first < 64 ? lanes & ~0ull << (n + first) : 0;
    }
}

/* ---- operands ---- */

static unsigned index_bytes(ZydisMnemonic m)
{
    switch (m) {
    case ZYDIS_MNEMONIC_VGATHERQPS:
    case ZYDIS_MNEMONIC_VGATHERQPD:
    case ZYDIS_MNEMONIC_VPGATHERQD:
    case ZYDIS_MNEMONIC_VPGATHERQQ:
    case ZYDIS_MNEMONIC_VSCATTERQPS:
    case ZYDIS_MNEMONIC_VSCATTERQPD:
    case ZYDIS_MNEMONIC_VPSCATTERQD:
    case ZYDIS_MNEMONIC_VPSCATTERQQ: return 8;
    default: return 4;
    }
}

/* Gathers and scatters: an element for each index. The mask is a vector's signs (VEX), or a mask
 * register's. */
static void add_indexed(struct ranges *to, const struct insn *i, const ZydisDecodedOperand *o,
                        const struct x86_registers *r, bool writes)
{
    const ZydisDecodedOperandMem *m = &o->mem;
    const ZydisDecodedOperand *data = &i->operands[writes ? i->head.operand_count_visible - 1 : 0];
    unsigned bytes = index_bytes(i->head.mnemonic), element_bytes = o->element_size / 8u;
    unsigned indexes = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, m->index) / 8u / bytes;
    unsigned n = data->element_count < indexes ? data->element_count : indexes;
    uint64_t mask = i->head.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX
                        ? r->masks[ZydisRegisterGetId(i->head.avx.mask.reg)]
                        : signs(r, i->operands[2].reg.value, element_bytes, n);
    int base = register_number(m->base);
    for (unsigned k = 0; k < n; k++) {
        uint64_t index = vector_bits(r, vector_number(m->index), k * bytes, bytes);
        index = bytes == 4 ? (uint64_t)(int64_t)(int32_t)index : index;
        if (mask >> k & 1)
            add(to, (base == NO_NUMBER ? 0 : r->at[base]) + index * m->scale + (uint64_t)m->disp.value, element_bytes,
                writes);
    }
}

/* bt and its like: the bit's number, in a register, leads on from the operand's address (SDM,
 * volume 2, "BT"). */
static uint64_t bit_offset(const struct insn *i, const struct x86_registers *r)
{
    const ZydisDecodedOperand *bit = &i->operands[1];
    if (i->head.meta.category != ZYDIS_CATEGORY_BITBYTE || bit->type != ZYDIS_OPERAND_TYPE_REGISTER ||
        !is_memory(&i->operands[0]))
        return 0;
    unsigned width = i->operands[0].size;
    uint64_t value = r->at[register_number(bit->reg.value)];
    int64_t number = width == 16 ? (int16_t)value : width == 32 ? (int32_t)value : (int64_t)value;
    return (uint64_t)(number >> __builtin_ctz(width)) * (width / 8u);
}

static bool is_flush(const struct insn *i)
{
    ZydisInstructionCategory c = i->head.meta.category;
    return i->head.mnemonic == ZYDIS_MNEMONIC_CLFLUSH || c == ZYDIS_CATEGORY_CLFLUSHOPT || c == ZYDIS_CATEGORY_CLWB ||
           c == ZYDIS_CATEGORY_CLDEMOTE;
}

/* Of a hidden operand on the stack nothing is told: its pointer changes first, or not. */
static void add_operand(struct ranges *to, const struct insn *i, const ZydisDecodedOperand *o,
                        const struct x86_registers *r)
{
    bool writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    bool hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    uint64_t address;
    if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        add_indexed(to, i, o, r, writes);
    else if ((hidden && o->mem.segment == ZYDIS_REGISTER_SS) || !operand_address(i, o, r, &address))
        return;
    else if (i->head.mnemonic == ZYDIS_MNEMONIC_MASKMOVDQU)
        add_lanes(to, address, 1, signs(r, i->operands[1].reg.value, 1, 16), true);
    else if (is_flush(i))
        add(to, address, 1, false);
    else if (o->element_count > 1 && o->element_count <= 64 && o->element_size % 8 == 0)
        add_lanes(to, address, o->element_size / 8u, lanes_of(i, o, r), writes);
    else
        add(to, address + bit_offset(i, r), o->size / 8u, writes);
}

unsigned insn_ranges(const struct x86_insn *x, const struct x86_registers *r, struct x86_range ranges[X86_MOST_RANGES])
{
    const struct insn *i = (const void *)x;
    struct ranges to = {.at = ranges};
    for (unsigned k = 0; k < i->head.operand_count; k++)
        if (is_memory(&i->operands[k]))
            add_operand(&to, i, &i->operands[k], r);
    return to.full ? 0 : to.n;
}
