/* Copies from and to arrays ("CUDA Runtime API", 6.9). `kind` says whether the memory side is the
 * host's or the device's. */
#include "cuda/runtime/runtime.h"

/* The stream of the work, and whether the caller waits for it. */
struct where {
    cudaStream_t stream;
    bool async;
};
static const struct where now = {NULL, false};
#define IN(stream) ((struct where){stream, true})

static CUmemorytype memory_type(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDefault          ? CU_MEMORYTYPE_UNIFIED
           : kind == cudaMemcpyDeviceToDevice ? CU_MEMORYTYPE_DEVICE
                                              : CU_MEMORYTYPE_HOST;
}

static bool is_kind(enum cudaMemcpyKind kind, enum cudaMemcpyKind of_host)
{
    return kind == of_host || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

/* ---- rows ---- */

static cudaError_t put_rows(const CUDA_MEMCPY2D *c, struct where at)
{
    return rt_error_of(at.async ? cuMemcpy2DAsync_v2(c, at.stream) : cuMemcpy2DUnaligned_v2(c));
}

/* `pitch`: of the memory side. */
static cudaError_t put_checked(const CUDA_MEMCPY2D *c, size_t pitch, const void *array, bool has_direction,
                               struct where at)
{
    if (!has_direction)
        return rt_return(cudaErrorInvalidMemcpyDirection);
    if (!c->WidthInBytes || !c->Height)
        return rt_return(cudaSuccess);
    if (c->WidthInBytes > pitch && c->Height > 1)
        return rt_return(cudaErrorInvalidPitchValue);
    cudaError_t e = rt_enter();
    return rt_return(e ? e : array ? put_rows(c, at) : cudaErrorInvalidResourceHandle);
}

static cudaError_t to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                            size_t height, enum cudaMemcpyKind kind, struct where at)
{
    const CUDA_MEMCPY2D c = {.srcMemoryType = memory_type(kind),
                             .srcHost = src,
                             .srcDevice = (CUdeviceptr)src,
                             .srcPitch = pitch,
                             .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                             .dstArray = (CUarray)dst,
                             .dstXInBytes = x,
                             .dstY = y,
                             .WidthInBytes = width,
                             .Height = height};
    return put_checked(&c, pitch, dst, is_kind(kind, cudaMemcpyHostToDevice), at);
}

static cudaError_t from_array(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
                              size_t height, enum cudaMemcpyKind kind, struct where at)
{
    const CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                             .srcArray = (CUarray)src,
                             .srcXInBytes = x,
                             .srcY = y,
                             .dstMemoryType = memory_type(kind),
                             .dstHost = dst,
                             .dstDevice = (CUdeviceptr)dst,
                             .dstPitch = pitch,
                             .WidthInBytes = width,
                             .Height = height};
    return put_checked(&c, pitch, src, is_kind(kind, cudaMemcpyDeviceToHost), at);
}

static cudaError_t array_to_array(cudaArray_t dst, size_t to_x, size_t to_y, cudaArray_const_t src, size_t from_x,
                                  size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind, struct where at)
{
    const CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                             .srcArray = (CUarray)src,
                             .srcXInBytes = from_x,
                             .srcY = from_y,
                             .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                             .dstArray = (CUarray)dst,
                             .dstXInBytes = to_x,
                             .dstY = to_y,
                             .WidthInBytes = width,
                             .Height = height};
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return rt_return(cudaErrorInvalidMemcpyDirection);
    if (!width || !height)
        return rt_return(cudaSuccess);
    cudaError_t e = rt_enter();
    return rt_return(e ? e : src ? put_rows(&c, at) : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, now);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, IN(stream));
}

cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                  size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, now);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                       size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, IN(stream));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                     size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
                                     enum cudaMemcpyKind kind)
{
    return array_to_array(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height, kind, now);
}

/* ---- bytes, row after row of the array ---- */

/* One side: `row` is the length of the array's rows; unlimited for memory. */
struct bytes {
    cudaArray_const_t array; /* NULL: memory */
    char *memory;
    size_t at, row;
};

static cudaError_t begin(struct bytes *b)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    b->row = SIZE_MAX;
    if (b->memory)
        return cudaSuccess;
    cudaError_t e = rt_error_of(cuArray3DGetDescriptor_v2(&d, (CUarray)b->array));
    if (e)
        return e;
    struct cudaChannelFormatDesc c = rt_channels_of(d.Format, d.NumChannels);
    b->row = d.Width * d.NumChannels * ((size_t)c.x / 8);
    return cudaSuccess;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Copies a part of a row, or as many whole rows as there are. A range beyond the array is an error
 * only when it is reached: as on an H200, what precedes it has been copied by then. */
static cudaError_t put_piece(struct bytes *to, struct bytes *from, size_t *n, enum cudaMemcpyKind kind, struct where at)
{
    size_t to_x = to->at % to->row, from_x = from->at % from->row, row = least(to->row, from->row);
    bool alike = to->row == from->row || !to->array || !from->array;
    bool whole = alike && !(to->array && to_x) && !(from->array && from_x) && *n >= row;
    size_t width = whole ? row : least(*n, least(to->row - to_x, from->row - from_x)), height = whole ? *n / row : 1;
    cudaError_t e = to->array && from->array
                        ? array_to_array((cudaArray_t)to->array, to_x, to->at / to->row, from->array, from_x,
                                         from->at / from->row, width, height, kind, at)
                    : to->array ? to_array((cudaArray_t)to->array, to_x, to->at / to->row, from->memory + from->at,
                                           width, width, height, kind, at)
                                : from_array(to->memory + to->at, width, from->array, from_x, from->at / from->row,
                                             width, height, kind, at);
    to->at += width * height;
    from->at += width * height;
    *n -= width * height;
    return e;
}

static cudaError_t copy_bytes(struct bytes to, size_t to_y, struct bytes from, size_t from_y, size_t n,
                              enum cudaMemcpyKind kind, struct where at)
{
    bool good = to.array && from.array ? kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault
                                       : is_kind(kind, to.array ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
    if (!good)
        return rt_return(cudaErrorInvalidMemcpyDirection);
    cudaError_t e = n ? rt_enter() : cudaSuccess;
    if (e || !n)
        return rt_return(e);
    e = begin(&to);
    e = e ? e : begin(&from);
    if (e)
        return rt_return(e);
    to.at += to.array ? to_y * to.row : 0;
    from.at += from.array ? from_y * from.row : 0;
    while (!e && n)
        e = put_piece(&to, &from, &n, kind, at);
    return e;
}

static cudaError_t bytes_to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t n,
                                  enum cudaMemcpyKind kind, struct where at)
{
    if (n && (!dst || !src))
        return rt_return(dst ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    return copy_bytes((struct bytes){.array = dst, .at = x}, y, (struct bytes){.memory = (char *)src}, 0, n, kind, at);
}

static cudaError_t bytes_from_array(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t n,
                                    enum cudaMemcpyKind kind, struct where at)
{
    if (n && (!dst || !src))
        return rt_return(src ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    return copy_bytes((struct bytes){.memory = dst}, 0, (struct bytes){.array = src, .at = x}, y, n, kind, at);
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                              enum cudaMemcpyKind kind)
{
    return bytes_to_array(dst, wOffset, hOffset, src, count, kind, now);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                   enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return bytes_to_array(dst, wOffset, hOffset, src, count, kind, IN(stream));
}

cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                enum cudaMemcpyKind kind)
{
    return bytes_from_array(dst, src, wOffset, hOffset, count, kind, now);
}

cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return bytes_from_array(dst, src, wOffset, hOffset, count, kind, IN(stream));
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                   size_t wOffsetSrc, size_t hOffsetSrc, size_t count, enum cudaMemcpyKind kind)
{
    if (count && (!dst || !src))
        return rt_return(src ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    return copy_bytes((struct bytes){.array = dst, .at = wOffsetDst}, hOffsetDst,
                      (struct bytes){.array = src, .at = wOffsetSrc}, hOffsetSrc, count, kind, now);
}

/* ---- for the thread's own stream ---- */

#define OWN_IN ((struct where){cudaStreamPerThread, true})

static cudaError_t waited(cudaError_t e)
{
    return e ? e : cudaStreamSynchronize(cudaStreamPerThread);
}

#define PTSZ(name, parameters, arguments)                                                                              \
    RT_API cudaError_t name##_ptsz parameters;                                                                         \
    cudaError_t name##_ptsz parameters                                                                                 \
    {                                                                                                                  \
        return name arguments;                                                                                         \
    }
#define PTDS(name, parameters, call)                                                                                   \
    RT_API cudaError_t name##_ptds parameters;                                                                         \
    cudaError_t name##_ptds parameters                                                                                 \
    {                                                                                                                  \
        return waited(call);                                                                                           \
    }

/* clang-format off */
PTSZ(cudaMemcpy2DToArrayAsync, (cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t s), (dst, x, y, src, pitch, width, height, kind, rt_own(s)))
PTSZ(cudaMemcpy2DFromArrayAsync, (void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t s), (dst, pitch, src, x, y, width, height, kind, rt_own(s)))
PTSZ(cudaMemcpyToArrayAsync, (cudaArray_t dst, size_t x, size_t y, const void *src, size_t n, enum cudaMemcpyKind kind, cudaStream_t s), (dst, x, y, src, n, kind, rt_own(s)))
PTSZ(cudaMemcpyFromArrayAsync, (void *dst, cudaArray_const_t src, size_t x, size_t y, size_t n, enum cudaMemcpyKind kind, cudaStream_t s), (dst, src, x, y, n, kind, rt_own(s)))
PTDS(cudaMemcpy2DToArray, (cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind), to_array(dst, x, y, src, pitch, width, height, kind, OWN_IN))
PTDS(cudaMemcpy2DFromArray, (void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width, size_t height, enum cudaMemcpyKind kind), from_array(dst, pitch, src, x, y, width, height, kind, OWN_IN))
PTDS(cudaMemcpy2DArrayToArray, (cudaArray_t dst, size_t to_x, size_t to_y, cudaArray_const_t src, size_t x, size_t y, size_t width, size_t height, enum cudaMemcpyKind kind), array_to_array(dst, to_x, to_y, src, x, y, width, height, kind, OWN_IN))
PTDS(cudaMemcpyToArray, (cudaArray_t dst, size_t x, size_t y, const void *src, size_t n, enum cudaMemcpyKind kind), bytes_to_array(dst, x, y, src, n, kind, OWN_IN))
PTDS(cudaMemcpyFromArray, (void *dst, cudaArray_const_t src, size_t x, size_t y, size_t n, enum cudaMemcpyKind kind), bytes_from_array(dst, src, x, y, n, kind, OWN_IN))
PTDS(cudaMemcpyArrayToArray, (cudaArray_t dst, size_t to_x, size_t to_y, cudaArray_const_t src, size_t x, size_t y, size_t n, enum cudaMemcpyKind kind), n && (!dst || !src) ? cudaErrorInvalidValue : copy_bytes((struct bytes){.array = dst, .at = to_x}, to_y, (struct bytes){.array = src, .at = x}, y, n, kind, OWN_IN))
/* clang-format on */
