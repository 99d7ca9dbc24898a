/* Reductions of a group: CUDA C++ Programming Guide, "Cooperative Groups", "reduce". */
/* Other compilers have nothing of it. */
#if defined(__CUDA__) && !defined(_COOPERATIVE_GROUPS_REDUCE_H)
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
    for (unsigned step = g.size() / 2; step; step /= 2)
        value = op(value, g.shfl_down(value, step));
    return g.shfl(value, 0);
}
/* Of coalesced lanes, of which there may be any number: the last one's scan, as nvcc has it. */
template <class T, class Op> HEDDLE_CG T reduce(const coalesced_group &g, T value, Op &&op)
{
    if (g.size() == 32)
        return reduce(thread_block_tile<32>(32), value, op);
    return g.shfl(heddle_scan(g, value, op), g.size() - 1);
}

/* Of a tile of several warps: of its warps, then of what they have. */
template <unsigned tile, class P, class T, class Op>
HEDDLE_CG std::enable_if_t<(tile > 32), T> reduce(const thread_block_tile<tile, P> &g, T value, Op &&op)
{
    const T of_warp = reduce(tiled_partition<32>(g), value, op);
    return g.heddle_each_warp(of_warp, g.thread_rank() % 32 == 0, [&op](auto of) {
        T values[tile / 32];
        for (unsigned i = 0; i < tile / 32; i++)
            values[i] = of(i);
        for (unsigned step = tile / 64; step; step /= 2)
            for (unsigned i = 0; i < step; i++)
                values[i] = op(values[i], values[i + step]);
        return values[0];
    });
}

/* The result becomes the value of an atomic variable, or is added to it by op. */
template <class G, class A, class T, class Op> HEDDLE_CG void reduce_store_async(const G &g, A &&to, T value, Op &&op)
{
    const T result = reduce(g, value, op);
    if (g.thread_rank() == 0)
        to.store(result, cuda::memory_order_relaxed);
}
template <class G, class A, class T, class Op> HEDDLE_CG void reduce_update_async(const G &g, A &&to, T value, Op &&op)
{
    const T result = reduce(g, value, op);
    if (g.thread_rank() == 0)
        heddle_update(to, result, op);
}

#undef HEDDLE_CG

} // namespace __v1
} // namespace cooperative_groups

#endif
