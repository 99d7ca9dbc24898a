// Blocks of a cluster and each other's shared memory. Lines with [case] are the two accesses (or the one) that the case is about; a case
// without is clean.
#include <cstdio>
#include <cstring>

typedef unsigned u32;

static __device__ u32 rank()
{
    u32 r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

// Where the variable of another block is.
static __device__ u32 at(const void *variable, u32 of)
{
    u32 address = (u32)__cvta_generic_to_shared(variable);
    asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"(of));
    return address;
}

#define LOAD(address)                                                                                                  \
    ([&] {                                                                                                             \
        u32 value;                                                                                                     \
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");                      \
        return value;                                                                                                  \
    }())
#define STORE(address, value) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory")
#define ADD(scope, address, value)                                                                                     \
    asm volatile("red.relaxed." scope ".shared::cluster.add.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory")
#define MEET() asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory")

enum { BINS = 64, BLOCKS = 4, THREADS = 64 };

// Bins are spread over the blocks of the cluster.
__global__ void __cluster_dims__(BLOCKS) histogram(u32 *out)
{
    __shared__ u32 bins[BINS / BLOCKS];
    u32 t = threadIdx.x, bin = (t * 7 + blockIdx.x) % BINS;
    if (t < BINS / BLOCKS)
        bins[t] = 0;
    MEET();
    ADD("cluster", at(&bins[bin % (BINS / BLOCKS)], bin / (BINS / BLOCKS)), 1);
    MEET();
    if (t < BINS / BLOCKS)
        atomicAdd(&out[rank() * (BINS / BLOCKS) + t], bins[t]);
}

__global__ void __cluster_dims__(BLOCKS) histogram_begins_early(u32 *out)
{
    __shared__ u32 bins[BINS / BLOCKS];
    u32 t = threadIdx.x, bin = (t * 7 + blockIdx.x) % BINS;
    if (t < BINS / BLOCKS)
        bins[t] = 0; // [histogram_begins_early]
    __syncthreads();
    ADD("cluster", at(&bins[bin % (BINS / BLOCKS)], bin / (BINS / BLOCKS)), 1); // [histogram_begins_early]
    MEET();
    if (t < BINS / BLOCKS)
        atomicAdd(&out[rank() * (BINS / BLOCKS) + t], bins[t]);
}

__global__ void __cluster_dims__(BLOCKS) histogram_ends_early(u32 *out)
{
    __shared__ u32 bins[BINS / BLOCKS];
    u32 t = threadIdx.x, bin = (t * 7 + blockIdx.x) % BINS;
    if (t < BINS / BLOCKS)
        bins[t] = 0;
    MEET();
    ADD("cluster", at(&bins[bin % (BINS / BLOCKS)], bin / (BINS / BLOCKS)), 1); // [histogram_ends_early]
    __syncthreads();
    if (t < BINS / BLOCKS)
        atomicAdd(&out[rank() * (BINS / BLOCKS) + t], bins[t]); // [histogram_ends_early]
    MEET();
}

__global__ void __cluster_dims__(BLOCKS) histogram_of_scope_cta(u32 *out)
{
    __shared__ u32 bins[BINS / BLOCKS];
    u32 t = threadIdx.x, bin = (t * 7 + blockIdx.x) % BINS;
    if (t < BINS / BLOCKS)
        bins[t] = 0;
    MEET();
    ADD("cta", at(&bins[bin % (BINS / BLOCKS)], bin / (BINS / BLOCKS)), 1); // [histogram_of_scope_cta]
    MEET();
    if (t < BINS / BLOCKS)
        atomicAdd(&out[rank() * (BINS / BLOCKS) + t], bins[t]);
}

// Each block has a stretch of a line; its neighbours read its ends.
__global__ void __cluster_dims__(BLOCKS) halo(u32 *out)
{
    __shared__ u32 own[THREADS];
    u32 t = threadIdx.x, left = (rank() + BLOCKS - 1) % BLOCKS;
    own[t] = t;
    for (int i = 0; i < 3; i++) {
        MEET();
        u32 before = t ? own[t - 1] : LOAD(at(&own[THREADS - 1], left));
        MEET();
        own[t] += before;
    }
    out[blockIdx.x * THREADS + t] = own[t];
}

__global__ void __cluster_dims__(BLOCKS) halo_goes_on_early(u32 *out)
{
    __shared__ u32 own[THREADS];
    u32 t = threadIdx.x, left = (rank() + BLOCKS - 1) % BLOCKS;
    own[t] = t;
    for (int i = 0; i < 3; i++) {
        MEET();
        u32 before = t ? own[t - 1] : 0;
        if (!t)
            before = LOAD(at(&own[THREADS - 1], left)); // [halo_goes_on_early]
        __syncthreads();
        own[t] += before; // [halo_goes_on_early]
    }
    MEET();
    out[blockIdx.x * THREADS + t] = own[t];
}

// A message to the next block, and a flag that says so.
__global__ void __cluster_dims__(2) message(u32 *out)
{
    __shared__ u32 data, flag;
    u32 seen = 0;
    flag = 0;
    MEET();
    if (rank() == 0) {
        STORE(at(&data, 1), 7);
        asm volatile("st.release.cluster.shared::cluster.u32 [%0], 1;" ::"r"(at(&flag, 1)) : "memory");
    } else {
        while (!seen)
            asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(seen) : "r"(at(&flag, 1)) : "memory");
        out[blockIdx.x] = data;
    }
    MEET();
}

__global__ void __cluster_dims__(2) message_relaxed(u32 *out)
{
    __shared__ u32 data, flag;
    u32 seen = 0;
    flag = 0;
    MEET();
    if (rank() == 0) {
        STORE(at(&data, 1), 7); // [message_relaxed]
        asm volatile("st.relaxed.cluster.shared::cluster.u32 [%0], 1;" ::"r"(at(&flag, 1)) : "memory");
    } else {
        while (!seen)
            asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(seen) : "r"(at(&flag, 1)) : "memory");
        out[blockIdx.x] = data; // [message_relaxed]
    }
    MEET();
}

__global__ void __cluster_dims__(2) message_of_scope_cta(u32 *out)
{
    __shared__ u32 data, flag;
    u32 seen = 0;
    flag = 0;
    MEET();
    if (rank() == 0) {
        STORE(at(&data, 1), 7); // [message_of_scope_cta]
        asm volatile("fence.acq_rel.cta; st.relaxed.cluster.shared::cluster.u32 [%0], 1;" ::"r"(at(&flag, 1))
                     : "memory");
    } else {
        while (!seen)
            asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(seen) : "r"(at(&flag, 1)) : "memory");
        out[blockIdx.x] = data; // [message_of_scope_cta]
    }
    MEET();
}

// The next block's mbarrier hears that its data has come.
#define BEGIN(m, count)                                                                                                \
    if (threadIdx.x == 0)                                                                                              \
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"((u32)__cvta_generic_to_shared(m)), "r"(count)         \
                 : "memory")
#define MEET_RELAXED() asm volatile("barrier.cluster.arrive.relaxed; barrier.cluster.wait;" ::: "memory")
#define ARRIVE(m)      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(m) : "memory")
#define WAIT(m)                                                                                                        \
    asm volatile(                                                                                                      \
        "{ .reg .pred p; more: mbarrier.try_wait.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra more; }" ::"r"(   \
            (u32)__cvta_generic_to_shared(m))                                                                          \
        : "memory")

__global__ void __cluster_dims__(BLOCKS) mbarriers(u32 *out)
{
    __shared__ u32 data[THREADS];
    __shared__ unsigned long long full;
    u32 t = threadIdx.x, next = (rank() + 1) % BLOCKS;
    BEGIN(&full, THREADS);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    MEET_RELAXED();
    STORE(at(&data[t], next), t);
    ARRIVE(at(&full, next));
    WAIT(&full);
    out[blockIdx.x * THREADS + t] = data[THREADS - 1 - t];
    MEET();
}

__global__ void __cluster_dims__(BLOCKS) mbarriers_without_fence(u32 *out)
{
    __shared__ u32 data[THREADS];
    __shared__ unsigned long long full;
    u32 t = threadIdx.x, next = (rank() + 1) % BLOCKS;
    BEGIN(&full, THREADS); // [mbarriers_without_fence]
    MEET_RELAXED();
    STORE(at(&data[t], next), t);
    ARRIVE(at(&full, next)); // [mbarriers_without_fence]
    WAIT(&full);
    out[blockIdx.x * THREADS + t] = data[THREADS - 1 - t];
    MEET();
}

__global__ void __cluster_dims__(BLOCKS) mbarriers_overtaken(u32 *out)
{
    __shared__ u32 data[THREADS];
    __shared__ unsigned long long full;
    u32 t = threadIdx.x, next = (rank() + 1) % BLOCKS;
    BEGIN(&full, THREADS);
    MEET();
    ARRIVE(at(&full, next));
    STORE(at(&data[t], next), t); // [mbarriers_overtaken]
    WAIT(&full);
    out[blockIdx.x * THREADS + t] = data[THREADS - 1 - t]; // [mbarriers_overtaken]
    MEET();
}

// Blocks of one cluster do not meet those of another one, though these have the same memory later.
__global__ void __cluster_dims__(2) apart(u32 *out)
{
    __shared__ u32 own;
    if (threadIdx.x == 0)
        STORE(at(&own, rank() ^ 1), blockIdx.x);
    MEET();
    out[blockIdx.x * THREADS + threadIdx.x] = own;
}

__global__ void __cluster_dims__(2) arrives_relaxed(u32 *out)
{
    __shared__ u32 own;
    if (threadIdx.x == 0)
        STORE(at(&own, rank() ^ 1), blockIdx.x); // [arrives_relaxed]
    MEET_RELAXED();
    out[blockIdx.x * THREADS + threadIdx.x] = own; // [arrives_relaxed]
}

__global__ void __cluster_dims__(2) fences_and_arrives_relaxed(u32 *out)
{
    __shared__ u32 own;
    if (threadIdx.x == 0)
        STORE(at(&own, rank() ^ 1), blockIdx.x);
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    MEET_RELAXED();
    out[blockIdx.x * THREADS + threadIdx.x] = own;
}

// A block ends while another one may still read its memory.
__global__ void __cluster_dims__(2) ends_early(u32 *out)
{
    __shared__ u32 own;
    if (threadIdx.x == 0)
        own = 5;
    MEET();
    out[blockIdx.x * THREADS + threadIdx.x] = LOAD(at(&own, rank() ^ 1)); // [ends_early]
}

// Only the first block reads, which may come last.
__global__ void __cluster_dims__(2) ends_before_reader(u32 *out)
{
    __shared__ u32 own;
    if (threadIdx.x == 0)
        own = 5;
    MEET();
    if (rank() == 0)
        out[blockIdx.x * THREADS + threadIdx.x] = LOAD(at(&own, 1)); // [ends_before_reader]
}

__global__ void __cluster_dims__(2) ends_behind_reader(u32 *out)
{
    __shared__ u32 own;
    if (threadIdx.x == 0)
        own = 5;
    MEET();
    if (rank() == 0)
        out[blockIdx.x * THREADS + threadIdx.x] = LOAD(at(&own, 1));
    MEET();
}

// The last word of a block is that it has read.
__global__ void __cluster_dims__(2) ends_behind_flag(u32 *out)
{
    __shared__ u32 own, done;
    if (threadIdx.x == 0) {
        own = 5;
        done = 0;
    }
    MEET();
    out[blockIdx.x * THREADS + threadIdx.x] = LOAD(at(&own, rank() ^ 1));
    asm volatile("red.release.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(at(&done, rank() ^ 1)) : "memory");
    for (u32 seen = 0; seen != THREADS;)
        asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(seen) : "r"(at(&done, rank())) : "memory");
}

int main(int, char **argv)
{
    u32 *out;
    cudaMalloc(&out, 8 * THREADS * sizeof *out);
    cudaMemset(out, 0, 8 * THREADS * sizeof *out);
#define RUN(name)                                                                                                      \
    if (!strcmp(argv[1], #name))                                                                                       \
        name<<<8, name == message || name == message_relaxed || name == message_of_scope_cta ? 1 : THREADS>>>(out);
    RUN(histogram)
    RUN(histogram_begins_early)
    RUN(histogram_ends_early)
    RUN(histogram_of_scope_cta)
    RUN(halo)
    RUN(halo_goes_on_early)
    RUN(message)
    RUN(message_relaxed)
    RUN(message_of_scope_cta)
    RUN(mbarriers)
    RUN(mbarriers_without_fence)
    RUN(mbarriers_overtaken)
    RUN(apart)
    RUN(arrives_relaxed)
    RUN(fences_and_arrives_relaxed)
    RUN(ends_early)
    RUN(ends_before_reader)
    RUN(ends_behind_reader)
    RUN(ends_behind_flag)
    return cudaDeviceSynchronize() != cudaSuccess;
}
