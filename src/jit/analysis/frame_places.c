/* Finds where in the activation's frame an address leads; see access.h.
 *
 * Compilers keep a thread's variables in memory if their addresses are taken, and access them by
 * generic addresses: the start of the window of local memory (PTX ISA 6.4.1.1), plus the frame's
 * offset there, plus a number. A choice between two variables (`std::min(a, b)` returns a
 * reference) gives one of two such addresses, different for each lane. This analysis finds the
 * registers that contain nothing else. It follows the frame's address forward through sums with
 * numbers, the window and choices, until nothing changes. A register that anything else writes, or
 * that may be read before it is written, is unknown.
 *
 * Each place that it considers is in the frame, and the frame is in the window, so no sum wraps.
 */
#include "jit/analysis/access.h"
#include "ir/def_use.h"
#include "isa/lane_ids.h"

#include <string.h>

enum { MAX_PASSES = 16 }; /* over the function; beyond these nothing is known */
enum { FRAME_ALIGN = 16 };

/* The addresses that a register may hold. */
struct addresses {
    enum { NOT_WRITTEN, IN_LOCAL, IN_GENERIC, UNKNOWN } kind; /* the state space of the offsets */
    unsigned n;
    uint32_t at[MAX_FRAME_PLACES]; /* from the frame's start, in ascending order */
};

static struct addresses of_operand(const struct function *fn, const struct addresses *regs, ir_ref r)
{
    bool is_address = ir_ref_kind(r) == REF_REG && fn_ref_width(fn, r) == 64;
    return is_address ? regs[ir_ref_index(r)] : (struct addresses){.kind = UNKNOWN};
}

static bool is_window(const struct function *fn, ir_ref r)
{
    const struct ir_const *c = &fn->ir->consts.at[ir_ref_index(r)];
    return ir_ref_kind(r) == REF_CONST && c->base == BASE_LOCAL_WINDOW && c->lo == 0;
}

/* Adds a number of bytes; the result must be in the frame, or at its end, which is the address
   behind a variable. */
static struct addresses moved(const struct function *fn, struct addresses x, int64_t by)
{
    int64_t most = fn->layout.frame_bytes;
    for (unsigned k = 0; k < x.n; k++) {
        if (by < -most || by > most || x.at[k] + by < 0 || x.at[k] + by > most)
            return (struct addresses){.kind = UNKNOWN};
        x.at[k] = (uint32_t)(x.at[k] + by);
    }
    return x;
}

/* The addresses plus or minus an operand. */
static struct addresses sum(const struct function *fn, struct addresses x, ir_ref r, bool subtracts)
{
    int64_t by;
    if (x.kind == NOT_WRITTEN || !r)
        return x;
    if (is_window(fn, r) && x.kind == (subtracts ? IN_GENERIC : IN_LOCAL)) {
        x.kind = subtracts ? IN_LOCAL : IN_GENERIC;
        return x;
    }
    if (x.kind == UNKNOWN || !ir_number(fn->ir, fn->shapes, r, &by) || by == INT64_MIN)
        return (struct addresses){.kind = UNKNOWN};
    return moved(fn, x, subtracts ? -by : by);
}

static void add(struct addresses *x, uint32_t at)
{
    unsigned k = 0;
    while (k < x->n && x->at[k] < at)
        k++;
    if (k < x->n && x->at[k] == at)
        return;
    if (x->n == MAX_FRAME_PLACES) {
        x->kind = UNKNOWN;
        return;
    }
    memmove(x->at + k + 1, x->at + k, (x->n - k) * sizeof *x->at);
    x->at[k] = at;
    x->n++;
}

static struct addresses either(struct addresses a, struct addresses b)
{
    if (a.kind == NOT_WRITTEN || b.kind == NOT_WRITTEN)
        return a.kind == NOT_WRITTEN ? b : a;
    for (unsigned k = 0; k < b.n && a.kind == b.kind; k++)
        add(&a, b.at[k]);
    return a.kind == b.kind ? a : (struct addresses){.kind = UNKNOWN};
}

/* The addresses in the instruction's only result. */
static struct addresses of_result(const struct function *fn, const struct addresses *regs, const struct ir_insn *i)
{
    struct ir_mad m;
    if (i->kind == IR_FRAME && i->imm <= fn->layout.frame_bytes)
        return (struct addresses){.kind = IN_LOCAL, .n = 1, .at = {(uint32_t)i->imm}};
    if (i->kind == IR_LANES && i->lane == LANE_selp_b64)
        return either(of_operand(fn, regs, i->a), of_operand(fn, regs, i->b));
    if (i->kind != IR_LANES || !ir_mad_of(fn->ir, fn->shapes, i, &m) || ir_mad_multiplies(&m) || m.width != 64 ||
        m.extend != EXTEND_NONE)
        return (struct addresses){.kind = UNKNOWN};
    struct addresses a = of_operand(fn, regs, m.a);
    return a.kind == UNKNOWN && m.c && !m.subtracts ? sum(fn, of_operand(fn, regs, m.c), m.a, false)
                                                    : sum(fn, a, m.c, m.subtracts);
}

/* Adds what the instruction writes; true if that changes what is known. */
static bool visit(const struct function *fn, struct addresses *regs, const struct ir_insn *i)
{
    ir_ref writes[IR_MAX_REFS];
    bool changed = false;
    for (unsigned k = 0, n = ir_writes(i, writes); k < n; k++) {
        struct addresses *r = &regs[ir_ref_index(writes[k])], before = *r;
        if (ir_ref_kind(writes[k]) != REF_REG || r->kind == UNKNOWN)
            continue;
        *r = n == 1 && fn_ref_width(fn, writes[k]) == 64 ? either(*r, of_result(fn, regs, i))
                                                         : (struct addresses){.kind = UNKNOWN};
        changed |= r->kind != before.kind || r->n != before.n;
    }
    return changed;
}

/* By register; false if the iteration does not converge. */
static bool find_addresses(const struct function *fn, struct addresses *regs)
{
    for (uint32_t r = 0; r < fn->ir->regs.n; r++)
        if (fn->shapes->defs->zeroed[r])
            regs[r].kind = UNKNOWN;
    for (unsigned pass = 0; pass < MAX_PASSES; pass++) {
        bool changed = false;
        for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
            for (uint32_t k = 0; k < block_at(fn, b)->n; k++)
                changed |= visit(fn, regs, fn_insn(fn, b, k));
        if (!changed)
            return true;
    }
    return false;
}

static const struct frame_access *find_access(const struct function *fn, const struct addresses *regs,
                                              const struct ir_insn *i)
{
    if ((i->kind != IR_LD && i->kind != IR_ST) || ir_is_copy(i) || i->access->disp_const || !access_is_simple(fn, i))
        return NULL;
    struct addresses x = of_operand(fn, regs, i->a);
    enum ptx_space space = x.kind == IN_LOCAL ? SPACE_LOCAL : SPACE_GENERIC;
    unsigned all = (unsigned)i->access->mem.bytes * i->access->mem.n;
    int64_t disp = i->access->disp;
    if ((x.kind != IN_LOCAL && x.kind != IN_GENERIC) || i->access->mem.space != space || all > FRAME_ALIGN)
        return NULL;
    struct frame_access *f = ARENA_NEW(fn->arena, struct frame_access);
    *f = (struct frame_access){.mem = i->access->mem, .n = x.n};
    f->mem.space = SPACE_LOCAL;
    for (unsigned k = 0; k < x.n; k++) {
        if (disp < -(int64_t)x.at[k] || disp > (int64_t)fn->layout.frame_bytes - all - x.at[k] ||
            (x.at[k] + disp) % all)
            return NULL;
        f->at[k] = (uint32_t)(x.at[k] + disp);
    }
    for (uint32_t c = 1; c < fn->ir->consts.n && space == SPACE_GENERIC && !f->window; c++)
        if (is_window(fn, ir_make_ref(REF_CONST, c)))
            f->window = ir_make_ref(REF_CONST, c);
    return f;
}

void frame_places_find(struct function *fn)
{
    bool takes_address = false;
    for (uint32_t k = 0; k < fn->ir->insns.n; k++)
        takes_address |= fn->ir->insns.at[k].kind == IR_FRAME;
    if (!takes_address)
        return;
    struct addresses *regs = ARENA_ARRAY(fn->arena, struct addresses, fn->ir->regs.n + 1);
    if (!find_addresses(fn, regs))
        return;
    fn->in_frame = ARENA_ARRAY(fn->arena, const struct frame_access *, fn->ir->insns.n + 1);
    for (uint32_t k = 0; k < fn->ir->insns.n; k++)
        fn->in_frame[k] = find_access(fn, regs, &fn->ir->insns.at[k]);
}
