/* Texture and surface objects ("CUDA Driver API", 6.30 and 6.31): the errors are an H200's
 * (tests/texture_api/statuses.txt). */
#include "cuda/state/arrays.h"
#include "cuda/state/contexts.h"

/* The array's description; NULL if the resource is no array. */
static const CUDA_ARRAY3D_DESCRIPTOR *array_desc(const CUDA_RESOURCE_DESC *r)
{
    CUarray a = r->resType == CU_RESOURCE_TYPE_ARRAY ? array_of(r->res.array.hArray) : NULL;
    CUmipmappedArray m =
        r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY ? mipmap_of(r->res.mipmap.hMipmappedArray) : NULL;
    return a ? &a->desc : m ? &m->desc : NULL;
}

/* The number of address modes that matter. */
static int dimensions(const CUDA_RESOURCE_DESC *r, bool *cubemap)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = array_desc(r);
    *cubemap = d && d->Flags & CUDA_ARRAY3D_CUBEMAP;
    if (!d)
        return r->resType == CU_RESOURCE_TYPE_PITCH2D ? 2 : 0;
    return !d->Height ? 1 : d->Depth && !(d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) ? 3 : 2;
}

static CUresult check_memory(const CUDA_RESOURCE_DESC *r)
{
    const CUdeviceptr at = r->res.linear.devPtr;
    const unsigned channels = r->res.linear.numChannels;
    NEED(at && at % 512 == 0 && array_channel_bytes(r->res.linear.format));
    NEED(channels == 1 || channels == 2 || channels == 4);
    return CUDA_SUCCESS;
}

static CUresult check(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t)
{
    const unsigned known = 0x3f | CU_TRSF_SEAMLESS_CUBEMAP;
    bool cubemap;
    int n = dimensions(r, &cubemap);
    NEED((unsigned)r->resType <= CU_RESOURCE_TYPE_PITCH2D && r->flags == 0);
    NEED((unsigned)t->filterMode <= CU_TR_FILTER_MODE_LINEAR &&
         (unsigned)t->mipmapFilterMode <= CU_TR_FILTER_MODE_LINEAR);
    for (int i = 0; i < n; i++)
        NEED((unsigned)t->addressMode[i] <= CU_TR_ADDRESS_MODE_BORDER);
    NEED(!(t->flags & ~known) && (cubemap || !(t->flags & CU_TRSF_SEAMLESS_CUBEMAP)));
    for (size_t i = 0; i < sizeof t->reserved / sizeof *t->reserved; i++)
        NEED(t->reserved[i] == 0);
    return r->resType >= CU_RESOURCE_TYPE_LINEAR ? check_memory(r) : CUDA_SUCCESS;
}

/* The format of a view; *bytes: of a texel, or of a block of `block` x `block` texels. */
static bool format_of_view(CUresourceViewFormat format, size_t *bytes, size_t *block)
{
    static const unsigned char of[] = {[CU_RES_VIEW_FORMAT_UINT_1X8] = 1,      [CU_RES_VIEW_FORMAT_UINT_2X8] = 2,
                                       [CU_RES_VIEW_FORMAT_UINT_4X8] = 4,      [CU_RES_VIEW_FORMAT_SINT_1X8] = 1,
                                       [CU_RES_VIEW_FORMAT_SINT_2X8] = 2,      [CU_RES_VIEW_FORMAT_SINT_4X8] = 4,
                                       [CU_RES_VIEW_FORMAT_UINT_1X16] = 2,     [CU_RES_VIEW_FORMAT_UINT_2X16] = 4,
                                       [CU_RES_VIEW_FORMAT_UINT_4X16] = 8,     [CU_RES_VIEW_FORMAT_SINT_1X16] = 2,
                                       [CU_RES_VIEW_FORMAT_SINT_2X16] = 4,     [CU_RES_VIEW_FORMAT_SINT_4X16] = 8,
                                       [CU_RES_VIEW_FORMAT_UINT_1X32] = 4,     [CU_RES_VIEW_FORMAT_UINT_2X32] = 8,
                                       [CU_RES_VIEW_FORMAT_UINT_4X32] = 16,    [CU_RES_VIEW_FORMAT_SINT_1X32] = 4,
                                       [CU_RES_VIEW_FORMAT_SINT_2X32] = 8,     [CU_RES_VIEW_FORMAT_SINT_4X32] = 16,
                                       [CU_RES_VIEW_FORMAT_FLOAT_1X16] = 2,    [CU_RES_VIEW_FORMAT_FLOAT_2X16] = 4,
                                       [CU_RES_VIEW_FORMAT_FLOAT_4X16] = 8,    [CU_RES_VIEW_FORMAT_FLOAT_1X32] = 4,
                                       [CU_RES_VIEW_FORMAT_FLOAT_2X32] = 8,    [CU_RES_VIEW_FORMAT_FLOAT_4X32] = 16,
                                       [CU_RES_VIEW_FORMAT_UNSIGNED_BC1] = 8,  [CU_RES_VIEW_FORMAT_UNSIGNED_BC2] = 16,
                                       [CU_RES_VIEW_FORMAT_UNSIGNED_BC3] = 16, [CU_RES_VIEW_FORMAT_UNSIGNED_BC4] = 8,
                                       [CU_RES_VIEW_FORMAT_SIGNED_BC4] = 8,    [CU_RES_VIEW_FORMAT_UNSIGNED_BC5] = 16,
                                       [CU_RES_VIEW_FORMAT_SIGNED_BC5] = 16,   [CU_RES_VIEW_FORMAT_UNSIGNED_BC6H] = 16,
                                       [CU_RES_VIEW_FORMAT_SIGNED_BC6H] = 16,  [CU_RES_VIEW_FORMAT_UNSIGNED_BC7] = 16};
    if ((unsigned)format >= sizeof of || !of[format])
        return false;
    *bytes = of[format];
    *block = format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 ? 4 : 1;
    return true;
}

/* A view has the array's sizes, and texels of equal size; its layers and levels may exceed the
 * array's. */
static CUresult check_view(const CUDA_RESOURCE_DESC *r, const CUDA_RESOURCE_VIEW_DESC *v)
{
    size_t bytes, block;
    const CUDA_ARRAY3D_DESCRIPTOR *d = array_desc(r);
    NEED(d && format_of_view(v->format, &bytes, &block));
    NEED(bytes == d->NumChannels * array_channel_bytes(d->Format));
    NEED(v->width == d->Width * block && v->height == d->Height * block && v->depth == d->Depth);
    bool layers = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    NEED(v->firstLayer <= v->lastLayer && (layers || v->lastLayer == 0));
    NEED(v->firstMipmapLevel <= v->lastMipmapLevel);
    NEED(r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY || v->lastMipmapLevel == 0);
    return CUDA_SUCCESS;
}

CU_API CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t,
                                  const CUDA_RESOURCE_VIEW_DESC *v)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(object && r && t);
    TRY(check(r, t));
    struct texture_object of = {.resource = *r, .texture = *t};
    of.viewed = v && r->resType < CU_RESOURCE_TYPE_LINEAR; /* the view is ignored for memory */
    if (of.viewed) {
        TRY(check_view(r, v));
        of.view = *v;
    }
    return texture_object_new(c, &of, object);
}

CU_API CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *r)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(object && r && r->resType == CU_RESOURCE_TYPE_ARRAY);
    const struct texture_object of = {.is_surface = true, .resource = *r};
    return texture_object_new(c, &of, object);
}

/* Submitted launches may still read it. As on an H200, an invalid object is no error. */
static CUresult drop(unsigned long long object, bool is_surface)
{
    CUcontext c;
    TRY(context_current(&c));
    if (object && !texture_object_drop(object, is_surface))
        log_line(LOG_ERROR, "0x%llx is not a %s object", object, is_surface ? "surface" : "texture");
    return CUDA_SUCCESS;
}

CU_API CUresult cuTexObjectDestroy(CUtexObject object)
{
    return drop(object, false);
}

CU_API CUresult cuSurfObjectDestroy(CUsurfObject object)
{
    return drop(object, true);
}

static CUresult find(unsigned long long object, bool is_surface, struct texture_object *t)
{
    CUcontext c;
    TRY(context_current(&c));
    return texture_object_find(object, is_surface, t) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_API CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *r, CUtexObject object)
{
    struct texture_object t;
    NEED(r);
    TRY(find(object, false, &t));
    *r = t.resource;
    return CUDA_SUCCESS;
}

CU_API CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *d, CUtexObject object)
{
    struct texture_object t;
    NEED(d);
    TRY(find(object, false, &t));
    *d = t.texture;
    return CUDA_SUCCESS;
}

CU_API CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *v, CUtexObject object)
{
    struct texture_object t;
    NEED(v);
    TRY(find(object, false, &t));
    *v = t.view; /* zeros if there is none */
    return CUDA_SUCCESS;
}

CU_API CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *r, CUsurfObject object)
{
    struct texture_object t;
    NEED(r);
    TRY(find(object, true, &t));
    *r = t.resource;
    return CUDA_SUCCESS;
}
