// Store buffering: two threads each write one variable and read the other. Can both read the old value, {0, 0}?
// Dekker's and Peterson's locks depend on it.
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

// Release and acquire do not help: neither thread reads what the other one has released.
// $ heddle explore 02_store_buffering.ptx release_acquire --grid 2 --block 1 'u32[2]' 'u32[2]+outcomes'
__global__ void release_acquire(int *x, int *r)
{
    int me = blockIdx.x;
    device_int(x[me]).store(1, cuda::memory_order_release);
    r[me] = device_int(x[1 - me]).load(cuda::memory_order_acquire);
}

// Sequential consistency does: there is one order of all such operations.
// $ heddle explore 02_store_buffering.ptx sequential --grid 2 --block 1 'u32[2]' 'u32[2]+outcomes'
__global__ void sequential(int *x, int *r)
{
    int me = blockIdx.x;
    device_int(x[me]).store(1, cuda::memory_order_seq_cst);
    r[me] = device_int(x[1 - me]).load(cuda::memory_order_seq_cst);
}

// So does __threadfence(), which is fence.sc in PTX, between the two. One in each thread.
// $ heddle explore 02_store_buffering.ptx threadfence --grid 2 --block 1 'u32[2]' 'u32[2]+outcomes'
__global__ void threadfence(int *x, int *r)
{
    int me = blockIdx.x;
    device_int(x[me]).store(1, cuda::memory_order_relaxed);
    __threadfence();
    r[me] = device_int(x[1 - me]).load(cuda::memory_order_relaxed);
}

// A fence in one thread alone orders nothing against the other.
// $ heddle explore 02_store_buffering.ptx one_fence --grid 2 --block 1 'u32[2]' 'u32[2]+outcomes'
__global__ void one_fence(int *x, int *r)
{
    int me = blockIdx.x;
    device_int(x[me]).store(1, cuda::memory_order_relaxed);
    if (me == 0)
        __threadfence();
    r[me] = device_int(x[1 - me]).load(cuda::memory_order_relaxed);
}
