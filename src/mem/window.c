/* See window.h. */
#include "mem/window.h"

#include "base/checked.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Tells the address sanitizer where the usable memory ends, so that it stops accesses behind it. */
#if defined __SANITIZE_ADDRESS__
#define HOST_IS_WATCHED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define HOST_IS_WATCHED 1
#endif
#endif
#if !defined HOST_IS_WATCHED
#define HOST_IS_WATCHED 0
#endif

#define RESERVED (WINDOW_GUARD_BEFORE + WINDOW_AREA + WINDOW_GUARD_BEHIND)

void window_init(struct window_area *a)
{
    struct rlimit limit;
    *a = (struct window_area){0};
    if (HOST_IS_WATCHED || getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
        return;
    void *p = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return;
    a->reserved = p;
    a->start = a->reserved + WINDOW_GUARD_BEFORE;
}

void window_destroy(struct window_area *a)
{
    if (a->reserved)
        munmap(a->reserved, RESERVED);
    *a = (struct window_area){0};
}

void *window_take(struct window_area *a, uint64_t bytes)
{
    uint64_t whole;
    if (!a->start || !range_align(bytes, WINDOW_UNIT, &whole) || !range_holds(0, WINDOW_AREA, a->used, a->used, whole))
        return NULL;
    void *p = a->start + a->used;
    if (mprotect(p, whole, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    a->used += whole;
    return p;
}
