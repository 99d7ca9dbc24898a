/* Ctrl-C and SIGTERM: a launch that runs is cancelled, with a report of where it was; anything else
 * ends the program. */
#ifndef HEDDLE_CLI_INTERRUPT_H
#define HEDDLE_CLI_INTERRUPT_H

#include <pthread.h>
#include <stdatomic.h>

#include "heddle.h"

struct interrupt {
    pthread_t thread;
    bool running;
    atomic_bool stopping;
    _Atomic(hd_machine *) machine; /* whose launches a signal cancels; NULL: it ends the program */
};

/* Before any other thread is made: from here on one thread takes them. */
void interrupt_start(struct interrupt *i);
/* Signals cancel the machine's launches; NULL ends that. */
void interrupt_cancels(struct interrupt *i, hd_machine *machine);
void interrupt_stop(struct interrupt *i);

#endif
