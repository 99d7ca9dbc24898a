/* See spectrum.h. */
#include "libraries/cusolver/spectrum.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

/* ---- eigenvalues ---- */

static int real_eigenvalues(enum precision p, char job, char uplo, int n, void *a, int lda, void *w)
{
    int info = 0, lwork = -1, liwork = -1, wanted_i = 0;
    double wanted[2] = {0};
    heddle_openblas.syevd[p](&job, &uplo, &n, a, &lda, w, wanted, &lwork, &wanted_i, &liwork, &info, 1, 1);
    lwork = work_wanted(p, wanted);
    liwork = wanted_i > 1 ? wanted_i : 1;
    void *work = malloc((size_t)lwork * precision_bytes(p));
    int *iwork = malloc((size_t)liwork * sizeof *iwork);
    if (work && iwork)
        heddle_openblas.syevd[p](&job, &uplo, &n, a, &lda, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    else
        info = OUT_OF_MEMORY;
    free(work);
    free(iwork);
    return info;
}

static int complex_eigenvalues(enum precision p, char job, char uplo, int n, void *a, int lda, void *w)
{
    int info = 0, lwork = -1, lrwork = -1, liwork = -1, wanted_i = 0;
    double wanted[2] = {0}, wanted_r[2] = {0};
    heddle_openblas.heevd[p](&job, &uplo, &n, a, &lda, w, wanted, &lwork, wanted_r, &lrwork, &wanted_i, &liwork, &info,
                             1, 1);
    lwork = work_wanted(p, wanted);
    lrwork = work_wanted(p, wanted_r);
    liwork = wanted_i > 1 ? wanted_i : 1;
    void *work = malloc((size_t)lwork * precision_bytes(p)), *rwork = malloc((size_t)lrwork * precision_real_bytes(p));
    int *iwork = malloc((size_t)liwork * sizeof *iwork);
    if (work && rwork && iwork)
        heddle_openblas.heevd[p](&job, &uplo, &n, a, &lda, w, work, &lwork, rwork, &lrwork, iwork, &liwork, &info, 1,
                                 1);
    else
        info = OUT_OF_MEMORY;
    free(work);
    free(rwork);
    free(iwork);
    return info;
}

/* Checks the triangle that is used ('L', 'U'), or all rows. With values that are not finite, LAPACK
 * may iterate for ever. */
static bool is_finite(enum precision p, char uplo, int m, int n, const void *a, int lda)
{
    int parts = precision_is_complex(p) ? 2 : 1;
    for (int j = 0; j < n; j++)
        for (int i = uplo == 'L' ? j : 0; i < (uplo == 'U' ? j + 1 : m); i++)
            for (int part = 0; part < parts; part++) {
                const char *at = element_at(p, a, (int64_t)j * lda + i);
                if (!isfinite(real_at(p, at + (size_t)part * precision_real_bytes(p), 0)))
                    return false;
            }
    return true;
}

static void fill_with_nan(enum precision p, int n, void *values)
{
    for (int i = 0; i < n; i++)
        if (precision_real_bytes(p) == sizeof(float))
            ((float *)values)[i] = NAN;
        else
            ((double *)values)[i] = NAN;
}

int spectrum_symmetric(enum precision p, char job, char uplo, int n, void *a, int lda, void *w)
{
    if (n == 0)
        return 0;
    if (!is_finite(p, uplo, n, n, a, lda)) {
        fill_with_nan(p, n, w);
        return 1;
    }
    return precision_is_complex(p) ? complex_eigenvalues(p, job, uplo, n, a, lda, w)
                                   : real_eigenvalues(p, job, uplo, n, a, lda, w);
}

/* ---- singular values ---- */

static int real_singular(enum precision p, char job_u, char job_vt, int m, int n, void *a, int lda, void *s, void *u,
                         int ldu, void *vt, int ldvt)
{
    int info = 0;
    WITH_WORK(p, heddle_openblas.gesvd[p](&job_u, &job_vt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &lwork, &info,
                                          1, 1));
    return info;
}

static int complex_singular(enum precision p, char job_u, char job_vt, int m, int n, void *a, int lda, void *s, void *u,
                            int ldu, void *vt, int ldvt)
{
    int info = 0, small = m < n ? m : n;
    void *rwork = malloc((size_t)(5 * small + 1) * precision_real_bytes(p));
    if (!rwork)
        return OUT_OF_MEMORY;
    WITH_WORK(p, heddle_openblas.gesvd_complex[p](&job_u, &job_vt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &lwork,
                                                  rwork, &info, 1, 1));
    free(rwork);
    return info;
}

int spectrum_singular(enum precision p, char job_u, char job_vt, int m, int n, void *a, int lda, void *s, void *u,
                      int ldu, void *vt, int ldvt)
{
    int small = m < n ? m : n;
    if (small == 0)
        return 0;
    if (!is_finite(p, ' ', m, n, a, lda)) {
        fill_with_nan(p, small, s);
        return 1;
    }
    ldu = ldu > 0 ? ldu : 1;
    ldvt = ldvt > 0 ? ldvt : 1;
    return precision_is_complex(p) ? complex_singular(p, job_u, job_vt, m, n, a, lda, s, u, ldu, vt, ldvt)
                                   : real_singular(p, job_u, job_vt, m, n, a, lda, s, u, ldu, vt, ldvt);
}

#define ADJOINT(name, T, conjugate)                                                                                    \
    static void name(int m, int n, const T *from, int64_t ld_from, T *to, int64_t ld_to)                               \
    {                                                                                                                  \
        for (int j = 0; j < n; j++)                                                                                    \
            for (int i = 0; i < m; i++)                                                                                \
                to[j + i * ld_to] = conjugate(from[i + j * ld_from]);                                                  \
    }
ADJOINT(transpose_floats, float, )
ADJOINT(transpose_doubles, double, )
ADJOINT(adjoint_floats, float complex, conjf)
ADJOINT(adjoint_doubles, double complex, conj)

void spectrum_adjoint(enum precision p, int m, int n, const void *from, int ld_from, void *to, int ld_to)
{
    switch (p) {
    case PRECISION_S: transpose_floats(m, n, from, ld_from, to, ld_to); break;
    case PRECISION_D: transpose_doubles(m, n, from, ld_from, to, ld_to); break;
    case PRECISION_C: adjoint_floats(m, n, from, ld_from, to, ld_to); break;
    case PRECISION_Z: adjoint_doubles(m, n, from, ld_from, to, ld_to); break;
    }
}
