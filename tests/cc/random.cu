/* The sequences of XORWOW and Philox: a line for each number. cuRAND's own header gives the same words and uniform numbers. */
#include <curand_kernel.h>

#include "tap.h"

#include <cmath>

template <class S> __global__ void draw(unsigned *words, float *uniform, double *wide)
{
    const unsigned long long seeds[] = {0, 1234, 0x123456789abcdefull, ~0ull}, subsequences[] = {0, 1, 77, 1ull << 40},
                             offsets[] = {0, 1, 6, 1000003};
    S s;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            curand_init(seeds[i], subsequences[j], offsets[(i + j) % 4], &s);
            for (int k = 0; k < 6; k++)
                *words++ = curand(&s);
            *uniform++ = curand_uniform(&s);
            *wide++ = curand_uniform_double(&s);
            curand_normal(&s), curand_normal(&s), curand_normal_double(&s);
            skipahead(5ull, &s);
            *words++ = curand(&s);
            skipahead_sequence(3ull, &s);
            *words++ = curand(&s);
        }
}

/* The mean and the variance of normal numbers. */
template <class S> __global__ void moments(double *sums)
{
    S s;
    curand_init(7, threadIdx.x, 0, &s);
    for (int i = 0; i < 128; i++) {
        const double x = i % 2 ? curand_normal(&s) : curand_normal_double(&s);
        atomicAdd(&sums[0], x);
        atomicAdd(&sums[1], x * x);
    }
}

template <class S> static void show(const char *name)
{
    unsigned *words = shared_memory<unsigned>(128);
    float *uniform = shared_memory<float>(16);
    double *wide = shared_memory<double>(16), *sums = shared_memory<double>(2);
    draw<S><<<1, 1>>>(words, uniform, wide);
    moments<S><<<1, 64>>>(sums);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 128; i++)
        printf("# %s %08x\n", name, words[i]);
    bool between = true;
    for (int i = 0; i < 16; i++) {
        printf("# %s %.9g %.17g\n", name, uniform[i], wide[i]);
        between = between && uniform[i] > 0 && uniform[i] <= 1 && wide[i] > 0 && wide[i] <= 1;
    }
    const double n = 64 * 128;
    CHECK(between, "%s: uniform numbers are in (0, 1]", name);
    CHECK(std::fabs(sums[0] / n) < 0.05 && std::fabs(sums[1] / n - 1) < 0.06, "%s: normal numbers have mean 0 and variance 1", name);
}

int main()
{
    show<curandStateXORWOW_t>("XORWOW");
    show<curandStatePhilox4_32_10_t>("Philox");
    return done();
}
