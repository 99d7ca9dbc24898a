/* cuSOLVER's dense matrices ("cuSOLVER", 2.3 to 2.4): libcusolver.so of CUDA 11, 12 and 13.
 * docs/LIBRARIES.md says what Heddle's has. Matrices are column-major, and on the device, as are
 * vectors and devInfo.
 */
#ifndef CUSOLVERDN_H_
#define CUSOLVERDN_H_

#include <stdio.h>

#include "cuComplex.h"
#include "cublas_v2.h"
#include "cusolver_common.h"
#include "library_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct syevjInfo *syevjInfo_t;
typedef struct gesvdjInfo *gesvdjInfo_t;
typedef struct cusolverDnIRSParams *cusolverDnIRSParams_t;
typedef struct cusolverDnIRSInfos *cusolverDnIRSInfos_t;
typedef struct cusolverDnParams *cusolverDnParams_t;
typedef enum { CUSOLVERDN_GETRF = 0, CUSOLVERDN_POTRF = 1, CUSOLVERDN_SYEVBATCHED = 2 } cusolverDnFunction_t;

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId);
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *streamId);
cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t mode);
cusolverStatus_t cusolverDnGetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t *mode);
cusolverStatus_t cusolverDnSetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t mode);
cusolverStatus_t cusolverDnGetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t *mode);

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params);
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params);
cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function,
                                         cusolverAlgMode_t algo);

cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t *info);
cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info);
cusolverStatus_t cusolverDnXsyevjSetTolerance(syevjInfo_t info, double tolerance);
cusolverStatus_t cusolverDnXsyevjSetMaxSweeps(syevjInfo_t info, int max_sweeps);
cusolverStatus_t cusolverDnXsyevjSetSortEig(syevjInfo_t info, int sort_eig);
cusolverStatus_t cusolverDnXsyevjGetResidual(cusolverDnHandle_t handle, syevjInfo_t info, double *residual);
cusolverStatus_t cusolverDnXsyevjGetSweeps(cusolverDnHandle_t handle, syevjInfo_t info, int *executed_sweeps);
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t *info);
cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info);
cusolverStatus_t cusolverDnXgesvdjSetTolerance(gesvdjInfo_t info, double tolerance);
cusolverStatus_t cusolverDnXgesvdjSetMaxSweeps(gesvdjInfo_t info, int max_sweeps);
cusolverStatus_t cusolverDnXgesvdjSetSortEig(gesvdjInfo_t info, int sort_svd);
cusolverStatus_t cusolverDnXgesvdjGetResidual(cusolverDnHandle_t handle, gesvdjInfo_t info, double *residual);
cusolverStatus_t cusolverDnXgesvdjGetSweeps(cusolverDnHandle_t handle, gesvdjInfo_t info, int *executed_sweeps);

/* ---- the functions that have a type in their names: S, D, C and Z ---- */

#define HEDDLE_DN(letter, name)                cusolverStatus_t cusolverDn##letter##name
#define HEDDLE_REAL(M, name)                   M(S, name, float, float) M(D, name, double, double)
#define HEDDLE_COMPLEX(M, name)                M(C, name, cuComplex, float) M(Z, name, cuDoubleComplex, double)
#define HEDDLE_ALL(M, real_name, complex_name) HEDDLE_REAL(M, real_name) HEDDLE_COMPLEX(M, complex_name)

/* Cholesky factors, inverses by them, products of triangles. */
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, name##_bufferSize)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda,            \
                                    int *lwork);                                                                       \
    HEDDLE_DN(X, name)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda, T *work, int lwork,     \
                       int *devInfo);
HEDDLE_ALL(HEDDLE_M, potrf, potrf)
HEDDLE_ALL(HEDDLE_M, potri, potri)
HEDDLE_ALL(HEDDLE_M, lauum, lauum)
#undef HEDDLE_M
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, potrs)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, const T *A, int lda, T *B,  \
                        int ldb, int *devInfo);                                                                        \
    HEDDLE_DN(X, potrfBatched)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *Aarray[], int lda,          \
                               int *infoArray, int batchSize);                                                         \
    HEDDLE_DN(X, potrsBatched)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, T *A[], int lda,     \
                               T *B[], int ldb, int *d_info, int batchSize);
HEDDLE_ALL(HEDDLE_M, potrs, potrs)
#undef HEDDLE_M

/* LU with partial pivoting; without pivots where devIpiv is NULL. */
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, getrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, T *A, int lda, int *Lwork);                \
    HEDDLE_DN(X, getrf)(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *Workspace, int *devIpiv,            \
                        int *devInfo);                                                                                 \
    HEDDLE_DN(X, laswp)(cusolverDnHandle_t handle, int n, T *A, int lda, int k1, int k2, const int *devIpiv,           \
                        int incx);                                                                                     \
    HEDDLE_DN(X, getrs)(cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs, const T *A, int lda,      \
                        const int *devIpiv, T *B, int ldb, int *devInfo);
HEDDLE_ALL(HEDDLE_M, getrf, getrf)
#undef HEDDLE_M

/* QR. */
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, geqrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, T *A, int lda, int *lwork);                \
    HEDDLE_DN(X, geqrf)(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *TAU, T *Workspace, int Lwork,       \
                        int *devInfo);
HEDDLE_ALL(HEDDLE_M, geqrf, geqrf)
#undef HEDDLE_M
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, name##_bufferSize)(cusolverDnHandle_t handle, int m, int n, int k, const T *A, int lda, const T *tau, \
                                    int *lwork);                                                                       \
    HEDDLE_DN(X, name)(cusolverDnHandle_t handle, int m, int n, int k, T *A, int lda, const T *tau, T *work,           \
                       int lwork, int *info);
HEDDLE_ALL(HEDDLE_M, orgqr, ungqr)
#undef HEDDLE_M
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, name##_bufferSize)(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m,  \
                                    int n, int k, const T *A, int lda, const T *tau, const T *C, int ldc, int *lwork); \
    HEDDLE_DN(X, name)(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k, \
                       const T *A, int lda, const T *tau, T *C, int ldc, T *work, int lwork, int *devInfo);
HEDDLE_ALL(HEDDLE_M, ormqr, unmqr)
#undef HEDDLE_M

/* Symmetric matrices that are not definite: L D L^T. */
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, sytrf_bufferSize)(cusolverDnHandle_t handle, int n, T *A, int lda, int *lwork);                       \
    HEDDLE_DN(X, sytrf)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda, int *ipiv, T *work,    \
                        int lwork, int *info);                                                                         \
    HEDDLE_DN(X, sytri_bufferSize)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda,             \
                                   const int *ipiv, int *lwork);                                                       \
    HEDDLE_DN(X, sytri)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda, const int *ipiv,       \
                        T *work, int lwork, int *info);
HEDDLE_ALL(HEDDLE_M, sytrf, sytrf)
#undef HEDDLE_M

/* To bidiagonal and tridiagonal form, and the unitary matrices that did it. */
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, gebrd_bufferSize)(cusolverDnHandle_t handle, int m, int n, int *Lwork);                               \
    HEDDLE_DN(X, gebrd)(cusolverDnHandle_t handle, int m, int n, T *A, int lda, R *D, R *E, T *TAUQ, T *TAUP, T *Work, \
                        int Lwork, int *devInfo);
HEDDLE_ALL(HEDDLE_M, gebrd, gebrd)
#undef HEDDLE_M
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, name##_bufferSize)(cusolverDnHandle_t handle, cublasSideMode_t side, int m, int n, int k, const T *A, \
                                    int lda, const T *tau, int *lwork);                                                \
    HEDDLE_DN(X, name)(cusolverDnHandle_t handle, cublasSideMode_t side, int m, int n, int k, T *A, int lda,           \
                       const T *tau, T *work, int lwork, int *info);
HEDDLE_ALL(HEDDLE_M, orgbr, ungbr)
#undef HEDDLE_M
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, name##_bufferSize)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, const T *A, int lda,      \
                                    const R *d, const R *e, const T *tau, int *lwork);                                 \
    HEDDLE_DN(X, name)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda, R *d, R *e, T *tau,     \
                       T *work, int lwork, int *info);
HEDDLE_ALL(HEDDLE_M, sytrd, hetrd)
#undef HEDDLE_M
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, name##_bufferSize)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, const T *A, int lda,      \
                                    const T *tau, int *lwork);                                                         \
    HEDDLE_DN(X, name)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda, const T *tau, T *work,  \
                       int lwork, int *info);
HEDDLE_ALL(HEDDLE_M, orgtr, ungtr)
#undef HEDDLE_M
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, name##_bufferSize)(cusolverDnHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,           \
                                    cublasOperation_t trans, int m, int n, const T *A, int lda, const T *tau,          \
                                    const T *C, int ldc, int *lwork);                                                  \
    HEDDLE_DN(X, name)(cusolverDnHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                        \
                       cublasOperation_t trans, int m, int n, T *A, int lda, T *tau, T *C, int ldc, T *work,           \
                       int lwork, int *info);
HEDDLE_ALL(HEDDLE_M, ormtr, unmtr)
#undef HEDDLE_M

/* Singular values. */
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, gesvd_bufferSize)(cusolverDnHandle_t handle, int m, int n, int *lwork);                               \
    HEDDLE_DN(X, gesvd)(cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m, int n, T *A, int lda,   \
                        R *S, T *U, int ldu, T *VT, int ldvt, T *work, int lwork, R *rwork, int *info);                \
    HEDDLE_DN(X, gesvdj_bufferSize)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ, int m, int n,         \
                                    const T *A, int lda, const R *S, const T *U, int ldu, const T *V, int ldv,         \
                                    int *lwork, gesvdjInfo_t params);                                                  \
    HEDDLE_DN(X, gesvdj)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ, int m, int n, T *A, int lda,     \
                         R *S, T *U, int ldu, T *V, int ldv, T *work, int lwork, int *info, gesvdjInfo_t params);      \
    HEDDLE_DN(X, gesvdjBatched_bufferSize)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n,            \
                                           const T *A, int lda, const R *S, const T *U, int ldu, const T *V, int ldv,  \
                                           int *lwork, gesvdjInfo_t params, int batchSize);                            \
    HEDDLE_DN(X, gesvdjBatched)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n, T *A, int lda, R *S,  \
                                T *U, int ldu, T *V, int ldv, T *work, int lwork, int *info, gesvdjInfo_t params,      \
                                int batchSize);                                                                        \
    HEDDLE_DN(X, gesvdaStridedBatched_bufferSize)(                                                                     \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const T *d_A, int lda,              \
        long long strideA, const R *d_S, long long strideS, const T *d_U, int ldu, long long strideU, const T *d_V,    \
        int ldv, long long strideV, int *lwork, int batchSize);                                                        \
    HEDDLE_DN(X, gesvdaStridedBatched)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n,      \
                                       const T *d_A, int lda, long long strideA, R *d_S, long long strideS, T *d_U,    \
                                       int ldu, long long strideU, T *d_V, int ldv, long long strideV, T *d_work,      \
                                       int lwork, int *d_info, double *h_R_nrmF, int batchSize);
HEDDLE_ALL(HEDDLE_M, gesvd, gesvd)
#undef HEDDLE_M

/* Eigenvalues of symmetric and Hermitian matrices: all, some, by Jacobi's method; A x = w B x and
 * its like. */
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, name##d_bufferSize)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,  \
                                     const T *A, int lda, const R *W, int *lwork);                                     \
    HEDDLE_DN(X, name##d)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T *A,       \
                          int lda, R *W, T *work, int lwork, int *info);                                               \
    HEDDLE_DN(X, name##dx_bufferSize)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cusolverEigRange_t range,     \
                                      cublasFillMode_t uplo, int n, const T *A, int lda, R vl, R vu, int il, int iu,   \
                                      int *meig, const R *W, int *lwork);                                              \
    HEDDLE_DN(X, name##dx)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cusolverEigRange_t range,                \
                           cublasFillMode_t uplo, int n, T *A, int lda, R vl, R vu, int il, int iu, int *meig, R *W,   \
                           T *work, int lwork, int *info);                                                             \
    HEDDLE_DN(X, name##j_bufferSize)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,  \
                                     const T *A, int lda, const R *W, int *lwork, syevjInfo_t params);                 \
    HEDDLE_DN(X, name##j)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T *A,       \
                          int lda, R *W, T *work, int lwork, int *info, syevjInfo_t params);                           \
    HEDDLE_DN(X, name##jBatched_bufferSize)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo,  \
                                            int n, const T *A, int lda, const R *W, int *lwork, syevjInfo_t params,    \
                                            int batchSize);                                                            \
    HEDDLE_DN(X, name##jBatched)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,      \
                                 T *A, int lda, R *W, T *work, int lwork, int *info, syevjInfo_t params,               \
                                 int batchSize);
HEDDLE_ALL(HEDDLE_M, syev, heev)
#undef HEDDLE_M
#define HEDDLE_M(X, name, T, R)                                                                                        \
    HEDDLE_DN(X, name##d_bufferSize)(cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,       \
                                     cublasFillMode_t uplo, int n, const T *A, int lda, const T *B, int ldb,           \
                                     const R *W, int *lwork);                                                          \
    HEDDLE_DN(X, name##d)(cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,                  \
                          cublasFillMode_t uplo, int n, T *A, int lda, T *B, int ldb, R *W, T *work, int lwork,        \
                          int *info);                                                                                  \
    HEDDLE_DN(X, name##dx_bufferSize)(cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,      \
                                      cusolverEigRange_t range, cublasFillMode_t uplo, int n, const T *A, int lda,     \
                                      const T *B, int ldb, R vl, R vu, int il, int iu, int *meig, const R *W,          \
                                      int *lwork);                                                                     \
    HEDDLE_DN(X, name##dx)(cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,                 \
                           cusolverEigRange_t range, cublasFillMode_t uplo, int n, T *A, int lda, T *B, int ldb, R vl, \
                           R vu, int il, int iu, int *meig, R *W, T *work, int lwork, int *info);                      \
    HEDDLE_DN(X, name##j_bufferSize)(cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,       \
                                     cublasFillMode_t uplo, int n, const T *A, int lda, const T *B, int ldb,           \
                                     const R *W, int *lwork, syevjInfo_t params);                                      \
    HEDDLE_DN(X, name##j)(cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,                  \
                          cublasFillMode_t uplo, int n, T *A, int lda, T *B, int ldb, R *W, T *work, int lwork,        \
                          int *info, syevjInfo_t params);
HEDDLE_ALL(HEDDLE_M, sygv, hegv)
#undef HEDDLE_M

/* Solutions by iterative refinement: the letters are the precision of the data, and the lowest one
 * that factors are made in. */
#define HEDDLE_M(data, lowest, T)                                                                                      \
    HEDDLE_DN(data, lowest##gesv_bufferSize)(cusolverDnHandle_t handle, int n, int nrhs, T *dA, int ldda, int *dipiv,  \
                                             T *dB, int lddb, T *dX, int lddx, void *dWorkspace, size_t *lwork_bytes); \
    HEDDLE_DN(data, lowest##gesv)(cusolverDnHandle_t handle, int n, int nrhs, T *dA, int ldda, int *dipiv, T *dB,      \
                                  int lddb, T *dX, int lddx, void *dWorkspace, size_t lwork_bytes, int *iter,          \
                                  int *d_info);                                                                        \
    HEDDLE_DN(data, lowest##gels_bufferSize)(cusolverDnHandle_t handle, int m, int n, int nrhs, T *dA, int ldda,       \
                                             T *dB, int lddb, T *dX, int lddx, void *dWorkspace, size_t *lwork_bytes); \
    HEDDLE_DN(data, lowest##gels)(cusolverDnHandle_t handle, int m, int n, int nrhs, T *dA, int ldda, T *dB, int lddb, \
                                  T *dX, int lddx, void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
HEDDLE_M(Z, Z, cuDoubleComplex)
HEDDLE_M(Z, C, cuDoubleComplex)
HEDDLE_M(Z, K, cuDoubleComplex)
HEDDLE_M(Z, E, cuDoubleComplex)
HEDDLE_M(Z, Y, cuDoubleComplex)
HEDDLE_M(C, C, cuComplex)
HEDDLE_M(C, K, cuComplex)
HEDDLE_M(C, E, cuComplex)
HEDDLE_M(C, Y, cuComplex)
HEDDLE_M(D, D, double)
HEDDLE_M(D, S, double)
HEDDLE_M(D, H, double)
HEDDLE_M(D, B, double)
HEDDLE_M(D, X, double)
HEDDLE_M(S, S, float)
HEDDLE_M(S, H, float)
HEDDLE_M(S, B, float)
HEDDLE_M(S, X, float)
#undef HEDDLE_M
#undef HEDDLE_DN
#undef HEDDLE_REAL
#undef HEDDLE_COMPLEX
#undef HEDDLE_ALL

cusolverStatus_t cusolverDnIRSParamsCreate(cusolverDnIRSParams_t *params);
cusolverStatus_t cusolverDnIRSParamsDestroy(cusolverDnIRSParams_t params);
cusolverStatus_t cusolverDnIRSParamsSetRefinementSolver(cusolverDnIRSParams_t params, cusolverIRSRefinement_t solver);
cusolverStatus_t cusolverDnIRSParamsSetSolverMainPrecision(cusolverDnIRSParams_t params,
                                                           cusolverPrecType_t main_precision);
cusolverStatus_t cusolverDnIRSParamsSetSolverLowestPrecision(cusolverDnIRSParams_t params,
                                                             cusolverPrecType_t lowest_precision);
cusolverStatus_t cusolverDnIRSParamsSetSolverPrecisions(cusolverDnIRSParams_t params, cusolverPrecType_t main_precision,
                                                        cusolverPrecType_t lowest_precision);
cusolverStatus_t cusolverDnIRSParamsSetTol(cusolverDnIRSParams_t params, double val);
cusolverStatus_t cusolverDnIRSParamsSetTolInner(cusolverDnIRSParams_t params, double val);
cusolverStatus_t cusolverDnIRSParamsSetMaxIters(cusolverDnIRSParams_t params, int maxiters);
cusolverStatus_t cusolverDnIRSParamsSetMaxItersInner(cusolverDnIRSParams_t params, int maxiters_inner);
cusolverStatus_t cusolverDnIRSParamsGetMaxIters(cusolverDnIRSParams_t params, int *maxiters);
cusolverStatus_t cusolverDnIRSParamsEnableFallback(cusolverDnIRSParams_t params);
cusolverStatus_t cusolverDnIRSParamsDisableFallback(cusolverDnIRSParams_t params);
cusolverStatus_t cusolverDnIRSInfosCreate(cusolverDnIRSInfos_t *infos);
cusolverStatus_t cusolverDnIRSInfosDestroy(cusolverDnIRSInfos_t infos);
cusolverStatus_t cusolverDnIRSInfosGetNiters(cusolverDnIRSInfos_t infos, int *niters);
cusolverStatus_t cusolverDnIRSInfosGetOuterNiters(cusolverDnIRSInfos_t infos, int *outer_niters);
cusolverStatus_t cusolverDnIRSInfosGetMaxIters(cusolverDnIRSInfos_t infos, int *maxiters);
cusolverStatus_t cusolverDnIRSXgesv(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos,
                                    int n, int nrhs, void *dA, int ldda, void *dB, int lddb, void *dX, int lddx,
                                    void *dWorkspace, size_t lwork_bytes, int *niters, int *d_info);
cusolverStatus_t cusolverDnIRSXgesv_bufferSize(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, int n, int nrhs,
                                               size_t *lwork_bytes);
cusolverStatus_t cusolverDnIRSXgels(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos,
                                    int m, int n, int nrhs, void *dA, int ldda, void *dB, int lddb, void *dX, int lddx,
                                    void *dWorkspace, size_t lwork_bytes, int *niters, int *d_info);
cusolverStatus_t cusolverDnIRSXgels_bufferSize(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, int m, int n,
                                               int nrhs, size_t *lwork_bytes);

/* ---- 64-bit functions: types are arguments, work areas are the program's on both sides ---- */

#define HEDDLE_SIZES size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost
#define HEDDLE_AREAS                                                                                                   \
    void *bufferOnDevice, size_t workspaceInBytesOnDevice, void *bufferOnHost, size_t workspaceInBytesOnHost
cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA, const void *A,
                                             int64_t lda, cudaDataType computeType, HEDDLE_SIZES);
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                                  int64_t n, cudaDataType dataTypeA, void *A, int64_t lda, cudaDataType computeType,
                                  HEDDLE_AREAS, int *info);
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                                  int64_t n, int64_t nrhs, cudaDataType dataTypeA, const void *A, int64_t lda,
                                  cudaDataType dataTypeB, void *B, int64_t ldb, int *info);
cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag,
                                             int64_t n, cudaDataType dataTypeA, void *A, int64_t lda, HEDDLE_SIZES);
cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n,
                                  cudaDataType dataTypeA, void *A, int64_t lda, HEDDLE_AREAS, int *devInfo);
cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                             cudaDataType dataTypeA, const void *A, int64_t lda,
                                             cudaDataType computeType, HEDDLE_SIZES);
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                  cudaDataType dataTypeA, void *A, int64_t lda, int64_t *ipiv, cudaDataType computeType,
                                  HEDDLE_AREAS, int *info);
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasOperation_t trans,
                                  int64_t n, int64_t nrhs, cudaDataType dataTypeA, const void *A, int64_t lda,
                                  const int64_t *ipiv, cudaDataType dataTypeB, void *B, int64_t ldb, int *info);
cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                             cudaDataType dataTypeA, const void *A, int64_t lda,
                                             cudaDataType dataTypeTau, const void *tau, cudaDataType computeType,
                                             HEDDLE_SIZES);
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                  cudaDataType dataTypeA, void *A, int64_t lda, cudaDataType dataTypeTau, void *tau,
                                  cudaDataType computeType, HEDDLE_AREAS, int *info);
cusolverStatus_t cusolverDnXlarft_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverDirectMode_t direct, cusolverStorevMode_t storev, int64_t n,
                                             int64_t k, cudaDataType dataTypeV, const void *V, int64_t ldv,
                                             cudaDataType dataTypeTau, const void *tau, cudaDataType dataTypeT, void *T,
                                             int64_t ldt, cudaDataType computeType, HEDDLE_SIZES);
cusolverStatus_t cusolverDnXlarft(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverDirectMode_t direct,
                                  cusolverStorevMode_t storev, int64_t n, int64_t k, cudaDataType dataTypeV,
                                  const void *V, int64_t ldv, cudaDataType dataTypeTau, const void *tau,
                                  cudaDataType dataTypeT, void *T, int64_t ldt, cudaDataType computeType, HEDDLE_AREAS);
cusolverStatus_t cusolverDnXsytrs_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                                             cudaDataType dataTypeA, const void *A, int64_t lda, const int64_t *ipiv,
                                             cudaDataType dataTypeB, void *B, int64_t ldb, HEDDLE_SIZES);
cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                                  cudaDataType dataTypeA, const void *A, int64_t lda, const int64_t *ipiv,
                                  cudaDataType dataTypeB, void *B, int64_t ldb, HEDDLE_AREAS, int *info);
cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                             cudaDataType dataTypeA, const void *A, int64_t lda, cudaDataType dataTypeW,
                                             const void *W, cudaDataType computeType, HEDDLE_SIZES);
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                  cudaDataType dataTypeW, void *W, cudaDataType computeType, HEDDLE_AREAS, int *info);
cusolverStatus_t cusolverDnXsyevdx_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo,
                                              int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda, void *vl,
                                              void *vu, int64_t il, int64_t iu, int64_t *h_meig, cudaDataType dataTypeW,
                                              const void *W, cudaDataType computeType, HEDDLE_SIZES);
cusolverStatus_t cusolverDnXsyevdx(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
                                   cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA,
                                   void *A, int64_t lda, void *vl, void *vu, int64_t il, int64_t iu, int64_t *meig64,
                                   cudaDataType dataTypeW, void *W, cudaDataType computeType, HEDDLE_AREAS, int *info);
cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                   cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                                   cudaDataType dataTypeA, const void *A, int64_t lda,
                                                   cudaDataType dataTypeW, const void *W, cudaDataType computeType,
                                                   HEDDLE_SIZES, int64_t batchSize);
cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
                                        cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                        cudaDataType dataTypeW, void *W, cudaDataType computeType, HEDDLE_AREAS,
                                        int *info, int64_t batchSize);
cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                            cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n,
                                            cudaDataType dataTypeA, const void *A, int64_t lda, cudaDataType dataTypeW,
                                            const void *W, cudaDataType dataTypeVL, const void *VL, int64_t ldvl,
                                            cudaDataType dataTypeVR, const void *VR, int64_t ldvr,
                                            cudaDataType computeType, HEDDLE_SIZES);
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobvl,
                                 cusolverEigMode_t jobvr, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                 cudaDataType dataTypeW, void *W, cudaDataType dataTypeVL, void *VL, int64_t ldvl,
                                 cudaDataType dataTypeVR, void *VR, int64_t ldvr, cudaDataType computeType,
                                 HEDDLE_AREAS, int *info);
cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                             signed char jobvt, int64_t m, int64_t n, cudaDataType dataTypeA,
                                             const void *A, int64_t lda, cudaDataType dataTypeS, const void *S,
                                             cudaDataType dataTypeU, const void *U, int64_t ldu,
                                             cudaDataType dataTypeVT, const void *VT, int64_t ldvt,
                                             cudaDataType computeType, HEDDLE_SIZES);
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                  signed char jobvt, int64_t m, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                  cudaDataType dataTypeS, void *S, cudaDataType dataTypeU, void *U, int64_t ldu,
                                  cudaDataType dataTypeVT, void *VT, int64_t ldvt, cudaDataType computeType,
                                  HEDDLE_AREAS, int *info);
cusolverStatus_t cusolverDnXgesvdp_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cusolverEigMode_t jobz, int econ, int64_t m, int64_t n,
                                              cudaDataType dataTypeA, const void *A, int64_t lda,
                                              cudaDataType dataTypeS, const void *S, cudaDataType dataTypeU,
                                              const void *U, int64_t ldu, cudaDataType dataTypeV, const void *V,
                                              int64_t ldv, cudaDataType computeType, HEDDLE_SIZES);
cusolverStatus_t cusolverDnXgesvdp(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
                                   int econ, int64_t m, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                   cudaDataType dataTypeS, void *S, cudaDataType dataTypeU, void *U, int64_t ldu,
                                   cudaDataType dataTypeV, void *V, int64_t ldv, cudaDataType computeType, HEDDLE_AREAS,
                                   int *d_info, double *h_err_sigma);
cusolverStatus_t cusolverDnXgesvdr_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                              signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p,
                                              int64_t niters, cudaDataType dataTypeA, const void *A, int64_t lda,
                                              cudaDataType dataTypeSrand, const void *Srand, cudaDataType dataTypeUrand,
                                              const void *Urand, int64_t ldUrand, cudaDataType dataTypeVrand,
                                              const void *Vrand, int64_t ldVrand, cudaDataType computeType,
                                              HEDDLE_SIZES);
cusolverStatus_t cusolverDnXgesvdr(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                   signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p, int64_t niters,
                                   cudaDataType dataTypeA, void *A, int64_t lda, cudaDataType dataTypeSrand,
                                   void *Srand, cudaDataType dataTypeUrand, void *Urand, int64_t ldUrand,
                                   cudaDataType dataTypeVrand, void *Vrand, int64_t ldVrand, cudaDataType computeType,
                                   HEDDLE_AREAS, int *d_info);
#undef HEDDLE_SIZES
#undef HEDDLE_AREAS

#ifdef __cplusplus
}
#endif

#endif
