/* Eigenvalues of general matrices, with right vectors ("cuSOLVER", cusolverDnXgeev). A real matrix
 * has complex eigenvalues; if W has a real type, it holds all real parts and then all imaginary
 * ones. Vectors are as in LAPACK, a conjugate pair in two columns.
 */
#include "libraries/cusolver/call.h"

#include <stdlib.h>
#include <string.h>

enum { SPLIT = 1 /* real and imaginary parts separate */ };

static int real_geev(const struct call *c)
{
    enum precision p = c->precision;
    size_t bytes = precision_bytes(p);
    int info = 0, one = 1, ldv = c->ld[OP_V] > 0 ? c->ld[OP_V] : 1;
    char *parts = malloc(2 * (size_t)c->n * bytes + 1), *imaginary = parts + (size_t)c->n * bytes;
    if (!parts)
        return OUT_OF_MEMORY;
    WITH_WORK(p, heddle_openblas.geev[p]("N", &c->job_v, &c->n, c->at[OP_A], &c->ld[OP_A], parts, imaginary, NULL, &one,
                                         c->at[OP_V], &ldv, work, &lwork, &info, 1, 1));
    if (c->flags & SPLIT)
        memcpy(c->at[OP_W], parts, 2 * (size_t)c->n * bytes);
    else
        for (int i = 0; i < c->n; i++) {
            memcpy(element_at(p, c->at[OP_W], 2 * i), element_at(p, parts, i), bytes);
            memcpy(element_at(p, c->at[OP_W], 2 * i + 1), element_at(p, imaginary, i), bytes);
        }
    free(parts);
    return info;
}

static int complex_geev(const struct call *c)
{
    enum precision p = c->precision;
    int info = 0, one = 1, ldv = c->ld[OP_V] > 0 ? c->ld[OP_V] : 1;
    void *rwork = malloc(2 * (size_t)c->n * precision_real_bytes(p) + 1);
    if (!rwork)
        return OUT_OF_MEMORY;
    WITH_WORK(p, heddle_openblas.geev_complex[p]("N", &c->job_v, &c->n, c->at[OP_A], &c->ld[OP_A], c->at[OP_W], NULL,
                                                 &one, c->at[OP_V], &ldv, work, &lwork, rwork, &info, 1, 1));
    free(rwork);
    return info;
}

static int run_geev(const struct call *c)
{
    return c->n == 0 ? 0 : precision_is_complex(c->precision) ? complex_geev(c) : real_geev(c);
}

static cudaDataType complex_of(enum precision p)
{
    return precision_real_bytes(p) == sizeof(float) ? CUDA_C_32F : CUDA_C_64F;
}

static bool types_fit(cudaDataType typeA, cudaDataType typeW, cudaDataType typeVL, cudaDataType typeVR,
                      cudaDataType computeType, enum precision *p)
{
    return precision_of(typeA, p) && typeA == typeVL && typeA == typeVR && typeA == computeType &&
           (typeW == typeA || typeW == complex_of(*p));
}

LIBRARY_API cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                        cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n,
                                                        cudaDataType typeA, const void *A, int64_t lda,
                                                        cudaDataType typeW, const void *W, cudaDataType typeVL,
                                                        const void *VL, int64_t ldvl, cudaDataType typeVR,
                                                        const void *VR, int64_t ldvr, cudaDataType computeType,
                                                        size_t *device, size_t *host)
{
    enum precision p;
    (void)params, (void)jobvl, (void)jobvr, (void)A, (void)W, (void)VL, (void)VR;
    SOLVER(s, handle);
    bool fits = types_fit(typeA, typeW, typeVL, typeVR, computeType, &p) && n >= 0 && lda >= at_least_one(n) &&
                ldvl >= 1 && ldvr >= 1;
    return fits ? call_sizes(device, host) : CUSOLVER_STATUS_INVALID_VALUE;
}

/* An H200 returns CUSOLVER_STATUS_INTERNAL_ERROR for wrong sizes, and if left vectors are
 * requested. */
LIBRARY_API cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n,
                                             cudaDataType typeA, void *A, int64_t lda, cudaDataType typeW, void *W,
                                             cudaDataType typeVL, void *VL, int64_t ldvl, cudaDataType typeVR, void *VR,
                                             int64_t ldvr, cudaDataType computeType, void *device, size_t deviceBytes,
                                             void *host, size_t hostBytes, int *info)
{
    static const char name[] = "cusolverDnXgeev";
    enum precision p;
    (void)params, (void)VL, WITHOUT_BUFFERS;
    SOLVER(s, handle);
    bool vectors = jobvr == CUSOLVER_EIG_MODE_VECTOR;
    NEED(types_fit(typeA, typeW, typeVL, typeVR, computeType, &p));
    NEED_OR(CUSOLVER_STATUS_INTERNAL_ERROR, jobvl != CUSOLVER_EIG_MODE_VECTOR);
    NEED_OR(CUSOLVER_STATUS_INTERNAL_ERROR, n >= 0);
    NEED_OR(CUSOLVER_STATUS_INTERNAL_ERROR, lda >= at_least_one(n));
    NEED_OR(CUSOLVER_STATUS_INTERNAL_ERROR, ldvl >= 1);
    NEED_OR(CUSOLVER_STATUS_INTERNAL_ERROR, ldvr >= (vectors ? at_least_one(n) : 1));
    FITS(lda, ldvr);
    struct call c = call_new(name, p, run_geev);
    c.job_v = vectors ? 'V' : 'N';
    c.n = (int)n;
    c.flags = typeW == typeA ? SPLIT : 0;
    c.flops = (vectors ? 25.0 : 10.0) * (double)n * (double)n * (double)n;
    call_matrix(&c, OP_A, A, n, n, lda, HD_READS | HD_WRITES);
    call_vector(&c, OP_W, W, n, 2 * precision_real_bytes(p), HD_WRITES);
    if (vectors)
        call_matrix(&c, OP_V, VR, n, n, ldvr, HD_WRITES);
    return call_put_info(s, &c, info);
}
