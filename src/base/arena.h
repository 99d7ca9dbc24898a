/* Arenas: memory whose pieces live and die together (a module, a launch, one command).
 *
 * Pieces are zeroed, aligned to 16 bytes, and never freed singly. When the system has no memory
 * left, the arena jumps to `on_oom`, which every user of the library sets at its entry point: an
 * API call then returns "out of memory" to its caller. An arena without `on_oom` returns NULL.
 */
#ifndef HEDDLE_BASE_ARENA_H
#define HEDDLE_BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first */
    char *free, *end;           /* the unused part of the newest chunk */
    size_t total_bytes;         /* taken from the system */
    jmp_buf *on_oom;
};

/* A piece of `size` zeroed bytes. `size` 0 is allowed and gives a pointer that must not be read. */
void *arena_alloc(struct arena *a, size_t size);
/* A zeroed array; fails as arena_alloc does when count * size overflows. */
void *arena_array(struct arena *a, size_t count, size_t size);
/* The bytes of `old` (old_size of them) at the start of a new piece of new_size bytes. */
void *arena_grow(struct arena *a, const void *old, size_t old_size, size_t new_size);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *format, va_list args);
/* Gives everything back; the arena can be used again. */
void arena_free(struct arena *a);

#define ARENA_NEW(arena, type)          ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_array((arena), (count), sizeof(type)))

#endif
