/* Descriptors of vectors and matrices ("cuSPARSE", Generic API Reference). A NULL argument of a
 * getter is an invalid value. */
#include "libraries/cusparse/call.h"

static bool is_type(cudaDataType type)
{
    return type_bytes(type) != 0;
}

static bool is_index(cusparseIndexType_t type)
{
    return type == CUSPARSE_INDEX_16U || type == CUSPARSE_INDEX_32I || type == CUSPARSE_INDEX_64I;
}

/* Getter and setter of the values pointer, for a kind of descriptor. */
#define VALUES(Name, structure, kind)                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Name##GetValues(cusparse##Name##Descr_t descriptor, void **values)          \
    {                                                                                                                  \
        DESCRIPTOR(d, struct structure, descriptor, kind);                                                             \
        NEED(values);                                                                                                  \
        *values = d->values;                                                                                           \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparseConst##Name##GetValues(cusparseConst##Name##Descr_t descriptor,               \
                                                                const void **values)                                   \
    {                                                                                                                  \
        DESCRIPTOR(d, struct structure, descriptor, kind);                                                             \
        NEED(values);                                                                                                  \
        *values = d->values;                                                                                           \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Name##SetValues(cusparse##Name##Descr_t descriptor, void *values)           \
    {                                                                                                                  \
        DESCRIPTOR(d, struct structure, descriptor, kind);                                                             \
        d->values = values;                                                                                            \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparseDestroy##Name(cusparseConst##Name##Descr_t descriptor)                        \
    {                                                                                                                  \
        return record_destroy(descriptor, kind);                                                                       \
    }
VALUES(DnVec, dense_vector, KIND_DENSE_VECTOR)
VALUES(SpVec, sparse_vector, KIND_SPARSE_VECTOR)
VALUES(DnMat, dense, KIND_DENSE)
VALUES(SpMat, sparse, KIND_SPARSE)

/* ---- vectors ---- */

#define DENSE_VECTOR(Const, constant)                                                                                  \
    LIBRARY_API cusparseStatus_t cusparseCreate##Const##DnVec(cusparse##Const##DnVecDescr_t *descriptor, int64_t size, \
                                                              constant void *values, cudaDataType type)                \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        NEED(descriptor);                                                                                              \
        NEED(size >= 0);                                                                                               \
        NEED(is_type(type));                                                                                           \
        const struct dense_vector d = {size, (void *)values, type};                                                    \
        return record_add(descriptor, KIND_DENSE_VECTOR, &d, sizeof d);                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Const##DnVecGet(cusparse##Const##DnVecDescr_t descriptor, int64_t *size,    \
                                                           constant void **values, cudaDataType *type)                 \
    {                                                                                                                  \
        DESCRIPTOR(d, const struct dense_vector, descriptor, KIND_DENSE_VECTOR);                                       \
        NEED(size &&values &&type);                                                                                    \
        *size = d->size;                                                                                               \
        *values = d->values;                                                                                           \
        *type = d->type;                                                                                               \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
TWICE(DENSE_VECTOR)

#define SPARSE_VECTOR(Const, constant)                                                                                 \
    LIBRARY_API cusparseStatus_t cusparseCreate##Const##SpVec(                                                         \
        cusparse##Const##SpVecDescr_t *descriptor, int64_t size, int64_t nnz, constant void *indices,                  \
        constant void *values, cusparseIndexType_t index, cusparseIndexBase_t base, cudaDataType type)                 \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        NEED(descriptor);                                                                                              \
        NEED(size >= 0 && nnz >= 0 && nnz <= size);                                                                    \
        NEED(is_index(index) && is_base(base));                                                                        \
        NEED(is_type(type));                                                                                           \
        const struct sparse_vector d = {size, nnz, (void *)indices, (void *)values, index, base, type};                \
        return record_add(descriptor, KIND_SPARSE_VECTOR, &d, sizeof d);                                               \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Const##SpVecGet(                                                            \
        cusparse##Const##SpVecDescr_t descriptor, int64_t *size, int64_t *nnz, constant void **indices,                \
        constant void **values, cusparseIndexType_t *index, cusparseIndexBase_t *base, cudaDataType *type)             \
    {                                                                                                                  \
        DESCRIPTOR(d, const struct sparse_vector, descriptor, KIND_SPARSE_VECTOR);                                     \
        NEED(size &&nnz &&indices &&values &&index &&base &&type);                                                     \
        *size = d->size;                                                                                               \
        *nnz = d->nnz;                                                                                                 \
        *indices = d->indices;                                                                                         \
        *values = d->values;                                                                                           \
        *index = d->index;                                                                                             \
        *base = d->base;                                                                                               \
        *type = d->type;                                                                                               \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
TWICE(SPARSE_VECTOR)

LIBRARY_API cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t descriptor, cusparseIndexBase_t *base)
{
    DESCRIPTOR(d, const struct sparse_vector, descriptor, KIND_SPARSE_VECTOR);
    NEED(base);
    *base = d->base;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- dense matrices ---- */

#define DENSE(Const, constant)                                                                                         \
    LIBRARY_API cusparseStatus_t cusparseCreate##Const##DnMat(cusparse##Const##DnMatDescr_t *descriptor, int64_t rows, \
                                                              int64_t columns, int64_t ld, constant void *values,      \
                                                              cudaDataType type, cusparseOrder_t order)                \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        NEED(descriptor);                                                                                              \
        NEED(rows >= 0 && columns >= 0);                                                                               \
        NEED(order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW);                                              \
        NEED(ld >= (order == CUSPARSE_ORDER_COL ? rows : columns));                                                    \
        NEED(is_type(type));                                                                                           \
        const struct dense d = {rows, columns, ld, (void *)values, type, order, 1, 0};                                 \
        return record_add(descriptor, KIND_DENSE, &d, sizeof d);                                                       \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Const##DnMatGet(cusparse##Const##DnMatDescr_t descriptor, int64_t *rows,    \
                                                           int64_t *columns, int64_t *ld, constant void **values,      \
                                                           cudaDataType *type, cusparseOrder_t *order)                 \
    {                                                                                                                  \
        DESCRIPTOR(d, const struct dense, descriptor, KIND_DENSE);                                                     \
        NEED(rows &&columns &&ld &&values &&type &&order);                                                             \
        *rows = d->rows;                                                                                               \
        *columns = d->columns;                                                                                         \
        *ld = d->ld;                                                                                                   \
        *values = d->values;                                                                                           \
        *type = d->type;                                                                                               \
        *order = d->order;                                                                                             \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
TWICE(DENSE)

LIBRARY_API cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t descriptor, int count, int64_t stride)
{
    DESCRIPTOR(d, struct dense, descriptor, KIND_DENSE);
    NEED(count > 0 && stride >= 0);
    NEED(stride == 0 || stride >= d->ld * (d->order == CUSPARSE_ORDER_COL ? d->columns : d->rows));
    d->batch = count;
    d->stride = stride;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t descriptor, int *count,
                                                          int64_t *stride)
{
    DESCRIPTOR(d, const struct dense, descriptor, KIND_DENSE);
    NEED(count && stride);
    *count = d->batch;
    *stride = d->stride;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- sparse matrices ---- */

cusparseStatus_t sparse_create(const char *name, const void *descriptor, const struct sparse *d)
{
    if (!descriptor)
        return call_wrong(name, CUSPARSE_STATUS_INVALID_VALUE, "the pointer for the descriptor is not NULL");
    if (d->rows < 0 || d->columns < 0 || d->nnz < 0)
        return call_wrong(name, CUSPARSE_STATUS_INVALID_VALUE, "rows, columns and nnz are at least 0");
    bool is_sliced = d->format == CUSPARSE_FORMAT_SLICED_ELLPACK; /* padding counts, too */
    if (!is_sliced && d->nnz > 0 && (d->rows == 0 || d->columns == 0 || (d->nnz - 1) / d->rows >= d->columns))
        return call_wrong(name, CUSPARSE_STATUS_INVALID_VALUE, "nnz is at most rows times columns");
    if (!is_index(d->offset) || !is_index(d->index) || !is_base(d->base) || !is_type(d->type))
        return call_wrong(name, CUSPARSE_STATUS_INVALID_VALUE, "the types and the base are valid");
    if (d->offset != d->index)
        return call_wrong(name, CUSPARSE_STATUS_NOT_SUPPORTED, "offsets and indices have the same type");
    return record_add((void *)descriptor, KIND_SPARSE, d, sizeof *d);
}

#define COMPRESSED(Const, constant, Name, FORMAT)                                                                      \
    LIBRARY_API cusparseStatus_t cusparseCreate##Const##Name(                                                          \
        cusparse##Const##SpMatDescr_t *descriptor, int64_t rows, int64_t columns, int64_t nnz, constant void *offsets, \
        constant void *indices, constant void *values, cusparseIndexType_t offset, cusparseIndexType_t index,          \
        cusparseIndexBase_t base, cudaDataType type)                                                                   \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        const struct sparse d = {.format = CUSPARSE_FORMAT_##FORMAT,                                                   \
                                 .rows = rows,                                                                         \
                                 .columns = columns,                                                                   \
                                 .nnz = nnz,                                                                           \
                                 .offsets = (void *)offsets,                                                           \
                                 .indices = (void *)indices,                                                           \
                                 .values = (void *)values,                                                             \
                                 .offset = offset,                                                                     \
                                 .index = index,                                                                       \
                                 .base = base,                                                                         \
                                 .type = type,                                                                         \
                                 .batch = 1};                                                                          \
        return sparse_create(__func__, descriptor, &d);                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Const##Name##Get(                                                           \
        cusparse##Const##SpMatDescr_t descriptor, int64_t *rows, int64_t *columns, int64_t *nnz,                       \
        constant void **offsets, constant void **indices, constant void **values, cusparseIndexType_t *offset,         \
        cusparseIndexType_t *index, cusparseIndexBase_t *base, cudaDataType *type)                                     \
    {                                                                                                                  \
        DESCRIPTOR(d, const struct sparse, descriptor, KIND_SPARSE);                                                   \
        NEED(d->format == CUSPARSE_FORMAT_##FORMAT);                                                                   \
        NEED(rows &&columns &&nnz &&offsets &&indices &&values &&offset &&index &&base &&type);                        \
        *rows = d->rows;                                                                                               \
        *columns = d->columns;                                                                                         \
        *nnz = d->nnz;                                                                                                 \
        *offsets = d->offsets;                                                                                         \
        *indices = d->indices;                                                                                         \
        *values = d->values;                                                                                           \
        *offset = d->offset;                                                                                           \
        *index = d->index;                                                                                             \
        *base = d->base;                                                                                               \
        *type = d->type;                                                                                               \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
#define CSR(Const, constant) COMPRESSED(Const, constant, Csr, CSR)
#define CSC(Const, constant) COMPRESSED(Const, constant, Csc, CSC)
TWICE(CSR)
TWICE(CSC)

#define COO(Const, constant)                                                                                           \
    LIBRARY_API cusparseStatus_t cusparseCreate##Const##Coo(                                                           \
        cusparse##Const##SpMatDescr_t *descriptor, int64_t rows, int64_t columns, int64_t nnz, constant void *row,     \
        constant void *column, constant void *values, cusparseIndexType_t index, cusparseIndexBase_t base,             \
        cudaDataType type)                                                                                             \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        const struct sparse d = {.format = CUSPARSE_FORMAT_COO,                                                        \
                                 .rows = rows,                                                                         \
                                 .columns = columns,                                                                   \
                                 .nnz = nnz,                                                                           \
                                 .offsets = (void *)row,                                                               \
                                 .indices = (void *)column,                                                            \
                                 .values = (void *)values,                                                             \
                                 .offset = index,                                                                      \
                                 .index = index,                                                                       \
                                 .base = base,                                                                         \
                                 .type = type,                                                                         \
                                 .batch = 1};                                                                          \
        return sparse_create(__func__, descriptor, &d);                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Const##CooGet(                                                              \
        cusparse##Const##SpMatDescr_t descriptor, int64_t *rows, int64_t *columns, int64_t *nnz, constant void **row,  \
        constant void **column, constant void **values, cusparseIndexType_t *index, cusparseIndexBase_t *base,         \
        cudaDataType *type)                                                                                            \
    {                                                                                                                  \
        DESCRIPTOR(d, const struct sparse, descriptor, KIND_SPARSE);                                                   \
        NEED(d->format == CUSPARSE_FORMAT_COO);                                                                        \
        NEED(rows &&columns &&nnz &&row &&column &&values &&index &&base &&type);                                      \
        *rows = d->rows;                                                                                               \
        *columns = d->columns;                                                                                         \
        *nnz = d->nnz;                                                                                                 \
        *row = d->offsets;                                                                                             \
        *column = d->indices;                                                                                          \
        *values = d->values;                                                                                           \
        *index = d->index;                                                                                             \
        *base = d->base;                                                                                               \
        *type = d->type;                                                                                               \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
TWICE(COO)

#define SET_POINTERS(Name, FORMAT)                                                                                     \
    LIBRARY_API cusparseStatus_t cusparse##Name##SetPointers(cusparseSpMatDescr_t descriptor, void *offsets,           \
                                                             void *indices, void *values)                              \
    {                                                                                                                  \
        DESCRIPTOR(d, struct sparse, descriptor, KIND_SPARSE);                                                         \
        NEED(d->format == CUSPARSE_FORMAT_##FORMAT);                                                                   \
        d->offsets = offsets;                                                                                          \
        d->indices = indices;                                                                                          \
        d->values = values;                                                                                            \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
SET_POINTERS(Csr, CSR)
SET_POINTERS(Csc, CSC)
SET_POINTERS(Coo, COO)

LIBRARY_API cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t descriptor, int count,
                                                        int64_t offsets_stride, int64_t stride)
{
    DESCRIPTOR(d, struct sparse, descriptor, KIND_SPARSE);
    NEED(d->format == CUSPARSE_FORMAT_CSR || d->format == CUSPARSE_FORMAT_CSC);
    NEED(count > 0);
    NEED(offsets_stride == 0 || offsets_stride > d->rows);
    NEED(stride == 0 || stride >= d->nnz);
    d->batch = count;
    d->offsets_stride = offsets_stride;
    d->indices_stride = d->stride = stride;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t descriptor, int count, int64_t stride)
{
    DESCRIPTOR(d, struct sparse, descriptor, KIND_SPARSE);
    NEED(d->format == CUSPARSE_FORMAT_COO);
    NEED(count > 0 && (stride == 0 || stride >= d->nnz));
    d->batch = count;
    d->offsets_stride = d->indices_stride = d->stride = stride;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t descriptor, int *count)
{
    DESCRIPTOR(d, const struct sparse, descriptor, KIND_SPARSE);
    NEED(count);
    *count = d->batch;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t descriptor, int64_t *rows, int64_t *columns,
                                                  int64_t *nnz)
{
    DESCRIPTOR(d, const struct sparse, descriptor, KIND_SPARSE);
    NEED(rows && columns && nnz);
    *rows = d->rows;
    *columns = d->columns;
    *nnz = d->told ? d->told : d->nnz;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t descriptor, cusparseFormat_t *format)
{
    DESCRIPTOR(d, const struct sparse, descriptor, KIND_SPARSE);
    NEED(format);
    *format = d->format;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t descriptor, cusparseIndexBase_t *base)
{
    DESCRIPTOR(d, const struct sparse, descriptor, KIND_SPARSE);
    NEED(base);
    *base = d->base;
    return CUSPARSE_STATUS_SUCCESS;
}

/* A solution uses one triangle of the matrix, with an optional unit diagonal. */
LIBRARY_API cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t descriptor, cusparseSpMatAttribute_t which,
                                                       void *data, size_t bytes)
{
    DESCRIPTOR(d, struct sparse, descriptor, KIND_SPARSE);
    NEED(which == CUSPARSE_SPMAT_FILL_MODE || which == CUSPARSE_SPMAT_DIAG_TYPE);
    NEED(data && bytes == sizeof(int));
    int value = *(const int *)data;
    if (which == CUSPARSE_SPMAT_FILL_MODE) {
        d->fill = (cusparseFillMode_t)value;
        d->is_triangle = true;
    } else
        d->diagonal = (cusparseDiagType_t)value;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t descriptor,
                                                       cusparseSpMatAttribute_t which, void *data, size_t bytes)
{
    DESCRIPTOR(d, const struct sparse, descriptor, KIND_SPARSE);
    NEED(which == CUSPARSE_SPMAT_FILL_MODE || which == CUSPARSE_SPMAT_DIAG_TYPE);
    NEED(data && bytes == sizeof(int));
    *(int *)data = which == CUSPARSE_SPMAT_FILL_MODE ? (int)d->fill : (int)d->diagonal;
    return CUSPARSE_STATUS_SUCCESS;
}
