/* threadIdx, blockIdx, blockDim, gridDim and warpSize, which every CUDA C++ file has already. */
#include "cuda_runtime.h"
