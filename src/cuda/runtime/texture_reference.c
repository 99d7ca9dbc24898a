/* Texture and surface references of C++ ("CUDA Runtime API" of CUDA 11, 6.30 and 6.31). The host's
 * variable says how the texture is read when it is bound; kernels read by the driver's reference of
 * the same name. NVIDIA's runtimes had them until CUDA 11; ours keep them for such programs
 * compiled by `heddle cc`. */
#include "cuda/runtime/runtime.h"

#pragma GCC visibility push(default)
#include "cuda/heddle/references.h"
#pragma GCC visibility pop

/* ---- what nvcc calls ---- */

RT_API void __cudaRegisterTexture(void **fatCubinHandle, const struct textureReference *hostVar,
                                  const void **deviceAddress, const char *deviceName, int dim, int norm, int ext);
void __cudaRegisterTexture(void **fatCubinHandle, const struct textureReference *hostVar, const void **deviceAddress,
                           const char *deviceName, int dim, int norm, int ext)
{
    (void)deviceAddress, (void)dim, (void)ext;
    rt_register_reference(fatCubinHandle, hostVar, false, deviceName,
                          norm ? cudaReadModeNormalizedFloat : cudaReadModeElementType);
}

RT_API void __cudaRegisterSurface(void **fatCubinHandle, const struct surfaceReference *hostVar,
                                  const void **deviceAddress, const char *deviceName, int dim, int ext);
void __cudaRegisterSurface(void **fatCubinHandle, const struct surfaceReference *hostVar, const void **deviceAddress,
                           const char *deviceName, int dim, int ext)
{
    (void)deviceAddress, (void)dim, (void)ext;
    rt_register_reference(fatCubinHandle, hostVar, true, deviceName, cudaReadModeElementType);
}

/* ---- binding ---- */

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        CUresult try_result = (call);                                                                                  \
        if (try_result)                                                                                                \
            return rt_error_of(try_result);                                                                            \
    } while (0)

/* Sets how it is read, before it is bound. */
static cudaError_t describe(CUtexref r, const struct textureReference *t, enum cudaTextureReadMode mode,
                            const struct cudaChannelFormatDesc *desc)
{
    CUarray_format format;
    unsigned channels;
    cudaError_t e = rt_format_of(desc ? desc : &t->channelDesc, &format, &channels);
    if (e)
        return e;
    bool is_small = format != CU_AD_FORMAT_FLOAT && format != CU_AD_FORMAT_HALF &&
                    format != CU_AD_FORMAT_UNSIGNED_INT32 && format != CU_AD_FORMAT_SIGNED_INT32;
    bool as_integer = is_small && mode == cudaReadModeElementType;
    unsigned flags = (as_integer ? CU_TRSF_READ_AS_INTEGER : 0) | (t->normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
                     (t->sRGB ? CU_TRSF_SRGB : 0) |
                     (t->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0);
    TRY(cuTexRefSetFormat(r, format, (int)channels));
    TRY(cuTexRefSetFlags(r, flags));
    for (int i = 0; i < 3; i++)
        TRY(cuTexRefSetAddressMode(r, i, (CUaddress_mode)t->addressMode[i]));
    TRY(cuTexRefSetFilterMode(r, (CUfilter_mode)t->filterMode));
    TRY(cuTexRefSetMipmapFilterMode(r, (CUfilter_mode)t->mipmapFilterMode));
    TRY(cuTexRefSetMipmapLevelBias(r, t->mipmapLevelBias));
    TRY(cuTexRefSetMipmapLevelClamp(r, t->minMipmapLevelClamp, t->maxMipmapLevelClamp));
    TRY(cuTexRefSetMaxAnisotropy(r, t->maxAnisotropy));
    return cudaSuccess;
}

static cudaError_t unbind(const struct textureReference *t, CUtexref *r, struct rt_binding **b)
{
    cudaError_t e = rt_reference_of(t, false, r, b);
    if (!e)
        (*b)->offset = RT_UNBOUND;
    return e ? e : rt_error_of(cuTexRefSetAddress_v2(NULL, *r, 0, 0));
}

/* The driver's reference, unbound and described, so that settings do
 * not meet an earlier binding. */
static cudaError_t begin(const struct textureReference *t, const struct cudaChannelFormatDesc *desc, CUtexref *r,
                         struct rt_binding **b)
{
    cudaError_t e = unbind(t, r, b);
    return e ? e : describe(*r, t, (*b)->mode, desc);
}

static cudaError_t end(struct rt_binding *b, size_t offset, CUresult result)
{
    b->offset = result ? RT_UNBOUND : offset;
    return rt_return(rt_error_of(result));
}

cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *texref, const void *devPtr,
                            const struct cudaChannelFormatDesc *desc, size_t size)
{
    CUtexref r;
    struct rt_binding *b;
    CUdeviceptr start;
    size_t room, all, off = 0;
    cudaError_t e = begin(texref, desc, &r, &b);
    if (e)
        return rt_return(e);
    /* Clips to the allocation: programs that omit the size pass UINT_MAX. */
    if (!cuMemGetAddressRange_v2(&start, &all, (CUdeviceptr)devPtr)) {
        room = start + all - (CUdeviceptr)devPtr;
        size = size < room ? size : room;
    }
    CUresult result = cuTexRefSetAddress_v2(offset ? &off : NULL, r, (CUdeviceptr)devPtr, size);
    if (offset && !result)
        *offset = off;
    return end(b, off, result);
}

cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *texref, const void *devPtr,
                              const struct cudaChannelFormatDesc *desc, size_t width, size_t height, size_t pitch)
{
    CUtexref r;
    struct rt_binding *b;
    CUarray_format format;
    int channels;
    cudaError_t e = begin(texref, desc, &r, &b);
    if (!e)
        e = rt_error_of(cuTexRefGetFormat(&format, &channels, r));
    if (e)
        return rt_return(e);
    size_t off = (uintptr_t)devPtr % 512;
    if (off && !offset)
        return rt_return(cudaErrorInvalidValue);
    const CUDA_ARRAY_DESCRIPTOR d = {
        .Width = width, .Height = height, .Format = format, .NumChannels = (unsigned)channels};
    if (offset)
        *offset = off;
    return end(b, off, cuTexRefSetAddress2D_v3(r, &d, (CUdeviceptr)devPtr - off, pitch));
}

cudaError_t cudaBindTextureToArray(const struct textureReference *texref, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc)
{
    CUtexref r;
    struct rt_binding *b;
    cudaError_t e = begin(texref, desc, &r, &b);
    return e ? rt_return(e) : end(b, 0, cuTexRefSetArray(r, (CUarray)array, CU_TRSA_OVERRIDE_FORMAT));
}

cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *texref,
                                            cudaMipmappedArray_const_t mipmappedArray,
                                            const struct cudaChannelFormatDesc *desc)
{
    CUtexref r;
    struct rt_binding *b;
    cudaError_t e = begin(texref, desc, &r, &b);
    return e ? rt_return(e)
             : end(b, 0, cuTexRefSetMipmappedArray(r, (CUmipmappedArray)mipmappedArray, CU_TRSA_OVERRIDE_FORMAT));
}

cudaError_t cudaUnbindTexture(const struct textureReference *texref)
{
    CUtexref r;
    struct rt_binding *b;
    return rt_return(unbind(texref, &r, &b));
}

cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *texref)
{
    CUtexref r;
    struct rt_binding *b;
    cudaError_t e = offset ? rt_reference_of(texref, false, &r, &b) : cudaErrorInvalidValue;
    if (!e && b->offset == RT_UNBOUND)
        e = cudaErrorInvalidTextureBinding;
    if (!e)
        *offset = b->offset;
    return rt_return(e);
}

cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *surfref, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc)
{
    CUtexref r;
    struct rt_binding *b;
    (void)desc;
    cudaError_t e = rt_reference_of(surfref, true, &r, &b);
    return rt_return(e ? e : rt_error_of(cuSurfRefSetArray((CUsurfref)r, (CUarray)array, 0)));
}

/* The symbol is the host's variable. */
cudaError_t cudaGetTextureReference(const struct textureReference **texref, const void *symbol)
{
    CUtexref r;
    struct rt_binding *b;
    cudaError_t e = texref ? rt_reference_of(symbol, false, &r, &b) : cudaErrorInvalidValue;
    if (!e)
        *texref = symbol;
    return rt_return(e);
}

cudaError_t cudaGetSurfaceReference(const struct surfaceReference **surfref, const void *symbol)
{
    CUtexref r;
    struct rt_binding *b;
    cudaError_t e = surfref ? rt_reference_of(symbol, true, &r, &b) : cudaErrorInvalidValue;
    if (!e)
        *surfref = symbol;
    return rt_return(e);
}
