/* Collective and point-to-point functions, reduction operators and memory ("Collective
 * Communication Functions" in NCCL's guide, and the following chapters). */
#include <stdlib.h>
#include <string.h>

#include "libraries/nccl/group.h"

#define COMM(c, call, of)                                                                                              \
    struct comm *c = handle_find(&library_handles, of, KIND_COMM);                                                     \
    if (!c)                                                                                                            \
    return nccl_failed(ncclInvalidArgument, call, "there is no such communicator")

/* ---- operators: 5 and on are a communicator's own ---- */

static bool find_reduction(struct comm *c, ncclDataType_t type, ncclRedOp_t op, struct reduction *r)
{
    static const enum combine plain[] = {
        [ncclSum] = COMBINE_SUM, [ncclProd] = COMBINE_PROD, [ncclMax] = COMBINE_MAX, [ncclMin] = COMBINE_MIN};
    int own = (int)op - (int)ncclNumOps;
    bool found = op < ncclNumOps;
    *r = op == ncclAvg ? reduction_average(type, c->n_ranks)
                       : (struct reduction){.combine = found ? plain[op] : 0, .type = type};
    if (found || own >= COMM_OPS)
        return found;
    pthread_mutex_lock(&c->lock);
    found = c->op_used[own] && c->ops[own].type == type;
    *r = c->ops[own];
    pthread_mutex_unlock(&c->lock);
    return found;
}

LIBRARY_API ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar, ncclDataType_t type,
                                                  ncclScalarResidence_t residence, ncclComm_t comm)
{
    IN_CALL;
    COMM(c, "ncclRedOpCreatePreMulSum", comm);
    if (!op || !scalar || !type_bytes(type) || (unsigned)residence > ncclScalarHostImmediate)
        return nccl_failed(ncclInvalidArgument, "ncclRedOpCreatePreMulSum",
                           "the pointer for the operator, or its scalar, is NULL, or the type is invalid");
    struct reduction r = {.combine = COMBINE_SCALED_SUM, .type = type};
    if (residence == ncclScalarHostImmediate)
        memcpy(r.scalar, scalar, type_bytes(type));
    else
        r.scalar_at = scalar;
    pthread_mutex_lock(&c->lock);
    int i = 0;
    while (i < COMM_OPS && c->op_used[i])
        i++;
    if (i < COMM_OPS) {
        c->op_used[i] = true;
        c->ops[i] = r;
        *op = (ncclRedOp_t)((int)ncclNumOps + i);
    }
    pthread_mutex_unlock(&c->lock);
    return i < COMM_OPS ? ncclSuccess
                        : nccl_failed(ncclInvalidUsage, "ncclRedOpCreatePreMulSum",
                                      "the communicator already has %d operators, the maximum", COMM_OPS);
}
NCCL_TWIN(RedOpCreatePreMulSum);

LIBRARY_API ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm)
{
    IN_CALL;
    COMM(c, "ncclRedOpDestroy", comm);
    int own = (int)op - (int)ncclNumOps;
    if (own < 0 || own >= COMM_OPS)
        return nccl_failed(ncclInvalidArgument, "ncclRedOpDestroy", "operator %d was not created by the program",
                           (int)op);
    pthread_mutex_lock(&c->lock);
    bool used = c->op_used[own];
    c->op_used[own] = false;
    pthread_mutex_unlock(&c->lock);
    return used ? ncclSuccess
                : nccl_failed(ncclInvalidArgument, "ncclRedOpDestroy", "operator %d has been destroyed", (int)op);
}
NCCL_TWIN(RedOpDestroy);

/* ---- calls ---- */

struct call {
    const char *name;
    enum function function;
    const void *send;
    void *receive;
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t op;
    int root;
};

static ncclResult_t add(const struct call *q, ncclComm_t comm, cudaStream_t stream)
{
    COMM(c, q->name, comm);
    struct operation o = {q->name, q->function, q->send,          q->receive, q->count, type_bytes(q->type),
                          q->root, q->op,       {.type = q->type}};
    if (!o.element_bytes)
        return nccl_failed(ncclInvalidArgument, q->name, "%d is not a type", (int)q->type);
    if (q->root < 0 || q->root >= c->n_ranks)
        return nccl_failed(ncclInvalidArgument, q->name, "rank %d, of %d", q->root, c->n_ranks);
    if ((int)q->op < 0 || !find_reduction(c, q->type, q->op, &o.reduction))
        return nccl_failed(ncclInvalidArgument, q->name, "%d is not an operator of this type and communicator",
                           (int)q->op);
    int error = atomic_load(&c->error);
    if (error)
        return nccl_failed(ncclInvalidArgument, q->name, "the communicator is not ready: %s",
                           ncclGetErrorString((ncclResult_t)error));
    if (c->finalized)
        return nccl_failed(ncclInvalidUsage, q->name, "the communicator has been finalized");
    return q->count ? group_add(c, (CUstream)stream, &o) : ncclSuccess;
}

static ncclResult_t call(const struct call *q, ncclComm_t comm, cudaStream_t stream)
{
    IN_CALL;
    group_enter();
    return group_leave(add(q, comm, stream));
}

LIBRARY_API ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
                                       ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return call(&(struct call){"ncclAllReduce", FUNCTION_AllReduce, send, receive, count, type, op, 0}, comm, stream);
}
NCCL_TWIN(AllReduce);

LIBRARY_API ncclResult_t ncclReduce(const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                                    int root, ncclComm_t comm, cudaStream_t stream)
{
    return call(&(struct call){"ncclReduce", FUNCTION_Reduce, send, receive, count, type, op, root}, comm, stream);
}
NCCL_TWIN(Reduce);

LIBRARY_API ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t count, ncclDataType_t type,
                                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return call(&(struct call){"ncclReduceScatter", FUNCTION_ReduceScatter, send, receive, count, type, op, 0}, comm,
                stream);
}
NCCL_TWIN(ReduceScatter);

/* Functions without a reduction, with a root or without. */
#define MOVES(name, root, ...)                                                                                         \
    LIBRARY_API ncclResult_t nccl##name(const void *send, void *receive, size_t count, ncclDataType_t type,            \
                                        __VA_ARGS__ ncclComm_t comm, cudaStream_t stream)                              \
    {                                                                                                                  \
        const struct call q = {"nccl" #name, FUNCTION_##name, send, receive, count, type, ncclSum, root};              \
        return call(&q, comm, stream);                                                                                 \
    }                                                                                                                  \
    NCCL_TWIN(name)
#define ROOT int root,
MOVES(Broadcast, root, ROOT);
MOVES(Gather, root, ROOT);
MOVES(Scatter, root, ROOT);
MOVES(AllGather, 0, );
MOVES(AlltoAll, 0, );

LIBRARY_API ncclResult_t ncclBcast(void *buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                                   cudaStream_t stream)
{
    return call(&(struct call){"ncclBcast", FUNCTION_Broadcast, buffer, buffer, count, type, ncclSum, root}, comm,
                stream);
}
NCCL_TWIN(Bcast);

LIBRARY_API ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                                  cudaStream_t stream)
{
    return call(&(struct call){"ncclSend", FUNCTION_Send, send, NULL, count, type, ncclSum, peer}, comm, stream);
}
NCCL_TWIN(Send);

LIBRARY_API ncclResult_t ncclRecv(void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                                  cudaStream_t stream)
{
    return call(&(struct call){"ncclRecv", FUNCTION_Recv, NULL, receive, count, type, ncclSum, peer}, comm, stream);
}
NCCL_TWIN(Recv);

/* ---- memory: all of it is reached alike ---- */

LIBRARY_API ncclResult_t ncclMemAlloc(void **at, size_t bytes)
{
    CUcontext context;
    CUdeviceptr memory = 0;
    if (!at)
        return nccl_failed(ncclInvalidArgument, "ncclMemAlloc", "the pointer for the address is NULL");
    CUresult r = heddle_library_context(&context);
    r = r || !bytes ? r : cuMemAlloc(&memory, bytes);
    *at = (void *)memory;
    return nccl_result(r);
}
NCCL_TWIN(MemAlloc);

LIBRARY_API ncclResult_t ncclMemFree(void *at)
{
    return at ? nccl_result(cuMemFree((CUdeviceptr)at)) : ncclSuccess;
}
NCCL_TWIN(MemFree);

/* The registration behind a handle. */
struct registration {
    struct comm *comm;
    void *at;
};

static ncclResult_t add_memory(const char *name, ncclComm_t comm, void *at, size_t bytes, void **handle)
{
    COMM(c, name, comm);
    if (!handle || !at || !bytes)
        return nccl_failed(ncclInvalidArgument, name, "the memory, or the pointer for its handle, is NULL");
    struct registration *r = malloc(sizeof *r);
    *handle = NULL;
    if (!r)
        return ncclSystemError;
    *r = (struct registration){c, at};
    *handle = handle_add(&library_handles, KIND_REGISTRATION, r, NULL);
    if (*handle)
        return ncclSuccess;
    free(r);
    return ncclSystemError;
}

static ncclResult_t remove_memory(const char *name, ncclComm_t comm, void *handle)
{
    COMM(c, name, comm);
    struct registration *r = handle ? handle_take(&library_handles, handle, KIND_REGISTRATION) : NULL;
    if (handle && !r)
        return nccl_failed(ncclInvalidArgument, name, "the handle is not one of registered memory");
    call_later(free, r);
    return ncclSuccess;
}

LIBRARY_API ncclResult_t ncclCommRegister(const ncclComm_t comm, void *at, size_t bytes, void **handle)
{
    IN_CALL;
    return add_memory("ncclCommRegister", comm, at, bytes, handle);
}
NCCL_TWIN(CommRegister);

LIBRARY_API ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle)
{
    IN_CALL;
    return remove_memory("ncclCommDeregister", comm, handle);
}
NCCL_TWIN(CommDeregister);

LIBRARY_API ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *at, size_t bytes, ncclWindow_t *window,
                                                int flags)
{
    IN_CALL;
    (void)flags;
    return add_memory("ncclCommWindowRegister", comm, at, bytes, (void **)window);
}
NCCL_TWIN(CommWindowRegister);

LIBRARY_API ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window)
{
    IN_CALL;
    return remove_memory("ncclCommWindowDeregister", comm, window);
}
NCCL_TWIN(CommWindowDeregister);

LIBRARY_API ncclResult_t ncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t window, void **at)
{
    IN_CALL;
    COMM(c, "ncclWinGetUserPtr", comm);
    struct registration *r = handle_find(&library_handles, window, KIND_REGISTRATION);
    if (!r || r->comm != c || !at)
        return nccl_failed(ncclInvalidArgument, "ncclWinGetUserPtr", "the window does not belong to this communicator");
    *at = r->at;
    return ncclSuccess;
}
NCCL_TWIN(WinGetUserPtr);
