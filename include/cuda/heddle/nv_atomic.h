/* __nv_atomic_load_n() and its kind: CUDA C++ Programming Guide, "Atomic Functions", the compiler
 * builtins with a memory order and a thread scope. They are functions here; conditions on their
 * arguments make what nvcc forbids an error that says why, and keep their addresses from being
 * taken.
 */
#ifndef HEDDLE_NV_ATOMIC_H
#define HEDDLE_NV_ATOMIC_H

#include "atomic_core.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600

#define HEDDLE_ORDER_OK(order)                                                                                         \
    __attribute__((enable_if(order >= __NV_ATOMIC_RELAXED && order <= __NV_ATOMIC_SEQ_CST,                             \
                             "the memory order is a constant, from __NV_ATOMIC_RELAXED to __NV_ATOMIC_SEQ_CST")))
#define HEDDLE_SCOPE_OK                                                                                                \
    __attribute__((enable_if(scope >= __NV_THREAD_SCOPE_THREAD && scope <= __NV_THREAD_SCOPE_SYSTEM,                   \
                             "the thread scope is a constant, from __NV_THREAD_SCOPE_THREAD to "                       \
                             "__NV_THREAD_SCOPE_SYSTEM")))
#define HEDDLE_LOAD_OK                                                                                                 \
    __attribute__((diagnose_if(order == __NV_ATOMIC_RELEASE || order == __NV_ATOMIC_ACQ_REL,                           \
                               "a load is relaxed, consume, acquire or seq_cst: it has nothing to release", "error")))
#define HEDDLE_STORE_OK                                                                                                \
    __attribute__((                                                                                                    \
        diagnose_if(order == __NV_ATOMIC_CONSUME || order == __NV_ATOMIC_ACQUIRE || order == __NV_ATOMIC_ACQ_REL,      \
                    "a store is relaxed, release or seq_cst: it has nothing to acquire", "error")))
#define HEDDLE_FAILURE_OK                                                                                              \
    __attribute__((diagnose_if(failure_order == __NV_ATOMIC_RELEASE || failure_order == __NV_ATOMIC_ACQ_REL,           \
                               "a compare and swap that fails is a load: relaxed, consume, acquire or seq_cst",        \
                               "error")))
#define HEDDLE_BUILTIN  HEDDLE_INLINE
#define HEDDLE_ALL_OK   HEDDLE_ORDER_OK(order) HEDDLE_SCOPE_OK
#define HEDDLE_ANYWHERE int scope = __NV_THREAD_SCOPE_SYSTEM

#define HEDDLE_TYPE_OK(condition, says) __attribute__((enable_if(condition, says)))
#define HEDDLE_SIZE(n)                  (sizeof(T) == n)
#define HEDDLE_1_TO_16                                                                                                 \
    HEDDLE_TYPE_OK(HEDDLE_SIZE(1) || HEDDLE_SIZE(2) || HEDDLE_SIZE(4) || HEDDLE_SIZE(8) || HEDDLE_SIZE(16),            \
                   "the type has 1, 2, 4, 8 or 16 bytes")
#define HEDDLE_4_TO_16                                                                                                 \
    HEDDLE_TYPE_OK(HEDDLE_SIZE(4) || HEDDLE_SIZE(8) || HEDDLE_SIZE(16), "the type has 4, 8 or 16 bytes")
#define HEDDLE_2_TO_16                                                                                                 \
    HEDDLE_TYPE_OK(HEDDLE_SIZE(2) || HEDDLE_SIZE(4) || HEDDLE_SIZE(8) || HEDDLE_SIZE(16),                              \
                   "the type has 2, 4, 8 or 16 bytes")
#define HEDDLE_INTEGRAL HEDDLE_TYPE_OK(__is_integral(T), "the type is an integer")

/* What the second pointer of a pair is taken for: the first one's type. */
template <class T> struct heddle_same {
    typedef T type;
};
template <class T> struct heddle_same<volatile T> {
    typedef T type;
};
template <class T> struct heddle_same<const T> {
    typedef T type;
};
template <class T> using heddle_plain = typename heddle_same<T>::type;

/* ---- fences, loads, stores ---- */

HEDDLE_BUILTIN void __nv_atomic_thread_fence(int order, HEDDLE_ANYWHERE) HEDDLE_ALL_OK
{
    heddle_fence(order, scope);
}

template <class T>
HEDDLE_BUILTIN void __nv_atomic_load(T *address, heddle_plain<T> *result, int order,
                                     HEDDLE_ANYWHERE) HEDDLE_ALL_OK HEDDLE_LOAD_OK HEDDLE_1_TO_16
{
    *result = __builtin_bit_cast(heddle_plain<T>, heddle_load((heddle_word<T> *)address, order, scope));
}
template <class T>
HEDDLE_BUILTIN heddle_plain<T> __nv_atomic_load_n(T *address, int order,
                                                  HEDDLE_ANYWHERE) HEDDLE_ALL_OK HEDDLE_LOAD_OK HEDDLE_INTEGRAL
{
    return __builtin_bit_cast(heddle_plain<T>, heddle_load((heddle_word<T> *)address, order, scope));
}
template <class T>
HEDDLE_BUILTIN void __nv_atomic_store(T *address, heddle_plain<T> *value, int order,
                                      HEDDLE_ANYWHERE) HEDDLE_ALL_OK HEDDLE_STORE_OK HEDDLE_1_TO_16
{
    heddle_store((heddle_word<T> *)address, __builtin_bit_cast(heddle_word<T>, *value), order, scope);
}
template <class T>
HEDDLE_BUILTIN void __nv_atomic_store_n(T *address, heddle_plain<T> value, int order,
                                        HEDDLE_ANYWHERE) HEDDLE_ALL_OK HEDDLE_STORE_OK HEDDLE_INTEGRAL
{
    heddle_store((heddle_word<T> *)address, __builtin_bit_cast(heddle_word<T>, value), order, scope);
}

/* ---- exchanges ---- */

template <class T>
HEDDLE_BUILTIN void __nv_atomic_exchange(T *address, heddle_plain<T> *value, heddle_plain<T> *result, int order,
                                         HEDDLE_ANYWHERE) HEDDLE_ALL_OK HEDDLE_4_TO_16
{
    *result = heddle_exchange_of((heddle_plain<T> *)address, *value, order, scope);
}
template <class T>
HEDDLE_BUILTIN heddle_plain<T> __nv_atomic_exchange_n(T *address, heddle_plain<T> value, int order,
                                                      HEDDLE_ANYWHERE) HEDDLE_ALL_OK HEDDLE_4_TO_16 HEDDLE_INTEGRAL
{
    return heddle_exchange_of((heddle_plain<T> *)address, value, order, scope);
}

/* The order of a compare and swap that may fail: the instruction has one, so the failure's joins
 * in. */
HEDDLE_INLINE int heddle_joined_order(int success, int failure)
{
    if (success == __NV_ATOMIC_SEQ_CST || failure == __NV_ATOMIC_SEQ_CST)
        return __NV_ATOMIC_SEQ_CST;
    if (failure == __NV_ATOMIC_RELAXED)
        return success;
    return success == __NV_ATOMIC_RELEASE || success == __NV_ATOMIC_ACQ_REL ? __NV_ATOMIC_ACQ_REL : __NV_ATOMIC_ACQUIRE;
}
template <class T>
HEDDLE_BUILTIN bool __nv_atomic_compare_exchange(T *address, heddle_plain<T> *expected, heddle_plain<T> *desired, bool,
                                                 int order, int failure_order, HEDDLE_ANYWHERE) HEDDLE_ALL_OK
    HEDDLE_ORDER_OK(failure_order)
HEDDLE_FAILURE_OK HEDDLE_2_TO_16
{
    const heddle_plain<T> before = *expected;
    *expected =
        heddle_cas_of((heddle_plain<T> *)address, before, *desired, heddle_joined_order(order, failure_order), scope);
    return heddle_same_bits(before, *expected);
}
template <class T>
HEDDLE_BUILTIN bool __nv_atomic_compare_exchange_n(T *address, heddle_plain<T> *expected, heddle_plain<T> desired, bool,
                                                   int order, int failure_order, HEDDLE_ANYWHERE) HEDDLE_ALL_OK
    HEDDLE_ORDER_OK(failure_order)
HEDDLE_FAILURE_OK HEDDLE_2_TO_16 HEDDLE_INTEGRAL
{
    const heddle_plain<T> before = *expected;
    *expected =
        heddle_cas_of((heddle_plain<T> *)address, before, desired, heddle_joined_order(order, failure_order), scope);
    return before == *expected;
}

/* ---- arithmetic and bits: an entry for each operation, what it takes, and how it gets an operand
 * of that kind ---- */

/* __nv_atomic_fetch_add() returns the old value, __nv_atomic_add() nothing. */
#define HEDDLE_FETCH_AS(name, R, give, operation, types, says)                                                         \
    template <class T>                                                                                                 \
    HEDDLE_BUILTIN R __nv_atomic_##name(T *address, heddle_plain<T> value, int order, HEDDLE_ANYWHERE)                 \
        HEDDLE_ALL_OK HEDDLE_TYPE_OK((sizeof(T) == 4 || sizeof(T) == 8) && (types), "the type is " says)               \
    {                                                                                                                  \
        give operation((heddle_plain<T> *)address, value, order, scope);                                               \
    }
#define HEDDLE_FETCH(name, operation, types, says)                                                                     \
    HEDDLE_FETCH_AS(fetch_##name, heddle_plain<T>, return, operation, types, says)                                     \
    HEDDLE_FETCH_AS(name, void, , operation, types, says)
#define HEDDLE_INTEGERS (__is_integral(T))
#define HEDDLE_NUMBERS  (__is_integral(T) || __is_floating_point(T))

template <class T> HEDDLE_INLINE T heddle_atom_subtract(T *address, T value, int order, int scope)
{
    return heddle_atom_add(address, (T)-value, order, scope);
}
HEDDLE_FETCH(add, heddle_atom_add, HEDDLE_NUMBERS, "an integer of 4 or 8 bytes, float or double")
HEDDLE_FETCH(sub, heddle_atom_subtract, HEDDLE_NUMBERS, "an integer of 4 or 8 bytes, float or double")
HEDDLE_FETCH(min, heddle_atom_min, HEDDLE_INTEGERS, "an integer of 4 or 8 bytes")
HEDDLE_FETCH(max, heddle_atom_max, HEDDLE_INTEGERS, "an integer of 4 or 8 bytes")
HEDDLE_FETCH(and, heddle_atom_and, HEDDLE_INTEGERS, "an integer of 4 or 8 bytes")
HEDDLE_FETCH(or, heddle_atom_or, HEDDLE_INTEGERS, "an integer of 4 or 8 bytes")
HEDDLE_FETCH(xor, heddle_atom_xor, HEDDLE_INTEGERS, "an integer of 4 or 8 bytes")

#undef HEDDLE_FETCH
#undef HEDDLE_FETCH_AS
#undef HEDDLE_INTEGERS
#undef HEDDLE_NUMBERS
#undef HEDDLE_BUILTIN
#undef HEDDLE_ALL_OK
#undef HEDDLE_ORDER_OK
#undef HEDDLE_SCOPE_OK
#undef HEDDLE_LOAD_OK
#undef HEDDLE_STORE_OK
#undef HEDDLE_FAILURE_OK
#undef HEDDLE_ANYWHERE
#undef HEDDLE_TYPE_OK
#undef HEDDLE_SIZE
#undef HEDDLE_1_TO_16
#undef HEDDLE_2_TO_16
#undef HEDDLE_4_TO_16
#undef HEDDLE_INTEGRAL

#endif

#endif
