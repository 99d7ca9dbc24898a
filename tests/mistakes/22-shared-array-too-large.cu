// A shared array of more than 48 KB: that much has to be dynamic.
__global__ void transpose(float *out, const float *in)
{
    __shared__ float tile[128][128];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 128 + threadIdx.x];
    __syncthreads();
    out[threadIdx.x * 128 + threadIdx.y] = tile[threadIdx.x][threadIdx.y];
}
