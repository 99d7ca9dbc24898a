/* The intrinsic functions of device code compute what the CUDA Math API and the Programming Guide say: each result is compared
 * with plain C++ on the host.
 */
#include "tap.h"

#include <cuComplex.h>
#include <math_constants.h>

#include <cmath>
#include <cstring>

/* ---- integers, casts, SIMD: a row has an expression of a, b, c on the device, and the same in plain C++ ---- */

struct results {
    unsigned long long v[512];
    int n;
};

static unsigned reversed(unsigned x)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}
static unsigned permuted(unsigned x, unsigned y, unsigned s)
{
    const unsigned long long all = (unsigned long long)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned k = s >> (4 * i) & 7;
        r |= (unsigned)(all >> (8 * k) & 255) << (8 * i);
    }
    return r;
}
/* op on each lane of n bits */
template <class F> static unsigned lanes(int bits, bool is_signed, unsigned x, unsigned y, F op)
{
    unsigned r = 0;
    const unsigned mask = bits == 8 ? 0xff : 0xffff;
    for (int i = 0; i < 32; i += bits) {
        int a = x >> i & mask, b = y >> i & mask;
        if (is_signed) {
            a = bits == 8 ? (signed char)a : (short)a;
            b = bits == 8 ? (signed char)b : (short)b;
        }
        r |= ((unsigned)op(a, b) & mask) << i;
    }
    return r;
}
static int clamped(int x, int least, int greatest)
{
    return x < least ? least : x > greatest ? greatest : x;
}
template <class T> static T bits_of(double x)
{
    T r;
    memcpy(&r, &x, sizeof r);
    return r;
}
static unsigned bits_of_float(float x)
{
    unsigned r;
    memcpy(&r, &x, 4);
    return r;
}

#define INTEGER_ROWS(row)                                                                                              \
    row(__popc(a), __builtin_popcount(a)) row(__popcll(w), __builtin_popcountll(w)) row(                               \
        __clz(a), a ? __builtin_clz(a) : 32) row(__clzll(w), w ? __builtin_clzll(w) : 64)                              \
        row(__ffs(a), __builtin_ffs(a)) row(__ffsll(w), __builtin_ffsll(w)) row(__brev(a), reversed(a)) row(           \
            __brevll(w), (unsigned long long)reversed((unsigned)w) << 32 |                                             \
                             reversed((unsigned)(w >> 32))) row(__byte_perm(a, b, c), permuted(a, b, c))               \
            row(__funnelshift_l(a, b, c), (unsigned)(((unsigned long long)b << 32 | a) << (c & 31) >> 32)) row(        \
                __funnelshift_r(a, b, c),                                                                              \
                (unsigned)(((unsigned long long)b << 32 | a) >>                                                        \
                           (c & 31))) row(__funnelshift_lc(a, b, c),                                                   \
                                          c >= 32 ? a : (unsigned)(((unsigned long long)b << 32 | a) << c >> 32))      \
                row(__funnelshift_rc(a, b, c), c >= 32 ? b : (unsigned)(((unsigned long long)b << 32 | a) >> c)) row(  \
                    (unsigned)__mulhi((int)a, (int)b), (unsigned)((long long)(int)a * (int)b >> 32))                   \
                    row(__umulhi(a, b), (unsigned)((unsigned long long)a * b >> 32)) row(                              \
                        __umul64hi(w, w), (unsigned long long)((unsigned __int128)w * w >> 64))                        \
                        row((unsigned long long)__mul64hi(w, w),                                                       \
                            (unsigned long long)((__int128)(long long)w * (long long)w >>                              \
                                                 64)) row((unsigned)__mul24((int)a, (int)b),                           \
                                                          (unsigned)((long long)((int)(a << 8) >> 8) *                 \
                                                                     ((int)(b << 8) >> 8)))                            \
                            row(__umul24(a, b), (unsigned)((unsigned long long)(a & 0xffffff) * (b & 0xffffff))) row(  \
                                __sad((int)a, (int)b, c), (unsigned)((int)a > (int)b ? a - b : b - a) +                \
                                                              c) row(__usad(a, b, c), (a > b ? a - b : b - a) + c)     \
                                row((unsigned)__hadd((int)a, (int)b), (unsigned)(((long long)(int)a + (int)b) >> 1))   \
                                    row((unsigned)__rhadd((int)a, (int)b),                                             \
                                        (unsigned)(((long long)(int)a + (int)b + 1) >> 1))                             \
                                        row(__uhadd(a, b), (unsigned)(((unsigned long long)a + b) >> 1))               \
                                            row(__urhadd(a, b), (unsigned)(((unsigned long long)a + b + 1) >> 1)) row( \
                                                (unsigned)__float_as_int(1.5f),                                        \
                                                0x3fc00000u) row(__float_as_uint(-2.0f), 0xc0000000u)                  \
                                                row((unsigned)__double2hiint(-2.0),                                    \
                                                    0xc0000000u) row((unsigned)__double2loint(1.1),                    \
                                                                     bits_of<unsigned long long>(1.1) & 0xffffffff)    \
                                                    row((unsigned)__dp4a((int)a, (int)b, (int)c),                      \
                                                        (unsigned)((signed char)a * (signed char)b +                   \
                                                                   (signed char)(a >> 8) *                             \
                                                                       (signed char)(b >> 8) +                         \
                                                                   (signed char)(a >> 16) * (signed char)(b >> 16) +   \
                                                                   (signed char)(a >> 24) * (signed char)(b >> 24) +   \
                                                                   (int)c))                                            \
                                                        row(__dp2a_lo(a, b, c), (a & 0xffff) * (b & 0xff) +            \
                                                                                    (a >> 16) * (b >> 8 & 0xff) + c)   \
                                                            row(__dp2a_hi(a, b, c), (a & 0xffff) * (b >> 16 & 0xff) +  \
                                                                                        (a >> 16) * (b >> 24) + c)

#define FLOAT_ROWS(row)                                                                                                \
    row((unsigned)__float2int_rn(f), (unsigned)(int)rint((double)f)) row((unsigned)__float2int_rz(f),                  \
                                                                         (unsigned)(int)f)                             \
        row((unsigned)__float2int_ru(f), (unsigned)(int)ceil((double)f)) row(                                          \
            (unsigned)__float2int_rd(f), (unsigned)(int)floor((double)f)) row((unsigned long long)__double2ll_rn(d),   \
                                                                              (unsigned long long)llrint(d))           \
            row((unsigned long long)__double2ll_rd(d), (unsigned long long)(long long)floor(d)) row(                   \
                (unsigned)__double2int_ru(d), (unsigned)(int)ceil(d)) row(__float_as_uint(__int2float_rz(0x7fffffff)), \
                                                                          bits_of_float(2147483520.0f))                \
                row(__float_as_uint(__uint2float_ru(0xffffffffu)), bits_of_float(4294967296.0f)) row(                  \
                    (unsigned long long)__double_as_longlong(__ll2double_rd(0x7fffffffffffffffll)),                    \
                    bits_of<unsigned long long>(9223372036854774784.0))                                                \
                    row(__float_as_uint(__double2float_ru(d)),                                                         \
                        bits_of_float((double)(float)d < d ? nextafterf((float)d, INFINITY) : (float)d))               \
                        row(__float_as_uint(__fadd_rn(f, 0.1f)),                                                       \
                            bits_of_float(f + 0.1f)) row(__float_as_uint(__fmul_rn(f, f)), bits_of_float(f *f))        \
                            row(__float_as_uint(__fsqrt_rn(2.0f)), bits_of_float(sqrtf(2.0f))) row(                    \
                                __float_as_uint(__fdiv_rn(1.0f, 3.0f)),                                                \
                                bits_of_float(1.0f / 3.0f)) row(__float_as_uint(__fdiv_ru(1.0f, 3.0f)), 0x3eaaaaabu)   \
                                row(__float_as_uint(__fdiv_rd(1.0f, 3.0f)),                                            \
                                    0x3eaaaaaau) row(__float_as_uint(__frcp_rn(3.0f)), bits_of_float(1.0f / 3.0f))     \
                                    row(__float_as_uint(__frsqrt_rn(3.0f)), bits_of_float((float)(1 / sqrt(3.0))))     \
                                        row(__float_as_uint(__frsqrt_rn(-fabsf(f))), 0x7fffffffu) row(                 \
                                            __float_as_uint(__fmaf_rn(f, f, -1.0f)), bits_of_float(fmaf(f, f, -1.0f))) \
                                            row((unsigned long long)__double_as_longlong(__fma_rn(d, d, -1.0)),        \
                                                bits_of<unsigned long long>(fma(d, d, -1.0)))                          \
                                                row((unsigned long long)__double_as_longlong(__dadd_rn(d, 0.1)),       \
                                                    bits_of<unsigned long long>(d + 0.1))                              \
                                                    row((unsigned long long)__double_as_longlong(__ddiv_rn(d, 7.0)),   \
                                                        bits_of<unsigned long long>(d / 7.0))                          \
                                                        row(__float_as_uint(__saturatef(f)),                           \
                                                            bits_of_float(f < 0   ? 0                                  \
                                                                          : f > 1 ? 1                                  \
                                                                                  : f))

#define SIMD_ROWS(row, n, bits)                                                                                        \
    row(__vadd##n(a, b), lanes(bits, false, a, b, [](int x, int y) { return x + y; }))                                 \
        row(__vsub##n(a, b), lanes(bits, false, a, b, [](int x, int y) { return x - y; })) row(                        \
            __vaddss##n(a, b),                                                                                         \
            lanes(bits, true, a, b,                                                                                    \
                  [](int x, int y) {                                                                                   \
                      return clamped(x + y, -(1 << (bits - 1)), (1 << (bits - 1)) - 1);                                \
                  })) row(__vaddus##n(a, b),                                                                           \
                          lanes(bits, false, a, b, [](int x, int y) { return clamped(x + y, 0, (1 << bits) - 1); }))   \
            row(__vsubss##n(a, b), lanes(bits, true, a, b,                                                             \
                                         [](int x, int y) {                                                            \
                                             return clamped(x - y, -(1 << (bits - 1)), (1 << (bits - 1)) - 1);         \
                                         })) row(__vsubus##n(a, b), lanes(bits, false, a, b,                           \
                                                                          [](int x, int y) {                           \
                                                                              return clamped(x - y, 0, 1 << bits);     \
                                                                          })) row(__vavgs##n(a, b),                    \
                                                                                  lanes(bits, true, a, b,              \
                                                                                        [](int x, int y) {             \
                                                                                            return (x + y +            \
                                                                                                    (x + y >= 0)) >>   \
                                                                                                   1;                  \
                                                                                        }))                            \
                row(__vavgu##n(a, b), lanes(bits, false, a, b, [](int x, int y) { return (x + y + 1) >> 1; })) row(    \
                    __vhaddu##n(a, b), lanes(bits, false, a, b, [](int x, int y) { return (x + y) >> 1; }))            \
                    row(__vmaxs##n(a, b), lanes(bits, true, a, b, [](int x, int y) { return x > y ? x : y; })) row(    \
                        __vminu##n(a, b), lanes(bits, false, a, b, [](int x, int y) { return x < y ? x : y; }))        \
                        row(__vabsdiffs##n(a, b),                                                                      \
                            lanes(bits, true, a, b, [](int x, int y) { return x > y ? x - y : y - x; }))               \
                            row(__vabsdiffu##n(a, b),                                                                  \
                                lanes(bits, false, a, b, [](int x, int y) { return x > y ? x - y : y - x; }))          \
                                row(__vabs##n(a), lanes(bits, true, a, 0, [](int x, int) { return x < 0 ? -x : x; }))  \
                                    row(__vabsss##n(a),                                                                \
                                        lanes(bits, true, a, 0,                                                        \
                                              [](int x, int) {                                                         \
                                                  return clamped(x < 0 ? -x : x, 0, (1 << (bits - 1)) - 1);            \
                                              })) row(__vneg##n(a),                                                    \
                                                      lanes(bits, true, a, 0, [](int x, int) { return -x; }))          \
                                        row(__vnegss##n(a),                                                            \
                                            lanes(bits, true, a, 0,                                                    \
                                                  [](int x, int) {                                                     \
                                                      return clamped(-x, -(1 << (bits - 1)), (1 << (bits - 1)) - 1);   \
                                                  })) row(__vcmpeq##n(a, b),                                           \
                                                          lanes(bits, false, a,                                        \
                                                                b, [](int x, int y) { return x == y ? -1 : 0; }))      \
                                            row(__vcmpgts##n(a, b),                                                    \
                                                lanes(bits, true, a, b, [](int x, int y) { return x > y ? -1 : 0; }))  \
                                                row(__vcmpleu##n(a, b),                                                \
                                                    lanes(bits, false, a, b,                                           \
                                                          [](int x, int y) { return x <= y ? -1 : 0; }))               \
                                                    row(__vsetne##n(a, b),                                             \
                                                        lanes(bits, false, a, b, [](int x, int y) { return x != y; })) \
                                                        row(__vsetlts##n(a, b),                                        \
                                                            lanes(bits, true, a, b,                                    \
                                                                  [](int x, int y) { return x < y; }))

#define ALL_ROWS(row) INTEGER_ROWS(row) FLOAT_ROWS(row) SIMD_ROWS(row, 2, 16) SIMD_ROWS(row, 4, 8)

__global__ void compute(results *r, unsigned a, unsigned b, unsigned c, unsigned long long w, float f, double d)
{
    int n = 0;
#define DEVICE_ROW(device, host) r->v[n++] = device;
    ALL_ROWS(DEVICE_ROW)
    r->n = n;
}

static void check_values()
{
    static const char *const names[] = {
#define NAME_ROW(device, host) #device,
        ALL_ROWS(NAME_ROW)};
    enum { COUNT = sizeof names / sizeof names[0], CASES = 6 };
    static const struct {
        unsigned a, b, c;
        unsigned long long w;
        float f;
        double d;
    } cases[CASES] = {{0x12345678, 0x9abcdef0, 0x7531, 0x123456789abcdef0, 2.5f, -3.75},
                      {0, 0xffffffff, 40, 0, -0.3f, 1e9 + 0.5},
                      {0x80808080, 0x7f7f8000, 33, ~0ull, -7.5f, 1.0 / 3},
                      {0x80008000, 0x80008000, 0xfedc, 1ull << 63, 1e6f + 0.5f, -1e-3},
                      {0xffff0001, 0x0001ffff, 31, 0x8000000000000001, 0.999f, 2.5},
                      {0x00ff7f80, 0x807fff00, 5, 42, 1.5f, -2.5}};
    results *r = shared_memory<results>(1);
    bool ok[COUNT];
    memset(ok, 1, sizeof ok);
    for (int k = 0; k < CASES; k++) {
        const unsigned a = cases[k].a, b = cases[k].b, c = cases[k].c;
        const unsigned long long w = cases[k].w;
        const float f = cases[k].f;
        const double d = cases[k].d;
        compute<<<1, 1>>>(r, a, b, c, w, f, d);
        CUDA(cudaDeviceSynchronize());
        int n = 0;
#define HOST_ROW(device, host)                                                                                         \
    {                                                                                                                  \
        const unsigned long long right = host;                                                                         \
        if (r->v[n] != right)                                                                                          \
            printf("# %s, case %d: %llx, not %llx\n", names[n], k, r->v[n], right), ok[n] = false;                     \
        n++;                                                                                                           \
    }
        ALL_ROWS(HOST_ROW)
    }
    bool all = true;
    for (int i = 0; i < COUNT; i++)
        all = all && ok[i];
    CHECK(all && r->n == COUNT, "%d integer, cast, rounding and SIMD intrinsics", COUNT);
}

/* ---- warps ---- */

struct warp {
    int idx[32], up[32], down[32], x_or[32], narrow[32];
    double wide[32];
    unsigned ballot, active, any, all, uni, match[32], match_all, sum, least, bits;
    int predicate, signed_least;
};

__global__ void warp_functions(warp *o)
{
    const unsigned full = 0xffffffff;
    const int lane = threadIdx.x;
    o->idx[lane] = __shfl_sync(full, lane * 10, 5);
    o->up[lane] = __shfl_up_sync(full, lane, 3);
    o->down[lane] = __shfl_down_sync(full, lane, 3);
    o->x_or[lane] = __shfl_xor_sync(full, lane, 1);
    o->narrow[lane] = __shfl_sync(full, lane, 2, 8);
    o->wide[lane] = __shfl_down_sync(full, lane + 0.125, 1, 16);
    const unsigned ballot = __ballot_sync(full, lane % 3 == 0), any = __any_sync(full, lane == 31);
    const unsigned all = __all_sync(full, lane < 31), uni = __uni_sync(full, 1);
    o->match[lane] = __match_any_sync(full, lane % 4);
    int predicate;
    const unsigned match_all = __match_all_sync(full, 7ull << 40, &predicate);
    const unsigned sum = __reduce_add_sync(full, (unsigned)lane), least = __reduce_min_sync(full, (unsigned)lane + 3);
    const int signed_least = __reduce_min_sync(full, lane - 16);
    const unsigned bits = __reduce_or_sync(full, 1u << lane / 2);
    __syncwarp();
    if (lane % 2 == 0) {
        const unsigned active = __activemask();
        if (lane == 0)
            o->active = active;
    }
    if (lane == 0) {
        o->ballot = ballot, o->any = any, o->all = all, o->uni = uni, o->match_all = match_all,
        o->predicate = predicate;
        o->sum = sum, o->least = least, o->signed_least = signed_least, o->bits = bits;
    }
}

static void check_warp()
{
    warp *o = shared_memory<warp>(1);
    warp_functions<<<1, 32>>>(o);
    CUDA(cudaDeviceSynchronize());
    bool shuffles = true, matches = true;
    for (int i = 0; i < 32; i++) {
        shuffles = shuffles && o->idx[i] == 50 && o->up[i] == (i < 3 ? i : i - 3) &&
                   o->down[i] == (i > 28 ? i : i + 3) && o->x_or[i] == (i ^ 1) && o->narrow[i] == (i & ~7) + 2 &&
                   o->wide[i] == (i % 16 == 15 ? i : i + 1) + 0.125;
        matches = matches && o->match[i] == 0x11111111u << i % 4;
    }
    CHECK(shuffles, "shuffles of 4 and 8 bytes, by index, up, down, xor, in segments");
    CHECK(o->ballot == 0x49249249 && o->any == 1 && o->all == 0 && o->uni == 1, "votes");
    CHECK(matches && o->match_all == 0xffffffff && o->predicate == 1, "matches");
    CHECK(o->sum == 496 && o->least == 3 && o->signed_least == -16 && o->bits == 0xffff, "reductions");
    CHECK(o->active == 0x55555555, "__activemask in a branch");
}

/* ---- memory, barriers, clocks ---- */

struct memory {
    int count, all, any, spaces;
    float4 loaded, stored;
    char2 small;
    long long whole;
    bool clocks;
};
__constant__ int constant_word = 3;

__global__ void memory_functions(memory *m, const float4 *v, const char2 *c, const long long *w)
{
    __shared__ int s;
    int local = threadIdx.x;
    const long long begin = clock64();
    const int count = __syncthreads_count(threadIdx.x % 3 == 0), all = __syncthreads_and(threadIdx.x < 40);
    const int any = __syncthreads_or(threadIdx.x == 39);
    s = 0;
    if (threadIdx.x)
        return;
    m->count = count, m->all = all, m->any = any;
    m->loaded = __ldg(v);
    __stcg(&m->stored, __ldcs(v));
    m->small = __ldca(c);
    m->whole = __ldcv(w);
    int *volatile hidden = &local;
    m->spaces = !!__isGlobal(m) | !!__isShared(&s) << 1 | !!__isLocal(hidden) << 2 |
                !!__isConstant(&constant_word) << 3 | !!__isShared(m) << 4 |
                (__cvta_shared_to_generic(__cvta_generic_to_shared(&s)) == &s) << 5 | !!__isCtaShared(&s) << 6 |
                !!__isCtaShared(m) << 7;
    if (__isShared(m)) /* it is not, which clang knows */
        m->spaces += *(volatile int *)__cvta_generic_to_shared(m);
    __nanosleep(100);
    __threadfence_block();
    __threadfence();
    __threadfence_system();
    m->clocks = clock64() >= begin && clock() != 0;
}

static void check_memory()
{
    memory *m = shared_memory<memory>(1);
    float4 *v = shared_memory<float4>(1);
    char2 *c = shared_memory<char2>(1);
    long long *w = shared_memory<long long>(1);
    *v = make_float4(1, 2, 3, 4);
    *c = make_char2(-5, 6);
    *w = -(1ll << 40);
    memory_functions<<<1, 40>>>(m, v, c, w);
    CUDA(cudaDeviceSynchronize());
    CHECK(m->count == 14 && m->all && m->any, "__syncthreads_count, _and, _or");
    CHECK(m->loaded.y == 2 && m->stored.w == 4 && m->small.x == -5 && m->small.y == 6 && m->whole == -(1ll << 40),
          "loads and stores with cache operators");
    CHECK(m->spaces == (1 | 2 | 4 | 8 | 32 | 64), "which space an address is in");
    CHECK(m->clocks, "clocks go on");
}

/* A number as the double next to it and the rest, the sum of which has 100 bits of it. */
struct two_parts {
    double high, low;
    const char *number;
};
static void check_constants()
{
    const two_parts constants[] = {
        {CUDART_PI_HI, CUDART_PI_LO, "3.14159265358979323846264338327950288"},
        {CUDART_PIO2_HI, CUDART_PIO2_LO, "1.57079632679489661923132169163975144"},
        {CUDART_PIO4_HI, CUDART_PIO4_LO, "0.785398163397448309615660845819875721"},
        {CUDART_LN2_HI, CUDART_LN2_LO, "0.693147180559945309417232121458176568"},
        {CUDART_LNT_HI, CUDART_LNT_LO, "2.30258509299404568401799145468436421"},
        {CUDART_L2E_HI, CUDART_L2E_LO, "1.44269504088896340735992468100189214"},
        {CUDART_LGE_HI, CUDART_LGE_LO, "0.434294481903251827651128918916605082"},
        {CUDART_LG2_HI, CUDART_LG2_LO, "0.301029995663981195213738894724493027"},
        {CUDART_SQRT_HALF_HI, CUDART_SQRT_HALF_LO, "0.707106781186547524400844362104849039"},
        {CUDART_SQRT_2PI_HI, CUDART_SQRT_2PI_LO, "2.50662827463100050241576528481104525"},
        {CUDART_SQRT_PIO2_HI, CUDART_SQRT_PIO2_LO, "1.25331413731550025120788264240552263"}};
    bool exact = CUDART_SQRT_2OPI == strtod("0.797884560802865355879892119868763737", nullptr);
    for (const two_parts &c : constants) {
        const long double rest = strtold(c.number, nullptr) - (long double)c.high;
        exact = exact && c.high == strtod(c.number, nullptr) && fabsl(rest - (long double)c.low) < 1e-19L * (long double)c.high;
    }
    CHECK(exact, "constants in two parts");
}

/* Absolute values as CUDA's header computes them, which C's hypot() rounds otherwise. */
static __host__ __device__ bool has_its_absolute_values(float one)
{
    const cuFloatComplex z = make_cuFloatComplex(-464 * one, one), infinite = make_cuFloatComplex(one, -INFINITY);
    const cuDoubleComplex w = make_cuDoubleComplex(one, 57344.0 * one);
    return cuCabsf(z) == 464.00103759765625f && cuCabs(w) == 57344.000008719304 && cuCabsf(infinite) == INFINITY &&
           cuCabs(make_cuDoubleComplex(one - 1, 0)) == 0 && cuCabs(make_cuDoubleComplex(0x1.8p600 * one, 0x1p601)) == 0x1.4p601;
}
__global__ void absolute_values(float one, int *right)
{
    *right = has_its_absolute_values(one);
}
static void check_absolute_values()
{
    int *right = shared_memory<int>(1);
    volatile float one = 1;
    absolute_values<<<1, 1>>>(one, right);
    CUDA(cudaDeviceSynchronize());
    CHECK(*right && has_its_absolute_values(one), "absolute values of complex numbers");
}

int main()
{
    check_constants();
    check_absolute_values();
    check_values();
    check_warp();
    check_memory();
    return done();
}
