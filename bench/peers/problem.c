/* The problems; see problem.h. Results are checked against plain serial code or against what must
 * hold of them. */
#include "problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

static uint32_t next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

static void random_floats(float *x, size_t n, float low, float high, uint32_t seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = low + (high - low) * (float)(next(&seed) >> 8) / 16777216.0f;
}

static bool near(double got, double want, double tolerance)
{
    return fabs(got - want) <= tolerance * (1 + fabs(want));
}

/* Element i of an array of n, for the k-th of some spot checks that cover its ends. */
static size_t spot(size_t k, size_t n)
{
    return k == 0 ? 0 : k == 1 ? n - 1 : k * 2654435761u % n;
}
enum { SPOTS = 2000 };

/* ---- streams ---- */

enum { STREAM = 1 << 24 };

static void fill_saxpy(struct problem *p)
{
    random_floats(p->at[0], p->n, 0, 1, 1);
    random_floats(p->at[1], p->n, 0, 1, 2);
}

static bool check_saxpy(const struct problem *p)
{
    const float *x = p->at[0], *y = p->at[1], *y0 = p->initial[1];
    for (size_t k = 0; k < SPOTS; k++) {
        size_t i = spot(k, p->n);
        if (!near(y[i], 2.0f * x[i] + y0[i], 1e-6))
            return false;
    }
    return true;
}

enum { FMA_ROUNDS = 4096 };

static void fill_fma(struct problem *p)
{
    random_floats(p->at[0], p->n, 0, 1, 1);
}

static bool check_fma(const struct problem *p)
{
    const float *in = p->initial[0], *out = p->at[1];
    for (size_t k = 0; k < 50; k++) {
        size_t i = spot(k, p->n);
        float x = in[i];
        for (int r = 0; r < FMA_ROUNDS; r++)
            x = fmaf(x, 0.999f, 0.001f);
        if (!near(out[i], x, 1e-4))
            return false;
    }
    return true;
}

enum { SIDE = 4096 };

static void fill_matrix(struct problem *p)
{
    random_floats(p->at[0], (size_t)p->n * p->n, 0, 1, 1);
}

static bool check_transpose(const struct problem *p)
{
    const float *in = p->at[0], *out = p->at[1];
    for (size_t k = 0; k < SPOTS; k++) {
        size_t i = spot(k, (size_t)p->n * p->n), r = i / p->n, c = i % p->n;
        if (out[c * p->n + r] != in[i])
            return false;
    }
    return true;
}

static bool check_stencil(const struct problem *p)
{
    const float *in = p->at[0], *out = p->at[1];
    for (size_t k = 0; k < SPOTS; k++) {
        size_t i = spot(k, (size_t)p->n * p->n), r = i / p->n, c = i % p->n;
        if (r == 0 || c == 0 || r == p->n - 1 || c == p->n - 1)
            continue;
        double want = 0.5 * in[i] + 0.125 * ((double)in[i - 1] + in[i + 1] + in[i - p->n] + in[i + p->n]);
        if (!near(out[i], want, 1e-5))
            return false;
    }
    return true;
}

/* ---- reductions and scans, of whole numbers ---- */

static void fill_small_numbers(struct problem *p)
{
    uint32_t *in = p->at[0], seed = 1;
    for (size_t i = 0; i < p->n; i++)
        in[i] = next(&seed) & 15;
}

static bool check_sum(const struct problem *p)
{
    const uint32_t *in = p->at[0];
    uint32_t sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += in[i];
    return *(const uint32_t *)p->at[1] == sum;
}

static bool check_scan(const struct problem *p)
{
    const uint32_t *in = p->at[0], *out = p->at[1];
    uint32_t sum = 0;
    for (size_t i = 0; i < p->n; i++)
        if (out[i] != (sum += in[i]))
            return false;
    return true;
}

/* ---- matrices ---- */

static void fill_matmul(struct problem *p)
{
    random_floats(p->at[0], (size_t)p->n * p->n, -1, 1, 1);
    random_floats(p->at[1], (size_t)p->n * p->n, -1, 1, 2);
}

static bool check_matmul(const struct problem *p)
{
    const float *a = p->at[0], *b = p->at[1], *c = p->at[2];
    for (size_t k = 0; k < 200; k++) {
        size_t i = spot(k, (size_t)p->n * p->n), row = i / p->n, column = i % p->n;
        double sum = 0;
        for (size_t j = 0; j < p->n; j++)
            sum += (double)a[row * p->n + j] * b[j * p->n + column];
        if (!near(c[i], sum, 1e-4))
            return false;
    }
    return true;
}

/* Numbers of f16 from 2^-3 to 2 in size, as their bits. */
static void fill_halves(struct problem *p)
{
    for (unsigned k = 0; k < 2; k++) {
        uint16_t *x = p->at[k];
        uint32_t seed = k + 1;
        for (size_t i = 0; i < (size_t)p->n * p->n; i++) {
            uint32_t r = next(&seed) >> 8;
            x[i] = (uint16_t)((r & 0x83ff) | (12 + (r >> 16) % 4) << 10);
        }
    }
}

static double of_half(uint16_t x)
{
    double size = ldexp(1024 + (x & 0x3ff), (x >> 10 & 31) - 25);
    return x & 0x8000 ? -size : size;
}

static bool check_halves(const struct problem *p)
{
    const uint16_t *a = p->at[0], *b = p->at[1];
    const float *c = p->at[2];
    for (size_t k = 0; k < 200; k++) {
        size_t i = spot(k, (size_t)p->n * p->n), row = i / p->n, column = i % p->n;
        double sum = 0;
        for (size_t j = 0; j < p->n; j++)
            sum += of_half(a[row * p->n + j]) * of_half(b[j * p->n + column]);
        if (!near(c[i], sum, 1e-4))
            return false;
    }
    return true;
}

/* ---- compute ---- */

static void fill_nothing(struct problem *p)
{
    (void)p;
}

enum { MANDELBROT_LIMIT = 256 };

static bool check_mandelbrot(const struct problem *p)
{
    const int32_t *out = p->at[0];
    size_t wrong = 0;
    for (size_t k = 0; k < SPOTS; k++) {
        size_t i = spot(k, (size_t)p->n * p->n), row = i / p->n, column = i % p->n;
        float cx = -2.0f + 3.0f * (float)column / (float)p->n, cy = -1.5f + 3.0f * (float)row / (float)p->n;
        float x = 0, y = 0;
        int32_t r = 0;
        for (; r < MANDELBROT_LIMIT && x * x + y * y <= 4.0f; r++) {
            float t = x * x - y * y + cx;
            y = 2.0f * x * y + cy;
            x = t;
        }
        wrong += out[i] != r;
    }
    return wrong < SPOTS / 50; /* contracted products differ at the edge of the set */
}

static void fill_bodies(struct problem *p)
{
    random_floats(p->at[0], 4 * (size_t)p->n, 0, 1, 1);
}

static bool check_nbody(const struct problem *p)
{
    const float *body = p->at[0], *out = p->at[1];
    for (size_t k = 0; k < 20; k++) {
        size_t i = spot(k, p->n);
        double a[3] = {0};
        for (size_t j = 0; j < p->n; j++) {
            double d[3], r2 = 1e-3;
            for (int c = 0; c < 3; c++) {
                d[c] = (double)body[4 * j + c] - body[4 * i + c];
                r2 += d[c] * d[c];
            }
            for (int c = 0; c < 3; c++)
                a[c] += d[c] * body[4 * j + 3] / (r2 * sqrt(r2));
        }
        for (int c = 0; c < 3; c++)
            if (!near(out[4 * i + c], a[c], 1e-3))
                return false;
    }
    return true;
}

static void fill_options(struct problem *p)
{
    random_floats(p->at[0], p->n, 5, 30, 1);     /* price */
    random_floats(p->at[1], p->n, 1, 100, 2);    /* strike */
    random_floats(p->at[2], p->n, 0.25f, 10, 3); /* years */
}

static double normal(double d)
{
    return 0.5 * erfc(-d / sqrt(2));
}

static bool check_blackscholes(const struct problem *p)
{
    const float *s = p->at[0], *x = p->at[1], *t = p->at[2], *call = p->at[3];
    for (size_t k = 0; k < SPOTS; k++) {
        size_t i = spot(k, p->n);
        double d1 = (log((double)s[i] / x[i]) + (0.02 + 0.5 * 0.3 * 0.3) * t[i]) / (0.3 * sqrt(t[i]));
        double want = s[i] * normal(d1) - x[i] * exp(-0.02 * t[i]) * normal(d1 - 0.3 * sqrt(t[i]));
        if (!near(call[i], want, 1e-4))
            return false;
    }
    return true;
}

/* ---- graphs: CSR, buffers 0 (offsets) and 1 (columns) ---- */

static uint32_t degree_of(size_t row)
{
    return 1 + (uint32_t)(row * 2654435761u >> 20 & 31);
}

static void fill_graph(struct problem *p)
{
    uint32_t *offset = p->at[0], *column = p->at[1], seed = 7;
    for (size_t i = 0; i < p->n; i++) {
        offset[i + 1] = offset[i] + degree_of(i);
        for (uint32_t k = offset[i]; k < offset[i + 1]; k++)
            column[k] = next(&seed) % p->n;
    }
}

static void fill_spmv(struct problem *p)
{
    fill_graph(p);
    const uint32_t *offset = p->at[0];
    random_floats(p->at[2], offset[p->n], -1, 1, 1);
    random_floats(p->at[3], p->n, -1, 1, 2);
}

static bool check_spmv(const struct problem *p)
{
    const uint32_t *offset = p->at[0], *column = p->at[1];
    const float *value = p->at[2], *x = p->at[3], *y = p->at[4];
    for (size_t i = 0; i < p->n; i++) {
        double sum = 0;
        for (uint32_t k = offset[i]; k < offset[i + 1]; k++)
            sum += (double)value[k] * x[column[k]];
        if (!near(y[i], sum, 1e-4))
            return false;
    }
    return true;
}

/* Buffer 2: distances; 3: {the level that is expanded, vertices found}. */
static void fill_bfs(struct problem *p)
{
    int32_t *distance = p->at[2];
    fill_graph(p);
    for (size_t i = 0; i < p->n; i++)
        distance[i] = i ? -1 : 0;
}

static bool step_bfs(struct problem *p)
{
    int32_t *state = p->at[3];
    bool again = state[1] > 0;
    state[0]++;
    state[1] = 0;
    return again;
}

static bool check_bfs(const struct problem *p)
{
    const uint32_t *offset = p->at[0], *column = p->at[1];
    const int32_t *distance = p->at[2];
    uint32_t *queue = malloc(p->n * sizeof *queue), head = 0, tail = 0;
    int32_t *want = malloc(p->n * sizeof *want);
    memset(want, -1, p->n * sizeof *want);
    want[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        uint32_t v = queue[head++];
        for (uint32_t k = offset[v]; k < offset[v + 1]; k++)
            if (want[column[k]] < 0) {
                want[column[k]] = want[v] + 1;
                queue[tail++] = column[k];
            }
    }
    bool ok = memcmp(want, distance, p->n * sizeof *want) == 0;
    free(queue);
    free(want);
    return ok;
}

/* ---- atomics ---- */

static void fill_bytes(struct problem *p)
{
    uint8_t *in = p->at[0];
    uint32_t seed = 1;
    for (size_t i = 0; i < p->n; i++)
        in[i] = (uint8_t)(next(&seed) >> 11);
}

static bool check_histogram(const struct problem *p)
{
    const uint8_t *in = p->at[0];
    uint32_t want[256] = {0};
    for (size_t i = 0; i < p->n; i++)
        want[in[i]]++;
    return memcmp(want, p->at[1], sizeof want) == 0;
}

static bool check_count(const struct problem *p)
{
    return *(const uint32_t *)p->at[0] == p->n;
}

/* Every ticket was given once. */
static bool check_tickets(const struct problem *p)
{
    const uint32_t *ticket = p->at[1];
    uint8_t *seen = calloc(p->n, 1);
    bool ok = check_count(p);
    for (size_t i = 0; i < p->n && ok; i++)
        ok = ticket[i] < p->n && !seen[ticket[i]]++;
    free(seen);
    return ok;
}

static bool check_lock(const struct problem *p)
{
    return ((const uint32_t *)p->at[0])[1] == p->n;
}

static void fill_keys(struct problem *p)
{
    uint32_t *key = p->at[0], seed = 1;
    for (size_t i = 0; i < p->n; i++)
        key[i] = next(&seed);
}

static int by_key(const void *a, const void *b)
{
    return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

/* Each 1024 keys are sorted for themselves. */
static bool check_sorted(const struct problem *p)
{
    const uint32_t *key = p->at[0], *before = p->initial[0];
    uint32_t want[1024];
    for (size_t i = 0; i < p->n; i += 1024 * 37) {
        memcpy(want, before + i, sizeof want);
        qsort(want, 1024, sizeof *want, by_key);
        if (memcmp(want, key + i, sizeof want) != 0)
            return false;
    }
    return true;
}

/* ---- the table ---- */

#define N2(side)  ((size_t)(side) * (side))
#define GRAPH     (1 << 17)
#define MAX_EDGES ((size_t)GRAPH * 32)

/* A row is a problem: name, bound, flops, bytes, n, grid, block; sizes of buffers, functions. */
/* clang-format off */
struct problem problems[] = {
    {"saxpy", BOUND_MEMORY, 2.0 * STREAM, 12.0 * STREAM, STREAM, {STREAM / 256, 1, 1}, {256, 1, 1},
     {4ul * STREAM, 4ul * STREAM}, fill_saxpy, check_saxpy, NULL},
    {"fma_loop", BOUND_COMPUTE, 2.0 * (1 << 16) * FMA_ROUNDS, 0, 1 << 16, {256, 1, 1},
     {256, 1, 1}, {4ul << 16, 4ul << 16}, fill_fma, check_fma, NULL},
    {"transpose", BOUND_MEMORY, 0, 8.0 * SIDE *SIDE, SIDE, {SIDE / 32, SIDE / 32, 1}, {32, 8, 1},
     {4 * N2(SIDE), 4 * N2(SIDE)}, fill_matrix, check_transpose, NULL},
    {"reduce", BOUND_MEMORY, STREAM, 4.0 * STREAM, STREAM, {STREAM / 2048, 1, 1}, {256, 1, 1},
     {4ul * STREAM, 4}, fill_small_numbers, check_sum, NULL},
    {"scan", BOUND_MEMORY, 1 << 22, 8.0 * (1 << 22), 1 << 22, {(1 << 22) / 1024, 1, 1}, {256, 1, 1},
     {4ul << 22, 4ul << 22, 8 * 4096 + 64}, fill_small_numbers, check_scan, NULL},
    {"stencil", BOUND_MEMORY, 6.0 * SIDE *SIDE, 8.0 * SIDE *SIDE, SIDE, {SIDE / 32, SIDE / 8, 1}, {32, 8, 1},
     {4 * N2(SIDE), 4 * N2(SIDE)}, fill_matrix, check_stencil, NULL},
    {"matmul_naive", BOUND_COMPUTE, 2.0 * 512 * 512 * 512, 12.0 * 512 * 512, 512, {32, 32, 1},
     {16, 16, 1}, {4 * N2(512), 4 * N2(512), 4 * N2(512)}, fill_matmul, check_matmul, NULL},
    {"matmul_tiled16", BOUND_BARRIER, 2.0 * 512 * 512 * 512, 12.0 * 512 * 512, 512, {32, 32, 1},
     {16, 16, 1}, {4 * N2(512), 4 * N2(512), 4 * N2(512)}, fill_matmul, check_matmul, NULL},
    {"matmul_tiled32", BOUND_BARRIER, 2.0 * 512 * 512 * 512, 12.0 * 512 * 512, 512, {16, 16, 1},
     {32, 32, 1}, {4 * N2(512), 4 * N2(512), 4 * N2(512)}, fill_matmul, check_matmul, NULL},
    {"matmul_wmma", BOUND_COMPUTE, 2.0 * 1024 * 1024 * 1024, 8.0 * 1024 * 1024, 1024, {64, 16, 1},
     {32, 4, 1}, {2 * N2(1024), 2 * N2(1024), 4 * N2(1024)}, fill_halves, check_halves, NULL},
    {"matmul_pipelined16", BOUND_BARRIER, 2.0 * 512 * 512 * 512, 12.0 * 512 * 512, 512, {32, 32, 1},
     {16, 16, 1}, {4 * N2(512), 4 * N2(512), 4 * N2(512)}, fill_matmul, check_matmul, NULL},
    {"mandelbrot", BOUND_COMPUTE, 0, 4.0 * 1024 * 1024, 1024, {64, 64, 1},
     {16, 16, 1}, {4 * N2(1024)}, fill_nothing, check_mandelbrot, NULL},
    {"nbody", BOUND_COMPUTE, 20.0 * 4096 * 4096, 0, 4096, {16, 1, 1},
     {256, 1, 1}, {16 * 4096, 16 * 4096}, fill_bodies, check_nbody, NULL},
    {"blackscholes", BOUND_COMPUTE, 0, 16.0 * (1 << 20), 1 << 20, {(1 << 20) / 256, 1, 1}, {256, 1, 1},
     {4ul << 20, 4ul << 20, 4ul << 20, 4ul << 20}, fill_options, check_blackscholes, NULL},
    {"spmv", BOUND_MEMORY, 2.0 * GRAPH * 16.5, 8.0 * GRAPH * 16.5, GRAPH, {GRAPH / 256, 1, 1}, {256, 1, 1},
     {4 * (GRAPH + 1), 4 * MAX_EDGES, 4 * MAX_EDGES, 4 * GRAPH, 4 * GRAPH}, fill_spmv, check_spmv, NULL},
    {"bfs", BOUND_ATOMIC, 0, 4.0 * GRAPH * 16.5, GRAPH, {GRAPH / 256, 1, 1}, {256, 1, 1},
     {4 * (GRAPH + 1), 4 * MAX_EDGES, 4 * GRAPH, 8}, fill_bfs, check_bfs, step_bfs},
    {"histogram_shared", BOUND_ATOMIC, 0, 1 << 25, 1 << 25, {512, 1, 1},
     {256, 1, 1}, {1ul << 25, 1024}, fill_bytes, check_histogram, NULL},
    {"histogram_global", BOUND_ATOMIC, 0, 1 << 22, 1 << 22, {512, 1, 1},
     {256, 1, 1}, {1ul << 22, 1024}, fill_bytes, check_histogram, NULL},
    {"atomic_count", BOUND_ATOMIC, 0, 0, 1 << 20, {(1 << 20) / 256, 1, 1}, {256, 1, 1},
     {4}, fill_nothing, check_count, NULL},
    {"atomic_ticket", BOUND_ATOMIC, 0, 4.0 * (1 << 20), 1 << 20, {(1 << 20) / 256, 1, 1}, {256, 1, 1},
     {4, 4ul << 20}, fill_nothing, check_tickets, NULL},
    {"atomic_cas_loop", BOUND_ATOMIC, 0, 0, 1 << 16, {(1 << 16) / 256, 1, 1}, {256, 1, 1},
     {4}, fill_nothing, check_count, NULL},
    {"bitonic_sort", BOUND_BARRIER, 0, 8.0 * (1 << 20), 1 << 20, {1024, 1, 1},
     {512, 1, 1}, {4ul << 20}, fill_keys, check_sorted, NULL},
    {"shuffle_reduce", BOUND_MEMORY, STREAM, 4.0 * STREAM, STREAM, {STREAM / 2048, 1, 1}, {256, 1, 1},
     {4ul * STREAM, 4}, fill_small_numbers, check_sum, NULL},
    {"spin_lock", BOUND_ATOMIC, 0, 0, 1 << 14, {(1 << 14) / 256, 1, 1}, {256, 1, 1},
     {8}, fill_nothing, check_lock, NULL},
};
/* clang-format on */
const unsigned n_problems = sizeof problems / sizeof problems[0];
