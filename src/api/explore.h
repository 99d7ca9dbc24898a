/* Explorations of a launch, for the command and for programs: what the public functions would be to explore/explore.h. */
#ifndef HEDDLE_API_EXPLORE_H
#define HEDDLE_API_EXPLORE_H

#include "explore/follow.h"
#include "explore/questions.h"
#include "heddle.h"

/* Checks a configuration as hd_launch() does, and explores the launch, on as many threads as the machine runs kernels on where the options
 * say none; `result` is the caller's to free (explore_free). */
hd_result api_explore(hd_kernel *kernel, const hd_launch_config *config, const struct explore_options *options,
                      struct explore_result *result, hd_report **report);

/* Runs a launch as an interleaving of its has it, and records its schedule; *followed: it has come to its end so. Of a machine that has no
 * schedule. The report is of the launch. */
hd_result api_follow(hd_kernel *kernel, const hd_launch_config *config, const struct interleaving *order,
                     const char *record_path, bool *followed, hd_report **report);

/* A place of a launch, as place_find_fn has it: an element of what an argument points to, or of a variable of the module or in the first
 * block's shared memory. */
const char *api_launch_place(hd_kernel *kernel, const void *packed_args, const struct place_name *name,
                             struct observed *at, bool *is_signed, struct arena *arena);
/* The same of variables alone. */
const char *api_variable_place(hd_kernel *kernel, const struct place_name *name, struct observed *at, bool *is_signed,
                               struct arena *arena);

/* A place of memory as an element of a variable or of what an argument of the launch leads to, in the arena; NULL: of none. */
const char *api_location_name(hd_kernel *kernel, const void *packed_args, const struct location *l,
                              struct arena *arena);

#endif
