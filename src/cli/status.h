/* How far a program is that a command runs: on a terminal a line that is rewritten, in a log a line
 * a minute. */
#ifndef HEDDLE_CLI_STATUS_H
#define HEDDLE_CLI_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct status {
    const char *command; /* "check" */
    double started;      /* 0: not yet */
    double due;          /* the next line */
    bool shown;          /* the line stands on the terminal */
    /* The launch that is on its way: */
    char kernel[64];
    uint64_t blocks;
    double launch_started;
};

/* What runs now, and what was found. */
struct status_now {
    const char *kernel;    /* mangled; NULL: none runs */
    uint64_t done, blocks; /* of all launches that run; 0: not known */
    uint64_t launches;     /* that have ended */
    const char *found;     /* "3 findings", or "" */
    const char *run;       /* " of run 2 of 5", or "" */
};

/* Is a line due? */
bool status_is_due(struct status *s);
/* Writes it to stderr; `cost`: how many seconds it took to find out what stands in it. */
void status_show(struct status *s, const struct status_now *now, double cost, struct arena *arena);
/* Takes the line away. */
void status_end(struct status *s);

#endif
