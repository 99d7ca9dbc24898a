/* NCCL ("NVIDIA Collective Communication Library Documentation", "NCCL API"): libnccl.so.2. As of
 * NCCL 2.27, with the collective functions of 2.28. */
#ifndef NCCL_H_
#define NCCL_H_

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
#ifdef __cplusplus
#include "cuda_fp8.h"
#endif

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define NCCL_MAJOR            2
#define NCCL_MINOR            27
#define NCCL_PATCH            7
#define NCCL_SUFFIX           ""
#define NCCL_VERSION(X, Y, Z) (((X) <= 2 && (Y) <= 8) ? (X) * 1000 + (Y) * 100 + (Z) : (X) * 10000 + (Y) * 100 + (Z))
#define NCCL_VERSION_CODE     22707

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclComm *ncclComm_t;
typedef struct ncclWindow *ncclWindow_t;
#define NCCL_COMM_NULL NULL

#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
    char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInternalError = 3,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5,
    ncclRemoteError = 6,
    ncclInProgress = 7,
    ncclTimeout = 8,
    ncclNumResults = 9
} ncclResult_t;

/* ---- configurations ---- */

#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_SPLIT_NOCOLOR    (-1)
#define NCCL_UNDEF_FLOAT      (-1.0f)
#define NCCL_API_MAGIC        0xcafebeef

#define NCCL_WIN_DEFAULT            0
#define NCCL_WIN_COLL_SYMMETRIC     1
#define NCCL_WIN_REQUIRED_ALIGNMENT 4096
#define NCCL_CTA_POLICY_DEFAULT     0
#define NCCL_CTA_POLICY_EFFICIENCY  1
#define NCCL_SHRINK_DEFAULT         0
#define NCCL_SHRINK_ABORT           1

typedef struct ncclConfig_v22700 {
    size_t size;
    unsigned magic, version;
    int blocking, cgaClusterSize, minCTAs, maxCTAs;
    const char *netName;
    int splitShare, trafficClass;
    const char *commName;
    int collnetEnable, CTAPolicy, shrinkShare, nvlsCTAs;
} ncclConfig_t;
#define NCCL_CONFIG_INITIALIZER                                                                                        \
    {                                                                                                                  \
        sizeof(ncclConfig_t),  NCCL_API_MAGIC,        NCCL_VERSION_CODE,     NCCL_CONFIG_UNDEF_INT,                    \
        NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_PTR,                    \
        NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_PTR, NCCL_CONFIG_UNDEF_INT,                    \
        NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT}

typedef struct ncclSimInfo_v22200 {
    size_t size;
    unsigned magic, version;
    float estimatedTime;
} ncclSimInfo_t;
#define NCCL_SIM_INFO_INITIALIZER {sizeof(ncclSimInfo_t), 0x74685283, NCCL_VERSION_CODE, NCCL_UNDEF_FLOAT}

/* ---- types and operators ---- */

typedef enum { ncclNumOps_dummy = 5 } ncclRedOp_dummy_t;
typedef enum {
    ncclSum = 0,
    ncclProd = 1,
    ncclMax = 2,
    ncclMin = 3,
    ncclAvg = 4,
    ncclNumOps = 5, /* the first of a program's own */
    ncclMaxRedOp = 0x7fffffff
} ncclRedOp_t;

typedef enum {
    ncclInt8 = 0,
    ncclChar = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclHalf = 6,
    ncclFloat32 = 7,
    ncclFloat = 7,
    ncclFloat64 = 8,
    ncclDouble = 8,
    ncclBfloat16 = 9,
    ncclFloat8e4m3 = 10,
    ncclFloat8e5m2 = 11,
    ncclNumTypes = 12
} ncclDataType_t;

typedef enum { ncclScalarDevice = 0, ncclScalarHostImmediate = 1 } ncclScalarResidence_t;

/* Each function by its name, and by one with a p before it, for profilers. */
#define HEDDLE_NCCL(type, name, ...)                                                                                   \
    type nccl##name(__VA_ARGS__);                                                                                      \
    type pnccl##name(__VA_ARGS__)

HEDDLE_NCCL(ncclResult_t, GetVersion, int *version);
HEDDLE_NCCL(const char *, GetErrorString, ncclResult_t result);
HEDDLE_NCCL(const char *, GetLastError, ncclComm_t comm);

/* ---- communicators ---- */

HEDDLE_NCCL(ncclResult_t, GetUniqueId, ncclUniqueId *uniqueId);
HEDDLE_NCCL(ncclResult_t, CommInitRank, ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank);
HEDDLE_NCCL(ncclResult_t, CommInitRankConfig, ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank,
            ncclConfig_t *config);
HEDDLE_NCCL(ncclResult_t, CommInitRankScalable, ncclComm_t *newcomm, int nranks, int myrank, int nId,
            ncclUniqueId *commIds, ncclConfig_t *config);
HEDDLE_NCCL(ncclResult_t, CommInitAll, ncclComm_t *comm, int ndev, const int *devlist);
HEDDLE_NCCL(ncclResult_t, CommSplit, ncclComm_t comm, int color, int key, ncclComm_t *newcomm, ncclConfig_t *config);
HEDDLE_NCCL(ncclResult_t, CommShrink, ncclComm_t comm, int *excludeRanksList, int excludeRanksCount,
            ncclComm_t *newcomm, ncclConfig_t *config, int shrinkFlags);
HEDDLE_NCCL(ncclResult_t, CommFinalize, ncclComm_t comm);
HEDDLE_NCCL(ncclResult_t, CommDestroy, ncclComm_t comm);
HEDDLE_NCCL(ncclResult_t, CommAbort, ncclComm_t comm);
HEDDLE_NCCL(ncclResult_t, CommGetAsyncError, ncclComm_t comm, ncclResult_t *asyncError);
HEDDLE_NCCL(ncclResult_t, CommCount, const ncclComm_t comm, int *count);
HEDDLE_NCCL(ncclResult_t, CommCuDevice, const ncclComm_t comm, int *device);
HEDDLE_NCCL(ncclResult_t, CommUserRank, const ncclComm_t comm, int *rank);

/* ---- memory ---- */

HEDDLE_NCCL(ncclResult_t, MemAlloc, void **ptr, size_t size);
HEDDLE_NCCL(ncclResult_t, MemFree, void *ptr);
HEDDLE_NCCL(ncclResult_t, CommRegister, const ncclComm_t comm, void *buff, size_t size, void **handle);
HEDDLE_NCCL(ncclResult_t, CommDeregister, const ncclComm_t comm, void *handle);
HEDDLE_NCCL(ncclResult_t, CommWindowRegister, ncclComm_t comm, void *buff, size_t size, ncclWindow_t *win,
            int winFlags);
HEDDLE_NCCL(ncclResult_t, CommWindowDeregister, ncclComm_t comm, ncclWindow_t win);
HEDDLE_NCCL(ncclResult_t, WinGetUserPtr, ncclComm_t comm, ncclWindow_t win, void **outUserPtr);

/* ---- collective functions ---- */

HEDDLE_NCCL(ncclResult_t, RedOpCreatePreMulSum, ncclRedOp_t *op, void *scalar, ncclDataType_t datatype,
            ncclScalarResidence_t residence, ncclComm_t comm);
HEDDLE_NCCL(ncclResult_t, RedOpDestroy, ncclRedOp_t op, ncclComm_t comm);
HEDDLE_NCCL(ncclResult_t, AllReduce, const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
            ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
HEDDLE_NCCL(ncclResult_t, Reduce, const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
            ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream);
HEDDLE_NCCL(ncclResult_t, ReduceScatter, const void *sendbuff, void *recvbuff, size_t recvcount,
            ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
HEDDLE_NCCL(ncclResult_t, Broadcast, const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
            int root, ncclComm_t comm, cudaStream_t stream);
HEDDLE_NCCL(ncclResult_t, Bcast, void *buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
            cudaStream_t stream);
HEDDLE_NCCL(ncclResult_t, AllGather, const void *sendbuff, void *recvbuff, size_t sendcount, ncclDataType_t datatype,
            ncclComm_t comm, cudaStream_t stream);
HEDDLE_NCCL(ncclResult_t, AlltoAll, const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
            ncclComm_t comm, cudaStream_t stream);
HEDDLE_NCCL(ncclResult_t, Gather, const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype, int root,
            ncclComm_t comm, cudaStream_t stream);
HEDDLE_NCCL(ncclResult_t, Scatter, const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
            int root, ncclComm_t comm, cudaStream_t stream);

/* ---- point to point ---- */

HEDDLE_NCCL(ncclResult_t, Send, const void *sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
            cudaStream_t stream);
HEDDLE_NCCL(ncclResult_t, Recv, void *recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
            cudaStream_t stream);

/* ---- groups ---- */

HEDDLE_NCCL(ncclResult_t, GroupStart, void);
HEDDLE_NCCL(ncclResult_t, GroupEnd, void);
HEDDLE_NCCL(ncclResult_t, GroupSimulateEnd, ncclSimInfo_t *simInfo);

#undef HEDDLE_NCCL

#ifdef __cplusplus
}
#endif

#endif
