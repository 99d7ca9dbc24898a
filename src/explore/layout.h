/* The layout of an execution's picture: a column for each thread, a row for each step (events that
 * read, meet or follow are lower), and edges in the gutters between columns and the channels
 * between rows, each on its own track, so that lines and texts never overlap. */
#ifndef HEDDLE_EXPLORE_LAYOUT_H
#define HEDDLE_EXPLORE_LAYOUT_H

#include "explore/axioms.h"

struct box {
    uint16_t column, row;
    float x, y, width, height;
};

/* An edge: a line with corners from the side of one box to the side of another. Its labels are
 * inside the boxes, at its ends. */
enum { MAX_CORNERS = 8 };
struct wire {
    uint32_t edge; /* number of the edge in the explanation (axioms.h) */
    uint8_t n;
    float x[MAX_CORNERS], y[MAX_CORNERS];
    bool from_right, to_right; /* which sides of the boxes */
};

struct layout {
    float width, height;
    uint16_t n_columns;
    uint16_t *thread;                    /* by column */
    float *column_x;                     /* by column, the left edge of its boxes */
    float column_width, text_width, top; /* top: the first row's */
    struct box *boxes;                   /* by event */
    struct wire *wires;
    uint32_t n_wires;
};

/* Takes the width and height of each box's text, and the width of the widest label beside it. */
struct layout *layout_make(struct arena *arena, const struct execution *e, const struct why *w, float text_width,
                           float text_height, float label_width);

#endif
