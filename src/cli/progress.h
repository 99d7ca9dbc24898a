/* Tells on stderr how far a command is: on a terminal where a phase takes longer than two seconds,
 * in a log once a minute. */
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
/* `what` stays valid: "reading x.npy". With a machine, its launches are counted. Ends the phase
 * before. */
void progress_phase(struct progress *p, const char *what, hd_machine *machine);
/* Cleans the line, so that something else can be printed. */
void progress_clear(struct progress *p);
/* Ends the last phase. */
void progress_end(struct progress *p);

#endif
