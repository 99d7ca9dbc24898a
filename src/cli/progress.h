/* Shows a command's progress on stderr: on a terminal if a phase takes longer than two seconds, in
 * a log once a minute. */
#ifndef HEDDLE_CLI_PROGRESS_H
#define HEDDLE_CLI_PROGRESS_H

#include <pthread.h>
#include <time.h>

#include "heddle.h"

struct progress {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;
    pthread_t thread;
    bool running, stop, shown, terminal;
    unsigned lines; /* of this phase, so far */
    const char *what;
    hd_machine *machine;
    struct timespec since;
};

void progress_init(struct progress *p);
/* Begins a phase, as "reading x.npy", and ends the one before. `what` must stay valid. With a
 * machine, the blocks of its launches are counted. */
void progress_phase(struct progress *p, const char *what, hd_machine *machine);
/* Clears the line, so that something else can be printed. */
void progress_clear(struct progress *p);
/* Ends the last phase. */
void progress_end(struct progress *p);

#endif
