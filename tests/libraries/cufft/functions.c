/* libcufft as its users have it: what it computes beside sums in double, what it answers to wrong
 * arguments beside what an H200 answered. */
#include <complex.h>
#include <cuda_runtime_api.h>
#include <cufftXt.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>

#include "../../cuda/tap.h"

typedef double complex number;
#define DONE(call) CHECK((call) == 0)

/* ---- sums in double ---- */

enum { RANK = 3 };

struct shape {
    int rank, n[RANK];
};

static int elements(const struct shape *s)
{
    int all = 1;
    for (int a = 0; a < s->rank; a++)
        all *= s->n[a];
    return all;
}

static void sum_line(number *at, int n, int stride, int sign)
{
    number *line = malloc((size_t)n * sizeof *line);
    for (int k = 0; k < n; k++) {
        line[k] = 0;
        for (int i = 0; i < n; i++)
            line[k] += at[i * stride] * cexp(sign * 2 * M_PI * I * (double)((long)i * k % n) / n);
    }
    for (int k = 0; k < n; k++)
        at[k * stride] = line[k];
    free(line);
}

static void sum(number *at, const struct shape *s, int sign)
{
    int all = elements(s), stride = all;
    for (int a = 0; a < s->rank; a++) {
        stride /= s->n[a];
        for (int o = 0; o < all / s->n[a]; o++)
            sum_line(at + o / stride * stride * s->n[a] + o % stride, s->n[a], stride, sign);
    }
}

static double random_number(void)
{
    static unsigned state = 1;
    state = state * 1664525 + 1013904223;
    return (double)(state >> 8) / (1 << 24) - 0.5;
}

/* ---- a transform in any layout ---- */

enum kind { COMPLEX, FROM_REAL, TO_REAL };

struct layout {
    int embed[RANK], stride, distance;
};

struct trial {
    enum kind kind;
    bool is_double, in_place, advanced;
    int batch, direction;
    struct shape shape;
    struct layout in, out;
};

/* Rows, columns and so on of a side: the half of the last axis that a real transform keeps. */
static int length(const struct trial *t, bool out, int axis)
{
    bool halved = t->kind == (out ? FROM_REAL : TO_REAL) && axis == t->shape.rank - 1;
    return halved ? t->shape.n[axis] / 2 + 1 : t->shape.n[axis];
}

static struct layout usual(const struct trial *t, bool out)
{
    struct layout l = {.stride = 1, .distance = 1};
    bool pads = t->in_place && t->kind == (out ? TO_REAL : FROM_REAL);
    for (int a = t->shape.rank - 1; a >= 0; a--) {
        l.embed[a] = pads && a == t->shape.rank - 1 ? 2 * (t->shape.n[a] / 2 + 1) : length(t, out, a);
        l.distance *= l.embed[a];
    }
    return l;
}

static struct layout wide(const struct trial *t, bool out)
{
    struct layout l = {.stride = 2 + out, .distance = 2 + out};
    for (int a = t->shape.rank - 1; a >= 0; a--) {
        l.embed[a] = length(t, out, a) + 1 + out;
        l.distance *= l.embed[a];
    }
    l.distance += 3;
    return l;
}

/* Calls visit for each element of a side: its place there, and its place in the whole array. */
static void each(const struct trial *t, bool out, void (*visit)(void *data, int at, int whole), void *data)
{
    const struct layout *l = out ? &t->out : &t->in;
    int n[RANK] = {1, 1, 1};
    for (int a = 0; a < t->shape.rank; a++)
        n[a] = length(t, out, a);
    for (int b = 0; b < t->batch; b++)
        for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
            int index[RANK] = {i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]}, place = 0, whole = 0;
            for (int a = 0; a < t->shape.rank; a++) {
                place = (a ? place * l->embed[a] : 0) + index[a];
                whole = whole * t->shape.n[a] + index[a];
            }
            visit(data, b * l->distance + place * l->stride, b * elements(&t->shape) + whole);
        }
}

struct visit {
    const struct trial *t;
    void *at;
    number *whole;
    double worst, largest;
};

static void put(void *data, int at, int whole)
{
    struct visit *v = data;
    number x = v->whole[whole];
    if (v->t->kind == FROM_REAL)
        v->t->is_double ? (((double *)v->at)[at] = creal(x)) : (double)(((float *)v->at)[at] = (float)creal(x));
    else if (v->t->is_double)
        ((number *)v->at)[at] = x;
    else
        ((float complex *)v->at)[at] = (float complex)x;
}

static void compare(void *data, int at, int whole)
{
    struct visit *v = data;
    number want = v->whole[whole], got;
    if (v->t->kind == TO_REAL) {
        want = creal(want);
        got = v->t->is_double ? ((double *)v->at)[at] : ((float *)v->at)[at];
    } else
        got = v->t->is_double ? ((number *)v->at)[at] : ((float complex *)v->at)[at];
    v->worst = fmax(v->worst, cabs(got - want));
    v->largest = fmax(v->largest, cabs(want));
}

static cufftType type_of(const struct trial *t)
{
    static const cufftType types[][2] = {{CUFFT_C2C, CUFFT_Z2Z}, {CUFFT_R2C, CUFFT_D2Z}, {CUFFT_C2R, CUFFT_Z2D}};
    return types[t->kind][t->is_double];
}

static cufftResult make(cufftHandle *plan, struct trial *t)
{
    int *n = t->shape.n;
    if (t->advanced)
        return cufftPlanMany(plan, t->shape.rank, n, t->in.embed, t->in.stride, t->in.distance, t->out.embed,
                             t->out.stride, t->out.distance, type_of(t), t->batch);
    if (t->batch > 1)
        return cufftPlanMany(plan, t->shape.rank, n, NULL, 0, 0, NULL, 0, 0, type_of(t), t->batch);
    return t->shape.rank == 1   ? cufftPlan1d(plan, n[0], type_of(t), 1)
           : t->shape.rank == 2 ? cufftPlan2d(plan, n[0], n[1], type_of(t))
                                : cufftPlan3d(plan, n[0], n[1], n[2], type_of(t));
}

static void try(struct trial t)
{
    enum { ROOM = 1 << 18 };
    cufftHandle plan;
    void *in, *out;
    t.in = t.advanced ? wide(&t, false) : usual(&t, false);
    t.out = t.advanced ? wide(&t, true) : usual(&t, true);
    t.direction = t.kind == FROM_REAL ? CUFFT_FORWARD : t.kind == TO_REAL ? CUFFT_INVERSE : t.direction;
    DONE(cudaMallocManaged(&in, ROOM, cudaMemAttachGlobal));
    DONE(cudaMallocManaged(&out, ROOM, cudaMemAttachGlobal));
    int all = elements(&t.shape);
    number *whole = malloc((size_t)(all * t.batch) * sizeof *whole);
    for (int b = 0; b < t.batch; b++) {
        for (int i = 0; i < all; i++)
            whole[b * all + i] = random_number() + (t.kind == COMPLEX ? random_number() * I : 0);
        if (t.kind == TO_REAL)
            sum(whole + b * all, &t.shape, -1);
    }
    struct visit v = {.t = &t, .at = in, .whole = whole};
    each(&t, false, put, &v);
    DONE(make(&plan, &t));
    DONE(cufftXtExec(plan, in, t.in_place ? in : out, t.direction));
    DONE(cudaDeviceSynchronize());
    for (int b = 0; b < t.batch; b++)
        sum(whole + b * all, &t.shape, t.direction);
    v.at = t.in_place ? in : out;
    each(&t, true, compare, &v);
    if (v.worst > v.largest * (t.is_double ? 4e-15 : 2e-6)) {
        printf("# rank %d, %d x %d x %d, kind %d, double %d, batch %d, in place %d, advanced %d: off by %g of %g\n",
               t.shape.rank, t.shape.n[0], t.shape.n[1], t.shape.n[2], t.kind, t.is_double, t.batch, t.in_place,
               t.advanced, v.worst, v.largest);
        bad++;
    }
    DONE(cufftDestroy(plan));
    DONE(cudaFree(in));
    DONE(cudaFree(out));
    free(whole);
}

static void transforms_agree_with_sums_in_every_layout(void)
{
    static const struct shape shapes[] = {{1, {1}},       {1, {2}},       {1, {7}},       {1, {16}},     {1, {127}},
                                          {1, {360}},     {2, {4, 6}},    {2, {5, 7}},    {2, {24, 40}}, {2, {1, 1}},
                                          {3, {3, 4, 5}}, {3, {2, 3, 8}}, {3, {7, 1, 2}}, {1, {243}}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned bits = 0; bits < 96; bits++) {
            struct trial t = {.kind = (enum kind)(bits % 3),
                              .is_double = bits / 3 & 1,
                              .in_place = bits / 6 & 1,
                              .advanced = bits / 12 & 1,
                              .batch = bits / 24 & 1 ? 3 : 1,
                              .direction = bits / 48 & 1 ? CUFFT_INVERSE : CUFFT_FORWARD,
                              .shape = shapes[s]};
            if (t.kind == COMPLEX || bits < 48)
                try(t);
        }
}

/* Bits of an H200's answer to what has no Hermitian symmetry: the imaginary parts of the first and
 * the middle number count as 0. */
static void imaginary_parts_that_cannot_be_are_left_out(void)
{
    static const float complex in[16] = {2 - 3 * I, 2 + I,     -4 - I,    -4 + 2 * I, -3 + 4 * I, -3 - 4 * I,
                                         -4 + I,    3 + 2 * I, 2 - 2 * I, 1,          -4 - 2 * I, 4 * I,
                                         2 + 4 * I, 3 + 3 * I, 4 - I,     4 - 4 * I};
    static const double want[24] = {-4,       16.1962, 5.80385,  -22,      16.1962, 5.80385, 2,        40.7846,
                                    -19.4641, -10,     -12.5359, -0.78461, -16,     28.732,  -9.66025, -6,
                                    7.66025,  25.2679, -6,       -37.7128, 9.4641,  14,      2.5359,   17.7128};
    float complex *from;
    float *to;
    cufftHandle plan;
    DONE(cudaMallocManaged((void **)&from, sizeof in, cudaMemAttachGlobal));
    DONE(cudaMallocManaged((void **)&to, 24 * sizeof *to, cudaMemAttachGlobal));
    memcpy(from, in, sizeof in);
    DONE(cufftPlan2d(&plan, 4, 6, CUFFT_C2R));
    DONE(cufftExecC2R(plan, (cufftComplex *)from, to));
    DONE(cudaDeviceSynchronize());
    for (int i = 0; i < 24; i++)
        CHECK(fabs(to[i] - want[i]) < 1e-3);
    DONE(cufftDestroy(plan));
    DONE(cudaFree(from));
    DONE(cudaFree(to));
}

/* ---- halves ---- */

static double half_of(unsigned short bits, bool is_bfloat)
{
    unsigned wide = (unsigned)bits << 16;
    float f;
    _Float16 h;
    memcpy(&f, &wide, sizeof f);
    memcpy(&h, &bits, sizeof h);
    return is_bfloat ? f : (double)h;
}

/* n random numbers as an H200 had them, and the first of what it answered. */
static void halves_are_as_an_H200_has_them(void)
{
    static const unsigned short in[2][16] = {{0xb01d, 0xb5f8, 0xbb4b, 0xba22, 0xb240, 0xb48f, 0x3112, 0x391c, 0x319c,
                                              0xb4f1, 0x39b5, 0xb8c4, 0xbbb5, 0xb32b, 0xaf1c, 0xba70},
                                             {0xbe04, 0xbebf, 0xbf69, 0xbf44, 0xbe48, 0xbe92, 0x3e22, 0x3f24, 0x3e34,
                                              0xbe9e, 0x3f37, 0xbf18, 0xbf77, 0xbe65, 0xbde4, 0xbf4e}};
    static const unsigned short want[2][16] = {{0xbd0c, 0xc170, 0xba6f, 0xbc10, 0x2080, 0x2ca8, 0x3ffb, 0x419c, 0xbbaf,
                                                0x3568, 0x2cc8, 0xb930, 0x40ce, 0xb6b2, 0xc0f6, 0xbd95},
                                               {0xbfa2, 0xc02e, 0xbf4e, 0xbf82, 0x3c40, 0x3d8e, 0x4000, 0x4034, 0xbf77,
                                                0x3eaa, 0x3d95, 0xbf26, 0x401a, 0xbed4, 0xc01f, 0xbfb3}};
    for (int b = 0; b < 2; b++) {
        cudaDataType type = b ? CUDA_C_16BF : CUDA_C_16F;
        unsigned short *at;
        long long n = 8;
        size_t size;
        cufftHandle plan;
        DONE(cudaMallocManaged((void **)&at, sizeof in[b], cudaMemAttachGlobal));
        memcpy(at, in[b], sizeof in[b]);
        DONE(cufftCreate(&plan));
        DONE(cufftXtMakePlanMany(plan, 1, &n, NULL, 1, 0, type, NULL, 1, 0, type, 1, &size, type));
        DONE(cufftXtExec(plan, at, at, CUFFT_FORWARD));
        DONE(cudaDeviceSynchronize());
        for (int i = 0; i < 16; i++)
            CHECK(fabs(half_of(at[i], b) - half_of(want[b][i], b)) < (b ? 0.02 : 0.004));
        DONE(cufftDestroy(plan));
        DONE(cudaFree(at));
    }
}

/* ---- statuses, as an H200 answered ---- */

static cufftResult many(int rank, int *n, int *in, int in_stride, int in_distance, int *out, int out_stride,
                        int out_distance, int batch)
{
    cufftHandle plan;
    cufftResult r =
        cufftPlanMany(&plan, rank, n, in, in_stride, in_distance, out, out_stride, out_distance, CUFFT_C2C, batch);
    if (!r)
        DONE(cufftDestroy(plan));
    return r;
}

static void wrong_plans_get_the_statuses_of_an_H200(void)
{
    cufftHandle plan = 77;
    int n[4] = {8, 6, 10, 4}, e[3] = {9, 7, 11}, negative[2] = {8, -1}, zeros[2] = {0, 0};
    CHECK(cufftPlan1d(NULL, 0, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE);
    CHECK(cufftPlan1d(&plan, 0, (cufftType)9, 1) == CUFFT_INVALID_TYPE);
    CHECK(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE && plan == 0);
    CHECK(cufftPlan1d(&plan, 16, CUFFT_C2C, -1) == CUFFT_INVALID_SIZE);
    CHECK(cufftPlan2d(&plan, 0, 4, CUFFT_R2C) == CUFFT_INVALID_SIZE);
    CHECK(cufftPlan2d(&plan, 4, 0, CUFFT_R2C) == CUFFT_INTERNAL_ERROR);
    CHECK(cufftPlan2d(&plan, 4, 0, CUFFT_C2C) == CUFFT_SUCCESS);
    DONE(cufftDestroy(plan));
    CHECK(many(0, n, NULL, 1, 0, NULL, 1, 0, 1) == CUFFT_INVALID_VALUE);
    CHECK(many(4, n, NULL, 1, 0, NULL, 1, 0, 1) == CUFFT_INVALID_VALUE);
    CHECK(many(1, NULL, NULL, 1, 0, NULL, 1, 0, 1) == CUFFT_INVALID_VALUE);
    CHECK(many(2, n, NULL, 1, 0, NULL, 1, 0, 0) == CUFFT_INVALID_SIZE);
    CHECK(many(2, n, NULL, -1, -1, NULL, 0, 0, 2) == CUFFT_SUCCESS);
    CHECK(many(2, n, e, 1, 63, e, 1, 63, 1) == CUFFT_SUCCESS);
    CHECK(many(2, n, e, 1, 63, NULL, 1, 63, 1) == CUFFT_INVALID_VALUE);
    CHECK(many(2, n, NULL, 1, 63, e, 1, 63, 1) == CUFFT_INVALID_VALUE);
    CHECK(many(2, n, e, 0, 63, e, 1, 63, 1) == CUFFT_INVALID_VALUE);
    CHECK(many(2, n, e, 1, 63, e, 1, 0, 1) == CUFFT_INVALID_VALUE);
    CHECK(many(2, n, zeros, 1, 63, e, 1, 63, 1) == CUFFT_SUCCESS);
    CHECK(many(2, n, negative, 1, 63, e, 1, 63, 1) == CUFFT_INVALID_SIZE);
    CHECK(cufftDestroy(CUFFT_PLAN_NULL) == CUFFT_SUCCESS);
    CHECK(cufftDestroy(0) == CUFFT_INVALID_PLAN);
    CHECK(cufftCreate(NULL) == CUFFT_INVALID_VALUE);
}

static void plans_are_made_once(void)
{
    cufftHandle plan;
    size_t size;
    DONE(cufftCreate(&plan));
    CHECK(cufftGetSize(plan, &size) == CUFFT_INVALID_PLAN);
    CHECK(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, NULL) == CUFFT_INVALID_VALUE);
    CHECK(cufftMakePlan1d(plan, 0, CUFFT_C2C, 1, &size) == CUFFT_INVALID_SIZE);
    CHECK(cufftMakePlan1d(plan, 8, (cufftType)1, 1, &size) == CUFFT_INVALID_TYPE);
    CHECK(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &size) == CUFFT_SUCCESS);
    CHECK(cufftMakePlan2d(plan, 8, 8, CUFFT_C2C, &size) == CUFFT_INVALID_PLAN);
    CHECK(cufftMakePlan1d(123456, 0, CUFFT_C2C, 1, &size) == CUFFT_INVALID_PLAN);
    CHECK(cufftGetSize1d(plan, 0, CUFFT_C2C, 1, &size) == CUFFT_INVALID_SIZE);
    CHECK(cufftEstimate1d(8, CUFFT_C2C, 1, NULL) == CUFFT_INVALID_VALUE);
    CHECK(cufftEstimate3d(8, 8, 0, CUFFT_C2C, &size) == CUFFT_SUCCESS);
    DONE(cufftDestroy(plan));
    CHECK(cufftDestroy(plan) == CUFFT_INVALID_PLAN);
}

static cufftResult typed(cudaDataType in, cudaDataType out, cudaDataType execution, long long n)
{
    cufftHandle plan;
    size_t size;
    DONE(cufftCreate(&plan));
    cufftResult r = cufftXtMakePlanMany(plan, 1, &n, NULL, 1, 0, in, NULL, 1, 0, out, 1, &size, execution);
    DONE(cufftDestroy(plan));
    return r;
}

static void pairs_of_types_that_an_H200_has(void)
{
    static const cudaDataType real[] = {CUDA_R_16F, CUDA_R_32F, CUDA_R_64F, CUDA_R_16BF},
                              complex_[] = {CUDA_C_16F, CUDA_C_32F, CUDA_C_64F, CUDA_C_16BF};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            cufftResult want = i == j ? CUFFT_SUCCESS : CUFFT_INVALID_TYPE;
            CHECK(typed(complex_[i], complex_[i], complex_[j], 16) == want);
            CHECK(typed(real[i], complex_[i], real[j], 16) == want);
            CHECK(typed(complex_[i], real[j], complex_[i], 16) == want);
            CHECK(typed(real[i], real[j], complex_[i], 16) == CUFFT_INVALID_TYPE);
        }
    CHECK(typed(CUDA_C_16F, CUDA_C_16F, CUDA_C_16F, 12) == CUFFT_NOT_SUPPORTED);
    CHECK(typed(CUDA_C_16BF, CUDA_C_16BF, CUDA_C_16BF, 3) == CUFFT_NOT_SUPPORTED);
    CHECK(typed(CUDA_C_16F, CUDA_C_16F, CUDA_C_16F, 1) == CUFFT_SUCCESS);
}

static void a_plan_says_what_is_executed_and_the_function_where_to(void)
{
    cufftHandle plan;
    float complex *at;
    DONE(cudaMallocManaged((void **)&at, 64 * sizeof *at, cudaMemAttachGlobal));
    DONE(cufftPlan1d(&plan, 16, CUFFT_R2C, 1));
    CHECK(cufftExecC2C(plan, (cufftComplex *)at, (cufftComplex *)at, CUFFT_FORWARD) == CUFFT_SUCCESS);
    CHECK(cufftExecC2C(plan, (cufftComplex *)at, (cufftComplex *)at, CUFFT_INVERSE) == CUFFT_INVALID_VALUE);
    CHECK(cufftExecC2R(plan, (cufftComplex *)at, (cufftReal *)at) == CUFFT_INVALID_VALUE);
    CHECK(cufftXtExec(plan, at, at, 0) == CUFFT_INVALID_VALUE);
    DONE(cufftDestroy(plan));
    DONE(cufftPlan1d(&plan, 16, CUFFT_C2C, 1));
    CHECK(cufftExecC2C(plan, (cufftComplex *)at, (cufftComplex *)at, 7) == CUFFT_INVALID_VALUE);
    CHECK(cufftExecR2C(plan, (cufftReal *)at, (cufftComplex *)at) == CUFFT_SUCCESS);
    CHECK(cufftExecC2C(plan, (cufftComplex *)((char *)at + 4), (cufftComplex *)at, CUFFT_FORWARD) ==
          CUFFT_INVALID_VALUE);
    CHECK(cufftExecC2C(plan, (cufftComplex *)at, NULL, CUFFT_FORWARD) == CUFFT_EXEC_FAILED);
    DONE(cufftDestroy(plan));
    DONE(cufftPlan1d(&plan, 16, CUFFT_D2Z, 1));
    CHECK(cufftExecD2Z(plan, (cufftDoubleReal *)(at + 1), (cufftDoubleComplex *)at) == CUFFT_INVALID_VALUE);
    DONE(cufftDestroy(plan));
    CHECK(cufftExecC2C(plan, (cufftComplex *)at, (cufftComplex *)at, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
    DONE(cudaDeviceSynchronize());
    DONE(cudaFree(at));
}

static void properties_are_kept_until_a_plan_is_made(void)
{
    cufftHandle plan;
    long long value = 5;
    size_t size;
    DONE(cufftCreate(&plan));
    CHECK(cufftGetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, &value) == CUFFT_SUCCESS &&
          value == 0);
    CHECK(cufftSetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1) == CUFFT_SUCCESS);
    CHECK(cufftGetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, &value) == CUFFT_SUCCESS &&
          value == 1);
    CHECK(cufftSetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS, 4) == CUFFT_NOT_SUPPORTED);
    CHECK(cufftSetPlanPropertyInt64(plan, (cufftProperty)9, 4) == CUFFT_INVALID_VALUE);
    DONE(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &size));
    CHECK(cufftSetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1) == CUFFT_NOT_SUPPORTED);
    DONE(cufftDestroy(plan));
}

static void long_plans_want_the_work_area_that_an_H200_wants(void)
{
    static const struct {
        int n;
        cufftType type;
        size_t bytes;
    } sizes[] = {{4096, CUFFT_C2C, 0},           {1 << 20, CUFFT_C2C, 8388608}, {1 << 20, CUFFT_R2C, 4194312},
                 {1 << 20, CUFFT_Z2Z, 16777216}, {30030, CUFFT_C2C, 240240},    {30030, CUFFT_R2C, 120128}};
    cufftHandle plan;
    size_t size = 1;
    void *at;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        CHECK(cufftEstimate1d(sizes[i].n, sizes[i].type, 1, &size) == CUFFT_SUCCESS && size == sizes[i].bytes);
    DONE(cudaMalloc(&at, 30030 * sizeof(cufftComplex)));
    DONE(cudaMemset(at, 0, 30030 * sizeof(cufftComplex)));
    DONE(cufftCreate(&plan));
    DONE(cufftSetAutoAllocation(plan, 0));
    DONE(cufftMakePlan1d(plan, 30030, CUFFT_C2C, 1, &size));
    CHECK(cufftExecC2C(plan, at, at, CUFFT_FORWARD) == CUFFT_NO_WORKSPACE);
    DONE(cufftSetWorkArea(plan, at));
    DONE(cufftExecC2C(plan, at, at, CUFFT_FORWARD));
    DONE(cudaDeviceSynchronize());
    DONE(cufftDestroy(plan));
    DONE(cudaFree(at));
}

static void callbacks_and_several_devices_are_refused(void)
{
    cufftHandle plan;
    void *callback = NULL;
    int devices[2] = {0, 0};
    DONE(cufftPlan1d(&plan, 16, CUFFT_C2C, 1));
    CHECK(cufftXtSetCallback(plan, &callback, CUFFT_CB_LD_COMPLEX, NULL) == CUFFT_NOT_IMPLEMENTED);
    CHECK(cufftXtSetGPUs(plan, 2, devices) == CUFFT_INVALID_PLAN); /* it is made */
    DONE(cufftDestroy(plan));
    DONE(cufftCreate(&plan));
    CHECK(cufftXtSetGPUs(plan, 0, devices) == CUFFT_INVALID_VALUE &&
          cufftXtSetGPUs(plan, 1, devices) == CUFFT_INVALID_VALUE);
    CHECK(cufftXtSetGPUs(plan, 2, NULL) == CUFFT_INVALID_VALUE);
    CHECK(cufftXtSetGPUs(plan, 2, devices) == CUFFT_NOT_IMPLEMENTED);
    devices[1] = 99;
    CHECK(cufftXtSetGPUs(plan, 2, devices) == CUFFT_INVALID_DEVICE);
    DONE(cufftDestroy(plan));
}

/* ---- work of streams ---- */

static void executions_are_in_the_order_of_their_stream(void)
{
    enum { N = 4096 };
    cudaStream_t streams[2];
    cufftHandle plan;
    float complex *at, back[N];
    DONE(cudaMallocManaged((void **)&at, N * sizeof *at, cudaMemAttachGlobal));
    DONE(cufftPlan1d(&plan, N, CUFFT_C2C, 1));
    for (int s = 0; s < 2; s++) {
        DONE(cudaStreamCreate(&streams[s]));
        for (int i = 0; i < N; i++)
            at[i] = i % 7 - 3;
        DONE(cufftSetStream(plan, streams[s]));
        for (int round = 0; round < 3; round++) {
            DONE(cufftExecC2C(plan, (cufftComplex *)at, (cufftComplex *)at, CUFFT_FORWARD));
            DONE(cufftExecC2C(plan, (cufftComplex *)at, (cufftComplex *)at, CUFFT_INVERSE));
        }
        DONE(cudaMemcpyAsync(back, at, sizeof back, cudaMemcpyDeviceToHost, streams[s]));
        DONE(cudaStreamSynchronize(streams[s]));
        for (int i = 0; i < N; i++)
            CHECK(cabsf(back[i] / powf(N, 3) - (float)(i % 7 - 3)) < 1e-4f);
        DONE(cudaStreamDestroy(streams[s]));
    }
    DONE(cufftDestroy(plan));
    DONE(cudaFree(at));
}

static void executions_are_captured_and_outlive_their_plan(void)
{
    enum { N = 64 };
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cufftHandle plan;
    double complex *at;
    DONE(cudaMallocManaged((void **)&at, N * sizeof *at, cudaMemAttachGlobal));
    DONE(cudaStreamCreate(&stream));
    DONE(cufftPlan1d(&plan, N, CUFFT_Z2Z, 1));
    DONE(cufftSetStream(plan, stream));
    DONE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    DONE(cufftExecZ2Z(plan, (cufftDoubleComplex *)at, (cufftDoubleComplex *)at, CUFFT_FORWARD));
    DONE(cudaStreamEndCapture(stream, &graph));
    DONE(cudaGraphInstantiate(&exec, graph, 0));
    DONE(cufftDestroy(plan));
    for (int round = 1; round < 4; round++) {
        for (int i = 0; i < N; i++)
            at[i] = round;
        DONE(cudaGraphLaunch(exec, stream));
        DONE(cudaStreamSynchronize(stream));
        CHECK(cabs(at[0] - N * round) < 1e-12 && cabs(at[1]) < 1e-12);
    }
    DONE(cudaGraphExecDestroy(exec));
    DONE(cudaGraphDestroy(graph));
    DONE(cudaStreamDestroy(stream));
    DONE(cudaFree(at));
}

static void *transform_there_and_back(void *unused)
{
    (void)unused;
    for (int n = 2; n < 60; n++) {
        cufftHandle plan;
        double complex *at;
        bool same = true;
        if (cudaMallocManaged((void **)&at, (size_t)n * sizeof *at, cudaMemAttachGlobal) ||
            cufftPlan1d(&plan, n, CUFFT_Z2Z, 1))
            return "failed";
        for (int i = 0; i < n; i++)
            at[i] = i;
        same = !cufftExecZ2Z(plan, (cufftDoubleComplex *)at, (cufftDoubleComplex *)at, CUFFT_FORWARD) &&
               !cufftExecZ2Z(plan, (cufftDoubleComplex *)at, (cufftDoubleComplex *)at, CUFFT_INVERSE) &&
               !cudaDeviceSynchronize();
        for (int i = 0; i < n; i++)
            same = same && cabs(at[i] / n - i) < 1e-12;
        if (!same || cufftDestroy(plan) || cudaFree(at))
            return "wrong";
    }
    return NULL;
}

static void threads_have_plans_of_their_own(void)
{
    pthread_t thread[2];
    void *said;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&thread[i], NULL, transform_there_and_back, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(thread[i], &said) == 0 && said == NULL);
}

int main(void)
{
    RUN(transforms_agree_with_sums_in_every_layout);
    RUN(imaginary_parts_that_cannot_be_are_left_out);
    RUN(halves_are_as_an_H200_has_them);
    RUN(wrong_plans_get_the_statuses_of_an_H200);
    RUN(plans_are_made_once);
    RUN(pairs_of_types_that_an_H200_has);
    RUN(a_plan_says_what_is_executed_and_the_function_where_to);
    RUN(properties_are_kept_until_a_plan_is_made);
    RUN(long_plans_want_the_work_area_that_an_H200_wants);
    RUN(callbacks_and_several_devices_are_refused);
    RUN(executions_are_in_the_order_of_their_stream);
    RUN(executions_are_captured_and_outlive_their_plan);
    RUN(threads_have_plans_of_their_own);
    return summary();
}
