/* atomicAdd and atomicSub of every type and scope (CUDA Programming Guide, "Atomic functions"). */
#include "atomics.h"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

KERNEL add_int(void *cells) BODY(CELLS_OF(int) THREE(atomicAdd, -i))
KERNEL add_unsigned(void *cells) BODY(CELLS_OF(unsigned) THREE(atomicAdd, (unsigned)i))
KERNEL add_unsigned_long_long(void *cells) BODY(CELLS_OF(unsigned long long) THREE(atomicAdd, i * 0x100000000ull))
KERNEL add_float(void *cells) BODY(CELLS_OF(float) THREE(atomicAdd, i * 0.5f))
KERNEL add_double(void *cells) BODY(CELLS_OF(double) THREE(atomicAdd, i * 0.25))
KERNEL add_half(void *cells) BODY(CELLS_OF(__half) ONE(atomicAdd, __float2half(i % 2 ? 2.0f : -1.0f)))
KERNEL add_half2(void *cells) BODY(CELLS_OF(__half2) ONE(atomicAdd, __floats2half2_rn(1.0f, i % 2 ? -2.0f : 1.0f)))
KERNEL add_bfloat16(void *cells) BODY(CELLS_OF(__nv_bfloat16) ONE(atomicAdd, __float2bfloat16(1.0f)))
KERNEL add_bfloat162(void *cells) BODY(CELLS_OF(__nv_bfloat162) ONE(atomicAdd, __floats2bfloat162_rn(1.0f, -1.0f)))
KERNEL add_float2(void *cells) BODY(CELLS_OF(float2) THREE(atomicAdd, make_float2(i, -i)))
KERNEL add_float4(void *cells) BODY(CELLS_OF(float4) THREE(atomicAdd, make_float4(i, -i, 1, 0.5f)))
KERNEL sub_int(void *cells) BODY(CELLS_OF(int) THREE(atomicSub, -i))
KERNEL sub_unsigned(void *cells) BODY(CELLS_OF(unsigned) THREE(atomicSub, (unsigned)i))
/* The old values of n additions of 1 are 0 to n - 1, each once: their sum stands in the cell in the end. */
KERNEL add_old_values(void *cells) BODY(
    CELLS_OF(int)
    __shared__ int counter;
    if (threadIdx.x == 0)
        counter = 0;
    __syncthreads();
    atomicAdd(block, atomicAdd_block(&counter, 1));
    int mine = atomicAdd(grid, 1 << 16) >> 16;
    atomicAdd(grid, mine);
    mine = atomicAdd_system(all, 1 << 16) >> 16;
    atomicAdd_system(all, mine);
)
REGISTER_KERNEL(add_int)
REGISTER_KERNEL(add_unsigned)
REGISTER_KERNEL(add_unsigned_long_long)
REGISTER_KERNEL(add_float)
REGISTER_KERNEL(add_double)
REGISTER_KERNEL(add_half)
REGISTER_KERNEL(add_half2)
REGISTER_KERNEL(add_bfloat16)
REGISTER_KERNEL(add_bfloat162)
REGISTER_KERNEL(add_float2)
REGISTER_KERNEL(add_float4)
REGISTER_KERNEL(sub_int)
REGISTER_KERNEL(sub_unsigned)
REGISTER_KERNEL(add_old_values)

/* Sums of 0 to n - 1. */
enum { SUM_BLOCK = THREADS * (THREADS - 1) / 2, SUM_GRID = GRID * (GRID - 1) / 2 };

struct pair {
    float x, y;
};

struct four {
    float x, y, z, w;
};

static struct pair pair(float x, float y)
{
    struct pair p;
    p.x = x, p.y = y;
    return p;
}

static struct four four(float x, float y, float z, float w)
{
    struct four f;
    f.x = x, f.y = y, f.z = z, f.w = w;
    return f;
}

int main(void)
{
    FAMILY(add_int, int, 5, 5 - SUM_BLOCK, 5 - SUM_GRID);
    FAMILY(add_unsigned, unsigned, 0xffffffffu, SUM_BLOCK - 1, SUM_GRID - 1);
    FAMILY(add_unsigned_long_long, unsigned long long, 7, 7 + SUM_BLOCK * 0x100000000ull,
           7 + SUM_GRID * 0x100000000ull);
    FAMILY(add_float, float, 1, 1 + SUM_BLOCK * 0.5f, 1 + SUM_GRID * 0.5f);
    FAMILY(add_double, double, -1, -1 + SUM_BLOCK * 0.25, -1 + SUM_GRID * 0.25);
    FAMILY(add_half, unsigned short, 0, 0x5000, 0x5600);               /* 32 and 96 */
    FAMILY(add_half2, unsigned, 0, 0xd0005400u, 0xd6005a00u);           /* 64, -32; 192, -96 */
    FAMILY(add_bfloat16, unsigned short, 0, 0x4280, 0x4340);           /* 64 and 192 */
    FAMILY(add_bfloat162, unsigned, 0, 0xc2804280u, 0xc3404340u);       /* 64, -64; 192, -192 */
    FAMILY(add_float2, struct pair, pair(0, 0), pair(SUM_BLOCK, -SUM_BLOCK), pair(SUM_GRID, -SUM_GRID));
    FAMILY(add_float4, struct four, four(0, 0, 0, 1), four(SUM_BLOCK, -SUM_BLOCK, THREADS, 1 + THREADS / 2),
           four(SUM_GRID, -SUM_GRID, GRID, 1 + GRID / 2));
    FAMILY(sub_int, int, 5, 5 + SUM_BLOCK, 5 + SUM_GRID);
    FAMILY(sub_unsigned, unsigned, 0, 0u - SUM_BLOCK, 0u - SUM_GRID);
    FAMILY(add_old_values, int, 0, SUM_BLOCK, (GRID << 16) + SUM_GRID);
    return done();
}
