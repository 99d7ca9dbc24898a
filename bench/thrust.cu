// What Thrust, and CUB under it, does with N numbers: `thrust N [NAME]` says of each algorithm whether it is right, as the host has it,
// and how long it took. scripts/suites/cccl.py runs it.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

using device = thrust::device_vector<unsigned>;
using host = thrust::host_vector<unsigned>;

struct odd {
    __host__ __device__ bool operator()(unsigned x) const { return x & 1; }
};

// No operator that a sort by digits knows: these are merged.
struct later {
    __host__ __device__ bool operator()(unsigned a, unsigned b) const { return a > b; }
};

static bool reduction(const host &in, const device &d, double &seconds)
{
    auto start = std::chrono::steady_clock::now();
    unsigned sum = thrust::reduce(d.begin(), d.end(), 0u);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return sum == std::accumulate(in.begin(), in.end(), 0u);
}

// `run` writes what it makes of `d` to its second argument, and returns how many that are; `expect` does on the host.
template <class Run, class Expect> static bool compared(const host &in, device &d, double &seconds, Run run, Expect expect)
{
    device made(in.size());
    cudaDeviceSynchronize();
    auto start = std::chrono::steady_clock::now();
    size_t n = run(d, made);
    cudaDeviceSynchronize();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    host got = made, want(in.size());
    size_t expected = expect(want);
    return n == expected && std::equal(want.begin(), want.begin() + n, got.begin());
}

static bool scan(const host &in, device &d, double &seconds)
{
    return compared(
        in, d, seconds, [](device &from, device &to) { return thrust::inclusive_scan(from.begin(), from.end(), to.begin()) - to.begin(); },
        [&](host &want) { return std::partial_sum(in.begin(), in.end(), want.begin()) - want.begin(); });
}

static bool selection(const host &in, device &d, double &seconds)
{
    return compared(
        in, d, seconds, [](device &from, device &to) { return thrust::copy_if(from.begin(), from.end(), to.begin(), odd()) - to.begin(); },
        [&](host &want) { return std::copy_if(in.begin(), in.end(), want.begin(), odd()) - want.begin(); });
}

template <class Less> static bool sort(const host &in, device &d, double &seconds, Less less)
{
    return compared(
        in, d, seconds,
        [=](device &from, device &to) {
            to = from;
            thrust::sort(to.begin(), to.end(), less);
            return to.size();
        },
        [&](host &want) {
            want = in;
            std::sort(want.begin(), want.end(), less);
            return want.size();
        });
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000000, wrong = 0;
    host in(n);
    unsigned last = 1;
    for (unsigned &x : in)
        x = last = last * 1664525u + 1013904223u;
    device d = in;
    const char *names[] = {"reduce", "inclusive_scan", "copy_if", "sort", "sort by a functor"};
    for (int i = 0; i < 5; i++) {
        double seconds = 0;
        if (argc > 2 && strcmp(argv[2], names[i]) != 0)
            continue;
        bool right = i == 0   ? reduction(in, d, seconds)
                     : i == 1 ? scan(in, d, seconds)
                     : i == 2 ? selection(in, d, seconds)
                     : i == 3 ? sort(in, d, seconds, thrust::less<unsigned>())
                              : sort(in, d, seconds, later());
        printf("%s: %s, %.2f s\n", names[i], right ? "right" : "WRONG", seconds);
        wrong += !right;
    }
    return wrong != 0;
}
