/* cuSOLVER's sparse matrices ("cuSOLVER", 2.5): CSR, described by cuSPARSE's descriptors.
 * docs/LIBRARIES.md says what Heddle's has. */
#ifndef CUSOLVERSP_H_
#define CUSOLVERSP_H_

#include "cuComplex.h"
#include "cublas_v2.h"
#include "cusolver_common.h"
#include "cusparse.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cusolverSpContext *cusolverSpHandle_t;
typedef struct csrqrInfo *csrqrInfo_t;

cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t *handle);
cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle);
cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t streamId);
cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t *streamId);

/* A x = b; all on the device, or all on the host; singularity is the host's. */
#define HEDDLE_M(X, T, R)                                                                                              \
    cusolverStatus_t cusolverSp##X##csrlsvluHost(                                                                      \
        cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t descrA, const T *csrVal,                   \
        const int *csrRowPtr, const int *csrColInd, const T *b, R tol, int reorder, T *x, int *singularity);           \
    cusolverStatus_t cusolverSp##X##csrlsvqr(                                                                          \
        cusolverSpHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA, const T *csrVal,                   \
        const int *csrRowPtr, const int *csrColInd, const T *b, R tol, int reorder, T *x, int *singularity);           \
    cusolverStatus_t cusolverSp##X##csrlsvqrHost(                                                                      \
        cusolverSpHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA, const T *csrVal,                   \
        const int *csrRowPtr, const int *csrColInd, const T *b, R tol, int reorder, T *x, int *singularity);           \
    cusolverStatus_t cusolverSp##X##csrlsvchol(                                                                        \
        cusolverSpHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA, const T *csrVal,                   \
        const int *csrRowPtr, const int *csrColInd, const T *b, R tol, int reorder, T *x, int *singularity);           \
    cusolverStatus_t cusolverSp##X##csrlsvcholHost(                                                                    \
        cusolverSpHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA, const T *csrVal,                   \
        const int *csrRowPtr, const int *csrColInd, const T *b, R tol, int reorder, T *x, int *singularity);           \
    cusolverStatus_t cusolverSp##X##csreigvsi(                                                                         \
        cusolverSpHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA, const T *csrVal,                   \
        const int *csrRowPtr, const int *csrColInd, T mu0, const T *x0, int maxite, R eps, T *mu, T *x);               \
    cusolverStatus_t cusolverSp##X##csreigvsiHost(                                                                     \
        cusolverSpHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA, const T *csrVal,                   \
        const int *csrRowPtr, const int *csrColInd, T mu0, const T *x0, int maxite, R tol, T *mu, T *x);
HEDDLE_M(S, float, float)
HEDDLE_M(D, double, double)
HEDDLE_M(C, cuComplex, float)
HEDDLE_M(Z, cuDoubleComplex, double)
#undef HEDDLE_M

/* Factors that an info keeps: of a batch of matrices that share a pattern;
 * cusolverSp_LOWLEVEL_PREVIEW.h has the steps. */
#define HEDDLE_PATTERN                                                                                                 \
    cusolverSpHandle_t handle, int m, int n, int nnzA, const cusparseMatDescr_t descrA, const int *csrRowPtrA,         \
        const int *csrColIndA, csrqrInfo_t info
cusolverStatus_t cusolverSpCreateCsrqrInfo(csrqrInfo_t *info);
cusolverStatus_t cusolverSpDestroyCsrqrInfo(csrqrInfo_t info);
cusolverStatus_t cusolverSpXcsrqrAnalysisBatched(HEDDLE_PATTERN);
#undef HEDDLE_PATTERN
#define HEDDLE_M(X, T)                                                                                                 \
    cusolverStatus_t cusolverSp##X##csrqrBufferInfoBatched(                                                            \
        cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t descrA, const T *csrVal,            \
        const int *csrRowPtr, const int *csrColInd, int batchSize, csrqrInfo_t info, size_t *internalDataInBytes,      \
        size_t *workspaceInBytes);                                                                                     \
    cusolverStatus_t cusolverSp##X##csrqrsvBatched(cusolverSpHandle_t handle, int m, int n, int nnz,                   \
                                                   const cusparseMatDescr_t descrA, const T *csrValA,                  \
                                                   const int *csrRowPtrA, const int *csrColIndA, const T *b, T *x,     \
                                                   int batchSize, csrqrInfo_t info, void *pBuffer);
HEDDLE_M(S, float)
HEDDLE_M(D, double)
HEDDLE_M(C, cuComplex)
HEDDLE_M(Z, cuDoubleComplex)
#undef HEDDLE_M

/* Patterns, on the host. */
#define HEDDLE_PATTERN                                                                                                 \
    cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA, const int *csrRowPtrA,                \
        const int *csrColIndA
cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int m, int nnzA, const cusparseMatDescr_t descrA,
                                         const int *csrRowPtrA, const int *csrEndPtrA, const int *csrColIndA,
                                         int *issym);
cusolverStatus_t cusolverSpXcsrsymrcmHost(HEDDLE_PATTERN, int *p);
cusolverStatus_t cusolverSpXcsrsymmdqHost(HEDDLE_PATTERN, int *p);
cusolverStatus_t cusolverSpXcsrsymamdHost(HEDDLE_PATTERN, int *p);
cusolverStatus_t cusolverSpXcsrmetisndHost(HEDDLE_PATTERN, const int64_t *options, int *p);
#undef HEDDLE_PATTERN
cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                   const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                                   const int *csrColIndA, const int *p, const int *q,
                                                   size_t *bufferSizeInBytes);
cusolverStatus_t cusolverSpXcsrpermHost(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                        const cusparseMatDescr_t descrA, int *csrRowPtrA, int *csrColIndA, const int *p,
                                        const int *q, int *map, void *pBuffer);

#ifdef __cplusplus
}
#endif

#endif
