// Locks by which all threads of a grid add 1 to a plain counter, one after the other: with compare-and-swap, with tickets, with a look before the
// exchange. Each right, and with the acquire or the release taken away. m[0], m[1]: the lock, m[32]: the counter, m[64 + t]: what thread t found
// in it.
#include <cuda/atomic>

using cuda::memory_order_relaxed;
using cuda::memory_order_acquire;
using cuda::memory_order_release;
using word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__device__ void enter(unsigned *m)
{
    unsigned before = m[32];
    m[32] = before + 1;
    m[64 + blockIdx.x * blockDim.x + threadIdx.x] = before;
}

#define LOCKS(name, acquire, release)                                                                                                      \
    extern "C" __global__ void caslock##name(unsigned *m)                                                                                   \
    {                                                                                                                                      \
        for (unsigned free = 0; !word(m[0]).compare_exchange_strong(free, 1, acquire, acquire); free = 0)                                   \
            ;                                                                                                                              \
        enter(m);                                                                                                                          \
        word(m[0]).store(0, release);                                                                                                       \
    }                                                                                                                                      \
    extern "C" __global__ void ticketlock##name(unsigned *m)                                                                                \
    {                                                                                                                                      \
        unsigned mine = word(m[0]).fetch_add(1, memory_order_relaxed);                                                                      \
        while (word(m[1]).load(acquire) != mine)                                                                                            \
            ;                                                                                                                              \
        enter(m);                                                                                                                          \
        word(m[1]).store(word(m[1]).load(memory_order_relaxed) + 1, release);                                                               \
    }                                                                                                                                      \
    extern "C" __global__ void ttaslock##name(unsigned *m)                                                                                  \
    {                                                                                                                                      \
        do                                                                                                                                 \
            while (word(m[0]).load(memory_order_relaxed))                                                                                   \
                ;                                                                                                                          \
        while (word(m[0]).exchange(1, acquire));                                                                                            \
        enter(m);                                                                                                                          \
        word(m[0]).store(0, release);                                                                                                       \
    }

LOCKS(, memory_order_acquire, memory_order_release)
LOCKS(_relaxed_acquire, memory_order_relaxed, memory_order_release)
LOCKS(_relaxed_release, memory_order_acquire, memory_order_relaxed)
