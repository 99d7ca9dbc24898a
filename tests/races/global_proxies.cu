// As proxies.cu, of global memory: two blocks, behind a launch that has written what they find.
#include <cudaTypedefs.h>

#include "async.cuh"

#define KERNEL __global__ __launch_bounds__(128) void
#define STORE_ALL(to, from, bytes)                                                                                     \
    do {                                                                                                               \
        STORE(to, from, bytes);                                                                                        \
        COMMIT();                                                                                                      \
    } while (0)
#define ADD(to, from, bytes)                                                                                           \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(to),               \
                 ADDRESS(from), "r"(bytes)                                                                             \
                 : "memory")
// Rows 4 to 11 of 32, columns 8 to 15 of 32.
#define LOAD_BOX(to, bar)                                                                                              \
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "  \
                 "[%4];" ::ADDRESS(to),                                                                                \
                 "l"(&map), "r"(8), "r"(4), ADDRESS(bar)                                                               \
                 : "memory")
#define FENCE_ALL()    asm volatile("fence.proxy.async;" ::: "memory")
#define FENCE_GLOBAL() asm volatile("fence.proxy.async.global;" ::: "memory")
#define TILE                                                                                                           \
    __shared__ __align__(128) int s[128];                                                                              \
    __shared__ long bar;                                                                                               \
    const int i = threadIdx.x;                                                                                         \
    if (i == 0)                                                                                                        \
    INIT(&bar, 1)
#define FIRST_BLOCK                                                                                                    \
    if (blockIdx.x)                                                                                                    \
    return

__device__ int flag;
__constant__ CUtensorMap map;

static __device__ void tell()
{
    __threadfence();
    atomicExch(&flag, 1);
}

static __device__ void await()
{
    while (!atomicAdd(&flag, 0)) {
    }
    __threadfence();
}

KERNEL written(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    a[i] = i; // race written
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar); // race written
    }
    WAIT(&bar, 0);
}

KERNEL fenced_before_the_barrier(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    a[i] = i;
    FENCE_GLOBAL();
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar);
    }
    WAIT(&bar, 0);
}

KERNEL fenced_behind_the_barrier(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    a[i] = i;
    __syncthreads();
    if (i == 37) {
        FENCE_ALL();
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar);
    }
    WAIT(&bar, 0);
}

KERNEL fenced_for_shared_memory(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    a[i] = i; // race fenced_for_shared_memory
    FENCE();
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar); // race fenced_for_shared_memory
    }
    WAIT(&bar, 0);
}

KERNEL fenced_by_some_alone(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    a[i] = i; // race fenced_by_some_alone
    if (i < 32)
        FENCE_GLOBAL();
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar); // race fenced_by_some_alone
    }
    WAIT(&bar, 0);
}

KERNEL one_thread(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    if (i == 0) {
        a[3] = 1; // race one_thread
        EXPECT(&bar, 16);
        LOAD(s, a, 16, &bar); // race one_thread
    }
    __syncthreads();
    WAIT(&bar, 0);
}

KERNEL one_thread_fences(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    if (i == 0) {
        a[3] = 1;
        FENCE_GLOBAL();
        EXPECT(&bar, 16);
        LOAD(s, a, 16, &bar);
    }
    __syncthreads();
    WAIT(&bar, 0);
}

KERNEL bytes_beside(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    if (i == 0) {
        a[4] = 1;
        EXPECT(&bar, 16);
        LOAD(s, a, 16, &bar);
    }
    __syncthreads();
    WAIT(&bar, 0);
}

KERNEL some_bytes(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    if (i < 4)
        ((char *)a)[i + 13] = 1; // race some_bytes
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 16);
        LOAD(s, a, 16, &bar); // race some_bytes
    }
    WAIT(&bar, 0);
}

KERNEL updated(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    atomicAdd(&a[i], 1); // race updated
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar); // race updated
    }
    WAIT(&bar, 0);
}

KERNEL another_block(int *a, int *b)
{
    TILE;
    if (blockIdx.x == 0)
        a[i] = i; // race another_block
    __syncthreads();
    if (i > 0)
        return;
    if (blockIdx.x == 0) {
        tell();
    } else {
        await();
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar); // race another_block
        WAIT(&bar, 0);
    }
}

KERNEL another_block_fences_where_it_writes(int *a, int *b)
{
    TILE;
    if (blockIdx.x == 0) {
        a[i] = i;
        FENCE_GLOBAL();
    }
    __syncthreads();
    if (i > 0)
        return;
    if (blockIdx.x == 0) {
        tell();
    } else {
        await();
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar);
        WAIT(&bar, 0);
    }
}

KERNEL another_block_fences_where_it_tells(int *a, int *b)
{
    TILE;
    if (blockIdx.x == 0)
        a[i] = i;
    __syncthreads();
    if (i > 0)
        return;
    if (blockIdx.x == 0) {
        FENCE_ALL();
        tell();
    } else {
        await();
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar);
        WAIT(&bar, 0);
    }
}

KERNEL one_that_was_told_fences(int *a, int *b)
{
    TILE;
    if (blockIdx.x == 0)
        a[i] = i;
    __syncthreads();
    if (i > 0)
        return;
    if (blockIdx.x == 0) {
        tell();
    } else {
        await();
        FENCE_GLOBAL();
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar);
        WAIT(&bar, 0);
    }
}

KERNEL one_fences_before_it_is_told(int *a, int *b)
{
    TILE;
    if (blockIdx.x == 0)
        a[i] = i; // race one_fences_before_it_is_told
    __syncthreads();
    if (i > 0)
        return;
    if (blockIdx.x == 0) {
        tell();
    } else {
        FENCE_GLOBAL();
        await();
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar); // race one_fences_before_it_is_told
        WAIT(&bar, 0);
    }
}

KERNEL added_to_what_was_cleared(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    s[i] = 1;
    FENCE();
    b[i] = 0; // race added_to_what_was_cleared
    __syncthreads();
    if (i == 0) {
        ADD(b, s, 512); // race added_to_what_was_cleared
        COMMIT();
        WAIT_GROUP();
    }
}

KERNEL added_to_what_was_cleared_and_fenced(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    s[i] = 1;
    b[i] = 0;
    FENCE_ALL();
    __syncthreads();
    if (i == 0) {
        ADD(b, s, 512);
        COMMIT();
        WAIT_GROUP();
    }
}

KERNEL stored_over_what_was_written(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    s[i] = 1;
    FENCE();
    b[127 - i] = 0; // race stored_over_what_was_written
    __syncthreads();
    if (i == 0) {
        STORE_ALL(b, s, 512); // race stored_over_what_was_written
        WAIT_GROUP();
    }
}

KERNEL stored_over_what_was_read(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    s[i] = b[i];
    FENCE();
    __syncthreads();
    if (i == 0) {
        STORE_ALL(b, s, 512);
        WAIT_GROUP();
    }
}

KERNEL loaded_and_stored(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar);
    }
    WAIT(&bar, 0);
    s[i] += 1;
    FENCE();
    __syncthreads();
    if (i == 0) {
        STORE_ALL(a, s, 512);
        WAIT_GROUP();
        EXPECT(&bar, 512);
        LOAD(s, a, 512, &bar);
    }
    WAIT(&bar, 1);
    b[i] = s[i];
}

KERNEL tensor_of_what_was_written(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    if (i == 0) {
        a[11 * 32 + 15] = 1; // race tensor_of_what_was_written
        EXPECT(&bar, 256);
        LOAD_BOX(s, &bar); // race tensor_of_what_was_written
    }
    __syncthreads();
    WAIT(&bar, 0);
}

KERNEL tensor_of_what_was_written_and_fenced(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    a[i + 5 * 32] = 1;
    FENCE_GLOBAL();
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 256);
        LOAD_BOX(s, &bar);
    }
    WAIT(&bar, 0);
}

KERNEL tensor_beside_what_was_written(int *a, int *b)
{
    FIRST_BLOCK;
    TILE;
    if (i == 0) {
        a[12 * 32 + 15] = a[11 * 32 + 16] = a[4 * 32 + 7] = a[3 * 32 + 8] = 1;
        EXPECT(&bar, 256);
        LOAD_BOX(s, &bar);
    }
    __syncthreads();
    WAIT(&bar, 0);
}

__global__ void fill(int *a, int *b)
{
    a[threadIdx.x] = b[threadIdx.x] = 1;
}

static bool make_map(int *a)
{
    const cuuint64_t extent[] = {32, 32}, stride[] = {128};
    const cuuint32_t box[] = {8, 8}, step[] = {1, 1};
    void *encode;
    CUtensorMap made;
    return cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, cudaEnableDefault, NULL) == cudaSuccess &&
           ((PFN_cuTensorMapEncodeTiled)encode)(&made, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, a, extent, stride, box, step,
                                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                                CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS &&
           cudaMemcpyToSymbol(map, &made, sizeof made) == cudaSuccess;
}

int main(int, char **argv)
{
    void (*kernels[])(int *, int *) = {written,
                                       fenced_before_the_barrier,
                                       fenced_behind_the_barrier,
                                       fenced_for_shared_memory,
                                       fenced_by_some_alone,
                                       one_thread,
                                       one_thread_fences,
                                       bytes_beside,
                                       some_bytes,
                                       updated,
                                       another_block,
                                       another_block_fences_where_it_writes,
                                       another_block_fences_where_it_tells,
                                       one_that_was_told_fences,
                                       one_fences_before_it_is_told,
                                       added_to_what_was_cleared,
                                       added_to_what_was_cleared_and_fenced,
                                       stored_over_what_was_written,
                                       stored_over_what_was_read,
                                       loaded_and_stored,
                                       tensor_of_what_was_written,
                                       tensor_of_what_was_written_and_fenced,
                                       tensor_beside_what_was_written};
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    if (!make_map(a))
        return 1;
    fill<<<1, 1024>>>(a, b);
    kernels[atoi(argv[1])]<<<2, 128>>>(a, b);
    return cudaDeviceSynchronize() != cudaSuccess;
}
