/* Generators ("cuRAND Library Programming Guide", 2 and 4): settings and draws. Draws are tasks of
 * the generator's stream; a host generator's are done on return.
 */
#include "libraries/common/library.h"
#include "libraries/curand/engine.h"
#include "libraries/curand/poisson.h"
#include "libraries/curand/sobol.h"

#include <pthread.h>
#include <stdlib.h>

enum { KIND_GENERATOR = 1 };

struct generator {
    cudaStream_t stream;
    pthread_mutex_t lock;
    /* The offset: where the engine would begin anew, as far as draws have come. */
    struct engine_options options;
    struct engine *engine; /* from the first draw on */
    uint64_t next;         /* where the next draw begins */
    bool begins_anew;      /* by the options; */
    bool is_set_up;        /* the original has copied its states to the device */
    curandStatus_t failed; /* of the last failure to do so */
};

static curandStatus_t status_of(CUresult r)
{
    return r == CUDA_SUCCESS               ? CURAND_STATUS_SUCCESS
           : r == CUDA_ERROR_OUT_OF_MEMORY ? CURAND_STATUS_ALLOCATION_FAILED
                                           : CURAND_STATUS_LAUNCH_FAILURE;
}

/* ---- their life ---- */

static curandRngType_t type_of(curandRngType_t type)
{
    return type == CURAND_RNG_TEST || type == CURAND_RNG_PSEUDO_DEFAULT ? CURAND_RNG_PSEUDO_XORWOW
           : type == CURAND_RNG_QUASI_DEFAULT                           ? CURAND_RNG_QUASI_SOBOL32
                                                                        : type;
}

static bool is_quasi(const struct generator *g)
{
    return g->options.type >= CURAND_RNG_QUASI_DEFAULT;
}

static struct generator *new_generator(curandRngType_t type, bool host)
{
    struct generator *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->options = (struct engine_options){.type = type, .dimensions = 1, .host = host};
    g->begins_anew = true;
    g->options.ordering = is_quasi(g) ? CURAND_ORDERING_QUASI_DEFAULT : CURAND_ORDERING_PSEUDO_DEFAULT;
    pthread_mutex_init(&g->lock, NULL);
    return g;
}

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t wanted, bool host)
{
    CUcontext context;
    curandRngType_t type = type_of(wanted);
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (!engine_has(type, UNIFORM))
        return CURAND_STATUS_TYPE_ERROR;
    if (!host && (heddle_library_context(&context) || heddle_library_disturb(false)))
        return CURAND_STATUS_INITIALIZATION_FAILED;
    struct generator *g = new_generator(type, host);
    void *handle = library_add_handle(KIND_GENERATOR, g);
    if (!handle)
        return CURAND_STATUS_ALLOCATION_FAILED;
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

/* ---- settings: the next draw begins anew by them, at the position that draws have come to. Only a
 * new offset changes it, and MT19937 has none. As on an H200: ---- */

static void begin_anew(struct generator *g)
{
    if (is_quasi(g)) { /* captured draws keep theirs */
        engine_release(g->engine);
        g->engine = NULL;
    }
    g->begins_anew = true;
    g->is_set_up = false;
}

/* MTGP32 of the device is seeded once: later seeds have no effect, and in the legacy
 * ordering it then draws zeros. */
static bool is_seeded_for_good(const struct generator *g)
{
    return g->options.type == CURAND_RNG_PSEUDO_MTGP32 && !g->options.host && g->engine;
}

/* The next draw begins so much later. Philox counts the groups of four that a draw completes. */
static void count_draw(struct generator *g, uint64_t steps)
{
    const uint64_t groups = (g->next + steps) / 4 - g->next / 4;
    switch (g->options.type) {
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937: break;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10: g->options.offset += groups ? groups : steps; break;
    default: g->options.offset += steps;
    }
    g->next += steps;
}

/* An H200's error while a stream captures: these generators allocate and compute their states
 * before the first draw. */
static curandStatus_t try_set_up(struct generator *g)
{
    const bool mt19937 = g->options.type == CURAND_RNG_PSEUDO_MT19937, allocates = !mt19937;
    const curandStatus_t again = g->failed;
    g->failed = CURAND_STATUS_SUCCESS;
    if (mt19937 && again == CURAND_STATUS_PREEXISTING_FAILURE)
        return again;
    if (allocates && heddle_library_disturb(false)) {
        g->failed = CURAND_STATUS_PREEXISTING_FAILURE;
        return again ? again : CURAND_STATUS_ALLOCATION_FAILED;
    }
    if (heddle_library_disturb_stream((CUstream)g->stream)) {
        g->failed = !mt19937 ? again : again ? CURAND_STATUS_PREEXISTING_FAILURE : CURAND_STATUS_INTERNAL_ERROR;
        return again ? again : CURAND_STATUS_LAUNCH_FAILURE;
    }
    g->is_set_up = true;
    return CURAND_STATUS_SUCCESS;
}

static curandStatus_t set_up(struct generator *g)
{
    curandStatus_t status = CURAND_STATUS_SUCCESS;
    if (g->options.host || is_quasi(g) || g->options.type == CURAND_RNG_PSEUDO_MTGP32)
        return status;
    pthread_mutex_lock(&g->lock);
    if (!g->is_set_up)
        status = try_set_up(g);
    pthread_mutex_unlock(&g->lock);
    return status;
}

#define GENERATOR(g, handle)                                                                                           \
    IN_CALL;                                                                                                           \
    struct generator *g = handle_find(&library_handles, handle, KIND_GENERATOR);                                       \
    if (!g)                                                                                                            \
    return library_no_handle(), CURAND_STATUS_NOT_INITIALIZED

LIBRARY_API curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    GENERATOR(g, generator);
    g->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

LIBRARY_API curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed)
{
    GENERATOR(g, generator);
    if (is_quasi(g)) {
        library_failed("curandSetPseudoRandomGeneratorSeed", "a quasirandom generator has no seed");
        return CURAND_STATUS_TYPE_ERROR;
    }
    pthread_mutex_lock(&g->lock);
    if (seed != g->options.seed && !is_seeded_for_good(g)) {
        g->options.seed = seed;
        begin_anew(g);
    }
    pthread_mutex_unlock(&g->lock);
    return CURAND_STATUS_SUCCESS;
}

LIBRARY_API curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    GENERATOR(g, generator);
    if (g->options.type == CURAND_RNG_PSEUDO_MTGP32 || g->options.type == CURAND_RNG_PSEUDO_MT19937) {
        library_failed("curandSetGeneratorOffset", "MTGP32 and MT19937 have no offset");
        return CURAND_STATUS_TYPE_ERROR;
    }
    pthread_mutex_lock(&g->lock);
    g->options.offset = offset;
    begin_anew(g);
    pthread_mutex_unlock(&g->lock);
    return CURAND_STATUS_SUCCESS;
}

/* SEEDED is only for XORWOW; DYNAMIC is neither for MT19937 nor on the host. */
static bool has_ordering(const struct generator *g, curandOrdering_t ordering)
{
    curandRngType_t type = g->options.type;
    switch (ordering) {
    case CURAND_ORDERING_PSEUDO_BEST:
    case CURAND_ORDERING_PSEUDO_DEFAULT:
    case CURAND_ORDERING_PSEUDO_LEGACY: return !is_quasi(g);
    case CURAND_ORDERING_PSEUDO_SEEDED: return type == CURAND_RNG_PSEUDO_XORWOW;
    case CURAND_ORDERING_PSEUDO_DYNAMIC: return !is_quasi(g) && type != CURAND_RNG_PSEUDO_MT19937 && !g->options.host;
    case CURAND_ORDERING_QUASI_DEFAULT: return is_quasi(g);
    default: return false;
    }
}

LIBRARY_API curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering)
{
    GENERATOR(g, generator);
    if (g->options.type == CURAND_RNG_PSEUDO_MTGP32 && ordering == CURAND_ORDERING_PSEUDO_DYNAMIC && !g->options.host) {
        LIBRARY_REFUSE("CURAND_ORDERING_PSEUDO_DYNAMIC of MTGP32");
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    if (!has_ordering(g, ordering)) {
        library_failed("curandSetGeneratorOrdering", "%d is not an ordering of this generator", (int)ordering);
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    pthread_mutex_lock(&g->lock);
    if (is_seeded_for_good(g))
        g->options.blank |=
            (ordering == CURAND_ORDERING_PSEUDO_LEGACY) != (g->options.ordering == CURAND_ORDERING_PSEUDO_LEGACY);
    if (is_seeded_for_good(g) ? g->options.blank : ordering != g->options.ordering)
        begin_anew(g);
    g->options.ordering = ordering;
    pthread_mutex_unlock(&g->lock);
    return CURAND_STATUS_SUCCESS;
}

LIBRARY_API curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned dimensions)
{
    GENERATOR(g, generator);
    if (!is_quasi(g)) {
        library_failed("curandSetQuasiRandomGeneratorDimensions", "a pseudorandom generator has no dimensions");
        return CURAND_STATUS_TYPE_ERROR;
    }
    if (dimensions < 1 || dimensions > SOBOL_DIMENSIONS) {
        library_failed("curandSetQuasiRandomGeneratorDimensions", "%u dimensions; there may be 1 to 20,000",
                       dimensions);
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    pthread_mutex_lock(&g->lock);
    g->options.dimensions = dimensions;
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

LIBRARY_API curandStatus_t curandGetProperty(libraryPropertyType type, int *value)
{
    static const int parts[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
    if (!value || (unsigned)type >= sizeof parts / sizeof parts[0])
        return CURAND_STATUS_OUT_OF_RANGE;
    *value = parts[type];
    return CURAND_STATUS_SUCCESS;
}

/* ---- draws ---- */

/* A task: begins anew, draws, or both. */
struct drawing {
    struct engine *engine;
    struct draw draw;
    struct engine_options options;
    bool begins_anew, misaligned;
};

static hd_result run_drawing(void *args)
{
    const struct drawing *w = args;
    struct draw d = w->draw;
    if (w->misaligned)
        return HD_ERROR_MISALIGNED_ADDRESS;
    if (w->begins_anew && !engine_restart(w->engine, &w->options))
        return HD_ERROR_OUT_OF_MEMORY;
    d.to = w->options.host ? d.to : library_view(d.to);
    return d.n == 0 || engine_draw(w->engine, &d) ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

static void drop_drawing(void *args)
{
    struct drawing *w = args;
    engine_release(w->engine);
    poisson_free((struct poisson *)w->draw.table);
}

/* Takes the draw's place in the sequence. */
static void take_place(struct generator *g, struct drawing *w)
{
    pthread_mutex_lock(&g->lock);
    if (!g->engine)
        g->engine = engine_new(&g->options);
    w->engine = g->engine ? engine_hold(g->engine) : NULL;
    w->options = g->options;
    w->begins_anew = g->begins_anew;
    if (w->engine && g->begins_anew) {
        g->begins_anew = false;
        g->next = g->options.offset;
    }
    w->draw.from = g->next;
    if (w->engine)
        count_draw(g, w->draw.n ? engine_steps(&g->options, &w->draw) : 0);
    pthread_mutex_unlock(&g->lock);
}

static size_t bytes_of(enum distribution d)
{
    bool wide = d == BITS_64 || d == UNIFORM_DOUBLE || d == NORMAL_DOUBLE || d == LOG_NORMAL_DOUBLE;
    return wide ? sizeof(double) : sizeof(float);
}

static curandStatus_t check(const struct generator *g, const char *call, const struct draw *d)
{
    bool normal = d->distribution >= NORMAL && d->distribution <= LOG_NORMAL_DOUBLE;
    if (!engine_has(g->options.type, d->distribution)) {
        library_failed(call, "the generator makes numbers of %d bits", d->distribution == BITS ? 64 : 32);
        return CURAND_STATUS_TYPE_ERROR;
    }
    if (is_quasi(g) && d->n % g->options.dimensions) {
        library_failed(call, "%zu numbers are not a multiple of %u dimensions", d->n, g->options.dimensions);
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    }
    if (normal && g->options.type == CURAND_RNG_PSEUDO_XORWOW &&
        g->options.ordering == CURAND_ORDERING_PSEUDO_DYNAMIC) {
        LIBRARY_REFUSE("CURAND_ORDERING_PSEUDO_DYNAMIC of XORWOW's normal numbers");
        return CURAND_STATUS_INTERNAL_ERROR;
    }
    if (normal && engine_pairs(g->options.type) && d->n % 2) {
        library_failed(call, "%zu normal numbers: the count must be even, because this generator makes them in pairs",
                       d->n);
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    }
    return CURAND_STATUS_SUCCESS;
}

/* MT19937's bits are copied, whose errors are the call's. */
static bool is_copied(const struct generator *g, const struct draw *d)
{
    return g->options.type == CURAND_RNG_PSEUDO_MT19937 && !g->options.host && d->distribution == BITS;
}

/* Kernels store whole elements, and normal numbers in pairs. */
static bool is_misaligned(const struct generator *g, const struct draw *d)
{
    const bool normal = d->distribution >= NORMAL && d->distribution <= LOG_NORMAL_DOUBLE;
    if (g->options.host || is_copied(g, d))
        return false;
    return (uintptr_t)d->to % (bytes_of(d->distribution) << (normal && engine_pairs(g->options.type)));
}

/* The draw did not happen: the next one begins anew in its stead. */
static curandStatus_t failed_anew(struct generator *g, const struct drawing *w, curandStatus_t status)
{
    if (status && w->begins_anew) {
        pthread_mutex_lock(&g->lock);
        g->options.offset = w->options.offset;
        g->begins_anew = true;
        pthread_mutex_unlock(&g->lock);
    }
    return status;
}

static curandStatus_t put(struct generator *g, const char *call, struct drawing *w)
{
    take_place(g, w);
    if (!w->engine) {
        drop_drawing(w);
        return CURAND_STATUS_ALLOCATION_FAILED;
    }
    if (g->options.host) {
        hd_result r = run_drawing(w);
        drop_drawing(w);
        return failed_anew(g, w, r ? CURAND_STATUS_ALLOCATION_FAILED : CURAND_STATUS_SUCCESS);
    }
    const hd_used used = library_writes(w->draw.to, w->draw.n * bytes_of(w->draw.distribution));
    const struct library_task t = {.name = call,
                                   .run = run_drawing,
                                   .drop = drop_drawing,
                                   .args = w,
                                   .arg_bytes = sizeof *w,
                                   .used = &used,
                                   .used_count = w->draw.n != 0,
                                   .unit = HD_UNIT_INT32};
    return failed_anew(g, w, status_of(heddle_library_put((CUstream)g->stream, &t, false)));
}

static curandStatus_t draw(struct generator *g, const char *call, const struct draw *d)
{
    curandStatus_t status = check(g, call, d);
    struct drawing w = {.draw = *d, .misaligned = is_misaligned(g, d)};
    if (status || d->n == 0)
        return status;
    status = set_up(g);
    if (status) {
        poisson_free((struct poisson *)d->table);
        return status;
    }
    if (is_copied(g, d) && !library_memory_is_kernels(heddle_library_memory(d->to))) {
        library_failed(call, "%p is not memory that kernels may use", (void *)d->to);
        return CURAND_STATUS_LAUNCH_FAILURE;
    }
    return put(g, call, &w);
}

LIBRARY_API curandStatus_t curandGenerateSeeds(curandGenerator_t generator)
{
    GENERATOR(g, generator);
    struct drawing w = {0};
    if (is_quasi(g) || (g->options.type == CURAND_RNG_PSEUDO_MTGP32 && !g->options.host))
        return CURAND_STATUS_SUCCESS;
    pthread_mutex_lock(&g->lock);
    begin_anew(g);
    pthread_mutex_unlock(&g->lock);
    curandStatus_t status = set_up(g);
    return status ? status : put(g, "curandGenerateSeeds", &w);
}

LIBRARY_API curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *to, size_t n)
{
    GENERATOR(g, generator);
    return draw(g, "curandGenerate", &(struct draw){.distribution = BITS, .to = to, .n = n});
}

LIBRARY_API curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long *to, size_t n)
{
    GENERATOR(g, generator);
    return draw(g, "curandGenerateLongLong", &(struct draw){.distribution = BITS_64, .to = to, .n = n});
}

LIBRARY_API curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *to, size_t n)
{
    GENERATOR(g, generator);
    return draw(g, "curandGenerateUniform", &(struct draw){.distribution = UNIFORM, .to = to, .n = n});
}

LIBRARY_API curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *to, size_t n)
{
    GENERATOR(g, generator);
    return draw(g, "curandGenerateUniformDouble", &(struct draw){.distribution = UNIFORM_DOUBLE, .to = to, .n = n});
}

LIBRARY_API curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *to, size_t n, float mean,
                                                float stddev)
{
    GENERATOR(g, generator);
    return draw(g, "curandGenerateNormal", &(struct draw){NORMAL, to, n, mean, stddev, NULL, 0});
}

LIBRARY_API curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *to, size_t n, double mean,
                                                      double stddev)
{
    GENERATOR(g, generator);
    return draw(g, "curandGenerateNormalDouble", &(struct draw){NORMAL_DOUBLE, to, n, mean, stddev, NULL, 0});
}

LIBRARY_API curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *to, size_t n, float mean,
                                                   float stddev)
{
    GENERATOR(g, generator);
    return draw(g, "curandGenerateLogNormal", &(struct draw){LOG_NORMAL, to, n, mean, stddev, NULL, 0});
}

LIBRARY_API curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *to, size_t n, double mean,
                                                         double stddev)
{
    GENERATOR(g, generator);
    return draw(g, "curandGenerateLogNormalDouble", &(struct draw){LOG_NORMAL_DOUBLE, to, n, mean, stddev, NULL, 0});
}

/* At which lambda a generator changes from the histogram to sums, or to normal numbers. */
static enum poisson_way poisson_way_of(curandRngType_t type, double lambda)
{
    double sums = POISSON_FIRST_NORMAL, normal = POISSON_FIRST_NORMAL;
    switch (type) {
    case CURAND_RNG_PSEUDO_MTGP32:
        sums = 32;
        normal = 0x1.f400000000001p12; /* 8000 is the last one before */
        break;
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
        sums = 10;
        normal = 0x1.f400000000001p12;
        break;
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64: sums = 0; break;
    default: break;
    }
    return lambda < sums ? POISSON_HISTOGRAM : lambda < normal ? POISSON_SUMS : POISSON_NORMAL;
}

static curandStatus_t draw_poisson(struct generator *g, const char *call, unsigned *to, size_t n, double lambda,
                                   enum poisson_way way)
{
    curandStatus_t status = CURAND_STATUS_OUT_OF_RANGE;
    if (!poisson_has(lambda))
        library_failed(call, "lambda is %g; it has to be above 0, and at most 400,000", lambda);
    else
        status = check(g, call, &(struct draw){.distribution = POISSON, .n = n});
    if (status || n == 0)
        return status;
    const struct draw d = {.distribution = POISSON, .to = to, .n = n, .table = poisson_new(lambda, way)};
    return d.table ? draw(g, call, &d) : CURAND_STATUS_ALLOCATION_FAILED;
}

LIBRARY_API curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned *to, size_t n, double lambda)
{
    GENERATOR(g, generator);
    return draw_poisson(g, "curandGeneratePoisson", to, n, lambda, poisson_way_of(g->options.type, lambda));
}

/* An H200 has two of the methods: the device API's, and the histogram, which neither host
 * generators nor MT19937 have. */
LIBRARY_API curandStatus_t curandGeneratePoissonMethod(curandGenerator_t generator, unsigned *to, size_t n,
                                                       double lambda, curandMethod_t method)
{
    static const char call[] = "curandGeneratePoissonMethod";
    GENERATOR(g, generator);
    const bool mt19937 = g->options.type == CURAND_RNG_PSEUDO_MT19937;
    if (method == CURAND_3RD && g->options.host)
        return CURAND_STATUS_PREEXISTING_FAILURE;
    if (method == CURAND_3RD && !mt19937 && lambda < POISSON_FIRST_NORMAL)
        return draw_poisson(g, call, to, n, lambda, POISSON_HISTOGRAM);
    if (method == CURAND_DEVICE_API && !mt19937)
        LIBRARY_REFUSE("CURAND_DEVICE_API of curandGeneratePoissonMethod");
    else if (method == CURAND_3RD && !mt19937)
        LIBRARY_REFUSE("CURAND_3RD of curandGeneratePoissonMethod for a lambda of 2,000 and more");
    else
        library_failed(call, "the generator has no method %d", (int)method);
    return CURAND_STATUS_INTERNAL_ERROR;
}
