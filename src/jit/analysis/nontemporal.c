/* Chooses stores that may be non-temporal (streaming_store.c). A plain store to a line that is not
 * cached first loads the line, and writes it back later; whole lines of a large array that is not
 * read should go to memory directly.
 *
 * Candidates are weak stores of whole lines, outside loops, by which the blocks along grid.x write
 * different places of an array that the kernel has as a parameter and does not load from.
 *
 * Such stores may become visible later than what follows them. So the kernel must have nothing that
 * tells another worker of them: no atomic operation, fence or call. (The warps of a block are on
 * one worker, which sees its own stores in order.)
 */
#include "jit/analysis/access.h"

/* ---- of what parameters addresses are made ---- */

/* A set of parameters, by the 8-byte slots that they are in; a bit for other sources. */
#define ELSEWHERE (1ull << 63)

static uint64_t of_ref(const uint64_t *regs, const struct ir_func *f, ir_ref r)
{
    if (ir_ref_kind(r) != REF_REG)
        return 0;
    uint32_t index = ir_ref_index(r);
    return f->regs.at[index].width == 64 ? regs[index] : 0;
}

static uint64_t of_parameter(const struct ir_access *x, unsigned k)
{
    int64_t at = (int64_t)((uint64_t)x->disp + 8ull * k);
    bool known = x->mem.space == SPACE_PARAM && x->mem.bytes == 8 && at >= 0 && at % 8 == 0 && at / 8 < 63;
    return known ? 1ull << (at / 8) : ELSEWHERE;
}

/* A product that is added to an address is no address itself. */
static uint64_t of_lanes(const struct function *fn, const uint64_t *regs, const struct ir_insn *i)
{
    struct ir_mad m;
    if (!ir_mad_of(fn->ir, fn->shapes, i, &m))
        m = (struct ir_mad){.a = i->a, .b = i->b, .c = i->c};
    else if (ir_mad_multiplies(&m))
        m.a = m.b = REF_NONE;
    return of_ref(regs, fn->ir, m.a) | of_ref(regs, fn->ir, m.b) | of_ref(regs, fn->ir, m.c);
}

static uint64_t *find_parameters(const struct function *fn)
{
    const struct ir_func *f = fn->ir;
    uint64_t *regs = ARENA_ARRAY(fn->arena, uint64_t, f->regs.n + 1);
    ir_ref refs[IR_MAX_REFS];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < f->insns.n; k++) {
            const struct ir_insn *i = &f->insns.at[k];
            for (unsigned n = ir_writes(i, refs); n-- > 0;) {
                if (ir_ref_kind(refs[n]) != REF_REG)
                    continue;
                uint64_t *of = &regs[ir_ref_index(refs[n])], more = ELSEWHERE;
                if (i->kind == IR_LANES)
                    more = of_lanes(fn, regs, i);
                for (unsigned l = 0; i->kind == IR_LD && l < i->access->mem.n; l++)
                    if (i->access->regs[l] == refs[n])
                        more = of_parameter(i->access, l);
                changed |= (*of | more) != *of;
                *of |= more;
            }
        }
    }
    return regs;
}

static bool is_global(const struct ir_insn *i)
{
    bool moves = i->kind == IR_LD || i->kind == IR_ST;
    return moves && mem_access_may_be_global(&i->access->mem);
}

/* Can other workers not learn of the kernel's stores? */
static bool is_secluded(const struct function *fn)
{
    bool secluded = fn->target->keeps_store_order && fn->request->n_functions == 1;
    for (uint32_t k = 0; k < fn->ir->insns.n && secluded; k++) {
        const struct ir_insn *i = &fn->ir->insns.at[k];
        bool strong = is_global(i) && (i->access->mem.order != ORDER_WEAK || i->access->mem.is_volatile);
        secluded = !strong && i->kind != IR_ATOM && i->kind != IR_FENCE && i->kind != IR_ASYNC && i->kind != IR_CALL &&
                   i->kind != IR_TEXTURE;
    }
    return secluded;
}

void nontemporal_find(struct function *fn)
{
    fn->nontemporal = NULL;
    if (!is_secluded(fn))
        return;
    uint64_t *regs = find_parameters(fn), loaded = 0;
    for (uint32_t k = 0; k < fn->ir->insns.n; k++)
        if (is_global(&fn->ir->insns.at[k]) && fn->ir->insns.at[k].kind == IR_LD)
            loaded |= of_ref(regs, fn->ir, fn->ir->insns.at[k].a);
    uint8_t *nontemporal = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->insns.n + 1);
    for (uint32_t k = 0; k < fn->ir->insns.n; k++) {
        const struct ir_insn *i = &fn->ir->insns.at[k];
        uint64_t to = is_global(i) && i->kind == IR_ST ? of_ref(regs, fn->ir, i->a) : 0;
        nontemporal[k] = to && !(to & (loaded | ELSEWHERE));
    }
    fn->nontemporal = nontemporal;
}

/* ---- stores ---- */

bool access_is_nontemporal(struct cursor here, const struct access *a)
{
    if (a->i->kind != IR_ST || !here.fn->nontemporal || !here.fn->nontemporal[a->i - here.fn->ir->insns.at] ||
        a->shape == SHAPE_DIVERGENT || a->shape == SHAPE_UNIFORM || here.check_groups[here.index].interleaved ||
        cursor_is_in_loop(here))
        return false;
    int64_t step = here.fn->shapes->steps[ir_ref_index(a->i->a)];
    return step != 0 && access_is_consecutive(a) && WARP_LANES / a->pieces * a->all >= LINE_BYTES;
}
