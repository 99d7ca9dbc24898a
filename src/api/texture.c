/* Arrays, textures, surfaces and references of modules (include/heddle.h). */
#include <stdlib.h>

#include "api/handles.h"
#include "api/sized.h"
#include "exec/queue.h"
#include "texture/texture.h"

struct hd_array {
    hd_machine *machine;
    struct array *array;
    unsigned level; /* the level's number */
    bool is_level;  /* a level of another array */
};

static hd_result refuse(const char **error, hd_result result, const char *why)
{
    if (error)
        *error = why;
    return result;
}

/* ---- arrays ---- */

/* The device's limits (CUDA C++ Programming Guide, "Technical Specifications"). */
static const char *size_refusal(const hd_array_desc *d)
{
    bool layered = d->flags & HD_ARRAY_LAYERED, cube = d->flags & HD_ARRAY_CUBEMAP;
    uint64_t w = DEVICE_MAXIMUM_TEXTURE1D_WIDTH, h = 0, depth = 0;
    if (!d->width)
        return "an array without width";
    if (cube) {
        if (d->width != d->height || !d->depth || (layered ? d->depth % 6 : d->depth != 6))
            return "a cubemap needs six square faces, or with layers a multiple of six";
        w = h = DEVICE_MAXIMUM_TEXTURECUBEMAP_WIDTH;
        depth = layered ? DEVICE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS : 6;
    } else if (layered) {
        if (!d->depth)
            return "a layered array without layers (depth)";
        w = d->height ? DEVICE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH : DEVICE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH;
        h = DEVICE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT;
        depth = DEVICE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS;
    } else if (d->depth) {
        if (!d->height)
            return "an array of slices without height";
        w = DEVICE_MAXIMUM_TEXTURE3D_WIDTH;
        h = DEVICE_MAXIMUM_TEXTURE3D_HEIGHT;
        depth = d->width <= DEVICE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE &&
                        d->height <= DEVICE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE
                    ? DEVICE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE
                    : DEVICE_MAXIMUM_TEXTURE3D_DEPTH;
    } else if (d->height) {
        w = DEVICE_MAXIMUM_TEXTURE2D_WIDTH;
        h = DEVICE_MAXIMUM_TEXTURE2D_HEIGHT;
    }
    return d->width > w || d->height > h || d->depth > depth ? "an array larger than the device supports" : NULL;
}

static const unsigned ALL_ARRAY_FLAGS = HD_ARRAY_LAYERED | HD_ARRAY_SURFACE | HD_ARRAY_CUBEMAP | HD_ARRAY_GATHER;
enum { FLAG_DEPTH_TEXTURE = 0x10, FLAG_SPARSE = 0x40, FLAG_DEFERRED = 0x80, FLAG_VIDEO = 0x100 };

static hd_result shape_of(const hd_array_desc *d, struct array *a, const char **error)
{
    const char *refused = texel_format_refused(d->format);
    if (d->flags & (FLAG_DEPTH_TEXTURE | FLAG_SPARSE | FLAG_DEFERRED | FLAG_VIDEO))
        refused = "depth, sparse, deferred and video arrays are not supported";
    if (refused)
        return refuse(error, HD_ERROR_NOT_SUPPORTED, refused);
    *a = (struct array){.number = d->format, .flags = d->flags};
    if (!texel_format_of(d->format, d->channels, &a->format))
        return refuse(error, HD_ERROR_INVALID_VALUE, "no such format or number of channels");
    if (d->flags & ~ALL_ARRAY_FLAGS)
        return refuse(error, HD_ERROR_INVALID_VALUE, "no such flag of arrays");
    const char *wrong = size_refusal(d);
    if (!wrong && d->flags & HD_ARRAY_GATHER && !d->height)
        wrong = "gathering texels needs a two-dimensional array: give it a height";
    if (wrong)
        return refuse(error, HD_ERROR_INVALID_VALUE, wrong);
    a->width = (uint32_t)d->width;
    a->height = (uint32_t)d->height;
    a->depth = (uint32_t)d->depth;
    unsigned most = array_most_levels(a->width, a->height, a->depth, a->flags);
    a->n_levels = d->levels > most ? most : d->levels ? d->levels : 1;
    array_lay_out(a);
    return HD_SUCCESS;
}

hd_result hd_array_create_sized(hd_machine *m, const hd_array_desc *desc, size_t bytes, hd_array **array,
                                const char **error)
{
    hd_array_desc own;
    struct array shape;
    refuse(error, HD_SUCCESS, NULL);
    if (!m || !desc || !array)
        return HD_ERROR_INVALID_VALUE;
    hd_result r = SIZED_VIEW(hd_array_desc, &desc, &own, bytes);
    r = r ? r : shape_of(desc, &shape, error);
    if (r)
        return r;
    hd_array *a = malloc(sizeof *a);
    struct array *made = a ? array_new(&m->machine->mem, &shape) : NULL;
    if (!made) {
        free(a);
        return HD_ERROR_OUT_OF_MEMORY;
    }
    *a = (hd_array){.machine = m, .array = made};
    *array = a;
    return HD_SUCCESS;
}

void hd_array_destroy(hd_array *a)
{
    if (!a)
        return;
    hd_machine *m = a->machine;
    if (a->is_level) {
        array_release(a->array);
    } else {
        if (m->checker)
            checker_memory(m->checker->checker, HOST_FORGET, a->array->memory, a->array->bytes);
        array_free(a->array);
    }
    free(a);
}

hd_result hd_array_of_level(hd_array *a, unsigned level, hd_array **of_level)
{
    if (!a || !of_level || a->is_level || level >= a->array->n_levels)
        return HD_ERROR_INVALID_VALUE;
    hd_array *l = malloc(sizeof *l);
    if (!l)
        return HD_ERROR_OUT_OF_MEMORY;
    array_hold(a->array);
    *l = (hd_array){.machine = a->machine, .array = a->array, .level = level, .is_level = true};
    *of_level = l;
    return HD_SUCCESS;
}

void hd_array_get_desc_sized(const hd_array *a, hd_array_desc *desc, size_t bytes)
{
    hd_array_desc own = {0};
    if (a) {
        const struct array *of = a->array;
        const struct level *l = &of->levels[a->level];
        own = (hd_array_desc){.format = of->number,
                              .channels = of->format.channels,
                              .width = l->width,
                              .height = of->height ? l->height : 0,
                              .depth = of->depth ? l->depth : 0,
                              .flags = of->flags,
                              .levels = a->is_level ? 1 : of->n_levels};
    }
    SIZED_WRITE(desc, bytes, &own);
}

bool hd_array_get_level_sized(const hd_array *a, unsigned level, hd_array_level *at, size_t bytes)
{
    hd_array_level own = {0};
    bool found = a && !atomic_load(&a->array->freed) && level < (a->is_level ? 1 : a->array->n_levels);
    if (found) {
        const struct level *l = &a->array->levels[a->level + level];
        own = (hd_array_level){.start = (void *)(uintptr_t)l->start,
                               .width = l->width,
                               .height = l->height,
                               .depth = l->depth,
                               .texel_bytes = a->array->format.bytes,
                               .pitch_bytes = l->pitch,
                               .slice_bytes = l->slice};
    }
    SIZED_WRITE(at, bytes, &own);
    return found;
}

/* ---- descriptors ---- */

static hd_result memory_fits(const hd_texture_desc *d, const char **error)
{
    bool pitched = d->resource == HD_RESOURCE_PITCH2D;
    if (pitched &&
        (d->width > DEVICE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH || d->height > DEVICE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT ||
         d->pitch > DEVICE_MAXIMUM_TEXTURE2D_LINEAR_PITCH))
        return refuse(error, HD_ERROR_INVALID_VALUE, "the texture has more texels than the device allows");
    if (pitched && d->pitch % DEVICE_TEXTURE_PITCH_ALIGNMENT)
        return refuse(error, HD_ERROR_INVALID_VALUE, "the pitch of a texture's memory is not a multiple of 32");
    return HD_SUCCESS;
}

static hd_result texture_new(const hd_texture_desc *d, struct texture **texture, const char **error)
{
    bool of_array = d->resource == HD_RESOURCE_ARRAY || d->resource == HD_RESOURCE_MIPMAPPED;
    const hd_array *a = of_array ? d->array : NULL;
    if (d->resource > HD_RESOURCE_PITCH2D || (of_array && (!a || atomic_load(&a->array->freed))))
        return refuse(error, HD_ERROR_INVALID_VALUE, "no such resource, or not an array");
    hd_result r = of_array ? HD_SUCCESS : memory_fits(d, error);
    if (r)
        return r;
    unsigned n_levels = d->resource == HD_RESOURCE_MIPMAPPED && !a->is_level ? a->array->n_levels : 1;
    struct texture *t = malloc(sizeof *t);
    if (!t)
        return HD_ERROR_OUT_OF_MEMORY;
    const char *wrong = texture_make(t, d, a ? a->array : NULL, a ? a->level : 0, n_levels);
    if (wrong) {
        free(t);
        return refuse(error, strstr(wrong, "not supported") ? HD_ERROR_NOT_SUPPORTED : HD_ERROR_INVALID_VALUE, wrong);
    }
    if (t->array)
        array_hold(t->array);
    *texture = t;
    return HD_SUCCESS;
}

static hd_result add(hd_machine *m, struct texture *t, uint64_t *handle)
{
    *handle = texture_add(&m->machine->textures, t);
    if (!*handle)
        texture_release(t);
    return *handle ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

hd_result hd_texture_create_sized(hd_machine *m, const hd_texture_desc *desc, size_t bytes, uint64_t *texture,
                                  const char **error)
{
    hd_texture_desc own;
    struct texture *t;
    refuse(error, HD_SUCCESS, NULL);
    if (!m || !desc || !texture)
        return HD_ERROR_INVALID_VALUE;
    hd_result r = SIZED_VIEW(hd_texture_desc, &desc, &own, bytes);
    r = r ? r : texture_new(desc, &t, error);
    return r ? r : add(m, t, texture);
}

static hd_result remove_handle(hd_machine *m, uint64_t handle, enum texture_handle kind)
{
    bool removed = m && texture_remove(&m->machine->textures, handle, kind);
    if (removed)
        texture_table_collect(&m->machine->textures);
    return removed ? HD_SUCCESS : HD_ERROR_INVALID_VALUE;
}

hd_result hd_texture_destroy(hd_machine *m, uint64_t texture)
{
    return remove_handle(m, texture, HANDLE_TEXTURE);
}

hd_result hd_surface_destroy(hd_machine *m, uint64_t surface)
{
    return remove_handle(m, surface, HANDLE_SURFACE);
}

hd_result hd_texture_of_context(hd_context *c, uint64_t object)
{
    struct texture_table *table = c ? &c->machine->machine->textures : NULL;
    struct texture *t = table ? texture_find(table, object, HANDLE_TEXTURE, TEXTURE_NOW) : NULL;
    if (table && !t)
        t = texture_find(table, object, HANDLE_SURFACE, TEXTURE_NOW);
    if (!t)
        return HD_ERROR_INVALID_VALUE;
    t->context = context_number(c->context);
    return HD_SUCCESS;
}

bool hd_texture_get_desc_sized(hd_machine *m, uint64_t texture, hd_texture_desc *desc, size_t bytes)
{
    const struct texture *t = m ? texture_find(&m->machine->textures, texture, HANDLE_TEXTURE, TEXTURE_NOW) : NULL;
    const hd_texture_desc own = t ? t->desc : (hd_texture_desc){0};
    SIZED_WRITE(desc, bytes, &own);
    return t;
}

static hd_result surface_new(hd_array *a, struct texture **surface, const char **error)
{
    if (atomic_load(&a->array->freed))
        return refuse(error, HD_ERROR_INVALID_VALUE, "the array has been freed");
    struct texture *t = malloc(sizeof *t);
    if (!t)
        return HD_ERROR_OUT_OF_MEMORY;
    const char *wrong = surface_make(t, a->array, a->level);
    if (wrong) {
        free(t);
        return refuse(error, HD_ERROR_INVALID_VALUE, wrong);
    }
    t->desc.array = a;
    array_hold(t->array);
    *surface = t;
    return HD_SUCCESS;
}

hd_result hd_surface_create(hd_machine *m, hd_array *array, uint64_t *surface, const char **error)
{
    struct texture *t;
    refuse(error, HD_SUCCESS, NULL);
    if (!m || !array || !surface)
        return HD_ERROR_INVALID_VALUE;
    hd_result r = surface_new(array, &t, error);
    return r ? r : add(m, t, surface);
}

bool hd_surface_get_array(hd_machine *m, uint64_t surface, hd_array **array)
{
    const struct texture *t =
        m && array ? texture_find(&m->machine->textures, surface, HANDLE_SURFACE, TEXTURE_NOW) : NULL;
    if (t)
        *array = t->desc.array;
    return t;
}

/* ---- references ---- */

static enum texture_handle kind_of(const struct ptx_var *v)
{
    return v->type == TYPE_surfref ? HANDLE_SURFREF : v->type == TYPE_samplerref ? HANDLE_SAMPLERREF : HANDLE_TEXREF;
}

bool module_add_reference(hd_module *m, struct ptx_var *v)
{
    const char *name = arena_strndup(&m->arena, v->symbol.name.p, v->symbol.name.n);
    struct module_reference *r = ARENA_NEW(&m->arena, struct module_reference);
    r->reference.name = name;
    r->kind = kind_of(v);
    r->handle = texture_add_reference(&m->machine->machine->textures, &r->reference, r->kind);
    if (!r->handle)
        return false;
    *VEC_PUSH(&m->arena, &m->references) = r;
    v->handle = REFERENCE | (m->references.n - 1);
    if (!map_get(&m->references_by_name, str_of(name)))
        map_put(&m->references_by_name, str_of(name), r);
    return true;
}

void module_free_references(hd_module *m)
{
    for (uint32_t i = 0; i < m->references.n; i++)
        texture_remove_reference(&m->machine->machine->textures, m->references.at[i]->handle,
                                 m->references.at[i]->kind);
    m->references.n = 0;
}

hd_result hd_module_get_reference(hd_module *m, const char *name, hd_reference kind, uint64_t *reference)
{
    if (!m || !name || !reference || kind > HD_REFERENCE_SAMPLER)
        return HD_ERROR_INVALID_VALUE;
    const struct module_reference *r = map_get(&m->references_by_name, str_of(name));
    if (!r || r->kind != HANDLE_TEXREF + kind)
        return HD_ERROR_NOT_FOUND;
    *reference = r->handle;
    return HD_SUCCESS;
}

static struct texture_reference *reference_of(hd_machine *m, uint64_t handle, enum texture_handle kind)
{
    return m ? texture_find_reference(&m->machine->textures, handle, kind) : NULL;
}

static void bind(hd_machine *m, struct texture_reference *r, struct texture *t)
{
    texture_bind(&m->machine->textures, r, t);
    texture_table_collect(&m->machine->textures);
}

/* A sampler has no resource of its own. */
static hd_result sampler_new(const hd_texture_desc *d, struct texture **texture, const char **error)
{
    struct texture *t = malloc(sizeof *t);
    if (!t)
        return HD_ERROR_OUT_OF_MEMORY;
    const char *wrong = sampler_make(t, d);
    if (wrong) {
        free(t);
        return refuse(error, HD_ERROR_INVALID_VALUE, wrong);
    }
    *texture = t;
    return HD_SUCCESS;
}

hd_result hd_texture_bind_sized(hd_machine *m, uint64_t reference, const hd_texture_desc *desc, size_t bytes,
                                const char **error)
{
    hd_texture_desc own;
    struct texture *t = NULL;
    struct texture_reference *texture = reference_of(m, reference, HANDLE_TEXREF);
    struct texture_reference *sampler = reference_of(m, reference, HANDLE_SAMPLERREF);
    refuse(error, HD_SUCCESS, NULL);
    if (!texture && !sampler)
        return HD_ERROR_INVALID_VALUE;
    hd_result r = desc ? SIZED_VIEW(hd_texture_desc, &desc, &own, bytes) : HD_SUCCESS;
    if (desc && !r)
        r = texture ? texture_new(desc, &t, error) : sampler_new(desc, &t, error);
    if (!r)
        bind(m, texture ? texture : sampler, t);
    return r;
}

hd_result hd_surface_bind(hd_machine *m, uint64_t reference, hd_array *array, const char **error)
{
    struct texture *t = NULL;
    struct texture_reference *surface = reference_of(m, reference, HANDLE_SURFREF);
    refuse(error, HD_SUCCESS, NULL);
    if (!surface)
        return HD_ERROR_INVALID_VALUE;
    hd_result r = array ? surface_new(array, &t, error) : HD_SUCCESS;
    if (!r)
        bind(m, surface, t);
    return r;
}
