/* cuBLAS's API of version 1: no handle, scalars by value, errors by cublasGetError(). */
#ifndef CUBLAS_H_
#define CUBLAS_H_

#ifdef CUBLAS_V2_H_
#error "cublas.h and cublas_v2.h are two APIs: include one of them"
#endif

#include "cuda_runtime.h"
#include "cublas_api.h"

#define cublasStatus cublasStatus_t

#ifdef __cplusplus
extern "C" {
#endif

CUBLASAPI cublasStatus cublasInit(void);
CUBLASAPI cublasStatus cublasShutdown(void);
CUBLASAPI cublasStatus cublasGetError(void);
CUBLASAPI cublasStatus cublasGetVersion(int *version);
CUBLASAPI cublasStatus cublasAlloc(int n, int elemSize, void **devicePtr);
CUBLASAPI cublasStatus cublasFree(void *devicePtr);
CUBLASAPI cublasStatus cublasSetKernelStream(cudaStream_t stream);

CUBLASAPI float cublasSnrm2(int n, const float *x, int incx);
CUBLASAPI double cublasDnrm2(int n, const double *x, int incx);
CUBLASAPI float cublasScnrm2(int n, const cuComplex *x, int incx);
CUBLASAPI double cublasDznrm2(int n, const cuDoubleComplex *x, int incx);
CUBLASAPI float cublasSdot(int n, const float *x, int incx, const float *y, int incy);
CUBLASAPI double cublasDdot(int n, const double *x, int incx, const double *y, int incy);
CUBLASAPI cuComplex cublasCdotu(int n, const cuComplex *x, int incx, const cuComplex *y, int incy);
CUBLASAPI cuComplex cublasCdotc(int n, const cuComplex *x, int incx, const cuComplex *y, int incy);
CUBLASAPI cuDoubleComplex cublasZdotu(int n, const cuDoubleComplex *x, int incx, const cuDoubleComplex *y, int incy);
CUBLASAPI cuDoubleComplex cublasZdotc(int n, const cuDoubleComplex *x, int incx, const cuDoubleComplex *y, int incy);
CUBLASAPI void cublasSscal(int n, float alpha, float *x, int incx);
CUBLASAPI void cublasDscal(int n, double alpha, double *x, int incx);
CUBLASAPI void cublasCscal(int n, cuComplex alpha, cuComplex *x, int incx);
CUBLASAPI void cublasZscal(int n, cuDoubleComplex alpha, cuDoubleComplex *x, int incx);
CUBLASAPI void cublasCsscal(int n, float alpha, cuComplex *x, int incx);
CUBLASAPI void cublasZdscal(int n, double alpha, cuDoubleComplex *x, int incx);
CUBLASAPI void cublasSaxpy(int n, float alpha, const float *x, int incx, float *y, int incy);
CUBLASAPI void cublasDaxpy(int n, double alpha, const double *x, int incx, double *y, int incy);
CUBLASAPI void cublasCaxpy(int n, cuComplex alpha, const cuComplex *x, int incx, cuComplex *y, int incy);
CUBLASAPI void cublasZaxpy(int n, cuDoubleComplex alpha, const cuDoubleComplex *x, int incx, cuDoubleComplex *y,
                           int incy);
CUBLASAPI void cublasScopy(int n, const float *x, int incx, float *y, int incy);
CUBLASAPI void cublasDcopy(int n, const double *x, int incx, double *y, int incy);
CUBLASAPI void cublasCcopy(int n, const cuComplex *x, int incx, cuComplex *y, int incy);
CUBLASAPI void cublasZcopy(int n, const cuDoubleComplex *x, int incx, cuDoubleComplex *y, int incy);
CUBLASAPI void cublasSswap(int n, float *x, int incx, float *y, int incy);
CUBLASAPI void cublasDswap(int n, double *x, int incx, double *y, int incy);
CUBLASAPI void cublasCswap(int n, cuComplex *x, int incx, cuComplex *y, int incy);
CUBLASAPI void cublasZswap(int n, cuDoubleComplex *x, int incx, cuDoubleComplex *y, int incy);
CUBLASAPI int cublasIsamax(int n, const float *x, int incx);
CUBLASAPI int cublasIdamax(int n, const double *x, int incx);
CUBLASAPI int cublasIcamax(int n, const cuComplex *x, int incx);
CUBLASAPI int cublasIzamax(int n, const cuDoubleComplex *x, int incx);
CUBLASAPI int cublasIsamin(int n, const float *x, int incx);
CUBLASAPI int cublasIdamin(int n, const double *x, int incx);
CUBLASAPI int cublasIcamin(int n, const cuComplex *x, int incx);
CUBLASAPI int cublasIzamin(int n, const cuDoubleComplex *x, int incx);
CUBLASAPI float cublasSasum(int n, const float *x, int incx);
CUBLASAPI double cublasDasum(int n, const double *x, int incx);
CUBLASAPI float cublasScasum(int n, const cuComplex *x, int incx);
CUBLASAPI double cublasDzasum(int n, const cuDoubleComplex *x, int incx);
CUBLASAPI void cublasSrot(int n, float *x, int incx, float *y, int incy, float sc, float ss);
CUBLASAPI void cublasDrot(int n, double *x, int incx, double *y, int incy, double sc, double ss);
CUBLASAPI void cublasCrot(int n, cuComplex *x, int incx, cuComplex *y, int incy, float c, cuComplex s);
CUBLASAPI void cublasZrot(int n, cuDoubleComplex *x, int incx, cuDoubleComplex *y, int incy, double sc,
                          cuDoubleComplex cs);
CUBLASAPI void cublasCsrot(int n, cuComplex *x, int incx, cuComplex *y, int incy, float c, float s);
CUBLASAPI void cublasZdrot(int n, cuDoubleComplex *x, int incx, cuDoubleComplex *y, int incy, double c, double s);
CUBLASAPI void cublasSrotg(float *sa, float *sb, float *sc, float *ss);
CUBLASAPI void cublasDrotg(double *sa, double *sb, double *sc, double *ss);
CUBLASAPI void cublasCrotg(cuComplex *ca, cuComplex cb, float *sc, cuComplex *cs);
CUBLASAPI void cublasZrotg(cuDoubleComplex *ca, cuDoubleComplex cb, double *sc, cuDoubleComplex *cs);
CUBLASAPI void cublasSrotm(int n, float *x, int incx, float *y, int incy, const float *sparam);
CUBLASAPI void cublasDrotm(int n, double *x, int incx, double *y, int incy, const double *sparam);
CUBLASAPI void cublasSrotmg(float *sd1, float *sd2, float *sx1, const float *sy1, float *sparam);
CUBLASAPI void cublasDrotmg(double *sd1, double *sd2, double *sx1, const double *sy1, double *sparam);
CUBLASAPI void cublasSgemv(char trans, int m, int n, float alpha, const float *A, int lda, const float *x, int incx,
                           float beta, float *y, int incy);
CUBLASAPI void cublasDgemv(char trans, int m, int n, double alpha, const double *A, int lda, const double *x, int incx,
                           double beta, double *y, int incy);
CUBLASAPI void cublasCgemv(char trans, int m, int n, cuComplex alpha, const cuComplex *A, int lda, const cuComplex *x,
                           int incx, cuComplex beta, cuComplex *y, int incy);
CUBLASAPI void cublasZgemv(char trans, int m, int n, cuDoubleComplex alpha, const cuDoubleComplex *A, int lda,
                           const cuDoubleComplex *x, int incx, cuDoubleComplex beta, cuDoubleComplex *y, int incy);
CUBLASAPI void cublasSgbmv(char trans, int m, int n, int kl, int ku, float alpha, const float *A, int lda,
                           const float *x, int incx, float beta, float *y, int incy);
CUBLASAPI void cublasDgbmv(char trans, int m, int n, int kl, int ku, double alpha, const double *A, int lda,
                           const double *x, int incx, double beta, double *y, int incy);
CUBLASAPI void cublasCgbmv(char trans, int m, int n, int kl, int ku, cuComplex alpha, const cuComplex *A, int lda,
                           const cuComplex *x, int incx, cuComplex beta, cuComplex *y, int incy);
CUBLASAPI void cublasZgbmv(char trans, int m, int n, int kl, int ku, cuDoubleComplex alpha, const cuDoubleComplex *A,
                           int lda, const cuDoubleComplex *x, int incx, cuDoubleComplex beta, cuDoubleComplex *y,
                           int incy);
CUBLASAPI void cublasStrmv(char uplo, char trans, char diag, int n, const float *A, int lda, float *x, int incx);
CUBLASAPI void cublasDtrmv(char uplo, char trans, char diag, int n, const double *A, int lda, double *x, int incx);
CUBLASAPI void cublasCtrmv(char uplo, char trans, char diag, int n, const cuComplex *A, int lda, cuComplex *x,
                           int incx);
CUBLASAPI void cublasZtrmv(char uplo, char trans, char diag, int n, const cuDoubleComplex *A, int lda,
                           cuDoubleComplex *x, int incx);
CUBLASAPI void cublasStbmv(char uplo, char trans, char diag, int n, int k, const float *A, int lda, float *x, int incx);
CUBLASAPI void cublasDtbmv(char uplo, char trans, char diag, int n, int k, const double *A, int lda, double *x,
                           int incx);
CUBLASAPI void cublasCtbmv(char uplo, char trans, char diag, int n, int k, const cuComplex *A, int lda, cuComplex *x,
                           int incx);
CUBLASAPI void cublasZtbmv(char uplo, char trans, char diag, int n, int k, const cuDoubleComplex *A, int lda,
                           cuDoubleComplex *x, int incx);
CUBLASAPI void cublasStpmv(char uplo, char trans, char diag, int n, const float *AP, float *x, int incx);
CUBLASAPI void cublasDtpmv(char uplo, char trans, char diag, int n, const double *AP, double *x, int incx);
CUBLASAPI void cublasCtpmv(char uplo, char trans, char diag, int n, const cuComplex *AP, cuComplex *x, int incx);
CUBLASAPI void cublasZtpmv(char uplo, char trans, char diag, int n, const cuDoubleComplex *AP, cuDoubleComplex *x,
                           int incx);
CUBLASAPI void cublasStrsv(char uplo, char trans, char diag, int n, const float *A, int lda, float *x, int incx);
CUBLASAPI void cublasDtrsv(char uplo, char trans, char diag, int n, const double *A, int lda, double *x, int incx);
CUBLASAPI void cublasCtrsv(char uplo, char trans, char diag, int n, const cuComplex *A, int lda, cuComplex *x,
                           int incx);
CUBLASAPI void cublasZtrsv(char uplo, char trans, char diag, int n, const cuDoubleComplex *A, int lda,
                           cuDoubleComplex *x, int incx);
CUBLASAPI void cublasStpsv(char uplo, char trans, char diag, int n, const float *AP, float *x, int incx);
CUBLASAPI void cublasDtpsv(char uplo, char trans, char diag, int n, const double *AP, double *x, int incx);
CUBLASAPI void cublasCtpsv(char uplo, char trans, char diag, int n, const cuComplex *AP, cuComplex *x, int incx);
CUBLASAPI void cublasZtpsv(char uplo, char trans, char diag, int n, const cuDoubleComplex *AP, cuDoubleComplex *x,
                           int incx);
CUBLASAPI void cublasStbsv(char uplo, char trans, char diag, int n, int k, const float *A, int lda, float *x, int incx);
CUBLASAPI void cublasDtbsv(char uplo, char trans, char diag, int n, int k, const double *A, int lda, double *x,
                           int incx);
CUBLASAPI void cublasCtbsv(char uplo, char trans, char diag, int n, int k, const cuComplex *A, int lda, cuComplex *x,
                           int incx);
CUBLASAPI void cublasZtbsv(char uplo, char trans, char diag, int n, int k, const cuDoubleComplex *A, int lda,
                           cuDoubleComplex *x, int incx);
CUBLASAPI void cublasSsymv(char uplo, int n, float alpha, const float *A, int lda, const float *x, int incx, float beta,
                           float *y, int incy);
CUBLASAPI void cublasDsymv(char uplo, int n, double alpha, const double *A, int lda, const double *x, int incx,
                           double beta, double *y, int incy);
CUBLASAPI void cublasChemv(char uplo, int n, cuComplex alpha, const cuComplex *A, int lda, const cuComplex *x, int incx,
                           cuComplex beta, cuComplex *y, int incy);
CUBLASAPI void cublasZhemv(char uplo, int n, cuDoubleComplex alpha, const cuDoubleComplex *A, int lda,
                           const cuDoubleComplex *x, int incx, cuDoubleComplex beta, cuDoubleComplex *y, int incy);
CUBLASAPI void cublasSsbmv(char uplo, int n, int k, float alpha, const float *A, int lda, const float *x, int incx,
                           float beta, float *y, int incy);
CUBLASAPI void cublasDsbmv(char uplo, int n, int k, double alpha, const double *A, int lda, const double *x, int incx,
                           double beta, double *y, int incy);
CUBLASAPI void cublasChbmv(char uplo, int n, int k, cuComplex alpha, const cuComplex *A, int lda, const cuComplex *x,
                           int incx, cuComplex beta, cuComplex *y, int incy);
CUBLASAPI void cublasZhbmv(char uplo, int n, int k, cuDoubleComplex alpha, const cuDoubleComplex *A, int lda,
                           const cuDoubleComplex *x, int incx, cuDoubleComplex beta, cuDoubleComplex *y, int incy);
CUBLASAPI void cublasSspmv(char uplo, int n, float alpha, const float *AP, const float *x, int incx, float beta,
                           float *y, int incy);
CUBLASAPI void cublasDspmv(char uplo, int n, double alpha, const double *AP, const double *x, int incx, double beta,
                           double *y, int incy);
CUBLASAPI void cublasChpmv(char uplo, int n, cuComplex alpha, const cuComplex *AP, const cuComplex *x, int incx,
                           cuComplex beta, cuComplex *y, int incy);
CUBLASAPI void cublasZhpmv(char uplo, int n, cuDoubleComplex alpha, const cuDoubleComplex *AP, const cuDoubleComplex *x,
                           int incx, cuDoubleComplex beta, cuDoubleComplex *y, int incy);
CUBLASAPI void cublasSger(int m, int n, float alpha, const float *x, int incx, const float *y, int incy, float *A,
                          int lda);
CUBLASAPI void cublasDger(int m, int n, double alpha, const double *x, int incx, const double *y, int incy, double *A,
                          int lda);
CUBLASAPI void cublasCgeru(int m, int n, cuComplex alpha, const cuComplex *x, int incx, const cuComplex *y, int incy,
                           cuComplex *A, int lda);
CUBLASAPI void cublasCgerc(int m, int n, cuComplex alpha, const cuComplex *x, int incx, const cuComplex *y, int incy,
                           cuComplex *A, int lda);
CUBLASAPI void cublasZgeru(int m, int n, cuDoubleComplex alpha, const cuDoubleComplex *x, int incx,
                           const cuDoubleComplex *y, int incy, cuDoubleComplex *A, int lda);
CUBLASAPI void cublasZgerc(int m, int n, cuDoubleComplex alpha, const cuDoubleComplex *x, int incx,
                           const cuDoubleComplex *y, int incy, cuDoubleComplex *A, int lda);
CUBLASAPI void cublasSsyr(char uplo, int n, float alpha, const float *x, int incx, float *A, int lda);
CUBLASAPI void cublasDsyr(char uplo, int n, double alpha, const double *x, int incx, double *A, int lda);
CUBLASAPI void cublasCher(char uplo, int n, float alpha, const cuComplex *x, int incx, cuComplex *A, int lda);
CUBLASAPI void cublasZher(char uplo, int n, double alpha, const cuDoubleComplex *x, int incx, cuDoubleComplex *A,
                          int lda);
CUBLASAPI void cublasSspr(char uplo, int n, float alpha, const float *x, int incx, float *AP);
CUBLASAPI void cublasDspr(char uplo, int n, double alpha, const double *x, int incx, double *AP);
CUBLASAPI void cublasChpr(char uplo, int n, float alpha, const cuComplex *x, int incx, cuComplex *AP);
CUBLASAPI void cublasZhpr(char uplo, int n, double alpha, const cuDoubleComplex *x, int incx, cuDoubleComplex *AP);
CUBLASAPI void cublasSsyr2(char uplo, int n, float alpha, const float *x, int incx, const float *y, int incy, float *A,
                           int lda);
CUBLASAPI void cublasDsyr2(char uplo, int n, double alpha, const double *x, int incx, const double *y, int incy,
                           double *A, int lda);
CUBLASAPI void cublasCher2(char uplo, int n, cuComplex alpha, const cuComplex *x, int incx, const cuComplex *y,
                           int incy, cuComplex *A, int lda);
CUBLASAPI void cublasZher2(char uplo, int n, cuDoubleComplex alpha, const cuDoubleComplex *x, int incx,
                           const cuDoubleComplex *y, int incy, cuDoubleComplex *A, int lda);
CUBLASAPI void cublasSspr2(char uplo, int n, float alpha, const float *x, int incx, const float *y, int incy,
                           float *AP);
CUBLASAPI void cublasDspr2(char uplo, int n, double alpha, const double *x, int incx, const double *y, int incy,
                           double *AP);
CUBLASAPI void cublasChpr2(char uplo, int n, cuComplex alpha, const cuComplex *x, int incx, const cuComplex *y,
                           int incy, cuComplex *AP);
CUBLASAPI void cublasZhpr2(char uplo, int n, cuDoubleComplex alpha, const cuDoubleComplex *x, int incx,
                           const cuDoubleComplex *y, int incy, cuDoubleComplex *AP);
CUBLASAPI void cublasSgemm(char transa, char transb, int m, int n, int k, float alpha, const float *A, int lda,
                           const float *B, int ldb, float beta, float *C, int ldc);
CUBLASAPI void cublasDgemm(char transa, char transb, int m, int n, int k, double alpha, const double *A, int lda,
                           const double *B, int ldb, double beta, double *C, int ldc);
CUBLASAPI void cublasCgemm(char transa, char transb, int m, int n, int k, cuComplex alpha, const cuComplex *A, int lda,
                           const cuComplex *B, int ldb, cuComplex beta, cuComplex *C, int ldc);
CUBLASAPI void cublasZgemm(char transa, char transb, int m, int n, int k, cuDoubleComplex alpha,
                           const cuDoubleComplex *A, int lda, const cuDoubleComplex *B, int ldb, cuDoubleComplex beta,
                           cuDoubleComplex *C, int ldc);
CUBLASAPI void cublasSsyrk(char uplo, char trans, int n, int k, float alpha, const float *A, int lda, float beta,
                           float *C, int ldc);
CUBLASAPI void cublasDsyrk(char uplo, char trans, int n, int k, double alpha, const double *A, int lda, double beta,
                           double *C, int ldc);
CUBLASAPI void cublasCsyrk(char uplo, char trans, int n, int k, cuComplex alpha, const cuComplex *A, int lda,
                           cuComplex beta, cuComplex *C, int ldc);
CUBLASAPI void cublasZsyrk(char uplo, char trans, int n, int k, cuDoubleComplex alpha, const cuDoubleComplex *A,
                           int lda, cuDoubleComplex beta, cuDoubleComplex *C, int ldc);
CUBLASAPI void cublasCherk(char uplo, char trans, int n, int k, float alpha, const cuComplex *A, int lda, float beta,
                           cuComplex *C, int ldc);
CUBLASAPI void cublasZherk(char uplo, char trans, int n, int k, double alpha, const cuDoubleComplex *A, int lda,
                           double beta, cuDoubleComplex *C, int ldc);
CUBLASAPI void cublasSsyr2k(char uplo, char trans, int n, int k, float alpha, const float *A, int lda, const float *B,
                            int ldb, float beta, float *C, int ldc);
CUBLASAPI void cublasDsyr2k(char uplo, char trans, int n, int k, double alpha, const double *A, int lda,
                            const double *B, int ldb, double beta, double *C, int ldc);
CUBLASAPI void cublasCsyr2k(char uplo, char trans, int n, int k, cuComplex alpha, const cuComplex *A, int lda,
                            const cuComplex *B, int ldb, cuComplex beta, cuComplex *C, int ldc);
CUBLASAPI void cublasZsyr2k(char uplo, char trans, int n, int k, cuDoubleComplex alpha, const cuDoubleComplex *A,
                            int lda, const cuDoubleComplex *B, int ldb, cuDoubleComplex beta, cuDoubleComplex *C,
                            int ldc);
CUBLASAPI void cublasCher2k(char uplo, char trans, int n, int k, cuComplex alpha, const cuComplex *A, int lda,
                            const cuComplex *B, int ldb, float beta, cuComplex *C, int ldc);
CUBLASAPI void cublasZher2k(char uplo, char trans, int n, int k, cuDoubleComplex alpha, const cuDoubleComplex *A,
                            int lda, const cuDoubleComplex *B, int ldb, double beta, cuDoubleComplex *C, int ldc);
CUBLASAPI void cublasSsymm(char side, char uplo, int m, int n, float alpha, const float *A, int lda, const float *B,
                           int ldb, float beta, float *C, int ldc);
CUBLASAPI void cublasDsymm(char side, char uplo, int m, int n, double alpha, const double *A, int lda, const double *B,
                           int ldb, double beta, double *C, int ldc);
CUBLASAPI void cublasCsymm(char side, char uplo, int m, int n, cuComplex alpha, const cuComplex *A, int lda,
                           const cuComplex *B, int ldb, cuComplex beta, cuComplex *C, int ldc);
CUBLASAPI void cublasZsymm(char side, char uplo, int m, int n, cuDoubleComplex alpha, const cuDoubleComplex *A, int lda,
                           const cuDoubleComplex *B, int ldb, cuDoubleComplex beta, cuDoubleComplex *C, int ldc);
CUBLASAPI void cublasChemm(char side, char uplo, int m, int n, cuComplex alpha, const cuComplex *A, int lda,
                           const cuComplex *B, int ldb, cuComplex beta, cuComplex *C, int ldc);
CUBLASAPI void cublasZhemm(char side, char uplo, int m, int n, cuDoubleComplex alpha, const cuDoubleComplex *A, int lda,
                           const cuDoubleComplex *B, int ldb, cuDoubleComplex beta, cuDoubleComplex *C, int ldc);
CUBLASAPI void cublasStrsm(char side, char uplo, char transa, char diag, int m, int n, float alpha, const float *A,
                           int lda, float *B, int ldb);
CUBLASAPI void cublasDtrsm(char side, char uplo, char transa, char diag, int m, int n, double alpha, const double *A,
                           int lda, double *B, int ldb);
CUBLASAPI void cublasCtrsm(char side, char uplo, char transa, char diag, int m, int n, cuComplex alpha,
                           const cuComplex *A, int lda, cuComplex *B, int ldb);
CUBLASAPI void cublasZtrsm(char side, char uplo, char transa, char diag, int m, int n, cuDoubleComplex alpha,
                           const cuDoubleComplex *A, int lda, cuDoubleComplex *B, int ldb);
CUBLASAPI void cublasStrmm(char side, char uplo, char transa, char diag, int m, int n, float alpha, const float *A,
                           int lda, float *B, int ldb);
CUBLASAPI void cublasDtrmm(char side, char uplo, char transa, char diag, int m, int n, double alpha, const double *A,
                           int lda, double *B, int ldb);
CUBLASAPI void cublasCtrmm(char side, char uplo, char transa, char diag, int m, int n, cuComplex alpha,
                           const cuComplex *A, int lda, cuComplex *B, int ldb);
CUBLASAPI void cublasZtrmm(char side, char uplo, char transa, char diag, int m, int n, cuDoubleComplex alpha,
                           const cuDoubleComplex *A, int lda, cuDoubleComplex *B, int ldb);

#ifdef __cplusplus
}
#endif

#endif
