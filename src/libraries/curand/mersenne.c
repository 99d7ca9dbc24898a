/* MT19937 (Matsumoto and Nishimura, "Mersenne Twister", ACM TOMACS 8, 1998) and MTGP32 (Saito and
 * Matsumoto, "Variants of Mersenne Twister Suitable for Graphic Processors", ACM TOMS 39, 2013):
 * several generators, each shared by several threads, which are the strands.
 */
#include "libraries/common/library.h"
#include "libraries/curand/engine.h"

#include <stdlib.h>
#include <string.h>

#define WIDE_VECTORS LIBRARY_FOR_EACH_CPU

/* ---- MTGP32: its sets of parameters are the first that the authors have published; 256 threads
 * each ---- */

enum { MTGP_GENERATORS = 192, MTGP_GENERATORS_LEGACY = 64, MTGP_LANES = 256, MTGP_WORDS = 351, MTGP_RING = 1024 };

struct mtgp_parameters {
    unsigned position, shift1, shift2;
    uint32_t recursion[4], tempering[4];
};

static const struct mtgp_parameters mtgp_parameters[] = {
#define MTGP32(position, shift1, shift2, r1, r2, r4, r8, t1, t2, t4, t8)                                               \
    {position, shift1, shift2, {r1, r2, r4, r8}, {t1, t2, t4, t8}},
#include "cuda/heddle/mtgp32_parameters.def"
#undef MTGP32
};

struct mtgp {
    uint32_t ring[MTGP_RING]; /* the last words, by number */
};

struct mtgps {
    uint64_t before, after; /* rounds of all threads before and after this draw, */
    uint64_t first;         /* and the round in which it begins, counted from position 0 */
    struct mtgp all[];
};

static uint32_t sum_of(const uint32_t table[4], uint32_t entries)
{
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum ^= -(entries >> i & 1) & table[i];
    return sum;
}

static void mtgp_seed(struct mtgp *g, const struct mtgp_parameters *p, uint32_t seed)
{
    uint32_t hidden = p->recursion[2] ^ p->recursion[3] << 16, fill = hidden + (hidden >> 16);
    fill += fill >> 8;
    uint32_t *s = g->ring;
    memset(s, (int)(fill & 0xff), MTGP_WORDS * sizeof *s);
    s[0] = seed;
    s[1] = hidden;
    for (uint32_t i = 1; i < MTGP_WORDS; i++)
        s[i] ^= 1812433253u * (s[i - 1] ^ s[i - 1] >> 30) + i;
}

/* Word n, from those before it, which the ring keeps. */
static uint32_t mtgp_word(struct mtgp *g, const struct mtgp_parameters *p, uint64_t n)
{
#define RING(k) g->ring[(n + (k)) % MTGP_RING]
    uint32_t x = (RING(0) & 0xfff80000u) ^ RING(1);
    x ^= x << p->shift1;
    uint32_t y = x ^ RING(p->position) >> p->shift2, word = y ^ sum_of(p->recursion, y & 15);
    uint32_t t = RING(p->position - 1);
    t ^= t >> 16;
    t ^= t >> 8;
    RING(MTGP_WORDS) = word;
#undef RING
    return word ^ sum_of(p->tempering, t & 15);
}

static bool mtgp_start(struct engine *e)
{
    const bool legacy = e->options.ordering == CURAND_ORDERING_PSEUDO_LEGACY;
    const uint32_t generators = legacy ? MTGP_GENERATORS_LEGACY : MTGP_GENERATORS;
    struct mtgps *m = calloc(1, sizeof *m + generators * sizeof m->all[0]);
    uint64_t seed = e->options.seed ^ e->options.seed >> 32;
    if (!m)
        return false;
    for (uint32_t i = 0; !e->options.blank && i < generators; i++)
        mtgp_seed(&m->all[i], &mtgp_parameters[i], (uint32_t)seed + i + 1);
    e->strands = (size_t)generators * MTGP_LANES;
    e->state = m;
    return true;
}

static void mtgp_prepare(struct engine *e, uint64_t from, size_t items)
{
    struct mtgps *m = e->state;
    m->before = m->after;
    m->first = from / e->strands;
    m->after += (from + items) / e->strands - m->first;
}

static void mtgp_next(struct engine *e, uint64_t round, size_t first, size_t count, uint32_t *to)
{
    struct mtgps *m = e->state;
    const uint64_t row = (m->before + round - m->first) * MTGP_LANES;
    for (size_t i = 0; i < count; i++) {
        size_t generator = (first + i) / MTGP_LANES, lane = (first + i) % MTGP_LANES;
        to[i] = mtgp_word(&m->all[generator], &mtgp_parameters[generator], row + lane);
    }
}

static void end(struct engine *e)
{
    free(e->state);
}

const struct engine_kind mtgp32_kind = {OF_WORDS, mtgp_start, end, .next = mtgp_next, .prepare = mtgp_prepare};

/* ---- MT19937: generators are a jump apart, with eight threads each ---- */

enum {
    MT_GENERATORS = 8192,
    MT_LANES = 8,
    MT_WORDS = 624,
    MT_MIDDLE = 397,
    MT_ROWS = MT_WORDS / MT_LANES,
    MT_BITS = 19937,
    MT_DIGIT = 7,
    MT_DIGITS = (MT_BITS + MT_DIGIT - 1) / MT_DIGIT
};

static const uint32_t mt_jump[MT_WORDS] = {
#include "libraries/curand/mt19937_jump.def"
};

struct mt {
    uint32_t s[MT_WORDS];
    uint64_t blocks; /* so many have been made */
};

struct mt_room {
    uint32_t sums[1 << MT_DIGIT][MT_WORDS]; /* the first is 0 */
    uint32_t sequence[MT_WORDS + MT_DIGITS * MT_DIGIT];
};

struct mts {
    uint32_t last[MT_WORDS]; /* the initial state of the last generator that was started */
    size_t n;                /* number of started generators */
    uint64_t before, after;  /* the blocks before and after this draw, */
    uint64_t first;          /* and which it makes first, counted from position 0 */
    struct mt *all;
    struct mt_room *room;
};

static uint32_t mt_twist(uint32_t a, uint32_t b, uint32_t middle)
{
    uint32_t y = (a & 0x80000000u) | (b & 0x7fffffffu);
    return middle ^ y >> 1 ^ (-(y & 1) & 0x9908b0dfu);
}

static uint32_t mt_temper(uint32_t y)
{
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

static void mt_next_block(uint32_t s[MT_WORDS])
{
    for (int i = 0; i < MT_WORDS; i++)
        s[i] = mt_twist(s[i], s[(i + 1) % MT_WORDS], s[(i + MT_MIDDLE) % MT_WORDS]);
}

static unsigned mt_digit(int digit)
{
    const int bit = digit * MT_DIGIT;
    const uint64_t two = mt_jump[bit / 32] | (bit / 32 + 1 < MT_WORDS ? (uint64_t)mt_jump[bit / 32 + 1] << 32 : 0);
    return two >> bit % 32 & ((1 << MT_DIGIT) - 1);
}

WIDE_VECTORS static void mt_add(uint32_t *restrict sum, const uint32_t *restrict w)
{
    for (int k = 0; k < MT_WORDS; k++)
        sum[k] ^= w[k];
}

/* Evaluates the polynomial of the state, several bits at a time from the highest, with a table of
 * sums of states (Haramoto and others, "Efficient Jump Ahead for F2-Linear Random Number
 * Generators", INFORMS J. Comput. 20, 2008, 4: Horner's method). */
static void mt_jump_ahead(uint32_t state[MT_WORDS], struct mt_room *r)
{
    uint32_t *w = r->sequence;
    memcpy(w, state, MT_WORDS * sizeof *w);
    for (int i = 0; i < MT_DIGIT; i++)
        w[MT_WORDS + i] = mt_twist(w[i], w[i + 1], w[i + MT_MIDDLE]);
    for (unsigned d = 1; d < 1 << MT_DIGIT; d++) {
        memcpy(r->sums[d], r->sums[d & (d - 1)], sizeof r->sums[d]);
        mt_add(r->sums[d], w + __builtin_ctz(d));
    }
    memset(w, 0, MT_WORDS * sizeof *w);
    for (int digit = MT_DIGITS - 1; digit >= 0; digit--, w += MT_DIGIT) {
        mt_add(w, r->sums[mt_digit(digit)]);
        for (int i = 0; digit && i < MT_DIGIT; i++)
            w[MT_WORDS + i] = mt_twist(w[i], w[i + 1], w[i + MT_MIDDLE]);
    }
    memcpy(state, w - MT_DIGIT, MT_WORDS * sizeof *w);
}

/* Starts generators when they are needed: jumps take long, and small draws need few. */
static void mt_begin(struct mts *m, size_t n)
{
    for (; m->n < n; m->n++) {
        if (m->n)
            mt_jump_ahead(m->last, m->room);
        memcpy(m->all[m->n].s, m->last, sizeof m->all[m->n].s);
        m->all[m->n].blocks = 0;
    }
}

static void mt_end(struct engine *e)
{
    struct mts *m = e->state;
    free(m->all);
    free(m->room);
    free(m);
}

static bool mt_start(struct engine *e)
{
    struct mts *m = e->state = calloc(1, sizeof *m);
    if (!m)
        return false;
    m->all = malloc(MT_GENERATORS * sizeof *m->all);
    m->room = calloc(1, sizeof *m->room);
    if (!m->all || !m->room) {
        mt_end(e);
        return false;
    }
    m->last[0] = (uint32_t)e->options.seed;
    for (uint32_t i = 1; i < MT_WORDS; i++)
        m->last[i] = 1812433253u * (m->last[i - 1] ^ m->last[i - 1] >> 30) + i;
    e->strands = MT_GENERATORS * MT_LANES;
    return true;
}

/* A draw that passes the first row of a block makes the block, for all threads. */
static void mt_prepare(struct engine *e, uint64_t from, size_t items)
{
    struct mts *m = e->state;
    const size_t turn = from % e->strands, last = turn + items < e->strands ? turn + items : e->strands;
    const uint64_t numbers = (uint64_t)e->strands * MT_ROWS; /* of all blocks */
    mt_begin(m, (last + MT_LANES - 1) / MT_LANES);
    m->before = m->after;
    m->first = (from + numbers - 1) / numbers;
    m->after += (from + items + numbers - 1) / numbers - m->first;
}

/* The word of a block that a thread has in a row: a single word in the first row, then runs of
 * seven, adjacent for adjacent threads. */
static unsigned mt_place(unsigned lane, unsigned row)
{
    enum { RUN = 7 };
    static const uint16_t first[MT_LANES] = {0, 113, 170, 283, 340, 397, 510, 567},
                          runs[] = {1, 57, 114, 171, 227, 284, 341, 398, 454, 511, 568};
    return row == 0 ? first[lane] : runs[(row - 1) / RUN] + RUN * lane + (row - 1) % RUN;
}

static void mt_next(struct engine *e, uint64_t round, size_t first, size_t count, uint32_t *to)
{
    struct mts *m = e->state;
    const uint64_t block = round / MT_ROWS, blocks = m->before + (block < m->first ? 0 : block - m->first + 1);
    for (size_t i = 0; i < count; i++) {
        struct mt *g = &m->all[(first + i) / MT_LANES];
        for (; g->blocks < blocks; g->blocks++)
            mt_next_block(g->s);
        to[i] = mt_temper(g->s[mt_place((first + i) % MT_LANES, round % MT_ROWS)]);
    }
}

const struct engine_kind mt19937_kind = {OF_WORDS, mt_start, mt_end, .next = mt_next, .prepare = mt_prepare};
