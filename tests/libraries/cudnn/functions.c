/* libcudnn as PyTorch has it: convolutions and attention by graphs of the backend API, and batch
 * normalization, beside sums in double; what is refused. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../cuda/tap.h"

int cudnnCreate(void **), cudnnDestroy(void *), cudnnBackendCreateDescriptor(int, void **),
    cudnnBackendDestroyDescriptor(void *);
int cudnnBackendSetAttribute(void *, int, int, int64_t, const void *), cudnnBackendFinalize(void *),
    cudnnBackendExecute(void *, void *, void *);
int cudnnBackendGetAttribute(void *, int, int, int64_t, int64_t *, void *), cudnnCreateTensorDescriptor(void **),
    cudnnDestroyTensorDescriptor(void *);
int cudnnSetTensorNdDescriptor(void *, int, int, const int *, const int *), cudnnPoolingForward(void);
int cudnnBatchNormalizationForwardTrainingEx(void *, int, int, const void *, const void *, void *, const void *, void *,
                                             const void *, void *, void *, void *, const void *, const void *, double,
                                             void *, void *, double, void *, void *, void *, void *, size_t, void *,
                                             size_t);
size_t cudnnGetVersion(void);

enum {
    INT64 = 3,
    FLOAT = 4,
    DOUBLE = 5,
    POINTER = 6,
    DATA_TYPE = 1,
    MODE = 7,
    HANDLE = 0,
    DESCRIPTOR = 15,
    NOT_SUPPORTED = 3000,
    BAD_PARAM = 2000,
    NULL_POINTER = 2002
};
enum { FORWARD = 10, FILTER = 11, DATA = 12, DIMS = 4 };
#define DONE(call) CHECK((call) == 0)

static void *handle;

static void *made(int type)
{
    void *d = NULL;
    DONE(cudnnBackendCreateDescriptor(type, &d));
    return d;
}

static void set(void *d, int name, int type, int64_t n, const void *values)
{
    DONE(cudnnBackendSetAttribute(d, name, type, n, values));
}

/* Channels last where that is asked for: strides of an NCHW tensor whose elements lie as NHWC. */
static void strides_of(const int64_t dims[DIMS], bool last, int64_t strides[DIMS])
{
    int64_t h = dims[2], w = dims[3], c = dims[1];
    int64_t first[DIMS] = {c * h * w, h * w, w, 1}, channels[DIMS] = {c * h * w, 1, w * c, c};
    memcpy(strides, last ? channels : first, sizeof first);
}

static void *tensor(int64_t id, const int64_t dims[DIMS], bool last)
{
    int type = 0;
    int64_t strides[DIMS], alignment = 16;
    void *d = made(17);
    strides_of(dims, last, strides);
    set(d, 901, DATA_TYPE, 1, &type);
    set(d, 902, INT64, DIMS, dims);
    set(d, 903, INT64, DIMS, strides);
    set(d, 906, INT64, 1, &id);
    set(d, 900, INT64, 1, &alignment);
    DONE(cudnnBackendFinalize(d));
    return d;
}

struct shape {
    int64_t x[DIMS], w[DIMS], y[DIMS], stride[2], pad[2], dilation[2];
    bool last;
};

/* Plan and engine are found as programs find them: by a heuristic, whose results they have made. */
static void *plan_of(void *graph)
{
    int mode = 0;
    int64_t n = 0, workspace = -1;
    void *heuristic = made(4), *config = made(3), *plan = made(5);
    set(heuristic, 201, DESCRIPTOR, 1, &graph);
    set(heuristic, 200, 8, 1, &mode);
    DONE(cudnnBackendFinalize(heuristic));
    DONE(cudnnBackendGetAttribute(heuristic, 202, DESCRIPTOR, 0, &n, NULL));
    CHECK(n == 1);
    DONE(cudnnBackendGetAttribute(heuristic, 202, DESCRIPTOR, 1, &n, &config));
    set(plan, 400, HANDLE, 1, &handle);
    set(plan, 401, DESCRIPTOR, 1, &config);
    DONE(cudnnBackendFinalize(plan));
    DONE(cudnnBackendGetAttribute(plan, 402, INT64, 1, &n, &workspace));
    CHECK(workspace == 0);
    cudnnBackendDestroyDescriptor(heuristic);
    cudnnBackendDestroyDescriptor(config);
    return plan;
}

static void *described(const struct shape *s)
{
    int type = 0, mode = 1;
    int64_t space = 2;
    void *d = made(1);
    set(d, 100, DATA_TYPE, 1, &type);
    set(d, 101, MODE, 1, &mode);
    set(d, 106, INT64, 1, &space);
    set(d, 103, INT64, 2, s->stride);
    set(d, 104, INT64, 2, s->pad);
    set(d, 105, INT64, 2, s->pad);
    set(d, 102, INT64, 2, s->dilation);
    DONE(cudnnBackendFinalize(d));
    return d;
}

static void run(int kind, const struct shape *s, float *x, float *w, float *y, float alpha, float beta)
{
    int first = kind == FORWARD ? 700 : kind == DATA ? 706 : 712;
    int64_t ids[3] = {'x', 'w', 'y'};
    void *at[3] = {x, w, y}, *op = made(kind), *d = described(s), *graph = made(15), *pack = made(16);
    void *tensors[3] = {tensor('x', s->x, s->last), tensor('w', s->w, s->last), tensor('y', s->y, s->last)};
    set(op, first, FLOAT, 1, &alpha);
    set(op, first + 1, FLOAT, 1, &beta);
    set(op, first + 2, DESCRIPTOR, 1, &d);
    set(op, first + 3, DESCRIPTOR, 1, &tensors[1]);
    set(op, first + 4, DESCRIPTOR, 1, &tensors[0]);
    set(op, first + 5, DESCRIPTOR, 1, &tensors[2]);
    DONE(cudnnBackendFinalize(op));
    set(graph, 800, HANDLE, 1, &handle);
    set(graph, 801, DESCRIPTOR, 1, &op);
    DONE(cudnnBackendFinalize(graph));
    void *plan = plan_of(graph);
    set(pack, 1000, INT64, 3, ids);
    set(pack, 1001, POINTER, 3, at);
    DONE(cudnnBackendFinalize(pack));
    void *all[] = {op, d, graph, tensors[0], tensors[1], tensors[2]};
    for (int i = 0; i < 6; i++) /* the plan has all that it needs */
        cudnnBackendDestroyDescriptor(all[i]);
    DONE(cudnnBackendExecute(handle, plan, pack));
    cudnnBackendDestroyDescriptor(plan);
    cudnnBackendDestroyDescriptor(pack);
}

/* ---- the same in double ---- */

static float *at(float *p, const int64_t dims[DIMS], bool last, int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t s[DIMS];
    strides_of(dims, last, s);
    return p + a * s[0] + b * s[1] + c * s[2] + d * s[3];
}

/* Adds to one of them, a sum in double, what a tap brings. */
static void by_hand(int kind, const struct shape *s, float *x, float *w, float *y, double *sums)
{
    int64_t groups = s->x[1] / s->w[1], out = s->y[1] / groups;
    for (int64_t n = 0; n < s->y[0]; n++)
        for (int64_t k = 0; k < s->y[1]; k++)
            for (int64_t p = 0; p < s->y[2] * s->y[3]; p++)
                for (int64_t c = 0; c < s->w[1]; c++)
                    for (int64_t t = 0; t < s->w[2] * s->w[3]; t++) {
                        int64_t h = p / s->y[3] * s->stride[0] - s->pad[0] + t / s->w[3] * s->dilation[0],
                                v = p % s->y[3] * s->stride[1] - s->pad[1] + t % s->w[3] * s->dilation[1];
                        if (h < 0 || h >= s->x[2] || v < 0 || v >= s->x[3])
                            continue;
                        float *xp = at(x, s->x, s->last, n, k / out * s->w[1] + c, h, v),
                              *wp = at(w, s->w, s->last, k, c, t / s->w[3], t % s->w[3]),
                              *yp = at(y, s->y, s->last, n, k, p / s->y[3], p % s->y[3]);
                        if (kind == FORWARD)
                            sums[yp - y] += (double)*xp * *wp;
                        else if (kind == DATA)
                            sums[xp - x] += (double)*yp * *wp;
                        else
                            sums[wp - w] += (double)*yp * *xp;
                    }
}

static size_t fill(float **to, const int64_t dims[DIMS])
{
    static unsigned state = 1;
    size_t n = (size_t)(dims[0] * dims[1] * dims[2] * dims[3]);
    DONE(cudaMallocManaged((void **)to, n * sizeof **to, 1));
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        (*to)[i] = (float)(state >> 8) / (1 << 24) - 0.5f;
    }
    return n;
}

static void try_shape(const struct shape *s)
{
    float *p[3];
    size_t n[3] = {fill(&p[0], s->x), fill(&p[1], s->w), fill(&p[2], s->y)};
    static const int kinds[] = {FORWARD, DATA, FILTER}, written[] = {2, 0, 1};
    for (int i = 0; i < 6; i++) {
        int kind = kinds[i % 3], to = written[i % 3];
        float alpha = i < 3 ? 1 : 0.5f, beta = i < 3 ? 0 : 2;
        double *sums = calloc(n[to], sizeof *sums);
        by_hand(kind, s, p[0], p[1], p[2], sums);
        for (size_t k = 0; k < n[to]; k++)
            sums[k] = alpha * sums[k] + beta * (double)p[to][k];
        run(kind, s, p[0], p[1], p[2], alpha, beta);
        DONE(cudaDeviceSynchronize());
        double worst = 0, largest = 1;
        for (size_t k = 0; k < n[to]; k++) {
            worst = fmax(worst, fabs(sums[k] - (double)p[to][k]));
            largest = fmax(largest, fabs(sums[k]));
        }
        CHECK(worst < 1e-6 * largest);
        free(sums);
    }
    for (int i = 0; i < 3; i++)
        cudaFree(p[i]);
}

static void convolutions_and_their_gradients_are_sums(void)
{
    static const struct shape shapes[] = {
        {{2, 3, 6, 7}, {4, 3, 3, 2}, {2, 4, 6, 8}, {1, 1}, {1, 1}, {1, 1}, false},
        {{2, 4, 9, 8}, {6, 2, 3, 3}, {2, 6, 5, 4}, {2, 2}, {2, 1}, {2, 1}, false},
        {{1, 4, 5, 5}, {4, 1, 3, 3}, {1, 4, 5, 5}, {1, 1}, {1, 1}, {1, 1}, true},
        {{3, 2, 4, 1}, {2, 2, 1, 1}, {3, 2, 4, 1}, {1, 1}, {0, 0}, {1, 1}, true},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        try_shape(&shapes[i]);
}

/* ---- graphs of products, pointwise operations, reductions and reshapes ---- */

enum {
    POINTWISE = 13,
    PRODUCT = 19,
    REDUCTION = 22,
    RESHAPE = 31,
    RANDOM = 33,
    ADD = 0,
    MULTIPLY = 1,
    DIVIDE = 6,
    SUBTRACT = 9,
    EXPONENTIAL = 13,
    NOT_LESS = 303,
    INDEX = 501,
    SELECT = 601,
    SUM = 0,
    LARGEST = 3,
    BOOLEAN = 2,
    INT32 = 4
};
enum { HEADS = 4, KEY_HEADS = 2, QUERIES = 5, KEYS = 6, WIDTH = 3 };

/* A graph under construction. */
static struct {
    void *ops[16];
    int64_t ops_n;
} building;

/* Tensors 1 to 9 have memory; 10 and 11 are numbers of the host; others are virtual. */
static void *value(int64_t id, int type, int64_t heads, int64_t rows, int64_t columns, bool transposed)
{
    int64_t dims[DIMS] = {1, heads, rows, columns},
            strides[DIMS] = {heads * rows * columns, rows * columns, transposed ? 1 : columns, transposed ? rows : 1};
    bool is_virtual = id > 11, is_by_value = id == 10 || id == 11;
    void *d = made(17);
    set(d, 901, DATA_TYPE, 1, &type);
    set(d, 902, INT64, DIMS, dims);
    set(d, 903, INT64, DIMS, strides);
    set(d, 906, INT64, 1, &id);
    set(d, 907, BOOLEAN, 1, &is_virtual);
    set(d, 908, BOOLEAN, 1, &is_by_value);
    DONE(cudnnBackendFinalize(d));
    return d;
}

/* Adds x, b and t -> y to the graph, with a factor of b. Returns y. */
static void *add_scaled(int kind, int mode, int64_t axis, void *x, void *b, const float *factor, void *t, void *y)
{
    int x_name = kind == POINTWISE   ? 751
                 : kind == PRODUCT   ? 1520
                 : kind == REDUCTION ? 1610
                                     : 2200,
        y_name = kind == POINTWISE ? 753
                 : kind == PRODUCT ? 1522
                                   : x_name + 1;
    void *op = made(kind), *how = made(kind == POINTWISE ? 0 : kind - 1);
    set(how, kind == REDUCTION ? 1600 : 0, DATA_TYPE, 1, &mode);
    set(how, 9, INT64, 1, &axis);
    DONE(cudnnBackendFinalize(how));
    if (kind != RESHAPE)
        set(op, kind == POINTWISE ? 750 : kind == PRODUCT ? 1523 : 1612, DESCRIPTOR, 1, &how);
    set(op, x_name, DESCRIPTOR, 1, &x);
    if (b)
        set(op, x_name + 1, DESCRIPTOR, 1, &b);
    if (factor)
        set(op, 755, FLOAT, 1, factor);
    if (t)
        set(op, 758, DESCRIPTOR, 1, &t);
    set(op, y_name, DESCRIPTOR, 1, &y);
    DONE(cudnnBackendFinalize(op));
    building.ops[building.ops_n++] = op;
    return y;
}

static void *add(int kind, int mode, int64_t axis, void *x, void *b, void *t, void *y)
{
    return add_scaled(kind, mode, axis, x, b, NULL, t, y);
}

static void *built(void)
{
    void *graph = made(15);
    set(graph, 800, HANDLE, 1, &handle);
    set(graph, 801, DESCRIPTOR, building.ops_n, building.ops);
    building.ops_n = 0;
    return graph;
}

/* The weights of one head, as attention with a causal mask has them. */
static void weights_by_hand(const float *q, const float *k, double scale, double weights[QUERIES][KEYS])
{
    for (int i = 0; i < QUERIES; i++) {
        double sum = 0;
        for (int j = 0; j < KEYS; j++) {
            weights[i][j] = 0;
            for (int l = 0; l < WIDTH; l++)
                weights[i][j] += scale * (double)q[i * WIDTH + l] * (double)k[j * WIDTH + l];
            weights[i][j] = i >= j ? exp(weights[i][j]) : 0;
            sum += weights[i][j];
        }
        for (int j = 0; j < KEYS; j++)
            weights[i][j] /= sum;
    }
}

static void attention_is_a_graph(void)
{
    float *q, *k, *v, *o, *back, scale = 0.7f, none = -1e30f;
    fill(&q, (int64_t[]){1, HEADS, QUERIES, WIDTH});
    fill(&k, (int64_t[]){1, KEY_HEADS, KEYS, WIDTH});
    fill(&v, (int64_t[]){1, KEY_HEADS, KEYS, WIDTH});
    fill(&o, (int64_t[]){1, HEADS, QUERIES, WIDTH});
    fill(&back, (int64_t[]){1, HEADS, KEYS, WIDTH});
    void *tq = value(1, 0, HEADS, QUERIES, WIDTH, false), *s = value(20, 0, HEADS, QUERIES, KEYS, false);
    add(PRODUCT, 0, 0, tq, value(2, 0, KEY_HEADS, WIDTH, KEYS, true), NULL, s);
    s = add(POINTWISE, MULTIPLY, 0, s, value(10, 0, 1, 1, 1, false), NULL, value(21, 0, HEADS, QUERIES, KEYS, false));
    void *row = add(POINTWISE, INDEX, 2, s, NULL, NULL, value(22, INT32, HEADS, QUERIES, KEYS, false));
    void *column = add(POINTWISE, INDEX, 3, s, NULL, NULL, value(23, INT32, HEADS, QUERIES, KEYS, false));
    void *seen = add(POINTWISE, NOT_LESS, 0, row, column, NULL, value(24, 11, HEADS, QUERIES, KEYS, false));
    s = add(POINTWISE, SELECT, 0, s, value(11, 0, 1, 1, 1, false), seen, value(25, 0, HEADS, QUERIES, KEYS, false));
    void *largest = add(REDUCTION, LARGEST, 0, s, NULL, NULL, value(26, 0, HEADS, QUERIES, 1, false));
    s = add(POINTWISE, SUBTRACT, 0, s, largest, NULL, value(27, 0, HEADS, QUERIES, KEYS, false));
    s = add(POINTWISE, EXPONENTIAL, 0, s, NULL, NULL, value(28, 0, HEADS, QUERIES, KEYS, false));
    void *sum = add(REDUCTION, SUM, 0, s, NULL, NULL, value(29, 0, HEADS, QUERIES, 1, false));
    s = add(POINTWISE, DIVIDE, 0, s, sum, NULL, value(30, 0, HEADS, QUERIES, KEYS, false));
    add(PRODUCT, 0, 0, s, value(3, 0, KEY_HEADS, KEYS, WIDTH, false), NULL, value(4, 0, HEADS, QUERIES, WIDTH, false));
    s = add(RESHAPE, 0, 0, s, NULL, NULL, value(31, 0, HEADS, KEYS, QUERIES, true));
    add(PRODUCT, 0, 0, s, tq, NULL, value(5, 0, HEADS, KEYS, WIDTH, false));
    void *graph = built(), *pack = made(16);
    DONE(cudnnBackendFinalize(graph));
    set(pack, 1000, INT64, 7, (int64_t[]){1, 2, 3, 4, 5, 10, 11});
    set(pack, 1001, POINTER, 7, (void *[]){q, k, v, o, back, &scale, &none});
    DONE(cudnnBackendFinalize(pack));
    DONE(cudnnBackendExecute(handle, plan_of(graph), pack));
    DONE(cudaDeviceSynchronize());
    double worst = 0;
    for (int h = 0; h < HEADS; h++) {
        double weights[QUERIES][KEYS], out[QUERIES * WIDTH] = {0}, gone[KEYS * WIDTH] = {0};
        const float *mine = q + h * QUERIES * WIDTH, *theirs = v + h / 2 * KEYS * WIDTH;
        weights_by_hand(mine, k + h / 2 * KEYS * WIDTH, (double)scale, weights);
        for (int n = 0; n < QUERIES * KEYS * WIDTH; n++) {
            int i = n / KEYS / WIDTH, j = n / WIDTH % KEYS, l = n % WIDTH;
            out[i * WIDTH + l] += weights[i][j] * (double)theirs[j * WIDTH + l];
            gone[j * WIDTH + l] += weights[i][j] * (double)mine[i * WIDTH + l];
        }
        for (int n = 0; n < QUERIES * WIDTH; n++)
            worst = fmax(worst, fabs(out[n] - (double)o[h * QUERIES * WIDTH + n]));
        for (int n = 0; n < KEYS * WIDTH; n++)
            worst = fmax(worst, fabs(gone[n] - (double)back[h * KEYS * WIDTH + n]));
    }
    CHECK(worst < 1e-6);
    set(pack = made(16), 1000, INT64, 1, (int64_t[]){1});
    set(pack, 1001, POINTER, 1, (void *[]){q});
    DONE(cudnnBackendFinalize(pack));
    CHECK(cudnnBackendExecute(handle, plan_of(graph), pack) == NULL_POINTER);
}

/* The same seed draws the same mask, of as many ones as asked for. */
static void masks_are_drawn_from_their_seed(void)
{
    enum { ALL = 4 * 50 * 50 };
    int distribution = 0, *seed, ones = 0, differ = 0;
    double probability = 0.75;
    float *first, *second;
    DONE(cudaMallocManaged((void **)&seed, 2 * sizeof *seed, 1));
    DONE(cudaMallocManaged((void **)&first, ALL * sizeof *first, 1));
    DONE(cudaMallocManaged((void **)&second, ALL * sizeof *second, 1));
    void *how = made(32), *op = made(RANDOM), *y = value(3, 0, 4, 50, 50, false), *s = value(1, INT32, 1, 1, 1, false),
         *offset = value(2, INT32, 1, 1, 1, false);
    set(how, 2300, DATA_TYPE, 1, &distribution);
    set(how, 2305, DOUBLE, 1, &probability);
    DONE(cudnnBackendFinalize(how));
    set(op, 2310, DESCRIPTOR, 1, &y);
    set(op, 2311, DESCRIPTOR, 1, &s);
    set(op, 2312, DESCRIPTOR, 1, &how);
    set(op, 2313, DESCRIPTOR, 1, &offset);
    DONE(cudnnBackendFinalize(op));
    building.ops[building.ops_n++] = op;
    void *graph = built();
    DONE(cudnnBackendFinalize(graph));
    for (int i = 0; i < 3; i++) {
        float *to = i == 0 ? first : second;
        void *pack = made(16);
        seed[0] = 5;
        seed[1] = i < 2 ? 0 : 7;
        set(pack, 1000, INT64, 3, (int64_t[]){1, 2, 3});
        set(pack, 1001, POINTER, 3, (void *[]){seed, seed + 1, to});
        DONE(cudnnBackendFinalize(pack));
        DONE(cudnnBackendExecute(handle, plan_of(graph), pack));
        DONE(cudaDeviceSynchronize());
        if (i == 1)
            CHECK(memcmp(first, second, ALL * sizeof *first) == 0);
    }
    for (int i = 0; i < ALL; i++) {
        ones += first[i] == 1;
        differ += first[i] != second[i];
    }
    CHECK(ones > 0.73 * ALL && ones < 0.77 * ALL);
    CHECK(differ > 0.3 * ALL);
}

/* y = max(0, w * x + 0 z + bias); z, which has the factor 0, is not read. */
static void a_convolution_adds_a_bias_and_a_relu(void)
{
    static const struct shape shape = {{1, 3, 4, 5}, {2, 3, 3, 3}, {1, 2, 4, 5}, {1, 1}, {1, 1}, {1, 1}, false};
    enum { ALL = 2 * 4 * 5, RELU = 100 };
    float *x, *w, *y, *bias, zero = 0, *none = NULL;
    double sums[ALL] = {0}, worst = 0;
    fill(&x, shape.x);
    fill(&w, shape.w);
    fill(&y, shape.y);
    fill(&bias, (int64_t[]){1, 2, 1, 1});
    by_hand(FORWARD, &shape, x, w, y, sums);
    void *op = building.ops[building.ops_n++] = made(FORWARD), *d = described(&shape),
         *of[] = {d, tensor(2, shape.w, false), tensor(1, shape.x, false), value(20, 0, 2, 4, 5, false)};
    for (int i = 0; i < 4; i++)
        set(op, 702 + i, DESCRIPTOR, 1, &of[i]);
    DONE(cudnnBackendFinalize(op));
    void *sum =
        add_scaled(POINTWISE, ADD, 0, of[3], value(3, 0, 2, 4, 5, false), &zero, NULL, value(21, 0, 2, 4, 5, false));
    sum = add(POINTWISE, ADD, 0, sum, value(4, 0, 2, 1, 1, false), NULL, value(22, 0, 2, 4, 5, false));
    add(POINTWISE, RELU, 0, sum, NULL, NULL, value(5, 0, 2, 4, 5, false));
    void *graph = built(), *pack = made(16);
    DONE(cudnnBackendFinalize(graph));
    set(pack, 1000, INT64, 5, (int64_t[]){1, 2, 3, 4, 5});
    set(pack, 1001, POINTER, 5, (void *[]){x, w, none, bias, y});
    DONE(cudnnBackendFinalize(pack));
    DONE(cudnnBackendExecute(handle, plan_of(graph), pack));
    DONE(cudaDeviceSynchronize());
    for (int i = 0; i < ALL; i++)
        worst = fmax(worst, fabs(fmax(0, sums[i] + (double)bias[i / 20]) - (double)y[i]));
    CHECK(worst < 1e-5);
}

static void graphs_that_do_not_fit_are_refused(void)
{
    add(PRODUCT, 0, 0, value(1, 0, 1, 2, 3, false), value(2, 0, 1, 4, 2, false), NULL, value(3, 0, 1, 2, 2, false));
    CHECK(cudnnBackendFinalize(built()) == NOT_SUPPORTED);
    add(POINTWISE, MULTIPLY, 0, value(1, 0, 1, 2, 3, false), value(2, 0, 1, 2, 2, false), NULL,
        value(3, 0, 1, 2, 3, false));
    CHECK(cudnnBackendFinalize(built()) == NOT_SUPPORTED);
    add(POINTWISE, 999, 0, value(1, 0, 1, 2, 3, false), NULL, NULL, value(3, 0, 1, 2, 3, false));
    CHECK(cudnnBackendFinalize(built()) == NOT_SUPPORTED);
    void *random = building.ops[building.ops_n++] = made(RANDOM);
    DONE(cudnnBackendFinalize(random));
    CHECK(cudnnBackendFinalize(built()) == NOT_SUPPORTED);
}

static void graphs_of_anything_else_are_refused(void)
{
    void *graph = made(15), *op = made(13), *ops[2] = {op, op};
    DONE(cudnnBackendFinalize(op));
    set(graph, 801, DESCRIPTOR, 1, ops);
    CHECK(cudnnBackendFinalize(graph) == NOT_SUPPORTED);
    CHECK(cudnnBackendGetAttribute(graph, 801, DESCRIPTOR, 0, NULL, NULL) != 0);
    CHECK(cudnnBackendSetAttribute((void *)16, 801, DESCRIPTOR, 1, ops) == BAD_PARAM);
    cudnnBackendDestroyDescriptor(op);
    CHECK(cudnnBackendFinalize(op) == BAD_PARAM);
    cudnnBackendDestroyDescriptor(graph);
    CHECK(cudnnPoolingForward() == NOT_SUPPORTED);
    CHECK(cudnnGetVersion() / 10000 == 9);
}

static void sizes_that_do_not_fit_are_refused(void)
{
    int64_t x[] = {1, 1, 4, 4}, w[] = {1, 1, 3, 3}, y[] = {1, 1, 3, 2}, one[] = {1, 1}, none[] = {0, 0}, space = 2;
    void *d = made(1), *op = made(FORWARD), *graph = made(15),
         *tensors[] = {tensor(1, w, false), tensor(2, x, false), tensor(3, y, false)};
    set(d, 106, INT64, 1, &space);
    set(d, 103, INT64, 2, one);
    set(d, 104, INT64, 2, none);
    set(d, 105, INT64, 2, none);
    set(d, 102, INT64, 2, one);
    DONE(cudnnBackendFinalize(d));
    set(op, 702, DESCRIPTOR, 1, &d);
    for (int i = 0; i < 3; i++)
        set(op, 703 + i, DESCRIPTOR, 1, &tensors[i]);
    DONE(cudnnBackendFinalize(op));
    set(graph, 801, DESCRIPTOR, 1, &op);
    CHECK(cudnnBackendFinalize(graph) == NOT_SUPPORTED);
}

static void batches_are_normalised(void)
{
    enum { IMAGES = 3, CHANNELS = 2, SPACE = 5, ALL = IMAGES * CHANNELS * SPACE };
    float *x, *y, *p, one = 1, zero = 0;
    int64_t dims[] = {IMAGES, CHANNELS, SPACE, 1}, six[] = {6, CHANNELS, 1, 1};
    fill(&x, dims);
    fill(&y, dims);
    fill(&p, six); /* scale, bias, running mean and variance, saved mean and inverse deviation */
    void *t, *parameters;
    DONE(cudnnCreateTensorDescriptor(&t));
    DONE(cudnnCreateTensorDescriptor(&parameters));
    DONE(cudnnSetTensorNdDescriptor(t, 0, 4, (int[]){IMAGES, CHANNELS, SPACE, 1},
                                    (int[]){CHANNELS * SPACE, SPACE, 1, 1}));
    DONE(cudnnSetTensorNdDescriptor(parameters, 0, 4, (int[]){1, CHANNELS, 1, 1}, (int[]){CHANNELS, 1, 1, 1}));
    float before = p[4];
    DONE(cudnnBatchNormalizationForwardTrainingEx(handle, 1, 0, &one, &zero, t, x, NULL, NULL, t, y, parameters, p,
                                                  p + 2, 0.25, p + 4, p + 6, 1e-5, p + 8, p + 10, NULL, NULL, 0, NULL,
                                                  0));
    DONE(cudaDeviceSynchronize());
    for (int c = 0; c < CHANNELS; c++) {
        double sum = 0, squares = 0, worst = 0;
        for (int i = 0; i < IMAGES * SPACE; i++)
            sum += (double)x[(i / SPACE * CHANNELS + c) * SPACE + i % SPACE] / (IMAGES * SPACE);
        for (int i = 0; i < IMAGES * SPACE; i++)
            squares += pow((double)x[(i / SPACE * CHANNELS + c) * SPACE + i % SPACE] - sum, 2) / (IMAGES * SPACE);
        for (int i = 0; i < IMAGES * SPACE; i++) {
            int k = (i / SPACE * CHANNELS + c) * SPACE + i % SPACE;
            worst = fmax(worst, fabs(((double)x[k] - sum) / sqrt(squares + 1e-5) * (double)p[c] + (double)p[2 + c] -
                                     (double)y[k]));
        }
        CHECK(worst < 1e-5);
        CHECK(fabs((double)p[8 + c] - sum) < 1e-6);
        CHECK(c > 0 || fabs((double)p[4] - (0.75 * (double)before + 0.25 * sum)) < 1e-6);
    }
    CHECK(cudnnBatchNormalizationForwardTrainingEx(handle, 0, 0, &one, &zero, t, x, NULL, NULL, t, y, parameters, p,
                                                   p + 2, 0.25, p + 4, p + 6, 1e-5, p + 8, p + 10, NULL, NULL, 0, NULL,
                                                   0) == NOT_SUPPORTED);
    cudnnDestroyTensorDescriptor(t);
    CHECK(cudnnDestroyTensorDescriptor(t) == BAD_PARAM);
}

int main(void)
{
    DONE(cudnnCreate(&handle));
    RUN(convolutions_and_their_gradients_are_sums);
    RUN(attention_is_a_graph);
    RUN(a_convolution_adds_a_bias_and_a_relu);
    RUN(masks_are_drawn_from_their_seed);
    RUN(graphs_that_do_not_fit_are_refused);
    RUN(graphs_of_anything_else_are_refused);
    RUN(sizes_that_do_not_fit_are_refused);
    RUN(batches_are_normalised);
    DONE(cudnnDestroy(handle));
    return summary();
}
