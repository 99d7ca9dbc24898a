/* A shared library, as an extension of Python: its caller has neither lines nor CUDA. */
#include <cuda_runtime_api.h>

static void release(void *p)
{
    cudaFree(p);
}

int release_twice(void)
{
    void *p;
    if (cudaMalloc(&p, 100))
        return 1;
    release(p);
    release(p); /* the second time */
    return 0;
}
