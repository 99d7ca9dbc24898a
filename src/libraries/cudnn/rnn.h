/* cuDNN's recurrent networks (cudnnRNN*): layers of cells, in one or both directions, over
 * sequences of different lengths. rnn.c has the entry points; the functions of rnn_work.h compute
 * in double for all data types.
 */
#ifndef HEDDLE_LIBRARIES_CUDNN_RNN_H
#define HEDDLE_LIBRARIES_CUDNN_RNN_H

#include "libraries/cudnn/cudnn.h"

enum rnn_cell { RNN_RELU, RNN_TANH, RNN_LSTM, RNN_GRU };

struct dropout {
    float probability;
    void *states; /* in device memory: struct dropout_states */
};
/* The source of dropout masks: those of the n-th call depend only on the seed and n. */
struct dropout_states {
    uint64_t seed, calls;
};

struct rnn {
    enum rnn_cell cell;
    bool both; /* both directions */
    int bias_mode;
    int type;                                 /* CUDNN_DATA_ */
    int64_t input, hidden, projected, layers; /* projected: equals hidden without a projection */
    struct dropout dropout;
};

/* The weights of a layer in one direction, a "pseudo-layer": matrices of all gates for the input,
 * for the previous output, and of the projection; then, behind the matrices of all layers, both
 * sets of biases. Offsets in elements from the start of the weights. */
struct rnn_weights {
    int64_t input, recurrent, projection, input_bias, recurrent_bias;
};

int64_t rnn_gates(const struct rnn *r);
static inline int64_t rnn_directions(const struct rnn *r)
{
    return r->both ? 2 : 1;
}
/* The size of a layer's input: the network's, or the outputs of both directions of the previous
   layer. */
static inline int64_t rnn_layer_input(const struct rnn *r, int64_t layer)
{
    return layer ? r->projected * rnn_directions(r) : r->input;
}
static inline bool rnn_projects(const struct rnn *r)
{
    return r->projected != r->hidden;
}
enum { RNN_NO_BIAS, RNN_INPUT_BIAS, RNN_BOTH_BIASES, RNN_RECURRENT_BIAS };
static inline bool rnn_has_bias(const struct rnn *r, bool recurrent)
{
    return r->bias_mode == RNN_BOTH_BIASES || r->bias_mode == (recurrent ? RNN_RECURRENT_BIAS : RNN_INPUT_BIAS);
}
struct rnn_weights rnn_weights(const struct rnn *r, int64_t pseudo_layer);
int64_t rnn_weight_count(const struct rnn *r);

/* The layout of sequences' vectors. */
enum rnn_layout { RNN_STEPS_FIRST, RNN_PACKED, RNN_BATCH_FIRST };
struct rnn_batch {
    enum rnn_layout layout;
    int64_t steps, sequences;
    bool fills; /* the result is filled behind a sequence's end */
    double fill;
};

enum rnn_what { RNN_FORWARD, RNN_TRAINING, RNN_BACKWARD_DATA, RNN_BACKWARD_WEIGHTS };

/* A call. Pointers that it does not have are NULL. */
struct rnn_call {
    enum rnn_what what;
    struct rnn r;
    struct rnn_batch batch;
    bool replaces; /* RNN_BACKWARD_WEIGHTS: replaces the gradients; else adds to them */
    struct {
        const void *x, *hx, *cx, *weights, *dy, *dhy, *dcy;
        void *y, *hy, *cy, *dx, *dhx, *dcx, *dweights, *reserve, *states;
    } at;
    int32_t length[]; /* of each sequence */
};

/* Bytes that a training call keeps for the backward ones, for this number of vectors. */
size_t rnn_reserve_bytes(const struct rnn *r, int64_t vectors);
/* In a task, with this process's addresses. */
hd_result rnn_compute(const struct rnn_call *c);

#endif
