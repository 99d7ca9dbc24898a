/* Recurrent networks of cuDNN's (cudnnRNN*): layers of cells, in one direction or both, over
 * sequences of several lengths. rnn.c has the entry points; what rnn_work.h shows computes in double,
 * whatever the type of the data.
 */
#ifndef HEDDLE_LIBRARIES_CUDNN_RNN_H
#define HEDDLE_LIBRARIES_CUDNN_RNN_H

#include "libraries/cudnn/cudnn.h"

enum rnn_cell { RNN_RELU, RNN_TANH, RNN_LSTM, RNN_GRU };

struct dropout {
    float probability;
    void *states; /* of the device: struct dropout_states */
};
/* What masks are drawn from: those of the n-th call depend on the seed and on n alone. */
struct dropout_states {
    uint64_t seed, calls;
};

struct rnn {
    enum rnn_cell cell;
    bool both; /* directions */
    int bias_mode;
    int type;                                 /* CUDNN_DATA_ */
    int64_t input, hidden, projected, layers; /* projected: hidden, where there is no projection */
    struct dropout dropout;
};

/* The parameters of a layer in one direction, a "pseudo-layer": matrices of all gates of the input,
 * of the previous output, and of the projection; then, behind all layers' matrices, the biases of both.
 * In elements from the start of the weights. */
struct rnn_weights {
    int64_t input, recurrent, projection, input_bias, recurrent_bias;
};

int64_t rnn_gates(const struct rnn *r);
static inline int64_t rnn_directions(const struct rnn *r)
{
    return r->both ? 2 : 1;
}
/* What a layer gets: the network's input, or both directions' outputs of the layer before. */
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

/* Where the vectors of sequences lie. */
enum rnn_layout { RNN_STEPS_FIRST, RNN_PACKED, RNN_BATCH_FIRST };
struct rnn_batch {
    enum rnn_layout layout;
    int64_t steps, sequences;
    bool fills; /* what is behind a sequence's end in the result */
    double fill;
};

enum rnn_what { RNN_FORWARD, RNN_TRAINING, RNN_BACKWARD_DATA, RNN_BACKWARD_WEIGHTS };

/* A call. Pointers that it does not have are NULL. */
struct rnn_call {
    enum rnn_what what;
    struct rnn r;
    struct rnn_batch batch;
    bool replaces; /* RNN_BACKWARD_WEIGHTS: else it adds to what is there */
    struct {
        const void *x, *hx, *cx, *weights, *dy, *dhy, *dcy;
        void *y, *hy, *cy, *dx, *dhx, *dcx, *dweights, *reserve, *states;
    } at;
    int32_t length[]; /* of the sequences */
};

/* What a training call keeps for the backward ones, of so many vectors in all. */
size_t rnn_reserve_bytes(const struct rnn *r, int64_t vectors);
/* In a task, the addresses being the process's. */
hd_result rnn_compute(const struct rnn_call *c);

#endif
