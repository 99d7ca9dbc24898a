/* Arrays and mipmapped arrays, by their handles. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_ARRAYS_H
#define HEDDLE_CUDA_STATE_ARRAYS_H

#include "cuda/state/state.h"

enum { MOST_LEVELS = 18 };

struct CUarray_st {
    CUarray handle;
    CUcontext context;
    hd_array *array;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    bool is_level; /* belongs to a mipmapped array, and ends with it */
};

struct CUmipmappedArray_st {
    CUmipmappedArray handle;
    CUcontext context;
    hd_array *array;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    unsigned n_levels;
    CUarray levels[MOST_LEVELS]; /* handles of the levels that were asked for; else NULL */
};

/* By handle; NULL if it is invalid. */
static inline CUarray array_of(CUarray handle)
{
    return record_of(handle, HANDLE_ARRAY);
}
static inline CUmipmappedArray mipmap_of(CUmipmappedArray handle)
{
    return record_of(handle, HANDLE_MIPMAP);
}

/* Bytes of a channel, for formats with 1, 2 or 4 channels; else 0. */
size_t array_channel_bytes(CUarray_format format);
/* `levels`: for a mipmapped array. */
CUresult array_give(CUcontext c, const CUDA_ARRAY3D_DESCRIPTOR *d, CUarray *handle);
CUresult mipmap_give(CUcontext c, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels, CUmipmappedArray *handle);
CUresult mipmap_level(CUmipmappedArray m, unsigned level, CUarray *handle);
/* Frees a record that no handle refers to any more. */
void array_end(CUarray a);
void mipmap_end(CUmipmappedArray m);

/* ---- texture and surface objects, which are the machine's handles ---- */

struct texture_object {
    struct texture_object *next;
    CUcontext context;
    unsigned long long object;
    bool is_surface, viewed;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
};

/* Converts the program's description of a texture for the library. */
CUresult texture_describe(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t, const CUDA_RESOURCE_VIEW_DESC *v,
                          hd_texture_desc *d);
CUresult texture_object_new(CUcontext c, const struct texture_object *of, unsigned long long *object);
/* Copies the object; false if there is none. */
bool texture_object_find(unsigned long long object, bool is_surface, struct texture_object *copy);
bool texture_object_drop(unsigned long long object, bool is_surface);
/* Frees the texture objects of a context that ends. */
void textures_leave(CUcontext c);

#endif
