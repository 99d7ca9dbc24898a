/* Shows the progress of a program that a command runs: a line that is rewritten on a terminal, a
 * line a minute in a log. */
#ifndef HEDDLE_CLI_STATUS_H
#define HEDDLE_CLI_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct status {
    const char *command; /* "check" */
    double started;      /* 0: not yet */
    double due;          /* when the next line is due */
    bool shown;          /* the line is on the terminal now */
    /* The launch that the line shows: */
    char kernel[64];
    uint64_t blocks;
    double launch_started;
};

/* The running launches, and the findings so far. */
struct status_now {
    const char *kernel;    /* mangled; NULL: none runs */
    uint64_t done, blocks; /* of all running launches; 0: not known */
    uint64_t launches;     /* launches that have ended */
    const char *found;     /* "3 findings", or "" */
    const char *run;       /* " of run 2 of 5", or "" */
};

/* Is a line due? */
bool status_is_due(struct status *s);
/* Writes the line to stderr; `cost` is the time in seconds that it took to collect `now`. */
void status_show(struct status *s, const struct status_now *now, double cost, struct arena *arena);
/* Removes the line. */
void status_end(struct status *s);

#endif
