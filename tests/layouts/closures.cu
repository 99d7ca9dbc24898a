/* Closures of extended lambdas: how long they are, where what follows them lies, and what they compute. closures.txt is what nvcc 13.0
 * makes of this file (-std=c++17 --extended-lambda -arch=sm_90 -ptx): names and parameters of kernels. */
#include "../cc/tap.h"

template <class F> struct Op {
    F f;
    int a;
};
template <class F> struct Tail : F {
    char a;
};
template <int N, class F> __global__ void k(Op<F> o, Tail<F> t, int *p)
{
    p[0] = sizeof(F);
    p[1] = alignof(F);
    p[2] = o.a;
    p[3] = t.a;
    p[4] = (int)o.f(100);
    p[5] = (int)t(100);
}
template <int N, class F> void go(F f, int *p)
{
    Op<F> o{f, 7};
    Tail<F> t{f, 1};
    k<N><<<1, 1>>>(o, t, p);
    cudaDeviceSynchronize();
    bool same = p[0] == sizeof(F) && p[1] == alignof(F) && p[2] == 7 && p[3] == 1 && p[4] == p[5];
    if constexpr (N != 2 && N != 12 && N != 16) // a `__device__` lambda is not called by the host
        same = same && p[4] == (int)f(100);
    CHECK(same, "closure %d: %d bytes, %d", N, p[0], p[4]);
}
#include "closures.cuh"

struct alignas(16) V {
    float x[4];
};
struct S {
    int m = 5;
    template <class T> void in(int *p, T c)
    {
        go<21>([=, *this] __host__ __device__(int x) { return x + c + m; }, p);
        go<22>([c, *this] __host__ __device__(int x) { return x + c + m; }, p);
    }
};
template <class T> __host__ __device__ int both(T c)
{
    auto f = [=] __host__ __device__(int x) { return x + c; };
    return sizeof f;
}
template <class T> __device__ int device(T c)
{
    auto f = [=] __host__ __device__(int x) { return x + c; };
    return sizeof f;
}
struct Made {
    int a[2], size;
    __device__ Made(int c) : a{c, c}, size{c}
    {
        auto f = [=] __host__ __device__(int x) { return x + c; };
        size = sizeof f;
    }
};
__global__ void inside(int *p)
{
    auto f = [=] __host__ __device__(int x) { return p[0]; };
    auto g = [=] {
        auto h = [=] __host__ __device__(int x) { return p[0]; };
        return sizeof h;
    };
    p[0] = both(1);
    p[1] = device(1);
    p[2] = sizeof f;
    p[3] = g();
    p[4] = Made(1).size;
}
template <class T> void run(int *p, T c)
{
    V v{{1, 2, 3, 4}};
    double d = c;
    char h = 1, arr[5] = {1, 2, 3};
    bool device = c; // no word of CUDA's
    if (device) {
        go<0>([] __host__ __device__(int x) { return x + 1; }, p);
        go<1>([=] __host__ __device__(int x) { return x + c; }, p);
    }
    go<2>([=] __device__(int x) { return x * c; }, p);
    go<3>([=] __host__ __device__(int x) { return x; }, p);
    go<4>([=] __host__ __device__(int x) { return x + h + v.x[0] + h; }, p);
    go<5>([=] __host__ __device__(int x) { return x + v.x[0] + h; }, p);
    go<6>([h, v] __host__ __device__(int x) { return x + v.x[0] + h; }, p);
    go<7>([=] __host__ __device__(int x) { return x + arr[1]; }, p);
    go<10>([=] __host__ __device__(int x) { auto g = [=](int y) { return y + d; }; return x + h + g(1); }, p);
    go<11>([=] __host__ __device__(int x) mutable noexcept -> int { return x + h++; }, p);
    go<12>([=] __device__(int x) { return x; }, p);
    go<15>([=] __host__ __device__(int x) { return x + sizeof(d) + h; }, p);
    go<16>([=] __device__(int x) { return x + v.x[0] + h; }, p);
    for (int i = 0; i < 1; i++)
        [&] { go<17>([i /* ] */, c] __device__ __host__(int x) { return x + i + c; }, p); }();
    S().in(p, c);
    in_header(p, c);
}
int main()
{
    int *p;
    cudaMallocManaged(&p, 256);
    run(p, 3);
    inside<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    CHECK(p[0] == both(1) && p[0] == 16, "a function of both: %d bytes", p[0]);
    CHECK(p[1] == 4 && p[2] == 8 && p[3] == 8 && p[4] == 4, "device functions, kernels, constructors: %d, %d, %d, %d bytes", p[1], p[2], p[3], p[4]);
    return done();
}
