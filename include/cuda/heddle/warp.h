/* Warp functions: CUDA C++ Programming Guide, "Warp Vote Functions", "Warp Match Functions", "Warp
 * Reduce Functions" and "Warp Shuffle Functions". */
#ifndef HEDDLE_WARP_H
#define HEDDLE_WARP_H

#include "define.h"

HEDDLE_INLINE unsigned __activemask()
{
    return __nvvm_activemask();
}
HEDDLE_INLINE void __syncwarp(unsigned mask = 0xffffffff)
{
    __nvvm_bar_warp_sync(mask);
}
HEDDLE_INLINE int __all_sync(unsigned mask, int predicate)
{
    return __nvvm_vote_all_sync(mask, predicate);
}
HEDDLE_INLINE int __any_sync(unsigned mask, int predicate)
{
    return __nvvm_vote_any_sync(mask, predicate);
}
HEDDLE_INLINE int __uni_sync(unsigned mask, int predicate)
{
    return __nvvm_vote_uni_sync(mask, predicate);
}
HEDDLE_INLINE unsigned __ballot_sync(unsigned mask, int predicate)
{
    return __nvvm_vote_ballot_sync(mask, predicate);
}

/* ---- shuffles: words of 4 bytes, of 8 as two of them. The clamp of .up is 0, of the others 31;
 * its upper byte says which lanes form a segment of `width` (PTX ISA, "shfl.sync"). ---- */

#define HEDDLE_SHUFFLE_OF(name, T, Second, low)                                                                        \
    HEDDLE_INLINE T name(unsigned mask, T value, Second second, int width = 32)                                        \
    {                                                                                                                  \
        struct words {                                                                                                 \
            int w[sizeof(T) / 4];                                                                                      \
        } words = __builtin_bit_cast(struct words, value);                                                             \
        for (int &w : words.w)                                                                                         \
            w = HEDDLE_SHFL(mask, w, second, (32 - width) << 8 | low);                                                 \
        return __builtin_bit_cast(T, words);                                                                           \
    }
#define HEDDLE_SHUFFLE(name, Second, low)                                                                              \
    HEDDLE_SHUFFLE_OF(name, int, Second, low)                                                                          \
    HEDDLE_SHUFFLE_OF(name, unsigned, Second, low)                                                                     \
    HEDDLE_SHUFFLE_OF(name, long, Second, low)                                                                         \
    HEDDLE_SHUFFLE_OF(name, unsigned long, Second, low)                                                                \
    HEDDLE_SHUFFLE_OF(name, long long, Second, low)                                                                    \
    HEDDLE_SHUFFLE_OF(name, unsigned long long, Second, low)                                                           \
    HEDDLE_SHUFFLE_OF(name, float, Second, low)                                                                        \
    HEDDLE_SHUFFLE_OF(name, double, Second, low)
#define HEDDLE_SHFL __nvvm_shfl_sync_idx_i32
HEDDLE_SHUFFLE(__shfl_sync, int, 31)
#undef HEDDLE_SHFL
#define HEDDLE_SHFL __nvvm_shfl_sync_up_i32
HEDDLE_SHUFFLE(__shfl_up_sync, unsigned, 0)
#undef HEDDLE_SHFL
#define HEDDLE_SHFL __nvvm_shfl_sync_down_i32
HEDDLE_SHUFFLE(__shfl_down_sync, unsigned, 31)
#undef HEDDLE_SHFL
#define HEDDLE_SHFL __nvvm_shfl_sync_bfly_i32
HEDDLE_SHUFFLE(__shfl_xor_sync, int, 31)
#undef HEDDLE_SHFL
#undef HEDDLE_SHUFFLE
#undef HEDDLE_SHUFFLE_OF

/* ---- the same of the threads that are there, which nvcc has until sm_62 alone. They are templates,
 * so that a program which has such a function of its own for later devices gets that. ---- */

#define HEDDLE_EARLIER(name)                                                                                           \
    [[deprecated("nvcc has " name                                                                                      \
                 "_sync instead, whose first argument names the threads that take part")]] HEDDLE_INLINE
/* A number that a parameter of a program's own template fits better. */
struct heddle_lane_operand {
    int value;
    HEDDLE_HD heddle_lane_operand(int value) : value(value) {}
};
#define HEDDLE_SHUFFLE(name)                                                                                           \
    template <class T> HEDDLE_EARLIER(#name) T name(T value, heddle_lane_operand second, int width = 32)               \
    {                                                                                                                  \
        return name##_sync(__activemask(), value, second.value, width);                                                \
    }
HEDDLE_SHUFFLE(__shfl)
HEDDLE_SHUFFLE(__shfl_up)
HEDDLE_SHUFFLE(__shfl_down)
HEDDLE_SHUFFLE(__shfl_xor)
#undef HEDDLE_SHUFFLE
#define HEDDLE_VOTE(name, R)                                                                                           \
    template <int = 0> HEDDLE_EARLIER(#name) R name(int predicate)                                                     \
    {                                                                                                                  \
        return name##_sync(__activemask(), predicate);                                                                 \
    }
HEDDLE_VOTE(__all, int)
HEDDLE_VOTE(__any, int)
HEDDLE_VOTE(__ballot, unsigned)
#undef HEDDLE_VOTE
#undef HEDDLE_EARLIER

/* ---- match (sm_70): the lanes with the same bits ---- */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define HEDDLE_MATCH(T, Word, i)                                                                                       \
    HEDDLE_INLINE unsigned __match_any_sync(unsigned mask, T value)                                                    \
    {                                                                                                                  \
        return __nvvm_match_any_sync_##i(mask, __builtin_bit_cast(Word, value));                                       \
    }                                                                                                                  \
    HEDDLE_INLINE unsigned __match_all_sync(unsigned mask, T value, int *predicate)                                    \
    {                                                                                                                  \
        return __nvvm_match_all_sync_##i##p(mask, __builtin_bit_cast(Word, value), predicate);                         \
    }
HEDDLE_MATCH(int, unsigned, i32)
HEDDLE_MATCH(unsigned, unsigned, i32)
HEDDLE_MATCH(float, unsigned, i32)
HEDDLE_MATCH(long, unsigned long long, i64)
HEDDLE_MATCH(unsigned long, unsigned long long, i64)
HEDDLE_MATCH(long long, unsigned long long, i64)
HEDDLE_MATCH(unsigned long long, unsigned long long, i64)
HEDDLE_MATCH(double, unsigned long long, i64)
#undef HEDDLE_MATCH
#endif

/* ---- reductions (sm_80); the builtins take the value first, as the instruction does ---- */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define HEDDLE_REDUCE(name, T, redux)                                                                                  \
    HEDDLE_INLINE T name(unsigned mask, T value)                                                                       \
    {                                                                                                                  \
        return (T)redux(value, mask);                                                                                  \
    }
HEDDLE_REDUCE(__reduce_add_sync, int, __nvvm_redux_sync_add)
HEDDLE_REDUCE(__reduce_add_sync, unsigned, __nvvm_redux_sync_add)
HEDDLE_REDUCE(__reduce_min_sync, int, __nvvm_redux_sync_min)
HEDDLE_REDUCE(__reduce_min_sync, unsigned, __nvvm_redux_sync_umin)
HEDDLE_REDUCE(__reduce_max_sync, int, __nvvm_redux_sync_max)
HEDDLE_REDUCE(__reduce_max_sync, unsigned, __nvvm_redux_sync_umax)
HEDDLE_REDUCE(__reduce_and_sync, unsigned, __nvvm_redux_sync_and)
HEDDLE_REDUCE(__reduce_or_sync, unsigned, __nvvm_redux_sync_or)
HEDDLE_REDUCE(__reduce_xor_sync, unsigned, __nvvm_redux_sync_xor)
#undef HEDDLE_REDUCE
#endif

#endif
