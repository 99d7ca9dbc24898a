/* Reductions of a group: CUDA C++ Programming Guide, "Cooperative Groups", "reduce". */
#if defined(__CUDA__) && !defined(_COOPERATIVE_GROUPS_REDUCE_H) /* other compilers have nothing of it */
#define _COOPERATIVE_GROUPS_REDUCE_H

#include "../heddle/group_operations.h"

namespace cooperative_groups
{
namespace __v1
{

#define HEDDLE_CG static __device__ __forceinline__ __attribute__((nodebug))

/* op over the values of a group of lanes; all get the result. In halves, so that it is the same for
 * all. */
template <class G, class T, class Op> HEDDLE_CG T reduce(const G &g, T value, Op &&op)
{
    const unsigned n = g.size(), rank = g.thread_rank();
    unsigned width = 1;
    while (width < n)
        width *= 2;
    for (unsigned step = width / 2; step; step /= 2) {
        const T other = g.shfl_down(value, step);
        if (rank + step < n)
            value = op(value, other);
    }
    return g.shfl(value, 0);
}

/* Of a tile of several warps: of its warps, then of what they have. */
template <unsigned tile, class P, class T, class Op>
HEDDLE_CG std::enable_if_t<(tile > 32), T> reduce(const thread_block_tile<tile, P> &g, T value, Op &&op)
{
    const T of_warp = reduce(tiled_partition<32>(g), value, op);
    return g.heddle_each_warp(of_warp, g.thread_rank() % 32 == 0, [&op](auto of) {
        T result = of(0);
        for (unsigned i = 1; i < tile / 32; i++)
            result = op(result, of(i));
        return result;
    });
}

#undef HEDDLE_CG

} // namespace __v1
} // namespace cooperative_groups

#endif
