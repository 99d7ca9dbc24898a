/* atomicCAS and atomicExch of every type and scope, 16 to 128 bits. */
#include "atomics.h"

#ifdef __CUDACC__
struct alignas(16) wide {
    unsigned long long low;
    unsigned long long high;
};

/* Adds v with nothing but atomicCAS. */
#define ADD_BY_CAS(T, function, p, v)                                                                                  \
    {                                                                                                                  \
        T seen = *(volatile T *)(p), assumed;                                                                          \
        do {                                                                                                           \
            assumed = seen;                                                                                            \
            seen = function(p, assumed, (T)(assumed + (v)));                                                           \
        } while (seen != assumed);                                                                                     \
    }
#define CAS_THREE(T)                                                                                                   \
    CELLS_OF(T)                                                                                                        \
    ADD_BY_CAS(T, atomicCAS_block, block, in_block)                                                                    \
    ADD_BY_CAS(T, atomicCAS, grid, in_grid)                                                                            \
    ADD_BY_CAS(T, atomicCAS_system, all, in_grid)

/* The high half counts, the low half adds: torn reads and writes would show. */
#define ADD_WIDE(function, p, v)                                                                                       \
    {                                                                                                                  \
        wide seen = {0, 0}, assumed;                                                                                   \
        do {                                                                                                           \
            assumed = seen;                                                                                            \
            wide next = {assumed.low + (v), assumed.high + 1};                                                         \
            seen = function(p, assumed, next);                                                                         \
        } while (seen.low != assumed.low || seen.high != assumed.high);                                                \
    }
/* Each thread puts in its number and takes another's out: what is added up is what is not in the cell in the end. */
#define EXCHANGE(T, function, p, mine) (unsigned)function(p, (T)(mine))
#endif

KERNEL cas_unsigned_short(void *cells) BODY(
    CELLS_OF(unsigned short)
    ADD_BY_CAS(unsigned short, atomicCAS, block, in_block)
    ADD_BY_CAS(unsigned short, atomicCAS, grid, in_grid)
    ADD_BY_CAS(unsigned short, atomicCAS, all, in_grid)
)
KERNEL cas_int(void *cells) BODY(CAS_THREE(int))
KERNEL cas_unsigned(void *cells) BODY(CAS_THREE(unsigned))
KERNEL cas_unsigned_long_long(void *cells) BODY(CAS_THREE(unsigned long long))
KERNEL cas_128(void *cells) BODY(
    CELLS_OF(wide)
    ADD_WIDE(atomicCAS_block, block, in_block)
    ADD_WIDE(atomicCAS, grid, in_grid)
    ADD_WIDE(atomicCAS_system, all, in_grid)
)
KERNEL exch(int *i, unsigned *u, unsigned long long *l, float *f, unsigned *taken) BODY(
    int mine = blockIdx.x * blockDim.x + threadIdx.x + 1;
    atomicAdd(taken, EXCHANGE(int, atomicExch, i, mine));
    atomicAdd(taken + 1, EXCHANGE(unsigned, atomicExch_system, u, mine));
    atomicAdd(taken + 2, EXCHANGE(unsigned long long, atomicExch, l, mine));
    atomicAdd(taken + 3, EXCHANGE(float, atomicExch_system, f, mine));
    __shared__ int cell;
    if (threadIdx.x == 0)
        cell = 0;
    __syncthreads();
    int sum = EXCHANGE(int, atomicExch_block, &cell, mine);
    atomicAdd(taken + 4, sum);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(taken + 4, cell);
)
KERNEL exch_128(void *cells, unsigned *taken) BODY(
    CELLS_OF(wide)
    unsigned mine = in_grid + 1;
    wide put = {mine, ~0ull - mine};
    wide got[3] = {atomicExch_block(block, put), atomicExch(grid, put), atomicExch_system(all, put)};
    for (int k = 0; k < 3; k++) {
        atomicAdd(taken + k, (unsigned)got[k].low);
        if (got[k].low + got[k].high != (got[k].low ? ~0ull : 0ull))
            atomicAdd(taken + 3, 1); /* halves of two values */
    }
)
REGISTER_KERNEL(cas_unsigned_short)
REGISTER_KERNEL(cas_int)
REGISTER_KERNEL(cas_unsigned)
REGISTER_KERNEL(cas_unsigned_long_long)
REGISTER_KERNEL(cas_128)
REGISTER_KERNEL(exch)
REGISTER_KERNEL(exch_128)

enum { SUM_BLOCK = THREADS * (THREADS - 1) / 2, SUM_GRID = GRID * (GRID - 1) / 2, ALL = GRID * (GRID + 1) / 2 };

struct two {
    unsigned long long low, high;
};

static struct two two(unsigned long long low, unsigned long long high)
{
    struct two t;
    t.low = low, t.high = high;
    return t;
}

static void exchanges(void)
{
    unsigned taken[5], rest[4];
    unsigned long long rest_l;
    float rest_f;
    unsigned *u = (unsigned *)device_memory(64), *t = (unsigned *)device_memory(sizeof taken), *u1 = u + 1;
    unsigned long long *l = (unsigned long long *)(u + 2);
    float *f = (float *)(u + 4);
    CHECK(LAUNCH(exch, BLOCKS, THREADS, 0, 0, &u, &u1, &l, &f, &t));
    CHECK(cudaMemcpy(taken, t, sizeof taken, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(rest, u, 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&rest_l, l, 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&rest_f, f, 4, cudaMemcpyDeviceToHost));
    expect(taken[0] + rest[0] == ALL, "atomicExch of int hands each value on once");
    expect(taken[1] + rest[1] == ALL, "atomicExch_system of unsigned");
    expect(taken[2] + rest_l == ALL, "atomicExch of unsigned long long");
    expect(taken[3] + (unsigned)rest_f == ALL, "atomicExch_system of float");
    expect(taken[4] == ALL, "atomicExch_block in shared memory");
}

static void wide_exchanges(void)
{
    unsigned taken[4], *t = (unsigned *)device_memory(sizeof taken);
    struct two cells[CELLS], *p = (struct two *)device_memory(sizeof cells);
    unsigned long long of_blocks = 0;
    CHECK(LAUNCH(exch_128, BLOCKS, THREADS, 0, 0, &p, &t));
    CHECK(cudaMemcpy(taken, t, sizeof taken, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(cells, p, sizeof cells, cudaMemcpyDeviceToHost));
    for (int b = 0; b < BLOCKS; b++)
        of_blocks += cells[b].low;
    expect(taken[0] + of_blocks == ALL, "atomicExch_block of 128 bits");
    expect(taken[1] + cells[BLOCKS].low == ALL, "atomicExch of 128 bits");
    expect(taken[2] + cells[BLOCKS + 1].low == ALL, "atomicExch_system of 128 bits");
    expect(taken[3] == 0, "128 bits are never halves of two values");
}

int main(void)
{
    FAMILY(cas_unsigned_short, unsigned short, 1, 1 + SUM_BLOCK, (unsigned short)(1 + SUM_GRID));
    FAMILY(cas_int, int, -5, SUM_BLOCK - 5, SUM_GRID - 5);
    FAMILY(cas_unsigned, unsigned, 0, SUM_BLOCK, SUM_GRID);
    FAMILY(cas_unsigned_long_long, unsigned long long, 1ull << 40, (1ull << 40) + SUM_BLOCK, (1ull << 40) + SUM_GRID);
    FAMILY(cas_128, struct two, two(0, 0), two(SUM_BLOCK, THREADS), two(SUM_GRID, GRID));
    exchanges();
    wide_exchanges();
    return done();
}
