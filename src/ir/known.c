/* Per-thread constant propagation: registers that follow from nothing but a thread's number; see
 * shape.h. The lane functions themselves compute them, warp by warp, once for the block's shape.
 */
#include "ir/shape.h"

enum { ROW_ALIGN = 64, ROW_ROOM = WARP_LANES * 8, MAX_WORK = 1 << 16 };

struct evaluator {
    const struct ir_func *f;
    const uint32_t *block;
    struct ir_known *known;
    uint8_t *room[3]; /* rows of operands that are no registers */
};

static uint8_t *new_rows(struct arena *arena, uint32_t n)
{
    uintptr_t at = (uintptr_t)arena_alloc(arena, (size_t)n * ROW_ROOM + ROW_ALIGN);
    return (uint8_t *)((at + ROW_ALIGN - 1) & ~(uintptr_t)(ROW_ALIGN - 1));
}

static void set_lane(uint8_t *row, unsigned width, unsigned lane, uint64_t v)
{
    if (width == 1)
        ((uint32_t *)row)[0] = (((uint32_t *)row)[0] & ~(1u << lane)) | (uint32_t)(v & 1) << lane;
    else
        memcpy(row + lane * width / 8, &v, width / 8); /* the host is little-endian */
}

static bool is_known_sreg(uint32_t i)
{
    enum isa_sreg s = (enum isa_sreg)(i / 4);
    return i < IR_ENVREG && i % 4 < 3 && (s == SREG_tid || s == SREG_ntid || s == SREG_laneid);
}

static bool is_known(const struct evaluator *x, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    switch (ir_ref_kind(r)) {
    case REF_NONE: return true;
    case REF_REG: return x->known->rows[i] != NULL;
    case REF_CONST: return x->f->consts.at[i].base == BASE_NONE && x->f->consts.at[i].width <= 64;
    default: return is_known_sreg(i);
    }
}

/* The row of an operand that is known, in a warp. */
static const uint8_t *row_of(const struct evaluator *x, ir_ref r, uint32_t warp, uint8_t *room)
{
    uint32_t i = ir_ref_index(r);
    if (ir_ref_kind(r) == REF_REG)
        return x->known->rows[i] + (size_t)warp * ROW_ROOM;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (ir_ref_kind(r) == REF_CONST)
            set_lane(room, x->f->consts.at[i].width, l, x->f->consts.at[i].lo);
        else if (ir_ref_kind(r) == REF_SREG)
            set_lane(room, 32, l,
                     i / 4 == SREG_laneid ? l
                     : i / 4 == SREG_ntid ? x->block[i % 4]
                                          : ir_thread_number(x->block, warp * WARP_LANES + l, i % 4));
    }
    return room;
}

static void evaluate(struct evaluator *x, const struct ir_insn *i, lane_fn *fn, uint8_t *rows)
{
    for (uint32_t w = 0; w < x->known->n_warps; w++) {
        const uint8_t *a = row_of(x, i->a, w, x->room[0]), *b = row_of(x, i->b, w, x->room[1]),
                      *c = row_of(x, i->c, w, x->room[2]);
        fn(rows + (size_t)w * ROW_ROOM, NULL, a, b, c, i->imm);
    }
}

static bool can_know(const struct evaluator *x, const struct ir_insn *i, const struct ir_defs *defs)
{
    uint32_t d = ir_ref_index(i->d);
    return i->kind == IR_LANES && ir_is_only_def(defs, i->d, i) && x->f->regs.at[d].width <= 64 &&
           lane_info(i->lane)->e == CARRY_NONE && !x->known->rows[d] && is_known(x, i->a) && is_known(x, i->b) &&
           is_known(x, i->c);
}

void ir_find_known(const struct ir_func *f, const struct ir_shapes *s, struct arena *arena, struct ir_known *known)
{
    uint32_t threads = s->block[0] * s->block[1] * s->block[2], work = 0;
    lane_fn *const *lanes = lane_table(NULL, NULL);
    *known = (struct ir_known){.n_threads = threads, .n_warps = (threads + WARP_LANES - 1) / WARP_LANES};
    known->rows = ARENA_ARRAY(arena, uint8_t *, f->regs.n);
    struct evaluator x = {.f = f, .block = s->block, .known = known};
    for (unsigned k = 0; k < 3; k++)
        x.room[k] = new_rows(arena, 1);
    for (uint32_t b = 0; b < f->n_ordered; b++) {
        const struct ir_block *code = &f->blocks.at[f->order[b]];
        for (uint32_t k = 0; k < code->n && work < MAX_WORK; k++) {
            const struct ir_insn *i = &f->insns.at[code->first + k];
            if (!can_know(&x, i, s->defs))
                continue;
            uint8_t *rows = new_rows(arena, known->n_warps);
            evaluate(&x, i, lanes[i->lane], rows);
            known->rows[ir_ref_index(i->d)] = rows;
            work += known->n_warps;
        }
    }
}

uint64_t ir_known_value(const struct ir_func *f, const struct ir_known *known, uint32_t reg, uint32_t thread)
{
    const uint8_t *row = known->rows[reg] + (size_t)(thread / WARP_LANES) * ROW_ROOM;
    unsigned width = f->regs.at[reg].width, lane = thread % WARP_LANES;
    uint64_t v = 0;
    if (width == 1)
        return *(const uint32_t *)row >> lane & 1;
    memcpy(&v, row + lane * width / 8, width / 8);
    return v;
}
