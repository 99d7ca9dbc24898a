/* A fixed point over all instructions, forwards; see parameters.h. */
#include "ir/parameters.h"

uint64_t ir_parameters_of(const uint64_t *sets, const struct ir_func *f, ir_ref r)
{
    if (ir_ref_kind(r) != REF_REG)
        return 0;
    uint32_t index = ir_ref_index(r);
    return f->regs.at[index].width == 64 ? sets[index] : 0;
}

static uint64_t of_load(const struct ir_access *x, unsigned k)
{
    int64_t at = x->disp + 8 * (int64_t)k;
    bool known = x->mem.space == SPACE_PARAM && x->mem.bytes == 8 && at >= 0 && at % 8 == 0 && at / 8 < IR_PARAMETERS_MOST;
    return known ? 1ull << (at / 8) : IR_ELSEWHERE;
}

static uint64_t of_lanes(const struct ir_func *f, const struct ir_shapes *s, const uint64_t *sets,
                         const struct ir_insn *i)
{
    struct ir_mad m;
    if (!ir_mad_of(f, s, i, &m))
        m = (struct ir_mad){.a = i->a, .b = i->b, .c = i->c};
    else if (ir_mad_multiplies(&m))
        m.a = m.b = REF_NONE;
    return ir_parameters_of(sets, f, m.a) | ir_parameters_of(sets, f, m.b) | ir_parameters_of(sets, f, m.c);
}

static uint64_t of_result(const struct ir_func *f, const struct ir_shapes *s, const uint64_t *sets,
                          const struct ir_insn *i, ir_ref result)
{
    uint64_t of = i->kind == IR_LANES ? of_lanes(f, s, sets, i) : IR_ELSEWHERE;
    for (unsigned l = 0; i->kind == IR_LD && l < i->access->mem.n; l++)
        if (i->access->regs[l] == result)
            of = of_load(i->access, l);
    return of;
}

/* One pass over the function in the order of its text, which a loop's registers go round. */
static bool pass(const struct ir_func *f, const struct ir_shapes *s, uint64_t *sets)
{
    ir_ref results[IR_MAX_REFS];
    bool changed = false;
    for (uint32_t k = 0; k < f->insns.n; k++) {
        const struct ir_insn *i = &f->insns.at[k];
        for (unsigned n = ir_writes(i, results); n-- > 0;) {
            if (ir_ref_kind(results[n]) != REF_REG)
                continue;
            uint64_t *set = &sets[ir_ref_index(results[n])], more = of_result(f, s, sets, i, results[n]);
            changed |= (*set | more) != *set;
            *set |= more;
        }
    }
    return changed;
}

uint64_t *ir_find_parameters(const struct ir_func *f, const struct ir_shapes *s, struct arena *arena)
{
    enum { PASSES_MOST = 32 };
    uint64_t *sets = ARENA_ARRAY(arena, uint64_t, f->regs.n + 1);
    unsigned passes = 0;
    while (sets && pass(f, s, sets))
        if (++passes == PASSES_MOST) { /* texts that nobody writes */
            for (uint32_t r = 0; r <= f->regs.n; r++)
                sets[r] = IR_ELSEWHERE;
            break;
        }
    return sets;
}
