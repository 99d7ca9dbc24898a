/* An execution as a picture: SVG, or a page that says of each event and edge, under the pointer or
 * the focus, why it is allowed, and what would have forbidden it. The page is one file that asks
 * for nothing else. */
#ifndef HEDDLE_EXPLORE_PICTURE_H
#define HEDDLE_EXPLORE_PICTURE_H

#include "explore/exploration.h"
#include "explore/why.h"

struct picture {
    struct arena *arena;
    const struct exploration *x;
    const struct execution *e;
    const struct why *why;
    /* What the user calls a place of memory, in the arena; NULL: nothing. */
    const char *(*name)(void *data, const struct location *l);
    void *data;
};

void picture_svg(const struct picture *p, struct text *t);
void picture_page(const struct picture *p, struct text *t);

/* ---- why_text.c ---- */

/* "W 2[0] = 42", "R flag = 0", "U lock: 0 -> 1", "fence.sc.gpu": with its order and scope. */
const char *picture_event_text(const struct picture *p, uint16_t event);
/* Who does what where. */
const char *picture_event_sentence(const struct picture *p, uint16_t event);
/* What the edge says, why it is allowed, what would have forbidden it. */
const char *picture_edge_sentence(const struct picture *p, const struct why_edge *e);
/* What is shown: an outcome, a race. */
const char *picture_title(const struct picture *p);
/* The least sets of changes that forbid it; 0: none does. */
unsigned picture_remedies(const struct picture *p, const char *texts[MAX_REASONS]);

/* What stands before the content and behind it; made by the build of src/explore/page/. */
extern const char picture_head[], picture_tail[];

#endif
