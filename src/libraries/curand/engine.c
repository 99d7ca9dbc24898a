/* See engine.h. */
#include "libraries/curand/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Values 4j to 4j + 3 are a four of subsequence j % SUBSEQUENCES. */
enum { SUBSEQUENCES = 65536, ROUNDS = 10 };

struct engine {
    _Atomic unsigned refs;
    pthread_mutex_t lock; /* of what follows */
    struct engine_options options;
    uint64_t position; /* of the next number */
};

struct engine *engine_new(const struct engine_options *o)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    atomic_init(&e->refs, 1);
    pthread_mutex_init(&e->lock, NULL);
    e->options = *o;
    e->position = o->offset;
    return e;
}

struct engine *engine_hold(struct engine *e)
{
    atomic_fetch_add(&e->refs, 1);
    return e;
}

void engine_release(struct engine *e)
{
    if (!e || atomic_fetch_sub(&e->refs, 1) != 1)
        return;
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* Philox 4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3"). */
static void philox(const uint32_t counter[4], uint64_t key, uint32_t out[4])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p = 0xd2511f53ull * c[0], q = 0xcd9e8d57ull * c[2];
        uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ k0, (uint32_t)q, (uint32_t)(p >> 32) ^ c[3] ^ k1, (uint32_t)p};
        for (int i = 0; i < 4; i++)
            c[i] = next[i];
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    for (int i = 0; i < 4; i++)
        out[i] = c[i];
}

void engine_bits(struct engine *e, uint32_t *to, size_t n)
{
    uint32_t four[4];
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i < n; i++, e->position++) {
        uint64_t j = e->position / 4, number = j / SUBSEQUENCES;
        if (i == 0 || e->position % 4 == 0)
            philox((uint32_t[]){(uint32_t)number, (uint32_t)(number >> 32), (uint32_t)(j % SUBSEQUENCES), 0},
                   e->options.seed, four);
        to[i] = four[e->position % 4];
    }
    pthread_mutex_unlock(&e->lock);
}
