/* Copies and fills, in one to three dimensions, and of symbols ("CUDA Runtime API", 6.9 memory
 * management). Functions without Async return when the copy is done; the work runs in the legacy
 * default stream. */
#include "cuda/runtime/runtime.h"

/* The stream of the work, and whether the caller waits for it. */
struct where {
    cudaStream_t stream;
    bool async;
};
static const struct where now = {NULL, false};
#define IN(stream) ((struct where){stream, true})

static CUresult copy_bytes(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, struct where at)
{
    CUdeviceptr d = (CUdeviceptr)dst, s = (CUdeviceptr)src;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return at.async ? cuMemcpyHtoDAsync_v2(d, src, n, at.stream) : cuMemcpyHtoD_v2(d, src, n);
    case cudaMemcpyDeviceToHost:
        return at.async ? cuMemcpyDtoHAsync_v2(dst, s, n, at.stream) : cuMemcpyDtoH_v2(dst, s, n);
    case cudaMemcpyDeviceToDevice:
        return at.async ? cuMemcpyDtoDAsync_v2(d, s, n, at.stream) : cuMemcpyDtoD_v2(d, s, n);
    default: return at.async ? cuMemcpyAsync(d, s, n, at.stream) : cuMemcpy(d, s, n);
    }
}

static cudaError_t copy(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, struct where at)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return rt_return(cudaErrorInvalidMemcpyDirection);
    cudaError_t e = rt_enter();
    if (!e && n)
        e = rt_error_of(copy_bytes(dst, src, n, kind, at));
    return rt_return(e);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return copy(dst, src, count, kind, now);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy(dst, src, count, kind, IN(stream));
}

/* ---- symbols ---- */

static cudaError_t symbol_at(const void *symbol, size_t offset, size_t count, void **p)
{
    CUdeviceptr address;
    size_t bytes;
    cudaError_t e = rt_variable_of(symbol, &address, &bytes);
    if (!e && (offset > bytes || count > bytes - offset))
        e = cudaErrorInvalidValue;
    if (!e)
        *p = (char *)address + offset;
    return e;
}

static cudaError_t copy_to(const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind,
                           struct where at)
{
    void *p;
    cudaError_t e = symbol_at(symbol, offset, count, &p);
    if (!e && (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost))
        e = cudaErrorInvalidMemcpyDirection;
    return e ? rt_return(e) : copy(p, src, count, kind, at);
}

static cudaError_t copy_from(void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
                             struct where at)
{
    void *p;
    cudaError_t e = symbol_at(symbol, offset, count, &p);
    if (!e && (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice))
        e = cudaErrorInvalidMemcpyDirection;
    return e ? rt_return(e) : copy(dst, p, count, kind, at);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return copy_to(symbol, src, count, offset, kind, now);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_to(symbol, src, count, offset, kind, IN(stream));
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    return copy_from(dst, symbol, count, offset, kind, now);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_from(dst, symbol, count, offset, kind, IN(stream));
}

/* ---- two and three dimensions ---- */

static CUmemorytype source_type(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDefault                                            ? CU_MEMORYTYPE_UNIFIED
           : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ? CU_MEMORYTYPE_DEVICE
                                                                                : CU_MEMORYTYPE_HOST;
}

static CUmemorytype target_type(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDefault                                            ? CU_MEMORYTYPE_UNIFIED
           : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ? CU_MEMORYTYPE_DEVICE
                                                                                : CU_MEMORYTYPE_HOST;
}

/* The error for rows longer than their pitch, which an H200 accepts if there are no rows. */
static cudaError_t wrong_pitch(size_t height)
{
    return height == 0 ? cudaSuccess : height == 1 ? cudaErrorInvalidValue : cudaErrorInvalidPitchValue;
}

static cudaError_t copy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                          enum cudaMemcpyKind kind, struct where at)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return rt_return(cudaErrorInvalidMemcpyDirection);
    if (width > dpitch || width > spitch)
        return rt_return(wrong_pitch(height));
    CUDA_MEMCPY2D c = {.srcMemoryType = source_type(kind),
                       .srcHost = src,
                       .srcDevice = (CUdeviceptr)src,
                       .srcPitch = spitch,
                       .dstMemoryType = target_type(kind),
                       .dstHost = dst,
                       .dstDevice = (CUdeviceptr)dst,
                       .dstPitch = dpitch,
                       .WidthInBytes = width,
                       .Height = height};
    cudaError_t e = rt_enter();
    if (!e && width && height)
        e = rt_error_of(at.async ? cuMemcpy2DAsync_v2(&c, at.stream) : cuMemcpy2DUnaligned_v2(&c));
    return rt_return(e);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    return copy2d(dst, dpitch, src, spitch, width, height, kind, now);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy2d(dst, dpitch, src, spitch, width, height, kind, IN(stream));
}

cudaError_t rt_texel_bytes(cudaArray_t a, cudaArray_t b, size_t *bytes)
{
    const cudaArray_t of[2] = {a, b};
    size_t found[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d;
        cudaError_t e = of[i] ? rt_error_of(cuArray3DGetDescriptor_v2(&d, (CUarray)of[i])) : cudaSuccess;
        if (e)
            return e;
        found[i] = of[i] ? (size_t)rt_channels_of(d.Format, d.NumChannels).x / 8 * d.NumChannels : 0;
    }
    *bytes = found[0] ? found[0] : found[1];
    return found[0] && found[1] && found[0] != found[1] ? cudaErrorInvalidValue : cudaSuccess;
}

/* Is exactly one of array and memory given? */
static bool is_one(cudaArray_t array, const struct cudaPitchedPtr *memory)
{
    return !array != !memory->ptr;
}

/* Checks the pitch of rows against the width, even if this is in texels, and the
 * number of rows in a slice. */
static bool has_pitch(const struct cudaMemcpy3DParms *p, const struct cudaPitchedPtr *memory)
{
    return ((p->extent.height <= 1 && p->extent.depth <= 1) || memory->pitch >= p->extent.width) &&
           (p->extent.depth <= 1 || memory->ysize >= p->extent.height);
}

/* Converts it for the driver. If an array takes part, widths and offsets are in texels here. */
cudaError_t rt_copy3d_of(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *to)
{
    size_t bytes = 1;
    if (!p)
        return cudaErrorInvalidValue;
    *to = (CUDA_MEMCPY3D){0};
    if (!p->extent.width || !p->extent.height || !p->extent.depth)
        return cudaSuccess;
    if ((unsigned)p->kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (!is_one(p->srcArray, &p->srcPtr) || !is_one(p->dstArray, &p->dstPtr))
        return cudaErrorInvalidValue;
    if (p->srcArray && (p->kind == cudaMemcpyHostToHost || p->kind == cudaMemcpyHostToDevice))
        return cudaErrorInvalidValue;
    if ((!p->srcArray && !has_pitch(p, &p->srcPtr)) || (!p->dstArray && !has_pitch(p, &p->dstPtr)))
        return cudaErrorInvalidPitchValue;
    cudaError_t e = p->srcArray || p->dstArray ? rt_texel_bytes(p->srcArray, p->dstArray, &bytes) : cudaSuccess;
    if (e)
        return e;
    *to = (CUDA_MEMCPY3D){.srcXInBytes = p->srcPos.x * bytes,
                          .srcY = p->srcPos.y,
                          .srcZ = p->srcPos.z,
                          .srcMemoryType = p->srcArray ? CU_MEMORYTYPE_ARRAY : source_type(p->kind),
                          .srcHost = p->srcPtr.ptr,
                          .srcDevice = (CUdeviceptr)p->srcPtr.ptr,
                          .srcArray = (CUarray)p->srcArray,
                          .srcPitch = p->srcPtr.pitch,
                          .srcHeight = p->srcPtr.ysize,
                          .dstXInBytes = p->dstPos.x * bytes,
                          .dstY = p->dstPos.y,
                          .dstZ = p->dstPos.z,
                          .dstMemoryType = p->dstArray ? CU_MEMORYTYPE_ARRAY : target_type(p->kind),
                          .dstHost = p->dstPtr.ptr,
                          .dstDevice = (CUdeviceptr)p->dstPtr.ptr,
                          .dstArray = (CUarray)p->dstArray,
                          .dstPitch = p->dstPtr.pitch,
                          .dstHeight = p->dstPtr.ysize,
                          .WidthInBytes = p->extent.width * bytes,
                          .Height = p->extent.height,
                          .Depth = p->extent.depth};
    return cudaSuccess;
}

static cudaError_t copy3d(const struct cudaMemcpy3DParms *p, struct where at)
{
    CUDA_MEMCPY3D c;
    cudaError_t e = rt_copy3d_of(p, &c);
    if (!e)
        e = rt_enter();
    if (!e && c.WidthInBytes && c.Height && c.Depth)
        e = rt_error_of(at.async ? cuMemcpy3DAsync_v2(&c, at.stream) : cuMemcpy3D_v2(&c));
    return rt_return(e);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return copy3d(p, now);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return copy3d(p, IN(stream));
}

/* ---- between devices: one memory, one address space ---- */

static cudaError_t check_devices(int a, int b)
{
    cudaError_t e = rt_check_device(a);
    return e ? e : rt_check_device(b);
}

static cudaError_t copy_peer(void *dst, int dst_device, const void *src, int src_device, size_t count, struct where at)
{
    cudaError_t e = check_devices(dst_device, src_device);
    return e ? rt_return(e) : copy(dst, src, count, cudaMemcpyDeviceToDevice, at);
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    return copy_peer(dst, dstDevice, src, srcDevice, count, now);
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
                                cudaStream_t stream)
{
    return copy_peer(dst, dstDevice, src, srcDevice, count, IN(stream));
}

static cudaError_t copy3d_peer(const struct cudaMemcpy3DPeerParms *p, struct where at)
{
    cudaError_t e = p ? check_devices(p->dstDevice, p->srcDevice) : cudaErrorInvalidValue;
    if (e)
        return rt_return(e);
    struct cudaMemcpy3DParms c = {.srcArray = p->srcArray,
                                  .srcPos = p->srcPos,
                                  .srcPtr = p->srcPtr,
                                  .dstArray = p->dstArray,
                                  .dstPos = p->dstPos,
                                  .dstPtr = p->dstPtr,
                                  .extent = p->extent,
                                  .kind = cudaMemcpyDeviceToDevice};
    return copy3d(&c, at);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    return copy3d_peer(p, now);
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return copy3d_peer(p, IN(stream));
}

/* ---- fills ---- */

static cudaError_t fill(void *p, int value, size_t n, struct where at)
{
    CUdeviceptr d = (CUdeviceptr)p;
    unsigned char byte = (unsigned char)value;
    cudaError_t e = rt_enter();
    if (!e && n)
        e = rt_error_of(at.async ? cuMemsetD8Async(d, byte, n, at.stream) : cuMemsetD8_v2(d, byte, n));
    return rt_return(e);
}

static cudaError_t fill2d(void *p, size_t pitch, int value, size_t width, size_t height, struct where at)
{
    CUdeviceptr d = (CUdeviceptr)p;
    unsigned char byte = (unsigned char)value;
    if (width > pitch && height > 1)
        return rt_return(cudaErrorInvalidValue);
    cudaError_t e = rt_enter();
    if (!e && width && height)
        e = rt_error_of(at.async ? cuMemsetD2D8Async(d, pitch, byte, width, height, at.stream)
                                 : cuMemsetD2D8_v2(d, pitch, byte, width, height));
    return rt_return(e);
}

/* Fills the first `height` rows in each slice of p.ysize rows. */
static cudaError_t fill3d(struct cudaPitchedPtr p, int value, struct cudaExtent extent, struct where at)
{
    if (extent.height == p.ysize || extent.depth <= 1)
        return fill2d(p.ptr, p.pitch, value, extent.width, extent.height * extent.depth, at);
    cudaError_t e = cudaSuccess;
    for (size_t z = 0; !e && z < extent.depth; z++)
        e = fill2d((char *)p.ptr + z * p.pitch * p.ysize, p.pitch, value, extent.width, extent.height, at);
    return e;
}

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    return fill(devPtr, value, count, now);
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    return fill(devPtr, value, count, IN(stream));
}

cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    return fill2d(devPtr, pitch, value, width, height, now);
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return fill2d(devPtr, pitch, value, width, height, IN(stream));
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent)
{
    return fill3d(pitchedDevPtr, value, extent, now);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                              cudaStream_t stream)
{
    return fill3d(pitchedDevPtr, value, extent, IN(stream));
}
