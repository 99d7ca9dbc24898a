/* cuFFTW ("cuFFT API Reference", "FFTW Interface to cuFFT"): libcufftw.so of CUDA 11, 12 and 13,
 * the functions of FFTW 3 that are not of real numbers alone, split arrays or wisdom.
 * docs/LIBRARIES.md says what Heddle's has. */
#ifndef _CUFFTW_H_
#define _CUFFTW_H_

#include <stddef.h>
#include <stdio.h>

#include "cufft.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FFTW_FORWARD  (-1)
#define FFTW_BACKWARD 1
#define FFTW_INVERSE  FFTW_BACKWARD

/* Of planners; no plan depends on them. */
#define FFTW_MEASURE         0U
#define FFTW_DESTROY_INPUT   (1U << 0)
#define FFTW_UNALIGNED       (1U << 1)
#define FFTW_CONSERVE_MEMORY (1U << 2)
#define FFTW_EXHAUSTIVE      (1U << 3)
#define FFTW_PRESERVE_INPUT  (1U << 4)
#define FFTW_PATIENT         (1U << 5)
#define FFTW_ESTIMATE        (1U << 6)
#define FFTW_WISDOM_ONLY     (1U << 21)

#define FFTW_NO_TIMELIMIT (-1.0)

/* An axis: its length, and the steps from one of its elements to the next, of the input and of the
 * output. */
typedef struct fftw_iodim_s {
    int n, is, os;
} fftw_iodim;
typedef struct fftw_iodim64_s {
    ptrdiff_t n, is, os;
} fftw_iodim64;
typedef fftw_iodim fftwf_iodim;
typedef fftw_iodim64 fftwf_iodim64;

/* Where C's complex numbers are there, they are FFTW's ("FFTW 3", "Complex numbers"). */
#if !defined(__cplusplus) && defined(_Complex_I) && defined(complex) && defined(I)
#define HEDDLE_FFTW_COMPLEX(Real, Complex) typedef Real _Complex Complex
#else
#define HEDDLE_FFTW_COMPLEX(Real, Complex) typedef Real Complex[2]
#endif

#define HEDDLE_FFTW_API(X, Real)                                                                                       \
    HEDDLE_FFTW_COMPLEX(Real, X##_complex);                                                                            \
    typedef struct X##_plan_s *X##_plan;                                                                               \
                                                                                                                       \
    X##_plan X##_plan_dft_1d(int n, X##_complex *in, X##_complex *out, int sign, unsigned flags);                      \
    X##_plan X##_plan_dft_2d(int n0, int n1, X##_complex *in, X##_complex *out, int sign, unsigned flags);             \
    X##_plan X##_plan_dft_3d(int n0, int n1, int n2, X##_complex *in, X##_complex *out, int sign, unsigned flags);     \
    X##_plan X##_plan_dft(int rank, const int *n, X##_complex *in, X##_complex *out, int sign, unsigned flags);        \
    X##_plan X##_plan_dft_r2c_1d(int n, Real *in, X##_complex *out, unsigned flags);                                   \
    X##_plan X##_plan_dft_r2c_2d(int n0, int n1, Real *in, X##_complex *out, unsigned flags);                          \
    X##_plan X##_plan_dft_r2c_3d(int n0, int n1, int n2, Real *in, X##_complex *out, unsigned flags);                  \
    X##_plan X##_plan_dft_r2c(int rank, const int *n, Real *in, X##_complex *out, unsigned flags);                     \
    X##_plan X##_plan_dft_c2r_1d(int n, X##_complex *in, Real *out, unsigned flags);                                   \
    X##_plan X##_plan_dft_c2r_2d(int n0, int n1, X##_complex *in, Real *out, unsigned flags);                          \
    X##_plan X##_plan_dft_c2r_3d(int n0, int n1, int n2, X##_complex *in, Real *out, unsigned flags);                  \
    X##_plan X##_plan_dft_c2r(int rank, const int *n, X##_complex *in, Real *out, unsigned flags);                     \
                                                                                                                       \
    X##_plan X##_plan_many_dft(int rank, const int *n, int howmany, X##_complex *in, const int *inembed, int istride,  \
                               int idist, X##_complex *out, const int *onembed, int ostride, int odist, int sign,      \
                               unsigned flags);                                                                        \
    X##_plan X##_plan_many_dft_r2c(int rank, const int *n, int howmany, Real *in, const int *inembed, int istride,     \
                                   int idist, X##_complex *out, const int *onembed, int ostride, int odist,            \
                                   unsigned flags);                                                                    \
    X##_plan X##_plan_many_dft_c2r(int rank, const int *n, int howmany, X##_complex *in, const int *inembed,           \
                                   int istride, int idist, Real *out, const int *onembed, int ostride, int odist,      \
                                   unsigned flags);                                                                    \
                                                                                                                       \
    HEDDLE_FFTW_GURU(X, Real, guru, X##_iodim);                                                                        \
    HEDDLE_FFTW_GURU(X, Real, guru64, X##_iodim64);                                                                    \
                                                                                                                       \
    void X##_execute(const X##_plan plan);                                                                             \
    void X##_execute_dft(const X##_plan plan, X##_complex *in, X##_complex *out);                                      \
    void X##_execute_dft_r2c(const X##_plan plan, Real *in, X##_complex *out);                                         \
    void X##_execute_dft_c2r(const X##_plan plan, X##_complex *in, Real *out);                                         \
    void X##_destroy_plan(X##_plan plan);                                                                              \
    void X##_cleanup(void);                                                                                            \
    void X##_set_timelimit(double seconds);                                                                            \
    double X##_cost(const X##_plan plan);                                                                              \
    void X##_flops(const X##_plan plan, double *add, double *mul, double *fma);                                        \
    void X##_print_plan(const X##_plan plan);                                                                          \
    void X##_export_wisdom_to_file(FILE *file);                                                                        \
    int X##_import_wisdom_from_file(FILE *file);                                                                       \
    void *X##_malloc(size_t n);                                                                                        \
    void X##_free(void *p)

#define HEDDLE_FFTW_GURU(X, Real, guru, Dim)                                                                           \
    X##_plan X##_plan_##guru##_dft(int rank, const Dim *dims, int howmany_rank, const Dim *howmany_dims,               \
                                   X##_complex *in, X##_complex *out, int sign, unsigned flags);                       \
    X##_plan X##_plan_##guru##_dft_r2c(int rank, const Dim *dims, int howmany_rank, const Dim *howmany_dims, Real *in, \
                                       X##_complex *out, unsigned flags);                                              \
    X##_plan X##_plan_##guru##_dft_c2r(int rank, const Dim *dims, int howmany_rank, const Dim *howmany_dims,           \
                                       X##_complex *in, Real *out, unsigned flags)

HEDDLE_FFTW_API(fftw, double);
HEDDLE_FFTW_API(fftwf, float);

#undef HEDDLE_FFTW_API
#undef HEDDLE_FFTW_GURU
#undef HEDDLE_FFTW_COMPLEX

#ifdef __cplusplus
}
#endif

#endif
