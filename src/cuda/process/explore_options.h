/* What `heddle explore` asks of the processes that it starts: the environment variable
 * HEDDLE_EXPLORE, a JSON object. Users type the command's options instead. */
#ifndef HEDDLE_CUDA_PROCESS_EXPLORE_OPTIONS_H
#define HEDDLE_CUDA_PROCESS_EXPLORE_OPTIONS_H

#include "base/opts.h"
#include "cuda/process/launch_filter.h"

struct explore_asked {
    const char *folder;                       /* for the processes' files: explore.h */
    struct launch_filter launches;            /* the one that is explored */
    struct opt_list observe, require, forbid; /* from the options: explore/questions.h */
    /* As in struct explore_options; workers: total on this host, 0: one for each processor. */
    uint64_t unroll, step_limit, workers;
    unsigned rank, ranks,
        /* this rank, the number of ranks, and the number on this host: ranks/relay.h; 0 ranks:
           none */
        ranks_here;
    bool symmetric, examples, stats, repair;
    uint64_t outcome; /* --outcome; 0: none was chosen */
    int picture;      /* enum picture_format: explore/rerun.h */
    /* The folder of --schedules, absolute and as typed; or NULL. */
    const char *schedules, *schedules_called;
};

/* The variable's value, from malloc; NULL if memory is exhausted or a text is not UTF-8. */
char *explore_asked_text(const struct explore_asked *a);
/* Reads such a value; false if it is invalid. The strings live until the process ends. */
bool explore_asked_read(const char *text, struct explore_asked *a);

#endif
