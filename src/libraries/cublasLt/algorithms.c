/* Algorithms and heuristics ("cuBLAS Library", 3.4: cublasLtMatmulAlgo...). There is one algorithm,
 * which handles everything and needs no workspace; its configuration is stored without effect. It
 * describes itself as an H200's first choice does.
 */
#include "libraries/cublasLt/lt.h"

#include <string.h>

enum { FIRST_CHOICE = 66, HIGHEST_ID = 99 };

bool is_algorithm(const struct algorithm *a)
{
    return a->mark == ALGORITHM;
}

static struct algorithm first_choice(int id)
{
    return (struct algorithm){.mark = ALGORITHM,
                              .id = id,
                              .tile = CUBLASLT_MATMUL_TILE_32x32,
                              .split_k = 1,
                              .stages = CUBLASLT_MATMUL_STAGES_64xAUTO,
                              .cluster_shape = CUBLASLT_CLUSTER_SHAPE_1x1x1,
                              .ten = 1};
}

API cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
                                   cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
                                   cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
                                   cublasLtMatmulPreference_t preference, int requestedAlgoCount,
                                   cublasLtMatmulHeuristicResult_t heuristicResultsArray[], int *returnAlgoCount)
{
    if (!lightHandle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!preference || requestedAlgoCount <= 0 || !heuristicResultsArray || !returnAlgoCount)
        return CUBLAS_STATUS_INVALID_VALUE;
    *returnAlgoCount = 0;
    const cublasStatus_t status = matmul_check("cublasLtMatmulAlgoGetHeuristic", (void *)operationDesc, (void *)Adesc,
                                               (void *)Bdesc, (void *)(Cdesc ? Cdesc : Ddesc), (void *)Ddesc);
    if (status)
        return status;
    cublasLtMatmulHeuristicResult_t *r = heuristicResultsArray;
    memset(r, 0, sizeof *r);
    const struct algorithm a = first_choice(FIRST_CHOICE);
    memcpy(&r->algo, &a, sizeof a);
    r->wavesCount = 1;
    *returnAlgoCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}

API cublasLtMatmulAlgoCheck(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
                            cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc,
                            cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t *algo,
                            cublasLtMatmulHeuristicResult_t *result)
{
    if (!lightHandle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!algo || !result || !is_algorithm((const void *)algo))
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = matmul_check("cublasLtMatmulAlgoCheck", (void *)operationDesc, (void *)Adesc,
                                               (void *)Bdesc, (void *)Cdesc, (void *)Ddesc);
    if (status)
        return status;
    *result = (cublasLtMatmulHeuristicResult_t){.algo = *algo, .wavesCount = 1};
    return CUBLAS_STATUS_SUCCESS;
}

/* Checks types that a product can have, whatever its sizes. */
static cublasStatus_t check_types(cublasComputeType_t compute, cudaDataType_t scale, cudaDataType_t a, cudaDataType_t b,
                                  cudaDataType_t c, cudaDataType_t d)
{
    const struct layout la = {a, 0, 16, 16, 16, 1, 0, 0, 0}, lb = {b, 0, 16, 16, 16, 1, 0, 0, 0},
                        lc = {c, 0, 16, 16, 16, 1, 0, 0, 0}, ld = {d, 0, 16, 16, 16, 1, 0, 0, 0};
    const struct operation o = {.compute = compute,
                                .scale_type = scale,
                                .ta = CUBLAS_OP_T,
                                .fill_mode = CUBLAS_FILL_MODE_FULL,
                                .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
    return matmul_check("cublasLtMatmulAlgoGetIds", &o, &la, &lb, &lc, &ld);
}

API cublasLtMatmulAlgoGetIds(cublasLtHandle_t lightHandle, cublasComputeType_t computeType, cudaDataType_t scaleType,
                             cudaDataType_t Atype, cudaDataType_t Btype, cudaDataType_t Ctype, cudaDataType_t Dtype,
                             int requestedAlgoCount, int algoIdsArray[], int *returnAlgoCount)
{
    if (!lightHandle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (requestedAlgoCount <= 0 || !algoIdsArray || !returnAlgoCount)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = check_types(computeType, scaleType, Atype, Btype, Ctype, Dtype);
    *returnAlgoCount = status ? 0 : 1;
    algoIdsArray[0] = FIRST_CHOICE;
    return status;
}

API cublasLtMatmulAlgoInit(cublasLtHandle_t lightHandle, cublasComputeType_t computeType, cudaDataType_t scaleType,
                           cudaDataType_t Atype, cudaDataType_t Btype, cudaDataType_t Ctype, cudaDataType_t Dtype,
                           int algoId, cublasLtMatmulAlgo_t *algo)
{
    if (!lightHandle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!algo || algoId < -1 || algoId > HIGHEST_ID)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = check_types(computeType, scaleType, Atype, Btype, Ctype, Dtype);
    const struct algorithm a = first_choice(algoId);
    memset(algo, 0, sizeof *algo);
    if (!status)
        memcpy(algo, &a, sizeof a);
    return status;
}

/* ---- what an algorithm says of itself ---- */

#define CONFIG(number, member)                                                                                         \
    {CUBLASLT_ALGO_CONFIG_##number, offsetof(struct algorithm, member), sizeof(((struct algorithm *)0)->member), false}
static const struct attribute configuration[] = {
    {CUBLASLT_ALGO_CONFIG_ID, offsetof(struct algorithm, id), sizeof(int32_t), true},
    CONFIG(TILE_ID, tile),
    CONFIG(SPLITK_NUM, split_k),
    CONFIG(REDUCTION_SCHEME, reduction),
    CONFIG(CTA_SWIZZLING, swizzle),
    CONFIG(CUSTOM_OPTION, custom),
    CONFIG(STAGES_ID, stages),
    CONFIG(INNER_SHAPE_ID, inner_shape),
    CONFIG(CLUSTER_SHAPE_ID, cluster_shape),
    {10, offsetof(struct algorithm, ten), sizeof(uint16_t), false}, /* undocumented */
};

API cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr,
                                         const void *buf, size_t sizeInBytes)
{
    return attribute_set(algo, configuration, sizeof configuration / sizeof *configuration, attr, buf, sizeInBytes);
}

API cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr,
                                         void *buf, size_t sizeInBytes, size_t *sizeWritten)
{
    return attribute_get(algo, configuration, sizeof configuration / sizeof *configuration, attr, buf, sizeInBytes,
                         sizeWritten);
}

static const struct capabilities {
    int32_t split_k;
    uint32_t reductions;
    uint32_t swizzling;
    int32_t strided_batch, out_of_place, uplo;
    uint32_t tiles[1];
    int32_t custom_most;
    int32_t custom_order;
    uint32_t pointer_modes, epilogues;
    uint32_t stages[1];
    int32_t negative_ld;
    uint64_t numerical;
    uint32_t alignment[4];
    int32_t arrays, emulation;
} capabilities = {.split_k = 1,
                  .reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
                  .strided_batch = 1,
                  .out_of_place = 1,
                  .tiles = {CUBLASLT_MATMUL_TILE_32x32},
                  .pointer_modes = CUBLASLT_POINTER_MODE_MASK_HOST | CUBLASLT_POINTER_MODE_MASK_DEVICE,
                  .epilogues = 1023,
                  .stages = {CUBLASLT_MATMUL_STAGES_64xAUTO},
                  .numerical = CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
                               CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F,
                  .alignment = {1, 1, 1, 1},
                  .arrays = 1};
#define CAP(number, member)                                                                                            \
    {CUBLASLT_ALGO_CAP_##number, offsetof(struct capabilities, member), sizeof(((struct capabilities *)0)->member),    \
     true}
static const struct attribute capability_attributes[] = {
    CAP(SPLITK_SUPPORT, split_k),
    CAP(REDUCTION_SCHEME_MASK, reductions),
    CAP(CTA_SWIZZLING_SUPPORT, swizzling),
    CAP(STRIDED_BATCH_SUPPORT, strided_batch),
    CAP(OUT_OF_PLACE_RESULT_SUPPORT, out_of_place),
    CAP(UPLO_SUPPORT, uplo),
    CAP(TILE_IDS, tiles),
    CAP(CUSTOM_OPTION_MAX, custom_most),
    CAP(CUSTOM_MEMORY_ORDER, custom_order),
    CAP(POINTER_MODE_MASK, pointer_modes),
    CAP(EPILOGUE_MASK, epilogues),
    CAP(STAGES_IDS, stages),
    CAP(LD_NEGATIVE, negative_ld),
    CAP(NUMERICAL_IMPL_FLAGS, numerical),
    CAP(MIN_ALIGNMENT_A_BYTES, alignment[0]),
    CAP(MIN_ALIGNMENT_B_BYTES, alignment[1]),
    CAP(MIN_ALIGNMENT_C_BYTES, alignment[2]),
    CAP(MIN_ALIGNMENT_D_BYTES, alignment[3]),
    CAP(POINTER_ARRAY_BATCH_SUPPORT, arrays),
    CAP(FLOATING_POINT_EMULATION_SUPPORT, emulation),
};

API cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoCapAttributes_t attr,
                                      void *buf, size_t sizeInBytes, size_t *sizeWritten)
{
    if (!algo)
        return CUBLAS_STATUS_INVALID_VALUE;
    return attribute_get(&capabilities, capability_attributes,
                         sizeof capability_attributes / sizeof *capability_attributes, attr, buf, sizeInBytes,
                         sizeWritten);
}
