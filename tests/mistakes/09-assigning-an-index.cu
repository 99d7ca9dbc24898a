// threadIdx cannot be assigned.
__global__ void k() { threadIdx.x = 0; }
