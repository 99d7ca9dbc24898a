// Three ways to transpose a matrix; `heddle explain` tells what is wrong with two of them.
#include <cstdio>

constexpr int N = 512, TILE = 32;

// Threads that are side by side write a column: each to a sector of its own.
__global__ void by_columns(const float *in, float *out)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    out[x * N + y] = in[y * N + x];
}

// Through a tile in shared memory rows are read and rows are written; with a width of 32 a column of it lies in one bank.
template <int WIDTH> __global__ void by_tiles(const float *in, float *out)
{
    __shared__ float tile[TILE][WIDTH];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * N + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    out[y * N + x] = tile[threadIdx.x][threadIdx.y];
}

int main()
{
    float *in, *out;
    cudaMallocManaged(&in, N * N * sizeof(float));
    cudaMallocManaged(&out, N * N * sizeof(float));
    for (int i = 0; i < N * N; i++)
        in[i] = (float)i;
    dim3 grid(N / TILE, N / TILE), block(TILE, TILE);
    by_columns<<<grid, block>>>(in, out);
    by_tiles<TILE><<<grid, block>>>(in, out);
    by_tiles<TILE + 1><<<grid, block>>>(in, out);
    cudaDeviceSynchronize();
    printf("%g\n", out[3 * N + 5]);
}
