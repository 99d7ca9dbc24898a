// A ticket lock around a counter. g[0] next, g[32] serving, g[64] counter. Blocks of one thread, `entries` of each.
#include <cuda/atomic>
using cuda::memory_order_relaxed; using cuda::memory_order_acquire; using cuda::memory_order_release;
using word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

extern "C" __global__ void ticket(unsigned *g, unsigned entries)
{
    for (unsigned i = 0; i < entries; i++) {
        unsigned mine = word(g[0]).fetch_add(1, memory_order_relaxed);
        while (word(g[32]).load(memory_order_acquire) != mine)
            ;
        g[64] = g[64] + 1;
        word(g[32]).store(mine + 1, memory_order_release);
    }
}
