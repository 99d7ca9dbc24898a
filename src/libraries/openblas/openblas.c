/* See openblas.h.
 *
 * OpenBLAS without threads is not made to be called by several (0.3.21): it hands out its buffers
 * without a lock, and its kernels for small matrices keep a transposed operand in static memory. So
 * the linker leads both here (--wrap, meson.build): a lock is added, and no such kernel is used.
 */
#include "libraries/openblas/openblas.h"

#include <pthread.h>

/* ---- calls by several threads at once ---- */

static pthread_mutex_t buffers = PTHREAD_MUTEX_INITIALIZER;

void *__real_blas_memory_alloc(int kind);
void *__wrap_blas_memory_alloc(int kind);
void *__wrap_blas_memory_alloc(int kind)
{
    pthread_mutex_lock(&buffers);
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
__attribute__((constructor)) static void start(void)
{
    pthread_atfork(hold, give_back, give_back);
}

/* ---- the table ---- */

/* Fortran's names end in an underscore. */
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

/* All that LAPACK wants of Fortran's runtime library, which is not linked for it: a text that is
 * two texts, cut off or filled with spaces. */
void _gfortran_concat_string(size_t to_length, char *to, size_t a_length, const char *a, size_t b_length,
                             const char *b);
void _gfortran_concat_string(size_t to_length, char *to, size_t a_length, const char *a, size_t b_length, const char *b)
{
    for (size_t i = 0; i < to_length; i++)
        to[i] = i < a_length ? a[i] : i - a_length < b_length ? b[i - a_length] : ' ';
}
