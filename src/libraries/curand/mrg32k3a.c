/* MRG32k3a (L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random
 * Number Generators"): strands are 2^76 numbers apart. A word is the difference of its two
 * recurrences, 1 to M1. */
#include "libraries/curand/engine.h"

#include <stdlib.h>

enum { STRANDS = 81920, STRANDS_LEGACY = 4096, STRANDS_DYNAMIC = 270336, LOG_DISTANCE = 76, FIRST = 12345 };

static const uint64_t M1 = 4294967087, M2 = 4294944443;
static const uint64_t A12 = 1403580, A13 = 810728, A21 = 527612, A23 = 1370589;

struct matrix {
    uint64_t at[3][3];
};

struct one {
    uint32_t x[3], y[3];
};

static struct matrix product(const struct matrix *a, const struct matrix *b, uint64_t m)
{
    struct matrix c = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                c.at[i][j] = (c.at[i][j] + a->at[i][k] * b->at[k][j] % m) % m;
    return c;
}

static void apply(const struct matrix *a, uint32_t v[3], uint64_t m)
{
    uint32_t w[3];
    for (int i = 0; i < 3; i++) {
        uint64_t sum = 0;
        for (int k = 0; k < 3; k++)
            sum = (sum + a->at[i][k] * v[k] % m) % m;
        w[i] = (uint32_t)sum;
    }
    for (int i = 0; i < 3; i++)
        v[i] = w[i];
}

/* The matrices of one step. */
static struct matrix step1(void)
{
    return (struct matrix){{{0, 1, 0}, {0, 0, 1}, {M1 - A13, A12, 0}}};
}

static struct matrix step2(void)
{
    return (struct matrix){{{0, 1, 0}, {0, 0, 1}, {M2 - A23, 0, A21}}};
}

static void skip(struct one *s, uint64_t n)
{
    struct matrix a = step1(), b = step2();
    for (; n; n >>= 1) {
        if (n & 1) {
            apply(&a, s->x, M1);
            apply(&b, s->y, M2);
        }
        a = product(&a, &a, M1);
        b = product(&b, &b, M2);
    }
}

static struct one seeded(uint64_t seed)
{
    uint64_t a = (uint32_t)seed ^ 0x55555555u, b = (uint32_t)(seed >> 32) ^ 0xaaaaaaaau;
    struct one s = {{FIRST, FIRST, FIRST}, {FIRST, FIRST, FIRST}};
    for (int i = 0; seed && i < 3; i++) {
        s.x[i] = (uint32_t)((i == 1 ? b : a) * FIRST % M1);
        s.y[i] = (uint32_t)((i == 1 ? a : b) * FIRST % M2);
    }
    return s;
}

static size_t strands_of(curandOrdering_t ordering)
{
    return ordering == CURAND_ORDERING_PSEUDO_LEGACY    ? STRANDS_LEGACY
           : ordering == CURAND_ORDERING_PSEUDO_DYNAMIC ? STRANDS_DYNAMIC
                                                        : STRANDS;
}

static bool start(struct engine *e)
{
    e->strands = strands_of(e->options.ordering);
    const size_t turn = e->options.offset % e->strands;
    struct one *all = malloc(e->strands * sizeof *all), next = seeded(e->options.seed), after;
    if (!all)
        return false;
    struct matrix a = step1(), b = step2();
    for (int i = 0; i < LOG_DISTANCE; i++) {
        a = product(&a, &a, M1);
        b = product(&b, &b, M2);
    }
    skip(&next, e->options.offset / e->strands);
    for (size_t i = 0; i < e->strands; i++) {
        after = next;
        if (i < turn)
            skip(&after, 1);
        all[i] = after;
        apply(&a, next.x, M1);
        apply(&b, next.y, M2);
    }
    e->state = all;
    return true;
}

static void end(struct engine *e)
{
    free(e->state);
}

static void next(struct engine *e, uint64_t round, size_t first, size_t count, uint32_t *to)
{
    (void)round;
    struct one *s = (struct one *)e->state + first;
    for (size_t i = 0; i < count; i++, s++) {
        uint32_t p = (uint32_t)((A12 * s->x[1] + A13 * (M1 - s->x[0])) % M1),
                 q = (uint32_t)((A21 * s->y[2] + A23 * (M2 - s->y[0])) % M2);
        s->x[0] = s->x[1];
        s->x[1] = s->x[2];
        s->x[2] = p;
        s->y[0] = s->y[1];
        s->y[1] = s->y[2];
        s->y[2] = q;
        to[i] = p > q ? p - q : (uint32_t)(p + M1 - q);
    }
}

const struct engine_kind mrg32k3a_kind = {OF_MRG, start, end, .next = next};
