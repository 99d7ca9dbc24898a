/* Graphs of products, convolutions, pointwise operations, reductions, reshapes and dropout masks,
 * such as attention's: read from descriptors into a plain record, and computed in float, one
 * operation after the other.
 */
#ifndef HEDDLE_LIBRARIES_CUDNN_OPERATIONS_H
#define HEDDLE_LIBRARIES_CUDNN_OPERATIONS_H

#include "libraries/cudnn/backend.h"
#include "libraries/cudnn/convolution.h"

enum { MAX_OPERANDS = 3, MAX_OPERATIONS = 96, MAX_VALUES = 128, MAX_CONVOLUTIONS = 4 };

/* A tensor of the graph. */
struct value {
    struct tensor t;
    int64_t id;
    bool is_virtual;  /* it has no memory of the program's */
    bool is_by_value; /* its one element is in host memory */
    bool is_written;
    unsigned uses; /* operations that read it */
    float constant;
    void *at;
};

struct operation {
    /* BACKEND_ ...; the mode of a pointwise operation or of a reduction, or which convolution. */
    int type, mode, axis;
    float alpha[2]; /* factors of the first two operands; or the probability of 1 in a mask */
    unsigned operands;
    uint8_t in[MAX_OPERANDS], out; /* values */
};

struct operations {
    unsigned value_count, count;
    struct value values[MAX_VALUES];
    struct operation list[MAX_OPERATIONS];
    unsigned convolution_count;
    struct convolution convolutions[MAX_CONVOLUTIONS]; /* of arrays of floats */
};

/* cudnnDataType_t: of virtual tensors, and of the seeds of masks. */
enum { TYPE_OF_INT32 = 4, TYPE_OF_INT64 = 10, TYPE_OF_BOOLEAN = 11 };
enum { POINTWISE_RELU = 100, POINTWISE_GEN_INDEX = 501, RNG_BERNOULLI = 0 };
enum { REDUCE_ADD, REDUCE_MUL, REDUCE_MIN, REDUCE_MAX, REDUCE_AMAX, REDUCE_AVG, REDUCE_MODES };

static inline const struct tensor *operand(const struct operations *o, const struct operation *p, unsigned i)
{
    return &o->values[p->in[i]].t;
}

/* An operand with the factor 0 is not read: PyTorch gives memory that nobody has written. */
static inline bool is_read(const struct operation *p, unsigned i)
{
    return i >= 2 || p->type != BACKEND_OPERATION_POINTWISE || p->alpha[i] != 0;
}

/* Elements along the first axes. */
static inline int64_t count_of(const struct tensor *t, unsigned axes)
{
    int64_t n = 1;
    for (unsigned i = 0; i < axes; i++)
        n *= t->dim[i];
    return n;
}

/* ---- operations.c ---- */

/* Reads a graph; NULL, or what it has that is not supported. */
const char *operations_read(const struct descriptor *graph, struct operations *o);
/* Bytes of a value that is in memory. */
size_t value_bytes(const struct value *v);
double operations_flops(const struct operations *o);

/* ---- operations_run.c ---- */

/* Computes it, when `at` of the values that are not virtual, and `constant`
 * of those by value, are set. */
hd_result operations_run(void *operations);

#endif
