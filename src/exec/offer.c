/* Decides when to wake the machine's workers for a launch: only if they are awake before its
 * launcher is done; see launch.h. */
#include "exec/launch.h"
#include "exec/machine.h"

#include <sched.h>

#include "base/monotonic.h"

/* The machine's own threads find the launch in its list. */
static void offer(struct launch *l)
{
    struct machine *m = l->machine;
    l->is_offered = true;
    if (l->n_blocks == l->blocks_per_cluster || launch_is_by_one(l))
        return;
    pthread_mutex_lock(&m->lock);
    pthread_cond_broadcast(&m->work);
    pthread_mutex_unlock(&m->lock);
}

void launch_offer_rest(struct launch *l)
{
    static const double wake_seconds = 30e-6;
    double taken = seconds_now() - l->begun;
    uint64_t begun = atomic_load(&l->next_block);
    if (taken > wake_seconds && begun < l->n_blocks &&
        taken * (double)(l->n_blocks - begun) > wake_seconds * (double)begun)
        offer(l);
}

/* A few short blocks are done before another thread is awake. */
void launch_open(struct launch *l)
{
    enum { SHORT_NS = 2000 };
    uint32_t ns = atomic_load(&l->kernel->block_ns);
    l->core = sched_getcpu(); /* before workers find the launch */
    atomic_store(&l->next_block, 0);
    if (!l->is_brief && (ns == 0 || ns > SHORT_NS))
        offer(l);
}

void launch_note_time(struct launch *l)
{
    double ns = 1e9 * (seconds_now() - l->begun) / (double)l->n_blocks;
    atomic_store(&l->kernel->block_ns, ns < 1 ? 1 : ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX);
}
