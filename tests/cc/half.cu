/* Numbers of 16 bits. Prints a checksum of each function over all of their kinds; nvcc's headers print the same. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cuda_bf16.hpp>
#include <cuda_fp16.hpp>

#include "tap.h"

#include <cstring>

enum { VALUES = 24, FUNCTIONS = 32 };

/* bits that are near all corners: zeros, subnormals, ones, halves, great numbers, infinities, NaN */
static const unsigned short half_bits[VALUES] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00, 0xbc00,
                                                 0x3c01, 0x3bff, 0x3555, 0x4248, 0xc500, 0x5640, 0x7bff, 0xfbff,
                                                 0x7c00, 0xfc00, 0x7fff, 0x2e66, 0x6400, 0x63ff, 0x1234, 0x9876};
static const unsigned short bfloat_bits[VALUES] = {0,      0x8000, 1,      0x8001, 0x7f,   0x80,   0x3f80, 0xbf80,
                                                   0x3f81, 0x3f7f, 0x3eab, 0x4049, 0xc0a0, 0x42c8, 0x7f7f, 0xff7f,
                                                   0x7f80, 0xff80, 0x7fff, 0x3dcd, 0x4480, 0x447f, 0x2234, 0xb876};

template <class T> __device__ unsigned bits(T x)
{
    unsigned short u;
    memcpy(&u, &x, 2);
    return u;
}

template <class T> __global__ void compute(const T *in, unsigned *out)
{
    const T a = in[threadIdx.x], b = in[blockIdx.x], c = in[(threadIdx.x * 7 + blockIdx.x) % VALUES];
    const unsigned results[] = {bits(a + b),
                                bits(a - b),
                                bits(a * b),
                                bits(__hfma(a, b, c)),
                                bits(__hmax(a, b)),
                                bits(__hmin(a, b)),
                                bits(__hneg(a)),
                                bits(__habs(a)),
                                a == b,
                                a != b,
                                a<b, a <= b, a>
                                    b,
                                a >= b,
                                __heq(a, b),
                                __hne(a, b),
                                __hltu(a, b),
                                __hisnan(a),
                                (unsigned)(__hisinf(a) != 0),
                                bits(__hmax_nan(a, b)),
                                bits(__hfma_relu(a, b, c)),
                                bits(hceil(a)),
                                bits(hfloor(a)),
                                bits(htrunc(a)),
                                bits(hrint(a))};
    for (int i = 0; i < (int)(sizeof results / sizeof *results); i++)
        atomicAdd(&out[i], results[i] * (threadIdx.x * VALUES + blockIdx.x + 1));
}

__global__ void convert(const __half *h, const __nv_bfloat16 *b, unsigned *out)
{
    const int i = threadIdx.x;
    const float f = __fmul_rn(__half2float(h[i]) + 0.1f, i + 1);
    const unsigned weight = i + 1;
    unsigned k = 0;
    if (isnan(f) || isinf(f))
        return; /* conversions of NaN and infinity to integers are nobody's promise */
    atomicAdd(&out[k++], weight * bits(__float2half_rn(f)));
    atomicAdd(&out[k++], weight * bits(__float2half_rz(f)));
    atomicAdd(&out[k++], weight * bits(__float2half_ru(f)));
    atomicAdd(&out[k++], weight * bits(__float2half_rd(f)));
    atomicAdd(&out[k++], weight * bits(__float2bfloat16_rn(f)));
    atomicAdd(&out[k++], weight * bits(__float2bfloat16_rz(f)));
    atomicAdd(&out[k++], weight * bits(__float2bfloat16_ru(f)));
    atomicAdd(&out[k++], weight * bits(__double2half(f * 1.0009)));
    atomicAdd(&out[k++], weight * bits(__int2half_rn(i * 12345 - 7)));
    atomicAdd(&out[k++], weight * bits(__ll2half_rn(i * 3333ll)));
    atomicAdd(&out[k++], weight * bits(__uint2bfloat16_rn(i * 1234567u)));
    atomicAdd(&out[k++], weight * (unsigned)__half2int_rn(h[i]));
    atomicAdd(&out[k++], weight * (unsigned)__half2int_rz(h[i]));
    atomicAdd(&out[k++], weight * (unsigned)__half2short_rd(h[i]));
    atomicAdd(&out[k++], weight * __float_as_uint(__bfloat162float(b[i])));
}

__global__ void pairs(__half2 *sums, __half *single, float *out)
{
    const __half2 p = __floats2half2_rn(threadIdx.x, 0.5f), q = __half2half2(__float2half(2.0f));
    atomicAdd(sums, p * q + q);
    atomicAdd(single, __float2half(0.25f));
    const __half2 moved = __shfl_xor_sync(0xffffffff, p, 1);
    if (threadIdx.x == 4)
        out[0] = __low2float(moved), out[1] = __high2float(__lowhigh2highlow(moved)), out[2] = __hbgt2(q, p);
}

/* The greater and the lesser of two, and a value as float. */
template <class T> static __host__ __device__ void choose(const T *in, int i, int j, unsigned *out)
{
    const T most = __hmax(in[i], in[j]), least = __hmin(in[i], in[j]);
    const float wide = (float)in[i];
    unsigned short u[2];
    memcpy(u, &most, 2), memcpy(u + 1, &least, 2), memcpy(out + 1, &wide, 4);
    out[0] = u[0] | (unsigned)u[1] << 16;
}
template <class T> __global__ void choose_all(const T *in, unsigned *out)
{
    const int i = threadIdx.x, j = blockIdx.x;
    choose(in, i, j, out + 2 * (j * VALUES + i));
}
template <class T> static bool there_as_here(const T *in)
{
    unsigned *there = shared_memory<unsigned>(2 * VALUES * VALUES), here[2];
    bool same = true;
    choose_all<<<VALUES, VALUES>>>(in, there);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < VALUES * VALUES; i++) {
        choose(in, i % VALUES, i / VALUES, here);
        same = same && here[0] == there[2 * i] && here[1] == there[2 * i + 1];
    }
    return same;
}

static void show(const char *what, const unsigned *v, int n)
{
    CUDA(cudaDeviceSynchronize());
    printf("# %s:", what);
    for (int i = 0; i < n; i++)
        printf(" %08x", v[i]);
    puts("");
}

int main()
{
    __half *h = shared_memory<__half>(VALUES);
    __nv_bfloat16 *b = shared_memory<__nv_bfloat16>(VALUES);
    memcpy((void *)h, half_bits, sizeof half_bits);
    memcpy((void *)b, bfloat_bits, sizeof bfloat_bits);
    unsigned *o = shared_memory<unsigned>(3 * FUNCTIONS);
    compute<<<VALUES, VALUES>>>(h, o);
    show("half", o, FUNCTIONS);
    compute<<<VALUES, VALUES>>>(b, o + FUNCTIONS);
    show("bfloat16", o + FUNCTIONS, FUNCTIONS);
    convert<<<1, VALUES>>>(h, b, o + 2 * FUNCTIONS);
    show("conversions", o + 2 * FUNCTIONS, FUNCTIONS);

    __half2 *sums = shared_memory<__half2>(1);
    __half *single = shared_memory<__half>(1);
    float *out = shared_memory<float>(3);
    pairs<<<1, 32>>>(sums, single, out);
    CUDA(cudaDeviceSynchronize());
    CHECK(__low2float(*sums) == 2 * 496 + 64 && __high2float(*sums) == 3 * 32 && __half2float(*single) == 8,
          "atomicAdd of __half and __half2");
    CHECK(out[0] == 5 && out[1] == 5 && out[2] == 0, "shuffles and comparisons of pairs");
    __half host = 3.0f;
    host += __half(0.5f);
    volatile __nv_bfloat16 changing;
    changing = __nv_bfloat16_raw{0x4040};
    CHECK((float)__nv_bfloat16(__nv_bfloat16_raw(changing)) == 3, "a volatile one");
    CHECK((float)host == 3.5f && (float)__half(65519.0f) == 65504 && (float)__nv_bfloat16(1.0f / 3) == 0x1.56p-2f,
          "the host has both types, too");
    CHECK(there_as_here<__half>(h) && there_as_here<__nv_bfloat16>(b), "host and device agree on zeros and NaN");
    return done();
}
