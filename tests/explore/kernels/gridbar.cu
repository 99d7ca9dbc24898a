// A barrier of the grid by a count that goes round, with __threadfence() as old CUDA code has it. g[0] arrived, g[32 + i] of block i; r[i]
// the sum that block i saw. Blocks of one thread, `rounds` of each.
extern "C" __global__ void gridbar(volatile unsigned *arrived, unsigned *data, unsigned *r, unsigned rounds)
{
    for (unsigned k = 1; k <= rounds; k++) {
        data[blockIdx.x] = k;
        __threadfence();
        atomicAdd((unsigned *)arrived, 1);
        while (*arrived < k * gridDim.x)
            ;
        __threadfence();
        r[blockIdx.x] += data[(blockIdx.x + 1) % gridDim.x];
        if (k == rounds)
            break;
        __threadfence();
        atomicAdd((unsigned *)arrived + 32, 1);
        while (arrived[32] < k * gridDim.x)
            ;
        __threadfence();
    }
}
