/* Clusters in CUDA C++: __cluster_dims__ of plain kernels, templates and kernels with __launch_bounds__, sizes that the launch
 * gives, cooperative_groups' cluster_group, and a pipeline through mbarriers. nvcc's own headers give the same. */
#include <cooperative_groups.h>
#include <cstdint>

#include "tap.h"

namespace cg = cooperative_groups;

struct place {
    unsigned rank, blocks, thread, threads;
    dim3 index, dim;
};

__device__ static void note(place *p)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    cluster.sync();
    if (threadIdx.x == 3)
        p[block] = {cluster.block_rank(),  cluster.num_blocks(),  cluster.thread_rank(),
                    cluster.num_threads(), cluster.block_index(), cluster.dim_blocks()};
}

__global__ void __cluster_dims__(2, 1, 1) two(place *p)
{
    note(p);
}

constexpr int rows = 2;
template <int columns> __global__ void __cluster_dims__(columns, rows) __launch_bounds__(64) tiles(place *p)
{
    note(p);
}

__global__ void plain(place *p)
{
    note(p);
}

namespace
{
__global__ void __launch_bounds__(64) __cluster_dims__(1, 1, 4) hidden(place *p)
{
    note(p);
}
} // namespace

/* Blocks pass what they have to the next of their cluster through global memory, with work between arrival and wait. */
__global__ void __cluster_dims__(4) pass(int *cells, int *sums)
{
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned first = blockIdx.x - cluster.block_rank(), next = (cluster.block_rank() + 1) % cluster.num_blocks();
    int value = blockIdx.x * 1000 + threadIdx.x, own = 0;
    for (int round = 0; round < 4; round++) {
        cells[blockIdx.x * blockDim.x + threadIdx.x] = value;
        cluster.barrier_arrive();
        own += value;
        cluster.barrier_wait();
        value = cells[(first + next) * blockDim.x + threadIdx.x];
        cluster.sync();
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = own;
}

/* ---- mbarrier ---- */

__device__ static unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ static void init(uint64_t *bar, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}

__device__ static void arrive(uint64_t *bar)
{
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}

__device__ static void wait(uint64_t *bar, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;\n"
                 "}" ::"r"(shared_address(bar)),
                 "r"(parity)
                 : "memory");
}

enum { STAGES = 3, TILE = 64, ROUNDS = 20 };

/* The first half of the block loads tiles, the second adds them up. */
__global__ void pipeline(const int *from, int *sums)
{
    __shared__ int tile[STAGES][TILE];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], TILE);
            init(&empty[s], TILE);
        }
    __syncthreads();
    const int i = threadIdx.x % TILE;
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const int stage = round % STAGES, lap = round / STAGES;
        if (threadIdx.x < TILE) {
            wait(&empty[stage], (lap & 1) ^ 1);
            tile[stage][i] = from[round * TILE + i];
            arrive(&full[stage]);
        } else {
            wait(&full[stage], lap & 1);
            sum += tile[stage][TILE - 1 - i] * (round + 1);
            arrive(&empty[stage]);
        }
    }
    if (threadIdx.x >= TILE)
        sums[i] = sum;
}

/* ---- on the host ---- */

static place *places;

static bool are_in_clusters(dim3 grid, dim3 cluster)
{
    const unsigned blocks = cluster.x * cluster.y * cluster.z;
    bool good = true;
    CUDA(cudaDeviceSynchronize());
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                const place &p = places[(z * grid.y + y) * grid.x + x];
                const unsigned rank = (z % cluster.z * cluster.y + y % cluster.y) * cluster.x + x % cluster.x;
                good = good && p.rank == rank && p.blocks == blocks && p.thread == rank * 32 + 3 &&
                       p.threads == blocks * 32 && p.index.x == x % cluster.x && p.index.y == y % cluster.y &&
                       p.index.z == z % cluster.z && p.dim.x == cluster.x && p.dim.y == cluster.y &&
                       p.dim.z == cluster.z;
            }
    return good;
}

static cudaError_t launch(void (*kernel)(place *), dim3 grid, dim3 cluster)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(32);
    config.attrs = &attribute;
    config.numAttrs = 1;
    const cudaError_t error = cudaLaunchKernelEx(&config, kernel, places);
    cudaGetLastError();
    return error;
}

static void sizes()
{
    two<<<6, 32>>>(places);
    CHECK(are_in_clusters(dim3(6), dim3(2)), "clusters of the kernel");
    tiles<2><<<dim3(4, 4, 2), 32>>>(places);
    CHECK(are_in_clusters(dim3(4, 4, 2), dim3(2, 2)), "clusters of a template");
    tiles<4><<<dim3(4, 2), 32>>>(places);
    CHECK(are_in_clusters(dim3(4, 2), dim3(4, 2)), "clusters of the same template with another argument");
    hidden<<<dim3(2, 1, 4), 32>>>(places);
    CHECK(are_in_clusters(dim3(2, 1, 4), dim3(1, 1, 4)), "clusters of a kernel of the file's own");
    plain<<<4, 32>>>(places);
    CHECK(are_in_clusters(dim3(4), dim3(1)), "no clusters");
    CHECK(launch(plain, dim3(8, 2), dim3(4, 2)) == cudaSuccess && are_in_clusters(dim3(8, 2), dim3(4, 2)),
          "clusters of the launch");
    CHECK(launch(two, dim3(4), dim3(2)) == cudaSuccess && are_in_clusters(dim3(4), dim3(2)),
          "the kernel's own by a launch");
    CHECK(launch(two, dim3(4), dim3(4)) == cudaErrorInvalidClusterSize, "not others than the kernel's");
    CHECK(launch(plain, dim3(3), dim3(2)) == cudaErrorInvalidClusterSize, "the grid has whole clusters");
    CHECK(launch(plain, dim3(16), dim3(16)) == cudaErrorInvalidClusterSize, "16 blocks are not portable");
    CUDA(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CHECK(launch(plain, dim3(16), dim3(16)) == cudaSuccess && are_in_clusters(dim3(16), dim3(16)),
          "16 blocks on request");
    cudaFuncAttributes a;
    CUDA(cudaFuncGetAttributes(&a, tiles<4>));
    CHECK(a.requiredClusterWidth == 4 && a.requiredClusterHeight == 2 && a.requiredClusterDepth == 1 &&
              a.clusterDimMustBeSet,
          "a kernel's attributes");
}

int main()
{
    CUDA(cudaMallocManaged(&places, 64 * sizeof *places));
    sizes();
    int *cells, *sums, *from;
    CUDA(cudaMallocManaged(&cells, 8 * 64 * sizeof *cells));
    CUDA(cudaMallocManaged(&sums, 8 * 64 * sizeof *sums));
    CUDA(cudaMallocManaged(&from, ROUNDS * TILE * sizeof *from));
    pass<<<8, 64>>>(cells, sums);
    CUDA(cudaDeviceSynchronize());
    bool good = true;
    for (int b = 0; b < 8; b++)
        for (int t = 0; t < 64; t++)
            good = good && sums[b * 64 + t] == (b < 4 ? 6000 : 22000) + 4 * t;
    CHECK(good, "blocks of a cluster pass values around");
    for (int i = 0; i < ROUNDS * TILE; i++)
        from[i] = i * i % 97;
    pipeline<<<1, 2 * TILE>>>(from, sums);
    CUDA(cudaDeviceSynchronize());
    good = true;
    for (int i = 0; i < TILE; i++) {
        int sum = 0;
        for (int round = 0; round < ROUNDS; round++)
            sum += from[round * TILE + TILE - 1 - i] * (round + 1);
        good = good && sums[i] == sum;
    }
    CHECK(good, "a pipeline through mbarriers");
    return done();
}
