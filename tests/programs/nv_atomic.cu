/* The compiler's own functions __nv_atomic_...: every order, every scope, every size. CONSUME acts as ACQUIRE, and the scope
 * of one thread as that of a block (CUDA Programming Guide, "Atomic functions").
 */
#include "program.h"

#ifdef __CUDACC__
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned long long u64;
typedef unsigned __int128 u128;

#define ORDERS(M, scope)                                                                                               \
    M(__NV_ATOMIC_RELAXED, scope)                                                                                      \
    M(__NV_ATOMIC_CONSUME, scope)                                                                                      \
    M(__NV_ATOMIC_ACQUIRE, scope)                                                                                      \
    M(__NV_ATOMIC_RELEASE, scope)                                                                                      \
    M(__NV_ATOMIC_ACQ_REL, scope)                                                                                      \
    M(__NV_ATOMIC_SEQ_CST, scope)
#define NARROW(M)                                                                                                      \
    ORDERS(M, __NV_THREAD_SCOPE_THREAD) ORDERS(M, __NV_THREAD_SCOPE_BLOCK) ORDERS(M, __NV_THREAD_SCOPE_CLUSTER)
#define WIDE(M) ORDERS(M, __NV_THREAD_SCOPE_DEVICE) ORDERS(M, __NV_THREAD_SCOPE_SYSTEM)

#define RMW(order, scope)                                                                                              \
    __nv_atomic_fetch_add(cell++, 2u, order, scope);                                                                   \
    __nv_atomic_add(cell++, 1u, order, scope);                                                                         \
    {                                                                                                                  \
        unsigned seen = 0;                                                                                             \
        while (!__nv_atomic_compare_exchange_n(cell, &seen, seen + 3, false, order, __NV_ATOMIC_RELAXED, scope)) {     \
        }                                                                                                              \
        cell++;                                                                                                        \
    }
/* Loads and stores of the orders that they may have; each thread has a place of its own. */
#define LOAD(order, scope)  sum += __nv_atomic_load_n(mine, order, scope);
#define STORE(order, scope) __nv_atomic_store_n(mine, *mine + 1, order, scope);
#define OF_SCOPE(scope)                                                                                                \
    LOAD(__NV_ATOMIC_RELAXED, scope)                                                                                   \
    STORE(__NV_ATOMIC_RELAXED, scope)                                                                                  \
    LOAD(__NV_ATOMIC_CONSUME, scope)                                                                                   \
    STORE(__NV_ATOMIC_RELEASE, scope)                                                                                  \
    LOAD(__NV_ATOMIC_ACQUIRE, scope)                                                                                   \
    STORE(__NV_ATOMIC_SEQ_CST, scope)                                                                                  \
    LOAD(__NV_ATOMIC_SEQ_CST, scope)                                                                                   \
    __nv_atomic_thread_fence(__NV_ATOMIC_RELAXED, scope);                                                              \
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, scope);                                                              \
    __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, scope);                                                              \
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, scope);                                                              \
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, scope);
/* What is done to numbers; the compiler has no additions of long long, and no minima of floats. */
#define ADDS(T, at)                                                                                                    \
    __nv_atomic_fetch_add((T *)(at), (T)(threadIdx.x + 1), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);             \
    __nv_atomic_fetch_sub((T *)(at) + 1, (T)(threadIdx.x + 1), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
#define LIMITS(T, at)                                                                                                  \
    __nv_atomic_fetch_max((T *)(at) + 2, (T)(threadIdx.x + 1), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);         \
    __nv_atomic_fetch_min((T *)(at) + 3, (T)(-1 - (int)threadIdx.x), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
#define BITS(T, at)                                                                                                    \
    {                                                                                                                  \
        T *c = (T *)(at);                                                                                              \
        __nv_atomic_fetch_or(c, (T)1 << threadIdx.x % 32, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);              \
        __nv_atomic_fetch_xor(c + 1, (T)1 << threadIdx.x % 5, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);          \
        if (threadIdx.x == 0)                                                                                          \
            __nv_atomic_fetch_or(c + 2, ~(T)0, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);                         \
        __syncthreads();                                                                                               \
        __nv_atomic_fetch_and(c + 2, ~((T)1 << threadIdx.x % 7), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);       \
    }
/* Of a size: load, store, exchange and compare, in both forms. Leaves 1 where all is as it should be. */
#define OF_SIZE(T, good)                                                                                               \
    {                                                                                                                  \
        __shared__ T cell;                                                                                             \
        T value = 5, got = 0;                                                                                          \
        __nv_atomic_store_n(&cell, (T)3, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);                                \
        good = __nv_atomic_load_n(&cell, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK) == 3;                           \
        __nv_atomic_store(&cell, &value, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);                               \
        __nv_atomic_load(&cell, &got, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);                                  \
        good &= got == 5;                                                                                              \
    }
#define EXCHANGE(T, good)                                                                                              \
    {                                                                                                                  \
        __shared__ T cell;                                                                                             \
        T value = ((T)1 << (sizeof(T) * 8 - 1)) + 9, got = 0;                                                          \
        cell = 7;                                                                                                      \
        good &= __nv_atomic_exchange_n(&cell, (T)8, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK) == 7;                \
        __nv_atomic_exchange(&cell, &value, &got, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);                      \
        good &= got == 8 && cell == value;                                                                             \
    }
#define COMPARE(T, good)                                                                                               \
    {                                                                                                                  \
        __shared__ T cell;                                                                                             \
        T expected = 1, desired = ((T)1 << (sizeof(T) * 8 - 1)) + 4;                                                   \
        cell = 2;                                                                                                      \
        good &= !__nv_atomic_compare_exchange(&cell, &expected, &desired, false, __NV_ATOMIC_ACQ_REL,                  \
                                              __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK);                           \
        good &= expected == 2 && cell == 2;                                                                            \
        good &= __nv_atomic_compare_exchange(&cell, &expected, &desired, true, __NV_ATOMIC_SEQ_CST,                    \
                                             __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);                           \
        good &= cell == desired;                                                                                       \
    }
#endif

KERNEL rmw_narrow(unsigned *cell) BODY(NARROW(RMW))
KERNEL rmw_wide(unsigned *cell) BODY(WIDE(RMW))
KERNEL loads_and_stores(unsigned *places, unsigned *total) BODY(
    unsigned *mine = places + blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    OF_SCOPE(__NV_THREAD_SCOPE_THREAD)
    OF_SCOPE(__NV_THREAD_SCOPE_BLOCK)
    OF_SCOPE(__NV_THREAD_SCOPE_CLUSTER)
    OF_SCOPE(__NV_THREAD_SCOPE_DEVICE)
    OF_SCOPE(__NV_THREAD_SCOPE_SYSTEM)
    atomicAdd(total, sum);
)
KERNEL numbers(char *at) BODY(
    ADDS(int, at)
    LIMITS(int, at)
    ADDS(unsigned, at + 16)
    LIMITS(unsigned, at + 16)
    LIMITS(long long, at + 32)
    ADDS(u64, at + 64)
    LIMITS(u64, at + 64)
    BITS(unsigned, at + 96)
    BITS(u64, at + 112)
)
KERNEL floats(char *at) BODY(
    ADDS(float, at)
    ADDS(double, at + 16)
)
KERNEL sizes(int *good) BODY(
    OF_SIZE(u8, good[0])
    OF_SIZE(u16, good[1])
    OF_SIZE(unsigned, good[2])
    OF_SIZE(u64, good[3])
    OF_SIZE(u128, good[4])
    COMPARE(u16, good[1])
    EXCHANGE(unsigned, good[2])
    COMPARE(unsigned, good[2])
    EXCHANGE(u64, good[3])
    COMPARE(u64, good[3])
    EXCHANGE(u128, good[4])
    COMPARE(u128, good[4])
)
/* One block writes data, then a flag; the others wait for the flag and read the data. */
KERNEL pass_on(int *data, int *flag, int *bad, int round) BODY(
    if (blockIdx.x == 0) {
        data[threadIdx.x] = round;
        __syncthreads();
        if (threadIdx.x == 0)
            __nv_atomic_store_n(flag, round, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    } else {
        if (threadIdx.x == 0)
            while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != round) {
            }
        __syncthreads();
        if (data[threadIdx.x] != round)
            __nv_atomic_add(bad, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    }
)
REGISTER_KERNEL(rmw_narrow)
REGISTER_KERNEL(rmw_wide)
REGISTER_KERNEL(loads_and_stores)
REGISTER_KERNEL(numbers)
REGISTER_KERNEL(floats)
REGISTER_KERNEL(sizes)
REGISTER_KERNEL(pass_on)

enum { BLOCKS = 3, THREADS = 64, N = THREADS * (THREADS + 1) / 2 };

static void every_order(const void *kernel, int scopes, int blocks, const char *what)
{
    unsigned cells[3 * 6 * 3], *p = (unsigned *)device_memory(sizeof cells);
    unsigned n = (unsigned)(blocks * THREADS);
    int good = 1;
    CHECK(LAUNCH(kernel, blocks, THREADS, 0, 0, &p));
    CHECK(cudaMemcpy(cells, p, sizeof cells, cudaMemcpyDeviceToHost));
    for (int i = 0; i < scopes * 6; i++)
        good &= cells[3 * i] == 2 * n && cells[3 * i + 1] == n && cells[3 * i + 2] == 3 * n;
    expect(good, what);
}

static void arithmetic(void)
{
    static const unsigned bits[] = {~0u, 0xf, ~0u << 7};
    static const unsigned long long wide_bits[] = {0xffffffff, 0xf, ~0ull << 7};
    struct {
        int i[4];
        unsigned u[4];
        long long l[4];
        unsigned long long ul[4];
        unsigned b[4];
        unsigned long long wb[3];
    } r;
    struct {
        float f[4];
        double d[4];
    } x;
    char *p = (char *)device_memory(sizeof r), *q = (char *)device_memory(sizeof x);
    CHECK(LAUNCH(numbers, 1, THREADS, 0, 0, &p));
    CHECK(LAUNCH(floats, 1, THREADS, 0, 0, &q));
    CHECK(cudaMemcpy(&r, p, sizeof r, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&x, q, sizeof x, cudaMemcpyDeviceToHost));
    expect(r.i[0] == N && r.i[1] == -N && r.i[2] == THREADS && r.i[3] == -THREADS, "int");
    expect(r.u[0] == N && r.u[1] == 0u - N && r.u[2] == THREADS && r.u[3] == 0, "unsigned");
    expect(r.l[2] == THREADS && r.l[3] == -THREADS, "long long");
    expect(r.ul[0] == N && r.ul[1] == 0ull - N && r.ul[2] == THREADS && r.ul[3] == 0, "unsigned long long");
    /* 64 threads, 5 bits: bits 0 to 3 are turned 13 times, bit 4 12 times */
    expect(memcmp(r.b, bits, sizeof bits) == 0, "or, xor, and of unsigned");
    expect(memcmp(r.wb, wide_bits, sizeof wide_bits) == 0, "or, xor, and of unsigned long long");
    expect(x.f[0] == N && x.f[1] == -N, "float");
    expect(x.d[0] == N && x.d[1] == -N, "double");
}

int main(void)
{
    unsigned total = 0, *places = (unsigned *)device_memory(BLOCKS * THREADS * 4), *sum = (unsigned *)device_memory(4);
    int good[5], bad = -1, *g = (int *)device_memory(sizeof good), *data = (int *)device_memory(THREADS * 4);
    int *flag = (int *)device_memory(4), *b = (int *)device_memory(4);
    every_order((const void *)rmw_narrow, 3, 1, "every order with the scopes thread, block and cluster");
    every_order((const void *)rmw_wide, 2, BLOCKS, "every order with the scopes device and system");
    CHECK(LAUNCH(loads_and_stores, BLOCKS, THREADS, 0, 0, &places, &sum));
    CHECK(cudaMemcpy(&total, sum, 4, cudaMemcpyDeviceToHost));
    /* of a scope that begins with x: x + (x + 1) + (x + 2) + (x + 3); x is 0, 3, 6, 9, 12 */
    expect(total == BLOCKS * THREADS * (4 * 30 + 5 * 6), "loads, stores and fences of every order and scope");
    arithmetic();
    CHECK(LAUNCH(sizes, 1, 1, 0, 0, &g));
    CHECK(cudaMemcpy(good, g, sizeof good, cudaMemcpyDeviceToHost));
    expect(good[0], "8 bits");
    expect(good[1], "16 bits");
    expect(good[2], "32 bits");
    expect(good[3], "64 bits");
    expect(good[4], "128 bits");
    for (int round = 1; round <= 20; round++)
        CHECK(LAUNCH(pass_on, BLOCKS, THREADS, 0, 0, &data, &flag, &b, &round));
    CHECK(cudaMemcpy(&bad, b, 4, cudaMemcpyDeviceToHost));
    expect(bad == 0, "what was written before a release is there after the acquire");
    return done();
}
