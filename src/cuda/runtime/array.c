/* Arrays ("CUDA Runtime API", 6.9), on the driver's, whose formats have other names. The errors are
 * an H200's (tests/texture_api/statuses.txt). */
#include "cuda/runtime/runtime.h"

/* ---- formats ---- */

/* Both enumerations have the same order in two ranges: from
 * cudaChannelFormatKindUnsignedNormalized8X1 and CU_AD_FORMAT_UNORM_INT8X1 on; and from
 * ...BlockCompressed1 and CU_AD_FORMAT_BC1_UNORM on. */
enum {
    NORMALIZED = cudaChannelFormatKindUnsignedNormalized8X1,
    COMPRESSED = cudaChannelFormatKindUnsignedBlockCompressed1,
    PACKED = cudaChannelFormatKindUnsignedNormalized1010102,
};

/* The number of channels if they are contiguous and all have `bits` bits; else 0. */
static unsigned channels_of(const struct cudaChannelFormatDesc *d, int *bits)
{
    const int of[5] = {d->x, d->y, d->z, d->w, 0};
    unsigned n = 0;
    *bits = d->x;
    while (n < 4 && of[n] == d->x && d->x)
        n++;
    for (unsigned i = n; i < 4; i++)
        if (of[i])
            return 0;
    return n;
}

/* Formats for any number of channels; 0 if there is none. */
static CUarray_format plain_format(enum cudaChannelFormatKind kind, int bits)
{
    bool is_signed = kind == cudaChannelFormatKindSigned;
    if (kind == cudaChannelFormatKindFloat)
        return bits == 32 ? CU_AD_FORMAT_FLOAT : bits == 16 ? CU_AD_FORMAT_HALF : 0;
    switch (bits) {
    case 8: return is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
    case 16: return is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
    case 32: return is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
    default: return 0;
    }
}

/* Does the description have the channels and bits that the compressed format requires? */
static bool is_compressed(enum cudaChannelFormatKind kind, unsigned n, int bits)
{
    static const unsigned char channels[] = {4, 4, 4, 4, 4, 4, 1, 1, 2, 2, 3, 3, 4, 4};
    unsigned of = channels[kind - COMPRESSED];
    return n == of && bits == (of == 3 ? 16 : 8);
}

cudaError_t rt_format_of(const struct cudaChannelFormatDesc *d, CUarray_format *format, unsigned *channels)
{
    int bits;
    unsigned n = channels_of(d, &bits), kind = (unsigned)d->f, of;
    *channels = n;
    *format = 0;
    if (kind <= cudaChannelFormatKindFloat) {
        if (n != 3)
            *format = n ? plain_format(d->f, bits) : 0;
    } else if (kind >= NORMALIZED && kind < COMPRESSED) {
        of = kind - NORMALIZED;
        if (n == 1u << of % 3 && bits == (of / 3 % 2 ? 16 : 8))
            *format = (CUarray_format)(CU_AD_FORMAT_UNORM_INT8X1 + of);
    } else if (kind >= COMPRESSED && kind < PACKED) {
        if (is_compressed(d->f, n, bits))
            *format = (CUarray_format)(CU_AD_FORMAT_BC1_UNORM + (kind - COMPRESSED));
    } else if (kind == PACKED && d->x == 10 && d->y == 10 && d->z == 10 && d->w == 2) {
        *format = CU_AD_FORMAT_UNORM_INT_101010_2;
        *channels = 4;
    } else if (kind == cudaChannelFormatKindNV12 && n == 3 && bits == 8) {
        *format = CU_AD_FORMAT_NV12;
    }
    return *format ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
}

struct cudaChannelFormatDesc rt_channels_of(CUarray_format format, unsigned channels)
{
    enum cudaChannelFormatKind kind = cudaChannelFormatKindUnsigned;
    int bits = 8;
    unsigned of = (unsigned)format - CU_AD_FORMAT_UNORM_INT8X1;
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8: break;
    case CU_AD_FORMAT_UNSIGNED_INT16: bits = 16; break;
    case CU_AD_FORMAT_UNSIGNED_INT32: bits = 32; break;
    case CU_AD_FORMAT_SIGNED_INT8: kind = cudaChannelFormatKindSigned; break;
    case CU_AD_FORMAT_SIGNED_INT16: kind = cudaChannelFormatKindSigned, bits = 16; break;
    case CU_AD_FORMAT_SIGNED_INT32: kind = cudaChannelFormatKindSigned, bits = 32; break;
    case CU_AD_FORMAT_HALF: kind = cudaChannelFormatKindFloat, bits = 16; break;
    case CU_AD_FORMAT_FLOAT: kind = cudaChannelFormatKindFloat, bits = 32; break;
    default: kind = (enum cudaChannelFormatKind)(NORMALIZED + of), bits = of / 3 % 2 ? 16 : 8; break;
    }
    return (struct cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                          channels > 2 ? bits : 0, kind};
}

/* ---- making and freeing ---- */

static cudaError_t describe(const struct cudaChannelFormatDesc *desc, struct cudaExtent e, unsigned flags,
                            CUDA_ARRAY3D_DESCRIPTOR *d)
{
    CUarray_format format;
    unsigned channels;
    cudaError_t error = desc ? rt_format_of(desc, &format, &channels) : cudaErrorInvalidValue;
    if (!error)
        *d = (CUDA_ARRAY3D_DESCRIPTOR){.Width = e.width,
                                       .Height = e.height,
                                       .Depth = e.depth,
                                       .Format = format,
                                       .NumChannels = channels,
                                       .Flags = flags};
    return error;
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                              unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t e = rt_enter();
    if (!e)
        e = array ? describe(desc, extent, flags, &d) : cudaErrorInvalidValue;
    return rt_return(e ? e : rt_error_of(cuArray3DCreate_v2((CUarray *)array, &d)));
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
                            unsigned int flags)
{
    return cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray, const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned int numLevels, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t e = rt_enter();
    if (!e)
        e = mipmappedArray ? describe(desc, extent, flags, &d) : cudaErrorInvalidValue;
    return rt_return(e ? e : rt_error_of(cuMipmappedArrayCreate((CUmipmappedArray *)mipmappedArray, &d, numLevels)));
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *levelArray, cudaMipmappedArray_const_t mipmappedArray,
                                       unsigned int level)
{
    RT_CALL(cuMipmappedArrayGetLevel((CUarray *)levelArray, (CUmipmappedArray)mipmappedArray, level));
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    cudaError_t e = rt_enter();
    return rt_return(e || !array ? e : rt_error_of(cuArrayDestroy((CUarray)array)));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)
{
    cudaError_t e = rt_enter();
    return rt_return(e || !mipmappedArray ? e : rt_error_of(cuMipmappedArrayDestroy((CUmipmappedArray)mipmappedArray)));
}

/* ---- what is known of them ---- */

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned int *flags,
                             cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t e = rt_enter();
    if (!e)
        e = rt_error_of(cuArray3DGetDescriptor_v2(&d, (CUarray)array));
    if (!e && desc)
        *desc = rt_channels_of(d.Format, d.NumChannels);
    if (!e && extent)
        *extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
    if (!e && flags)
        *flags = d.Flags;
    return rt_return(e);
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    return desc ? cudaArrayGetInfo(desc, NULL, NULL, (cudaArray_t)array) : rt_return(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                                 const struct cudaChannelFormatDesc *fmtDesc, int device)
{
    CUarray_format format;
    unsigned channels;
    cudaError_t e = maxWidthInElements && fmtDesc ? rt_check_device(device) : cudaErrorInvalidValue;
    if (!e)
        e = rt_format_of(fmtDesc, &format, &channels);
    if (!e)
        e = rt_error_of(cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements, format, channels, device));
    return rt_return(e);
}

cudaError_t cudaArrayGetPlane(cudaArray_t *pPlaneArray, cudaArray_t hArray, unsigned int planeIdx)
{
    RT_CALL(cuArrayGetPlane((CUarray *)pPlaneArray, (CUarray)hArray, planeIdx));
}

/* The types have the driver's layout, with other names. */
_Static_assert(sizeof(struct cudaArrayMemoryRequirements) == sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS) &&
                   sizeof(struct cudaArraySparseProperties) == sizeof(CUDA_ARRAY_SPARSE_PROPERTIES),
               "they are the driver's");

cudaError_t cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements, cudaArray_t array,
                                           int device)
{
    RT_CALL(cuArrayGetMemoryRequirements((CUDA_ARRAY_MEMORY_REQUIREMENTS *)memoryRequirements, (CUarray)array, device));
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements,
                                                    cudaMipmappedArray_t mipmap, int device)
{
    RT_CALL(cuMipmappedArrayGetMemoryRequirements((CUDA_ARRAY_MEMORY_REQUIREMENTS *)memoryRequirements,
                                                  (CUmipmappedArray)mipmap, device));
}

cudaError_t cudaArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties, cudaArray_t array)
{
    RT_CALL(cuArrayGetSparseProperties((CUDA_ARRAY_SPARSE_PROPERTIES *)sparseProperties, (CUarray)array));
}

cudaError_t cudaMipmappedArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties,
                                                  cudaMipmappedArray_t mipmap)
{
    RT_CALL(cuMipmappedArrayGetSparseProperties((CUDA_ARRAY_SPARSE_PROPERTIES *)sparseProperties,
                                                (CUmipmappedArray)mipmap));
}
