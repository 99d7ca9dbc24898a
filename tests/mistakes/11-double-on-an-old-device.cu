// atomicAdd of double for a device that lacks it. -arch=sm_50
__global__ void k(double *sum) { atomicAdd(sum, 1.0); }
