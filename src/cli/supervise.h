/* Runs a program as a child, and waits for it. */
#ifndef HEDDLE_CLI_SUPERVISE_H
#define HEDDLE_CLI_SUPERVISE_H

#include <sys/types.h>

#include "cli/cli.h"

enum { TIME_IS_OVER = 124 }; /* exit status, as timeout(1) has it */

struct supervision {
    const char *file;
    char *const *words;
    /* The time limit: behind it and a grace period, the program and all its children are killed; 0:
     * no limit. */
    double seconds;
    void (*in_child)(void *data); /* called in the child before it becomes the program; or NULL */
    /* Called several times a second while the program runs; or NULL. */
    void (*tick)(void *data);
    void (*asked)(void *data); /* called at once when this process is asked to end; or NULL */
    void *data;
};

/* How the program has ended. */
struct ending {
    int status; /* as of waitpid(); not set if the program was ended here */
    bool over_time;
    bool asked; /* meanwhile this process was asked to end: by Ctrl-C, or a signal like it */
};

/* The signal that ended the program, unless it was ended here; 0: none. */
int ending_signal(const struct ending *e);

/* Starts the program and waits for it; signals to this process are passed on to it. Returns 0, or
 * the exit status if it could not be started. */
int supervise(struct session *s, const struct supervision *v, struct ending *e);
/* Brackets a series of programs. A signal that arrives between two programs waits for the next one,
 * or for supervise_is_asked(). */
void supervise_begin_series(void);
void supervise_end_series(void);
bool supervise_is_asked(void);
/* The exit status for a program that has ended so. If a signal has ended the program, this process
 * ends by the same signal. */
int end_as(int status);

#endif
