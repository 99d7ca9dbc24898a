/* See layout.h. */
#include "explore/layout.h"

#include <stdlib.h>

enum { MARGIN = 12, PORT = 12, TRACK = 8, PAD = 30, HEADER = 44, CHANNEL = 22 };

struct port {
    uint32_t wire;
    bool ends; /* of the wire's end, not its beginning */
    int order; /* orders by where the wire leads */
};

struct side {
    VEC(struct port) ports;
};

/* A segment that needs a track: in a gutter between columns, or in a channel between rows. */
struct run_of_wire {
    uint32_t wire;
    uint8_t corner; /* its first corner */
    int from, to;
    uint16_t track;
};

struct lane {
    VEC(struct run_of_wire) runs;
    uint16_t n_tracks;
    float at;
};

struct drawing {
    struct arena *arena;
    const struct execution *e;
    const struct why *w;
    struct layout *l;
    uint16_t *column; /* by thread */
    uint16_t n_rows;
    struct side *sides[2];           /* left, right: by event */
    struct lane *gutters, *channels; /* one more than there are columns; than there are rows */
    uint16_t *group;                 /* by event: the first event that it meets, or itself */
    /* Edges by the event that they lead to: 1 + the newest; a linked list. */
    uint32_t *into, *next;
};

/* ---- rows ---- */

/* Events that meet are placed side by side, as one. */
static uint16_t first_of_meeting(const struct execution *e, uint16_t i)
{
    const struct execution_event *v = &e->events[i];
    if (v->meeting == NO_EVENT || !v->arrives)
        return i;
    for (uint16_t k = 0; k < i; k++)
        if (e->events[k].meeting == v->meeting && e->events[k].arrives)
            return k;
    return i;
}

/* The row below everything that precedes the event, or an event that it meets; 0: not known yet.
 * `reads`: includes what it reads from. */
static uint16_t row_below(const struct drawing *d, const uint16_t *row, uint16_t group, bool reads)
{
    const struct execution *e = d->e;
    uint16_t below = 1, last = e->events[group].meeting == NO_EVENT ? group : e->n_events - 1;
    for (uint16_t i = group; i <= last; i++) {
        for (uint32_t k = d->group[i] == group ? d->into[i] : 0; k; k = d->next[k - 1]) {
            const struct why_edge *edge = &d->w->edges.at[k - 1];
            bool counts = edge->kind == EDGE_PO || (reads && (edge->kind == EDGE_RF || edge->kind == EDGE_FENCE));
            if (edge->from == NO_EVENT || !counts)
                continue;
            if (!row[edge->from])
                return 0;
            below = row[edge->from] >= below ? row[edge->from] + 1 : below;
        }
    }
    return below;
}

/* Assigns rows from 1. A read may precede the write that it reads from (load buffering): then only
 * program order counts. */
static void find_rows(struct drawing *d)
{
    const struct execution *e = d->e;
    uint16_t *row = ARENA_ARRAY(d->arena, uint16_t, e->n_events + 1u);
    d->group = ARENA_ARRAY(d->arena, uint16_t, e->n_events + 1u);
    d->into = ARENA_ARRAY(d->arena, uint32_t, e->n_events + 1u);
    d->next = ARENA_ARRAY(d->arena, uint32_t, d->w->edges.n + 1);
    for (uint16_t i = 0; i < e->n_events; i++)
        d->group[i] = first_of_meeting(e, i);
    for (uint32_t k = 0; k < d->w->edges.n; k++) {
        d->next[k] = d->into[d->w->edges.at[k].to];
        d->into[d->w->edges.at[k].to] = k + 1;
    }
    for (uint16_t left = e->n_events; left;) {
        uint16_t before = left;
        for (int reads = 1; reads >= 0 && left == before; reads--)
            for (uint16_t i = 0; i < e->n_events && !(left < before && !reads); i++) {
                uint16_t below = row[i] || d->group[i] != i ? 0 : row_below(d, row, i, reads);
                for (uint16_t k = i; k < e->n_events && below; k++)
                    if (d->group[k] == i && !row[k]) {
                        row[k] = below;
                        left--;
                    }
            }
        if (left == before) /* meetings that wait for each other; no real execution has them */
            break;
    }
    for (uint16_t i = 0; i < e->n_events; i++) {
        d->l->boxes[i].row = row[i] ? row[i] - 1 : 0;
        d->n_rows = row[i] > d->n_rows ? row[i] : d->n_rows;
    }
}

static void find_columns(struct drawing *d)
{
    const struct execution *e = d->e;
    d->column = ARENA_ARRAY(d->arena, uint16_t, e->threads.n + 1u);
    d->l->thread = ARENA_ARRAY(d->arena, uint16_t, e->threads.n + 1u);
    for (uint16_t t = 0; t < e->threads.n; t++)
        if (e->thread[t].n) {
            d->column[t] = d->l->n_columns;
            d->l->thread[d->l->n_columns++] = t;
        }
    for (uint16_t i = 0; i < e->n_events; i++)
        d->l->boxes[i].column = d->column[e->events[i].thread];
}

/* ---- wires ---- */

static void add_run(struct drawing *d, struct lane *lane, uint32_t wire, uint8_t corner, int a, int b)
{
    *VEC_PUSH(d->arena, &lane->runs) = (struct run_of_wire){wire, corner, a < b ? a : b, a < b ? b : a, 0};
}

static void add_port(struct drawing *d, uint16_t event, bool right, uint32_t wire, bool ends, int order)
{
    *VEC_PUSH(d->arena, &d->sides[right][event].ports) = (struct port){wire, ends, order};
}

/* The row in half units: rows are odd, the channels above them even. */
static int unit_of(const struct box *b)
{
    return 2 * b->row + 1;
}

/* Corners: 0 is the beginning; two for each vertical or horizontal segment; then the end. */
static void route(struct drawing *d, uint32_t n)
{
    struct wire *wire = &d->l->wires[n];
    const struct why_edge *edge = &d->w->edges.at[wire->edge];
    const struct box *b = &d->l->boxes[edge->to];
    if (edge->from == NO_EVENT) {
        wire->n = 2;
        add_port(d, edge->to, false, n, true, -1);
        return;
    }
    const struct box *a = &d->l->boxes[edge->from];
    int from = unit_of(a), to = unit_of(b);
    wire->from_right = b->column >= a->column;
    wire->to_right = b->column <= a->column;
    uint16_t first = a->column + wire->from_right, last = b->column + wire->to_right;
    if (first == last) {
        wire->n = 4;
        add_run(d, &d->gutters[first], n, 1, from, to);
    } else {
        uint16_t channel = b->row > a->row ? a->row + 1 : a->row;
        wire->n = 6;
        add_run(d, &d->gutters[first], n, 1, from, 2 * channel);
        add_run(d, &d->channels[channel], n, 2, first, last);
        add_run(d, &d->gutters[last], n, 3, 2 * channel, to);
    }
    add_port(d, edge->from, wire->from_right, n, false, to);
    add_port(d, edge->to, wire->to_right, n, true, from);
}

/* qsort() must not get NULL, even for no elements. */
#define SORT(vec, compare)                                                                                             \
    do {                                                                                                               \
        if ((vec)->n)                                                                                                  \
            qsort((vec)->at, (vec)->n, sizeof *(vec)->at, compare);                                                    \
    } while (0)

static int compare_ports(const void *a, const void *b)
{
    const struct port *x = a, *y = b;
    return x->order != y->order ? x->order - y->order : (x->wire > y->wire) - (x->wire < y->wire);
}

static int compare_runs(const void *a, const void *b)
{
    const struct run_of_wire *x = a, *y = b;
    return x->from != y->from ? x->from - y->from
           : x->to != y->to   ? x->to - y->to
                              : (x->wire > y->wire) - (x->wire < y->wire);
}

/* Assigns each segment the first track that is free. A segment that begins where another one ends
 * would touch it. */
static void find_tracks(struct drawing *d, struct lane *lane)
{
    int *end = ARENA_ARRAY(d->arena, int, lane->runs.n + 1);
    SORT(&lane->runs, compare_runs);
    for (uint32_t i = 0; i < lane->runs.n; i++) {
        struct run_of_wire *r = &lane->runs.at[i];
        while (r->track < lane->n_tracks && end[r->track] >= r->from)
            r->track++;
        lane->n_tracks = r->track == lane->n_tracks ? lane->n_tracks + 1 : lane->n_tracks;
        end[r->track] = r->to;
    }
}

/* ---- places ---- */

static float box_height(const struct drawing *d, uint16_t event, float text_height)
{
    uint32_t left = d->sides[0][event].ports.n, right = d->sides[1][event].ports.n;
    float ports = (float)(PORT * ((left > right ? left : right) + 1));
    return ports > text_height ? ports : text_height;
}

static void place_columns(struct drawing *d, float text_width, float label_width)
{
    struct layout *l = d->l;
    float x = MARGIN;
    l->column_x = ARENA_ARRAY(d->arena, float, l->n_columns + 1u);
    l->column_width = text_width + 2 * (label_width + 14);
    l->text_width = text_width;
    for (uint16_t c = 0; c <= l->n_columns; c++) {
        d->gutters[c].at = x + PAD;
        x += (float)(2 * PAD + TRACK * d->gutters[c].n_tracks);
        l->column_x[c] = x;
        x += c < l->n_columns ? l->column_width : 0;
    }
    l->width = x + MARGIN;
}

static void place_rows(struct drawing *d, float text_height)
{
    struct layout *l = d->l;
    float y = HEADER;
    l->top = HEADER;
    for (uint16_t row = 0; row <= d->n_rows; row++) {
        float height = 0;
        d->channels[row].at = y + CHANNEL / 2;
        y += (float)(CHANNEL + TRACK * d->channels[row].n_tracks);
        for (uint16_t i = 0; i < d->e->n_events; i++) {
            struct box *b = &l->boxes[i];
            if (b->row != row)
                continue;
            *b = (struct box){b->column, b->row,          l->column_x[b->column],
                              y,         l->column_width, box_height(d, i, text_height)};
            height = b->height > height ? b->height : height;
        }
        y += height;
    }
    l->height = y + MARGIN;
}

static void place_ports(struct drawing *d, uint16_t event, bool right)
{
    struct side *s = &d->sides[right][event];
    const struct box *b = &d->l->boxes[event];
    SORT(&s->ports, compare_ports);
    for (uint32_t i = 0; i < s->ports.n; i++) {
        struct wire *w = &d->l->wires[s->ports.at[i].wire];
        unsigned corner = s->ports.at[i].ends ? w->n - 1u : 0;
        w->x[corner] = right ? b->x + b->width : b->x;
        w->y[corner] = b->y + b->height * (float)(i + 1) / (float)(s->ports.n + 1);
    }
}

static float track_at(const struct lane *lane, uint32_t i)
{
    return lane->at + (float)(TRACK * lane->runs.at[i].track);
}

static void place_runs(struct drawing *d)
{
    for (uint16_t c = 0; c <= d->l->n_columns; c++)
        for (uint32_t i = 0; i < d->gutters[c].runs.n; i++) {
            const struct run_of_wire *r = &d->gutters[c].runs.at[i];
            float *x = &d->l->wires[r->wire].x[r->corner];
            x[0] = x[1] = track_at(&d->gutters[c], i);
        }
    for (uint16_t row = 0; row <= d->n_rows; row++)
        for (uint32_t i = 0; i < d->channels[row].runs.n; i++) {
            float *y = d->l->wires[d->channels[row].runs.at[i].wire].y;
            y[2] = y[3] = track_at(&d->channels[row], i);
        }
}

/* The corners next to an end have its height. An edge from the initial value is a short stub. */
static void finish_wire(struct wire *w)
{
    unsigned last = w->n - 1u;
    if (w->n == 2) {
        w->x[0] = w->x[1] - PAD / 2 - 6;
        w->y[0] = w->y[1];
        return;
    }
    w->y[1] = w->y[0];
    w->y[last - 1] = w->y[last];
}

struct layout *layout_make(struct arena *arena, const struct execution *e, const struct why *w, float text_width,
                           float text_height, float label_width)
{
    struct layout *l = ARENA_NEW(arena, struct layout);
    struct drawing d = {.arena = arena, .e = e, .w = w, .l = l};
    l->boxes = ARENA_ARRAY(arena, struct box, e->n_events + 1u);
    l->wires = ARENA_ARRAY(arena, struct wire, w->edges.n + 1);
    find_columns(&d);
    find_rows(&d);
    d.gutters = ARENA_ARRAY(arena, struct lane, l->n_columns + 1u);
    d.channels = ARENA_ARRAY(arena, struct lane, d.n_rows + 1u);
    for (int side = 0; side < 2; side++)
        d.sides[side] = ARENA_ARRAY(arena, struct side, e->n_events + 1u);
    for (uint32_t i = 0; i < w->edges.n; i++)
        if (w->edges.at[i].kind != EDGE_PO) {
            l->wires[l->n_wires].edge = i;
            route(&d, l->n_wires++);
        }
    for (uint16_t c = 0; c <= l->n_columns; c++)
        find_tracks(&d, &d.gutters[c]);
    for (uint16_t row = 0; row <= d.n_rows; row++)
        find_tracks(&d, &d.channels[row]);
    place_columns(&d, text_width, label_width);
    place_rows(&d, text_height);
    for (uint16_t i = 0; i < e->n_events; i++)
        for (int side = 0; side < 2; side++)
            place_ports(&d, i, side);
    place_runs(&d);
    for (uint32_t i = 0; i < l->n_wires; i++)
        finish_wire(&l->wires[i]);
    return l;
}
