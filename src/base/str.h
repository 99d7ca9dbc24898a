/* Text by pointer and length: a view into somebody else's memory, not ended by a zero. */
#ifndef HEDDLE_BASE_STR_H
#define HEDDLE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

/* For printf: printf("%.*s", STR_ARG(s)) */
#define STR_ARG(s) (int)(s).n, (s).p

static inline struct str str_of(const char *zero_ended)
{
    return (struct str){zero_ended, strlen(zero_ended)};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *zero_ended)
{
    return str_eq(a, str_of(zero_ended));
}

static inline bool str_starts(struct str a, const char *zero_ended)
{
    size_t n = strlen(zero_ended);
    return a.n >= n && memcmp(a.p, zero_ended, n) == 0;
}

/* FNV-1a over 8 bytes at a time: names are short and there are many. */
static inline uint32_t str_hash(struct str s)
{
    uint64_t h = 0xcbf29ce484222325u ^ s.n;
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8) {
        uint64_t w;
        memcpy(&w, s.p + i, 8);
        h = (h ^ w) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    uint64_t tail = 0;
    memcpy(&tail, s.p + i, s.n - i);
    h = (h ^ tail) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(h ^ h >> 29);
}

/* How many single-character edits, or swaps of neighbours, lead from a to b, for "did you mean"; `limit` + 1 when it is more. */
unsigned str_distance(struct str a, struct str b, unsigned limit);

#endif
