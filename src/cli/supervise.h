/* Runs a program as a child, and waits for it. */
#ifndef HEDDLE_CLI_SUPERVISE_H
#define HEDDLE_CLI_SUPERVISE_H

#include <sys/types.h>

#include "cli/cli.h"

enum { TIME_IS_OVER = 124 }; /* exit status, as timeout(1) has it */

struct supervision {
    const char *file;
    char *const *words;
    /* Where it has not ended after so long and a grace period, it is ended, with all its children;
     * 0: as long as it takes. */
    double seconds;
    void (*in_child)(void *data); /* before the program takes over; or NULL */
    void (*tick)(void *data);     /* some times a second while it runs; or NULL */
    void (*asked)(void *data);    /* at once, where this process is asked to end; or NULL */
    void *data;
};

/* How the program has ended. */
struct ending {
    int status; /* as waitpid() has it; not set where it was ended */
    bool over_time;
    bool asked; /* meanwhile this process was asked to end: by Ctrl-C, or a signal like it */
};

/* The signal that it has ended by, without anybody's having ended it; 0: none. */
int ending_signal(const struct ending *e);

/* Starts the program and waits for it; the signals that this process gets meanwhile go to it.
 * Returns 0, or the exit status where it could not be started, which has been said. */
int supervise(struct session *s, const struct supervision *v, struct ending *e);
/* Where one program follows the other: what comes between them waits, for the next one or for
 * supervise_is_asked(). */
void supervise_begin_series(void);
void supervise_end_series(void);
bool supervise_is_asked(void);
/* The exit status of a program that has ended so; of one that a signal has ended, this process ends
 * by it, too. */
int end_as(int status);

#endif
