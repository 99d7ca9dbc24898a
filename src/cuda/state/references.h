/* Texture and surface references by handles: with a name in a module (.texref, .surfref), or
 * without (cuTexRefCreate). Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_REFERENCES_H
#define HEDDLE_CUDA_STATE_REFERENCES_H

#include "cuda/state/arrays.h"

/* The settings of a reference; each change binds it again, if something is bound. */
struct CUtexref_st {
    CUtexref handle;
    struct CUtexref_st *next; /* of the same module */
    char *name;               /* or NULL */
    bool is_surface;
    struct device *device;
    uint64_t reference; /* the machine's reference; 0 if it is in no module */
    bool bound;
    CUDA_RESOURCE_DESC resource; /* the bound resource */
    CUDA_TEXTURE_DESC texture;
    CUarray_format format;
    unsigned channels;
};

/* By its name in a module; CUDA_ERROR_NOT_FOUND. */
CUresult reference_get(struct CUmod_st *m, struct device *d, const char *name, bool is_surface, CUtexref *handle);
/* Without a module. */
CUresult reference_new(CUcontext c, CUtexref *handle);
/* By handle; NULL if it is none of that kind. */
CUtexref reference_of(CUtexref handle, bool is_surface);
/* Binds the machine's reference by the record. */
CUresult reference_bind(CUtexref r);
/* Frees a reference whose handle was taken. */
void reference_end(CUtexref r);
/* Frees the references of a module that ends. */
void references_leave_held(struct CUmod_st *m);

#endif
