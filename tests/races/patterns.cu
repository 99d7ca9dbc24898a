// Algorithms of several blocks that hand data over by strong operations, each right and wrong. The first thread of each of four blocks takes
// part; `m` is zero before. Lines with [case] are the two accesses that race; a case without is clean.
#include <cstdio>
#include <cstring>

typedef unsigned u32;

#define LOAD(order, p)                                                                                                 \
    ([&] {                                                                                                             \
        u32 value;                                                                                                     \
        asm volatile("ld." order ".gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");                       \
        return value;                                                                                                  \
    }())
#define STORE(order, p, value) asm volatile("st." order ".gpu.global.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory")
#define FENCE(order)           asm volatile("fence." order ".gpu;" ::: "memory")
#define ADD(order, p, addend)                                                                                          \
    ([&] {                                                                                                             \
        u32 value;                                                                                                     \
        asm volatile("atom." order ".gpu.global.add.u32 %0, [%1], %2;"                                                 \
                     : "=r"(value)                                                                                     \
                     : "l"(p), "r"(addend)                                                                             \
                     : "memory");                                                                                      \
        return value;                                                                                                  \
    }())
#define EXCHANGE(order, p, next)                                                                                       \
    ([&] {                                                                                                             \
        u32 value;                                                                                                     \
        asm volatile("atom." order ".gpu.global.exch.b32 %0, [%1], %2;" : "=r"(value) : "l"(p), "r"(next) : "memory"); \
        return value;                                                                                                  \
    }())
#define WAIT(order, p, value)                                                                                          \
    while (LOAD(order, p) != (value)) {                                                                                \
    }

// A release, and a strong write of the same thread to the same place behind it, are a release pattern (8.7).
__global__ void release_then_write(u32 *m)
{
    if (blockIdx.x == 0) {
        m[64] = 1;
        STORE("release", m, 1);
        STORE("relaxed", m, 2);
    } else if (blockIdx.x == 1) {
        WAIT("acquire", m, 2);
        m[65] = m[64];
    }
}

// So they are where another thread has written there between the two.
__global__ void release_then_write_behind_another(u32 *m)
{
    if (blockIdx.x == 0) {
        m[64] = 1;
        STORE("release", m, 1);
        STORE("relaxed", m + 1, 1);
        WAIT("relaxed", m + 2, 1);
        STORE("relaxed", m, 3);
        STORE("relaxed", m + 3, 1);
    } else if (blockIdx.x == 1) {
        WAIT("relaxed", m + 1, 1);
        STORE("relaxed", m, 2);
        STORE("relaxed", m + 2, 1);
    } else if (blockIdx.x == 2) {
        WAIT("relaxed", m + 3, 1);
        WAIT("acquire", m, 3);
        m[65] = m[64];
    }
}

__global__ void release_then_write_elsewhere(u32 *m)
{
    if (blockIdx.x == 0) {
        m[64] = 1; // [release_then_write_elsewhere]
        STORE("release", m, 1);
        STORE("relaxed", m + 1, 2);
    } else if (blockIdx.x == 1) {
        WAIT("acquire", m + 1, 2);
        m[65] = m[64]; // [release_then_write_elsewhere]
    }
}

// Another thread's write is none of the pattern.
__global__ void release_then_write_of_another(u32 *m)
{
    if (blockIdx.x == 0) {
        m[64] = 1; // [release_then_write_of_another]
        STORE("release", m, 1);
    } else if (blockIdx.x == 1) {
        WAIT("relaxed", m, 1);
        STORE("relaxed", m, 2);
        STORE("relaxed", m + 1, 1);
    } else if (blockIdx.x == 2) {
        WAIT("relaxed", m + 1, 1);
        WAIT("acquire", m, 2);
        m[65] = m[64]; // [release_then_write_of_another]
    }
}

// A strong read, and an acquire of the same place behind it, are an acquire pattern, whatever the latter reads.
__global__ void read_then_acquire(u32 *m)
{
    if (blockIdx.x == 0) {
        m[64] = 1;
        STORE("release", m, 1);
    } else if (blockIdx.x == 1) {
        WAIT("relaxed", m, 1);
        STORE("relaxed", m + 1, 1);
        WAIT("relaxed", m, 2);
        LOAD("acquire", m);
        m[65] = m[64];
    } else if (blockIdx.x == 2) {
        WAIT("relaxed", m + 1, 1);
        STORE("relaxed", m, 2);
    }
}

__global__ void read_then_acquire_elsewhere(u32 *m)
{
    if (blockIdx.x == 0) {
        m[64] = 1; // [read_then_acquire_elsewhere]
        STORE("release", m, 1);
    } else if (blockIdx.x == 1) {
        WAIT("relaxed", m, 1);
        LOAD("acquire", m + 1);
        m[65] = m[64]; // [read_then_acquire_elsewhere]
    }
}

// A node is published, read, and written again when all have read it.
__global__ void publication(u32 *m)
{
    if (blockIdx.x == 0) {
        m[64] = 1;
        STORE("release", m, 64);
        WAIT("acquire", m + 1, 3);
        m[64] = 9;
        return;
    }
    while (!LOAD("acquire", m)) {
    }
    m[128 + blockIdx.x] = m[LOAD("relaxed", m)];
    ADD("release", m + 1, 1);
}

// That the place of a node comes from the read of a pointer orders nothing.
__global__ void publication_read_by_dependency(u32 *m)
{
    if (blockIdx.x == 0) {
        m[64] = 1; // [publication_read_by_dependency]
        STORE("release", m, 64);
        return;
    }
    u32 at;
    while (!(at = LOAD("relaxed", m))) {
    }
    m[128 + blockIdx.x] = m[at]; // [publication_read_by_dependency]
}

__global__ void publication_reclaimed_early(u32 *m)
{
    if (blockIdx.x == 0) {
        m[64] = 1;
        STORE("release", m, 64);
        WAIT("acquire", m + 1, 2);
        m[64] = 9; // [publication_reclaimed_early]
        return;
    }
    while (!LOAD("acquire", m)) {
    }
    m[128 + blockIdx.x] = m[64]; // [publication_reclaimed_early]
    if (blockIdx.x < 3)
        ADD("release", m + 1, 1);
}

// Hazard pointers: m[32 + b] says what block b reads; node 1 is m[64].
__global__ void hazard_pointers(u32 *m)
{
    u32 b = blockIdx.x;
    if (b == 0) {
        m[64] = 1;
        m[65] = 2;
        STORE("release", m, 1);
        EXCHANGE("acq_rel", m, 2);
        FENCE("sc");
        for (u32 i = 1; i < 4; i++)
            while (LOAD("acquire", m + 32 + i) == 1) {
            }
        m[64] = 9;
        return;
    }
    for (;;) {
        u32 node = LOAD("acquire", m);
        STORE("relaxed", m + 32 + b, node);
        FENCE("sc");
        if (!node || LOAD("acquire", m) != node)
            continue;
        m[128 + b] = m[63 + node];
        STORE("release", m + 32 + b, 0);
        return;
    }
}

__global__ void hazard_pointers_given_up_relaxed(u32 *m)
{
    u32 b = blockIdx.x;
    if (b == 0) {
        m[64] = 1;
        STORE("release", m, 1);
        WAIT("relaxed", m + 1, 3);
        EXCHANGE("acq_rel", m, 2);
        for (u32 i = 1; i < 4; i++)
            while (LOAD("acquire", m + 32 + i) == 1) {
            }
        m[64] = 9; // [hazard_pointers_given_up_relaxed]
        return;
    }
    STORE("relaxed", m + 32 + b, 1);
    FENCE("sc");
    WAIT("acquire", m, 1);
    ADD("relaxed", m + 1, 1);
    m[128 + b] = m[64]; // [hazard_pointers_given_up_relaxed]
    STORE("relaxed", m + 32 + b, 0);
}

// Blocks 0 and 1 exclude each other by flags alone.
__global__ void dekker(u32 *m)
{
    u32 b = blockIdx.x;
    for (int i = 0; i < 3 && b < 2; i++) {
        STORE("relaxed", m + b, 1);
        FENCE("sc");
        while (LOAD("acquire", m + 1 - b)) {
            if (LOAD("relaxed", m + 2) == b)
                continue;
            STORE("release", m + b, 0);
            WAIT("acquire", m + 2, b);
            STORE("relaxed", m + b, 1);
            FENCE("sc");
        }
        m[64] += 1;
        STORE("release", m + 2, 1 - b);
        STORE("release", m + b, 0);
    }
}

// What another block writes is read by ld.global.nc.
__global__ void read_only_load(u32 *m)
{
    if (blockIdx.x == 0)
        m[64] = 1; // [read_only_load]
    else
        m[64 + blockIdx.x] = __ldg(m + 64); // [read_only_load]
}

int main(int, char **argv)
{
    u32 *m;
    cudaMalloc(&m, 4096);
    cudaMemset(m, 0, 4096);
#define RUN(name)                                                                                                      \
    if (!strcmp(argv[1], #name))                                                                                       \
        name<<<4, 1>>>(m);
    RUN(release_then_write)
    RUN(release_then_write_behind_another)
    RUN(release_then_write_elsewhere)
    RUN(release_then_write_of_another)
    RUN(read_then_acquire)
    RUN(read_then_acquire_elsewhere)
    RUN(publication)
    RUN(publication_read_by_dependency)
    RUN(publication_reclaimed_early)
    RUN(hazard_pointers)
    RUN(hazard_pointers_given_up_relaxed)
    RUN(dekker)
    RUN(read_only_load)
    return cudaDeviceSynchronize() != cudaSuccess;
}
