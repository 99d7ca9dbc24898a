/* Recurrent networks: what forward and backward computations share (rnn_work.c). Private to rnn_*.c.
 *
 * Vectors of a call are rows, by steps and, of a step, by sequences that last as long. A gate's
 * value is what its function gives. Of a layer in one direction the products with the input are one
 * product for all rows; what comes of the previous outputs is one a step.
 *
 * LSTM (gates i, f, g, o): c' = f c + i g, h' = o tanh(c'), which the projection multiplies.
 * GRU (r, z, n): n = tanh(W x + b + r (R h + b')), h' = (1 - z) n + z h.
 */
#ifndef HEDDLE_LIBRARIES_CUDNN_RNN_WORK_H
#define HEDDLE_LIBRARIES_CUDNN_RNN_WORK_H

#include "libraries/cudnn/rnn.h"

/* What is kept of a layer in one direction, in doubles from its start. The gradients are of what goes into the gates,
 * as BACKWARD_DATA has found them for BACKWARD_WEIGHTS. */
struct kept {
    int64_t gates, inner, gradients, inner_gradients, output_gradients, size;
};

/* inner: an LSTM's cells; of a GRU's n what comes of the previous output. */
struct kept rnn_kept(const struct rnn *r, int64_t vectors);

struct work {
    const struct rnn_call *c;
    const struct rnn *r;
    cudaDataType type;
    size_t element;
    int64_t vectors, steps, sequences;
    int64_t *row;                          /* by step and sequence; -1: the sequence has ended */
    double *weights;                       /* widened */
    double *input;                         /* of the network, by rows */
    double *reserve;                       /* of all layers */
    double *x, *dx;                        /* what the layer gets, and its gradient */
    double *h, *c_now, *packed, *products; /* by sequence; those of one step, next to each other */
};

/* False: memory is exhausted. */
bool rnn_open(struct work *w);
void rnn_close(struct work *w);

/* Zeroes; NULL: no memory. */
double *rnn_doubles(int64_t n);

/* C = A B, or C += A B, by rows: m x k by k x n, each of which may be stored transposed. */
struct operand {
    const double *at;
    int64_t pitch;
    bool transposed;
};
void rnn_multiply(int64_t m, int64_t n, int64_t k, struct operand a, struct operand b, bool add, double *to,
                  int64_t pitch);

/* Of a layer: the outputs of all directions, and what dropout multiplies them by. */
double *rnn_outputs(const struct work *w, int64_t layer);
double *rnn_masks(const struct work *w, int64_t layer);
static inline bool rnn_drops(const struct rnn *r)
{
    return r->dropout.probability > 0;
}

/* Where a sequence is at a step of a direction; -1: it has ended. */
static inline int64_t rnn_row(const struct work *w, int64_t direction, int64_t step, int64_t sequence)
{
    const int64_t length = w->c->length[sequence];
    return step < length ? w->row[(direction ? length - 1 - step : step) * w->sequences + sequence] : -1;
}

/* Between rows and the vectors of a call. What is behind a sequence's end becomes *fill, if there is one. */
void rnn_read_vectors(const struct work *w, const void *from, int64_t size, double *rows);
void rnn_write_vectors(const struct work *w, void *to, int64_t size, const double *rows, const double *fill);
/* A state of all sequences at an end of a layer in one direction; zero where there is none. */
void rnn_read_state(const struct work *w, const void *from, int64_t pseudo_layer, int64_t size, double *state);
void rnn_write_state(const struct work *w, void *to, int64_t pseudo_layer, int64_t size, const double *state);

/* The layer's input and what a direction has of it. */
struct part {
    int64_t layer, direction, pseudo, inputs, width; /* width: of all gates */
    struct rnn_weights at;
    struct kept kept;
    double *keeps, *outputs; /* outputs: of the direction, in rows of all directions */
};
struct part rnn_part(const struct work *w, int64_t layer, int64_t direction);

/* Sets what the layer gets, w->x: of the first the network's input, of the others the outputs before, of which
 * dropout keeps some. */
void rnn_set_input(struct work *w, int64_t layer, bool draws);

void rnn_forward(struct work *w);
/* False: memory is exhausted. */
bool rnn_backward(struct work *w);
bool rnn_weigh(struct work *w);

#endif
