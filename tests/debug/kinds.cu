/* Variables of many kinds. kinds.ptx.xz is what `nvcc -G -std=c++17 -arch=sm_90` makes of it. */
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda/atomic>
template <typename T, int N> struct arr_t { T e[N]; };
#include <cstdio>
enum color { RED, GREEN = 7 };
enum class mode : short { slow = -1, fast = 3 };
template <typename T, int N> struct vec { T at[N]; __device__ T sum() const { T s = 0; for (int i = 0; i < N; i++) s += at[i]; return s; } };
struct base { int id; };
struct derived : base { float w; union { int i; float f; }; int bits : 5; unsigned more : 3; bool flag; };
typedef float (*op_t)(float);
__device__ float twice(float a) { return 2 * a; }
__constant__ float table[4] = {1, 2, 3, 4};
__device__ volatile int counter = 5;
__device__ cuda::atomic<int, cuda::thread_scope_device> total{11};
__device__ int use(derived d, int &ref, const vec<double, 3> &v, int4 q)
{
    int local = d.id + ref + (int)v.sum() + q.z;
    ref += 1;
    return local;
}
template <typename T> __device__ T generic(T a, T *p) { T r = a + *p; return r; }
__global__ void kinds(float4 *out, derived by, __half h, __nv_bfloat16 b, mode m, const int *__restrict__ in, double3 d3)
{
    __shared__ float tile[4][8];
    __shared__ derived ds[2];
    extern __shared__ short dyn[];
    int i = threadIdx.x;
    tile[i / 8][i % 8] = i * 0.5f;
    if (i < 2) ds[i] = by;
    dyn[i] = i;
    __syncthreads();
    color c = i & 1 ? GREEN : RED;
    __half2 h2 = __halves2half2(h, __float2half(i));
    __nv_bfloat162 b2 = __nv_bfloat162(b, b);
    float2 f2 = make_float2(i, -i);
    uchar4 u4 = make_uchar4(1, 2, 'c', 255);
    char name[8] = "abc";
    long long big = 1ll << 40;
    unsigned long long ubig = ~0ull;
    float *sp = &tile[1][2];
    const int *gp = in + i;
    int ref = 4;
    int &rr = ref;
    vec<double, 3> v = {{1, 2.5, i * 1.0}};
    op_t f = twice;
    bool yes = i > 2;
    cuda::atomic_ref<int, cuda::thread_scope_block> ar(ref);
    arr_t<int, 3> arr = {{i, 2, 3}};
    int used = use(by, ref, v, make_int4(1, 2, 3, 4));
    float g = generic(1.5f, sp) + generic<int>(i, &ref);
    total.fetch_add(1);
    signed char sc = -3; unsigned short us = 65535; char16_t c16 = u'x';
    float nan = 0.0f / (i - i); 
    dim3 dd(1, 2, 3);
    auto lam = [=](int k) { return k + used; };
    int lr = lam(2);
    out[i] = make_float4(f2.x + (float)c + __low2float(h2) + (float)b2.x, u4.x + name[0] + big + (float)ubig, *gp + rr + f(1.f) + yes, g + table[i % 4] + counter + sc + us + c16 + nan + dd.x + arr.e[0] + d3.y + lr + (int)m + ds[0].w + dyn[i]);
}
