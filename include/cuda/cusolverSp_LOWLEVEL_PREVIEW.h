/* cuSOLVER's sparse factors step by step: QR and Cholesky, on the device and on the host, and LU on
 * the host. docs/LIBRARIES.md says what Heddle's has. */
#ifndef CUSOLVERSP_LOWLEVEL_PREVIEW_H_
#define CUSOLVERSP_LOWLEVEL_PREVIEW_H_

#include "cusolverSp.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csrluInfoHost *csrluInfoHost_t;
typedef struct csrqrInfoHost *csrqrInfoHost_t;
typedef struct csrcholInfoHost *csrcholInfoHost_t;
typedef struct csrcholInfo *csrcholInfo_t;

cusolverStatus_t cusolverSpCreateCsrluInfoHost(csrluInfoHost_t *info);
cusolverStatus_t cusolverSpDestroyCsrluInfoHost(csrluInfoHost_t info);
cusolverStatus_t cusolverSpCreateCsrqrInfoHost(csrqrInfoHost_t *info);
cusolverStatus_t cusolverSpDestroyCsrqrInfoHost(csrqrInfoHost_t info);
cusolverStatus_t cusolverSpCreateCsrcholInfo(csrcholInfo_t *info);
cusolverStatus_t cusolverSpDestroyCsrcholInfo(csrcholInfo_t info);
cusolverStatus_t cusolverSpCreateCsrcholInfoHost(csrcholInfoHost_t *info);
cusolverStatus_t cusolverSpDestroyCsrcholInfoHost(csrcholInfoHost_t info);

#define HEDDLE_PATTERN int n, int nnzA, const cusparseMatDescr_t descrA, const int *csrRowPtrA, const int *csrColIndA
#define HEDDLE_MATRIX(T)                                                                                               \
    int n, int nnzA, const cusparseMatDescr_t descrA, const T *csrValA, const int *csrRowPtrA, const int *csrColIndA
#define HEDDLE_M(where)                                                                                                \
    cusolverStatus_t cusolverSpXcsrqrAnalysis##where(cusolverSpHandle_t handle, int m, HEDDLE_PATTERN,                 \
                                                     csrqrInfo##where##_t info);                                       \
    cusolverStatus_t cusolverSpXcsrcholAnalysis##where(cusolverSpHandle_t handle, HEDDLE_PATTERN,                      \
                                                       csrcholInfo##where##_t info);
HEDDLE_M()
HEDDLE_M(Host)
#undef HEDDLE_M

#define HEDDLE_M(X, T, R, where)                                                                                       \
    cusolverStatus_t cusolverSp##X##csrqrBufferInfo##where(cusolverSpHandle_t handle, int m, HEDDLE_MATRIX(T),         \
                                                           csrqrInfo##where##_t info, size_t *internalDataInBytes,     \
                                                           size_t *workspaceInBytes);                                  \
    cusolverStatus_t cusolverSp##X##csrqrSetup##where(cusolverSpHandle_t handle, int m, HEDDLE_MATRIX(T), T mu,        \
                                                      csrqrInfo##where##_t info);                                      \
    cusolverStatus_t cusolverSp##X##csrqrFactor##where(cusolverSpHandle_t handle, int m, int n, int nnzA, T *b, T *x,  \
                                                       csrqrInfo##where##_t info, void *pBuffer);                      \
    cusolverStatus_t cusolverSp##X##csrqrZeroPivot##where(cusolverSpHandle_t handle, csrqrInfo##where##_t info, R tol, \
                                                          int *position);                                              \
    cusolverStatus_t cusolverSp##X##csrqrSolve##where(cusolverSpHandle_t handle, int m, int n, T *b, T *x,             \
                                                      csrqrInfo##where##_t info, void *pBuffer);                       \
    cusolverStatus_t cusolverSp##X##csrcholBufferInfo##where(cusolverSpHandle_t handle, HEDDLE_MATRIX(T),              \
                                                             csrcholInfo##where##_t info, size_t *internalDataInBytes, \
                                                             size_t *workspaceInBytes);                                \
    cusolverStatus_t cusolverSp##X##csrcholFactor##where(cusolverSpHandle_t handle, HEDDLE_MATRIX(T),                  \
                                                         csrcholInfo##where##_t info, void *pBuffer);                  \
    cusolverStatus_t cusolverSp##X##csrcholZeroPivot##where(cusolverSpHandle_t handle, csrcholInfo##where##_t info,    \
                                                            R tol, int *position);                                     \
    cusolverStatus_t cusolverSp##X##csrcholSolve##where(cusolverSpHandle_t handle, int n, const T *b, T *x,            \
                                                        csrcholInfo##where##_t info, void *pBuffer);
HEDDLE_M(S, float, float, )
HEDDLE_M(S, float, float, Host)
HEDDLE_M(D, double, double, )
HEDDLE_M(D, double, double, Host)
HEDDLE_M(C, cuComplex, float, )
HEDDLE_M(C, cuComplex, float, Host)
HEDDLE_M(Z, cuDoubleComplex, double, )
HEDDLE_M(Z, cuDoubleComplex, double, Host)
#undef HEDDLE_M
cusolverStatus_t cusolverSpXcsrluAnalysisHost(cusolverSpHandle_t handle, HEDDLE_PATTERN, csrluInfoHost_t info);
cusolverStatus_t cusolverSpXcsrluNnzHost(cusolverSpHandle_t handle, int *nnzLRef, int *nnzURef, csrluInfoHost_t info);
#define HEDDLE_M(X, T, R)                                                                                              \
    cusolverStatus_t cusolverSp##X##csrluBufferInfoHost(cusolverSpHandle_t handle, HEDDLE_MATRIX(T),                   \
                                                        csrluInfoHost_t info, size_t *internalDataInBytes,             \
                                                        size_t *workspaceInBytes);                                     \
    cusolverStatus_t cusolverSp##X##csrluFactorHost(cusolverSpHandle_t handle, HEDDLE_MATRIX(T), csrluInfoHost_t info, \
                                                    R pivot_threshold, void *pBuffer);                                 \
    cusolverStatus_t cusolverSp##X##csrluZeroPivotHost(cusolverSpHandle_t handle, csrluInfoHost_t info, R tol,         \
                                                       int *position);                                                 \
    cusolverStatus_t cusolverSp##X##csrluSolveHost(cusolverSpHandle_t handle, int n, const T *b, T *x,                 \
                                                   csrluInfoHost_t info, void *pBuffer);                               \
    cusolverStatus_t cusolverSp##X##csrluExtractHost(                                                                  \
        cusolverSpHandle_t handle, int *P, int *Q, const cusparseMatDescr_t descrL, T *csrValL, int *csrRowPtrL,       \
        int *csrColIndL, const cusparseMatDescr_t descrU, T *csrValU, int *csrRowPtrU, int *csrColIndU,                \
        csrluInfoHost_t info, void *pBuffer);
HEDDLE_M(S, float, float)
HEDDLE_M(D, double, double)
HEDDLE_M(C, cuComplex, float)
HEDDLE_M(Z, cuDoubleComplex, double)
#undef HEDDLE_M
#undef HEDDLE_MATRIX
#undef HEDDLE_PATTERN

#ifdef __cplusplus
}
#endif

#endif
