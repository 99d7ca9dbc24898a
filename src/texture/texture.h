/* What instructions of textures and surfaces read through: descriptors, which stand in a table of
 * the machine's. A kernel names one by a handle, which is a place in the table and never an
 * address: what is no handle, or none any more, finds nothing.
 *
 * A descriptor does not change. What is bound to a reference of a module (.texref, .surfref,
 * .samplerref) is another descriptor each time. A launch finds the descriptors that there were when
 * it was submitted; they live until all such launches have ended (texture_table_collect()).
 */
#ifndef HEDDLE_TEXTURE_TEXTURE_H
#define HEDDLE_TEXTURE_TEXTURE_H

#include "base/handle_table.h"
#include "heddle.h"
#include "isa/texture.h"
#include "texture/array.h"

/* In the order of CUaddress_mode. */
enum {
    ADDRESS_WRAP,
    ADDRESS_CLAMP,
    ADDRESS_MIRROR,
    ADDRESS_BORDER,
    ADDRESS_SEAMS /* of a cube's faces: of no description */
};

struct sampler {
    uint8_t address[3];
    bool linear, linear_levels; /* filters; else the nearest texel, the nearest level */
    bool normalized;            /* coordinates are fractions of the size */
    bool as_integer;            /* integers are read as they are */
    bool srgb, seamless;
    uint8_t anisotropy; /* 1 and on */
    /* At edges of a cube's faces, whose coordinates are always normalised. */
    uint8_t face_address[2];
    float bias, least_level, most_level;
    float border[4];
};

struct texture {
    struct texture *next;     /* of those that wait to be freed */
    uint64_t handle;          /* 0: of none */
    uint64_t context;         /* the number of the only one whose launches may use it; 0: all may */
    _Atomic uint64_t removed; /* launches up to this one find it; 0: all do */
    _Atomic uint32_t refs;
    bool is_surface;
    /* A surface of an array that was not made for it: it reads as 0, and keeps nothing (as on an
     * H200). */
    bool is_inert;
    enum texture_shape shape;
    struct texel_format format;
    struct sampler sampler;
    struct array *array; /* or NULL: memory of the program's own */
    uint64_t start, bytes;
    _Atomic uint64_t version; /* of the machine's memory, 1 +: the bytes were there then */
    unsigned n_levels;
    struct level levels[TEXTURE_LEVELS];
    hd_texture_desc desc; /* that it was made of */
};

/* A name of a module's. */
struct texture_reference {
    struct texture *_Atomic bound; /* or NULL */
    const char *name;
};

/* Kinds of handles. */
enum texture_handle { HANDLE_TEXTURE = 1, HANDLE_SURFACE, HANDLE_TEXREF, HANDLE_SURFREF, HANDLE_SAMPLERREF };

struct texture_table {
    struct handle_table handles;
    pthread_mutex_t lock;    /* of what follows */
    struct texture *retired; /* removed; a launch may have found them, or find them still */
    uint64_t now;            /* the time of launches: from 1, a removal later one more */
    uint64_t n_launches;     /* submitted, and not ended */
};

void texture_table_init(struct texture_table *t);
void texture_table_destroy(struct texture_table *t);

/* What of a description makes no texture; NULL where all does. Fills everything but references. */
const char *texture_make(struct texture *t, const hd_texture_desc *d, const struct array *array, unsigned level,
                         unsigned n_levels);
/* Of a sampler by itself. */
const char *sampler_make(struct texture *t, const hd_texture_desc *d);
const char *surface_make(struct texture *t, const struct array *array, unsigned level);

void texture_hold(struct texture *t);
void texture_release(struct texture *t); /* NULL is allowed */

/* Adds a descriptor, of which the table takes the reference. 0: memory is exhausted. */
uint64_t texture_add(struct texture_table *t, struct texture *texture);
/* A launch is submitted: returns its time, which is that of the launch by whose kernel it is
 * (`since`), or now (0). It has ended. */
uint64_t texture_table_enter(struct texture_table *t, uint64_t since);
void texture_table_leave(struct texture_table *t);
/* The time of who sees what there is now. */
#define TEXTURE_NOW UINT64_MAX
/* NULL, or false, where it is no handle of that kind, or was none at that time. */
struct texture *texture_find(struct texture_table *t, uint64_t handle, enum texture_handle kind, uint64_t time);
struct texture_reference *texture_find_reference(struct texture_table *t, uint64_t handle, enum texture_handle kind);
bool texture_remove(struct texture_table *t, uint64_t handle, enum texture_handle kind);
uint64_t texture_add_reference(struct texture_table *t, struct texture_reference *r, enum texture_handle kind);
void texture_remove_reference(struct texture_table *t, uint64_t handle, enum texture_handle kind);
/* Binds a descriptor, or NULL, of which the reference takes the caller's reference. */
void texture_bind(struct texture_table *t, struct texture_reference *r, struct texture *texture);
/* What is bound now, held; NULL: nothing. */
struct texture *texture_bound(struct texture_table *t, struct texture_reference *r);
/* Frees what was removed, if there is no launch that may find it. */
void texture_table_collect(struct texture_table *t);

#endif
