/* cuda_pipeline.h, <cuda/pipeline>, <cuda/barrier>, memcpy_async of both and of cooperative groups; in bulk from sm_90 on. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>

#include "tap.h"

namespace cg = cooperative_groups;

// a thread's groups of copies; zeroes behind what is read
__global__ void primitives(const int *in, int *out)
{
    __shared__ int4 a[2][64];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&a[0][t], &((const int4 *)in)[t], 16);
    __pipeline_commit();
    __pipeline_memcpy_async(&a[1][t], &((const int4 *)in)[t], 16, 4);
    __pipeline_memcpy_async(&a[1][t].x, &in[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    int sum = a[0][t].x + a[0][t].w;
    __pipeline_wait_prior(0);
    out[t] = sum + 10000 * a[1][t].x + 100000 * (a[1][t].w == 0 && a[1][t].y == a[0][t].y);
}

// all threads of a block produce and consume
// a barrier by its functions: for a thread's copies, by tokens and by parity; half of the threads leave it
__global__ void barriers(const int *in, int *out)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    __shared__ __mbarrier_t barrier;
    __shared__ int a[64];
    const unsigned t = threadIdx.x;
    if (t == 0)
        __mbarrier_init(&barrier, 64);
    __syncthreads();
    __pipeline_memcpy_async(&a[t], &in[t], 4);
    __pipeline_arrive_on(&barrier);
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token))
        ;
    const int first = a[t ^ 63];
    token = t < 32 ? __mbarrier_arrive_and_drop(&barrier) : __mbarrier_arrive(&barrier);
    while (!__mbarrier_try_wait_parity(&barrier, true, 100))
        ;
    if (t >= 32) {
        a[t] = in[t] + first;
        token = __mbarrier_arrive(&barrier);
        while (!__mbarrier_try_wait(&barrier, token, 100))
            ;
        out[t] = a[t ^ 1];
        token = __mbarrier_arrive(&barrier);
        while (!__mbarrier_test_wait_parity(&barrier, true))
            ;
    } else
        out[t] = first + (int)__mbarrier_maximum_count();
    __syncthreads();
    if (t == 0) {
        __mbarrier_inval(&barrier);
        __mbarrier_init(&barrier, 5);
        (void)__mbarrier_arrive(&barrier);
        out[64] = (int)__mbarrier_token_pending_count(__mbarrier_arrive(&barrier));
    }
#endif
}

template <int STAGES> __global__ void unified(const int *in, int *out, int batches)
{
    extern __shared__ int buffer[];
    auto block = cg::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int c = 0, f = 0; c < batches; c++) {
        for (; f < batches && f < c + STAGES; f++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer + f % STAGES * block.size(), in + f * block.size(),
                               sizeof(int) * block.size(), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += buffer[c % STAGES * block.size() + (block.thread_rank() ^ 1)];
        pipe.consumer_release();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void of_a_thread(const int4 *in, int4 *out, int batches)
{
    __shared__ int4 buffer[2][128];
    auto pipe = cuda::make_pipeline();
    int4 sum = {0, 0, 0, 0};
    auto fetch = [&](int f) {
        pipe.producer_acquire();
        if (f < batches)
            cuda::memcpy_async(&buffer[f & 1][threadIdx.x], in + f * 128 + threadIdx.x, cuda::aligned_size_t<16>(16),
                               pipe);
        pipe.producer_commit();
    };
    fetch(0);
    fetch(1);
    for (int c = 0; c < batches; c++) {
        if (c % 2)
            pipe.consumer_wait();
        else
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        int4 v = buffer[c & 1][threadIdx.x];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        pipe.consumer_release();
        fetch(c + 2);
    }
    out[threadIdx.x] = sum;
}

// one warp copies, two add up
__global__ void roles(const int *in, int *out, int batches)
{
    constexpr int STAGES = 3;
    __shared__ int buffer[STAGES][64];
    auto block = cg::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto role = block.thread_rank() < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    if (role == cuda::pipeline_role::producer) {
        for (int b = 0; b < batches; b++) {
            pipe.producer_acquire();
            for (int k = threadIdx.x; k < 64; k += 32)
                cuda::memcpy_async(&buffer[b % STAGES][k], in + b * 64 + k, sizeof(int), pipe);
            pipe.producer_commit();
        }
    } else {
        int sum = 0, t = threadIdx.x - 32;
        for (int b = 0; b < batches; b++) {
            pipe.consumer_wait();
            sum += buffer[b % STAGES][63 - t];
            pipe.consumer_release();
        }
        out[t] = sum;
    }
}

// 1021 bytes at an odd address are copied one by one, the others in whole units
__global__ void groups(const int *in, int *out, char *bytes)
{
    __shared__ int a[2][256];
    __shared__ char b[1024];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, a[0], in, sizeof a[0]);
    cg::memcpy_async(block, a[1], 256, in + 256, 255);
    cg::wait_prior<1>(block);
    out[threadIdx.x] = a[0][255 - threadIdx.x];
    cg::wait(block);
    out[threadIdx.x] += threadIdx.x ? a[1][255 - threadIdx.x] : 0;
    cg::memcpy_async(block, b + 1, (const char *)in + 1, 1021);
    cg::wait(block);
    for (int i = threadIdx.x; i < 1021; i += 256)
        bytes[i] = b[i + 1];
}

typedef cuda::barrier<cuda::thread_scope_block> barrier;

// phases of a barrier in shared memory, and in global: tokens, parities, threads that leave, copies that it hears of
__global__ void phases(const int *in, int *out, barrier *global)
{
    __shared__ int a[2][64];
    __shared__ barrier shared;
    barrier &b = global ? *global : shared;
    if (threadIdx.x == 0)
        init(&b, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&a[0][threadIdx.x], &in[threadIdx.x], sizeof(int), b);
    barrier::arrival_token token = b.arrive();
    b.wait(std::move(token));
    int sum = a[0][threadIdx.x ^ 63];
    cuda::memcpy_async(cg::this_thread_block(), a[1], in + 64, sizeof a[1], b);
    (void)b.arrive();
    b.wait_parity(true);
    sum += a[1][threadIdx.x ^ 62];
    if (threadIdx.x >= 32) {
        b.arrive_and_drop();
    } else {
        b.arrive_and_wait();
        b.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}

__global__ void bulk(const int *in, int *out)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    alignas(16) __shared__ int a[256];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_global_to_shared(a, in + 256 * blockIdx.x, sizeof a, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof a);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    a[threadIdx.x] += 1;
    cuda::device::experimental::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_shared_to_global(out + 256 * blockIdx.x, a, sizeof a);
        cuda::device::experimental::cp_async_bulk_commit_group();
        cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
    }
#else
    out[256 * blockIdx.x + threadIdx.x] = in[256 * blockIdx.x + threadIdx.x] + 1;
#endif
}

template <class F> static bool all(int n, F holds)
{
    for (int i = 0; i < n; i++)
        if (!holds(i))
            return false;
    return true;
}

int main()
{
    const int n = 1 << 14;
    int *in = shared_memory<int>(n), *out = shared_memory<int>(n);
    char *bytes = shared_memory<char>(1024);
    barrier *global = (barrier *)shared_memory<long long>(8);
    for (int i = 0; i < n; i++)
        in[i] = i * 7 % 1000;
    auto sum_of = [&](int first, int step, int batches) {
        int sum = 0;
        for (int b = 0; b < batches; b++)
            sum += in[first + b * step];
        return sum;
    };

    primitives<<<1, 64>>>(in, out);
    CUDA(cudaDeviceSynchronize());
    CHECK(all(64, [&](int t) { return out[t] == in[4 * t] + in[4 * t + 3] + 10000 * in[t] + 100000; }),
          "groups of a thread's copies");
    cudaFuncAttributes attributes;
    CUDA(cudaFuncGetAttributes(&attributes, barriers));
    barriers<<<1, 64>>>(in, out);
    CUDA(cudaDeviceSynchronize());
    CHECK(attributes.ptxVersion < 80 || all(64, [&](int t) {
        return out[t] == (t < 32 ? in[t ^ 63] + (1 << 14) - 1 : in[t ^ 1] + in[t ^ 1 ^ 63]);
    }) && out[64] == 4, "barriers by their functions");
    unified<2><<<2, 64, 2 * 64 * 4>>>(in, out, 16);
    CUDA(cudaDeviceSynchronize());
    CHECK(all(128, [&](int t) { return out[t] == sum_of(t % 64 ^ 1, 64, 16); }), "a pipeline of two stages");
    unified<1><<<2, 64, 64 * 4>>>(in, out, 16);
    CUDA(cudaDeviceSynchronize());
    CHECK(all(128, [&](int t) { return out[t] == sum_of(t % 64 ^ 1, 64, 16); }), "a pipeline of one stage");
    of_a_thread<<<1, 128>>>((int4 *)in, (int4 *)out, 8);
    CUDA(cudaDeviceSynchronize());
    CHECK(all(512, [&](int t) { return out[t] == sum_of(t, 512, 8); }), "a pipeline of a thread");
    roles<<<1, 96>>>(in, out, 20);
    CUDA(cudaDeviceSynchronize());
    CHECK(all(64, [&](int t) { return out[t] == sum_of(63 - t, 64, 20); }), "producers and consumers");
    groups<<<1, 256>>>(in, out, bytes);
    CUDA(cudaDeviceSynchronize());
    CHECK(all(256, [&](int t) { return out[t] == in[255 - t] + (t ? in[511 - t] : 0); }), "copies by a group");
    CHECK(all(1021, [&](int i) { return bytes[i] == ((char *)in)[i + 1]; }), "a copy at odd addresses");
    for (barrier *b : {(barrier *)nullptr, global}) {
        phases<<<1, 64>>>(in, out, b);
        CUDA(cudaDeviceSynchronize());
        CHECK(all(64, [&](int t) { return out[t] == in[t ^ 63] + in[64 + (t ^ 62)]; }),
              "phases of a barrier in %s memory", b ? "global" : "shared");
    }
    bulk<<<4, 256>>>(in, out);
    CUDA(cudaDeviceSynchronize());
    CHECK(all(1024, [&](int t) { return out[t] == in[t] + 1; }), "copies in bulk");
    return done();
}
