/* Reads of pictures, 32 lanes at a time; see pictures.h. The rules are those of sample.c, where
 * they are explained. */
#include "texture/pictures.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "isa/sem.h"

enum { FRACTION_BITS = 8, ONE = 1 << FRACTION_BITS, STEP_BITS = 21, TAPS = 4 };

/* Along one dimension: indices of the two texels, inside of the picture, and how much of the second
 * in 1/256. */
struct along {
    int32_t index[2][WARP_LANES], fraction[WARP_LANES];
};

static inline int32_t within(int32_t i, int32_t n)
{
    i = i < 0 ? 0 : i;
    return i < n ? i : n - 1;
}

/* Coordinates as places in 1/256 of a texel, of the texel that is read or of the first of two;
 * subnormal ones are 0. As pictures have at most PICTURE_MOST texels a side, f32 and integers of
 * 32 bits hold all that matters: what lies farther outside is the same texel at the edge. */

static void place_texels(const struct picture *p, const float *x, int32_t *fixed)
{
    static const float MOST = 1 << 22;
    float v[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        v[l] = x[l] == x[l] ? x[l] : 0;
        v[l] = v[l] > MOST ? MOST : v[l] < -MOST ? -MOST : v[l];
    }
    for (unsigned l = 0; l < WARP_LANES && p->linear; l++) {
        float at = v[l] * ONE, whole = floorf(at);
        fixed[l] = (int32_t)whole + (at - whole >= 0.5f) - ONE / 2;
    }
    for (unsigned l = 0; l < WARP_LANES && !p->linear; l++)
        fixed[l] = (int32_t)floorf(v[l]) * ONE;
}

/* Normalised coordinates count in 1/2^21 of the picture; those that are clamped from one picture
 * before it on, so that none is negative. */
static void place_normalized(const struct picture *p, const float *x, uint32_t size, bool wraps, int32_t *fixed)
{
    static const float STEPS = 1 << STEP_BITS, MOST = 1 << 24;
    uint32_t steps[WARP_LANES];
    int32_t before = wraps ? 0 : (int32_t)size;
    for (unsigned l = 0; l < WARP_LANES && wraps; l++) {
        float v = fabsf(x[l]) < MOST && fabsf(x[l]) >= FLT_MIN ? x[l] : 0, step = floorf(v * STEPS);
        steps[l] = (uint32_t)(int32_t)(step - floorf(step / STEPS) * STEPS);
    }
    for (unsigned l = 0; l < WARP_LANES && !wraps; l++) {
        float v = x[l] == x[l] ? x[l] : 0;
        v = v > 2 ? 2 : v < -1 ? -1 : v;
        steps[l] = (uint32_t)((int32_t)floorf(v * STEPS) + (1 << STEP_BITS));
    }
    for (unsigned l = 0; l < WARP_LANES && p->linear; l++) {
        uint64_t at = (uint64_t)steps[l] * size + (1 << (STEP_BITS - FRACTION_BITS - 1));
        fixed[l] = (int32_t)(uint32_t)(at >> (STEP_BITS - FRACTION_BITS)) - before * ONE - ONE / 2;
    }
    for (unsigned l = 0; l < WARP_LANES && !p->linear; l++) {
        uint64_t at = (uint64_t)steps[l] * size;
        fixed[l] = ((int32_t)(uint32_t)(at >> STEP_BITS) - before) * ONE;
    }
}

/* Without normalised coordinates nothing wraps. */
static void find_along(const struct picture *p, const float *x, uint32_t size, bool wraps, struct along *a)
{
    int32_t n = (int32_t)size, fixed[WARP_LANES];
    if (p->normalized)
        place_normalized(p, x, size, wraps, fixed);
    else
        place_texels(p, x, fixed);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        int32_t i = fixed[l] >> FRACTION_BITS, second = i + 1;
        i = wraps && i < 0 ? i + n : i;
        second = wraps && second >= n ? second - n : second;
        a->index[0][l] = within(i, n);
        a->index[1][l] = within(second, n);
        a->fraction[l] = fixed[l] & (ONE - 1);
    }
}

struct taps {
    const uint8_t *at[TAPS][WARP_LANES];
    int32_t weights[TAPS][WARP_LANES];
    unsigned n;
    bool whole; /* all of the first tap, in all lanes: texels are read in their middle */
};

static void find_taps(const struct picture *p, const float *x, const float *y, struct taps *t)
{
    struct along a[2];
    find_along(p, x, p->width, p->wraps[0], &a[0]);
    find_along(p, y, p->height, p->wraps[1], &a[1]);
    int32_t fractions = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        fractions |= a[0].fraction[l] | a[1].fraction[l];
    t->whole = fractions == 0;
    t->n = p->linear && (!t->whole || texel_is_float(&p->format)) ? TAPS : 1;
    for (unsigned k = 0; k < t->n; k++)
        for (unsigned l = 0; l < WARP_LANES; l++)
            t->at[k][l] = (const uint8_t *)(uintptr_t)(p->start + (uint64_t)a[1].index[k >> 1][l] * p->pitch +
                                                       (uint64_t)a[0].index[k & 1][l] * p->format.bytes);
    for (unsigned l = 0; l < WARP_LANES && p->linear; l++) {
        int32_t u = a[0].fraction[l], v = a[1].fraction[l], both = (u * v + ONE / 2) >> FRACTION_BITS;
        t->weights[0][l] = ONE - u - v + both;
        t->weights[1][l] = u - both;
        t->weights[2][l] = v - both;
        t->weights[3][l] = both;
    }
}

/* A channel of a tap, as 32 bits: of f16 as f32, of integers that are read as they are with their
 * sign. */
static void load(const struct picture *p, const uint8_t *const *at, unsigned channel, uint32_t *v)
{
    enum texel_type type = (enum texel_type)p->format.type;
    switch (p->format.channel_bytes) {
    case 1:
        for (unsigned l = 0; l < WARP_LANES; l++)
            v[l] = at[l][channel];
        break;
    case 4:
        for (unsigned l = 0; l < WARP_LANES; l++)
            memcpy(&v[l], at[l] + channel * 4, 4);
        break;
    default:
        for (unsigned l = 0; l < WARP_LANES; l++) {
            uint16_t half;
            memcpy(&half, at[l] + channel * 2, 2);
            v[l] = half;
        }
    }
    for (unsigned l = 0; l < WARP_LANES && type == TEXEL_F16; l++)
        v[l] = f32_bits(f32_of_f16((u16)v[l]));
    for (unsigned l = 0; l < WARP_LANES && type == TEXEL_S8; l++)
        v[l] = (uint32_t)(int8_t)v[l];
    for (unsigned l = 0; l < WARP_LANES && type == TEXEL_S16; l++)
        v[l] = (uint32_t)(int16_t)v[l];
}

/* Texels of four bytes are loaded once for all channels. */
static bool has_four_bytes(const struct picture *p)
{
    return p->format.channel_bytes == 1 && p->format.channels == 4;
}

static void load_words(const uint8_t *const *at, uint32_t *v)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        memcpy(&v[l], at[l], 4);
}

static void take_byte(const struct picture *p, const uint32_t *words, unsigned channel, uint32_t *v)
{
    unsigned left = 24 - 8 * channel;
    for (unsigned l = 0; l < WARP_LANES && p->format.type == TEXEL_S8; l++)
        v[l] = (uint32_t)((int32_t)(words[l] << left) >> 24);
    for (unsigned l = 0; l < WARP_LANES && p->format.type != TEXEL_S8; l++)
        v[l] = words[l] << left >> 24;
}

/* ---- filters ---- */

static void mix_fractions(const struct picture *p, const struct taps *t, uint32_t v[TAPS][WARP_LANES], uint32_t *out)
{
    int32_t factor = p->format.type == TEXEL_U8 ? 257 : 1, sums[WARP_LANES];
    float most = p->format.type == TEXEL_S16 ? 32767 : 65535;
    for (unsigned k = 0; k < t->n; k++)
        for (unsigned l = 0; l < WARP_LANES; l++)
            v[k][l] *= (uint32_t)factor;
    for (unsigned l = 0; l < WARP_LANES; l++)
        sums[l] = t->n == 1 ? (int32_t)v[0][l]
                            : ((int32_t)v[0][l] * t->weights[0][l] + (int32_t)v[1][l] * t->weights[1][l] +
                               (int32_t)v[2][l] * t->weights[2][l] + (int32_t)v[3][l] * t->weights[3][l] + ONE / 2) >>
                                  FRACTION_BITS;
    for (unsigned l = 0; l < WARP_LANES; l++)
        out[l] = f32_bits((float)(sums[l] < -32767 ? -32767 : sums[l]) / most);
}

/* 2 to the power of an exponent that a double's has. */
static inline double power(int32_t exponent)
{
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

/* Of f32's bits; 0: none that counts. */
static inline int32_t exponent_of(uint32_t v, int32_t weight)
{
    return weight ? (int32_t)(v >> 23 & 255) : 0;
}

/* Infinities, NaNs and subnormals. */
static inline uint32_t is_odd(uint32_t v)
{
    return (v & 0x7fffffff) >= 0x7f800000 || ((v & 0x7f800000) == 0 && v << 1 != 0);
}

static uint32_t lanes_of(const uint32_t odd[WARP_LANES])
{
    uint32_t lanes = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        lanes |= odd[l] << l;
    return lanes;
}

/* Floats of which the first tap is all. */
static uint32_t take_first(uint32_t v[TAPS][WARP_LANES], uint32_t *out)
{
    uint32_t odd[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        odd[l] = is_odd(v[0][l]);
        out[l] = v[0][l];
    }
    return lanes_of(odd);
}

/* A result that is no normal number of the format, from texels that are
 * none, is left to sample.c. */
static uint32_t mix_floats(const struct picture *p, const struct taps *t, uint32_t v[TAPS][WARP_LANES], uint32_t *out)
{
    bool half = p->format.type == TEXEL_F16;
    int32_t guard = half ? 14 : 27, least = half ? -14 : -126, drop = half ? 42 : 29;
    uint32_t odd[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        int32_t top = 0;
        odd[l] = 0;
        for (unsigned k = 0; k < TAPS; k++) {
            int32_t e = exponent_of(v[k][l], t->weights[k][l]);
            top = e > top ? e : top;
            odd[l] |= is_odd(v[k][l]);
        }
        double up = power(guard - (top - 127)), down = power(top - 127 - guard - FRACTION_BITS), sum = 0;
        for (unsigned k = 0; k < TAPS; k++)
            sum += trunc((double)f32_of(v[k][l]) * up) * t->weights[k][l];
        sum *= down;
        uint64_t bits;
        memcpy(&bits, &sum, 8);
        bits = (bits + (1ull << (drop - 1))) & -(1ull << drop);
        memcpy(&sum, &bits, 8);
        /* Zeros with the sign. */
        odd[l] |= sum == 0 && (v[0][l] | v[1][l] | v[2][l] | v[3][l]) >> 31;
        odd[l] |= sum != 0 && !(fabs(sum) >= power(least) && fabs(sum) < 0x1p128);
        out[l] = sum != 0 ? f32_bits((float)sum) : 0;
    }
    return lanes_of(odd);
}

static uint32_t read(const struct picture *p, const float *x, const float *y, uint32_t out[4][WARP_LANES])
{
    struct taps t;
    uint32_t words[TAPS][WARP_LANES], v[TAPS][WARP_LANES], odd = 0;
    bool bytes = has_four_bytes(p);
    find_taps(p, x, y, &t);
    for (unsigned k = 0; k < t.n && bytes; k++)
        load_words(t.at[k], words[k]);
    for (unsigned c = 0; c < 4; c++) {
        if (c >= p->format.channels) {
            memset(out[c], 0, sizeof out[c]);
            continue;
        }
        for (unsigned k = 0; k < t.n; k++)
            bytes ? take_byte(p, words[k], c, v[k]) : load(p, t.at[k], c, v[k]);
        if (p->raw || (texel_is_float(&p->format) && t.n == 1))
            memcpy(out[c], v[0], sizeof out[c]);
        else if (!texel_is_float(&p->format))
            mix_fractions(p, &t, v, out[c]);
        else if (t.whole)
            odd |= take_first(v, out[c]);
        else
            odd |= mix_floats(p, &t, v, out[c]);
    }
    return odd;
}

const struct picture_fns PICTURES_NAME = {.read = read};
