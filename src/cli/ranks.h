/* Commands that mpirun starts as several processes, which share their work (ranks/ranks.h): the
 * first one prints, the others are silent. */
#ifndef HEDDLE_CLI_RANKS_H
#define HEDDLE_CLI_RANKS_H

#include "cli/cli.h"
#include "ranks/ranks.h"

/* Called at the beginning of such a command. From here on the output of the other ranks is held
 * back. */
void begin_ranks(struct ranks *r);
/* The same for commands whose ranks need their memory at equal addresses: the process may start
 * once more, without random addresses. */
void begin_equal_ranks(struct session *s, struct ranks *r);
/* Connects the ranks, once each has read its command line. Returns 0, or the exit status after an
 * error. */
int connect_ranks(struct session *s, struct ranks *r);
/* Called at the command's end; returns its exit status. A rank that alone has failed prints why. */
int end_ranks(struct ranks *r, int status);

#endif
