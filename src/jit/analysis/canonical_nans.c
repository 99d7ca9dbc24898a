/* Finds f32 registers whose only NaN is the canonical one (isa/sem_float.h): they are written,
 * before any read, by arithmetic, by constants other than NaN, or from such registers. So their
 * rows contain no other NaN, whichever engine filled them. */
#include "jit/analysis/access.h"
#include "jit/analysis/lane_library.h"
#include "isa/lane_ids.h"

#include <string.h>

static bool is_canonical(const struct function *fn, const uint8_t *found, ir_ref r)
{
    const struct ir_const *c = &fn->ir->consts.at[ir_ref_index(r)];
    if (ir_ref_kind(r) == REF_REG)
        return found[ir_ref_index(r)];
    return ir_ref_kind(r) == REF_CONST && !c->base && !c->symbol && ((uint32_t)c->lo & INT32_MAX) <= 0x7f800000;
}

static bool writes_canonical(const struct function *fn, const uint8_t *found, const struct ir_insn *i, ir_ref written)
{
    if (i->kind != IR_LANES || i->d != written)
        return false;
    return i->lane == LANE_mov_b32 ? is_canonical(fn, found, i->a) : lane_library_is_canonical(fn->lanes, i->lane);
}

void canonical_nans_find(struct function *fn)
{
    uint8_t *found = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->regs.n);
    const struct ir_live *live = &fn->shapes->live;
    for (uint32_t r = 0; r < fn->ir->regs.n; r++)
        found[r] = fn->ir->regs.at[r].width == 32;
    for (uint32_t n = 0; n < live->n; n++) /* may be read before they are written */
        if (ir_in_set(live_in(fn, 0), n))
            found[live->regs[n]] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < fn->ir->insns.n; k++) {
            ir_ref writes[IR_MAX_REFS];
            for (unsigned w = ir_writes(&fn->ir->insns.at[k], writes); w-- > 0;) {
                bool is_reg = ir_ref_kind(writes[w]) == REF_REG;
                if (!is_reg || !found[ir_ref_index(writes[w])] ||
                    writes_canonical(fn, found, &fn->ir->insns.at[k], writes[w]))
                    continue;
                found[ir_ref_index(writes[w])] = 0;
                changed = true;
            }
        }
    }
    fn->canonical = found;
}
