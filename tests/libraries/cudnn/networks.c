/* libcudnn's recurrent networks, as PyTorch calls them: every cell in one direction and both, over
 * sequences of several lengths, packed and not, beside sums made here of one sequence after the
 * other; gradients beside differences of what those sums give. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../cuda/tap.h"

int cudnnCreate(void **), cudnnDestroy(void *), cudnnCreateTensorDescriptor(void **),
    cudnnDestroyTensorDescriptor(void *);
int cudnnGetTensorNdDescriptor(void *, int, int *, int *, int *, int *);
int cudnnCreateDropoutDescriptor(void **), cudnnDestroyDropoutDescriptor(void *),
    cudnnDropoutGetStatesSize(void *, size_t *);
int cudnnSetDropoutDescriptor(void *, void *, float, void *, size_t, unsigned long long);
int cudnnCreateRNNDescriptor(void **), cudnnDestroyRNNDescriptor(void *);
int cudnnSetRNNDescriptor_v8(void *, int, int, int, int, int, int, int, int, int32_t, int32_t, int32_t, int32_t, void *,
                             uint32_t);
int cudnnCreateRNNDataDescriptor(void **), cudnnDestroyRNNDataDescriptor(void *);
int cudnnSetRNNDataDescriptor(void *, int, int, int, int, int, const int *, void *);
int cudnnGetRNNWeightSpaceSize(void *, void *, size_t *),
    cudnnGetRNNTempSpaceSizes(void *, void *, int, void *, size_t *, size_t *);
int cudnnGetRNNWeightParams(void *, void *, int32_t, size_t, const void *, int32_t, void *, void **, void *, void **);
int cudnnRNNForward(void *, void *, int, const int32_t *, void *, const void *, void *, void *, void *, const void *,
                    void *, void *, const void *, void *, size_t, const void *, size_t, void *, size_t, void *);
int cudnnRNNBackwardData_v8(void *, void *, const int32_t *, void *, const void *, const void *, void *, void *, void *,
                            const void *, const void *, void *, void *, const void *, const void *, void *, size_t,
                            const void *, size_t, void *, size_t, void *);
int cudnnRNNBackwardWeights_v8(void *, void *, int, const int32_t *, void *, const void *, void *, const void *, void *,
                               const void *, size_t, void *, size_t, void *, size_t, void *);

#define DONE(call) CHECK((call) == 0)

enum { RELU, TANH, LSTM, GRU };
enum { STEPS_FIRST, PACKED, BATCH_FIRST };
enum { DOUBLE = 1, STEPS = 4, SEQUENCES = 3, INPUT = 2, HIDDEN = 3, LAYERS = 2, MOST = 2048, BAD_PARAM = 2000 };

static const int lengths[SEQUENCES] = {4, 2, 1};
static void *handle;

struct network {
    int cell, directions, projected, layout;
    void *rnn, *x_data, *y_data;
    size_t weight_bytes, reserve_bytes;
    double *weights, *reserve;
    double *x, *hx, *cx, *y, *hy, *cy, *dy, *dhy, *dcy, *dx, *dhx, *dcx, *dweights;
};

static double *managed(unsigned seed)
{
    double *p;
    DONE(cudaMallocManaged((void **)&p, MOST * sizeof *p, cudaMemAttachGlobal));
    for (int i = 0; i < MOST; i++) {
        seed = seed * 1664525 + 1013904223;
        p[i] = (double)(seed >> 8) / (1 << 24) - 0.5;
    }
    return p;
}

static struct network network(int cell, int directions, int projected, int layout, float dropout, void *states)
{
    struct network n = {.cell = cell, .directions = directions, .projected = projected, .layout = layout};
    double **all = &n.x;
    void *d;
    for (unsigned i = 0; i < 13; i++)
        all[i] = managed(i + 1);
    DONE(cudnnCreateDropoutDescriptor(&d));
    DONE(cudnnSetDropoutDescriptor(d, handle, dropout, states, states ? 4096 : 0, 7));
    DONE(cudnnCreateRNNDescriptor(&n.rnn));
    DONE(cudnnSetRNNDescriptor_v8(n.rnn, 0, cell, 2, directions - 1, 0, DOUBLE, DOUBLE, 0, INPUT, HIDDEN, projected,
                                  LAYERS, d, 1));
    DONE(cudnnDestroyDropoutDescriptor(d));
    DONE(cudnnCreateRNNDataDescriptor(&n.x_data));
    DONE(cudnnCreateRNNDataDescriptor(&n.y_data));
    double fill = 42;
    DONE(cudnnSetRNNDataDescriptor(n.x_data, DOUBLE, layout, STEPS, SEQUENCES, INPUT, lengths, NULL));
    DONE(cudnnSetRNNDataDescriptor(n.y_data, DOUBLE, layout, STEPS, SEQUENCES, projected * directions, lengths, &fill));
    size_t work;
    DONE(cudnnGetRNNWeightSpaceSize(handle, n.rnn, &n.weight_bytes));
    DONE(cudnnGetRNNTempSpaceSizes(handle, n.rnn, 1, n.x_data, &work, &n.reserve_bytes));
    n.weights = managed(99);
    DONE(cudaMallocManaged((void **)&n.reserve, n.reserve_bytes, cudaMemAttachGlobal));
    return n;
}

static void drop(struct network *n)
{
    for (double **p = &n->weights; p <= &n->dweights; p++)
        DONE(cudaFree(*p));
    DONE(cudnnDestroyRNNDescriptor(n->rnn));
    DONE(cudnnDestroyRNNDataDescriptor(n->x_data));
    DONE(cudnnDestroyRNNDataDescriptor(n->y_data));
    CHECK(cudnnDestroyRNNDataDescriptor(n->y_data) == BAD_PARAM);
}

static void forward(const struct network *n, int mode)
{
    DONE(cudnnRNNForward(handle, n->rnn, mode, NULL, n->x_data, n->x, n->y_data, n->y, NULL, n->hx, n->hy, NULL, n->cx,
                         n->cy, n->weight_bytes, n->weights, 0, NULL, n->reserve_bytes, n->reserve));
    DONE(cudaDeviceSynchronize());
}

static int place(const struct network *n, int step, int sequence)
{
    int before = 0;
    for (int s = 0; s < step; s++)
        for (int b = 0; b < SEQUENCES; b++)
            before += s < lengths[b];
    return n->layout == PACKED        ? before + sequence
           : n->layout == BATCH_FIRST ? sequence * STEPS + step
                                      : step * SEQUENCES + sequence;
}

/* ---- the sums ---- */

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* A row of a parameter times a vector, and its bias. */
static double row(const struct network *n, int pseudo, int number, int i, const double *v)
{
    void *matrix, *bias, *at, *bias_at;
    int type, dims, dim[3] = {0}, stride[3];
    DONE(cudnnCreateTensorDescriptor(&matrix));
    DONE(cudnnCreateTensorDescriptor(&bias));
    DONE(cudnnGetRNNWeightParams(handle, n->rnn, pseudo, n->weight_bytes, n->weights, number, matrix, &at, bias,
                                 &bias_at));
    DONE(cudnnGetTensorNdDescriptor(matrix, 3, &type, &dims, dim, stride));
    double sum = bias_at ? ((double *)bias_at)[i] : 0;
    for (int k = 0; k < dim[2]; k++)
        sum += ((double *)at)[i * dim[2] + k] * v[k];
    cudnnDestroyTensorDescriptor(matrix);
    cudnnDestroyTensorDescriptor(bias);
    return sum;
}

static void step(const struct network *n, int pseudo, const double *x, double *h, double *c)
{
    const int gates = n->cell == LSTM ? 4 : n->cell == GRU ? 3 : 1;
    double a[4][HIDDEN], b[4][HIDDEN], out[HIDDEN];
    for (int g = 0; g < gates; g++)
        for (int i = 0; i < HIDDEN; i++) {
            a[g][i] = row(n, pseudo, g, i, x);
            b[g][i] = row(n, pseudo, gates + g, i, h);
        }
    for (int i = 0; i < HIDDEN; i++) {
        double sum = a[0][i] + b[0][i];
        if (n->cell == LSTM) {
            c[i] = sigmoid(a[1][i] + b[1][i]) * c[i] + sigmoid(sum) * tanh(a[2][i] + b[2][i]);
            out[i] = sigmoid(a[3][i] + b[3][i]) * tanh(c[i]);
        } else if (n->cell == GRU) {
            double z = sigmoid(a[1][i] + b[1][i]);
            out[i] = (1 - z) * tanh(a[2][i] + sigmoid(sum) * b[2][i]) + z * h[i];
        } else {
            out[i] = n->cell == TANH ? tanh(sum) : fmax(sum, 0);
        }
    }
    for (int i = 0; i < n->projected; i++)
        h[i] = n->projected < HIDDEN ? row(n, pseudo, 8, i, out) : out[i];
}

/* What cudnnRNNForward() is to give of a sequence: its outputs, and the last states. */
struct expected {
    double y[STEPS][2 * HIDDEN], h[2 * LAYERS][HIDDEN], c[2 * LAYERS][HIDDEN];
};

static struct expected expected(const struct network *n, int sequence)
{
    struct expected e = {0};
    double in[STEPS][2 * HIDDEN] = {0};
    for (int t = 0; t < lengths[sequence]; t++)
        memcpy(in[t], n->x + place(n, t, sequence) * INPUT, INPUT * sizeof(double));
    for (int layer = 0; layer < LAYERS; layer++) {
        for (int d = 0; d < n->directions; d++) {
            int pseudo = layer * n->directions + d, at = pseudo * SEQUENCES + sequence;
            double *h = e.h[pseudo], *c = e.c[pseudo];
            memcpy(h, n->hx + at * n->projected, (size_t)n->projected * sizeof *h);
            memcpy(c, n->cx + at * HIDDEN, HIDDEN * sizeof *c);
            for (int s = 0; s < lengths[sequence]; s++) {
                int t = d ? lengths[sequence] - 1 - s : s;
                step(n, pseudo, in[t], h, c);
                memcpy(e.y[t] + d * n->projected, h, (size_t)n->projected * sizeof *h);
            }
        }
        memcpy(in, e.y, sizeof in);
    }
    return e;
}

/* What the gradients are of: products of all results with dy, dhy and dcy. */
static double loss(const struct network *n)
{
    double sum = 0;
    const int width = n->projected * n->directions;
    for (int b = 0; b < SEQUENCES; b++) {
        struct expected e = expected(n, b);
        for (int t = 0; t < lengths[b]; t++)
            for (int i = 0; i < width; i++)
                sum += e.y[t][i] * n->dy[place(n, t, b) * width + i];
        for (int p = 0; p < LAYERS * n->directions; p++) {
            for (int i = 0; i < n->projected; i++)
                sum += e.h[p][i] * n->dhy[(p * SEQUENCES + b) * n->projected + i];
            for (int i = 0; n->cell == LSTM && i < HIDDEN; i++)
                sum += e.c[p][i] * n->dcy[(p * SEQUENCES + b) * HIDDEN + i];
        }
    }
    return sum;
}

/* ---- what is shown ---- */

static const struct {
    int cell, directions, projected, layout;
} cases[] = {{RELU, 1, HIDDEN, STEPS_FIRST}, {TANH, 2, HIDDEN, PACKED},     {LSTM, 1, HIDDEN, PACKED},
             {LSTM, 2, 2, BATCH_FIRST},      {GRU, 1, HIDDEN, BATCH_FIRST}, {GRU, 2, HIDDEN, STEPS_FIRST}};
enum { CASES = sizeof cases / sizeof *cases };

static struct network of_case(int i)
{
    return network(cases[i].cell, cases[i].directions, cases[i].projected, cases[i].layout, 0, NULL);
}

static void results_are_those_of_one_sequence_after_the_other(void)
{
    for (int i = 0; i < CASES; i++) {
        struct network n = of_case(i);
        const int width = n.projected * n.directions;
        double worst = 0;
        for (int mode = 0; mode < 2; mode++) {
            memset(n.y, 0, MOST * sizeof *n.y);
            forward(&n, mode);
            for (int b = 0; b < SEQUENCES; b++) {
                struct expected e = expected(&n, b);
                for (int t = 0; t < STEPS; t++)
                    for (int k = 0; k < width && (t < lengths[b] || n.layout != PACKED); k++)
                        worst = fmax(worst, fabs(n.y[place(&n, t, b) * width + k] - (t < lengths[b] ? e.y[t][k] : 42)));
                for (int p = 0; p < LAYERS * n.directions; p++) {
                    for (int k = 0; k < n.projected; k++)
                        worst = fmax(worst, fabs(n.hy[(p * SEQUENCES + b) * n.projected + k] - e.h[p][k]));
                    for (int k = 0; n.cell == LSTM && k < HIDDEN; k++)
                        worst = fmax(worst, fabs(n.cy[(p * SEQUENCES + b) * HIDDEN + k] - e.c[p][k]));
                }
            }
        }
        CHECK(worst < 1e-12);
        drop(&n);
    }
}

/* Of every so manieth element. */
static double worst_difference(const struct network *n, double *of, const double *gradient, int count, int every)
{
    const double h = 1e-6;
    double worst = 0;
    for (int i = 0; i < count; i += every) {
        double was = of[i];
        of[i] = was + h;
        double more = loss(n);
        of[i] = was - h;
        double difference = (more - loss(n)) / (2 * h);
        of[i] = was;
        worst = fmax(worst, fabs(difference - gradient[i]));
    }
    return worst;
}

static void gradients_are_differences(void)
{
    for (int i = 0; i < CASES; i++) {
        struct network n = of_case(i);
        const int ends = LAYERS * n.directions * SEQUENCES, vectors = n.layout == PACKED ? 7 : STEPS * SEQUENCES;
        const int weights = (int)(n.weight_bytes / sizeof(double));
        forward(&n, 1);
        DONE(cudnnRNNBackwardData_v8(handle, n.rnn, NULL, n.y_data, n.y, n.dy, n.x_data, n.dx, NULL, n.hx, n.dhy, n.dhx,
                                     NULL, n.cx, n.dcy, n.dcx, n.weight_bytes, n.weights, 0, NULL, n.reserve_bytes,
                                     n.reserve));
        memset(n.dweights, 0, MOST * sizeof(double));
        for (int mode = 0; mode < 2; mode++) /* added to nothing, then set */
            DONE(cudnnRNNBackwardWeights_v8(handle, n.rnn, mode, NULL, n.x_data, n.x, NULL, n.hx, n.y_data, n.y,
                                            n.weight_bytes, n.dweights, 0, NULL, n.reserve_bytes, n.reserve));
        DONE(cudaDeviceSynchronize());
        CHECK(worst_difference(&n, n.x, n.dx, vectors * INPUT, 3) < 1e-7);
        CHECK(worst_difference(&n, n.hx, n.dhx, ends * n.projected, 5) < 1e-7);
        CHECK(n.cell != LSTM || worst_difference(&n, n.cx, n.dcx, ends * HIDDEN, 5) < 1e-7);
        CHECK(worst_difference(&n, n.weights, n.dweights, weights, 7) < 1e-7);
        drop(&n);
    }
}

/* Of a network of identities: what is kept is doubled, and so is its gradient; a second call draws others, and the same
 * seed the same. */
static void dropout_keeps_some_and_their_gradients(void)
{
    double *states, first[MOST];
    DONE(cudaMallocManaged((void **)&states, 4096, cudaMemAttachGlobal));
    for (int run = 0; run < 2; run++) {
        struct network n = network(RELU, 1, HIDDEN, STEPS_FIRST, 0.5f, states);
        int kept = 0, differ = 0, wrong = 0;
        memset(n.weights, 0, MOST * sizeof(double));
        for (int layer = 0; layer < LAYERS; layer++) {
            void *at, *bias;
            DONE(cudnnGetRNNWeightParams(handle, n.rnn, layer, n.weight_bytes, n.weights, 0, NULL, &at, NULL, &bias));
            for (int i = 0; i < HIDDEN; i++)
                (layer ? (double *)at + i * (HIDDEN + 1) : (double *)bias + i)[0] = 1;
        }
        memset(n.hx, 0, MOST * sizeof(double));
        memset(n.dhy, 0, MOST * sizeof(double));
        forward(&n, 1);
        for (int b = 0; b < SEQUENCES; b++)
            for (int i = 0; i < lengths[b] * HIDDEN; i++) {
                double y = n.y[(i / HIDDEN * SEQUENCES + b) * HIDDEN + i % HIDDEN];
                kept += y != 0;
                wrong += y != 0 && y != 2;
                wrong += run && y != first[b * STEPS * HIDDEN + i];
                first[b * STEPS * HIDDEN + i] = y;
            }
        CHECK(!wrong && kept > 2 && kept < 19);
        forward(&n, 1);
        for (int b = 0; b < SEQUENCES; b++)
            for (int i = 0; i < lengths[b] * HIDDEN; i++)
                differ += n.y[(i / HIDDEN * SEQUENCES + b) * HIDDEN + i % HIDDEN] != first[b * STEPS * HIDDEN + i];
        CHECK(differ > 0);
        drop(&n);
    }
    DONE(cudaFree(states));
}

static void what_does_not_fit_is_an_error(void)
{
    struct network n = network(GRU, 1, HIDDEN, STEPS_FIRST, 0, NULL);
    void *r = n.rnn, *q = n.x_data, *at;
    CHECK(cudnnRNNForward(handle, r, 1, NULL, q, n.x, n.y_data, n.y, NULL, NULL, NULL, NULL, NULL, NULL,
                          n.weight_bytes - 1, n.weights, 0, NULL, n.reserve_bytes, n.reserve) == BAD_PARAM);
    CHECK(cudnnRNNForward(handle, r, 1, NULL, q, n.x, n.y_data, n.y, NULL, NULL, NULL, NULL, NULL, NULL, n.weight_bytes,
                          n.weights, 0, NULL, n.reserve_bytes - 1, n.reserve) == BAD_PARAM);
    CHECK(cudnnRNNForward(handle, r, 0, NULL, q, n.x, q, n.y, NULL, NULL, NULL, NULL, NULL, NULL, n.weight_bytes,
                          n.weights, 0, NULL, 0, NULL) == BAD_PARAM);
    CHECK(cudnnGetRNNWeightParams(handle, r, LAYERS, n.weight_bytes, n.weights, 0, NULL, &at, NULL, NULL) == BAD_PARAM);
    CHECK(cudnnSetRNNDataDescriptor(q, DOUBLE, PACKED, STEPS, SEQUENCES, INPUT, (int[]){1, 2, 3}, NULL) == BAD_PARAM);
    CHECK(cudnnSetRNNDescriptor_v8(r, 0, GRU, 2, 0, 0, DOUBLE, DOUBLE, 0, INPUT, HIDDEN, 2, LAYERS, NULL, 1) == 3000);
    drop(&n);
}

int main(void)
{
    DONE(cudnnCreate(&handle));
    RUN(results_are_those_of_one_sequence_after_the_other);
    RUN(gradients_are_differences);
    RUN(dropout_keeps_some_and_their_gradients);
    RUN(what_does_not_fit_is_an_error);
    DONE(cudnnDestroy(handle));
    return summary();
}
