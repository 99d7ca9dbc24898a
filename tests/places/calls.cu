#include "calls.cuh"
__global__ void a(int *p, int *q, int n) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int x = load(p + i);
        int y = load(q + i);
        store(p + i + 7, x);
        if (x > y)
            store(q + i, y);
        else
            store(q + i + 1, x);
    }
}
__global__ void b(int *p, int *q, int n) {
    for (int i = 0; i < n; i++) {
        int x = load(p + i);
        int y = load(q + i);
        int z = load(q + i + n);
        if (x == 3) continue;
        store(p + i + 7, x + z);
        for (int k = 0; k < 3; k++) {
            store(q + k, load(p + 3 * k));
            y += load(p + k);
        }
        if (x > y)
            store(q + i, y);
    }
    store(p, load(q));
}
__device__ __forceinline__ int user(int *p, int k) {
    int s = load(p);
    s += load(p + k);
    if (s & 1) store(p, s);
    return s;
}
__global__ void c(int *p, int *q, int n) {
    int s = 0;
#pragma unroll 4
    for (int i = 0; i < n; i++) {
        s += user(p + i, 5);
        s += user(q + i, 6);
        if (s > 100) s -= user(p + 2 * i, s);
    }
    *p = s;
}
