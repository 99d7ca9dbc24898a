/* What checked processes have found, read from the folder to which they write
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
    /* Launches that were still running when their process ended, or at the last look. */
    uint64_t unended;
    json_t *running; /* an object: the number of such launches by the kernel's mangled name */
    /* An object: mangled names of the checked kernels, in the order of first launches. */
    json_t *kernels;
    unsigned n_processes; /* that have used CUDA */
    json_t *processes;    /* an array: what each process reported about itself */
    bool lost;            /* some results could not be written or read */
};

void check_results_init(struct check_results *f, struct arena *arena);
/* The folder's contents: an array of {"said": what a process reported about itself, "findings":
 * [...]}. *lost: some could not be read. */
json_t *check_results_read(const char *folder, struct arena *arena, bool *lost);
/* Adds the result of check_results_read(). `repeat`: the command that repeats this run, or NULL. */
void check_results_collect(struct check_results *f, const json_t *processes, const char *repeat, const char *stops);
/* Adds one process: the object that its file has about it, and an array of its findings. */
void check_results_add(struct check_results *f, json_t *said, const json_t *findings);
void check_results_free(struct check_results *f);

/* The progress of running processes, and *found, the number of their findings; texts are in the
 * arena. */
struct status_now check_results_look(const char *folder, uint64_t *found, struct arena *arena);

#endif
