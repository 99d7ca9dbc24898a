// How many warps hide the latency of memory? The slides: a kernel has one read of global memory (200 cycles) and 4
// independent multiplications or additions; a warp takes 4 cycles for an instruction, as 8 processors serve 32 threads.
// `heddle explain ./08_hide_latency`: the page's "Occupancy" has the warps that fit over sizes of blocks, "Warps" how long each
// waits. `heddle explain --device G80 ./08_hide_latency` says that a G80 holds "67%: up to 16 warps", more than the 13.
#include "course.h"

__global__ void stream(const float4 *in, float4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];
    out[i] = make_float4(v.x * 2, v.y + 1, v.z * 3, v.w + 4); // 4 operations that do not wait for each other
}

int main()
{
    const int latency = 200, operations = 4, cycles = 32 / 8;
    int busy = operations * cycles, warps = (latency + busy - 1) / busy;
    printf("a warp keeps the multiprocessor busy for %d x %d = %d cycles, then waits %d\n", operations, cycles, busy,
           latency);
    printf("%d cycles / %d: %d warps hide the latency\n", latency, busy, warps);
    expect(warps == 13, "200 / 16 = 12.5");
    const int n = 1 << 14;
    float4 *in = managed<float4>(n), *out = managed<float4>(n);
    in[n - 1].z = 5;
    for (int threads = 64; threads <= 1024; threads *= 4) {
        int blocks;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stream, threads, 0));
        printf("this device holds %2d blocks of %4d threads of the kernel: %d warps\n", blocks, threads,
               blocks * threads / 32);
        expect(blocks * threads / 32 >= warps, "enough warps");
        stream<<<n / threads, threads>>>(in, out);
        CHECK_LAUNCH();
        expect(out[n - 1].z == 15, "the operations");
    }
}
