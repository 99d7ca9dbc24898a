/* Arrays and mipmapped arrays ("CUDA Driver API", 6.13): the errors are an H200's
 * (tests/texture_api/statuses.txt). */
#include "cuda/state/arrays.h"

#include "cuda/state/capture.h"
#include "cuda/state/contexts.h"
#include "cuda/state/machines.h"

static CUresult ready(CUcontext *c)
{
    TRY(context_current(c));
    return capture_unsafe();
}

CU_API CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    CUcontext c;
    TRY(ready(&c));
    NEED(array && d);
    return array_give(c, d, array);
}

CU_API CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *d)
{
    NEED(d);
    const CUDA_ARRAY3D_DESCRIPTOR flat = {
        .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
    return cuArray3DCreate_v2(array, &flat);
}

CU_API CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray array)
{
    CUcontext c;
    TRY(context_current(&c));
    CUarray a = array_of(array);
    NEED(d);
    if (!a)
        return CUDA_ERROR_INVALID_HANDLE;
    *d = a->desc;
    return CUDA_SUCCESS;
}

CU_API CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *d, CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR all;
    NEED(d);
    TRY(cuArray3DGetDescriptor_v2(&all, array));
    *d = (CUDA_ARRAY_DESCRIPTOR){all.Width, all.Height, all.Format, all.NumChannels};
    return CUDA_SUCCESS;
}

/* Waits for the work that may use it. Destroying a level does nothing: it is a part of the
 * mipmapped array. */
CU_API CUresult cuArrayDestroy(CUarray array)
{
    CUcontext c;
    TRY(ready(&c));
    CUarray a = array_of(array);
    if (a && a->is_level)
        return CUDA_SUCCESS;
    if (a)
        hd_context_synchronize(a->context->context);
    a = record_take(array, HANDLE_ARRAY);
    if (!a)
        return CUDA_ERROR_INVALID_HANDLE;
    array_end(a);
    return CUDA_SUCCESS;
}

CU_API CUresult cuMipmappedArrayCreate(CUmipmappedArray *mipmap, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels)
{
    CUcontext c;
    TRY(ready(&c));
    NEED(mipmap && d);
    return mipmap_give(c, d, levels, mipmap);
}

CU_API CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmap, unsigned level)
{
    CUcontext c;
    TRY(context_current(&c));
    CUmipmappedArray m = mipmap_of(mipmap);
    NEED(array);
    return m ? mipmap_level(m, level, array) : CUDA_ERROR_INVALID_HANDLE;
}

CU_API CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap)
{
    CUcontext c;
    TRY(ready(&c));
    CUmipmappedArray m = mipmap_of(mipmap);
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    hd_context_synchronize(m->context->context);
    m = record_take(mipmap, HANDLE_MIPMAP);
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    mipmap_end(m);
    return CUDA_SUCCESS;
}

/* As many texels as fit in 2^32 bytes, at most 2^30. */
CU_API CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *most, CUarray_format format, unsigned channels,
                                                   CUdevice ordinal)
{
    struct device *d;
    TRY(state_ready());
    const size_t bytes = channels * array_channel_bytes(format);
    NEED(most && bytes && (channels == 1 || channels == 2 || channels == 4));
    TRY(device_get(ordinal, &d));
    *most = bytes <= 4 ? (size_t)1 << 30 : ((size_t)1 << 32) / bytes;
    return CUDA_SUCCESS;
}

/* ---- what arrays have that are made without memory, in tiles, or of several planes: Heddle has
 * none of those ---- */

/* The answer of an H200 for all other arrays. */
static CUresult none_of_it(void)
{
    CUcontext c;
    TRY(context_current(&c));
    return CUDA_ERROR_INVALID_VALUE;
}

CU_API CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements, CUarray array,
                                             CUdevice device)
{
    (void)requirements, (void)array, (void)device;
    return none_of_it();
}

CU_API CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                                      CUmipmappedArray mipmap, CUdevice device)
{
    (void)requirements, (void)mipmap, (void)device;
    return none_of_it();
}

CU_API CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties, CUarray array)
{
    (void)properties, (void)array;
    return none_of_it();
}

CU_API CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties, CUmipmappedArray mipmap)
{
    (void)properties, (void)mipmap;
    return none_of_it();
}

CU_API CUresult cuArrayGetPlane(CUarray *plane, CUarray array, unsigned index)
{
    (void)plane, (void)index;
    CUresult r = none_of_it();
    return r == CUDA_ERROR_INVALID_VALUE && !array_of(array) ? CUDA_ERROR_INVALID_HANDLE : r;
}
