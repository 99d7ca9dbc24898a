/* Types as kernels take them by value: types.txt is what nvcc 13.0 makes of it, sizes and alignments by the name of the type. The program says
 * whether the host's code agrees with the device's. */
#include "../cc/tap.h"
#include <array>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <curand_kernel.h>
#include <tuple>
#include <type_traits>
#include <utility>

template <class T> struct Behind {
    char c;
    T t;
    char d;
};
template <class T> struct Derived : T {
    char d;
};
template <class T> __global__ void by_value(T t, Behind<T> b, int *out)
{
    out[0] = sizeof(T);
    out[1] = alignof(T);
    out[2] = (int)((char *)&b.t - (char *)&b);
    out[3] = (int)((char *)&b.d - (char *)&b);
}
template <class T> __global__ void as_base(Derived<T> t, int *out)
{
    out[0] = sizeof(Derived<T>);
    out[1] = (int)((char *)&t.d - (char *)&t);
}
template <class T> void check(const char *name, int *out)
{
    Behind<T> *b = new Behind<T>();
    by_value<T><<<1, 1>>>(b->t, *b, out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == sizeof(T) && out[1] == alignof(T) && out[2] == (char *)&b->t - (char *)b && out[3] == (char *)&b->d - (char *)b,
          "%s: %d bytes, at multiples of %d", name, out[0], out[1]);
    if constexpr (std::is_class<T>::value && !std::is_union<T>::value) {
        Derived<T> *d = new Derived<T>();
        as_base<T><<<1, 1>>>(*d, out);
        CUDA(cudaDeviceSynchronize());
        CHECK(out[0] == sizeof(Derived<T>) && out[1] == &d->d - (char *)d, "%s as a base: %d bytes", name, out[0]);
    }
}

enum small : unsigned char { SMALL };
enum large { LARGE = 0x100000000 };
struct empty {};
struct of_empty : empty {
    empty e;
    int i;
};
struct address {
    [[no_unique_address]] empty e;
    int i;
};
struct bits {
    unsigned a : 3, b : 30;
    short c : 5;
    long long d : 40;
    bool e : 1;
    unsigned : 0;
    char f : 2;
};
struct bits_in_a_char {
    char a : 1;
    int b : 25;
    char c : 7;
};
struct __attribute__((packed)) packed {
    char a;
    double b;
};
struct alignas(32) aligned {
    char a;
};
struct not_pod {
    int i;
    char c;
    __host__ __device__ not_pod() : i(), c() {}
};
struct with_virtual {
    int i;
    char c;
    virtual int f() { return 0; }
};
struct second {
    double d;
    virtual ~second() {}
};
struct two_bases : with_virtual, second {
    char x;
};
struct diamond_left : virtual second {
    int l;
};
union both {
    char c[5];
    double2 d;
};
struct flags {
    bool b;
    wchar_t w;
    char16_t u;
    small s;
    large l;
};
struct arrays {
    float4 f[2];
    char c[3];
    char3 d[2];
};
struct pair_of_halves {
    __half a;
    __half2 b;
    char c;
};

#define TYPES(T)                                                                                                                  \
    T(char) T(bool) T(short) T(int) T(long) T(long long) T(float) T(double) T(__int128) T(wchar_t) T(void *) T(std::nullptr_t) \
    T(small) T(large) T(empty) T(of_empty) T(address) T(bits) T(bits_in_a_char) T(packed) T(aligned) T(not_pod) T(with_virtual)   \
    T(two_bases) T(diamond_left) T(both) T(flags) T(arrays) T(pair_of_halves) T(int flags::*) T(int (flags::*)(int)) T(int (*)(int)) \
    T(char1) T(char2) T(char3) T(char4) T(uchar1) T(uchar2) T(uchar3) T(uchar4) T(short1) T(short2) T(short3) T(short4)           \
    T(ushort1) T(ushort2) T(ushort3) T(ushort4) T(int1) T(int2) T(int3) T(int4) T(uint1) T(uint2) T(uint3) T(uint4) T(long1)      \
    T(long2) T(long3) T(long4) T(ulong1) T(ulong2) T(ulong3) T(ulong4) T(longlong1) T(longlong2) T(longlong3) T(longlong4)        \
    T(ulonglong1) T(ulonglong2) T(ulonglong3) T(ulonglong4) T(float1) T(float2) T(float3) T(float4) T(double1) T(double2)         \
    T(double3) T(double4) T(dim3) T(cuFloatComplex) T(cuDoubleComplex) T(__half) T(__half2) T(__nv_bfloat16) T(__nv_bfloat162)    \
    T(__nv_fp8_e4m3) T(__nv_fp8x2_e4m3) T(__nv_fp8x4_e5m2) T(__nv_fp6_e2m3) T(__nv_fp4_e2m1) T(__nv_fp4x2_e2m1)                   \
    T(cudaTextureObject_t) T(cudaSurfaceObject_t) T(cudaPitchedPtr) T(cudaExtent) T(CUuuid)                                      \
    T(curandStateXORWOW) T(curandStatePhilox4_32_10)                                                                              \
    T(std::pair<char COMMA int>) T(std::tuple<char COMMA int COMMA double>) T(std::tuple<empty COMMA int>)                        \
    T(std::array<char COMMA 3>)
#define COMMA ,

int main()
{
    int *out = shared_memory<int>(8);
#define T(...) check<__VA_ARGS__>(#__VA_ARGS__, out);
    TYPES(T)
    return done();
}
