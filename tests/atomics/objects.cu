// Atomic objects with automatic storage, and an atomic addition to an array of the thread's own. nvcc -arch=sm_90 -std=c++17 -ptx
#include <cuda/atomic>

template <class T> __device__ __noinline__ int use(cuda::atomic<T, cuda::thread_scope_block> &a)
{
    int bad = 0;
    T w = 5;
    a.store(5);
    if (a.fetch_add(3) != 5)
        bad |= 1;
    if (a.exchange(9) != 8)
        bad |= 2;
    if (a.compare_exchange_strong(w, 1) || w != 9)
        bad |= 4;
    if (a.fetch_max(20) != 9 || a.load() != 20)
        bad |= 8;
    return bad;
}

extern "C" __global__ void objects(int *out)
{
    cuda::atomic<int, cuda::thread_scope_block> i;
    cuda::atomic<unsigned long long, cuda::thread_scope_block> u;
    cuda::atomic<unsigned char, cuda::thread_scope_block> c;
    out[threadIdx.x] = 1 + (use(i) | use(u) << 4 | use(c) << 8);
}

__device__ __noinline__ int *pick(int *a, int *b, int w)
{
    return w ? a : b;
}

extern "C" __global__ void array(int *out, int w)
{
    int mine[4] = {1, 2, 3, 4};
    int *p = pick(mine + (w & 3), out + threadIdx.x, threadIdx.x % 3);
    atomicAdd(p, 5 + threadIdx.x);
    out[threadIdx.x + 64] = *p;
}
