/* Scans of a group: CUDA C++ Programming Guide, "Cooperative Groups", "inclusive_scan and
 * exclusive_scan". */
/* Other compilers have nothing of it. */
#if defined(__CUDA__) && !defined(_COOPERATIVE_GROUPS_SCAN_H)
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
    return heddle_scan(g, value, op);
}
/* Of a tile of several warps: in its warps, and what the warps before have. */
template <unsigned tile, class P, class T, class Op>
HEDDLE_CG std::enable_if_t<(tile > 32), T> inclusive_scan(const thread_block_tile<tile, P> &g, T value, Op &&op)
{
    const T in_warp = heddle_scan(tiled_partition<32>(g), value, op);
    return g.heddle_each_warp(in_warp, g.thread_rank() % 32 == 31, [&](auto of) {
        const unsigned warp = g.thread_rank() / 32;
        return warp ? op(in_warp, heddle_scan_of<tile / 32, T>(of, warp - 1, op)) : in_warp;
    });
}
template <unsigned tile, class P, class T, class Op>
HEDDLE_CG std::enable_if_t<(tile > 32), T> exclusive_scan(const thread_block_tile<tile, P> &g, T value, Op &&op)
{
    const auto part = tiled_partition<32>(g);
    const T upto = heddle_scan(part, value, op), in_warp = part.shfl_up(upto, 1);
    return g.heddle_each_warp(upto, g.thread_rank() % 32 == 31, [&](auto of) {
        const unsigned warp = g.thread_rank() / 32;
        const T before = warp ? heddle_scan_of<tile / 32, T>(of, warp - 1, op) : T();
        return g.thread_rank() % 32 == 0 ? before : warp ? op(in_warp, before) : in_warp;
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

/* Scans behind what an atomic variable has, to which the group's last thread adds what all have. */
template <class G, class A, class T, class Op> HEDDLE_CG T inclusive_scan_update(const G &g, A &&to, T value, Op &&op)
{
    const T upto = inclusive_scan(g, value, op);
    T had = T();
    if (g.thread_rank() == g.size() - 1)
        had = heddle_update(to, upto, op);
    return op(g.shfl(had, g.size() - 1), upto);
}
template <class G, class A, class T, class Op> HEDDLE_CG T exclusive_scan_update(const G &g, A &&to, T value, Op &&op)
{
    const T before = exclusive_scan(g, value, op);
    T had = T();
    if (g.thread_rank() == g.size() - 1)
        had = heddle_update(to, g.size() == 1 ? value : op(before, value), op);
    return op(g.shfl(had, g.size() - 1), before);
}
/* Of a tile of several warps: in its warps, and what the variable has and the warps before. */
template <unsigned tile, class P, class A, class T, class Op>
HEDDLE_CG T heddle_behind(const thread_block_tile<tile, P> &g, A &to, T in_warp, Op &&op)
{
    T had = T();
    const T before = g.heddle_each_warp(in_warp, g.thread_rank() % 32 == 31, [&](auto of) {
        const unsigned warp = g.thread_rank() / 32;
        if (g.thread_rank() == tile - 1)
            had = heddle_update(to, heddle_scan_of<tile / 32, T>(of, tile / 32 - 1, op), op);
        return warp ? heddle_scan_of<tile / 32, T>(of, warp - 1, op) : T();
    });
    had = g.shfl(had, tile - 1);
    return g.thread_rank() / 32 ? op(before, had) : had;
}
template <unsigned tile, class P, class A, class T, class Op>
HEDDLE_CG std::enable_if_t<(tile > 32), T> inclusive_scan_update(const thread_block_tile<tile, P> &g, A &&to, T value,
                                                                 Op &&op)
{
    const T in_warp = heddle_scan(tiled_partition<32>(g), value, op);
    return op(in_warp, heddle_behind(g, to, in_warp, op));
}
template <unsigned tile, class P, class A, class T, class Op>
HEDDLE_CG std::enable_if_t<(tile > 32), T> exclusive_scan_update(const thread_block_tile<tile, P> &g, A &&to, T value,
                                                                 Op &&op)
{
    const auto part = tiled_partition<32>(g);
    const T upto = heddle_scan(part, value, op), in_warp = part.shfl_up(upto, 1);
    const T behind = heddle_behind(g, to, upto, op);
    return part.thread_rank() ? op(in_warp, behind) : behind;
}
template <class G, class A, class T> HEDDLE_CG T inclusive_scan_update(const G &g, A &&to, T value)
{
    return inclusive_scan_update(g, to, value, plus<T>());
}
template <class G, class A, class T> HEDDLE_CG T exclusive_scan_update(const G &g, A &&to, T value)
{
    return exclusive_scan_update(g, to, value, plus<T>());
}

#undef HEDDLE_CG

} // namespace __v1
} // namespace cooperative_groups

#endif
