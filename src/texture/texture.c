/* Descriptors and their table; see texture.h. */
#include "texture/texture.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a description says ---- */

/* In the order of CUresourceViewFormat, from CU_RES_VIEW_FORMAT_UINT_1X8 on, by threes of 1, 2 and
 * 4 channels: the numbers of CUarray_format. */
static const uint8_t view_formats[] = {0x01, 0x08, 0x02, 0x09, 0x03, 0x0a, 0x10, 0x20};
enum { LAST_VIEW_FORMAT = 3 * sizeof view_formats, LAST_COMPRESSED_VIEW = 0x22 };

enum {
    FLAG_INTEGER = HD_TEXTURE_READ_AS_INTEGER,
    FLAG_NORMALIZED = HD_TEXTURE_NORMALIZED_COORDINATES,
    FLAG_SRGB = HD_TEXTURE_SRGB,
    FLAG_SEAMLESS = HD_TEXTURE_SEAMLESS_CUBEMAP,
    ALL_FLAGS = FLAG_INTEGER | FLAG_NORMALIZED | FLAG_SRGB | HD_TEXTURE_DISABLE_TRILINEAR_OPTIMIZATION | FLAG_SEAMLESS,
    MOST_ANISOTROPY = 16
};

static enum texture_shape shape_of(const struct array *a)
{
    if (a->flags & ARRAY_CUBEMAP)
        return a->flags & ARRAY_LAYERED ? SHAPE_LAYERED_CUBE : SHAPE_CUBE;
    if (a->flags & ARRAY_LAYERED)
        return a->height ? SHAPE_LAYERED_2D : SHAPE_LAYERED_1D;
    return a->depth ? SHAPE_3D : a->height ? SHAPE_2D : SHAPE_1D;
}

static void take_array(struct texture *t, const struct array *a, unsigned level, unsigned n_levels)
{
    t->shape = shape_of(a);
    t->format = a->format;
    t->array = (struct array *)a;
    t->start = (uint64_t)(uintptr_t)a->memory;
    t->bytes = a->bytes;
    t->n_levels = n_levels;
    for (unsigned l = 0; l < n_levels; l++)
        t->levels[l] = a->levels[level + l];
}

static bool has_layers(enum texture_shape shape)
{
    return shape_is_layered(shape) || shape == SHAPE_CUBE;
}

static const char *view_layers(struct texture *t, const hd_texture_desc *d)
{
    uint32_t n = t->levels[0].depth;
    bool is_cube = shape_is_cube(t->shape);
    if (!d->first_layer && !d->last_layer && (is_cube || !has_layers(t->shape)))
        return NULL; /* all of it; of layers, it is the first alone (as on an H200) */
    if (!has_layers(t->shape) || d->last_layer < d->first_layer || d->last_layer >= n)
        return "a view of layers that the array does not have";
    n = d->last_layer - d->first_layer + 1;
    if ((t->shape == SHAPE_CUBE && n != 6) || (t->shape == SHAPE_LAYERED_CUBE && n % 6))
        return "a view of a cubemap needs six layers, or with layers a multiple of six";
    for (unsigned l = 0; l < t->n_levels; l++) {
        t->levels[l].start += d->first_layer * t->levels[l].slice;
        t->levels[l].depth = n;
    }
    return NULL;
}

static const char *view_of(struct texture *t, const hd_texture_desc *d)
{
    const struct array *a = t->array;
    struct texel_format f = t->format;
    if (d->view_format > LAST_VIEW_FORMAT)
        return d->view_format <= LAST_COMPRESSED_VIEW ? "views of compressed blocks are not supported"
                                                      : "no such format of a view";
    if (d->view_format)
        texel_format_of(view_formats[(d->view_format - 1) / 3], 1u << (d->view_format - 1) % 3, &f);
    if (f.bytes != t->format.bytes)
        return "the view's texels have another size than the array's";
    t->format = f;
    if (d->last_level < d->first_level || d->last_level >= t->n_levels)
        return "a view of levels that the array does not have";
    for (unsigned l = d->first_level; l <= d->last_level; l++)
        t->levels[l - d->first_level] = t->levels[l];
    t->n_levels = d->last_level - d->first_level + 1;
    if (a && (d->view_width != a->width || d->view_height != a->height ||
              (!has_layers(t->shape) && d->view_depth != a->depth)))
        return "the width, height or depth of the view is not the array's";
    return view_layers(t, d);
}

static const char *take_memory(struct texture *t, const hd_texture_desc *d)
{
    bool pitched = d->resource == HD_RESOURCE_PITCH2D;
    if (!texel_format_of(d->format, d->channels, &t->format)) {
        const char *refused = texel_format_refused(d->format);
        return refused ? refused : "no such format or number of channels";
    }
    uint64_t width = pitched ? d->width : d->bytes / t->format.bytes, height = pitched ? d->height : 1;
    uint64_t pitch = pitched ? d->pitch : d->bytes;
    if (!d->address || height > UINT32_MAX || pitch > UINT32_MAX * (uint64_t)t->format.bytes)
        return "the memory is missing, or its rows are too large";
    width = width > UINT32_MAX ? UINT32_MAX : width;
    t->shape = pitched ? SHAPE_2D : SHAPE_BUFFER;
    t->start = (uint64_t)(uintptr_t)d->address;
    t->bytes = width && height ? (height - 1) * pitch + width * t->format.bytes : 0;
    t->n_levels = 1;
    t->levels[0] = (struct level){.start = t->start,
                                  .width = (uint32_t)width,
                                  .height = (uint32_t)height,
                                  .depth = 1,
                                  .pitch = pitch,
                                  .slice = pitch * height};
    return NULL;
}

/* Without normalised coordinates, wrap and mirror act as clamp. */
static uint8_t mode_of(unsigned mode, bool normalized)
{
    bool repeats = mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR;
    return repeats && !normalized ? ADDRESS_CLAMP : (uint8_t)mode;
}

static const char *sampler_of(struct sampler *s, const hd_texture_desc *d)
{
    for (int i = 0; i < 3; i++)
        if (d->address_mode[i] > ADDRESS_BORDER)
            return "no such address mode";
    if (d->filter > 1 || d->mipmap_filter > 1 || d->flags & ~(unsigned)ALL_FLAGS)
        return "no such filter or flag";
    *s = (struct sampler){.linear = d->filter,
                          .linear_levels = d->mipmap_filter,
                          .normalized = d->flags & FLAG_NORMALIZED,
                          .as_integer = d->flags & FLAG_INTEGER,
                          .srgb = d->flags & FLAG_SRGB,
                          .seamless = d->flags & FLAG_SEAMLESS,
                          .bias = d->mipmap_bias,
                          .least_level = d->mipmap_min,
                          .most_level = d->mipmap_max};
    s->anisotropy = (uint8_t)(d->max_anisotropy > MOST_ANISOTROPY ? MOST_ANISOTROPY
                              : d->max_anisotropy                 ? d->max_anisotropy
                                                                  : 1);
    for (int i = 0; i < 3; i++)
        s->address[i] = mode_of(d->address_mode[i], s->normalized);
    for (int i = 0; i < 2; i++)
        s->face_address[i] = mode_of(d->address_mode[i], true);
    memcpy(s->border, d->border, sizeof s->border);
    return NULL;
}

const char *texture_make(struct texture *t, const hd_texture_desc *d, const struct array *array, unsigned level,
                         unsigned n_levels)
{
    const char *error = NULL;
    *t = (struct texture){.refs = 1, .desc = *d};
    if (array)
        take_array(t, array, level, n_levels);
    else
        error = take_memory(t, d);
    error = error ? error : d->viewed ? view_of(t, d) : NULL;
    return error ? error : sampler_of(&t->sampler, d);
}

const char *sampler_make(struct texture *t, const hd_texture_desc *d)
{
    *t = (struct texture){.refs = 1, .desc = *d};
    return sampler_of(&t->sampler, d);
}

const char *surface_make(struct texture *t, const struct array *array, unsigned level)
{
    *t = (struct texture){.refs = 1, .is_surface = true, .is_inert = !(array->flags & ARRAY_SURFACE)};
    take_array(t, array, level, 1);
    return NULL;
}

/* ---- lifetimes ---- */

void texture_hold(struct texture *t)
{
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
}

void texture_release(struct texture *t)
{
    if (!t || atomic_fetch_sub(&t->refs, 1) != 1)
        return;
    array_release(t->array);
    free(t);
}

/* With the lock held. */
static void retire(struct texture_table *t, struct texture *texture)
{
    if (!texture)
        return;
    texture->next = t->retired;
    t->retired = texture;
}

static void *handle_of(uint64_t handle)
{
    return (void *)(uintptr_t)handle;
}

static void free_all(struct texture_table *t, struct texture *old)
{
    while (old) {
        struct texture *next = old->next;
        if (old->handle)
            handle_take(&t->handles, handle_of(old->handle), old->is_surface ? HANDLE_SURFACE : HANDLE_TEXTURE);
        texture_release(old);
        old = next;
    }
}

/* With the lock: what no launch can read any more. */
static struct texture *take_retired(struct texture_table *t)
{
    struct texture *old = t->n_launches ? NULL : t->retired;
    if (old)
        t->retired = NULL;
    return old;
}

void texture_table_collect(struct texture_table *t)
{
    pthread_mutex_lock(&t->lock);
    struct texture *old = take_retired(t);
    pthread_mutex_unlock(&t->lock);
    free_all(t, old);
}

uint64_t texture_table_enter(struct texture_table *t, uint64_t since)
{
    pthread_mutex_lock(&t->lock);
    uint64_t time = since ? since : t->now;
    t->n_launches++;
    pthread_mutex_unlock(&t->lock);
    return time;
}

void texture_table_leave(struct texture_table *t)
{
    pthread_mutex_lock(&t->lock);
    t->n_launches--;
    struct texture *old = take_retired(t);
    pthread_mutex_unlock(&t->lock);
    free_all(t, old);
}

/* ---- the table ---- */

void texture_table_init(struct texture_table *t)
{
    pthread_mutex_init(&t->handles.lock, NULL);
    pthread_mutex_init(&t->lock, NULL);
    t->now = 1;
}

void texture_table_destroy(struct texture_table *t)
{
    unsigned kind;
    void *record;
    free_all(t, t->retired);
    t->retired = NULL;
    for (uint32_t at = 0; (record = handle_take_owned(&t->handles, t, &at, &kind));)
        texture_release(record);
    for (size_t i = 0; i < HANDLE_CHUNKS; i++)
        free(t->handles.chunks[i]);
    free(t->handles.free);
    pthread_mutex_destroy(&t->handles.lock);
    pthread_mutex_destroy(&t->lock);
}

uint64_t texture_add(struct texture_table *t, struct texture *texture)
{
    unsigned kind = texture->is_surface ? HANDLE_SURFACE : HANDLE_TEXTURE;
    return texture->handle = (uint64_t)(uintptr_t)handle_add(&t->handles, kind, texture, t);
}

bool texture_remove(struct texture_table *t, uint64_t handle, enum texture_handle kind)
{
    pthread_mutex_lock(&t->lock);
    struct texture *texture = texture_find(t, handle, kind, TEXTURE_NOW);
    if (texture)
        atomic_store(&texture->removed, t->now++);
    retire(t, texture);
    pthread_mutex_unlock(&t->lock);
    return texture;
}

struct texture *texture_find(struct texture_table *t, uint64_t handle, enum texture_handle kind, uint64_t time)
{
    struct texture *texture = handle_find(&t->handles, handle_of(handle), kind);
    uint64_t removed = texture ? atomic_load_explicit(&texture->removed, memory_order_acquire) : 0;
    return removed && removed < time ? NULL : texture;
}

uint64_t texture_add_reference(struct texture_table *t, struct texture_reference *r, enum texture_handle kind)
{
    return (uint64_t)(uintptr_t)handle_add(&t->handles, kind, r, NULL);
}

struct texture_reference *texture_find_reference(struct texture_table *t, uint64_t handle, enum texture_handle kind)
{
    return handle_find(&t->handles, handle_of(handle), kind);
}

void texture_remove_reference(struct texture_table *t, uint64_t handle, enum texture_handle kind)
{
    struct texture_reference *r = handle_take(&t->handles, handle_of(handle), kind);
    if (r)
        texture_bind(t, r, NULL);
}

/* The lock keeps who binds from having what was bound freed before it is held. */
struct texture *texture_bound(struct texture_table *t, struct texture_reference *r)
{
    pthread_mutex_lock(&t->lock);
    struct texture *texture = atomic_load(&r->bound);
    if (texture)
        texture_hold(texture);
    pthread_mutex_unlock(&t->lock);
    return texture;
}

void texture_bind(struct texture_table *t, struct texture_reference *r, struct texture *texture)
{
    pthread_mutex_lock(&t->lock);
    retire(t, atomic_exchange(&r->bound, texture));
    pthread_mutex_unlock(&t->lock);
}
