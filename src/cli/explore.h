/* What heddle explore and heddle litmus share. */
#ifndef HEDDLE_CLI_EXPLORE_H
#define HEDDLE_CLI_EXPLORE_H

#include <stdio.h>

#include "api/explore.h"
#include "cli/cli.h"
#include "cli/ranks.h"
#include "explore/exploration.h"
#include "explore/further.h"

/* From here on the first Ctrl-C or SIGTERM ends the search, and what is known is told; the second
 * one ends the program. The first of several ranks says at once that it has been asked: a launcher
 * gives it little time to tell what is known. */
const atomic_bool *explore_interrupted(const struct ranks *ranks);
/* What is to be told of a result, as the options say. */
struct exploration explored(struct session *s, struct explore_result *r, double seconds);
void explored_print(const struct exploration *e);
/* --schedules: its folder is there then. Returns 0, or the exit status of why it cannot be, which
 * has been said. */
int make_schedules_folder(struct session *s);
/* --json: writes it; returns 0, or the exit status of why it cannot be written, which has been
 * said. */
int explored_write_json(struct session *s, const json_t *json, size_t flags);
/* Says what is not explored; returns 2, as nothing was found and nothing shown to be right. */
int explore_refused(struct session *s, const struct exploration *e);

/* ---- execution.c: single executions of what was explored ---- */

struct explored_launch {
    hd_kernel *kernel;
    const hd_launch_config *config;
    const struct explore_options *options;
    /* What the user calls a place of memory; NULL: nothing. */
    const char *(*name)(void *data, const struct location *l);
    void *data;
};
/* Can --graph and --json be written, and the one be drawn? Else says so: 2. */
int written_name_error(struct session *s);
/* Writes it, and says so. */
int write_graph(struct session *s, const struct text *picture, const char *shows, FILE *say);
/* --outcome; an error where there is none such. */
int choose_outcome(struct session *s, struct exploration *e);
/* --repair, --graph: behind what was printed, and into `json` (NULL: none). */
int explored_further(struct session *s, const struct exploration *e, const struct explored_launch *l, json_t *json);

#endif
