/* Tensors: types, sizes, and the older functions' descriptors. */
#include "libraries/cudnn/cudnn.h"

#include "libraries/blas/elements.h"

bool tensor_type(int type, cudaDataType *cuda_type)
{
    switch (type) {
    case CUDNN_DATA_FLOAT: *cuda_type = CUDA_R_32F; return true;
    case CUDNN_DATA_DOUBLE: *cuda_type = CUDA_R_64F; return true;
    case CUDNN_DATA_HALF: *cuda_type = CUDA_R_16F; return true;
    case CUDNN_DATA_BFLOAT16: *cuda_type = CUDA_R_16BF; return true;
    default: return false;
    }
}

size_t tensor_element_bytes(const struct tensor *t)
{
    cudaDataType type;
    return tensor_type(t->type, &type) ? element_bytes(type) : 0;
}

size_t tensor_bytes(const struct tensor *t)
{
    size_t last = 0;
    for (unsigned i = 0; i < t->n; i++) {
        if (t->dim[i] == 0)
            return 0;
        last += (size_t)((t->dim[i] - 1) * t->stride[i]);
    }
    return (last + 1) * tensor_element_bytes(t);
}

void tensor_move(const struct tensor *t, void *at, int64_t stride, size_t n, double *line, bool write)
{
    cudaDataType type;
    if (!tensor_type(t->type, &type))
        return;
    if (write)
        elements_narrow(PRECISION_D, line, type, at, (ptrdiff_t)stride, n);
    else
        elements_widen(PRECISION_D, line, type, at, (ptrdiff_t)stride, n);
}

double tensor_factor(const void *at, cudnnTensorDescriptor_t handle)
{
    const struct tensor *t = tensor_of(handle);
    return t && t->type == CUDNN_DATA_DOUBLE ? *(const double *)at : *(const float *)at;
}

double cudnn_drawn(uint64_t seed, uint64_t call, uint64_t place)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15 + call * 0xbf58476d1ce4e5b9 + place;
    for (int i = 0; i < 2; i++) {
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        x ^= x >> 31;
    }
    return (double)(x >> 11) * 0x1p-53;
}

const struct tensor *tensor_of(cudnnTensorDescriptor_t handle)
{
    return handle_find(&library_handles, handle, KIND_TENSOR);
}

LIBRARY_API cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *handle);
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *handle)
{
    IN_CALL;
    return cudnn_new(KIND_TENSOR, sizeof(struct tensor), (void **)handle);
}

LIBRARY_API cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t handle);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t handle)
{
    IN_CALL;
    return cudnn_drop(KIND_TENSOR, handle);
}

LIBRARY_API cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t handle, int type, int n, const int *dims,
                                                     const int *strides);
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t handle, int type, int n, const int *dims,
                                         const int *strides)
{
    IN_CALL;
    struct tensor *t = (struct tensor *)tensor_of(handle);
    if (!t || n < 1 || n > MAX_DIMS || !dims || !strides)
        return CUDNN_STATUS_BAD_PARAM;
    struct tensor new = {.type = type, .n = (unsigned)n};
    for (int i = 0; i < n; i++) {
        if (dims[i] < 1 || strides[i] < 0)
            return CUDNN_STATUS_BAD_PARAM;
        new.dim[i] = dims[i];
        new.stride[i] = strides[i];
    }
    *t = new;
    return CUDNN_STATUS_SUCCESS;
}

LIBRARY_API cudnnStatus_t cudnnGetTensorNdDescriptor(cudnnTensorDescriptor_t handle, int wanted, int *type, int *n,
                                                     int *dims, int *strides);
cudnnStatus_t cudnnGetTensorNdDescriptor(cudnnTensorDescriptor_t handle, int wanted, int *type, int *n, int *dims,
                                         int *strides)
{
    IN_CALL;
    const struct tensor *t = tensor_of(handle);
    if (!t || wanted < 0 || !type || !n || !dims || !strides)
        return CUDNN_STATUS_BAD_PARAM;
    *type = t->type;
    *n = (int)t->n;
    for (int i = 0; i < wanted && i < (int)t->n; i++) {
        dims[i] = (int)t->dim[i];
        strides[i] = (int)t->stride[i];
    }
    return CUDNN_STATUS_SUCCESS;
}
