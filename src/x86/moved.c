/* An instruction with another operand; see insn.h. "Intel 64 and IA-32 Architectures Software
 * Developer's Manual", volume 2, 2.1 to 2.7: what follows the ModRM byte's register says where the
 * operand is, as do bits X and B of REX, VEX and EVEX.
 */
#include <string.h>

#include "x86/reader.h"

/* Registers whose values whoever runs it restores and keeps; a stack pointer of its own is none. */
static bool is_restored(ZydisRegister r)
{
    switch (ZydisRegisterGetClass(r)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64: return register_number(r) != RSP;
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
    case ZYDIS_REGCLASS_MASK:
    case ZYDIS_REGCLASS_FLAGS: return true;
    default: return r == ZYDIS_REGISTER_MXCSR;
    }
}

/* The only operand in memory, if its address is that of the ModRM byte; NULL where the instruction
 * cannot be moved. */
static const ZydisDecodedOperand *movable_operand(const struct insn *i)
{
    const ZydisDecodedOperand *memory = NULL;
    for (unsigned k = 0; k < i->head.operand_count; k++) {
        const ZydisDecodedOperand *o = &i->operands[k];
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && !is_restored(o->reg.value))
            return NULL;
        if (!is_memory(o))
            continue;
        if (memory || o->encoding != ZYDIS_OPERAND_ENCODING_MODRM_RM || o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
            !o->size || o->size > 512)
            return NULL;
        memory = o;
    }
    return memory;
}

/* What it computes may be an exception of its own, or it is about state that is not restored. */
static bool stays(const struct insn *i)
{
    ZydisISAExt e = i->head.meta.isa_ext;
    return i->head.mnemonic == ZYDIS_MNEMONIC_DIV || i->head.mnemonic == ZYDIS_MNEMONIC_IDIV ||
           i->head.address_width != 64 || e == ZYDIS_ISA_EXT_X87 || e == ZYDIS_ISA_EXT_MMX ||
           e == ZYDIS_ISA_EXT_AMD3DNOW || e == ZYDIS_ISA_EXT_AMX_TILE || e == ZYDIS_ISA_EXT_CET ||
           e == ZYDIS_ISA_EXT_XSAVE || i->head.meta.category == ZYDIS_CATEGORY_SYSTEM;
}

/* One whose number is its code without REX, and with no displacement. */
static uint8_t unused_register(const struct insn *i)
{
    static const uint8_t candidates[] = {RDI, RSI, RBX, RCX, RDX, RAX};
    unsigned used = 0;
    for (unsigned k = 0; k < i->head.operand_count; k++)
        if (i->operands[k].type == ZYDIS_OPERAND_TYPE_REGISTER) {
            int number = register_number(i->operands[k].reg.value);
            used |= number == NO_NUMBER ? 0 : 1u << number;
        }
    for (unsigned k = 0; k < sizeof candidates; k++)
        if (!(used >> candidates[k] & 1))
            return candidates[k];
    return RSP; /* none */
}

/* Bits X and B, which are the operand's, as of [rdi]. */
static void clear_extensions(const ZydisDecodedInstruction *h, uint8_t *code)
{
    if (h->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
        code[h->raw.evex.offset + 1] |= 0x60;
    else if (h->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP)
        code[h->raw.xop.offset + 1] |= 0x60;
    else if (h->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && h->raw.vex.size == 3)
        code[h->raw.vex.offset + 1] |= 0x60;
    else if (h->attributes & ZYDIS_ATTRIB_HAS_REX)
        code[h->raw.rex.offset] &= (uint8_t)~3;
}

bool insn_moved(const struct x86_insn *x, const struct x86_registers *r, struct x86_moved *m)
{
    const struct insn *i = (const void *)x;
    const uint8_t *code = (const uint8_t *)(uintptr_t)r->pc;
    if (stays(i))
        return false;
    const ZydisDecodedOperand *memory = movable_operand(i);
    *m = (struct x86_moved){.original_length = i->head.length, .base = unused_register(i)};
    if (!memory || m->base == RSP || !operand_address(i, memory, r, &m->address))
        return false;
    unsigned modrm = i->head.raw.modrm.offset,
             rest = modrm + 1 + (i->head.raw.modrm.rm == 4) + i->head.raw.disp.size / 8u;
    memcpy(m->code, code, modrm);
    clear_extensions(&i->head, m->code);
    m->code[modrm] = (uint8_t)((code[modrm] & 0x38) | m->base);
    memcpy(m->code + modrm + 1, code + rest, i->head.length - rest);
    m->length = (uint8_t)(modrm + 1 + i->head.length - rest);
    return true;
}
