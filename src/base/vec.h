/* Growing arrays in an arena.
 *
 *     VEC(struct token) tokens = {0};
 *     *VEC_PUSH(arena, &tokens) = t;      a zeroed new last element
 *     tokens.at[i], tokens.n
 *
 * Growth leaves the old copy in the arena: pointers to elements are good until the next push, indices always.
 */
#ifndef HEDDLE_BASE_VEC_H
#define HEDDLE_BASE_VEC_H

#include "base/arena.h"

#define VEC(type)                                                                                                      \
    struct {                                                                                                           \
        type *at;                                                                                                      \
        uint32_t n, capacity;                                                                                          \
    }

#define VEC_PUSH(arena, v)                                                                                             \
    ((v)->n == (v)->capacity ? vec_grow((arena), (void **)&(v)->at, &(v)->capacity, (v)->n, sizeof *(v)->at)           \
                             : (void)0,                                                                                \
     &(v)->at[(v)->n++])

static inline void vec_grow(struct arena *a, void **at, uint32_t *capacity, uint32_t n, size_t size)
{
    *capacity = *capacity ? *capacity * 2 : 8;
    *at = arena_grow(a, *at, n * size, *capacity * size);
}

#endif
