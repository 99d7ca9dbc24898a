/* Shared by the printer and the reader of functions: words, and the order of an instruction's
 * operands; see text.h. */
#include "ir/text.h"
#include "isa/isa.h"
#include "isa/needs.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

/* ---- words ---- */

static const struct ir_operation operations[] = {
#define OPERATION(kind, mode, text, operands, words) {kind, mode, text, operands, words},
#include "ir/operations.def"
#undef OPERATION
};

static const char *const bases[] = {
    [BASE_NONE] = "",
    [BASE_SYMBOL] = "symbol",
    [BASE_SHARED_WINDOW] = "shared_window",
    [BASE_LOCAL_WINDOW] = "local_window",
    [BASE_SHARED_WINDOW_SIZE] = "shared_window_size",
    [BASE_CLUSTER_WINDOW_SIZE] = "cluster_window_size",
    [BASE_LOCAL_WINDOW_SIZE] = "local_window_size",
    [BASE_CONST_START] = "const_start",
    [BASE_CONST_SIZE] = "const_size",
};

static const char *const orders[] = {
    [ORDER_WEAK] = "weak",       [ORDER_RELAXED] = "relaxed", [ORDER_ACQUIRE] = "acquire",
    [ORDER_RELEASE] = "release", [ORDER_ACQ_REL] = "acq_rel", [ORDER_SC] = "sc",
};

struct str ir_next_part(struct str *word)
{
    const char *dot = memchr(word->p, '.', word->n);
    struct str part = {word->p, dot ? (size_t)(dot - word->p) : word->n};
    size_t passed = part.n + (dot != NULL);
    *word = (struct str){word->p + passed, word->n - passed};
    return part;
}

const struct ir_operation *ir_operation(size_t i)
{
    return i < N(operations) ? &operations[i] : NULL;
}

/* Are all these words among those of an opcode, which dots part? */
static bool has_words(struct str opcode, const char *words)
{
    bool has_all = true;
    for (struct str word; has_all && isa_next_word(&words, ' ', &word);) {
        has_all = false;
        for (struct str rest = opcode; rest.n && !has_all;)
            has_all = str_eq(ir_next_part(&rest), word);
    }
    return has_all;
}

const struct ir_operation *ir_operation_of(enum ir_kind kind, const struct isa_inst *inst)
{
    for (size_t i = 0; i < N(operations); i++)
        if (operations[i].kind == kind && has_words(inst->text, operations[i].words))
            return &operations[i];
    return NULL;
}

uint8_t ir_mode_of(enum ir_kind kind, const struct isa_inst *inst)
{
    return ir_operation_of(kind, inst)->mode; /* each has one: tests/unit/test_forms.c */
}

const char *ir_base_text(size_t base)
{
    return base < N(bases) ? bases[base] : NULL;
}

const char *ir_order_text(size_t order)
{
    return order < N(orders) ? orders[order] : NULL;
}

const char *ir_sreg_text(uint32_t sreg, struct arena *arena)
{
    if (sreg >= IR_ENVREG)
        return sreg == IR_PARAM_BASE     ? "parameters"
               : sreg == IR_SHARED_START ? "shared_start"
                                         : arena_printf(arena, "envreg%u", sreg - IR_ENVREG);
    const struct isa_sreg_info *info = isa_sreg_info((enum isa_sreg)(sreg / 4));
    return info->components > 1 ? arena_printf(arena, "%s.%c", info->name, "xyzw"[sreg % 4]) : info->name;
}

/* ---- instructions ---- */

static unsigned lane_operands(struct ir_insn *i, struct ir_text_operand out[])
{
    const struct lane_info *info = lane_info(i->lane);
    const uint8_t widths[] = {info->a, info->b, info->c, info->e & (CARRY_IN | CARRY_FOURTH) ? 32 : 0};
    ir_ref *const refs[] = {&i->a, &i->b, &i->c, &i->e};
    unsigned n = 0;
    for (unsigned k = 0; k < N(refs); k++)
        if (widths[k])
            out[n++] = (struct ir_text_operand){'a', widths[k], false, refs[k]};
    out[n++] = (struct ir_text_operand){'I', 0, true, NULL};
    return n;
}

static unsigned element_width(const struct ir_insn *i)
{
    unsigned bytes = i->access->mem.bytes;
    return i->kind == IR_ASYNC ? 64 : bytes > 2 ? 8 * bytes : 16;
}

/* The references that one letter stands for, side by side; NULL where it is no reference. */
static ir_ref *references(struct ir_insn *i, char what, unsigned *n, unsigned *width)
{
    struct ir_access *a = i->access;
    bool is_async = i->kind == IR_ASYNC;
    *n = 1;
    *width = 32;
    switch (what) {
    case 'a': return &i->a;
    case 'b': return &i->b;
    case 'c': return &i->c;
    case 'f': return &i->f;
    case 'q': *n = i->matrix->n_reads; return i->matrix->reads;
    case 'Q': *n = i->texture->n_reads; return i->texture->reads;
    case 'S': *width = 64; return &a->operands[ASYNC_SOURCE];
    case 'v':
        *n = is_async ? 8 : a->mem.atom == ATOM_cas ? 2 : a->mem.n;
        *width = element_width(i);
        return a->operands;
    case 'r':
        *n = is_async ? 8 : a->mem.n;
        *width = element_width(i);
        return a->regs;
    default: return NULL;
    }
}

unsigned ir_text_operands(struct ir_insn *i, const char *form, struct ir_text_operand out[IR_MAX_REFS])
{
    unsigned n = 0, count, width;
    if (i->kind == IR_LANES)
        return lane_operands(i, out);
    for (; *form; form++) {
        ir_ref *refs = references(i, *form, &count, &width);
        bool is_optional = refs && (strchr("abcfqQ", *form) || i->kind == IR_ASYNC);
        for (unsigned k = 0; k < count; k++)
            out[n++] = (struct ir_text_operand){*form, (uint8_t)width, is_optional, refs ? &refs[k] : NULL};
    }
    return n;
}

unsigned ir_text_results(struct ir_insn *i, ir_ref *out[FRAGMENT_MAX_REGS])
{
    bool by_element = i->kind == IR_LD || i->kind == IR_ATOM, is_matrix = i->kind == IR_MATRIX;
    bool is_texture = i->kind == IR_TEXTURE;
    unsigned n = is_matrix    ? i->matrix->n_writes
                 : is_texture ? i->texture->n_writes
                 : by_element ? i->access->mem.n
                              : 0;
    for (unsigned k = 0; k < n; k++)
        out[k] = is_matrix ? &i->matrix->writes[k] : is_texture ? &i->texture->writes[k] : &i->access->regs[k];
    if (by_element || is_matrix || is_texture || i->kind == IR_ST || i->kind >= IR_BRA)
        return n;
    out[0] = &i->d;
    out[1] = &i->e;
    return i->kind != IR_LANES || lane_info(i->lane)->e & CARRY_OUT ? 2 : 1;
}
