/* Philox 4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3"). Threads take
 * turns with four numbers each, from the four words of a counter, or, for doubles, of two counters.
 * The thread that draws the last of four numbers moves its counter on. */
#include "libraries/curand/engine.h"

#include <stdlib.h>

enum { SUBSEQUENCES = 65536, SUBSEQUENCES_DYNAMIC = 67584, ROUNDS = 10 };

static bool start(struct engine *e)
{
    const uint64_t group = e->options.offset / 4;
    e->strands = e->options.ordering == CURAND_ORDERING_PSEUDO_DYNAMIC ? SUBSEQUENCES_DYNAMIC : SUBSEQUENCES;
    uint64_t *counters = e->state = malloc(e->strands * sizeof *counters);
    for (size_t i = 0; counters && i < e->strands; i++)
        counters[i] = group / e->strands + (i < group % e->strands);
    return counters;
}

static void end(struct engine *e)
{
    free(e->state);
}

static void four(uint64_t number, uint64_t subsequence, uint64_t key, uint32_t out[4])
{
    uint32_t c[4] = {(uint32_t)number, (uint32_t)(number >> 32), (uint32_t)subsequence, (uint32_t)(subsequence >> 32)};
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p = 0xd2511f53ull * c[0], q = 0xcd9e8d57ull * c[2];
        c[0] = (uint32_t)(q >> 32) ^ c[1] ^ k0;
        c[1] = (uint32_t)q;
        c[2] = (uint32_t)(p >> 32) ^ c[3] ^ k1;
        c[3] = (uint32_t)p;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    for (int i = 0; i < 4; i++)
        out[i] = c[i];
}

static void groups(struct engine *e, const struct draw *d, size_t first, size_t count, unsigned words, uint32_t *to)
{
    const uint64_t *counters = e->state;
    for (size_t i = first; i < first + count; i++) {
        const size_t thread = (d->from / 4 + i) % e->strands;
        for (unsigned k = 0; k < words / 4; k++, to += 4)
            four(counters[thread] + i / e->strands * (words / 4) + k, thread, e->options.seed, to);
    }
}

static void finish(struct engine *e, const struct draw *d, unsigned words)
{
    uint64_t *counters = e->state, first = d->from / 4, whole = (d->from + d->n) / 4 - first;
    for (size_t i = 0; i < e->strands && i < whole; i++)
        counters[(first + i) % e->strands] += (whole / e->strands + (i < whole % e->strands)) * (words / 4);
}

const struct engine_kind philox_kind = {OF_PHILOX, start, end, .groups = groups, .finish = finish};
