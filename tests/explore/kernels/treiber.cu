// A stack of Treiber's. g[0] head, g[32 + i] next and g[64 + i] value of node i (from 1; 0 is none). Blocks of one thread: bit 0 of
// plan[block] pushes a node of the block's own, bit 1 pops one behind that; r[block] is what it got.
#include <cuda/atomic>
using cuda::memory_order_relaxed; using cuda::memory_order_acquire; using cuda::memory_order_release; using cuda::memory_order_acq_rel;
using word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

extern "C" __global__ void treiber(unsigned *g, unsigned *r, unsigned plan)
{
    word head(g[0]);
    unsigned todo = plan >> 2 * blockIdx.x;
    if (todo & 1) {
        unsigned me = blockIdx.x + 1, h = head.load(memory_order_relaxed);
        g[64 + me] = 10 + me;
        do
            word(g[32 + me]).store(h, memory_order_relaxed);
        while (!head.compare_exchange_strong(h, me, memory_order_release, memory_order_relaxed));
    }
    if (todo & 2) {
        unsigned h = head.load(memory_order_acquire), value = 0;
        while (h) {
            unsigned next = word(g[32 + h]).load(memory_order_relaxed);
            if (head.compare_exchange_strong(h, next, memory_order_acquire, memory_order_acquire)) {
                value = g[64 + h];
                break;
            }
        }
        r[blockIdx.x] = value;
    }
}
