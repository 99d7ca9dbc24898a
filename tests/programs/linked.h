/* What the two sources of `linked` know of each other. */
#ifdef __CUDACC__
extern __device__ int shared_counter;
__device__ int square(int x);
#endif
