/* cuda::atomic, cuda::atomic_ref, latch, semaphore, barrier: on the device, on the host, and between both. */
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

#include "tap.h"

#include <new>
#include <thread>

struct big {
    long a, b, c;
};

struct shared {
    cuda::atomic<int> system{0};
    cuda::atomic<unsigned, cuda::thread_scope_device> device{0};
    cuda::atomic<long long, cuda::thread_scope_block> block{0};
    cuda::atomic<char> byte{0};
    cuda::atomic<short> half_word{0};
    cuda::atomic<float> single{0};
    cuda::atomic<double> twice{0};
    cuda::atomic<int *> pointer{nullptr};
    cuda::atomic<big> large{big{0, 0, 0}};
    cuda::atomic<int> lowest{0}, highest{0}, bits{0};
    cuda::atomic<int> turn{0};
    cuda::latch<cuda::thread_scope_device> latch{64};
    cuda::counting_semaphore<cuda::thread_scope_device, 2> semaphore{2};
    cuda::barrier<cuda::thread_scope_device> barrier{64};
    int plain = 0, rounds[3] = {}, wrong = 0, inside = 0, most = 0, message = 0;
};

__global__ void use(shared *s)
{
    const int v = threadIdx.x + 1;
    s->system += v;
    s->device.fetch_add(v, cuda::memory_order_relaxed);
    s->block.fetch_add(v, cuda::memory_order_acq_rel);
    s->byte.fetch_add(1);
    s->half_word++;
    s->single.fetch_add(0.5f);
    s->twice += 0.25;
    s->pointer++;
    s->lowest.fetch_min(-v);
    s->highest.fetch_max(v);
    s->bits |= v;
    cuda::atomic_ref<int, cuda::thread_scope_device> plain(s->plain);
    plain.fetch_add(1, cuda::memory_order_release);
    ++plain;
    big old = s->large.load(), next;
    do
        next = big{old.a + 1, old.b + 2, old.c + 3};
    while (!s->large.compare_exchange_weak(old, next));
    cuda::atomic<int> own(5);
    own += 3;
    s->latch.arrive_and_wait();
    if (own != 8 || s->device.load() != 2080)
        s->wrong = 1;
    for (int i = 0; i < 3; i++) {
        atomicAdd(&s->rounds[i], 1);
        s->barrier.arrive_and_wait();
        if (s->rounds[i] != 64)
            s->wrong = 1;
    }
}

__global__ void enter(shared *s)
{
    s->semaphore.acquire();
    atomicMax(&s->most, atomicAdd(&s->inside, 1) + 1);
    atomicSub(&s->inside, 1);
    s->semaphore.release();
}

__global__ void answer(shared *s)
{
    while (s->turn.load(cuda::memory_order_acquire) != 1)
        continue;
    s->message *= 2;
    s->turn.store(2, cuda::memory_order_release);
}

int main()
{
    shared *s;
    CUDA(cudaMallocManaged(&s, sizeof *s));
    new (s) shared();
    static_assert(cuda::atomic<int>::is_always_lock_free && !cuda::atomic<big>::is_always_lock_free, "the table of libcu++");

    cuda::atomic<int> a(1);
    const int x = a.fetch_min(0);
    int expected = 5;
    CHECK(x == 1 && a.load() == 0 && !a.compare_exchange_strong(expected, 9) && expected == 0 && ++a == 1 && a.exchange(7) == 1,
          "on the host");

    use<<<1, 64>>>(s);
    CUDA(cudaDeviceSynchronize());
    CHECK(s->system == 2080 && s->device == 2080 && s->block == 2080, "sums at the scopes of system, device and block");
    CHECK(s->byte == 64 && s->half_word == 64, "sums of 1 and 2 bytes");
    CHECK(s->single == 32 && s->twice == 16 && s->pointer.load() == (int *)256, "sums of float, double and pointers");
    CHECK(s->lowest == -64 && s->highest == 64 && s->bits == 127, "fetch_min, fetch_max, fetch_or");
    CHECK(s->plain == 128, "atomic_ref");
    const big b = s->large;
    CHECK(b.a == 64 && b.b == 128 && b.c == 192, "a structure of 24 bytes, with a lock");
    CHECK(!s->wrong, "latch, barrier, and an atomic of the thread's own");
    enter<<<4, 32>>>(s);
    CUDA(cudaDeviceSynchronize());
    CHECK(s->most >= 1 && s->most <= 2 && s->inside == 0, "a semaphore lets two in");
    answer<<<1, 1>>>(s);
    s->message = 21;
    s->turn.store(1, cuda::memory_order_release);
    while (s->turn.load(cuda::memory_order_acquire) != 2)
        std::this_thread::yield();
    CHECK(s->message == 42, "host and device hand a message to and fro");
    CUDA(cudaDeviceSynchronize());
    return done();
}
