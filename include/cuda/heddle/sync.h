/* Barriers of a block, fences, clocks and what stops a kernel: CUDA C++ Programming Guide,
 * "Synchronization Functions", "Memory Fence Functions", "Time Function", "Nanosleep Function",
 * "Trap function", "Assertion", "Formatted Output", "Dynamic Global Memory Allocation".
 * __syncthreads() is clang's own. */
#ifndef HEDDLE_SYNC_H
#define HEDDLE_SYNC_H

#include <stddef.h>

#include "define.h"

HEDDLE_INLINE int __syncthreads_count(int predicate)
{
    return __nvvm_bar0_popc(predicate);
}
HEDDLE_INLINE int __syncthreads_and(int predicate)
{
    return __nvvm_bar0_and(predicate);
}
HEDDLE_INLINE int __syncthreads_or(int predicate)
{
    return __nvvm_bar0_or(predicate);
}
HEDDLE_INLINE void __barrier_sync(unsigned barrier)
{
    __nvvm_barrier_sync(barrier);
}
HEDDLE_INLINE void __barrier_sync_count(unsigned barrier, unsigned threads)
{
    __nvvm_barrier_sync_cnt(barrier, threads);
}

HEDDLE_INLINE void __threadfence_block()
{
    __nvvm_membar_cta();
}
HEDDLE_INLINE void __threadfence()
{
    __nvvm_membar_gl();
}
HEDDLE_INLINE void __threadfence_system()
{
    __nvvm_membar_sys();
}

HEDDLE_INLINE int clock()
{
    int ticks;
    __asm__ __volatile__("mov.u32 %0, %%clock;" : "=r"(ticks)::"memory");
    return ticks;
}
HEDDLE_INLINE long long clock64()
{
    long long ticks;
    __asm__ __volatile__("mov.u64 %0, %%clock64;" : "=l"(ticks)::"memory");
    return ticks;
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
HEDDLE_INLINE void __nanosleep(unsigned nanoseconds)
{
    __asm__ __volatile__("nanosleep.u32 %0;" ::"r"(nanoseconds) : "memory");
}
#endif

HEDDLE_INLINE void __trap()
{
    __asm__ __volatile__("trap;");
}
HEDDLE_INLINE void __brkpt()
{
    __asm__ __volatile__("brkpt;");
}
#define __prof_trigger(counter) __asm__ __volatile__("pmevent %0;" ::"n"(counter))

/* What the driver gives every kernel (PTX interoperability: "System calls"). clang turns printf
 * into vprintf. */
extern "C" {
__device__ int vprintf(const char *, const char *);
__device__ int printf(const char *, ...);
__device__ void *malloc(size_t size) noexcept(true) __attribute__((malloc));
__device__ void free(void *pointer) noexcept(true);
__device__ void __assertfail(const char *expression, const char *file, unsigned line, const char *function,
                             size_t size_of_character);
/* glibc's <assert.h> calls these. */
__device__ inline __attribute__((always_inline, nodebug)) void
__assert_fail(const char *expression, const char *file, unsigned line, const char *function) noexcept(true)
{
    __assertfail(expression, file, line, function, 1);
}
}

#endif
