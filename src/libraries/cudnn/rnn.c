/* The entry points for recurrent networks, and for the dropout between their layers; see rnn.h. */
#include "libraries/cudnn/rnn.h"

#include <stdlib.h>
#include <string.h>

#include "libraries/blas/elements.h"

/* ---- dropout ---- */

LIBRARY_API cudnnStatus_t cudnnCreateDropoutDescriptor(struct dropout **handle);
cudnnStatus_t cudnnCreateDropoutDescriptor(struct dropout **handle)
{
    IN_CALL;
    return cudnn_new(KIND_DROPOUT, sizeof(struct dropout), (void **)handle);
}

LIBRARY_API cudnnStatus_t cudnnDestroyDropoutDescriptor(void *handle);
cudnnStatus_t cudnnDestroyDropoutDescriptor(void *handle)
{
    IN_CALL;
    return cudnn_drop(KIND_DROPOUT, handle);
}

LIBRARY_API cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t *bytes);
cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t *bytes)
{
    (void)handle;
    if (!bytes)
        return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    *bytes = sizeof(struct dropout_states);
    return CUDNN_STATUS_SUCCESS;
}

struct seeding {
    struct dropout_states *at;
    uint64_t seed;
};

static hd_result run_seeding(void *args)
{
    const struct seeding *s = args;
    *(struct dropout_states *)library_view(s->at) = (struct dropout_states){.seed = s->seed};
    return HD_SUCCESS;
}

static cudnnStatus_t set_dropout(void *descriptor, float probability, void *states, size_t bytes)
{
    struct dropout *d = handle_find(&library_handles, descriptor, KIND_DROPOUT);
    if (!d || !(probability >= 0 && probability < 1) || (probability > 0 && !states) ||
        (states && bytes < sizeof(struct dropout_states)))
        return CUDNN_STATUS_BAD_PARAM;
    *d = (struct dropout){probability, states};
    return CUDNN_STATUS_SUCCESS;
}

LIBRARY_API cudnnStatus_t cudnnSetDropoutDescriptor(void *descriptor, cudnnHandle_t handle, float probability,
                                                    void *states, size_t bytes, unsigned long long seed);
cudnnStatus_t cudnnSetDropoutDescriptor(void *descriptor, cudnnHandle_t handle, float probability, void *states,
                                        size_t bytes, unsigned long long seed)
{
    CONTEXT(s, handle);
    cudnnStatus_t status = set_dropout(descriptor, probability, states, bytes);
    if (status || !states)
        return status;
    const struct seeding args = {states, seed};
    const hd_used used = library_writes(states, sizeof(struct dropout_states));
    const struct library_task t = {.name = "cudnnSetDropoutDescriptor",
                                   .run = run_seeding,
                                   .args = &args,
                                   .arg_bytes = sizeof args,
                                   .used = &used,
                                   .used_count = 1};
    return cudnn_status(heddle_library_put(s->stream, &t, false));
}

LIBRARY_API cudnnStatus_t cudnnRestoreDropoutDescriptor(void *descriptor, cudnnHandle_t handle, float probability,
                                                        void *states, size_t bytes, unsigned long long seed);
cudnnStatus_t cudnnRestoreDropoutDescriptor(void *descriptor, cudnnHandle_t handle, float probability, void *states,
                                            size_t bytes, unsigned long long seed)
{
    (void)handle, (void)seed;
    IN_CALL;
    return set_dropout(descriptor, probability, states, bytes);
}

/* ---- what a network is ---- */

LIBRARY_API cudnnStatus_t cudnnCreateRNNDescriptor(struct rnn **handle);
cudnnStatus_t cudnnCreateRNNDescriptor(struct rnn **handle)
{
    IN_CALL;
    return cudnn_new(KIND_RNN, sizeof(struct rnn), (void **)handle);
}

LIBRARY_API cudnnStatus_t cudnnDestroyRNNDescriptor(void *handle);
cudnnStatus_t cudnnDestroyRNNDescriptor(void *handle)
{
    IN_CALL;
    return cudnn_drop(KIND_RNN, handle);
}

static const struct rnn *rnn_of(void *handle)
{
    const struct rnn *r = handle_find(&library_handles, handle, KIND_RNN);
    return r && r->layers ? r : NULL;
}

LIBRARY_API cudnnStatus_t cudnnSetRNNDescriptor_v8(void *handle, int algorithm, int cell, int bias, int direction,
                                                   int input_mode, int type, int math, int math_type, int32_t input,
                                                   int32_t hidden, int32_t projected, int32_t layers, void *dropout,
                                                   uint32_t flags);
cudnnStatus_t cudnnSetRNNDescriptor_v8(void *handle, int algorithm, int cell, int bias, int direction, int input_mode,
                                       int type, int math, int math_type, int32_t input, int32_t hidden,
                                       int32_t projected, int32_t layers, void *dropout, uint32_t flags)
{
    (void)algorithm, (void)math, (void)math_type, (void)flags;
    IN_CALL;
    struct rnn *r = handle_find(&library_handles, handle, KIND_RNN);
    const struct dropout *d = dropout ? handle_find(&library_handles, dropout, KIND_DROPOUT) : NULL;
    cudaDataType data;
    if (!r || (dropout && !d) || cell < RNN_RELU || cell > RNN_GRU || bias < RNN_NO_BIAS || bias > RNN_RECURRENT_BIAS ||
        (unsigned)direction > 1 || input < 1 || hidden < 1 || layers < 1 || projected < 0 || projected > hidden)
        return CUDNN_STATUS_BAD_PARAM;
    const bool projects = projected && projected != hidden;
    if (input_mode != 0 || !tensor_type(type, &data) || (projects && cell != RNN_LSTM)) {
        LIBRARY_REFUSE(
            "a recurrent network of cuDNN of this type, with CUDNN_SKIP_INPUT, or with a projection and cells other "
            "than LSTM (torch.backends.cudnn.enabled = False makes PyTorch use its own kernels)");
        return CUDNN_STATUS_NOT_SUPPORTED;
    }
    *r = (struct rnn){.cell = (enum rnn_cell)cell,
                      .both = direction,
                      .bias_mode = bias,
                      .type = type,
                      .input = input,
                      .hidden = hidden,
                      .projected = projected ? projected : hidden,
                      .layers = layers,
                      .dropout = d ? *d : (struct dropout){0}};
    return CUDNN_STATUS_SUCCESS;
}

LIBRARY_API cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, void *rnn, size_t *bytes);
cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, void *rnn, size_t *bytes)
{
    CONTEXT(s, handle);
    const struct rnn *r = rnn_of(rnn);
    if (!s || !r || !bytes)
        return CUDNN_STATUS_BAD_PARAM;
    *bytes = (size_t)rnn_weight_count(r) * tensor_element_bytes(&(struct tensor){.type = r->type});
    return CUDNN_STATUS_SUCCESS;
}

/* Describes a matrix or a column. */
static void set_matrix(struct tensor *t, int type, int64_t rows, int64_t columns)
{
    *t = (struct tensor){.type = type, .n = 3, .dim = {1, rows, columns}, .stride = {rows * columns, columns, 1}};
}

/* A matrix that does not exist has no address. */
static void describe(void *tensor, void **address, const void *weights, const struct rnn *r, int64_t at, int64_t rows,
                     int64_t columns)
{
    struct tensor *t = (struct tensor *)tensor_of(tensor);
    if (address)
        *address =
            columns ? (char *)(uintptr_t)weights + (size_t)at * tensor_element_bytes(&(struct tensor){.type = r->type})
                    : NULL;
    if (t && columns)
        set_matrix(t, r->type, rows, columns);
}

LIBRARY_API cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, void *rnn, int32_t pseudo_layer, size_t bytes,
                                                  const void *weights, int32_t number, void *matrix, void **matrix_at,
                                                  void *bias, void **bias_at);
cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, void *rnn, int32_t pseudo_layer, size_t bytes,
                                      const void *weights, int32_t number, void *matrix, void **matrix_at, void *bias,
                                      void **bias_at)
{
    (void)bytes;
    CONTEXT(s, handle);
    const struct rnn *r = rnn_of(rnn);
    const int64_t gates = r ? rnn_gates(r) : 0, directions = r ? rnn_directions(r) : 0;
    if (!s || !r || pseudo_layer < 0 || pseudo_layer >= r->layers * directions || number < 0 ||
        number > 2 * gates - 1 + (r->cell == RNN_LSTM))
        return CUDNN_STATUS_BAD_PARAM;
    const struct rnn_weights w = rnn_weights(r, pseudo_layer);
    if (number == 2 * gates) {
        describe(matrix, matrix_at, weights, r, w.projection, r->projected, rnn_projects(r) ? r->hidden : 0);
        describe(bias, bias_at, weights, r, 0, 0, 0);
        return CUDNN_STATUS_SUCCESS;
    }
    const bool recurrent = number >= gates;
    const int64_t gate = number % gates,
                  columns = recurrent ? r->projected : rnn_layer_input(r, pseudo_layer / directions);
    describe(matrix, matrix_at, weights, r, (recurrent ? w.recurrent : w.input) + gate * r->hidden * columns, r->hidden,
             columns);
    describe(bias, bias_at, weights, r, (recurrent ? w.recurrent_bias : w.input_bias) + gate * r->hidden, r->hidden,
             rnn_has_bias(r, recurrent));
    return CUDNN_STATUS_SUCCESS;
}

/* ---- sequences ---- */

struct sequences {
    int type;
    int64_t size; /* of a vector */
    struct rnn_batch batch;
    int32_t *length;
};

LIBRARY_API cudnnStatus_t cudnnCreateRNNDataDescriptor(struct sequences **handle);
cudnnStatus_t cudnnCreateRNNDataDescriptor(struct sequences **handle)
{
    IN_CALL;
    return cudnn_new(KIND_SEQUENCES, sizeof(struct sequences), (void **)handle);
}

static void free_sequences(void *data)
{
    struct sequences *q = data;
    free(q->length);
    free(q);
}

LIBRARY_API cudnnStatus_t cudnnDestroyRNNDataDescriptor(void *handle);
cudnnStatus_t cudnnDestroyRNNDataDescriptor(void *handle)
{
    IN_CALL;
    struct sequences *q = handle_take(&library_handles, handle, KIND_SEQUENCES);
    if (q)
        call_later(free_sequences, q);
    return q || !handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

static const struct sequences *sequences_of(void *handle)
{
    const struct sequences *q = handle_find(&library_handles, handle, KIND_SEQUENCES);
    return q && q->length ? q : NULL;
}

static bool lengths_are_good(const int *length, int n, int steps, int layout)
{
    for (int i = 0; i < n; i++)
        if (length[i] < 0 || length[i] > steps || (layout == RNN_PACKED && i && length[i] > length[i - 1]))
            return false;
    return true;
}

LIBRARY_API cudnnStatus_t cudnnSetRNNDataDescriptor(void *handle, int type, int layout, int steps, int n, int size,
                                                    const int *length, void *fill);
cudnnStatus_t cudnnSetRNNDataDescriptor(void *handle, int type, int layout, int steps, int n, int size,
                                        const int *length, void *fill)
{
    IN_CALL;
    struct sequences *q = handle_find(&library_handles, handle, KIND_SEQUENCES);
    cudaDataType data;
    if (!q || (unsigned)layout > RNN_BATCH_FIRST || steps < 1 || n < 1 || size < 1 || !length ||
        !lengths_are_good(length, n, steps, layout))
        return CUDNN_STATUS_BAD_PARAM;
    if (!tensor_type(type, &data))
        return CUDNN_STATUS_NOT_SUPPORTED;
    int32_t *copy = malloc((size_t)n * sizeof *copy);
    if (!copy)
        return CUDNN_STATUS_ALLOC_FAILED;
    memcpy(copy, length, (size_t)n * sizeof *copy);
    call_later(free, q->length);
    *q = (struct sequences){
        .type = type, .size = size, .batch = {(enum rnn_layout)layout, steps, n, fill, 0}, .length = copy};
    if (fill)
        elements_widen(PRECISION_D, &q->batch.fill, data, fill, 1, 1);
    return CUDNN_STATUS_SUCCESS;
}

static int64_t vectors_of(const struct sequences *q)
{
    int64_t n = 0;
    for (int64_t i = 0; i < q->batch.sequences; i++)
        n += q->length[i];
    return n;
}

/* Bytes from the first vector to the end of the last, padding included. */
static size_t sequences_bytes(const struct sequences *q)
{
    const int64_t n = q->batch.layout == RNN_PACKED ? vectors_of(q) : q->batch.steps * q->batch.sequences;
    return (size_t)(n * q->size) * tensor_element_bytes(&(struct tensor){.type = q->type});
}

enum { FORWARD_INFERENCE, FORWARD_TRAINING };

LIBRARY_API cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, void *rnn, int mode, void *x,
                                                    size_t *workspace, size_t *reserve);
cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, void *rnn, int mode, void *x, size_t *workspace,
                                        size_t *reserve)
{
    CONTEXT(s, handle);
    const struct rnn *r = rnn_of(rnn);
    const struct sequences *q = sequences_of(x);
    if (!s || !r || !q)
        return CUDNN_STATUS_BAD_PARAM;
    if (workspace)
        *workspace = 0;
    if (reserve)
        *reserve = mode == FORWARD_TRAINING ? rnn_reserve_bytes(r, vectors_of(q)) : 0;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- calls ---- */

static hd_result run_call(void *args)
{
    const struct rnn_call *from = args;
    const size_t bytes = sizeof *from + (size_t)from->batch.sequences * sizeof *from->length;
    struct rnn_call *c = malloc(bytes);
    if (!c)
        return HD_ERROR_OUT_OF_MEMORY;
    memcpy(c, from, bytes);
    const void **at = (const void **)&c->at;
    for (size_t i = 0; i < sizeof c->at / sizeof *at; i++)
        at[i] = at[i] ? library_view(at[i]) : NULL;
    hd_result r = rnn_compute(c);
    free(c);
    return r;
}

/* Floating-point operations of the matrix products, for all vectors. */
static double flops_of(const struct rnn *r, int64_t vectors, enum rnn_what what)
{
    double n = 2.0 * (double)rnn_weight_count(r) * (double)vectors;
    return what > RNN_TRAINING ? 2 * n : n;
}

static cudnnStatus_t put(struct cudnn_handle *s, const char *name, struct rnn_call now, const struct sequences *x,
                         const struct sequences *y, size_t weight_bytes, size_t reserve_bytes)
{
    const struct rnn *r = &now.r;
    const int64_t vectors = vectors_of(x), ends = r->layers * rnn_directions(r) * x->batch.sequences;
    const size_t element = tensor_element_bytes(&(struct tensor){.type = r->type});
    const size_t weights = (size_t)rnn_weight_count(r) * element, reserve = rnn_reserve_bytes(r, vectors),
                 h = (size_t)(ends * r->projected) * element, c = (size_t)(ends * r->hidden) * element;
    const bool keeps = now.what != RNN_FORWARD;
    if (x->type != r->type || y->type != r->type || x->size != r->input ||
        y->size != r->projected * rnn_directions(r) || x->batch.layout != y->batch.layout ||
        x->batch.steps != y->batch.steps || x->batch.sequences != y->batch.sequences || weight_bytes < weights ||
        (keeps && reserve_bytes < reserve) || (keeps && !now.at.reserve && vectors))
        return CUDNN_STATUS_BAD_PARAM;
    const struct {
        const void *at;
        size_t bytes;
        unsigned use;
    } all[] = {{now.at.x, sequences_bytes(x), HD_READS},
               {now.at.y, sequences_bytes(y), HD_WRITES},
               {now.at.dy, sequences_bytes(y), HD_READS},
               {now.at.dx, sequences_bytes(x), HD_WRITES},
               {now.at.hx, h, HD_READS},
               {now.at.cx, c, HD_READS},
               {now.at.dhy, h, HD_READS},
               {now.at.dcy, c, HD_READS},
               {now.at.hy, h, HD_WRITES},
               {now.at.cy, c, HD_WRITES},
               {now.at.dhx, h, HD_WRITES},
               {now.at.dcx, c, HD_WRITES},
               {now.at.weights, weights, HD_READS},
               {now.at.dweights, weights, now.replaces ? HD_WRITES : HD_READS | HD_WRITES},
               {now.at.reserve, reserve, now.what == RNN_TRAINING ? HD_WRITES : HD_READS | HD_WRITES},
               {now.at.states, sizeof(struct dropout_states), HD_READS | HD_WRITES}};
    hd_used used[sizeof all / sizeof *all];
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].at && all[i].bytes)
            used[n++] = library_uses(all[i].at, all[i].bytes, 1, all[i].bytes, all[i].use);
    const size_t bytes = sizeof now + (size_t)x->batch.sequences * sizeof *now.length;
    struct rnn_call *args = malloc(bytes);
    if (!args)
        return CUDNN_STATUS_ALLOC_FAILED;
    now.batch = y->batch;
    *args = now;
    memcpy(args->length, x->length, (size_t)x->batch.sequences * sizeof *now.length);
    const struct library_task t = {.name = name,
                                   .run = run_call,
                                   .args = args,
                                   .arg_bytes = bytes,
                                   .used = used,
                                   .used_count = n,
                                   .flops = flops_of(r, vectors, now.what),
                                   .unit = r->type == CUDNN_DATA_DOUBLE ? HD_UNIT_FP64 : HD_UNIT_FP32};
    cudnnStatus_t status = cudnn_status(heddle_library_put(s->stream, &t, false));
    free(args);
    return status;
}

#define NETWORK(s, handle, r, rnn, qx, x_of, qy, y_of)                                                                 \
    CONTEXT(s, handle);                                                                                                \
    const struct rnn *r = rnn_of(rnn);                                                                                 \
    const struct sequences *qx = sequences_of(x_of), *qy = sequences_of(y_of);                                         \
    if (!r || !qx || !qy)                                                                                              \
    return CUDNN_STATUS_BAD_PARAM

LIBRARY_API cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, void *rnn, int mode, const int32_t *lengths,
                                          void *x_data, const void *x, void *y_data, void *y, void *h_tensor,
                                          const void *hx, void *hy, void *c_tensor, const void *cx, void *cy,
                                          size_t weight_bytes, const void *weights, size_t workspace_bytes,
                                          void *workspace, size_t reserve_bytes, void *reserve);
cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, void *rnn, int mode, const int32_t *lengths, void *x_data,
                              const void *x, void *y_data, void *y, void *h_tensor, const void *hx, void *hy,
                              void *c_tensor, const void *cx, void *cy, size_t weight_bytes, const void *weights,
                              size_t workspace_bytes, void *workspace, size_t reserve_bytes, void *reserve)
{
    (void)lengths, (void)h_tensor, (void)c_tensor, (void)workspace_bytes, (void)workspace;
    NETWORK(s, handle, r, rnn, qx, x_data, qy, y_data);
    if (!x || !y || !weights)
        return CUDNN_STATUS_BAD_PARAM;
    struct rnn_call c = {.what = mode == FORWARD_TRAINING ? RNN_TRAINING : RNN_FORWARD,
                         .r = *r,
                         .at = {.x = x, .hx = hx, .cx = cx, .weights = weights, .y = y, .hy = hy, .cy = cy}};
    if (c.what == RNN_TRAINING) {
        c.at.reserve = reserve;
        c.at.states = r->dropout.probability > 0 ? r->dropout.states : NULL;
    }
    if (r->cell != RNN_LSTM)
        c.at.cx = c.at.cy = NULL;
    return put(s, "cudnnRNNForward", c, qx, qy, weight_bytes, reserve_bytes);
}

LIBRARY_API cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, void *rnn, const int32_t *lengths, void *y_data,
                                                  const void *y, const void *dy, void *x_data, void *dx, void *h_tensor,
                                                  const void *hx, const void *dhy, void *dhx, void *c_tensor,
                                                  const void *cx, const void *dcy, void *dcx, size_t weight_bytes,
                                                  const void *weights, size_t workspace_bytes, void *workspace,
                                                  size_t reserve_bytes, void *reserve);
cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, void *rnn, const int32_t *lengths, void *y_data,
                                      const void *y, const void *dy, void *x_data, void *dx, void *h_tensor,
                                      const void *hx, const void *dhy, void *dhx, void *c_tensor, const void *cx,
                                      const void *dcy, void *dcx, size_t weight_bytes, const void *weights,
                                      size_t workspace_bytes, void *workspace, size_t reserve_bytes, void *reserve)
{
    (void)lengths, (void)y, (void)h_tensor, (void)c_tensor, (void)workspace_bytes, (void)workspace;
    NETWORK(s, handle, r, rnn, qx, x_data, qy, y_data);
    if (!dy || !dx || !weights)
        return CUDNN_STATUS_BAD_PARAM;
    struct rnn_call c = {.what = RNN_BACKWARD_DATA,
                         .r = *r,
                         .at = {.dy = dy,
                                .dx = dx,
                                .hx = hx,
                                .dhy = dhy,
                                .dhx = dhx,
                                .cx = cx,
                                .dcy = dcy,
                                .dcx = dcx,
                                .weights = weights,
                                .reserve = reserve}};
    if (r->cell != RNN_LSTM) {
        c.at.cx = c.at.dcy = NULL;
        c.at.dcx = NULL;
    }
    return put(s, "cudnnRNNBackwardData_v8", c, qx, qy, weight_bytes, reserve_bytes);
}

enum { GRADIENT_ADD, GRADIENT_SET };

LIBRARY_API cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, void *rnn, int mode, const int32_t *lengths,
                                                     void *x_data, const void *x, void *h_tensor, const void *hx,
                                                     void *y_data, const void *y, size_t weight_bytes, void *dweights,
                                                     size_t workspace_bytes, void *workspace, size_t reserve_bytes,
                                                     void *reserve);
cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, void *rnn, int mode, const int32_t *lengths,
                                         void *x_data, const void *x, void *h_tensor, const void *hx, void *y_data,
                                         const void *y, size_t weight_bytes, void *dweights, size_t workspace_bytes,
                                         void *workspace, size_t reserve_bytes, void *reserve)
{
    (void)lengths, (void)h_tensor, (void)y, (void)workspace_bytes, (void)workspace;
    NETWORK(s, handle, r, rnn, qx, x_data, qy, y_data);
    if (!x || !dweights)
        return CUDNN_STATUS_BAD_PARAM;
    const struct rnn_call c = {.what = RNN_BACKWARD_WEIGHTS,
                               .r = *r,
                               .replaces = mode == GRADIENT_SET,
                               .at = {.x = x, .hx = hx, .dweights = dweights, .reserve = reserve}};
    return put(s, "cudnnRNNBackwardWeights_v8", c, qx, qy, weight_bytes, reserve_bytes);
}
