/* See operations.h. While a graph is computed, the elements of each tensor stand in an array of
 * their own, in the order of its coordinates, until the last operation that reads them is done. An
 * operand may have fewer elements along an axis than the result: one for each group of them, as
 * heads of keys that several heads of queries share.
 */
#include "libraries/cudnn/operations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libraries/blas/elements.h"
#include "libraries/openblas/openblas.h"

/* cudnnDataType_t: of virtual tensors, and of the seeds of masks. */
enum { TYPE_OF_INT32 = 4, TYPE_OF_INT64 = 10, TYPE_OF_BOOLEAN = 11 };

/* cudnnPointwiseMode_t: number, operands, value. */
#define POINTWISE_MODES(M)                                                                                             \
    M(0, 2, x + b)                                                                                                     \
    M(1, 2, x *b)                                                                                                      \
    M(2, 2, fminf(x, b))                                                                                               \
    M(3, 2, fmaxf(x, b))                                                                                               \
    M(4, 1, sqrtf(x))                                                                                                  \
    M(5, 2, x + b * b)                                                                                                 \
    M(6, 2, x / b)                                                                                                     \
    M(8, 2, powf(x, b))                                                                                                \
    M(9, 2, x - b)                                                                                                     \
    M(10, 1, fabsf(x))                                                                                                 \
    M(13, 1, expf(x))                                                                                                  \
    M(15, 1, logf(x))                                                                                                  \
    M(16, 1, -x)                                                                                                       \
    M(17, 1, 1 / sqrtf(x))                                                                                             \
    M(20, 1, erff(x))                                                                                                  \
    M(21, 1, x)                                                                                                        \
    M(22, 1, 1 / x)                                                                                                    \
    M(POINTWISE_RELU, 1, fmaxf(x, 0))                                                                                  \
    M(101, 1, tanhf(x))                                                                                                \
    M(102, 1, 1 / (1 + expf(-x)))                                                                                      \
    M(300, 2, x == b)                                                                                                  \
    M(301, 2, x != b)                                                                                                  \
    M(302, 2, x > b)                                                                                                   \
    M(303, 2, x >= b)                                                                                                  \
    M(304, 2, x < b)                                                                                                   \
    M(305, 2, x <= b)                                                                                                  \
    M(400, 2, x != 0 && b != 0)                                                                                        \
    M(401, 2, x != 0 || b != 0)                                                                                        \
    M(402, 1, x == 0)                                                                                                  \
    M(601, 3, t != 0 ? x : b)
enum { POINTWISE_RELU = 100, POINTWISE_GEN_INDEX = 501, RNG_BERNOULLI = 0 };
enum { REDUCE_ADD, REDUCE_MUL, REDUCE_MIN, REDUCE_MAX, REDUCE_AMAX, REDUCE_AVG, REDUCE_MODES };

static unsigned pointwise_operands(int mode)
{
    switch (mode) {
#define CASE(number, n, value)                                                                                         \
    case number: return n;
        POINTWISE_MODES(CASE)
#undef CASE
    case POINTWISE_GEN_INDEX: return 1;
    default: return 0;
    }
}

/* ---- reading ---- */

static bool known_type(const struct value *v)
{
    switch (v->t.type) {
    case CUDNN_DATA_FLOAT:
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16: return true;
    case TYPE_OF_INT32: return !v->is_by_value;
    case TYPE_OF_INT64: return !v->is_by_value && !v->is_virtual;
    case TYPE_OF_BOOLEAN: return v->is_virtual;
    default: return false;
    }
}

/* The number of the tensor's value, which is added where it is new; or why it cannot be one. */
static const char *value_of(struct operations *o, const struct descriptor *d, uint8_t *number)
{
    struct value v = {.id = attribute_int(d, ATTR_TENSOR_UNIQUE_ID, 0),
                      .is_virtual = attribute_int(d, ATTR_TENSOR_IS_VIRTUAL, 0) != 0,
                      .is_by_value = attribute_int(d, ATTR_TENSOR_IS_BY_VALUE, 0) != 0};
    for (unsigned i = 0; i < o->value_count; i++)
        if (o->values[i].id == v.id)
            return *number = (uint8_t)i, NULL;
    if (o->value_count == MAX_VALUES)
        return "that many tensors";
    if (!descriptor_tensor(d, &v.t) || !known_type(&v))
        return "a tensor of this type or size";
    if (attribute_of(d, ATTR_TENSOR_RAGGED_OFFSET))
        return "a ragged tensor";
    *number = (uint8_t)o->value_count;
    o->values[o->value_count++] = v;
    return NULL;
}

/* Does each axis of `few` divide that of `many`, from axis `from` up to axis `to`? */
static bool divides(const struct tensor *few, const struct tensor *many, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (many->dim[i] % few->dim[i])
            return false;
    return true;
}

static const struct tensor *operand(const struct operations *o, const struct operation *p, unsigned i)
{
    return &o->values[p->in[i]].t;
}

/* Is it an integer in memory? Only masks read those. */
static bool is_seed(const struct value *v)
{
    return !v->is_virtual && (v->t.type == TYPE_OF_INT32 || v->t.type == TYPE_OF_INT64);
}

size_t value_bytes(const struct value *v)
{
    return v->t.type == TYPE_OF_INT64 ? 8 : v->t.type == TYPE_OF_INT32 ? 4 : tensor_bytes(&v->t);
}

static bool fits(const struct operations *o, const struct operation *p)
{
    const struct tensor *y = &o->values[p->out].t, *x = operand(o, p, 0);
    unsigned n = y->n, last = n - 1;
    bool is_mask = p->type == BACKEND_OPERATION_RNG;
    if (is_seed(&o->values[p->out]))
        return false;
    for (unsigned i = 0; i < p->operands; i++)
        if ((!is_mask && operand(o, p, i)->n != n) || is_seed(&o->values[p->in[i]]) != is_mask)
            return false;
    if (p->type == BACKEND_OPERATION_MATMUL) {
        const struct tensor *b = operand(o, p, 1);
        return n >= 2 && x->dim[last - 1] == y->dim[last - 1] && b->dim[last] == y->dim[last] &&
               x->dim[last] == b->dim[last - 1] && divides(x, y, 0, last - 1) && divides(b, y, 0, last - 1);
    }
    if (p->type == BACKEND_OPERATION_REDUCTION)
        return divides(y, x, 0, n);
    for (unsigned i = 0; p->type == BACKEND_OPERATION_POINTWISE && i < p->operands; i++)
        if (!divides(operand(o, p, i), y, 0, n) ||
            (operand(o, p, i)->dim[last] != 1 && operand(o, p, i)->dim[last] != y->dim[last]))
            return false;
    return p->type != BACKEND_OPERATION_POINTWISE || (p->axis >= 0 && p->axis < (int)n);
}

/* A plain ReLU, without clips at other values. */
static bool is_plain_relu(const struct descriptor *kind)
{
    return attribute_number(kind, ATTR_POINTWISE_LOWER_CLIP, 0) == 0 &&
           attribute_number(kind, ATTR_POINTWISE_UPPER_CLIP, INFINITY) >= 1e30 &&
           attribute_number(kind, ATTR_POINTWISE_SLOPE, 0) == 0;
}

static void pack_floats(struct tensor *t)
{
    int64_t stride = 1;
    t->type = CUDNN_DATA_FLOAT;
    for (unsigned i = t->n; i-- > 0; stride *= t->dim[i])
        t->stride[i] = stride;
}

static const char *read_convolution(struct operations *o, const struct descriptor *d, struct operation *p)
{
    int64_t ids[3];
    if (o->convolution_count == MAX_CONVOLUTIONS)
        return "that many convolutions";
    struct convolution *c = &o->convolutions[p->mode = (int)o->convolution_count++];
    if (!descriptor_convolution(d, c, ids))
        return "a convolution that is not complete";
    pack_floats(&c->x);
    pack_floats(&c->w);
    pack_floats(&c->y);
    return c->beta != 0 ? "a convolution that is added to a result" : convolution_wrong(c);
}

/* An operand with the factor 0 is not read: PyTorch gives memory that nobody has written. */
static bool is_read(const struct operation *p, unsigned i)
{
    return i >= 2 || p->type != BACKEND_OPERATION_POINTWISE || p->alpha[i] != 0;
}

static const char *read_operation(struct operations *o, const struct descriptor *d)
{
    struct operation p = {.type = d ? d->type : -1, .alpha = {1, 1}};
    int names[MAX_OPERANDS] = {0}, out;
    switch (p.type) {
    case BACKEND_CONVOLUTION_FORWARD: {
        const char *wrong = read_convolution(o, d, &p);
        if (wrong)
            return wrong;
        p.operands = 2;
        names[0] = ATTR_OPERATION_FORWARD_X;
        names[1] = ATTR_OPERATION_FORWARD_W;
        out = ATTR_OPERATION_FORWARD_Y;
        break;
    }
    case BACKEND_OPERATION_MATMUL:
        p.operands = 2;
        names[0] = ATTR_MATMUL_A;
        names[1] = ATTR_MATMUL_B;
        out = ATTR_MATMUL_C;
        if (attribute_of(d, ATTR_MATMUL_M_OVERRIDE) || attribute_of(d, ATTR_MATMUL_M_OVERRIDE + 1) ||
            attribute_of(d, ATTR_MATMUL_M_OVERRIDE + 2))
            return "a product of sizes in memory";
        break;
    case BACKEND_OPERATION_POINTWISE: {
        const struct descriptor *kind = attribute_descriptor(d, ATTR_POINTWISE_DESCRIPTOR);
        p.mode = (int)attribute_int(kind, ATTR_POINTWISE_MODE, -1);
        p.axis = (int)attribute_int(kind, ATTR_POINTWISE_AXIS, 0);
        p.operands = pointwise_operands(p.mode);
        if (p.operands == 0 || (p.mode == POINTWISE_RELU && !is_plain_relu(kind)))
            return "this mode of a pointwise operation";
        p.alpha[0] = (float)attribute_number(d, ATTR_POINTWISE_ALPHA1, 1);
        p.alpha[1] = (float)attribute_number(d, ATTR_POINTWISE_ALPHA1 + 1, 1);
        names[0] = ATTR_POINTWISE_X;
        names[1] = ATTR_POINTWISE_B;
        names[2] = ATTR_POINTWISE_T;
        out = ATTR_POINTWISE_Y;
        break;
    }
    case BACKEND_OPERATION_REDUCTION:
        p.operands = 1;
        p.mode = (int)attribute_int(attribute_descriptor(d, ATTR_REDUCTION_DESCRIPTOR), ATTR_REDUCTION_MODE, -1);
        if (p.mode < 0 || p.mode >= REDUCE_MODES)
            return "this mode of a reduction";
        names[0] = ATTR_REDUCTION_X;
        out = ATTR_REDUCTION_Y;
        break;
    case BACKEND_OPERATION_RESHAPE:
        p.operands = 1;
        names[0] = ATTR_RESHAPE_X;
        out = ATTR_RESHAPE_Y;
        break;
    case BACKEND_OPERATION_RNG: {
        const struct descriptor *kind = attribute_descriptor(d, ATTR_RNG_DESCRIPTOR);
        if (attribute_int(kind, ATTR_RNG_DISTRIBUTION, -1) != RNG_BERNOULLI || !attribute_descriptor(d, ATTR_RNG_SEED))
            return "random numbers of this distribution or seed";
        p.operands = attribute_of(d, ATTR_RNG_OFFSET) ? 2 : 1;
        p.alpha[0] = (float)attribute_number(kind, ATTR_RNG_PROBABILITY, 0);
        names[0] = ATTR_RNG_SEED;
        names[1] = ATTR_RNG_OFFSET;
        out = ATTR_RNG_Y;
        break;
    }
    default: return "an operation of this kind";
    }
    for (unsigned i = 0; i <= p.operands; i++) {
        const struct descriptor *t = attribute_descriptor(d, i < p.operands ? names[i] : out);
        const char *wrong = t ? value_of(o, t, i < p.operands ? &p.in[i] : &p.out) : "an operation without a tensor";
        if (wrong)
            return wrong;
    }
    if (!fits(o, &p))
        return "an operation whose tensors have these sizes";
    for (unsigned i = 0; i < p.operands; i++)
        o->values[p.in[i]].uses += is_read(&p, i);
    o->values[p.out].is_written = true;
    o->list[o->count++] = p;
    return NULL;
}

const char *operations_read(const struct descriptor *graph, struct operations *o)
{
    const struct attribute *ops = attribute_of(graph, ATTR_GRAPH_OPS);
    memset(o, 0, sizeof *o);
    if (!ops || ops->type != TYPE_DESCRIPTOR || ops->n < 1 || ops->n > MAX_OPERATIONS)
        return "this number of operations";
    for (int64_t i = 0; i < ops->n; i++) {
        const char *wrong = read_operation(o, ((struct descriptor **)ops->values)[i]);
        if (wrong)
            return wrong;
    }
    return NULL;
}

static int64_t count_of(const struct tensor *t, unsigned axes)
{
    int64_t n = 1;
    for (unsigned i = 0; i < axes; i++)
        n *= t->dim[i];
    return n;
}

double operations_flops(const struct operations *o)
{
    double flops = 0;
    for (unsigned i = 0; i < o->count; i++) {
        const struct operation *p = &o->list[i];
        const struct tensor *y = &o->values[p->out].t, *x = operand(o, p, 0);
        flops += (double)count_of(y, y->n) * (p->type == BACKEND_OPERATION_MATMUL ? 2 * (double)x->dim[x->n - 1] : 1);
    }
    return flops;
}

/* ---- computing ---- */

struct work {
    const struct operations *o;
    float *elements[MAX_VALUES];
    unsigned left[MAX_VALUES]; /* operations that still read it */
    const struct operation *now;
};

/* Coordinates of a row, which goes along the last axis. */
static void coordinates(const struct tensor *t, int64_t row, int64_t c[MAX_DIMS])
{
    c[t->n - 1] = 0;
    for (unsigned i = t->n - 1; i-- > 0; row /= t->dim[i])
        c[i] = row % t->dim[i];
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
    int64_t c[MAX_DIMS], rest = (int64_t)batch;
    for (unsigned i = batches; i-- > 0; rest /= y->dim[i])
        c[i] = rest % y->dim[i];
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
#define CASE(number, operands, value)                                                                                  \
    case number:                                                                                                       \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const float x = p->alpha[0] * in[0][i * step[0]], b = p->alpha[1] * in[1][i * step[1]],                    \
                        t = in[2][i * step[2]];                                                                        \
            (void)b, (void)t;                                                                                          \
            y[i] = (float)(value);                                                                                     \
        }                                                                                                              \
        break;
        POINTWISE_MODES(CASE)
#undef CASE
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
    for (int64_t i = 0; i < count_of(y, y->n); i++)
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
