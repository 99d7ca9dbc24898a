/* See call.h. */
#include "libraries/cusparse/call.h"

#include <stdlib.h>
#include <string.h>

cusparseStatus_t call_wrong(const char *name, cusparseStatus_t status, const char *why)
{
    library_failed(name, "an argument is wrong; the function requires that %s", why);
    return status;
}

/* The error of an H200 for a NULL handle. */
cusparseStatus_t handle_wrong(void)
{
    library_no_handle();
    return CUSPARSE_STATUS_INVALID_VALUE;
}

cusparseStatus_t record_add(void *handle, enum kind kind, const void *record, size_t bytes)
{
    void *copy = malloc(bytes), *made = library_add_handle(kind, copy ? memcpy(copy, record, bytes) : NULL);
    if (!made)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    memcpy(handle, &made, sizeof made);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t record_destroy(const void *handle, enum kind kind)
{
    return record_destroy_by(handle, kind, free);
}

cusparseStatus_t record_destroy_by(const void *handle, enum kind kind, void (*destroy)(void *record))
{
    IN_CALL;
    void *record = handle_take(&library_handles, handle, kind);
    if (record)
        call_later(destroy, record);
    return record || !handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}

struct sparse csr_of(const struct mat_descr *d, cudaDataType type, int m, int n, int nnz, const void *values,
                     const int *offsets, const int *columns)
{
    return (struct sparse){.format = CUSPARSE_FORMAT_CSR,
                           .rows = m,
                           .columns = n,
                           .nnz = nnz,
                           .offsets = (void *)offsets,
                           .indices = (void *)columns,
                           .values = (void *)values,
                           .offset = CUSPARSE_INDEX_32I,
                           .index = CUSPARSE_INDEX_32I,
                           .base = d->base,
                           .type = type,
                           .fill = d->fill,
                           .diagonal = d->diagonal,
                           .batch = 1};
}

struct sparse bsr_of(const struct mat_descr *d, cudaDataType type, int m, int n, int nnz, const void *values,
                     const int *offsets, const int *columns, cusparseDirection_t direction, int block_rows,
                     int block_columns)
{
    struct sparse a = csr_of(d, type, m, n, nnz, values, offsets, columns);
    a.format = CUSPARSE_FORMAT_BSR;
    a.block_rows = block_rows;
    a.block_columns = block_columns;
    a.order = direction == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    a.rows *= block_rows;
    a.columns *= block_columns;
    a.nnz *= (int64_t)block_rows * block_columns;
    return a;
}

/* ---- what is used ---- */

static void add_used(struct call *c, hd_used u)
{
    if (u.at)
        c->no_memory |= !library_add_use(&c->used, &c->n_used, u);
    else
        c->no_address = true;
}

void call_vector(struct call *c, const void *at, int64_t n, size_t element_bytes, unsigned use)
{
    size_t bytes = n > 0 ? (size_t)n * element_bytes : 0;
    if (bytes && use)
        add_used(c, library_uses(at, bytes, 1, bytes, use));
}

void call_exists(struct call *c, const void *at)
{
    add_used(c, library_uses(at, 1, 1, 1, 0));
}

static void *step(void *at, int64_t elements, size_t bytes)
{
    return (char *)at + elements * (int64_t)bytes;
}

void call_sparse(struct call *c, const struct sparse *m, unsigned pattern, unsigned values)
{
    size_t offset = index_bytes(m->offset), index = index_bytes(m->index), value = type_bytes(m->type);
    for (int i = 0; i < (m->batch > 1 ? m->batch : 1); i++) {
        if (i == 0 || m->offsets_stride)
            call_vector(c, step(m->offsets, i * m->offsets_stride, offset), sparse_offsets(m), offset, pattern);
        if (i == 0 || m->indices_stride)
            call_vector(c, step(m->indices, i * m->indices_stride, index), sparse_indices(m), index, pattern);
        if (i == 0 || m->stride)
            call_vector(c, step(m->values, i * m->stride, value), m->nnz, value, values);
    }
}

void call_dense(struct call *c, const struct dense *m, unsigned use)
{
    size_t bytes = type_bytes(m->type);
    bool by_rows = m->order == CUSPARSE_ORDER_ROW;
    int64_t width = by_rows ? m->columns : m->rows, height = by_rows ? m->rows : m->columns;
    for (int i = 0; width > 0 && height > 0 && use && i < (m->batch > 1 ? m->batch : 1); i++)
        if (i == 0 || m->stride)
            add_used(c, library_uses(step(m->values, i * m->stride, bytes), (size_t)width * bytes, (size_t)height,
                                     (size_t)m->ld * bytes, use));
}

void call_sparse_vector(struct call *c, const struct sparse_vector *v, unsigned values)
{
    call_vector(c, v->indices, v->nnz, index_bytes(v->index), HD_READS);
    call_vector(c, v->values, v->nnz, type_bytes(v->type), values);
}

void call_host_scalar(const void *p, bool writes)
{
    heddle_library_host(
        p, writes, "for a scalar in device memory, call cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE)");
}

struct scalar call_scalar(struct call *c, const struct context *s, const void *at)
{
    if (s->mode == CUSPARSE_POINTER_MODE_HOST) {
        call_host_scalar(at, false);
        return (struct scalar){.value = number_at(c->compute, at, 0)};
    }
    call_vector(c, at, 1, type_bytes(c->compute), HD_READS);
    return (struct scalar){.device = at};
}

number scalar_value(const struct call *c, const struct scalar *s)
{
    return s->device ? number_at(c->compute, library_view(s->device), 0) : s->value;
}

unsigned call_scalars(struct call *c, const struct context *s, const void *alpha, const void *beta)
{
    c->alpha = call_scalar(c, s, alpha);
    c->beta = call_scalar(c, s, beta);
    return c->beta.device                   ? HD_READS | HD_WRITES | LIBRARY_BY_BETA
           : !number_is_zero(c->beta.value) ? HD_READS | HD_WRITES
                                            : HD_WRITES;
}

void call_total(struct call *c, const struct context *s, int *total)
{
    c->at[0] = total;
    c->waits = total && s->mode == CUSPARSE_POINTER_MODE_HOST;
    if (c->waits)
        call_host_scalar(total, true);
    if (total && !c->waits)
        call_vector(c, total, 1, sizeof *total, HD_WRITES);
}

void tell_total(const struct call *c, int64_t total)
{
    if (c->at[0])
        *(int *)(c->waits ? c->at[0] : library_view(c->at[0])) = (int)total;
}

struct dense dense_of(const struct dense_vector *v)
{
    return (struct dense){v->size, 1, v->size > 0 ? v->size : 1, v->values, v->type, CUSPARSE_ORDER_COL, 1, 0};
}

static bool fill_equation(struct equation *e, cusparseConstSpMatDescr_t a, const struct dense *b, const struct dense *c)
{
    e->a = handle_find(&library_handles, a, KIND_SPARSE);
    if (!e->a || !b || !c)
        return false;
    e->b = *b;
    e->c = *c;
    return true;
}

bool equation_of_vectors(struct equation *e, cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                         cusparseDnVecDescr_t y)
{
    const struct dense_vector *b = handle_find(&library_handles, x, KIND_DENSE_VECTOR);
    const struct dense_vector *c = handle_find(&library_handles, y, KIND_DENSE_VECTOR);
    if (!b || !c)
        return false;
    struct dense from = dense_of(b), to = dense_of(c);
    return fill_equation(e, a, &from, &to);
}

bool equation_of_matrices(struct equation *e, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                          cusparseDnMatDescr_t c)
{
    return fill_equation(e, a, handle_find(&library_handles, b, KIND_DENSE),
                         handle_find(&library_handles, c, KIND_DENSE));
}

/* ---- the task ---- */

static void view(void *pointer)
{
    void *at;
    memcpy(&at, pointer, sizeof at);
    at = at ? library_view(at) : NULL;
    memcpy(pointer, &at, sizeof at);
}

static void view_sparse(struct sparse *m)
{
    view(&m->offsets);
    view(&m->indices);
    view(&m->values);
}

static hd_result run_call(void *args)
{
    struct call c = *(const struct call *)args;
    if (c.no_address)
        return HD_ERROR_ILLEGAL_ADDRESS;
    view_sparse(&c.a);
    view_sparse(&c.b);
    view_sparse(&c.c);
    view(&c.x.values);
    view(&c.y.values);
    view(&c.z.values);
    view(&c.v.indices);
    view(&c.v.values);
    return c.run(&c);
}

static cusparseStatus_t status_of(CUresult r)
{
    return r == CUDA_SUCCESS               ? CUSPARSE_STATUS_SUCCESS
           : r == CUDA_ERROR_OUT_OF_MEMORY ? CUSPARSE_STATUS_ALLOC_FAILED
                                           : CUSPARSE_STATUS_EXECUTION_FAILED;
}

/* Logs the memory that it uses in place of its descriptors. */
static void log_call(const struct context *s, const struct call *c)
{
    char text[1024] = "";
    size_t n = 0;
    for (size_t i = 0; i < c->n_used && n < sizeof text - 128; i++) {
        const hd_used *u = &c->used[i];
        n += (size_t)snprintf(text + n, sizeof text - n, ", memory[%s%s]={ptr=%p, bytes=%zu}",
                              u->use & HD_READS ? "in" : "", u->use & HD_WRITES ? "out" : "", u->at,
                              u->width * u->height);
    }
    LOGGER_CALL(c->name, "stream[in]=%p%s", (void *)s->stream, text);
}

bool call_is_captured(const struct context *s)
{
    CUstreamCaptureStatus status;
    return !cuStreamIsCapturing((CUstream)s->stream, &status) && status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

cusparseStatus_t call_put(const struct context *s, struct call *c)
{
    if (logger_takes(library_logger, LOG_OF_API))
        log_call(s, c);
    bool is_double = c->compute == CUDA_R_64F || c->compute == CUDA_C_64F;
    const struct library_task t = {.name = c->name,
                                   .run = run_call,
                                   .args = c,
                                   .arg_bytes = sizeof *c,
                                   .used = c->used,
                                   .used_count = c->n_used,
                                   .beta = c->beta.device,
                                   .beta_bytes = type_bytes(c->compute),
                                   .flops = c->flops * (type_is_complex(c->compute) ? 4 : 1),
                                   .unit = is_double ? HD_UNIT_FP64 : HD_UNIT_FP32};
    cusparseStatus_t r = CUSPARSE_STATUS_ALLOC_FAILED;
    if (!c->no_memory)
        r = status_of(heddle_library_put((CUstream)s->stream, &t, c->waits));
    free(c->used);
    return r;
}
