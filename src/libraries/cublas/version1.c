/* Version 1 of the API ("cuBLAS Library", appendix "Using the cuBLAS Legacy API"): letters for
 * operations, scalars by value, returned results, no handle. All calls share one handle, which the
 * first call creates. cublasGetError() returns a routine's error once.
 */
#include "cuda/cublas.h"

#include "libraries/cublas/call.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    cublasHandle_t handle;
    _Atomic cublasStatus_t error;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The handle, or NULL if it cannot be created. */
static cublasHandle_t own(void)
{
    pthread_mutex_lock(&all.lock);
    if (!all.handle && cublasCreate_v2(&all.handle))
        all.handle = NULL;
    cublasHandle_t handle = all.handle;
    pthread_mutex_unlock(&all.lock);
    return handle;
}

static void note(cublasStatus_t status)
{
    if (status)
        all.error = status;
}

/* ---- helper functions ---- */

API cublasInit(void)
{
    return own() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

API cublasShutdown(void)
{
    pthread_mutex_lock(&all.lock);
    if (all.handle)
        cublasDestroy_v2(all.handle);
    all.handle = NULL;
    pthread_mutex_unlock(&all.lock);
    return CUBLAS_STATUS_SUCCESS;
}

API cublasGetError(void)
{
    return atomic_exchange(&all.error, CUBLAS_STATUS_SUCCESS);
}

API cublasGetVersion(int *version)
{
    return cublasGetVersion_v2(own(), version);
}

API cublasSetKernelStream(cudaStream_t stream)
{
    return cublasSetStream_v2(own(), stream);
}

API cublasAlloc(int n, int elemSize, void **devicePtr)
{
    CUdeviceptr p = 0;
    *devicePtr = NULL;
    if (n <= 0 || elemSize <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!own())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (cuMemAlloc(&p, (size_t)n * (size_t)elemSize))
        return CUBLAS_STATUS_ALLOC_FAILED;
    *devicePtr = (void *)(uintptr_t)p;
    return CUBLAS_STATUS_SUCCESS;
}

API cublasFree(void *devicePtr)
{
    return devicePtr && cuMemFree((CUdeviceptr)(uintptr_t)devicePtr) ? CUBLAS_STATUS_INTERNAL_ERROR
                                                                     : CUBLAS_STATUS_SUCCESS;
}

/* ---- characters; one that is none becomes a value that is none ---- */

static int choice(const char *letters, char c)
{
    char upper = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    int i = 0;
    while (letters[i] && letters[i] != upper)
        i++;
    return letters[i] ? i : 99;
}

#define OP(c)   ((cublasOperation_t)choice("NTC", c))
#define UPLO(c) ((cublasFillMode_t)choice("LU", c))
#define SIDE(c) ((cublasSideMode_t)choice("LR", c))
#define DIAG(c) ((cublasDiagType_t)choice("NU", c))

/* ---- routines: their parameters, and what version 2 gets of them ---- */

#define LIST(...) __VA_ARGS__
#define ROUTINE(name, parameters, arguments)                                                                           \
    LIBRARY_API void cublas##name(parameters)                                                                          \
    {                                                                                                                  \
        note(cublas##name##_v2(own(), arguments));                                                                     \
    }
#define FUNCTION(T, name, parameters, arguments)                                                                       \
    LIBRARY_API T cublas##name(parameters)                                                                             \
    {                                                                                                                  \
        T result = {0};                                                                                                \
        note(cublas##name##_v2(own(), arguments, &result));                                                            \
        return result;                                                                                                 \
    }

#define X(T)  int n, T *x, int incx
#define XY(T) X(T), T *y, int incy
#define CX(T) int n, const T *x, int incx
#define IN    n, x, incx
#define IO    n, x, incx, y, incy

/* Level 1 for a type: its letter, the type, and the letter and type of its real numbers. */
#define LEVEL1(t, T, r, R)                                                                                             \
    FUNCTION(R, r##nrm2, LIST(CX(T)), LIST(IN))                                                                        \
    FUNCTION(R, r##asum, LIST(CX(T)), LIST(IN))                                                                        \
    ROUTINE(t##axpy, LIST(int n, T alpha, const T *x, int incx, T *y, int incy), LIST(n, &alpha, x, incx, y, incy))    \
    ROUTINE(t##copy, LIST(CX(T), T *y, int incy), LIST(IO))                                                            \
    ROUTINE(t##swap, LIST(XY(T)), LIST(IO))                                                                            \
    ROUTINE(t##scal, LIST(int n, T alpha, T *x, int incx), LIST(n, &alpha, x, incx))
LEVEL1(S, float, S, float)
LEVEL1(D, double, D, double)
LEVEL1(C, cuComplex, Sc, float)
LEVEL1(Z, cuDoubleComplex, Dz, double)
#define SEARCH(t, T)                                                                                                   \
    FUNCTION(int, I##t##amax, LIST(CX(T)), LIST(IN))                                                                   \
    FUNCTION(int, I##t##amin, LIST(CX(T)), LIST(IN))
SEARCH(s, float)
SEARCH(d, double)
SEARCH(c, cuComplex)
SEARCH(z, cuDoubleComplex)
#define DOT(T, name) FUNCTION(T, name, LIST(CX(T), const T *y, int incy), LIST(IO))
DOT(float, Sdot)
DOT(double, Ddot)
DOT(cuComplex, Cdotu)
DOT(cuComplex, Cdotc)
DOT(cuDoubleComplex, Zdotu)
DOT(cuDoubleComplex, Zdotc)
ROUTINE(Csscal, LIST(int n, float alpha, cuComplex *x, int incx), LIST(n, &alpha, x, incx))
ROUTINE(Zdscal, LIST(int n, double alpha, cuDoubleComplex *x, int incx), LIST(n, &alpha, x, incx))
#define ROT(name, T, C_, S_) ROUTINE(name, LIST(XY(T), C_ c, S_ s), LIST(IO, &c, &s))
ROT(Srot, float, float, float)
ROT(Drot, double, double, double)
ROT(Crot, cuComplex, float, cuComplex)
ROT(Zrot, cuDoubleComplex, double, cuDoubleComplex)
ROT(Csrot, cuComplex, float, float)
ROT(Zdrot, cuDoubleComplex, double, double)
#define ROTATIONS(t, T)                                                                                                \
    ROUTINE(t##rotg, LIST(T *a, T *b, T *c, T *s), LIST(a, b, c, s))                                                   \
    ROUTINE(t##rotm, LIST(XY(T), const T *param), LIST(IO, param))                                                     \
    ROUTINE(t##rotmg, LIST(T *d1, T *d2, T *x1, const T *y1, T *param), LIST(d1, d2, x1, y1, param))
ROTATIONS(S, float)
ROTATIONS(D, double)
ROUTINE(Crotg, LIST(cuComplex *a, cuComplex b, float *c, cuComplex *s), LIST(a, &b, c, s))
ROUTINE(Zrotg, LIST(cuDoubleComplex *a, cuDoubleComplex b, double *c, cuDoubleComplex *s), LIST(a, &b, c, s))

#define A_(T)  const T *A, int lda
#define B_(T)  const T *B, int ldb
#define C_(T)  T *C, int ldc
#define CXI(T) const T *x, int incx
#define CYI(T) const T *y, int incy
#define LEVEL2(t, T)                                                                                                   \
    ROUTINE(t##gemv, LIST(char trans, int m, int n, T alpha, A_(T), CXI(T), T beta, T *y, int incy),                   \
            LIST(OP(trans), m, n, &alpha, A, lda, x, incx, &beta, y, incy))                                            \
    ROUTINE(t##gbmv, LIST(char trans, int m, int n, int kl, int ku, T alpha, A_(T), CXI(T), T beta, T *y, int incy),   \
            LIST(OP(trans), m, n, kl, ku, &alpha, A, lda, x, incx, &beta, y, incy))                                    \
    TRIANGULAR(t, T, trmv, tbmv, tpmv)                                                                                 \
    TRIANGULAR(t, T, trsv, tbsv, tpsv)
#define TRIANGULAR(t, T, dense, band, packed)                                                                          \
    ROUTINE(t##dense, LIST(char uplo, char trans, char diag, int n, A_(T), T *x, int incx),                            \
            LIST(UPLO(uplo), OP(trans), DIAG(diag), n, A, lda, x, incx))                                               \
    ROUTINE(t##band, LIST(char uplo, char trans, char diag, int n, int k, A_(T), T *x, int incx),                      \
            LIST(UPLO(uplo), OP(trans), DIAG(diag), n, k, A, lda, x, incx))                                            \
    ROUTINE(t##packed, LIST(char uplo, char trans, char diag, int n, const T *AP, T *x, int incx),                     \
            LIST(UPLO(uplo), OP(trans), DIAG(diag), n, AP, x, incx))
LEVEL2(S, float)
LEVEL2(D, double)
LEVEL2(C, cuComplex)
LEVEL2(Z, cuDoubleComplex)
/* Symmetric or Hermitian functions: their names, and the real type of alpha in rank-1 updates. */
#define SYMMETRIC(T, R, mv, bmv, pmv, r, pr, r2, pr2)                                                                  \
    ROUTINE(mv, LIST(char uplo, int n, T alpha, A_(T), CXI(T), T beta, T *y, int incy),                                \
            LIST(UPLO(uplo), n, &alpha, A, lda, x, incx, &beta, y, incy))                                              \
    ROUTINE(bmv, LIST(char uplo, int n, int k, T alpha, A_(T), CXI(T), T beta, T *y, int incy),                        \
            LIST(UPLO(uplo), n, k, &alpha, A, lda, x, incx, &beta, y, incy))                                           \
    ROUTINE(pmv, LIST(char uplo, int n, T alpha, const T *AP, CXI(T), T beta, T *y, int incy),                         \
            LIST(UPLO(uplo), n, &alpha, AP, x, incx, &beta, y, incy))                                                  \
    ROUTINE(r, LIST(char uplo, int n, R alpha, CXI(T), T *A, int lda), LIST(UPLO(uplo), n, &alpha, x, incx, A, lda))   \
    ROUTINE(pr, LIST(char uplo, int n, R alpha, CXI(T), T *AP), LIST(UPLO(uplo), n, &alpha, x, incx, AP))              \
    ROUTINE(r2, LIST(char uplo, int n, T alpha, CXI(T), CYI(T), T *A, int lda),                                        \
            LIST(UPLO(uplo), n, &alpha, x, incx, y, incy, A, lda))                                                     \
    ROUTINE(pr2, LIST(char uplo, int n, T alpha, CXI(T), CYI(T), T *AP),                                               \
            LIST(UPLO(uplo), n, &alpha, x, incx, y, incy, AP))
SYMMETRIC(float, float, Ssymv, Ssbmv, Sspmv, Ssyr, Sspr, Ssyr2, Sspr2)
SYMMETRIC(double, double, Dsymv, Dsbmv, Dspmv, Dsyr, Dspr, Dsyr2, Dspr2)
SYMMETRIC(cuComplex, float, Chemv, Chbmv, Chpmv, Cher, Chpr, Cher2, Chpr2)
SYMMETRIC(cuDoubleComplex, double, Zhemv, Zhbmv, Zhpmv, Zher, Zhpr, Zher2, Zhpr2)
#define GER(T, name)                                                                                                   \
    ROUTINE(name, LIST(int m, int n, T alpha, CXI(T), CYI(T), T *A, int lda),                                          \
            LIST(m, n, &alpha, x, incx, y, incy, A, lda))
GER(float, Sger)
GER(double, Dger)
GER(cuComplex, Cgeru)
GER(cuComplex, Cgerc)
GER(cuDoubleComplex, Zgeru)
GER(cuDoubleComplex, Zgerc)

#define LEVEL3(t, T)                                                                                                   \
    ROUTINE(t##gemm, LIST(char transa, char transb, int m, int n, int k, T alpha, A_(T), B_(T), T beta, C_(T)),        \
            LIST(OP(transa), OP(transb), m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc))                              \
    OF_RANK_K(T, T, T, t##syrk)                                                                                        \
    OF_RANK_2K(T, T, t##syr2k)                                                                                         \
    SIDED(T, t##symm)                                                                                                  \
    ROUTINE(t##trsm, LIST(char side, char uplo, char trans, char diag, int m, int n, T alpha, A_(T), T *B, int ldb),   \
            LIST(SIDE(side), UPLO(uplo), OP(trans), DIAG(diag), m, n, &alpha, A, lda, B, ldb))                         \
    ROUTINE(t##trmm, LIST(char side, char uplo, char trans, char diag, int m, int n, T alpha, A_(T), T *B, int ldb),   \
            LIST(SIDE(side), UPLO(uplo), OP(trans), DIAG(diag), m, n, &alpha, A, lda, B, ldb, B, ldb))
#define OF_RANK_K(T, Alpha, Beta, name)                                                                                \
    ROUTINE(name, LIST(char uplo, char trans, int n, int k, Alpha alpha, A_(T), Beta beta, C_(T)),                     \
            LIST(UPLO(uplo), OP(trans), n, k, &alpha, A, lda, &beta, C, ldc))
#define OF_RANK_2K(T, Beta, name)                                                                                      \
    ROUTINE(name, LIST(char uplo, char trans, int n, int k, T alpha, A_(T), B_(T), Beta beta, C_(T)),                  \
            LIST(UPLO(uplo), OP(trans), n, k, &alpha, A, lda, B, ldb, &beta, C, ldc))
#define SIDED(T, name)                                                                                                 \
    ROUTINE(name, LIST(char side, char uplo, int m, int n, T alpha, A_(T), B_(T), T beta, C_(T)),                      \
            LIST(SIDE(side), UPLO(uplo), m, n, &alpha, A, lda, B, ldb, &beta, C, ldc))
LEVEL3(S, float)
LEVEL3(D, double)
LEVEL3(C, cuComplex)
LEVEL3(Z, cuDoubleComplex)
OF_RANK_K(cuComplex, float, float, Cherk)
OF_RANK_K(cuDoubleComplex, double, double, Zherk)
OF_RANK_2K(cuComplex, float, Cher2k)
OF_RANK_2K(cuDoubleComplex, double, Zher2k)
SIDED(cuComplex, Chemm)
SIDED(cuDoubleComplex, Zhemm)
