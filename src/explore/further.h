/* What is asked of an exploration beyond its outcomes and findings: a repair that forbids them
 * (repair.h), the picture of an execution (picture.h). For both the launch is explored again. */
#ifndef HEDDLE_EXPLORE_FURTHER_H
#define HEDDLE_EXPLORE_FURTHER_H

#include "explore/exploration.h"

struct further {
    /* Explores the launch with changes, until something wanted is seen; by one thread, so that this
     * is the same each time. */
    void (*explore)(void *data, const struct changes *c, const struct wanted *w, struct explore_result *r);
    /* What the user calls a place of memory, in the arena of the exploration; NULL: nothing. */
    const char *(*name)(void *data, const struct location *l);
    void *data;
};

/* --outcome: the line of the outcomes, from 1 on; NULL, or that there is none such. */
const char *further_choose(struct exploration *e, uint64_t number);
/* Adds the repair to the text, and to `json` (NULL: there is none). */
void further_repair(const struct exploration *e, const struct further *f, struct text *t, json_t *json);

enum picture_format { PICTURE_NONE, PICTURE_PAGE, PICTURE_SVG };
/* By how the name of a file ends: .html or .svg; else none. */
enum picture_format picture_format_of(const char *extension);
/* An execution of what was chosen; else of an outcome that is excluded; else of the first finding;
 * else of the first outcome that is not sequentially consistent, or the first one. NULL with
 * *shows, what it is of; or why there is none. */
const char *further_draw(const struct exploration *e, const struct further *f, enum picture_format format,
                         struct text *picture, const char **shows);

#endif
