/* Which conversions and operators the small floats of the headers have: a line for each type, and for each pair of types. conversions.txt is
 * what it prints with CUDA 13.0's headers and, behind the name of each macro that leaves something out, the lines that differ then. */
#include <cstdio>
#include <type_traits>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

template <class...> using Void = void;
#define OPERATOR(name, expression)                                                                                     \
    template <class T, class = void> struct name : std::false_type {                                                   \
    };                                                                                                                 \
    template <class T> struct name<T, Void<decltype(expression)>> : std::true_type {                                   \
    };
OPERATOR(Adds, std::declval<T>() + std::declval<T>())
OPERATOR(Accumulates, std::declval<T &>() *= std::declval<T>())
OPERATOR(Compares, std::declval<T>() < std::declval<T>())
OPERATOR(Negates, -std::declval<T>())
OPERATOR(Counts, std::declval<T &>()++)

template <class T, class U> void pair(const char *t, const char *u)
{
    std::printf("%s %s: %s%s%s%s%s\n", t, u, std::is_constructible<T, U>::value ? " made-of" : "",
                std::is_convertible<U, T>::value ? " from" : "", std::is_constructible<U, T>::value ? " makes" : "",
                std::is_convertible<T, U>::value ? " to" : "",
                !std::is_arithmetic<U>::value && std::is_assignable<T &, U>::value ? " assigned" : "");
}
#define PAIR(T, U) pair<T, U>(#T, #U);
#define TYPE(T)                                                                                                        \
    std::printf("%s:%s%s%s%s%s\n", #T, Adds<T>::value ? " +" : "", Accumulates<T>::value ? " *=" : "",                 \
                Compares<T>::value ? " <" : "", Negates<T>::value ? " -" : "", Counts<T>::value ? " ++" : "");
#define NUMBERS(T)                                                                                                     \
    PAIR(T, float)                                                                                                     \
    PAIR(T, double) PAIR(T, short) PAIR(T, unsigned short) PAIR(T, int) PAIR(T, unsigned) PAIR(T, long)                \
        PAIR(T, unsigned long) PAIR(T, long long) PAIR(T, unsigned long long) PAIR(T, bool) PAIR(T, char)              \
            PAIR(T, signed char) PAIR(T, unsigned char)
#define HALF(T, T2, RAW, RAW2) TYPE(T) NUMBERS(T) PAIR(T, RAW) TYPE(T2) PAIR(T2, RAW2) PAIR(T2, float2) PAIR(T2, T)
#define TINY(T, T2, T4)                                                                                                \
    TYPE(T)                                                                                                            \
    NUMBERS(T) PAIR(T, __half) PAIR(T, __nv_bfloat16) PAIR(T2, float2) PAIR(T2, double2) PAIR(T2, __half2)             \
        PAIR(T2, __nv_bfloat162) PAIR(T4, float4)

int main()
{
    HALF(__half, __half2, __half_raw, __half2_raw)
    HALF(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, __nv_bfloat162_raw)
    PAIR(__half, __nv_bfloat16)
    TINY(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3)
    TINY(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2)
    TINY(__nv_fp8_e8m0, __nv_fp8x2_e8m0, __nv_fp8x4_e8m0)
    TINY(__nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3)
    TINY(__nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2)
    TINY(__nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1)
}
