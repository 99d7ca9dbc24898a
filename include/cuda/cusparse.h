/* cuSPARSE ("cuSPARSE", CUDA Toolkit documentation): sparse matrices and vectors, and their
 * products, sums, solutions and conversions. docs/LIBRARIES.md says what Heddle's has. */
#ifndef CUSPARSE_H_
#define CUSPARSE_H_

#define CUSPARSEAPI /* which programs look for, too */

#include <stdio.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h> /* as the original does: programs count on it */

#include "cuComplex.h"
#include "cuda_runtime_api.h"
#include "library_types.h"

#define CUSPARSE_VER_MAJOR 12
#define CUSPARSE_VER_MINOR 6
#define CUSPARSE_VER_PATCH 3
#define CUSPARSE_VER_BUILD 3
#define CUSPARSE_VERSION   (CUSPARSE_VER_MAJOR * 1000 + CUSPARSE_VER_MINOR * 100 + CUSPARSE_VER_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cusparseContext *cusparseHandle_t;
typedef struct cusparseMatDescr *cusparseMatDescr_t;
typedef struct cusparseSpVecDescr *cusparseSpVecDescr_t;
typedef struct cusparseDnVecDescr *cusparseDnVecDescr_t;
typedef struct cusparseSpMatDescr *cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr *cusparseDnMatDescr_t;
typedef const struct cusparseSpVecDescr *cusparseConstSpVecDescr_t;
typedef const struct cusparseDnVecDescr *cusparseConstDnVecDescr_t;
typedef const struct cusparseSpMatDescr *cusparseConstSpMatDescr_t;
typedef const struct cusparseDnMatDescr *cusparseConstDnMatDescr_t;
typedef struct cusparseSpSVDescr *cusparseSpSVDescr_t;
typedef struct cusparseSpSMDescr *cusparseSpSMDescr_t;
typedef struct cusparseSpGEMMDescr *cusparseSpGEMMDescr_t;
typedef struct csrilu02Info *csrilu02Info_t;
typedef struct csric02Info *csric02Info_t;
typedef struct bsrilu02Info *bsrilu02Info_t;
typedef struct bsric02Info *bsric02Info_t;
typedef struct bsrsv2Info *bsrsv2Info_t;
typedef struct bsrsm2Info *bsrsm2Info_t;
typedef struct pruneInfo *pruneInfo_t;

typedef enum {
    CUSPARSE_STATUS_SUCCESS,
    CUSPARSE_STATUS_NOT_INITIALIZED,
    CUSPARSE_STATUS_ALLOC_FAILED,
    CUSPARSE_STATUS_INVALID_VALUE,
    CUSPARSE_STATUS_ARCH_MISMATCH,
    CUSPARSE_STATUS_MAPPING_ERROR,
    CUSPARSE_STATUS_EXECUTION_FAILED,
    CUSPARSE_STATUS_INTERNAL_ERROR,
    CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED,
    CUSPARSE_STATUS_ZERO_PIVOT,
    CUSPARSE_STATUS_NOT_SUPPORTED,
    CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
} cusparseStatus_t;

typedef enum { CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE } cusparsePointerMode_t;
typedef enum { CUSPARSE_ACTION_SYMBOLIC, CUSPARSE_ACTION_NUMERIC } cusparseAction_t;
typedef enum {
    CUSPARSE_MATRIX_TYPE_GENERAL,
    CUSPARSE_MATRIX_TYPE_SYMMETRIC,
    CUSPARSE_MATRIX_TYPE_HERMITIAN,
    CUSPARSE_MATRIX_TYPE_TRIANGULAR
} cusparseMatrixType_t;
typedef enum { CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT } cusparseDiagType_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE } cusparseIndexBase_t;
typedef enum {
    CUSPARSE_OPERATION_NON_TRANSPOSE,
    CUSPARSE_OPERATION_TRANSPOSE,
    CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
} cusparseOperation_t;
typedef enum { CUSPARSE_DIRECTION_ROW, CUSPARSE_DIRECTION_COLUMN } cusparseDirection_t;
typedef enum { CUSPARSE_SOLVE_POLICY_NO_LEVEL, CUSPARSE_SOLVE_POLICY_USE_LEVEL } cusparseSolvePolicy_t;
typedef enum { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1 } cusparseCsr2CscAlg_t;
typedef enum {
    CUSPARSE_FORMAT_CSR = 1,
    CUSPARSE_FORMAT_CSC = 2,
    CUSPARSE_FORMAT_COO = 3,
    CUSPARSE_FORMAT_BLOCKED_ELL = 5,
    CUSPARSE_FORMAT_BSR = 6,
    CUSPARSE_FORMAT_SLICED_ELLPACK = 7
} cusparseFormat_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 } cusparseIndexType_t;
typedef enum { CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE } cusparseSpMatAttribute_t;
typedef enum {
    CUSPARSE_SPMV_ALG_DEFAULT,
    CUSPARSE_SPMV_COO_ALG1,
    CUSPARSE_SPMV_CSR_ALG1,
    CUSPARSE_SPMV_CSR_ALG2,
    CUSPARSE_SPMV_COO_ALG2,
    CUSPARSE_SPMV_SELL_ALG1,
    CUSPARSE_SPMV_BSR_ALG1
} cusparseSpMVAlg_t;
typedef enum {
    CUSPARSE_SPMM_ALG_DEFAULT,
    CUSPARSE_SPMM_COO_ALG1,
    CUSPARSE_SPMM_COO_ALG2,
    CUSPARSE_SPMM_COO_ALG3,
    CUSPARSE_SPMM_CSR_ALG1,
    CUSPARSE_SPMM_COO_ALG4,
    CUSPARSE_SPMM_CSR_ALG2,
    CUSPARSE_SPMM_CSR_ALG3 = 12,
    CUSPARSE_SPMM_BLOCKED_ELL_ALG1 = 13,
    CUSPARSE_SPMM_BSR_ALG1 = 14
} cusparseSpMMAlg_t;
typedef enum {
    CUSPARSE_SPGEMM_DEFAULT,
    CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC,
    CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC,
    CUSPARSE_SPGEMM_ALG1,
    CUSPARSE_SPGEMM_ALG2,
    CUSPARSE_SPGEMM_ALG3
} cusparseSpGEMMAlg_t;
typedef enum { CUSPARSE_SPARSETODENSE_ALG_DEFAULT } cusparseSparseToDenseAlg_t;
typedef enum { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT } cusparseDenseToSparseAlg_t;
typedef enum { CUSPARSE_SDDMM_ALG_DEFAULT } cusparseSDDMMAlg_t;
typedef enum { CUSPARSE_SPSV_ALG_DEFAULT } cusparseSpSVAlg_t;
typedef enum { CUSPARSE_SPSM_ALG_DEFAULT } cusparseSpSMAlg_t;
typedef enum { CUSPARSE_SPSV_UPDATE_GENERAL, CUSPARSE_SPSV_UPDATE_DIAGONAL } cusparseSpSVUpdate_t;
typedef enum { CUSPARSE_SPSM_UPDATE_GENERAL, CUSPARSE_SPSM_UPDATE_DIAGONAL } cusparseSpSMUpdate_t;

/* Handles. */
cusparseStatus_t cusparseCreate(cusparseHandle_t *handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version);
cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value);
const char *cusparseGetErrorName(cusparseStatus_t status);
const char *cusparseGetErrorString(cusparseStatus_t status);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t streamId);
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t *streamId);
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t *mode);
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode);

/* The older functions' descriptors. */
cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *descrA);
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t descrA, cusparseMatrixType_t type);
cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t descrA, cusparseFillMode_t fillMode);
cusparseFillMode_t cusparseGetMatFillMode(const cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t descrA, cusparseDiagType_t diagType);
cusparseDiagType_t cusparseGetMatDiagType(const cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t descrA, cusparseIndexBase_t base);
cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t descrA);

/* Vectors. */
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *dnVecDescr, int64_t size, void *values,
                                     cudaDataType valueType);
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t *dnVecDescr, int64_t size, const void *values,
                                          cudaDataType valueType);
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t dnVecDescr);
cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t dnVecDescr, int64_t *size, void **values,
                                  cudaDataType *valueType);
cusparseStatus_t cusparseConstDnVecGet(cusparseConstDnVecDescr_t dnVecDescr, int64_t *size, const void **values,
                                       cudaDataType *valueType);
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t dnVecDescr, void **values);
cusparseStatus_t cusparseConstDnVecGetValues(cusparseConstDnVecDescr_t dnVecDescr, const void **values);
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t dnVecDescr, void *values);
cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t *spVecDescr, int64_t size, int64_t nnz, void *indices,
                                     void *values, cusparseIndexType_t idxType, cusparseIndexBase_t idxBase,
                                     cudaDataType valueType);
cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t *spVecDescr, int64_t size, int64_t nnz,
                                          const void *indices, const void *values, cusparseIndexType_t idxType,
                                          cusparseIndexBase_t idxBase, cudaDataType valueType);
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t spVecDescr);
cusparseStatus_t cusparseSpVecGet(cusparseSpVecDescr_t spVecDescr, int64_t *size, int64_t *nnz, void **indices,
                                  void **values, cusparseIndexType_t *idxType, cusparseIndexBase_t *idxBase,
                                  cudaDataType *valueType);
cusparseStatus_t cusparseConstSpVecGet(cusparseConstSpVecDescr_t spVecDescr, int64_t *size, int64_t *nnz,
                                       const void **indices, const void **values, cusparseIndexType_t *idxType,
                                       cusparseIndexBase_t *idxBase, cudaDataType *valueType);
cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t spVecDescr, cusparseIndexBase_t *idxBase);
cusparseStatus_t cusparseSpVecGetValues(cusparseSpVecDescr_t spVecDescr, void **values);
cusparseStatus_t cusparseConstSpVecGetValues(cusparseConstSpVecDescr_t spVecDescr, const void **values);
cusparseStatus_t cusparseSpVecSetValues(cusparseSpVecDescr_t spVecDescr, void *values);

/* Dense matrices. */
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *dnMatDescr, int64_t rows, int64_t cols, int64_t ld,
                                     void *values, cudaDataType valueType, cusparseOrder_t order);
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t *dnMatDescr, int64_t rows, int64_t cols, int64_t ld,
                                          const void *values, cudaDataType valueType, cusparseOrder_t order);
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t dnMatDescr);
cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t dnMatDescr, int64_t *rows, int64_t *cols, int64_t *ld,
                                  void **values, cudaDataType *type, cusparseOrder_t *order);
cusparseStatus_t cusparseConstDnMatGet(cusparseConstDnMatDescr_t dnMatDescr, int64_t *rows, int64_t *cols, int64_t *ld,
                                       const void **values, cudaDataType *type, cusparseOrder_t *order);
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t dnMatDescr, void **values);
cusparseStatus_t cusparseConstDnMatGetValues(cusparseConstDnMatDescr_t dnMatDescr, const void **values);
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t dnMatDescr, void *values);
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t dnMatDescr, int batchCount, int64_t batchStride);
cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t dnMatDescr, int *batchCount,
                                              int64_t *batchStride);

/* Sparse matrices. */
#define HEDDLE_COMPRESSED(Name, C, offsets, indices)                                                                   \
    cusparseStatus_t cusparseCreate##Name(                                                                             \
        cusparse##C##SpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz, HEDDLE_##C void *offsets,      \
        HEDDLE_##C void *indices, HEDDLE_##C void *values, cusparseIndexType_t offsetsType,                            \
        cusparseIndexType_t indicesType, cusparseIndexBase_t idxBase, cudaDataType valueType)
#define HEDDLE_
#define HEDDLE_Const const
HEDDLE_COMPRESSED(Csr, , csrRowOffsets, csrColInd);
HEDDLE_COMPRESSED(ConstCsr, Const, csrRowOffsets, csrColInd);
HEDDLE_COMPRESSED(Csc, , cscColOffsets, cscRowInd);
HEDDLE_COMPRESSED(ConstCsc, Const, cscColOffsets, cscRowInd);
#undef HEDDLE_COMPRESSED
#undef HEDDLE_
#undef HEDDLE_Const
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
                                   void *cooRowInd, void *cooColInd, void *cooValues, cusparseIndexType_t cooIdxType,
                                   cusparseIndexBase_t idxBase, cudaDataType valueType);
cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
                                        const void *cooRowInd, const void *cooColInd, const void *cooValues,
                                        cusparseIndexType_t cooIdxType, cusparseIndexBase_t idxBase,
                                        cudaDataType valueType);
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t spMatDescr);
cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols, int64_t *nnz,
                                void **csrRowOffsets, void **csrColInd, void **csrValues,
                                cusparseIndexType_t *csrRowOffsetsType, cusparseIndexType_t *csrColIndType,
                                cusparseIndexBase_t *idxBase, cudaDataType *valueType);
cusparseStatus_t cusparseConstCsrGet(cusparseConstSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols, int64_t *nnz,
                                     const void **csrRowOffsets, const void **csrColInd, const void **csrValues,
                                     cusparseIndexType_t *csrRowOffsetsType, cusparseIndexType_t *csrColIndType,
                                     cusparseIndexBase_t *idxBase, cudaDataType *valueType);
cusparseStatus_t cusparseCscGet(cusparseSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols, int64_t *nnz,
                                void **cscColOffsets, void **cscRowInd, void **cscValues,
                                cusparseIndexType_t *cscColOffsetsType, cusparseIndexType_t *cscRowIndType,
                                cusparseIndexBase_t *idxBase, cudaDataType *valueType);
cusparseStatus_t cusparseConstCscGet(cusparseConstSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols, int64_t *nnz,
                                     const void **cscColOffsets, const void **cscRowInd, const void **cscValues,
                                     cusparseIndexType_t *cscColOffsetsType, cusparseIndexType_t *cscRowIndType,
                                     cusparseIndexBase_t *idxBase, cudaDataType *valueType);
cusparseStatus_t cusparseCooGet(cusparseSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols, int64_t *nnz,
                                void **cooRowInd, void **cooColInd, void **cooValues, cusparseIndexType_t *idxType,
                                cusparseIndexBase_t *idxBase, cudaDataType *valueType);
cusparseStatus_t cusparseConstCooGet(cusparseConstSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols, int64_t *nnz,
                                     const void **cooRowInd, const void **cooColInd, const void **cooValues,
                                     cusparseIndexType_t *idxType, cusparseIndexBase_t *idxBase,
                                     cudaDataType *valueType);
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t spMatDescr, void *csrRowOffsets, void *csrColInd,
                                        void *csrValues);
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t spMatDescr, void *cscColOffsets, void *cscRowInd,
                                        void *cscValues);
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t spMatDescr, void *cooRows, void *cooColumns,
                                        void *cooValues);
#define HEDDLE_M(Const, constant)                                                                                      \
    cusparseStatus_t cusparseCreate##Const##Bsr(                                                                       \
        cusparse##Const##SpMatDescr_t *spMatDescr, int64_t brows, int64_t bcols, int64_t bnnz, int64_t rowBlockSize,   \
        int64_t colBlockSize, constant void *bsrRowOffsets, constant void *bsrColInd, constant void *bsrValues,        \
        cusparseIndexType_t bsrRowOffsetsType, cusparseIndexType_t bsrColIndType, cusparseIndexBase_t idxBase,         \
        cudaDataType valueType, cusparseOrder_t order);                                                                \
    cusparseStatus_t cusparseCreate##Const##BlockedEll(                                                                \
        cusparse##Const##SpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t ellBlockSize, int64_t ellCols,  \
        constant void *ellColInd, constant void *ellValue, cusparseIndexType_t ellIdxType,                             \
        cusparseIndexBase_t idxBase, cudaDataType valueType);                                                          \
    cusparseStatus_t cusparse##Const##BlockedEllGet(                                                                   \
        cusparse##Const##SpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols, int64_t *ellBlockSize,                 \
        int64_t *ellCols, constant void **ellColInd, constant void **ellValue, cusparseIndexType_t *ellIdxType,        \
        cusparseIndexBase_t *idxBase, cudaDataType *valueType);                                                        \
    cusparseStatus_t cusparseCreate##Const##SlicedEll(                                                                 \
        cusparse##Const##SpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz, int64_t sellValuesSize,    \
        int64_t sliceSize, constant void *sellSliceOffsets, constant void *sellColInd, constant void *sellValues,      \
        cusparseIndexType_t sellSliceOffsetsType, cusparseIndexType_t sellColIndType, cusparseIndexBase_t idxBase,     \
        cudaDataType valueType);
HEDDLE_M(, )
HEDDLE_M(Const, const)
#undef HEDDLE_M
cusparseStatus_t cusparseBsrSetStridedBatch(cusparseSpMatDescr_t spMatDescr, int batchCount, int64_t offsetsBatchStride,
                                            int64_t columnsBatchStride, int64_t ValuesBatchStride);
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t spMatDescr, int batchCount, int64_t offsetsBatchStride,
                                            int64_t columnsValuesBatchStride);
cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t spMatDescr, int batchCount, int64_t batchStride);
cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t spMatDescr, int *batchCount);
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols, int64_t *nnz);
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t spMatDescr, cusparseFormat_t *format);
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t spMatDescr, cusparseIndexBase_t *idxBase);
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t spMatDescr, void **values);
cusparseStatus_t cusparseConstSpMatGetValues(cusparseConstSpMatDescr_t spMatDescr, const void **values);
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t spMatDescr, void *values);
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t spMatDescr, cusparseSpMatAttribute_t attribute,
                                           void *data, size_t dataSize);
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t spMatDescr, cusparseSpMatAttribute_t attribute,
                                           void *data, size_t dataSize);

/* Sparse vectors beside dense ones. */
cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha, cusparseConstSpVecDescr_t vecX,
                               const void *beta, cusparseDnVecDescr_t vecY);
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t vecY, cusparseSpVecDescr_t vecX);
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t vecX, cusparseDnVecDescr_t vecY);
cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void *c_coeff, const void *s_coeff,
                             cusparseSpVecDescr_t vecX, cusparseDnVecDescr_t vecY);
cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opX,
                                         cusparseConstSpVecDescr_t vecX, cusparseConstDnVecDescr_t vecY,
                                         const void *result, cudaDataType computeType, size_t *bufferSize);
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t opX, cusparseConstSpVecDescr_t vecX,
                              cusparseConstDnVecDescr_t vecY, void *result, cudaDataType computeType,
                              void *externalBuffer);

/* Products with a dense vector, and a dense matrix. */
#define HEDDLE_SPMV                                                                                                    \
    cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t matA,               \
        cusparseConstDnVecDescr_t vecX, const void *beta, cusparseDnVecDescr_t vecY, cudaDataType computeType,         \
        cusparseSpMVAlg_t alg
cusparseStatus_t cusparseSpMV_bufferSize(HEDDLE_SPMV, size_t *bufferSize);
cusparseStatus_t cusparseSpMV_preprocess(HEDDLE_SPMV, void *externalBuffer);
cusparseStatus_t cusparseSpMV(HEDDLE_SPMV, void *externalBuffer);
#undef HEDDLE_SPMV
#define HEDDLE_SPMM                                                                                                    \
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,                      \
        cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta, cusparseDnMatDescr_t matC,   \
        cudaDataType computeType, cusparseSpMMAlg_t alg
cusparseStatus_t cusparseSpMM_bufferSize(HEDDLE_SPMM, size_t *bufferSize);
cusparseStatus_t cusparseSpMM_preprocess(HEDDLE_SPMM, void *externalBuffer);
cusparseStatus_t cusparseSpMM(HEDDLE_SPMM, void *externalBuffer);
#undef HEDDLE_SPMM

/* Conversions. */
cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t matA,
                                                  cusparseDnMatDescr_t matB, cusparseSparseToDenseAlg_t alg,
                                                  size_t *bufferSize);
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t matA,
                                       cusparseDnMatDescr_t matB, cusparseSparseToDenseAlg_t alg, void *externalBuffer);
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *cooRowInd, int nnz, int m, int *csrSortedRowPtr,
                                  cusparseIndexBase_t idxBase);
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *csrSortedRowPtr, int nnz, int m, int *cooRowInd,
                                  cusparseIndexBase_t idxBase);
#define HEDDLE_CSR2CSC                                                                                                 \
    cusparseHandle_t handle, int m, int n, int nnz, const void *csrVal, const int *csrRowPtr, const int *csrColInd,    \
        void *cscVal, int *cscColPtr, int *cscRowInd, cudaDataType valType, cusparseAction_t copyValues,               \
        cusparseIndexBase_t idxBase, cusparseCsr2CscAlg_t alg
cusparseStatus_t cusparseCsr2cscEx2_bufferSize(HEDDLE_CSR2CSC, size_t *bufferSize);
cusparseStatus_t cusparseCsr2cscEx2(HEDDLE_CSR2CSC, void *buffer);
#undef HEDDLE_CSR2CSC
#define HEDDLE_TO_SPARSE                                                                                               \
    cusparseHandle_t handle, cusparseConstDnMatDescr_t matA, cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t alg
cusparseStatus_t cusparseDenseToSparse_bufferSize(HEDDLE_TO_SPARSE, size_t *bufferSize);
cusparseStatus_t cusparseDenseToSparse_analysis(HEDDLE_TO_SPARSE, void *externalBuffer);
cusparseStatus_t cusparseDenseToSparse_convert(HEDDLE_TO_SPARSE, void *externalBuffer);
#undef HEDDLE_TO_SPARSE

/* Triangular systems. */
#define HEDDLE_SPSV                                                                                                    \
    cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t matA,               \
        cusparseConstDnVecDescr_t vecX, cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpSVAlg_t alg,    \
        cusparseSpSVDescr_t spsvDescr
cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t *descr);
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descr);
cusparseStatus_t cusparseSpSV_bufferSize(HEDDLE_SPSV, size_t *bufferSize);
cusparseStatus_t cusparseSpSV_analysis(HEDDLE_SPSV, void *externalBuffer);
cusparseStatus_t cusparseSpSV_solve(HEDDLE_SPSV);
cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t spsvDescr, void *newValues,
                                           cusparseSpSVUpdate_t updatePart);
#undef HEDDLE_SPSV
#define HEDDLE_SPSM                                                                                                    \
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,                      \
        cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, cusparseDnMatDescr_t matC,                     \
        cudaDataType computeType, cusparseSpSMAlg_t alg, cusparseSpSMDescr_t spsmDescr
cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t *descr);
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descr);
cusparseStatus_t cusparseSpSM_bufferSize(HEDDLE_SPSM, size_t *bufferSize);
cusparseStatus_t cusparseSpSM_analysis(HEDDLE_SPSM, void *externalBuffer);
cusparseStatus_t cusparseSpSM_solve(HEDDLE_SPSM);
cusparseStatus_t cusparseSpSM_updateMatrix(cusparseHandle_t handle, cusparseSpSMDescr_t spsmDescr, void *newValues,
                                           cusparseSpSMUpdate_t updatePart);
#undef HEDDLE_SPSM

/* Products of two sparse matrices, and of dense ones where a sparse one has elements. */
#define HEDDLE_SPGEMM                                                                                                  \
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,                      \
        cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB, const void *beta, cusparseSpMatDescr_t matC,   \
        cudaDataType computeType, cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t spgemmDescr
cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *descr);
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descr);
cusparseStatus_t cusparseSpGEMM_workEstimation(HEDDLE_SPGEMM, size_t *bufferSize1, void *externalBuffer1);
cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t spgemmDescr, int64_t *num_prods);
cusparseStatus_t cusparseSpGEMM_compute(HEDDLE_SPGEMM, size_t *bufferSize2, void *externalBuffer2);
cusparseStatus_t cusparseSpGEMM_copy(HEDDLE_SPGEMM);
cusparseStatus_t cusparseSpGEMM_estimateMemory(HEDDLE_SPGEMM, float chunk_fraction, size_t *bufferSize3,
                                               void *externalBuffer3, size_t *bufferSize2);
#define HEDDLE_REUSE                                                                                                   \
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, cusparseConstSpMatDescr_t matA,         \
        cusparseConstSpMatDescr_t matB, cusparseSpMatDescr_t matC, cusparseSpGEMMAlg_t alg,                            \
        cusparseSpGEMMDescr_t spgemmDescr
cusparseStatus_t cusparseSpGEMMreuse_workEstimation(HEDDLE_REUSE, size_t *bufferSize1, void *externalBuffer1);
cusparseStatus_t cusparseSpGEMMreuse_nnz(HEDDLE_REUSE, size_t *bufferSize2, void *externalBuffer2, size_t *bufferSize3,
                                         void *externalBuffer3, size_t *bufferSize4, void *externalBuffer4);
cusparseStatus_t cusparseSpGEMMreuse_copy(HEDDLE_REUSE, size_t *bufferSize5, void *externalBuffer5);
cusparseStatus_t cusparseSpGEMMreuse_compute(HEDDLE_SPGEMM);
#undef HEDDLE_REUSE
#undef HEDDLE_SPGEMM
#define HEDDLE_SDDMM                                                                                                   \
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,                      \
        cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta, cusparseSpMatDescr_t matC,   \
        cudaDataType computeType, cusparseSDDMMAlg_t alg
cusparseStatus_t cusparseSDDMM_bufferSize(HEDDLE_SDDMM, size_t *bufferSize);
cusparseStatus_t cusparseSDDMM_preprocess(HEDDLE_SDDMM, void *externalBuffer);
cusparseStatus_t cusparseSDDMM(HEDDLE_SDDMM, void *externalBuffer);
#undef HEDDLE_SDDMM

/* Orders. */
cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n, int *p);
cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz, const int *cooRowsA,
                                                const int *cooColsA, size_t *pBufferSizeInBytes);
cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int m, int n, int nnz, int *cooRowsA, int *cooColsA,
                                       int *P, void *pBuffer);
cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int m, int n, int nnz, int *cooRowsA, int *cooColsA,
                                          int *P, void *pBuffer);
cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz, const int *csrRowPtrA,
                                                const int *csrColIndA, size_t *pBufferSizeInBytes);
cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t descrA,
                                  const int *csrRowPtrA, int *csrColIndA, int *P, void *pBuffer);
cusparseStatus_t cusparseXcscsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz, const int *cscColPtrA,
                                                const int *cscRowIndA, size_t *pBufferSizeInBytes);
cusparseStatus_t cusparseXcscsort(cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t descrA,
                                  const int *cscColPtrA, int *cscRowIndA, int *P, void *pBuffer);

/* Sums of sparse matrices, and how much of a dense one is not zero. */
cusparseStatus_t cusparseXcsrgeam2Nnz(cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descrA, int nnzA,
                                      const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                      const cusparseMatDescr_t descrB, int nnzB, const int *csrSortedRowPtrB,
                                      const int *csrSortedColIndB, const cusparseMatDescr_t descrC,
                                      int *csrSortedRowPtrC, int *nnzTotalDevHostPtr, void *workspace);
#define HEDDLE_M(X, T)                                                                                                 \
    cusparseStatus_t cusparse##X##csrgeam2_bufferSizeExt(                                                              \
        cusparseHandle_t handle, int m, int n, const T *alpha, const cusparseMatDescr_t descrA, int nnzA,              \
        const T *csrSortedValA, const int *csrSortedRowPtrA, const int *csrSortedColIndA, const T *beta,               \
        const cusparseMatDescr_t descrB, int nnzB, const T *csrSortedValB, const int *csrSortedRowPtrB,                \
        const int *csrSortedColIndB, const cusparseMatDescr_t descrC, const T *csrSortedValC,                          \
        const int *csrSortedRowPtrC, const int *csrSortedColIndC, size_t *pBufferSizeInBytes);                         \
    cusparseStatus_t cusparse##X##csrgeam2(                                                                            \
        cusparseHandle_t handle, int m, int n, const T *alpha, const cusparseMatDescr_t descrA, int nnzA,              \
        const T *csrSortedValA, const int *csrSortedRowPtrA, const int *csrSortedColIndA, const T *beta,               \
        const cusparseMatDescr_t descrB, int nnzB, const T *csrSortedValB, const int *csrSortedRowPtrB,                \
        const int *csrSortedColIndB, const cusparseMatDescr_t descrC, T *csrSortedValC, int *csrSortedRowPtrC,         \
        int *csrSortedColIndC, void *pBuffer);                                                                         \
    cusparseStatus_t cusparse##X##nnz(cusparseHandle_t handle, cusparseDirection_t dirA, int m, int n,                 \
                                      const cusparseMatDescr_t descrA, const T *A, int lda, int *nnzPerRowCol,         \
                                      int *nnzTotalDevHostPtr);
HEDDLE_M(S, float)
HEDDLE_M(D, double)
HEDDLE_M(C, cuComplex)
HEDDLE_M(Z, cuDoubleComplex)
#undef HEDDLE_M

/* A dense matrix times a sparse vector. */
#define HEDDLE_M(X, T)                                                                                                 \
    cusparseStatus_t cusparse##X##gemvi_bufferSize(cusparseHandle_t handle, cusparseOperation_t transA, int m, int n,  \
                                                   int nnz, int *pBufferSize);                                         \
    cusparseStatus_t cusparse##X##gemvi(cusparseHandle_t handle, cusparseOperation_t transA, int m, int n,             \
                                        const T *alpha, const T *A, int lda, int nnz, const T *xVal, const int *xInd,  \
                                        const T *beta, T *y, cusparseIndexBase_t idxBase, void *pBuffer);
HEDDLE_M(S, float)
HEDDLE_M(D, double)
HEDDLE_M(C, cuComplex)
HEDDLE_M(Z, cuDoubleComplex)
#undef HEDDLE_M

/* Between CSR and blocks, of any two sizes of them. */
#define HEDDLE_ROWS(T, rows, columns)                                                                                  \
    cusparseHandle_t handle, cusparseDirection_t dirA, int rows, int columns, const cusparseMatDescr_t descrA,         \
        const T *sortedValA, const int *sortedRowPtrA, const int *sortedColIndA
#define HEDDLE_PATTERN                                                                                                 \
    cusparseHandle_t handle, cusparseDirection_t dirA, int m, int n, const cusparseMatDescr_t descrA,                  \
        const int *csrSortedRowPtrA, const int *csrSortedColIndA
#define HEDDLE_TO(T)     T *sortedValC, int *sortedRowPtrC, int *sortedColIndC
#define HEDDLE_BLOCKS(X) int rowBlockDim##X, int colBlockDim##X
cusparseStatus_t cusparseXcsr2bsrNnz(HEDDLE_PATTERN, int blockDim, const cusparseMatDescr_t descrC,
                                     int *bsrSortedRowPtrC, int *nnzTotalDevHostPtr);
cusparseStatus_t cusparseXcsr2gebsrNnz(HEDDLE_PATTERN, const cusparseMatDescr_t descrC, int *bsrSortedRowPtrC,
                                       HEDDLE_BLOCKS(C), int *nnzTotalDevHostPtr, void *pBuffer);
cusparseStatus_t cusparseXgebsr2gebsrNnz(cusparseHandle_t handle, cusparseDirection_t dirA, int mb, int nb, int nnzb,
                                         const cusparseMatDescr_t descrA, const int *bsrSortedRowPtrA,
                                         const int *bsrSortedColIndA, HEDDLE_BLOCKS(A), const cusparseMatDescr_t descrC,
                                         int *bsrSortedRowPtrC, HEDDLE_BLOCKS(C), int *nnzTotalDevHostPtr,
                                         void *pBuffer);
#define HEDDLE_M(X, T)                                                                                                 \
    cusparseStatus_t cusparse##X##csr2bsr(HEDDLE_ROWS(T, m, n), int blockDim, const cusparseMatDescr_t descrC,         \
                                          HEDDLE_TO(T));                                                               \
    cusparseStatus_t cusparse##X##bsr2csr(HEDDLE_ROWS(T, mb, nb), int blockDim, const cusparseMatDescr_t descrC,       \
                                          HEDDLE_TO(T));                                                               \
    cusparseStatus_t cusparse##X##csr2gebsr_bufferSize(HEDDLE_ROWS(T, m, n), HEDDLE_BLOCKS(C),                         \
                                                       int *pBufferSizeInBytes);                                       \
    cusparseStatus_t cusparse##X##csr2gebsr(HEDDLE_ROWS(T, m, n), const cusparseMatDescr_t descrC, HEDDLE_TO(T),       \
                                            HEDDLE_BLOCKS(C), void *pBuffer);                                          \
    cusparseStatus_t cusparse##X##gebsr2csr(HEDDLE_ROWS(T, mb, nb), HEDDLE_BLOCKS(A), const cusparseMatDescr_t descrC, \
                                            HEDDLE_TO(T));                                                             \
    cusparseStatus_t cusparse##X##gebsr2gebsr_bufferSize(                                                              \
        cusparseHandle_t handle, cusparseDirection_t dirA, int mb, int nb, int nnzb, const cusparseMatDescr_t descrA,  \
        const T *sortedValA, const int *sortedRowPtrA, const int *sortedColIndA, HEDDLE_BLOCKS(A), HEDDLE_BLOCKS(C),   \
        int *pBufferSizeInBytes);                                                                                      \
    cusparseStatus_t cusparse##X##gebsr2gebsr(                                                                         \
        cusparseHandle_t handle, cusparseDirection_t dirA, int mb, int nb, int nnzb, const cusparseMatDescr_t descrA,  \
        const T *sortedValA, const int *sortedRowPtrA, const int *sortedColIndA, HEDDLE_BLOCKS(A),                     \
        const cusparseMatDescr_t descrC, HEDDLE_TO(T), HEDDLE_BLOCKS(C), void *pBuffer);                               \
    cusparseStatus_t cusparse##X##gebsr2gebsc_bufferSize(                                                              \
        cusparseHandle_t handle, int mb, int nb, int nnzb, const T *bsrSortedVal, const int *bsrSortedRowPtr,          \
        const int *bsrSortedColInd, HEDDLE_BLOCKS(), int *pBufferSizeInBytes);                                         \
    cusparseStatus_t cusparse##X##gebsr2gebsc(                                                                         \
        cusparseHandle_t handle, int mb, int nb, int nnzb, const T *bsrSortedVal, const int *bsrSortedRowPtr,          \
        const int *bsrSortedColInd, HEDDLE_BLOCKS(), T *bscVal, int *bscRowInd, int *bscColPtr,                        \
        cusparseAction_t copyValues, cusparseIndexBase_t idxBase, void *pBuffer);
HEDDLE_M(S, float)
HEDDLE_M(D, double)
HEDDLE_M(C, cuComplex)
HEDDLE_M(Z, cuDoubleComplex)
#undef HEDDLE_M
#undef HEDDLE_BLOCKS
#undef HEDDLE_TO
#undef HEDDLE_PATTERN
#undef HEDDLE_ROWS

/* What is larger than a threshold. */
cusparseStatus_t cusparseCreatePruneInfo(pruneInfo_t *info);
cusparseStatus_t cusparseDestroyPruneInfo(pruneInfo_t info);
#define HEDDLE_DENSE(T) int m, int n, const T *A, int lda
#define HEDDLE_CSR(T)                                                                                                  \
    int m, int n, int nnzA, const cusparseMatDescr_t descrA, const T *csrSortedValA, const int *csrSortedRowPtrA,      \
        const int *csrSortedColIndA
#define HEDDLE_INFO pruneInfo_t info,
#define HEDDLE_NONE
#define HEDDLE_M(X, T, Source, SOURCE, Suffix, THRESHOLD, INFO)                                                        \
    cusparseStatus_t cusparse##X##prune##Source##2csr##Suffix##_bufferSizeExt(                                         \
        cusparseHandle_t handle, SOURCE(T), THRESHOLD, const cusparseMatDescr_t descrC, const T *csrSortedValC,        \
        const int *csrSortedRowPtrC, const int *csrSortedColIndC, INFO size_t *pBufferSizeInBytes);                    \
    cusparseStatus_t cusparse##X##prune##Source##2csrNnz##Suffix(cusparseHandle_t handle, SOURCE(T), THRESHOLD,        \
                                                                 const cusparseMatDescr_t descrC, int *csrRowPtrC,     \
                                                                 int *nnzTotalDevHostPtr, INFO void *pBuffer);         \
    cusparseStatus_t cusparse##X##prune##Source##2csr##Suffix(                                                         \
        cusparseHandle_t handle, SOURCE(T), THRESHOLD, const cusparseMatDescr_t descrC, T *csrSortedValC,              \
        const int *csrSortedRowPtrC, int *csrSortedColIndC, INFO void *pBuffer);
#define HEDDLE_ALL(X, T)                                                                                               \
    HEDDLE_M(X, T, Dense, HEDDLE_DENSE, , const T *threshold, HEDDLE_NONE)                                             \
    HEDDLE_M(X, T, Dense, HEDDLE_DENSE, ByPercentage, float percentage, HEDDLE_INFO)                                   \
    HEDDLE_M(X, T, Csr, HEDDLE_CSR, , const T *threshold, HEDDLE_NONE)                                                 \
    HEDDLE_M(X, T, Csr, HEDDLE_CSR, ByPercentage, float percentage, HEDDLE_INFO)
HEDDLE_ALL(S, float)
HEDDLE_ALL(D, double)
#undef HEDDLE_ALL
#undef HEDDLE_M
#undef HEDDLE_NONE
#undef HEDDLE_INFO
#undef HEDDLE_CSR
#undef HEDDLE_DENSE
#define HEDDLE_M(X, T)                                                                                                 \
    cusparseStatus_t cusparse##X##nnz_compress(cusparseHandle_t handle, int m, const cusparseMatDescr_t descr,         \
                                               const T *csrSortedValA, const int *csrSortedRowPtrA, int *nnzPerRow,    \
                                               int *nnzC, T tol);                                                      \
    cusparseStatus_t cusparse##X##csr2csr_compress(                                                                    \
        cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descrA, const T *csrSortedValA,                \
        const int *csrSortedColIndA, const int *csrSortedRowPtrA, int nnzA, const int *nnzPerRow, T *csrSortedValC,    \
        int *csrSortedColIndC, int *csrSortedRowPtrC, T tol);
HEDDLE_M(S, float)
HEDDLE_M(D, double)
HEDDLE_M(C, cuComplex)
HEDDLE_M(Z, cuDoubleComplex)
#undef HEDDLE_M

/* Incomplete factors, of CSR and of square blocks; and products and
 * triangular systems of blocks. */
#define HEDDLE_INFO(Name, name)                                                                                        \
    cusparseStatus_t cusparseCreate##Name##Info(name##Info_t *info);                                                   \
    cusparseStatus_t cusparseDestroy##Name##Info(name##Info_t info);                                                   \
    cusparseStatus_t cusparseX##name##_zeroPivot(cusparseHandle_t handle, name##Info_t info, int *position);
HEDDLE_INFO(Csrilu02, csrilu02)
HEDDLE_INFO(Csric02, csric02)
HEDDLE_INFO(Bsrilu02, bsrilu02)
HEDDLE_INFO(Bsric02, bsric02)
HEDDLE_INFO(Bsrsv2, bsrsv2)
HEDDLE_INFO(Bsrsm2, bsrsm2)
#undef HEDDLE_INFO
#define HEDDLE_DIRECTION cusparseDirection_t dirA,
#define HEDDLE_BLOCK     int blockDim,
#define HEDDLE_NONE
#define HEDDLE_M(X, T, name, LEAD, BLOCK)                                                                              \
    cusparseStatus_t cusparse##X##name##_bufferSize(                                                                   \
        cusparseHandle_t handle, LEAD int m, int nnz, const cusparseMatDescr_t descrA, T *sortedValA,                  \
        const int *sortedRowPtrA, const int *sortedColIndA, BLOCK name##Info_t info, int *pBufferSizeInBytes);         \
    cusparseStatus_t cusparse##X##name##_analysis(                                                                     \
        cusparseHandle_t handle, LEAD int m, int nnz, const cusparseMatDescr_t descrA, const T *sortedValA,            \
        const int *sortedRowPtrA, const int *sortedColIndA, BLOCK name##Info_t info, cusparseSolvePolicy_t policy,     \
        void *pBuffer);                                                                                                \
    cusparseStatus_t cusparse##X##name(cusparseHandle_t handle, LEAD int m, int nnz, const cusparseMatDescr_t descrA,  \
                                       T *sortedValA, const int *sortedRowPtrA, const int *sortedColIndA,              \
                                       BLOCK name##Info_t info, cusparseSolvePolicy_t policy, void *pBuffer);
#define HEDDLE_BOOST(X, T, name)                                                                                       \
    cusparseStatus_t cusparse##X##name##_numericBoost(cusparseHandle_t handle, name##Info_t info, int enable_boost,    \
                                                      double *tol, T *boost_val);
#define HEDDLE_SYSTEM(X, T, name, LEAD, COUNT, ...)                                                                    \
    cusparseStatus_t cusparse##X##name##_bufferSize(                                                                   \
        cusparseHandle_t handle, cusparseDirection_t dirA, cusparseOperation_t transA, LEAD int mb, COUNT int nnzb,    \
        const cusparseMatDescr_t descrA, T *bsrSortedValA, const int *bsrSortedRowPtrA, const int *bsrSortedColIndA,   \
        int blockDim, name##Info_t info, int *pBufferSizeInBytes);                                                     \
    cusparseStatus_t cusparse##X##name##_analysis(                                                                     \
        cusparseHandle_t handle, cusparseDirection_t dirA, cusparseOperation_t transA, LEAD int mb, COUNT int nnzb,    \
        const cusparseMatDescr_t descrA, const T *bsrSortedValA, const int *bsrSortedRowPtrA,                          \
        const int *bsrSortedColIndA, int blockDim, name##Info_t info, cusparseSolvePolicy_t policy, void *pBuffer);    \
    cusparseStatus_t cusparse##X##name##_solve(                                                                        \
        cusparseHandle_t handle, cusparseDirection_t dirA, cusparseOperation_t transA, LEAD int mb, COUNT int nnzb,    \
        const T *alpha, const cusparseMatDescr_t descrA, const T *bsrSortedValA, const int *bsrSortedRowPtrA,          \
        const int *bsrSortedColIndA, int blockDim, name##Info_t info, __VA_ARGS__, cusparseSolvePolicy_t policy,       \
        void *pBuffer);
#define HEDDLE_OP    cusparseOperation_t transXY,
#define HEDDLE_COUNT int n,
#define HEDDLE_ALL(X, T)                                                                                               \
    HEDDLE_M(X, T, csrilu02, HEDDLE_NONE, HEDDLE_NONE)                                                                 \
    HEDDLE_M(X, T, csric02, HEDDLE_NONE, HEDDLE_NONE)                                                                  \
    HEDDLE_M(X, T, bsrilu02, HEDDLE_DIRECTION, HEDDLE_BLOCK)                                                           \
    HEDDLE_M(X, T, bsric02, HEDDLE_DIRECTION, HEDDLE_BLOCK)                                                            \
    HEDDLE_BOOST(X, T, csrilu02)                                                                                       \
    HEDDLE_BOOST(X, T, bsrilu02)                                                                                       \
    HEDDLE_SYSTEM(X, T, bsrsv2, HEDDLE_NONE, HEDDLE_NONE, const T *f, T *x)                                            \
    HEDDLE_SYSTEM(X, T, bsrsm2, HEDDLE_OP, HEDDLE_COUNT, const T *B, int ldb, T *x, int ldx)                           \
    cusparseStatus_t cusparse##X##bsrmv(cusparseHandle_t handle, cusparseDirection_t dirA, cusparseOperation_t transA, \
                                        int mb, int nb, int nnzb, const T *alpha, const cusparseMatDescr_t descrA,     \
                                        const T *bsrSortedValA, const int *bsrSortedRowPtrA,                           \
                                        const int *bsrSortedColIndA, int blockDim, const T *x, const T *beta, T *y);   \
    cusparseStatus_t cusparse##X##bsrxmv(                                                                              \
        cusparseHandle_t handle, cusparseDirection_t dirA, cusparseOperation_t transA, int sizeOfMask, int mb, int nb, \
        int nnzb, const T *alpha, const cusparseMatDescr_t descrA, const T *bsrSortedValA,                             \
        const int *bsrSortedMaskPtrA, const int *bsrSortedRowPtrA, const int *bsrSortedEndPtrA,                        \
        const int *bsrSortedColIndA, int blockDim, const T *x, const T *beta, T *y);                                   \
    cusparseStatus_t cusparse##X##bsrmm(cusparseHandle_t handle, cusparseDirection_t dirA, cusparseOperation_t transA, \
                                        cusparseOperation_t transB, int mb, int n, int kb, int nnzb, const T *alpha,   \
                                        const cusparseMatDescr_t descrA, const T *bsrSortedValA,                       \
                                        const int *bsrSortedRowPtrA, const int *bsrSortedColIndA, const int blockSize, \
                                        const T *B, const int ldb, const T *beta, T *C, int ldc);
HEDDLE_ALL(S, float)
HEDDLE_ALL(D, double)
HEDDLE_ALL(C, cuComplex)
HEDDLE_ALL(Z, cuDoubleComplex)
#undef HEDDLE_ALL
#undef HEDDLE_COUNT
#undef HEDDLE_OP
#undef HEDDLE_SYSTEM
#undef HEDDLE_BOOST
#undef HEDDLE_M
#undef HEDDLE_NONE
#undef HEDDLE_BLOCK
#undef HEDDLE_DIRECTION

/* Systems of three and five diagonals. */
#define HEDDLE_DIAGONALS(T) const T *dl, const T *d, const T *du
#define HEDDLE_ALL(X, T)                                                                                               \
    cusparseStatus_t cusparse##X##gtsv2_bufferSizeExt(cusparseHandle_t handle, int m, int n, HEDDLE_DIAGONALS(T),      \
                                                      const T *B, int ldb, size_t *bufferSizeInBytes);                 \
    cusparseStatus_t cusparse##X##gtsv2(cusparseHandle_t handle, int m, int n, HEDDLE_DIAGONALS(T), T *B, int ldb,     \
                                        void *pBuffer);                                                                \
    cusparseStatus_t cusparse##X##gtsv2_nopivot_bufferSizeExt(                                                         \
        cusparseHandle_t handle, int m, int n, HEDDLE_DIAGONALS(T), const T *B, int ldb, size_t *bufferSizeInBytes);   \
    cusparseStatus_t cusparse##X##gtsv2_nopivot(cusparseHandle_t handle, int m, int n, HEDDLE_DIAGONALS(T), T *B,      \
                                                int ldb, void *pBuffer);                                               \
    cusparseStatus_t cusparse##X##gtsv2StridedBatch_bufferSizeExt(cusparseHandle_t handle, int m, HEDDLE_DIAGONALS(T), \
                                                                  const T *x, int batchCount, int batchStride,         \
                                                                  size_t *bufferSizeInBytes);                          \
    cusparseStatus_t cusparse##X##gtsv2StridedBatch(cusparseHandle_t handle, int m, HEDDLE_DIAGONALS(T), T *x,         \
                                                    int batchCount, int batchStride, void *pBuffer);                   \
    cusparseStatus_t cusparse##X##gtsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algo, int m,         \
                                                                     HEDDLE_DIAGONALS(T), const T *x, int batchCount,  \
                                                                     size_t *pBufferSizeInBytes);                      \
    cusparseStatus_t cusparse##X##gtsvInterleavedBatch(cusparseHandle_t handle, int algo, int m, T *dl, T *d, T *du,   \
                                                       T *x, int batchCount, void *pBuffer);                           \
    cusparseStatus_t cusparse##X##gpsvInterleavedBatch_bufferSizeExt(                                                  \
        cusparseHandle_t handle, int algo, int m, const T *ds, HEDDLE_DIAGONALS(T), const T *dw, const T *x,           \
        int batchCount, size_t *pBufferSizeInBytes);                                                                   \
    cusparseStatus_t cusparse##X##gpsvInterleavedBatch(cusparseHandle_t handle, int algo, int m, T *ds, T *dl, T *d,   \
                                                       T *du, T *dw, T *x, int batchCount, void *pBuffer);
HEDDLE_ALL(S, float)
HEDDLE_ALL(D, double)
HEDDLE_ALL(C, cuComplex)
HEDDLE_ALL(Z, cuDoubleComplex)
#undef HEDDLE_ALL
#undef HEDDLE_DIAGONALS

/* ---- the logger ---- */

typedef void (*cusparseLoggerCallback_t)(int logLevel, const char *functionName, const char *message);
cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t callback);
cusparseStatus_t cusparseLoggerSetFile(FILE *file);
cusparseStatus_t cusparseLoggerOpenFile(const char *logFile);
cusparseStatus_t cusparseLoggerSetLevel(int level);
cusparseStatus_t cusparseLoggerSetMask(int mask);
cusparseStatus_t cusparseLoggerForceDisable(void);

#ifdef __cplusplus
}
#endif

#endif
