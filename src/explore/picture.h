/* An execution as a picture: SVG, or a page that explains for each event and edge, under the
 * pointer or the focus, why it is allowed, and what would forbid it. The page is one file without
 * external resources. */
#ifndef HEDDLE_EXPLORE_PICTURE_H
#define HEDDLE_EXPLORE_PICTURE_H

#include "explore/exploration.h"
#include "explore/axioms.h"

struct picture {
    struct arena *arena;
    const struct exploration *x;
    const struct execution *e;
    const struct why *why;
    /* The user's name for a place of memory, in the arena; NULL if it has none. */
    const char *(*name)(void *data, const struct location *l);
    void *data;
};

/* What is said of a read that no order, scope or fence would forbid. */
#define PICTURE_NO_REMEDY                                                                                              \
    "No order, scope or fence forbids it: it stays possible even if every access is strong and has a fence.sc before " \
    "it."

void picture_svg(const struct picture *p, struct text *t);
void picture_page(const struct picture *p, struct text *t);

/* ---- picture_labels.c ---- */

/* "W 2[0] = 42", "R flag = 0", "U lock: 0 -> 1", "fence.sc.gpu": with its order and scope. */
const char *picture_event_text(const struct picture *p, uint16_t event);
/* A sentence: which thread does what, at which line. */
const char *picture_event_sentence(const struct picture *p, uint16_t event);
/* What the edge means, why it is allowed, and what would forbid it. */
const char *picture_edge_sentence(const struct picture *p, const struct why_edge *e);
/* What the picture shows: an outcome, a race. */
const char *picture_title(const struct picture *p);
/* The minimal sets of changes that forbid it; 0 if there are none. */
unsigned picture_remedies(const struct picture *p, const char *texts[MAX_REASONS]);

/* The page before and behind its content; the build makes it from src/explore/page/. */
extern const char picture_head[], picture_tail[];

#endif
