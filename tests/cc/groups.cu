/* Cooperative groups: tiles, coalesced threads, partitions, the grid. nvcc's own header gives the same. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "tap.h"

namespace cg = cooperative_groups;

struct result {
    int sum[64], scan[64], down[64], cross[64];
    unsigned ballot, matches;
    int coalesced_rank[64], coalesced_size, coalesced_sum, third;
    int tile_rank, tile_count, rank_in_tile;
    int odd_size, odd_rank, of_tile;
    int block_rank, block_size;
};

__global__ void tiles(result *r)
{
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<16>(block);
    const int i = threadIdx.x;
    r->sum[i] = cg::reduce(tile, i, cg::plus<int>());
    r->scan[i] = cg::exclusive_scan(tile, i);
    r->down[i] = tile.shfl_down(i, 3);
    r->cross[i] = tile.shfl_xor(i, 5);
    const unsigned ballot = tile.ballot(i % 4 == 1), matches = tile.match_any(i / 8);
    tile.sync();
    if (i == 17) {
        r->ballot = ballot, r->matches = matches;
        r->tile_rank = tile.meta_group_rank(), r->tile_count = tile.meta_group_size(), r->rank_in_tile = tile.thread_rank();
        r->block_rank = block.thread_rank(), r->block_size = block.size();
    }
    if (i % 3 == 0) {
        const auto group = cg::coalesced_threads();
        r->coalesced_rank[i] = group.thread_rank();
        const int sum = cg::reduce(group, 1, cg::plus<int>()), third = group.shfl(i, 2);
        if (i == 33)
            r->coalesced_size = group.size(), r->coalesced_sum = sum, r->third = third;
    }
    cg::sync(block);
    const auto part = cg::binary_partition(cg::tiled_partition<32>(block), i & 1);
    const auto small = cg::tiled_partition<4>(tile);
    if (i == 3)
        r->odd_size = part.size(), r->odd_rank = part.thread_rank(), r->of_tile = small.meta_group_size();
}

__global__ void grid(int *arrived, int rounds, int *wrong)
{
    const auto g = cg::this_grid();
    for (int i = 0; i < rounds; i++) {
        if (threadIdx.x == 0)
            atomicAdd(&arrived[i], 1);
        g.sync();
        if (*(volatile int *)&arrived[i] != (int)gridDim.x)
            *wrong = 1;
    }
    if (g.thread_rank() == g.size() - 1)
        *wrong += 2;
}

struct pair {
    int least, count;
};

struct wide_result {
    int sum[256], scan[256], before[256], from[256], any[256], all[256], turns[256];
    pair of_pairs[256];
    int tile_rank, tile_count, rank_in_tile, size, of_tile;
};

/* Tiles of more than a warp. Its threads take turns with one variable, so that each barrier matters. */
template <unsigned size, class Block> __device__ void wide_tiles(wide_result *r, const Block &block)
{
    const auto tile = cg::tiled_partition<size>(block);
    const int i = threadIdx.x;
    r->sum[i] = cg::reduce(tile, i, cg::plus<int>());
    r->scan[i] = cg::inclusive_scan(tile, i);
    r->before[i] = cg::exclusive_scan(tile, i);
    r->of_pairs[i] = cg::reduce(tile, pair{1000 - i, 1}, [](const pair &x, const pair &y) {
        return pair{x.least < y.least ? x.least : y.least, x.count + y.count};
    });
    r->from[i] = tile.shfl(i, size - 2);
    r->any[i] = tile.any(i == 70), r->all[i] = tile.all(i < 130);
    __shared__ int turns[256 / size];
    if (tile.thread_rank() == 0)
        turns[i / size] = 0;
    tile.sync();
    for (unsigned turn = 0; turn < 2 * size; turn++) {
        if (turn % size == tile.thread_rank())
            turns[i / size] = turns[i / size] * 3 + (int)turn;
        tile.sync();
    }
    r->turns[i] = turns[i / size];
    if (i == 200) {
        const auto part = cg::tiled_partition<32>(tile);
        r->tile_rank = tile.meta_group_rank(), r->tile_count = tile.meta_group_size(), r->rank_in_tile = tile.thread_rank();
        r->size = tile.size(), r->of_tile = part.meta_group_size() * 100 + part.meta_group_rank();
    }
}
__global__ void wide(wide_result *r)
{
    __shared__ cg::block_tile_memory<256> memory;
    const auto block = cg::this_thread_block(memory);
    wide_tiles<64>(r, block);
    block.sync();
    wide_tiles<128>(r + 1, block);
    wide_tiles<64>(r + 2, cg::tiled_partition<128>(block));
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* Memory of its own is there on these devices. */
__global__ void wide_without_memory(wide_result *r)
{
    wide_tiles<128>(r, cg::this_thread_block());
}
#endif

static bool wide_is_right(const wide_result *r, int size)
{
    bool right = r->rank_in_tile == 200 % size && r->size == size && r->of_tile == size / 32 * 100 + 200 % size / 32;
    for (int i = 0; i < 256; i++) {
        const int first = i / size * size, last = first + size - 1, sum = (first + last) * size / 2;
        int turns = 0;
        for (int turn = 0; turn < 2 * size; turn++)
            turns = (int)((unsigned)turns * 3 + (unsigned)turn);
        right &= r->sum[i] == sum && r->scan[i] == (first + i) * (i - first + 1) / 2 && r->before[i] == r->scan[i] - i;
        right &= r->of_pairs[i].least == 1000 - last && r->of_pairs[i].count == size;
        right &= r->from[i] == last - 1 && r->any[i] == (first <= 70 && 70 <= last) && r->all[i] == (last < 130) && r->turns[i] == turns;
    }
    return right;
}

int main()
{
    result *r = shared_memory<result>(1);
    tiles<<<1, 64>>>(r);
    CUDA(cudaDeviceSynchronize());
    bool sums = true, moves = true, ranks = true;
    for (int i = 0; i < 64; i++) {
        const int first = i & ~15, n = i - first;
        sums = sums && r->sum[i] == 16 * first + 120 && r->scan[i] == n * first + n * (n - 1) / 2;
        moves = moves && r->down[i] == (n < 13 ? i + 3 : i) && r->cross[i] == (i ^ 5);
        ranks = ranks && (i % 3 || r->coalesced_rank[i] == (i < 32 ? i / 3 : (i - 33) / 3));
    }
    CHECK(sums, "reductions and scans of tiles");
    CHECK(moves && r->ballot == 0x2222 && r->matches == 0xff, "shuffles, votes and matches of tiles");
    CHECK(r->tile_rank == 1 && r->tile_count == 4 && r->rank_in_tile == 1 && r->block_rank == 17 && r->block_size == 64, "ranks and sizes");
    CHECK(ranks && r->coalesced_size == 11 && r->coalesced_sum == 11 && r->third == 39, "coalesced threads");
    CHECK(r->odd_size == 16 && r->odd_rank == 1 && r->of_tile == 4, "partitions");

    int *arrived = shared_memory<int>(8), *wrong = shared_memory<int>(1), rounds = 5;
    void *args[] = {&arrived, &rounds, &wrong};
    CUDA(cudaLaunchCooperativeKernel(grid, 6, 64, args));
    CUDA(cudaDeviceSynchronize());
    CHECK(arrived[4] == 6 && *wrong == 2, "a grid waits for all of its blocks, again and again");

    wide_result *w = shared_memory<wide_result>(4);
    wide<<<1, 256>>>(w);
    CUDA(cudaDeviceSynchronize());
    CHECK(wide_is_right(w, 64) && w->tile_rank == 3 && w->tile_count == 4, "tiles of two warps");
    CHECK(wide_is_right(w + 1, 128) && w[1].tile_rank == 1 && w[1].tile_count == 2, "tiles of four warps");
    CHECK(wide_is_right(w + 2, 64) && w[2].tile_rank == 1 && w[2].tile_count == 2, "tiles of two warps in tiles of four");
    wide_without_memory<<<1, 256>>>(w + 3);
    CUDA(cudaDeviceSynchronize());
    CHECK(wide_is_right(w + 3, 128), "wide tiles without memory of the program's");
    return done();
}
