/* Differences of textures between the runtime's major versions: descriptions have grown ("CUDA
 * Runtime API", "Data types used by CUDA Runtime"). Compiled once for each version, as
 * versions.c. */
#include <string.h>

#include "cuda/runtime/runtime.h"

enum {
    RESOURCE_BYTES = CUDART_MAJOR < 13 ? offsetof(struct cudaResourceDesc, res.pitch2D.pitchInBytes) + sizeof(size_t)
                                       : sizeof(struct cudaResourceDesc),
    VIEW_BYTES =
        CUDART_MAJOR < 13 ? offsetof(struct cudaResourceViewDesc, reserved) : sizeof(struct cudaResourceViewDesc),
    OLD_TEXTURE_BYTES = offsetof(struct cudaTextureDesc, seamlessCubemap),
};

static cudaError_t create(cudaTextureObject_t *object, const struct cudaResourceDesc *r, const void *t, size_t bytes,
                          const struct cudaResourceViewDesc *v)
{
    struct cudaResourceDesc resource = {0};
    struct cudaTextureDesc texture = {0};
    struct cudaResourceViewDesc view = {0};
    if (r)
        memcpy(&resource, r, RESOURCE_BYTES);
    if (t)
        memcpy(&texture, t, bytes);
    if (v)
        memcpy(&view, v, VIEW_BYTES);
    return rt_texture_create(object, r ? &resource : NULL, t ? &texture : NULL, v ? &view : NULL);
}

static cudaError_t get(void *to, size_t bytes, cudaTextureObject_t object)
{
    struct cudaTextureDesc t;
    cudaError_t e = rt_texture_get(to ? &t : NULL, object);
    if (!e)
        memcpy(to, &t, bytes);
    return e;
}

/* CUDA 11 has two versions of each; the first has no seamlessCubemap. */
#if CUDART_MAJOR == 11
enum { FIRST_BYTES = OLD_TEXTURE_BYTES };
RT_API cudaError_t cudaCreateTextureObject_v2(cudaTextureObject_t *object, const struct cudaResourceDesc *r,
                                              const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *v);
RT_API cudaError_t cudaGetTextureObjectTextureDesc_v2(struct cudaTextureDesc *t, cudaTextureObject_t object);

cudaError_t cudaCreateTextureObject_v2(cudaTextureObject_t *object, const struct cudaResourceDesc *r,
                                       const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *v)
{
    return create(object, r, t, sizeof *t, v);
}

cudaError_t cudaGetTextureObjectTextureDesc_v2(struct cudaTextureDesc *t, cudaTextureObject_t object)
{
    return get(t, sizeof *t, object);
}
#else
enum { FIRST_BYTES = sizeof(struct cudaTextureDesc) };
#endif

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *pTexObject, const struct cudaResourceDesc *pResDesc,
                                    const struct cudaTextureDesc *pTexDesc,
                                    const struct cudaResourceViewDesc *pResViewDesc)
{
    return create(pTexObject, pResDesc, pTexDesc, FIRST_BYTES, pResViewDesc);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc, cudaTextureObject_t texObject)
{
    return get(pTexDesc, FIRST_BYTES, texObject);
}

/* ---- what they are of ---- */

static cudaError_t get_resource(struct cudaResourceDesc *to, CUresult e, const CUDA_RESOURCE_DESC *r)
{
    struct cudaResourceDesc resource;
    if (e)
        return rt_return(rt_error_of(e));
    rt_resource_from(r, &resource);
    memcpy(to, &resource, RESOURCE_BYTES);
    return rt_return(cudaSuccess);
}

/* Reports an array that was freed. */
static CUresult check_array(const CUDA_RESOURCE_DESC *r)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    return r->resType == CU_RESOURCE_TYPE_ARRAY ? cuArray3DGetDescriptor_v2(&d, r->res.array.hArray) : CUDA_SUCCESS;
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc, cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_DESC r;
    cudaError_t entered = pResDesc ? rt_enter() : cudaErrorInvalidValue;
    if (entered)
        return rt_return(entered);
    CUresult e = cuTexObjectGetResourceDesc(&r, texObject);
    return get_resource(pResDesc, e ? e : check_array(&r), &r);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc, cudaSurfaceObject_t surfObject)
{
    CUDA_RESOURCE_DESC r;
    /* The errors of an H200. */
    cudaError_t entered = pResDesc ? rt_enter() : cudaErrorInvalidDevice;
    return entered ? rt_return(entered) : get_resource(pResDesc, cuSurfObjectGetResourceDesc(&r, surfObject), &r);
}

/* As on an H200, the output may not be NULL. */
cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc,
                                                 cudaTextureObject_t texObject)
{
    struct cudaResourceViewDesc view;
    cudaError_t e = rt_texture_get_view(&view, texObject);
    if (!e && pResViewDesc)
        memcpy(pResViewDesc, &view, VIEW_BYTES);
    return e;
}
