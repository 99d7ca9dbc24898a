/* Instructions of textures and surfaces; see texture.h. */
#include "exec/texture.h"

#include "exec/access_plan.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/rows.h"
#include "exec/streams.h"
#include "exec/emit_events.h"
#include "exec/worker.h"
#include "texture/pictures.h"
#include "texture/sample.h"
#include "texture/surface.h"

/* One instruction, as lanes go through it: they mostly name the same descriptor. */
struct run {
    struct warp *w;
    uint8_t *const *base;
    const struct op *o;
    const struct ir_texture *t;
    uint64_t handle, sampler_handle;
    const struct texture *texture; /* of handle; NULL: none yet */
    const struct sampler *sampler;
    uint64_t shift; /* from its addresses to where the machine finds them */
};

/* ---- registers ---- */

static uint32_t read32(const struct run *r, unsigned k, unsigned lane)
{
    return ((const uint32_t *)row_at(r->base, r->o->texture->reads[k]))[lane];
}

static uint64_t read64(const struct run *r, unsigned k, unsigned lane)
{
    return ((const uint64_t *)row_at(r->base, r->o->texture->reads[k]))[lane];
}

static void write(const struct run *r, unsigned k, unsigned lane, uint64_t value)
{
    const struct op_texture *x = r->o->texture;
    uint8_t *row = row_at(r->base, x->writes[k]);
    switch (x->write_width[k]) {
    case 0: break;
    case 1: {
        uint32_t *mask = (uint32_t *)row;
        *mask = (*mask & ~(1u << lane)) | (uint32_t)(value & 1) << lane;
        break;
    }
    default: memcpy(row + lane * x->write_width[k] / 8, &value, x->write_width[k] / 8);
    }
}

/* ---- descriptors ---- */

/* A lane's fault; true where it reads 0, or writes nothing: where somebody who watches has it left
 * out, or an H200 does the same. */
static bool leave_out(const struct run *r, unsigned lane, enum fault_kind kind, uint64_t value)
{
    const struct location at = {.space = SPACE_GLOBAL, .address = value, .writes = texture_writes(&r->t->form)};
    if (kind == FAULT_texture_shape && !event_is_wanted(r->w->events, EVENT_FAULT))
        return true;
    if (event_is_wanted(r->w->events, EVENT_FAULT) && access_leave_out(r->w, r->o, lane, kind, &at, 0))
        return true;
    warp_fault_at(r->w, kind, r->o, lane, &at, 0);
    return false;
}

static const struct texture *bound_to(const struct run *r, const struct texture_reference *reference)
{
    const struct launch_request *q = r->w->block->launch->request;
    for (uint32_t i = 0; i < q->n_bound; i++)
        if (q->bound[i].reference == reference)
            return q->bound[i].texture;
    return atomic_load_explicit(&reference->bound, memory_order_acquire);
}

static const struct texture *find(const struct run *r, uint64_t handle, enum texture_handle object,
                                  enum texture_handle reference, enum fault_kind *why)
{
    struct texture_table *table = &r->w->block->launch->machine->textures;
    const struct texture *t = texture_find(table, handle, object, r->w->block->launch->request->textures);
    if (t)
        return t;
    const struct texture_reference *ref = texture_find_reference(table, handle, reference);
    t = ref ? bound_to(r, ref) : NULL;
    if (!t)
        *why = ref ? FAULT_texture_unbound : FAULT_no_texture;
    return t;
}

static bool is_of_context(const struct run *r, const struct texture *t)
{
    const struct context *c = r->w->block->launch->request->context;
    return !t->context || !c || t->context == c->number;
}

/* Is the memory that it reads still there? */
static bool is_there(struct run *r, const struct texture *t)
{
    const struct mem *m = &r->w->block->launch->machine->mem;
    struct mem_block b;
    bool in_tail;
    r->shift = 0;
    if (!t->array && !t->bytes)
        return true;
    if (t->array)
        return !atomic_load_explicit(&t->array->freed, memory_order_acquire);
    if (!mem_reach_bytes(m, t->start, t->bytes, &b, &in_tail))
        return false;
    r->shift = mem_shift(m, &b);
    return true;
}

/* Does an instruction of that shape read it? What has no layers has one, and to surfaces the faces
 * of cubes are layers. */
static bool fits(const struct ir_texture *t, const struct texture *x)
{
    enum texture_shape asked = (enum texture_shape)t->form.shape;
    bool pictures = x->shape == SHAPE_2D || x->shape == SHAPE_LAYERED_2D || (x->is_surface && shape_is_cube(x->shape));
    switch (asked) {
    case SHAPE_1D: return x->shape == SHAPE_1D || x->shape == SHAPE_LAYERED_1D || x->shape == SHAPE_BUFFER;
    case SHAPE_LAYERED_1D: return x->shape == SHAPE_1D || x->shape == SHAPE_LAYERED_1D;
    case SHAPE_2D:
    case SHAPE_LAYERED_2D: return pictures;
    default: return asked == x->shape;
    }
}

/* The lane's descriptor becomes r->texture. False: its handle is none. */
static bool take_texture(struct run *r, unsigned lane, enum fault_kind *why)
{
    uint64_t handle = read64(r, 0, lane);
    bool surface = r->t->form.is_surface;
    if (r->texture && handle == r->handle)
        return true;
    r->texture = NULL;
    r->sampler = NULL;
    const struct texture *t =
        find(r, handle, surface ? HANDLE_SURFACE : HANDLE_TEXTURE, surface ? HANDLE_SURFREF : HANDLE_TEXREF, why);
    if (!t)
        return false;
    bool fetches = r->t->form.op != TEXTURE_QUERY;
    if (!is_of_context(r, t))
        *why = FAULT_no_texture;
    else if (!is_there(r, t))
        *why = FAULT_texture_freed;
    else if (fetches && !fits(r->t, t))
        *why = FAULT_texture_shape;
    else
        r->texture = t;
    r->handle = handle;
    return r->texture;
}

static bool take_sampler(struct run *r, unsigned lane, enum fault_kind *why)
{
    uint64_t handle = r->t->at_sampler ? read64(r, r->t->at_sampler, lane) : 0;
    if (r->sampler && handle == r->sampler_handle)
        return true;
    r->sampler = &r->texture->sampler;
    r->sampler_handle = handle;
    if (!r->t->at_sampler)
        return true;
    const struct texture *t = find(r, handle, HANDLE_SAMPLERREF, HANDLE_SAMPLERREF, why);
    r->sampler = t ? &t->sampler : NULL;
    return t;
}

/* ---- reads ---- */

/* What is refused: the many reads along the longer gradient. */
static bool may_read(const struct run *r, enum fault_kind *why)
{
    bool may = r->t->form.lod != LOD_GRADIENTS || r->sampler->anisotropy <= 1;
    *why = may ? *why : FAULT_anisotropy;
    return may;
}

static struct texture_at place_of(const struct run *r, unsigned lane)
{
    const struct ir_texture *t = r->t;
    enum texture_shape shape = (enum texture_shape)t->form.shape;
    struct texture_at at = {.layer = 0};
    unsigned k = t->at_coordinates, n = shape_coordinates(shape);
    if (shape_is_layered(shape))
        at.layer = read32(r, k++, lane);
    for (unsigned d = 0; d < n; d++)
        at.at.i[d] = (int32_t)read32(r, k + d, lane); /* or the bits of a float */
    for (unsigned d = 0; t->at_offsets && d < n; d++)
        at.offset[d] = (int32_t)read32(r, t->at_offsets + d, lane);
    for (unsigned d = 0; t->form.lod == LOD_GRADIENTS && d < n; d++) {
        uint32_t x = read32(r, t->at_lod + d, lane), y = read32(r, t->at_lod + n + d, lane);
        memcpy(&at.ddx[d], &x, 4);
        memcpy(&at.ddy[d], &y, 4);
    }
    if (t->form.lod == LOD_LEVEL) {
        uint32_t x = read32(r, t->at_lod, lane);
        memcpy(&at.lod, &x, 4);
    }
    return at;
}

/* Texels that lanes read, told one after the other: the first of each, then the second. */
static void tell_texels(const struct run *r, uint32_t lanes, const struct texture_reads *reads)
{
    unsigned most = 0;
    for (uint32_t m = lanes; m; m &= m - 1)
        most = reads[__builtin_ctz(m)].n > most ? reads[__builtin_ctz(m)].n : most;
    for (unsigned k = 0; k < most; k++) {
        uint64_t address[WARP_LANES];
        uint32_t some = 0;
        for (uint32_t m = lanes; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            if (k < reads[l].n) {
                some |= 1u << l;
                address[l] = reads[l].at[k];
            }
        }
        access_tell_lanes(r->w, r->o, some, address, r->texture->format.bytes);
    }
}

static void put_texel(const struct run *r, unsigned lane, const uint32_t texel[4])
{
    const struct texture_form *f = &r->t->form;
    bool floats = texture_gives_floats(r->texture, r->sampler);
    uint32_t as[4];
    for (unsigned k = 0; k < 4; k++)
        as[k] = f->type == TYPE_f16 || f->type == TYPE_f16x2 ? texel_half(texel[k], floats) : texel[k];
    for (unsigned k = 0; k < f->n; k++)
        write(r, k, lane, f->type == TYPE_f16x2 ? as[2 * k] | as[2 * k + 1] << 16 : as[k]);
    if (r->t->tells_resident)
        write(r, f->n, lane, 1);
}

/* Lanes that read one picture, and nothing but its level 0, do so together; returns those that are
 * left. */
static uint32_t read_picture(struct run *r, uint32_t mask)
{
    const struct texture_form *f = &r->t->form;
    const struct launch *launch = r->w->block->launch;
    unsigned first = (unsigned)__builtin_ctz(mask);
    enum fault_kind why = FAULT_none;
    struct picture p;
    uint32_t out[4][WARP_LANES] __attribute__((aligned(64)));
    if (f->op != TEXTURE_READ || f->shape != SHAPE_2D || f->by_integers || f->lod >= LOD_LEVEL || f->type == TYPE_f16 ||
        f->type == TYPE_f16x2 || r->t->at_offsets || r->t->at_sampler || r->t->tells_resident ||
        row_lanes_like(row_at(r->base, r->o->texture->reads[0]), 64, mask, first) != mask ||
        !take_texture(r, first, &why) || !take_sampler(r, first, &why) ||
        !picture_of(r->texture, r->sampler, r->shift, &p))
        return mask;
    const float *x = (const float *)row_at(r->base, r->o->texture->reads[r->t->at_coordinates]);
    const float *y = (const float *)row_at(r->base, r->o->texture->reads[r->t->at_coordinates + 1]);
    uint32_t left = launch->machine->pictures->read(&p, x, y, out) & mask;
    for (unsigned k = 0; k < f->n; k++)
        if (r->o->texture->write_width[k])
            launch->rows->blend32(row_at(r->base, r->o->texture->writes[k]), (const uint8_t *)out[k], mask & ~left);
    return left;
}

static bool read_texture(struct run *r, uint32_t mask)
{
    const struct texture_form *f = &r->t->form;
    if (!event_is_wanted(r->w->events, EVENT_ACCESS))
        mask = read_picture(r, mask);
    bool told = event_is_wanted(r->w->events, EVENT_ACCESS);
    struct texture_reads reads[WARP_LANES];
    uint32_t done = 0;
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        uint32_t texel[4] = {0};
        enum fault_kind why = FAULT_none;
        const struct texture *before = r->texture;
        if (!take_texture(r, lane, &why) || !take_sampler(r, lane, &why) || !may_read(r, &why)) {
            if (!leave_out(r, lane, why, read64(r, 0, lane)))
                return false;
            for (unsigned k = 0; k < f->n; k++)
                write(r, k, lane, 0);
            continue;
        }
        if (told && before && before != r->texture) {
            const struct texture *now = r->texture;
            r->texture = before;
            tell_texels(r, done, reads);
            r->texture = now;
            done = 0;
        }
        struct texture_at at = place_of(r, lane);
        at.shift = r->shift;
        reads[lane].n = 0;
        at.reads = told ? &reads[lane] : NULL;
        if (f->op == TEXTURE_GATHER)
            texture_gather(r->texture, r->sampler, f->channel, &at, texel);
        else
            texture_sample(r->texture, r->sampler, f->by_integers, (enum texture_lod)f->lod, &at, texel);
        put_texel(r, lane, texel);
        done |= 1u << lane;
    }
    if (told && r->texture && done)
        tell_texels(r, done, reads);
    return true;
}

/* ---- surfaces ---- */

static struct surface_at surface_place(const struct run *r, unsigned lane)
{
    enum texture_shape shape = (enum texture_shape)r->t->form.shape;
    struct surface_at at = {.layer = 0};
    unsigned k = r->t->at_coordinates;
    if (shape_is_layered(shape))
        at.layer = read32(r, k++, lane);
    for (unsigned d = 0; d < shape_coordinates(shape); d++)
        at.at[d] = (int32_t)read32(r, k + d, lane);
    return at;
}

static uint64_t value_of(const struct run *r, unsigned k, unsigned lane, unsigned bytes)
{
    const uint8_t *row = row_at(r->base, r->o->texture->reads[r->t->at_values + k]);
    uint64_t v = 0;
    unsigned each = bytes < 2 ? 2 : bytes;
    memcpy(&v, row + lane * each, each);
    return v;
}

/* Elements of their size are whole for other threads. */
static void move_element(uint8_t *to, const uint8_t *from, unsigned bytes)
{
    switch (bytes) {
    case 1: __atomic_store_n(to, *from, __ATOMIC_RELAXED); break;
    case 2: {
        uint16_t v;
        memcpy(&v, from, 2);
        __atomic_store_n((uint16_t *)to, v, __ATOMIC_RELAXED);
        break;
    }
    case 4: {
        uint32_t v;
        memcpy(&v, from, 4);
        __atomic_store_n((uint32_t *)to, v, __ATOMIC_RELAXED);
        break;
    }
    default: {
        uint64_t v;
        memcpy(&v, from, 8);
        __atomic_store_n((uint64_t *)to, v, __ATOMIC_RELAXED);
        break;
    }
    }
}

static void load_surface(const struct run *r, unsigned lane, uint64_t address, unsigned bytes)
{
    for (unsigned k = 0; k < r->t->form.n; k++) {
        uint64_t v = 0;
        if (address)
            memcpy(&v, (const uint8_t *)(uintptr_t)address + (size_t)k * bytes, bytes);
        write(r, k, lane, v);
    }
}

static void store_surface(const struct run *r, unsigned lane, uint64_t address, unsigned bytes)
{
    uint8_t *to = (uint8_t *)(uintptr_t)address, texel[16];
    uint32_t values[4] = {0};
    if (!r->t->form.formatted) {
        for (unsigned k = 0; k < r->t->form.n; k++) {
            uint64_t v = value_of(r, k, lane, bytes);
            move_element(to + (size_t)k * bytes, (const uint8_t *)&v, bytes);
        }
        return;
    }
    for (unsigned k = 0; k < r->t->form.n; k++)
        values[k] = (uint32_t)value_of(r, k, lane, 4);
    const struct texel_format *f = &r->texture->format;
    surface_texel(f, values, texel);
    for (unsigned k = 0; k < f->channels; k++)
        move_element(to + (size_t)k * f->channel_bytes, texel + (size_t)k * f->channel_bytes, f->channel_bytes);
}

static void reduce_surface(const struct run *r, unsigned lane, uint64_t address, unsigned bytes)
{
    uint64_t v = value_of(r, 0, lane, bytes);
    atom_reduce(&r->o->access->mem, (uint8_t *)(uintptr_t)address, false, (const uint8_t *)&v);
}

static bool run_surface(struct run *r, uint32_t mask)
{
    const struct texture_form *f = &r->t->form;
    unsigned each = isa_type_bits((enum isa_type)f->type) / 8, bytes = each * f->n;
    bool told = event_is_wanted(r->w->events, EVENT_ACCESS), clamps = f->bounds == BOUNDS_CLAMP;
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        enum fault_kind why = FAULT_none;
        uint64_t value = read64(r, 0, lane), address = 0;
        if (take_texture(r, lane, &why)) {
            struct surface_at at = surface_place(r, lane);
            enum surface_where where =
                surface_find(r->texture, (enum texture_shape)f->shape, &at, bytes, f->formatted, clamps, &address);
            value = (uint32_t)at.at[0];
            if (where == SURFACE_MISALIGNED)
                why = FAULT_surface_misaligned;
            else if (where == SURFACE_OUTSIDE && f->bounds == BOUNDS_TRAP)
                why = FAULT_surface_outside;
            if (where == SURFACE_OUTSIDE || r->texture->is_inert)
                address = 0;
        }
        if (why && !leave_out(r, lane, why, value))
            return false;
        if (why)
            address = 0;
        uint64_t addresses[WARP_LANES];
        struct told t;
        addresses[lane] = address;
        if (told && address)
            access_begin_lanes(r->w, r->o, 1u << lane, addresses, f->formatted ? r->texture->format.bytes : bytes, &t);
        if (f->op == SURFACE_LOAD)
            load_surface(r, lane, address, each);
        else if (address && f->op == SURFACE_STORE)
            store_surface(r, lane, address, each);
        else if (address)
            reduce_surface(r, lane, address, each);
        if (told && address)
            access_tell_performed(r->w, r->o, &t);
    }
    return true;
}

/* ---- properties ---- */

static uint32_t property(const struct run *r, unsigned lane)
{
    const struct texture *t = r->texture;
    uint32_t level = r->t->form.lod == LOD_LEVEL ? read32(r, r->t->at_lod, lane) : 0;
    if (level >= t->n_levels)
        return 0;
    const struct level *l = &t->levels[level];
    bool layers = shape_is_layered(t->shape);
    switch (r->t->form.query) {
    case MOD_width: return l->width;
    case MOD_height: return shape_coordinates(t->shape) > 1 ? l->height : 0;
    case MOD_depth: return t->shape == SHAPE_3D || shape_is_layered(t->shape) ? l->depth : 0;
    case MOD_array_size: return layers ? shape_is_cube(t->shape) ? l->depth / 6 : l->depth : 0;
    case MOD_num_mipmap_levels: return t->n_levels;
    default: return 1; /* samples */
    }
}

static bool query(struct run *r, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        enum fault_kind why = FAULT_none;
        bool found = take_texture(r, lane, &why);
        if (!found && !leave_out(r, lane, why, read64(r, 0, lane)))
            return false;
        write(r, 0, lane, found ? property(r, lane) : 0);
    }
    return true;
}

static bool test(const struct run *r, uint32_t mask)
{
    static const enum texture_handle object[] = {HANDLE_TEXTURE, HANDLE_SAMPLERREF, HANDLE_SURFACE};
    struct texture_table *table = &r->w->block->launch->machine->textures;
    unsigned kind = r->t->form.query - TYPE_texref;
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        uint64_t handle = read64(r, 0, lane);
        bool is = texture_find(table, handle, object[kind], r->w->block->launch->request->textures) ||
                  texture_find_reference(table, handle,
                                         HANDLE_TEXREF + (kind == 1   ? 2
                                                          : kind == 2 ? 1
                                                                      : 0));
        write(r, 0, lane, is);
    }
    return true;
}

bool texture_run(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    struct run r = {.w = w, .base = base, .o = o, .t = o->texture->ir};
    switch ((enum texture_op)r.t->form.op) {
    case TEXTURE_QUERY: return query(&r, mask);
    case TEXTURE_TEST: return test(&r, mask);
    case SURFACE_LOAD:
    case SURFACE_STORE:
    case SURFACE_REDUCE: return run_surface(&r, mask);
    default: return read_texture(&r, mask);
    }
}
