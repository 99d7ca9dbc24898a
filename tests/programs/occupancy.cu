/* Occupancy with the numbers that an H200 gives for the same questions; shared memory beyond 48 KiB is asked for. */
#include "program.h"

KERNEL shared8k(int *out) BODY(
    __shared__ int cells[2048];
    cells[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = cells[blockDim.x - 1 - threadIdx.x];
)
KERNEL dynamic(int *out) BODY(
    extern __shared__ int cells[];
    cells[threadIdx.x] = 2 * threadIdx.x;
    cells[20000 + threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = cells[threadIdx.x] + cells[20000 + threadIdx.x];
)
REGISTER_KERNEL(shared8k)
REGISTER_KERNEL(dynamic)

/* Block size, dynamic shared memory, blocks of a multiprocessor; recorded on an H200 with CUDA 13.0. */
static const int of_shared8k[][3] = {{32, 0, 25}, {64, 0, 25}, {128, 0, 16}, {256, 0, 8}, {512, 0, 4}, {1024, 0, 2}};
static const int of_dynamic[][3] = {{32, 1024, 32}, {32, 16384, 13}, {32, 49152, 4},   {64, 1024, 32}, {128, 16384, 13},
                                    {256, 1024, 8}, {256, 49152, 4}, {512, 16384, 4}, {1024, 49152, 2}};

static void compare(const void *kernel, const int (*rows)[3], unsigned n, const char *what)
{
    int good = 1, blocks;
    for (unsigned i = 0; i < n; i++) {
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, rows[i][0], rows[i][1]));
        if (blocks != rows[i][2])
            printf("# %d threads, %d bytes: %d blocks, an H200 has %d\n", rows[i][0], rows[i][1], blocks, rows[i][2]);
        good &= blocks == rows[i][2];
    }
    expect(good, what);
}

int main(void)
{
    struct cudaFuncAttributes a;
    int bytes = 100 << 10, out[32], *p = (int *)device_memory(sizeof out);
    size_t room = 0;
    compare((const void *)shared8k, of_shared8k, sizeof of_shared8k / sizeof of_shared8k[0],
            "occupancy with static shared memory");
    compare((const void *)dynamic, of_dynamic, sizeof of_dynamic / sizeof of_dynamic[0],
            "occupancy with dynamic shared memory");
    CHECK(cudaFuncGetAttributes(&a, (const void *)shared8k));
    expect(a.sharedSizeBytes == 8192 && a.localSizeBytes == 0 && a.maxThreadsPerBlock == 1024 && a.numRegs > 0 &&
               a.maxDynamicSharedSizeBytes == 40960 && a.preferredShmemCarveout == -1,
           "attributes of a kernel");
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, (const void *)dynamic, 4, 64));
    expect(room >= 49152 && room < 65536, "room for dynamic shared memory beside three more blocks");

    EXPECT_ERROR(LAUNCH(dynamic, 1, 32, (size_t)bytes, 0, &p), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaFuncSetAttribute((const void *)dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
                 cudaErrorInvalidValue);
    EXPECT_ERROR(cudaFuncSetAttribute((const void *)dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                 cudaSuccess);
    CHECK(cudaFuncGetAttributes(&a, (const void *)dynamic));
    expect(a.maxDynamicSharedSizeBytes == bytes, "what was set is what is asked");
    EXPECT_ERROR(LAUNCH(dynamic, 1, 32, (size_t)bytes, 0, &p), cudaSuccess);
    CHECK(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
    expect(out[0] == 0 && out[31] == 93, "a block with 100 KiB of shared memory");
    return done();
}
