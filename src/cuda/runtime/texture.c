/* Texture and surface objects ("CUDA Runtime API", 6.28 and 6.29), on the driver's. The errors are
 * an H200's (tests/texture_api/statuses.txt). texture_versions.c has the differences between
 * versions. */
#include "cuda/runtime/runtime.h"

/* ---- in the driver's words ---- */

cudaError_t rt_resource_of(const struct cudaResourceDesc *r, CUDA_RESOURCE_DESC *to)
{
    *to = (CUDA_RESOURCE_DESC){.resType = (CUresourcetype)r->resType};
    cudaError_t e = cudaSuccess;
    switch (r->resType) {
    case cudaResourceTypeArray: to->res.array.hArray = (CUarray)r->res.array.array; break;
    case cudaResourceTypeMipmappedArray: to->res.mipmap.hMipmappedArray = (CUmipmappedArray)r->res.mipmap.mipmap; break;
    case cudaResourceTypeLinear:
        to->res.linear.devPtr = (CUdeviceptr)r->res.linear.devPtr;
        to->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
        e = rt_format_of(&r->res.linear.desc, &to->res.linear.format, &to->res.linear.numChannels);
        break;
    case cudaResourceTypePitch2D:
        to->res.pitch2D.devPtr = (CUdeviceptr)r->res.pitch2D.devPtr;
        to->res.pitch2D.width = r->res.pitch2D.width;
        to->res.pitch2D.height = r->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
        e = rt_format_of(&r->res.pitch2D.desc, &to->res.pitch2D.format, &to->res.pitch2D.numChannels);
        break;
    default: e = cudaErrorInvalidValue;
    }
    return e;
}

void rt_resource_from(const CUDA_RESOURCE_DESC *r, struct cudaResourceDesc *to)
{
    *to = (struct cudaResourceDesc){.resType = (enum cudaResourceType)r->resType};
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY: to->res.array.array = (cudaArray_t)r->res.array.hArray; break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->res.mipmap.mipmap = (cudaMipmappedArray_t)r->res.mipmap.hMipmappedArray;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = (void *)r->res.linear.devPtr;
        to->res.linear.desc = rt_channels_of(r->res.linear.format, r->res.linear.numChannels);
        to->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
        break;
    default:
        to->res.pitch2D.devPtr = (void *)r->res.pitch2D.devPtr;
        to->res.pitch2D.desc = rt_channels_of(r->res.pitch2D.format, r->res.pitch2D.numChannels);
        to->res.pitch2D.width = r->res.pitch2D.width;
        to->res.pitch2D.height = r->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
    }
}

/* The format of the resource's texels, without a view. */
static cudaError_t format_of(const CUDA_RESOURCE_DESC *r, CUarray_format *format)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUarray a = r->res.array.hArray;
    CUresult e = CUDA_SUCCESS;
    if (r->resType >= CU_RESOURCE_TYPE_LINEAR) {
        *format = r->res.linear.format;
        return cudaSuccess;
    }
    if (!a)
        return cudaErrorInvalidResourceHandle;
    if (r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        e = cuMipmappedArrayGetLevel(&a, r->res.mipmap.hMipmappedArray, 0);
    if (!e)
        e = cuArray3DGetDescriptor_v2(&d, a);
    if (!e)
        *format = d.Format;
    return e ? cudaErrorInvalidValue : cudaSuccess;
}

/* Integers can be filtered only if they are read as fractions, which only 8 and 16 bits can be;
 * formats that are always fractions cannot be read otherwise. */
static cudaError_t check_reading(CUarray_format format, const struct cudaTextureDesc *t, bool *as_integer)
{
    bool is_float = format == CU_AD_FORMAT_FLOAT || format == CU_AD_FORMAT_HALF;
    bool is_fraction = format >= CU_AD_FORMAT_UNORM_INT8X1;
    bool is_wide = format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32;
    bool element = t->readMode != cudaReadModeNormalizedFloat;
    *as_integer = element && !is_float && !is_fraction && !is_wide;
    if (!is_float && !is_fraction && (element || is_wide) && t->filterMode == cudaFilterModeLinear)
        return cudaErrorInvalidFilterSetting;
    if (is_fraction ? element : !element && (is_float || is_wide))
        return cudaErrorInvalidNormSetting;
    return cudaSuccess;
}

static CUDA_TEXTURE_DESC texture_of(const struct cudaTextureDesc *t, bool as_integer)
{
    CUDA_TEXTURE_DESC d = {.filterMode = (CUfilter_mode)t->filterMode,
                           .maxAnisotropy = t->maxAnisotropy,
                           .mipmapFilterMode = (CUfilter_mode)t->mipmapFilterMode,
                           .mipmapLevelBias = t->mipmapLevelBias,
                           .minMipmapLevelClamp = t->minMipmapLevelClamp,
                           .maxMipmapLevelClamp = t->maxMipmapLevelClamp};
    for (int i = 0; i < 3; i++)
        d.addressMode[i] = (CUaddress_mode)t->addressMode[i];
    for (int i = 0; i < 4; i++)
        d.borderColor[i] = t->borderColor[i];
    d.flags = (as_integer ? CU_TRSF_READ_AS_INTEGER : 0) | (t->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
              (t->sRGB ? CU_TRSF_SRGB : 0) |
              (t->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
              (t->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
    return d;
}

cudaError_t rt_texture_create(cudaTextureObject_t *object, const struct cudaResourceDesc *r,
                              const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *v)
{
    CUDA_RESOURCE_DESC resource;
    CUarray_format format;
    bool as_integer = false;
    cudaError_t e = object && r ? rt_enter() : cudaErrorInvalidValue;
    if (!e && !t)
        e = cudaErrorInvalidResourceHandle;
    if (!e)
        e = rt_resource_of(r, &resource);
    if (!e)
        e = format_of(&resource, &format);
    if (!e)
        e = check_reading(format, t, &as_integer);
    if (e)
        return rt_return(e);
    const CUDA_TEXTURE_DESC texture = texture_of(t, as_integer);
    return rt_return(rt_error_of(cuTexObjectCreate(object, &resource, &texture, (const CUDA_RESOURCE_VIEW_DESC *)v)));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texObject)
{
    RT_CALL(cuTexObjectDestroy(texObject));
}

cudaError_t rt_texture_get(struct cudaTextureDesc *t, cudaTextureObject_t object)
{
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC d;
    CUarray_format format = CU_AD_FORMAT_FLOAT;
    cudaError_t e = t ? rt_enter() : cudaErrorInvalidResourceHandle;
    if (!e)
        e = rt_error_of(cuTexObjectGetTextureDesc(&d, object));
    if (!e)
        e = rt_error_of(cuTexObjectGetResourceDesc(&r, object));
    if (e)
        return rt_return(e);
    format_of(&r, &format); /* fails if the array was freed */
    bool is_plain = format == CU_AD_FORMAT_FLOAT || format == CU_AD_FORMAT_HALF ||
                    format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32;
    *t = (struct cudaTextureDesc){.filterMode = (enum cudaTextureFilterMode)d.filterMode,
                                  .readMode = is_plain || d.flags & CU_TRSF_READ_AS_INTEGER
                                                  ? cudaReadModeElementType
                                                  : cudaReadModeNormalizedFloat,
                                  .sRGB = !!(d.flags & CU_TRSF_SRGB),
                                  .normalizedCoords = !!(d.flags & CU_TRSF_NORMALIZED_COORDINATES),
                                  .maxAnisotropy = d.maxAnisotropy,
                                  .mipmapFilterMode = (enum cudaTextureFilterMode)d.mipmapFilterMode,
                                  .mipmapLevelBias = d.mipmapLevelBias,
                                  .minMipmapLevelClamp = d.minMipmapLevelClamp,
                                  .maxMipmapLevelClamp = d.maxMipmapLevelClamp,
                                  .disableTrilinearOptimization = !!(d.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
                                  .seamlessCubemap = !!(d.flags & CU_TRSF_SEAMLESS_CUBEMAP)};
    for (int i = 0; i < 3; i++)
        t->addressMode[i] = (enum cudaTextureAddressMode)d.addressMode[i];
    for (int i = 0; i < 4; i++)
        t->borderColor[i] = d.borderColor[i];
    return rt_return(cudaSuccess);
}

cudaError_t rt_texture_get_view(struct cudaResourceViewDesc *v, cudaTextureObject_t object)
{
    cudaError_t e = rt_enter();
    return rt_return(e ? e : rt_error_of(cuTexObjectGetResourceViewDesc((CUDA_RESOURCE_VIEW_DESC *)v, object)));
}

/* ---- surfaces ---- */

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject, const struct cudaResourceDesc *pResDesc)
{
    CUDA_RESOURCE_DESC r;
    cudaError_t e = pSurfObject && pResDesc ? rt_enter() : cudaErrorInvalidValue;
    if (!e && pResDesc->resType != cudaResourceTypeArray)
        e = cudaErrorInvalidValue;
    if (!e && !pResDesc->res.array.array)
        e = cudaErrorInvalidResourceHandle;
    if (!e)
        e = rt_resource_of(pResDesc, &r);
    return rt_return(e ? e : rt_error_of(cuSurfObjectCreate(pSurfObject, &r)));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject)
{
    RT_CALL(cuSurfObjectDestroy(surfObject));
}
