// The last block sums up (threadFenceReduction of CUDA's samples): each block writes a partial sum and increments a
// counter; the block that comes last adds up all partial sums. These are 1, 2 and 3, so the sum must be 6.

template <bool fenced> __device__ void sum_up(int *partial, unsigned *done, int *sum)
{
    partial[blockIdx.x] = blockIdx.x + 1;
    if (fenced)
        __threadfence();
    if (atomicInc(done, gridDim.x - 1) == gridDim.x - 1) {
        if (fenced)
            __threadfence();
        int s = 0;
        for (int i = 0; i < (int)gridDim.x; i++)
            s += partial[i];
        *sum = s;
    }
}

// $ heddle explore 07_last_block.ptx right --grid 3 --block 1 'u32[3]' 'u32[1]' 'u32[1]+outcomes'
__global__ void right(int *partial, unsigned *done, int *sum)
{
    sum_up<true>(partial, done, sum);
}

// Without the fence the counter says that all have come, and nothing says that what they wrote has.
// $ heddle explore 07_last_block.ptx no_fence --grid 3 --block 1 'u32[3]' 'u32[1]' 'u32[1]+outcomes'
__global__ void no_fence(int *partial, unsigned *done, int *sum)
{
    sum_up<false>(partial, done, sum);
}

// The sample's own way has a fence before the count alone, and reads the partial sums by volatile loads. No race is left, as what is
// written is published by the fence; yet nothing acquires, so old values may still be read.
// $ heddle explore 07_last_block.ptx one_fence --grid 2 --block 1 'u32[2]' 'u32[1]' 'u32[1]+outcomes'
__global__ void one_fence(volatile int *partial, unsigned *done, int *sum)
{
    partial[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    if (atomicInc(done, gridDim.x - 1) == gridDim.x - 1)
        *sum = partial[0] + partial[1];
}
