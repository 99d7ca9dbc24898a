/* Reads of textures; see sample.h. */
#include "texture/sample.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/sem.h"

/* ---- coordinates ---- */

enum { FRACTION_BITS = 8, ONE = 1 << FRACTION_BITS };

/* A coordinate in texels: a normalised one is cut down to a multiple of 2^-21 and multiplied by the
 * size. From MOST on a float is an even number, which is 0 to those that repeat; what is no number,
 * or a subnormal one, is 0. */
static double scaled(float x, uint32_t n, bool normalized, unsigned mode)
{
    static const double MOST = 1 << 24, STEPS = 1 << 21;
    bool repeats = mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR;
    if (x != x || fabsf(x) < FLT_MIN || (repeats && fabs((double)x) >= MOST))
        return 0;
    double v = x > MOST ? MOST : x < -MOST ? -MOST : (double)x;
    return normalized ? floor(v * STEPS) / STEPS * n : v;
}

/* The index of a texel by the address mode, which acts on it and not on the coordinate; -1: the
 * border. */
static int64_t addressed(int64_t i, uint32_t n, unsigned mode)
{
    int64_t size = n;
    switch (mode) {
    case ADDRESS_WRAP: i %= size; return i < 0 ? i + size : i;
    case ADDRESS_MIRROR:
        i %= 2 * size;
        i = i < 0 ? i + 2 * size : i;
        return i < size ? i : 2 * size - 1 - i;
    case ADDRESS_CLAMP: return i < 0 ? 0 : i >= size ? size - 1 : i;
    case ADDRESS_SEAMS: return i;
    default: return i < 0 || i >= size ? -1 : i;
    }
}

/* Along one dimension: the two texels that are mixed, and how much of the second, in 1/256. */
struct along {
    int64_t index[2];
    int fraction;
};

static struct along along_nearest(double x, uint32_t n, unsigned mode)
{
    int64_t i = addressed((int64_t)floor(x), n, mode);
    return (struct along){{i, i}, 0};
}

/* To the nearest 1/256, halves up. */
static struct along along_linear(double x, int32_t offset, uint32_t n, unsigned mode)
{
    int64_t fixed = (int64_t)floor(x * ONE + 0.5) - ONE / 2, i = (fixed >> FRACTION_BITS) + offset;
    struct along a = {{addressed(i, n, mode), addressed(i + 1, n, mode)}, (int)(fixed & (ONE - 1))};
    if (mode == ADDRESS_CLAMP && a.index[0] == a.index[1])
        a.fraction = 0;
    return a;
}

/* Weights in 1/256 of four texels, in the order x + 2 y. Alone they are 256 together; where two
 * slices or two levels are mixed, `part` of one of them. */
static void weigh(const struct along at[2], int part, bool alone, int weights[4])
{
    int a = at[0].fraction, b = at[1].fraction;
    if (alone) {
        int both = (a * b + ONE / 2) >> FRACTION_BITS;
        weights[3] = both;
        weights[1] = a - both;
        weights[2] = b - both;
        weights[0] = ONE - a - b + both;
        return;
    }
    int q1 = (a * part + 128) >> FRACTION_BITS, q0 = ((ONE - a) * part + 127) >> FRACTION_BITS;
    int u1 = (q1 * b + 128) >> FRACTION_BITS, u0 = (q0 * b + 127) >> FRACTION_BITS;
    weights[0] = q0 - u0;
    weights[1] = q1 - u1;
    weights[2] = u0;
    weights[3] = u1;
}

/* ---- texels ---- */

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

/* Reads are of what other threads may write at the same time: each channel is one load. */
static uint32_t channel_at(const struct texel_format *f, uint64_t at, unsigned k)
{
    const uint8_t *p = (const uint8_t *)(uintptr_t)at + (size_t)k * f->channel_bytes;
    uint8_t b;
    uint16_t h;
    uint32_t w;
    switch (f->channel_bytes) {
    case 1: memcpy(&b, p, 1); return b;
    case 2: memcpy(&h, p, 2); return h;
    default: memcpy(&w, p, 4); return w;
    }
}

/* How channels are mixed. */
enum domain {
    DOMAIN_RAW, /* integers as they are */
    DOMAIN_FRACTION,
    DOMAIN_FLOAT,
};

static enum domain domain_of(const struct texture *t, const struct sampler *s)
{
    const struct texel_format *f = &t->format;
    if (texel_is_float(f))
        return DOMAIN_FLOAT;
    return f->channel_bytes < 4 && (f->normalized || !s->as_integer) ? DOMAIN_FRACTION : DOMAIN_RAW;
}

bool texture_gives_floats(const struct texture *t, const struct sampler *s)
{
    return domain_of(t, s) != DOMAIN_RAW;
}

enum { UNORM = 65535, SNORM = 32767 };

/* A fraction in 1/65535 or 1/32767; bytes with a sign stay in 1/127. */
static int32_t fraction_of(const struct texel_format *f, uint32_t v)
{
    switch ((enum texel_type)f->type) {
    case TEXEL_U8: return (int32_t)(v * 257);
    case TEXEL_U16: return (int32_t)v;
    case TEXEL_S8: return (int8_t)v;
    default: return (int16_t)v;
    }
}

/* The same as a float, without filter. */
static float real_of(const struct texel_format *f, uint32_t v)
{
    int32_t x = fraction_of(f, v), most = f->type == TEXEL_S8 ? 127 : texel_is_signed(f) ? SNORM : UNORM;
    return (float)(x < -most ? -most : x) / (float)most;
}

static uint32_t raw_of(const struct texel_format *f, uint32_t v)
{
    switch ((enum texel_type)f->type) {
    case TEXEL_S8: return (uint32_t)(int8_t)v;
    case TEXEL_S16: return (uint32_t)(int16_t)v;
    default: return v;
    }
}

static float float_of(const struct texel_format *f, uint32_t v)
{
    float x;
    if (f->type == TEXEL_F16)
        return f32_of_f16((uint16_t)v);
    memcpy(&x, &v, 4);
    return x;
}

/* A texel of some level, or the border. */
struct texel {
    uint64_t at; /* 0: the border */
};

/* The nearest of `most` steps to v, of which as many bits count as an H200 looks at; what lies
 * between two is the lower one's. */
static int32_t nearest_fraction(double v, double most, unsigned bits)
{
    double steps = trunc(fabs(v) * (1 << bits)) * most / (1 << bits), nearest = ceil(steps - .5);
    return (int32_t)(v < 0 ? -nearest : nearest);
}

/* Colours of sRGB are bytes; the second and the fourth channel are no colours. */
static bool is_srgb(const struct texture *t, const struct sampler *s, unsigned k)
{
    return s->srgb && k < 3 && (k == 0 || t->format.channels > 2) && t->format.type == TEXEL_U8 &&
           domain_of(t, s) == DOMAIN_FRACTION;
}

/* IEC 61966-2-1. */
static double srgb_of_linear(double v)
{
    return v <= .0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - .055;
}

/* A border's channel as the format would hold it: integers that are read as they are stand in the
 * bits of the number. */
static uint32_t border_of(const struct texture *t, const struct sampler *s, unsigned k)
{
    const struct texel_format *f = &t->format;
    double most = (1u << (8 * f->channel_bytes - texel_is_signed(f)) % 32) - 1.0, least = texel_is_signed(f) ? -1 : 0;
    float v = s->border[k];
    if (f->type == TEXEL_F16)
        return f16_of_f32(v, RND_rz);
    if (domain_of(t, s) != DOMAIN_FRACTION)
        return f->channel_bytes == 4 ? bits_of(v) : bits_of(v) & ((1u << 8 * f->channel_bytes) - 1);
    double limited = v != v ? 0 : v > 1 ? 1 : v > least ? v : least;
    if (is_srgb(t, s, k))
        return (uint32_t)floor(srgb_of_linear(limited) * most + .5);
    return (uint32_t)nearest_fraction(limited, most, 8 * f->channel_bytes - texel_is_signed(f) + 4);
}

/* ---- filters ---- */

/* A texel and the exponent that it is aligned by. */
struct aligned {
    double value;
    int exponent;
};

static struct aligned aligned_of(double v)
{
    int e;
    frexp(v, &e);
    return (struct aligned){v, e - 1};
}

/* By an H200's table: the upper half of an f32. Some stand in the filter as if their exponent was
 * one more; they have the sign's bit. */
static struct aligned linear_of_srgb(uint8_t v)
{
    static const uint16_t table[256] = {
#include "texture/srgb.def"
    };
    uint32_t bits = (uint32_t)(table[v] & 0x7fff) << 16;
    struct aligned x = aligned_of(f32_of(bits));
    x.exponent += table[v] >> 15;
    return x;
}

/* The sum of weights and values to the nearest, halves up. */
static float mix_fractions(const struct texel_format *f, unsigned n, const int32_t *v, const int *weights)
{
    int64_t sum = 0;
    for (unsigned k = 0; k < n; k++)
        sum += (int64_t)v[k] * weights[k];
    int64_t nearest = (sum + ONE / 2) >> FRACTION_BITS;
    if (f->type == TEXEL_S8) /* times 32767 / 127, to eighths */
        nearest = (8 * sum + (sum >> 4) + (sum >> 12) + 4) >> 3;
    nearest = nearest < -SNORM ? -SNORM : nearest;
    return (float)nearest / (float)(texel_is_signed(f) ? SNORM : UNORM);
}

/* The same of integers as they are; those of 32 bits are rounded down. */
static uint32_t mix_integers(const struct texel_format *f, unsigned n, const int64_t *v, const int *weights)
{
    int64_t sum = f->channel_bytes < 4 ? ONE / 2 : 0;
    for (unsigned k = 0; k < n; k++)
        sum += v[k] * weights[k];
    return (uint32_t)(sum >> FRACTION_BITS);
}

/* How floats are mixed, by format. */
struct precision {
    /* Bits behind the leading one of the largest texel of a slice that has a weight: the others
     * are cut off, toward zero. */
    int guard;
    int bits;  /* of the result, to the nearest, halves away from zero */
    int least; /* the exponent of the smallest normal result: there are fewer bits below */
};

static struct precision precision_of(const struct texel_format *f, bool srgb)
{
    static const struct precision f32 = {27, 24, -1000}, f16 = {14, 11, -14}, from_srgb = {7, 11, -14};
    return srgb ? from_srgb : f->type == TEXEL_F16 ? f16 : f32;
}

/* The exponent of the largest of n that has a weight; NO_EXPONENT: all are 0. */
enum { NO_EXPONENT = INT32_MIN };
static int largest_of(unsigned n, const struct aligned *v, const int *weights)
{
    int top = NO_EXPONENT;
    for (unsigned k = 0; k < n; k++)
        if (v[k].value != 0 && weights[k] && v[k].exponent > top)
            top = v[k].exponent;
    return top;
}

/* Sums of slices are cut down, toward minus infinity, to so many bits more than texels are, before
 * they are added: behind the multiple of 4 that is the largest texel's exponent or comes next. */
enum { SLICE_BITS = 11, SHIFT = 4 };

static int next_shift(int exponent)
{
    int rest = ((exponent % SHIFT) + SHIFT) % SHIFT;
    return rest ? exponent + SHIFT - rest : exponent;
}

/* What the texels that a filter looks at are that no sum of theirs is: NaN, an
 * infinity, or only zeros with the sign. It looks at those along whose dimensions it
 * mixes, even where their weight is 0. */
static bool find_special(unsigned n, const struct aligned *v, unsigned seen, double *special)
{
    bool nan = false, up = false, down = false, below = true;
    for (unsigned k = 0; k < n; k++)
        if (seen >> k & 1) {
            double x = v[k].value;
            nan |= isnan(x);
            up |= isinf(x) && x > 0;
            down |= isinf(x) && x < 0;
            below &= x == 0 && signbit(x);
        }
    *special = nan || (up && down) ? NAN : up ? INFINITY : down ? -INFINITY : -0.0;
    return nan || up || down || below;
}

static double mix_floats(unsigned slices, const struct aligned *v, const int *weights, unsigned seen,
                         struct precision p)
{
    double sum = 0, special;
    if (find_special(4 * slices, v, seen, &special))
        return special;
    int top = largest_of(4 * slices, v, weights);
    if (top == NO_EXPONENT)
        return 0;
    double least = ldexp(1, next_shift(top) - p.guard - SLICE_BITS);
    for (unsigned s = 0; s < slices; s++, v += 4, weights += 4) {
        double part = 0;
        int own = largest_of(4, v, weights);
        for (unsigned k = 0; k < 4 && own != NO_EXPONENT; k++)
            part += weights[k] ? trunc(ldexp(v[k].value, p.guard - own)) * weights[k] : 0;
        sum += slices == 1 ? ldexp(part, own - p.guard - FRACTION_BITS)
                           : floor(ldexp(part, own - p.guard - FRACTION_BITS) / least) * least;
    }
    int e;
    frexp(sum, &e);
    e = e - 1 < p.least ? p.least + 1 : e;
    double unit = ldexp(1, e - p.bits), rounded = floor(fabs(sum) / unit + 0.5) * unit;
    rounded = p.bits == FLT_MANT_DIG && rounded < FLT_MIN ? 0 : rounded;
    return sum < 0 ? -rounded : rounded;
}

static void read_nearest(const struct texture *t, const struct sampler *s, struct texel x, uint32_t out[4])
{
    enum domain d = domain_of(t, s);
    const struct texel_format *f = &t->format;
    for (unsigned k = 0; k < 4; k++) {
        uint32_t v = k >= f->channels ? 0 : x.at ? channel_at(f, x.at, k) : border_of(t, s, k);
        if (k >= f->channels)
            out[k] = 0;
        else if (is_srgb(t, s, k))
            out[k] = bits_of((float)linear_of_srgb((uint8_t)v).value);
        else if (d == DOMAIN_RAW)
            out[k] = raw_of(f, v);
        else
            out[k] = bits_of(d == DOMAIN_FLOAT ? float_of(f, v) : real_of(f, v));
    }
}

/* NaN is the format's own. */
static uint32_t mixed_bits(const struct texel_format *f, double v)
{
    return !isnan(v) ? bits_of((float)v) : f->type == TEXEL_F16 ? 0x7fffe000 : 0x7fffffff;
}

static void read_linear(const struct texture *t, const struct sampler *s, unsigned n, const struct texel *x,
                        const int *weights, unsigned seen, uint32_t out[4])
{
    enum domain d = domain_of(t, s);
    const struct texel_format *f = &t->format;
    for (unsigned k = 0; k < 4; k++) {
        int32_t fractions[16];
        int64_t integers[16];
        struct aligned floats[16];
        if (k >= f->channels) {
            out[k] = 0;
            continue;
        }
        bool srgb = is_srgb(t, s, k), by_float = d == DOMAIN_FLOAT || srgb;
        for (unsigned i = 0; i < n; i++) {
            uint32_t v = x[i].at ? channel_at(f, x[i].at, k) : border_of(t, s, k);
            if (srgb)
                floats[i] = linear_of_srgb((uint8_t)v);
            else if (by_float)
                floats[i] = aligned_of(f32_flush(float_of(f, v), f->type != TEXEL_F16));
            else if (d == DOMAIN_RAW)
                integers[i] = texel_is_signed(f) ? (int64_t)(int32_t)raw_of(f, v) : raw_of(f, v);
            else
                fractions[i] = fraction_of(f, v);
        }
        out[k] = d == DOMAIN_RAW ? mix_integers(f, n, integers, weights)
                 : by_float      ? mixed_bits(f, mix_floats(n / 4, floats, weights, seen, precision_of(f, srgb)))
                                 : bits_of(mix_fractions(f, n, fractions, weights));
    }
}

/* ---- where texels are ---- */

/* Along which a filter mixes; those of a cube are pictures. */
static unsigned texture_dims(const struct texture *t)
{
    return shape_is_cube(t->shape) ? 2 : shape_coordinates(t->shape);
}

static struct texel texel_of(const struct texture *t, const struct level *l, const struct texture_at *at, int64_t x,
                             int64_t y, int64_t z)
{
    if (x < 0 || y < 0 || z < 0)
        return (struct texel){0};
    uint64_t from = l->start + (uint64_t)z * l->slice + (uint64_t)y * l->pitch + (uint64_t)x * t->format.bytes;
    if (at->reads)
        at->reads->at[at->reads->n++] = from;
    return (struct texel){from + at->shift};
}

/* By integers there is no sampler: what is outside is 0. Arrays of one dimension have no such reads
 * (recorded). */
static void fetch_level(const struct texture *t, const struct sampler *s, const struct level *l,
                        const struct texture_at *at, uint32_t out[4])
{
    int64_t x[3] = {0};
    unsigned dims = texture_dims(t);
    bool inside = t->shape != SHAPE_1D;
    const uint32_t sizes[3] = {l->width, l->height, l->depth};
    for (unsigned d = 0; d < dims; d++) {
        x[d] = (int64_t)at->at.i[d] + at->offset[d];
        inside &= x[d] >= 0 && x[d] < sizes[d];
    }
    if (t->shape == SHAPE_LAYERED_1D || t->shape == SHAPE_LAYERED_2D) {
        x[2] = at->layer;
        inside &= at->layer < l->depth;
    }
    memset(out, 0, 16);
    if (inside)
        read_nearest(t, s, texel_of(t, l, at, x[0], x[1], x[2]), out);
}

static void find_along(const struct texture *t, const struct sampler *s, bool linear, const struct level *l,
                       const struct texture_at *at, struct along a[3])
{
    const uint32_t sizes[3] = {l->width, l->height, l->depth};
    unsigned dims = texture_dims(t);
    bool one_row = t->shape == SHAPE_LAYERED_1D;
    for (unsigned d = 0; d < 3; d++) {
        double x = d < dims ? scaled(at->at.f[d], sizes[d], s->normalized, s->address[d]) : 0;
        if (d >= 2 && dims < 3)
            a[d] = (struct along){0};
        else if (d >= dims && one_row)
            a[d] = (struct along){0};
        else if (linear)
            a[d] = along_linear(x, at->offset[d], sizes[d], s->address[d]);
        else
            a[d] = along_nearest(x + at->offset[d], sizes[d], s->address[d]);
    }
    if (shape_is_layered(t->shape)) {
        int64_t layer = at->layer >= l->depth ? l->depth - 1 : at->layer;
        a[2] = (struct along){{layer, layer}, 0};
    }
}

/* The texels that a filter mixes: four of each slice, of one or two levels. */
enum { MOST_SLICES = 4 };
struct footprint {
    struct texel x[4 * MOST_SLICES];
    int weights[4 * MOST_SLICES];
    unsigned slices, seen; /* bits of texels: find_special() */
};

/* Adds those of a level, of which `part` is taken in 1/256. */
/* A place on a face, in halves of a texel from its middle, as a direction (x, y, z), and back. */
static void direction_of(unsigned face, int64_t s, int64_t t, int64_t major, int64_t v[3])
{
    switch (face) {
    case 0: v[0] = major, v[1] = -t, v[2] = -s; break;
    case 1: v[0] = -major, v[1] = -t, v[2] = s; break;
    case 2: v[0] = s, v[1] = major, v[2] = t; break;
    case 3: v[0] = s, v[1] = -major, v[2] = -t; break;
    case 4: v[0] = s, v[1] = -t, v[2] = major; break;
    default: v[0] = -s, v[1] = -t, v[2] = -major; break;
    }
}

static unsigned face_of(const int64_t v[3], int64_t major, int64_t *s, int64_t *t)
{
    unsigned axis = llabs(v[2]) == major ? 2 : llabs(v[1]) == major ? 1 : 0, face = 2 * axis + (v[axis] < 0);
    switch (face) {
    case 0: *s = -v[2], *t = -v[1]; break;
    case 1: *s = v[2], *t = -v[1]; break;
    case 2: *s = v[0], *t = v[2]; break;
    case 3: *s = v[0], *t = -v[2]; break;
    case 4: *s = v[0], *t = -v[1]; break;
    default: *s = -v[0], *t = -v[1]; break;
    }
    return face;
}

/* A texel beside an edge of a face is the nearest one of the face that meets it there. */
static void cross_seam(int64_t n, int64_t *x, int64_t *y, int64_t *layer)
{
    int64_t v[3], s = 2 * *x + 1 - n, t = 2 * *y + 1 - n, major = n;
    if (*x >= 0 && *x < n && *y >= 0 && *y < n)
        return;
    if (llabs(s) > n) {
        s = s < 0 ? -n : n;
        major = n - 1;
    } else {
        t = t < 0 ? -n : n;
        major = n - 1;
    }
    direction_of((unsigned)(*layer % 6), s, t, major, v);
    *layer = *layer / 6 * 6 + face_of(v, n, &s, &t);
    *x = (s + n - 1) / 2;
    *y = (t + n - 1) / 2;
}

/* At a cube's corner three faces meet: the fourth texel's weight is theirs. */
static void share_corner(int weights[4], unsigned corner)
{
    int each = (weights[corner] + 1) / 3, rest = weights[corner] - 2 * each;
    for (unsigned i = 0; i < 4; i++)
        weights[i] += i == 3 - corner ? rest : each;
    weights[corner] = 0;
}

static void add_level(struct footprint *f, const struct texture *t, const struct sampler *s, const struct level *l,
                      const struct texture_at *at, int part)
{
    struct along a[3];
    find_along(t, s, s->linear, l, at, a);
    unsigned slices = s->linear && texture_dims(t) == 3 ? 2 : 1;
    for (unsigned z = 0; z < slices; z++) {
        unsigned first = 4 * f->slices++;
        int share =
            slices == 1 ? part : ((z ? a[2].fraction : ONE - a[2].fraction) * part + (z ? 127 : 128)) >> FRACTION_BITS;
        weigh(a, share, slices == 1 && part == ONE, &f->weights[first]);
        for (unsigned i = 0; i < 4; i++) {
            int64_t x = a[0].index[i & 1], y = a[1].index[i >> 1], layer = a[2].index[z], n = l->width;
            bool seen = (!(i & 1) || a[0].fraction) && (!(i >> 1) || a[1].fraction) && (!z || a[2].fraction);
            f->seen |= (unsigned)seen << (first + i);
            if (s->address[0] == ADDRESS_SEAMS && s->linear) {
                if ((x < 0 || x >= n) && (y < 0 || y >= n)) {
                    share_corner(&f->weights[first], i);
                    f->seen &= ~(1u << (first + i));
                    x = x < 0 ? 0 : x >= n ? n - 1 : x;
                    y = y < 0 ? 0 : y >= n ? n - 1 : y;
                }
                cross_seam(n, &x, &y, &layer);
            }
            f->x[first + i] = texel_of(t, l, at, x, y, layer);
        }
    }
}

/* ---- faces of cubes ---- */

/* From -1 to 1, to 0 to 1. */
static float place_on_face(double v)
{
    return (float)(trunc((v + 1) * (1 << 20)) / (1 << 21));
}

static float nan_as_zero(float v)
{
    return v == v ? v : 0;
}

/* NaN is less than all numbers. */
static float size_of(float v)
{
    return v == v ? fabsf(v) : -1;
}

/* A direction becomes a place on a face, and the face. ptxas makes the division by the largest part
 * a product with its approximate reciprocal. A product that is NaN counts as 0, and its axis is
 * taken last; of the direction (0, 0, 0) all are, which is face 4. */
static void find_face(const float v[3], float at[2], unsigned *face)
{
    float most = fmaxf(fmaxf(fabsf(v[0]), fabsf(v[1])), fabsf(v[2])), part = mufu_rcp(most);
    float ax = size_of(v[0] * part), ay = size_of(v[1] * part), az = size_of(v[2] * part), sc, tc;
    float x = nan_as_zero(v[0] * part), y = nan_as_zero(v[1] * part), z = nan_as_zero(v[2] * part);
    if (az >= ax && az >= ay) {
        *face = z < 0 ? 5 : 4;
        sc = z < 0 ? -x : x;
        tc = -y;
    } else if (ay >= ax) {
        *face = y < 0 ? 3 : 2;
        sc = x;
        tc = y < 0 ? -z : z;
    } else {
        *face = x < 0 ? 1 : 0;
        sc = x < 0 ? z : -z;
        tc = -y;
    }
    at[0] = place_on_face(sc);
    at[1] = place_on_face(tc);
}

static struct texture_at on_face(const struct texture *t, const struct texture_at *at)
{
    struct texture_at to = *at;
    unsigned face;
    find_face(at->at.f, to.at.f, &face);
    uint32_t cubes = t->levels[0].depth / 6, cube = t->shape == SHAPE_CUBE ? 0
                                                    : at->layer < cubes    ? at->layer
                                                                           : cubes - 1;
    to.layer = cube * 6 + face;
    return to;
}

/* ---- levels ---- */

/* The level in 1/256; what is less is cut off, of the instruction's and
 * of the sampler's numbers. */
static int32_t level_of(float lod)
{
    static const float MOST = 64;
    return lod > MOST     ? (int32_t)MOST * ONE
           : lod >= -MOST ? (int32_t)(lod * ONE)
           : lod < -MOST  ? -(int32_t)MOST * ONE
                          : 0;
}

static int32_t find_lod(const struct texture *t, const struct sampler *s, int32_t lod)
{
    int32_t at = lod + level_of(s->bias), most = (int32_t)(t->n_levels - 1) * ONE;
    int32_t least = level_of(s->least_level), greatest = level_of(s->most_level);
    at = at > greatest ? greatest : at;
    at = at < least ? least : at; /* it wins where it is above the other */
    return at < 0 ? 0 : at > most ? most : at;
}

/* What is read of a cube is read of a picture in layers. Where faces do not meet seamlessly, the
 * sampler's address modes hold at their edges. */
struct view {
    const struct texture *texture;
    const struct sampler *sampler;
    const struct texture_at *at;
    struct texture flat;
    struct sampler clamps;
    struct texture_at on_face;
};

static void view_make(struct view *v, const struct texture *t, const struct sampler *s, const struct texture_at *at)
{
    v->texture = t;
    v->sampler = s;
    v->at = at;
    if (!shape_is_cube(t->shape))
        return;
    v->flat = *t;
    v->flat.shape = SHAPE_LAYERED_2D;
    v->clamps = *s;
    for (int i = 0; i < 2; i++)
        v->clamps.address[i] = !s->seamless ? s->face_address[i] : s->linear ? ADDRESS_SEAMS : ADDRESS_CLAMP;
    v->clamps.normalized = true;
    v->on_face = on_face(t, at);
    v->texture = &v->flat;
    v->sampler = &v->clamps;
    v->at = &v->on_face;
}

/* Numbers of ten bits, by which an H200 finds how far texels lie apart. */
enum { TEN = 10 };

static double unit_of(double v)
{
    int e;
    frexp(v, &e);
    return ldexp(1, e - TEN);
}

static double cut(double v)
{
    return v == 0 || !isfinite(v) ? v : trunc(v / unit_of(v)) * unit_of(v);
}

/* So much of v, of ten bits, to the nearest 1/`steps` of its unit, halves up. */
static double part_of(double v, double part, int steps)
{
    return v == 0 || !isfinite(v) ? v : floor(v / unit_of(v) * part * steps + .5) / steps * unit_of(v);
}

/* The product of two numbers of ten bits. The multiplier leaves out the columns below an eighth of
 * the result's unit, and adds seven eighths. */
static double multiply_ten(double a, double b)
{
    enum { LEFT_OUT = TEN - 4, ADDED = 7 << LEFT_OUT };
    double unit = unit_of(a) * unit_of(b);
    uint32_t x = (uint32_t)(a / unit_of(a)), y = (uint32_t)(b / unit_of(b)), product = ADDED;
    for (int i = 0; i < TEN; i++)
        product += y >> i & 1 ? x << i >> LEFT_OUT << LEFT_OUT : 0;
    return cut((product >> (TEN - 1)) * unit * (1 << (TEN - 1)));
}

/* A gradient in texels. */
static double in_texels(float gradient, uint32_t size)
{
    double v = cut(gradient);
    return v == 0 || !isfinite(v) ? v : copysign(multiply_ten(fabs(v), cut(size)), v);
}

/* The lesser one is cut off one bit below the larger one's. */
static double add_ten(double a, double b)
{
    if (a == 0 || b == 0 || !isfinite(a) || !isfinite(b))
        return a + b;
    double unit = fmax(unit_of(a), unit_of(b)) / 2;
    return cut((trunc(a / unit) + trunc(b / unit)) * unit);
}

static void sort_sizes(const double v[3], double size[3])
{
    for (unsigned d = 0; d < 3; d++) {
        unsigned at = d;
        for (; at > 0 && size[at - 1] < fabs(v[d]); at--)
            size[at] = size[at - 1];
        size[at] = fabs(v[d]);
    }
}

/* The length of a vector: of its lesser components, 11/32 and 1/4 are added to the largest. */
static double length_of(const double v[3])
{
    double size[3];
    sort_sizes(v, size);
    return size[0] + part_of(size[1], 11. / 32, 4) + size[2] / 4;
}

/* 11/16 of it. */
static double shorter_length_of(const double v[3])
{
    double size[3];
    sort_sizes(v, size);
    return cut(part_of(size[0], 11. / 16, 2)) + part_of(size[1], 121. / 512, 8) + part_of(size[2], 11. / 64, 8);
}

static int32_t level_of_distance(double distance)
{
    static const uint8_t table[ONE] = {
#include "texture/log2.def"
    };
    int e;
    if (!(distance > 0))
        return INT16_MIN;
    double m = frexp(distance, &e);
    return (e - 1) * ONE + table[(int)(m * 2 * ONE) - ONE];
}

/* How far texels of level 0 lie apart: along the gradients, or along 11/16 of their sum or
 * difference, whichever is most. */
static int32_t level_of_gradients(const struct texture *t, const struct texture_at *at)
{
    const uint32_t sizes[3] = {t->levels[0].width, t->levels[0].height, t->levels[0].depth};
    double x[3] = {0}, y[3] = {0}, sum[3] = {0}, difference[3] = {0};
    for (unsigned d = 0; d < texture_dims(t); d++) {
        x[d] = in_texels(at->ddx[d], sizes[d]);
        y[d] = in_texels(at->ddy[d], sizes[d]);
        sum[d] = add_ten(x[d], y[d]);
        difference[d] = add_ten(x[d], -y[d]);
    }
    const double lengths[] = {length_of(x), length_of(y), shorter_length_of(sum), shorter_length_of(difference)};
    double most = 0;
    for (unsigned k = 0; k < 4; k++)
        most = lengths[k] > most ? lengths[k] : most;
    return level_of_distance(most);
}

void texture_sample(const struct texture *t, const struct sampler *s, bool by_integers, enum texture_lod lod,
                    const struct texture_at *at, uint32_t out[4])
{
    struct view v;
    struct footprint f;
    memset(out, 0, 16);
    if (!t->levels[0].width || !t->levels[0].height)
        return;
    if (by_integers) {
        fetch_level(t, s, &t->levels[0], at, out);
        return;
    }
    int32_t asked = lod == LOD_LEVEL ? level_of(at->lod) : lod == LOD_GRADIENTS ? level_of_gradients(t, at) : INT16_MIN;
    int32_t level = lod < LOD_LEVEL ? 0 : find_lod(t, s, asked);
    unsigned first = (unsigned)level >> FRACTION_BITS;
    int fraction = level & (ONE - 1);
    if (!s->linear_levels) {
        first += fraction >= ONE / 2;
        fraction = 0;
    }
    view_make(&v, t, s, at);
    f.slices = f.seen = 0;
    add_level(&f, v.texture, v.sampler, &t->levels[first], v.at, ONE - fraction);
    if (fraction)
        add_level(&f, v.texture, v.sampler, &t->levels[first + 1], v.at, fraction);
    if (f.slices == 1 && !s->linear)
        read_nearest(t, s, f.x[0], out);
    else
        read_linear(t, s, 4 * f.slices, f.x, f.weights, f.seen, out);
}

/* ---- gathering ---- */

/* Counterclockwise, from the lower left. */
void texture_gather(const struct texture *t, const struct sampler *s, unsigned channel, const struct texture_at *at,
                    uint32_t out[4])
{
    static const uint8_t x_of[4] = {0, 1, 1, 0}, y_of[4] = {1, 1, 0, 0};
    const struct level *l = &t->levels[0];
    struct along a[3];
    struct view v;
    view_make(&v, t, s, at);
    find_along(v.texture, v.sampler, true, l, v.at, a);
    bool raw = domain_of(t, s) == DOMAIN_RAW; /* else the filter has them, one by one */
    for (unsigned i = 0; i < 4; i++) {
        static const int alone[4] = {ONE};
        struct texel x[4] = {texel_of(t, l, at, a[0].index[x_of[i]], a[1].index[y_of[i]], a[2].index[0])};
        uint32_t texel[4];
        if (raw)
            read_nearest(t, s, x[0], texel);
        else
            read_linear(t, s, 4, x, alone, 1, texel);
        out[i] = texel[channel];
    }
}

uint32_t texel_half(uint32_t channel, bool is_float)
{
    return is_float ? f16_of_f32(f32_of(channel), RND_rn) : channel & 0xffff;
}
