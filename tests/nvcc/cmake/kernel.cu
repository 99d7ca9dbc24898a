extern "C" __global__ void square(int *x)
{
    x[threadIdx.x] *= x[threadIdx.x];
}
