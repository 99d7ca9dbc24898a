/* Serial parts: lanes that compete for one location run compiled code one after the other
 * (ir/serial_parts.c finds serial parts, jit/emit/critical_section.c emits their code).
 *
 * A pass runs each lane of a group until it has left the part, has failed too often, or has spent
 * a budget of backward branches. A lane that fails waits in its record for the next pass, so it
 * does not keep the others from running. If some lanes have left the part, they may have released
 * what the others wait for, so the others have another pass. If none has, the warp's turn ends, as
 * for any warp that spins in vain (quantum.c).
 *
 * The first lane of a pass that finds the location taken backs off, with pauses that grow
 * exponentially. Usually another worker owns the location, and releases it in less time than other
 * warps need for a quantum. The pauses grow so that the lane does not take the cache line from
 * that worker. The first pause is longer if more lanes wait: a worker that has the line serves all
 * lanes of a warp in the time that the line needs to travel. A single lane, as in blocks that hand
 * over a turn, does not pause at first. A lane that has waited in vain leaves no budget for the
 * lanes behind it, which have a few tries each. Without other workers, nobody backs off.
 */
#include "base/spin_lock.h"
#include "exec/block.h"
#include "exec/compiled.h"
#include "exec/launch.h"
#include "exec/limit.h"
#include "exec/machine.h"
#include "exec/worker.h"

/* How long a lane waits, in a warp whose last quantum was not in vain, and the longest pause
 * between its tries: numbers of the CPU's pause instructions. */
enum { BACKOFF_BUDGET = 768, LONGEST_BACKOFF_PAUSE = 256 };

bool serial_back_off(struct warp *w, uint32_t tries)
{
    uint64_t next = (uint64_t)w->first_backoff << (tries - FREE_TRIES - 1);
    uint32_t n = next < LONGEST_BACKOFF_PAUSE ? (uint32_t)next : LONGEST_BACKOFF_PAUSE;
    if (n > w->backoff_budget) {
        w->backoff_budget = 0;
        return false;
    }
    w->backoff_budget -= n;
    for (uint32_t i = 0; i < n; i++)
        spin_pause();
    return true;
}

static uint32_t run_pass(struct warp *w, struct activation *a, uint32_t block, uint32_t mask)
{
    compiled_fn *fn = w->block->worker->compiled->serial[a->code->index];
    w->backoff_budget = w->block->launch->machine->n_threads ? BACKOFF_BUDGET >> w->backoff : 0;
    w->first_backoff = ((uint32_t)__builtin_popcount(mask) + 1) / 2;
    return fn(w, a, block, mask, &compiled_calls);
}

uint32_t serial_run(struct warp *w, struct activation *a, uint32_t block, uint32_t mask)
{
    const struct code_block *part = &a->code->blocks[block];
    uint32_t all = mask, to = run_pass(w, a, block, mask);
    bool again = false;
    while (to == SERIAL_PARKED && w->out && !limit_is_due(w->block->worker) &&
           (block = pending_first(a, part->serial_from)) < part->serial_to) {
        mask = pending_take(a, block);
        to = run_pass(w, a, block, mask);
        if (to < SERIAL_FAULT) {
            act_add_pending(a, to, mask);
            to = SERIAL_PARKED;
        }
        again = true;
    }
    if (to != SERIAL_PARKED || !again || a->n_pending != 1)
        return to;
    block = pending_first(a, 0);
    if (a->pending[block] != all)
        return to;
    pending_take(a, block);
    return block;
}
