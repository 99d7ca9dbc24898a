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
    bool is_level; /* of a mipmapped array, with which it ends */
};

struct CUmipmappedArray_st {
    CUmipmappedArray handle;
    CUcontext context;
    hd_array *array;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    unsigned n_levels;
    CUarray levels[MOST_LEVELS]; /* handles, of those that were asked for; else NULL */
};

/* By their handles; NULL where it is none. */
static inline CUarray array_of(CUarray handle)
{
    return record_of(handle, HANDLE_ARRAY);
}
static inline CUmipmappedArray mipmap_of(CUmipmappedArray handle)
{
    return record_of(handle, HANDLE_MIPMAP);
}

/* Of a format of 1, 2 or 4 channels; 0: it is none. */
size_t array_channel_bytes(CUarray_format format);
/* `levels`: of a mipmapped array. */
CUresult array_give(CUcontext c, const CUDA_ARRAY3D_DESCRIPTOR *d, CUarray *handle);
CUresult mipmap_give(CUcontext c, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels, CUmipmappedArray *handle);
CUresult mipmap_level(CUmipmappedArray m, unsigned level, CUarray *handle);
/* Of a record that no handle stands for any more. */
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

/* What the program says of a texture, in the library's words. */
CUresult texture_describe(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t, const CUDA_RESOURCE_VIEW_DESC *v,
                          hd_texture_desc *d);
CUresult texture_object_new(CUcontext c, const struct texture_object *of, unsigned long long *object);
/* A copy; false where there is none. */
bool texture_object_find(unsigned long long object, bool is_surface, struct texture_object *copy);
bool texture_object_drop(unsigned long long object, bool is_surface);
/* Those of a context, which ends. */
void textures_leave(CUcontext c);

#endif
