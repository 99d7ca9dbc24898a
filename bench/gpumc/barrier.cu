// The barrier of a grid by Xiao and Feng: thread t of block 0 waits for the flag of block t + 1, resets it behind the block's barrier, and with
// that lets block t + 1 go on. Before it each thread writes its word, m[64 + t], and behind it adds all of them up, m[128 + t]. Right, and with one
// of the four orders relaxed.
#include <cuda/atomic>

using cuda::memory_order_relaxed;
using cuda::memory_order_acquire;
using cuda::memory_order_release;
using word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

template <cuda::memory_order gather, cuda::memory_order let_go, cuda::memory_order arrive, cuda::memory_order leave>
__device__ void cross(unsigned *m)
{
    unsigned t = threadIdx.x, b = blockIdx.x, me = b * blockDim.x + t, n = gridDim.x * blockDim.x, sum = 0;
    m[64 + me] = 1;
    if (b == 0) {
        if (t + 1 < gridDim.x)
            while (word(m[t + 1]).load(gather) == 0)
                ;
        __syncthreads();
        if (t + 1 < gridDim.x)
            word(m[t + 1]).store(0, let_go);
    } else {
        __syncthreads();
        if (t == 0) {
            word(m[b]).store(1, arrive);
            while (word(m[b]).load(leave) == 1)
                ;
        }
        __syncthreads();
    }
    for (unsigned i = 0; i < n; i++)
        sum += m[64 + i];
    m[128 + me] = sum;
}

#define XF(name, gather, let_go, arrive, leave)                                                                                            \
    extern "C" __global__ void xf##name(unsigned *m)                                                                                        \
    {                                                                                                                                      \
        cross<memory_order_##gather, memory_order_##let_go, memory_order_##arrive, memory_order_##leave>(m);                                \
    }
XF(, acquire, release, release, acquire)
XF(_relaxed_acquire, relaxed, release, release, relaxed)
XF(_relaxed_release, acquire, relaxed, relaxed, acquire)
