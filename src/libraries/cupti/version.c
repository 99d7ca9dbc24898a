/* The version of CUPTI's interface in the last release of each CUDA ("CUPTI Documentation",
 * "cuptiGetVersion"). */
#include "cuda/cupti.h"
#include "libraries/common/library.h"

LIBRARY_API CUptiResult cuptiGetVersion(uint32_t *version)
{
    if (!version)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *version = CUDA_MAJOR == 11 ? 18 : CUDA_MAJOR == 12 ? 28 : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}
