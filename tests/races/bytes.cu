// Accesses of bytes and of halves of words by rows of lanes, beside words: the comment behind a line says in which kernel it races.
#include <cstdlib>

typedef unsigned char u8;
typedef unsigned short u16;
#define KERNEL __global__ void

KERNEL in_place(u8 *a, u8 *)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = a[i] + 1;
    a[i] = a[i] * 3;
}

KERNEL swapped(u8 *a, u8 *b)
{
    int i = threadIdx.x;
    b[i] = a[i];      // race swapped
    a[i ^ 1] = i + 1; // race swapped
}

KERNEL swapped_behind_a_barrier(u8 *a, u8 *b)
{
    int i = threadIdx.x;
    b[i] = a[i];
    __syncthreads();
    a[i ^ 1] = i;
}

KERNEL every_other(u8 *a, u8 *b)
{
    int i = threadIdx.x;
    b[i] = a[i];
    if (i % 2)
        a[i] = 7;
    else
        a[i] = 9;
}

KERNEL a_row_further(u8 *a, u8 *b)
{
    int i = threadIdx.x;
    b[i] = a[i + 1]; // race a_row_further
    a[i] = 5;        // race a_row_further
}

KERNEL words_of_bytes(u8 *a, u8 *b)
{
    int i = threadIdx.x;
    if (i < 16)
        ((unsigned *)a)[i] = i; // race words_of_bytes
    b[i] = a[i];                // race words_of_bytes
}

KERNEL words_of_bytes_behind_a_barrier(u8 *a, u8 *b)
{
    int i = threadIdx.x;
    if (i < 16)
        ((unsigned *)a)[i] = i;
    __syncthreads();
    b[i] = a[i];
}

KERNEL halves(u8 *a, u8 *b)
{
    int i = threadIdx.x;
    u16 *h = (u16 *)a, *to = (u16 *)b;
    to[i] = h[i];
    h[i] = i;
}

KERNEL bytes_of_halves(u8 *a, u8 *b)
{
    int i = threadIdx.x;
    ((u16 *)a)[i] = i; // race bytes_of_halves
    b[i] = a[i] + 1;   // race bytes_of_halves
}

KERNEL by_two_warps(u8 *a, u8 *b)
{
    int i = threadIdx.x, other = (i + 32) % 64;
    b[i] = a[other]; // race by_two_warps
    a[i] = 1;        // race by_two_warps
}

int main(int, char **argv)
{
    static u8 zeros[4096];
    u8 *a, *b;
    cudaMalloc(&a, sizeof zeros);
    cudaMalloc(&b, sizeof zeros);
    cudaMemcpyAsync(a, zeros, sizeof zeros, cudaMemcpyHostToDevice);
    cudaMemsetAsync(b, 0, sizeof zeros);
    void (*kernels[])(u8 *, u8 *) = {in_place,        swapped,        swapped_behind_a_barrier,        every_other,
                                     a_row_further,   words_of_bytes, words_of_bytes_behind_a_barrier, halves,
                                     bytes_of_halves, by_two_warps};
    for (int i = 0; i < 2; i++)
        kernels[atoi(argv[1])]<<<1, 64>>>(a, b);
    cudaMemcpy(zeros, b, 128, cudaMemcpyDeviceToHost);
    cudaMemcpy(zeros, a, 64, cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
    return cudaGetLastError() != cudaSuccess;
}
