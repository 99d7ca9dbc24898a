/* Runs a program for a limited time. */
#ifndef HEDDLE_CLI_SUPERVISE_H
#define HEDDLE_CLI_SUPERVISE_H

#include "cli/cli.h"

enum { TIME_IS_OVER = 124 }; /* exit status, as timeout(1) has it */

/* Starts words[0..] from `file` and waits for it; returns its exit status, or ends by the signal that has ended it. Where it has
 * not ended `seconds` and a grace period later, it is ended, with all its children. */
int supervise(struct session *s, const char *file, char *const *words, double seconds);

#endif
