// The problems of problem.h in OpenCL C 1.2, kernel for kernel as kernels.cu.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define KERNEL __kernel void

KERNEL saxpy(__global const float *x, __global float *y, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        y[i] = 2.0f * x[i] + y[i];
}

KERNEL fma_loop(__global const float *in, __global float *out, uint n)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    float x = in[i];
    for (int r = 0; r < 4096; r++)
        x = fma(x, 0.999f, 0.001f);
    out[i] = x;
}

KERNEL transpose(__global const float *in, __global float *out, uint n)
{
    __local float tile[32][33];
    uint tx = get_local_id(0), ty = get_local_id(1), x = get_group_id(0) * 32 + tx, y = get_group_id(1) * 32 + ty;
    for (int k = 0; k < 32; k += 8)
        tile[ty + k][tx] = in[(y + k) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * 32 + tx;
    y = get_group_id(0) * 32 + ty;
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * n + x] = tile[tx][ty + k];
}

KERNEL reduce(__global const uint *in, __global uint *out, uint n)
{
    __local uint part[256];
    uint t = get_local_id(0), base = get_group_id(0) * 2048 + t, sum = 0;
    for (int k = 0; k < 8; k++)
        sum += in[base + 256 * k];
    part[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = 128; half_size > 0; half_size /= 2) {
        if (t < half_size)
            part[t] += part[t + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        atomic_add(out, part[0]);
}

KERNEL scan(__global const uint *in, __global uint *out, __global ulong *state, uint n)
{
    __local uint part[256], ticket, before;
    uint t = get_local_id(0);
    if (t == 0)
        ticket = atomic_inc((__global uint *)(state + 4096));
    barrier(CLK_LOCAL_MEM_FENCE);
    uint b = ticket, v[4], sum = 0;
    for (int k = 0; k < 4; k++)
        v[k] = sum += in[b * 1024 + 4 * t + k];
    part[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < 256; d *= 2) {
        uint left = t >= d ? part[t - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        part[t] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) {
        uint all = part[255], up_to = 0;
        atom_xchg(&state[b], (1ul << 32) | all);
        for (int k = (int)b - 1; k >= 0; k--) {
            ulong s;
            while (((s = *(volatile __global ulong *)&state[k]) >> 32) == 0) {
            }
            up_to += (uint)s;
            if (s >> 32 == 2)
                break;
        }
        atom_xchg(&state[b], (2ul << 32) | (up_to + all));
        before = up_to;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint offset = before + part[t] - sum;
    for (int k = 0; k < 4; k++)
        out[b * 1024 + 4 * t + k] = offset + v[k];
}

KERNEL stencil(__global const float *in, __global float *out, uint n)
{
    uint x = get_global_id(0), y = get_global_id(1), i = y * n + x;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

KERNEL matmul_naive(__global const float *a, __global const float *b, __global float *c, uint n)
{
    uint column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (uint k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

#define MATMUL_TILED(TILE)                                                                                             \
    KERNEL matmul_tiled##TILE(__global const float *a, __global const float *b, __global float *c, uint n)            \
    {                                                                                                                  \
        __local float ta[TILE][TILE], tb[TILE][TILE];                                                                  \
        uint x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);              \
        float sum = 0;                                                                                                 \
        for (uint m = 0; m < n; m += TILE) {                                                                           \
            ta[y][x] = a[row * n + m + x];                                                                             \
            tb[y][x] = b[(m + y) * n + column];                                                                        \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
            for (int k = 0; k < TILE; k++)                                                                             \
                sum += ta[y][k] * tb[k][x];                                                                            \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
        }                                                                                                              \
        c[row * n + column] = sum;                                                                                     \
    }
MATMUL_TILED(16)
MATMUL_TILED(32)

KERNEL mandelbrot(__global int *out, uint n)
{
    uint column = get_global_id(0), row = get_global_id(1);
    float cx = -2.0f + 3.0f * column / n, cy = -1.5f + 3.0f * row / n, x = 0, y = 0;
    int r = 0;
    for (; r < 256 && x * x + y * y <= 4.0f; r++) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
    }
    out[row * n + column] = r;
}

KERNEL nbody(__global const float4 *body, __global float4 *out, uint n)
{
    __local float4 tile[256];
    uint i = get_global_id(0);
    float4 me = body[i];
    float ax = 0, ay = 0, az = 0;
    for (uint m = 0; m < n; m += 256) {
        tile[get_local_id(0)] = body[m + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 256; k++) {
            float4 o = tile[k];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float r = native_rsqrt(dx * dx + dy * dy + dz * dz + 1e-3f), f = o.w * r * r * r;
            ax += dx * f;
            ay += dy * f;
            az += dz * f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = (float4)(ax, ay, az, 0);
}

float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float c = 0.39894228f * exp(-0.5f * d * d) *
              (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - c : c;
}

KERNEL blackscholes(__global const float *s, __global const float *x, __global const float *t, __global float *call, uint n)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    float root = sqrt(t[i]), d1 = (log(s[i] / x[i]) + (0.02f + 0.045f) * t[i]) / (0.3f * root);
    call[i] = s[i] * normal(d1) - x[i] * exp(-0.02f * t[i]) * normal(d1 - 0.3f * root);
}

KERNEL spmv(__global const uint *offset, __global const uint *column, __global const float *value,
            __global const float *x, __global float *y, uint n)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    float sum = 0;
    for (uint k = offset[i]; k < offset[i + 1]; k++)
        sum += value[k] * x[column[k]];
    y[i] = sum;
}

KERNEL bfs(__global const uint *offset, __global const uint *column, __global int *distance, __global int *state, uint n)
{
    uint i = get_global_id(0);
    int level = state[0];
    if (i >= n || distance[i] != level)
        return;
    for (uint k = offset[i]; k < offset[i + 1]; k++)
        if (atomic_cmpxchg(&distance[column[k]], -1, level + 1) == -1)
            atomic_inc(&state[1]);
}

KERNEL histogram_shared(__global const uchar *in, __global uint *bins, uint n)
{
    __local uint own[256];
    uint t = get_local_id(0);
    own[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&own[in[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[t], own[t]);
}

KERNEL histogram_global(__global const uchar *in, __global uint *bins, uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&bins[in[i]]);
}

KERNEL atomic_count(__global uint *count, uint n)
{
    if (get_global_id(0) < n)
        atomic_inc(count);
}

KERNEL atomic_ticket(__global uint *count, __global uint *ticket, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        ticket[i] = atomic_inc(count);
}

KERNEL atomic_cas_loop(__global uint *count, uint n)
{
    uint old = *(volatile __global uint *)count, seen;
    if (get_global_id(0) >= n)
        return;
    while ((seen = atomic_cmpxchg(count, old, old + 1)) != old)
        old = seen;
}

KERNEL bitonic_sort(__global uint *key, uint n)
{
    __local uint own[1024];
    uint t = get_local_id(0);
    key += get_group_id(0) * 1024;
    own[t] = key[t];
    own[t + 512] = key[t + 512];
    for (uint size = 2; size <= 1024; size *= 2)
        for (uint stride = size / 2; stride > 0; stride /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint low = 2 * t - (t & (stride - 1)), high = low + stride;
            bool up = (low & size) == 0;
            uint a = own[low], b = own[high];
            if ((a > b) == up) {
                own[low] = b;
                own[high] = a;
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    key[t] = own[t];
    key[t + 512] = own[t + 512];
}
