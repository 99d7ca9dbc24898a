// What kernels with asynchronous copies are made of (PTX ISA 9.7.9.25, 9.7.13.15), and a program that launches one of them by its
// number.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define ADDRESS(p) "r"((unsigned)__cvta_generic_to_shared(p))
// Lines of the kernels, not of functions that they call.
#define INIT(bar, n) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::ADDRESS(bar), "r"(n) : "memory")
#define EXPECT(bar, n)                                                                                                 \
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::ADDRESS(bar), "r"(n) : "memory")
#define ARRIVE(bar) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::ADDRESS(bar) : "memory")
#define WAIT(bar, parity)                                                                                              \
    asm volatile(                                                                                                      \
        "{ .reg .pred p; again%=: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again%=; }" ::ADDRESS(bar), \
        "r"(parity)                                                                                                    \
        : "memory")
#define LOAD(to, from, bytes, bar)                                                                                     \
    asm volatile(                                                                                                      \
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::ADDRESS(to),       \
        "l"(from), "r"(bytes), ADDRESS(bar)                                                                            \
        : "memory")
#define STORE(to, from, bytes)                                                                                         \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), ADDRESS(from), "r"(bytes)    \
                 : "memory")
#define COMMIT()     asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT_GROUP() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
#define FENCE()      asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

// `bytes` each, of zeros.
template <unsigned n>
static int launch_one(void (*const (&kernels)[n])(int *, int *), const char *which, unsigned threads, unsigned bytes)
{
    int *a, *b;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    kernels[atoi(which)]<<<1, threads>>>(a, b);
    cudaError_t failed = cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    return failed != cudaSuccess;
}
