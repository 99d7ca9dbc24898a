// An architecture that does not exist. -arch=sm_12
__global__ void k() {}
