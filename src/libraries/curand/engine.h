/* Engines of random numbers: what a generator draws from, as a GPU's many threads would have them
 * ("cuRAND Library Programming Guide", 2.1). An engine is advanced by the generator's tasks, in the
 * order of their stream. Private to this folder.
 *
 * A draw is a number of items: what one of the GPU's threads makes at a time, a word, a uniform
 * number, a pair of normal ones where they come by Box and Muller. Either the threads take turns,
 * each with a strand of its own, which it takes as many words from as the item needs (XORWOW,
 * MRG32k3a, the Mersenne Twisters); or all follows from a number's place (Philox, Sobol).
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
    unsigned dimensions; /* of a quasirandom one */
    bool host;           /* numbers are made by functions of the host's C library */
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
    double mean, deviation;      /* of normal numbers, or of their logarithms */
    const struct poisson *table; /* of Poisson's */
};

/* NULL without memory. One reference is the caller's. */
struct engine *engine_new(const struct engine_options *o);
struct engine *engine_hold(struct engine *e);
void engine_release(struct engine *e); /* NULL is allowed */

/* Draws the next numbers; false without memory. */
bool engine_draw(struct engine *e, const struct draw *d);

/* Is the type one that there is, and the distribution one that it has? */
bool engine_has(curandRngType_t type, enum distribution d);
/* Do normal numbers come in pairs, so that there is an even number of them? */
bool engine_pairs(curandRngType_t type);

/* ---- kinds of engines: what their files share ---- */

enum { MOST_WORDS = 8 }; /* of an item */

/* What becomes of words: which of the GPU's formulas. */
enum formulas {
    OF_WORDS,  /* a uniform double of one word, normal numbers by the inverse of their distribution */
    OF_XORWOW, /* a uniform double of two words, pairs of normal numbers */
    OF_MRG,    /* words are numbers below its modulus; pairs */
    OF_PHILOX, /* fours */
    OF_WIDE,   /* words of 64 bits; as OF_WORDS */
};

/* The second of a pair of normal numbers, if it is still to be used. */
struct kept {
    bool there;
    float second;
};

struct engine {
    _Atomic unsigned refs;
    pthread_mutex_t lock; /* of what follows */
    const struct engine_kind *kind;
    struct engine_options options;
    size_t strands, turn; /* how many there are, and whose turn is next */
    uint64_t position;    /* of the next number, or of the next point of a quasirandom sequence */
    void *state;          /* the kind's own */
    struct kept *kept; /* of each strand, where Poisson's numbers have been made of pairs of normal ones; else NULL */
    bool started;
};

struct engine_kind {
    enum formulas formulas;
    /* Begins by the options, with `strands` and `turn` set, or `position`; false without memory. */
    bool (*start)(struct engine *e);
    void (*end)(struct engine *e);
    /* Before a draw of so many items, or NULL. */
    void (*prepare)(struct engine *e, size_t items);
    /* One of these. The next word of each of `count` strands from `first` on, where threads take
     * turns with one item each: */
    void (*next)(struct engine *e, size_t first, size_t count, uint32_t *to);
    /* the words of groups of four numbers, 4 or 8 each, by their place in the sequence: */
    void (*groups)(struct engine *e, uint64_t first, size_t count, unsigned words, uint32_t *to);
    /* those of some of a draw's numbers, as the upper bits of 64. */
    void (*fill)(struct engine *e, const struct draw *d, size_t first, size_t count, uint64_t *to);
};

extern const struct engine_kind xorwow_kind, mrg32k3a_kind, philox_kind, mt19937_kind, mtgp32_kind, sobol32_kind,
    sobol64_kind;

/* ---- distribution.c ---- */

/* By which distribution's formula a draw is made: Poisson's may be a normal one's. */
enum distribution draw_formula(const struct draw *d);
/* How many words an item takes, and how many numbers it gives. */
struct item {
    unsigned words, numbers;
};
struct item item_of(enum formulas f, enum distribution d);
/* Word k of item i is at[i * item + k * word]. */
struct words {
    const uint32_t *at;
    size_t item, word;
    const uint64_t *wide; /* OF_WIDE */
};
/* Makes `items` items, and puts their numbers to the draw's from `at` on; of those before its first
 * and beyond its last nothing is wanted. */
void item_make(const struct engine *e, const struct draw *d, const struct words *w, size_t items, ptrdiff_t at);

#endif
