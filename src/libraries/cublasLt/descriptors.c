/* Descriptors of cuBLASLt and their attributes ("cuBLAS Library", 3.4). Create allocates one; Init
 * initialises one in the program's memory. */
#include "libraries/cublasLt/lt.h"

#include <stdlib.h>
#include <string.h>

static const struct attribute *find(const struct attribute *table, size_t n, unsigned number)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].number == number)
            return &table[i];
    return NULL;
}

cublasStatus_t attribute_set(void *record, const struct attribute *table, size_t n, unsigned number, const void *from,
                             size_t bytes)
{
    const struct attribute *a = find(table, n, number);
    if (!record || !a || !from || a->bytes != bytes || a->read_only)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy((char *)record + a->offset, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

/* With 0 bytes, only the attribute's size is requested. */
cublasStatus_t attribute_get(const void *record, const struct attribute *table, size_t n, unsigned number, void *to,
                             size_t bytes, size_t *written)
{
    const struct attribute *a = find(table, n, number);
    if (!record || !a || (bytes ? !to || a->bytes != bytes : !written))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (written)
        *written = a->bytes;
    if (bytes)
        memcpy(to, (const char *)record + a->offset, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

#define AT(T, number, member) {number, offsetof(T, member), sizeof(((T *)0)->member), false}

/* The functions of a kind of descriptor; parameters beside the descriptor are listed twice, with
   and without types. */
#define DESCRIPTOR(Name, Opaque, T, table, parameters, given, attributes_type)                                         \
    API cublasLt##Name##Create(Opaque##_t *descriptor UNPACK parameters)                                               \
    {                                                                                                                  \
        LOGGER_CALL("cublasLt" #Name "Create", "descriptor=%p", (void *)descriptor);                                   \
        if (!descriptor)                                                                                               \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        *descriptor = calloc(1, sizeof(Opaque##Opaque_t));                                                             \
        return *descriptor ? cublasLt##Name##Init_internal(*descriptor, sizeof(Opaque##Opaque_t) UNPACK given)         \
                           : CUBLAS_STATUS_ALLOC_FAILED;                                                               \
    }                                                                                                                  \
    API cublasLt##Name##Destroy(Opaque##_t descriptor)                                                                 \
    {                                                                                                                  \
        free(descriptor);                                                                                              \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    API cublasLt##Name##SetAttribute(Opaque##_t descriptor, attributes_type attr, const void *buf, size_t sizeInBytes) \
    {                                                                                                                  \
        return attribute_set(descriptor, table, sizeof table / sizeof *table, attr, buf, sizeInBytes);                 \
    }                                                                                                                  \
    API cublasLt##Name##GetAttribute(Opaque##_t descriptor, attributes_type attr, void *buf, size_t sizeInBytes,       \
                                     size_t *sizeWritten)                                                              \
    {                                                                                                                  \
        return attribute_get(descriptor, table, sizeof table / sizeof *table, attr, buf, sizeInBytes, sizeWritten);    \
    }
#define UNPACK(...) __VA_ARGS__

/* ---- layouts ---- */

#define LAYOUT(number, member) AT(struct layout, CUBLASLT_MATRIX_LAYOUT_##number, member)
static const struct attribute layout_attributes[] = {
    LAYOUT(TYPE, type),
    LAYOUT(ORDER, order),
    LAYOUT(ROWS, rows),
    LAYOUT(COLS, columns),
    LAYOUT(LD, ld),
    LAYOUT(BATCH_COUNT, batch_count),
    LAYOUT(STRIDED_BATCH_OFFSET, batch_stride),
    LAYOUT(PLANE_OFFSET, plane_offset),
    LAYOUT(BATCH_MODE, batch_mode),
};

API cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t matLayout, size_t size, cudaDataType type, uint64_t rows,
                                      uint64_t cols, int64_t ld)
{
    LOGGER_CALL("cublasLtMatrixLayoutInit", "matLayout=%p type=%d rows=%llu cols=%llu ld=%lld", (void *)matLayout,
                (int)type, (unsigned long long)rows, (unsigned long long)cols, (long long)ld);
    if (!matLayout || size < sizeof(struct layout))
        return CUBLAS_STATUS_INVALID_VALUE;
    memset(matLayout, 0, size);
    *(struct layout *)matLayout =
        (struct layout){.type = type, .rows = rows, .columns = cols, .ld = ld, .batch_count = 1};
    return CUBLAS_STATUS_SUCCESS;
}
DESCRIPTOR(MatrixLayout, cublasLtMatrixLayout, struct layout, layout_attributes,
           (, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld), (, type, rows, cols, ld),
           cublasLtMatrixLayoutAttribute_t)

/* ---- operations ---- */

#define OPERATION(number, member) AT(struct operation, CUBLASLT_MATMUL_DESC_##number, member)
static const struct attribute operation_attributes[] = {
    OPERATION(COMPUTE_TYPE, compute),
    OPERATION(SCALE_TYPE, scale_type),
    OPERATION(POINTER_MODE, pointer_mode),
    OPERATION(TRANSA, ta),
    OPERATION(TRANSB, tb),
    OPERATION(TRANSC, tc),
    OPERATION(FILL_MODE, fill_mode),
    OPERATION(EPILOGUE, epilogue),
    OPERATION(BIAS_POINTER, bias),
    OPERATION(BIAS_BATCH_STRIDE, bias_stride),
    OPERATION(EPILOGUE_AUX_POINTER, aux),
    OPERATION(EPILOGUE_AUX_LD, aux_ld),
    OPERATION(EPILOGUE_AUX_BATCH_STRIDE, aux_stride),
    OPERATION(ALPHA_VECTOR_BATCH_STRIDE, alpha_stride),
    OPERATION(SM_COUNT_TARGET, sm_count_target),
    AT(struct operation, 16, reserved), /* undocumented */
    OPERATION(A_SCALE_POINTER, a_scale),
    OPERATION(B_SCALE_POINTER, b_scale),
    OPERATION(C_SCALE_POINTER, c_scale),
    OPERATION(D_SCALE_POINTER, d_scale),
    OPERATION(AMAX_D_POINTER, amax_d),
    OPERATION(EPILOGUE_AUX_DATA_TYPE, aux_type),
    OPERATION(EPILOGUE_AUX_SCALE_POINTER, aux_scale),
    OPERATION(EPILOGUE_AUX_AMAX_POINTER, aux_amax),
    OPERATION(FAST_ACCUM, fast_accumulation),
    OPERATION(BIAS_DATA_TYPE, bias_type),
    OPERATION(A_SCALE_MODE, scale_modes[0]),
    OPERATION(B_SCALE_MODE, scale_modes[1]),
    OPERATION(C_SCALE_MODE, scale_modes[2]),
    OPERATION(D_SCALE_MODE, scale_modes[3]),
    OPERATION(EPILOGUE_AUX_SCALE_MODE, scale_modes[4]),
    OPERATION(D_OUT_SCALE_POINTER, d_out_scale),
    OPERATION(D_OUT_SCALE_MODE, d_out_scale_mode),
    OPERATION(EMULATION_DESCRIPTOR, emulation),
};

API cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t matmulDesc, size_t size, cublasComputeType_t computeType,
                                    cudaDataType_t scaleType)
{
    LOGGER_CALL("cublasLtMatmulDescInit", "matmulDesc=%p computeType=%d scaleType=%d", (void *)matmulDesc,
                (int)computeType, (int)scaleType);
    if (!matmulDesc || size < sizeof(struct operation))
        return CUBLAS_STATUS_INVALID_VALUE;
    memset(matmulDesc, 0, size);
    *(struct operation *)matmulDesc = (struct operation){.compute = computeType,
                                                         .scale_type = scaleType,
                                                         .fill_mode = CUBLAS_FILL_MODE_FULL,
                                                         .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                                                         .aux_type = -1,
                                                         .bias_type = -1};
    return CUBLAS_STATUS_SUCCESS;
}
DESCRIPTOR(MatmulDesc, cublasLtMatmulDesc, struct operation, operation_attributes,
           (, cublasComputeType_t computeType, cudaDataType_t scaleType), (, computeType, scaleType),
           cublasLtMatmulDescAttributes_t)

/* ---- preferences ---- */

#define PREFERENCE(number, member) AT(struct preference, CUBLASLT_MATMUL_PREF_##number, member)
static const struct attribute preference_attributes[] = {
    PREFERENCE(SEARCH_MODE, search_mode),
    PREFERENCE(MAX_WORKSPACE_BYTES, workspace),
    PREFERENCE(REDUCTION_SCHEME_MASK, reduction_schemes),
    PREFERENCE(MIN_ALIGNMENT_A_BYTES, alignment[0]),
    PREFERENCE(MIN_ALIGNMENT_B_BYTES, alignment[1]),
    PREFERENCE(MIN_ALIGNMENT_C_BYTES, alignment[2]),
    PREFERENCE(MIN_ALIGNMENT_D_BYTES, alignment[3]),
    PREFERENCE(MAX_WAVES_COUNT, waves),
    PREFERENCE(IMPL_MASK, implementations),
};

API cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t pref, size_t size)
{
    if (!pref || size < sizeof(struct preference))
        return CUBLAS_STATUS_INVALID_VALUE;
    memset(pref, 0, size);
    *(struct preference *)pref = (struct preference){.reduction_schemes = CUBLASLT_REDUCTION_SCHEME_MASK,
                                                     .implementations = UINT64_MAX,
                                                     .alignment = {256, 256, 256, 256}};
    return CUBLAS_STATUS_SUCCESS;
}
DESCRIPTOR(MatmulPreference, cublasLtMatmulPreference, struct preference, preference_attributes, (), (),
           cublasLtMatmulPreferenceAttributes_t)

/* ---- transformations ---- */

#define TRANSFORM(number, member) AT(struct transformation, CUBLASLT_MATRIX_TRANSFORM_DESC_##number, member)
static const struct attribute transformation_attributes[] = {
    TRANSFORM(SCALE_TYPE, scale_type),
    TRANSFORM(POINTER_MODE, pointer_mode),
    TRANSFORM(TRANSA, ta),
    TRANSFORM(TRANSB, tb),
};

API cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t transformDesc, size_t size,
                                             cudaDataType scaleType)
{
    if (!transformDesc || size < sizeof(struct transformation))
        return CUBLAS_STATUS_INVALID_VALUE;
    memset(transformDesc, 0, size);
    ((struct transformation *)transformDesc)->scale_type = scaleType;
    return CUBLAS_STATUS_SUCCESS;
}
DESCRIPTOR(MatrixTransformDesc, cublasLtMatrixTransformDesc, struct transformation, transformation_attributes,
           (, cudaDataType scaleType), (, scaleType), cublasLtMatrixTransformDescAttributes_t)
