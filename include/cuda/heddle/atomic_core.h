/* Atomic instructions with an order and a scope, as inline PTX: clang's builtins forget both.
 * Everything atomic in these headers comes here: atomicAdd_block(), __nv_atomic_fetch_add(),
 * cuda::atomic.
 *
 * Orders and scopes are constants wherever they are used, so one instruction of each switch
 * remains. Sequential consistency is a fence.sc and an acquiring instruction (PTX ISA, "Memory
 * Consistency Model"; libcu++ maps it so, too). Below sm_70, PTX has neither .sem nor .acquire
 * fences: there, membar stands round a relaxed instruction.
 */
#ifndef HEDDLE_ATOMIC_CORE_H
#define HEDDLE_ATOMIC_CORE_H

#include "define.h"

enum {
    __NV_ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST
};

enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

/* One instruction for each scope. The thread's own is widened to the block's, as CUDA does; a
 * cluster's to the device's where there are no clusters. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define HEDDLE_CLUSTER ".cluster"
#else
#define HEDDLE_CLUSTER ".gpu"
#endif

#define HEDDLE_SCOPES(scope, DO, sem, ...)                                                                             \
    switch (scope) {                                                                                                   \
    case __NV_THREAD_SCOPE_THREAD:                                                                                     \
    case __NV_THREAD_SCOPE_BLOCK: DO(sem ".cta", __VA_ARGS__); break;                                                  \
    case __NV_THREAD_SCOPE_CLUSTER: DO(sem HEDDLE_CLUSTER, __VA_ARGS__); break;                                        \
    case __NV_THREAD_SCOPE_DEVICE: DO(sem ".gpu", __VA_ARGS__); break;                                                 \
    default: DO(sem ".sys", __VA_ARGS__);                                                                              \
    }

#define HEDDLE_FENCE(sem, ...) __asm__ __volatile__("fence" sem ";" ::: "memory")

/* The host's compilation is to know that there are these functions, and no more. */
#ifndef __CUDA_ARCH__
HEDDLE_INLINE void heddle_fence(int, int) {}
#define HEDDLE_ORDERED(order, scope, DO, ...)
#define HEDDLE_ORDERED_LOAD(order, scope, DO, ...)
#define HEDDLE_ORDERED_STORE(order, scope, DO, ...)
#elif __CUDA_ARCH__ >= 700
HEDDLE_INLINE void heddle_fence(int order, int scope)
{
    if (order == __NV_ATOMIC_SEQ_CST) {
        HEDDLE_SCOPES(scope, HEDDLE_FENCE, ".sc", )
    } else if (order != __NV_ATOMIC_RELAXED) {
        HEDDLE_SCOPES(scope, HEDDLE_FENCE, ".acq_rel", )
    }
}
/* An instruction that both reads and writes. */
#define HEDDLE_ORDERED(order, scope, DO, ...)                                                                          \
    switch (order) {                                                                                                   \
    case __NV_ATOMIC_RELAXED: HEDDLE_SCOPES(scope, DO, ".relaxed", __VA_ARGS__) break;                                 \
    case __NV_ATOMIC_RELEASE: HEDDLE_SCOPES(scope, DO, ".release", __VA_ARGS__) break;                                 \
    case __NV_ATOMIC_ACQ_REL: HEDDLE_SCOPES(scope, DO, ".acq_rel", __VA_ARGS__) break;                                 \
    case __NV_ATOMIC_SEQ_CST: heddle_fence(__NV_ATOMIC_SEQ_CST, scope); /* fallthrough */                              \
    default: HEDDLE_SCOPES(scope, DO, ".acquire", __VA_ARGS__)                                                         \
    }
#define HEDDLE_ORDERED_LOAD(order, scope, DO, ...)                                                                     \
    switch (order) {                                                                                                   \
    case __NV_ATOMIC_RELAXED: HEDDLE_SCOPES(scope, DO, ".relaxed", __VA_ARGS__) break;                                 \
    case __NV_ATOMIC_SEQ_CST: heddle_fence(__NV_ATOMIC_SEQ_CST, scope); /* fallthrough */                              \
    default: HEDDLE_SCOPES(scope, DO, ".acquire", __VA_ARGS__)                                                         \
    }
#define HEDDLE_ORDERED_STORE(order, scope, DO, ...)                                                                    \
    switch (order) {                                                                                                   \
    case __NV_ATOMIC_RELEASE: HEDDLE_SCOPES(scope, DO, ".release", __VA_ARGS__) break;                                 \
    case __NV_ATOMIC_SEQ_CST: heddle_fence(__NV_ATOMIC_SEQ_CST, scope); /* fallthrough */                              \
    default: HEDDLE_SCOPES(scope, DO, ".relaxed", __VA_ARGS__)                                                         \
    }
#else
#define HEDDLE_MEMBAR(scope, level) __asm__ __volatile__("membar." level ";" ::: "memory")
HEDDLE_INLINE void heddle_fence(int order, int scope)
{
    if (order == __NV_ATOMIC_RELAXED)
        return;
    if (scope <= __NV_THREAD_SCOPE_BLOCK)
        HEDDLE_MEMBAR(scope, "cta");
    else if (scope <= __NV_THREAD_SCOPE_DEVICE)
        HEDDLE_MEMBAR(scope, "gl");
    else
        HEDDLE_MEMBAR(scope, "sys");
}
#if __CUDA_ARCH__ >= 600
#define HEDDLE_OLD_SCOPES(scope, DO, ...) HEDDLE_SCOPES(scope, DO, "", __VA_ARGS__)
#else /* only the device's scope: .gpu without being said */
#define HEDDLE_OLD_SCOPES(scope, DO, ...) DO("", __VA_ARGS__);
#endif
#define HEDDLE_ORDERED(order, scope, DO, ...)                                                                          \
    {                                                                                                                  \
        heddle_fence(order, scope);                                                                                    \
        HEDDLE_OLD_SCOPES(scope, DO, __VA_ARGS__)                                                                      \
        heddle_fence(order, scope);                                                                                    \
    }
#define HEDDLE_ORDERED_LOAD(order, scope, DO, ...)                                                                     \
    {                                                                                                                  \
        heddle_fence(order == __NV_ATOMIC_SEQ_CST ? order : __NV_ATOMIC_RELAXED, scope);                               \
        DO(".volatile", __VA_ARGS__);                                                                                  \
        heddle_fence(order, scope);                                                                                    \
    }
#define HEDDLE_ORDERED_STORE(order, scope, DO, ...)                                                                    \
    {                                                                                                                  \
        heddle_fence(order, scope);                                                                                    \
        DO(".volatile", __VA_ARGS__);                                                                                  \
    }
#endif

/* ---- operations that return the old value ---- */

#define HEDDLE_RMW(sem, op, letter)                                                                                    \
    __asm__ __volatile__("atom" sem op " %0, [%1], %2;" : "=" letter(old) : "l"(address), letter(value) : "memory")

#define HEDDLE_ATOM(name, T, letter, op)                                                                               \
    HEDDLE_INLINE T heddle_atom_##name(T *address, T value, int order, int scope)                                      \
    {                                                                                                                  \
        T old;                                                                                                         \
        HEDDLE_ORDERED(order, scope, HEDDLE_RMW, op, letter)                                                           \
        return old;                                                                                                    \
    }
/* The integers, each with the type of its instruction: long is long long. */
#define HEDDLE_ATOMS(name, s32, u32, s64, u64)                                                                         \
    HEDDLE_ATOM(name, int, "r", s32)                                                                                   \
    HEDDLE_ATOM(name, unsigned, "r", u32)                                                                              \
    HEDDLE_ATOM(name, long, "l", s64)                                                                                  \
    HEDDLE_ATOM(name, unsigned long, "l", u64)                                                                         \
    HEDDLE_ATOM(name, long long, "l", s64)                                                                             \
    HEDDLE_ATOM(name, unsigned long long, "l", u64)
HEDDLE_ATOMS(add, ".add.s32", ".add.u32", ".add.u64", ".add.u64")
HEDDLE_ATOMS(min, ".min.s32", ".min.u32", ".min.s64", ".min.u64")
HEDDLE_ATOMS(max, ".max.s32", ".max.u32", ".max.s64", ".max.u64")
HEDDLE_ATOMS(and, ".and.b32", ".and.b32", ".and.b64", ".and.b64")
HEDDLE_ATOMS(or, ".or.b32", ".or.b32", ".or.b64", ".or.b64")
HEDDLE_ATOMS(xor, ".xor.b32", ".xor.b32", ".xor.b64", ".xor.b64")
HEDDLE_ATOM(inc, unsigned, "r", ".inc.u32")
HEDDLE_ATOM(dec, unsigned, "r", ".dec.u32")
HEDDLE_ATOM(add, float, "f", ".add.f32")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
HEDDLE_ATOM(add, double, "d", ".add.f64")
#endif

/* ---- whatever has a size: words of 1, 2, 4, 8 and 16 bytes ---- */

#define HEDDLE_LOAD(sem, type, letter)                                                                                 \
    __asm__ __volatile__("ld" sem type " %0, [%1];" : "=" letter(word) : "l"(address) : "memory")
#define HEDDLE_STORE(sem, type, letter)                                                                                \
    __asm__ __volatile__("st" sem type " [%0], %1;" ::"l"(address), letter(value) : "memory")
#define HEDDLE_EXCHANGE(sem, type, letter)                                                                             \
    __asm__ __volatile__("atom" sem ".exch" type " %0, [%1], %2;"                                                      \
                         : "=" letter(old)                                                                             \
                         : "l"(address), letter(value)                                                                 \
                         : "memory")
#define HEDDLE_CAS(sem, type, letter)                                                                                  \
    __asm__ __volatile__("atom" sem ".cas" type " %0, [%1], %2, %3;"                                                   \
                         : "=" letter(old)                                                                             \
                         : "l"(address), letter(compare), letter(value)                                                \
                         : "memory")

#define HEDDLE_ACCESS(Word, type, letter)                                                                              \
    HEDDLE_INLINE Word heddle_load(const Word *address, int order, int scope)                                          \
    {                                                                                                                  \
        Word word;                                                                                                     \
        HEDDLE_ORDERED_LOAD(order, scope, HEDDLE_LOAD, type, letter)                                                   \
        return word;                                                                                                   \
    }                                                                                                                  \
    HEDDLE_INLINE void heddle_store(Word *address, Word value, int order, int scope)                                   \
    {                                                                                                                  \
        HEDDLE_ORDERED_STORE(order, scope, HEDDLE_STORE, type, letter)                                                 \
    }
#define HEDDLE_SWAP(Word, type, letter)                                                                                \
    HEDDLE_INLINE Word heddle_exchange(Word *address, Word value, int order, int scope)                                \
    {                                                                                                                  \
        Word old;                                                                                                      \
        HEDDLE_ORDERED(order, scope, HEDDLE_EXCHANGE, type, letter)                                                    \
        return old;                                                                                                    \
    }
#define HEDDLE_COMPARE_AND_SWAP(Word, type, letter)                                                                    \
    HEDDLE_INLINE Word heddle_cas(Word *address, Word compare, Word value, int order, int scope)                       \
    {                                                                                                                  \
        Word old;                                                                                                      \
        HEDDLE_ORDERED(order, scope, HEDDLE_CAS, type, letter)                                                         \
        return old;                                                                                                    \
    }

/* A byte travels in a register of 16 bits. */
struct heddle_byte {
    unsigned char bits;
};
HEDDLE_INLINE heddle_byte heddle_load(const heddle_byte *address, int order, int scope)
{
    unsigned short word;
    HEDDLE_ORDERED_LOAD(order, scope, HEDDLE_LOAD, ".u8", "h")
    return {(unsigned char)word};
}
HEDDLE_INLINE void heddle_store(heddle_byte *address, heddle_byte byte, int order, int scope)
{
    const unsigned short value = byte.bits;
    HEDDLE_ORDERED_STORE(order, scope, HEDDLE_STORE, ".u8", "h")
}
HEDDLE_ACCESS(unsigned short, ".b16", "h")
HEDDLE_ACCESS(unsigned, ".b32", "r")
HEDDLE_ACCESS(unsigned long long, ".b64", "l")
HEDDLE_SWAP(unsigned, ".b32", "r")
HEDDLE_SWAP(unsigned long long, ".b64", "l")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
HEDDLE_COMPARE_AND_SWAP(unsigned short, ".b16", "h")
#endif
HEDDLE_COMPARE_AND_SWAP(unsigned, ".b32", "r")
HEDDLE_COMPARE_AND_SWAP(unsigned long long, ".b64", "l")

/* ---- 16 bytes: loads and stores from sm_70, exchanges from sm_90 ---- */

struct alignas(16) heddle_word16 {
    unsigned long long lo, hi;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define HEDDLE_LOAD16(sem, ...)                                                                                        \
    __asm__ __volatile__("{\n .reg .b128 t;\n ld" sem ".b128 t, [%2];\n mov.b128 {%0, %1}, t;\n}"                      \
                         : "=l"(word.lo), "=l"(word.hi)                                                                \
                         : "l"(address)                                                                                \
                         : "memory")
#define HEDDLE_STORE16(sem, ...)                                                                                       \
    __asm__ __volatile__("{\n .reg .b128 t;\n mov.b128 t, {%1, %2};\n st" sem ".b128 [%0], t;\n}" ::"l"(address),      \
                         "l"(value.lo), "l"(value.hi)                                                                  \
                         : "memory")
HEDDLE_INLINE heddle_word16 heddle_load(const heddle_word16 *address, int order, int scope)
{
    heddle_word16 word;
    HEDDLE_ORDERED_LOAD(order, scope, HEDDLE_LOAD16, )
    return word;
}
HEDDLE_INLINE void heddle_store(heddle_word16 *address, heddle_word16 value, int order,
                                int scope){HEDDLE_ORDERED_STORE(order, scope, HEDDLE_STORE16, )}
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define HEDDLE_EXCHANGE16(sem, ...)                                                                                    \
    __asm__ __volatile__("{\n .reg .b128 o, v;\n mov.b128 v, {%3, %4};\n atom" sem ".exch.b128 o, [%2], v;\n"          \
                         " mov.b128 {%0, %1}, o;\n}"                                                                   \
                         : "=l"(old.lo), "=l"(old.hi)                                                                  \
                         : "l"(address), "l"(value.lo), "l"(value.hi)                                                  \
                         : "memory")
#define HEDDLE_CAS16(sem, ...)                                                                                         \
    __asm__ __volatile__("{\n .reg .b128 o, c, v;\n mov.b128 c, {%3, %4};\n mov.b128 v, {%5, %6};\n"                   \
                         " atom" sem ".cas.b128 o, [%2], c, v;\n mov.b128 {%0, %1}, o;\n}"                             \
                         : "=l"(old.lo), "=l"(old.hi)                                                                  \
                         : "l"(address), "l"(compare.lo), "l"(compare.hi), "l"(value.lo), "l"(value.hi)                \
                         : "memory")
HEDDLE_INLINE heddle_word16 heddle_exchange(heddle_word16 *address, heddle_word16 value, int order, int scope)
{
    heddle_word16 old;
    HEDDLE_ORDERED(order, scope, HEDDLE_EXCHANGE16, )
    return old;
}
HEDDLE_INLINE heddle_word16 heddle_cas(heddle_word16 *address, heddle_word16 compare, heddle_word16 value, int order,
                                       int scope)
{
    heddle_word16 old;
    HEDDLE_ORDERED(order, scope, HEDDLE_CAS16, )
    return old;
}
#endif

/* The word of a type's size. */
template <int bytes> struct heddle_sized;
template <> struct heddle_sized<1> {
    typedef heddle_byte word;
};
template <> struct heddle_sized<2> {
    typedef unsigned short word;
};
template <> struct heddle_sized<4> {
    typedef unsigned word;
};
template <> struct heddle_sized<8> {
    typedef unsigned long long word;
};
template <> struct heddle_sized<16> {
    typedef heddle_word16 word;
};
template <class T> using heddle_word = typename heddle_sized<sizeof(T)>::word;

HEDDLE_INLINE bool heddle_equal(unsigned long long a, unsigned long long b)
{
    return a == b;
}
HEDDLE_INLINE bool heddle_equal(heddle_byte a, heddle_byte b)
{
    return a.bits == b.bits;
}
HEDDLE_INLINE bool heddle_equal(heddle_word16 a, heddle_word16 b)
{
    return a.lo == b.lo && a.hi == b.hi;
}
template <class T> HEDDLE_INLINE bool heddle_same_bits(T a, T b)
{
    return heddle_equal(__builtin_bit_cast(heddle_word<T>, a), __builtin_bit_cast(heddle_word<T>, b));
}

/* Exchanges of any trivially copyable type of such a size; compare and swap compares bits. */
template <class T> HEDDLE_INLINE T heddle_exchange_of(T *address, T value, int order, int scope)
{
    typedef heddle_word<T> word;
    return __builtin_bit_cast(T, heddle_exchange((word *)address, __builtin_bit_cast(word, value), order, scope));
}
template <class T> HEDDLE_INLINE T heddle_cas_of(T *address, T compare, T value, int order, int scope)
{
    typedef heddle_word<T> word;
    return __builtin_bit_cast(T, heddle_cas((word *)address, __builtin_bit_cast(word, compare),
                                            __builtin_bit_cast(word, value), order, scope));
}

#endif
