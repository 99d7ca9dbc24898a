/* Lines of TAP from a CUDA program: CHECK(condition, "what it shows"), and `return done();` at the
 * end of main. */
#ifndef TAP_H
#define TAP_H

#include <cstdio>
#include <cstdlib>

static int tap_count, tap_failed;

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        const bool ok_ = (condition);                                                                                  \
        tap_failed += !ok_;                                                                                            \
        printf("%sok %d - ", ok_ ? "" : "not ", ++tap_count);                                                          \
        printf(__VA_ARGS__);                                                                                           \
        printf(ok_ ? "\n" : " [%s:%d]\n", __FILE__, __LINE__);                                                         \
    } while (0)

/* Stops where CUDA fails. */
#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t error_ = (call);                                                                             \
        if (error_ != cudaSuccess) {                                                                                   \
            printf("not ok %d - %s: %s [%s:%d]\n", ++tap_count, #call, cudaGetErrorString(error_), __FILE__,           \
                   __LINE__);                                                                                          \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline int done()
{
    printf("1..%d\n", tap_count);
    return tap_failed != 0;
}

/* Memory of the device that the host can read. */
template <class T> T *shared_memory(size_t n)
{
    T *p;
    CUDA(cudaMallocManaged(&p, n * sizeof(T)));
    for (size_t i = 0; i < n; i++)
        p[i] = T();
    return p;
}

#endif
