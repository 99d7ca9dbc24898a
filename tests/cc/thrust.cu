/* Debian's Thrust (libthrust-dev), whose algorithms run on the host, beside kernels. */
#include "tap.h"

#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct square {
    __host__ __device__ float operator()(float x) const
    {
        return x * x;
    }
};

__global__ void twice(unsigned *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

int main()
{
    thrust::device_vector<float> v(100);
    thrust::sequence(v.begin(), v.end(), 1.f);
    CHECK(thrust::transform_reduce(v.begin(), v.end(), square(), 0.f, thrust::plus<float>()) == 338350, "transform_reduce");

    const int keys[8] = {3, 1, 4, 1, 5, 9, 2, 6}, places[8] = {1, 3, 6, 0, 2, 4, 7, 5};
    thrust::device_vector<int> k(keys, keys + 8), p(8);
    thrust::sequence(p.begin(), p.end());
    thrust::stable_sort_by_key(k.begin(), k.end(), p.begin());
    bool sorted = true;
    for (int i = 0; i < 8; i++)
        sorted = sorted && p[i] == places[i] && k[i] == keys[places[i]];
    CHECK(sorted, "stable_sort_by_key");
    thrust::exclusive_scan(k.begin(), k.end(), p.begin());
    CHECK(p[0] == 0 && p[7] == 22, "exclusive_scan");
    CHECK(thrust::unique(k.begin(), k.end()) - k.begin() == 7, "unique");

    thrust::device_vector<unsigned> many(20000);
    thrust::host_vector<unsigned> on_host(many.size());
    for (size_t i = 0; i < on_host.size(); i++)
        on_host[i] = (unsigned)i * 2654435761u;
    many = on_host;
    thrust::sort(many.begin(), many.end());
    thrust::sort(on_host.begin(), on_host.end());
    CHECK(on_host == many, "sort of 20,000 numbers");

    const unsigned sum = thrust::reduce(many.begin(), many.end());
    twice<<<20, 1000>>>(thrust::raw_pointer_cast(many.data()));
    CUDA(cudaDeviceSynchronize());
    CHECK(thrust::reduce(many.begin(), many.end()) == 2 * sum, "a kernel on a device_vector");
    return done();
}
