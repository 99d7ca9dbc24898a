// The matrix product in four steps: on the host; by one block; by many blocks; by tiles in shared memory. The bytes that
// the kernels load are counted, and say what a G80 can reach.
//
// The slides swap dimGrid and dimBlock, pass TILE_WIDTH for Width, and write __synchthreads: corrected here.
// `heddle explain --device G80 ./09_matrix_product` counts it, too: "4 bytes loaded for each" operation bound a G80 at
// "21.6 GFLOP/s of 345.6 GFLOP/s", tiles take "0.25 bytes loaded for each"; on the page, "Roofline". Without --device: an H200.
#include "course.h"

const int WIDTH = 64, TILE_WIDTH = 16;

__device__ unsigned long long loaded_bytes; // from global memory, of the kernel that runs

__device__ float load(const float *p, unsigned *count)
{
    *count += sizeof *p;
    return *p;
}

void MatrixMulOnHost(const float *M, const float *N, float *P, int width)
{
    for (int i = 0; i < width; ++i)
        for (int j = 0; j < width; ++j) {
            float sum = 0;
            for (int k = 0; k < width; ++k)
                sum += M[i * width + k] * N[k * width + j];
            P[i * width + j] = sum;
        }
}

// Where did the two outer loops go? Into the threads. No locks, as each thread writes an element of its own.
__global__ void OneBlock(const float *Md, const float *Nd, float *Pd, int Width)
{
    int tx = threadIdx.x, ty = threadIdx.y;
    float Pvalue = 0;
    for (int k = 0; k < Width; ++k)
        Pvalue += Md[ty * Width + k] * Nd[k * Width + tx];
    Pd[ty * Width + tx] = Pvalue;
}

__global__ void ManyBlocks(const float *Md, const float *Nd, float *Pd, int Width)
{
    int Row = blockIdx.y * TILE_WIDTH + threadIdx.y, Col = blockIdx.x * TILE_WIDTH + threadIdx.x;
    unsigned bytes = 0;
    float Pvalue = 0;
    for (int k = 0; k < Width; ++k)
        Pvalue += load(&Md[Row * Width + k], &bytes) * load(&Nd[k * Width + Col], &bytes);
    Pd[Row * Width + Col] = Pvalue;
    atomicAdd(&loaded_bytes, (unsigned long long)bytes);
}

__global__ void Tiles(const float *Md, const float *Nd, float *Pd, int Width)
{
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH], Nds[TILE_WIDTH][TILE_WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y, Row = blockIdx.y * TILE_WIDTH + ty, Col = blockIdx.x * TILE_WIDTH + tx;
    unsigned bytes = 0;
    float Pvalue = 0;
    for (int m = 0; m < Width / TILE_WIDTH; ++m) { // the phases
        Mds[ty][tx] = load(&Md[Row * Width + m * TILE_WIDTH + tx], &bytes);
        Nds[ty][tx] = load(&Nd[Col + (m * TILE_WIDTH + ty) * Width], &bytes);
        __syncthreads(); // the tile is whole
        for (int k = 0; k < TILE_WIDTH; ++k)
            Pvalue += Mds[ty][k] * Nds[k][tx];
        __syncthreads(); // why? the next phase overwrites what others may still read
    }
    Pd[Row * Width + Col] = Pvalue;
    atomicAdd(&loaded_bytes, (unsigned long long)bytes);
}

// The bytes that the kernel has loaded for each floating-point operation.
double bytes_per_operation(int width)
{
    unsigned long long bytes;
    CHECK(cudaMemcpyFromSymbol(&bytes, loaded_bytes, sizeof bytes));
    return (double)bytes / (2.0 * width * width * width);
}

void forget_bytes()
{
    unsigned long long zero = 0;
    CHECK(cudaMemcpyToSymbol(loaded_bytes, &zero, sizeof zero));
}

void compare(const float *P, const float *want, int width, const char *what)
{
    for (int i = 0; i < width * width; i++)
        expect(P[i] == want[i], what); // whole numbers: exact in every order
    printf("%s: the same as the host\n", what);
}

int main()
{
    const int n = WIDTH * WIDTH;
    float *M = managed<float>(n), *N = managed<float>(n), *P = managed<float>(n), *want = managed<float>(n);
    for (int i = 0; i < n; i++) {
        M[i] = (float)(i * 7 % 19 - 9);
        N[i] = (float)(i * 5 % 23 - 11);
    }
    MatrixMulOnHost(M, N, want, 32);
    OneBlock<<<1, dim3(32, 32)>>>(M, N, P, 32);
    CHECK_LAUNCH();
    compare(P, want, 32, "one block of 32 x 32 threads");

    dim3 dimGrid(WIDTH / TILE_WIDTH, WIDTH / TILE_WIDTH), dimBlock(TILE_WIDTH, TILE_WIDTH);
    MatrixMulOnHost(M, N, want, WIDTH);
    forget_bytes();
    ManyBlocks<<<dimGrid, dimBlock>>>(M, N, P, WIDTH);
    CHECK_LAUNCH();
    compare(P, want, WIDTH, "many blocks, global memory");
    double naive = bytes_per_operation(WIDTH);
    forget_bytes();
    Tiles<<<dimGrid, dimBlock>>>(M, N, P, WIDTH);
    CHECK_LAUNCH();
    compare(P, want, WIDTH, "tiles in shared memory");
    double tiled = bytes_per_operation(WIDTH);

    const double peak = 346.5, bandwidth = 86.4; // a G80: GFLOP/s, GB/s
    printf("\n%-16s%18s%18s%18s\n", "on a G80", "bytes/operation", "for its peak", "bound by memory");
    printf("%-16s%18.3f%13.1f GB/s%10.1f GFLOP/s\n", "global memory", naive, peak * naive, bandwidth / naive);
    printf("%-16s%18.3f%13.1f GB/s%10.1f GFLOP/s\n", "tiles of 16", tiled, peak * tiled, bandwidth / tiled);
    printf("its memory gives %.1f GB/s, its peak is %.1f GFLOP/s: with tiles, memory is no limit\n", bandwidth, peak);
    expect(naive == 4 && tiled == 0.25, "the tiles load a 16th");
}
