/* Arrays; see array.h. */
#include "texture/array.h"

#include <stdlib.h>

static uint32_t half(uint32_t size, unsigned times)
{
    return size >> times ? size >> times : 1;
}

static bool has_layers(unsigned flags)
{
    return flags & (ARRAY_LAYERED | ARRAY_CUBEMAP);
}

unsigned array_most_levels(uint32_t width, uint32_t height, uint32_t depth, unsigned flags)
{
    uint32_t most = width > height ? width : height;
    if (!has_layers(flags) && depth > most)
        most = depth;
    unsigned levels = 1;
    while (levels < TEXTURE_LEVELS && most >> levels)
        levels++;
    return levels;
}

void array_lay_out(struct array *a)
{
    uint64_t at = 0;
    for (unsigned l = 0; l < a->n_levels; l++) {
        struct level *v = &a->levels[l];
        uint32_t depth = has_layers(a->flags) ? a->depth : half(a->depth, l);
        *v = (struct level){.start = at, .width = half(a->width, l), .height = half(a->height, l), .depth = depth};
        v->pitch = (uint64_t)v->width * a->format.bytes;
        v->slice = v->pitch * v->height;
        at += (v->slice * v->depth + LEVEL_ALIGN_BYTES - 1) & -(uint64_t)LEVEL_ALIGN_BYTES;
    }
    const struct level *last = &a->levels[a->n_levels - 1];
    a->bytes = last->start + last->slice * last->depth;
}

struct array *array_new(struct mem *mem, const struct array *shape)
{
    struct array *a = malloc(sizeof *a);
    void *memory = a ? mem_alloc(mem, shape->bytes, MEM_DEVICE, "array") : NULL;
    if (!memory) {
        free(a);
        return NULL;
    }
    *a = *shape;
    a->refs = 1;
    a->mem = mem;
    a->memory = memory;
    for (unsigned l = 0; l < a->n_levels; l++)
        a->levels[l].start += (uint64_t)(uintptr_t)memory;
    return a;
}

void array_free(struct array *a)
{
    atomic_store(&a->freed, true);
    mem_free(a->mem, a->memory);
    array_release(a);
}

void array_hold(struct array *a)
{
    atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
}

void array_release(struct array *a)
{
    if (a && atomic_fetch_sub(&a->refs, 1) == 1)
        free(a);
}
