/* Copies of bytes from and to arrays ("CUDA Driver API", 6.13): 1D arrays, or the first line of
 * others. */
#include "cuda/state/arrays.h"
#include "cuda/state/contexts.h"
#include "cuda/state/work.h"

/* One side of a copy. */
struct bytes_side {
    CUmemorytype type;
    CUarray array; /* its handle, or NULL */
    size_t offset;
    void *memory;
};

static CUresult copy(struct bytes_side to, struct bytes_side from, size_t n, CUstream s, bool wait)
{
    struct work w;
    const CUDA_MEMCPY3D m = {.srcMemoryType = from.type,
                             .srcHost = from.memory,
                             .srcDevice = (CUdeviceptr)(uintptr_t)from.memory,
                             .srcArray = from.array,
                             .srcXInBytes = from.offset,
                             .dstMemoryType = to.type,
                             .dstHost = to.memory,
                             .dstDevice = (CUdeviceptr)(uintptr_t)to.memory,
                             .dstArray = to.array,
                             .dstXInBytes = to.offset,
                             .WidthInBytes = n,
                             .Height = 1,
                             .Depth = 1};
    TRY(state_ready());
    TRY(context_failure());
    TRY(work_of_copy(&m, &w));
    return n ? work_put(s, &w, wait) : CUDA_SUCCESS;
}

static struct bytes_side array(CUarray a, size_t offset)
{
    return (struct bytes_side){.type = CU_MEMORYTYPE_ARRAY, .array = a, .offset = offset};
}

static struct bytes_side host(const void *p)
{
    return (struct bytes_side){.type = CU_MEMORYTYPE_HOST, .memory = (void *)p};
}

static struct bytes_side device(CUdeviceptr p)
{
    return (struct bytes_side){.type = CU_MEMORYTYPE_DEVICE, .memory = (void *)(uintptr_t)p};
}

#define OWN       CU_STREAM_PER_THREAD
#define OR_OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)
#define COPY(name, own, params, to, from)                                                                              \
    CU_API CUresult name params                                                                                        \
    {                                                                                                                  \
        return copy(to, from, n, CU_STREAM_LEGACY, true);                                                              \
    }                                                                                                                  \
    CU_API CUresult own params                                                                                         \
    {                                                                                                                  \
        return copy(to, from, n, OWN, true);                                                                           \
    }
#define COPY_ASYNC(name, own, params, to, from)                                                                        \
    CU_API CUresult name params                                                                                        \
    {                                                                                                                  \
        return copy(to, from, n, s, false);                                                                            \
    }                                                                                                                  \
    CU_API CUresult own params                                                                                         \
    {                                                                                                                  \
        return copy(to, from, n, OR_OWN(s), false);                                                                    \
    }

/* clang-format off */
COPY(cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds, (CUarray a, size_t at, const void *p, size_t n), array(a, at), host(p))
COPY(cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds, (void *p, CUarray a, size_t at, size_t n), host(p), array(a, at))
COPY(cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds, (CUarray a, size_t at, CUdeviceptr p, size_t n), array(a, at), device(p))
COPY(cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds, (CUdeviceptr p, CUarray a, size_t at, size_t n), device(p), array(a, at))
COPY(cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds, (CUarray to, size_t to_at, CUarray from, size_t from_at, size_t n),
     array(to, to_at), array(from, from_at))
COPY_ASYNC(cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz, (CUarray a, size_t at, const void *p, size_t n, CUstream s),
           array(a, at), host(p))
COPY_ASYNC(cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz, (void *p, CUarray a, size_t at, size_t n, CUstream s),
           host(p), array(a, at))
/* clang-format on */
