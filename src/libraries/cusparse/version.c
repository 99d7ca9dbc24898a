/* The version of cuSPARSE, which differs between releases of CUDA; 12 and 13 share a name. Compiled
 * for each. */
#include "libraries/cusparse/call.h"

#if CUDA_MAJOR <= 11
enum { MAJOR = 11, MINOR = 7, PATCH = 5 };
#else
enum { MAJOR = CUSPARSE_VER_MAJOR, MINOR = CUSPARSE_VER_MINOR, PATCH = CUSPARSE_VER_PATCH };
#endif

LIBRARY_API cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version)
{
    CONTEXT(s, handle);
    NEED(version);
    *version = 1000 * MAJOR + 100 * MINOR + PATCH;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value)
{
    NEED(value);
    switch (type) {
    case MAJOR_VERSION: *value = MAJOR; break;
    case MINOR_VERSION: *value = MINOR; break;
    case PATCH_LEVEL: *value = PATCH; break;
    default: return CUSPARSE_STATUS_INVALID_VALUE;
    }
    return CUSPARSE_STATUS_SUCCESS;
}
