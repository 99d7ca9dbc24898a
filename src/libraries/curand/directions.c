/* Direction vectors and scrambling constants for the device API ("cuRAND Library Programming
 * Guide", 3.2). They are computed on first use, and kept. */
#include "libraries/common/library.h"
#include "libraries/curand/sobol.h"

#include "cuda/curand.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 4 };

struct set {
    pthread_once_t once;
    unsigned width;
    bool scrambled;
    void *vectors, *constants; /* of words of that width */
};

static struct set sets[SETS] = {{PTHREAD_ONCE_INIT, 32, false, NULL, NULL},
                                {PTHREAD_ONCE_INIT, 32, true, NULL, NULL},
                                {PTHREAD_ONCE_INIT, 64, false, NULL, NULL},
                                {PTHREAD_ONCE_INIT, 64, true, NULL, NULL}};

/* Reduces the numbers to their upper bits, in place. */
static void narrow(void *words, size_t n)
{
    const uint64_t *from = words;
    uint32_t *to = words;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = from[i];
        memcpy(&to[i], (const char *)&x + 4, sizeof to[i]);
    }
}

static void make(struct set *s)
{
    uint64_t(*v)[64] = sobol_vectors(SOBOL_DIMENSIONS), *constants = calloc(SOBOL_DIMENSIONS, sizeof *constants);
    if (!v || !constants || (s->scrambled && !sobol_scramble(SOBOL_DIMENSIONS, v, constants))) {
        free(v);
        free(constants);
        return;
    }
    for (size_t d = 0; s->width == 32 && d < SOBOL_DIMENSIONS; d++) {
        narrow(v[d], 32);
        memmove((uint32_t(*)[32])v + d, v[d], sizeof(uint32_t[32]));
    }
    if (s->width == 32)
        narrow(constants, SOBOL_DIMENSIONS);
    s->vectors = v;
    s->constants = constants;
}

#define MAKE(i)                                                                                                        \
    static void make_##i(void)                                                                                         \
    {                                                                                                                  \
        make(&sets[i]);                                                                                                \
    }
MAKE(0)
MAKE(1)
MAKE(2)
MAKE(3)

static struct set *made(curandDirectionVectorSet_t set)
{
    static void (*const makers[SETS])(void) = {make_0, make_1, make_2, make_3};
    unsigned i = set - CURAND_DIRECTION_VECTORS_32_JOEKUO6;
    pthread_once(&sets[i].once, makers[i]);
    return sets[i].vectors ? &sets[i] : NULL;
}

LIBRARY_API curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t *vectors[],
                                                       curandDirectionVectorSet_t set)
{
    if (set != CURAND_DIRECTION_VECTORS_32_JOEKUO6 && set != CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6)
        return CURAND_STATUS_OUT_OF_RANGE;
    struct set *s = made(set);
    if (!s)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *vectors = s->vectors;
    return CURAND_STATUS_SUCCESS;
}

LIBRARY_API curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t *vectors[],
                                                       curandDirectionVectorSet_t set)
{
    if (set != CURAND_DIRECTION_VECTORS_64_JOEKUO6 && set != CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6)
        return CURAND_STATUS_OUT_OF_RANGE;
    struct set *s = made(set);
    if (!s)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *vectors = s->vectors;
    return CURAND_STATUS_SUCCESS;
}

LIBRARY_API curandStatus_t curandGetScrambleConstants32(unsigned **constants)
{
    struct set *s = made(CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6);
    if (!s)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *constants = s->constants;
    return CURAND_STATUS_SUCCESS;
}

LIBRARY_API curandStatus_t curandGetScrambleConstants64(unsigned long long **constants)
{
    struct set *s = made(CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6);
    if (!s)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *constants = s->constants;
    return CURAND_STATUS_SUCCESS;
}
