/* What checked processes have found, from the folder that they write it to (cuda/watch/check.h). */
#ifndef HEDDLE_CLI_CHECK_FINDINGS_H
#define HEDDLE_CLI_CHECK_FINDINGS_H

#include <sys/types.h>

#include "base/diag.h"
#include "cli/cli.h"

/* Of all processes of all runs. */
struct findings {
    struct diags diags; /* each finding once */
    uint64_t launches, unchecked;
    uint64_t unended;     /* launches that had begun and not ended when their processes did, or were looked at last */
    json_t *running;      /* an object: how many of them, by their kernels' mangled names */
    json_t *kernels;      /* an object: the mangled names of those that were checked, in the order of first launches */
    unsigned n_processes; /* that have used CUDA */
    json_t *processes;    /* an array of what each has said of itself */
    bool lost;            /* there was more, which could not be written or read */
};

void findings_init(struct findings *f, struct arena *arena);
/* Adds what is in the folder. `repeat`: the command that repeats this run, or NULL. */
void findings_collect(struct findings *f, const char *folder, const char *repeat);
void check_findings_free(struct findings *f);

/* While processes run: how far they are. */
void findings_look(const char *folder, uint64_t *launches, uint64_t *found);
/* Waits, but not for long, for processes that have outlived the program; a text that names one that goes on, in the arena, or
 * NULL. */
const char *findings_await(const char *folder, struct arena *arena);

#endif
