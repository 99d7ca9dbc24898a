/* Pointers to functions and members, types without names, references, dynamic shared memory, a library's calls.
 * pointers.ptx.xz is what `nvcc -G -std=c++17 -arch=sm_90` makes of it. */
#include <cooperative_groups.h>
typedef float (*op_t)(float);
enum flags { READ = 1, WRITE = 2, EXEC = 4 };
__device__ __noinline__ float twice(float a) { return 2 * a; }
__device__ __noinline__ float thrice(float a) { return 3 * a; }
struct item {
    int a;
    op_t f;
    union { int i; float g; };
    struct { short u, v; };
    struct { char tag[4]; int : 7; int low : 3; } named;
    int (item::*m)(int) const;
    __device__ int get(int x) const { return a + x; }
};
struct holder { int &ref; const char *text; __int128 wide; };
__device__ op_t table[2] = {twice, thrice};
extern "C" __global__ void pointers(double *out, int n)
{
    extern __shared__ double s[];
    cooperative_groups::thread_block blk = cooperative_groups::this_thread_block();
    int i = threadIdx.x;
    s[i] = i * 1.5;
    cooperative_groups::sync(blk);
    op_t f = i & 1 ? thrice : twice;
    item p = {i, f, {3}, {4, 5}, {"abc", -2}, &item::get};
    op_t fs[2] = {twice, f};
    holder h = {i, "text", (__int128)i << 64 | 7};
    flags some = (flags)(READ | EXEC);
    double r = s[(i + 1) % n] + f(2.f) + (p.*p.m)(1) + fs[1](3.f) + table[0](1.f);
    out[i] = r + h.ref + h.text[0] + some + (long long)h.wide;
}
