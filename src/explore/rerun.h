/* Repairs that forbid an exploration's findings (repair.h), and pictures of single executions
 * (picture.h). Both explore the launch again. */
#ifndef HEDDLE_EXPLORE_RERUN_H
#define HEDDLE_EXPLORE_RERUN_H

#include "explore/exploration.h"

struct further {
    /* Explores the launch with changes until something wanted is seen; with one thread, so that the
     * result is the same each time. */
    void (*explore)(void *data, const struct changes *c, const struct wanted *w, struct explore_result *r);
    /* The user's name for a place of memory, in the exploration's arena; NULL if it has none. */
    const char *(*name)(void *data, const struct location *l);
    void *data;
};

/* --outcome: the outcome's number, from 1. Returns NULL, or that there is no such outcome. */
const char *further_choose(struct exploration *e, uint64_t number);
/* Appends the repair to the text, and to `json` (NULL: none). */
void further_repair(const struct exploration *e, const struct further *f, struct text *t, json_t *json);

enum picture_format { PICTURE_NONE, PICTURE_PAGE, PICTURE_SVG };
/* The format by a file name's ending, .html or .svg; else none. */
enum picture_format picture_format_of(const char *extension);
/* Draws an execution with the chosen outcome; else with an outcome that is excluded; else with the
 * first finding; else with the first outcome that is not sequentially consistent, or the first one.
 * *shows: what it shows, or, if NULL is returned, why there is no picture. */
const char *further_draw(const struct exploration *e, const struct further *f, enum picture_format format,
                         struct text *picture, const char **shows);

#endif
