/* The values of a block, counted in eight bins; and one thread's count goes wild. */
__global__ void count(const int *values, int *counts, int n)
{
    __shared__ int bins[8];
    __shared__ int most;
    int t = threadIdx.x;
    if (t < 8)
        bins[t] = 0;
    if (t == 0)
        most = n;
    __syncthreads();
    if (t < n) {
        int bin = values[t] / 8;
        atomicAdd(&bins[bin], 1);
    }
    __syncthreads();
    if (t < 8)
        counts[t] = bins[t] * 100 / most;
}
