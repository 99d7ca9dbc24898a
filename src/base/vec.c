/* See vec.h. */
#include "base/vec.h"

#include <stdlib.h>

enum { LEAST_BYTES = 64 };

bool vec_reserve(void *at, size_t *capacity, size_t n, size_t more, size_t size)
{
    size_t wanted, bytes, room = *capacity ? 2 * *capacity : LEAST_BYTES / size + 1;
    void *elements;
    memcpy(&elements, at, sizeof elements);
    if (__builtin_add_overflow(n, more, &wanted))
        return false;
    room = room < wanted ? wanted : room;
    if (__builtin_mul_overflow(room, size, &bytes) || !(elements = realloc(elements, bytes)))
        return false;
    memcpy(at, &elements, sizeof elements);
    *capacity = room;
    return true;
}

bool vec_reserve32(void *at, uint32_t *capacity, size_t n, size_t more, size_t size)
{
    size_t room = *capacity;
    if (more > UINT32_MAX - n || !vec_reserve(at, &room, n, more, size))
        return false;
    *capacity = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
    return true;
}
