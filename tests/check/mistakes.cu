// Kernels with one mistake each, which the checker finds, and some with none. What it should say stands beside this
// file, in <kernel>.txt. Compiled to mistakes.ptx by: nvcc -ptx -arch=sm_75 -lineinfo mistakes.cu
typedef unsigned int u32;
#define KERNEL extern "C" __global__ void

// ---- no mistake ----

KERNEL clean_reduction(u32 *out)
{
    __shared__ u32 sum[64];
    sum[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    for (u32 n = 32; n > 0; n /= 2) {
        if (threadIdx.x < n)
            sum[threadIdx.x] += sum[threadIdx.x + n];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[0] = sum[0];
}

KERNEL clean_early_exit(u32 *out)
{
    if (threadIdx.x >= 40)
        return;
    __syncthreads();
    out[threadIdx.x] = __ballot_sync(__activemask(), threadIdx.x & 1);
}

KERNEL clean_heap(u32 *out)
{
    u32 *p = (u32 *)malloc(16);
    p[0] = threadIdx.x;
    out[threadIdx.x] = p[0];
    free(p);
}

KERNEL clean_local(u32 *out)
{
    u32 a[16];
    for (u32 i = 0; i < 16; i++)
        a[(i * 5 + threadIdx.x) % 16] = i;
    out[threadIdx.x] = a[out[threadIdx.x] % 16];
}

// ---- memory ----

KERNEL three_bad_accesses(u32 *out)
{
    out[1024 + threadIdx.x] = 1;
    u32 v = *(volatile u32 *)((char *)out + 4 * threadIdx.x + 1);
    out[threadIdx.x] = v + *(volatile u32 *)(unsigned long long)(16 * threadIdx.x);
}

KERNEL shared_never_written(u32 *out)
{
    __shared__ u32 tile[64];
    out[threadIdx.x] = tile[threadIdx.x];
}

// The barrier between the writes and the reads is missing: some threads read what others have not written yet.
KERNEL shared_read_too_early(u32 *out)
{
    __shared__ u32 tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

KERNEL shared_partly_written(u32 *out)
{
    __shared__ u32 tile[65];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + 1];
}

KERNEL local_never_written(u32 *out)
{
    u32 a[16];
    if (out[5] == 12345)
        for (u32 i = 0; i < 16; i++)
            a[i] = i;
    asm volatile("" ::"l"(a) : "memory");
    out[threadIdx.x] = a[out[threadIdx.x] % 16];
}

KERNEL heap_never_written(u32 *out)
{
    u32 *p = (u32 *)malloc(16);
    p[0] = 1;
    out[threadIdx.x] = p[1];
    free(p);
}

KERNEL heap_leak(u32 *out)
{
    u32 *p = (u32 *)malloc(100);
    *p = 1;
    if (threadIdx.x % 2)
        free(p);
    out[threadIdx.x] = 1;
}

// ---- barriers and masks ----

KERNEL barrier_in_both_branches(u32 *out)
{
    if (threadIdx.x % 2)
        __syncthreads();
    else
        asm volatile("bar.sync 0;");
    out[threadIdx.x] = 1;
}

KERNEL barrier_with_two_counts(u32 *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.arrive 1, 96;");
    out[threadIdx.x] = 1;
}

KERNEL not_in_its_mask(u32 *out)
{
    out[threadIdx.x] = __ballot_sync(0x0000ffff, threadIdx.x & 1);
}

KERNEL shuffles_from_outside(u32 *out)
{
    if (threadIdx.x % 32 < 16)
        out[threadIdx.x] = __shfl_down_sync(0x0000ffff, threadIdx.x, 8);
}

KERNEL shuffles_from_the_exited(u32 *out)
{
    if (threadIdx.x % 32 >= 20)
        return;
    out[threadIdx.x] = __shfl_xor_sync(0xffffffff, threadIdx.x, 16);
}
