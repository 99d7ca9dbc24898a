/* NVTX by the name that it had before version 3. */
#include "nvtx3/nvToolsExt.h"
