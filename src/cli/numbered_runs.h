/* The runs of `heddle check --runs N`, from 0. Run 0 is as typed; the others differ by their seeds.
 *
 * If mpirun has started several ranks (cli/ranks.h), each rank takes the next run that no rank has
 * taken. The first rank does run 0 and collects all results. They are those of one process: results
 * after a run that ends the series are dropped. */
#ifndef HEDDLE_CLI_NUMBERED_RUNS_H
#define HEDDLE_CLI_NUMBERED_RUNS_H

#include "cli/ranks.h"

#define RUNS_ARE_LOST "heddle: a rank does not answer: its runs are missing here\n"

struct numbered_runs {
    struct ranks *ranks;
    unsigned n;
    bool first_is_last; /* run 0 comes last */
    /* Does a run and returns its result; NULL after it has printed an error. */
    json_t *(*run)(void *data, unsigned number);
    /* Does this result end the series? *interrupted: a user has asked for the end; then run 0 is
     * left out, too, if it would come last. */
    bool (*ends)(void *data, const json_t *said, bool *interrupted);
    void *data;
    json_t **said; /* results by number, in the arena; NULL: the run was not done */
    _Atomic unsigned n_done;
    /* A run could not be done; ranks->lost: some were begun, and their results are lost. */
    bool failed;
};

/* Does all runs, or this rank's part of them. */
void numbered_runs_do(struct numbered_runs *r, struct arena *arena);
/* Called when this process is asked to end. The first of several ranks prints at once how many runs
 * were done, because a launcher leaves it little time for the full report. */
void numbered_runs_asked(const struct numbered_runs *r);
void numbered_runs_free(struct numbered_runs *r);

#endif
