/* What the programs about atomic functions share. Each kernel works on cells: one for each block,
 * on which it uses the function with _block, one for the grid, on which it uses the plain function,
 * and one for the system, with _system.
 */
#ifndef ATOMICS_H
#define ATOMICS_H

#include "program.h"

enum { BLOCKS = 3, THREADS = 64, CELLS = BLOCKS + 2, GRID = BLOCKS * THREADS };

#ifdef __CUDACC__
/* The cells of a type, and this thread's number in the block and in the grid. */
#define CELLS_OF(T)                                                                                                    \
    T *block = (T *)cells + blockIdx.x, *grid = (T *)cells + BLOCKS, *all = (T *)cells + BLOCKS + 1;                   \
    int in_block = threadIdx.x, in_grid = blockIdx.x * blockDim.x + threadIdx.x;                                       \
    (void)block, (void)grid, (void)all, (void)in_block, (void)in_grid;
/* The function of the three scopes. X is written in terms of `i`, the thread's number among those
 * that share the cell. */
#define THREE(function, X)                                                                                             \
    {                                                                                                                  \
        int i = in_block;                                                                                              \
        (void)i;                                                                                                       \
        function##_block(block, X);                                                                                    \
        i = in_grid;                                                                                                   \
        function(grid, X);                                                                                             \
        function##_system(all, X);                                                                                     \
    }
/* For types that CUDA's headers have the plain function for alone. */
#define ONE(function, X)                                                                                               \
    {                                                                                                                  \
        int i = in_block;                                                                                              \
        (void)i;                                                                                                       \
        function(block, X);                                                                                            \
        i = in_grid;                                                                                                   \
        function(grid, X);                                                                                             \
        function(all, X);                                                                                              \
    }
#endif

/* Runs a kernel on cells that begin as `start`; they must end as `of_block` and `of_grid`. */
static inline void family(const void *kernel, const char *what, size_t size, const void *start, const void *of_block,
                          const void *of_grid)
{
    char cells[CELLS * 16], *p = (char *)device_memory(sizeof cells);
    int good = 1;
    for (int i = 0; i < CELLS; i++)
        memcpy(cells + i * size, start, size);
    CHECK(cudaMemcpy(p, cells, CELLS * size, cudaMemcpyHostToDevice));
    CHECK(LAUNCH(kernel, BLOCKS, THREADS, 0, 0, &p));
    CHECK(cudaMemcpy(cells, p, CELLS * size, cudaMemcpyDeviceToHost));
    for (int i = 0; i < CELLS; i++)
        good &= memcmp(cells + i * size, i < BLOCKS ? of_block : of_grid, size) == 0;
    expect(good, what);
    if (!good)
        for (int i = 0; i < CELLS; i++) {
            unsigned long long x[2] = {0, 0};
            memcpy(x, cells + i * size, size);
            printf("# cell %d: %llx %llx\n", i, x[0], x[1]);
        }
    CHECK(cudaFree(p));
}

/* The same with values of a type of the host. */
#define FAMILY(kernel, T, start, of_block, of_grid)                                                                    \
    do {                                                                                                               \
        T start_ = start, block_ = of_block, grid_ = of_grid;                                                          \
        family((const void *)kernel, #kernel, sizeof(T), &start_, &block_, &grid_);                                    \
    } while (0)

#endif
