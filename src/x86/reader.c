/* Instructions as Zydis decodes them; see insn.h. "SDM": "Intel 64 and IA-32 Architectures Software
 * Developer's Manual". */
#include "x86/reader.h"

bool insn_read(struct insn *i, const uint8_t *code, size_t bytes)
{
    ZydisDecoder decoder;
    return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
           ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, bytes, &i->head, i->operands));
}

int register_number(ZydisRegister r)
{
    if (r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15) /* what most are */
        return r - ZYDIS_REGISTER_RAX;
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
    return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(whole) : NO_NUMBER;
}

bool is_memory(const ZydisDecodedOperand *o)
{
    return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN;
}

static bool address_part(const struct insn *i, ZydisRegister reg, const struct x86_registers *r, uint64_t *value)
{
    int number = register_number(reg);
    if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
        *value = r->pc + i->head.length;
    else
        *value = number == NO_NUMBER ? 0 : r->at[number];
    return number != NO_NUMBER || reg == ZYDIS_REGISTER_NONE || *value;
}

bool operand_address(const struct insn *i, const ZydisDecodedOperand *o, const struct x86_registers *r,
                     uint64_t *address)
{
    uint64_t base, index;
    const ZydisDecodedOperandMem *m = &o->mem;
    bool of_thread = m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS;
    if (m->type != ZYDIS_MEMOP_TYPE_MEM || of_thread || !address_part(i, m->base, r, &base) ||
        !address_part(i, m->index, r, &index))
        return false;
    *address = base + index * m->scale + (uint64_t)m->disp.value;
    if (i->head.mnemonic == ZYDIS_MNEMONIC_XLAT)
        *address += r->at[RAX] & 0xff;
    if (i->head.address_width == 32)
        *address = (uint32_t)*address;
    return true;
}
