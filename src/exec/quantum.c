/* The scheduling quantum of a warp: which lanes run, and for how long.
 *
 * A lane that waits must never keep the lane that it waits for from running. So each backward
 * branch spends a part of the warp's budget. A branch of a loop that spins (ir/spin.c) spends much
 * of it, unless lanes have left the loop in this iteration. The next iteration then spends all of
 * it, because those lanes may do what the others wait for.
 *
 * When the budget is spent, another group of lanes runs. A group that does not spin comes first,
 * since it may hold the lock that all others wait for. Otherwise each group has its turn. A warp
 * whose groups all spin in vain lets other warps run, and sooner each time: its next quantum is
 * half as long, down to one iteration. After that the warp backs off: it skips quanta, twice as
 * many each time, as long as other warps use them (worker.c).
 *
 * spin_cost.h has the cost of a branch, also for compiled code, which exits when the budget is
 * spent (jit/emit/branch.c).
 */
#include "exec/block.h"
#include "exec/launch.h"
#include "exec/quantum.h"
#include "exec/spin_cost.h"

/* SHORTEST: after so many quanta in vain a spinning loop has one iteration in a quantum. Within a
 * quantum a spinning group of a divided warp makes way for another spinning group up to
 * MAX_SPIN_ROTATIONS times, and for any group up to MAX_ROTATIONS times. */
enum { SHORTEST = 6, LONGEST_BACKOFF = 6, MAX_SPIN_ROTATIONS = 8, MAX_ROTATIONS = 64 };

void warp_part_lanes(struct warp *w)
{
    for (struct activation *a = w->acts; a; a = a->next)
        a->parted = true;
}

bool warp_is_divided(const struct warp *w, const struct at *at)
{
    return at->a->n_pending || at->a != w->acts || at->a->next;
}

static bool spins(const struct at *at)
{
    return at->a->code->blocks[at->block].spins;
}

/* The operations of spin_cost.h. */
#define C_CONST(n)           (n)
#define C_NOT(a)             (~(a))
#define C_AND(a, b)          ((a) & (b))
#define C_OR(a, b)           ((a) || (b))
#define C_IS_ZERO(a)         ((a) == 0)
#define C_DIFFER(a, b)       ((a) != (b))
#define C_SELECT(when, a, b) ((when) ? (a) : (b))

int32_t back_edge_cost(struct warp *w, const struct at *at)
{
    if (!spins(at))
        return BACK_EDGE_COST;
    bool some_left = SPIN_SOME_LEFT(C, at->mask, w->spun);
    w->spun = at->mask;
    w->ahead |= some_left;
    /* Which ends quanta sooner than a budget would. */
    bool ahead = w->ahead || w->block->launch->schedule;
    return SPIN_BACK_COST(C, some_left, ahead, warp_is_divided(w, at), w->spin_cost);
}

void quantum_begin(struct warp *w, struct quantum *q)
{
    *q = (struct quantum){.backoff = w->backoff, .in_vain = true};
    w->backoff = 0;
    w->budget = BUDGET;
    w->spin_cost = SPIN_COST << (q->backoff < SHORTEST ? q->backoff : SHORTEST);
}

/* Does a group not spin? One spins at the start of a spinning loop, and in a function that the loop
 * calls to learn whether to go on, and behind that call. */
static bool is_busy(const struct activation *a, uint32_t block)
{
    return !a->polls && !a->code->blocks[block].spins && !a->code->blocks[block].polls;
}

/* The next pending group, or the next busy one; false: there is none. Round robin in the order
 * of activations and blocks: a round ends where no group is behind the place that was chosen
 * last in its activation, and an activation that begins meanwhile has its turn in the next
 * round. So a group that stays where it is has its turn however often others have theirs. */
static bool find_next(struct warp *w, bool busy, struct activation **a, uint32_t *block)
{
    for (int round = 0; round < 2; round++) {
        for (*a = w->acts; *a; *a = (*a)->next) {
            *block = pending_first(*a, (*a)->next_group[busy]);
            while (busy && *block != NO_BLOCK && !is_busy(*a, *block))
                *block = pending_first(*a, *block + 1);
            if (*block != NO_BLOCK) {
                (*a)->next_group[busy] = *block + 1;
                return true;
            }
        }
        for (*a = w->acts; *a; *a = (*a)->next)
            (*a)->next_group[busy] = 0;
    }
    return false;
}

/* Another group goes on; returns whether it is one that does not spin, which `busy` asks for. */
static bool rotate(struct warp *w, struct at *at, bool busy)
{
    struct activation *a = at->a;
    uint32_t next = at->block;
    act_add_pending(a, at->block, at->mask);
    busy = busy && find_next(w, true, &a, &next);
    if (!busy)
        find_next(w, false, &a, &next);
    if (next != at->block || a != at->a)
        warp_part_lanes(w);
    *at = (struct at){a, next, pending_take(a, next)};
    return busy;
}

bool quantum_goes_on(struct warp *w, struct quantum *q, struct at *at)
{
    bool spun = spins(at), stays = spun && warp_is_divided(w, at) && q->rotations++ < MAX_ROTATIONS;
    bool busy = rotate(w, at, stays);
    q->in_vain &= spun && !busy;
    if (busy || (stays && q->spin_rotations++ < (uint32_t)MAX_SPIN_ROTATIONS >> q->backoff)) {
        w->budget = BUDGET;
        return true;
    }
    if (q->in_vain) {
        w->backoff = q->backoff < SHORTEST + LONGEST_BACKOFF ? q->backoff + 1 : q->backoff;
        w->backoff_quanta = q->backoff > SHORTEST ? 1u << (q->backoff - SHORTEST) : 0;
    }
    return false;
}
