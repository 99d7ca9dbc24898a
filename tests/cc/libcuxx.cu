/* libcu++ of CCCL: what it has of the standard library, of synchronisation and of copies, in kernels and on the host. */
#include <cuda/annotated_ptr>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>

#include "tap.h"

__host__ __device__ int of_the_standard()
{
    cuda::std::array<int, 3> a{{1, 2, 3}};
    cuda::std::optional<int> none, some = 5;
    const auto [x, y] = cuda::std::make_tuple(7, 11);
    int sum = none.value_or(20) + *some + x + y;
    for (int i : cuda::std::span<int>(a.data(), 2))
        sum += i;
    const cuda::std::complex<float> c = cuda::std::complex<float>(3, 4) * cuda::std::complex<float>(3, -4);
    return sum + (int)c.real() + (cuda::std::numeric_limits<int>::max() == 0x7fffffff);
}

__global__ void standard(int *p)
{
    *p = of_the_standard();
#if CCCL_MAJOR_VERSION >= 3
    cuda::std::atomic<int> automatic(3); /* on the stack, which has no atomic instructions */
    automatic.fetch_add(4);
    p[1] = automatic.load();
#endif
}

__global__ void count(cuda::atomic<int, cuda::thread_scope_device> *a, int *plain)
{
    a->fetch_add(1, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device>(*plain).fetch_max(threadIdx.x);
}

__global__ void meet(int *p)
{
    typedef cuda::barrier<cuda::thread_scope_block> barrier_of_a_block;
    alignas(barrier_of_a_block) __shared__ char memory[sizeof(barrier_of_a_block)]; /* clang allows no constructor */
    barrier_of_a_block &barrier = *(barrier_of_a_block *)memory;
    __shared__ int sum;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        sum = 0;
    }
    __syncthreads();
    atomicAdd(&sum, threadIdx.x);
    barrier.arrive_and_wait();
    p[threadIdx.x] = sum;
}

__global__ void copy(int *to, const int *from)
{
    __shared__ int stage[64];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(stage + threadIdx.x, from + threadIdx.x, cuda::aligned_size_t<4>(4), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    cuda::annotated_ptr<int, cuda::access_property::streaming> there(to);
    there[threadIdx.x] = 2 * stage[threadIdx.x];
    pipe.consumer_release();
}

int main()
{
    int *p = shared_memory<int>(64), *q = shared_memory<int>(64);
    standard<<<1, 1>>>(p);
    CUDA(cudaDeviceSynchronize());
    CHECK(p[0] == of_the_standard() && p[0] == 20 + 5 + 7 + 11 + 3 + 25 + 1, "the standard library's types");
#if CCCL_MAJOR_VERSION >= 3 /* before, libcu++ did not look */
    CHECK(p[1] == 7, "an atomic on the stack");
#endif

    cuda::atomic<int, cuda::thread_scope_device> *a;
    CUDA(cudaMallocManaged(&a, sizeof *a));
    a->store(0);
    *q = 0;
    count<<<4, 64>>>(a, q);
    CUDA(cudaDeviceSynchronize());
    CHECK(a->load() == 256 && *q == 63, "cuda::atomic, cuda::atomic_ref");

    meet<<<1, 64>>>(p);
    CUDA(cudaDeviceSynchronize());
    CHECK(p[0] == 2016 && p[63] == 2016, "cuda::barrier");

    copy<<<1, 64>>>(q, p);
    CUDA(cudaDeviceSynchronize());
    CHECK(q[0] == 4032 && q[63] == 4032, "cuda::pipeline, cuda::annotated_ptr");
    return done();
}
