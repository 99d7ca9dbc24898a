// The deque of Chase and Lev, as Le, Pop, Cohen and Zappa Nardelli have it for C11. g[0] top, g[32] bottom, g[64 + i] the items. Block 0
// pushes `pushes` items and takes `takes`; each of the others steals once. r[...]: what they got.
#include <cuda/atomic>
using cuda::memory_order_relaxed; using cuda::memory_order_acquire; using cuda::memory_order_release; using cuda::memory_order_seq_cst;
using word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

extern "C" __global__ void deque(unsigned *g, unsigned *r, unsigned pushes, unsigned takes)
{
    word top(g[0]), bottom(g[32]);
    if (blockIdx.x == 0) {
        for (unsigned i = 0; i < pushes; i++) {
            unsigned b = bottom.load(memory_order_relaxed);
            word(g[64 + b % 8]).store(11 + i, memory_order_relaxed);
            cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
            bottom.store(b + 1, memory_order_relaxed);
        }
        for (unsigned i = 0; i < takes; i++) {
            unsigned b = bottom.load(memory_order_relaxed) - 1, value = 0;
            bottom.store(b, memory_order_relaxed);
            cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_device);
            unsigned t = top.load(memory_order_relaxed);
            if ((int)(b - t) >= 0) {
                value = word(g[64 + b % 8]).load(memory_order_relaxed);
                if (t == b) {
                    if (!top.compare_exchange_strong(t, t + 1, memory_order_relaxed, memory_order_relaxed))
                        value = 0;
                    bottom.store(b + 1, memory_order_relaxed);
                }
            } else {
                bottom.store(b + 1, memory_order_relaxed);
            }
            r[i] = value;
        }
    } else {
        unsigned t = top.load(memory_order_acquire), value = 0;
        cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_device);
        unsigned b = bottom.load(memory_order_acquire);
        if ((int)(b - t) > 0) {
            value = word(g[64 + t % 8]).load(memory_order_relaxed);
            if (!top.compare_exchange_strong(t, t + 1, memory_order_relaxed, memory_order_relaxed))
                value = 0;
        }
        r[takes + blockIdx.x - 1] = value;
    }
}
