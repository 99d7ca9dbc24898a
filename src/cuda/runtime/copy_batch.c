/* Batches of copies ("CUDA Runtime API", 6.9), on the driver's, with other names of structures.
 * CUDA 12's functions have an additional parameter, for the index of the wrong copy. Compiled once
 * for each version, like versions.c.
 */
#include "cuda/runtime/runtime.h"

#if CUDART_MAJOR >= 12

_Static_assert(sizeof(struct cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes), "the driver reads them");
_Static_assert(sizeof(struct cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP), "the driver reads them");

#if CUDART_MAJOR == 12
#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t n, CUmemcpyAttributes *attributes,
                            size_t *first, size_t n_attributes, size_t *bad, CUstream s);
CUresult cuMemcpy3DBatchAsync(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *bad, unsigned long long flags, CUstream s);
#define BAD_PARAMETER size_t *bad,
#define BAD           bad,
#else
#define BAD_PARAMETER
#define BAD
#endif

#define BATCH(function, name, stream)                                                                                  \
    RT_API cudaError_t function(void **to, void **from, size_t *sizes, size_t n, CUmemcpyAttributes *attributes,       \
                                size_t *first, size_t n_attributes, BAD_PARAMETER cudaStream_t s) __asm__(name);       \
    cudaError_t function(void **to, void **from, size_t *sizes, size_t n, CUmemcpyAttributes *attributes,              \
                         size_t *first, size_t n_attributes, BAD_PARAMETER cudaStream_t s)                             \
    {                                                                                                                  \
        RT_CALL(cuMemcpyBatchAsync((CUdeviceptr *)to, (CUdeviceptr *)from, sizes, n, attributes, first, n_attributes,  \
                                   BAD stream));                                                                       \
    }
#define BOXES(function, name, stream)                                                                                  \
    RT_API cudaError_t function(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, BAD_PARAMETER unsigned long long flags,         \
                                cudaStream_t s) __asm__(name);                                                         \
    cudaError_t function(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, BAD_PARAMETER unsigned long long flags,                \
                         cudaStream_t s)                                                                               \
    {                                                                                                                  \
        RT_CALL(cuMemcpy3DBatchAsync(n, ops, BAD flags, stream));                                                      \
    }
BATCH(batch, "cudaMemcpyBatchAsync", s)
BATCH(batch_ptsz, "cudaMemcpyBatchAsync_ptsz", rt_own(s))
BOXES(boxes, "cudaMemcpy3DBatchAsync", s)
BOXES(boxes_ptsz, "cudaMemcpy3DBatchAsync_ptsz", rt_own(s))

#endif
