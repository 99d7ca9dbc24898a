// Lock-free structures of atomics with an order: a stack of nodes that all threads push to and pop from, and a message that is
// handed from one block to another by release and acquire.
#include "course.h"

#include <cuda/atomic>

enum { NODES = 512, EMPTY = 0xffffffff };

// The head is an index and a count of changes in one word, so that a node that left and came back is not taken for unchanged.
struct stack {
    cuda::atomic<unsigned long long, cuda::thread_scope_device> head;
    unsigned next[NODES];

    __device__ void push(unsigned node)
    {
        unsigned long long old = head.load(cuda::memory_order_relaxed), now;
        do {
            next[node] = (unsigned)old;
            now = ((old >> 32) + 1) << 32 | node;
        } while (!head.compare_exchange_weak(old, now, cuda::memory_order_release, cuda::memory_order_relaxed));
    }
    __device__ unsigned pop()
    {
        unsigned long long old = head.load(cuda::memory_order_acquire), now;
        do {
            if ((unsigned)old == EMPTY)
                return EMPTY;
            now = ((old >> 32) + 1) << 32 | next[(unsigned)old];
        } while (!head.compare_exchange_weak(old, now, cuda::memory_order_acq_rel, cuda::memory_order_acquire));
        return (unsigned)old;
    }
};

__global__ void shuffle(stack *s)
{
    s->push(blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = 0; i < 4; i++) {
        const unsigned node = s->pop();
        if (node != EMPTY)
            s->push(node);
    }
}

__global__ void drain(stack *s, int *times)
{
    for (unsigned node = s->pop(); node != EMPTY; node = s->pop())
        atomicAdd(&times[node], 1);
}

__global__ void hand_over(int *message, cuda::atomic<int, cuda::thread_scope_device> *ready, int *got)
{
    if (blockIdx.x == 0) {
        *message = 42; // plain: the release below carries it along
        ready->store(1, cuda::memory_order_release);
    } else {
        while (ready->load(cuda::memory_order_acquire) == 0)
            __nanosleep(100);
        *got = *message;
    }
}

int main()
{
    stack *s = managed<stack>(1);
    int *times = managed<int>(NODES), *message = managed<int>(2);
    auto *ready = managed<cuda::atomic<int, cuda::thread_scope_device>>(1);
    s->head.store(EMPTY);
    shuffle<<<NODES / 64, 64>>>(s);
    drain<<<4, 32>>>(s, times);
    hand_over<<<2, 1>>>(message, ready, message + 1);
    CUDA(cudaDeviceSynchronize());
    bool once = true;
    for (int i = 0; i < NODES; i++)
        once = once && times[i] == 1;
    printf("%d nodes pushed and popped by %d threads: each is there %s\n", NODES, NODES, once ? "once" : "NOT ONCE");
    printf("the message that was handed over: %d\n", message[1]);
}
