/* Chooses lane-serial loops, which lanes should run one after the other; see function.h,
 * lane_serial.c.
 *
 * Vectors are least suited for threads that walk through arrays of their own: each load gathers
 * from 32 cache lines, and all lanes run as many iterations as the longest. A single lane uses a
 * cache line for many iterations, and runs only its own iterations. So such a loop has loads at
 * addresses that are divergent between lanes; some of them advance by little in each iteration, and
 * the others are found in memory by the loop itself. It has little arithmetic for its loads, and
 * lanes leave it in different iterations.
 *
 * Nothing in it may be visible to others, or depend on time, so that nobody can tell the order of
 * lanes: only weak loads (PTX ISA 8.4) and pure instructions are allowed. In a loop whose address
 * advances by much, such as the grid's size, lanes may have adjacent places, whatever is known of
 * their shape, and vectors serve it better. On CPUs that gather, they also serve a short loop
 * better, which ends before a lane has gained what switching to the next lane costs.
 */
#include "jit/analysis/access.h"
#include "jit/analysis/lane_library.h"

/* The parts of an iteration; costs.def has the costs for the warp's lanes together, and one after
 * the other. */
enum cost { LOAD_OF_LANES, LOAD_OF_ALL, OPERATION, ITERATION, N_COSTS };

/* ---- where addresses come from ---- */

static struct ir_loop loop_at(struct cursor here)
{
    return ir_loop_of(here.fn->ir, here.fn->shapes, here.fn->shapes->defs, here.block, here.block + 1, here.fn->arena);
}

bool lane_serial_find_walk(struct cursor here, ir_ref q, uint32_t k, struct walk *w)
{
    enum { FARTHEST = 1 << 30 };
    struct ir_loop loop = loop_at(here);
    const struct ir_affine *x = ir_affine_of(&loop, q, block_at(here.fn, here.block)->first + k);
    *w = (struct walk){.root = x->base, .added = x->added, .step = x->step};
    return x->base && x->over <= EVOLVES_BY_STEP && x->step > -FARTHEST && x->step < FARTHEST;
}

/* ---- which loops ---- */

/* The block that lanes reach when they leave a loop of one block. */
static uint32_t block_behind(const struct function *fn, uint32_t loop)
{
    return fn_target(fn, loop) == loop ? fn_next(fn, loop) : fn_target(fn, loop);
}

/* Is it a loop of one block that lanes leave in different iterations? Lanes that have left wait
 * behind it: before it they would run first; and a spinning loop depends on when lanes arrive. */
static bool is_loop(struct cursor here, const struct ir_block *block)
{
    if (block->n < 2 || block->n > LIMIT_lane_serial_loop || block->serial_to || block->spins)
        return false;
    const struct ir_insn *branch = fn_insn_at(here, block->n - 1);
    uint32_t behind = block_behind(here.fn, here.block);
    return branch->kind == IR_BRA && ir_ref_kind(branch->guard) == REF_REG &&
           fn_ref_shape(here.fn, branch->guard) == SHAPE_DIVERGENT && fn_goes_to(here.fn, here.block, here.block) &&
           behind > here.block && behind != NO_BLOCK && !block_at(here.fn, behind)->spins;
}

/* Does a lane function in the loop compute whether a lane goes on? */
static bool computes_condition(struct cursor here, const struct ir_block *block)
{
    uint32_t k = cursor_find_writer(here, fn_insn_at(here, block->n - 1)->guard, block->n - 1);
    return k != NO_WRITER && fn_insn_at(here, k)->kind == IR_LANES;
}

/* Checks a value that is carried around the loop or out of it: a scalar for all lanes may only be
 * carried around, so that it is equal in lanes that continue. */
static bool can_carry(struct cursor here, const struct ir_block *block)
{
    const struct ir_live *live = &here.fn->shapes->live;
    uint32_t behind = block_behind(here.fn, here.block);
    for (uint32_t n = 0; n < live->n; n++) {
        ir_ref r = ir_make_ref(REF_REG, live->regs[n]);
        bool leaves = ir_in_set(live_in(here.fn, behind), n), around = ir_in_set(live_in(here.fn, here.block), n);
        bool written = cursor_find_writer(here, r, block->n) != NO_WRITER;
        if ((leaves || around) && fn_ref_width(here.fn, r) > 64)
            return false;
        if (written &&
            ((leaves && fn_ref_shape(here.fn, r) != SHAPE_DIVERGENT) ||
             (around && fn_ref_shape(here.fn, r) != SHAPE_DIVERGENT && fn_ref_shape(here.fn, r) != SHAPE_UNIFORM)))
            return false;
    }
    return true;
}

/* Is it a weak load of global memory with an address in each lane, or with a scalar address that no
 * other load shares? Then its inline cache is its own. */
static bool can_load(struct cursor here, uint32_t k)
{
    const struct ir_insn *i = fn_insn_at(here, k);
    const struct access a = access_begin(here.fn, i);
    const struct mem_access *m = a.mem;
    if (ir_ref_kind(i->a) != REF_REG || i->access->disp_const || !access_is_simple(here.fn, i) ||
        mem_access_is_strong(m) || (m->space != SPACE_GLOBAL && m->space != SPACE_CONST && m->space != SPACE_GENERIC))
        return false;
    for (uint32_t j = 0; j < k && fn_ref_shape(here.fn, i->a) != SHAPE_DIVERGENT; j++)
        if (fn_insn_at(here, j)->kind == IR_LD && fn_insn_at(here, j)->a == i->a)
            return false;
    return fn_ref_shape(here.fn, i->a) == SHAPE_DIVERGENT || fn_ref_shape(here.fn, i->a) == SHAPE_UNIFORM;
}

/* Does each lane have consecutive places of its own there, or one place, or does it follow
   pointers? */
static bool is_own_way(struct cursor here, struct ir_loop *loop, uint32_t k, bool *walks)
{
    const struct ir_affine *x = ir_affine_of(loop, fn_insn_at(here, k)->a, block_at(here.fn, here.block)->first + k);
    int64_t farthest = here.fn->target->costs->lane_step;
    bool near = x->over == EVOLVES_BY_STEP && x->step && x->step >= -farthest && x->step <= farthest;
    *walks |= near;
    return near || x->over == EVOLVES_LOADED || x->over == EVOLVES_NOT;
}

/* Adds instruction k; false if a single lane cannot execute it, or should not. */
static bool add_insn(struct cursor here, struct ir_loop *loop, uint32_t k, uint32_t count[N_COSTS], bool *walks)
{
    const struct ir_insn *i = fn_insn_at(here, k);
    if (i->kind == IR_LD) {
        bool divergent = i->a && fn_ref_shape(here.fn, i->a) == SHAPE_DIVERGENT;
        count[divergent ? LOAD_OF_LANES : LOAD_OF_ALL]++;
        return can_load(here, k) && (!divergent || is_own_way(here, loop, k, walks));
    }
    bool is_pure = i->kind == IR_LANES && ir_ref_kind(i->d) == REF_REG;
    unsigned size = is_pure ? lane_library_size(here.fn->lanes, i->lane) : 0,
             one = here.fn->target->costs->operation_size;
    if (ir_is(i) == IS__ || ir_is(i) >= IS_EQ) /* the others are folded into the CPU's addresses */
        count[OPERATION] += (size + one - 1) / one;
    return size > 0;
}

static bool is_better_lane_serial(struct cursor here, const struct ir_block *block)
{
    const struct jit_costs *c = here.fn->target->costs;
    const uint32_t together_costs[N_COSTS] = {c->load_of_lanes, c->load_of_all, c->operation, c->iteration};
    const uint32_t serial_costs[N_COSTS] = {c->load_of_lanes_serially, c->load_of_all_serially, c->operation_serially,
                                            c->iteration_serially};
    uint32_t count[N_COSTS] = {[ITERATION] = 1}, together = 0, serial = 0;
    bool walks = false;
    if (!is_loop(here, block) || !computes_condition(here, block) || !can_carry(here, block))
        return false;
    struct ir_loop loop = loop_at(here);
    for (uint32_t k = 0; k + 1 < block->n; k++)
        if (!add_insn(here, &loop, k, count, &walks))
            return false;
    for (unsigned p = 0; p < N_COSTS; p++) {
        together += count[p] * together_costs[p];
        serial += count[p] * serial_costs[p];
    }
    return walks && c->iterations_serially * serial < c->iterations_together * together;
}

void lane_serial_find(struct function *fn)
{
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        fn->shapes->lane_serial[b] = is_better_lane_serial((struct cursor){.fn = fn, .block = b}, block_at(fn, b));
}
