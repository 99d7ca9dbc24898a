/* NVTX as a library, which programs were linked with before its version 3: the functions of
 * Heddle's own headers, exported. What listens to them is said there.
 */
#define HEDDLE_NVTX_FUNCTION __attribute__((visibility("default")))
#include "cuda/nvtx3/nvToolsExtCudaRt.h"

/* Names that nobody listens to: of objects of the driver API, of OpenCL, and of locks. */
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

/* Users of a lock that a program has made itself. */
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
