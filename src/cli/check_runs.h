/* heddle check --runs N FILE.ptx ...: several runs of one launch, under different schedules. */
#ifndef HEDDLE_CLI_CHECK_RUNS_H
#define HEDDLE_CLI_CHECK_RUNS_H

#include "cli/cli.h"

/* Returns the exit status. */
int check_runs(struct session *s);

#endif
