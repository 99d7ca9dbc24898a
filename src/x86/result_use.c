/* Whether code looks at what a call has returned; see insn.h. What is not known counts as a read,
 * so that nothing is called dropped that may not be.
 */
#include "x86/reader.h"

enum { MAX_STEPS = 200, MAX_DEPTH = 8 };

struct path {
    const uint8_t *end;
    int steps, depth;
};

static bool is_rax(ZydisRegister r)
{
    return register_number(r) == RAX;
}

/* Zero, whatever was there. */
static bool clears(const struct insn *i)
{
    const ZydisDecodedOperand *o = i->operands;
    return (i->head.mnemonic == ZYDIS_MNEMONIC_XOR || i->head.mnemonic == ZYDIS_MNEMONIC_SUB) &&
           o[0].type == ZYDIS_OPERAND_TYPE_REGISTER && o[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           o[0].reg.value == o[1].reg.value;
}

/* A register that may be overwritten may stay, too. */
static bool reads_rax(const struct insn *i)
{
    enum { READS = ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE };
    for (unsigned k = 0; k < i->head.operand_count; k++) {
        const ZydisDecodedOperand *o = &i->operands[k];
        if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && (is_rax(o->mem.base) || is_rax(o->mem.index)))
            return true;
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && is_rax(o->reg.value) && o->actions & READS)
            return !clears(i);
    }
    return i->head.mnemonic == ZYDIS_MNEMONIC_XLAT;
}

/* At least the 32 bits of the result: a byte of it leaves the rest. */
static bool writes_rax(const struct insn *i)
{
    for (unsigned k = 0; k < i->head.operand_count; k++) {
        const ZydisDecodedOperand *o = &i->operands[k];
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && is_rax(o->reg.value) && o->size >= 32 &&
            o->actions & ZYDIS_OPERAND_ACTION_WRITE)
            return true;
    }
    return false;
}

static enum x86_result_use follow(struct path *path, const uint8_t *p);

/* Both ways on: a read on either is one. */
static enum x86_result_use fork_at(struct path *path, const uint8_t *next, const uint8_t *target)
{
    if (path->depth++ == MAX_DEPTH)
        return RESULT_READ;
    enum x86_result_use a = follow(path, next), b = a == RESULT_READ ? a : follow(path, target);
    path->depth--;
    return a == RESULT_READ || b == RESULT_READ ? RESULT_READ : a == RESULT_RETURNED ? a : b;
}

static const uint8_t *target_of(const struct insn *i, const uint8_t *next)
{
    return i->head.raw.imm[0].is_relative ? next + i->head.raw.imm[0].value.s : NULL;
}

/* Where control may go elsewhere: true with what is known then; else *next is what follows. */
static bool transfer(struct path *path, const struct insn *i, const uint8_t **next, enum x86_result_use *use)
{
    const uint8_t *target = target_of(i, *next);
    switch (i->head.meta.category) {
    case ZYDIS_CATEGORY_RET: *use = RESULT_RETURNED; return true;
    case ZYDIS_CATEGORY_CALL: *use = RESULT_DROPPED; return true; /* its own result comes there */
    case ZYDIS_CATEGORY_COND_BR: *use = target ? fork_at(path, *next, target) : RESULT_READ; return true;
    case ZYDIS_CATEGORY_UNCOND_BR:
        *use = RESULT_DROPPED; /* of a function that is called last */
        *next = target;
        return !target;
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET: *use = RESULT_READ; return true;
    /* It never gets there. */
    default: *use = RESULT_DROPPED; return i->head.mnemonic == ZYDIS_MNEMONIC_UD2;
    }
}

static enum x86_result_use follow(struct path *path, const uint8_t *p)
{
    struct insn i;
    enum x86_result_use use;
    while (path->steps++ < MAX_STEPS && (!path->end || p < path->end)) {
        size_t left = path->end ? (size_t)(path->end - p) : ZYDIS_MAX_INSTRUCTION_LENGTH;
        if (!insn_read(&i, p, left) || reads_rax(&i))
            return RESULT_READ;
        p += i.head.length;
        if (transfer(path, &i, &p, &use))
            return use;
        if (writes_rax(&i))
            return RESULT_DROPPED;
    }
    return RESULT_READ;
}

enum x86_result_use insn_result_use(const uint8_t *code, const uint8_t *end)
{
    struct path path = {.end = end};
    return follow(&path, code);
}
