/* Scheduling policies: who runs next, and for how long.
 *
 * `fair` lets every worker thread take its blocks in turn; time is real. The other policies run a launch on one thread
 * and take every decision from one stream of choices, so that a run can be repeated: `serial` always takes the first
 * choice, `random:SEED` a pseudo-random one (`random` takes the seed from the clock), `replay:FILE` those that an earlier
 * run has recorded. Their clocks count instructions.
 */
#ifndef HEDDLE_EXEC_SCHEDULE_H
#define HEDDLE_EXEC_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum policy { POLICY_FAIR, POLICY_SERIAL, POLICY_RANDOM, POLICY_REPLAY };

struct schedule {
    enum policy policy;
    char *name; /* of the policy, as schedule_open takes it: with it the run can be repeated */
    uint64_t seed, state;
    FILE *replay, *record; /* or NULL */
    uint64_t choices;
    bool diverged; /* the recording does not fit this run */
};

/* "fair", "serial", "random", "random:SEED", "replay:FILE"; record_path or NULL. False with *error, a static text. */
bool schedule_open(struct schedule *s, const char *policy, const char *record_path, const char **error);
/* False where the record could not be written to its end. */
bool schedule_close(struct schedule *s);

/* One of n things, 0 <= result < n. */
uint32_t schedule_choose(struct schedule *s, uint32_t n);

#endif
