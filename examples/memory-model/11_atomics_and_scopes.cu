// Atomic operations: what scope and order promise, and what they do not.
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

// Two blocks count. An atomic of the device's scope loses nothing.
// $ heddle explore 11_atomics_and_scopes.ptx device --grid 2 --block 1 'u32[1]+outcomes'
__global__ void device(int *count)
{
    atomicAdd(count, 1);
}

// One of the block's scope is not atomic for another block: it is a read and a write, and another write may come between.
// $ heddle explore 11_atomics_and_scopes.ptx block --grid 2 --block 1 'u32[1]+outcomes'
__global__ void block(int *count)
{
    atomicAdd_block(count, 1);
}

// What old + 1 is need not be what is there: another thread may have added since.
// $ heddle explore 11_atomics_and_scopes.ptx old_and_new --grid 2 --block 1 'u32[1]' 'u32[4]+outcomes'
__global__ void old_and_new(int *count, int *r)
{
    int me = blockIdx.x;
    r[2 * me] = atomicAdd(count, 1);
    r[2 * me + 1] = device_int(*count).load(cuda::memory_order_relaxed);
}

// Accesses to one place are coherent even where they are relaxed: who has seen 2 does not see 1 later.
// $ heddle explore 11_atomics_and_scopes.ptx coherent --grid 2 --block 1 'u32[1]' 'u32[2]+outcomes' --forbid '2[0] == 2 && 2[1] == 1'
__global__ void coherent(int *x, int *r)
{
    if (blockIdx.x == 0) {
        device_int(*x).store(1, cuda::memory_order_relaxed);
        device_int(*x).store(2, cuda::memory_order_relaxed);
    } else {
        r[0] = device_int(*x).load(cuda::memory_order_relaxed);
        r[1] = device_int(*x).load(cuda::memory_order_relaxed);
    }
}

// What memory_order_acq_rel buys: a counter that is incremented with it passes on what was written before each increment, along the chain
// of increments. The last of three to come sees what all others have written.
// $ heddle explore 11_atomics_and_scopes.ptx chain --grid 3 --block 1 'u32[1]' 'u32[3]' 'u32[1]+outcomes'
__global__ void chain(int *count, int *data, int *r)
{
    int me = blockIdx.x;
    data[me] = 1;
    if (device_int(*count).fetch_add(1, cuda::memory_order_acq_rel) == 2)
        r[0] = data[0] + data[1] + data[2];
}
