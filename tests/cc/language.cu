/* What CUDA C++ has beside its intrinsics: qualifiers, built-in variables, vector types, templates, classes, memory of all
 * kinds, overloads of the math functions, launches.
 */
#include "tap.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "extra.h" /* by -I */

/* ---- which code is compiled where ---- */

__host__ __device__ int where()
{
#if defined(__CUDA_ARCH__)
    return __CUDA_ARCH__;
#else
    return -1;
#endif
}
__global__ void on_device(int *out) { *out = where(); }

/* ---- built-in variables ---- */

__host__ __device__ double widened(__int128 n, double x)
{
    return (double)n + (float)(unsigned __int128)(n / 3) + (double)((__int128)x >> 70) + (double)(unsigned __int128)x;
}
__global__ void widens(double *out, __int128 n, double x) { *out = widened(n, x); }

__global__ void indices(uint3 *thread, uint3 *block, dim3 *dims)
{
    const int i = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    thread[i] = threadIdx;
    block[i] = blockIdx;
    dims[0] = blockDim, dims[1] = gridDim;
    dims[2] = dim3(warpSize);
}

/* ---- classes, templates, lambdas, recursion ---- */

struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~shape() {}
};
struct square : shape {
    float a;
    __device__ square(float side) : a(side) {}
    __device__ float area() const override { return a * a; }
};
struct circle : shape {
    float r;
    __device__ circle(float radius) : r(radius) {}
    __device__ float area() const override { return 3 * r * r; }
};

__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

template <int n, class F> __global__ void transform(int *v, F f)
{
    if (threadIdx.x < n)
        v[threadIdx.x] = f(v[threadIdx.x]);
}

__global__ void objects(float *areas, int *number)
{
    shape *shapes[] = {new square(2), new circle(2)};
    int *heap = (int *)malloc(10 * sizeof(int));
    for (int i = 0; i < 10; i++)
        heap[i] = i;
    for (int i = 0; i < 2; i++) {
        areas[i] = shapes[i]->area();
        delete shapes[i];
    }
    static int calls; /* one for all threads */
    atomicAdd(&calls, 1);
    *number = factorial(5 + heap[1]) + calls;
    free(heap);
    auto twice = [](int x) { return 2 * x; };
    number[1] = twice(21);
    number[2] = std::is_same<decltype(sqrt(1.0f)), float>::value && std::is_same<decltype(sqrt(1.0)), double>::value &&
                std::is_same<decltype(std::pow(2.0f, 3.0f)), float>::value;
    number[3] = (int)std::max(3, 7) + min(2, 9) + (int)max(1.5f, 2.5f) + abs(-4) + (int)fabs(-3.0);
    int exponent;
    number[4] = frexp(48.0, &exponent) == 0.75 && exponent == 6 && isnan(0.0 / number[5]) && isinf(1.0f / number[5]) &&
                signbit(-0.0) && fmin(1.0, 2.0) == 1 && std::fabs(-2.5f) == 2.5f && std::sqrt(9.0) == 3.0 && lround(2.5) == 3;
}

/* ---- memory ---- */

__constant__ int table[4];
__device__ int counter = 40;
__device__ float4 vectors[2];
struct wide {
    char c;
    double d;
    int v[20];
};
__global__ void memories(wide w, int *out)
{
    extern __shared__ int dynamic[];
    __shared__ int fixed[32];
    fixed[threadIdx.x] = table[threadIdx.x % 4];
    dynamic[threadIdx.x] = w.v[threadIdx.x % 20];
    __syncthreads();
    out[threadIdx.x] = fixed[31 - threadIdx.x] + dynamic[31 - threadIdx.x] + w.c + (int)w.d;
    if (threadIdx.x == 0) {
        counter += 2;
        vectors[1] = make_float4(1, 2, 3, 4);
    }
}

__global__ void __launch_bounds__(64, 2) bounded(int *out) { out[threadIdx.x] = EXTRA; }

__global__ void says(int n) { printf("kernel says %d %s %.2f %c\n", n, "text", 2.5, 'c'); }

int main()
{
    int *ints = shared_memory<int>(64);
    CHECK(where() == -1, "__CUDA_ARCH__ is not defined for the host");
    on_device<<<1, 1>>>(ints);
    CUDA(cudaDeviceSynchronize());
    CHECK(*ints == ARCH, "__CUDA_ARCH__ is %d for the device", ARCH);

    uint3 *threads = shared_memory<uint3>(24), *blocks = shared_memory<uint3>(24);
    dim3 *dims = shared_memory<dim3>(3);
    indices<<<2, dim3(4, 3)>>>(threads, blocks, dims);
    CUDA(cudaDeviceSynchronize());
    CHECK(threads[23].x == 3 && threads[23].y == 2 && blocks[23].x == 1 && dims[0].y == 3 && dims[1].x == 2 && dims[2].x == 32,
          "threadIdx, blockIdx, blockDim, gridDim, warpSize");

    float *areas = shared_memory<float>(2);
    objects<<<1, 1>>>(areas, ints);
    CUDA(cudaDeviceSynchronize());
    CHECK(areas[0] == 4 && areas[1] == 12, "virtual functions, new and delete");
    CHECK(ints[0] == 721 && ints[1] == 42, "recursion, static variables, malloc and free, lambdas");
    CHECK(ints[2] && ints[3] == 7 + 2 + 2 + 4 + 3 && ints[4], "overloads of the math functions, in the global namespace and in std");
    CHECK(std::cyl_bessel_j(0, 0.0) == 1, "the special functions of C++17, on the host");

    for (int i = 0; i < 8; i++)
        ints[i] = i;
    const int by = 10;
    transform<8><<<1, 32>>>(ints, [by] __device__(int x) { return x * by; });
    CUDA(cudaDeviceSynchronize());
    CHECK(ints[7] == 70, "a template kernel takes a __device__ lambda");

    const int host_table[4] = {1, 2, 3, 4};
    int host_counter = 0;
    float4 host_vectors[2];
    wide w = {'a', 2.5, {}};
    for (int i = 0; i < 20; i++)
        w.v[i] = 100 * i;
    CUDA(cudaMemcpyToSymbol(table, host_table, sizeof host_table));
    memories<<<1, 32, 32 * sizeof(int)>>>(w, ints);
    CUDA(cudaMemcpyFromSymbol(&host_counter, counter, sizeof counter));
    CUDA(cudaMemcpyFromSymbol(host_vectors, vectors, sizeof vectors));
    CHECK(ints[0] == 4 + 100 * 11 + 'a' + 2 && ints[31] == 1 + 'a' + 2, "constant, static and dynamic shared memory, a structure by value");
    CHECK(host_counter == 42 && host_vectors[1].z == 3, "variables of the device by name");

    bounded<<<1, 64>>>(ints);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    bounded<<<1, 65>>>(ints);
    CHECK(cudaGetLastError() != cudaSuccess, "more threads than __launch_bounds__ are refused");
    CHECK(ints[63] == EXTRA, "macros by -D and headers by -I");

    double *sum = shared_memory<double>(1);
    const __int128 large = ((__int128)0x123456789abcdef << 64) + 0xfedcba987654321;
    widens<<<1, 1>>>(sum, large, 1.7e37);
    CUDA(cudaDeviceSynchronize());
    CHECK(*sum == widened(large, 1.7e37), "__int128 from and to floating point");

    says<<<1, 1>>>(7);
    CUDA(cudaDeviceSynchronize());
    int smallest, best;
    CUDA(cudaOccupancyMaxPotentialBlockSize(&smallest, &best, says));
    int again, wide, resident, same;
    size_t room;
    const char *name;
    cudaKernel_t kernel;
    auto none = [](int) { return 0; };
    CUDA(cudaOccupancyMaxPotentialBlockSizeWithFlags(&again, &wide, says, 0, 0, cudaOccupancyDisableCachingOverride));
    CHECK(best >= 32 && smallest > 0 && again == smallest && wide == best, "occupancy");
    CUDA(cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(&again, &wide, says, none, 64));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, says, wide, 0));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&same, says, wide, 0, cudaOccupancyDefault));
    CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&room, says, 1, wide));
    CHECK(wide == 64 && resident == same && resident > 0 && room > 0, "occupancy of a block of at most so many threads");
    CUDA(cudaFuncGetName(&name, says));
    CUDA(cudaGetKernel(&kernel, says));
    CHECK(strstr(name, "says") && kernel, "a kernel's name and handle, by the kernel");
    return done();
}
