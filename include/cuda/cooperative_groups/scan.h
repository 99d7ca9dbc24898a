/* Scans of a group: CUDA C++ Programming Guide, "Cooperative Groups", "inclusive_scan and
 * exclusive_scan". */
#if defined(__CUDA__) && !defined(_COOPERATIVE_GROUPS_SCAN_H) /* other compilers have nothing of it */
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
/* Of a tile of several warps: in its warps, behind what the warps before have. */
template <unsigned tile, class P, class T, class Op>
HEDDLE_CG std::enable_if_t<(tile > 32), T> inclusive_scan(const thread_block_tile<tile, P> &g, T value, Op &&op)
{
    const T in_warp = inclusive_scan(tiled_partition<32>(g), value, op);
    return g.heddle_each_warp(in_warp, g.thread_rank() % 32 == 31, [&](auto of) {
        const unsigned warp = g.thread_rank() / 32;
        T before = of(0);
        for (unsigned i = 1; i < warp; i++)
            before = op(before, of(i));
        return warp ? op(before, in_warp) : in_warp;
    });
}
template <unsigned tile, class P, class T, class Op>
HEDDLE_CG std::enable_if_t<(tile > 32), T> exclusive_scan(const thread_block_tile<tile, P> &g, T value, Op &&op)
{
    const T upto = inclusive_scan(g, value, op), in_warp = tiled_partition<32>(g).shfl_up(upto, 1);
    const bool is_last = g.thread_rank() % 32 == 31;
    return g.heddle_each_warp(upto, is_last, [&](auto of) {
        const unsigned rank = g.thread_rank();
        return rank == 0 ? T() : rank % 32 ? in_warp : of(rank / 32 - 1);
    });
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
