/* A launch that ranks explore together, and what its program may do wrong: by its argument. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include <cuda_runtime.h>

__constant__ unsigned first;

/* Who comes last, and the sum of all tickets of the first thread; more executions than one process has found when others begin. */
__global__ void tickets(unsigned *next, unsigned *last, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        unsigned mine = atomicAdd(next, 1u) + first;
        *(volatile unsigned *)&last[blockIdx.x] = mine;
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    unsigned *p, start[4] = {}, got[4], constant = 0, rounds = strcmp(what, "long") == 0 ? 5 : strncmp(what, "other", 5) == 0 ? 4 : 3;
    cudaMalloc(&p, sizeof start);
    if (strcmp(what, "other-memory") == 0)
        start[0] = (unsigned)getpid();
    if (strcmp(what, "other-constant") == 0)
        constant = (unsigned)getpid();
    cudaMemcpy(p, start, sizeof start, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(first, &constant, sizeof constant);
    if (strcmp(what, "no") != 0)
        tickets<<<3, 1>>>(p, p + 1, rounds);
    cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost);
    printf("%u\n", got[0]);
    if (strcmp(what, "fail") == 0)
        return 7;
}
