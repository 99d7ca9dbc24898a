/* Draws that `heddle check` finds fault with: a kernel of another stream that races with one, memory that is too short, or freed. */
#include <cstdio>
#include <cstring>
#include <curand.h>
__global__ void twice(unsigned *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= 2; }
int main(int, char **argv)
{
    curandGenerator_t g; unsigned *p; int n = 1000; cudaStream_t s, t;
    cudaStreamCreate(&s), cudaStreamCreate(&t), cudaMalloc(&p, n * sizeof *p);
    curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10), curandSetStream(g, s);
    if (!strcmp(argv[1], "freed")) cudaFree(p);
    curandGenerate(g, p, strcmp(argv[1], "short") ? n : n + 1);
    if (!strcmp(argv[1], "clean")) cudaStreamSynchronize(s);
    if (strcmp(argv[1], "freed")) twice<<<4, 256, 0, t>>>(p, n);
    printf("status: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
