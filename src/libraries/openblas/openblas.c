/* See openblas.h.
 *
 * OpenBLAS 0.3.21 without threads is not safe for concurrent calls: it hands out its buffers
 * without a lock, and its kernels for small matrices keep a transposed operand in static memory.
 * The linker redirects both here (--wrap, meson.build), which adds a lock and a limit, and avoids
 * these kernels. Its complex products with vectors also read the place behind a vector's last
 * element, which may be no memory: they get copies.
 */
#include "libraries/openblas/openblas.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- calls by several threads at once ---- */

/* OpenBLAS prints a warning when its buffers are exhausted (50 or more, depending on its build),
 * and aborts after 512 more. So at most this many threads have one at a time, and others wait; a
 * thread that has one gets its next at once, so that waiting threads never block each other. */
enum { MOST_THREADS = 40 };

static pthread_mutex_t buffers = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static int threads_with_buffers;
static _Thread_local int own_buffers;

void *__real_blas_memory_alloc(int kind);
void *__wrap_blas_memory_alloc(int kind);
void *__wrap_blas_memory_alloc(int kind)
{
    pthread_mutex_lock(&buffers);
    if (own_buffers++ == 0) {
        while (threads_with_buffers == MOST_THREADS)
            pthread_cond_wait(&given_back, &buffers);
        threads_with_buffers++;
    }
    void *buffer = __real_blas_memory_alloc(kind);
    pthread_mutex_unlock(&buffers);
    return buffer;
}

void __real_blas_memory_free(void *buffer);
void __wrap_blas_memory_free(void *buffer);
void __wrap_blas_memory_free(void *buffer)
{
    pthread_mutex_lock(&buffers);
    __real_blas_memory_free(buffer);
    if (--own_buffers == 0) {
        threads_with_buffers--;
        pthread_cond_signal(&given_back);
    }
    pthread_mutex_unlock(&buffers);
}

#define NO_SMALL_KERNELS(permit)                                                                                       \
    int __wrap_##permit(void);                                                                                         \
    int __wrap_##permit(void)                                                                                          \
    {                                                                                                                  \
        return 0;                                                                                                      \
    }
NO_SMALL_KERNELS(sgemm_small_matrix_permit_SKYLAKEX)
NO_SMALL_KERNELS(dgemm_small_matrix_permit_SKYLAKEX)
NO_SMALL_KERNELS(sgemm_small_matrix_permit_COOPERLAKE)
NO_SMALL_KERNELS(dgemm_small_matrix_permit_COOPERLAKE)
NO_SMALL_KERNELS(sgemm_small_matrix_permit_SAPPHIRERAPIDS)
NO_SMALL_KERNELS(dgemm_small_matrix_permit_SAPPHIRERAPIDS)

static void hold(void)
{
    pthread_mutex_lock(&buffers);
}
static void give_back(void)
{
    pthread_mutex_unlock(&buffers);
}
/* The buffers of the parent's threads are free in the child. */
static void begin_anew(void)
{
    threads_with_buffers = own_buffers > 0;
    give_back();
}
__attribute__((constructor)) static void start(void)
{
    pthread_atfork(hold, give_back, begin_anew);
}

/* ---- the table ---- */

/* Fortran names end with an underscore. */
#define BLAS_REAL(family, s, d, parameters)                                                                            \
    void s##_ parameters;                                                                                              \
    void d##_ parameters;
#define BLAS_COMPLEX(family, c, z, parameters) BLAS_REAL(family, c, z, parameters)
#define BLAS(family, s, d, c, z, parameters)                                                                           \
    BLAS_REAL(family, s, d, parameters)                                                                                \
    BLAS_REAL(family, c, z, parameters)
#include "libraries/openblas/openblas.def"
#include "libraries/openblas/lapack.def"
#undef BLAS
#undef BLAS_REAL
#undef BLAS_COMPLEX

const struct openblas heddle_openblas = {
#define BLAS(family, s, d, c, z, parameters)   .family = {s##_, d##_, c##_, z##_},
#define BLAS_REAL(family, s, d, parameters)    .family = {s##_, d##_},
#define BLAS_COMPLEX(family, c, z, parameters) .family = {[PRECISION_C] = c##_, z##_},
#include "libraries/openblas/openblas.def"
#include "libraries/openblas/lapack.def"
};

/* The only function of Fortran's runtime library that LAPACK needs, which is not linked for it:
 * concatenates two texts, truncated or padded with spaces. */
void _gfortran_concat_string(size_t to_length, char *to, size_t a_length, const char *a, size_t b_length,
                             const char *b);
void _gfortran_concat_string(size_t to_length, char *to, size_t a_length, const char *a, size_t b_length, const char *b)
{
    for (size_t i = 0; i < to_length; i++)
        to[i] = i < a_length ? a[i] : i - a_length < b_length ? b[i - a_length] : ' ';
}

/* ---- complex products with vectors ---- */

/* The kernels of y += (ar + i ai) * A * x and of dot products. Where they would read on, they get
 * copies, which have a place more; without memory for those, the vectors as they are. `form`: what
 * is conjugated. */
enum { FEW = 64 };
#define COPIES(T)                                                                                                      \
    /* A vector's elements side by side: in `few`, if there are not more; else in memory to free. */                   \
    static T *together_##T(T few[2 * (FEW + 1)], const T *x, long step, long n)                                        \
    {                                                                                                                  \
        T *copy = n <= FEW ? few : malloc(2 * ((size_t)n + 1) * sizeof(T));                                            \
        for (long i = 0; copy && i < n; i++) {                                                                         \
            copy[2 * i] = x[2 * i * step];                                                                             \
            copy[2 * i + 1] = x[2 * i * step + 1];                                                                     \
        }                                                                                                              \
        if (copy && n >= 0)                                                                                            \
            copy[2 * n] = copy[2 * n + 1] = 0;                                                                         \
        return copy;                                                                                                   \
    }
COPIES(float)
COPIES(double)

#define GEMV_KERNEL(name, T)                                                                                           \
    int __real_##name(long m, long n, long unused, T ar, T ai, T *a, long lda, T *x, long incx, T *y, long incy,       \
                      T *buffer);                                                                                      \
    int __wrap_##name(long m, long n, long unused, T ar, T ai, T *a, long lda, T *x, long incx, T *y, long incy,       \
                      T *buffer);                                                                                      \
    int __wrap_##name(long m, long n, long unused, T ar, T ai, T *a, long lda, T *x, long incx, T *y, long incy,       \
                      T *buffer)                                                                                       \
    {                                                                                                                  \
        T few[2 * (FEW + 1)], *copy = together_##T(few, x, incx, n);                                                   \
        const int result =                                                                                             \
            __real_##name(m, n, unused, ar, ai, a, lda, copy ? copy : x, copy ? 1 : incx, y, incy, buffer);            \
        if (copy != few)                                                                                               \
            free(copy);                                                                                                \
        return result;                                                                                                 \
    }
/* Only a vector whose elements are apart is read too far. */
#define DOT_KERNEL(name, T)                                                                                            \
    T _Complex __real_##name(long n, T *x, long incx, T *y, long incy);                                                \
    T _Complex __wrap_##name(long n, T *x, long incx, T *y, long incy);                                                \
    T _Complex __wrap_##name(long n, T *x, long incx, T *y, long incy)                                                 \
    {                                                                                                                  \
        T few[2][2 * (FEW + 1)], *a = incx != 1 ? together_##T(few[0], x, incx, n) : NULL,                             \
                                 *b = incy != 1 ? together_##T(few[1], y, incy, n) : NULL;                             \
        const T _Complex result = __real_##name(n, a ? a : x, a ? 1 : incx, b ? b : y, b ? 1 : incy);                  \
        if (a != few[0])                                                                                               \
            free(a);                                                                                                   \
        if (b != few[1])                                                                                               \
            free(b);                                                                                                   \
        return result;                                                                                                 \
    }
#define GEMV(form, core)                                                                                               \
    GEMV_KERNEL(cgemv_##form##_##core, float)                                                                          \
    GEMV_KERNEL(zgemv_##form##_##core, double)
#define DOT(form, core)                                                                                                \
    DOT_KERNEL(cdot##form##_k_##core, float)                                                                           \
    DOT_KERNEL(zdot##form##_k_##core, double)
#define CORE(core) GEMV(n, core) GEMV(r, core) GEMV(o, core) GEMV(s, core) DOT(c, core) DOT(u, core)
OPENBLAS_CORES /* the CPUs' names, from meson.build */
