/* Cooperative groups: CUDA C++ Programming Guide, "Cooperative Groups". Threads, tiles, coalesced
 * threads, blocks, clusters and the grid, with sync, shuffles, votes and matches; reductions and
 * scans are in cooperative_groups/reduce.h and scan.h, so that a program can have its own. A grid's
 * barrier needs a cooperative launch, which makes all of its blocks resident.
 */
#if defined(__CUDA__) && !defined(_COOPERATIVE_GROUPS_H_) /* other compilers have nothing of it */
#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"
#include "heddle/async_copy.h"

#if __cplusplus >= 201402L
#include <cuda/atomic> /* as CUDA's header does, from which programs have it */
#endif
#include <type_traits>

namespace cooperative_groups
{
/* libcu++ declares groups in it */
namespace __v1
{

#define HEDDLE_CG __device__ __forceinline__ __attribute__((nodebug))

namespace details
{

/* The thread's number in its block, and the block's in the grid. */
static HEDDLE_CG unsigned thread_in_block()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
static HEDDLE_CG unsigned lane()
{
    return __nvvm_read_ptx_sreg_laneid();
}
static HEDDLE_CG unsigned lanes_below()
{
    return __nvvm_read_ptx_sreg_lanemask_lt();
}

/* A barrier of `n` that come: the first's arrival adds so much that the top bit turns when all have
 * come; so the counter need never be set back. */
static HEDDLE_CG unsigned arrive(unsigned *barrier, unsigned n, bool first)
{
    __threadfence();
    return atomicAdd(barrier, first ? 0x80000000u - (n - 1) : 1);
}
static HEDDLE_CG void wait(const unsigned *barrier, unsigned old, int scope)
{
    while (((old ^ heddle_load(barrier, __NV_ATOMIC_ACQUIRE, scope)) & 0x80000000u) == 0)
        ;
    __threadfence();
}
static HEDDLE_CG void meet(unsigned *barrier, unsigned n, bool first, int scope)
{
    wait(barrier, arrive(barrier, n, first), scope);
}

/* The word of a cooperative launch's barrier, behind the size of what the driver has for the
 * launch; nullptr: it is none. */
static HEDDLE_CG unsigned *grid_barrier()
{
    unsigned high, low;
    __asm__("mov.u32 %0, %%envreg1;" : "=r"(high));
    __asm__("mov.u32 %0, %%envreg2;" : "=r"(low));
    const unsigned long long at = (unsigned long long)high << 32 | low;
    return at ? (unsigned *)at + 1 : nullptr;
}

/* Where tiles of more than a warp meet: a barrier as the grid's for each tile of each size, and 8
 * bytes of each warp. */
struct tile_memory {
    static constexpr unsigned warps = 32;
    unsigned barriers[warps];
    unsigned long long values[warps];

    HEDDLE_CG void init()
    {
        for (unsigned i = thread_in_block(); i < warps; i += blockDim.x * blockDim.y * blockDim.z)
            barriers[i] = 0;
        __syncthreads();
    }
    /* Of all tiles of 2, 4, 8, ... warps: those of one size stand in a row, the greatest first. */
    HEDDLE_CG unsigned &barrier_of(unsigned tile_warps)
    {
        return barriers[warps / tile_warps + thread_in_block() / 32 / tile_warps];
    }
};

/* The state of a group of lanes: what all groups within a warp share. */
struct lanes {
    unsigned mask, rank, count;
};

} // namespace details

/* A group of any kind. */
class thread_group
{
  protected:
    enum kind { LANES, BLOCK };
    kind what;
    details::lanes group;
    HEDDLE_CG thread_group(kind k, details::lanes g) : what(k), group(g) {}

  public:
    HEDDLE_CG void sync() const
    {
        if (what == BLOCK)
            __syncthreads();
        else
            __syncwarp(group.mask);
    }
    HEDDLE_CG unsigned long long num_threads() const
    {
        return group.count;
    }
    HEDDLE_CG unsigned long long size() const
    {
        return group.count;
    }
    HEDDLE_CG unsigned long long thread_rank() const
    {
        return group.rank;
    }
    HEDDLE_CG bool is_valid() const
    {
        return group.count != 0;
    }
    /* Its threads by so many, as they are ranked: what tiled_partition() gives. */
    HEDDLE_CG thread_group partition(unsigned tile) const
    {
        if (what == BLOCK) {
            const unsigned first = details::lane() & ~(tile - 1);
            return part((unsigned)((1ull << tile) - 1) << first & __activemask());
        }
        unsigned mask = 0, rank = 0;
        for (unsigned m = group.mask; m; m &= m - 1, rank++)
            if (rank / tile == group.rank / tile)
                mask |= m & -m;
        return part(mask);
    }

  private:
    static HEDDLE_CG thread_group part(unsigned mask)
    {
        return thread_group(LANES, {mask, (unsigned)__popc(mask & details::lanes_below()), (unsigned)__popc(mask)});
    }
};

/* ---- groups of lanes of one warp ---- */

/* What tiles and coalesced groups have: T is the group, which says where rank r is in the warp. */
template <class T> class warp_group : public thread_group
{
  protected:
    HEDDLE_CG warp_group(details::lanes g) : thread_group(LANES, g) {}
    HEDDLE_CG const T &self() const
    {
        return *(const T *)this;
    }

  public:
    HEDDLE_CG unsigned mask() const
    {
        return group.mask;
    }
    HEDDLE_CG unsigned num_threads() const
    {
        return group.count;
    }
    HEDDLE_CG unsigned size() const
    {
        return group.count;
    }
    HEDDLE_CG unsigned thread_rank() const
    {
        return group.rank;
    }
    HEDDLE_CG void sync() const
    {
        __syncwarp(group.mask);
    }
    template <class V> HEDDLE_CG V shfl(V value, int rank) const
    {
        return from_lane(value, self().lane_of((unsigned)rank % group.count));
    }
    template <class V> HEDDLE_CG V shfl_up(V value, unsigned by) const
    {
        return from_lane(value, self().lane_of(group.rank >= by ? group.rank - by : group.rank));
    }
    template <class V> HEDDLE_CG V shfl_down(V value, unsigned by) const
    {
        return from_lane(value, self().lane_of(group.rank + by < group.count ? group.rank + by : group.rank));
    }
    HEDDLE_CG int any(int predicate) const
    {
        return __any_sync(group.mask, predicate);
    }
    HEDDLE_CG int all(int predicate) const
    {
        return __all_sync(group.mask, predicate);
    }
    HEDDLE_CG unsigned ballot(int predicate) const
    {
        return self().ranks_of(__ballot_sync(group.mask, predicate));
    }
    template <class V> HEDDLE_CG unsigned match_any(V value) const
    {
        return self().ranks_of(__match_any_sync(group.mask, value));
    }
    template <class V> HEDDLE_CG unsigned match_all(V value, int &predicate) const
    {
        return self().ranks_of(__match_all_sync(group.mask, value, &predicate));
    }

  protected:
    template <class V> HEDDLE_CG V from_lane(V value, unsigned lane) const
    {
        return move(value, [this, lane](unsigned w) { return __shfl_sync(group.mask, w, (int)lane); });
    }
    /* A value of any size, word by word. */
    template <class V, class F> static HEDDLE_CG V move(V value, F shuffle)
    {
        static_assert(sizeof(V) <= 32, "a shuffled value has at most 32 bytes");
        struct words {
            unsigned w[(sizeof(V) + 3) / 4];
        } words = {};
        __builtin_memcpy(&words, &value, sizeof(V));
        for (unsigned &w : words.w)
            w = shuffle(w);
        __builtin_memcpy(&value, &words, sizeof(V));
        return value;
    }
};

/* The lanes that came to the same place together. */
class coalesced_group : public warp_group<coalesced_group>
{
    unsigned part, parts; /* of a group that was parted */

  public:
    HEDDLE_CG explicit coalesced_group(unsigned mask, unsigned part = 0, unsigned parts = 1)
        : warp_group({mask, (unsigned)__popc(mask & details::lanes_below()), (unsigned)__popc(mask)}), part(part),
          parts(parts)
    {
    }
    /* The lane of the group's n-th thread. */
    HEDDLE_CG unsigned lane_of(unsigned rank) const
    {
        unsigned m = group.mask;
        for (; rank; rank--)
            m &= m - 1;
        return __ffs(m) - 1;
    }
    /* A mask of lanes as a mask of ranks. */
    HEDDLE_CG unsigned ranks_of(unsigned lanes) const
    {
        unsigned ranks = 0, bit = 1;
        for (unsigned m = group.mask; m; m &= m - 1, bit <<= 1)
            if (lanes & m & -m)
                ranks |= bit;
        return ranks;
    }
    HEDDLE_CG unsigned meta_group_size() const
    {
        return parts;
    }
    HEDDLE_CG unsigned meta_group_rank() const
    {
        return part;
    }
};

static HEDDLE_CG coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask());
}

/* ---- the block ---- */

/* What a program gives this_thread_block(), so that the block can have tiles of more than a warp on
 * every device. */
template <unsigned max_threads = 1024> struct block_tile_memory {
    static_assert(max_threads <= 1024, "a block has 1024 threads at most");
    details::tile_memory memory;
};

class thread_block : public thread_group
{
    details::tile_memory *memory;

  public:
    HEDDLE_CG explicit thread_block(details::tile_memory *m = nullptr)
        : thread_group(BLOCK, {0, details::thread_in_block(), num_threads()}), memory(m)
    {
    }
    /* Of its tiles; where the program has given none, all threads come for memory that is here. */
    HEDDLE_CG details::tile_memory *heddle_tile_memory() const
    {
        static __shared__ details::tile_memory own;
        if (memory)
            return memory;
        __syncthreads();
        own.init();
        return &own;
    }
    static HEDDLE_CG void sync()
    {
        __syncthreads();
    }
    /* The block's one barrier: who arrives also waits there. */
    struct arrival_token {
    };
    static HEDDLE_CG arrival_token barrier_arrive()
    {
        return {};
    }
    static HEDDLE_CG void barrier_wait(arrival_token &&)
    {
        __syncthreads();
    }
    static HEDDLE_CG unsigned thread_rank()
    {
        return details::thread_in_block();
    }
    static HEDDLE_CG dim3 group_index()
    {
        return blockIdx;
    }
    static HEDDLE_CG dim3 thread_index()
    {
        return threadIdx;
    }
    static HEDDLE_CG dim3 group_dim()
    {
        return blockDim;
    }
    static HEDDLE_CG dim3 dim_threads()
    {
        return blockDim;
    }
    static HEDDLE_CG unsigned num_threads()
    {
        return blockDim.x * blockDim.y * blockDim.z;
    }
    static HEDDLE_CG unsigned size()
    {
        return num_threads();
    }
};

static HEDDLE_CG thread_block this_thread_block()
{
    return thread_block();
}
template <unsigned max_threads> static HEDDLE_CG thread_block this_thread_block(block_tile_memory<max_threads> &memory)
{
    memory.memory.init();
    return thread_block(&memory.memory);
}

/* ---- tiles: a power of two of neighbouring lanes ---- */

namespace details
{
/* One of the tiles that a group was parted into. */
template <unsigned tile> class part
{
    unsigned parents; /* the group's threads */

  public:
    HEDDLE_CG explicit part(unsigned threads_of_parent) : parents(threads_of_parent) {}
    /* how many tiles the parent was parted into, and which one this is */
    HEDDLE_CG unsigned meta_group_size() const
    {
        return (parents + tile - 1) / tile;
    }
    HEDDLE_CG unsigned meta_group_rank() const
    {
        return thread_in_block() % parents / tile;
    }
    static constexpr __host__ __device__ unsigned num_threads()
    {
        return tile;
    }
    static constexpr __host__ __device__ unsigned size()
    {
        return tile;
    }
};
} // namespace details

template <unsigned tile, class Parent = void> class thread_block_tile;

namespace details
{
template <unsigned tile, class Parent, bool wide = (tile > 32)>
class tile_group : public warp_group<thread_block_tile<tile, Parent>>, public details::part<tile>
{
    static_assert(tile >= 1 && (tile & (tile - 1)) == 0, "a tile has 1, 2, 4, 8, ... threads");
    typedef warp_group<thread_block_tile<tile, Parent>> base;
    typedef details::part<tile> part;

    static HEDDLE_CG unsigned first_lane()
    {
        return details::lane() & ~(tile - 1);
    }
    static HEDDLE_CG details::lanes lanes_of_tile()
    {
        return {(unsigned)((1ull << tile) - 1) << first_lane(), details::lane() & (tile - 1), tile};
    }

  public:
    using part::num_threads;
    using part::size;

    HEDDLE_CG explicit tile_group(unsigned threads_of_parent) : base(lanes_of_tile()), part(threads_of_parent) {}
    /* thread_block_tile<32>, the type that programs write, is made of a tile of any parent. */
    template <class P>
    HEDDLE_CG tile_group(const thread_block_tile<tile, P> &other) : base(lanes_of_tile()), part(other)
    {
        static_assert(std::is_void<Parent>::value, "a tile keeps its parent's type, or forgets it");
    }
    HEDDLE_CG unsigned lane_of(unsigned rank) const
    {
        return first_lane() + rank;
    }
    HEDDLE_CG unsigned ranks_of(unsigned lanes) const
    {
        return (lanes & this->group.mask) >> first_lane();
    }
    /* By the instructions that have a width, which tell compiled code where a value comes from. */
    template <class V> HEDDLE_CG V shfl(V value, int rank) const
    {
        return this->move(value,
                          [m = this->group.mask, rank](unsigned w) { return __shfl_sync(m, w, rank, (int)tile); });
    }
    template <class V> HEDDLE_CG V shfl_up(V value, unsigned by) const
    {
        return this->move(value,
                          [m = this->group.mask, by](unsigned w) { return __shfl_up_sync(m, w, by, (int)tile); });
    }
    template <class V> HEDDLE_CG V shfl_down(V value, unsigned by) const
    {
        return this->move(value,
                          [m = this->group.mask, by](unsigned w) { return __shfl_down_sync(m, w, by, (int)tile); });
    }
    template <class V> HEDDLE_CG V shfl_xor(V value, unsigned mask) const
    {
        return this->move(
            value, [m = this->group.mask, mask](unsigned w) { return __shfl_xor_sync(m, w, (int)mask, (int)tile); });
    }
};

/* Tiles of several warps: sync(), votes, and a value for all. What they hand over has 8 bytes at
 * most, as nvcc has it. */
template <unsigned tile, class Parent> class tile_group<tile, Parent, true> : public details::part<tile>
{
    static_assert(tile <= 1024 && (tile & (tile - 1)) == 0, "a tile has 64, 128, 256, 512 or 1024 threads");
    typedef details::part<tile> part;
    details::tile_memory *memory;

  public:
    HEDDLE_CG tile_group(unsigned threads_of_parent, details::tile_memory *m) : part(threads_of_parent), memory(m) {}
    template <class P>
    HEDDLE_CG tile_group(const thread_block_tile<tile, P> &other) : part(other), memory(other.heddle_tile_memory())
    {
        static_assert(std::is_void<Parent>::value, "a tile keeps its parent's type, or forgets it");
    }
    HEDDLE_CG details::tile_memory *heddle_tile_memory() const
    {
        return memory;
    }
    HEDDLE_CG void sync() const
    {
        __syncwarp();
        if (details::lane() == 0)
            details::meet(&memory->barrier_of(tile / 32), tile / 32, thread_rank() == 0, __NV_THREAD_SCOPE_BLOCK);
        __syncwarp();
    }
    static HEDDLE_CG unsigned thread_rank()
    {
        return details::thread_in_block() % tile;
    }
    /* What f makes of the values that one lane of each warp has given; value(i) is that of the
     * tile's i-th warp. */
    template <class V, class F> HEDDLE_CG auto heddle_each_warp(V given, bool gives, F f) const
    {
        static_assert(sizeof(V) <= 8, "a tile of more than 32 threads hands over values of 8 bytes at most");
        const unsigned warp = details::thread_in_block() / 32, first = warp / (tile / 32) * (tile / 32);
        const unsigned long long *from = memory->values + first;
        if (gives)
            __builtin_memcpy(memory->values + warp, &given, sizeof(V));
        sync();
        const auto result = f([from](unsigned i) {
            V value;
            __builtin_memcpy(&value, from + i, sizeof(V));
            return value;
        });
        sync();
        return result;
    }
    /* All threads name the same rank. */
    template <class V> HEDDLE_CG V shfl(V value, unsigned rank) const
    {
        rank %= tile;
        return heddle_each_warp(value, thread_rank() == rank, [rank](auto of) { return of(rank / 32); });
    }
    HEDDLE_CG int any(int predicate) const
    {
        return heddle_each_warp(__any_sync(~0u, predicate), details::lane() == 0, [](auto of) {
            int any = 0;
            for (unsigned i = 0; i < tile / 32; i++)
                any |= of(i);
            return any;
        });
    }
    HEDDLE_CG int all(int predicate) const
    {
        return !any(!predicate);
    }
};

} // namespace details

/* Of two parameters, as libraries declare it. */
template <unsigned tile, class Parent> class thread_block_tile : public details::tile_group<tile, Parent>
{
  public:
    using details::tile_group<tile, Parent>::tile_group;
};

namespace details
{
template <unsigned tile, class Parent> struct partition {
    typedef thread_block_tile<tile, Parent> type;
    template <class G> static HEDDLE_CG type of(const G &g, std::false_type)
    {
        return type(g.num_threads());
    }
    template <class G> static HEDDLE_CG type of(const G &g, std::true_type)
    {
        return type(g.num_threads(), g.heddle_tile_memory());
    }
};
} // namespace details

template <unsigned tile>
static HEDDLE_CG thread_block_tile<tile, thread_block> tiled_partition(const thread_block &block)
{
    return details::partition<tile, thread_block>::of(block, std::integral_constant<bool, (tile > 32)>());
}
template <unsigned tile, unsigned parent, class P>
static HEDDLE_CG thread_block_tile<tile, thread_block_tile<parent, P>>
tiled_partition(const thread_block_tile<parent, P> &g)
{
    static_assert(tile <= parent, "a tile is not greater than the group that it is a part of");
    return details::partition<tile, thread_block_tile<parent, P>>::of(g, std::integral_constant<bool, (tile > 32)>());
}
/* Of a block or a tile at run time: a coalesced group of neighbours. */
static HEDDLE_CG coalesced_group tiled_partition(const thread_block &, unsigned tile)
{
    const unsigned first = details::lane() & ~(tile - 1);
    return coalesced_group((unsigned)((1ull << tile) - 1) << first & __activemask());
}
static HEDDLE_CG coalesced_group tiled_partition(const coalesced_group &g, unsigned tile)
{
    unsigned mask = 0, rank = 0;
    for (unsigned m = g.mask(); m; m &= m - 1, rank++)
        if (rank / tile == g.thread_rank() / tile)
            mask |= m & -m;
    return coalesced_group(mask, g.thread_rank() / tile, (g.num_threads() + tile - 1) / tile);
}
/* Of any group at run time. */
static HEDDLE_CG thread_group tiled_partition(const thread_group &g, unsigned tile)
{
    return g.partition(tile);
}
/* Those whose predicate is the same: those without it come first. */
template <class G> static HEDDLE_CG coalesced_group binary_partition(const G &g, bool predicate)
{
    const unsigned yes = __ballot_sync(g.mask(), predicate);
    if (yes == 0 || yes == g.mask())
        return coalesced_group(g.mask());
    return coalesced_group(predicate ? yes : g.mask() & ~yes, predicate, 2);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
/* Those whose label is the same, in the order of their first lanes. */
template <class G, class T> static HEDDLE_CG coalesced_group labeled_partition(const G &g, T label)
{
    const unsigned mask = __match_any_sync(g.mask(), label), first = mask & -mask;
    const unsigned firsts = __ballot_sync(g.mask(), first >> details::lane() == 1);
    return coalesced_group(mask, __popc(firsts & (first - 1)), __popc(firsts));
}
template <class G, class T> static HEDDLE_CG coalesced_group labeled_partition(const G &g, T *label)
{
    return labeled_partition(g, (unsigned long long)label);
}
template <class G> static HEDDLE_CG coalesced_group labeled_partition(const G &g, bool label)
{
    return binary_partition(g, label);
}
#endif

/* ---- the grid ---- */

class grid_group
{
  public:
    typedef unsigned arrival_token; /* of the block's first thread */

    static HEDDLE_CG void sync()
    {
        barrier_wait(barrier_arrive());
    }
    static HEDDLE_CG arrival_token barrier_arrive()
    {
        const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
        const bool first = (blockIdx.x | blockIdx.y | blockIdx.z) == 0;
        unsigned *const barrier = details::grid_barrier();
        if (!barrier)
            __trap();
        __syncthreads();
        return details::thread_in_block() == 0 ? details::arrive(barrier, blocks, first) : 0;
    }
    static HEDDLE_CG void barrier_wait(arrival_token &&token)
    {
        if (details::thread_in_block() == 0)
            details::wait(details::grid_barrier(), token, __NV_THREAD_SCOPE_DEVICE);
        __syncthreads();
    }
    /* Was this a cooperative launch? A barrier of the grid traps where it was none. */
    static HEDDLE_CG bool is_valid()
    {
        return details::grid_barrier() != nullptr;
    }
    static HEDDLE_CG dim3 group_dim()
    {
        return gridDim;
    }
    static HEDDLE_CG dim3 dim_blocks()
    {
        return gridDim;
    }
    static HEDDLE_CG dim3 block_index()
    {
        return blockIdx;
    }
    static HEDDLE_CG unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static HEDDLE_CG unsigned long long block_rank()
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static HEDDLE_CG unsigned long long num_threads()
    {
        return num_blocks() * thread_block::num_threads();
    }
    static HEDDLE_CG unsigned long long size()
    {
        return num_threads();
    }
    static HEDDLE_CG unsigned long long thread_rank()
    {
        return block_rank() * thread_block::num_threads() + details::thread_in_block();
    }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    static HEDDLE_CG dim3 dim_clusters()
    {
        return __clusterGridDimInClusters();
    }
    static HEDDLE_CG dim3 cluster_index()
    {
        return __clusterIdx();
    }
    static HEDDLE_CG unsigned long long num_clusters()
    {
        const dim3 n = dim_clusters();
        return (unsigned long long)n.x * n.y * n.z;
    }
    static HEDDLE_CG unsigned long long cluster_rank()
    {
        const dim3 n = dim_clusters(), at = cluster_index();
        return ((unsigned long long)at.z * n.y + at.y) * n.x + at.x;
    }
#endif
};

static HEDDLE_CG grid_group this_grid()
{
    return grid_group();
}

/* ---- the cluster ---- */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
class cluster_group
{
  public:
    struct arrival_token {
    };

    static HEDDLE_CG void sync()
    {
        __cluster_barrier_arrive();
        __cluster_barrier_wait();
    }
    static HEDDLE_CG arrival_token barrier_arrive()
    {
        __cluster_barrier_arrive();
        return {};
    }
    static HEDDLE_CG void barrier_wait()
    {
        __cluster_barrier_wait();
    }
    static HEDDLE_CG void barrier_wait(arrival_token &&)
    {
        __cluster_barrier_wait();
    }
    static HEDDLE_CG unsigned query_shared_rank(const void *address)
    {
        return __cluster_query_shared_rank(address);
    }
    template <class T> static HEDDLE_CG T *map_shared_rank(T *address, int rank)
    {
        return (T *)__cluster_map_shared_rank(address, (unsigned)rank);
    }
    static HEDDLE_CG dim3 block_index()
    {
        return __clusterRelativeBlockIdx();
    }
    static HEDDLE_CG unsigned block_rank()
    {
        return __clusterRelativeBlockRank();
    }
    static HEDDLE_CG dim3 dim_blocks()
    {
        return __clusterDim();
    }
    static HEDDLE_CG unsigned num_blocks()
    {
        return __clusterSizeInBlocks();
    }
    static HEDDLE_CG dim3 thread_index()
    {
        const dim3 block = block_index();
        return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                    block.z * blockDim.z + threadIdx.z);
    }
    static HEDDLE_CG unsigned thread_rank()
    {
        return block_rank() * thread_block::num_threads() + details::thread_in_block();
    }
    static HEDDLE_CG dim3 dim_threads()
    {
        const dim3 blocks = dim_blocks();
        return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
    }
    static HEDDLE_CG unsigned num_threads()
    {
        return num_blocks() * thread_block::num_threads();
    }
    static HEDDLE_CG unsigned size()
    {
        return num_threads();
    }
};

static HEDDLE_CG cluster_group this_cluster()
{
    return cluster_group();
}
#endif

/* ---- the thread itself, and functions of any group ---- */

static HEDDLE_CG thread_block_tile<1> this_thread()
{
    return thread_block_tile<1>(1);
}
template <class G> static HEDDLE_CG void sync(const G &g)
{
    g.sync();
}
template <class G> static HEDDLE_CG auto thread_rank(const G &g)
{
    return g.thread_rank();
}
template <class G> static HEDDLE_CG auto group_size(const G &g)
{
    return g.size();
}

/* Copies by all threads of a group, a group of copies each; complete at wait(). */
template <class G> static HEDDLE_CG void memcpy_async(const G &g, void *to, const void *from, size_t bytes)
{
    heddle_copy_part(to, from, bytes, g.thread_rank(), g.size());
    heddle_copies_commit();
}
template <class G, class T>
static HEDDLE_CG void memcpy_async(const G &g, T *to, size_t room, const T *from, size_t elements)
{
    memcpy_async(g, (void *)to, (const void *)from, sizeof(T) * (elements < room ? elements : room));
}
template <class G> static HEDDLE_CG void wait(const G &g)
{
    heddle_copies_wait();
    g.sync();
}
/* All but the last so many copies are complete. */
template <unsigned stages, class G> static HEDDLE_CG void wait_prior(const G &g)
{
    heddle_copies_wait(stages);
    g.sync();
}

/* f(args...) by one thread of the group, and its result for all. */
template <class G, class F, class... Args> static HEDDLE_CG void invoke_one(const G &g, F &&f, Args &&...args)
{
    if (g.thread_rank() == 0)
        static_cast<F &&>(f)(static_cast<Args &&>(args)...);
}
template <class G, class F, class... Args>
static HEDDLE_CG auto invoke_one_broadcast(const G &g, F &&f, Args &&...args)
    -> std::decay_t<decltype(static_cast<F &&>(f)(static_cast<Args &&>(args)...))>
{
    std::decay_t<decltype(static_cast<F &&>(f)(static_cast<Args &&>(args)...))> result;
    if (g.thread_rank() == 0)
        result = static_cast<F &&>(f)(static_cast<Args &&>(args)...);
    return g.shfl(result, 0);
}

#undef HEDDLE_CG

} // namespace __v1
using namespace __v1;
} // namespace cooperative_groups

#endif
