/* Generators ("cuRAND Library Programming Guide", 2 and 4): their settings, and their draws, which are tasks of the generator's stream, or, of a
 * generator of the host, done when the call returns.
 */
#include "libraries/common/library.h"
#include "libraries/curand/engine.h"

#include <pthread.h>
#include <stdlib.h>

enum { KIND_GENERATOR = 1 };

struct generator {
    bool host;
    cudaStream_t stream;
    struct engine_options options;
    pthread_mutex_t lock;
    struct engine *engine; /* from the first draw after a setting on */
};

static curandStatus_t status_of(CUresult r)
{
    return r == CUDA_SUCCESS               ? CURAND_STATUS_SUCCESS
           : r == CUDA_ERROR_OUT_OF_MEMORY ? CURAND_STATUS_ALLOCATION_FAILED
                                           : CURAND_STATUS_LAUNCH_FAILURE;
}

/* ---- their life ---- */

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool host)
{
    CUcontext context;
    if (!generator)
        return CURAND_STATUS_OUT_OF_RANGE;
    if (type != CURAND_RNG_PSEUDO_PHILOX4_32_10)
        return CURAND_STATUS_TYPE_ERROR;
    if (!host && heddle_library_context(&context))
        return CURAND_STATUS_INITIALIZATION_FAILED;
    struct generator *g = calloc(1, sizeof *g);
    void *handle = NULL;
    if (g) {
        g->host = host;
        g->options = (struct engine_options){.type = type, .ordering = CURAND_ORDERING_PSEUDO_DEFAULT};
        pthread_mutex_init(&g->lock, NULL);
        handle = handle_add(&library_handles, KIND_GENERATOR, g, NULL);
    }
    if (!handle) {
        free(g);
        return CURAND_STATUS_ALLOCATION_FAILED;
    }
    *generator = handle;
    return CURAND_STATUS_SUCCESS;
}

LIBRARY_API curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, false);
}

LIBRARY_API curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, true);
}

static void free_generator(void *record)
{
    struct generator *g = record;
    engine_release(g->engine);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

LIBRARY_API curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    IN_CALL;
    struct generator *g = handle_take(&library_handles, generator, KIND_GENERATOR);
    if (!g)
        return CURAND_STATUS_NOT_INITIALIZED;
    call_later(free_generator, g);
    return CURAND_STATUS_SUCCESS;
}

/* ---- settings: the next draw begins anew by them ---- */

static void begin_anew(struct generator *g)
{
    engine_release(g->engine);
    g->engine = NULL;
}

#define GENERATOR(g, handle)                                                                                           \
    IN_CALL;                                                                                                           \
    struct generator *g = handle_find(&library_handles, handle, KIND_GENERATOR);                                       \
    if (!g)                                                                                                            \
    return CURAND_STATUS_NOT_INITIALIZED

LIBRARY_API curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    GENERATOR(g, generator);
    g->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

LIBRARY_API curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed)
{
    GENERATOR(g, generator);
    pthread_mutex_lock(&g->lock);
    g->options.seed = seed;
    begin_anew(g);
    pthread_mutex_unlock(&g->lock);
    return CURAND_STATUS_SUCCESS;
}

LIBRARY_API curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    GENERATOR(g, generator);
    pthread_mutex_lock(&g->lock);
    g->options.offset = offset;
    begin_anew(g);
    pthread_mutex_unlock(&g->lock);
    return CURAND_STATUS_SUCCESS;
}

LIBRARY_API curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering)
{
    GENERATOR(g, generator);
    if (ordering < CURAND_ORDERING_PSEUDO_BEST || ordering > CURAND_ORDERING_PSEUDO_DYNAMIC)
        return CURAND_STATUS_OUT_OF_RANGE;
    pthread_mutex_lock(&g->lock);
    g->options.ordering = ordering;
    begin_anew(g);
    pthread_mutex_unlock(&g->lock);
    return CURAND_STATUS_SUCCESS;
}

LIBRARY_API curandStatus_t curandGetVersion(int *version)
{
    if (!version)
        return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

/* ---- draws ---- */

struct draw {
    struct engine *engine;
    void *to;
    size_t n;
    bool host;
};

static hd_result run_draw(void *args)
{
    const struct draw *d = args;
    engine_bits(d->engine, d->host ? d->to : library_view(d->to), d->n);
    return HD_SUCCESS;
}

static void drop_draw(void *args)
{
    engine_release(((struct draw *)args)->engine);
}

static struct engine *engine_of(struct generator *g)
{
    pthread_mutex_lock(&g->lock);
    if (!g->engine)
        g->engine = engine_new(&g->options);
    struct engine *e = g->engine ? engine_hold(g->engine) : NULL;
    pthread_mutex_unlock(&g->lock);
    return e;
}

static curandStatus_t draw(struct generator *g, const char *call, void *to, size_t n, size_t bytes)
{
    struct draw d = {engine_of(g), to, n, g->host};
    if (!d.engine)
        return CURAND_STATUS_ALLOCATION_FAILED;
    if (g->host) {
        run_draw(&d);
        drop_draw(&d);
        return CURAND_STATUS_SUCCESS;
    }
    const hd_used used = library_writes(to, n * bytes);
    const struct library_task t = {.name = call,
                                   .run = run_draw,
                                   .drop = drop_draw,
                                   .args = &d,
                                   .arg_bytes = sizeof d,
                                   .used = &used,
                                   .used_count = 1,
                                   .unit = HD_UNIT_INT32};
    return status_of(heddle_library_put((CUstream)g->stream, &t, false));
}

LIBRARY_API curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *to, size_t n)
{
    GENERATOR(g, generator);
    return draw(g, "curandGenerate", to, n, sizeof *to);
}
