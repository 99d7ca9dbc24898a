/* More threads at once in OpenBLAS than it has buffers: each gets its product, and nothing is said
 * on stderr. They meet inside, where all wait for a factor that cannot be read yet. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libraries/openblas/openblas.h"

#include "../../cuda/tap.h"

enum { THREADS = 300, N = 64, BYTES = N * N * sizeof(float), ROUNDS = 200, ROUND_US = 1000 };

static float *factor, expected[N * N];
static _Atomic int inside, wrong, ready;

static void multiply(float *c)
{
    const int n = N;
    const float one = 1, zero = 0;
    heddle_openblas.gemm[PRECISION_S]("N", "N", &n, &n, &n, &one, factor, &n, factor, &n, &zero, c, &n);
}

static void wait_inside(int number)
{
    (void)number;
    inside++;
    while (!ready)
        usleep(ROUND_US);
}

static void *work(void *unused)
{
    (void)unused;
    float *c = calloc(N * N, sizeof *c);
    multiply(c);
    wrong += memcmp(c, expected, BYTES) != 0;
    free(c);
    return NULL;
}

static void more_threads_than_there_are_buffers_get_their_products_and_nothing_is_said(void)
{
    pthread_t threads[THREADS];
    struct stat said;
    FILE *file = tmpfile();
    CHECK(file && dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
    factor = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < N * N; i++)
        factor[i] = (float)(i % 7 - 3);
    multiply(expected);
    signal(SIGSEGV, wait_inside);
    CHECK(mprotect(factor, BYTES, PROT_NONE) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int round = 0; round < ROUNDS && inside < THREADS; round++)
        usleep(ROUND_US);
    CHECK(inside > 1);
    CHECK(mprotect(factor, BYTES, PROT_READ) == 0);
    ready = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(wrong == 0);
    CHECK(fstat(fileno(file), &said) == 0 && said.st_size == 0);
}

int main(void)
{
    RUN(more_threads_than_there_are_buffers_get_their_products_and_nothing_is_said);
    return summary();
}
