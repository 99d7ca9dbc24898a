// Shared memory has no initialiser: each block's threads write it, then __syncthreads().
__global__ void k(int *out)
{
    __shared__ int sum = 0;
    atomicAdd(&sum, 1);
    *out = sum;
}
