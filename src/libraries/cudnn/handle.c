/* Handles, versions and statuses of cuDNN. */
#include "libraries/cudnn/cudnn.h"

#include <stdlib.h>

/* The API's version, which programs compare with the one they were compiled for. */
enum { MAJOR = 9, MINOR = 10, PATCH = 0, VERSION = 10000 * MAJOR + 100 * MINOR + PATCH };

cudnnStatus_t cudnn_status(CUresult r)
{
    switch (r) {
    case CUDA_SUCCESS: return CUDNN_STATUS_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY: return CUDNN_STATUS_ALLOC_FAILED;
    default: return CUDNN_STATUS_EXECUTION_FAILED;
    }
}

cudnnStatus_t cudnn_new(enum record_kind kind, size_t bytes, void **handle)
{
    if (!handle)
        return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    *handle = library_add_handle(kind, calloc(1, bytes));
    return *handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

cudnnStatus_t cudnn_drop(enum record_kind kind, void *handle)
{
    void *record = handle_take(&library_handles, handle, kind);
    if (record)
        call_later(free, record);
    return record || !handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnn_no_bytes(size_t *bytes)
{
    if (!bytes)
        return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    *bytes = 0;
    return CUDNN_STATUS_SUCCESS;
}

LIBRARY_API cudnnStatus_t cudnnCreate(cudnnHandle_t *handle);
cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
    IN_CALL;
    CUcontext context;
    if (!handle)
        return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    if (heddle_library_context(&context))
        return CUDNN_STATUS_NOT_INITIALIZED;
    struct cudnn_handle *s = calloc(1, sizeof *s);
    *handle = library_add_handle(KIND_HANDLE, s);
    return *handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

LIBRARY_API cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    IN_CALL;
    struct cudnn_handle *s = handle_take(&library_handles, handle, KIND_HANDLE);
    if (s)
        call_later(free, s);
    return s ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

LIBRARY_API cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, CUstream stream);
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, CUstream stream)
{
    CONTEXT(s, handle);
    s->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

LIBRARY_API cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, CUstream *stream);
cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, CUstream *stream)
{
    CONTEXT(s, handle);
    if (!stream)
        return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    *stream = s->stream;
    return CUDNN_STATUS_SUCCESS;
}

LIBRARY_API size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void)
{
    return VERSION;
}

LIBRARY_API size_t cudnnGetCudartVersion(void);
size_t cudnnGetCudartVersion(void)
{
    int version = 0;
    return cuDriverGetVersion(&version) ? 0 : (size_t)version;
}

LIBRARY_API cudnnStatus_t cudnnGetProperty(libraryPropertyType_t type, int *value);
cudnnStatus_t cudnnGetProperty(libraryPropertyType_t type, int *value)
{
    static const int values[] = {[MAJOR_VERSION] = MAJOR, [MINOR_VERSION] = MINOR, [PATCH_LEVEL] = PATCH};
    if (!value || (unsigned)type > PATCH_LEVEL)
        return CUDNN_STATUS_BAD_PARAM;
    *value = values[type];
    return CUDNN_STATUS_SUCCESS;
}

LIBRARY_API const char *cudnnGetErrorString(cudnnStatus_t status);
const char *cudnnGetErrorString(cudnnStatus_t status)
{
    switch (status) {
    case CUDNN_STATUS_SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_NOT_INITIALIZED: return "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_BAD_PARAM: return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_BAD_PARAM_NULL_POINTER: return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    case CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED: return "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED";
    case CUDNN_STATUS_NOT_SUPPORTED: return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_INTERNAL_ERROR: return "CUDNN_STATUS_INTERNAL_ERROR";
    case CUDNN_STATUS_ALLOC_FAILED: return "CUDNN_STATUS_ALLOC_FAILED";
    case CUDNN_STATUS_EXECUTION_FAILED: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "CUDNN_STATUS_UNKNOWN";
    }
}

/* The reason for a refused call was printed on stderr. */
LIBRARY_API void cudnnGetLastErrorString(char *text, size_t size);
void cudnnGetLastErrorString(char *text, size_t size)
{
    if (text && size)
        *text = 0;
}
