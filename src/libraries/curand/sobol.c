/* Sobol's sequences by the direction numbers of Joe and Kuo (scripts/pack-sobol), of 32 and of 64 bits, in the order of Gray's code; and scrambled.
 * A draw has all numbers of the first dimension, then those of the next. */
#include "libraries/curand/sobol.h"
#include "libraries/curand/engine.h"

#include <stdlib.h>
#include <string.h>

__asm__(".section .rodata\n"
        "joe_kuo:\n"
        ".incbin \"" JOE_KUO "\"\n"
        "joe_kuo_end:\n"
        ".previous\n");
extern const unsigned char joe_kuo[], joe_kuo_end[];

/* ---- direction numbers ---- */

struct bits {
    const unsigned char *at;
    size_t n; /* that have been taken */
};

static uint32_t take(struct bits *b, unsigned width)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < width; i++, b->n++)
        value |= (uint32_t)(b->at[b->n / 8] >> b->n % 8 & 1) << i;
    return value;
}

/* A dimension's vectors of 64 bits (Joe and Kuo, "Notes on generating Sobol sequences"): the upper halves are those of 32. */
static void make_vectors(unsigned degree, struct bits *b, uint64_t v[64])
{
    uint32_t polynomial = take(b, degree - 1);
    for (unsigned k = 0; k < degree; k++)
        v[k] = (uint64_t)(take(b, k) << 1 | 1) << (63 - k);
    for (unsigned k = degree; k < 64; k++) {
        v[k] = v[k - degree] ^ v[k - degree] >> degree;
        for (unsigned i = 1; i < degree; i++)
            if (polynomial >> (degree - 1 - i) & 1)
                v[k] ^= v[k - i];
    }
}

uint64_t (*sobol_vectors(size_t dimensions))[64]
{
    uint64_t(*v)[64] = malloc(dimensions * sizeof *v);
    uint32_t degrees, of_degree;
    memcpy(&degrees, joe_kuo, sizeof degrees);
    struct bits b = {joe_kuo + sizeof degrees * (1 + degrees), 0};
    if (!v)
        return NULL;
    for (int k = 0; k < 64; k++)
        v[0][k] = 1ull << (63 - k);
    size_t d = 1;
    for (uint32_t degree = 1; degree <= degrees; degree++) {
        memcpy(&of_degree, joe_kuo + sizeof degrees * degree, sizeof of_degree);
        for (uint32_t i = 0; i < of_degree && d < dimensions; i++)
            make_vectors(degree, &b, v[d++]);
    }
    return v;
}

/* ---- scrambling: each vector keeps its leading bit, what follows is mixed (Hong and Hickernell, "Algorithm 823", ACM TOMS 29) ---- */

static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static const struct {
    uint32_t constant, v[32];
} known32[] = {
#define SCRAMBLED32(constant, ...) {constant, {__VA_ARGS__}},
#include "libraries/curand/scrambled.def"
#undef SCRAMBLED32
};
static const struct {
    uint64_t constant, v[64];
} known64[] = {
#define SCRAMBLED64(constant, ...) {constant, {__VA_ARGS__}},
#include "libraries/curand/scrambled.def"
#undef SCRAMBLED64
};

uint64_t sobol_scramble(size_t dimension, unsigned width, uint64_t v[64])
{
    if (width == 32 && dimension < sizeof known32 / sizeof *known32) {
        for (int k = 0; k < 32; k++)
            v[k] = (uint64_t)known32[dimension].v[k] << 32;
        return (uint64_t)known32[dimension].constant << 32;
    }
    if (width == 64 && dimension < sizeof known64 / sizeof *known64) {
        memcpy(v, known64[dimension].v, sizeof known64[dimension].v);
        return known64[dimension].constant;
    }
    uint64_t column[64], seed = dimension * 128 + width; /* of a lower triangular matrix */
    for (unsigned i = 0; i < 64; i++)
        column[i] = 1ull << (63 - i) | (mixed(seed + i) & ((1ull << (63 - i)) - 1));
    for (unsigned k = 0; k < 64; k++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < 64; i++)
            sum ^= -(v[k] >> (63 - i) & 1) & column[i];
        v[k] = sum;
    }
    return mixed(seed + 64);
}

/* ---- the engine ---- */

struct sobol {
    uint64_t *constants;
    uint64_t (*vectors)[64];
};

static void end(struct engine *e)
{
    struct sobol *s = e->state;
    free(s->vectors);
    free(s->constants);
    free(s);
}

static bool start_of_width(struct engine *e, unsigned width, bool scrambled)
{
    struct sobol *s = e->state = calloc(1, sizeof *s);
    unsigned n = e->options.dimensions;
    if (!s)
        return false;
    s->vectors = sobol_vectors(n);
    s->constants = calloc(n, sizeof *s->constants);
    if (!s->vectors || !s->constants) {
        end(e);
        return false;
    }
    for (unsigned d = 0; scrambled && d < n; d++)
        s->constants[d] = sobol_scramble(d, width, s->vectors[d]);
    e->position = e->options.offset;
    return true;
}

static bool start32(struct engine *e)
{
    return start_of_width(e, 32, e->options.type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32);
}

static bool start64(struct engine *e)
{
    return start_of_width(e, 64, e->options.type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64);
}

static uint64_t point(const uint64_t v[64], uint64_t constant, uint64_t position)
{
    uint64_t x = constant;
    for (uint64_t gray = position ^ position >> 1; gray; gray &= gray - 1)
        x ^= v[__builtin_ctzll(gray)];
    return x;
}

/* Numbers of the draw that may be in several dimensions. */
static void fill(struct engine *e, const struct draw *d, size_t first, size_t count, uint64_t *to)
{
    const struct sobol *s = e->state;
    size_t points = d->n / e->options.dimensions;
    for (size_t i = 0; i < count;) {
        size_t dimension = (first + i) / points, left = points - (first + i) % points;
        uint64_t p = e->position + (first + i) % points;
        const uint64_t *v = s->vectors[dimension];
        uint64_t x = point(v, s->constants[dimension], p);
        for (left = left < count - i ? left : count - i; left; left--, p++) {
            to[i++] = x;
            x ^= v[__builtin_ctzll(~p)];
        }
    }
}

const struct engine_kind sobol32_kind = {OF_WORDS, start32, end, .fill = fill};
const struct engine_kind sobol64_kind = {OF_WIDE, start64, end, .fill = fill};
