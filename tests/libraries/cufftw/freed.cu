// Transforms memory of the device that is good, or has been freed ("freed"), or is too short ("short").
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <cufftw.h>

int main(int argc, char **argv)
{
    const int n = 64;
    const size_t bytes = (strcmp(argv[1], "short") ? n : n / 2) * sizeof(fftw_complex);
    fftw_complex *at;
    cudaMalloc(&at, bytes);
    cudaMemset(at, 0, bytes);
    fftw_plan plan = fftw_plan_dft_1d(n, at, at, FFTW_FORWARD, FFTW_ESTIMATE);
    if (!strcmp(argv[1], "freed"))
        cudaFree(at);
    fftw_execute(plan);
    printf("%d\n", (int)cudaDeviceSynchronize());
    return 0;
}
