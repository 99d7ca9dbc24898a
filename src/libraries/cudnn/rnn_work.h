/* Shared by the forward and backward computations of recurrent networks (rnn_work.c). Private to
 * rnn_*.c.
 *
 * A call's vectors are rows, ordered by step and then by sequence. A gate's value is what its
 * function returns. The products of a layer in one direction with the input are one product for all
 * rows; products with previous outputs are one for each step.
 *
 * LSTM (gates i, f, g, o): c' = f c + i g, h' = o tanh(c'), which the projection multiplies.
 * GRU (r, z, n): n = tanh(W x + b + r (R h + b')), h' = (1 - z) n + z h.
 */
#ifndef HEDDLE_LIBRARIES_CUDNN_RNN_WORK_H
#define HEDDLE_LIBRARIES_CUDNN_RNN_WORK_H

#include "libraries/cudnn/rnn.h"

/* The values kept of a layer in one direction, as offsets in doubles. The gradients are with
 * respect to the gates' inputs; BACKWARD_DATA computes them for BACKWARD_WEIGHTS. */
struct kept {
    int64_t gates, inner, gradients, inner_gradients, output_gradients, size;
};

/* inner: an LSTM's cells; a GRU's term of n from the previous output. */
struct kept rnn_kept(const struct rnn *r, int64_t vectors);

struct work {
    const struct rnn_call *c;
    const struct rnn *r;
    cudaDataType type;
    size_t element;
    int64_t vectors, steps, sequences;
    /* Row by step and sequence; -1: the sequence has ended. */
    int64_t *row;
    double *weights;                       /* widened */
    double *input;                         /* the network's input, by rows */
    double *reserve;                       /* of all layers */
    double *x, *dx;                        /* the layer's input, and its gradient */
    double *h, *c_now, *packed, *products; /* by sequence; those of one step are contiguous */
};

/* Returns false if memory is exhausted. */
bool rnn_open(struct work *w);
void rnn_close(struct work *w);

/* Zeroed; NULL if memory is exhausted. */
double *rnn_doubles(int64_t n);

/* C = A B, or C += A B, by rows: m x k times k x n, either stored transposed or not. */
struct operand {
    const double *at;
    int64_t pitch;
    bool transposed;
};
void rnn_multiply(int64_t m, int64_t n, int64_t k, struct operand a, struct operand b, bool add, double *to,
                  int64_t pitch);

/* A layer's outputs in all directions, and the dropout factors. */
double *rnn_outputs(const struct work *w, int64_t layer);
double *rnn_masks(const struct work *w, int64_t layer);
static inline bool rnn_drops(const struct rnn *r)
{
    return r->dropout.probability > 0;
}

/* The row of a sequence at a step of a direction; -1 if it has ended. */
static inline int64_t rnn_row(const struct work *w, int64_t direction, int64_t step, int64_t sequence)
{
    const int64_t length = w->c->length[sequence];
    return step < length ? w->row[(direction ? length - 1 - step : step) * w->sequences + sequence] : -1;
}

/* Copy between rows and the vectors of a call. Vectors behind a sequence's end become *fill, if
   given. */
void rnn_read_vectors(const struct work *w, const void *from, int64_t size, double *rows);
void rnn_write_vectors(const struct work *w, void *to, int64_t size, const double *rows, const double *fill);
/* A state of all sequences at one end of a layer in one direction; zero if there is none. */
void rnn_read_state(const struct work *w, const void *from, int64_t pseudo_layer, int64_t size, double *state);
void rnn_write_state(const struct work *w, void *to, int64_t pseudo_layer, int64_t size, const double *state);

/* A layer's input, and one direction's part. */
struct part {
    int64_t layer, direction, pseudo, inputs, width; /* width: of all gates */
    struct rnn_weights at;
    struct kept kept;
    double *keeps, *outputs; /* outputs: this direction's, within the rows of all directions */
};
struct part rnn_part(const struct work *w, int64_t layer, int64_t direction);

/* Sets the layer's input, w->x: the network's input, or the previous outputs after dropout. */
void rnn_set_input(struct work *w, int64_t layer, bool draws);

void rnn_forward(struct work *w);
/* Returns false if memory is exhausted. */
bool rnn_backward(struct work *w);
bool rnn_weigh(struct work *w);

#endif
