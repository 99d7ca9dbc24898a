/* Ctrl-C and SIGTERM: they cancel a running launch, with a report of where it was; otherwise they
 * end the program. */
#ifndef HEDDLE_CLI_INTERRUPT_H
#define HEDDLE_CLI_INTERRUPT_H

#include <pthread.h>
#include <stdatomic.h>

#include "heddle.h"

struct interrupt {
    pthread_t thread;
    bool running;
    atomic_bool stopping;
    /* The machine whose launches a signal cancels; NULL: a signal ends the program. */
    _Atomic(hd_machine *) machine;
};

/* Starts a thread that receives these signals. To be called before any other thread is made. */
void interrupt_start(struct interrupt *i);
/* Signals cancel the machine's launches; NULL ends that. */
void interrupt_cancels(struct interrupt *i, hd_machine *machine);
void interrupt_stop(struct interrupt *i);

#endif
