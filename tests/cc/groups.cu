/* Cooperative groups: tiles, coalesced threads, partitions, the grid. nvcc's own header gives the same. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cuda/atomic>

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

/* Parts know which they are. A place of this file's table is part * 100 + parts. */
struct places {
    int at[7];
};
__global__ void parts(places *r)
{
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<32>(block);
    const int i = threadIdx.x;
    const auto place = [](auto g) { return (int)(g.meta_group_rank() * 100 + g.meta_group_size()); };
    r[i].at[0] = place(cg::binary_partition(tile, i % 3 == 0));
    r[i].at[1] = place(cg::binary_partition(tile, i < 32));
    r[i].at[2] = place(cg::labeled_partition(tile, i * 7 % 5));
    r[i].at[3] = place(cg::labeled_partition(tile, (const char *)r + i / 8));
    r[i].at[4] = place(cg::labeled_partition(tile, i % 3 == 0));
    if (i % 3 == 0) {
        const auto third = cg::coalesced_threads();
        r[i].at[5] = place(third);
        r[i].at[6] = place(cg::tiled_partition(third, 4));
    }
}

/* What variables have after groups have added to them, and what the threads got. */
struct updates {
    int inclusive[64], exclusive[64], once[64], told[64], sum, greatest, stored;
};
__global__ void update(updates *r)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> sum;
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<32>(block);
    const int i = threadIdx.x;
    if (i == 0)
        sum = 1000;
    auto arrival = block.barrier_arrive();
    block.barrier_wait(std::move(arrival));
    if (i < 32) {
        r->inclusive[i] = cg::inclusive_scan_update(tile, sum, i + 1);
        r->exclusive[i] = cg::exclusive_scan_update(tile, sum, i, cg::plus<int>());
        r->sum = sum;
    }
    block.sync();
    cuda::atomic_ref<int, cuda::thread_scope_device> greatest(r->greatest);
    cg::reduce_update_async(tile, greatest, i, cg::greater<int>());
    if (i >= 32)
        cg::reduce_store_async(tile, cuda::atomic_ref<int, cuda::thread_scope_device>(r->stored), i, cg::plus<int>());
    if (i % 4 == 1) {
        const auto some = cg::coalesced_threads();
        r->told[i] = cg::invoke_one_broadcast(some, [](int x) { return x * 2; }, i);
        cg::invoke_one(some, [r](int x) { atomicAdd(&r->once[x], 1); }, 5);
    }
}

/* Sums whose rounding shows their order. */
struct order {
    float reduced[256], scanned[256], some[32];
    double before[256];
};
__global__ void orders(const float *x, order *r)
{
    const auto block = cg::this_thread_block();
    const auto wide = cg::tiled_partition<128>(block);
    const int i = threadIdx.x;
    r->reduced[i] = cg::reduce(wide, x[i], cg::plus<float>());
    r->scanned[i] = cg::inclusive_scan(wide, x[i], cg::plus<float>());
    r->before[i] = cg::exclusive_scan(wide, (double)x[i] / 3, cg::plus<double>());
    if (i < 32 && i % 3 != 1)
        r->some[i] = cg::reduce(cg::coalesced_threads(), x[i], cg::plus<float>());
}
/* The sum of neighbours in ever greater steps; in halves. */
template <class T> static void in_steps(T *v, int n)
{
    for (int step = 1; step < n; step *= 2)
        for (int i = n - 1; i >= step; i--)
            v[i] += v[i - step];
}
/* The same of tiles of several warps. Their first thread gets what the variable has had, also where
 * op makes something else of it and T(). */
struct wide_updates {
    int inclusive[128], exclusive[128];
    unsigned product[128];
    float sums[128];
};
__global__ void update_wide(wide_updates *r)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> greatest;
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> product;
    __shared__ cuda::atomic<float, cuda::thread_scope_block> sum;
    const auto tile = cg::tiled_partition<128>(cg::this_thread_block());
    const int i = threadIdx.x;
    if (i == 0)
        greatest = -1060, product = 3, sum = 1.f / 3;
    __syncthreads();
    r->exclusive[i] = cg::exclusive_scan_update(tile, greatest, i - 1100, cg::greater<int>());
    r->inclusive[i] = cg::inclusive_scan_update(tile, greatest, i - 1050, cg::greater<int>());
    r->product[i] = cg::exclusive_scan_update(tile, product, 2u * i + 1, [](unsigned a, unsigned b) { return a * b; });
    r->sums[i] = cg::exclusive_scan_update(tile, sum, 1.f / (i + 3), cg::plus<float>());
}
static bool wide_updates_are_right(const wide_updates *r)
{
    bool right = true;
    unsigned product = 3;
    for (int i = 0; i < 128; i++) {
        const int before = i - 1101, had = -973;
        right = right && r->exclusive[i] == (before > -1060 ? before : -1060) && r->product[i] == product;
        right = right && r->inclusive[i] == (i - 1050 > had ? i - 1050 : had);
        product *= 2u * i + 1;
    }
    float ends[4], behind = 1.f / 3;
    for (int warp = 0; warp < 4; warp++) {
        float v[32];
        for (int i = 0; i < 32; i++)
            v[i] = 1.f / (warp * 32 + i + 3);
        in_steps(v, 32);
        ends[warp] = v[31];
        for (int i = 0; i < 32; i++)
            right = right && r->sums[warp * 32 + i] == (i ? v[i - 1] + behind : behind);
        float upto[4] = {ends[0], ends[1], ends[2], ends[3]};
        for (int i = warp + 1; i < 4; i++)
            upto[i] = 0;
        in_steps(upto, 4);
        behind = upto[warp] + 1.f / 3;
    }
    return right;
}
static float in_halves(float *v, int n)
{
    for (int step = n / 2; step; step /= 2)
        for (int i = 0; i < step; i++)
            v[i] += v[i + step];
    return v[0];
}
static bool orders_are_right(const float *x, const order *r)
{
    bool right = true;
    for (int tile = 0; tile < 256; tile += 128) {
        float sums[4], ends[4];
        double last[4];
        for (int warp = 0; warp < 4; warp++) {
            float v[32], w[32];
            double d[32];
            for (int i = 0; i < 32; i++)
                v[i] = w[i] = x[tile + warp * 32 + i], d[i] = (double)v[i] / 3;
            sums[warp] = in_halves(v, 32), in_steps(w, 32), in_steps(d, 32);
            ends[warp] = w[31], last[warp] = d[31];
        }
        in_steps(ends, 4), in_steps(last, 4);
        const float sum = in_halves(sums, 4);
        for (int warp = 0; warp < 4; warp++) {
            float w[32];
            double d[32];
            for (int i = 0; i < 32; i++)
                w[i] = x[tile + warp * 32 + i], d[i] = (double)w[i] / 3;
            in_steps(w, 32), in_steps(d, 32);
            for (int i = 0; i < 32; i++) {
                const int at = tile + warp * 32 + i;
                const double before = warp ? last[warp - 1] : 0;
                right &= r->reduced[at] == sum && r->scanned[at] == (warp ? w[i] + ends[warp - 1] : w[i]);
                right &= r->before[at] == (i ? warp ? d[i - 1] + before : d[i - 1] : before);
            }
        }
    }
    float v[32];
    int n = 0;
    for (int i = 0; i < 32; i++)
        if (i % 3 != 1)
            v[n++] = x[i];
    in_steps(v, n);
    for (int i = 0; i < 32; i++)
        right &= i % 3 == 1 || r->some[i] == v[n - 1];
    return right;
}

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

    places *p = shared_memory<places>(64);
    parts<<<1, 64>>>(p);
    CUDA(cudaDeviceSynchronize());
    bool known = true;
    for (int i = 0; i < 64; i++) {
        const int third = i < 32 ? i / 3 : (i - 33) / 3, label = i < 32 ? i % 5 : (i - 32) % 5;
        known = known && p[i].at[0] == (i % 3 == 0) * 100 + 2 && p[i].at[1] == 1 && p[i].at[2] == label * 100 + 5;
        known = known && p[i].at[3] == i % 32 / 8 * 100 + 4 && p[i].at[4] == p[i].at[0];
        known = known && (i % 3 || (p[i].at[5] == 1 && p[i].at[6] == third / 4 * 100 + 3));
    }
    CHECK(known, "parts know which they are, and of how many");

    updates *u = shared_memory<updates>(1);
    u->greatest = 40;
    update<<<1, 64>>>(u);
    CUDA(cudaDeviceSynchronize());
    bool updated = u->sum == 1000 + 528 + 496 && u->greatest == 63 && u->stored == 32 * 95 / 2 && u->once[5] == 2;
    for (int i = 0; i < 32; i++)
        updated = updated && u->inclusive[i] == 1000 + (i + 1) * (i + 2) / 2 && u->exclusive[i] == 1528 + i * (i - 1) / 2;
    CHECK(updated, "groups add what they have to atomic variables");
    wide_updates *wide = shared_memory<wide_updates>(1);
    update_wide<<<1, 128>>>(wide);
    CUDA(cudaDeviceSynchronize());
    CHECK(wide_updates_are_right(wide), "tiles of several warps add what they have to atomic variables");
    CHECK(u->told[1] == 2 && u->told[29] == 2 && u->told[33] == 66 && u->told[61] == 66, "one thread's result for all");

    float *x = shared_memory<float>(256);
    for (int i = 0; i < 256; i++)
        x[i] = (float)(i % 7 - 2) / (float)(i * i + 3);
    order *o = shared_memory<order>(1);
    orders<<<1, 256>>>(x, o);
    CUDA(cudaDeviceSynchronize());
    CHECK(orders_are_right(x, o), "sums are rounded in nvcc's order");
    return done();
}
