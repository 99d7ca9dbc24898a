/* See interrupt.h. hd_machine_cancel() takes a lock, so a thread waits for the signal instead of a
 * handler.
 */
#include "cli/interrupt.h"

#include <signal.h>
#include <stdlib.h>

static sigset_t interrupts(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

static void end_program(const sigset_t *set, int by)
{
    signal(by, SIG_DFL);
    raise(by);
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
}

static void *interrupt_main(void *data)
{
    struct interrupt *i = data;
    sigset_t set = interrupts();
    for (int signal; sigwait(&set, &signal) == 0 && !atomic_load(&i->stopping);) {
        /* A second signal ends the program. */
        hd_machine *machine = atomic_exchange(&i->machine, NULL);
        if (machine)
            hd_machine_cancel(machine);
        else
            end_program(&set, signal);
    }
    return NULL;
}

void interrupt_start(struct interrupt *i)
{
    sigset_t set = interrupts();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    atomic_store(&i->machine, NULL);
    atomic_store(&i->stopping, false);
    i->running = pthread_create(&i->thread, NULL, interrupt_main, i) == 0;
}

void interrupt_cancels(struct interrupt *i, hd_machine *machine)
{
    atomic_store(&i->machine, machine);
}

void interrupt_stop(struct interrupt *i)
{
    sigset_t set = interrupts();
    if (i->running) {
        atomic_store(&i->stopping, true);
        pthread_kill(i->thread, SIGINT);
        pthread_join(i->thread, NULL);
    }
    i->running = false;
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
