/* What heddle explore and heddle litmus share. */
#ifndef HEDDLE_CLI_EXPLORE_H
#define HEDDLE_CLI_EXPLORE_H

#include <stdio.h>

#include "api/explore.h"
#include "cli/cli.h"
#include "cli/ranks.h"
#include "explore/exploration.h"
#include "explore/rerun.h"

/* From here on the first Ctrl-C or SIGTERM ends the search, and the results so far are printed; a
 * second one ends the program. The first of several ranks prints at once that it was interrupted,
 * because a launcher soon ends it. */
const atomic_bool *explore_interrupted(const struct ranks *ranks);
/* Prepares a result for output, as the options ask. */
struct exploration explored(struct session *s, struct explore_result *r, double seconds);
void explored_print(const struct exploration *e);
/* Makes the folder of --schedules. Returns 0, or the exit status after an error. */
int make_schedules_folder(struct session *s);
/* Writes the file of --json. Returns 0, or the exit status after an error. */
int explored_write_json(struct session *s, const json_t *json, size_t flags);
/* Prints what cannot be explored. Returns the exit status of an error: nothing was
 * found or shown to be right. */
int explore_refused(struct session *s, const struct exploration *e);

/* ---- execution.c: single executions of what was explored ---- */

struct explored_launch {
    hd_kernel *kernel;
    const hd_launch_config *config;
    const struct explore_options *options;
    /* The user's name for a place in memory; NULL: it has none. */
    const char *(*name)(void *data, const struct location *l);
    void *data;
};
/* Checks the file names of --graph and --json. Returns 0, or 2 after an error. */
int written_name_error(struct session *s);
/* Writes the picture, and prints the file's name. */
int write_graph(struct session *s, const struct text *picture, const char *shows, FILE *say);
/* Applies --outcome; an error if there is no such outcome. */
int choose_outcome(struct session *s, struct exploration *e);
/* Does --repair and --graph: prints after the results, and adds to `json` (NULL: none). */
int explored_further(struct session *s, const struct exploration *e, const struct explored_launch *l, json_t *json);

#endif
