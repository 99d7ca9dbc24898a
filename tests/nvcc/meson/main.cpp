#include <cuda_runtime.h>

int doubled(int x);

int main()
{
    return doubled(21) != 42 || cudaGetLastError() != cudaSuccess;
}
