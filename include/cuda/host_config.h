/* An older name for a part of what cuda_runtime.h has. */
#include "cuda_runtime.h"
