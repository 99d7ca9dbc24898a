/* The runs of `heddle check --runs N`, from 0. The run with number 0 is the one that was typed; the
 * others differ by their seeds.
 *
 * Where mpirun has started several ranks (cli/ranks.h), each does the next run that nobody does,
 * and the first rank, whose own run 0 is, gets what all have said. That is what one process would
 * get: what lies behind a run that ends the series is left out. */
#ifndef HEDDLE_CLI_NUMBERED_RUNS_H
#define HEDDLE_CLI_NUMBERED_RUNS_H

#include "cli/ranks.h"

#define RUNS_ARE_LOST "heddle: a rank does not answer: its runs are missing here\n"

struct numbered_runs {
    struct ranks *ranks;
    unsigned n;
    bool first_is_last; /* run 0 comes when all others are done */
    /* Does a run: what it has said; NULL: it could not be done, as has been said. */
    json_t *(*run)(void *data, unsigned number);
    /* Is none to follow it? And has somebody asked it to end? Then run 0 is left out, too, where it
     * would be the last. */
    bool (*ends)(void *data, const json_t *said, bool *interrupted);
    void *data;
    json_t **said; /* by number, in the arena; NULL: it was not done */
    bool failed;   /* a run could not be done; ranks->lost: some were begun, and nothing is known of them */
};

/* Does them all, or the part of another rank. */
void numbered_runs_do(struct numbered_runs *r, struct arena *arena);
/* Somebody asks this process to end. The first of several ranks says at once how many runs were
 * done: a launcher that asks gives it little time for all of the report. */
void numbered_runs_asked(const struct numbered_runs *r);
void numbered_runs_free(struct numbered_runs *r);

#endif
