/* The version of cuSOLVER, which differs between releases of CUDA; 11 and 12 share a name. Compiled
 * for each. */
#include "libraries/cusolver/call.h"

#if CUDA_MAJOR <= 12
enum { MAJOR = 11, MINOR = 7, PATCH = 5 };
#else
enum { MAJOR = CUSOLVER_VER_MAJOR, MINOR = CUSOLVER_VER_MINOR, PATCH = CUSOLVER_VER_PATCH };
#endif

LIBRARY_API cusolverStatus_t cusolverGetVersion(int *version)
{
    if (!version)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *version = 1000 * MAJOR + 100 * MINOR + PATCH;
    return CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int *value)
{
    if (!value)
        return CUSOLVER_STATUS_INVALID_VALUE;
    switch (type) {
    case MAJOR_VERSION: *value = MAJOR; break;
    case MINOR_VERSION: *value = MINOR; break;
    case PATCH_LEVEL: *value = PATCH; break;
    default: return CUSOLVER_STATUS_INVALID_VALUE;
    }
    return CUSOLVER_STATUS_SUCCESS;
}
