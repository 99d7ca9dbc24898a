// Chase and Lev's deque. g[0] top (1), g[32] bottom (3), g[64+i] element i (elements 1 and 2 are there: 11, 12). Block 0, the owner,
// takes two; block 1, the thief, tries twice. r[0], r[1] what was taken, r[2], r[3] stolen (0: nothing). No element twice.
// BUG 1: fences acq_rel, not seq_cst. 2: the fences are the block's. 3: the thief's compare-and-swap is in the scope of the block. 4: the owner does not compare and swap for the last one.
// Variant 0 is right. Kernels: deque_0, deque_1, deque_2, deque_3, deque_4.
#ifndef BUG
#include <cuda/atomic>
using cuda::memory_order_relaxed; using cuda::memory_order_acquire; using cuda::memory_order_release; using cuda::memory_order_acq_rel; using cuda::memory_order_seq_cst;
template <cuda::thread_scope S = cuda::thread_scope_device> using ref = cuda::atomic_ref<unsigned, S>;
#define REQUIRE(c) do { if (!(c)) __trap(); } while (0)
#define NAME2(n, b) n##_##b
#define NAME1(n, b) NAME2(n, b)
#define NAME(n) NAME1(n, BUG)
#define BUG 0
#include "deque.cu"
#undef BUG
#define BUG 1
#include "deque.cu"
#undef BUG
#define BUG 2
#include "deque.cu"
#undef BUG
#define BUG 3
#include "deque.cu"
#undef BUG
#define BUG 4
#include "deque.cu"
#undef BUG
#else
#if BUG == 1
#define FENCE() cuda::atomic_thread_fence(memory_order_acq_rel, cuda::thread_scope_device)
#elif BUG == 2
#define FENCE() cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_block)
#else
#define FENCE() cuda::atomic_thread_fence(memory_order_seq_cst, cuda::thread_scope_device)
#endif
extern "C" __global__ void NAME(deque)(unsigned *g, unsigned *r)
{
    ref<> top(g[0]), bottom(g[32]);
    if (blockIdx.x == 0) {
#pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned b = bottom.load(memory_order_relaxed) - 1;
            bottom.store(b, memory_order_relaxed);
            FENCE();
            unsigned t = top.load(memory_order_relaxed), x = 0;
            if (t <= b) {
                x = ref<>(g[64 + b]).load(memory_order_relaxed);
                if (t == b) {
#if BUG != 4
                    if (!top.compare_exchange_strong(t, t + 1, memory_order_acq_rel, memory_order_relaxed)) x = 0;
#endif
                    bottom.store(b + 1, memory_order_relaxed);
                }
            } else
                bottom.store(b + 1, memory_order_relaxed);
            r[k] = x;
        }
    } else {
#pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned t = top.load(memory_order_acquire);
            FENCE();
            unsigned b = bottom.load(memory_order_acquire), x = 0;
            if (t < b) {
                x = ref<>(g[64 + t]).load(memory_order_relaxed);
#if BUG == 3
                if (!ref<cuda::thread_scope_block>(g[0]).compare_exchange_strong(t, t + 1, memory_order_acq_rel, memory_order_relaxed)) x = 0;
#else
                if (!top.compare_exchange_strong(t, t + 1, memory_order_acq_rel, memory_order_relaxed)) x = 0;
#endif
            }
            r[2 + k] = x;
        }
    }
}
#undef FENCE
#endif
