/* NVTX before version 3: a program that is linked with its library, and knows none of its headers. */
#include <stdio.h>

int nvtxRangePushA(const char *), nvtxRangePop(void);
void nvtxMarkA(const char *), nvtxNameCuStreamA(void *, const char *), nvtxNameOsThreadA(unsigned, const char *);
int cudaFree(void *);

int main(void)
{
    nvtxNameOsThreadA(1, "main");
    nvtxNameCuStreamA(0, "stream");
    int outer = nvtxRangePushA("outer");
    cudaFree(0);
    int inner = nvtxRangePushA("inner");
    nvtxMarkA("mark");
    int popped = nvtxRangePop();
    nvtxRangePop();
    printf("%d %d %d\n", outer, inner, popped);
}
