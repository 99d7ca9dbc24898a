/* The same algorithms in C with OpenMP, as a backend. Compiled by gcc and by clang with -O3
 * -march=native -ffast-math left off, as Heddle's results are IEEE's. */
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

typedef void function(struct problem *p);

static void saxpy(struct problem *p)
{
    const float *restrict x = p->at[0];
    float *restrict y = p->at[1];
#pragma omp parallel for simd
    for (uint32_t i = 0; i < p->n; i++)
        y[i] = 2.0f * x[i] + y[i];
}

static void fma_loop(struct problem *p)
{
    const float *restrict in = p->at[0];
    float *restrict out = p->at[1];
#pragma omp parallel for
    for (uint32_t i = 0; i < p->n; i += 64) {
        float x[64];
        for (int k = 0; k < 64; k++)
            x[k] = in[i + k];
        for (int r = 0; r < 4096; r++)
#pragma omp simd
            for (int k = 0; k < 64; k++)
                x[k] = fmaf(x[k], 0.999f, 0.001f);
        for (int k = 0; k < 64; k++)
            out[i + k] = x[k];
    }
}

static void transpose(struct problem *p)
{
    const float *restrict in = p->at[0];
    float *restrict out = p->at[1];
    uint32_t n = p->n;
#pragma omp parallel for collapse(2)
    for (uint32_t r = 0; r < n; r += 32)
        for (uint32_t c = 0; c < n; c += 32)
            for (uint32_t y = c; y < c + 32; y++)
                for (uint32_t x = r; x < r + 32; x++)
                    out[(size_t)y * n + x] = in[(size_t)x * n + y];
}

static void reduce(struct problem *p)
{
    const uint32_t *in = p->at[0];
    uint32_t sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (uint32_t i = 0; i < p->n; i++)
        sum += in[i];
    *(uint32_t *)p->at[1] = sum;
}

/* Two passes over the part of each thread. */
/* What stands before block b: the sums of blocks before it, back to one that has published the sum
 * of all up to it. */
static uint32_t look_back(const uint64_t *state, uint32_t b)
{
    uint32_t sum = 0;
    uint64_t s = 0;
    while (b-- > 0 && s >> 32 != 2) {
        do
            s = __atomic_load_n(&state[b], __ATOMIC_ACQUIRE);
        while (s >> 32 == 0);
        sum += (uint32_t)s;
    }
    return sum;
}

static void scan(struct problem *p)
{
    const uint32_t *restrict in = p->at[0];
    uint32_t *restrict out = p->at[1], blocks = p->n / 1024;
    uint64_t *state = p->at[2];
    uint32_t *ticket = (uint32_t *)(state + 4096);
#pragma omp parallel
    for (uint32_t b; (b = __atomic_fetch_add(ticket, 1, __ATOMIC_RELAXED)) < blocks;) {
        const uint32_t *from = in + 1024 * (size_t)b;
        uint32_t *to = out + 1024 * (size_t)b, all = 0;
        for (int k = 0; k < 1024; k++)
            all += from[k];
        __atomic_store_n(&state[b], 1ull << 32 | all, __ATOMIC_RELEASE);
        uint32_t sum = look_back(state, b);
        __atomic_store_n(&state[b], 2ull << 32 | (sum + all), __ATOMIC_RELEASE);
        for (int k = 0; k < 1024; k++)
            to[k] = sum += from[k];
    }
}

static void stencil(struct problem *p)
{
    const float *restrict in = p->at[0];
    float *restrict out = p->at[1];
    uint32_t n = p->n;
#pragma omp parallel for
    for (uint32_t y = 1; y < n - 1; y++)
#pragma omp simd
        for (uint32_t x = 1; x < n - 1; x++) {
            size_t i = (size_t)y * n + x;
            out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
        }
}

/* Rows of the result, so that the inner loop runs along rows. */
static void matmul_naive(struct problem *p)
{
    const float *restrict a = p->at[0], *restrict b = p->at[1];
    float *restrict c = p->at[2];
    uint32_t n = p->n;
#pragma omp parallel for
    for (uint32_t row = 0; row < n; row++) {
        memset(c + (size_t)row * n, 0, n * sizeof *c);
        for (uint32_t k = 0; k < n; k++)
#pragma omp simd
            for (uint32_t column = 0; column < n; column++)
                c[(size_t)row * n + column] += a[(size_t)row * n + k] * b[(size_t)k * n + column];
    }
}

static inline void matmul_tiled(struct problem *p, uint32_t tile)
{
    const float *restrict a = p->at[0], *restrict b = p->at[1];
    float *restrict c = p->at[2];
    uint32_t n = p->n;
#pragma omp parallel for collapse(2)
    for (uint32_t row = 0; row < n; row += tile)
        for (uint32_t column = 0; column < n; column += tile) {
            float sum[32][32] = {{0}};
            for (uint32_t m = 0; m < n; m += tile)
                for (uint32_t y = 0; y < tile; y++)
                    for (uint32_t k = 0; k < tile; k++)
#pragma omp simd
                        for (uint32_t x = 0; x < tile; x++)
                            sum[y][x] += a[(size_t)(row + y) * n + m + k] * b[(size_t)(m + k) * n + column + x];
            for (uint32_t y = 0; y < tile; y++)
                for (uint32_t x = 0; x < tile; x++)
                    c[(size_t)(row + y) * n + column + x] = sum[y][x];
        }
}

static void matmul_tiled16(struct problem *p)
{
    matmul_tiled(p, 16);
}

static void matmul_tiled32(struct problem *p)
{
    matmul_tiled(p, 32);
}

static void mandelbrot(struct problem *p)
{
    int32_t *restrict out = p->at[0];
    uint32_t n = p->n;
#pragma omp parallel for schedule(dynamic, 16)
    for (uint32_t row = 0; row < n; row++)
        for (uint32_t column = 0; column < n; column++) {
            float cx = -2.0f + 3.0f * (float)column / (float)n, cy = -1.5f + 3.0f * (float)row / (float)n, x = 0, y = 0;
            int32_t r = 0;
            for (; r < 256 && x * x + y * y <= 4.0f; r++) {
                float t = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = t;
            }
            out[row * n + column] = r;
        }
}

static void nbody(struct problem *p)
{
    const float *restrict body = p->at[0];
    float *restrict out = p->at[1];
#pragma omp parallel for
    for (uint32_t i = 0; i < p->n; i++) {
        float ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
        for (uint32_t j = 0; j < p->n; j++) {
            float dx = body[4 * j] - body[4 * i], dy = body[4 * j + 1] - body[4 * i + 1],
                  dz = body[4 * j + 2] - body[4 * i + 2];
            float r = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), f = body[4 * j + 3] * r * r * r;
            ax += dx * f;
            ay += dy * f;
            az += dz * f;
        }
        out[4 * i] = ax;
        out[4 * i + 1] = ay;
        out[4 * i + 2] = az;
        out[4 * i + 3] = 0;
    }
}

static inline float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float c = 0.39894228f * expf(-0.5f * d * d) *
              (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - c : c;
}

static void blackscholes(struct problem *p)
{
    const float *restrict s = p->at[0], *restrict x = p->at[1], *restrict t = p->at[2];
    float *restrict call = p->at[3];
#pragma omp parallel for simd
    for (uint32_t i = 0; i < p->n; i++) {
        float root = sqrtf(t[i]), d1 = (logf(s[i] / x[i]) + (0.02f + 0.045f) * t[i]) / (0.3f * root);
        call[i] = s[i] * normal(d1) - x[i] * expf(-0.02f * t[i]) * normal(d1 - 0.3f * root);
    }
}

static void spmv(struct problem *p)
{
    const uint32_t *restrict offset = p->at[0], *restrict column = p->at[1];
    const float *restrict value = p->at[2], *restrict x = p->at[3];
    float *restrict y = p->at[4];
#pragma omp parallel for
    for (uint32_t i = 0; i < p->n; i++) {
        float sum = 0;
        for (uint32_t k = offset[i]; k < offset[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}

static void bfs(struct problem *p)
{
    const uint32_t *offset = p->at[0], *column = p->at[1];
    int32_t *distance = p->at[2], *state = p->at[3], level = state[0];
#pragma omp parallel for schedule(dynamic, 1024)
    for (uint32_t i = 0; i < p->n; i++) {
        if (distance[i] != level)
            continue;
        for (uint32_t k = offset[i]; k < offset[i + 1]; k++) {
            int32_t unseen = -1;
            if (__atomic_compare_exchange_n(&distance[column[k]], &unseen, level + 1, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
                __atomic_fetch_add(&state[1], 1, __ATOMIC_RELAXED);
        }
    }
}

static void histogram_shared(struct problem *p)
{
    const uint8_t *in = p->at[0];
    uint32_t *bins = p->at[1];
#pragma omp parallel
    {
        uint32_t own[256] = {0};
#pragma omp for
        for (uint32_t i = 0; i < p->n; i++)
            own[in[i]]++;
        for (int k = 0; k < 256; k++)
            __atomic_fetch_add(&bins[k], own[k], __ATOMIC_RELAXED);
    }
}

static void histogram_global(struct problem *p)
{
    const uint8_t *in = p->at[0];
    uint32_t *bins = p->at[1];
#pragma omp parallel for
    for (uint32_t i = 0; i < p->n; i++)
        __atomic_fetch_add(&bins[in[i]], 1, __ATOMIC_RELAXED);
}

static void atomic_count(struct problem *p)
{
    uint32_t *count = p->at[0];
#pragma omp parallel for
    for (uint32_t i = 0; i < p->n; i++)
        __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

static void atomic_ticket(struct problem *p)
{
    uint32_t *count = p->at[0], *ticket = p->at[1];
#pragma omp parallel for
    for (uint32_t i = 0; i < p->n; i++)
        ticket[i] = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

static void atomic_cas_loop(struct problem *p)
{
    uint32_t *count = p->at[0];
#pragma omp parallel for
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t old = __atomic_load_n(count, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(count, &old, old + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        }
    }
}

static void bitonic_sort(struct problem *p)
{
    uint32_t *key = p->at[0];
#pragma omp parallel for
    for (uint32_t first = 0; first < p->n; first += 1024) {
        uint32_t *own = key + first;
        for (uint32_t size = 2; size <= 1024; size *= 2)
            for (uint32_t stride = size / 2; stride > 0; stride /= 2)
                for (uint32_t low0 = 0; low0 < 1024; low0 += 2 * stride) {
                    bool up = (low0 & size) == 0;
                    for (uint32_t low = low0; low < low0 + stride; low++) {
                        uint32_t a = own[low], b = own[low + stride], least = a < b ? a : b, most = a < b ? b : a;
                        own[low] = up ? least : most;
                        own[low + stride] = up ? most : least;
                    }
                }
    }
}

static void spin_lock(struct problem *p)
{
    uint32_t *lock = p->at[0];
#pragma omp parallel for
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t open;
        do
            open = 0;
        while (!__atomic_compare_exchange_n(&lock[0], &open, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
        lock[1]++;
        __atomic_store_n(&lock[0], 0, __ATOMIC_RELEASE);
    }
}

static const struct {
    const char *name;
    function *run;
} functions[] = {
    {"saxpy", saxpy},
    {"fma_loop", fma_loop},
    {"transpose", transpose},
    {"reduce", reduce},
    {"scan", scan},
    {"stencil", stencil},
    {"matmul_naive", matmul_naive},
    {"matmul_tiled16", matmul_tiled16},
    {"matmul_tiled32", matmul_tiled32},
    {"matmul_pipelined16", matmul_tiled16},
    {"mandelbrot", mandelbrot},
    {"nbody", nbody},
    {"blackscholes", blackscholes},
    {"spmv", spmv},
    {"bfs", bfs},
    {"histogram_shared", histogram_shared},
    {"histogram_global", histogram_global},
    {"atomic_count", atomic_count},
    {"atomic_ticket", atomic_ticket},
    {"atomic_cas_loop", atomic_cas_loop},
    {"bitonic_sort", bitonic_sort},
    {"shuffle_reduce", reduce},
    {"spin_lock", spin_lock},
};

static function *find(const struct problem *p)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, p->name) == 0)
            return functions[i].run;
    return NULL;
}

bool backend_open(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return true;
}

void *backend_alloc(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

const char *backend_refuses(const struct problem *p)
{
    return find(p) ? NULL : "not written";
}

double backend_run(struct problem *p)
{
    function *run = find(p);
    double seconds = 0;
    do {
        double start = omp_get_wtime();
        run(p);
        seconds += omp_get_wtime() - start;
    } while (p->step && p->step(p));
    return seconds;
}
