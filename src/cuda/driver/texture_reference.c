/* Texture and surface references ("CUDA Driver API", 6.28 and 6.29). A setting takes effect at
 * once, for launches from then on. */
#include "cuda/state/contexts.h"
#include "cuda/state/module.h"
#include "cuda/state/references.h"

/* ---- by name, and by themselves ---- */

static CUresult get(CUtexref *reference, CUmodule module, const char *name, bool is_surface)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(reference && name);
    struct CUmod_st *m = module_of(module, false);
    m = m ? m : module_of(module, true); /* the runtime passes libraries */
    return m ? reference_get(m, c->device, name, is_surface, reference) : CUDA_ERROR_INVALID_HANDLE;
}

CU_API CUresult cuModuleGetTexRef(CUtexref *reference, CUmodule module, const char *name)
{
    return get(reference, module, name, false);
}

CU_API CUresult cuModuleGetSurfRef(CUsurfref *reference, CUmodule module, const char *name)
{
    return get((CUtexref *)reference, module, name, true);
}

CU_API CUresult cuTexRefCreate(CUtexref *reference)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(reference);
    return reference_new(c, reference);
}

CU_API CUresult cuTexRefDestroy(CUtexref reference)
{
    CUcontext c;
    TRY(context_current(&c));
    CUtexref r = reference_of(reference, false);
    NEED(!r || !r->name);
    r = r ? record_take(reference, HANDLE_REFERENCE) : NULL;
    if (!r)
        return CUDA_ERROR_INVALID_HANDLE;
    reference_end(r);
    return CUDA_SUCCESS;
}

/* Kernels find references by their names; this call has no effect. */
CU_API CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref reference)
{
    CUcontext c;
    TRY(context_current(&c));
    if (!function_of(function))
        return CUDA_ERROR_INVALID_HANDLE;
    NEED(unit == CU_PARAM_TR_DEFAULT && reference_of(reference, false));
    return CUDA_SUCCESS;
}

/* ---- what is bound ---- */

static CUresult find(CUtexref reference, bool is_surface, CUtexref *r)
{
    CUcontext c;
    TRY(context_current(&c));
    *r = reference_of(reference, is_surface);
    return *r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult bind(CUtexref r, const CUDA_RESOURCE_DESC *resource)
{
    r->resource = *resource;
    r->bound = true;
    return reference_bind(r);
}

/* Binds an array with this description (NULL: the handle is invalid), and takes its format. */
static CUresult bind_array(CUtexref reference, const void *handle, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                           CUDA_RESOURCE_DESC resource)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    if (!desc)
        return handle ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    r->format = desc->Format;
    r->channels = desc->NumChannels;
    return bind(r, &resource);
}

CU_API CUresult cuTexRefSetArray(CUtexref reference, CUarray array, unsigned flags)
{
    CUarray a = array_of(array);
    (void)flags; /* an H200 accepts other flags, too: the array's format is used */
    return bind_array(reference, array, a ? &a->desc : NULL,
                      (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array});
}

CU_API CUresult cuTexRefSetMipmappedArray(CUtexref reference, CUmipmappedArray mipmap, unsigned flags)
{
    CUmipmappedArray m = mipmap_of(mipmap);
    (void)flags;
    return bind_array(
        reference, mipmap, m ? &m->desc : NULL,
        (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, .res.mipmap.hMipmappedArray = mipmap});
}

/* Textures begin at multiples of 512 bytes. A program adds the misalignment to its texel indices;
 * without an output for it, it must be 0. */
CU_API CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref reference, CUdeviceptr address, size_t bytes)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    size_t off = address % 512;
    if (!address) { /* unbinds the reference */
        r->bound = false;
        return reference_bind(r);
    }
    NEED(offset || !off);
    if (offset)
        *offset = off;
    CUDA_RESOURCE_DESC d = {.resType = CU_RESOURCE_TYPE_LINEAR};
    d.res.linear.devPtr = address - off;
    d.res.linear.format = r->format;
    d.res.linear.numChannels = r->channels;
    d.res.linear.sizeInBytes = bytes + off;
    return bind(r, &d);
}

CU_API CUresult cuTexRefSetAddress2D_v3(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr address,
                                        size_t pitch)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    NEED(desc && address % 512 == 0 && pitch % 32 == 0);
    r->format = desc->Format;
    r->channels = desc->NumChannels;
    CUDA_RESOURCE_DESC d = {.resType = CU_RESOURCE_TYPE_PITCH2D};
    d.res.pitch2D.devPtr = address;
    d.res.pitch2D.format = desc->Format;
    d.res.pitch2D.numChannels = desc->NumChannels;
    d.res.pitch2D.width = desc->Width;
    d.res.pitch2D.height = desc->Height;
    d.res.pitch2D.pitchInBytes = pitch;
    return bind(r, &d);
}

CU_API CUresult cuTexRefGetAddress_v2(CUdeviceptr *address, CUtexref reference)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    NEED(address && r->bound);
    NEED(r->resource.resType == CU_RESOURCE_TYPE_LINEAR || r->resource.resType == CU_RESOURCE_TYPE_PITCH2D);
    *address = r->resource.res.linear.devPtr;
    return CUDA_SUCCESS;
}

CU_API CUresult cuTexRefGetArray(CUarray *array, CUtexref reference)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    NEED(array && r->bound && r->resource.resType == CU_RESOURCE_TYPE_ARRAY);
    *array = r->resource.res.array.hArray;
    return CUDA_SUCCESS;
}

CU_API CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *mipmap, CUtexref reference)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    NEED(mipmap && r->bound && r->resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    *mipmap = r->resource.res.mipmap.hMipmappedArray;
    return CUDA_SUCCESS;
}

CU_API CUresult cuSurfRefSetArray(CUsurfref reference, CUarray array, unsigned flags)
{
    CUtexref r;
    TRY(find((CUtexref)reference, true, &r));
    NEED(flags == 0);
    if (!array_of(array))
        return array ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    return bind(r, &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array});
}

CU_API CUresult cuSurfRefGetArray(CUarray *array, CUsurfref reference)
{
    CUtexref r;
    TRY(find((CUtexref)reference, true, &r));
    NEED(array && r->bound);
    *array = r->resource.res.array.hArray;
    return CUDA_SUCCESS;
}

/* ---- how it is read ---- */

/* Binds again after a change; ignores a change that would not be valid. */
static CUresult rebind(CUtexref r)
{
    return r->bound ? reference_bind(r) : CUDA_SUCCESS;
}

/* For linear memory, whose format is set separately. */
CU_API CUresult cuTexRefSetFormat(CUtexref reference, CUarray_format format, int channels)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    NEED(channels == 1 || channels == 2 || channels == 4);
    r->format = format;
    r->channels = (unsigned)channels;
    if (!r->bound || r->resource.resType != CU_RESOURCE_TYPE_LINEAR)
        return CUDA_SUCCESS;
    r->resource.res.linear.format = format;
    r->resource.res.linear.numChannels = (unsigned)channels;
    return reference_bind(r);
}

CU_API CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref reference)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    if (format)
        *format = r->format;
    if (channels)
        *channels = (int)r->channels;
    return CUDA_SUCCESS;
}

CU_API CUresult cuTexRefSetAddressMode(CUtexref reference, int dim, CUaddress_mode mode)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    NEED((unsigned)dim < 3);
    r->texture.addressMode[dim] = mode;
    return rebind(r);
}

CU_API CUresult cuTexRefGetAddressMode(CUaddress_mode *mode, CUtexref reference, int dim)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    NEED(mode && (unsigned)dim < 3);
    *mode = r->texture.addressMode[dim];
    return CUDA_SUCCESS;
}

CU_API CUresult cuTexRefSetFlags(CUtexref reference, unsigned flags)
{
    const unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                           CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
    CUtexref r;
    TRY(find(reference, false, &r));
    NEED(!(flags & ~known));
    r->texture.flags = flags;
    return rebind(r);
}

CU_API CUresult cuTexRefSetBorderColor(CUtexref reference, float *color)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    NEED(color);
    for (int i = 0; i < 4; i++)
        r->texture.borderColor[i] = color[i];
    return rebind(r);
}

CU_API CUresult cuTexRefGetBorderColor(float *color, CUtexref reference)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    NEED(color);
    for (int i = 0; i < 4; i++)
        color[i] = r->texture.borderColor[i];
    return CUDA_SUCCESS;
}

CU_API CUresult cuTexRefSetMipmapLevelClamp(CUtexref reference, float least, float most)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    r->texture.minMipmapLevelClamp = least;
    r->texture.maxMipmapLevelClamp = most;
    return rebind(r);
}

CU_API CUresult cuTexRefGetMipmapLevelClamp(float *least, float *most, CUtexref reference)
{
    CUtexref r;
    TRY(find(reference, false, &r));
    NEED(least && most);
    *least = r->texture.minMipmapLevelClamp;
    *most = r->texture.maxMipmapLevelClamp;
    return CUDA_SUCCESS;
}

/* Sets a member of the description. */
#define SETTER(name, type, member)                                                                                     \
    CU_API CUresult name(CUtexref reference, type value)                                                               \
    {                                                                                                                  \
        CUtexref r;                                                                                                    \
        TRY(find(reference, false, &r));                                                                               \
        r->texture.member = value;                                                                                     \
        return rebind(r);                                                                                              \
    }
#define GETTER(name, type, member)                                                                                     \
    CU_API CUresult name(type *value, CUtexref reference)                                                              \
    {                                                                                                                  \
        CUtexref r;                                                                                                    \
        TRY(find(reference, false, &r));                                                                               \
        NEED(value);                                                                                                   \
        *value = (type)r->texture.member;                                                                              \
        return CUDA_SUCCESS;                                                                                           \
    }
SETTER(cuTexRefSetFilterMode, CUfilter_mode, filterMode)
SETTER(cuTexRefSetMipmapFilterMode, CUfilter_mode, mipmapFilterMode)
SETTER(cuTexRefSetMipmapLevelBias, float, mipmapLevelBias)
SETTER(cuTexRefSetMaxAnisotropy, unsigned, maxAnisotropy)
GETTER(cuTexRefGetFilterMode, CUfilter_mode, filterMode)
GETTER(cuTexRefGetMipmapFilterMode, CUfilter_mode, mipmapFilterMode)
GETTER(cuTexRefGetMipmapLevelBias, float, mipmapLevelBias)
GETTER(cuTexRefGetMaxAnisotropy, int, maxAnisotropy)
GETTER(cuTexRefGetFlags, unsigned, flags)
