/* A CUDA program that is about to be started so that it finds our libraries in the place of CUDA's;
 * what cannot work is found in its file first. */
#ifndef HEDDLE_CLI_PROGRAM_H
#define HEDDLE_CLI_PROGRAM_H

#include "cli/cli.h"

enum { PROGRAM_CANNOT_RUN = 126, PROGRAM_NOT_FOUND = 127 }; /* exit statuses, as shells have them */

/* Finds the session's first word, the program, and sets this process's environment as it needs it,
 * the options' limits included, and a library of ours that is to be preloaded beside the usual (or
 * NULL). Returns its path, for execv() with the session's words; or NULL, and *status is the exit
 * status of what has been said. */
const char *program_prepare(struct session *s, const char *preload, int *status);

#endif
