/* Converts words to numbers by an engine's formulas: those of cuRAND's kernels, or of its host
 * generators. */
#include "libraries/curand/device_math.h"
#include "libraries/common/library.h"
#include "libraries/curand/engine.h"
#include "libraries/curand/host_math.h"
#include "libraries/curand/poisson.h"

/* A fused product and sum is an instruction, or a function of the C library. */
#define FUSED LIBRARY_FOR_EACH_CPU

static const double PI_2 = 6.28318530717958647692;

struct item item_of(enum formulas f, enum distribution d)
{
    bool normal = d >= NORMAL && d <= LOG_NORMAL_DOUBLE;
    bool wide = d == UNIFORM_DOUBLE || d == NORMAL_DOUBLE || d == LOG_NORMAL_DOUBLE;
    if (f == OF_PHILOX)
        return (struct item){wide ? 8 : 4, 4};
    if (f == OF_XORWOW)
        return (struct item){(normal ? 2 : 1) * (wide ? 2 : 1), normal ? 2 : 1};
    if (f == OF_MRG)
        return (struct item){normal ? 2 : 1, normal ? 2 : 1};
    return (struct item){1, 1};
}

/* ---- uniform numbers in (0, 1] ---- */

static const double MRG_NORM = 0x1.000000d10000bp-32, MRG_BITS_NORM = 0x1.000000d1006f5p0;

static inline float uniform(uint32_t x)
{
    return fmaf((float)x, 0x1p-32f, 0x1p-33f);
}

/* Uses all bits of the word, and rounds once. */
static inline float uniform_once(uint32_t x)
{
    return (float)fma((double)x, 0x1p-32, 0x1p-33);
}

/* The angle of a word, in float; the host's formula rounds the product. */
static inline float angle(uint32_t x, bool host)
{
    float turns = (float)x;
    return host ? turns * 0x1.921fb6p-30f + 0x1.921fb6p-31f : fmaf(turns, 0x1.921fb6p-30f, 0x1.921fb6p-31f);
}

/* A double from 53 bits of two words. */
static inline double uniform_double(uint32_t x, uint32_t y)
{
    return fma((double)((uint64_t)x ^ (uint64_t)y << 21), 0x1p-53, 0x1p-54);
}

static inline double uniform_mrg(uint32_t x)
{
    return x * MRG_NORM;
}

static inline double uniform_wide(uint64_t x)
{
    return fma((double)(x >> 11), 0x1p-53, 0x1p-54);
}

/* ---- normal numbers ---- */

struct pair {
    double x, y;
};

/* Box-Muller in float, with the angle in 0 to 2 pi. */
static inline struct pair pair_f32(float u, float angle, bool host)
{
    float s, c, r;
    if (host) {
        r = sqrtf(-2 * logf(u));
        s = sinf(angle);
        c = cosf(angle);
    } else {
        r = sqrtf(-2 * heddle_random_logf(u));
        s = sem_sincos_approx(angle, false);
        c = sem_sincos_approx(angle, true);
    }
    return (struct pair){r * s, r * c};
}

/* Box-Muller in double; a turn is 1. */
static inline struct pair pair_f64(double u, double turn, bool host)
{
    double s, c, r;
    if (host) {
        r = sqrt(-2 * log(u));
        s = sin(PI_2 * turn);
        c = cos(PI_2 * turn);
    } else {
        r = sqrt(-2 * heddle_random_log(u));
        heddle_random_sincospi(2 * turn, &s, &c);
    }
    return (struct pair){r * s, r * c};
}

/* By the inverse of the distribution, for the half that the word is in. */
static inline float inverse_f32(uint32_t x, bool host)
{
    bool upper = x > 0x80000000u;
    float root = upper ? 0x1.6a09e6p0f : -0x1.6a09e6p0f;
    float p = 2 * uniform(upper ? ~x : x);
    return root * (host ? (float)host_erfcinv(p) : heddle_random_erfcinvf(p));
}

static inline double inverse_f64(uint32_t x, bool host)
{
    bool upper = x > 0x80000000u;
    double root = upper ? 0x1.6a09e667f3bcdp0 : -0x1.6a09e667f3bcdp0,
           p = fma((double)(upper ? ~x : x), 0x1p-32, 0x1p-33);
    return root * (host ? host_erfcinv(p + p) : heddle_random_erfcinv(p + p));
}

static inline double inverse_wide(uint64_t x, bool host)
{
    bool upper = x > 1ull << 63;
    double root = upper ? 0x1.6a09e667f3bcdp0 : -0x1.6a09e667f3bcdp0, p = uniform_wide(upper ? ~x : x);
    return root * (host ? host_erfcinv(p + p) : heddle_random_erfcinv(p + p));
}

/* ---- to where they go ---- */

/* The destination of numbers; those before the first and behind the last are dropped. */
struct sink {
    const struct draw *d;
    ptrdiff_t at;
    bool is_mt19937; /* rounds uniform numbers once, and computes Poisson's in float */
    bool is_mtgp32;  /* computes normal numbers of the host in float, doubles included */
};

static inline void put_f32(const struct sink *s, ptrdiff_t i, float x)
{
    if ((size_t)(s->at + i) < s->d->n)
        ((float *)s->d->to)[s->at + i] = x;
}

static inline void put_f64(const struct sink *s, ptrdiff_t i, double x)
{
    if ((size_t)(s->at + i) < s->d->n)
        ((double *)s->d->to)[s->at + i] = x;
}

static inline void put_u32(const struct sink *s, ptrdiff_t i, uint32_t x)
{
    if ((size_t)(s->at + i) < s->d->n)
        ((uint32_t *)s->d->to)[s->at + i] = x;
}

static inline void put_normal_f32(const struct sink *s, ptrdiff_t i, float x, bool host)
{
    if (s->d->distribution == POISSON) {
        put_u32(s, i, poisson_of_normal(s->d->table, x, s->is_mt19937));
        return;
    }
    float y =
        host ? (float)s->d->mean + (float)s->d->deviation * x : fmaf((float)s->d->deviation, x, (float)s->d->mean);
    bool logarithm = s->d->distribution == LOG_NORMAL;
    put_f32(s, i, !logarithm ? y : host ? expf(y) : heddle_random_expf(y));
}

static inline void put_normal_f64(const struct sink *s, ptrdiff_t i, double x, bool host)
{
    double y = host ? s->d->mean + s->d->deviation * x : fma(s->d->deviation, x, s->d->mean);
    bool logarithm = s->d->distribution == LOG_NORMAL_DOUBLE;
    put_f64(s, i, !logarithm ? y : host ? exp(y) : heddle_random_exp(y));
}

/* Converts a word: the histogram uses uniform numbers at the middle of the word's interval, the
 * sums those at its end. */
static inline void put_poisson(const struct sink *s, ptrdiff_t i, uint32_t word)
{
    const struct poisson *p = s->d->table;
    put_u32(s, i,
            p->way == POISSON_SUMS ? poisson_of_sum(p, fma((double)word, 0x1p-32, 0x1p-32))
                                   : poisson_of_bin(p, fma((double)word, 0x1p-32, 0x1p-33)));
}

/* ---- the formulas ---- */

enum distribution draw_formula(const struct draw *d)
{
    return d->distribution == POISSON && d->table->way == POISSON_NORMAL ? NORMAL : d->distribution;
}

#define WORD(k) (w->at[i * w->item + (k) * w->word])

FUSED static void make_xorwow(const struct words *w, size_t n, const struct sink *s, bool host)
{
    enum distribution d = draw_formula(s->d);
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t p = (ptrdiff_t)i;
        if (d == BITS)
            put_u32(s, p, WORD(0));
        else if (d == UNIFORM)
            put_f32(s, p, uniform(WORD(0)));
        else if (d == UNIFORM_DOUBLE)
            put_f64(s, p, uniform_double(WORD(0), WORD(1)));
        else if (d == POISSON)
            put_poisson(s, p, WORD(0));
        else if (d == NORMAL || d == LOG_NORMAL) {
            struct pair x = pair_f32(uniform(WORD(0)), angle(WORD(1), host), host);
            put_normal_f32(s, 2 * p, (float)x.x, host);
            put_normal_f32(s, 2 * p + 1, (float)x.y, host);
        } else {
            struct pair x = pair_f64(uniform_double(WORD(0), WORD(1)), uniform_double(WORD(2), WORD(3)), host);
            put_normal_f64(s, 2 * p, x.x, host);
            put_normal_f64(s, 2 * p + 1, x.y, host);
        }
    }
}

FUSED static void make_mrg(const struct words *w, size_t n, const struct sink *s, bool host)
{
    enum distribution d = draw_formula(s->d);
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t p = (ptrdiff_t)i;
        double u = uniform_mrg(WORD(0));
        if (d == BITS)
            put_u32(s, p, (uint32_t)(WORD(0) * MRG_BITS_NORM));
        else if (d == UNIFORM)
            put_f32(s, p, (float)u);
        else if (d == UNIFORM_DOUBLE)
            put_f64(s, p, u);
        else if (d == POISSON)
            put_u32(s, p, poisson_of_bin(s->d->table, u));
        else if (d == NORMAL || d == LOG_NORMAL) {
            struct pair x = pair_f32((float)u, (float)uniform_mrg(WORD(1)) * 0x1.921fb6p2f, host);
            put_normal_f32(s, 2 * p, (float)x.x, host);
            put_normal_f32(s, 2 * p + 1, (float)x.y, host);
        } else {
            struct pair x = pair_f64(u, uniform_mrg(WORD(1)), host);
            put_normal_f64(s, 2 * p, x.x, host);
            put_normal_f64(s, 2 * p + 1, x.y, host);
        }
    }
}

/* Fours of numbers: each half from its own words. */
FUSED static void make_philox(const struct words *w, size_t n, const struct sink *s, bool host)
{
    enum distribution d = draw_formula(s->d);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 4; k++) {
            ptrdiff_t p = 4 * (ptrdiff_t)i + k;
            if (d == BITS)
                put_u32(s, p, WORD(k));
            else if (d == UNIFORM)
                put_f32(s, p, uniform(WORD(k)));
            else if (d == UNIFORM_DOUBLE)
                put_f64(s, p, uniform_double(WORD(2 * k), WORD(2 * k + 1)));
            else if (d == POISSON)
                put_poisson(s, p, WORD(k));
            else if (k % 2)
                continue;
            else if (d == NORMAL || d == LOG_NORMAL) {
                struct pair x = pair_f32(uniform(WORD(k)), angle(WORD(k + 1), host), host);
                put_normal_f32(s, p, (float)x.x, host);
                put_normal_f32(s, p + 1, (float)x.y, host);
            } else {
                struct pair x = pair_f64(uniform_double(WORD(2 * k), WORD(2 * k + 1)),
                                         uniform_double(WORD(2 * k + 2), WORD(2 * k + 3)), host);
                put_normal_f64(s, p, x.x, host);
                put_normal_f64(s, p + 1, x.y, host);
            }
        }
}

FUSED static void make_of_words(const struct words *w, size_t n, const struct sink *s, bool host)
{
    enum distribution d = draw_formula(s->d);
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t p = (ptrdiff_t)i;
        uint32_t x = WORD(0);
        if (d == BITS)
            put_u32(s, p, x);
        else if (d == UNIFORM)
            put_f32(s, p, s->is_mt19937 ? uniform_once(x) : uniform(x));
        else if (d == UNIFORM_DOUBLE)
            put_f64(s, p, fma((double)x, 0x1p-32, s->is_mt19937 ? 0x1p-33 : 0x1p-32));
        else if (d == POISSON)
            put_poisson(s, p, x);
        else if (d == NORMAL || d == LOG_NORMAL)
            put_normal_f32(s, p, inverse_f32(x, host), host);
        else
            put_normal_f64(
                s, p, host && s->is_mtgp32 && d == NORMAL_DOUBLE ? inverse_f32(x, host) : inverse_f64(x, host), host);
    }
}

FUSED static void make_wide(const struct words *w, size_t n, const struct sink *s, bool host)
{
    enum distribution d = draw_formula(s->d);
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t p = (ptrdiff_t)i;
        uint64_t x = w->wide[i];
        if (d == BITS_64)
            ((uint64_t *)s->d->to)[s->at + p] = x;
        else if (d == UNIFORM)
            put_f32(s, p, uniform((uint32_t)(x >> 32)));
        else if (d == UNIFORM_DOUBLE)
            put_f64(s, p, uniform_wide(x));
        else if (d == POISSON)
            put_u32(s, p,
                    s->d->table->way == POISSON_SUMS ? poisson_of_sum(s->d->table, uniform_wide(x))
                                                     : poisson_of_bin(s->d->table, uniform_wide(x)));
        else if (d == NORMAL || d == LOG_NORMAL)
            put_normal_f32(s, p, inverse_f32((uint32_t)(x >> 32), host), host);
        else
            put_normal_f64(s, p, inverse_wide(x, host), host);
    }
}

void item_make(const struct engine *e, const struct draw *d, const struct words *w, size_t items, ptrdiff_t at)
{
    curandRngType_t type = e->options.type;
    const struct sink s = {d, at, type == CURAND_RNG_PSEUDO_MT19937, type == CURAND_RNG_PSEUDO_MTGP32};
    bool host = e->options.host;
    switch (e->kind->formulas) {
    case OF_XORWOW: make_xorwow(w, items, &s, host); break;
    case OF_MRG: make_mrg(w, items, &s, host); break;
    case OF_PHILOX: make_philox(w, items, &s, host); break;
    case OF_WORDS: make_of_words(w, items, &s, host); break;
    case OF_WIDE: make_wide(w, items, &s, host); break;
    }
}
