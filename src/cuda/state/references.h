/* Texture and surface references, by their handles: of a module's name (.texref, .surfref), or of
 * none (cuTexRefCreate). Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_REFERENCES_H
#define HEDDLE_CUDA_STATE_REFERENCES_H

#include "cuda/state/arrays.h"

/* What a reference has been told; each change binds it anew, where something is bound. */
struct CUtexref_st {
    CUtexref handle;
    struct CUtexref_st *next; /* in its module */
    char *name;               /* or NULL */
    bool is_surface;
    struct device *device;
    uint64_t reference; /* of the machine; 0: of no module */
    bool bound;
    CUDA_RESOURCE_DESC resource; /* that is bound */
    CUDA_TEXTURE_DESC texture;
    CUarray_format format;
    unsigned channels;
};

/* Of a module's name; CUDA_ERROR_NOT_FOUND. */
CUresult reference_get(struct CUmod_st *m, struct device *d, const char *name, bool is_surface, CUtexref *handle);
/* Of no module. */
CUresult reference_new(CUcontext c, CUtexref *handle);
/* By its handle; NULL where it is none of that kind. */
CUtexref reference_of(CUtexref handle, bool is_surface);
/* Tells the machine what the record says. */
CUresult reference_bind(CUtexref r);
/* Of one whose handle has been taken. */
void reference_end(CUtexref r);
/* Those of a module, which ends. */
void references_leave_held(struct CUmod_st *m);

#endif
