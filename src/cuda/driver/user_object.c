/* User objects, which are destroyed when no graph needs them any more ("CUDA Driver API", 6.23,
 * cuUserObjectCreate). */
#include "cuda/state/user_object.h"

#include <limits.h>

CU_API CUresult cuUserObjectCreate(CUuserObject *object, void *data, CUhostFn destroy, unsigned references,
                                   unsigned flags)
{
    TRY(state_ready());
    NEED(object && destroy && references && flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    return user_object_new(destroy, data, references, object);
}

CU_API CUresult cuUserObjectRetain(CUuserObject object, unsigned count)
{
    struct CUuserObject_st *o;
    TRY(user_object_of(object, &o));
    NEED(count && count <= INT_MAX);
    return user_object_hold(o, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CU_API CUresult cuUserObjectRelease(CUuserObject object, unsigned count)
{
    struct CUuserObject_st *o;
    TRY(user_object_of(object, &o));
    NEED(count && count <= INT_MAX);
    return user_object_drop(o, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
