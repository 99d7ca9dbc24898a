/* NVTX as a library, which programs before version 3 were linked with: exports the functions of
 * Heddle's own headers, which describe the listeners.
 */
#define HEDDLE_NVTX_FUNCTION __attribute__((visibility("default")))
#include "cuda/nvtx3/nvToolsExtCudaRt.h"

/* Names without listeners: of driver API objects, OpenCL objects, and locks. */
#define NAMES(what)                                                                                                    \
    HEDDLE_NVTX_FUNCTION void nvtxName##what##A(void *it, const char *name)                                            \
    {                                                                                                                  \
        (void)it, (void)name;                                                                                          \
    }                                                                                                                  \
    HEDDLE_NVTX_FUNCTION void nvtxName##what##W(void *it, const wchar_t *name)                                         \
    {                                                                                                                  \
        (void)it, (void)name;                                                                                          \
    }
NAMES(CuContext)
NAMES(CuDevice)
NAMES(CuEvent)
NAMES(CuStream)
NAMES(ClCommandQueue)
NAMES(ClContext)
NAMES(ClDevice)
NAMES(ClEvent)
NAMES(ClMemObject)
NAMES(ClProgram)
NAMES(ClSampler)

/* Annotations of a program's own locks. */
typedef struct nvtxSyncUser *nvtxSyncUser_t;
typedef struct nvtxSyncUserAttributes_v0 nvtxSyncUserAttributes_t;
HEDDLE_NVTX_FUNCTION nvtxSyncUser_t nvtxDomainSyncUserCreate(nvtxDomainHandle_t domain,
                                                             const nvtxSyncUserAttributes_t *attributes)
{
    (void)domain, (void)attributes;
    return NULL;
}
#define SYNC(what)                                                                                                     \
    HEDDLE_NVTX_FUNCTION void nvtxDomainSyncUser##what(nvtxSyncUser_t user)                                            \
    {                                                                                                                  \
        (void)user;                                                                                                    \
    }
SYNC(Destroy)
SYNC(AcquireStart)
SYNC(AcquireFailed)
SYNC(AcquireSuccess)
SYNC(Releasing)
