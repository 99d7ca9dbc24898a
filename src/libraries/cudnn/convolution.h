/* Convolutions on plain addresses: y = w * x, and its gradients, as
 * products of matrices (im2col). */
#ifndef HEDDLE_LIBRARIES_CUDNN_CONVOLUTION_H
#define HEDDLE_LIBRARIES_CUDNN_CONVOLUTION_H

#include "libraries/cudnn/cudnn.h"

enum convolution_kind { CONVOLUTION_FORWARD, CONVOLUTION_DATA, CONVOLUTION_FILTER };

enum { MAX_SPACE = 3 };
struct convolution {
    enum convolution_kind kind; /* what is computed from the other two: y, x or w */
    unsigned space;             /* number of spatial dimensions */
    int64_t stride[MAX_SPACE], pre[MAX_SPACE], post[MAX_SPACE], dilation[MAX_SPACE];
    bool flipped; /* CUDNN_CONVOLUTION: the filter is mirrored */
    struct tensor x, w, y;
    double alpha, beta;
};

struct descriptor;
/* Reads an operation of the backend API, with the unique IDs of its
 * tensors x, w and y (graph.c). */
bool descriptor_convolution(const struct descriptor *op, struct convolution *c, int64_t ids[3]);

/* NULL, or why it cannot be computed. */
const char *convolution_wrong(const struct convolution *c);
/* Returns false if memory is exhausted. */
bool convolution_run(const struct convolution *c, void *x, void *w, void *y);
double convolution_flops(const struct convolution *c);

#endif
