// A spin lock guards a plain counter. With two blocks the counter must be 2 at the end, and nothing may race.
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;
using block_int = cuda::atomic_ref<int, cuda::thread_scope_block>;

// atomicCAS and atomicExch are relaxed: the lock is held by one thread at a time, and yet what it guards is not ordered.
// $ heddle explore 05_spin_lock.ptx relaxed --grid 2 --block 1 'u32[1]' 'u32[1]+outcomes'
__global__ void relaxed(int *lock, int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *counter += 1;
    atomicExch(lock, 0);
}

// With a __threadfence() behind the one and before the other it is a lock.
// $ heddle explore 05_spin_lock.ptx threadfence --grid 2 --block 1 'u32[1]' 'u32[1]+outcomes'
__global__ void threadfence(int *lock, int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
}

// In cuda::atomic's words: acquire where it is taken, release where it is given back.
// $ heddle explore 05_spin_lock.ptx acquire_release --grid 2 --block 1 'u32[1]' 'u32[1]+outcomes'
__global__ void acquire_release(int *lock, int *counter)
{
    int free = 0;
    while (!device_int(*lock).compare_exchange_weak(free, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed))
        free = 0;
    *counter += 1;
    device_int(*lock).store(0, cuda::memory_order_release);
}

// A lock by exchange() writes in each round that fails, but only the 1 that it has read. No other access of the lock can tell whether such
// rounds have been, so that they are left out of executions, as rounds that only read are.
// $ heddle explore 05_spin_lock.ptx exchange --grid 2 --block 1 'u32[1]' 'u32[1]+outcomes'
__global__ void exchange(int *lock, int *counter)
{
    while (device_int(*lock).exchange(1, cuda::memory_order_acquire) != 0) {
    }
    *counter += 1;
    device_int(*lock).store(0, cuda::memory_order_release);
}

// The fence behind the release's place: the next holder may come before our write.
// $ heddle explore 05_spin_lock.ptx fence_too_late --grid 2 --block 1 'u32[1]' 'u32[1]+outcomes'
__global__ void fence_too_late(int *lock, int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *counter += 1;
    atomicExch(lock, 0);
    __threadfence();
}

// A lock of block scope between two blocks is no lock: its compare-and-swap is a read and a write, and both blocks may come in.
// $ heddle explore 05_spin_lock.ptx block_scope --grid 2 --block 1 'u32[1]' 'u32[1]+outcomes'
__global__ void block_scope(int *lock, int *counter)
{
    int free = 0;
    while (!block_int(*lock).compare_exchange_strong(free, 1, cuda::memory_order_acquire))
        free = 0;
    *counter += 1;
    block_int(*lock).store(0, cuda::memory_order_release);
}
