/* The parts of cuDNN 9 ("NVIDIA cuDNN Backend API") that Heddle has: graphs of one
 * convolution each, or of products, pointwise operations, reductions and reshapes, batch
 * normalization, recurrent networks, the CTC loss, and sampling at the points of a grid.
 * Names and numbers are the original's.
 */
#ifndef HEDDLE_LIBRARIES_CUDNN_H
#define HEDDLE_LIBRARIES_CUDNN_H

#include "cuda/library_types.h"
#include "libraries/common/library.h"

typedef enum {
    CUDNN_STATUS_SUCCESS = 0,
    CUDNN_STATUS_NOT_INITIALIZED = 1001,
    CUDNN_STATUS_BAD_PARAM = 2000,
    CUDNN_STATUS_BAD_PARAM_NULL_POINTER = 2002,
    CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED = 2004,
    CUDNN_STATUS_NOT_SUPPORTED = 3000,
    CUDNN_STATUS_INTERNAL_ERROR = 4000,
    CUDNN_STATUS_ALLOC_FAILED = 4003,
    CUDNN_STATUS_EXECUTION_FAILED = 5000
} cudnnStatus_t;

enum { CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16 = 9 };
enum { CUDNN_CONVOLUTION, CUDNN_CROSS_CORRELATION };

typedef struct cudnnHandle *cudnnHandle_t;
typedef void *cudnnBackendDescriptor_t;
typedef struct cudnnTensorDescriptor *cudnnTensorDescriptor_t;

enum record_kind {
    KIND_HANDLE = 1,
    KIND_BACKEND,
    KIND_TENSOR,
    KIND_DROPOUT,
    KIND_RNN,
    KIND_SEQUENCES,
    KIND_CTC,
    KIND_SAMPLER
};

struct cudnn_handle {
    CUstream stream;
};

/* Dimensions of a tensor: batch, channels, up to three spatial ones; strides in elements. */
enum { MAX_DIMS = 8 };
struct tensor {
    int type; /* CUDNN_DATA_ */
    unsigned n;
    int64_t dim[MAX_DIMS], stride[MAX_DIMS];
};

/* Returns false for a type that cuDNN has and convolutions here do not support. */
bool tensor_type(int type, cudaDataType *cuda_type);
size_t tensor_element_bytes(const struct tensor *t);
/* Bytes from the first element to the end of the last. */
size_t tensor_bytes(const struct tensor *t);
/* The tensor of a handle of the older functions; NULL if it is invalid. */
const struct tensor *tensor_of(cudnnTensorDescriptor_t handle);
/* Reads a line of n elements of the tensor's type, which stand `stride` elements apart,
 * as doubles, or writes it. */
void tensor_move(const struct tensor *t, void *at, int64_t stride, size_t n, double *line, bool write);
/* A factor of a call for this tensor: a double if the tensor is of doubles, else a float. */
double tensor_factor(const void *at, cudnnTensorDescriptor_t handle);

/* A number in [0, 1) from a seed, the number of a call and a position (a finaliser of
 * splitmix64). A GPU draws others. */
double cudnn_drawn(uint64_t seed, uint64_t call, uint64_t place);

cudnnStatus_t cudnn_status(CUresult r);
/* Creates a zeroed descriptor; destroys one. */
cudnnStatus_t cudnn_new(enum record_kind kind, size_t bytes, void **handle);
cudnnStatus_t cudnn_drop(enum record_kind kind, void *handle);
/* The answer of functions that ask for the size of memory that no call needs. */
cudnnStatus_t cudnn_no_bytes(size_t *bytes);

#define CONTEXT(s, handle)                                                                                             \
    IN_CALL;                                                                                                           \
    struct cudnn_handle *s = handle_find(&library_handles, handle, KIND_HANDLE);                                       \
    if (!s)                                                                                                            \
    return CUDNN_STATUS_NOT_INITIALIZED

#endif
