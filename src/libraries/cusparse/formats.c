/* Descriptors of matrices stored in blocks and slices: BSR, Blocked-ELL, Sliced-ELL ("cuSPARSE",
 * Sparse Matrix Formats). */
#include "libraries/cusparse/call.h"

static bool fits(int64_t a, int64_t b) /* does the product of both fit? */
{
    int64_t product;
    return !__builtin_mul_overflow(a, b, &product);
}

#define BSR(Const, constant)                                                                                           \
    LIBRARY_API cusparseStatus_t cusparseCreate##Const##Bsr(                                                           \
        cusparse##Const##SpMatDescr_t *descriptor, int64_t rows, int64_t columns, int64_t nnz, int64_t block_rows,     \
        int64_t block_columns, constant void *offsets, constant void *indices, constant void *values,                  \
        cusparseIndexType_t offset, cusparseIndexType_t index, cusparseIndexBase_t base, cudaDataType type,            \
        cusparseOrder_t order)                                                                                         \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        NEED(rows >= 0 && columns >= 0 && nnz >= 0 && block_rows > 0 && block_rows == block_columns);                  \
        NEED(order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW);                                              \
        NEED(fits(rows, block_rows) && fits(columns, block_columns));                                                  \
        NEED(fits(nnz, block_rows) && fits(nnz * block_rows, block_columns));                                          \
        const struct sparse d = {.format = CUSPARSE_FORMAT_BSR,                                                        \
                                 .rows = rows * block_rows,                                                            \
                                 .columns = columns * block_columns,                                                   \
                                 .nnz = nnz * block_rows * block_columns,                                              \
                                 .offsets = (void *)offsets,                                                           \
                                 .indices = (void *)indices,                                                           \
                                 .values = (void *)values,                                                             \
                                 .offset = offset,                                                                     \
                                 .index = index,                                                                       \
                                 .base = base,                                                                         \
                                 .type = type,                                                                         \
                                 .batch = 1,                                                                           \
                                 .block_rows = block_rows,                                                             \
                                 .block_columns = block_columns,                                                       \
                                 .order = order};                                                                      \
        return sparse_create(__func__, descriptor, &d);                                                                \
    }
TWICE(BSR)

LIBRARY_API cusparseStatus_t cusparseBsrSetStridedBatch(cusparseSpMatDescr_t descriptor, int count,
                                                        int64_t offsets_stride, int64_t indices_stride, int64_t stride)
{
    DESCRIPTOR(d, struct sparse, descriptor, KIND_SPARSE);
    NEED(d->format == CUSPARSE_FORMAT_BSR);
    NEED(count > 0);
    NEED(offsets_stride == 0 || offsets_stride >= sparse_offsets(d));
    NEED(indices_stride == 0 || indices_stride >= sparse_indices(d));
    NEED(stride == 0 || stride >= d->nnz);
    d->batch = count;
    d->offsets_stride = offsets_stride;
    d->indices_stride = indices_stride;
    d->stride = stride;
    return CUSPARSE_STATUS_SUCCESS;
}

#define BLOCKED_ELL(Const, constant)                                                                                   \
    LIBRARY_API cusparseStatus_t cusparseCreate##Const##BlockedEll(                                                    \
        cusparse##Const##SpMatDescr_t *descriptor, int64_t rows, int64_t columns, int64_t block, int64_t width,        \
        constant void *indices, constant void *values, cusparseIndexType_t index, cusparseIndexBase_t base,            \
        cudaDataType type)                                                                                             \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        NEED(rows >= 0 && columns >= 0 && block > 0 && width >= 0 && width <= columns);                                \
        NEED(rows % block == 0 && columns % block == 0 && width % block == 0);                                         \
        NEED(fits(rows, width) && fits(block, block) && fits(rows * width, block * block));                            \
        const struct sparse d = {.format = CUSPARSE_FORMAT_BLOCKED_ELL,                                                \
                                 .rows = rows,                                                                         \
                                 .columns = columns,                                                                   \
                                 .nnz = rows * width,                                                                  \
                                 .told = rows * width * block * block, /* as an H200 reports it */                     \
                                 .indices = (void *)indices,                                                           \
                                 .values = (void *)values,                                                             \
                                 .offset = index,                                                                      \
                                 .index = index,                                                                       \
                                 .base = base,                                                                         \
                                 .type = type,                                                                         \
                                 .batch = 1,                                                                           \
                                 .block_rows = block,                                                                  \
                                 .block_columns = block,                                                               \
                                 .order = CUSPARSE_ORDER_ROW,                                                          \
                                 .width = width};                                                                      \
        return sparse_create(__func__, descriptor, &d);                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Const##BlockedEllGet(                                                       \
        cusparse##Const##SpMatDescr_t descriptor, int64_t *rows, int64_t *columns, int64_t *block, int64_t *width,     \
        constant void **indices, constant void **values, cusparseIndexType_t *index, cusparseIndexBase_t *base,        \
        cudaDataType *type)                                                                                            \
    {                                                                                                                  \
        DESCRIPTOR(d, const struct sparse, descriptor, KIND_SPARSE);                                                   \
        NEED(d->format == CUSPARSE_FORMAT_BLOCKED_ELL);                                                                \
        NEED(rows &&columns &&block &&width &&indices &&values &&index &&base &&type);                                 \
        *rows = d->rows;                                                                                               \
        *columns = d->columns;                                                                                         \
        *block = d->block_rows;                                                                                        \
        *width = d->width;                                                                                             \
        *indices = d->indices;                                                                                         \
        *values = d->values;                                                                                           \
        *index = d->index;                                                                                             \
        *base = d->base;                                                                                               \
        *type = d->type;                                                                                               \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
TWICE(BLOCKED_ELL)

#define SLICED_ELL(Const, constant)                                                                                    \
    LIBRARY_API cusparseStatus_t cusparseCreate##Const##SlicedEll(                                                     \
        cusparse##Const##SpMatDescr_t *descriptor, int64_t rows, int64_t columns, int64_t nnz, int64_t values_size,    \
        int64_t slice, constant void *offsets, constant void *indices, constant void *values,                          \
        cusparseIndexType_t offset, cusparseIndexType_t index, cusparseIndexBase_t base, cudaDataType type)            \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        NEED(rows >= 0 && columns >= 0 && nnz >= 0 && values_size >= nnz && slice >= 0);                               \
        const struct sparse d = {.format = CUSPARSE_FORMAT_SLICED_ELLPACK,                                             \
                                 .rows = rows,                                                                         \
                                 .columns = columns,                                                                   \
                                 .nnz = values_size,                                                                   \
                                 .told = nnz,                                                                          \
                                 .offsets = (void *)offsets,                                                           \
                                 .indices = (void *)indices,                                                           \
                                 .values = (void *)values,                                                             \
                                 .offset = offset,                                                                     \
                                 .index = index,                                                                       \
                                 .base = base,                                                                         \
                                 .type = type,                                                                         \
                                 .batch = 1,                                                                           \
                                 .width = slice};                                                                      \
        return sparse_create(__func__, descriptor, &d);                                                                \
    }
TWICE(SLICED_ELL)
