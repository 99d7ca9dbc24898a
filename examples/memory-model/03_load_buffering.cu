// Load buffering: two threads each read one variable and then write the other. Can both read what the other one writes later, {1, 1}?
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

// Yes: a later store may pass an earlier load that it does not depend on.
// $ heddle explore 03_load_buffering.ptx independent --grid 2 --block 1 'u32[2]' 'u32[2]+outcomes'
__global__ void independent(int *x, int *r)
{
    int me = blockIdx.x;
    r[me] = device_int(x[me]).load(cuda::memory_order_relaxed);
    device_int(x[1 - me]).store(1, cuda::memory_order_relaxed);
}

// No, where each writes what it has read: values do not come out of thin air.
// $ heddle explore 03_load_buffering.ptx dependent --grid 2 --block 1 'u32[2]' 'u32[2]+outcomes'
__global__ void dependent(int *x, int *r)
{
    int me = blockIdx.x;
    int seen = device_int(x[me]).load(cuda::memory_order_relaxed);
    device_int(x[1 - me]).store(seen, cuda::memory_order_relaxed);
    r[me] = seen;
}
