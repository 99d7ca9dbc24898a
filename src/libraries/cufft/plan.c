/* See plan.h. */
#include "libraries/cufft/plan.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- what is asked for ---- */

bool plan_types(cufftType type, cudaDataType *in, cudaDataType *out)
{
    switch (type) {
    case CUFFT_C2C: *in = *out = CUDA_C_32F; return true;
    case CUFFT_Z2Z: *in = *out = CUDA_C_64F; return true;
    case CUFFT_R2C: *in = CUDA_R_32F, *out = CUDA_C_32F; return true;
    case CUFFT_D2Z: *in = CUDA_R_64F, *out = CUDA_C_64F; return true;
    case CUFFT_C2R: *in = CUDA_C_32F, *out = CUDA_R_32F; return true;
    case CUFFT_Z2D: *in = CUDA_C_64F, *out = CUDA_R_64F; return true;
    }
    return false;
}

static const struct type {
    cudaDataType real, complex;
    enum transform_type type;
} types[] = {{CUDA_R_16F, CUDA_C_16F, TRANSFORM_HALF},
             {CUDA_R_16BF, CUDA_C_16BF, TRANSFORM_BFLOAT},
             {CUDA_R_32F, CUDA_C_32F, TRANSFORM_FLOAT},
             {CUDA_R_64F, CUDA_C_64F, TRANSFORM_DOUBLE}};

/* Both sides and the execution must have one precision; a real type is accepted for the execution,
   too. */
static cufftResult set_types(struct transform *t, cudaDataType in, cudaDataType out, cudaDataType execution)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const struct type *p = &types[i];
        if (execution != p->complex && execution != p->real)
            continue;
        t->type = p->type;
        t->kind = in == p->real ? TRANSFORM_FROM_REAL : out == p->real ? TRANSFORM_TO_REAL : TRANSFORM_COMPLEX;
        bool from = in == p->complex || (in == p->real && out == p->complex);
        bool to = out == p->complex || (out == p->real && in == p->complex);
        return from && to ? CUFFT_SUCCESS : CUFFT_INVALID_TYPE;
    }
    return CUFFT_INVALID_TYPE;
}

static struct transform_layout layout_of(const struct plan_side *side, unsigned rank)
{
    struct transform_layout l = {.distance = side->distance};
    int64_t stride = side->stride;
    for (unsigned a = rank; a-- > 0; stride *= side->embed[a])
        l.stride[a] = stride;
    return l;
}

/* The largest prime factor over `most`, possibly n itself; 0 if there is none. */
static long long large_factor(long long n, long long most)
{
    for (long long f = 2; f * f <= n; f++)
        while (n % f == 0 && n > f) {
            if (f > most)
                return f;
            n /= f;
        }
    return n > most ? n : 0;
}

/* Lengths that an H200 does not transform (recorded): halves from 2^31 elements on, and lengths
 * with a large prime factor from 2^30 on. */
enum { SMALL_FACTOR = 127 };

static cufftResult check_length(const struct transform *t, long long n)
{
    if (t->type <= TRANSFORM_BFLOAT && n & (n - 1))
        return CUFFT_NOT_SUPPORTED;
    if (t->type <= TRANSFORM_BFLOAT && n >= 1ll << 31)
        return CUFFT_INVALID_SIZE;
    long long factor = n >= 1ll << 30 && n & (n - 1) ? large_factor(n, SMALL_FACTOR) : 0;
    return factor == 0 ? CUFFT_SUCCESS : factor == n ? CUFFT_INVALID_PLAN : CUFFT_INTERNAL_ERROR;
}

bool plan_convolves(const struct plan *p)
{
    for (unsigned a = 0; a < p->transform.rank; a++)
        if (large_factor(p->transform.n[a], SMALL_FACTOR))
            return true;
    return false;
}

/* Like an H200: of the lengths, cuFFT checks the first, and the last if one side is real; a plan
 * without elements is valid. */
static cufftResult set_lengths(struct transform *t, const struct plan_request *r)
{
    bool is_empty = false;
    if (r->n[0] < 1 || r->batch < 1)
        return CUFFT_INVALID_SIZE;
    if (t->kind != TRANSFORM_COMPLEX && r->n[t->rank - 1] < 1)
        return CUFFT_INTERNAL_ERROR;
    for (unsigned a = 0; a < t->rank; a++) {
        is_empty = is_empty || r->n[a] < 1;
        t->n[a] = r->n[a] < 1 ? 1 : r->n[a];
        cufftResult wrong = check_length(t, r->n[a]);
        if (wrong)
            return wrong;
    }
    t->batch = is_empty ? 0 : r->batch;
    return CUFFT_SUCCESS;
}

/* Either both sides have a layout, or neither. */
static cufftResult set_layouts(struct plan *p, struct transform *t, const struct plan_request *r)
{
    const struct plan_side *sides[] = {&r->in, &r->out};
    p->is_basic = !r->in.embed && !r->out.embed;
    if (p->is_basic) {
        t->from = transform_packed(t, TRANSFORM_SIDE_FROM, false);
        t->to = transform_packed(t, TRANSFORM_SIDE_TO, false);
        return CUFFT_SUCCESS;
    }
    for (int i = 0; i < 2; i++)
        if (!sides[i]->embed || sides[i]->stride < 1 || sides[i]->distance < 1)
            return CUFFT_INVALID_VALUE;
    for (unsigned a = 0; a < t->rank; a++)
        if (r->in.embed[a] < 0 || r->out.embed[a] < 0)
            return CUFFT_INVALID_SIZE;
    t->from = layout_of(&r->in, t->rank);
    t->to = layout_of(&r->out, t->rank);
    return CUFFT_SUCCESS;
}

/* No work area is needed here. The original needs one for lengths that a kernel cannot do at once:
 * reports the size it has for lengths without large prime factors, so that programs get the sizes
 * and statuses they expect. */
enum { LONGEST_AT_ONCE = 4096 };

static size_t work_bytes(const struct transform *t)
{
    enum transform_side complex_side = t->kind == TRANSFORM_FROM_REAL ? TRANSFORM_SIDE_TO : TRANSFORM_SIDE_FROM;
    size_t bytes = transform_element_bytes(t, complex_side) * (size_t)t->batch;
    bool is_long = false;
    for (unsigned a = 0; a < t->rank; a++) {
        is_long = is_long || t->n[a] > LONGEST_AT_ONCE;
        bytes *= (size_t)transform_length(t, complex_side, a);
    }
    return is_long ? bytes : 0;
}

cufftResult plan_describe(struct plan *p, const struct plan_request *r)
{
    struct transform t = {0};
    if (!r->n || r->rank < 1 || r->rank > TRANSFORM_RANK)
        return CUFFT_INVALID_VALUE;
    t.rank = (unsigned)r->rank;
    cufftResult result = set_types(&t, r->in.type, r->out.type, r->execution);
    result = result ? result : set_lengths(&t, r);
    result = result ? result : set_layouts(p, &t, r);
    if (!result) {
        p->transform = t;
        p->work_bytes = work_bytes(&t);
    }
    return result;
}

/* ---- the table: small numbers, as programs take them for ints ---- */

static struct {
    pthread_mutex_t lock;
    struct plan **at; /* NULL: free */
    size_t n;
} plans = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool place_of(size_t *place)
{
    for (*place = 0; *place < plans.n; ++*place)
        if (!plans.at[*place])
            return true;
    size_t more = plans.n ? 2 * plans.n : 64;
    struct plan **grown = realloc(plans.at, more * sizeof *grown);
    if (!grown)
        return false;
    for (size_t i = plans.n; i < more; i++)
        grown[i] = NULL;
    plans.at = grown;
    plans.n = more;
    return true;
}

cufftResult plans_add(cufftHandle *handle)
{
    struct plan *p = calloc(1, sizeof *p);
    size_t place;
    if (!p)
        return CUFFT_ALLOC_FAILED;
    pthread_mutex_lock(&plans.lock);
    bool added = place_of(&place);
    if (added)
        plans.at[place] = p;
    pthread_mutex_unlock(&plans.lock);
    if (!added) {
        free(p);
        return CUFFT_ALLOC_FAILED;
    }
    *handle = (cufftHandle)place + 1;
    return CUFFT_SUCCESS;
}

static struct plan *look_up(cufftHandle handle)
{
    return handle >= 1 && (size_t)handle <= plans.n ? plans.at[handle - 1] : NULL;
}

struct plan *plans_find(cufftHandle handle)
{
    pthread_mutex_lock(&plans.lock);
    struct plan *p = look_up(handle);
    pthread_mutex_unlock(&plans.lock);
    return p;
}

cufftResult plans_remove(cufftHandle handle)
{
    pthread_mutex_lock(&plans.lock);
    struct plan *p = look_up(handle);
    if (p)
        plans.at[handle - 1] = NULL;
    pthread_mutex_unlock(&plans.lock);
    if (!p)
        return CUFFT_INVALID_PLAN;
    call_later(free, p);
    return CUFFT_SUCCESS;
}
