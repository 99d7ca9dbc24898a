/* cuSPARSELt is not supported, except the words of its statuses. */
#include "cuda/cusparse.h"
#include "libraries/common/library.h"

LIBRARY_API const char *cusparseLtGetErrorName(cusparseStatus_t status);
const char *cusparseLtGetErrorName(cusparseStatus_t status)
{
    switch (status) {
#define STATUS(name, text)                                                                                             \
    case CUSPARSE_STATUS_##name: return "CUSPARSE_STATUS_" #name;
#include "libraries/cusparse/statuses.def"
#undef STATUS
    default: return "unrecognized error code";
    }
}

LIBRARY_API const char *cusparseLtGetErrorString(cusparseStatus_t status);
const char *cusparseLtGetErrorString(cusparseStatus_t status)
{
    switch (status) {
#define STATUS(name, text)                                                                                             \
    case CUSPARSE_STATUS_##name: return text;
#include "libraries/cusparse/statuses.def"
#undef STATUS
    default: return "unrecognized error code";
    }
}
