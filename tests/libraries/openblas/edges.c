/* Routines of OpenBLAS read and write no more than their matrices and vectors, which end here where memory ends. */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "libraries/openblas/openblas.h"

#include "../../cuda/tap.h"

enum { ROOM = 1 << 20, SIZES = 20, SPREAD = 64 };

static const size_t element_bytes[] = {4, 8, 8, 16};
static sigjmp_buf behind;
static char *edges[3], elsewhere[3][ROOM];

static void on_fault(int number)
{
    siglongjmp(behind, number);
}

static void *edge(int i, size_t bytes)
{
    return edges[i] - bytes;
}

/* With one of the three, or the matrix of a factorization, at the edge. */
static int gemv_stays(enum precision p, const char *trans, int m, int n, int step, int at_edge)
{
    static const double one[2] = {1}, zero[2];
    static const float one_f[2] = {1}, zero_f[2];
    const bool wide = p == PRECISION_D || p == PRECISION_Z;
    const int length[] = {*trans == 'N' ? n : m, *trans == 'N' ? m : n};
    const size_t bytes[] = {(size_t)(m * n), (size_t)((length[0] - 1) * step + 1),
                            (size_t)((length[1] - 1) * step + 1)};
    void *operand[3];
    for (int i = 0; i < 3; i++)
        operand[i] = i == at_edge ? edge(i, bytes[i] * element_bytes[p]) : elsewhere[i];
    if (sigsetjmp(behind, 1))
        return 0;
    heddle_openblas.gemv[p](trans, &m, &n, wide ? (const void *)one : one_f, operand[0], &m, operand[1], &step,
                            wide ? (const void *)zero : zero_f, operand[2], &step);
    return 1;
}

static int factors_stay(enum precision p, const char *uplo, int n)
{
    const size_t bytes = (size_t)(n * n) * element_bytes[p];
    char *a = edge(0, bytes);
    int info, pivots[SIZES];
    if (sigsetjmp(behind, 1))
        return 0;
    memset(a, 0, bytes);
    for (int i = 0; i < n; i++) {
        char *diagonal = a + (size_t)(i * n + i) * element_bytes[p];
        if (p == PRECISION_S || p == PRECISION_C)
            *(float *)diagonal = 2;
        else
            *(double *)diagonal = 2;
    }
    heddle_openblas.potrf[p](uplo, &n, a, &n, &info, 1);
    heddle_openblas.potri[p](uplo, &n, a, &n, &info, 1);
    heddle_openblas.getrf[p](&n, &n, a, &n, pivots, &info);
    return 1;
}

static void products_read_no_further_than_their_operands(void)
{
    for (enum precision p = PRECISION_S; p <= PRECISION_Z; p++)
        for (int m = 1; m < SIZES; m++)
            for (int n = 1; n < SIZES; n++)
                for (int i = 0; i < 3 * 3 * 2; i++)
                    CHECK(gemv_stays(p, &"NTC"[i % 3], m, n, i / 9 ? SPREAD : 1, i / 3 % 3));
}

static void factorizations_read_no_further_than_their_matrix(void)
{
    for (enum precision p = PRECISION_S; p <= PRECISION_Z; p++)
        for (int n = 1; n < SIZES; n++)
            CHECK(factors_stay(p, "U", n) && factors_stay(p, "L", n));
}

int main(void)
{
    const struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 3; i++) {
        char *memory = mmap(NULL, (size_t)ROOM * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        edges[i] = memory + ROOM;
        mprotect(edges[i], ROOM, PROT_NONE);
    }
    RUN(products_read_no_further_than_their_operands);
    RUN(factorizations_read_no_further_than_their_matrix);
    return summary();
}
