/* Commands that mpirun starts as several processes, which share their work (ranks/ranks.h): the
 * first one prints, the others are silent. */
#ifndef HEDDLE_CLI_RANKS_H
#define HEDDLE_CLI_RANKS_H

#include "cli/cli.h"
#include "ranks/ranks.h"

/* At the beginning of such a command; what other ranks print from here on is kept back. */
void begin_ranks(struct ranks *r);
/* The same, where ranks have to have their memory at the same addresses: this process may begin
 * once more, without random ones. */
void begin_equal_ranks(struct session *s, struct ranks *r);
/* All ranks have read what they are to do. Returns 0, or the exit status where they cannot be
 * connected, which has been said. */
int connect_ranks(struct session *s, struct ranks *r);
/* At the command's end; returns its exit status. A rank that has failed alone says why. */
int end_ranks(struct ranks *r, int status);

#endif
