/* XORWOW (Marsaglia, "Xorshift RNGs", with a Weyl sequence): strands are 2^67 numbers apart, or
 * have seeds of their own with CURAND_ORDERING_PSEUDO_SEEDED. Seeds and jumps are those of the
 * device API (include/cuda/curand_kernel.h). */
#include "libraries/curand/engine.h"

#include <stdlib.h>

#define __constant__ /* the tables are the device header's */
#include "cuda/heddle/xorwow_jumps.h"

enum { STRANDS = 4096, STRANDS_DYNAMIC = 2816, WEYL = 362437, SEED_STEP = 3133713 };

struct one {
    uint32_t d, v[5];
};

struct xorwow {
    uint32_t d[STRANDS], v[5][STRANDS];
};

static struct one seeded(uint64_t seed)
{
    uint32_t a = 1099087573u * ((uint32_t)seed ^ 0xaad26b49u), b = 2591861531u * ((uint32_t)(seed >> 32) ^ 0xf7dcefddu);
    return (struct one){6615241u + b + a,
                        {123456789u + a, 362436069u ^ a, 521288629u + b, 88675123u ^ b, 5783321u + a}};
}

static void step(uint32_t v[5])
{
    uint32_t t = v[0] ^ (v[0] >> 2);
    for (int i = 0; i < 4; i++)
        v[i] = v[i + 1];
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}

/* The sum of the states, step by step, whose bits are set in the polynomial. */
static void jump(uint32_t v[5], const unsigned *polynomial)
{
    uint32_t sum[5] = {0};
    for (int bit = 0; bit < 160; bit++, step(v))
        for (int i = 0; i < 5; i++)
            sum[i] ^= -(polynomial[bit / 32] >> bit % 32 & 1) & v[i];
    for (int i = 0; i < 5; i++)
        v[i] = sum[i];
}

static void skip(struct one *s, uint64_t n)
{
    for (int i = 0; n >> i; i++)
        if (n >> i & 1)
            jump(s->v, heddle_xorwow_offset[i]);
    s->d += WEYL * (uint32_t)n;
}

static bool start(struct engine *e)
{
    struct xorwow *x = malloc(sizeof *x);
    if (!x)
        return false;
    const struct engine_options *o = &e->options;
    bool own_seeds = o->ordering == CURAND_ORDERING_PSEUDO_SEEDED;
    e->strands = o->ordering == CURAND_ORDERING_PSEUDO_DYNAMIC ? STRANDS_DYNAMIC : STRANDS;
    const size_t turn = o->offset % e->strands;
    struct one next = seeded(o->seed);
    for (size_t i = 0; i < e->strands; i++) {
        struct one s = own_seeds ? seeded(o->seed + i * SEED_STEP) : next;
        jump(next.v, heddle_xorwow_sequence[0]);
        skip(&s, o->offset / e->strands + (i < turn));
        x->d[i] = s.d;
        for (int k = 0; k < 5; k++)
            x->v[k][i] = s.v[k];
    }
    e->state = x;
    return true;
}

static void end(struct engine *e)
{
    free(e->state);
}

static void next(struct engine *e, uint64_t round, size_t first, size_t count, uint32_t *to)
{
    (void)round;
    struct xorwow *x = e->state;
    for (size_t i = 0; i < count; i++) {
        size_t s = first + i;
        uint32_t t = x->v[0][s] ^ (x->v[0][s] >> 2), last = x->v[4][s];
        x->v[0][s] = x->v[1][s];
        x->v[1][s] = x->v[2][s];
        x->v[2][s] = x->v[3][s];
        x->v[3][s] = last;
        last = (last ^ (last << 4)) ^ (t ^ (t << 1));
        x->v[4][s] = last;
        x->d[s] += WEYL;
        to[i] = last + x->d[s];
    }
}

const struct engine_kind xorwow_kind = {OF_XORWOW, start, end, .next = next};
