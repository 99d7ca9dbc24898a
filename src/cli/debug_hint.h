/* From a finding of `heddle check` to the debugger. */
#ifndef HEDDLE_CLI_DEBUG_HINT_H
#define HEDDLE_CLI_DEBUG_HINT_H

#include "cli/cli.h"

/* The command of `heddle debug` that stops at what this command found under a policy, with the
 * options that both commands have. */
const char *command_that_stops(struct session *s, const char *policy, bool of_program);

#endif
