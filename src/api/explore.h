/* Explorations of a launch, for the command and for programs: what the public functions would be to
 * explore/explore.h. */
#ifndef HEDDLE_API_EXPLORE_H
#define HEDDLE_API_EXPLORE_H

#include "exec/schedule.h"
#include "explore/questions.h"
#include "heddle.h"

/* Checks a configuration as hd_launch() does, and explores the launch, on as many threads as the
 * machine runs kernels on where the options say none; `result` is the caller's to free
 * (explore_free). */
hd_result api_explore(hd_kernel *kernel, const hd_launch_config *config, const struct explore_options *options,
                      struct explore_result *result, hd_report **report);

/* Where schedules of a launch that was explored go (--schedules). */
struct schedule_files {
    hd_kernel *kernel;
    const hd_launch_config *config;
    const struct observed *observed; /* as the options of the exploration had them */
    uint32_t n_observed;
    const struct interleavings *interleavings; /* the result's */
    const char *folder, *called;               /* as processes find it, and as the user calls it */
    const struct schedule_launch *launch;      /* of a program; or NULL */
    struct arena *arena;
    const char **written; /* by interleaving: its file, or "" where it has not shown it; begins as NULL */
};
/* Runs the launch as an interleaving has it, which leaves global memory as it was, and writes its
 * schedule into a file, once. Returns its path as the user calls it; NULL where the run has not
 * shown what it is to show: then there is no file. */
const char *api_write_schedule(void *files, const struct interleaving *i, const char *name);

/* A place of a launch, as place_find_fn has it: an element of what an argument points to, or of a
 * variable of the module or in the first block's shared memory. */
const char *api_launch_place(hd_kernel *kernel, const void *packed_args, const struct place_name *name,
                             struct observed *at, bool *is_signed, struct arena *arena);
/* The same of variables alone. */
/* The number of the argument that a place is of, by number or by the name of its parameter; 0: it
 * is a variable's, if anything's. */
unsigned api_argument_of(const hd_kernel *kernel, const struct place_name *name);
const char *api_variable_place(hd_kernel *kernel, const struct place_name *name, struct observed *at, bool *is_signed,
                               struct arena *arena);

/* A place of memory as an element of a variable or of what an argument of the launch leads to, in
 * the arena; NULL: of none. */
const char *api_location_name(hd_kernel *kernel, const void *packed_args, const struct location *l,
                              struct arena *arena);

#endif
