/* See operations.h. While a graph is computed, the elements of each tensor stand in an array of
 * their own, in the order of its coordinates, until the last operation that reads them is done. An
 * operand may have fewer elements along an axis than the result: one for each group of them, as
 * heads of keys that several heads of queries share.
 */
#include "libraries/cudnn/operations.h"

#include <math.h>
#include <stdlib.h>

#include "libraries/blas/elements.h"
#include "libraries/openblas/openblas.h"

struct work {
    const struct operations *o;
    float *elements[MAX_VALUES];
    unsigned left[MAX_VALUES]; /* operations that still read it */
    const struct operation *now;
};

/* Coordinates along the first axes. */
static void first_coordinates(const struct tensor *t, unsigned axes, int64_t index, int64_t c[MAX_DIMS])
{
    for (unsigned i = axes; i-- > 0; index /= t->dim[i])
        c[i] = index % t->dim[i];
}

/* Coordinates of a row, which goes along the last axis. */
static void coordinates(const struct tensor *t, int64_t row, int64_t c[MAX_DIMS])
{
    c[t->n - 1] = 0;
    first_coordinates(t, t->n - 1, row, c);
}

/* The index in t's array that belongs to coordinates of `whole`, of the first `axes`. */
static int64_t index_at(const struct tensor *t, const struct tensor *whole, const int64_t c[MAX_DIMS], unsigned axes)
{
    int64_t index = 0;
    for (unsigned i = 0; i < axes; i++)
        index = index * t->dim[i] + (t->dim[i] == whole->dim[i] ? c[i] : c[i] * t->dim[i] / whole->dim[i]);
    return index;
}

static int64_t offset_at(const struct tensor *t, const int64_t c[MAX_DIMS])
{
    int64_t offset = 0;
    for (unsigned i = 0; i < t->n; i++)
        offset += c[i] * t->stride[i];
    return offset;
}

/* Copies the elements of an array to a tensor's memory, or from it. */
static void move(const struct tensor *t, char *at, float *elements, bool write)
{
    cudaDataType type;
    int64_t width = t->dim[t->n - 1], stride = t->stride[t->n - 1], c[MAX_DIMS];
    if (!tensor_type(t->type, &type))
        return;
    for (int64_t row = 0; row < count_of(t, t->n - 1); row++) {
        coordinates(t, row, c);
        char *place = at + offset_at(t, c) * (int64_t)element_bytes(type);
        if (write)
            elements_narrow(PRECISION_S, elements + row * width, type, place, (ptrdiff_t)stride, (size_t)width);
        else
            elements_widen(PRECISION_S, elements + row * width, type, place, (ptrdiff_t)stride, (size_t)width);
    }
}

/* The array of an operand; NULL if memory is exhausted. */
static float *elements_of(struct work *w, unsigned number)
{
    const struct value *v = &w->o->values[number];
    if (w->elements[number])
        return w->elements[number];
    float *e = w->elements[number] = malloc((size_t)count_of(&v->t, v->t.n) * sizeof *e);
    if (e && v->is_by_value)
        *e = v->constant;
    else if (e && v->at)
        move(&v->t, library_view(v->at), e, false);
    return e;
}

static void product(void *data, size_t batch)
{
    struct work *w = data;
    const struct operation *p = w->now;
    const struct tensor *y = &w->o->values[p->out].t, *a = operand(w->o, p, 0), *b = operand(w->o, p, 1);
    unsigned batches = y->n - 2;
    const int m = (int)y->dim[batches], n = (int)y->dim[batches + 1], k = (int)a->dim[batches + 1];
    const float one = 1, zero = 0;
    int64_t c[MAX_DIMS];
    first_coordinates(y, batches, (int64_t)batch, c);
    const float *left = w->elements[p->in[0]] + index_at(a, y, c, batches) * m * k,
                *right = w->elements[p->in[1]] + index_at(b, y, c, batches) * k * n;
    heddle_openblas.gemm[PRECISION_S]("N", "N", &n, &m, &k, &one, right, &n, left, &k, &zero,
                                      w->elements[p->out] + (int64_t)batch * m * n, &n);
}

static void pointwise_row(void *data, size_t row)
{
    struct work *w = data;
    const struct operation *p = w->now;
    const struct tensor *whole = &w->o->values[p->out].t;
    unsigned last = whole->n - 1;
    int64_t c[MAX_DIMS], n = whole->dim[last], step[MAX_OPERANDS] = {0};
    static const float nothing;
    const float *in[MAX_OPERANDS] = {0};
    float *y = w->elements[p->out] + (int64_t)row * n;
    coordinates(whole, (int64_t)row, c);
    for (unsigned i = 0; i < MAX_OPERANDS; i++) {
        unsigned from = i < p->operands ? i : 0;
        const struct tensor *t = operand(w->o, p, from);
        in[i] = is_read(p, from) ? w->elements[p->in[from]] + index_at(t, whole, c, t->n) : &nothing;
        step[i] = is_read(p, from) && t->dim[last] > 1;
    }
    switch (p->mode) {
#define POINTWISE(number, operands, value)                                                                             \
    case number:                                                                                                       \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const float x = p->alpha[0] * in[0][i * step[0]], b = p->alpha[1] * in[1][i * step[1]],                    \
                        t = in[2][i * step[2]];                                                                        \
            (void)b, (void)t;                                                                                          \
            y[i] = (float)(value);                                                                                     \
        }                                                                                                              \
        break;
#include "libraries/cudnn/pointwise.def"
#undef POINTWISE
    default: /* POINTWISE_GEN_INDEX */
        for (int64_t i = 0; i < n; i++)
            y[i] = (float)(p->axis == (int)last ? i : c[p->axis]);
    }
}

static float reduced(int mode, float sum, float x)
{
    switch (mode) {
    case REDUCE_MUL: return sum * x;
    case REDUCE_MIN: return fminf(sum, x);
    case REDUCE_MAX: return fmaxf(sum, x);
    case REDUCE_AMAX: return fmaxf(sum, fabsf(x));
    default: return sum + x;
    }
}

static void reduce(struct work *w)
{
    const struct operation *p = w->now;
    const struct tensor *y = &w->o->values[p->out].t, *x = operand(w->o, p, 0);
    float *to = w->elements[p->out];
    const float *from = w->elements[p->in[0]];
    int64_t n = count_of(y, y->n), width = x->dim[x->n - 1], each = y->dim[y->n - 1], c[MAX_DIMS];
    for (int64_t i = 0; i < n; i++)
        to[i] = p->mode == REDUCE_MUL ? 1 : p->mode == REDUCE_MIN ? INFINITY : p->mode == REDUCE_MAX ? -INFINITY : 0;
    for (int64_t row = 0; row < count_of(x, x->n - 1); row++) {
        coordinates(x, row, c);
        float *line = to + index_at(y, x, c, y->n);
        for (int64_t i = 0; i < width; i++) {
            float *e = line + i * each / width;
            *e = reduced(p->mode, *e, from[row * width + i]);
        }
    }
    for (int64_t i = 0; p->mode == REDUCE_AVG && i < n; i++)
        to[i] /= (float)(count_of(x, x->n) / n);
}

/* The result's coordinates and strides see the operand's memory. */
static bool reshape(struct work *w)
{
    const struct operation *p = w->now;
    const struct value *y = &w->o->values[p->out], *x = &w->o->values[p->in[0]];
    struct tensor seen = y->t, laid = x->t;
    if (x->at) {
        seen.type = laid.type;
        move(&seen, library_view(x->at), w->elements[p->out], false);
        return true;
    }
    seen.type = laid.type = CUDNN_DATA_FLOAT;
    char *memory = tensor_bytes(&seen) <= tensor_bytes(&laid) ? calloc(1, tensor_bytes(&laid)) : NULL;
    if (memory) {
        move(&laid, memory, w->elements[p->in[0]], true);
        move(&seen, memory, w->elements[p->out], false);
    }
    free(memory);
    return memory != NULL;
}

static uint64_t seed_of(const struct work *w, unsigned i)
{
    const struct value *v = &w->o->values[w->now->in[i]];
    const void *at = i < w->now->operands ? library_view(v->at) : NULL;
    return !at ? 0 : v->t.type == TYPE_OF_INT64 ? *(const uint64_t *)at : *(const uint32_t *)at;
}

static void mask(struct work *w)
{
    const struct tensor *y = &w->o->values[w->now->out].t;
    uint64_t seed = seed_of(w, 0), offset = seed_of(w, 1);
    for (int64_t i = 0, n = count_of(y, y->n); i < n; i++)
        w->elements[w->now->out][i] = cudnn_drawn(seed, offset, (uint64_t)i) < (double)w->now->alpha[0];
}

static bool convolve(struct work *w)
{
    const struct operation *p = w->now;
    return convolution_run(&w->o->convolutions[p->mode], w->elements[p->in[0]], w->elements[p->in[1]],
                           w->elements[p->out]);
}

/* Rounds a result to its type, and writes it. */
static void finish(struct work *w, unsigned number)
{
    const struct value *v = &w->o->values[number];
    cudaDataType type;
    float *e = w->elements[number];
    if (!tensor_type(v->t.type, &type))
        return;
    for (int64_t i = 0, n = count_of(&v->t, v->t.n); v->t.type != CUDNN_DATA_FLOAT && i < n; i++)
        e[i] = element_through(type, e[i]);
    if (v->at)
        move(&v->t, library_view(v->at), e, true);
}

static bool compute(struct work *w)
{
    const struct operation *p = w->now;
    const struct tensor *y = &w->o->values[p->out].t;
    for (unsigned i = 0; i < p->operands; i++)
        if (p->type != BACKEND_OPERATION_RNG && is_read(p, i) && !elements_of(w, p->in[i]))
            return false;
    float *old = w->elements[p->out]; /* of a tensor that is written anew */
    w->elements[p->out] = malloc((size_t)count_of(y, y->n) * sizeof *old);
    free(old);
    if (!w->elements[p->out])
        return false;
    if (p->type == BACKEND_OPERATION_MATMUL)
        library_parallel((size_t)count_of(y, y->n - 2), product, w);
    else if (p->type == BACKEND_OPERATION_POINTWISE)
        library_parallel((size_t)count_of(y, y->n - 1), pointwise_row, w);
    else if (p->type == BACKEND_OPERATION_REDUCTION)
        reduce(w);
    else if (p->type == BACKEND_OPERATION_RNG)
        mask(w);
    else if (p->type == BACKEND_CONVOLUTION_FORWARD ? !convolve(w) : !reshape(w))
        return false;
    finish(w, p->out);
    for (unsigned i = 0; i < p->operands; i++)
        if (is_read(p, i) && --w->left[p->in[i]] == 0) {
            free(w->elements[p->in[i]]);
            w->elements[p->in[i]] = NULL;
        }
    return true;
}

hd_result operations_run(void *operations)
{
    const struct operations *o = operations;
    struct work w = {.o = o};
    bool good = true;
    for (unsigned i = 0; i < o->value_count; i++)
        w.left[i] = o->values[i].uses;
    for (unsigned i = 0; good && i < o->count; i++) {
        w.now = &o->list[i];
        good = compute(&w);
    }
    for (unsigned i = 0; i < o->value_count; i++)
        free(w.elements[i]);
    return good ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}
