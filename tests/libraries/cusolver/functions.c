/* libcusolver as its users have it: what it computes, put together again; what it answers to wrong
 * arguments beside what an H200 answered. Most is double, with complex floats where these have
 * functions of their own.
 */
#include <complex.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../cuda/tap.h"

typedef double complex number;
#define DONE(call) CHECK((call) == 0)
#define LOWER      CUBLAS_FILL_MODE_LOWER
#define UPPER      CUBLAS_FILL_MODE_UPPER
#define VECTORS    CUSOLVER_EIG_MODE_VECTOR
#define ENOUGH     (1 << 20) /* elements of work, none of which is looked at */

static cusolverDnHandle_t handle;
static int *info;
static cusolverDnParams_t params;

/* ---- memory that host and device share ---- */

static void *shared(size_t bytes)
{
    void *at = NULL;
    DONE(cudaMallocManaged(&at, bytes + 64, cudaMemAttachGlobal));
    memset(at, 0, bytes + 64);
    return at;
}

static double *reals(int n)
{
    static unsigned state = 7;
    double *at = shared((size_t)n * sizeof *at);
    for (int i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        at[i] = (double)(state >> 8) / (1 << 23) - 1;
    }
    return at;
}

static double *copy_of(const double *from, int n)
{
    double *at = shared((size_t)n * sizeof *at);
    memcpy(at, from, (size_t)n * sizeof *at);
    return at;
}

/* Symmetric, with `add` on the diagonal. */
static double *symmetric(int n, double add)
{
    double *a = reals(n * n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++)
            a[j + i * n] = a[i + j * n] = a[i + j * n] + (i == j ? add : 0);
    return a;
}

/* ---- products, column-major; op is 'N' or 'T' ---- */

static double element(const double *a, int ld, char op, int i, int j)
{
    return op == 'N' ? a[i + j * ld] : a[j + i * ld];
}

/* Largest |op(A) op(B) - C| of an m x n product. */
static double off(char ta, const double *a, int lda, char tb, const double *b, int ldb, const double *c, int ldc, int m,
                  int n, int k)
{
    double worst = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int l = 0; l < k; l++)
                s += element(a, lda, ta, i, l) * element(b, ldb, tb, l, j);
            worst = fmax(worst, fabs(s - c[i + j * ldc]));
        }
    return worst;
}

static double *identity(int n)
{
    double *a = shared((size_t)(n * n) * sizeof *a);
    for (int i = 0; i < n; i++)
        a[i + i * n] = 1;
    return a;
}

#define NEAR(value) CHECK((value) < 1e-10)
#define SYNC        DONE(cudaDeviceSynchronize())

/* |A V - V W| and V' V - I */
static void is_spectrum(const double *a, const double *v, const double *w, int n, int columns, int ldv)
{
    double *scaled = copy_of(v, ldv * columns), *one = identity(columns);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < n; i++)
            scaled[i + j * ldv] *= w[j];
    NEAR(off('N', a, n, 'N', v, ldv, scaled, ldv, n, columns, n));
    NEAR(off('T', v, ldv, 'N', v, ldv, one, columns, columns, columns, n));
    for (int j = 1; j < columns; j++)
        CHECK(w[j - 1] <= w[j]);
    DONE(cudaFree(scaled));
    DONE(cudaFree(one));
}

/* |U S V' - A|; `adjoint`: v is V' */
static void is_svd(const double *a, int m, int n, const double *u, int ldu, const double *s, const double *v, int ldv,
                   bool adjoint)
{
    int k = m < n ? m : n;
    double *us = copy_of(u, ldu * k);
    for (int j = 0; j < k; j++) {
        CHECK(s[j] >= 0 && (j == 0 || s[j - 1] >= s[j]));
        for (int i = 0; i < m; i++)
            us[i + j * ldu] *= s[j];
    }
    NEAR(off('N', us, ldu, adjoint ? 'N' : 'T', v, ldv, a, m, m, n, k));
    DONE(cudaFree(us));
}

/* ---- factors ---- */

static void cholesky_of_each_triangle_and_its_inverse(void)
{
    enum { N = 20 };
    for (int u = 0; u < 2; u++) {
        cublasFillMode_t uplo = u ? UPPER : LOWER;
        double *a = symmetric(N, 20), *l = copy_of(a, N * N), *x = reals(N * 2), *b = shared(N * 2 * sizeof *b),
               *one = identity(N);
        for (int j = 0; j < 2; j++)
            for (int i = 0; i < N; i++)
                for (int k = 0; k < N; k++)
                    b[i + j * N] += a[i + k * N] * x[k + j * N];
        DONE(cusolverDnDpotrf(handle, uplo, N, l, N, NULL, 1, info));
        DONE(cusolverDnDpotrs(handle, uplo, N, 2, l, N, b, N, info));
        SYNC;
        CHECK(*info == 0);
        for (int i = 0; i < 2 * N; i++)
            NEAR(fabs(b[i] - x[i]));
        CHECK(u ? l[5] == a[5] : l[5 * N] == a[5 * N]); /* the other triangle is left alone */
        DONE(cusolverDnDpotri(handle, uplo, N, l, N, NULL, 1, info));
        SYNC;
        for (int j = 0; j < N; j++)
            for (int i = 0; i < j; i++)
                u ? (l[j + i * N] = l[i + j * N]) : (l[i + j * N] = l[j + i * N]);
        NEAR(off('N', a, N, 'N', l, N, one, N, N, N, N));
        a[7 + 7 * N] = -50;
        DONE(cusolverDnDpotrf(handle, uplo, N, a, N, NULL, 1, info));
        SYNC;
        CHECK(*info == 8);
    }
}

static void batches_of_cholesky_by_pointers(void)
{
    enum { N = 6, BATCH = 3 };
    double **a = shared(BATCH * sizeof *a), **b = shared(BATCH * sizeof *b), *x[BATCH], *whole[BATCH];
    int *infos = shared(BATCH * sizeof *infos);
    for (int i = 0; i < BATCH; i++) {
        whole[i] = symmetric(N, i == 1 ? -9 : 9);
        a[i] = copy_of(whole[i], N * N);
        x[i] = reals(N);
        b[i] = shared(N * sizeof(double));
        for (int r = 0; r < N; r++)
            for (int k = 0; k < N; k++)
                b[i][r] += whole[i][r + k * N] * x[i][k];
    }
    DONE(cusolverDnDpotrfBatched(handle, LOWER, N, a, N, infos, BATCH));
    SYNC;
    CHECK(infos[0] == 0 && infos[1] == 1 && infos[2] == 0);
    a[1] = a[0], b[1] = b[2], a[1] = a[2];
    CHECK(cusolverDnDpotrsBatched(handle, LOWER, N, 2, a, N, b, N, info, BATCH) == CUSOLVER_STATUS_INVALID_VALUE);
    SYNC;
    CHECK(*info == 3);
    DONE(cusolverDnDpotrsBatched(handle, LOWER, N, 1, a, N, b, N, info, 1));
    SYNC;
    for (int i = 0; i < N; i++)
        NEAR(fabs(b[0][i] - x[0][i]));
}

static void lu_with_and_without_pivots(void)
{
    enum { N = 17 };
    int *pivots = shared(N * sizeof *pivots);
    int64_t *wide = shared(N * sizeof *wide);
    for (int way = 0; way < 3; way++) /* with, without, 64-bit */
        for (int t = 0; t < 2; t++) {
            double *a = reals(N * N), *x = reals(N), *b = shared(N * sizeof *b);
            for (int i = 0; i < N; i++)
                a[i + i * N] += way == 1 ? 20 : 0;
            for (int i = 0; i < N; i++)
                for (int k = 0; k < N; k++)
                    b[i] += element(a, N, t ? 'T' : 'N', i, k) * x[k];
            cublasOperation_t trans = t ? CUBLAS_OP_T : CUBLAS_OP_N;
            if (way == 2) {
                DONE(
                    cusolverDnXgetrf(handle, params, N, N, CUDA_R_64F, a, N, wide, CUDA_R_64F, NULL, 0, NULL, 0, info));
                DONE(cusolverDnXgetrs(handle, params, trans, N, 1, CUDA_R_64F, a, N, wide, CUDA_R_64F, b, N, info));
            } else {
                DONE(cusolverDnDgetrf(handle, N, N, a, N, NULL, way ? NULL : pivots, info));
                DONE(cusolverDnDgetrs(handle, trans, N, 1, a, N, way ? NULL : pivots, b, N, info));
            }
            SYNC;
            CHECK(*info == 0);
            for (int i = 0; i < N; i++)
                NEAR(fabs(b[i] - x[i]));
        }
    double *ones = shared(9 * sizeof *ones);
    for (int i = 0; i < 9; i++)
        ones[i] = 1;
    DONE(cusolverDnDgetrf(handle, 3, 3, ones, 3, NULL, pivots, info));
    SYNC;
    CHECK(*info == 2);
}

static void qr_and_its_unitary_factor(void)
{
    enum { M = 12, N = 7 };
    double *a = reals(M * N), *q = copy_of(a, M * N), *tau = shared(N * sizeof *tau), *one = identity(N),
           *c = copy_of(a, M * N);
    double *r = shared(N * N * sizeof *r);
    DONE(cusolverDnDgeqrf(handle, M, N, q, M, tau, NULL, 1, info));
    DONE(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, M, N, N, q, M, tau, c, M, NULL, 1, info));
    SYNC;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            NEAR(fabs(c[i + j * M] - (i <= j ? q[i + j * M] : 0)));
    for (int j = 0; j < N; j++)
        for (int i = 0; i <= j; i++)
            r[i + j * N] = q[i + j * M];
    DONE(cusolverDnDorgqr(handle, M, N, N, q, M, tau, NULL, 1, info));
    SYNC;
    CHECK(*info == 0);
    NEAR(off('T', q, M, 'N', q, M, one, N, N, N, M));
    NEAR(off('N', q, M, 'N', r, N, a, M, M, N, N));
}

static void bidiagonal_and_tridiagonal_forms(void)
{
    enum { N = 9 };
    double *a = symmetric(N, 0), *q = copy_of(a, N * N), *d = shared(N * sizeof *d), *e = shared(N * sizeof *e),
           *tau = shared(N * sizeof *tau);
    double *taup = shared(N * sizeof *taup), *t = shared(N * N * sizeof *t), *qt = shared(N * N * sizeof *qt),
           *g = reals(N * N);
    DONE(cusolverDnDsytrd(handle, LOWER, N, q, N, d, e, tau, NULL, 1, info));
    DONE(cusolverDnDorgtr(handle, LOWER, N, q, N, tau, NULL, 1, info));
    SYNC;
    for (int i = 0; i < N; i++) {
        t[i + i * N] = d[i];
        if (i + 1 < N)
            t[i + 1 + i * N] = t[i + (i + 1) * N] = e[i];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                qt[i + j * N] += q[i + k * N] * t[k + j * N];
    NEAR(off('N', qt, N, 'T', q, N, a, N, N, N, N));
    double *p = shared(N * N * sizeof *p), *b = copy_of(g, N * N), *qb = shared(N * N * sizeof *qb), *one = identity(N);
    DONE(cusolverDnDgebrd(handle, N, N, b, N, d, e, tau, taup, NULL, 1, info));
    SYNC;
    memcpy(p, b, N * N * sizeof *p);
    memset(t, 0, N * N * sizeof *t);
    for (int i = 0; i < N; i++) {
        t[i + i * N] = d[i];
        if (i + 1 < N)
            t[i + (i + 1) * N] = e[i];
    }
    DONE(cusolverDnDorgbr(handle, CUBLAS_SIDE_LEFT, N, N, N, b, N, tau, NULL, 1, info));
    DONE(cusolverDnDorgbr(handle, CUBLAS_SIDE_RIGHT, N, N, N, p, N, taup, NULL, 1, info));
    SYNC;
    NEAR(off('T', b, N, 'N', b, N, one, N, N, N, N));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                qb[i + j * N] += b[i + k * N] * t[k + j * N];
    NEAR(off('N', qb, N, 'N', p, N, g, N, N, N, N));
}

static void symmetric_factors_with_and_without_pivots(void)
{
    enum { N = 11 };
    int *pivots = shared(N * sizeof *pivots);
    int64_t *wide = shared(N * sizeof *wide);
    for (int u = 0; u < 2; u++)
        for (int none = 0; none < 2; none++) {
            cublasFillMode_t uplo = u ? UPPER : LOWER;
            double *a = symmetric(N, none ? 6 : 0), *l = copy_of(a, N * N), *x = reals(N), *b = shared(N * sizeof *b);
            for (int i = 0; i < N; i++)
                for (int k = 0; k < N; k++)
                    b[i] += a[i + k * N] * x[k];
            DONE(cusolverDnDsytrf(handle, uplo, N, l, N, none ? NULL : pivots, NULL, 1, info));
            SYNC;
            for (int i = 0; i < N; i++)
                wide[i] = pivots[i];
            CHECK(*info == 0);
            DONE(cusolverDnXsytrs(handle, uplo, N, 1, CUDA_R_64F, l, N, none ? NULL : wide, CUDA_R_64F, b, N, NULL, 0,
                                  NULL, 0, info));
            SYNC;
            for (int i = 0; i < N; i++)
                NEAR(fabs(b[i] - x[i]));
        }
}

/* An H200's numbers: without pivots an upper triangle is U^T D U. */
static void symmetric_factors_without_pivots_are_an_H200s(void)
{
    double *a = shared(4 * sizeof *a);
    a[0] = -0.12855, a[2] = 0.1585, a[3] = 0.63886;
    DONE(cusolverDnDsytrf(handle, UPPER, 2, a, 2, NULL, NULL, 1, info));
    SYNC;
    CHECK(fabs(a[2] + 1.233) < 1e-4 && fabs(a[3] - 0.8343) < 1e-4 && a[0] == -0.12855);
}

/* ---- eigenvalues ---- */

static void eigenvalues_all_some_and_by_jacobi(void)
{
    enum { N = 14 };
    syevjInfo_t settings;
    double residual = -1;
    int meig = -1, sweeps = -1;
    int64_t meig64 = -1;
    DONE(cusolverDnCreateSyevjInfo(&settings));
    for (int u = 0; u < 2; u++) {
        cublasFillMode_t uplo = u ? UPPER : LOWER;
        double *a = symmetric(N, 0), *v = copy_of(a, N * N), *all = shared(N * sizeof *all), *w = shared(N * sizeof *w);
        DONE(cusolverDnDsyevd(handle, VECTORS, uplo, N, v, N, all, NULL, ENOUGH, info));
        SYNC;
        CHECK(*info == 0);
        is_spectrum(a, v, all, N, N, N);
        memcpy(v, a, N * N * sizeof *v);
        DONE(cusolverDnDsyevdx(handle, VECTORS, CUSOLVER_EIG_RANGE_I, uplo, N, v, N, 0, 0, 3, 7, &meig, w, NULL, ENOUGH,
                               info));
        CHECK(meig == 5);
        SYNC;
        is_spectrum(a, v, w, N, 5, N);
        NEAR(fabs(w[0] - all[2]));
        memcpy(v, a, N * N * sizeof *v);
        double low = (all[3] + all[4]) / 2, high = (all[9] + all[10]) / 2;
        DONE(cusolverDnDsyevdx(handle, VECTORS, CUSOLVER_EIG_RANGE_V, uplo, N, v, N, low, high, 0, 0, &meig, w, NULL,
                               ENOUGH, info));
        CHECK(meig == 6);
        is_spectrum(a, v, w, N, 6, N);
        memcpy(v, a, N * N * sizeof *v);
        DONE(cusolverDnXsyevdx(handle, params, VECTORS, CUSOLVER_EIG_RANGE_V, uplo, N, CUDA_R_64F, v, N, &low, &high, 0,
                               0, &meig64, CUDA_R_64F, w, CUDA_R_64F, NULL, 0, NULL, 0, info));
        CHECK(meig64 == 6);
        memcpy(v, a, N * N * sizeof *v);
        DONE(cusolverDnDsyevj(handle, VECTORS, uplo, N, v, N, w, NULL, 1, info, settings));
        DONE(cusolverDnXsyevjGetResidual(handle, settings, &residual));
        DONE(cusolverDnXsyevjGetSweeps(handle, settings, &sweeps));
        CHECK(residual >= 0 && residual < 1e-12 && sweeps > 0 && *info == 0);
        is_spectrum(a, v, w, N, N, N);
    }
    DONE(cusolverDnDestroySyevjInfo(settings));
}

static void batches_of_eigenvalues(void)
{
    enum { N = 5, BATCH = 4 };
    syevjInfo_t settings;
    double *a = shared(BATCH * N * N * sizeof *a), *w = shared(BATCH * N * sizeof *w), residual;
    int *infos = shared(BATCH * sizeof *infos);
    DONE(cusolverDnCreateSyevjInfo(&settings));
    for (int way = 0; way < 2; way++) {
        for (int i = 0; i < BATCH; i++)
            memcpy(a + i * N * N, symmetric(N, 0), N * N * sizeof *a);
        double *v = copy_of(a, BATCH * N * N);
        if (way)
            DONE(cusolverDnXsyevBatched(handle, params, VECTORS, LOWER, N, CUDA_R_64F, v, N, CUDA_R_64F, w, CUDA_R_64F,
                                        NULL, 0, NULL, 0, infos, BATCH));
        else
            DONE(cusolverDnDsyevjBatched(handle, VECTORS, LOWER, N, v, N, w, NULL, 1, infos, settings, BATCH));
        SYNC;
        for (int i = 0; i < BATCH; i++)
            is_spectrum(a + i * N * N, v + i * N * N, w + i * N, N, N, N);
    }
    CHECK(cusolverDnXsyevjGetResidual(handle, settings, &residual) == CUSOLVER_STATUS_NOT_SUPPORTED);
    DONE(cusolverDnDestroySyevjInfo(settings));
}

static void eigenvalues_of_pairs(void)
{
    enum { N = 8 };
    for (int itype = 1; itype <= 3; itype++)
        for (int u = 0; u < 2; u++) {
            cublasFillMode_t uplo = u ? UPPER : LOWER;
            double *a = symmetric(N, 0), *b = symmetric(N, 9), *v = copy_of(a, N * N), *l = copy_of(b, N * N),
                   *w = shared(N * sizeof *w);
            double *left = shared(N * N * sizeof *left), *right = shared(N * N * sizeof *right);
            DONE(cusolverDnDsygvd(handle, (cusolverEigType_t)itype, VECTORS, uplo, N, v, N, l, N, w, NULL, 1, info));
            SYNC;
            CHECK(*info == 0);
            /* 1: A x = w B x, 2: A B x = w x, 3: B A x = w x */
            const double *first = itype == 3 ? a : b, *second = itype == 3 ? b : a;
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    for (int k = 0; k < N; k++) {
                        left[i + j * N] += first[i + k * N] * v[k + j * N];
                        right[i + j * N] += (itype == 1 ? a : first)[i + k * N] * v[k + j * N];
                    }
            for (int j = 0; j < N; j++)
                for (int i = 0; i < N; i++) {
                    double s = 0;
                    for (int k = 0; k < N; k++)
                        s += second[i + k * N] * right[k + j * N];
                    if (itype == 1)
                        NEAR(fabs(right[i + j * N] - w[j] * left[i + j * N]));
                    else
                        NEAR(fabs(s - w[j] * v[i + j * N]) / 100);
                }
        }
    double *a = symmetric(N, 0), *b = symmetric(N, 9), *w = shared(N * sizeof *w);
    b[2 + 2 * N] = -30;
    DONE(cusolverDnDsygvd(handle, CUSOLVER_EIG_TYPE_1, VECTORS, LOWER, N, a, N, b, N, w, NULL, 1, info));
    SYNC;
    CHECK(*info == N + 3);
}

static void eigenvalues_of_general_matrices(void)
{
    enum { N = 6 };
    double *a = reals(N * N), *lost = copy_of(a, N * N), *v = shared(N * N * sizeof *v);
    number *w = shared(N * sizeof *w);
    DONE(cusolverDnXgeev(handle, params, CUSOLVER_EIG_MODE_NOVECTOR, VECTORS, N, CUDA_R_64F, lost, N, CUDA_C_64F, w,
                         CUDA_R_64F, NULL, N, CUDA_R_64F, v, N, CUDA_R_64F, NULL, 0, NULL, 0, info));
    SYNC;
    CHECK(*info == 0);
    for (int j = 0; j < N; j++) {
        number x[N];
        for (int i = 0; i < N; i++)
            x[i] = cimag(w[j]) == 0  ? v[i + j * N]
                   : cimag(w[j]) > 0 ? v[i + j * N] + v[i + (j + 1) * N] * I
                                     : v[i + (j - 1) * N] - v[i + j * N] * I;
        for (int i = 0; i < N; i++) {
            number s = -w[j] * x[i];
            for (int k = 0; k < N; k++)
                s += a[i + k * N] * x[k];
            NEAR(cabs(s));
        }
    }
    CHECK(cusolverDnXgeev(handle, params, VECTORS, VECTORS, N, CUDA_R_64F, lost, N, CUDA_C_64F, w, CUDA_R_64F, v, N,
                          CUDA_R_64F, v, N, CUDA_R_64F, NULL, 0, NULL, 0, info) == CUSOLVER_STATUS_INTERNAL_ERROR);
}

/* ---- singular values ---- */

static void singular_values_by_every_name(void)
{
    gesvdjInfo_t settings;
    double *u = shared(4096), *v = shared(4096), *s = shared(512), err = -1, norm = -1;
    DONE(cusolverDnCreateGesvdjInfo(&settings));
    for (int tall = 0; tall < 2; tall++)
        for (int econ = 0; econ < 2; econ++) {
            int m = tall ? 8 : 5, n = tall ? 5 : 8;
            double *a = reals(40), *lost = copy_of(a, 40);
            DONE(cusolverDnDgesvdj(handle, VECTORS, econ, m, n, lost, m, s, u, m, v, n, NULL, 1, info, settings));
            SYNC;
            CHECK(*info == 0);
            is_svd(a, m, n, u, m, s, v, n, false);
            memcpy(lost, a, 40 * sizeof *a);
            DONE(cusolverDnXgesvdp(handle, params, VECTORS, econ, m, n, CUDA_R_64F, lost, m, CUDA_R_64F, s, CUDA_R_64F,
                                   u, m, CUDA_R_64F, v, n, CUDA_R_64F, NULL, 0, NULL, 0, info, &err));
            SYNC;
            is_svd(a, m, n, u, m, s, v, n, false);
            memcpy(lost, a, 40 * sizeof *a);
            DONE(cusolverDnDgesvdjBatched(handle, VECTORS, m, n, lost, m, s, u, m, v, n, NULL, 1, info, settings, 1));
            SYNC;
            is_svd(a, m, n, u, m, s, v, n, false);
        }
    double *a = reals(40), *lost = copy_of(a, 40), first;
    DONE(cusolverDnDgesvd(handle, 'A', 'A', 8, 5, lost, 8, s, u, 8, v, 5, NULL, 1, NULL, info));
    SYNC;
    is_svd(a, 8, 5, u, 8, s, v, 5, true);
    first = s[0];
    CHECK(cusolverDnDgesvd(handle, 'A', 'A', 5, 8, lost, 5, s, u, 5, v, 8, NULL, 1, NULL, info) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverDnDgesvd(handle, 'O', 'O', 8, 5, lost, 8, s, u, 8, v, 5, NULL, 1, NULL, info) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    SYNC;
    CHECK(*info == -2);
    DONE(cusolverDnDgesvdaStridedBatched(handle, VECTORS, 3, 8, 5, a, 8, 40, s, 3, u, 8, 24, v, 5, 15, NULL, 1, info,
                                         &norm, 1));
    NEAR(norm);
    NEAR(fabs(s[0] - first));
    DONE(cusolverDnXgesvdr(handle, params, 'S', 'S', 8, 5, 2, 2, 4, CUDA_R_64F, a, 8, CUDA_R_64F, s, CUDA_R_64F, u, 8,
                           CUDA_R_64F, v, 5, CUDA_R_64F, NULL, 0, NULL, 0, info));
    SYNC;
    NEAR(fabs(s[0] - first));
    DONE(cusolverDnDestroyGesvdjInfo(settings));
}

/* ---- complex floats ---- */

static void hermitian_matrices(void)
{
    enum { N = 7 };
    float complex *a = shared(N * N * sizeof *a), *v = shared(N * N * sizeof *v);
    float *w = shared(N * sizeof *w);
    double *r = reals(2 * N * N);
    for (int j = 0; j < N; j++)
        for (int i = 0; i <= j; i++) {
            float complex x = (float)r[2 * (i + j * N)] + (i == j ? 0 : (float)r[2 * (i + j * N) + 1] * I);
            a[i + j * N] = x;
            a[j + i * N] = conjf(x);
        }
    memcpy(v, a, N * N * sizeof *v);
    DONE(cusolverDnCheevd(handle, VECTORS, UPPER, N, (cuComplex *)v, N, w, NULL, ENOUGH, info));
    SYNC;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            float complex s = -w[j] * v[i + j * N];
            for (int k = 0; k < N; k++)
                s += a[i + k * N] * v[k + j * N];
            CHECK(cabsf(s) < 1e-5f);
        }
}

/* ---- refinement ---- */

static void refined_solutions(void)
{
    enum { N = 9, M = 12 };
    double *a = reals(M * N), *kept = copy_of(a, M * N), *x = reals(N), *b = shared(M * sizeof *b),
           *y = shared(N * sizeof *y);
    int *pivots = shared(N * sizeof *pivots), iterations = -9;
    for (int way = 0; way < 2; way++) {
        int m = way ? M : N;
        memset(b, 0, M * sizeof *b);
        for (int i = 0; i < m; i++)
            for (int k = 0; k < N; k++)
                b[i] += a[i + k * m] * x[k];
        if (way)
            DONE(cusolverDnDSgels(handle, m, N, 1, a, m, b, m, y, N, NULL, 1024, &iterations, info));
        else
            DONE(cusolverDnDSgesv(handle, N, 1, a, N, pivots, b, N, y, N, NULL, 1024, &iterations, info));
        CHECK(*info == 0 && iterations > 0 && memcmp(a, kept, M * N * sizeof *a) == 0);
        for (int i = 0; i < N; i++)
            NEAR(fabs(y[i] - x[i]));
    }
    CHECK(cusolverDnDSgels(handle, 5, 8, 1, a, 5, b, 8, y, 8, NULL, 1024, &iterations, info) ==
          CUSOLVER_STATUS_IRS_PARAMS_INVALID);
    CHECK(cusolverDnDSgesv(handle, N, 1, a, N, pivots, b, N, y, N, NULL, 0, &iterations, info) ==
          CUSOLVER_STATUS_INVALID_WORKSPACE);
}

/* ---- sparse matrices ---- */

/* A grid's Laplacian, W x W: its rows, columns, values. Without cuSPARSE, whose descriptors say
 * more, indices begin with 0. */
enum { W = 9, GRID = W * W };
static int *grid_rows, *grid_columns;
static double *grid;

static void make_grid(double diagonal)
{
    int n = 0;
    grid_rows = shared((GRID + 1) * sizeof *grid_rows);
    grid_columns = shared(5 * GRID * sizeof *grid_columns);
    grid = shared(5 * GRID * sizeof *grid);
    for (int i = 0; i < GRID; i++) {
        const int beside[] = {i - W, i % W ? i - 1 : -1, i, i % W < W - 1 ? i + 1 : -1, i + W};
        for (int k = 0; k < 5; k++)
            if (beside[k] >= 0 && beside[k] < GRID) {
                grid_columns[n] = beside[k];
                grid[n++] = beside[k] == i ? diagonal : -1;
            }
        grid_rows[i + 1] = n;
    }
}

static void times_grid(const double *x, double *y)
{
    for (int i = 0; i < GRID; i++) {
        y[i] = 0;
        for (int k = grid_rows[i]; k < grid_rows[i + 1]; k++)
            y[i] += grid[k] * x[grid_columns[k]];
    }
}

static void check_grid(const double *x, const double *y)
{
    SYNC;
    for (int i = 0; i < GRID; i++)
        NEAR(fabs(x[i] - y[i]));
}

static void sparse_factors_are_kept_step_by_step(void)
{
    cusolverSpHandle_t sparse;
    cusparseMatDescr_t any = (cusparseMatDescr_t)&sparse;
    csrqrInfo_t qr;
    csrcholInfo_t cholesky;
    csrcholInfoHost_t on_host;
    int position = 9, nnz;
    size_t internal, workspace;
    make_grid(4);
    nnz = grid_rows[GRID];
    double *x = reals(GRID), *b = shared(GRID * sizeof *b), *y = shared(GRID * sizeof *y);
    times_grid(x, b);
    DONE(cusolverSpCreate(&sparse));
    DONE(cusolverSpCreateCsrcholInfo(&cholesky));
    DONE(cusolverSpXcsrcholAnalysis(sparse, GRID, nnz, any, grid_rows, grid_columns, cholesky));
    DONE(cusolverSpDcsrcholBufferInfo(sparse, GRID, nnz, any, grid, grid_rows, grid_columns, cholesky, &internal,
                                      &workspace));
    DONE(cusolverSpDcsrcholFactor(sparse, GRID, nnz, any, grid, grid_rows, grid_columns, cholesky, y));
    DONE(cusolverSpDcsrcholZeroPivot(sparse, cholesky, 1e-12, &position));
    CHECK(position == -1);
    DONE(cusolverSpDcsrcholSolve(sparse, GRID, b, y, cholesky, NULL));
    check_grid(x, y);
    DONE(cusolverSpCreateCsrcholInfoHost(&on_host));
    CHECK(cusolverSpDcsrcholSolveHost(sparse, GRID, b, y, on_host, NULL) == CUSOLVER_STATUS_INVALID_VALUE);
    memset(y, 0, GRID * sizeof *y);
    DONE(cusolverSpDcsrcholFactorHost(sparse, GRID, nnz, any, grid, grid_rows, grid_columns, on_host, y));
    DONE(cusolverSpDcsrcholSolveHost(sparse, GRID, b, y, on_host, NULL));
    check_grid(x, y);

    DONE(cusolverSpCreateCsrqrInfo(&qr));
    DONE(cusolverSpXcsrqrAnalysis(sparse, GRID, GRID, nnz, any, grid_rows, grid_columns, qr));
    DONE(cusolverSpDcsrqrSetup(sparse, GRID, GRID, nnz, any, grid, grid_rows, grid_columns, -3, qr));
    memset(y, 0, GRID * sizeof *y);
    grid_columns[1] = -7; /* what has been set up stays */
    DONE(cusolverSpDcsrqrFactor(sparse, GRID, GRID, nnz, NULL, NULL, qr, NULL));
    DONE(cusolverSpDcsrqrZeroPivot(sparse, qr, 1e-12, &position));
    CHECK(position == -1);
    for (int i = 0; i < GRID; i++)
        b[i] += 3 * x[i];
    DONE(cusolverSpDcsrqrSolve(sparse, GRID, GRID, b, y, qr, NULL));
    check_grid(x, y);
    DONE(cusolverSpDestroyCsrqrInfo(qr));
    DONE(cusolverSpDestroyCsrcholInfo(cholesky));
    DONE(cusolverSpDestroyCsrcholInfoHost(on_host));
    DONE(cusolverSpDestroy(sparse));
}

static void a_batch_of_sparse_systems_shares_its_pattern(void)
{
    enum { N = 3, BATCH = 3, COUNT = 5 };
    static const double triangle[COUNT] = {2, 1, 4, -1, 8};
    cusolverSpHandle_t sparse;
    cusparseMatDescr_t any = (cusparseMatDescr_t)&sparse;
    csrqrInfo_t qr;
    size_t internal, workspace;
    int *rows = shared(4 * sizeof *rows), *columns = shared(COUNT * sizeof *columns);
    double *a = shared(BATCH * COUNT * sizeof *a), *b = shared(BATCH * N * sizeof *b),
           *x = shared(BATCH * N * sizeof *x);
    memcpy(rows, (int[]){0, 2, 4, 5}, 4 * sizeof *rows);
    memcpy(columns, (int[]){0, 2, 1, 2, 2}, COUNT * sizeof *columns);
    for (int k = 0; k < BATCH; k++) {
        for (int i = 0; i < COUNT; i++)
            a[k * COUNT + i] = k == 1 && i == 4 ? 0 : triangle[i] * (k + 1); /* the second one is singular */
        memcpy(b + k * N, (double[]){(k + 1) * 5, (k + 1) * 5, (k + 1) * 24}, N * sizeof *b);
    }
    DONE(cusolverSpCreate(&sparse));
    DONE(cusolverSpCreateCsrqrInfo(&qr));
    DONE(cusolverSpXcsrqrAnalysisBatched(sparse, N, N, COUNT, any, rows, columns, qr));
    DONE(cusolverSpDcsrqrBufferInfoBatched(sparse, N, N, COUNT, any, a, rows, columns, BATCH, qr, &internal,
                                           &workspace));
    DONE(cusolverSpDcsrqrsvBatched(sparse, N, N, COUNT, any, a, rows, columns, b, x, BATCH, qr, NULL));
    SYNC;
    for (int k = 0; k < BATCH; k += 2)
        CHECK(x[k * N] == 1 && x[k * N + 1] == 2 && x[k * N + 2] == 3);
    CHECK(isnan(x[N]) && isnan(x[N + 2]));
    CHECK(cusolverSpDcsrqrsvBatched(sparse, N, N + 1, COUNT, any, a, rows, columns, b, x, BATCH, qr, NULL) ==
          CUSOLVER_STATUS_NOT_SUPPORTED);
    DONE(cusolverSpDestroyCsrqrInfo(qr));
    DONE(cusolverSpDestroy(sparse));
}

static void sparse_systems_and_an_eigenvalue(void)
{
    cusolverSpHandle_t sparse;
    cusparseMatDescr_t any = (cusparseMatDescr_t)&sparse;
    DONE(cusolverSpCreate(&sparse));
    make_grid(4);
    int nnz = grid_rows[GRID], singularity;
    double *x = reals(GRID), *b = shared(GRID * sizeof *b), *y = shared(GRID * sizeof *y), *mu = shared(8);
    times_grid(x, b);
    for (int way = 0; way < 4; way++) {
        memset(y, 0, GRID * sizeof *y);
        singularity = 9;
        DONE((way == 0   ? cusolverSpDcsrlsvqr
              : way == 1 ? cusolverSpDcsrlsvchol
              : way == 2 ? cusolverSpDcsrlsvluHost
                         : cusolverSpDcsrlsvcholHost)(sparse, GRID, nnz, any, grid, grid_rows, grid_columns, b, 1e-12,
                                                      0, y, &singularity));
        CHECK(singularity == -1);
        for (int i = 0; i < GRID; i++)
            NEAR(fabs(x[i] - y[i]));
    }
    DONE(cusolverSpDcsreigvsi(sparse, GRID, nnz, any, grid, grid_rows, grid_columns, 0.1, x, 100, 1e-13, mu, y));
    SYNC;
    NEAR(fabs(*mu - (4 - 4 * cos(M_PI / (W + 1)))));
    times_grid(y, b);
    for (int i = 0; i < GRID; i++)
        CHECK(fabs(b[i] - *mu * y[i]) < 1e-5);
    for (int k = grid_rows[40]; k < grid_rows[41]; k++)
        grid[k] = 0;
    DONE(cusolverSpDcsrlsvqr(sparse, GRID, nnz, any, grid, grid_rows, grid_columns, b, 1e-12, 0, y, &singularity));
    CHECK(singularity >= 0 && singularity < GRID);
    make_grid(1);
    DONE(cusolverSpDcsrlsvchol(sparse, GRID, nnz, any, grid, grid_rows, grid_columns, b, 1e-12, 0, y, &singularity));
    CHECK(singularity >= 0);
    DONE(cusolverSpDestroy(sparse));
}

static void patterns_are_put_in_order(void)
{
    cusolverSpHandle_t sparse;
    cusparseMatDescr_t any = (cusparseMatDescr_t)&sparse;
    DONE(cusolverSpCreate(&sparse));
    make_grid(4);
    int nnz = grid_rows[GRID], order[GRID], map[5 * GRID], is_symmetric = 0, seen[GRID] = {0};
    int *old_rows = shared((GRID + 1) * sizeof(int)), *old_columns = shared((size_t)nnz * sizeof(int));
    memcpy(old_rows, grid_rows, (GRID + 1) * sizeof(int));
    memcpy(old_columns, grid_columns, (size_t)nnz * sizeof(int));
    DONE(cusolverSpXcsrissymHost(sparse, GRID, nnz, any, grid_rows, grid_rows + 1, grid_columns, &is_symmetric));
    CHECK(is_symmetric);
    DONE(cusolverSpXcsrsymrcmHost(sparse, GRID, nnz, any, grid_rows, grid_columns, order));
    for (int i = 0; i < GRID; i++)
        seen[order[i]]++;
    for (int i = 0; i < GRID; i++)
        CHECK(seen[i] == 1);
    for (int k = 0; k < nnz; k++)
        map[k] = k;
    DONE(cusolverSpXcsrpermHost(sparse, GRID, GRID, nnz, any, grid_rows, grid_columns, order, order, map, NULL));
    for (int i = 0; i < GRID; i++)
        for (int k = grid_rows[i]; k < grid_rows[i + 1]; k++) {
            CHECK(old_columns[map[k]] == order[grid_columns[k]]);
            CHECK(map[k] >= old_rows[order[i]] && map[k] < old_rows[order[i] + 1]);
        }
    order[0] = order[1];
    CHECK(cusolverSpXcsrpermHost(sparse, GRID, GRID, nnz, any, grid_rows, grid_columns, order, order, map, NULL) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    DONE(cusolverSpDestroy(sparse));
}

/* ---- statuses, and what they leave in info ---- */

#define WRONG(value, call)                                                                                             \
    do {                                                                                                               \
        *info = 77;                                                                                                    \
        CHECK((call) == CUSOLVER_STATUS_INVALID_VALUE);                                                                \
        SYNC;                                                                                                          \
        CHECK(*info == (value));                                                                                       \
    } while (0)

static void wrong_arguments_leave_their_positions_in_info(void)
{
    double *a = symmetric(24, 40), *b = reals(576), *w = reals(64);
    int *pivots = shared(256), n = 20, meig;
    WRONG(-1, cusolverDnDpotrf(handle, (cublasFillMode_t)2, n, a, 24, w, 99, info));
    WRONG(-2, cusolverDnDpotrf(handle, LOWER, -1, a, 24, w, 99, info));
    WRONG(-4, cusolverDnDpotrf(handle, LOWER, n, a, 0, w, 99, info));
    WRONG(-7, cusolverDnDpotrs(handle, LOWER, n, 3, a, 24, b, 0, info));
    WRONG(77, cusolverDnDgetrs(handle, CUBLAS_OP_N, -1, 3, a, 24, pivots, b, 24, info));
    WRONG(-4, cusolverDnDgeqrf(handle, 29, n, a, 24, w, b, 99, info));
    WRONG(-2, cusolverDnDorgqr(handle, n, 21, 10, a, 24, w, b, 99, info));
    WRONG(-5, cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, 0, 12, 10, a, 24, w, b, 24, w, 99, info));
    WRONG(-2, cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_C, n, 12, 10, a, 24, w, b, 24, w, 99, info));
    WRONG(-7, cusolverDnDsytrf(handle, LOWER, n, a, 24, pivots, w, 0, info));
    WRONG(-1, cusolverDnDgesvd(handle, 'n', 'A', n, 12, a, 24, w, b, 24, b, 24, w, 99, w, info));
    WRONG(-5, cusolverDnDsyevd(handle, VECTORS, LOWER, n, a, 0, w, b, 99, info));
    WRONG(-9, cusolverDnDsyevdx(handle, VECTORS, CUSOLVER_EIG_RANGE_I, LOWER, n, a, 24, -1, 1, 0, 4, &meig, w, b, 99,
                                info));
    WRONG(-10, cusolverDnDsyevdx(handle, VECTORS, CUSOLVER_EIG_RANGE_I, LOWER, n, a, 24, -1, 1, 10, 4, &meig, w, b, 99,
                                 info));
    WRONG(-1, cusolverDnDsygvd(handle, (cusolverEigType_t)0, VECTORS, LOWER, n, a, 24, b, 24, w, w, 99, info));
    WRONG(1, cusolverDnDpotrfBatched(handle, (cublasFillMode_t)9, n, (double **)b, 24, info, 2));
    WRONG(77, cusolverDnDpotrfBatched(handle, LOWER, n, (double **)b, 24, info, 0));
    WRONG(-7, cusolverDnXsyevd(handle, params, VECTORS, LOWER, n, CUDA_R_64F, a, 0, CUDA_R_64F, w, CUDA_R_64F, NULL, 0,
                               NULL, 0, info));
    WRONG(0, cusolverDnXsyevd(handle, params, VECTORS, LOWER, n, CUDA_R_64F, a, 24, CUDA_C_64F, w, CUDA_R_64F, NULL, 0,
                              NULL, 0, info));
    CHECK(cusolverDnDpotrf(NULL, LOWER, n, a, 24, w, 99, info) == CUSOLVER_STATUS_NOT_INITIALIZED);
    CHECK(cusolverDnDestroyParams(NULL) == CUSOLVER_STATUS_SUCCESS);
    CHECK(cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, (cusolverAlgMode_t)9) == CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverGetVersion(NULL) == CUSOLVER_STATUS_INVALID_VALUE);
}

/* ---- streams ---- */

static void calls_are_captured(void)
{
    enum { N = 5 };
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    double *a = shared(N * N * sizeof *a), *w = shared(N * sizeof *w);
    DONE(cudaStreamCreate(&stream));
    DONE(cusolverDnSetStream(handle, stream));
    DONE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    DONE(cusolverDnDsyevd(handle, VECTORS, LOWER, N, a, N, w, NULL, ENOUGH, info));
    DONE(cudaStreamEndCapture(stream, &graph));
    DONE(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 1; round < 4; round++) {
        memset(a, 0, N * N * sizeof *a);
        for (int i = 0; i < N; i++)
            a[i + i * N] = round * (N - i);
        DONE(cudaGraphLaunch(exec, stream));
        DONE(cudaStreamSynchronize(stream));
        for (int i = 0; i < N; i++)
            NEAR(fabs(w[i] - round * (i + 1)));
    }
    DONE(cudaGraphExecDestroy(exec));
    DONE(cudaGraphDestroy(graph));
    DONE(cusolverDnSetStream(handle, NULL));
    DONE(cudaStreamDestroy(stream));
}

/* ---- what leads out of memory, in a process of its own, as the context is lost ---- */

static void on_fault(int signal)
{
    (void)signal;
    _exit(2);
}

static bool is_an_illegal_address(bool has_matrix)
{
    double *a = shared(64 * sizeof *a), *b = shared(8 * sizeof *b);
    int *pivots = shared(8 * sizeof *pivots);
    signal(SIGSEGV, on_fault);
    DONE(cusolverDnCreate(&handle));
    for (int i = 0; i < 8; i++)
        pivots[i] = 1000000000;
    info = shared(64);
    cusolverDnDgetrs(handle, CUBLAS_OP_N, 8, 1, has_matrix ? a : NULL, 8, pivots, b, 8, info);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress;
}

static void a_matrix_that_is_nothing_and_pivots_out_of_it_are_illegal_addresses(void)
{
    for (int has_matrix = 0; has_matrix < 2; has_matrix++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            _exit(is_an_illegal_address(has_matrix) ? 0 : 1);
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
}

int main(void)
{
    RUN(a_matrix_that_is_nothing_and_pivots_out_of_it_are_illegal_addresses); /* first: a child has no driver of its parent's */
    DONE(cusolverDnCreate(&handle));
    DONE(cusolverDnCreateParams(&params));
    info = shared(64);
    RUN(cholesky_of_each_triangle_and_its_inverse);
    RUN(batches_of_cholesky_by_pointers);
    RUN(lu_with_and_without_pivots);
    RUN(qr_and_its_unitary_factor);
    RUN(bidiagonal_and_tridiagonal_forms);
    RUN(symmetric_factors_with_and_without_pivots);
    RUN(symmetric_factors_without_pivots_are_an_H200s);
    RUN(eigenvalues_all_some_and_by_jacobi);
    RUN(batches_of_eigenvalues);
    RUN(eigenvalues_of_pairs);
    RUN(eigenvalues_of_general_matrices);
    RUN(singular_values_by_every_name);
    RUN(hermitian_matrices);
    RUN(refined_solutions);
    RUN(sparse_systems_and_an_eigenvalue);
    RUN(sparse_factors_are_kept_step_by_step);
    RUN(a_batch_of_sparse_systems_shares_its_pattern);
    RUN(patterns_are_put_in_order);
    RUN(wrong_arguments_leave_their_positions_in_info);
    RUN(calls_are_captured);
    DONE(cusolverDnDestroyParams(params));
    DONE(cusolverDnDestroy(handle));
    return summary();
}
