// Writes by the generic proxy, and accesses by the async proxy (PTX ISA 9.7.13.4, fence.proxy.async): the comment behind a line says in
// which kernel a fence is missing between it and the other.
#include "async.cuh"

#define KERNEL __global__ __launch_bounds__(128) void
#define STORE_ALL(to, from, bytes)                                                                                     \
    do {                                                                                                               \
        STORE(to, from, bytes);                                                                                        \
        COMMIT();                                                                                                      \
    } while (0)
#define FENCE_ALL()          asm volatile("fence.proxy.async;" ::: "memory")
#define FENCE_GLOBAL()       asm volatile("fence.proxy.async.global;" ::: "memory")
#define NAMED_BARRIER(id, n) asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory")
// 64 x 8 of 64 x 16 and 16 x 8 halves without swizzle: A in 2,048 bytes, B in 256.
#define DESCRIPTOR(p, stride)                                                                                          \
    ((uint64_t)__cvta_generic_to_shared(p) >> 4 & 0x3fff) | 8ull << 16 | (uint64_t)(stride) << 32
#define PRODUCT(a, b)                                                                                                  \
    asm volatile("{ .reg .f32 d<4>; mov.f32 d0, 0f00000000; mov.f32 d1, d0; mov.f32 d2, d0; mov.f32 d3, d0;"           \
                 "wgmma.fence.sync.aligned;"                                                                           \
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, %0, %1, 1, 1, 1, 0, 0;"          \
                 "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }" ::"l"(DESCRIPTOR(a, 16)),       \
                 "l"(DESCRIPTOR(b, 16))                                                                                \
                 : "memory")
#define TILE __shared__ __align__(128) int s[128]

KERNEL stored(int *a, int *b)
{
    TILE;
    int i = threadIdx.x;
    s[i] = i; // race stored
    __syncthreads();
    if (i == 0) {
        STORE_ALL(b, s, 512); // race stored
        WAIT_GROUP();
    }
}

KERNEL fenced_before_the_barrier(int *a, int *b)
{
    TILE;
    int i = threadIdx.x;
    s[i] = i;
    FENCE();
    __syncthreads();
    if (i == 0) {
        STORE_ALL(b, s, 512);
        WAIT_GROUP();
    }
}

KERNEL fenced_behind_the_barrier(int *a, int *b)
{
    TILE;
    int i = threadIdx.x;
    s[i] = i;
    __syncthreads();
    if (i == 37) {
        FENCE_ALL();
        STORE_ALL(b, s, 512);
        WAIT_GROUP();
    }
}

KERNEL fenced_by_one_alone_before_the_barrier(int *a, int *b)
{
    TILE;
    int i = threadIdx.x;
    s[i] = i; // race fenced_by_one_alone_before_the_barrier
    if (i == 0)
        FENCE();
    __syncthreads();
    if (i == 0) {
        STORE_ALL(b, s, 512); // race fenced_by_one_alone_before_the_barrier
        WAIT_GROUP();
    }
}

KERNEL fenced_behind_the_copy(int *a, int *b)
{
    TILE;
    int i = threadIdx.x;
    s[i] = i; // race fenced_behind_the_copy
    __syncthreads();
    if (i == 0) {
        STORE_ALL(b, s, 512); // race fenced_behind_the_copy
        FENCE();
        WAIT_GROUP();
    }
}

KERNEL fenced_for_global_memory(int *a, int *b)
{
    TILE;
    int i = threadIdx.x;
    s[i] = i; // race fenced_for_global_memory
    FENCE_GLOBAL();
    __syncthreads();
    if (i == 0) {
        STORE_ALL(b, s, 512); // race fenced_for_global_memory
        WAIT_GROUP();
    }
}

KERNEL fenced_before_the_write(int *a, int *b)
{
    TILE;
    int i = threadIdx.x;
    FENCE();
    s[i] = i; // race fenced_before_the_write
    __syncthreads();
    if (i == 0) {
        STORE_ALL(b, s, 512); // race fenced_before_the_write
        WAIT_GROUP();
    }
}

KERNEL fenced_in_the_first_pass_alone(int *a, int *b)
{
    TILE;
    int i = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        s[i] = k; // race fenced_in_the_first_pass_alone
        if (k == 0)
            FENCE();
        __syncthreads();
        if (i == 0) {
            STORE_ALL(b, s, 512); // race fenced_in_the_first_pass_alone
            WAIT_GROUP();
        }
        __syncthreads();
    }
}

KERNEL fenced_in_each_pass(int *a, int *b)
{
    TILE;
    int i = threadIdx.x;
    s[i] = 0;
    __syncthreads();
    for (int k = 0; k < 5; k++) {
        atomicAdd(&s[i ^ k], k);
        FENCE();
        __syncthreads();
        if (i == 32 * (k % 4)) {
            STORE_ALL(b, s, 512);
            WAIT_GROUP();
        }
        __syncthreads();
    }
}

KERNEL one_thread(int *a, int *b)
{
    TILE;
    if (threadIdx.x == 5) {
        s[0] = s[1] = s[2] = 0;
        s[3] = 7;                // race one_thread
        STORE_ALL(b, s + 0, 16); // race one_thread
        WAIT_GROUP();
    }
}

KERNEL one_thread_fences(int *a, int *b)
{
    TILE;
    if (threadIdx.x == 5) {
        s[0] = s[1] = s[2] = s[3] = 7;
        FENCE();
        STORE_ALL(b, s, 16);
        WAIT_GROUP();
    }
}

// The first half of the block writes and the second stores, by a barrier of some.
KERNEL named_barrier(int *a, int *b)
{
    TILE;
    int i = threadIdx.x;
    if (i < 64) {
        s[i] = i;
        FENCE();
    }
    NAMED_BARRIER(1 + i / 32 % 2, 64); // warps 0 and 2, 1 and 3
    if (i >= 64 && i % 32 == 0) {
        STORE_ALL(b + i, s + i - 64, 128);
        WAIT_GROUP();
    }
}

KERNEL mbarrier(int *a, int *b)
{
    TILE;
    __shared__ long bar;
    int i = threadIdx.x;
    if (i == 0)
        INIT(&bar, 96);
    __syncthreads();
    if (i >= 32) {
        s[i] = i;
        FENCE();
        ARRIVE(&bar);
    }
    if (i == 0) {
        WAIT(&bar, 0);
        STORE_ALL(b, s + 32, 384);
        WAIT_GROUP();
    }
}

KERNEL mbarrier_without_a_fence(int *a, int *b)
{
    TILE;
    __shared__ long bar;
    int i = threadIdx.x;
    if (i == 0)
        INIT(&bar, 96);
    __syncthreads();
    if (i >= 32) {
        s[i] = i; // race mbarrier_without_a_fence
        ARRIVE(&bar);
    }
    if (i == 0) {
        WAIT(&bar, 0);
        STORE_ALL(b, s + 32, 384); // race mbarrier_without_a_fence
        WAIT_GROUP();
    }
}

// What the async proxy has written needs no fence, for whichever reads it.
KERNEL loaded(int *a, int *b)
{
    TILE;
    __shared__ long bar;
    int i = threadIdx.x;
    if (i == 0)
        INIT(&bar, 1);
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        if (i == 0) {
            EXPECT(&bar, 512);
            LOAD(s, a, 512, &bar);
        }
        WAIT(&bar, k);
        a[i] = s[i ^ 65];
        FENCE_GLOBAL(); // of what the next pass loads
        __syncthreads();
    }
    if (i == 0) {
        STORE_ALL(b, s, 512);
        WAIT_GROUP();
    }
}

KERNEL loaded_over_what_was_written(int *a, int *b)
{
    TILE;
    __shared__ long bar;
    int i = threadIdx.x;
    s[i] = 0; // race loaded_over_what_was_written
    if (i == 0)
        INIT(&bar, 1);
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 256);
        LOAD(s, a, 256, &bar); // race loaded_over_what_was_written
    }
    WAIT(&bar, 0);
}

KERNEL written_over_what_was_loaded(int *a, int *b)
{
    TILE;
    __shared__ long bar;
    int i = threadIdx.x;
    if (i == 0)
        INIT(&bar, 1);
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar);
    }
    WAIT(&bar, 0);
    s[i] += 1; // race written_over_what_was_loaded
    __syncthreads();
    if (i == 0) {
        STORE_ALL(b, s, 512); // race written_over_what_was_loaded
        WAIT_GROUP();
    }
}

KERNEL product(int *a, int *b)
{
    __shared__ __align__(128) int m[512], n[64];
    int i = threadIdx.x;
    for (int k = i; k < 512; k += 128)
        m[k] = a[i];
    if (i < 64)
        n[i] = a[i]; // race product
    if (i >= 64)
        FENCE();
    __syncthreads();
    if (i < 32)
        FENCE();
    PRODUCT(m, n); // race product
}

KERNEL product_of_what_is_fenced(int *a, int *b)
{
    __shared__ __align__(128) int m[512], n[64];
    int i = threadIdx.x;
    for (int k = i; k < 512; k += 128)
        m[k] = a[i];
    if (i < 64)
        n[i] = a[i];
    FENCE();
    __syncthreads();
    PRODUCT(m, n);
}

KERNEL product_of_what_was_loaded(int *a, int *b)
{
    __shared__ __align__(128) int m[576];
    __shared__ long bar;
    int i = threadIdx.x;
    if (i == 0)
        INIT(&bar, 1);
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 2304);
        LOAD(m, a, 2304, &bar);
    }
    WAIT(&bar, 0);
    PRODUCT(m, m + 512);
}

int main(int, char **argv)
{
    void (*kernels[])(int *, int *) = {stored,
                                       fenced_before_the_barrier,
                                       fenced_behind_the_barrier,
                                       fenced_by_one_alone_before_the_barrier,
                                       fenced_behind_the_copy,
                                       fenced_for_global_memory,
                                       fenced_before_the_write,
                                       fenced_in_the_first_pass_alone,
                                       fenced_in_each_pass,
                                       one_thread,
                                       one_thread_fences,
                                       named_barrier,
                                       mbarrier,
                                       mbarrier_without_a_fence,
                                       loaded,
                                       loaded_over_what_was_written,
                                       written_over_what_was_loaded,
                                       product,
                                       product_of_what_is_fenced,
                                       product_of_what_was_loaded};
    return launch_one(kernels, argv[1], 128, 4096);
}
