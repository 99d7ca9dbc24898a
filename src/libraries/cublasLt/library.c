/* Handles, names, and stored settings ("cuBLAS Library", 3.4). A handle has no state; as in the
 * original, a cuBLAS handle is valid here, too; NULL is not.
 */
#include "libraries/cublasLt/lt.h"

#include <stdatomic.h>
#include <stdlib.h>

static struct logger logger = LOGGER("cublasLt", "CUBLASLT");
LOGGER_FUNCTIONS(&logger, cublasLt, cublasStatus_t, CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_INVALID_VALUE)

API cublasLtCreate(cublasLtHandle_t *lightHandle)
{
    CUcontext context;
    LOGGER_CALL("cublasLtCreate", "lightHandle=%p", (void *)lightHandle);
    if (!lightHandle)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (heddle_library_context(&context))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *lightHandle = malloc(1);
    return *lightHandle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

API cublasLtDestroy(cublasLtHandle_t lightHandle)
{
    LOGGER_CALL("cublasLtDestroy", "lightHandle=%p", (void *)lightHandle);
    if (!lightHandle)
        return CUBLAS_STATUS_INVALID_VALUE;
    free(lightHandle);
    return CUBLAS_STATUS_SUCCESS;
}

static const struct {
    cublasStatus_t status;
    const char *name, *words;
} statuses[] = {
#define STATUS(name, words) {CUBLAS_STATUS_##name, "CUBLAS_STATUS_" #name, words},
#include "libraries/cublas/statuses.def"
};

LIBRARY_API const char *cublasLtGetStatusName(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].name;
    return "unrecognized status";
}

LIBRARY_API const char *cublasLtGetStatusString(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].words;
    return "unrecognized status";
}

/* There is no cache of heuristics; its capacity is only stored. */
static _Atomic size_t capacity = 8192;

API cublasLtHeuristicsCacheGetCapacity(size_t *value)
{
    if (!value)
        return CUBLAS_STATUS_INVALID_VALUE;
    *value = capacity;
    return CUBLAS_STATUS_SUCCESS;
}

API cublasLtHeuristicsCacheSetCapacity(size_t value)
{
    capacity = value;
    return CUBLAS_STATUS_SUCCESS;
}

static _Atomic unsigned instructions;

LIBRARY_API unsigned cublasLtDisableCpuInstructionsSetMask(unsigned mask)
{
    return atomic_exchange(&instructions, mask);
}
