/* A grid whose blocks wait for each other, and one that is too large for that. */
#include "program.h"

#ifdef __CUDACC__
#include <cooperative_groups.h>
#endif

/* Each block adds up what all blocks have written in the round before: one round too early shows. */
KERNEL rounds(int *cells, int *bad, int times) BODY(
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int blocks = gridDim.x;
    for (int t = 0; t < times; t++) {
        if (threadIdx.x == 0)
            cells[blockIdx.x] = t;
        grid.sync();
        for (int i = threadIdx.x; i < blocks; i += blockDim.x)
            if (cells[i] != t)
                atomicAdd(bad, 1);
        grid.sync();
    }
)
REGISTER_KERNEL(rounds)

int main(void)
{
    int blocks = 24, threads = 64, per_sm = 0, sms = 0, can = 0, times = 20, bad = -1;
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, (const void *)rounds, threads, 0));
    expect(can == 1 && per_sm >= 1, "the device has cooperative launches");
    int *cells = (int *)device_memory(blocks * sizeof(int)), *dev_bad = (int *)device_memory(sizeof(int));
    void *args[] = {&cells, &dev_bad, &times};
    CHECK(cudaLaunchCooperativeKernel((const void *)rounds, size3(blocks, 1, 1), size3(threads, 1, 1), args, 0, 0));
    CHECK(cudaMemcpy(&bad, dev_bad, sizeof bad, cudaMemcpyDeviceToHost));
    expect(bad == 0, "all blocks of a cooperative grid meet");

    cudaLaunchConfig_t config;
    cudaLaunchAttribute attribute;
    memset(&config, 0, sizeof config);
    memset(&attribute, 0, sizeof attribute);
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.gridDim = size3(blocks, 1, 1);
    config.blockDim = size3(threads, 1, 1);
    config.attrs = &attribute;
    config.numAttrs = 1;
    EXPECT_ERROR(cudaLaunchKernelExC(&config, (const void *)rounds, args), cudaSuccess);
    CHECK(cudaMemcpy(&bad, dev_bad, sizeof bad, cudaMemcpyDeviceToHost));
    expect(bad == 0, "the same as an attribute of a launch");

    EXPECT_ERROR(cudaLaunchCooperativeKernel((const void *)rounds, size3(sms * per_sm + 1, 1, 1), size3(threads, 1, 1),
                                             args, 0, 0),
                 cudaErrorCooperativeLaunchTooLarge);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
    return done();
}
