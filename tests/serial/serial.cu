// Kernels whose threads compete for locks and cells: test.py says what must come out. Each thread of n takes part.
// Compiled to serial.ptx by: nvcc -ptx -arch=sm_75 -lineinfo serial.cu
typedef unsigned int u32;

#define KERNEL extern "C" __global__ void

__device__ static u32 index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ static void take(u32 *lock)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
}

__device__ static void give(u32 *lock)
{
    __threadfence();
    atomicExch(lock, 0);
}

__device__ static void count(volatile u32 *cell)
{
    *cell = *cell + 1;
}

// cell[0] is the lock; cell[32], on another line, counts.
KERNEL one_lock(u32 *cell, u32 n)
{
    if (index() < n) {
        take(cell);
        count(cell + 32);
        give(cell);
    }
}

KERNEL two_locks(u32 *cell, u32 n)
{
    if (index() < n) {
        take(cell);
        take(cell + 1);
        count(cell + 32);
        give(cell + 1);
        count(cell + 33);
        give(cell);
    }
}

// A lock by three others' means: the result of an exchange; a bit, of three in one word; an attempt that has the critical
// section inside the loop.
KERNEL other_locks(u32 *cell, u32 n)
{
    u32 bit = 1u << threadIdx.x % 3;
    bool done = false;
    if (index() >= n)
        return;
    while (atomicExch(cell, 1))
        ;
    __threadfence();
    count(cell + 32);
    give(cell);
    while (atomicOr(cell + 1, bit) & bit)
        ;
    __threadfence();
    count(cell + 33 + threadIdx.x % 3);
    __threadfence();
    atomicAnd(cell + 1, ~bit);
    while (!done)
        if (atomicCAS(cell + 2, 0, 1) == 0) {
            __threadfence();
            count(cell + 36);
            give(cell + 2);
            done = true;
        }
}

// Behind a barrier all threads of a block see what all of them have counted, in shared memory and under a lock there.
KERNEL lock_and_barrier(u32 *out, u32 n)
{
    __shared__ u32 lock, counted;
    if (threadIdx.x == 0)
        lock = counted = 0;
    for (u32 round = 0; round < 3; round++) {
        __syncthreads();
        if (threadIdx.x % 2 == 0) {
            take(&lock);
            count(&counted);
            give(&lock);
        }
        __syncthreads();
        if (index() < n)
            out[index()] += *(volatile u32 *)&counted;
    }
}

// Each thread waits for the one behind it; `by` says which that is: the last thread is the first to go.
KERNEL handed_on(u32 *cell, u32 n)
{
    u32 me = n - 1 - index();
    if (index() >= n)
        return;
    while (atomicCAS(cell, me, me) != me)
        ;
    __threadfence();
    count(cell + 32);
    __threadfence();
    atomicExch(cell, me + 1);
}

// A critical section with more rounds than a warp's turn has.
KERNEL long_section(u32 *cell, u32 n)
{
    if (index() < n) {
        take(cell);
        for (u32 i = 0; i < 20000; i++)
            count(cell + 32);
        give(cell);
    }
}

// Thread 37 stores far behind the cells, with the lock in its hand.
KERNEL bad_section(u32 *cell, u32 n)
{
    if (index() < n) {
        take(cell);
        cell[32 + (index() == 37 ? 1u << 28 : 0)]++;
        give(cell);
    }
}

// Retries that sleep, and a critical section that needs an array of its own, several times over.
KERNEL sleeps_and_arrays(u32 *cell, u32 n)
{
    u32 own[8];
    if (index() >= n)
        return;
    for (u32 round = 0; round < 4; round++) {
        while (atomicCAS(cell, 0, 1) != 0)
            __nanosleep(20);
        __threadfence();
        for (u32 i = 0; i < 8; i++)
            own[(i + threadIdx.x) % 8] = cell[32 + i];
        for (u32 i = 0; i < 8; i++)
            cell[32 + i] = own[(i + threadIdx.x) % 8] + i;
        give(cell);
    }
}

// What atomicAdd() of floats was made of, on one cell and on eight; a maximum; numbers that several lanes compare.
KERNEL compared(u32 *cell, u32 n)
{
    u32 i = index(), old, seen;
    if (i >= n)
        return;
    old = *(volatile u32 *)cell;
    while ((seen = atomicCAS(cell, old, __float_as_uint(__uint_as_float(old) + 0.5f))) != old)
        old = seen;
    old = cell[32 + i % 8];
    do {
        seen = old;
        old = atomicCAS(&cell[32 + i % 8], seen, __float_as_uint(__uint_as_float(seen) + 0.5f));
    } while (old != seen);
    old = *(volatile u32 *)(cell + 64);
    while (old < i * 7 % n && (seen = atomicCAS(cell + 64, old, i * 7 % n)) != old)
        old = seen;
}

// Results of each lane, with a number of 64 bits: they make a permutation.
KERNEL tickets(unsigned long long *cell, u32 *out, u32 n)
{
    if (index() >= n)
        return;
    unsigned long long old = *(volatile unsigned long long *)cell, seen;
    while ((seen = atomicCAS(cell, old, old + 3)) != old)
        old = seen;
    out[index()] = (u32)(seen / 3);
}

__device__ __noinline__ void count_under(u32 *lock, u32 *cell)
{
    take(lock);
    count(cell);
    give(lock);
}

KERNEL called(u32 *cell, u32 n)
{
    if (index() < n)
        for (u32 k = 0; k < 3; k++)
            count_under(cell + k, cell + 32 + k);
}

// Nobody gives it back.
KERNEL never_given(u32 *cell, u32 n)
{
    __shared__ u32 lock;
    if (threadIdx.x == 0)
        lock = 0;
    __syncthreads();
    take(&lock);
    if (index() < n)
        cell[index()] = 1;
}

// Work that is handed out by comparisons: only the loop around these is lane after lane.
KERNEL handed_out(u32 *cell, u32 n)
{
    for (;;) {
        u32 item = *(volatile u32 *)cell, seen, sum = 0;
        while ((seen = atomicCAS(cell, item, item + 1)) != item)
            item = seen;
        if (item >= n)
            return;
        for (u32 k = 0; k < item % 40; k++)
            sum += k * item ^ sum >> 3;
        atomicAdd(cell + 32, sum % 2 + 1);
        atomicAdd(cell + 33, 1);
    }
}

// Threads ask together whether there is more: no contest.
KERNEL added_up(u32 *cell, u32 n)
{
    while (atomicAdd(cell, 1) < n)
        atomicAdd(cell + 32, 1);
}

// Each thread waits for the one behind it in a loop that does nothing else.
KERNEL in_turn(u32 *cell, u32 n)
{
    u32 me = n - 1 - index();
    if (index() < n)
        while (atomicCAS(cell, me, me + 1) != me)
            ;
}

// A cell for every three threads of a warp, in shared memory too; results come back in the registers that were compared.
KERNEL spread(unsigned long long *cell, u32 *out, u32 n)
{
    __shared__ unsigned long long own[11];
    u32 i = index(), at = threadIdx.x % 32 / 3;
    if (threadIdx.x < 11)
        own[threadIdx.x] = 0;
    __syncthreads();
    if (i >= n)
        return;
    unsigned long long old = cell[at], seen;
    while ((seen = atomicCAS(&cell[at], old, old + 2)) != old)
        old = seen;
    while ((seen = atomicCAS(&own[at], old, 1000 * at + threadIdx.x + 1)) != old)
        old = seen;
    out[i] = (u32)seen;
}

// A lock that is taken again and again: the loop around does not wait for anybody.
KERNEL rounds(u32 *cell, u32 n)
{
    for (u32 round = 0; round < n; round++) {
        take(cell);
        count(cell + 32);
        give(cell);
    }
}

__device__ static u32 smid()
{
    u32 v;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(v));
    return v;
}

// Two blocks of a thread each, of different multiprocessors (there are as many as workers), round after round, in a critical
// section of its own: each stores to one place and loads the other's. Not both find zero: with a fence between; or
// (`exchanges`) with an exchange on a third cell, of which one comes second, between fences that acquire and release.
KERNEL ordered(u32 *progress, u32 *place, u32 *found, u32 rounds, u32 exchanges)
{
    u32 *lock, *third = &progress[128], *role = &progress[160], me, other;
    u32 first = atomicCAS(role, 0, smid() + 1);
    if (first == 0)
        me = 0;
    else if (first != smid() + 1 && atomicExch(role + 1, 1) == 0)
        me = 1;
    else {
        for (u32 k = 0; k < 64 && atomicOr(role + 1, 0) == 0; k++) /* time for the other to come */
            ;
        atomicAdd(role + 2, 1);
        return;
    }
    other = 1 - me;
    lock = &progress[64 + 32 * me];
    for (u32 r = 0; r < rounds; r++) {
        volatile u32 *here = &place[2 * r + me], *there = &place[2 * r + other];
        atomicExch(&progress[32 * me], r + 1);
        while (atomicOr(&progress[32 * other], 0) <= r)
            if (atomicOr(role + 2, 0) == gridDim.x - 1) /* it has not come */
                return;
        take(lock);
        *here = 1;
        if (exchanges) {
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
            atomicExch(third, me);
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
        } else {
            __threadfence();
        }
        found[2 * r + me] = *there;
        give(lock);
    }
}

// Some threads come to a contest through another, the rest go around that, and meet them in the middle.
KERNEL skipped(u32 *cell, unsigned long long *wide, u32 n)
{
    u32 i = index();
    if (i >= n)
        return;
    for (u32 round = 0; round < 3; round++) {
        if (threadIdx.x & 1) {
            u32 *at = &cell[(threadIdx.x & 7) + 3], old = *at, seen;
            while ((seen = atomicCAS(at, old, __float_as_uint(__uint_as_float(old) + 3.0f))) != old)
                old = seen;
        }
        unsigned long long *at = &wide[(threadIdx.x & 3) + 2], old = 0, seen;
        do {
            seen = old;
            old = atomicCAS(at, seen, seen + 2);
        } while (old != seen);
    }
}
