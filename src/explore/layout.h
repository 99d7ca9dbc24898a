/* Where the events and edges of an execution stand in its picture: a column for each thread, a row
 * for each step (who reads, meets or follows stands below), and edges that run in the gutters
 * between columns and in the channels between rows, each on a track of its own: no line and no text
 * covers another text. */
#ifndef HEDDLE_EXPLORE_LAYOUT_H
#define HEDDLE_EXPLORE_LAYOUT_H

#include "explore/why.h"

struct box {
    uint16_t column, row;
    float x, y, width, height;
};

/* An edge: a line with corners from the side of a box to that of another. Labels stand inside of
 * the boxes, where it begins and ends. */
enum { MAX_CORNERS = 8 };
struct wire {
    uint32_t edge; /* of the why */
    uint8_t n;
    float x[MAX_CORNERS], y[MAX_CORNERS];
    bool from_right, to_right; /* the sides of the boxes */
};

struct layout {
    float width, height;
    uint16_t n_columns;
    uint16_t *thread;                    /* by column */
    float *column_x;                     /* by column, where its boxes begin */
    float column_width, text_width, top; /* top: where the first row begins */
    struct box *boxes;                   /* by event */
    struct wire *wires;
    uint32_t n_wires;
};

/* Widths and heights of the text in a box, and of the widest label beside it. */
struct layout *layout_make(struct arena *arena, const struct execution *e, const struct why *w, float text_width,
                           float text_height, float label_width);

#endif
