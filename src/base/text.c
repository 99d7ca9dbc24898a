/* See text.h. */
#include "base/text.h"

#include <stdio.h>

static void make_room(struct text *t, size_t n)
{
    if (t->n + n + 1 <= t->capacity)
        return;
    size_t capacity = 2 * (t->n + n + 1);
    t->p = arena_grow(t->arena, t->p, t->n, capacity);
    t->capacity = capacity;
}

void text_put(struct text *t, const char *p, size_t n)
{
    make_room(t, n);
    memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
}

void text_puts(struct text *t, const char *zero_ended)
{
    text_put(t, zero_ended, strlen(zero_ended));
}

void text_printf(struct text *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0) {
        make_room(t, (size_t)n);
        vsnprintf(t->p + t->n, (size_t)n + 1, format, again);
        t->n += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

const char *nanoseconds_text(double ns, struct arena *arena)
{
    return ns < 1e3   ? arena_printf(arena, "%.0f ns", ns)
           : ns < 1e6 ? arena_printf(arena, "%.3g us", 1e-3 * ns)
           : ns < 1e9 ? arena_printf(arena, "%.3g ms", 1e-6 * ns)
                      : arena_printf(arena, "%.3g s", 1e-9 * ns);
}

const char *size_text(uint64_t bytes, struct arena *arena)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024)
        return arena_printf(arena, "%llu bytes", (unsigned long long)bytes);
    double size = (double)bytes / 1024;
    int unit = 0;
    for (; size >= 1024 && unit < 3; unit++)
        size /= 1024;
    return arena_printf(arena, "%.*f %s", size < 10, size, units[unit]);
}

const char *count_text(uint64_t n, struct arena *arena)
{
    if (n < 1000)
        return arena_printf(arena, "%llu", (unsigned long long)n);
    return arena_printf(arena, "%s,%03u", count_text(n / 1000, arena), (unsigned)(n % 1000));
}
