// Barriers: after a barrier, a thread sees what others wrote before it.
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

// __syncthreads() orders all of a block.
// $ heddle explore 10_barriers.ptx block --grid 1 --block 64 'u32[2]+outcomes'
__global__ void block(int *r)
{
    __shared__ int data[2];
    if (threadIdx.x % 32 == 0) {
        data[threadIdx.x / 32] = threadIdx.x / 32 + 1;
        __syncthreads();
        r[threadIdx.x / 32] = data[1 - threadIdx.x / 32];
    } else
        __syncthreads();
}

// Without it the two warps race.
// $ heddle explore 10_barriers.ptx no_barrier --grid 1 --block 64 'u32[2]+outcomes'
__global__ void no_barrier(int *r)
{
    __shared__ int data[2];
    if (threadIdx.x % 32 == 0) {
        data[threadIdx.x / 32] = threadIdx.x / 32 + 1;
        r[threadIdx.x / 32] = data[1 - threadIdx.x / 32];
    }
}

// A barrier of the whole grid, by a counter: released by who comes, acquired by who goes.
// $ heddle explore 10_barriers.ptx grid --grid 2 --block 1 'u32[1]' 'u32[2]' 'u32[2]+outcomes'
__global__ void grid(int *arrived, int *data, int *r)
{
    int me = blockIdx.x;
    data[me] = me + 1;
    device_int(*arrived).fetch_add(1, cuda::memory_order_acq_rel);
    while (device_int(*arrived).load(cuda::memory_order_acquire) != 2) {
    }
    r[me] = data[1 - me];
}

// The same with nothing but relaxed atomics: all have come, and what they wrote has not.
// $ heddle explore 10_barriers.ptx relaxed_grid --grid 2 --block 1 'u32[1]' 'u32[2]' 'u32[2]+outcomes'
__global__ void relaxed_grid(int *arrived, int *data, int *r)
{
    int me = blockIdx.x;
    data[me] = me + 1;
    atomicAdd(arrived, 1);
    while (device_int(*arrived).load(cuda::memory_order_relaxed) != 2) {
    }
    r[me] = data[1 - me];
}

// One barrier, and two warps that come to it at different places with different counts of others: both wait for ever.
// $ heddle explore 10_barriers.ptx skipped --grid 1 --block 64 'u32[1]+outcomes'
__global__ void skipped(int *r)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 2, 64;");
    r[0] = 1;
}
