// Blocks run as warps of 32 threads. What happens if branches in a warp diverge? Each side runs while the other waits.
// `heddle explain ./07_warps` says "27.6 of 32 lanes active", the mean over what both warps execute, and "50.0% of branches
// diverge": warp 1's. The page's "Divergence" has the branch, and "Source" how often each side ran.
#include "course.h"

__global__ void diverge(unsigned *mask)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x < 48) // warp 0 goes this way as a whole, warp 1 with half of its threads
        mask[2 * warp] = __ballot_sync(warp == 0 ? 0xffffffff : 0x0000ffff, lane >= 0);
    else
        mask[2 * warp + 1] = __ballot_sync(0xffff0000, lane >= 0);
}

int main()
{
    unsigned *mask = managed<unsigned>(4);
    diverge<<<1, 64>>>(mask);
    CHECK_LAUNCH();
    printf("3 blocks of 256 threads: %d warps\n", 3 * 256 / 32);
    printf("a multiprocessor of a GT200 with its 1024 threads: %d warps\n", 1024 / 32);
    printf("warp 0 does not diverge: lanes %08x go one way, %08x the other\n", mask[0], mask[1]);
    printf("warp 1 does: lanes %08x go one way, %08x the other; it takes the time of both\n", mask[2], mask[3]);
    expect(mask[0] == 0xffffffff && mask[1] == 0 && mask[2] == 0xffff && mask[3] == 0xffff0000, "masks");
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("this device: warps of %d, %d threads in a multiprocessor: %d warps\n", p.warpSize,
           p.maxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor / p.warpSize);
}
