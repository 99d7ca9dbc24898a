/* What libheddle-x86.so gives; see insn.h. */
#include "x86/reader.h"

static bool read_any(struct x86_insn *x, const uint8_t *code)
{
    return insn_read((struct insn *)(void *)x, code, ZYDIS_MAX_INSTRUCTION_LENGTH);
}

static bool read_string(const struct x86_insn *x, struct x86_string *s)
{
    const struct insn *i = (const void *)x;
    if (i->head.meta.category != ZYDIS_CATEGORY_STRINGOP || !(i->head.attributes & ZYDIS_ATTRIB_HAS_REP) ||
        i->head.address_width != 64)
        return false;
    const ZydisDecodedOperand *to = &i->operands[0], *from = &i->operands[1];
    bool copies = is_memory(to) && is_memory(from) && to->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    bool sets = is_memory(to) && to->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && !is_memory(from);
    bool of_thread = copies && (from->mem.segment == ZYDIS_REGISTER_FS || from->mem.segment == ZYDIS_REGISTER_GS);
    *s = (struct x86_string){i->head.length, to->size / 8u, copies};
    return (copies || sets) && !of_thread;
}

__attribute__((visibility("default"))) const struct x86_reader heddle_x86_reader = {
    .read = read_any, .ranges = insn_ranges, .moved = insn_moved, .string = read_string, .result_use = insn_result_use};
