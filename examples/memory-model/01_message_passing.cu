// Message passing: one thread writes data and raises a flag; another sees the flag and reads the data. What does it read?
//
// Each kernel returns r = {the flag that was read, the data that was read}. {1, 0} means: the flag had arrived, the data had not.
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;
using block_int = cuda::atomic_ref<int, cuda::thread_scope_block>;

// Plain accesses are a data race: nothing is promised.
// $ heddle explore 01_message_passing.ptx plain --grid 2 --block 1 'u32[1]' 'u32[1]' 'u32[2]+outcomes'
__global__ void plain(int *data, int *flag, int *r)
{
    if (blockIdx.x == 0) {
        *data = 42;
        *flag = 1;
    } else {
        r[0] = *flag;
        r[1] = *data;
    }
}

// Relaxed atomics are no race. They order nothing either.
// $ heddle explore 01_message_passing.ptx relaxed --grid 2 --block 1 'u32[1]' 'u32[1]' 'u32[2]+outcomes'
__global__ void relaxed(int *data, int *flag, int *r)
{
    if (blockIdx.x == 0) {
        device_int(*data).store(42, cuda::memory_order_relaxed);
        device_int(*flag).store(1, cuda::memory_order_relaxed);
    } else {
        r[0] = device_int(*flag).load(cuda::memory_order_relaxed);
        r[1] = device_int(*data).load(cuda::memory_order_relaxed);
    }
}

// A release that an acquire reads from orders what comes before the one and after the other: {1, 0} is gone.
// $ heddle explore 01_message_passing.ptx release_acquire --grid 2 --block 1 'u32[1]' 'u32[1]' 'u32[2]+outcomes'
__global__ void release_acquire(int *data, int *flag, int *r)
{
    if (blockIdx.x == 0) {
        device_int(*data).store(42, cuda::memory_order_relaxed);
        device_int(*flag).store(1, cuda::memory_order_release);
    } else {
        r[0] = device_int(*flag).load(cuda::memory_order_acquire);
        r[1] = device_int(*data).load(cuda::memory_order_relaxed);
    }
}

// It takes both: an acquire alone has nothing to read from.
// $ heddle explore 01_message_passing.ptx acquire_alone --grid 2 --block 1 'u32[1]' 'u32[1]' 'u32[2]+outcomes'
__global__ void acquire_alone(int *data, int *flag, int *r)
{
    if (blockIdx.x == 0) {
        device_int(*data).store(42, cuda::memory_order_relaxed);
        device_int(*flag).store(1, cuda::memory_order_relaxed);
    } else {
        r[0] = device_int(*flag).load(cuda::memory_order_acquire);
        r[1] = device_int(*data).load(cuda::memory_order_relaxed);
    }
}

// The scope has to reach the other thread. Here it is in another block.
// $ heddle explore 01_message_passing.ptx block_scope --grid 2 --block 1 'u32[1]' 'u32[1]' 'u32[2]+outcomes'
// In one block (but two warps) the same code is right.
// $ heddle explore 01_message_passing.ptx block_scope --grid 1 --block 64 'u32[1]' 'u32[1]' 'u32[2]+outcomes'
__global__ void block_scope(int *data, int *flag, int *r)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = 42;
        block_int(*flag).store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1 || threadIdx.x == 32) {
        r[0] = block_int(*flag).load(cuda::memory_order_acquire);
        if (r[0] == 1)
            r[1] = *data;
    }
}

// CUDA's own way: __threadfence() on both sides of a volatile flag.
// $ heddle explore 01_message_passing.ptx threadfence --grid 2 --block 1 'u32[1]' 'u32[1]' 'u32[2]+outcomes'
__global__ void threadfence(int *data, volatile int *flag, int *r)
{
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        r[0] = *flag;
        __threadfence();
        if (r[0] == 1)
            r[1] = *data;
    }
}
