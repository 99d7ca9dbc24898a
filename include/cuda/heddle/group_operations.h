/* What groups reduce and scan by: CUDA C++ Programming Guide, "Cooperative Groups", "Reduction". */
#ifndef HEDDLE_GROUP_OPERATIONS_H
#define HEDDLE_GROUP_OPERATIONS_H

#include "../cooperative_groups.h"

namespace cooperative_groups
{
namespace __v1
{

#define HEDDLE_OPERATION(name, expression)                                                                             \
    template <class T> struct name {                                                                                   \
        __device__ __forceinline__ __attribute__((nodebug)) T operator()(T x, T y) const                               \
        {                                                                                                              \
            return expression;                                                                                         \
        }                                                                                                              \
    };
HEDDLE_OPERATION(plus, x + y)
HEDDLE_OPERATION(less, y < x ? y : x)
HEDDLE_OPERATION(greater, x < y ? y : x)
HEDDLE_OPERATION(bit_and, x &y)
HEDDLE_OPERATION(bit_or, x | y)
HEDDLE_OPERATION(bit_xor, x ^ y)
#undef HEDDLE_OPERATION

/* Scans of the lanes of a group, and of the values of a wide tile's warps. Sums of floats
 * depend on the order: nvcc's header, too, takes ever greater steps, and gives op a
 * thread's own value first. */
template <class G, class T, class Op>
static __device__ __forceinline__ __attribute__((nodebug)) T heddle_scan(const G &g, T value, Op &&op)
{
    for (unsigned step = 1; step < g.size(); step *= 2) {
        const T other = g.shfl_up(value, step);
        if (g.thread_rank() >= step)
            value = op(value, other);
    }
    return value;
}
/* op over of(0) to of(at), for a number n of them that the compiler knows. */
template <unsigned n, class T, class Of, class Op>
static __device__ __forceinline__ __attribute__((nodebug)) T heddle_scan_of(Of of, unsigned at, Op &&op)
{
    T values[n], result = T();
    for (unsigned i = 0; i < n; i++)
        values[i] = of(i);
    for (unsigned step = 1; step < n; step *= 2)
        for (unsigned i = n - 1; i >= step; i--)
            values[i] = op(values[i], values[i - step]);
    for (unsigned i = 0; i < n; i++)
        result = i == at ? values[i] : result;
    return result;
}

/* op(what an atomic variable has, value) becomes its value; what it had. `to` is a
 * cuda::atomic or a cuda::atomic_ref. */
template <class A, class T, class Op>
static __device__ __forceinline__ __attribute__((nodebug)) T heddle_update(A &to, T value, Op &&op)
{
    T had = to.load(cuda::memory_order_relaxed);
    while (!to.compare_exchange_weak(had, op(had, value), cuda::memory_order_relaxed))
        ;
    return had;
}

} // namespace __v1
} // namespace cooperative_groups

#endif
