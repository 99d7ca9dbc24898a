/* What the sessions stop in: calls, a loop, shared memory, lanes that part, two blocks. */
struct pair {
    float x;
    int n[3];
};

__device__ int twice(int a)
{
    int r = a * 2;
    return r;
}

__device__ int sum(const pair *p, int times)
{
    int s = 0;
    for (int i = 0; i < 3; i++)
        s += p->n[i] * times;
    return twice(s);
}

__global__ void turn(float *out, const float *in, int n, pair given)
{
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    pair own = given;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    float v = tile[blockDim.x - 1 - threadIdx.x];
    if (threadIdx.x < 4)
        v = v + sum(&own, threadIdx.x);
    out[i] = v;
}
