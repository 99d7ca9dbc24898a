/* Prepares the start of a CUDA program, so that it finds our libraries in place of CUDA's. Looks
 * into its file first, and refuses a program that cannot work. */
#ifndef HEDDLE_CLI_PROGRAM_H
#define HEDDLE_CLI_PROGRAM_H

#include "cli/cli.h"

enum { PROGRAM_CANNOT_RUN = 126, PROGRAM_NOT_FOUND = 127 }; /* exit statuses, as shells have them */

/* Finds the program, which is the session's first word, and sets this process's environment for it,
 * with the limits of the options and `preload`, a further library to preload (or NULL). Returns its
 * path for execv() with the session's words; after an error NULL, and *status is the exit
 * status. */
const char *program_prepare(struct session *s, const char *preload, int *status);

#endif
