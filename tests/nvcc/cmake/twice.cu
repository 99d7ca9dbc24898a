__device__ int doublings;

__device__ int twice(int x)
{
    atomicAdd(&doublings, 1);
    return 2 * x;
}
