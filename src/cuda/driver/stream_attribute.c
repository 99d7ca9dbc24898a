/* Attributes of streams ("CUDA Driver API", 6.17: cuStreamSetAttribute): hints for caches, waiting
 * and scheduling, none of which changes a result here. They are checked and kept.
 */
#include "cuda/state/state.h"

#include "cuda/state/streams.h"

#define OR_OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)

CU_API CUresult cuStreamSetAttribute(CUstream s, CUstreamAttrID id, const CUstreamAttrValue *value)
{
    struct stream_attributes *a;
    CUcontext c;
    TRY(stream_attributes(s, &a, &c));
    NEED(value);
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        TRY(stream_check_window(&value->accessPolicyWindow, c));
        a->window = value->accessPolicyWindow;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        NEED(value->syncPolicy >= CU_SYNC_POLICY_AUTO && value->syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC);
        a->policy = value->syncPolicy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: a->priority = stream_priority(value->priority); return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: a->domains = value->memSyncDomainMap; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        NEED(value->memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT ||
             value->memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
        a->domain = value->memSyncDomain;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE; /* an attribute for launches only */
    }
}

CU_API CUresult cuStreamGetAttribute(CUstream s, CUstreamAttrID id, CUstreamAttrValue *value)
{
    struct stream_attributes *a;
    TRY(stream_attributes(s, &a, NULL));
    NEED(value);
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: value->accessPolicyWindow = a->window; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: value->syncPolicy = a->policy; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: value->priority = a->priority; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: value->memSyncDomainMap = a->domains; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: value->memSyncDomain = a->domain; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* "Both streams must have the same context." */
CU_API CUresult cuStreamCopyAttributes(CUstream to, CUstream from)
{
    struct stream_attributes *source, *target;
    CUcontext of_source, of_target;
    TRY(stream_attributes(from, &source, &of_source));
    TRY(stream_attributes(to, &target, &of_target));
    NEED(of_source == of_target);
    *target = *source;
    return CUDA_SUCCESS;
}

CU_API CUresult cuStreamSetAttribute_ptsz(CUstream s, CUstreamAttrID id, const CUstreamAttrValue *value)
{
    return cuStreamSetAttribute(OR_OWN(s), id, value);
}

CU_API CUresult cuStreamGetAttribute_ptsz(CUstream s, CUstreamAttrID id, CUstreamAttrValue *value)
{
    return cuStreamGetAttribute(OR_OWN(s), id, value);
}

CU_API CUresult cuStreamCopyAttributes_ptsz(CUstream to, CUstream from)
{
    return cuStreamCopyAttributes(OR_OWN(to), OR_OWN(from));
}
