// A stack without a lock: a thread that loses the race for the top tries again, and some thread always wins.
// `heddle explain ./15_lock_free_stack` says what the losers cost: "change the same address, one after the other". On the page:
// "Atomics: contention".
#include "course.h"

const int NODES = 2048;

struct Node {
    int value, next; // an index, -1 at the end
};

__global__ void push(Node *nodes, int *top)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    nodes[i].value = i * i;
    int seen = *(volatile int *)top, expected;
    do {
        expected = seen;
        nodes[i].next = expected;
        __threadfence(); // the node is whole before anybody can find it
        seen = atomicCAS(top, expected, i);
    } while (seen != expected);
}

int main()
{
    Node *nodes = managed<Node>(NODES);
    int *top = managed<int>(1), found = 0;
    long long sum = 0, want = 0;
    *top = -1;
    push<<<NODES / 128, 128>>>(nodes, top);
    CHECK_LAUNCH();
    for (int i = *top; i >= 0 && found <= NODES; i = nodes[i].next, found++)
        sum += nodes[i].value;
    for (int i = 0; i < NODES; i++)
        want += (long long)i * i;
    printf("%d threads have pushed; %d nodes hang together\n", NODES, found);
    expect(found == NODES && sum == want, "every node is there once");
}
