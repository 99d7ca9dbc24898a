/* Explorations of a launch, for the command and for programs. These are to explore/explore.h what
 * public functions would be. */
#ifndef HEDDLE_API_EXPLORE_H
#define HEDDLE_API_EXPLORE_H

#include "exec/schedule.h"
#include "explore/questions.h"
#include "heddle.h"

/* Checks a configuration as hd_launch() does, and explores the launch. Without an option it uses as
 * many threads as the machine runs kernels on. The caller frees `result` (explore_free). */
hd_result api_explore(hd_kernel *kernel, const hd_launch_config *config, const struct explore_options *options,
                      struct explore_result *result, hd_report **report);

/* Where the schedules of an explored launch are written (--schedules). */
struct schedule_files {
    hd_kernel *kernel;
    const hd_launch_config *config;
    const struct observed *observed; /* from the options of the exploration */
    uint32_t n_observed;
    const struct interleavings *interleavings; /* from the result */
    /* The folder's path for processes, and as the user typed it. */
    const char *folder, *called;
    const struct schedule_launch *launch; /* the launch of a program; or NULL */
    struct arena *arena;
    /* By interleaving: its file, or "" if the run did not reproduce it; NULL at first. */
    const char **written;
};
/* Runs the launch by an interleaving, restores global memory, and writes the schedule into a file,
 * once. Returns the path as the user typed it; NULL if the run did not reproduce the outcome, and
 * then there is no file. */
const char *api_write_schedule(void *files, const struct interleaving *i, const char *name);

/* A place of a launch, for place_find_fn: an element of what an argument points to, or of a
 * variable of the module or in the first block's shared memory. */
const char *api_launch_place(hd_kernel *kernel, const void *packed_args, const struct place_name *name,
                             struct observed *at, bool *is_signed, struct arena *arena);
/* Finds places of variables only. */
/* The number of the argument that a place names, by number or by its parameter's name; 0 if it
 * names a variable. */
unsigned api_argument_of(const hd_kernel *kernel, const struct place_name *name);
const char *api_variable_place(hd_kernel *kernel, const struct place_name *name, struct observed *at, bool *is_signed,
                               struct arena *arena);

/* Names an address as an element of a variable, or of what an argument of the launch points to, in
 * the arena; NULL if neither holds it. */
const char *api_location_name(hd_kernel *kernel, const void *packed_args, const struct location *l,
                              struct arena *arena);

#endif
