/* Lists in the heap of kernels: what is allocated and freed on the way. */
#include <stdio.h>

struct node {
    node *next;
    int v;
};

__global__ void lists(int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int round = 0; round < n; round++) {
        node *head = NULL;
        for (int i = 0; i < 4; i++) {
            node *p = (node *)malloc(sizeof(node));
            p->v = i * t + round;
            p->next = head;
            head = p;
        }
        s[t] = head->v;
        __syncthreads();
        sum += s[t ^ 1];
        __syncthreads();
        while (head) {
            node *next = head->next;
            sum += head->v;
            free(head);
            head = next;
        }
    }
    char *large = t ? NULL : (char *)malloc(3 << 20);
    if (t == 0)
        large[1 << 20] = 7;
    __syncthreads();
    free(large);
    out[blockIdx.x * 64 + t] = sum;
    if (t == 5)
        printf("block %d: %d\n", blockIdx.x, sum);
}
