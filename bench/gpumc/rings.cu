// Rings of blocks with one thread each: load buffering, where each reads its neighbour's word before it writes its own, and store buffering, where it
// reads it behind that. m[64 + b]: what block b has read.
#include <cuda/atomic>

using cuda::memory_order_acquire;
using cuda::memory_order_release;
using word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

extern "C" __global__ void lb(unsigned *m)
{
    unsigned b = blockIdx.x, read = word(m[(b + 1) % gridDim.x]).load(memory_order_acquire);
    word(m[b]).store(1, memory_order_release);
    m[64 + b] = read;
}

extern "C" __global__ void sb(unsigned *m)
{
    unsigned b = blockIdx.x;
    word(m[b]).store(1, memory_order_release);
    m[64 + b] = word(m[(b + 1) % gridDim.x]).load(memory_order_acquire);
}
