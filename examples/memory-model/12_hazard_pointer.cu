// A hazard pointer: a reader announces the node that it is about to read. Whoever removes the node checks this before reusing it.
// Both write one variable and read the other: store buffering, between a reader and a reclaimer.
// Node 0 has 7 at first, node 1 takes its place; a reclaimed node has 0.
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

static __device__ void fence(bool sequential)
{
    cuda::atomic_thread_fence(sequential ? cuda::memory_order_seq_cst : cuda::memory_order_acq_rel,
                              cuda::thread_scope_device);
}

static __device__ void run(int *node, int *shared, int *hazard, int *seen, bool sequential)
{
    if (blockIdx.x == 0) { // reads
        int n = device_int(*shared).load(cuda::memory_order_relaxed);
        device_int(*hazard).store(n + 1, cuda::memory_order_relaxed);
        fence(sequential);
        if (device_int(*shared).load(cuda::memory_order_acquire) != n)
            n = 1; // it has been taken out, and the other one stays
        *seen = node[n];
        device_int(*hazard).store(0, cuda::memory_order_release);
    } else { // takes out, and reclaims
        node[1] = 7;
        device_int(*shared).store(1, cuda::memory_order_release);
        fence(sequential);
        if (device_int(*hazard).load(cuda::memory_order_acquire) != 1)
            node[0] = 0;
    }
}

// With a sequentially consistent fence on both sides one of the two sees what the other one has written.
// $ heddle explore 12_hazard_pointer.ptx right --grid 2 --block 1 'u32[2]=7,0' 'u32[1]' 'u32[1]' 'u32[1]+outcomes'
__global__ void right(int *node, int *shared, int *hazard, int *seen)
{
    run(node, shared, hazard, seen, true);
}

// Release and acquire do not order a write and a later read: the node is reclaimed under the reader's eyes.
// $ heddle explore 12_hazard_pointer.ptx acquire_release --grid 2 --block 1 'u32[2]=7,0' 'u32[1]' 'u32[1]' 'u32[1]+outcomes'
__global__ void acquire_release(int *node, int *shared, int *hazard, int *seen)
{
    run(node, shared, hazard, seen, false);
}
