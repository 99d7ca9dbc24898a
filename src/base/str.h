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

static inline bool str_has(struct str a, const char *part)
{
    return memmem(a.p, a.n, part, strlen(part)) != NULL;
}

/* Each process has keys of its own, so that nobody can write a text
 * whose names all have one hash. */
extern uint64_t str_hash_keys[2];

static inline uint64_t str_hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 8 bytes at a time: names are short and there are many. */
static inline uint32_t str_hash(struct str s)
{
    uint64_t h = str_hash_keys[0] ^ s.n, w = 0;
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8) {
        memcpy(&w, s.p + i, 8);
        h = str_hash_mix(h ^ w, str_hash_keys[1]);
    }
    w = 0;
    memcpy(&w, s.p + i, s.n - i);
    h = str_hash_mix(h ^ w, str_hash_keys[1]);
    return (uint32_t)(h ^ h >> 32);
}

/* How many single-character edits, or swaps of neighbours, lead from a to b, for "did you mean";
 * `limit` + 1 when it is more. */
unsigned str_distance(struct str a, struct str b, unsigned limit);

#endif
