// Treiber's stack: nodes 1, 2, ... with a value and a link each; top is the first one's number, 0 when the stack is empty.
// Block 0 pushes node 1 with the value 42, block 1 pops. r = {the node, the value}: {0, 0}, or {1, 42}.
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

template <cuda::memory_order success> __device__ void push(int *top, int *next, int *value, int node, int what)
{
    value[node] = what;
    int old = device_int(*top).load(cuda::memory_order_relaxed);
    do
        device_int(next[node]).store(old, cuda::memory_order_relaxed);
    while (!device_int(*top).compare_exchange_weak(old, node, success, cuda::memory_order_relaxed));
}

template <cuda::memory_order order> __device__ int pop(int *top, int *next)
{
    int old = device_int(*top).load(order);
    while (old && !device_int(*top).compare_exchange_weak(old, device_int(next[old]).load(cuda::memory_order_relaxed), order, order)) {
    }
    return old;
}

// $ heddle explore 09_treiber_stack.ptx right --grid 2 --block 1 'u32[1]' 'u32[3]' 'u32[3]' 'u32[2]+outcomes'
__global__ void right(int *top, int *next, int *value, int *r)
{
    if (blockIdx.x == 0)
        push<cuda::memory_order_release>(top, next, value, 1, 42);
    else if (int node = pop<cuda::memory_order_acquire>(top, next)) {
        r[0] = node;
        r[1] = value[node];
    }
}

// A relaxed push gives out a node before its value is there.
// $ heddle explore 09_treiber_stack.ptx relaxed_push --grid 2 --block 1 'u32[1]' 'u32[3]' 'u32[3]' 'u32[2]+outcomes'
__global__ void relaxed_push(int *top, int *next, int *value, int *r)
{
    if (blockIdx.x == 0)
        push<cuda::memory_order_relaxed>(top, next, value, 1, 42);
    else if (int node = pop<cuda::memory_order_acquire>(top, next)) {
        r[0] = node;
        r[1] = value[node];
    }
}

// ABA: the stack is 1, 2. Block 0 pops once. Block 1 pops two nodes and pushes the first one again. If that happens between block 0's look
// at the top and its compare-and-swap, node 2 is on the stack, although block 1 has it: top = 2 at the end must not be.
// $ heddle explore 09_treiber_stack.ptx aba --grid 2 --block 1 'u32[1]=1+outcomes' 'u32[3]=0,2,0' 'u32[2]+outcomes'
__global__ void aba(int *top, int *next, int *r)
{
    if (blockIdx.x == 0)
        r[0] = pop<cuda::memory_order_acquire>(top, next);
    else {
        int first = pop<cuda::memory_order_acquire>(top, next);
        r[1] = pop<cuda::memory_order_acquire>(top, next);
        if (first && r[1]) {
            device_int(next[first]).store(0, cuda::memory_order_relaxed);
            device_int(*top).store(first, cuda::memory_order_release);
        }
    }
}
