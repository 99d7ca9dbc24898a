/* Engines of random numbers: the sources of a generator, organised as on a GPU with many threads
 * ("cuRAND Library Programming Guide", 2.1). As there, the host counts positions, and says where a
 * draw begins; the generator's tasks advance the states of threads in the order of their stream. So
 * a draw in a graph begins at the same thread each time, with states that have moved on. Private to
 * this folder.
 *
 * A draw is a number of items: an item is what one GPU thread makes at a time, such as a word, a
 * uniform number, or a pair of normal ones by Box-Muller. Either the threads take turns, each with
 * its own strand, from which it takes as many words as an item needs (XORWOW, MRG32k3a, the
 * Mersenne Twisters); or with groups of four numbers (Philox); or a number depends only on its
 * position (Sobol).
 */
#ifndef HEDDLE_LIBRARIES_CURAND_ENGINE_H
#define HEDDLE_LIBRARIES_CURAND_ENGINE_H

#include "cuda/curand.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_options {
    curandRngType_t type;
    curandOrdering_t ordering;
    uint64_t seed, offset;
    unsigned dimensions; /* of a quasirandom engine */
    bool blank;          /* MTGP32's states are all zeros */
    bool host;           /* numbers are computed by the host C library's functions */
};

enum distribution {
    BITS,
    BITS_64,
    UNIFORM,
    UNIFORM_DOUBLE,
    NORMAL,
    NORMAL_DOUBLE,
    LOG_NORMAL,
    LOG_NORMAL_DOUBLE,
    POISSON
};

struct draw {
    enum distribution distribution;
    void *to;
    size_t n;
    double mean, deviation;      /* of normal numbers, or of the logarithms of log-normal ones */
    const struct poisson *table; /* for Poisson numbers */
    /* Where it begins, in steps; the engine's offset is one such place. */
    uint64_t from;
};

/* Returns it with one reference; NULL if memory is exhausted. */
struct engine *engine_new(const struct engine_options *o);
struct engine *engine_hold(struct engine *e);
void engine_release(struct engine *e); /* NULL is allowed */

/* Begins anew by the options; false if memory is exhausted. */
bool engine_restart(struct engine *e, const struct engine_options *o);
/* Draws numbers; false if memory is exhausted. */
bool engine_draw(struct engine *e, const struct draw *d);
/* The steps of a draw: items, or, where a number depends only on its position, numbers, or
 * points of a quasirandom sequence. */
uint64_t engine_steps(const struct engine_options *o, const struct draw *d);

/* Does the type exist, and support the distribution? */
bool engine_has(curandRngType_t type, enum distribution d);
/* Do normal numbers come in pairs, so that their number must be even? */
bool engine_pairs(curandRngType_t type);

/* ---- kinds of engines: what their files share ---- */

enum { MOST_WORDS = 8 }; /* per item */

/* The GPU's formulas that convert words. */
enum formulas {
    /* A uniform double from one word, normal numbers by the inverse of the distribution. */
    OF_WORDS,
    OF_XORWOW, /* a uniform double from two words, pairs of normal numbers */
    OF_MRG,    /* words are below the modulus; pairs of normal numbers */
    OF_PHILOX, /* groups of four */
    OF_WIDE,   /* 64-bit words; otherwise like OF_WORDS */
};

/* The second of a pair of normal numbers, if it is not used yet. */
struct kept {
    bool there;
    float second;
};

struct engine {
    _Atomic unsigned refs;
    pthread_mutex_t lock; /* protects what follows */
    const struct engine_kind *kind;
    struct engine_options options;
    size_t strands;
    void *state; /* state of the engine's kind */
    /* For each strand, if Poisson numbers come from pairs of normal ones; else NULL. */
    struct kept *kept;
    bool started;
};

struct engine_kind {
    enum formulas formulas;
    /* Initialises by the options, with `strands` set; false if memory is exhausted. */
    bool (*start)(struct engine *e);
    void (*end)(struct engine *e);
    /* Called before and after a draw of so many items, or NULL. */
    void (*prepare)(struct engine *e, uint64_t from, size_t items);
    void (*finish)(struct engine *e, const struct draw *d, unsigned words);
    /* One of these three. If threads take turns: returns the next word of each of
     * `count` strands from `first` on, for one item each, when all strands have had
     * `round` turns since position 0: */
    void (*next)(struct engine *e, uint64_t round, size_t first, size_t count, uint32_t *to);
    /* the words of a draw's groups of four numbers, 4 or 8 each: */
    void (*groups)(struct engine *e, const struct draw *d, size_t first, size_t count, unsigned words, uint32_t *to);
    /* some of a draw's numbers, as the upper bits of 64. */
    void (*fill)(struct engine *e, const struct draw *d, size_t first, size_t count, uint64_t *to);
};

extern const struct engine_kind xorwow_kind, mrg32k3a_kind, philox_kind, mt19937_kind, mtgp32_kind, sobol32_kind,
    sobol64_kind;

/* ---- distribution.c ---- */

/* The distribution whose formula a draw uses: Poisson's may use a normal one. */
enum distribution draw_formula(const struct draw *d);
/* Words that an item takes, and numbers that it gives. */
struct item {
    unsigned words, numbers;
};
struct item item_of(enum formulas f, enum distribution d);
/* Word k of item i is at[i * item + k * word]. */
struct words {
    const uint32_t *at;
    size_t item, word;
    const uint64_t *wide; /* for OF_WIDE */
};
/* Makes `items` items, and stores their numbers from `at` on; those before the draw's first and
 * behind its last are dropped. */
void item_make(const struct engine *e, const struct draw *d, const struct words *w, size_t items, ptrdiff_t at);

#endif
