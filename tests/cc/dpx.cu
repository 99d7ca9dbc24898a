/* The DPX functions give what the CUDA Math API says, on the device and on the host: compared with wide integers. A sum wraps
 * in the width of its lane. */
#include "tap.h"

#include <algorithm>

typedef long long wide;
enum { VALUES = 12, CASES = VALUES * VALUES * VALUES };
__device__ const unsigned values[VALUES] = {0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x8000ffff, 0x7fff8000,
                                            0x00010001, 0xffff0001, 0x12345678, 0xfedcba98, 0x80017ffe};
static const unsigned host_values[VALUES] = {0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x8000ffff, 0x7fff8000,
                                             0x00010001, 0xffff0001, 0x12345678, 0xfedcba98, 0x80017ffe};

/* The lanes of a word as wide integers, and back. */
template <int bits, bool is_signed> static wide lane(unsigned x, int i)
{
    const wide v = bits == 32 ? (wide)x : (wide)(x >> (16 * i) & 0xffff), half = (wide)1 << (bits - 1);
    return is_signed && v >= half ? v - 2 * half : v;
}
template <int bits, bool is_signed> static wide wrapped(wide v)
{
    return lane<bits, is_signed>((unsigned)v, 0);
}
template <int bits, bool is_signed, class F> static unsigned expected(unsigned a, unsigned b, unsigned c, F f)
{
    unsigned result = 0;
    for (int i = 0; i < 32 / bits; i++) {
        const wide v = f(lane<bits, is_signed>(a, i), lane<bits, is_signed>(b, i), lane<bits, is_signed>(c, i));
        result |= bits == 32 ? (unsigned)v : ((unsigned)v & 0xffff) << (16 * i);
    }
    return result;
}

/* A row: a name, the lanes, the meaning. */
#define ROWS3(row, name, meaning)                                                                                      \
    row(name##_s32, 32, true, meaning) row(name##_u32, 32, false, meaning) row(name##_s16x2, 16, true, meaning)        \
        row(name##_u16x2, 16, false, meaning)
#define RELU3(row, name, meaning)                                                                                      \
    row(name##_s32_relu, 32, true, std::max<wide>(meaning, 0)) row(name##_s16x2_relu, 16, true, std::max<wide>(meaning, 0))
#define SUM (wrapped<BITS, SIGNED>(a + b))
#define ALL3(row)                                                                                                      \
    ROWS3(row, __vimax3, std::max({a, b, c})) RELU3(row, __vimax3, std::max({a, b, c}))                                \
    ROWS3(row, __vimin3, std::min({a, b, c})) RELU3(row, __vimin3, std::min({a, b, c}))                                \
    ROWS3(row, __viaddmax, std::max(SUM, c)) RELU3(row, __viaddmax, std::max(SUM, c))                                  \
    ROWS3(row, __viaddmin, std::min(SUM, c)) RELU3(row, __viaddmin, std::min(SUM, c))
#define ALL2(row)                                                                                                      \
    RELU3(row, __vimax, std::max(a, b)) RELU3(row, __vimin, std::min(a, b))
#define WHICH(row)                                                                                                     \
    row(__vibmax, 32, true, _s32, >=) row(__vibmax, 32, false, _u32, >=) row(__vibmin, 32, true, _s32, <=)             \
        row(__vibmin, 32, false, _u32, <=)
#define WHICH2(row)                                                                                                    \
    row(__vibmax, 16, true, _s16x2, >=) row(__vibmax, 16, false, _u16x2, >=) row(__vibmin, 16, true, _s16x2, <=)       \
        row(__vibmin, 16, false, _u16x2, <=)

enum { ROWS = 64 };

/* All results for one case; a predicate is a bit of a word of its own. */
static __host__ __device__ int all_results(unsigned x, unsigned y, unsigned z, unsigned *r)
{
    int n = 0;
#define CALL3(name, bits, is_signed, meaning) r[n++] = (unsigned)name(x, y, z);
#define CALL2(name, bits, is_signed, meaning) r[n++] = (unsigned)name(x, y);
#define CALL_WHICH(name, bits, is_signed, suffix, test)                                                                \
    {                                                                                                                  \
        bool p;                                                                                                        \
        r[n++] = (unsigned)name##suffix(x, y, &p);                                                                     \
        r[n++] = p;                                                                                                    \
    }
#define CALL_WHICH2(name, bits, is_signed, suffix, test)                                                               \
    {                                                                                                                  \
        bool high, low;                                                                                                \
        r[n++] = name##suffix(x, y, &high, &low);                                                                      \
        r[n++] = high * 2 + low;                                                                                       \
    }
    ALL3(CALL3)
    ALL2(CALL2)
    WHICH(CALL_WHICH)
    WHICH2(CALL_WHICH2)
    return n;
}

__global__ void on_the_device(unsigned *results)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < CASES)
        all_results(values[i % VALUES], values[i / VALUES % VALUES], values[i / VALUES / VALUES], results + i * ROWS);
}

static int all_expected(unsigned x, unsigned y, unsigned z, unsigned *r, const char **names)
{
    int n = 0;
#define EXPECT(name, bits, is_signed, meaning)                                                                         \
    {                                                                                                                  \
        const int BITS = bits;                                                                                         \
        const bool SIGNED = is_signed;                                                                                 \
        names[n] = #name;                                                                                              \
        r[n++] = expected<BITS, SIGNED>(x, y, z, [=](wide a, wide b, wide c) { return (void)b, (void)c, meaning; });   \
    }
#define EXPECT_WHICH(name, bits, is_signed, suffix, test)                                                              \
    {                                                                                                                  \
        names[n] = #name #suffix;                                                                                      \
        r[n++] = expected<bits, is_signed>(x, y, 0, [](wide a, wide b, wide) { return a test b ? a : b; });            \
        names[n] = #name #suffix ": predicates";                                                                       \
        const unsigned p = expected<bits, is_signed>(x, y, 0, [](wide a, wide b, wide) { return (wide)(a test b); });  \
        r[n++] = bits == 32 ? p : (p >> 16) * 2 + (p & 1);                                                             \
    }
    ALL3(EXPECT)
    ALL2(EXPECT)
    WHICH(EXPECT_WHICH)
    WHICH2(EXPECT_WHICH)
    return n;
}

int main()
{
    unsigned *results = shared_memory<unsigned>(CASES * ROWS), here[ROWS], right[ROWS];
    const char *names[ROWS];
    bool device_ok[ROWS], host_ok[ROWS];
    int n = 0;
    std::fill(device_ok, device_ok + ROWS, true);
    std::fill(host_ok, host_ok + ROWS, true);
    on_the_device<<<(CASES + 127) / 128, 128>>>(results);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < CASES; i++) {
        const unsigned x = host_values[i % VALUES], y = host_values[i / VALUES % VALUES],
                       z = host_values[i / VALUES / VALUES];
        n = all_results(x, y, z, here);
        all_expected(x, y, z, right, names);
        for (int k = 0; k < n; k++) {
            device_ok[k] = device_ok[k] && results[i * ROWS + k] == right[k];
            host_ok[k] = host_ok[k] && here[k] == right[k];
        }
    }
    for (int k = 0; k < n; k++)
        CHECK(device_ok[k] && host_ok[k], "%s%s%s", names[k], device_ok[k] ? "" : ", on the device",
              host_ok[k] ? "" : ", on the host");
    return done();
}
