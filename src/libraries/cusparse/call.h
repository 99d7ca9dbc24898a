/* Handles and descriptors of cuSPARSE, and a call as a task of its handle's stream.
 *
 * An entry point checks its arguments as cuSPARSE does, copies the given descriptors into a struct
 * call, declares the memory that they describe (call_matrix() and similar functions) and submits it
 * (call_put()). In the task all addresses are of this process. Indices are the program's data: one
 * outside its matrix or vector is an illegal address, as on a GPU.
 */
#ifndef HEDDLE_CUSPARSE_CALL_H
#define HEDDLE_CUSPARSE_CALL_H

#include "cuda/cusparse.h"
#include "libraries/common/library.h"
#include "libraries/common/logger.h"
#include "libraries/cusparse/number.h"

enum kind {
    KIND_HANDLE = 1,
    KIND_MAT_DESCR,
    KIND_DENSE_VECTOR,
    KIND_SPARSE_VECTOR,
    KIND_DENSE,
    KIND_SPARSE,
    KIND_SPSV,
    KIND_SPSM,
    KIND_SPGEMM,
    KIND_INFO,
    KIND_PRUNE
};

struct context {
    cudaStream_t stream;
    cusparsePointerMode_t mode;
};

struct mat_descr {
    cusparseMatrixType_t type;
    cusparseFillMode_t fill;
    cusparseDiagType_t diagonal;
    cusparseIndexBase_t base;
};

struct dense_vector {
    int64_t size;
    void *values;
    cudaDataType type;
};

struct sparse_vector {
    int64_t size, nnz;
    void *indices, *values;
    cusparseIndexType_t index;
    cusparseIndexBase_t base;
    cudaDataType type;
};

struct dense {
    int64_t rows, columns, ld;
    void *values;
    cudaDataType type;
    cusparseOrder_t order;
    int batch;
    int64_t stride; /* elements between matrices of a batch */
};

struct sparse {
    cusparseFormat_t format;
    int64_t rows, columns;            /* in elements */
    int64_t nnz;                      /* stored values, padding included */
    int64_t told;                     /* BSR, ELL: the nnz that the descriptor reports */
    void *offsets, *indices, *values; /* COO: `offsets` are the rows, `indices` the columns */
    cusparseIndexType_t offset, index;
    cusparseIndexBase_t base;
    cudaDataType type;
    cusparseFillMode_t fill;
    bool is_triangle; /* its fill mode was set: an H200 only solves with it */
    cusparseDiagType_t diagonal;
    int batch;
    int64_t offsets_stride, indices_stride, stride;
    int64_t block_rows, block_columns; /* BSR, Blocked-ELL; 0: not blocked */
    cusparseOrder_t order;             /* within a block */
    /* Blocked-ELL: stored columns of a row; Sliced-ELL: rows of a slice. */
    int64_t width;
};

/* Matrices of the older functions: CSR, and BSR with blocks stored by rows or by columns; m, n and
 * nnz count blocks there. */
struct sparse csr_of(const struct mat_descr *d, cudaDataType type, int m, int n, int nnz, const void *values,
                     const int *offsets, const int *columns);
struct sparse bsr_of(const struct mat_descr *d, cudaDataType type, int m, int n, int nnz, const void *values,
                     const int *offsets, const int *columns, cusparseDirection_t direction, int block_rows,
                     int block_columns);

/* Finds the number of elements, by the offsets of CSR; the host waits for it, because it determines
 * the used memory. */
cusparseStatus_t csr_count(const struct context *s, const char *name, struct sparse *m);

/* The number of a matrix's indices; and of its offsets. */
int64_t sparse_indices(const struct sparse *m);
int64_t sparse_offsets(const struct sparse *m);
/* The index of a block's element in the values: blocks of BSR are consecutive; Blocked-ELL stores
 * whole rows. */
int64_t sparse_block_element(const struct sparse *m, int64_t block, int64_t i, int64_t j);

/* A number at a host address, read at the call, or at a device address, read by the task. */
struct scalar {
    const void *device;
    number value;
};

struct call;
struct info;
typedef hd_result call_run(const struct call *c);

struct call {
    const char *name;
    call_run *run;
    struct sparse a, b, c;
    struct dense x, y, z;
    struct sparse_vector v;
    struct scalar alpha, beta;
    cudaDataType compute;
    cusparseOperation_t op_a, op_b;
    cusparseIndexBase_t base;
    int64_t m, n, nnz;
    void *at[6]; /* further addresses of a function family */
    bool waits;
    double flops;
    hd_used *used; /* a growing array */
    size_t n_used;
    bool no_memory, no_address; /* some used address is NULL */
};

/* Defines `s`, the handle's record, or returns an error. */
#define CONTEXT(s, handle)                                                                                             \
    IN_CALL;                                                                                                           \
    __attribute__((unused)) struct context *s = handle_find(&library_handles, handle, KIND_HANDLE);                    \
    if (!s)                                                                                                            \
    return handle_wrong()

#define NEED_OR(status, condition)                                                                                     \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return call_wrong(__func__, status, #condition);                                                           \
    } while (0)
#define NEED(condition)      NEED_OR(CUSPARSE_STATUS_INVALID_VALUE, condition)
#define SUPPORTED(condition) NEED_OR(CUSPARSE_STATUS_NOT_SUPPORTED, condition)

cusparseStatus_t handle_wrong(void);
/* Explains the error under `heddle check`, and returns the status. */
cusparseStatus_t call_wrong(const char *name, cusparseStatus_t status, const char *why);

/* Makes a record's handle; frees the record if that fails. */
cusparseStatus_t record_add(void *handle, enum kind kind, const void *record, size_t bytes);
/* Destroying NULL does nothing. */
cusparseStatus_t record_destroy(const void *handle, enum kind kind);
cusparseStatus_t record_destroy_by(const void *handle, enum kind kind, void (*destroy)(void *record));

static inline bool is_operation(cusparseOperation_t op)
{
    return op == CUSPARSE_OPERATION_NON_TRANSPOSE || op == CUSPARSE_OPERATION_TRANSPOSE ||
           op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}

static inline bool is_base(cusparseIndexBase_t base)
{
    return base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE;
}

/* Defines `d`, the descriptor's record, or returns an error. */
#define DESCRIPTOR(d, structure, handle, kind)                                                                         \
    IN_CALL;                                                                                                           \
    structure *d = handle_find(&library_handles, handle, kind);                                                        \
    NEED(d)

/* Defines a function for pointers, and again for pointers to const. */
#define TWICE(M)                                                                                                       \
    M(, )                                                                                                              \
    M(Const, const)

/* Creates a matrix's descriptor. */
cusparseStatus_t sparse_create(const char *name, const void *descriptor, const struct sparse *d);

/* ---- indices ---- */

static inline size_t index_bytes(cusparseIndexType_t type)
{
    return type == CUSPARSE_INDEX_64I ? 8 : type == CUSPARSE_INDEX_32I ? 4 : 2;
}

static inline int64_t index_at(cusparseIndexType_t type, const void *from, int64_t i)
{
    return type == CUSPARSE_INDEX_64I   ? ((const int64_t *)from)[i]
           : type == CUSPARSE_INDEX_32I ? ((const int32_t *)from)[i]
                                        : ((const uint16_t *)from)[i];
}

static inline void index_set(cusparseIndexType_t type, void *to, int64_t i, int64_t x)
{
    switch (type) {
    case CUSPARSE_INDEX_64I: ((int64_t *)to)[i] = x; break;
    case CUSPARSE_INDEX_32I: ((int32_t *)to)[i] = (int32_t)x; break;
    default: ((uint16_t *)to)[i] = (uint16_t)x; break;
    }
}

/* ---- what a call uses ---- */

/* Memory that is neither read nor written here, but has to be there. */
void call_exists(struct call *c, const void *at);
void call_vector(struct call *c, const void *at, int64_t n, size_t element_bytes, unsigned use);
void call_sparse(struct call *c, const struct sparse *m, unsigned pattern, unsigned values);
void call_dense(struct call *c, const struct dense *m, unsigned use);
void call_sparse_vector(struct call *c, const struct sparse_vector *v, unsigned values);
/* A scalar with the compute type. */
/* Under a checker: a scalar or a result that the pointer mode takes from the host. */
void call_host_scalar(const void *p, bool writes);
struct scalar call_scalar(struct call *c, const struct context *s, const void *at);
number scalar_value(const struct call *c, const struct scalar *s);
/* The scalars of alpha x + beta y; returns how y is used: it is not read if beta is 0. */
unsigned call_scalars(struct call *c, const struct context *s, const void *alpha, const void *beta);
/* An int result: on the host, which waits for it, or on the device; NULL: not wanted. It becomes
 * at[0]. */
void call_total(struct call *c, const struct context *s, int *total);
/* Stores it, in the task. */
void tell_total(const struct call *c, int64_t total);
/* A vector as a matrix of one column. */
struct dense dense_of(const struct dense_vector *v);

/* op(A), op(B) and C of a product or a solution. */
struct equation {
    const char *name;
    const void *alpha, *beta;
    const struct sparse *a;
    struct dense b, c;
    cusparseOperation_t op_a, op_b;
    cudaDataType compute;
    const void *buffer; /* memory that an H200 works in; or NULL */
};

/* Reads the descriptors of a sparse matrix and two vectors, or two dense matrices; false if one is
 * invalid. */
bool equation_of_vectors(struct equation *e, cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                         cusparseDnVecDescr_t y);
bool equation_of_matrices(struct equation *e, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                          cusparseDnMatDescr_t c);
/* C = alpha op(A) op(B) + beta C; and op(A) C = alpha op(B). The arguments were checked. */
cusparseStatus_t equation_multiply(const struct context *s, const struct equation *e);
cusparseStatus_t equation_solve(const struct context *s, const struct equation *e, struct info *info);

/* Is the handle's stream being captured, so that the call cannot be waited for? */
bool call_is_captured(const struct context *s);
/* Submits a call to the handle's stream. */
cusparseStatus_t call_put(const struct context *s, struct call *c);

/* Converts CSR, with values of so many bytes, to the CSR of its transpose. */
cusparseStatus_t call_transpose(const struct context *s, const char *name, int m, int n, int nnz, size_t bytes,
                                const void *values, const int *offsets, const int *columns, void *values_to,
                                int *rows_to, int *offsets_to, cusparseAction_t action, cusparseIndexBase_t base);

/* The older functions' types. */
#define EACH_TYPE(M)                                                                                                   \
    M(S, float, CUDA_R_32F)                                                                                            \
    M(D, double, CUDA_R_64F)                                                                                           \
    M(C, cuComplex, CUDA_C_32F)                                                                                        \
    M(Z, cuDoubleComplex, CUDA_C_64F)

/* ---- in a task: matrices ---- */

/* A term of an element of a row; `order`: its position among the terms. */
struct term {
    int64_t column, order;
    number value;
};

/* By rows, from 0; `from`: each value's index in the matrix. */
struct csr {
    int64_t rows, columns, nnz;
    int64_t *begin, *column, *from;
    number *value;
};

/* Loads a matrix of a batch, or its transpose, and checks every index. `values` false: only the
 * pattern. Call csr_free() whatever it returns. */
hd_result csr_load(const struct sparse *m, int of_batch, cusparseOperation_t op, bool values, struct csr *to);
void csr_free(struct csr *m);
/* An empty matrix with room for `most` elements by rows, and *term for `in_row` terms of a row,
 * which the caller frees; false if memory is exhausted. */
bool csr_begin(struct csr *m, int64_t rows, int64_t columns, int64_t most, struct term **term, int64_t in_row);

/* Store parts of it in the program's arrays. */
void csr_store_offsets(const struct csr *from, const struct sparse *to);
void csr_store_columns(const struct csr *from, const struct sparse *to);
void csr_store_values(const struct csr *from, const struct sparse *to);

/* Appends a row: sorts its terms by column, and adds those of equal columns. There must be room. */
void csr_add_row(struct csr *to, struct term *term, int64_t terms);

static inline int64_t dense_index(const struct dense *m, int of_batch, int64_t row, int64_t column)
{
    int64_t at = m->order == CUSPARSE_ORDER_ROW ? row * m->ld + column : column * m->ld + row;
    return at + (m->batch > 1 ? of_batch * m->stride : 0);
}

/* An element of op(m). */
static inline number dense_at(const struct dense *m, int of_batch, cusparseOperation_t op, int64_t row, int64_t column)
{
    bool straight = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
    number x = number_at(m->type, m->values,
                         straight ? dense_index(m, of_batch, row, column) : dense_index(m, of_batch, column, row));
    return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? number_conjugate(x) : x;
}

#endif
