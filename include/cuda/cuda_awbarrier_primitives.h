/* Barriers in shared memory on which threads arrive and wait separately: CUDA C++ Programming
 * Guide, "Asynchronous Barrier", "Memory Barrier Primitives Interface". */
#if defined(__CUDA__) && !defined(_CUDA_AWBARRIER_PRIMITIVES_H_) /* other compilers have nothing of it */
#define _CUDA_AWBARRIER_PRIMITIVES_H_

#include <stdint.h>

#include "cuda_runtime.h"
#include "heddle/async_copy.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

static __host__ __device__ __forceinline__ HEDDLE_NODEBUG uint32_t __mbarrier_maximum_count()
{
    return (1u << 14) - 1; /* as nvcc has it; the instructions go on to 2^20 - 1 */
}
HEDDLE_INLINE void __mbarrier_init(__mbarrier_t *barrier, uint32_t expected_count)
{
    __asm__ volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(heddle_shared_address(barrier)), "r"(expected_count)
                     : "memory");
}
HEDDLE_INLINE void __mbarrier_inval(__mbarrier_t *barrier)
{
    __asm__ volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(heddle_shared_address(barrier)) : "memory");
}

/* name(barrier): an instruction that gives a token. */
#define HEDDLE_ARRIVE(name, instruction)                                                                               \
    HEDDLE_INLINE __mbarrier_token_t name(__mbarrier_t *barrier)                                                       \
    {                                                                                                                  \
        __mbarrier_token_t token;                                                                                      \
        __asm__ volatile(instruction ".shared.b64 %0, [%1];"                                                           \
                         : "=l"(token)                                                                                 \
                         : "r"(heddle_shared_address(barrier))                                                         \
                         : "memory");                                                                                  \
        return token;                                                                                                  \
    }
HEDDLE_ARRIVE(__mbarrier_arrive, "mbarrier.arrive")
HEDDLE_ARRIVE(__mbarrier_arrive_and_drop, "mbarrier.arrive_drop")
#undef HEDDLE_ARRIVE

HEDDLE_INLINE uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token)
{
    uint32_t count;
    __asm__("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
    return count;
}

/* name(barrier, what): is the phase complete that `what`, a token or a parity, stands for? */
#define HEDDLE_WAIT(name, instruction, T, letter, Operand)                                                             \
    HEDDLE_INLINE bool name(__mbarrier_t *barrier, T what)                                                             \
    {                                                                                                                  \
        uint32_t is;                                                                                                   \
        __asm__ volatile("{ .reg .pred p; " instruction ".shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"             \
                         : "=r"(is)                                                                                    \
                         : "r"(heddle_shared_address(barrier)), letter((Operand)what)                                  \
                         : "memory");                                                                                  \
        return is;                                                                                                     \
    }
HEDDLE_WAIT(__mbarrier_test_wait, "mbarrier.test_wait", __mbarrier_token_t, "l", uint64_t)
HEDDLE_WAIT(__mbarrier_test_wait_parity, "mbarrier.test_wait.parity", bool, "r", uint32_t)
#undef HEDDLE_WAIT

/* The same, after a sleep of at most so many nanoseconds; before sm_90 there is none. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define HEDDLE_WAIT(name, instruction, tested, T, letter, Operand)                                                     \
    HEDDLE_INLINE bool name(__mbarrier_t *barrier, T what, uint32_t nanoseconds)                                       \
    {                                                                                                                  \
        uint32_t is;                                                                                                   \
        __asm__ volatile("{ .reg .pred p; " instruction ".shared.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p; }"         \
                         : "=r"(is)                                                                                    \
                         : "r"(heddle_shared_address(barrier)), letter((Operand)what), "r"(nanoseconds)                \
                         : "memory");                                                                                  \
        return is;                                                                                                     \
    }
#else
#define HEDDLE_WAIT(name, instruction, tested, T, letter, Operand)                                                     \
    HEDDLE_INLINE bool name(__mbarrier_t *barrier, T what, uint32_t nanoseconds __attribute__((unused)))               \
    {                                                                                                                  \
        return tested(barrier, what);                                                                                  \
    }
#endif
HEDDLE_WAIT(__mbarrier_try_wait, "mbarrier.try_wait", __mbarrier_test_wait, __mbarrier_token_t, "l", uint64_t)
HEDDLE_WAIT(__mbarrier_try_wait_parity, "mbarrier.try_wait.parity", __mbarrier_test_wait_parity, bool, "r", uint32_t)
#undef HEDDLE_WAIT

#endif
#endif
