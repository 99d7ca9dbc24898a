// Kernels that hang or fault on purpose. The report expected of each stands beside this file, in <kernel>.txt.
// Compiled to faults.ptx by: nvcc -ptx -arch=sm_75 -lineinfo faults.cu
#include <cassert>
typedef unsigned int u32;
#define KERNEL extern "C" __global__ void

__constant__ u32 table[4];

// ---- nobody comes ----

KERNEL warps_at_two_barriers(u32 *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1;");
    else
        asm volatile("bar.sync 2;");
    out[0] = 1;
}

KERNEL halves_at_two_barriers(u32 *out)
{
    if (threadIdx.x < 16)
        asm volatile("barrier.sync 0;");
    else
        asm volatile("barrier.sync 1;");
    out[0] = 1;
}

// The lecture's question: can __syncthreads() hang? Where the others go on to wait elsewhere, it does.
KERNEL barrier_in_a_branch(u32 *out)
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        asm volatile("bar.sync 1, 64;");
    out[0] = 1;
}

KERNEL barrier_for_too_many(u32 *out)
{
    asm volatile("bar.sync 3, 128;");
    out[0] = 1;
}

KERNEL mask_names_waiting_lane(u32 *out)
{
    if (threadIdx.x == 0)
        __syncthreads();
    else
        out[threadIdx.x] = __shfl_sync(0xffffffff, threadIdx.x, 3);
    out[0] = 1;
}

KERNEL masks_differ(u32 *out)
{
    if (threadIdx.x < 16)
        __syncwarp(0xffffffff);
    else
        __syncwarp(0xfffffffe);
    out[0] = 1;
}

// ---- spins ----

KERNEL spin_on_shared(u32 *out)
{
    __shared__ volatile u32 flag;
    flag = 0;
    __syncthreads();
    while (flag == 0)
        ;
    out[0] = 1;
}

KERNEL spin_on_global(u32 *out)
{
    while (*(volatile u32 *)&out[1] == 0)
        ;
    out[0] = 1;
}

KERNEL lock_never_released(u32 *out)
{
    while (atomicCAS(&out[1], 0, 1) != 0)
        ;
    out[0]++;
}

KERNEL blocks_wait_in_a_ring(u32 *out)
{
    if (threadIdx.x == 0) {
        while (*(volatile u32 *)&out[1 + (blockIdx.x + 1) % gridDim.x] == 0)
            ;
        *(volatile u32 *)&out[1 + blockIdx.x] = 1;
    }
    __syncthreads();
    out[0] = 1;
}

KERNEL empty_loop(u32 *out)
{
    asm volatile("L: bra L;");
    out[0] = 1;
}

KERNEL one_lane_spins_rest_at_barrier(u32 *out)
{
    __shared__ volatile u32 flag;
    if (threadIdx.x == 5)
        while (flag == 0x12345678)
            ;
    if (threadIdx.x == 6)
        while (*(volatile u32 *)&out[1] == 0)
            ;
    __syncthreads();
    out[0] = 1;
}

// ---- faults ----

KERNEL past_the_end(u32 *out)
{
    out[1024 + threadIdx.x + 4] = 1;
}

KERNEL null_pointer(u32 *out)
{
    u32 *p = (u32 *)(unsigned long long)out[5];
    *p = 1;
}

KERNEL misaligned(u32 *out)
{
    *(u32 *)((char *)out + 4 * threadIdx.x + 2) = 1;
}

KERNEL past_shared(u32 *out)
{
    extern __shared__ u32 buffer[];
    buffer[threadIdx.x * 8] = 1;
    out[0] = buffer[0];
}

KERNEL past_local(u32 *out)
{
    u32 a[8];
    for (int i = 0; i < 8; i++)
        a[i] = i;
    out[0] = a[out[7] + 100000];
}

__device__ __noinline__ void add_one(u32 *p)
{
    asm volatile("{ .reg .u32 t; atom.global.add.u32 t, [%0], 1; }" ::"l"(p) : "memory");
}

KERNEL atomic_on_local(u32 *out)
{
    u32 local = threadIdx.x;
    add_one(&local);
    out[0] = local;
}

__device__ __noinline__ u32 descend(u32 *out, u32 n)
{
    volatile u32 pad[64];
    pad[n % 64] = n;
    return out[9] == 7 ? 0 : descend(out, n + 1) + pad[n % 64];
}

KERNEL endless_recursion(u32 *out)
{
    out[0] = descend(out, 0);
}

KERNEL bad_function_pointer(u32 *out)
{
    void (*f)(u32 *) = (void (*)(u32 *))(unsigned long long)(out[5] + 0x1234);
    f(out);
}

KERNEL executes_trap(u32 *out)
{
    if (threadIdx.x == 17)
        __trap();
    out[0] = 1;
}

KERNEL fails_assertion(u32 *out)
{
    assert(out[threadIdx.x] == threadIdx.x % 3);
}

KERNEL writes_constant(u32 *out)
{
    u32 *p = (u32 *)table;
    asm volatile("st.u32 [%0], 1;" ::"l"(p) : "memory");
    out[0] = table[0];
}

KERNEL barrier_sixteen(u32 *out)
{
    asm volatile("bar.sync %0;" ::"r"(out[3] + 16));
}

KERNEL frees_twice(u32 *out)
{
    void *p = malloc(100);
    free(p);
    free(p);
    out[0] = 1;
}

KERNEL uses_freed_memory(u32 *out)
{
    u32 *p = (u32 *)malloc(100);
    free(p);
    p[3] = 1;
    out[0] = 1;
}

KERNEL runs_for_ever(u32 *out)
{
    for (u32 i = 0; out[1] + i != 5; i += 2)
        out[2] = i;
}
