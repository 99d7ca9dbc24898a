/* See transform.h. A transform is a pass of lines over each axis. A transform from real numbers
 * begins with the last axis; one to real numbers ends with it, on a copy if there are other axes. A
 * pass is divided along one of its other axes among the threads.
 */
#include "libraries/cufft/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libraries/common/library.h"
#include "libraries/cufft/half.h"
#include "libraries/cufft/lines.h"

/* The least number of elements for another thread. */
static const size_t LEAST_PIECE = 1 << 14;

static bool is_real(const struct transform *t, enum transform_side side)
{
    return t->kind == (side == TRANSFORM_SIDE_FROM ? TRANSFORM_FROM_REAL : TRANSFORM_TO_REAL);
}

int64_t transform_length(const struct transform *t, enum transform_side side, unsigned axis)
{
    bool halved = t->kind != TRANSFORM_COMPLEX && !is_real(t, side) && axis == t->rank - 1;
    return halved ? t->n[axis] / 2 + 1 : t->n[axis];
}

static size_t number_bytes(enum transform_type type)
{
    static const size_t bytes[] = {
        [TRANSFORM_HALF] = 2, [TRANSFORM_BFLOAT] = 2, [TRANSFORM_FLOAT] = 4, [TRANSFORM_DOUBLE] = 8};
    return bytes[type];
}

size_t transform_element_bytes(const struct transform *t, enum transform_side side)
{
    return number_bytes(t->type) * (is_real(t, side) ? 1 : 2);
}

struct transform_layout transform_packed(const struct transform *t, enum transform_side side, bool padded)
{
    struct transform_layout l = {{0}, 1};
    for (unsigned a = t->rank; a-- > 0;) {
        l.stride[a] = l.distance;
        bool pads = padded && is_real(t, side) && a == t->rank - 1;
        l.distance *= pads ? 2 * (t->n[a] / 2 + 1) : transform_length(t, side, a);
    }
    return l;
}

double transform_flops(const struct transform *t)
{
    double n = 1;
    for (unsigned a = 0; a < t->rank; a++)
        n *= (double)t->n[a];
    return (t->kind == TRANSFORM_COMPLEX ? 5 : 2.5) * n * log2(n) * (double)t->batch;
}

/* ---- a pass ---- */

struct pieces {
    struct lines lines;
    unsigned cut; /* the axis that is divided */
    size_t each;  /* elements of it for each piece */
    _Atomic bool failed;
};

static void run_piece(void *data, size_t i)
{
    struct pieces *p = data;
    struct lines l = p->lines;
    size_t first = i * p->each, left = l.n[p->cut] - first;
    l.from = (const char *)l.from + (ptrdiff_t)first * l.from_stride[p->cut];
    l.to = (char *)l.to + (ptrdiff_t)first * l.to_stride[p->cut];
    l.n[p->cut] = left < p->each ? left : p->each;
    if (!lines_transform(&l))
        p->failed = true;
}

static bool run_lines(const struct lines *l)
{
    struct pieces p = {.lines = *l, .cut = l->axis ? 0 : 1};
    size_t all = 1;
    for (unsigned a = 0; a < LINES_AXES; a++) {
        all *= l->n[a];
        if (a != l->axis && l->n[a] > l->n[p.cut])
            p.cut = a;
    }
    size_t most = all / LEAST_PIECE, threads = library_threads(), n = l->n[p.cut];
    size_t pieces = most < threads ? most : threads;
    p.each = pieces > 1 ? (n + pieces - 1) / pieces : n;
    library_parallel((n + p.each - 1) / p.each, run_piece, &p);
    return !p.failed;
}

/* The strides of the lines' axes: the batch, then the array's axes, up to LINES_AXES. */
static void set_strides(ptrdiff_t stride[LINES_AXES], const struct transform_layout *l, unsigned rank, size_t bytes)
{
    stride[0] = (ptrdiff_t)l->distance * (ptrdiff_t)bytes;
    for (unsigned a = 0; a < TRANSFORM_RANK; a++)
        stride[1 + a] = a < rank ? (ptrdiff_t)l->stride[a] * (ptrdiff_t)bytes : 0;
}

struct side {
    enum transform_side which;
    struct transform_layout layout;
    void *at;
};

/* The complex side: its lengths hold for all passes, except along the
 * axis from or to real numbers. */
static enum transform_side complex_side(const struct transform *t)
{
    return t->kind == TRANSFORM_FROM_REAL ? TRANSFORM_SIDE_TO : TRANSFORM_SIDE_FROM;
}

static bool run_pass(const struct transform *t, enum lines_kind kind, bool backward, unsigned axis,
                     const struct side *from, const struct side *to)
{
    struct lines l = {.kind = kind,
                      .is_double = t->type == TRANSFORM_DOUBLE,
                      .backward = backward,
                      .axis = 1 + axis,
                      .n = {(size_t)t->batch, 1, 1, 1},
                      .from = from->at,
                      .to = to->at};
    for (unsigned a = 0; a < t->rank; a++)
        l.n[1 + a] = (size_t)transform_length(t, complex_side(t), a);
    if (kind != LINES_COMPLEX)
        l.n[1 + axis] = (size_t)t->n[axis];
    set_strides(l.from_stride, &from->layout, t->rank, transform_element_bytes(t, from->which));
    set_strides(l.to_stride, &to->layout, t->rank, transform_element_bytes(t, to->which));
    return run_lines(&l);
}

/* ---- the three kinds, on floats and doubles ---- */

/* Transforms the axes below `rank`; the first pass goes from one side to the other. */
static bool run_complex(const struct transform *t, unsigned rank, bool backward, const struct side *from,
                        const struct side *to)
{
    bool done = true;
    for (unsigned a = rank; done && a-- > 0; from = to)
        done = run_pass(t, LINES_COMPLEX, backward, a, from, to);
    return done;
}

static bool run_from_real(const struct transform *t, const struct side *from, const struct side *to)
{
    return run_pass(t, LINES_FROM_REAL, false, t->rank - 1, from, to) && run_complex(t, t->rank - 1, false, to, to);
}

static void *side_memory(const struct transform *t, const struct side *s)
{
    return malloc((size_t)s->layout.distance * (size_t)t->batch * transform_element_bytes(t, s->which));
}

static bool run_to_real(const struct transform *t, const struct side *from, const struct side *to)
{
    struct side middle = {TRANSFORM_SIDE_FROM, transform_packed(t, TRANSFORM_SIDE_FROM, false), NULL};
    if (t->rank == 1)
        return run_pass(t, LINES_TO_REAL, true, 0, from, to);
    middle.at = side_memory(t, &middle);
    bool done = middle.at && run_complex(t, t->rank - 1, true, from, &middle) &&
                run_pass(t, LINES_TO_REAL, true, t->rank - 1, &middle, to);
    free(middle.at);
    return done;
}

static bool run_kind(const struct transform *t, bool backward, const struct side *from, const struct side *to)
{
    switch (t->kind) {
    case TRANSFORM_COMPLEX: return run_complex(t, t->rank, backward, from, to);
    case TRANSFORM_FROM_REAL: return run_from_real(t, from, to);
    case TRANSFORM_TO_REAL: return run_to_real(t, from, to);
    }
    return false;
}

/* ---- copies of a side: from one layout to another, or from one type to another ---- */

struct end {
    const struct transform_layout *layout;
    void *at;
    size_t element_bytes;
};

static char *row_of(const struct end *e, int64_t array, int64_t i, int64_t j)
{
    int64_t element = array * e->layout->distance + i * e->layout->stride[0] + j * e->layout->stride[1];
    return (char *)e->at + element * (int64_t)e->element_bytes;
}

/* Calls copy() for each element of a side; `at` has the addresses on both sides. */
static void copy_side(const struct transform *t, enum transform_side side, const struct end *from, const struct end *to,
                      void (*copy)(void *to, const void *from, size_t numbers))
{
    int64_t outer[2] = {1, 1}, inner = transform_length(t, side, t->rank - 1);
    for (unsigned a = 0; a + 1 < t->rank; a++)
        outer[a] = transform_length(t, side, a);
    ptrdiff_t from_step = (ptrdiff_t)from->layout->stride[t->rank - 1] * (ptrdiff_t)from->element_bytes;
    ptrdiff_t to_step = (ptrdiff_t)to->layout->stride[t->rank - 1] * (ptrdiff_t)to->element_bytes;
    size_t numbers = is_real(t, side) ? 1 : 2;
    for (int64_t b = 0; b < t->batch; b++)
        for (int64_t i = 0; i < outer[0]; i++)
            for (int64_t j = 0; j < outer[1]; j++) {
                const char *source = row_of(from, b, i, j);
                char *target = row_of(to, b, i, j);
                for (int64_t k = 0; k < inner; k++)
                    copy(target + k * to_step, source + k * from_step, numbers);
            }
}

static void copy_floats(void *to, const void *from, size_t numbers)
{
    memcpy(to, from, numbers * sizeof(float));
}

static void copy_doubles(void *to, const void *from, size_t numbers)
{
    memcpy(to, from, numbers * sizeof(double));
}

/* ---- what is not done where it lies ---- */

/* Can each line be stored where it was read, while others are still to be read? */
static bool lines_keep_their_places(const struct transform *t)
{
    size_t from = transform_element_bytes(t, TRANSFORM_SIDE_FROM), to = transform_element_bytes(t, TRANSFORM_SIDE_TO);
    if (t->kind == TRANSFORM_TO_REAL && t->rank > 1)
        return true; /* everything has been read by then */
    bool same = t->from.distance * (int64_t)from == t->to.distance * (int64_t)to || t->batch == 1;
    for (unsigned a = 0; a + 1 < t->rank; a++)
        same = same && t->from.stride[a] * (int64_t)from == t->to.stride[a] * (int64_t)to;
    int64_t from_step = t->from.stride[t->rank - 1], to_step = t->to.stride[t->rank - 1];
    return same && (t->kind == TRANSFORM_COMPLEX ? from_step == to_step : from_step == 1 && to_step == 1);
}

/* Transforms a packed copy of the input. */
static bool run_from_copy(const struct transform *t, bool backward, const struct side *from, const struct side *to)
{
    struct side copy = {TRANSFORM_SIDE_FROM, transform_packed(t, TRANSFORM_SIDE_FROM, false), NULL};
    size_t bytes = transform_element_bytes(t, TRANSFORM_SIDE_FROM);
    copy.at = side_memory(t, &copy);
    if (!copy.at)
        return false;
    copy_side(t, TRANSFORM_SIDE_FROM, &(struct end){&from->layout, from->at, bytes},
              &(struct end){&copy.layout, copy.at, bytes}, t->type == TRANSFORM_DOUBLE ? copy_doubles : copy_floats);
    bool done = run_kind(t, backward, &copy, to);
    free(copy.at);
    return done;
}

/* Halves: transforms packed floats, and rounds the results. */
static bool run_as_floats(const struct transform *t, bool backward, const void *from, void *to)
{
    struct transform floats = *t;
    floats.type = TRANSFORM_FLOAT;
    floats.from = transform_packed(t, TRANSFORM_SIDE_FROM, false);
    floats.to = transform_packed(t, TRANSFORM_SIDE_TO, false);
    struct side in = {TRANSFORM_SIDE_FROM, floats.from, NULL}, out = {TRANSFORM_SIDE_TO, floats.to, NULL};
    in.at = side_memory(&floats, &in);
    out.at = side_memory(&floats, &out);
    bool is_half = t->type == TRANSFORM_HALF, done = in.at && out.at;
    if (done) {
        copy_side(t, TRANSFORM_SIDE_FROM,
                  &(struct end){&t->from, (void *)from, transform_element_bytes(t, TRANSFORM_SIDE_FROM)},
                  &(struct end){&in.layout, in.at, transform_element_bytes(&floats, TRANSFORM_SIDE_FROM)},
                  is_half ? floats_of_halves : floats_of_bfloats);
        done = run_kind(&floats, backward, &in, &out);
        copy_side(t, TRANSFORM_SIDE_TO,
                  &(struct end){&out.layout, out.at, transform_element_bytes(&floats, TRANSFORM_SIDE_TO)},
                  &(struct end){&t->to, to, transform_element_bytes(t, TRANSFORM_SIDE_TO)},
                  is_half ? halves_of_floats : bfloats_of_floats);
    }
    free(in.at);
    free(out.at);
    return done;
}

bool transform_run(const struct transform *t, bool backward, const void *from, void *to)
{
    if (t->type == TRANSFORM_HALF || t->type == TRANSFORM_BFLOAT)
        return run_as_floats(t, backward, from, to);
    struct side in = {TRANSFORM_SIDE_FROM, t->from, (void *)from}, out = {TRANSFORM_SIDE_TO, t->to, to};
    if (from == to && !lines_keep_their_places(t))
        return run_from_copy(t, backward, &in, &out);
    return run_kind(t, backward, &in, &out);
}
