/* Copies and fills ("CUDA Driver API", 6.13): of bytes, rows, boxes; at once or in a stream.
 *
 * All memory belongs to this process, so one kind of copy serves host, devices and peers. A
 * function for the legacy default stream has a twin for the thread's own stream (_ptds, _ptsz).
 */
#include "cuda/state/contexts.h"
#include "cuda/state/work.h"
#include "cuda/watch/watch.h"

#define OWN       CU_STREAM_PER_THREAD
#define OR_OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)
#define AT(p)     ((void *)(uintptr_t)(p))

static CUresult ready(void)
{
    TRY(state_ready());
    return context_failure();
}

static CUresult copy_bytes(const void *to, enum watch_side to_side, const void *from, enum watch_side from_side,
                           size_t bytes, CUstream s, bool wait)
{
    struct work w;
    TRY(ready());
    TRY(work_of_bytes(AT(to), to_side, from, from_side, bytes, &w));
    return work_put(s, &w, wait);
}

/* ---- bytes ---- */

#define COPY(name, own, params, to, to_device, from, from_device, bytes)                                               \
    CU_API CUresult name params                                                                                        \
    {                                                                                                                  \
        return copy_bytes(AT(to), to_device, AT(from), from_device, bytes, CU_STREAM_LEGACY, true);                    \
    }                                                                                                                  \
    CU_API CUresult own params                                                                                         \
    {                                                                                                                  \
        return copy_bytes(AT(to), to_device, AT(from), from_device, bytes, OWN, true);                                 \
    }
#define COPY_ASYNC(name, own, params, to, to_device, from, from_device, bytes)                                         \
    CU_API CUresult name params                                                                                        \
    {                                                                                                                  \
        return copy_bytes(AT(to), to_device, AT(from), from_device, bytes, s, false);                                  \
    }                                                                                                                  \
    CU_API CUresult own params                                                                                         \
    {                                                                                                                  \
        return copy_bytes(AT(to), to_device, AT(from), from_device, bytes, OR_OWN(s), false);                          \
    }

/* clang-format off */
COPY(cuMemcpy, cuMemcpy_ptds, (CUdeviceptr to, CUdeviceptr from, size_t n), to, SIDE_ANY, from, SIDE_ANY, n)
COPY(cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds, (CUdeviceptr to, const void *from, size_t n), to, SIDE_DEVICE, from, SIDE_HOST, n)
COPY(cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds, (void *to, CUdeviceptr from, size_t n), to, SIDE_HOST, from, SIDE_DEVICE, n)
COPY(cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds, (CUdeviceptr to, CUdeviceptr from, size_t n), to, SIDE_DEVICE, from, SIDE_DEVICE, n)
COPY_ASYNC(cuMemcpyAsync, cuMemcpyAsync_ptsz, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
           to, SIDE_ANY, from, SIDE_ANY, n)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz, (CUdeviceptr to, const void *from, size_t n, CUstream s),
           to, SIDE_DEVICE, from, SIDE_HOST, n)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz, (void *to, CUdeviceptr from, size_t n, CUstream s),
           to, SIDE_HOST, from, SIDE_DEVICE, n)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
           to, SIDE_DEVICE, from, SIDE_DEVICE, n)
/* clang-format on */

static CUresult copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t n,
                          CUstream s, bool wait)
{
    TRY(ready());
    if (!record_of(to_context, HANDLE_CONTEXT) || !record_of(from_context, HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    return copy_bytes(AT(to), SIDE_DEVICE, AT(from), SIDE_DEVICE, n, s, wait);
}

CU_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t n)
{
    return copy_peer(to, to_context, from, from_context, n, CU_STREAM_LEGACY, true);
}

CU_API CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                  size_t n)
{
    return copy_peer(to, to_context, from, from_context, n, OWN, true);
}

CU_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                  size_t n, CUstream s)
{
    return copy_peer(to, to_context, from, from_context, n, s, false);
}

CU_API CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                       size_t n, CUstream s)
{
    return copy_peer(to, to_context, from, from_context, n, OR_OWN(s), false);
}

/* ---- rows and boxes ---- */

static CUresult copy_3d(const CUDA_MEMCPY3D *m, CUstream s, bool wait)
{
    struct work w;
    TRY(ready());
    TRY(work_of_copy(m, &w));
    return w.copy.width ? work_put(s, &w, wait) : CUDA_SUCCESS;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *m, CUstream s, bool wait)
{
    TRY(ready());
    NEED(m);
    CUDA_MEMCPY3D box = {
        .srcXInBytes = m->srcXInBytes,
        .srcY = m->srcY,
        .srcMemoryType = m->srcMemoryType,
        .srcHost = m->srcHost,
        .srcDevice = m->srcDevice,
        .srcArray = m->srcArray,
        .srcPitch = m->srcPitch,
        .dstXInBytes = m->dstXInBytes,
        .dstY = m->dstY,
        .dstMemoryType = m->dstMemoryType,
        .dstHost = m->dstHost,
        .dstDevice = m->dstDevice,
        .dstArray = m->dstArray,
        .dstPitch = m->dstPitch,
        .WidthInBytes = m->WidthInBytes,
        .Height = m->Height,
        .Depth = 1,
    };
    return copy_3d(&box, s, wait);
}

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *m, CUstream s, bool wait)
{
    TRY(ready());
    NEED(m);
    CUDA_MEMCPY3D box = {
        .srcXInBytes = m->srcXInBytes,
        .srcY = m->srcY,
        .srcZ = m->srcZ,
        .srcLOD = m->srcLOD,
        .srcMemoryType = m->srcMemoryType,
        .srcHost = m->srcHost,
        .srcDevice = m->srcDevice,
        .srcArray = m->srcArray,
        .srcPitch = m->srcPitch,
        .srcHeight = m->srcHeight,
        .dstXInBytes = m->dstXInBytes,
        .dstY = m->dstY,
        .dstZ = m->dstZ,
        .dstLOD = m->dstLOD,
        .dstMemoryType = m->dstMemoryType,
        .dstHost = m->dstHost,
        .dstDevice = m->dstDevice,
        .dstArray = m->dstArray,
        .dstPitch = m->dstPitch,
        .dstHeight = m->dstHeight,
        .WidthInBytes = m->WidthInBytes,
        .Height = m->Height,
        .Depth = m->Depth,
    };
    return copy_3d(&box, s, wait);
}

#define BOX(name, own, type, function)                                                                                 \
    CU_API CUresult name(const type *m)                                                                                \
    {                                                                                                                  \
        return function(m, CU_STREAM_LEGACY, true);                                                                    \
    }                                                                                                                  \
    CU_API CUresult own(const type *m)                                                                                 \
    {                                                                                                                  \
        return function(m, OWN, true);                                                                                 \
    }
#define BOX_ASYNC(name, own, type, function)                                                                           \
    CU_API CUresult name(const type *m, CUstream s)                                                                    \
    {                                                                                                                  \
        return function(m, s, false);                                                                                  \
    }                                                                                                                  \
    CU_API CUresult own(const type *m, CUstream s)                                                                     \
    {                                                                                                                  \
        return function(m, OR_OWN(s), false);                                                                          \
    }

BOX(cuMemcpy2D_v2, cuMemcpy2D_v2_ptds, CUDA_MEMCPY2D, copy_2d)
BOX(cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds, CUDA_MEMCPY2D, copy_2d)
BOX(cuMemcpy3D_v2, cuMemcpy3D_v2_ptds, CUDA_MEMCPY3D, copy_3d)
BOX(cuMemcpy3DPeer, cuMemcpy3DPeer_ptds, CUDA_MEMCPY3D_PEER, copy_3d_peer)
BOX_ASYNC(cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz, CUDA_MEMCPY2D, copy_2d)
BOX_ASYNC(cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz, CUDA_MEMCPY3D, copy_3d)
BOX_ASYNC(cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz, CUDA_MEMCPY3D_PEER, copy_3d_peer)

/* ---- fills ---- */

static CUresult fill(CUdeviceptr to, size_t pitch, uint32_t value, unsigned element_bytes, size_t width, size_t height,
                     CUstream s, bool wait)
{
    struct work w = {.kind = WORK_FILL,
                     .fill = {.to = AT(to),
                              .value = value,
                              .element_bytes = element_bytes,
                              .width = width,
                              .height = height,
                              .pitch = pitch}};
    TRY(ready());
    TRY(fill_check(&w));
    return width && height ? work_put(s, &w, wait) : CUDA_SUCCESS;
}

#define FILL(bits, value_type)                                                                                         \
    CU_API CUresult cuMemsetD##bits##_v2(CUdeviceptr to, value_type value, size_t n)                                   \
    {                                                                                                                  \
        return fill(to, 0, value, bits / 8, n, 1, CU_STREAM_LEGACY, true);                                             \
    }                                                                                                                  \
    CU_API CUresult cuMemsetD##bits##_v2_ptds(CUdeviceptr to, value_type value, size_t n)                              \
    {                                                                                                                  \
        return fill(to, 0, value, bits / 8, n, 1, OWN, true);                                                          \
    }                                                                                                                  \
    CU_API CUresult cuMemsetD##bits##Async(CUdeviceptr to, value_type value, size_t n, CUstream s)                     \
    {                                                                                                                  \
        return fill(to, 0, value, bits / 8, n, 1, s, false);                                                           \
    }                                                                                                                  \
    CU_API CUresult cuMemsetD##bits##Async_ptsz(CUdeviceptr to, value_type value, size_t n, CUstream s)                \
    {                                                                                                                  \
        return fill(to, 0, value, bits / 8, n, 1, OR_OWN(s), false);                                                   \
    }                                                                                                                  \
    CU_API CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, value_type value, size_t width,               \
                                           size_t height)                                                              \
    {                                                                                                                  \
        return fill(to, pitch, value, bits / 8, width, height, CU_STREAM_LEGACY, true);                                \
    }                                                                                                                  \
    CU_API CUresult cuMemsetD2D##bits##_v2_ptds(CUdeviceptr to, size_t pitch, value_type value, size_t width,          \
                                                size_t height)                                                         \
    {                                                                                                                  \
        return fill(to, pitch, value, bits / 8, width, height, OWN, true);                                             \
    }                                                                                                                  \
    CU_API CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, value_type value, size_t width,             \
                                             size_t height, CUstream s)                                                \
    {                                                                                                                  \
        return fill(to, pitch, value, bits / 8, width, height, s, false);                                              \
    }                                                                                                                  \
    CU_API CUresult cuMemsetD2D##bits##Async_ptsz(CUdeviceptr to, size_t pitch, value_type value, size_t width,        \
                                                  size_t height, CUstream s)                                           \
    {                                                                                                                  \
        return fill(to, pitch, value, bits / 8, width, height, OR_OWN(s), false);                                      \
    }

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)
