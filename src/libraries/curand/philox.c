/* Philox 4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3"). Threads take
 * turns with four numbers each, from the four words of a counter, or, for doubles, of two counters.
 * A number depends only on its position. */
#include "libraries/curand/engine.h"

enum { SUBSEQUENCES = 65536, SUBSEQUENCES_DYNAMIC = 67584, ROUNDS = 10 };

static bool start(struct engine *e)
{
    e->position = e->options.offset;
    e->strands = e->options.ordering == CURAND_ORDERING_PSEUDO_DYNAMIC ? SUBSEQUENCES_DYNAMIC : SUBSEQUENCES;
    return true;
}

static void end(struct engine *e)
{
    (void)e;
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

/* Group j of four numbers, from `words` words: 4 or 8. */
static void groups(struct engine *e, uint64_t group, size_t count, unsigned words, uint32_t *to)
{
    uint64_t skipped = e->options.offset / 4 / e->strands; /* turns of one counter each */
    for (size_t i = 0; i < count; i++)
        for (unsigned k = 0; k < words / 4; k++, to += 4) {
            uint64_t turn = (group + i) / e->strands;
            four(skipped + (turn - skipped) * (words / 4) + k, (group + i) % e->strands, e->options.seed, to);
        }
}

const struct engine_kind philox_kind = {OF_PHILOX, start, end, .groups = groups};
