/* Findings from a file of events (heddle check --replay-events). */
#ifndef HEDDLE_CLI_CHECK_REPLAY_H
#define HEDDLE_CLI_CHECK_REPLAY_H

#include "cli/check_results.h"

/* Adds the findings; *program is the recorded program. Returns NULL, or what is wrong, in the
 * arena. */
const char *check_replay(const char *path, struct check_results *results, const char **program, struct arena *arena);

#endif
