// The matrix products of the lecture "CUDA: threads, memory, atomics", for each TILE_WIDTH whose blocks a device can
// run: a block of TILE_WIDTH x TILE_WIDTH threads must not exceed 1,024. The width is a multiple of TILE_WIDTH.
//
// Corrected from the slides:
//  - Md.width and Nd.width in the first kernel: Md and Nd are plain pointers, the width is the parameter Width.
//  - __synchthreads() is spelled __syncthreads().
//  - dim3 dimBlock(Width / TILE_WIDTH, Height / TILE_WIDTH); dim3 dimGrid(TILE_WIDTH, TILE_WIDTH) have their names
//    swapped: the grid has Width / TILE_WIDTH blocks a side, a block has TILE_WIDTH threads a side.
//  - MatrixMulKernel<<<...>>>(Md, Nd, Pd, TILE_WIDTH) must pass Width: the kernel's last parameter is the matrix'.

// "Matrix Multiply: CUDA Kernel": one block, a thread for each element of Pd.
extern "C" __global__ void MatrixMulOneBlock(float *Md, float *Nd, float *Pd, int Width)
{
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    float Pvalue = 0;
    for (int k = 0; k < Width; ++k) {
        float Mdelement = Md[ty * Width + k];
        float Ndelement = Nd[k * Width + tx];
        Pvalue += Mdelement * Ndelement;
    }
    Pd[ty * Width + tx] = Pvalue;
}

// "Matrix Multiply": many blocks, everything from global memory.
template <int TILE_WIDTH>
__global__ void MatrixMulNaive(float *Md, float *Nd, float *Pd, int Width)
{
    int Row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    int Col = blockIdx.x * TILE_WIDTH + threadIdx.x;
    float Pvalue = 0;
    for (int k = 0; k < Width; ++k)
        Pvalue += Md[Row * Width + k] * Nd[k * Width + Col];
    Pd[Row * Width + Col] = Pvalue;
}

// The same with tiles in shared memory.
template <int TILE_WIDTH>
__global__ void MatrixMulTiled(float *Md, float *Nd, float *Pd, int Width)
{
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    int bx = blockIdx.x;
    int by = blockIdx.y;
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int Row = by * TILE_WIDTH + ty;
    int Col = bx * TILE_WIDTH + tx;
    float Pvalue = 0;
    for (int m = 0; m < Width / TILE_WIDTH; ++m) {
        Mds[ty][tx] = Md[Row * Width + (m * TILE_WIDTH + tx)];
        Nds[ty][tx] = Nd[Col + (m * TILE_WIDTH + ty) * Width];
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k)
            Pvalue += Mds[ty][k] * Nds[k][tx];
        __syncthreads();
    }
    Pd[Row * Width + Col] = Pvalue;
}

#define FOR_TILE_WIDTH(w)                                                                                    \
    template __global__ void MatrixMulNaive<w>(float *, float *, float *, int);                              \
    template __global__ void MatrixMulTiled<w>(float *, float *, float *, int);
FOR_TILE_WIDTH(1)
FOR_TILE_WIDTH(2)
FOR_TILE_WIDTH(4)
FOR_TILE_WIDTH(8)
FOR_TILE_WIDTH(16)
FOR_TILE_WIDTH(32)
