/* See references.h. */
#include "cuda/state/references.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/state/devices.h"
#include "cuda/state/module.h"

/* The initial state of a reference, as in an H200's driver. */
static CUtexref fresh(struct device *d, const char *name, bool is_surface)
{
    CUtexref r = calloc(1, sizeof *r);
    char *own = r && name ? strdup(name) : NULL;
    if (!r || (name && !own)) {
        free(r);
        return NULL;
    }
    r->name = own;
    r->is_surface = is_surface;
    r->device = d;
    r->format = CU_AD_FORMAT_FLOAT;
    r->channels = 1;
    for (int i = 0; i < 3; i++)
        r->texture.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    return r;
}

static void free_reference(void *record)
{
    CUtexref r = record;
    free(r->name);
    free(r);
}

void reference_end(CUtexref r)
{
    call_later(free_reference, r);
}

CUresult reference_new(CUcontext c, CUtexref *handle)
{
    CUtexref r = fresh(c->device, NULL, false);
    CUresult e = r ? handle_give(HANDLE_REFERENCE, r, c, &r->handle) : CUDA_ERROR_OUT_OF_MEMORY;
    if (!e)
        *handle = r->handle;
    else if (r)
        free_reference(r);
    return e;
}

CUresult reference_get(struct CUmod_st *m, struct device *d, const char *name, bool is_surface, CUtexref *handle)
{
    hd_module *loaded;
    uint64_t reference;
    TRY(module_on(m, d, NULL, &loaded));
    hd_result found =
        hd_module_get_reference(loaded, name, is_surface ? HD_REFERENCE_SURFACE : HD_REFERENCE_TEXTURE, &reference);
    if (found) {
        log_line(LOG_ERROR, "%s: there is no %s reference `%s`", m->name, is_surface ? "surface" : "texture", name);
        return from_hd(found);
    }
    CUresult e = CUDA_SUCCESS;
    state_lock();
    CUtexref r = m->references;
    while (r && (r->is_surface != is_surface || strcmp(r->name, name) != 0))
        r = r->next;
    if (!r) {
        r = m->ended ? NULL : fresh(d, name, is_surface);
        e = r ? handle_give_held(HANDLE_REFERENCE, r, NULL, &r->handle) : CUDA_ERROR_OUT_OF_MEMORY;
        if (!e) {
            r->reference = reference;
            r->next = m->references;
            m->references = r;
        } else if (r) {
            free_reference(r);
        }
    }
    if (!e)
        *handle = r->handle;
    state_unlock();
    return e;
}

CUtexref reference_of(CUtexref handle, bool is_surface)
{
    CUtexref r = record_of(handle, HANDLE_REFERENCE);
    return r && r->is_surface == is_surface ? r : NULL;
}

CUresult reference_bind(CUtexref r)
{
    const char *error = NULL;
    hd_texture_desc d;
    hd_result e;
    if (!r->reference)
        return CUDA_SUCCESS;
    if (r->bound)
        TRY(texture_describe(&r->resource, &r->texture, NULL, &d));
    if (r->is_surface)
        e = hd_surface_bind(r->device->machine, r->reference, r->bound ? d.array : NULL, &error);
    else
        e = hd_texture_bind(r->device->machine, r->reference, r->bound ? &d : NULL, &error);
    if (e == HD_ERROR_NOT_SUPPORTED)
        return api_not_supported(error);
    if (e && error)
        log_line(LOG_ERROR, "`%s`: %s", r->name, error);
    return from_hd(e);
}

void references_leave_held(struct CUmod_st *m)
{
    for (CUtexref next, r = m->references; r; r = next) {
        next = r->next;
        if (record_take(r->handle, HANDLE_REFERENCE))
            reference_end(r);
    }
    m->references = NULL;
}
