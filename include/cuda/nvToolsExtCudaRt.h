/* NVTX's names of CUDA's objects by the name that it had before version 3. */
#include "nvtx3/nvToolsExtCudaRt.h"
