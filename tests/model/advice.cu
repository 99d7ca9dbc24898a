/* For each piece of advice, by its code, a kernel that deserves it and one that does the same without: bad_CODE and good_CODE. */
#include <cstdio>

__constant__ float table[1024];

__global__ void bad_uncoalesced(const float *a, float *b, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    b[row] = a[row * n];
}
__global__ void good_uncoalesced(const float *a, float *b, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    b[row] = a[row + n];
}

__device__ unsigned mix(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    return x ^ x >> 15;
}
__global__ void bad_scattered(const float *a, float *b, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[mix(i) & 65535];
}
__global__ void good_scattered(const float *a, float *b, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[(i ^ mix(i >> 5)) & 65535]; /* the lanes of a warp in some order within a line */
}

template <int PAD> __device__ void transpose(const float *a, float *b)
{
    __shared__ float s[32][32 + PAD];
    int x = threadIdx.x, y = threadIdx.y, from = blockIdx.x * 1024;
    for (int j = 0; j < 32; j += 8)
        s[y + j][x] = a[from + (y + j) * 32 + x];
    __syncthreads();
    for (int j = 0; j < 32; j += 8)
        b[from + (y + j) * 32 + x] = s[x][y + j];
}
__global__ void bad_bank_conflicts(const float *a, float *b, int n) { transpose<0>(a, b); }
__global__ void good_bank_conflicts(const float *a, float *b, int n) { transpose<1>(a, b); }

__global__ void bad_shared_contention(const float *a, float *b, int n)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32)
        s[t] = 0;
    __syncthreads();
    for (int k = 0; k < 8; k++)
        atomicAdd(&s[(int)a[t] + k], t);
    __syncthreads();
    b[blockIdx.x * blockDim.x + t] = s[t & 31];
}
__global__ void good_shared_contention(const float *a, float *b, int n)
{
    __shared__ int s[1024];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    for (int k = 0; k < 8; k++)
        atomicAdd(&s[t], k);
    __syncthreads();
    b[blockIdx.x * blockDim.x + t] = s[t];
}

__global__ void bad_contention(const float *a, float *b, int n)
{
    atomicAdd(b, a[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void good_contention(const float *a, float *b, int n)
{
    float v = a[blockIdx.x * blockDim.x + threadIdx.x];
    for (int k = 16; k; k /= 2)
        v += __shfl_down_sync(~0u, v, k);
    if (threadIdx.x % 32 == 0)
        atomicAdd(b, v);
}

__device__ float grind(float v, int n)
{
#pragma unroll 1
    for (int k = 0; k < n; k++)
        v = v * 1.5f + 1;
    return v;
}
__global__ void bad_divergence(const float *a, float *b, int n)
{
    int t = threadIdx.x;
    b[blockIdx.x * blockDim.x + t] = t % 2 ? grind(a[t], n) : grind(a[t] + 1, n) * 2;
}
__global__ void good_divergence(const float *a, float *b, int n)
{
    int t = threadIdx.x;
    b[blockIdx.x * blockDim.x + t] = t / 32 % 2 ? grind(a[t], n) : grind(a[t] + 1, n) * 2;
}

__global__ void bad_constants(const float *a, float *b, int n)
{
    b[blockIdx.x * blockDim.x + threadIdx.x] = table[threadIdx.x * 3 & 1023];
}
__global__ void good_constants(const float *a, float *b, int n)
{
    b[blockIdx.x * blockDim.x + threadIdx.x] = table[n & 1023];
}

__global__ void bad_local_memory(const float *a, float *b, int n)
{
    float s[32];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 32; k++)
        s[k] = a[k];
    for (int k = 0; k < 64; k++)
        s[mix(t + k) & 31] += 1;
    b[t] = s[mix(t) & 31];
}
__global__ void good_local_memory(const float *a, float *b, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 64; k++)
        s += a[(t + k) & 1023];
    b[t] = s;
}

__global__ void bad_occupancy(const float *a, float *b, int n)
{
    extern __shared__ float s[];
    s[threadIdx.x] = a[threadIdx.x];
    for (int k = 0; k < n; k++)
        s[threadIdx.x] = sqrtf(s[threadIdx.x] + a[(threadIdx.x + k * 256) & 65535]);
    b[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}
/* 48 values that are all needed again, in 32 registers or as many as it takes. */
__device__ void mix_values(const float *a, float *b, int n)
{
    float v[48];
#pragma unroll
    for (int i = 0; i < 48; i++)
        v[i] = a[threadIdx.x + i * 32];
#pragma unroll 1
    for (int k = 0; k < n; k++)
#pragma unroll
        for (int i = 0; i < 48; i++)
            v[i] = v[i] * v[(i + 7) % 48] + v[(i * 5 + 1) % 48];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 48; i++)
        sum += v[i];
    b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void __launch_bounds__(1024, 2) bad_spills(const float *a, float *b, int n) { mix_values(a, b, n); }
__global__ void __launch_bounds__(1024, 1) good_spills(const float *a, float *b, int n) { mix_values(a, b, n); }

#define SAME(code) \
    __global__ void bad_##code(const float *a, float *b, int n) { b[blockIdx.x * blockDim.x + threadIdx.x] = a[threadIdx.x]; } \
    __global__ void good_##code(const float *a, float *b, int n) { b[blockIdx.x * blockDim.x + threadIdx.x] = a[threadIdx.x]; }
SAME(block_size)
SAME(small_grid)
SAME(tail)
SAME(clusters)
__device__ void copy_rows(const float *a, float *b, int n)
{
    int at = (threadIdx.y + blockIdx.x * blockDim.y) * n + threadIdx.x;
    b[at] = a[at];
}
__global__ void bad_narrow_block(const float *a, float *b, int n) { copy_rows(a, b, n); }
__global__ void good_narrow_block(const float *a, float *b, int n) { copy_rows(a, b, n); }
__global__ void good_occupancy(const float *a, float *b, int n)
{
    extern __shared__ float s[];
    s[threadIdx.x] = a[threadIdx.x];
    b[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

/* As many blocks, in clusters of so many. */
static void in_clusters(void (*kernel)(const float *, float *, int), unsigned size, const float *a, float *b)
{
    cudaLaunchConfig_t config = {132 * 16, 128};
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {size, 1, 1};
    config.attrs = &cluster;
    config.numAttrs = 1;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    cudaLaunchKernelEx(&config, kernel, a, b, 0);
}

int main()
{
    float *a, *b;
    cudaMalloc(&a, 4 << 20);
    cudaMalloc(&b, 4 << 20);
    cudaMemset(a, 0, 4 << 20);
    bad_uncoalesced<<<132, 128>>>(a, b, 32);
    good_uncoalesced<<<132, 128>>>(a, b, 32);
    bad_scattered<<<132, 128>>>(a, b, 0);
    good_scattered<<<132, 128>>>(a, b, 0);
    bad_bank_conflicts<<<132, dim3(32, 8)>>>(a, b, 0);
    good_bank_conflicts<<<132, dim3(32, 8)>>>(a, b, 0);
    bad_shared_contention<<<132, 128>>>(a, b, 0);
    good_shared_contention<<<132, 128>>>(a, b, 0);
    bad_contention<<<132, 128>>>(a, b, 0);
    good_contention<<<132, 128>>>(a, b, 0);
    bad_divergence<<<132, 128>>>(a, b, 50);
    good_divergence<<<132, 128>>>(a, b, 50);
    bad_constants<<<132, 128>>>(a, b, 0);
    good_constants<<<132, 128>>>(a, b, 0);
    bad_local_memory<<<132, 128>>>(a, b, 0);
    good_local_memory<<<132, 128>>>(a, b, 0);
    bad_block_size<<<132, 100>>>(a, b, 0);
    good_block_size<<<132, 128>>>(a, b, 0);
    bad_narrow_block<<<132, dim3(4, 16)>>>(a, b, 256);
    good_narrow_block<<<132, dim3(8, 8)>>>(a, b, 256);
    bad_small_grid<<<13, 128>>>(a, b, 0);
    good_small_grid<<<132, 128>>>(a, b, 0);
    bad_tail<<<132 * 2 + 1, 1024>>>(a, b, 0);
    good_tail<<<132 * 2, 1024>>>(a, b, 0);
    cudaFuncSetAttribute(bad_occupancy, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
    bad_occupancy<<<132 * 8, 64, 60 << 10>>>(a, b, 100);
    good_occupancy<<<132 * 8, 64, 4 << 10>>>(a, b, 100);
    bad_spills<<<132, 128>>>(a, b, 8);
    good_spills<<<132, 128>>>(a, b, 8);
    in_clusters(bad_clusters, 16, a, b);
    in_clusters(good_clusters, 8, a, b);
    return cudaDeviceSynchronize() != cudaSuccess;
}
