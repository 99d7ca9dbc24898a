// A function of the host, called in a kernel: it needs __device__, or __host__ __device__.
float half_of(float x) { return x / 2; }

__global__ void k(float *x) { x[0] = half_of(x[0]); }
