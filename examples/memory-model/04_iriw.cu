// Independent reads of independent writes: x and y are written by two threads; two others read both, in different order.
// Can they disagree about which came first? r = {x, y of the third thread; y, x of the fourth}: {1, 0, 1, 0} says that they do.
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

template <cuda::memory_order order> __device__ void iriw(int *x, int *y, int *r)
{
    switch (blockIdx.x) {
    case 0: device_int(*x).store(1, cuda::memory_order_relaxed); break;
    case 1: device_int(*y).store(1, cuda::memory_order_relaxed); break;
    case 2:
        r[0] = device_int(*x).load(order);
        r[1] = device_int(*y).load(order);
        break;
    case 3:
        r[2] = device_int(*y).load(order);
        r[3] = device_int(*x).load(order);
        break;
    }
}

// Acquiring loads do not forbid it: a write may become visible to one thread before it does to another.
// $ heddle explore 04_iriw.ptx acquire --grid 4 --block 1 'u32[1]' 'u32[1]' 'u32[4]+outcomes'
__global__ void acquire(int *x, int *y, int *r)
{
    iriw<cuda::memory_order_acquire>(x, y, r);
}

// Loads that are sequentially consistent do.
// $ heddle explore 04_iriw.ptx sequential --grid 4 --block 1 'u32[1]' 'u32[1]' 'u32[4]+outcomes'
__global__ void sequential(int *x, int *y, int *r)
{
    iriw<cuda::memory_order_seq_cst>(x, y, r);
}
