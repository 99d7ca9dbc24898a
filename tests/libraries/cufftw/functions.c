/* libcufftw as its users have it: what it computes, beside plain sums, of every planner, in memory
 * of the host and of the device. */
#include <complex.h>
#include <cuda_runtime_api.h>
#include <cufftw.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../cuda/tap.h"

typedef double complex number;

enum { RANK = 3, LOOPS = 2, ROOM = 1 << 16, GAP = 77 };
enum kind { COMPLEX, FROM_REAL, TO_REAL };
enum planner { SIZED, BASIC, MANY, GURU, GURU64, PLANNERS };
enum memory { HOST, PINNED, MANAGED, DEVICE, MEMORIES };

struct trial {
    enum kind kind;
    enum planner planner;
    enum memory memory;
    bool is_double, in_place, new_arrays;
    int sign, rank, n[RANK], loops;
    fftw_iodim64 dims[RANK], loop[LOOPS];
    int in_embed[RANK], out_embed[RANK];
};

/* ---- layouts ---- */

static int half(const struct trial *t, bool out, int axis)
{
    bool halved = t->kind == (out ? FROM_REAL : TO_REAL) && axis == t->rank - 1;
    return halved ? t->n[axis] / 2 + 1 : t->n[axis];
}

/* `more` elements between those of an axis, and behind each. */
static ptrdiff_t lay(const struct trial *t, bool out, int more, ptrdiff_t step[RANK], int embed[RANK])
{
    ptrdiff_t at = 1 + more;
    bool pads = t->in_place && t->kind == (out ? TO_REAL : FROM_REAL);
    for (int a = t->rank - 1; a >= 0; a--) {
        embed[a] = pads && a == t->rank - 1 ? 2 * (t->n[a] / 2 + 1 + more) : half(t, out, a) + more;
        step[a] = at;
        at *= embed[a];
    }
    return at;
}

/* Guru's axes of the output are the other way around, which no other planner can say; its second
 * loop is around the first. */
static void set_layout(struct trial *t)
{
    bool is_wide = t->planner >= MANY && !(t->in_place && t->kind != COMPLEX);
    bool turns = t->planner >= GURU && !t->in_place;
    ptrdiff_t in[RANK], out[RANK];
    ptrdiff_t in_all = lay(t, false, is_wide, in, t->in_embed);
    ptrdiff_t out_all = lay(t, true, is_wide && !t->in_place ? 2 : is_wide, out, t->out_embed);
    if (turns)
        for (int a = 0, at = 1; a < t->rank; at *= half(t, true, a++))
            out[a] = out_all = at;
    if (turns)
        out_all *= half(t, true, t->rank - 1);
    for (int a = 0; a < t->rank; a++)
        t->dims[a] = (fftw_iodim64){t->n[a], in[a], out[a]};
    t->loop[0] = (fftw_iodim64){3, in_all, out_all};
    t->loop[1] = (fftw_iodim64){2, 3 * in_all, 3 * out_all};
    t->loops = t->planner < MANY ? 0 : t->planner == MANY ? 1 : 2;
}

/* ---- numbers of an array ---- */

static bool is_real(const struct trial *t, bool out)
{
    return t->kind == (out ? TO_REAL : FROM_REAL);
}

static number get(const struct trial *t, const void *at, bool real, ptrdiff_t i)
{
    if (t->is_double)
        return real ? ((const double *)at)[i] : ((const number *)at)[i];
    return real ? ((const float *)at)[i] : ((const float complex *)at)[i];
}

static void set(const struct trial *t, void *at, bool real, ptrdiff_t i, number x)
{
    if (t->is_double)
        real ? (void)(((double *)at)[i] = creal(x)) : (void)(((number *)at)[i] = x);
    else
        real ? (void)(((float *)at)[i] = (float)creal(x)) : (void)(((float complex *)at)[i] = (float complex)x);
}

/* The place of an element, which is the `i`th of the whole array of turn `turn`; -1: this side does
 * not have it. */
static ptrdiff_t place(const struct trial *t, bool out, int turn, int i)
{
    ptrdiff_t at = 0;
    for (int a = t->rank - 1; a >= 0; i /= t->n[a--]) {
        if (i % t->n[a] >= half(t, out, a))
            return -1;
        at += i % t->n[a] * (out ? t->dims[a].os : t->dims[a].is);
    }
    for (int l = 0; l < t->loops; turn /= (int)t->loop[l++].n)
        at += turn % t->loop[l].n * (out ? t->loop[l].os : t->loop[l].is);
    return at;
}

static int product(const int *n, int rank)
{
    return rank ? n[0] * product(n + 1, rank - 1) : 1;
}

/* to[k] = sum over i of from[i] exp(sign 2 pi i k/n), over all axes. */
static void sum(const struct trial *t, int sign, const number *from, number *to)
{
    int all = product(t->n, t->rank);
    for (int k = 0; k < all; k++) {
        to[k] = 0;
        for (int i = 0; i < all; i++) {
            double turns = 0;
            for (int a = t->rank - 1, ki = k, ii = i; a >= 0; ki /= t->n[a], ii /= t->n[a], a--)
                turns += (double)(ki % t->n[a] * (ii % t->n[a]) % t->n[a]) / t->n[a];
            to[k] += from[i] * cexp(sign * 2 * M_PI * I * turns);
        }
    }
}

static double random_number(void)
{
    static unsigned state = 1;
    state = state * 1664525 + 1013904223;
    return (double)(state >> 8) / (1 << 24) - 0.5;
}

/* ---- planners ---- */

#define MAKE(X, Real)                                                                                                  \
    static void *X##_make(const struct trial *t, void *in, void *out)                                                  \
    {                                                                                                                  \
        const int *n = t->n, *ie = t->in_embed, *oe = t->out_embed, rank = t->rank, many = (int)t->loop[0].n;          \
        int is = (int)t->dims[rank - 1].is, os = (int)t->dims[rank - 1].os, sign = t->sign;                            \
        int id = (int)t->loop[0].is, od = (int)t->loop[0].os;                                                          \
        unsigned f = FFTW_ESTIMATE;                                                                                    \
        X##_iodim d[RANK], l[LOOPS];                                                                                   \
        for (int a = 0; a < rank; a++)                                                                                 \
            d[a] = (X##_iodim){(int)t->dims[a].n, (int)t->dims[a].is, (int)t->dims[a].os};                             \
        for (int a = 0; a < t->loops; a++)                                                                             \
            l[a] = (X##_iodim){(int)t->loop[a].n, (int)t->loop[a].is, (int)t->loop[a].os};                             \
        switch (t->planner * 3 + t->kind) {                                                                            \
        case SIZED * 3 + COMPLEX:                                                                                      \
            return rank == 1   ? X##_plan_dft_1d(n[0], in, out, sign, f)                                               \
                   : rank == 2 ? X##_plan_dft_2d(n[0], n[1], in, out, sign, f)                                         \
                               : X##_plan_dft_3d(n[0], n[1], n[2], in, out, sign, f);                                  \
        case SIZED * 3 + FROM_REAL:                                                                                    \
            return rank == 1   ? X##_plan_dft_r2c_1d(n[0], in, out, f)                                                 \
                   : rank == 2 ? X##_plan_dft_r2c_2d(n[0], n[1], in, out, f)                                           \
                               : X##_plan_dft_r2c_3d(n[0], n[1], n[2], in, out, f);                                    \
        case SIZED * 3 + TO_REAL:                                                                                      \
            return rank == 1   ? X##_plan_dft_c2r_1d(n[0], in, out, f)                                                 \
                   : rank == 2 ? X##_plan_dft_c2r_2d(n[0], n[1], in, out, f)                                           \
                               : X##_plan_dft_c2r_3d(n[0], n[1], n[2], in, out, f);                                    \
        case BASIC * 3 + COMPLEX: return X##_plan_dft(rank, n, in, out, sign, f);                                      \
        case BASIC * 3 + FROM_REAL: return X##_plan_dft_r2c(rank, n, in, out, f);                                      \
        case BASIC * 3 + TO_REAL: return X##_plan_dft_c2r(rank, n, in, out, f);                                        \
        case MANY * 3 + COMPLEX: return X##_plan_many_dft(rank, n, many, in, ie, is, id, out, oe, os, od, sign, f);    \
        case MANY * 3 + FROM_REAL: return X##_plan_many_dft_r2c(rank, n, many, in, ie, is, id, out, oe, os, od, f);    \
        case MANY * 3 + TO_REAL: return X##_plan_many_dft_c2r(rank, n, many, in, ie, is, id, out, oe, os, od, f);      \
        case GURU * 3 + COMPLEX: return X##_plan_guru_dft(rank, d, t->loops, l, in, out, sign, f);                     \
        case GURU * 3 + FROM_REAL: return X##_plan_guru_dft_r2c(rank, d, t->loops, l, in, out, f);                     \
        case GURU * 3 + TO_REAL: return X##_plan_guru_dft_c2r(rank, d, t->loops, l, in, out, f);                       \
        case GURU64 * 3 + COMPLEX: return X##_plan_guru64_dft(rank, t->dims, t->loops, t->loop, in, out, sign, f);     \
        case GURU64 * 3 + FROM_REAL: return X##_plan_guru64_dft_r2c(rank, t->dims, t->loops, t->loop, in, out, f);     \
        case GURU64 * 3 + TO_REAL: return X##_plan_guru64_dft_c2r(rank, t->dims, t->loops, t->loop, in, out, f);       \
        }                                                                                                              \
        return NULL;                                                                                                   \
    }                                                                                                                  \
    static void X##_do(const struct trial *t, void *in, void *out)                                                     \
    {                                                                                                                  \
        static Real other[2];                                                                                          \
        void *planned_in = t->new_arrays ? other : in, *planned_out = t->new_arrays ? other + !t->in_place : out;      \
        X##_plan p = X##_make(t, planned_in, planned_out);                                                             \
        CHECK(p);                                                                                                      \
        if (!t->new_arrays)                                                                                            \
            X##_execute(p);                                                                                            \
        else if (t->kind == COMPLEX)                                                                                   \
            X##_execute_dft(p, in, out);                                                                               \
        else if (t->kind == FROM_REAL)                                                                                 \
            X##_execute_dft_r2c(p, in, out);                                                                           \
        else                                                                                                           \
            X##_execute_dft_c2r(p, in, out);                                                                           \
        X##_destroy_plan(p);                                                                                           \
    }
MAKE(fftw, double)
MAKE(fftwf, float)

/* ---- trials ---- */

static void *allocate(enum memory m)
{
    void *at = NULL;
    switch (m) {
    case PINNED: CHECK(cudaMallocHost(&at, ROOM) == 0); break;
    case MANAGED: CHECK(cudaMallocManaged(&at, ROOM, cudaMemAttachGlobal) == 0); break;
    case DEVICE: CHECK(cudaMalloc(&at, ROOM) == 0); break;
    default: at = fftw_malloc(ROOM);
    }
    return at;
}

static void deallocate(enum memory m, void *at)
{
    if (m == HOST)
        fftw_free(at);
    else
        CHECK((m == PINNED ? cudaFreeHost(at) : cudaFree(at)) == 0);
}

static void try(struct trial t)
{
    static char in[ROOM], out[ROOM], was[ROOM];
    static number x[2 * LOOPS * 3][64], want[64];
    set_layout(&t);
    int all = product(t.n, t.rank), turns = t.loops == 0 ? 1 : t.loops == 1 ? 3 : 6;
    double worst = 0;
    memset(in, GAP, ROOM);
    memset(out, GAP, ROOM);
    for (int b = 0; b < turns; b++) {
        for (int i = 0; i < all; i++)
            want[i] = random_number() + (t.kind == COMPLEX ? random_number() * I : 0);
        if (t.kind == TO_REAL)
            sum(&t, -1, want, x[b]);
        else
            memcpy(x[b], want, sizeof want);
        for (int i = 0; i < all; i++)
            if (place(&t, false, b, i) >= 0)
                set(&t, in, is_real(&t, false), place(&t, false, b, i), x[b][i]);
    }
    memcpy(was, t.in_place ? in : out, ROOM);
    void *from = allocate(t.memory), *to = t.in_place ? from : allocate(t.memory);
    CHECK(cudaMemcpy(from, in, ROOM, cudaMemcpyDefault) == 0);
    CHECK(t.in_place || cudaMemcpy(to, out, ROOM, cudaMemcpyDefault) == 0);
    t.is_double ? fftw_do(&t, from, to) : fftwf_do(&t, from, to);
    CHECK(cudaMemcpy(out, to, ROOM, cudaMemcpyDefault) == 0);
    for (int b = 0; b < turns; b++) {
        sum(&t, t.kind == COMPLEX ? t.sign : t.kind == FROM_REAL ? -1 : 1, x[b], want);
        for (int i = 0; i < all; i++) {
            ptrdiff_t at = place(&t, true, b, i);
            if (at >= 0) {
                worst = fmax(worst, cabs(get(&t, out, is_real(&t, true), at) - want[i]) / all);
                set(&t, out, is_real(&t, true), at, get(&t, was, is_real(&t, true), at));
            }
        }
    }
    bool touched = !t.in_place && memcmp(out, was, ROOM) != 0; /* between the elements */
    if (worst > (t.is_double ? 1e-14 : 2e-6) || touched) {
        printf("# kind %d, planner %d, memory %d, double %d, in place %d, new %d, rank %d, %d x %d x %d: off by %g%s\n",
               t.kind, t.planner, t.memory, t.is_double, t.in_place, t.new_arrays, t.rank, t.n[0], t.n[1], t.n[2],
               worst, touched ? ", and beside them" : "");
        bad++;
    }
    if (!t.in_place)
        deallocate(t.memory, to);
    deallocate(t.memory, from);
}

static void try_all(enum planner planner)
{
    static const struct {
        int rank, n[RANK];
    } shapes[] = {{1, {1}}, {1, {8}}, {1, {15}}, {2, {4, 6}}, {2, {3, 7}}, {3, {2, 3, 4}}, {3, {3, 4, 5}}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned bits = 0; bits < 96; bits++) {
            struct trial t = {.kind = (enum kind)(bits % 3),
                              .planner = planner,
                              .memory = (enum memory)(bits / 3 % MEMORIES),
                              .is_double = bits / 12 & 1,
                              .in_place = bits / 24 & 1,
                              .new_arrays = bits / 48 & 1,
                              .sign = (bits + s) & 1 ? FFTW_FORWARD : FFTW_BACKWARD,
                              .rank = shapes[s].rank};
            memcpy(t.n, shapes[s].n, sizeof t.n);
            try(t);
        }
}

static void planners_of_one_to_three_axes_agree_with_sums(void)
{
    try_all(SIZED);
}

static void planners_of_any_rank_agree_with_sums(void)
{
    try_all(BASIC);
}

static void many_transforms_with_steps_and_padding_agree_with_sums(void)
{
    try_all(MANY);
}

static void gurus_with_axes_turned_and_loops_agree_with_sums(void)
{
    try_all(GURU);
    try_all(GURU64);
}

/* Without sizes of what the arrays lie in, those are the transform's; of real numbers in place,
 * padded. */
static void many_without_embedding_is_packed_and_padded_in_place(void)
{
    int n[2] = {2, 3};
    double at[2][2][4] = {{{1, 2, 3, GAP}, {4, 5, 6, GAP}}, {{1, 0, 0, GAP}, {0, 0, 0, GAP}}};
    fftw_plan p = fftw_plan_many_dft_r2c(2, n, 2, at[0][0], NULL, 1, 8, (fftw_complex *)at, NULL, 1, 4, FFTW_MEASURE);
    fftw_plan back = fftw_plan_many_dft_c2r(2, n, 2, (fftw_complex *)at, NULL, 1, 4, at[0][0], NULL, 1, 8, 0);
    CHECK(p && back);
    fftw_execute(p);
    CHECK(fabs(at[0][0][0] - 21) < 1e-12 && fabs(at[0][1][0] + 9) < 1e-12 && fabs(at[1][1][2] - 1) < 1e-12);
    fftw_execute(back);
    for (int i = 0; i < 6; i++)
        CHECK(fabs(at[0][i / 3][i % 3] - 6 * (i + 1)) < 1e-12 && fabs(at[1][i / 3][i % 3] - 6 * !i) < 1e-12);
    fftw_destroy_plan(p);
    fftw_destroy_plan(back);
}

/* ---- what there is no plan for ---- */

static void what_there_is_no_plan_for_is_null(void)
{
    fftw_complex at[64];
    int n[4] = {2, 2, 2, 2}, none[2] = {2, 0};
    fftw_iodim backwards = {4, -1, 1}, wide = {4, 1, 1}, nine[9];
    for (int i = 0; i < 9; i++)
        nine[i] = (fftw_iodim){1, 1, 1};
    CHECK(!fftw_plan_dft(4, n, at, at, FFTW_FORWARD, 0));
    CHECK(!fftw_plan_dft(0, n, at, at, FFTW_FORWARD, 0));
    CHECK(!fftw_plan_dft(2, NULL, at, at, FFTW_FORWARD, 0));
    CHECK(!fftw_plan_dft(2, none, at, at, FFTW_FORWARD, 0));
    CHECK(!fftw_plan_dft_1d(8, NULL, at, FFTW_FORWARD, 0));
    CHECK(!fftw_plan_dft_1d(8, at, at, 0, 0));
    CHECK(!fftw_plan_dft_1d(-8, at, at, FFTW_FORWARD, 0));
    CHECK(!fftw_plan_many_dft(1, n, 0, at, NULL, 1, 2, at, NULL, 1, 2, FFTW_FORWARD, 0));
    CHECK(!fftw_plan_many_dft(1, n, 2, at, NULL, 0, 2, at, NULL, 1, 2, FFTW_FORWARD, 0));
    CHECK(!fftw_plan_guru_dft(1, &backwards, 0, NULL, at, at, FFTW_FORWARD, 0));
    CHECK(!fftw_plan_guru_dft(1, &wide, 9, nine, at, at, FFTW_FORWARD, 0));
    CHECK(!fftw_plan_guru_dft(1, &wide, -1, NULL, at, at, FFTW_FORWARD, 0));
    CHECK(!fftw_plan_guru_dft(1, &wide, 1, NULL, at, at, FFTW_FORWARD, 0));
    fftw_iodim turned[2] = {{2, 4, 8}, {3, 8, 4}}; /* in place */
    CHECK(!fftw_plan_guru_dft(1, &wide, 2, turned, at, at, FFTW_FORWARD, 0));
    fftw_execute(NULL);
    fftw_destroy_plan(NULL);
}

static void what_plans_cost_and_wisdom_are_refused(void)
{
    fftw_complex at[8];
    double add = 1, mul = 1, fma = 1;
    fftw_plan p = fftw_plan_dft_1d(8, at, at, FFTW_FORWARD, FFTW_PATIENT);
    fftw_flops(p, &add, &mul, &fma);
    CHECK(add == 0 && mul == 0 && fma == 0 && fftw_cost(p) == 0);
    CHECK(fftw_import_wisdom_from_file(stdin) == 0 && fftwf_import_wisdom_from_file(stdin) == 0);
    fftw_export_wisdom_to_file(stderr);
    fftw_set_timelimit(FFTW_NO_TIMELIMIT);
    fftw_destroy_plan(p);
    fftw_cleanup();
}

int main(void)
{
    RUN(planners_of_one_to_three_axes_agree_with_sums);
    RUN(planners_of_any_rank_agree_with_sums);
    RUN(many_transforms_with_steps_and_padding_agree_with_sums);
    RUN(gurus_with_axes_turned_and_loops_agree_with_sums);
    RUN(many_without_embedding_is_packed_and_padded_in_place);
    RUN(what_there_is_no_plan_for_is_null);
    RUN(what_plans_cost_and_wisdom_are_refused);
    return summary();
}
