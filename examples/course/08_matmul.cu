// The product of two matrices: on the host, naively, and by tiles in shared memory; and how much memory each reads.
// Question: where did the two outer loops go? Each thread computes one element: its indices are the loops.
// The slides' numbers for a G80 come out of the counted loads: 346.5 GFLOP/s at its peak, 86.4 GB/s of bandwidth.
// Question: how large may TILE_WIDTH be? TILE_WIDTH^2 threads must fit in a block (1,024 today, 512 on a G80), and two tiles in
// shared memory (on a G80, 16 KB for up to 8 blocks: 2 KB each, so 16). A wider tile reads less and leaves fewer blocks.
// (Corrected: the slide has dimGrid and dimBlock swapped, and __synchthreads.)
#include "course.h"

#include <vector>

__device__ unsigned long long loads; // floats read from global memory

__global__ void naive(const float *Md, const float *Nd, float *Pd, int Width)
{
    const int Row = blockIdx.y * blockDim.y + threadIdx.y;
    const int Col = blockIdx.x * blockDim.x + threadIdx.x;
    float Pvalue = 0;
    for (int k = 0; k < Width; ++k)
        Pvalue += Md[Row * Width + k] * Nd[k * Width + Col];
    Pd[Row * Width + Col] = Pvalue;
    atomicAdd(&loads, 2ull * Width);
}

template <int TILE_WIDTH> __global__ void tiled(const float *Md, const float *Nd, float *Pd, int Width)
{
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int Row = blockIdx.y * TILE_WIDTH + ty, Col = blockIdx.x * TILE_WIDTH + tx;
    float Pvalue = 0;
    unsigned long long read = 0;
    for (int m = 0; m < Width / TILE_WIDTH; ++m) { // phases
        Mds[ty][tx] = Md[Row * Width + (m * TILE_WIDTH + tx)];
        Nds[ty][tx] = Nd[Col + (m * TILE_WIDTH + ty) * Width];
        read += 2;
        __syncthreads(); // the whole tile is there
        for (int k = 0; k < TILE_WIDTH; ++k)
            Pvalue += Mds[ty][k] * Nds[k][tx];
        __syncthreads(); // all are done with it, so that the next may take its place
    }
    Pd[Row * Width + Col] = Pvalue;
    atomicAdd(&loads, read);
}

static std::vector<float> on_host(const float *M, const float *N, int width)
{
    std::vector<float> P(width * width);
    for (int i = 0; i < width; ++i)
        for (int j = 0; j < width; ++j) {
            float sum = 0;
            for (int k = 0; k < width; ++k)
                sum += M[i * width + k] * N[k * width + j];
            P[i * width + j] = sum;
        }
    return P;
}

static const double peak = 346.5, bandwidth = 86.4; // of a G80: GFLOP/s, GB/s

static void report(const char *kernel, int tile, const float *P, const std::vector<float> &right, int Width)
{
    unsigned long long n, none = 0;
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpyFromSymbol(&n, loads, sizeof n));
    CUDA(cudaMemcpyToSymbol(loads, &none, sizeof none));
    bool same = true;
    for (int i = 0; i < Width * Width; i++)
        same = same && P[i] == right[i];
    const double operations = 2.0 * Width * Width * Width, bytes_per_operation = 4.0 * n / operations;
    printf("%-6s %5d %10llu %8.3f %9.1f %9.1f %s\n", kernel, tile, n, bytes_per_operation, peak * bytes_per_operation,
           bandwidth / bytes_per_operation, same ? "" : "WRONG");
}

template <int TILE_WIDTH>
static void run(const float *M, const float *N, float *P, const std::vector<float> &right, int Width)
{
    tiled<TILE_WIDTH><<<dim3(Width / TILE_WIDTH, Width / TILE_WIDTH), dim3(TILE_WIDTH, TILE_WIDTH)>>>(M, N, P, Width);
    CUDA(cudaGetLastError());
    report("tiled", TILE_WIDTH, P, right, Width);
}

int main()
{
    const int Width = 64;
    float *M = managed<float>(Width * Width), *N = managed<float>(Width * Width), *P = managed<float>(Width * Width);
    for (int i = 0; i < Width * Width; i++) {
        M[i] = i % 7 - 3;
        N[i] = i % 5 - 2;
    }
    const std::vector<float> right = on_host(M, N, Width);
    puts("kernel  tile      loads  B/FLOP  GB/s for 346.5 GFLOP/s");
    puts("                                          GFLOP/s with 86.4 GB/s");
    naive<<<dim3(Width / 16, Width / 16), dim3(16, 16)>>>(M, N, P, Width);
    report("naive", 16, P, right, Width);
    run<2>(M, N, P, right, Width);
    run<4>(M, N, P, right, Width);
    run<8>(M, N, P, right, Width);
    run<16>(M, N, P, right, Width);
    run<32>(M, N, P, right, Width);
    tiled<16><<<1, dim3(64, 64)>>>(M, N, P, Width);
    printf("a tile of 64 x 64 threads: %s\n", cudaGetErrorString(cudaGetLastError()));
}
