/* Lockstep: compiled code runs the warps of a block from barrier to barrier, as a work-group loop
 * (jit/emit/work_group_loop.c).
 *
 * Most kernels run so from start to end. Where all lanes of a warp stand at a plain barrier, or
 * have ended, compiled code goes on with the next warp by itself, at the place where that warp was
 * left in the phase before. After a phase in which all warps came to one barrier, the barrier is
 * open, and nothing has to be recorded. In any other case the block falls out of lockstep: every
 * warp gets the records that it would have had, and warps take turns (block.c, interp.c) until all
 * stand at one barrier again.
 */
#include "exec/barrier.h"
#include "exec/block.h"
#include "exec/compiled.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/limit.h"
#include "exec/lockstep.h"
#include "exec/spin_cost.h"

static void start_turn(struct warp *w)
{
    w->budget = w->block->budget;
    w->spin_cost = SPIN_COST;
    w->spun = w->backoff = w->backoff_quanta = 0;
}

/* Makes a warp's records as compiled code expects them at its start. */
static bool make_ready(struct warp *w)
{
    struct block *b = w->block;
    struct activation *a = w->acts;
    if (!warp_take_local(w))
        return false;
    if (a)
        act_renew(a, w->exists);
    else if (!(a = act_push(w, b->launch->kernel->entry, NULL, NULL, w->exists)))
        return false;
    w->state = WARP_RUNNABLE;
    w->act = a;
    w->at_block = 0;
    w->mask = w->exists;
    w->exited = 0;
    w->ahead = 0;
    start_turn(w);
    return true;
}

/* The same for warps that ended in lockstep, in a block of the same launch: nothing else of their
 * records has changed. If their ends were not recorded, they stand at their start already. */
static void make_ready_again(struct block *b)
{
    const struct code *c = b->launch->kernel->entry;
    bool has_rows = c->zeroed.n || c->ir->uses_dynamic_stack;
    for (struct warp *w = b->warps; w < b->warps + b->n_warps && w->local; w++)
        warp_take_local(w);
    if (!b->arrived && !has_rows)
        return;
    for (struct warp *w = b->warps; w < b->warps + b->n_warps; w++) {
        w->mask = w->exists;
        w->at_block = 0;
        w->exited = 0;
        if (has_rows)
            act_renew(w->acts, w->exists);
        else
            w->acts->lanes = w->exists;
    }
}

static bool make_all_ready(struct block *b)
{
    for (struct warp *w = b->warps; w < b->warps + b->n_warps; w++)
        if (!make_ready(w))
            return false;
    return true;
}

/* Prepares a reused block that will not run in lockstep although the block before did: its warps
 * have not begun. */
static void make_fresh(struct block *b)
{
    for (struct warp *w = b->warps; w < b->warps + b->n_warps; w++) {
        w->state = WARP_FRESH;
        w->act = NULL;
        w->exited = 0;
    }
    b->clean = false;
}

/* Has a warp that ran in this phase ended? Not if a gang has left it at another place. */
static bool has_ended(const struct warp *w)
{
    return w->left != LEAVE_AT && (!w->block->arrived || w->exited == w->exists);
}

static void end_warp(struct block *b, struct warp *w)
{
    w->exited = w->exists;
    w->acts->lanes = 0;
    w->act = NULL;
    w->state = WARP_DONE;
    act_free_empty(w);
    b->n_done++;
    b->live &= ~(1u << w->index);
}

/* From here on warps take turns. The warps before `stopped` have had
 * their phase; NULL: all have. */
static void fall_out(struct block *b, compiled_fn *fn, enum leave how, struct warp *stopped)
{
    bool resumed = b->phase == BLOCK_RESUMED;
    struct warp *behind = stopped ? stopped : b->warps + b->n_warps;
    b->phase = BLOCK_TURNS;
    b->clean = false;
    for (struct warp *w = b->warps; w < behind; w++)
        if (has_ended(w))
            end_warp(b, w);
    for (struct warp *w = b->warps; w < b->warps + b->n_warps; w++) {
        if (w->state == WARP_DONE)
            continue;
        /* Of a gang (jit/emit/gang.c): it stands where its records say. */
        if (w->left == LEAVE_AT) {
            if (w->op->kind >= OP_FALL)
                compiled_fill(fn, w, w->at_block | COMPILED_END);
            continue;
        }
        /* Its rows are whole, and need not have the shapes. */
        bool is_interpreters = resumed && w >= behind;
        if (!is_interpreters && (w != stopped || how == LEAVE_REFUSED))
            compiled_fill(fn, w, w->at_block);
        if (w < behind) {
            barrier_arrive_whole(w, w->act, w->op, w->mask);
            continue;
        }
        w->left = w == stopped ? how : LEAVE_REFUSED;
        if (w->left != LEAVE_AT)
            w->op = &w->act->code->ops[w->act->code->blocks[w->at_block].first];
    }
}

static compiled_fn *find_code(struct block *b)
{
    struct launch *l = b->launch;
    const struct code *entry = l->kernel->entry;
    const struct compiled *c = l->events || l->schedule ? NULL : worker_find_compiled(b->worker, l);
    compiled_fn *fn = c ? c->functions[entry->index] : NULL;
    return fn && limit_allows_block(b, entry) ? fn : NULL;
}

/* Runs barrier phase after barrier phase, which the code does by itself; true where that led to the
 * block's end. After LOCKSTEP_PHASES the block gives way: its warps then stand behind a barrier
 * that has opened, as if they had taken turns. */
static bool run_phases(struct block *b, compiled_fn *fn, enum block_phase phase)
{
    struct warp *w = b->warps;
    b->phase = phase;
    b->arrived = 0;
    enum leave how = compiled_run(fn, w, w->act, w->at_block, w->mask);
    if (how == LEAVE_FAULT) {
        b->clean = false;
        return false;
    }
    if (how != LEAVE_PHASE || (b->arrived && b->arrived != ARRIVED_END)) {
        fall_out(b, fn, how, how == LEAVE_PHASE ? NULL : b->stopped);
        return false;
    }
    b->n_done = b->n_warps;
    b->live = 0;
    return true;
}

bool block_run_lockstep(struct block *b)
{
    struct launch *l = b->launch;
    compiled_fn *fn = find_code(b);
    b->phase = BLOCK_TURNS;
    if (!fn && b->clean)
        make_fresh(b);
    if (!fn)
        return false;
    if (b->clean) {
        make_ready_again(b);
    } else if (!make_all_ready(b)) {
        launch_fail(l, FAULT_out_of_memory);
        return false;
    }
    b->clean = b->compiled = true;
    return run_phases(b, fn, BLOCK_LOCKSTEP);
}

/* Does the warp stand as a whole at the start of a block of code, as behind a barrier? */
static bool stands_whole(const struct warp *w)
{
    const struct activation *a = w->act;
    return w->state == WARP_RUNNABLE && a && w->acts == a && !a->next && a->lanes == w->mask &&
           w->left == LEAVE_REFUSED && w->op == &a->code->ops[a->code->blocks[w->at_block].first];
}

bool block_resume_lockstep(struct block *b)
{
    compiled_fn *fn = find_code(b);
    b->phase = BLOCK_TURNS;
    for (uint32_t i = 0; i < b->n_warps && fn; i++) {
        if (!stands_whole(&b->warps[i]))
            return false;
        start_turn(&b->warps[i]);
    }
    return fn && run_phases(b, fn, BLOCK_RESUMED);
}
