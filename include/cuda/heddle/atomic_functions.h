/* atomicAdd() and its kind: CUDA C++ Programming Guide, "Atomic Functions". Relaxed, at the scope
 * of the device, and with _block and _system (sm_60) at those scopes. The device's scope is what
 * clang's own builtins mean, and they find out which state space an address is in; the others are
 * inline PTX.
 */
#ifndef HEDDLE_ATOMIC_FUNCTIONS_H
#define HEDDLE_ATOMIC_FUNCTIONS_H

#include "../vector_types.h"
#include "atomic_core.h"
#include "casts.h"
#include "memory.h"

/* A function that a device is too old for, so that the error says so. */
#define HEDDLE_NEEDS(sm)                                                                                               \
    static __device__ __attribute__((unavailable("it needs compute capability " sm " or higher, as -arch=sm_" sm)))

/* name(T *, T): `builtin` does the device's scope on a T2, `operation` the others. */
#define HEDDLE_FUNCTION(name, T, operation, builtin, T2)                                                               \
    HEDDLE_INLINE T name(T *address, T value)                                                                          \
    {                                                                                                                  \
        return (T)builtin((T2 *)address, (T2)value);                                                                   \
    }                                                                                                                  \
    HEDDLE_SCOPED(name, T, operation)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#define HEDDLE_SCOPED(name, T, operation)                                                                              \
    HEDDLE_INLINE T name##_block(T *address, T value)                                                                  \
    {                                                                                                                  \
        return operation(address, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);                                \
    }                                                                                                                  \
    HEDDLE_INLINE T name##_system(T *address, T value)                                                                 \
    {                                                                                                                  \
        return operation(address, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);                               \
    }
#else
#define HEDDLE_SCOPED(name, T, operation)                                                                              \
    HEDDLE_NEEDS("60") T name##_block(T *address, T value);                                                            \
    HEDDLE_NEEDS("60") T name##_system(T *address, T value);
#endif

HEDDLE_FUNCTION(atomicAdd, int, heddle_atom_add, __nvvm_atom_add_gen_i, int)
HEDDLE_FUNCTION(atomicAdd, unsigned, heddle_atom_add, __nvvm_atom_add_gen_i, int)
HEDDLE_FUNCTION(atomicAdd, unsigned long long, heddle_atom_add, __nvvm_atom_add_gen_ll, long long)
HEDDLE_FUNCTION(atomicAdd, float, heddle_atom_add, __nvvm_atom_add_gen_f, float)
HEDDLE_FUNCTION(atomicMin, int, heddle_atom_min, __nvvm_atom_min_gen_i, int)
HEDDLE_FUNCTION(atomicMin, unsigned, heddle_atom_min, __nvvm_atom_min_gen_ui, unsigned)
HEDDLE_FUNCTION(atomicMin, long long, heddle_atom_min, __nvvm_atom_min_gen_ll, long long)
HEDDLE_FUNCTION(atomicMin, unsigned long long, heddle_atom_min, __nvvm_atom_min_gen_ull, unsigned long long)
HEDDLE_FUNCTION(atomicMax, int, heddle_atom_max, __nvvm_atom_max_gen_i, int)
HEDDLE_FUNCTION(atomicMax, unsigned, heddle_atom_max, __nvvm_atom_max_gen_ui, unsigned)
HEDDLE_FUNCTION(atomicMax, long long, heddle_atom_max, __nvvm_atom_max_gen_ll, long long)
HEDDLE_FUNCTION(atomicMax, unsigned long long, heddle_atom_max, __nvvm_atom_max_gen_ull, unsigned long long)
HEDDLE_FUNCTION(atomicInc, unsigned, heddle_atom_inc, __nvvm_atom_inc_gen_ui, unsigned)
HEDDLE_FUNCTION(atomicDec, unsigned, heddle_atom_dec, __nvvm_atom_dec_gen_ui, unsigned)
#define HEDDLE_BITWISE(name, operation, op)                                                                            \
    HEDDLE_FUNCTION(name, int, operation, __nvvm_atom_##op##_gen_i, int)                                               \
    HEDDLE_FUNCTION(name, unsigned, operation, __nvvm_atom_##op##_gen_i, int)                                          \
    HEDDLE_FUNCTION(name, long long, operation, __nvvm_atom_##op##_gen_ll, long long)                                  \
    HEDDLE_FUNCTION(name, unsigned long long, operation, __nvvm_atom_##op##_gen_ll, long long)
HEDDLE_BITWISE(atomicAnd, heddle_atom_and, and)
HEDDLE_BITWISE(atomicOr, heddle_atom_or, or)
HEDDLE_BITWISE(atomicXor, heddle_atom_xor, xor)
#undef HEDDLE_BITWISE

/* ---- differences are sums ---- */

HEDDLE_INLINE int heddle_atom_sub(int *address, int value, int order, int scope)
{
    return heddle_atom_add(address, (int)(0u - (unsigned)value), order, scope);
}
HEDDLE_INLINE unsigned heddle_atom_sub(unsigned *address, unsigned value, int order, int scope)
{
    return heddle_atom_add(address, 0u - value, order, scope);
}
HEDDLE_FUNCTION(atomicSub, int, heddle_atom_sub, __nvvm_atom_sub_gen_i, int)
HEDDLE_FUNCTION(atomicSub, unsigned, heddle_atom_sub, __nvvm_atom_sub_gen_i, int)

/* ---- exchanges ---- */

HEDDLE_FUNCTION(atomicExch, int, heddle_exchange_of, __nvvm_atom_xchg_gen_i, int)
HEDDLE_FUNCTION(atomicExch, unsigned, heddle_exchange_of, __nvvm_atom_xchg_gen_i, int)
HEDDLE_FUNCTION(atomicExch, unsigned long long, heddle_exchange_of, __nvvm_atom_xchg_gen_ll, long long)
HEDDLE_INLINE float atomicExch(float *address, float value)
{
    return __int_as_float(__nvvm_atom_xchg_gen_i((int *)address, __float_as_int(value)));
}
HEDDLE_SCOPED(atomicExch, float, heddle_exchange_of)

/* ---- compare and swap ---- */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#define HEDDLE_SCOPED_CAS(T)                                                                                           \
    HEDDLE_INLINE T atomicCAS_block(T *address, T compare, T value)                                                    \
    {                                                                                                                  \
        return heddle_cas_of(address, compare, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);                   \
    }                                                                                                                  \
    HEDDLE_INLINE T atomicCAS_system(T *address, T compare, T value)                                                   \
    {                                                                                                                  \
        return heddle_cas_of(address, compare, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);                  \
    }
#else
#define HEDDLE_SCOPED_CAS(T)                                                                                           \
    HEDDLE_NEEDS("60") T atomicCAS_block(T *address, T compare, T value);                                              \
    HEDDLE_NEEDS("60") T atomicCAS_system(T *address, T compare, T value);
#endif
#define HEDDLE_CAS_FUNCTION(T, builtin, T2)                                                                            \
    HEDDLE_INLINE T atomicCAS(T *address, T compare, T value)                                                          \
    {                                                                                                                  \
        return (T)builtin((T2 *)address, (T2)compare, (T2)value);                                                      \
    }                                                                                                                  \
    HEDDLE_SCOPED_CAS(T)
HEDDLE_CAS_FUNCTION(int, __nvvm_atom_cas_gen_i, int)
HEDDLE_CAS_FUNCTION(unsigned, __nvvm_atom_cas_gen_i, int)
HEDDLE_CAS_FUNCTION(unsigned long long, __nvvm_atom_cas_gen_ll, long long)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
HEDDLE_INLINE unsigned short atomicCAS(unsigned short *address, unsigned short compare, unsigned short value)
{
    return heddle_cas(address, compare, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
HEDDLE_SCOPED_CAS(unsigned short)
#else
HEDDLE_NEEDS("70") unsigned short atomicCAS(unsigned short *address, unsigned short compare, unsigned short value);
HEDDLE_NEEDS("70")
unsigned short atomicCAS_block(unsigned short *address, unsigned short compare, unsigned short value);
HEDDLE_NEEDS("70")
unsigned short atomicCAS_system(unsigned short *address, unsigned short compare, unsigned short value);
#endif

/* ---- any type of 16 bytes, aligned to 16 ---- */

template <class T, int bytes = sizeof(T)> struct heddle_of_16;
template <class T> struct heddle_of_16<T, 16> {
    typedef T type;
};
template <class T> using heddle_128 = typename heddle_of_16<T>::type;
#define HEDDLE_128_OK                                                                                                  \
    __attribute__((enable_if(__is_trivially_copyable(T), "a type of 128 bits has to be trivially copyable")))          \
    __attribute__((enable_if(alignof(T) >= 16, "a type of 128 bits has to be aligned to 16 bytes")))

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define HEDDLE_FUNCTIONS_128(suffix, scope)                                                                            \
    template <class T> HEDDLE_INLINE heddle_128<T> atomicExch##suffix(T *address, T value) HEDDLE_128_OK               \
    {                                                                                                                  \
        return heddle_exchange_of(address, value, __NV_ATOMIC_RELAXED, scope);                                         \
    }                                                                                                                  \
    template <class T> HEDDLE_INLINE heddle_128<T> atomicCAS##suffix(T *address, T compare, T value) HEDDLE_128_OK     \
    {                                                                                                                  \
        return heddle_cas_of(address, compare, value, __NV_ATOMIC_RELAXED, scope);                                     \
    }
#else
#define HEDDLE_FUNCTIONS_128(suffix, scope)                                                                            \
    template <class T> HEDDLE_NEEDS("90") heddle_128<T> atomicExch##suffix(T *address, T value);                       \
    template <class T> HEDDLE_NEEDS("90") heddle_128<T> atomicCAS##suffix(T *address, T compare, T value);
#endif
HEDDLE_FUNCTIONS_128(, __NV_THREAD_SCOPE_DEVICE)
HEDDLE_FUNCTIONS_128(_block, __NV_THREAD_SCOPE_BLOCK)
HEDDLE_FUNCTIONS_128(_system, __NV_THREAD_SCOPE_SYSTEM)
#undef HEDDLE_FUNCTIONS_128
#undef HEDDLE_128_OK

/* ---- sums of double (sm_60). Templates, so that a program's own atomicAdd(double *, double) for
 * older devices, as the programming guide shows it, goes before them and does not clash. ---- */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
template <class = void> HEDDLE_INLINE double atomicAdd(double *address, double value)
{
    return __nvvm_atom_add_gen_d(address, value);
}
template <class = void> HEDDLE_INLINE double atomicAdd_block(double *address, double value)
{
    return heddle_atom_add(address, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
}
template <class = void> HEDDLE_INLINE double atomicAdd_system(double *address, double value)
{
    return heddle_atom_add(address, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
}
#else
template <class = void> HEDDLE_NEEDS("60") double atomicAdd(double *address, double value);
template <class = void> HEDDLE_NEEDS("60") double atomicAdd_block(double *address, double value);
template <class = void> HEDDLE_NEEDS("60") double atomicAdd_system(double *address, double value);
#endif

/* ---- vectors of float in global memory (sm_90): each element is atomic for itself ---- */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define HEDDLE_VECTOR_ADD(suffix, scope)                                                                               \
    HEDDLE_INLINE float2 atomicAdd##suffix(float2 *address, float2 value)                                              \
    {                                                                                                                  \
        float2 old;                                                                                                    \
        __asm__ __volatile__("atom.relaxed." scope ".global.add.v2.f32 {%0, %1}, [%2], {%3, %4};"                      \
                             : "=f"(old.x), "=f"(old.y)                                                                \
                             : "l"(__cvta_generic_to_global(address)), "f"(value.x), "f"(value.y)                      \
                             : "memory");                                                                              \
        return old;                                                                                                    \
    }                                                                                                                  \
    HEDDLE_INLINE float4 atomicAdd##suffix(float4 *address, float4 value)                                              \
    {                                                                                                                  \
        float4 old;                                                                                                    \
        __asm__ __volatile__("atom.relaxed." scope ".global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"      \
                             : "=f"(old.x), "=f"(old.y), "=f"(old.z), "=f"(old.w)                                      \
                             : "l"(__cvta_generic_to_global(address)), "f"(value.x), "f"(value.y), "f"(value.z),       \
                               "f"(value.w)                                                                            \
                             : "memory");                                                                              \
        return old;                                                                                                    \
    }
HEDDLE_VECTOR_ADD(, "gpu")
HEDDLE_VECTOR_ADD(_block, "cta")
HEDDLE_VECTOR_ADD(_system, "sys")
#undef HEDDLE_VECTOR_ADD
#else
#define HEDDLE_VECTOR_ADD(suffix)                                                                                      \
    HEDDLE_NEEDS("90") float2 atomicAdd##suffix(float2 *address, float2 value);                                        \
    HEDDLE_NEEDS("90") float4 atomicAdd##suffix(float4 *address, float4 value);
HEDDLE_VECTOR_ADD()
HEDDLE_VECTOR_ADD(_block)
HEDDLE_VECTOR_ADD(_system)
#undef HEDDLE_VECTOR_ADD
#endif

#undef HEDDLE_CAS_FUNCTION
#undef HEDDLE_SCOPED_CAS
#undef HEDDLE_SCOPED
#undef HEDDLE_FUNCTION

#endif
