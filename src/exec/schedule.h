/* Scheduling policies: who runs next, and for how long.
 *
 * `fair` lets every worker thread take its blocks in turn; time is real. The other policies run a
 * launch on one thread and take every decision from one stream of choices, so that a run can be
 * repeated: `serial` always takes the first choice, `random:SEED` a pseudo-random one (`random`
 * takes the seed from the clock), `replay:FILE` those that an earlier run has recorded. Their
 * clocks count instructions. `replay-launch:FILE` does so with the launches alone that ask for it
 * (HD_LAUNCH_REPLAYED); all others are fair.
 *
 * A guide has a launch run as somebody knows beforehand: it is asked before each choice, and what
 * is chosen is recorded as that of any other run. Then all blocks that have room begin at once, so
 * that any thread may come first, and a turn may end where other lanes would go on.
 */
#ifndef HEDDLE_EXEC_SCHEDULE_H
#define HEDDLE_EXEC_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum policy { POLICY_FAIR, POLICY_SERIAL, POLICY_RANDOM, POLICY_REPLAY, POLICY_GUIDED };

struct warp;

struct guide {
    void *data;
    /* The warp of the list that has a turn, of one access at most. */
    uint32_t (*warp)(void *data, struct warp *const *list, uint32_t n);
    /* The lanes of a warp that are to go on, as far as they can; 0: whichever. */
    uint32_t (*lanes)(void *data, const struct warp *w);
    /* Has the warp done what it had its turn for? */
    bool (*is_over)(void *data, const struct warp *w);
};

enum { MAX_HINTS = 4 };

struct schedule {
    enum policy policy;
    char *name; /* of the policy, as schedule_open takes it: with it the run can be repeated */
    uint64_t seed, state;
    FILE *replay, *record; /* or NULL */
    uint64_t choices;
    bool diverged; /* the recording does not fit this run */
    bool of_one;   /* launches have it that ask for it */
    /* All blocks that have room begin at once, and a turn may end where other lanes would go on. */
    bool at_once;
    const struct guide *guide; /* POLICY_GUIDED, */
    /* And what it has said of the next choices, from the last to the first. */
    uint32_t hints[MAX_HINTS], n_hints;
};

/* "fair", "serial", "random", "random:SEED", "replay:FILE"; record_path or NULL. False with *error,
 * a static text. */
bool schedule_open(struct schedule *s, const char *policy, const char *record_path, const char **error);
/* A launch of a program, as its schedule's file says whose it is: the N-th of a kernel. */
struct schedule_launch {
    const char *kernel; /* mangled */
    uint64_t number;    /* from 1 on */
};
/* A guide's, which is recorded; `of` may be NULL. False where it cannot be. */
bool schedule_open_guided(struct schedule *s, const struct guide *guide, const char *record_path,
                          const struct schedule_launch *of);
/* The file that a policy replays, a part of its text; NULL: it replays none. */
const char *schedule_replayed_file(const char *policy);
/* Whose schedule it is that a file has; the name is from malloc, NULL where the file does not say.
 * False where there is no such file, or it has none. */
bool schedule_read_launch(const char *path, struct schedule_launch *of);
/* False where the record could not be written to its end. */
bool schedule_close(struct schedule *s);

/* A launch of the machine begins, of this number from 1 on: a seed gives each its own choices,
 * so that what was chosen in those before it does not count. */
void schedule_begin(struct schedule *s, uint64_t launch);

/* One of n things, 0 <= result < n. */
uint32_t schedule_choose(struct schedule *s, uint32_t n);
/* What the next choice among several takes, under a guide, before those that hints were given of
 * already. Without one it takes the first thing. */
void schedule_hint(struct schedule *s, uint32_t value);

#endif
