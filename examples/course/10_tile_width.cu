// How do you pick TILE_WIDTH? How can it be too large? By the threads of a block, and by shared memory.
// `heddle explain --device G80 ./10_tile_width` says of TILE_WIDTH 32 "such a block does not fit"; without --device, the page's
// "Occupancy" shows what each width leaves idle, and "What to change" says why: "lanes of its last warp with nothing to do".
#include "course.h"

template <int TILE_WIDTH> __global__ void Tiles(const float *Md, const float *Nd, float *Pd, int Width)
{
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH], Nds[TILE_WIDTH][TILE_WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y, Row = blockIdx.y * TILE_WIDTH + ty, Col = blockIdx.x * TILE_WIDTH + tx;
    float Pvalue = 0;
    for (int m = 0; m < Width / TILE_WIDTH; ++m) {
        Mds[ty][tx] = Md[Row * Width + m * TILE_WIDTH + tx];
        Nds[ty][tx] = Nd[Col + (m * TILE_WIDTH + ty) * Width];
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k)
            Pvalue += Mds[ty][k] * Nds[k][tx];
        __syncthreads();
    }
    Pd[Row * Width + Col] = Pvalue;
}

template <int TILE_WIDTH> void try_width(const float *M, const float *N, float *P, int width)
{
    int blocks;
    size_t shared = 2 * TILE_WIDTH * TILE_WIDTH * sizeof(float);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Tiles<TILE_WIDTH>, TILE_WIDTH * TILE_WIDTH, 0));
    Tiles<TILE_WIDTH><<<dim3(width / TILE_WIDTH, width / TILE_WIDTH), dim3(TILE_WIDTH, TILE_WIDTH)>>>(M, N, P, width);
    cudaError_t error = cudaGetLastError();
    CHECK(cudaDeviceSynchronize());
    printf("TILE_WIDTH %2d: %4d threads, %5zu bytes of shared memory a block, loads divided by %2d, ", TILE_WIDTH,
           TILE_WIDTH * TILE_WIDTH, shared, TILE_WIDTH);
    if (error == cudaSuccess)
        printf("%2d blocks a multiprocessor, P[0] = %g\n", blocks, P[0]);
    else
        printf("refused: %s\n", cudaGetErrorString(error));
    expect((error == cudaSuccess) == (TILE_WIDTH * TILE_WIDTH <= 1024), "at most 1024 threads");
}

int main()
{
    const int width = 64;
    float *M = managed<float>(width * width), *N = managed<float>(width * width), *P = managed<float>(width * width);
    for (int i = 0; i < width * width; i++)
        M[i] = N[i] = 1;
    try_width<1>(M, N, P, width);
    try_width<2>(M, N, P, width);
    try_width<4>(M, N, P, width);
    try_width<8>(M, N, P, width);
    try_width<16>(M, N, P, width);
    try_width<32>(M, N, P, width);
    try_width<64>(M, N, P, width);
    printf("a G80 has 16 KB of shared memory for up to 8 blocks; TILE_WIDTH 16 needs 2 KB for each block\n");
}
