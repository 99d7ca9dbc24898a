/* peaks: what this machine can do at best at the CPU level that this is compiled for, all cores:
 * "fma FLOPS" by independent chains of multiply-adds, as many as fit into the registers of vectors
 * with their two factors (without FMA a multiplication and an addition), "memory BYTES" by plain
 * stores and loads of arrays beyond the caches (a triad, counted as STREAM counts it). Per second.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#if defined __AVX512F__
enum { CHAINS = 24, LANES = 16 };
#elif defined __AVX__
enum { CHAINS = 12, LANES = 8 };
#elif defined __aarch64__
enum { CHAINS = 24, LANES = 4 };
#else
enum { CHAINS = 12, LANES = 4 };
#endif
enum { ROUNDS = 1 << 21, ARRAY = 1 << 25 };

typedef float vector __attribute__((vector_size(4 * LANES)));

static double fma_rate(void)
{
    double best = 0;
    for (int k = 0; k < 3; k++) {
        double start = omp_get_wtime(), sum = 0;
#pragma omp parallel reduction(+ : sum)
        {
            vector x[CHAINS], a = {0}, b = {0};
            for (int i = 0; i < LANES; i++) {
                a[i] = 0.999f;
                b[i] = 0.001f;
            }
            for (int c = 0; c < CHAINS; c++)
                x[c] = b + (float)c;
            for (int r = 0; r < ROUNDS; r++)
                for (int c = 0; c < CHAINS; c++)
                    x[c] = x[c] * a + b; /* contracted: -ffp-contract=fast */
            for (int c = 0; c < CHAINS; c++)
                sum += x[c][0];
        }
        double seconds = omp_get_wtime() - start;
        double rate = sum == 0 ? 0 : 2.0 * CHAINS * LANES * ROUNDS * omp_get_max_threads() / seconds;
        best = rate > best ? rate : best;
    }
    return best;
}

static double memory_rate(void)
{
    double best = 0;
    float *a = aligned_alloc(64, 4ul * ARRAY), *b = aligned_alloc(64, 4ul * ARRAY), *c = aligned_alloc(64, 4ul * ARRAY);
    if (!a || !b || !c)
        return 0;
    for (int k = 0; k < 6; k++) {
        double start = omp_get_wtime();
#pragma omp parallel for simd
        for (int i = 0; i < ARRAY; i++)
            a[i] = k ? b[i] + 3.0f * c[i] : (b[i] = (float)i, c[i] = 1.0f);
        double rate = 12.0 * ARRAY / (omp_get_wtime() - start);
        best = k && rate > best ? rate : best;
    }
    free(a);
    free(b);
    free(c);
    return best;
}

int main(void)
{
    printf("fma %.0f\nmemory %.0f\n", fma_rate(), memory_rate());
    return 0;
}
