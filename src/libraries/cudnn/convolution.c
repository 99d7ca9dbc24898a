/* See convolution.h. For every image and group, the elements under the filter's taps form a matrix
 * with a row for each tap (im2col), in pieces of some lines of the result. Floats and doubles are
 * computed as they are, halves as floats.
 */
#include "libraries/cudnn/convolution.h"

#include <stdlib.h>
#include <string.h>

#include "libraries/blas/elements.h"
#include "libraries/openblas/openblas.h"

enum { PIECE_ELEMENTS = 1 << 20 };

/* A convolution padded to three spatial dimensions. */
struct plan {
    const struct convolution *c;
    enum precision p;
    size_t bytes;         /* of an element in that precision */
    cudaDataType type[3]; /* of x, w, y */
    char *at[3];
    int64_t batch, groups, in, out;                   /* in, out: channels of a group */
    int64_t x[MAX_SPACE], k[MAX_SPACE], y[MAX_SPACE]; /* sizes */
    int64_t xs[MAX_SPACE], ks[MAX_SPACE], ys[MAX_SPACE], stride[MAX_SPACE], pad[MAX_SPACE], dilation[MAX_SPACE];
    /* taps: over all channels of a group; lines: of a result; piece: lines at a time */
    int64_t taps, lines, piece;
    void *filters; /* w, widened: a row of taps for each output channel */
    _Atomic bool failed;
};

enum { X, W, Y };

const char *convolution_wrong(const struct convolution *c)
{
    cudaDataType type;
    if (c->space < 1 || c->space > MAX_SPACE || c->x.n != c->space + 2 || c->w.n != c->x.n || c->y.n != c->x.n)
        return "its tensors have other numbers of dimensions than the convolution";
    if (!tensor_type(c->x.type, &type) || !tensor_type(c->w.type, &type) || !tensor_type(c->y.type, &type))
        return "the type of a tensor is not supported";
    if (c->w.dim[1] < 1 || c->x.dim[1] % c->w.dim[1] || c->w.dim[0] != c->y.dim[1] || c->x.dim[0] != c->y.dim[0] ||
        c->y.dim[1] % (c->x.dim[1] / c->w.dim[1]))
        return "its channels do not fit each other";
    for (unsigned i = 0; i < c->space; i++) {
        if (c->stride[i] < 1 || c->dilation[i] < 1 || c->pre[i] < 0 || c->post[i] < 0)
            return "a stride, a padding or a dilation is out of range";
        int64_t room = c->x.dim[2 + i] + c->pre[i] + c->post[i] - ((c->w.dim[2 + i] - 1) * c->dilation[i] + 1);
        if (room < 0 || c->y.dim[2 + i] != room / c->stride[i] + 1)
            return "its sizes do not fit each other";
    }
    return NULL;
}

double convolution_flops(const struct convolution *c)
{
    double n = 2;
    for (unsigned i = 0; i < c->y.n; i++)
        n *= (double)c->y.dim[i];
    for (unsigned i = 1; i < c->w.n; i++)
        n *= (double)c->w.dim[i];
    return n;
}

static void set_sizes(struct plan *p)
{
    const struct convolution *c = p->c;
    for (unsigned i = 0; i < MAX_SPACE; i++) {
        p->x[i] = p->k[i] = p->y[i] = p->stride[i] = p->dilation[i] = 1;
        p->xs[i] = p->ks[i] = p->ys[i] = p->pad[i] = 0;
    }
    for (unsigned from = 0; from < c->space; from++) {
        unsigned i = MAX_SPACE - c->space + from, d = 2 + from;
        p->x[i] = c->x.dim[d];
        p->k[i] = c->w.dim[d];
        p->y[i] = c->y.dim[d];
        p->xs[i] = c->x.stride[d];
        p->ks[i] = c->w.stride[d];
        p->ys[i] = c->y.stride[d];
        p->stride[i] = c->stride[from];
        p->pad[i] = c->pre[from];
        p->dilation[i] = c->dilation[from];
    }
    p->batch = c->x.dim[0];
    p->in = c->w.dim[1];
    p->groups = c->x.dim[1] / p->in;
    p->out = c->y.dim[1] / p->groups;
    p->taps = p->in * p->k[0] * p->k[1] * p->k[2];
    p->lines = p->y[0] * p->y[1];
    p->piece = PIECE_ELEMENTS / (p->taps * p->y[2]) + 1;
    p->piece = p->piece < p->lines ? p->piece : p->lines;
}

static void *element(const struct plan *p, int which, int64_t index)
{
    return p->at[which] + index * (int64_t)element_bytes(p->type[which]);
}

/* A tap: its channel and position in the filter. */
struct tap {
    int64_t channel, at[MAX_SPACE];
};

static struct tap tap_at(const struct plan *p, int64_t number)
{
    struct tap t;
    for (int i = MAX_SPACE - 1; i >= 0; i--) {
        t.at[i] = number % p->k[i];
        number /= p->k[i];
    }
    t.channel = number;
    return t;
}

/* The input coordinate along a dimension that a tap reads for an output coordinate. */
static int64_t seen(const struct plan *p, const struct tap *t, unsigned i, int64_t result)
{
    int64_t tap = p->c->flipped ? p->k[i] - 1 - t->at[i] : t->at[i];
    return result * p->stride[i] - p->pad[i] + tap * p->dilation[i];
}

/* The outputs in a line for which the tap reads inside x along the last dimension: returns their
 * number, the first in *first. */
static int64_t inside(const struct plan *p, const struct tap *t, int64_t *first)
{
    int64_t from = 0, to = p->y[2];
    while (from < to && seen(p, t, 2, from) < 0)
        from++;
    while (to > from && seen(p, t, 2, to - 1) >= p->x[2])
        to--;
    *first = from;
    return to - from;
}

/* The input line that a tap reads for an output line, in z and y; false if it is outside x. */
static bool line_seen(const struct plan *p, const struct tap *t, int64_t line, int64_t *z, int64_t *y)
{
    *z = seen(p, t, 0, line / p->y[1]);
    *y = seen(p, t, 1, line % p->y[1]);
    return *z >= 0 && *z < p->x[0] && *y >= 0 && *y < p->x[1];
}

/* Gathers the inputs under the taps for some output lines; the rest of the matrix is zero. */
static void gather(const struct plan *p, int64_t image, int64_t group, int64_t line, int64_t lines, char *matrix)
{
    for (int64_t row = 0; row < p->taps; row++) {
        struct tap t = tap_at(p, row);
        int64_t first, n = inside(p, &t, &first);
        int64_t base = image * p->c->x.stride[0] + (group * p->in + t.channel) * p->c->x.stride[1];
        for (int64_t l = line; n > 0 && l < line + lines; l++) {
            int64_t z, y, x = seen(p, &t, 2, first);
            if (!line_seen(p, &t, l, &z, &y))
                continue;
            char *cell = matrix + ((row * lines + l - line) * p->y[2] + first) * (int64_t)p->bytes;
            elements_widen(p->p, cell, p->type[X], element(p, X, base + z * p->xs[0] + y * p->xs[1] + x * p->xs[2]),
                           (ptrdiff_t)(p->xs[2] * p->stride[2]), (size_t)n);
        }
    }
}

/* Copies a line of y, or of the filters, between its tensor and a row in the computation's
 * precision; written values are blended by alpha and beta. */
static void write_row(const struct plan *p, int which, int64_t index, int64_t stride, void *row, void *scratch,
                      int64_t n)
{
    const double alpha = p->c->alpha, beta = p->c->beta;
    if (beta != 0)
        elements_widen(p->p, scratch, p->type[which], element(p, which, index), (ptrdiff_t)stride, (size_t)n);
    if (p->p == PRECISION_D)
        for (int64_t i = 0; i < n; i++)
            ((double *)row)[i] = alpha * ((double *)row)[i] + (beta != 0 ? beta * ((double *)scratch)[i] : 0);
    else if (alpha != 1 || beta != 0)
        for (int64_t i = 0; i < n; i++)
            ((float *)row)[i] =
                (float)alpha * ((float *)row)[i] + (beta != 0 ? (float)beta * ((float *)scratch)[i] : 0);
    elements_narrow(p->p, row, p->type[which], element(p, which, index), (ptrdiff_t)stride, (size_t)n);
}

static void move_row(const struct plan *p, int which, int64_t index, int64_t stride, void *row, void *scratch,
                     int64_t n, bool write)
{
    if (write)
        write_row(p, which, index, stride, row, scratch, n);
    else
        elements_widen(p->p, row, p->type[which], element(p, which, index), (ptrdiff_t)stride, (size_t)n);
}

static int64_t y_index(const struct plan *p, int64_t image, int64_t channel, int64_t line)
{
    return image * p->c->y.stride[0] + channel * p->c->y.stride[1] + line / p->y[1] * p->ys[0] +
           line % p->y[1] * p->ys[1];
}

static void product(const struct plan *p, const char *ta, const char *tb, int64_t m, int64_t n, int64_t k,
                    const void *a, int64_t lda, const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    const double one = 1, zero = 0;
    const float one_f = 1, zero_f = 0;
    const int mi = (int)m, ni = (int)n, ki = (int)k, la = (int)lda, lb = (int)ldb, lc = (int)ldc;
    bool wide = p->p == PRECISION_D;
    heddle_openblas.gemm[p->p](ta, tb, &mi, &ni, &ki, wide ? (const void *)&one : &one_f, a, &la, b, &lb,
                               add ? (wide ? (const void *)&one : &one_f) : (wide ? (const void *)&zero : &zero_f), c,
                               &lc);
}

/* Reads or writes y's lines of a group as a matrix. */
static void move_y(const struct plan *p, int64_t image, int64_t group, int64_t line, int64_t lines, char *rows,
                   void *scratch, bool write)
{
    for (int64_t o = 0; o < p->out; o++)
        for (int64_t l = 0; l < lines; l++) {
            int64_t index = y_index(p, image, group * p->out + o, line + l);
            char *row = rows + (o * lines + l) * p->y[2] * (int64_t)p->bytes;
            move_row(p, Y, index, p->ys[2], row, scratch, p->y[2], write);
        }
}

static const char *filters_of(const struct plan *p, int64_t group)
{
    return (const char *)p->filters + group * p->out * p->taps * (int64_t)p->bytes;
}

/* Computes a piece: some output lines of an image and group. */
static void forward(void *data, size_t number)
{
    struct plan *p = data;
    int64_t pieces = (p->lines + p->piece - 1) / p->piece, n = (int64_t)number;
    int64_t line = n % pieces * p->piece, group = n / pieces % p->groups, image = n / pieces / p->groups;
    int64_t lines = p->lines - line < p->piece ? p->lines - line : p->piece, columns = lines * p->y[2];
    char *matrix = calloc((size_t)(p->taps * columns), p->bytes), *rows = malloc((size_t)(p->out * columns) * p->bytes),
         *scratch = malloc((size_t)p->y[2] * p->bytes);
    if (matrix && rows && scratch) {
        gather(p, image, group, line, lines, matrix);
        product(p, "N", "N", columns, p->out, p->taps, matrix, columns, filters_of(p, group), p->taps, false, rows,
                columns);
        move_y(p, image, group, line, lines, rows, scratch, true);
    } else {
        p->failed = true;
    }
    free(matrix);
    free(rows);
    free(scratch);
}

/* The index in a group's image where gradients are summed: contiguous. */
static int64_t cell_of(const struct plan *p, int64_t channel, int64_t z, int64_t y, int64_t x)
{
    return ((channel * p->x[0] + z) * p->x[1] + y) * p->x[2] + x;
}

/* Adds the gradients of taps to the inputs they read. */
static void scatter(const struct plan *p, int64_t line, int64_t lines, const char *matrix, char *image)
{
    for (int64_t row = 0; row < p->taps; row++) {
        struct tap t = tap_at(p, row);
        int64_t first, n = inside(p, &t, &first);
        for (int64_t l = line; n > 0 && l < line + lines; l++) {
            int64_t z, y, x = seen(p, &t, 2, first);
            if (!line_seen(p, &t, l, &z, &y))
                continue;
            int64_t from = (row * lines + l - line) * p->y[2] + first, to = cell_of(p, t.channel, z, y, x);
            for (int64_t i = 0; i < n; i++)
                if (p->p == PRECISION_D)
                    ((double *)image)[to + i * p->stride[2]] += ((const double *)matrix)[from + i];
                else
                    ((float *)image)[to + i * p->stride[2]] += ((const float *)matrix)[from + i];
        }
    }
}

static void write_image(const struct plan *p, int64_t image, int64_t group, char *cells, void *scratch)
{
    for (int64_t c = 0; c < p->in; c++)
        for (int64_t z = 0; z < p->x[0]; z++)
            for (int64_t y = 0; y < p->x[1]; y++) {
                int64_t index =
                    image * p->c->x.stride[0] + (group * p->in + c) * p->c->x.stride[1] + z * p->xs[0] + y * p->xs[1];
                write_row(p, X, index, p->xs[2], cells + cell_of(p, c, z, y, 0) * (int64_t)p->bytes, scratch, p->x[2]);
            }
}

static void data_gradient(void *data, size_t number)
{
    struct plan *p = data;
    int64_t group = (int64_t)number % p->groups, image = (int64_t)number / p->groups, columns = p->piece * p->y[2];
    char *matrix = malloc((size_t)(p->taps * columns) * p->bytes),
         *rows = malloc((size_t)(p->out * columns) * p->bytes),
         *cells = calloc((size_t)(p->in * p->x[0] * p->x[1] * p->x[2]), p->bytes),
         *scratch = malloc((size_t)p->x[2] * p->bytes);
    for (int64_t line = 0; line < p->lines && matrix && rows && cells && scratch; line += p->piece) {
        int64_t lines = p->lines - line < p->piece ? p->lines - line : p->piece, n = lines * p->y[2];
        move_y(p, image, group, line, lines, rows, NULL, false);
        product(p, "N", "T", n, p->taps, p->out, rows, n, filters_of(p, group), p->taps, false, matrix, n);
        scatter(p, line, lines, matrix, cells);
    }
    if (matrix && rows && cells && scratch)
        write_image(p, image, group, cells, scratch);
    else
        p->failed = true;
    free(matrix);
    free(rows);
    free(cells);
    free(scratch);
}

/* Copies a group's rows of filters between w and the widened ones. */
static void move_filters(const struct plan *p, int64_t group, void *scratch, bool write)
{
    for (int64_t o = 0; o < p->out; o++)
        for (int64_t tap = 0; tap < p->taps; tap += p->k[2]) {
            struct tap t = tap_at(p, tap);
            int64_t index = (group * p->out + o) * p->c->w.stride[0] + t.channel * p->c->w.stride[1] +
                            t.at[0] * p->ks[0] + t.at[1] * p->ks[1];
            char *row = (char *)filters_of(p, group) + (o * p->taps + tap) * (int64_t)p->bytes;
            move_row(p, W, index, p->ks[2], row, scratch, p->k[2], write);
        }
}

static void filter_gradient(void *data, size_t number)
{
    struct plan *p = data;
    int64_t group = (int64_t)number, columns = p->piece * p->y[2];
    size_t cells = (size_t)(p->taps * columns);
    char *matrix = malloc(cells * p->bytes), *rows = malloc((size_t)(p->out * columns) * p->bytes),
         *scratch = malloc((size_t)p->k[2] * p->bytes);
    for (int64_t image = 0; image < p->batch && matrix && rows && scratch; image++)
        for (int64_t line = 0; line < p->lines; line += p->piece) {
            int64_t lines = p->lines - line < p->piece ? p->lines - line : p->piece, n = lines * p->y[2];
            memset(matrix, 0, cells * p->bytes);
            gather(p, image, group, line, lines, matrix);
            move_y(p, image, group, line, lines, rows, NULL, false);
            product(p, "T", "N", p->taps, p->out, n, matrix, n, rows, n, true, (char *)filters_of(p, group), p->taps);
        }
    if (matrix && rows && scratch)
        move_filters(p, group, scratch, true);
    else
        p->failed = true;
    free(matrix);
    free(rows);
    free(scratch);
}

bool convolution_run(const struct convolution *c, void *x, void *w, void *y)
{
    struct plan p = {.c = c, .at = {x, w, y}};
    const struct tensor *tensors[] = {&c->x, &c->w, &c->y};
    for (int i = 0; i < 3; i++) {
        tensor_type(tensors[i]->type, &p.type[i]);
        if (!tensor_bytes(tensors[i]) && i != W)
            return true;
    }
    p.p = p.type[X] == CUDA_R_64F ? PRECISION_D : PRECISION_S;
    p.bytes = p.p == PRECISION_D ? sizeof(double) : sizeof(float);
    set_sizes(&p);
    p.filters = calloc((size_t)(p.groups * p.out * p.taps), p.bytes);
    if (!p.filters)
        return false;
    for (int64_t g = 0; c->kind != CONVOLUTION_FILTER && g < p.groups; g++)
        move_filters(&p, g, NULL, false);
    size_t pieces = (size_t)((p.lines + p.piece - 1) / p.piece), images = (size_t)(p.batch * p.groups);
    if (c->kind == CONVOLUTION_FORWARD)
        library_parallel(images * pieces, forward, &p);
    else if (c->kind == CONVOLUTION_DATA)
        library_parallel(images, data_gradient, &p);
    else
        library_parallel((size_t)p.groups, filter_gradient, &p);
    free(p.filters);
    return !p.failed;
}
