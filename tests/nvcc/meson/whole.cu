__global__ void set(int *x)
{
    *x = 7;
}

int main()
{
    int *x;
    cudaMallocManaged(&x, sizeof *x);
    set<<<1, 1>>>(x);
    return cudaDeviceSynchronize() != cudaSuccess || *x != 7;
}
