// The problems of problem.h as CUDA kernels. `make bench` needs no CUDA compiler: kernels.ptx is what nvcc made of this
// (nvcc -arch=sm_80 -ptx kernels.cu).
#include <mma.h>
#include <cuda_pipeline.h>

#define KERNEL extern "C" __global__ void

__device__ unsigned thread_index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

KERNEL saxpy(const float *x, float *y, unsigned n)
{
    unsigned i = thread_index();
    if (i < n)
        y[i] = 2.0f * x[i] + y[i];
}

KERNEL fma_loop(const float *in, float *out, unsigned n)
{
    unsigned i = thread_index();
    if (i >= n)
        return;
    float x = in[i];
    for (int r = 0; r < 4096; r++)
        x = fmaf(x, 0.999f, 0.001f);
    out[i] = x;
}

KERNEL transpose(const float *in, float *out, unsigned n)
{
    __shared__ float tile[32][33];
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

// A block sums 2048 numbers by a tree in shared memory.
KERNEL reduce(const unsigned *in, unsigned *out, unsigned n)
{
    __shared__ unsigned part[256];
    unsigned t = threadIdx.x, base = blockIdx.x * 2048 + t, sum = 0;
    for (int k = 0; k < 8; k++)
        sum += in[base + 256 * k];
    part[t] = sum;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, part[0]);
}

// Decoupled look-back: block b publishes its own sum, then the sum of all up to it. state[b]: flag << 32 | value.
KERNEL scan(const unsigned *in, unsigned *out, unsigned long long *state, unsigned n)
{
    __shared__ unsigned part[256], ticket, before;
    unsigned *next = (unsigned *)(state + 4096);
    unsigned t = threadIdx.x;
    if (t == 0)
        ticket = atomicAdd(next, 1);
    __syncthreads();
    unsigned b = ticket, v[4], sum = 0;
    for (int k = 0; k < 4; k++)
        v[k] = sum += in[b * 1024 + 4 * t + k];
    part[t] = sum;
    __syncthreads();
    for (unsigned d = 1; d < 256; d *= 2) {
        unsigned left = t >= d ? part[t - d] : 0;
        __syncthreads();
        part[t] += left;
        __syncthreads();
    }
    if (t == 0) {
        unsigned all = part[255], sum = 0;
        atomicExch(&state[b], (1ull << 32) | all);
        for (int k = (int)b - 1; k >= 0; k--) {
            unsigned long long s;
            while (((s = *(volatile unsigned long long *)&state[k]) >> 32) == 0) {
            }
            sum += (unsigned)s;
            if (s >> 32 == 2)
                break;
        }
        atomicExch(&state[b], (2ull << 32) | (sum + all));
        before = sum;
    }
    __syncthreads();
    unsigned offset = before + part[t] - sum;
    for (int k = 0; k < 4; k++)
        out[b * 1024 + 4 * t + k] = offset + v[k];
}

KERNEL stencil(const float *in, float *out, unsigned n)
{
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = y * n + x;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

KERNEL matmul_naive(const float *a, const float *b, float *c, unsigned n)
{
    unsigned column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (unsigned k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

template <int TILE> __device__ void matmul_tiled(const float *a, const float *b, float *c, unsigned n)
{
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    unsigned x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (unsigned m = 0; m < n; m += TILE) {
        ta[y][x] = a[row * n + m + x];
        tb[y][x] = b[(m + y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += ta[y][k] * tb[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

KERNEL matmul_tiled16(const float *a, const float *b, float *c, unsigned n)
{
    matmul_tiled<16>(a, b, c, n);
}

KERNEL matmul_tiled32(const float *a, const float *b, float *c, unsigned n)
{
    matmul_tiled<32>(a, b, c, n);
}

// matmul_tiled16 with two buffers: while a tile is multiplied, the next one comes (cp.async of 16 bytes, by the first 64 threads).
KERNEL matmul_pipelined16(const float *a, const float *b, float *c, unsigned n)
{
    __shared__ alignas(16) float ta[2][16][16], tb[2][16][16];
    unsigned x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    unsigned t = 16 * y + x, from_y = t / 4, from_x = t % 4 * 4;
    float sum = 0;
    auto fetch = [&](unsigned m, unsigned stage) {
        if (t < 64) {
            __pipeline_memcpy_async(&ta[stage][from_y][from_x], &a[(blockIdx.y * 16 + from_y) * n + m + from_x], 16);
            __pipeline_memcpy_async(&tb[stage][from_y][from_x], &b[(m + from_y) * n + blockIdx.x * 16 + from_x], 16);
        }
    };
    fetch(0, 0);
    __pipeline_commit();
    for (unsigned m = 0, stage = 0; m < n; m += 16, stage ^= 1) {
        if (m + 16 < n)
            fetch(m + 16, stage ^ 1);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += ta[stage][y][k] * tb[stage][k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

KERNEL mandelbrot(int *out, unsigned n)
{
    unsigned column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float cx = -2.0f + 3.0f * column / n, cy = -1.5f + 3.0f * row / n, x = 0, y = 0;
    int r = 0;
    for (; r < 256 && x * x + y * y <= 4.0f; r++) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
    }
    out[row * n + column] = r;
}

KERNEL nbody(const float4 *body, float4 *out, unsigned n)
{
    __shared__ float4 tile[256];
    unsigned i = thread_index();
    float4 me = body[i];
    float ax = 0, ay = 0, az = 0;
    for (unsigned m = 0; m < n; m += 256) {
        tile[threadIdx.x] = body[m + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; k++) {
            float4 o = tile[k];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), f = o.w * r * r * r;
            ax += dx * f;
            ay += dy * f;
            az += dz * f;
        }
        __syncthreads();
    }
    out[i] = make_float4(ax, ay, az, 0);
}

__device__ float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float c = 0.39894228f * expf(-0.5f * d * d) *
              (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - c : c;
}

KERNEL blackscholes(const float *s, const float *x, const float *t, float *call, unsigned n)
{
    unsigned i = thread_index();
    if (i >= n)
        return;
    float root = sqrtf(t[i]), d1 = (logf(s[i] / x[i]) + (0.02f + 0.045f) * t[i]) / (0.3f * root);
    call[i] = s[i] * normal(d1) - x[i] * expf(-0.02f * t[i]) * normal(d1 - 0.3f * root);
}

KERNEL spmv(const unsigned *offset, const unsigned *column, const float *value, const float *x, float *y, unsigned n)
{
    unsigned i = thread_index();
    if (i >= n)
        return;
    float sum = 0;
    for (unsigned k = offset[i]; k < offset[i + 1]; k++)
        sum += value[k] * x[column[k]];
    y[i] = sum;
}

KERNEL bfs(const unsigned *offset, const unsigned *column, int *distance, int *state, unsigned n)
{
    unsigned i = thread_index();
    int level = state[0];
    if (i >= n || distance[i] != level)
        return;
    for (unsigned k = offset[i]; k < offset[i + 1]; k++)
        if (atomicCAS(&distance[column[k]], -1, level + 1) == -1)
            atomicAdd(&state[1], 1);
}

KERNEL histogram_shared(const unsigned char *in, unsigned *bins, unsigned n)
{
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = thread_index(); i < n; i += gridDim.x * 256)
        atomicAdd(&own[in[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

KERNEL histogram_global(const unsigned char *in, unsigned *bins, unsigned n)
{
    for (unsigned i = thread_index(); i < n; i += gridDim.x * 256)
        atomicAdd(&bins[in[i]], 1);
}

KERNEL atomic_count(unsigned *count, unsigned n)
{
    if (thread_index() < n)
        atomicAdd(count, 1);
}

KERNEL atomic_ticket(unsigned *count, unsigned *ticket, unsigned n)
{
    unsigned i = thread_index();
    if (i < n)
        ticket[i] = atomicAdd(count, 1);
}

KERNEL atomic_cas_loop(unsigned *count, unsigned n)
{
    unsigned old = *(volatile unsigned *)count, seen;
    if (thread_index() >= n)
        return;
    while ((seen = atomicCAS(count, old, old + 1)) != old)
        old = seen;
}

KERNEL bitonic_sort(unsigned *key, unsigned n)
{
    __shared__ unsigned own[1024];
    unsigned t = threadIdx.x;
    key += blockIdx.x * 1024;
    own[t] = key[t];
    own[t + 512] = key[t + 512];
    for (unsigned size = 2; size <= 1024; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            unsigned low = 2 * t - (t & (stride - 1)), high = low + stride;
            bool up = (low & size) == 0;
            unsigned a = own[low], b = own[high];
            if ((a > b) == up) {
                own[low] = b;
                own[high] = a;
            }
        }
    __syncthreads();
    key[t] = own[t];
    key[t + 512] = own[t + 512];
}

KERNEL shuffle_reduce(const unsigned *in, unsigned *out, unsigned n)
{
    unsigned base = blockIdx.x * 2048 + threadIdx.x, sum = 0;
    for (int k = 0; k < 8; k++)
        sum += in[base + 256 * k];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

// lock[0]: taken; lock[1]: what it guards.
KERNEL spin_lock(unsigned *lock, unsigned n)
{
    if (thread_index() >= n)
        return;
    while (atomicCAS(&lock[0], 0, 1) != 0) {
    }
    __threadfence();
    *(volatile unsigned *)&lock[1] = *(volatile unsigned *)&lock[1] + 1;
    __threadfence();
    atomicExch(&lock[0], 0);
}

// On tensor cores: a warp computes 16 x 16 elements.
KERNEL matmul_wmma(const __half *a, const __half *b, float *c, unsigned n)
{
    using namespace nvcuda::wmma;
    unsigned column = blockIdx.x * 16, row = (blockIdx.y * blockDim.y + threadIdx.y) * 16;
    fragment<matrix_a, 16, 16, 16, __half, row_major> x;
    fragment<matrix_b, 16, 16, 16, __half, row_major> y;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (unsigned k = 0; k < n; k += 16) {
        load_matrix_sync(x, a + row * n + k, n);
        load_matrix_sync(y, b + k * n + column, n);
        mma_sync(sum, x, y, sum);
    }
    store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}
