/* What checked processes have found, from the folder that they write it to
 * (cuda/watch/check_file.h). */
#ifndef HEDDLE_CLI_CHECK_RESULTS_H
#define HEDDLE_CLI_CHECK_RESULTS_H

#include "base/diag.h"
#include "cli/cli.h"
#include "cli/status.h"

/* Of all processes of all runs. */
struct check_results {
    struct diags diags;                  /* each finding once */
    uint64_t launches, unchecked, calls; /* calls: of libraries */
    uint64_t unended;     /* launches that had begun and not ended when their processes did, or were looked at last */
    json_t *running;      /* an object: how many of them, by their kernels' mangled names */
    json_t *kernels;      /* an object: the mangled names of those that were checked, in the order of first launches */
    unsigned n_processes; /* that have used CUDA */
    json_t *processes;    /* an array of what each has said of itself */
    bool lost;            /* there was more, which could not be written or read */
};

void check_results_init(struct check_results *f, struct arena *arena);
/* What is in the folder: an array of {"said": what a process has said of itself, "findings":
 * [...]}. `lost`: there was more. */
json_t *check_results_read(const char *folder, struct arena *arena, bool *lost);
/* Adds that. `repeat`: the command that repeats this run, or NULL. */
void check_results_collect(struct check_results *f, const json_t *processes, const char *repeat, const char *stops);
/* What one process has said, an object as in its file, and its findings, an array. */
void check_results_add(struct check_results *f, json_t *said, const json_t *findings);
void check_results_free(struct check_results *f);

/* While processes run: how far they are, and how many findings they have; texts are in the arena. */
struct status_now check_results_look(const char *folder, uint64_t *found, struct arena *arena);

#endif
