/* cuda::atomic and cuda::atomic_ref of CCCL's <cuda/atomic>: scopes, orders, sizes, host and device together. */
#include "program.h"

#ifdef __CUDACC__
/* Automatic storage is told apart with isspacep: nvcc 13.0 takes __isLocal() of such an object for false. */
#define _LIBCUDACXX_FORCE_PTX_AUTOMATIC_STORAGE_PATH
#include <cuda/atomic>

/* CCCL compares what is not lock-free with ==. */
struct alignas(16) two_words {
    long long a;
    long long b;
    __host__ __device__ bool operator==(const two_words &other) const { return a == other.a && b == other.b; }
};

struct large {
    int v[6];
    __host__ __device__ bool operator==(const large &other) const
    {
        bool same = true;
        for (int k = 0; k < 6; k++)
            same = same && v[k] == other.v[k];
        return same;
    }
};

/* "is_always_lock_free is sizeof(T) <= 8" */
static_assert(cuda::atomic<char>::is_always_lock_free, "");
static_assert(cuda::atomic<double, cuda::thread_scope_block>::is_always_lock_free, "");
static_assert(cuda::atomic<long long, cuda::thread_scope_device>::is_always_lock_free, "");
static_assert(!cuda::atomic<large>::is_always_lock_free, "");

/* The additions of one type by all threads, with every order. */
template <class T, cuda::thread_scope S> __device__ void add_all(cuda::atomic<T, S> *cell)
{
    cell->fetch_add(1, cuda::std::memory_order_relaxed);
    cell->fetch_add(1, cuda::std::memory_order_consume);
    cell->fetch_add(1, cuda::std::memory_order_acquire);
    cell->fetch_add(1, cuda::std::memory_order_release);
    cell->fetch_add(1, cuda::std::memory_order_acq_rel);
    cell->fetch_add(1);
}

/* The same through compare-and-exchange, for types of any size. */
template <class T, class F> __device__ void update(T *cell, F next)
{
    auto seen = cell->load(cuda::std::memory_order_relaxed);
    while (!cell->compare_exchange_weak(seen, next(seen))) {
    }
}

template <class A, class T> __device__ bool store_and_exchange(A *a, T x, T y, T z)
{
    a->store(x);
    bool good = a->load() == x && a->exchange(y) == x;
    T wrong = x;
    good = good && !a->compare_exchange_strong(wrong, z) && wrong == y;
    return good && a->compare_exchange_strong(wrong, z) && a->load(cuda::std::memory_order_acquire) == z;
}
#endif

KERNEL scopes(int *of_block, int *of_device, int *of_system) BODY(
    add_all((cuda::atomic<int, cuda::thread_scope_block> *)of_block + blockIdx.x);
    add_all((cuda::atomic<int, cuda::thread_scope_device> *)of_device);
    add_all((cuda::atomic<int, cuda::thread_scope_system> *)of_system);
)
KERNEL types(char *at) BODY(
    add_all((cuda::atomic<signed char, cuda::thread_scope_device> *)at);
    add_all((cuda::atomic<short, cuda::thread_scope_device> *)(at + 8));
    add_all((cuda::atomic<unsigned, cuda::thread_scope_device> *)(at + 16));
    add_all((cuda::atomic<long long, cuda::thread_scope_device> *)(at + 24));
    add_all((cuda::atomic<float, cuda::thread_scope_device> *)(at + 32));
    add_all((cuda::atomic<double, cuda::thread_scope_device> *)(at + 40));
    ((cuda::atomic<unsigned, cuda::thread_scope_device> *)(at + 48))->fetch_or(1u << threadIdx.x % 32);
    ((cuda::atomic<unsigned, cuda::thread_scope_device> *)(at + 52))->fetch_xor(1u << threadIdx.x % 5);
    ((cuda::atomic<unsigned, cuda::thread_scope_device> *)(at + 56))->fetch_and(~(1u << threadIdx.x % 7));
    ((cuda::atomic<int, cuda::thread_scope_device> *)(at + 60))->fetch_sub(2);
    ((cuda::atomic<unsigned, cuda::thread_scope_device> *)(at + 64))->fetch_min(1000u - threadIdx.x);
    ((cuda::atomic<unsigned, cuda::thread_scope_device> *)(at + 68))->fetch_max(1000u + threadIdx.x);
    ++*(cuda::atomic<int, cuda::thread_scope_device> *)(at + 72);
)
KERNEL minimum_of_the_manual(int *out) BODY(
    cuda::atomic<int> a(1); /* of automatic storage */
    auto x = a.fetch_min(0);
    auto y = a.load();
    out[0] = x == 1 && y == 0;
    cuda::atomic<int, cuda::thread_scope_block> b(7);
    out[1] = b.fetch_max(9) == 7 && b.load() == 9;
    int seen = 9;
    out[2] = b.fetch_add(1) == 9 && !b.compare_exchange_strong(seen, 5) && seen == 10 && b.exchange(6) == 10;
    out[2] = out[2] && b.fetch_or(8) == 6 && b.fetch_and(10) == 14 && b.fetch_xor(3) == 10 && b.fetch_sub(1) == 9;
    cuda::atomic<signed char> c(-3);
    out[3] = c.fetch_add(1) == -3 && c.fetch_add(1) == -2 && c.load() == -1;
)
KERNEL sizes(int *good) BODY(
    __shared__ cuda::atomic<signed char, cuda::thread_scope_block> c;
    __shared__ cuda::atomic<short, cuda::thread_scope_block> s;
    __shared__ cuda::atomic<int, cuda::thread_scope_block> i;
    __shared__ cuda::atomic<long long, cuda::thread_scope_block> l;
    __shared__ cuda::atomic<float, cuda::thread_scope_block> f;
    __shared__ cuda::atomic<int *, cuda::thread_scope_block> p;
    good[0] = store_and_exchange<decltype(c), signed char>(&c, 1, -2, 3);
    good[1] = store_and_exchange<decltype(s), short>(&s, 1, -2, 3);
    good[2] = store_and_exchange<decltype(i), int>(&i, 1, -2, 3);
    good[3] = store_and_exchange<decltype(l), long long>(&l, 1, -2, 3);
    good[4] = store_and_exchange<decltype(f), float>(&f, 1, -2, 3);
    good[5] = store_and_exchange<decltype(p), int *>(&p, good, good + 1, good + 2);
)
KERNEL large_ones(char *at) BODY(
    update((cuda::atomic<two_words, cuda::thread_scope_device> *)at, [](two_words t) {
        two_words next;
        next.a = t.a + 1;
        next.b = t.b - 1;
        return next;
    });
    update((cuda::atomic<large, cuda::thread_scope_device> *)(at + 64), [](large t) {
        for (int k = 0; k < 6; k++)
            t.v[k] += k;
        return t;
    });
)
KERNEL references(int *plain, double *number) BODY(
    cuda::atomic_ref<int, cuda::thread_scope_device> r(*plain);
    r.fetch_add(2);
    r.fetch_max(-1);
    cuda::atomic_ref<double, cuda::thread_scope_system> d(*number);
    d.fetch_add(0.5);
)
/* Each block takes turns with the host: odd numbers are the device's. */
KERNEL ping_pong(int *turn, int rounds) BODY(
    auto *t = (cuda::atomic<int, cuda::thread_scope_system> *)turn;
    for (int k = 0; k < rounds; k++) {
        while (t->load(cuda::std::memory_order_acquire) != 2 * k + 1) {
        }
        t->store(2 * k + 2, cuda::std::memory_order_release);
    }
)
REGISTER_KERNEL(scopes)
REGISTER_KERNEL(types)
REGISTER_KERNEL(minimum_of_the_manual)
REGISTER_KERNEL(sizes)
REGISTER_KERNEL(large_ones)
REGISTER_KERNEL(references)
REGISTER_KERNEL(ping_pong)

/* The host's side: the same class where there is one. */
#ifdef __CUDACC__
static void host_add(int *p)
{
    ((cuda::atomic<int, cuda::thread_scope_system> *)p)->fetch_add(1);
}
#else
static void host_add(int *p)
{
    __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST);
}
#endif

enum { BLOCKS = 3, THREADS = 64, N = BLOCKS * THREADS, HOST_TIMES = 20000, ROUNDS = 50 };

static void all_scopes(void)
{
    int cells[BLOCKS + 2], *p = NULL, good = 1;
    CHECK(cudaMallocManaged((void **)&p, sizeof cells, cudaMemAttachGlobal));
    memset(p, 0, sizeof cells);
    int *device = p + BLOCKS, *system = p + BLOCKS + 1;
    CHECK(LAUNCH(scopes, BLOCKS, THREADS, 0, 0, &p, &device, &system));
    for (int i = 0; i < HOST_TIMES; i++)
        host_add(system);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < BLOCKS; i++)
        good &= p[i] == 6 * THREADS;
    expect(good, "thread_scope_block, every order");
    expect(*device == 6 * N, "thread_scope_device, every order");
    expect(*system == 6 * N + HOST_TIMES, "thread_scope_system, with the host at the same time");
    int *turn = p, rounds = ROUNDS;
    *turn = 0;
    CHECK(LAUNCH(ping_pong, 1, 1, 0, 0, &turn, &rounds));
    for (int k = 0; k < ROUNDS; k++) {
        __atomic_store_n(turn, 2 * k + 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != 2 * k + 2) {
        }
    }
    CHECK(cudaDeviceSynchronize());
    expect(*turn == 2 * ROUNDS, "host and kernel take turns");
}

static void all_types(void)
{
    struct {
        signed char c;
        char pad0[7];
        short s;
        char pad1[6];
        unsigned u;
        char pad2[4];
        long long l;
        float f;
        char pad3[4];
        double d;
        unsigned either, exclusive, both;
        int minus;
        unsigned least, most;
        int plus;
    } r;
    memset(&r, 0, sizeof r);
    r.both = ~0u, r.least = ~0u;
    char *p = (char *)device_memory(sizeof r);
    CHECK(cudaMemcpy(p, &r, sizeof r, cudaMemcpyHostToDevice));
    CHECK(LAUNCH(types, BLOCKS, THREADS, 0, 0, &p));
    CHECK(cudaMemcpy(&r, p, sizeof r, cudaMemcpyDeviceToHost));
    expect(r.c == (signed char)(6 * N) && r.s == 6 * N, "fetch_add of 8 and 16 bits");
    expect(r.u == 6 * N && r.l == 6 * N, "fetch_add of 32 and 64 bits");
    expect(r.f == 6 * N && r.d == 6 * N, "fetch_add of float and double");
    /* 3 blocks: bits 0 to 3 are turned 39 times, bit 4 36 times */
    expect(r.either == ~0u && r.exclusive == 0xf && r.both == ~0u << 7, "fetch_or, fetch_xor, fetch_and");
    expect(r.minus == -2 * N && r.plus == N, "fetch_sub and ++");
    expect(r.least == 1000 - (THREADS - 1) && r.most == 1000 + THREADS - 1, "fetch_min and fetch_max");
}

int main(void)
{
    int good[6] = {0}, *g = (int *)device_memory(sizeof good);
    all_scopes();
    all_types();
    CHECK(LAUNCH(minimum_of_the_manual, 1, 1, 0, 0, &g));
    CHECK(cudaMemcpy(good, g, sizeof good, cudaMemcpyDeviceToHost));
    expect(good[0] && good[1], "fetch_min and fetch_max on automatic storage");
    expect(good[2] && good[3], "the other functions on automatic storage");
    CHECK(LAUNCH(sizes, 1, 1, 0, 0, &g));
    CHECK(cudaMemcpy(good, g, sizeof good, cudaMemcpyDeviceToHost));
    expect(good[0] && good[1] && good[2] && good[3] && good[4] && good[5],
           "store, load, exchange, compare_exchange of 1 to 8 bytes, float and pointer");

    struct {
        long long a, b;
        char pad[48];
        int v[8];
    } r;
    char *p = (char *)device_memory(256);
    CHECK(LAUNCH(large_ones, BLOCKS, THREADS, 0, 0, &p));
    CHECK(cudaMemcpy(&r, p, sizeof r, cudaMemcpyDeviceToHost));
    expect(r.a == N && r.b == -N, "16 bytes");
    int sum = 0;
    for (int k = 0; k < 8; k++)
        sum += r.v[k] == k * N && k > 0 && k < 6;
    for (int k = 2; k < 8 && sum < 5; k++) /* a lock may stand before the value */
        sum += r.v[k] == (k - 1) * N;
    expect(sum >= 5, "24 bytes, not lock-free");

    int plain = -5, *pp = (int *)device_memory(4);
    double number = 0, *nn = (double *)device_memory(8);
    CHECK(cudaMemcpy(pp, &plain, 4, cudaMemcpyHostToDevice));
    CHECK(LAUNCH(references, BLOCKS, THREADS, 0, 0, &pp, &nn));
    CHECK(cudaMemcpy(&plain, pp, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&number, nn, 8, cudaMemcpyDeviceToHost));
    expect(plain >= 2 * (N - 3) - 1 && number == N / 2, "atomic_ref of plain variables");
    return done();
}
