/* CUB's and Thrust's algorithms on the device, of as many elements as the argument says, each held against std::'s. */
#include "tap.h"

#include <cub/cub.cuh>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

typedef std::vector<unsigned> numbers;

struct is_odd {
    __host__ __device__ bool operator()(unsigned x) const
    {
        return x & 1;
    }
};

struct mixed {
    __host__ __device__ unsigned operator()(unsigned x) const
    {
        return x * 2654435761u ^ x >> 7;
    }
};

static numbers random_numbers(size_t n, unsigned below)
{
    numbers v(n);
    unsigned x = 12345;
    for (unsigned &y : v)
        y = (x = x * 1664525 + 1013904223) / 7 % below;
    return v;
}

/* Calls an algorithm of CUB's twice, as it wants: for the size of its temporary memory, and with that. */
template <class F> static void with_memory(F f)
{
    void *memory = nullptr;
    size_t bytes = 0;
    CUDA(f(memory, bytes));
    CUDA(cudaMalloc(&memory, bytes));
    CUDA(f(memory, bytes));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(memory));
}

static void sorts_of_cub(const numbers &in)
{
    const int n = (int)in.size();
    const thrust::device_vector<unsigned> keys(in.begin(), in.end());
    thrust::device_vector<unsigned> sorted(n), places(n);
    thrust::device_vector<int> order(n);
    for (int begin_bit : {0, 8}) {
        numbers expected = in;
        std::stable_sort(expected.begin(), expected.end(),
                         [=](unsigned a, unsigned b) { return a >> begin_bit < b >> begin_bit; });
        with_memory([&](void *memory, size_t &bytes) {
            return cub::DeviceRadixSort::SortKeys(memory, bytes, thrust::raw_pointer_cast(keys.data()),
                                                  thrust::raw_pointer_cast(sorted.data()), n, begin_bit, 32);
        });
        numbers got(n);
        thrust::copy(sorted.begin(), sorted.end(), got.begin());
        CHECK(got == expected, begin_bit ? "DeviceRadixSort of some bits" : "DeviceRadixSort");
    }
    std::vector<int> index(n), got(n);
    std::iota(index.begin(), index.end(), 0);
    const thrust::device_vector<int> values(index.begin(), index.end());
    std::stable_sort(index.begin(), index.end(), [&](int a, int b) { return in[a] > in[b]; });
    with_memory([&](void *memory, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairsDescending(
            memory, bytes, thrust::raw_pointer_cast(keys.data()), thrust::raw_pointer_cast(sorted.data()),
            thrust::raw_pointer_cast(values.data()), thrust::raw_pointer_cast(order.data()), n);
    });
    thrust::copy(order.begin(), order.end(), got.begin());
    CHECK(got == index, "DeviceRadixSort, pairs and descending");
}

static void scans_of_cub(const numbers &in)
{
    const int n = (int)in.size();
    const thrust::device_vector<unsigned> from(in.begin(), in.end());
    thrust::device_vector<unsigned> to(n), one(1);
    thrust::device_vector<int> count(1);
    const unsigned *source = thrust::raw_pointer_cast(from.data());
    unsigned *target = thrust::raw_pointer_cast(to.data());
    numbers expected(n), got(n);

    std::partial_sum(in.begin(), in.end(), expected.begin());
    with_memory(
        [&](void *memory, size_t &bytes) { return cub::DeviceScan::InclusiveSum(memory, bytes, source, target, n); });
    thrust::copy(to.begin(), to.end(), got.begin());
    CHECK(got == expected, "DeviceScan");

    with_memory([&](void *memory, size_t &bytes) {
        return cub::DeviceReduce::Sum(memory, bytes, source, thrust::raw_pointer_cast(one.data()), n);
    });
    CHECK(one[0] == expected.back(), "DeviceReduce::Sum");
    with_memory([&](void *memory, size_t &bytes) {
        return cub::DeviceReduce::Max(memory, bytes, source, thrust::raw_pointer_cast(one.data()), n);
    });
    CHECK(one[0] == *std::max_element(in.begin(), in.end()), "DeviceReduce::Max");

    expected.resize(std::copy_if(in.begin(), in.end(), expected.begin(), is_odd()) - expected.begin());
    with_memory([&](void *memory, size_t &bytes) {
        return cub::DeviceSelect::If(memory, bytes, source, target, thrust::raw_pointer_cast(count.data()), n,
                                     is_odd());
    });
    got.resize(count[0]);
    thrust::copy(to.begin(), to.begin() + count[0], got.begin());
    CHECK(got == expected, "DeviceSelect::If");
}

template <int threads> __global__ void parts(const unsigned *in, unsigned *sums, unsigned *scans)
{
    typedef cub::BlockReduce<unsigned, threads> reduction;
    typedef cub::BlockScan<unsigned, threads> block_scan;
    typedef cub::WarpScan<unsigned> warp_scan;
    __shared__ union {
        typename reduction::TempStorage reduction;
        typename block_scan::TempStorage scan;
        typename warp_scan::TempStorage warps[threads / 32];
    } memory;
    const int i = blockIdx.x * threads + threadIdx.x;
    const unsigned sum = reduction(memory.reduction).Sum(in[i]);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
    __syncthreads();
    unsigned within, before;
    warp_scan(memory.warps[threadIdx.x / 32]).InclusiveSum(in[i], within);
    __syncthreads();
    block_scan(memory.scan).ExclusiveSum(threadIdx.x % 32 == 31 ? within : 0, before);
    scans[i] = before + within;
}

static void parts_of_blocks(const numbers &in)
{
    const int threads = 128, blocks = (int)(in.size() < 100000 ? in.size() : 100000) / threads;
    const thrust::device_vector<unsigned> from(in.begin(), in.end());
    thrust::device_vector<unsigned> sums(blocks), scans(blocks * threads);
    parts<threads><<<blocks, threads>>>(thrust::raw_pointer_cast(from.data()), thrust::raw_pointer_cast(sums.data()),
                                        thrust::raw_pointer_cast(scans.data()));
    CUDA(cudaDeviceSynchronize());
    const thrust::host_vector<unsigned> sum = sums, scan = scans;
    bool right = true;
    unsigned so_far = 0;
    for (int i = 0; i < blocks * threads; i++) {
        so_far = (i % threads ? so_far : 0) + in[i];
        right = right && scan[i] == so_far && (i % threads < threads - 1 || sum[i / threads] == so_far);
    }
    CHECK(right, "BlockReduce, BlockScan, WarpScan");
}

static void thrust_sorts(const numbers &in)
{
    numbers expected = in, got(in.size());
    std::sort(expected.begin(), expected.end());
    thrust::device_vector<unsigned> v(in.begin(), in.end());
    thrust::sort(v.begin(), v.end());
    thrust::copy(v.begin(), v.end(), got.begin());
    CHECK(got == expected, "thrust::sort");
    const size_t kinds = std::unique(expected.begin(), expected.end()) - expected.begin();
    v.erase(thrust::unique(v.begin(), v.end()), v.end());
    expected.resize(kinds);
    got.resize(v.size());
    thrust::copy(v.begin(), v.end(), got.begin());
    CHECK(got == expected, "thrust::unique");

    thrust::device_vector<unsigned> keys(in.begin(), in.end()), values(in.size());
    thrust::transform(keys.begin(), keys.end(), values.begin(), mixed());
    numbers sorted = in;
    std::stable_sort(sorted.begin(), sorted.end(), std::greater<unsigned>());
    thrust::sort_by_key(keys.begin(), keys.end(), values.begin(), thrust::greater<unsigned>());
    const thrust::host_vector<unsigned> k = keys, x = values;
    bool right = true;
    for (size_t i = 0; i < in.size(); i++)
        right = right && k[i] == sorted[i] && x[i] == mixed()(k[i]);
    CHECK(right, "thrust::sort_by_key, transform");
}

static void thrust_scans(const numbers &in)
{
    const thrust::device_vector<unsigned> v(in.begin(), in.end());
    thrust::device_vector<unsigned> to(in.size());
    numbers expected(in.size()), got(in.size());
    CHECK(thrust::reduce(v.begin(), v.end()) == std::accumulate(in.begin(), in.end(), 0u), "thrust::reduce");
    expected[0] = 7;
    for (size_t i = 1; i < in.size(); i++)
        expected[i] = expected[i - 1] + in[i - 1];
    thrust::exclusive_scan(v.begin(), v.end(), to.begin(), 7u);
    thrust::copy(to.begin(), to.end(), got.begin());
    CHECK(got == expected, "thrust::exclusive_scan");
    expected.resize(std::copy_if(in.begin(), in.end(), expected.begin(), is_odd()) - expected.begin());
    to.erase(thrust::copy_if(v.begin(), v.end(), to.begin(), is_odd()), to.end());
    got.resize(to.size());
    thrust::copy(to.begin(), to.end(), got.begin());
    CHECK(got == expected, "thrust::copy_if");
}

int main(int argc, char **argv)
{
    const numbers in = random_numbers(argc > 1 ? atoi(argv[1]) : 30000, 1u << 31),
                  few = random_numbers(in.size(), 5000);
    sorts_of_cub(in);
    scans_of_cub(few);
    parts_of_blocks(few);
    thrust_sorts(few);
    thrust_scans(few);
    return done();
}
