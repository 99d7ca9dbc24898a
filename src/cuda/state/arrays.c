/* See arrays.h. */
#include "cuda/state/arrays.h"

#include "cuda/watch/watch.h"

#include <stdlib.h>

size_t array_channel_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X4: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X4: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

/* The device's limits for arrays in addition to those of their shapes (include/heddle.h): 1D
 * surfaces are shorter, and 3D arrays with surfaces have no other shape; an array for gather is a
 * single 2D image; mipmapped images are smaller. */
static bool fits(const CUDA_ARRAY3D_DESCRIPTOR *d, bool mipmapped)
{
    bool is_layers = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    const size_t small = 32768, volume = 16384;
    const unsigned known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                           CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING |
                           CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
    if (d->Flags & ~known)
        return false;
    if (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER)
        return !is_layers && d->Height && !d->Depth && d->Width <= small && d->Height <= small;
    if (is_layers)
        return true;
    if (d->Depth)
        return !(d->Flags & CUDA_ARRAY3D_SURFACE_LDST) || d->Depth <= volume;
    if (mipmapped || (d->Flags & CUDA_ARRAY3D_SURFACE_LDST && !d->Height))
        return d->Width <= small && (!mipmapped || d->Height <= small);
    return true;
}

static CUresult make(CUcontext c, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels, hd_array **array)
{
    const char *error = "an array of a size or shape that the device does not support";
    NEED(fits(d, levels > 0));
    hd_array_desc desc = {.format = (unsigned)d->Format,
                          .channels = d->NumChannels,
                          .width = d->Width,
                          .height = d->Height,
                          .depth = d->Depth,
                          .flags = d->Flags,
                          .levels = levels};
    hd_result r = hd_array_create(c->device->machine, &desc, array, &error);
    if (r == HD_ERROR_NOT_SUPPORTED)
        return api_not_supported(error);
    if (r)
        log_line(LOG_ERROR, "array of %zu x %zu x %zu: %s", d->Width, d->Height, d->Depth,
                 error ? error : "there is no memory for it");
    return from_hd(r);
}

CUresult array_give(CUcontext c, const CUDA_ARRAY3D_DESCRIPTOR *d, CUarray *handle)
{
    CUarray a = calloc(1, sizeof *a);
    CUresult r = a ? make(c, d, 0, &a->array) : CUDA_ERROR_OUT_OF_MEMORY;
    if (!r) {
        a->context = c;
        a->desc = *d;
        r = handle_give(HANDLE_ARRAY, a, c, &a->handle);
    }
    if (!r) {
        watch_created(a->handle, "array", c);
        *handle = a->handle;
        return CUDA_SUCCESS;
    }
    if (a)
        hd_array_destroy(a->array);
    free(a);
    return r;
}

CUresult mipmap_give(CUcontext c, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels, CUmipmappedArray *handle)
{
    CUmipmappedArray m = calloc(1, sizeof *m);
    CUresult r = m ? make(c, d, levels ? levels : 1, &m->array) : CUDA_ERROR_OUT_OF_MEMORY;
    if (!r) {
        hd_array_desc is;
        hd_array_get_desc(m->array, &is);
        m->context = c;
        m->desc = *d;
        m->n_levels = is.levels;
        r = handle_give(HANDLE_MIPMAP, m, c, &m->handle);
    }
    if (!r) {
        watch_created(m->handle, "mipmapped array", c);
        *handle = m->handle;
        return CUDA_SUCCESS;
    }
    if (m)
        hd_array_destroy(m->array);
    free(m);
    return r;
}

static CUresult level_new(CUmipmappedArray m, unsigned level, CUarray *handle)
{
    hd_array_desc is;
    CUarray a = calloc(1, sizeof *a);
    CUresult r = a ? from_hd(hd_array_of_level(m->array, level, &a->array)) : CUDA_ERROR_OUT_OF_MEMORY;
    if (!r) {
        hd_array_get_desc(a->array, &is);
        a->context = m->context;
        a->is_level = true;
        a->desc = m->desc;
        a->desc.Width = is.width;
        a->desc.Height = is.height;
        a->desc.Depth = is.depth;
        r = handle_give_held(HANDLE_ARRAY, a, m->context, &a->handle);
    }
    if (!r) {
        *handle = a->handle;
        return CUDA_SUCCESS;
    }
    if (a)
        hd_array_destroy(a->array);
    free(a);
    return r;
}

CUresult mipmap_level(CUmipmappedArray m, unsigned level, CUarray *handle)
{
    NEED(level < m->n_levels);
    state_lock();
    CUresult r = m->levels[level] ? CUDA_SUCCESS : level_new(m, level, &m->levels[level]);
    *handle = m->levels[level];
    state_unlock();
    return r;
}

static void free_array(void *record)
{
    CUarray a = record;
    hd_array_destroy(a->array);
    free(a);
}

static void free_mipmap(void *record)
{
    CUmipmappedArray m = record;
    hd_array_destroy(m->array);
    free(m);
}

void array_end(CUarray a)
{
    watch_destroyed(a->handle);
    call_later(free_array, a);
}

void mipmap_end(CUmipmappedArray m)
{
    for (unsigned i = 0; i < MOST_LEVELS; i++) {
        CUarray a = m->levels[i] ? record_take(m->levels[i], HANDLE_ARRAY) : NULL;
        if (a)
            call_later(free_array, a);
    }
    watch_destroyed(m->handle);
    call_later(free_mipmap, m);
}
