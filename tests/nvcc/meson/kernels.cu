__global__ void twice(int *x)
{
    x[threadIdx.x] *= 2;
}

int doubled(int x)
{
    int *memory, result = 0;
    cudaMalloc(&memory, sizeof x);
    cudaMemcpy(memory, &x, sizeof x, cudaMemcpyHostToDevice);
    twice<<<1, 1>>>(memory);
    cudaMemcpy(&result, memory, sizeof x, cudaMemcpyDeviceToHost);
    return result;
}
