/* Arenas as chunks of growing size; see arena.h. */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_MIN_BYTES = 16 << 10, CHUNK_MAX_BYTES = 4 << 20, ALIGN_BYTES = 16 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t size;
    _Alignas(ALIGN_BYTES) char bytes[];
};

static void *out_of_memory(struct arena *a)
{
    if (a->on_oom)
        longjmp(*a->on_oom, 1);
    return NULL;
}

static int add_chunk(struct arena *a, size_t need)
{
    size_t size = a->total_bytes < CHUNK_MIN_BYTES ? CHUNK_MIN_BYTES : a->total_bytes;
    if (size > CHUNK_MAX_BYTES)
        size = CHUNK_MAX_BYTES;
    if (size < need)
        size = need;
    struct arena_chunk *c = calloc(1, sizeof *c + size);
    if (!c)
        return 0;
    c->next = a->chunks;
    c->size = size;
    a->chunks = c;
    a->free = c->bytes;
    a->end = c->bytes + size;
    a->total_bytes += size;
    return 1;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        return out_of_memory(a);
    size_t rounded = (size + ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
    if ((size_t)(a->end - a->free) < rounded && !add_chunk(a, rounded))
        return out_of_memory(a);
    void *p = a->free;
    a->free += rounded;
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return out_of_memory(a);
    return arena_alloc(a, count * size);
}

void *arena_grow(struct arena *a, const void *old, size_t old_size, size_t new_size)
{
    void *p = arena_alloc(a, new_size);
    if (p && old_size)
        memcpy(p, old, old_size);
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    if (p && n) /* s may be NULL then */
        memcpy(p, s, n);
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_vprintf(struct arena *a, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, format, again);
    va_end(again);
    return p;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *p = arena_vprintf(a, format, args);
    va_end(args);
    return p;
}

void arena_free(struct arena *a)
{
    for (struct arena_chunk *c = a->chunks; c;) {
        struct arena_chunk *next = c->next;
        free(c);
        c = next;
    }
    a->chunks = NULL;
    a->free = a->end = NULL;
    a->total_bytes = 0;
}
