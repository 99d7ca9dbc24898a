/* The version of cuFFT, which differs between releases of CUDA. Compiled for each. */
#include "libraries/cufft/plan.h"

/* The last releases with CUDA 11 and 12, and that of 13.0. */
#if CUDA_MAJOR == 11
enum { MAJOR = 10, MINOR = 9, PATCH = 0 };
#elif CUDA_MAJOR == 12
enum { MAJOR = 11, MINOR = 4, PATCH = 1 };
#else
enum { MAJOR = CUFFT_VER_MAJOR, MINOR = CUFFT_VER_MINOR, PATCH = CUFFT_VER_PATCH };
#endif

LIBRARY_API cufftResult cufftGetVersion(int *version)
{
    if (version)
        *version = 1000 * MAJOR + 100 * MINOR + PATCH;
    return CUFFT_SUCCESS;
}

LIBRARY_API cufftResult cufftGetProperty(libraryPropertyType type, int *value)
{
    if (!value)
        return CUFFT_INVALID_VALUE;
    switch (type) {
    case MAJOR_VERSION: *value = MAJOR; break;
    case MINOR_VERSION: *value = MINOR; break;
    case PATCH_LEVEL: *value = PATCH; break;
    default: return CUFFT_INVALID_TYPE;
    }
    return CUFFT_SUCCESS;
}
