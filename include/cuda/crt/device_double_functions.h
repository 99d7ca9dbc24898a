/* A part of what cuda_runtime.h has. */
#include "../cuda_runtime.h"
