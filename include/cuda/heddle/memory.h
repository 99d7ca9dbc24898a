/* Loads and stores with a cache operator, and questions about addresses: CUDA C++
 * Programming Guide, "Read-Only Data Cache Load Function", "Load Functions Using Cache
 * Hints", "Store Functions Using Cache Hints", "Address Space Predicate Functions" and
 * "Address Space Conversion Functions". */
#ifndef HEDDLE_MEMORY_H
#define HEDDLE_MEMORY_H

#include <stddef.h>

#include "../vector_types.h"
#include "define.h"

/* An entry for each type: its own name, the word that is moved, the inline letter, the PTX type. */
#define HEDDLE_LOADS(scalar, vector2, vector4)                                                                         \
    scalar(char, short, "h", "s8") scalar(signed char, short, "h", "s8") scalar(short, short, "h", "s16")              \
        scalar(int, int, "r", "s32") scalar(long, long, "l", "s64") scalar(long long, long long, "l", "s64")           \
            scalar(unsigned char, unsigned short, "h", "u8") scalar(unsigned short, unsigned short, "h", "u16")        \
                scalar(unsigned, unsigned, "r", "u32") scalar(unsigned long, unsigned long, "l", "u64")                \
                    scalar(unsigned long long, unsigned long long, "l", "u64") scalar(float, float, "f", "f32")        \
                        scalar(double, double, "d", "f64") vector2(char2, short, "h", "s8")                            \
                            vector2(short2, short, "h", "s16") vector2(int2, int, "r", "s32")                          \
                                vector2(longlong2, long long, "l", "s64") vector2(uchar2, unsigned short, "h", "u8")   \
                                    vector2(ushort2, unsigned short, "h", "u16") vector2(uint2, unsigned, "r", "u32")  \
                                        vector2(ulonglong2, unsigned long long, "l", "u64")                            \
                                            vector2(float2, float, "f", "f32") vector2(double2, double, "d", "f64")    \
                                                vector4(char4, short, "h", "s8") vector4(short4, short, "h", "s16")    \
                                                    vector4(int4, int, "r", "s32")                                     \
                                                        vector4(uchar4, unsigned short, "h", "u8")                     \
                                                            vector4(ushort4, unsigned short, "h", "u16")               \
                                                                vector4(uint4, unsigned, "r", "u32")                   \
                                                                    vector4(float4, float, "f", "f32")

#ifdef __CUDA_ARCH__
#define HEDDLE_MOVE(...) __asm__ __volatile__(__VA_ARGS__)
#else
#define HEDDLE_MOVE(...) /* as in atomic_core.h */
#endif

#define HEDDLE_LOAD1(T, Word, letter, type)                                                                            \
    HEDDLE_INLINE T HEDDLE_NAME(const T *address)                                                                      \
    {                                                                                                                  \
        Word x;                                                                                                        \
        HEDDLE_MOVE(HEDDLE_OP "." type " %0, [%1];" : "=" letter(x) : "l"(address)HEDDLE_CLOBBER);                     \
        return (T)x;                                                                                                   \
    }
#define HEDDLE_LOAD2(T, Word, letter, type)                                                                            \
    HEDDLE_INLINE T HEDDLE_NAME(const T *address)                                                                      \
    {                                                                                                                  \
        Word x, y;                                                                                                     \
        HEDDLE_MOVE(HEDDLE_OP ".v2." type " {%0, %1}, [%2];" : "=" letter(x),                                          \
                    "=" letter(y) : "l"(address)HEDDLE_CLOBBER);                                                       \
        return {(decltype(T::x))x, (decltype(T::x))y};                                                                 \
    }
#define HEDDLE_LOAD4(T, Word, letter, type)                                                                            \
    HEDDLE_INLINE T HEDDLE_NAME(const T *address)                                                                      \
    {                                                                                                                  \
        Word x, y, z, w;                                                                                               \
        HEDDLE_MOVE(HEDDLE_OP ".v4." type " {%0, %1, %2, %3}, [%4];" : "=" letter(x), "=" letter(y), "=" letter(z),    \
                    "=" letter(w) : "l"(address)HEDDLE_CLOBBER);                                                       \
        return {(decltype(T::x))x, (decltype(T::x))y, (decltype(T::x))z, (decltype(T::x))w};                           \
    }
#define HEDDLE_STORE1(T, Word, letter, type)                                                                           \
    HEDDLE_INLINE void HEDDLE_NAME(T *address, T value)                                                                \
    {                                                                                                                  \
        HEDDLE_MOVE(HEDDLE_OP "." type " [%0], %1;" ::"l"(address), letter((Word)value) : "memory");                   \
    }
#define HEDDLE_STORE2(T, Word, letter, type)                                                                           \
    HEDDLE_INLINE void HEDDLE_NAME(T *address, T value)                                                                \
    {                                                                                                                  \
        HEDDLE_MOVE(HEDDLE_OP ".v2." type " [%0], {%1, %2};" ::"l"(address), letter((Word)value.x),                    \
                    letter((Word)value.y) : "memory");                                                                 \
    }
#define HEDDLE_STORE4(T, Word, letter, type)                                                                           \
    HEDDLE_INLINE void HEDDLE_NAME(T *address, T value)                                                                \
    {                                                                                                                  \
        HEDDLE_MOVE(HEDDLE_OP ".v4." type " [%0], {%1, %2, %3, %4};" ::"l"(address), letter((Word)value.x),            \
                    letter((Word)value.y), letter((Word)value.z), letter((Word)value.w) : "memory");                   \
    }

/* __ldg promises that nobody writes there while the kernel runs. */
#define HEDDLE_CLOBBER
#define HEDDLE_NAME __ldg
#define HEDDLE_OP   "ld.global.nc"
HEDDLE_LOADS(HEDDLE_LOAD1, HEDDLE_LOAD2, HEDDLE_LOAD4)
#undef HEDDLE_OP
#undef HEDDLE_NAME
#undef HEDDLE_CLOBBER
#define HEDDLE_CLOBBER : "memory"
#define HEDDLE_NAME __ldca
#define HEDDLE_OP   "ld.global.ca"
HEDDLE_LOADS(HEDDLE_LOAD1, HEDDLE_LOAD2, HEDDLE_LOAD4)
#undef HEDDLE_OP
#undef HEDDLE_NAME
#define HEDDLE_NAME __ldcg
#define HEDDLE_OP   "ld.global.cg"
HEDDLE_LOADS(HEDDLE_LOAD1, HEDDLE_LOAD2, HEDDLE_LOAD4)
#undef HEDDLE_OP
#undef HEDDLE_NAME
#define HEDDLE_NAME __ldcs
#define HEDDLE_OP   "ld.global.cs"
HEDDLE_LOADS(HEDDLE_LOAD1, HEDDLE_LOAD2, HEDDLE_LOAD4)
#undef HEDDLE_OP
#undef HEDDLE_NAME
#define HEDDLE_NAME __ldlu
#define HEDDLE_OP   "ld.global.lu"
HEDDLE_LOADS(HEDDLE_LOAD1, HEDDLE_LOAD2, HEDDLE_LOAD4)
#undef HEDDLE_OP
#undef HEDDLE_NAME
#define HEDDLE_NAME __ldcv
#define HEDDLE_OP   "ld.global.cv"
HEDDLE_LOADS(HEDDLE_LOAD1, HEDDLE_LOAD2, HEDDLE_LOAD4)
#undef HEDDLE_OP
#undef HEDDLE_NAME
#define HEDDLE_NAME __stwb
#define HEDDLE_OP   "st.global.wb"
HEDDLE_LOADS(HEDDLE_STORE1, HEDDLE_STORE2, HEDDLE_STORE4)
#undef HEDDLE_OP
#undef HEDDLE_NAME
#define HEDDLE_NAME __stcg
#define HEDDLE_OP   "st.global.cg"
HEDDLE_LOADS(HEDDLE_STORE1, HEDDLE_STORE2, HEDDLE_STORE4)
#undef HEDDLE_OP
#undef HEDDLE_NAME
#define HEDDLE_NAME __stcs
#define HEDDLE_OP   "st.global.cs"
HEDDLE_LOADS(HEDDLE_STORE1, HEDDLE_STORE2, HEDDLE_STORE4)
#undef HEDDLE_OP
#undef HEDDLE_NAME
#define HEDDLE_NAME __stwt
#define HEDDLE_OP   "st.global.wt"
HEDDLE_LOADS(HEDDLE_STORE1, HEDDLE_STORE2, HEDDLE_STORE4)
#undef HEDDLE_OP
#undef HEDDLE_NAME
#undef HEDDLE_CLOBBER
#undef HEDDLE_LOADS
#undef HEDDLE_MOVE
#undef HEDDLE_LOAD1
#undef HEDDLE_LOAD2
#undef HEDDLE_LOAD4
#undef HEDDLE_STORE1
#undef HEDDLE_STORE2
#undef HEDDLE_STORE4

/* ---- blocks of memory ---- */

HEDDLE_INLINE void *memcpy(void *to, const void *from, size_t n)
{
    return __builtin_memcpy(to, from, n);
}
HEDDLE_INLINE void *memmove(void *to, const void *from, size_t n)
{
    return __builtin_memmove(to, from, n);
}
HEDDLE_INLINE void *memset(void *to, int byte, size_t n)
{
    return __builtin_memset(to, byte, n);
}
HEDDLE_INLINE int memcmp(const void *a, const void *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((const unsigned char *)a)[i] != ((const unsigned char *)b)[i])
            return ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i];
    return 0;
}

/* ---- what an address belongs to ---- */

HEDDLE_INLINE unsigned __isGlobal(const void *pointer)
{
    return __nvvm_isspacep_global(pointer);
}
HEDDLE_INLINE unsigned __isShared(const void *pointer)
{
    return __nvvm_isspacep_shared(pointer);
}
HEDDLE_INLINE unsigned __isConstant(const void *pointer)
{
    return __nvvm_isspacep_const(pointer);
}
HEDDLE_INLINE unsigned __isLocal(const void *pointer)
{
    return __nvvm_isspacep_local(pointer);
}
#define HEDDLE_IS_IN(name, space)                                                                                      \
    HEDDLE_INLINE unsigned name(const void *pointer)                                                                   \
    {                                                                                                                  \
        unsigned is;                                                                                                   \
        __asm__("{ .reg .pred p; isspacep." space " p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(pointer));        \
        return is;                                                                                                     \
    }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
HEDDLE_IS_IN(__isGridConstant, "param")
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
HEDDLE_IS_IN(__isClusterShared, "shared::cluster")
HEDDLE_IS_IN(__isCtaShared, "shared::cta")
#endif
#undef HEDDLE_IS_IN

/* An address that L2 is to treat in a way of its own (libcu++, "annotated_ptr"): as any other here,
 * with the same results. */
HEDDLE_INLINE void *__nv_associate_access_property(const void *pointer, unsigned long long)
{
    return (void *)pointer;
}

/* By cvta itself: clang fails where it finds out that the address is of another space. */
#define HEDDLE_CONVERT(space, name)                                                                                    \
    HEDDLE_INLINE size_t __cvta_generic_to_##space(const void *pointer)                                                \
    {                                                                                                                  \
        size_t address;                                                                                                \
        __asm__("cvta.to." name ".u64 %0, %1;" : "=l"(address) : "l"(pointer));                                        \
        return address;                                                                                                \
    }                                                                                                                  \
    HEDDLE_INLINE void *__cvta_##space##_to_generic(size_t address)                                                    \
    {                                                                                                                  \
        void *pointer;                                                                                                 \
        __asm__("cvta." name ".u64 %0, %1;" : "=l"(pointer) : "l"(address));                                           \
        return pointer;                                                                                                \
    }
HEDDLE_CONVERT(global, "global")
HEDDLE_CONVERT(shared, "shared")
HEDDLE_CONVERT(constant, "const")
HEDDLE_CONVERT(local, "local")
#undef HEDDLE_CONVERT

#endif
