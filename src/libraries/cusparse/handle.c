/* Handles, statuses, and the older functions' descriptors ("cuSPARSE", Management Function
 * Reference). */
#include "libraries/cusparse/call.h"

static const struct {
    const char *name, *text;
} statuses[] = {
#define STATUS(name, text) [CUSPARSE_STATUS_##name] = {"CUSPARSE_STATUS_" #name, text},
#include "libraries/cusparse/statuses.def"
#undef STATUS
};

enum { STATUSES = sizeof statuses / sizeof *statuses };

LIBRARY_API const char *cusparseGetErrorName(cusparseStatus_t status)
{
    return (unsigned)status < STATUSES ? statuses[status].name : "unrecognized error code";
}

LIBRARY_API const char *cusparseGetErrorString(cusparseStatus_t status)
{
    return (unsigned)status < STATUSES ? statuses[status].text : "unrecognized error code";
}

static struct logger logger = LOGGER("CUSPARSE", "CUSPARSE");
LOGGER_FUNCTIONS(&logger, cusparse, cusparseStatus_t, CUSPARSE_STATUS_SUCCESS, CUSPARSE_STATUS_INVALID_VALUE)

LIBRARY_API cusparseStatus_t cusparseCreate(cusparseHandle_t *handle)
{
    IN_CALL;
    CUcontext context;
    LOGGER_CALL("cusparseCreate", "handle[out]=%p", (void *)handle);
    NEED(handle);
    if (heddle_library_context(&context) || heddle_library_disturb(false))
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    const struct context s = {.mode = CUSPARSE_POINTER_MODE_HOST};
    return record_add(handle, KIND_HANDLE, &s, sizeof s);
}

LIBRARY_API cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
{
    LOGGER_CALL("cusparseDestroy", "handle[in]=%p", (void *)handle);
    return record_destroy(handle, KIND_HANDLE);
}

LIBRARY_API cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream)
{
    CONTEXT(s, handle);
    s->stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t *stream)
{
    CONTEXT(s, handle);
    NEED(stream);
    *stream = s->stream;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode)
{
    CONTEXT(s, handle);
    NEED(mode == CUSPARSE_POINTER_MODE_HOST || mode == CUSPARSE_POINTER_MODE_DEVICE);
    s->mode = mode;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t *mode)
{
    CONTEXT(s, handle);
    NEED(mode);
    *mode = s->mode;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- the older functions' descriptors ---- */

LIBRARY_API cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *descriptor)
{
    IN_CALL;
    NEED(descriptor);
    const struct mat_descr d = {0};
    return record_add(descriptor, KIND_MAT_DESCR, &d, sizeof d);
}

LIBRARY_API cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descriptor)
{
    return record_destroy(descriptor, KIND_MAT_DESCR);
}

/* An enumerated setting, with values 0 to `last`, and its getter. */
#define SETTING(Name, field, enumeration, last)                                                                        \
    LIBRARY_API cusparseStatus_t cusparseSetMat##Name(cusparseMatDescr_t descriptor, enumeration value)                \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        struct mat_descr *d = handle_find(&library_handles, descriptor, KIND_MAT_DESCR);                               \
        NEED_OR(CUSPARSE_STATUS_NOT_INITIALIZED, d);                                                                   \
        NEED((unsigned)value <= (unsigned)(last));                                                                     \
        d->field = value;                                                                                              \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API enumeration cusparseGetMat##Name(const cusparseMatDescr_t descriptor)                                  \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        const struct mat_descr *d = handle_find(&library_handles, descriptor, KIND_MAT_DESCR);                         \
        return d ? d->field : (enumeration)0;                                                                          \
    }
SETTING(Type, type, cusparseMatrixType_t, CUSPARSE_MATRIX_TYPE_TRIANGULAR)
SETTING(FillMode, fill, cusparseFillMode_t, CUSPARSE_FILL_MODE_UPPER)
SETTING(DiagType, diagonal, cusparseDiagType_t, CUSPARSE_DIAG_TYPE_UNIT)
SETTING(IndexBase, base, cusparseIndexBase_t, CUSPARSE_INDEX_BASE_ONE)
