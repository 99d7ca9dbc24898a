// Decoupled look-back: a scan in one pass. Each block publishes its inclusive prefix for the next one, which waits for it.
// Block b adds b + 1, so that the prefixes must be {1, 3, 6}.
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

// A value and its flag: released and acquired.
// $ heddle explore 08_look_back.ptx right --grid 3 --block 1 'u32[3]+outcomes' 'u32[3]'
__global__ void right(int *prefix, int *ready)
{
    int b = blockIdx.x, sum = b + 1;
    if (b > 0) {
        while (!device_int(ready[b - 1]).load(cuda::memory_order_acquire)) {
        }
        sum += prefix[b - 1];
    }
    prefix[b] = sum;
    device_int(ready[b]).store(1, cuda::memory_order_release);
}

// The flag is volatile and the value is not fenced: the next block may add what is not there yet.
// $ heddle explore 08_look_back.ptx volatile_flag --grid 3 --block 1 'u32[3]+outcomes' 'u32[3]'
__global__ void volatile_flag(volatile int *prefix, volatile int *ready)
{
    int b = blockIdx.x, sum = b + 1;
    if (b > 0) {
        while (!ready[b - 1]) {
        }
        sum += prefix[b - 1];
    }
    prefix[b] = sum;
    ready[b] = 1;
}

// Value and flag in one word need no order at all: one relaxed access has both. The flag is the lowest bit, so {3, 7, 13} say 1, 3, 6.
// $ heddle explore 08_look_back.ptx one_word --grid 3 --block 1 'u32[3]+outcomes'
__global__ void one_word(unsigned *state)
{
    using word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
    unsigned b = blockIdx.x, sum = b + 1, before;
    if (b > 0) {
        while (!((before = word(state[b - 1]).load(cuda::memory_order_relaxed)) & 1)) {
        }
        sum += before >> 1;
    }
    word(state[b]).store(sum << 1 | 1, cuda::memory_order_relaxed);
}
