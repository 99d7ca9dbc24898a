/* Every atomic function of CUDA C++ gives the value that its description gives, at every scope, on global and on shared memory.
 * Compiled for sm_90, and by nvcc as well where there is one.
 */
#include "tap.h"

#include <cstring>

enum { THREADS = 64 };

/* What an operation makes of 0, 1, 2 ... in any order, and what it returned: old values must be different states. */
template <class T> struct outcome {
    T global[3], shared[3];   /* device, block, system */
    T returned[3][THREADS];   /* of the global ones */
};

#define SCOPES(row) row(, 0) row(_block, 1) row(_system, 2)

#define KERNEL(name, T)                                                                                                \
    __global__ void name##_##T##_kernel(outcome<T> *o, T start)                                                        \
    {                                                                                                                  \
        __shared__ T s[3];                                                                                             \
        const T v = (T)(threadIdx.x + 1);                                                                              \
        if (threadIdx.x < 3)                                                                                           \
            s[threadIdx.x] = start, o->global[threadIdx.x] = start;                                                    \
        __syncthreads();                                                                                               \
        o->returned[0][threadIdx.x] = name(&o->global[0], v);                                                          \
        o->returned[1][threadIdx.x] = name##_block(&o->global[1], v);                                                  \
        o->returned[2][threadIdx.x] = name##_system(&o->global[2], v);                                                 \
        name(&s[0], v);                                                                                                \
        name##_block(&s[1], v);                                                                                        \
        name##_system(&s[2], v);                                                                                       \
        __syncthreads();                                                                                               \
        if (threadIdx.x < 3)                                                                                           \
            o->shared[threadIdx.x] = s[threadIdx.x];                                                                   \
    }

typedef unsigned long long ull;
typedef long long ll;

#define TYPES(row)                                                                                                     \
    row(atomicAdd, int, 5, 5 + 2080) row(atomicAdd, unsigned, 5, 5 + 2080) row(atomicAdd, ull, 5, 5 + 2080)            \
    row(atomicAdd, float, 0.5f, 2080.5f) row(atomicAdd, double, 0.5, 2080.5)                                           \
    row(atomicSub, int, 5, 5 - 2080) row(atomicSub, unsigned, 5, 5u - 2080u)                                           \
    row(atomicMin, int, 7, 1) row(atomicMin, unsigned, 7, 1) row(atomicMin, ull, 7, 1) row(atomicMin, ll, -7, -7)      \
    row(atomicMax, int, -7, 64) row(atomicMax, unsigned, 7, 64) row(atomicMax, ull, 99, 99) row(atomicMax, ll, -7, 64) \
    row(atomicAnd, int, -1, 0) row(atomicAnd, unsigned, 0xff00, 0) row(atomicAnd, ull, ~0ull, 0) row(atomicAnd, ll, -1, 0) \
    row(atomicOr, int, 256, 256 | 127) row(atomicOr, unsigned, 0, 127) row(atomicOr, ull, 1ull << 40, 1ull << 40 | 127) \
    row(atomicOr, ll, 1ll << 40, 1ll << 40 | 127) row(atomicXor, ll, 1ll << 40, 1ll << 40 ^ 64)                        \
    row(atomicXor, int, 1, 1 ^ 64) row(atomicXor, unsigned, 0, 64) row(atomicXor, ull, 1ull << 40, 1ull << 40 ^ 64)
#define KERNEL_ROW(name, T, start, end) KERNEL(name, T)
TYPES(KERNEL_ROW)

template <class T> void check(const char *what, void (*kernel)(outcome<T> *, T), T start, T end)
{
    outcome<T> *o = shared_memory<outcome<T>>(1);
    kernel<<<1, THREADS>>>(o, start);
    CUDA(cudaDeviceSynchronize());
    bool values = true, first = true;
    for (int i = 0; i < 3; i++) {
        values = values && o->global[i] == end && o->shared[i] == end;
        bool found = false;
        for (int t = 0; t < THREADS; t++)
            found = found || o->returned[i][t] == start;
        first = first && found; /* somebody was the first */
    }
    CHECK(values && first, "%s", what);
    CUDA(cudaFree(o));
}

/* ---- increments that wrap, exchanges, compare and swap ---- */

struct alignas(16) pair {
    ull lo, hi;
};

struct rest {
    unsigned inc[3], dec[3];
    int exch_int[3], cas_int[3];
    unsigned exch_unsigned[3], cas_unsigned[3];
    ull exch_ull[3], cas_ull[3];
    float exch_float[3];
    unsigned short cas_short[3 + 1]; /* two in a word */
    pair exch_pair[3], cas_pair[3];
    float2 add_float2[3];
    float4 add_float4[3];
    int wrong;
};

#ifdef __clang__
#define SHORT_CAS(suffix) atomicCAS##suffix
#else /* CUDA's own headers have it at the device's scope only */
#define SHORT_CAS(suffix) atomicCAS
#endif

#define REST(suffix, i)                                                                                                \
    atomicInc##suffix(&r->inc[i], 9);                                                                                  \
    atomicDec##suffix(&r->dec[i], 9);                                                                                  \
    if (threadIdx.x == 0) {                                                                                            \
        r->wrong += atomicExch##suffix(&r->exch_int[i], -3) != 0;                                                      \
        r->wrong += atomicExch##suffix(&r->exch_unsigned[i], 3u) != 0;                                                 \
        r->wrong += atomicExch##suffix(&r->exch_ull[i], 3ull << 40) != 0;                                              \
        r->wrong += atomicExch##suffix(&r->exch_float[i], 1.5f) != 0;                                                  \
        pair p = atomicExch##suffix(&r->exch_pair[i], pair{1, 2});                                                     \
        r->wrong += p.lo != 0 || p.hi != 0;                                                                            \
        p = atomicExch##suffix(&r->exch_pair[i], pair{3, 4});                                                          \
        r->wrong += p.lo != 1 || p.hi != 2;                                                                            \
        p = atomicCAS##suffix(&r->cas_pair[i], pair{0, 0}, pair{5, 6});                                                \
        r->wrong += p.lo != 0 || p.hi != 0;                                                                            \
        p = atomicCAS##suffix(&r->cas_pair[i], pair{5, 0}, pair{7, 8}); /* not equal: nothing happens */               \
        r->wrong += p.lo != 5 || p.hi != 6;                                                                            \
    }                                                                                                                  \
    { /* a sum by compare and swap, by all threads */                                                                  \
        int old = r->cas_int[i], assumed;                                                                              \
        do {                                                                                                           \
            assumed = old;                                                                                             \
            old = atomicCAS##suffix(&r->cas_int[i], assumed, assumed + 2);                                             \
        } while (old != assumed);                                                                                      \
        unsigned oldu = r->cas_unsigned[i], assumedu;                                                                  \
        do {                                                                                                           \
            assumedu = oldu;                                                                                           \
            oldu = atomicCAS##suffix(&r->cas_unsigned[i], assumedu, assumedu + 3);                                     \
        } while (oldu != assumedu);                                                                                    \
        ull oldl = r->cas_ull[i], assumedl;                                                                            \
        do {                                                                                                           \
            assumedl = oldl;                                                                                           \
            oldl = atomicCAS##suffix(&r->cas_ull[i], assumedl, assumedl + (1ull << 33));                               \
        } while (oldl != assumedl);                                                                                    \
        unsigned short olds = r->cas_short[i], assumeds;                                                               \
        do {                                                                                                           \
            assumeds = olds;                                                                                           \
            olds = SHORT_CAS(suffix)(&r->cas_short[i], assumeds, (unsigned short)(assumeds + 5));                      \
        } while (olds != assumeds);                                                                                    \
    }                                                                                                                  \
    atomicAdd##suffix(&r->add_float2[i], make_float2(1, 2));                                                           \
    atomicAdd##suffix(&r->add_float4[i], make_float4(1, 2, 3, 4));

__global__ void rest_kernel(rest *r)
{
    SCOPES(REST)
}

static void check_rest()
{
    rest *r = shared_memory<rest>(1);
    rest_kernel<<<1, THREADS>>>(r);
    CUDA(cudaDeviceSynchronize());
    bool inc = true, exch = true, cas = true, wide = true, vectors = true;
    for (int i = 0; i < 3; i++) {
        inc = inc && r->inc[i] == THREADS % 10 && r->dec[i] == (10 - THREADS % 10) % 10;
        exch = exch && r->exch_int[i] == -3 && r->exch_unsigned[i] == 3 && r->exch_ull[i] == 3ull << 40 &&
               r->exch_float[i] == 1.5f;
        cas = cas && r->cas_int[i] == 2 * THREADS && r->cas_unsigned[i] == 3 * THREADS &&
              r->cas_ull[i] == (ull)THREADS << 33 && r->cas_short[i] == 5 * THREADS;
        wide = wide && r->exch_pair[i].lo == 3 && r->exch_pair[i].hi == 4 && r->cas_pair[i].lo == 5 && r->cas_pair[i].hi == 6;
        vectors = vectors && r->add_float2[i].x == THREADS && r->add_float2[i].y == 2 * THREADS &&
                  r->add_float4[i].x == THREADS && r->add_float4[i].w == 4 * THREADS;
    }
    CHECK(inc, "atomicInc and atomicDec wrap at their second operand");
    CHECK(exch && !r->wrong, "atomicExch returns what was there");
    CHECK(cas && r->cas_short[3] == 0, "atomicCAS of 16, 32 and 64 bits adds up, and leaves the neighbour alone");
    CHECK(wide && !r->wrong, "atomicExch and atomicCAS of 128 bits");
    CHECK(vectors, "atomicAdd of float2 and float4");
}

/* ---- __nv_atomic_* with orders and scopes ---- */

struct builtins {
    int add, sub, lowest, highest, bits_and, bits_or, bits_xor;
    ll lowest_ll;
    double add_double;
    float sub_float;
    unsigned char byte;
    unsigned short half_word;
    int exchanged, swapped, stored;
    pair wide, wide_copy, wide_exchanged;
    unsigned failures;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__global__ void builtins_kernel(builtins *b)
{
    const int v = threadIdx.x + 1;
    __nv_atomic_fetch_add(&b->add, v, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_add(&b->add, v, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_fetch_add(&b->add, v, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_CLUSTER);
    __nv_atomic_fetch_add(&b->add, v, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_fetch_add(&b->add, v, __NV_ATOMIC_SEQ_CST);
    __nv_atomic_fetch_add(&b->add, v, __NV_ATOMIC_CONSUME, __NV_THREAD_SCOPE_THREAD);
    __nv_atomic_fetch_sub(&b->sub, v, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_min(&b->lowest, -v, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_max(&b->highest, v, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_min(&b->lowest_ll, (ll)-v << 33, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_and(&b->bits_and, ~v, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_or(&b->bits_or, v, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_xor(&b->bits_xor, v, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_add(&b->add_double, 0.25, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_sub(&b->sub_float, 0.5f, __NV_ATOMIC_RELAXED);
    if (threadIdx.x)
        return;
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store_n(&b->byte, (unsigned char)200, __NV_ATOMIC_RELEASE);
    __nv_atomic_store_n(&b->half_word, (unsigned short)60000, __NV_ATOMIC_SEQ_CST);
    b->failures += __nv_atomic_load_n(&b->byte, __NV_ATOMIC_ACQUIRE) != 200;
    b->failures += __nv_atomic_load_n(&b->half_word, __NV_ATOMIC_SEQ_CST) != 60000;
    int from = 17, to = 0;
    __nv_atomic_store(&b->stored, &from, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_load(&b->stored, &to, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    b->failures += to != 17;
    b->failures += __nv_atomic_exchange_n(&b->exchanged, 5, __NV_ATOMIC_ACQ_REL) != 0;
    from = 6;
    __nv_atomic_exchange(&b->exchanged, &from, &to, __NV_ATOMIC_RELAXED);
    b->failures += to != 5;
    int expected = 1;
    b->failures += __nv_atomic_compare_exchange_n(&b->swapped, &expected, 9, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE);
    b->failures += expected != 0;
    b->failures += !__nv_atomic_compare_exchange_n(&b->swapped, &expected, 9, true, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED);
    int desired = 10;
    expected = 9;
    b->failures += !__nv_atomic_compare_exchange(&b->swapped, &expected, &desired, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED);
    pair p = {1, 2}, q = {0, 0};
    __nv_atomic_store(&b->wide, &p, __NV_ATOMIC_RELEASE);
    __nv_atomic_load(&b->wide, &q, __NV_ATOMIC_ACQUIRE);
    b->wide_copy = q;
    p = pair{3, 4};
    __nv_atomic_exchange(&b->wide, &p, &q, __NV_ATOMIC_ACQ_REL);
    b->wide_exchanged = q;
}
#endif

static void check_builtins()
{
    builtins *b = shared_memory<builtins>(1);
    b->bits_and = -1;
    builtins_kernel<<<1, THREADS>>>(b);
    CUDA(cudaDeviceSynchronize());
    CHECK(b->add == 6 * 2080 && b->sub == -2080 && b->add_double == 0.25 * THREADS && b->sub_float == -0.5f * THREADS,
          "__nv_atomic_fetch_add and _sub at all orders and scopes");
    CHECK(b->lowest == -THREADS && b->highest == THREADS && b->lowest_ll == -((ll)THREADS << 33),
          "__nv_atomic_fetch_min and _max");
    CHECK(b->bits_and == ~127 && b->bits_or == 127 && b->bits_xor == 64, "__nv_atomic_fetch_and, _or, _xor");
    CHECK(b->byte == 200 && b->half_word == 60000 && b->stored == 17, "__nv_atomic_store and _load of 1, 2 and 4 bytes");
    CHECK(b->exchanged == 6 && b->swapped == 10 && b->failures == 0, "__nv_atomic_exchange and _compare_exchange");
    CHECK(b->wide_copy.lo == 1 && b->wide_copy.hi == 2 && b->wide_exchanged.hi == 2 && b->wide.lo == 3,
          "__nv_atomic_load, _store and _exchange of 16 bytes");
}

int main()
{
#define CHECK_ROW(name, T, start, end) check<T>(#name " on " #T, name##_##T##_kernel, start, end);
    TYPES(CHECK_ROW)
    check_rest();
    check_builtins();
    return done();
}
