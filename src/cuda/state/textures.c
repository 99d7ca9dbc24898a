/* Texture and surface objects; see arrays.h. Kernels get the machine's handle, by which the
 * program's description is found, too. */
#include <stdlib.h>

#include "cuda/state/arrays.h"
#include "cuda/state/devices.h"

enum { BUCKETS = 1 << 10 };
static struct texture_object *buckets[BUCKETS]; /* protected by the state's lock */

static struct texture_object **place_of(unsigned long long object, bool is_surface)
{
    unsigned long long hash = object * 0x9e3779b97f4a7c15ULL;
    struct texture_object **t = &buckets[hash >> (64 - 10)];
    while (*t && ((*t)->object != object || (*t)->is_surface != is_surface))
        t = &(*t)->next;
    return t;
}

/* ---- what the program says ---- */

static hd_resource resource_of(CUresourcetype type)
{
    switch (type) {
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: return HD_RESOURCE_MIPMAPPED;
    case CU_RESOURCE_TYPE_LINEAR: return HD_RESOURCE_LINEAR;
    case CU_RESOURCE_TYPE_PITCH2D: return HD_RESOURCE_PITCH2D;
    default: return HD_RESOURCE_ARRAY;
    }
}

static CUresult read_resource(const CUDA_RESOURCE_DESC *r, hd_texture_desc *d)
{
    CUarray a;
    CUmipmappedArray m;
    d->resource = resource_of(r->resType);
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        a = array_of(r->res.array.hArray);
        NEED(a);
        d->array = a->array;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        m = mipmap_of(r->res.mipmap.hMipmappedArray);
        NEED(m);
        d->array = m->array;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR:
        d->address = (void *)(uintptr_t)r->res.linear.devPtr;
        d->format = (unsigned)r->res.linear.format;
        d->channels = r->res.linear.numChannels;
        d->bytes = r->res.linear.sizeInBytes;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_PITCH2D:
        d->address = (void *)(uintptr_t)r->res.pitch2D.devPtr;
        d->format = (unsigned)r->res.pitch2D.format;
        d->channels = r->res.pitch2D.numChannels;
        d->width = r->res.pitch2D.width;
        d->height = r->res.pitch2D.height;
        d->pitch = r->res.pitch2D.pitchInBytes;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Replaces values that an H200 accepts and ignores by valid ones for the library. */
static void take_all(hd_texture_desc *d)
{
    const unsigned known = HD_TEXTURE_READ_AS_INTEGER | HD_TEXTURE_NORMALIZED_COORDINATES | HD_TEXTURE_SRGB |
                           HD_TEXTURE_DISABLE_TRILINEAR_OPTIMIZATION | HD_TEXTURE_SEAMLESS_CUBEMAP;
    d->flags &= known;
    for (int i = 0; i < 3; i++)
        if (d->address_mode[i] > CU_TR_ADDRESS_MODE_BORDER)
            d->address_mode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    hd_array_desc a;
    if (d->viewed && d->array) {
        hd_array_get_desc(d->array, &a);
        if (d->last_level >= a.levels)
            d->last_level = a.levels - 1;
        if (d->last_layer && d->last_layer >= a.depth)
            d->last_layer = (unsigned)a.depth - 1;
    }
}

CUresult texture_describe(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t, const CUDA_RESOURCE_VIEW_DESC *v,
                          hd_texture_desc *d)
{
    *d = (hd_texture_desc){.filter = (unsigned)t->filterMode,
                           .flags = t->flags,
                           .mipmap_filter = (unsigned)t->mipmapFilterMode,
                           .max_anisotropy = t->maxAnisotropy,
                           .mipmap_bias = t->mipmapLevelBias,
                           .mipmap_min = t->minMipmapLevelClamp,
                           .mipmap_max = t->maxMipmapLevelClamp};
    for (int i = 0; i < 3; i++)
        d->address_mode[i] = (unsigned)t->addressMode[i];
    for (int i = 0; i < 4; i++)
        d->border[i] = t->borderColor[i];
    if (v) {
        d->viewed = true;
        d->view_format = (unsigned)v->format;
        d->view_width = v->width;
        d->view_height = v->height;
        d->view_depth = v->depth;
        d->first_level = v->firstMipmapLevel;
        d->last_level = v->lastMipmapLevel;
        d->first_layer = v->firstLayer;
        d->last_layer = v->lastLayer;
    }
    TRY(read_resource(r, d));
    take_all(d);
    return CUDA_SUCCESS;
}

/* ---- objects ---- */

static CUresult make(CUcontext c, const struct texture_object *of, unsigned long long *object)
{
    const char *error = NULL;
    hd_texture_desc d;
    uint64_t made = 0;
    TRY(texture_describe(&of->resource, &of->texture, of->viewed ? &of->view : NULL, &d));
    hd_result r = of->is_surface ? hd_surface_create(c->device->machine, d.array, &made, &error)
                                 : hd_texture_create(c->device->machine, &d, &made, &error);
    *object = made;
    if (r == HD_ERROR_NOT_SUPPORTED)
        return api_not_supported(error);
    if (r && error)
        log_line(LOG_ERROR, "%s: %s", of->is_surface ? "surface" : "texture", error);
    return from_hd(r ? r : hd_texture_of_context(c->context, made));
}

static void unmake(const struct texture_object *t)
{
    hd_machine *m = t->context->device->machine;
    if (t->is_surface)
        hd_surface_destroy(m, t->object);
    else
        hd_texture_destroy(m, t->object);
}

CUresult texture_object_new(CUcontext c, const struct texture_object *of, unsigned long long *object)
{
    struct texture_object *t = malloc(sizeof *t);
    if (!t)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *t = *of;
    t->context = c;
    CUresult r = make(c, of, &t->object);
    if (r) {
        free(t);
        return r;
    }
    state_lock();
    r = c->ended ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
    if (!r) {
        struct texture_object **place = place_of(t->object, t->is_surface);
        t->next = *place;
        *place = t;
    }
    state_unlock();
    if (!r) {
        *object = t->object;
        return CUDA_SUCCESS;
    }
    unmake(t);
    free(t);
    return r;
}

bool texture_object_find(unsigned long long object, bool is_surface, struct texture_object *copy)
{
    state_lock();
    const struct texture_object *t = *place_of(object, is_surface);
    if (t)
        *copy = *t;
    state_unlock();
    return t != NULL;
}

bool texture_object_drop(unsigned long long object, bool is_surface)
{
    state_lock();
    struct texture_object **place = place_of(object, is_surface), *t = *place;
    if (t)
        *place = t->next;
    state_unlock();
    if (!t)
        return false;
    unmake(t);
    free(t);
    return true;
}

void textures_leave(CUcontext c)
{
    state_lock();
    for (int i = 0; i < BUCKETS; i++)
        for (struct texture_object **place = &buckets[i], *t; (t = *place) != NULL;) {
            if (t->context != c) {
                place = &t->next;
                continue;
            }
            *place = t->next;
            unmake(t);
            free(t);
        }
    state_unlock();
}
