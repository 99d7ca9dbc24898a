// The queue lock of Mellor-Crummey and Scott around a counter. g[0] tail, g[32] counter, g[64 + i] locked and g[96 + i] next of thread i
// (from 1; 0 is none). Blocks of one thread, `entries` of each.
#include <cuda/atomic>
using cuda::memory_order_relaxed; using cuda::memory_order_acquire; using cuda::memory_order_release; using cuda::memory_order_acq_rel;
using word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

extern "C" __global__ void mcs(unsigned *g, unsigned entries)
{
    unsigned me = blockIdx.x + 1;
    word tail(g[0]), locked(g[64 + me]), next(g[96 + me]);
    for (unsigned i = 0; i < entries; i++) {
        next.store(0, memory_order_relaxed);
        locked.store(1, memory_order_relaxed);
        unsigned before = tail.exchange(me, memory_order_acq_rel);
        if (before) {
            word(g[96 + before]).store(me, memory_order_release);
            while (locked.load(memory_order_acquire))
                ;
        }
        g[32] = g[32] + 1;
        unsigned behind = next.load(memory_order_acquire);
        if (!behind) {
            unsigned mine = me;
            if (tail.compare_exchange_strong(mine, 0, memory_order_release, memory_order_relaxed))
                continue;
            while (!(behind = next.load(memory_order_acquire)))
                ;
        }
        word(g[64 + behind]).store(0, memory_order_release);
    }
}
