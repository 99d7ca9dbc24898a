// What may device code not do? The slides have a list; today device code may do all of it, as this program shows.
// `heddle explain ./03_functions`: on the page, "Source" shows what PTX each line becomes, and which calls remain.
//
// __global__: a kernel, called by the host, void.      __device__: called by device code.
// __host__ __device__: compiled twice, once for each; __CUDA_ARCH__ tells which.
// __global__ __host__: makes no sense, and is an error of the compiler.
#include "course.h"

__host__ __device__ int where()
{
#if !defined(__CUDA_ARCH__)
    return 0; // the host's code
#elif __CUDA_ARCH__ >= 200
    return 2; // code for compute capability 2.0 and later
#else
    return 1;
#endif
}

// "No recursion (except Fermi)": every device since Fermi has a stack.
__device__ int factorial(int n)
{
    return n <= 1 ? 1 : n * factorial(n - 1);
}

// "No static variables": today a __device__ function may have one. It is one variable for all threads.
__device__ int calls()
{
    static int count = 0;
    return atomicAdd(&count, 1);
}

// "Careful with function calls through pointers": they work since Fermi; a device function's address is taken on the device.
__device__ int twice(int x)
{
    return 2 * x;
}

__device__ int square(int x)
{
    return x * x;
}

__global__ void try_all(int *result)
{
    int (*function)(int) = threadIdx.x == 0 ? twice : square;
    int id = threadIdx.x;
    int *mine = (int *)malloc(sizeof *mine); // "No malloc()": today there is a heap on the device
    *mine = function(7);
    result[4 * id] = where();
    result[4 * id + 1] = factorial(5 + id);
    result[4 * id + 2] = *mine;
    calls();
    free(mine);
    __syncthreads();
    if (id == 0)
        result[3] = calls(); // how often it was called before
}

int main()
{
    int *result = managed<int>(8);
    try_all<<<1, 2>>>(result);
    CHECK_LAUNCH();
    printf("where(): %d on the host, %d on the device\n", where(), result[0]);
    printf("recursion: factorial(5) = %d, factorial(6) = %d\n", result[1], result[5]);
    printf("pointers to functions and malloc: twice(7) = %d, square(7) = %d\n", result[2], result[6]);
    printf("a static variable has counted %d calls, of both threads\n", result[3]);
    expect(where() == 0 && result[0] == 2, "__CUDA_ARCH__");
    expect(result[1] == 120 && result[5] == 720, "recursion");
    expect(result[2] == 14 && result[6] == 49 && result[3] == 2, "pointers, malloc, static");
}
