/* Growing arrays, in an arena or on the heap.
 *
 *     VEC(struct token) tokens = {0};
 *     *VEC_PUSH(arena, &tokens) = t;         a zeroed new last element
 *     tokens.at[i], tokens.n
 *
 * Growth leaves the old copy in the arena: pointers to elements are good until the next push,
 * indices always.
 *
 * On the heap growth can fail, and leaves the array as it was; new elements have no value yet;
 * free(tokens.at) ends it.
 *
 *     struct token *t = VEC_ADD(&tokens);    a new last element; NULL: no memory
 *     t = VEC_INSERT(&tokens, i);            a new element before the i-th
 *     VEC_REMOVE(&tokens, i, many);          `many` elements, from the i-th on
 *     VEC_RESERVE(&tokens, more)             is there room for `more` elements behind the last?
 *
 * On the heap a struct with a name will do, too, if it has at, n and capacity, these two as
 * uint32_t or as size_t.
 */
#ifndef HEDDLE_BASE_VEC_H
#define HEDDLE_BASE_VEC_H

#include <stdbool.h>
#include <string.h>

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

#define VEC_RESERVE(v, more)                                                                                           \
    ((v)->capacity - (v)->n >= (more) || _Generic((v)->capacity, uint32_t: vec_reserve32, size_t: vec_reserve)(        \
                                             &(v)->at, &(v)->capacity, (v)->n, (more), sizeof *(v)->at))

#define VEC_ADD(v) (VEC_RESERVE(v, 1) ? &(v)->at[(v)->n++] : NULL)

#define VEC_INSERT(v, i)                                                                                               \
    ({                                                                                                                 \
        size_t place_ = (i);                                                                                           \
        VEC_ADD(v) ? (typeof((v)->at))vec_part((v)->at, (v)->n, place_, sizeof *(v)->at) : NULL;                       \
    })

#define VEC_REMOVE(v, i, many)                                                                                         \
    ({                                                                                                                 \
        size_t place_ = (i), many_ = (many);                                                                           \
        (v)->n -= many_;                                                                                               \
        memmove(&(v)->at[place_], &(v)->at[place_ + many_], ((v)->n - place_) * sizeof *(v)->at);                      \
    })

static inline void vec_grow(struct arena *a, void **at, uint32_t *capacity, uint32_t n, size_t size)
{
    *capacity = *capacity ? *capacity * 2 : 8;
    *at = arena_grow(a, *at, n * size, *capacity * size);
}

/* Moves all but the last of n elements up by one, from the i-th on; that is where it points to. */
static inline void *vec_part(void *at, size_t n, size_t i, size_t size)
{
    char *place = (char *)at + i * size;
    memmove(place + size, place, (n - i - 1) * size);
    return place;
}

/* `at`: where the pointer to the elements is. */
bool vec_reserve(void *at, size_t *capacity, size_t n, size_t more, size_t size);
bool vec_reserve32(void *at, uint32_t *capacity, size_t n, size_t more, size_t size);

#endif
