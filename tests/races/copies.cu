// Asynchronous copies, and who waits for them: the comment behind a line says in which kernel it races.
#include "async.cuh"

#define KERNEL         __global__ __launch_bounds__(64) void
#define COPY(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::ADDRESS(to), "l"(from) : "memory")
#define WAIT_ALL()     asm volatile("cp.async.wait_all;" ::: "memory")
#define ARRIVE_BEHIND_COPIES(bar)                                                                                      \
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::ADDRESS(bar) : "memory")
#define ADD(to, from, bytes)                                                                                           \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(to),               \
                 ADDRESS(from), "r"(bytes)                                                                             \
                 : "memory")
#define WAIT_READ() asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")

KERNEL own(int *a, int *b)
{
    __shared__ int s[64];
    int i = threadIdx.x;
    COPY(&s[i], a + i);
    WAIT_ALL();
    b[i] = s[i];
}

KERNEL neighbours(int *a, int *b)
{
    __shared__ int s[64];
    int i = threadIdx.x;
    COPY(&s[i], a + i); // race neighbours
    WAIT_ALL();
    b[i] = s[i ^ 1]; // race neighbours
}

KERNEL neighbours_behind_a_barrier(int *a, int *b)
{
    __shared__ int s[64];
    int i = threadIdx.x;
    COPY(&s[i], a + i);
    WAIT_ALL();
    __syncthreads();
    b[i] = s[i ^ 33];
}

KERNEL read_then_copied(int *a, int *b)
{
    __shared__ int s[64];
    int i = threadIdx.x;
    s[i] = i;
    __syncthreads();
    b[i] = s[i ^ 33];   // race read_then_copied
    COPY(&s[i], a + i); // race read_then_copied
    WAIT_ALL();
}

KERNEL source_is_overwritten(int *a, int *b)
{
    __shared__ int s[64];
    int i = threadIdx.x;
    COPY(&s[i], a + i); // race source_is_overwritten
    WAIT_ALL();
    a[i ^ 1] = i; // race source_is_overwritten
}

KERNEL source_is_overwritten_behind_a_barrier(int *a, int *b)
{
    __shared__ int s[64];
    int i = threadIdx.x;
    COPY(&s[i], a + i);
    WAIT_ALL();
    __syncthreads();
    a[i ^ 33] = i;
}

KERNEL arrivals_behind_copies(int *a, int *b)
{
    __shared__ int s[64];
    __shared__ long bar;
    int i = threadIdx.x;
    if (i == 0)
        INIT(&bar, 64);
    __syncthreads();
    COPY(&s[i], a + i);
    ARRIVE_BEHIND_COPIES(&bar);
    WAIT(&bar, 0);
    b[i] = s[i ^ 33];
}

KERNEL loaded(int *a, int *b)
{
    __shared__ __align__(16) int s[64];
    __shared__ long bar;
    int i = threadIdx.x;
    if (i == 0)
        INIT(&bar, 1);
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 256);
        LOAD(s, a, 256, &bar);
    }
    WAIT(&bar, 0);
    b[i] = s[i];
}

KERNEL loaded_and_one_has_waited(int *a, int *b)
{
    __shared__ __align__(16) int s[64];
    __shared__ long bar;
    int i = threadIdx.x;
    if (i == 0)
        INIT(&bar, 1);
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 256);
        LOAD(s, a, 256, &bar); // race loaded_and_one_has_waited
        WAIT(&bar, 0);
    }
    b[i] = s[i]; // race loaded_and_one_has_waited
}

KERNEL loaded_and_one_has_waited_before_a_barrier(int *a, int *b)
{
    __shared__ __align__(16) int s[64];
    __shared__ long bar;
    int i = threadIdx.x;
    if (i == 0)
        INIT(&bar, 1);
    __syncthreads();
    if (i == 0) {
        EXPECT(&bar, 256);
        LOAD(s, a, 256, &bar);
        WAIT(&bar, 0);
    }
    __syncthreads();
    b[i] = s[i];
}

// A ring of two places: a producer loads, the others take what is there and say so.
template <bool Waits> __device__ void ring(int *a, int *b)
{
    __shared__ __align__(16) int s[2][32];
    __shared__ long full[6], empty[2];
    int i = threadIdx.x;
    if (i == 32) {
        for (int k = 0; k < 6; k++)
            INIT(&full[k], 1);
        INIT(&empty[0], 32);
        INIT(&empty[1], 32);
    }
    __syncthreads();
    for (int k = 0; k < 6; k++)
        if (i < 32) {
            WAIT(&full[k], 0);
            b[i] += s[k % 2][i]; // race ring_without_waiting
            ARRIVE(&empty[k % 2]);
        } else if (i == 32) {
            if (Waits && k >= 2)
                WAIT(&empty[k % 2], k / 2 % 2 ^ 1);
            EXPECT(&full[k], 128);
            LOAD(s[k % 2], a, 128, &full[k]); // race ring_without_waiting
            if (!Waits)
                WAIT(&full[k], 0);
        }
}

KERNEL ring_of_two(int *a, int *b)
{
    ring<true>(a, b);
}

KERNEL ring_without_waiting(int *a, int *b)
{
    ring<false>(a, b);
}

KERNEL stored(int *a, int *b)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x;
    s[i] = i;
    FENCE();
    __syncthreads();
    if (i == 0) {
        STORE(b, s, 256);
        COMMIT();
        WAIT_READ();
    }
    __syncthreads();
    s[i] = 7;
}

KERNEL stored_without_a_barrier(int *a, int *b)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x;
    s[i] = i; // race stored_without_a_barrier
    FENCE();
    if (i == 0) {
        STORE(b, s, 256); // race stored_without_a_barrier
        COMMIT();
        WAIT_READ();
    }
}

KERNEL overwritten_while_it_is_stored(int *a, int *b)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x;
    s[i] = i;
    FENCE();
    __syncthreads();
    if (i == 0) {
        STORE(b, s, 256); // race overwritten_while_it_is_stored
        COMMIT();
        WAIT_READ();
    }
    if (i < 32)
        s[i] = 7; // race overwritten_while_it_is_stored
}

// .read has waited for the source alone.
KERNEL read_where_it_is_stored(int *a, int *b)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x;
    s[i] = i;
    FENCE();
    __syncthreads();
    if (i == 0) {
        STORE(b, s, 256); // race read_where_it_is_stored
        COMMIT();
        WAIT_READ();
        WAIT_GROUP();
    }
    a[i] = b[i]; // race read_where_it_is_stored
}

KERNEL added(int *a, int *b)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x;
    s[i] = i;
    FENCE();
    __syncthreads();
    if (i % 32 == 0) {
        ADD(b, s, 256);
        COMMIT();
        WAIT_GROUP();
    }
    atomicAdd(b + i, 1);
}

KERNEL added_and_read(int *a, int *b)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x;
    s[i] = i;
    FENCE();
    __syncthreads();
    if (i % 32 == 0) {
        ADD(b, s, 256); // race added_and_read
        COMMIT();
        WAIT_GROUP();
    }
    a[i] = b[i ^ 33]; // race added_and_read
}

int main(int, char **argv)
{
    void (*kernels[])(int *, int *) = {own,
                                       neighbours,
                                       neighbours_behind_a_barrier,
                                       read_then_copied,
                                       source_is_overwritten,
                                       source_is_overwritten_behind_a_barrier,
                                       arrivals_behind_copies,
                                       loaded,
                                       loaded_and_one_has_waited,
                                       loaded_and_one_has_waited_before_a_barrier,
                                       ring_of_two,
                                       ring_without_waiting,
                                       stored,
                                       stored_without_a_barrier,
                                       overwritten_while_it_is_stored,
                                       read_where_it_is_stored,
                                       added,
                                       added_and_read};
    return launch_one(kernels, argv[1], 64, 256);
}
