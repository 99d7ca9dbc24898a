/* Scans of a group: CUDA C++ Programming Guide, "Cooperative Groups", "inclusive_scan and exclusive_scan". */
#ifndef _COOPERATIVE_GROUPS_SCAN_H
#define _COOPERATIVE_GROUPS_SCAN_H

#include "../heddle/group_operations.h"

namespace cooperative_groups
{
namespace __v1
{

#define HEDDLE_CG static __device__ __forceinline__ __attribute__((nodebug))

/* op over the values up to and with this thread's, or up to it; the first then has T(). */
template <class G, class T, class Op> HEDDLE_CG T inclusive_scan(const G &g, T value, Op &&op)
{
    for (unsigned step = 1; step < g.size(); step *= 2) {
        const T other = g.shfl_up(value, step);
        if (g.thread_rank() >= step)
            value = op(other, value);
    }
    return value;
}
template <class G, class T, class Op> HEDDLE_CG T exclusive_scan(const G &g, T value, Op &&op)
{
    const T before = g.shfl_up(inclusive_scan(g, value, op), 1);
    return g.thread_rank() ? before : T();
}
template <class G, class T> HEDDLE_CG T inclusive_scan(const G &g, T value)
{
    return inclusive_scan(g, value, plus<T>());
}
template <class G, class T> HEDDLE_CG T exclusive_scan(const G &g, T value)
{
    return exclusive_scan(g, value, plus<T>());
}

#undef HEDDLE_CG

} // namespace __v1
} // namespace cooperative_groups

#endif
