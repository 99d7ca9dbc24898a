#pragma once
template <int L> __device__ __forceinline__ int inner_load(int *p) {
    int x = *(volatile int *)p;
    return x * 3 + *(volatile int *)(p + 100);
}
template <int L> __device__ __forceinline__ int mid_load(int *p) {
    return inner_load<L>(p) + 1;
}
template <int L> __device__ __forceinline__ void inner_store(int *p, int v) {
    *(volatile int *)p = v;
    *(volatile int *)(p + 1) = v + 1;
}
template <int L> __device__ __forceinline__ void mid_store(int *p, int v) {
    inner_store<L>(p, v);
    inner_store<L>(p + 50, v);
}
#define load mid_load<__LINE__>
#define store mid_store<__LINE__>
