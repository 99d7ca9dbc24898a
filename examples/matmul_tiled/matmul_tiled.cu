// P = M * N, all width x width, by tiles of TILE x TILE elements: each is read from global memory once for TILE
// threads that need it. The width is any number: what hangs over the edge counts as zero.
template <int TILE>
__global__ void matmul_tiled(const float *m, const float *n, float *p, int width)
{
    __shared__ float m_tile[TILE][TILE], n_tile[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int start = 0; start < width; start += TILE) {
        m_tile[ty][tx] = row < width && start + tx < width ? m[row * width + start + tx] : 0;
        n_tile[ty][tx] = col < width && start + ty < width ? n[(start + ty) * width + col] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += m_tile[ty][k] * n_tile[k][tx];
        __syncthreads();
    }
    if (row < width && col < width)
        p[row * width + col] = sum;
}

template __global__ void matmul_tiled<8>(const float *, const float *, float *, int);
template __global__ void matmul_tiled<16>(const float *, const float *, float *, int);
template __global__ void matmul_tiled<32>(const float *, const float *, float *, int);
