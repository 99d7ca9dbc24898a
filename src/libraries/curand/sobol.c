/* Sobol sequences by the direction numbers of Joe and Kuo (scripts/pack-sobol), with 32 and 64
 * bits, in Gray code order; and scrambled ones. A draw has all numbers of the first dimension, then
 * those of the next. */
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
    size_t n; /* numbers already drawn */
};

static uint32_t take(struct bits *b, unsigned width)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < width; i++, b->n++)
        value |= (uint32_t)(b->at[b->n / 8] >> b->n % 8 & 1) << i;
    return value;
}

/* A dimension's vectors of 64 bits (Joe and Kuo, "Notes on generating Sobol sequences"): the upper
 * halves are those of 32. */
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

/* ---- scrambling: vectors times a lower triangular matrix of random bits, and a random constant
 * (Hong and Hickernell, "Algorithm 823", ACM TOMS 29). The original's bits are XORWOW's sequence of
 * seed 0 without its first word: the 64 rows of each dimension's matrix, then the constants; the
 * lower word of each first. ---- */

enum { SCRAMBLES_SKIPPED = 1, WORDS_OF_MATRIX = 64 * 2 };

static bool scrambling_words(uint64_t offset, size_t n, uint64_t *to)
{
    const struct engine_options o = {.type = CURAND_RNG_PSEUDO_XORWOW,
                                     .ordering = CURAND_ORDERING_PSEUDO_DEFAULT,
                                     .offset = SCRAMBLES_SKIPPED + offset};
    struct engine *xorwow = engine_new(&o);
    bool drawn =
        xorwow && engine_draw(xorwow, &(struct draw){.distribution = BITS, .to = to, .n = n, .from = o.offset});
    engine_release(xorwow);
    return drawn;
}

/* Multiplies column by column: entry (row, k) of a unit lower triangular matrix is bit 63 - k of
 * the row; digits of numbers are stored alike. */
static void multiply(const uint64_t rows[64], uint64_t v[64])
{
    for (unsigned k = 0; k < 64; k++) {
        uint64_t product = 0;
        for (unsigned row = 0; row < 64; row++) {
            uint64_t diagonal = 1ull << (63 - row), entries = (rows[row] & -diagonal) | diagonal;
            product |= -(uint64_t)__builtin_parityll(entries & v[k]) & diagonal;
        }
        v[k] = product;
    }
}

bool sobol_scramble(size_t dimensions, uint64_t (*v)[64], uint64_t *constants)
{
    uint64_t(*rows)[64] = malloc(dimensions * sizeof *rows);
    bool drawn = rows && scrambling_words(0, dimensions * WORDS_OF_MATRIX, *rows) &&
                 scrambling_words(SOBOL_DIMENSIONS * WORDS_OF_MATRIX, dimensions * 2, constants);
    for (size_t d = 0; drawn && d < dimensions; d++)
        multiply(rows[d], v[d]);
    free(rows);
    return drawn;
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

static bool start(struct engine *e)
{
    struct sobol *s = e->state = calloc(1, sizeof *s);
    unsigned n = e->options.dimensions;
    bool scrambled =
        e->options.type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 || e->options.type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
    if (!s)
        return false;
    s->vectors = sobol_vectors(n);
    s->constants = calloc(n, sizeof *s->constants);
    if (!s->vectors || !s->constants || (scrambled && !sobol_scramble(n, s->vectors, s->constants))) {
        end(e);
        return false;
    }
    return true;
}

static uint64_t point(const uint64_t v[64], uint64_t constant, uint64_t position)
{
    uint64_t x = constant;
    for (uint64_t gray = position ^ position >> 1; gray; gray &= gray - 1)
        x ^= v[__builtin_ctzll(gray)];
    return x;
}

/* Fills numbers of a draw that may span several dimensions. */
static void fill(struct engine *e, const struct draw *d, size_t first, size_t count, uint64_t *to)
{
    const struct sobol *s = e->state;
    size_t points = d->n / e->options.dimensions;
    /* On the host, the original starts a draw at the lower half of the position. */
    const bool halved = e->options.host && e->options.type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
    const uint64_t begin = halved ? (uint32_t)d->from : d->from;
    /* the sequence restarts behind it */
    const uint64_t last = e->kind == &sobol32_kind ? UINT32_MAX : UINT64_MAX;
    for (size_t i = 0; i < count;) {
        size_t dimension = (first + i) / points, left = points - (first + i) % points;
        uint64_t p = (begin + (first + i) % points) & last;
        const uint64_t *v = s->vectors[dimension];
        uint64_t x = point(v, s->constants[dimension], p);
        for (left = left < count - i ? left : count - i; left; left--, p++) {
            to[i++] = x;
            x = p == last ? s->constants[dimension] : x ^ v[__builtin_ctzll(~p)];
        }
    }
}

const struct engine_kind sobol32_kind = {OF_WORDS, start, end, .fill = fill};
const struct engine_kind sobol64_kind = {OF_WIDE, start, end, .fill = fill};
