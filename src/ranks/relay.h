/* Ranks whose work is done by a program that the rank's own process has started: that process sends
 * and receives for it, so that nothing of MPI is in the program. Between the two lie pipes with
 * names in a folder, which any process of the program can open. */
#ifndef HEDDLE_RANKS_RELAY_H
#define HEDDLE_RANKS_RELAY_H

#include <pthread.h>
#include <stdatomic.h>

#include "ranks/ranks.h"

struct relay {
    struct ranks *ranks; /* which no one else uses between begin and end */
    int to_program, from_program;
    pthread_mutex_t lock; /* of the ranks */
    pthread_t threads[2];
    unsigned n_threads;
    atomic_bool ended;
};

/* In the rank's process, before the program begins; false with errno where that cannot be. */
bool relay_begin(struct relay *r, struct ranks *ranks, const char *folder);
/* When the program has ended: what it has sent goes on its way. */
void relay_end(struct relay *r);

/* In the program's: `ranks` has its numbers, and is connected. False with errno: it cannot be. Once
 * in a process. */
bool relay_join(struct ranks *ranks, const char *folder);

#endif
