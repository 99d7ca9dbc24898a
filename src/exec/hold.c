/* See hold.h. */
#include "exec/hold.h"

#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/worker.h"

#include <unistd.h>

enum { LOOK_AGAIN_US = 20 };

void machine_begin_move(struct machine *m)
{
    pthread_rwlock_rdlock(&m->moving);
}

void machine_end_move(struct machine *m)
{
    pthread_rwlock_unlock(&m->moving);
}

static bool all_parked(struct launch *l)
{
    bool all = true;
    pthread_mutex_lock(&l->lock);
    for (const struct worker *k = l->workers; k; k = k->next)
        all &= k->parked;
    pthread_mutex_unlock(&l->lock);
    return all;
}

/* Workers park where they find the machine held, and none joins; who has come to the end of a
 * launch leaves it, for which it needs the lock. */
static bool stands_still(struct machine *m)
{
    bool still = true;
    pthread_mutex_lock(&m->lock);
    for (struct launch *l = m->launches; l && still; l = l->next)
        still = all_parked(l);
    pthread_mutex_unlock(&m->lock);
    return still;
}

void machine_hold(struct machine *m)
{
    pthread_mutex_lock(&m->lock); /* its threads choose a launch and join it under this lock */
    atomic_store(&m->held, true);
    pthread_mutex_unlock(&m->lock);
    while (!stands_still(m))
        usleep(LOOK_AGAIN_US);
    pthread_rwlock_wrlock(&m->moving);
}

void machine_release(struct machine *m)
{
    mem_forget_host(&m->mem);
    pthread_rwlock_unlock(&m->moving);
    pthread_mutex_lock(&m->lock);
    atomic_store(&m->held, false);
    for (struct launch *l = m->launches; l; l = l->next) {
        pthread_mutex_lock(&l->lock);
        pthread_cond_broadcast(&l->parking);
        pthread_mutex_unlock(&l->lock);
    }
    pthread_cond_broadcast(&m->work);
    pthread_mutex_unlock(&m->lock);
}
