/* Explorations of a launch, for the command: what the public functions would be to explore/explore.h. */
#ifndef HEDDLE_API_EXPLORE_H
#define HEDDLE_API_EXPLORE_H

#include "explore/explore.h"
#include "heddle.h"

/* Checks a configuration as hd_launch() does, and explores the launch; `result` is the caller's to free (explore_free). */
hd_result api_explore(hd_kernel *kernel, const hd_launch_config *config, const struct explore_options *options,
                      struct explore_result *result, hd_report **report);
/* A variable of the kernel's in shared memory: where it begins; false where there is none of that name. */
bool api_shared_variable(hd_kernel *kernel, const char *name, uint64_t *at, uint64_t *bytes);

#endif
