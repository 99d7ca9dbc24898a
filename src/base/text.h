/* Text that grows at its end, in an arena. */
#ifndef HEDDLE_BASE_TEXT_H
#define HEDDLE_BASE_TEXT_H

#include "base/arena.h"
#include "base/str.h"

struct text {
    struct arena *arena;
    char *p; /* ended by a zero; NULL while empty */
    size_t n, capacity;
};

void text_put(struct text *t, const char *p, size_t n);
void text_puts(struct text *t, const char *zero_ended);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline void text_str(struct text *t, struct str s)
{
    text_put(t, s.p, s.n);
}

/* A time as people read it, in three digits: 7.63 us. */
const char *nanoseconds_text(double ns, struct arena *arena);
/* "1.5 GiB" */
const char *size_text(uint64_t bytes, struct arena *arena);
/* "12,345,678" */
const char *count_text(uint64_t n, struct arena *arena);

#endif
