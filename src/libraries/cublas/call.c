/* See call.h. */
#include "libraries/cublas/call.h"
#include "libraries/cublas/log.h"
#include "libraries/cublas/memory.h"

#include <limits.h>
#include <string.h>

#include "base/sparse.h"

/* ---- checks ---- */

static bool wrong_choice(const struct call *c)
{
    const unsigned u = c->routine->uses;
    return (u & USES_TA && !(u & LOOSE) && (unsigned)c->ta > CUBLAS_OP_C) ||
           (u & USES_TB && (unsigned)c->tb > CUBLAS_OP_C) ||
           (u & USES_UPLO && (unsigned)c->uplo > CUBLAS_FILL_MODE_UPPER) ||
           (u & USES_SIDE && (unsigned)c->side > CUBLAS_SIDE_RIGHT) ||
           (u & USES_DIAG && (unsigned)c->diag > CUBLAS_DIAG_UNIT);
}

static bool negative(const struct call *c)
{
    const unsigned u = c->routine->uses;
    return (u & USES_M && c->m < 0) || (u & USES_N && c->n < 0) || (u & USES_K && c->k < 0) ||
           (u & USES_BAND && (c->kl < 0 || c->ku < 0)) || (c->batched && c->batch < 0 && !(u & BATCH_FAILS));
}

static const char *const operand_names[] = {"the first", "the second", "the third", "the fourth", "the fifth"};

static const char *wrong_ld(const struct call *c, const struct region r[])
{
    for (int i = 0; i < OPERANDS; i++)
        if (is_matrix(r[i].kind) && c->op[i].ld < at_least_1(r[i].rows))
            return operand_names[i];
    return NULL;
}

static const char *wrong_increment(const struct call *c, const struct region r[])
{
    for (int i = 0; i < OPERANDS; i++)
        if (r[i].kind == REGION_VECTOR && c->op[i].ld == 0 &&
            !(c->routine->uses & (LEVEL_1 | LOOSE | LOOSE_INCREMENTS)))
            return operand_names[i];
    return NULL;
}

static bool null_result(const struct call *c, const struct region r[])
{
    for (int i = 0; i < OPERANDS; i++)
        if (r[i].kind == REGION_SCALAR && !c->op[i].at &&
            !(c->device_scalars && c->routine->uses & NULL_IS_MAPPING_ERROR)) /* there it is a wild address */
            return true;
    return false;
}

static bool too_large(const struct call *c)
{
    for (int i = 0; i < OPERANDS; i++)
        if (c->op[i].ld > INT_MAX || c->op[i].ld < -INT_MAX)
            return true;
    return c->m > INT_MAX || c->n > INT_MAX || c->k > INT_MAX || c->kl > INT_MAX || c->ku > INT_MAX ||
           c->batch > INT_MAX;
}

static bool is_empty(const struct call *c)
{
    const unsigned u = c->routine->uses;
    return (u & USES_M && c->m <= 0) || (u & USES_N && c->n <= 0 && !(u & LEVEL_1)) ||
           (u & USES_K && !c->k && !(u & NO_K_NEEDED)) || (c->batched && c->batch <= 0);
}

/* Checks what must hold even for an empty call, then what must hold otherwise. */
static cublasStatus_t check(const struct call *c, const struct region r[])
{
    const unsigned u = c->routine->uses;
    const char *operand = NULL;
    if (wrong_choice(c))
        library_failed(c->name, "an operation, a fill mode, a side or a diagonal type is invalid");
    else if (!(u & (LEVEL_1 | LOOSE)) && negative(c))
        library_failed(c->name, "a size is negative");
    else if (c->batched && c->batch < 0 && u & BATCH_FAILS) {
        library_failed(c->name, "the count of problems is negative");
        return CUBLAS_STATUS_EXECUTION_FAILED;
    } else if ((operand = wrong_increment(c, r)))
        library_failed(c->name, "the increment of %s operand is 0", operand);
    else if ((!(u & LATE_LD) || !is_empty(c)) && (operand = wrong_ld(c, r)))
        library_failed(c->name, "the leading dimension of %s operand is less than its number of rows", operand);
    else if (null_result(c, r)) {
        library_failed(c->name, "the result's address is NULL");
        return u & NULL_IS_MAPPING_ERROR ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_INVALID_VALUE;
    } else
        return c->routine->check ? c->routine->check(c) : CUBLAS_STATUS_SUCCESS;
    return CUBLAS_STATUS_INVALID_VALUE;
}

/* ---- scalars ---- */

static cudaDataType scalar_type(const struct call *c)
{
    return c->scalar_type != CUDA_R_32F || c->mixed ? c->scalar_type : c->type;
}

static size_t beta_bytes(const struct call *c)
{
    return element_bytes(c->routine->uses & BETA_REAL ? real_type(scalar_type(c)) : scalar_type(c));
}

static size_t alpha_bytes(const struct call *c)
{
    const size_t count = c->routine->alpha_count ? c->routine->alpha_count : 1;
    return count * element_bytes(c->routine->uses & ALPHA_REAL ? real_type(scalar_type(c)) : scalar_type(c));
}

void call_host_scalar(const void *p, bool writes)
{
    heddle_library_host(p, writes,
                        "for a scalar in device memory, call cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE)");
}

static void keep_scalars(struct call *c, const struct region r[])
{
    if (c->device_scalars)
        return;
    for (int i = 0; i < OPERANDS; i++)
        if (r[i].kind == REGION_SCALAR)
            call_host_scalar(c->op[i].at, r[i].use & HD_WRITES);
    call_host_scalar(c->routine->uses & USES_ALPHA ? c->alpha : NULL, false);
    call_host_scalar(c->routine->uses & USES_BETA ? c->beta : NULL, false);
    if (c->routine->uses & USES_ALPHA && c->alpha)
        memcpy(c->alpha_value.bytes, c->alpha, alpha_bytes(c));
    if (c->routine->uses & USES_BETA && c->beta)
        memcpy(c->beta_value.bytes, c->beta, beta_bytes(c));
}

/* ---- operands that may be NULL ---- */

enum { RESULT = 2 };

/* The result is not read if beta is 0 (cuBLAS, cublas<t>gemm(): C need
 * not be a valid input then). */
static bool discards_result(const struct call *c)
{
    return !c->device_scalars && c->routine->uses & USES_BETA && c->beta &&
           bytes_are_zero(c->beta_value.bytes, beta_bytes(c));
}

/* Where the device has beta, it is known when the call's turn comes. */
static bool may_discard_result(const struct call *c)
{
    return c->device_scalars && c->routine->uses & USES_BETA && c->beta;
}

/* May an operand be NULL? Pivots may, and operands that are not read because alpha is 0. */
static bool does_without(const struct call *c, int i, const struct region *r, const void *alpha, const void *beta)
{
    const unsigned u = c->routine->uses;
    if (r->kind == REGION_NONE || r->kind == REGION_COUNTS || (r->kind == REGION_SCALAR && !c->device_scalars))
        return true;
    if (i == RESULT || !(u & USES_ALPHA))
        return false;
    if (u & NULL_IS_ZERO)
        return i == 0 ? bytes_are_zero(alpha, alpha_bytes(c)) : bytes_are_zero(beta, beta_bytes(c));
    return bytes_are_zero(alpha, alpha_bytes(c)) && (!(u & ZERO_TIMES) || call_does_nothing(c, alpha, beta));
}

static bool is_something(const struct region *r)
{
    return r->kind != REGION_NONE && r->rows > 0 && (!is_matrix(r->kind) || r->columns > 0);
}

static bool lacks_scalar(const struct call *c)
{
    const unsigned u = c->routine->uses;
    return (u & USES_ALPHA && !c->alpha) || (u & USES_BETA && !c->beta);
}

/* The name of an operand that is NULL but needed, or may be needed if
 * the device has the scalars. */
static const char *lacking(const struct call *c, const struct region r[])
{
    for (int i = 0; i < OPERANDS; i++)
        if (!c->op[i].at && is_something(&r[i]) &&
            (c->device_scalars || !does_without(c, i, &r[i], c->alpha_value.bytes, c->beta_value.bytes)))
            return operand_names[i];
    return NULL;
}

static const char *misaligned(const struct call *c, const struct region r[])
{
    for (int i = 0; i < OPERANDS; i++)
        if (is_something(&r[i]) && (uintptr_t)c->op[i].at % (uintptr_t)element_bytes(real_type(operand_type(c, i))))
            return operand_names[i];
    return NULL;
}

static cublasStatus_t check_work(const struct call *c, const struct region r[])
{
    const unsigned u = c->routine->uses;
    const char *operand = NULL;
    if (lacks_scalar(c) && !(c->device_scalars ? u & LEVEL_1 : u & NULL_IS_ZERO)) {
        library_failed(c->name, "alpha or beta is NULL");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (too_large(c)) {
        LIBRARY_REFUSE("a size over 2147483647 in cuBLAS");
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (u & NULL_IS_INVALID && (operand = lacking(c, r))) {
        library_failed(c->name, "%s operand is NULL", operand);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (u & NEEDS_ALIGNMENT && !c->arrays && (operand = misaligned(c, r))) {
        library_failed(c->name, "%s operand is not aligned to its elements", operand);
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- the memory that a call uses ---- */

static void find_uses(struct uses *u, const struct call *c, const struct region r[])
{
    struct region result = r[RESULT];
    if (discards_result(c))
        result.use &= ~(unsigned)HD_READS;
    if (may_discard_result(c) && !c->arrays && result.use & HD_READS)
        result.use |= LIBRARY_BY_BETA;
    if (c->device_scalars && c->routine->uses & USES_ALPHA && c->alpha)
        uses_add(u, c->alpha, (int64_t)alpha_bytes(c), 1, 0, HD_READS);
    if (may_discard_result(c))
        uses_add(u, c->beta, (int64_t)beta_bytes(c), 1, 0, HD_READS);
    for (int i = 0; i < OPERANDS; i++) {
        if (r[i].kind == REGION_NONE || (r[i].kind == REGION_SCALAR && !c->device_scalars))
            continue;
        /* if the device has the scalars, the task decides */
        if (!c->op[i].at && (c->device_scalars || does_without(c, i, &r[i], c->alpha_value.bytes, c->beta_value.bytes)))
            continue;
        const struct region *of = i == RESULT ? &result : &r[i];
        if (!c->op[i].at && is_something(&r[i]))
            uses_add(u, NULL, region_bytes(c, i, of), 1, 0, of->use);
        else
            uses_add_operand(u, c, i, of);
    }
}

/* ---- the task ---- */

struct batch {
    const struct call *c;
    const struct region *regions;
    _Atomic hd_result result;
};

static struct library_shape region_shape(const struct operand *o, const struct region *r, int64_t bytes)
{
    const uint64_t rows = r->rows > 0 ? (uint64_t)r->rows : 0, columns = r->columns > 0 ? (uint64_t)r->columns : 0;
    const uint64_t step = (uint64_t)(o->ld < 0 ? -o->ld : o->ld);
    switch (r->kind) {
    case REGION_MATRIX:
    case REGION_LOWER:
    case REGION_UPPER:
    case REGION_BAND: return (struct library_shape){(size_t)bytes, rows, columns, step};
    case REGION_VECTOR: return (struct library_shape){(size_t)bytes, 1, rows, step};
    default: return (struct library_shape){(size_t)bytes, rows, 1, 0};
    }
}

/* Finds the operand of a problem; false if not all of it is memory. */
static bool find_operand(const struct batch *b, size_t k, int i, struct operand *o)
{
    const struct region *r = &b->regions[i];
    const int64_t bytes = region_bytes(b->c, i, r);
    if (r->kind == REGION_NONE || !o->at)
        return true;
    const bool array = b->c->arrays && r->kind != REGION_COUNTS;
    const void *at = array ? ((void *const *)o->at)[k] : (const char *)o->at + (int64_t)k * o->stride * bytes;
    void *view;
    const bool found = library_reach(&view, at, region_shape(o, r, bytes));
    o->at = view;
    return found;
}

static void run_problem(void *data, size_t k)
{
    struct batch *b = data;
    struct call one = *b->c;
    for (int i = 0; i < OPERANDS; i++)
        if (!find_operand(b, k, i, &one.op[i])) {
            b->result = HD_ERROR_ILLEGAL_ADDRESS;
            return;
        }
    if (!call_run(&one))
        b->result = HD_ERROR_OUT_OF_MEMORY;
}

static hd_result run(void *args)
{
    struct call *c = args;
    struct region r[OPERANDS] = {0};
    struct call seen = *c; /* a copy, because a captured call runs again */
    seen.routine->regions(&seen, r);
    seen.alpha = seen.device_scalars && c->alpha ? library_view(c->alpha) : c->alpha_value.bytes;
    seen.beta = seen.device_scalars && c->beta ? library_view(c->beta) : c->beta_value.bytes;
    if (seen.device_scalars && lacks_scalar(c))
        return HD_ERROR_ILLEGAL_ADDRESS;
    for (int i = 0; i < OPERANDS && seen.device_scalars; i++)
        if (!seen.op[i].at && is_something(&r[i]) && !does_without(&seen, i, &r[i], seen.alpha, seen.beta))
            return HD_ERROR_ILLEGAL_ADDRESS;
    for (int i = 0; i < OPERANDS; i++)
        if (r[i].kind != REGION_NONE && seen.op[i].at && (r[i].kind != REGION_SCALAR || seen.device_scalars))
            /* Otherwise each problem's operands are looked up. */
            if (!seen.batched || (seen.arrays && r[i].kind != REGION_COUNTS))
                seen.op[i].at = library_view(seen.op[i].at);
    if (!seen.batched)
        return call_run(&seen) ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
    struct batch b = {.c = &seen, .regions = r, .result = HD_SUCCESS};
    library_parallel((size_t)seen.batch, run_problem, &b);
    return b.result;
}

static hd_used *find_addressed(const void *args, size_t *count)
{
    const struct call *c = args;
    struct region r[OPERANDS] = {0};
    c->routine->regions(c, r);
    if (discards_result(c) || (may_discard_result(c) && bytes_are_zero(library_view(c->beta), beta_bytes(c))))
        r[RESULT].use &= ~(unsigned)HD_READS;
    return uses_of_addresses(c, r, count);
}

static hd_unit unit_of(const struct call *c)
{
    switch (operand_type(c, 0)) {
    case CUDA_R_64F:
    case CUDA_C_64F: return HD_UNIT_FP64;
    case CUDA_R_16F:
    case CUDA_R_16BF: return HD_UNIT_TENSOR_FP16;
    case CUDA_R_8I: return HD_UNIT_TENSOR_INT8;
    default: return c->math_mode == CUBLAS_TF32_TENSOR_OP_MATH ? HD_UNIT_TENSOR_TF32 : HD_UNIT_FP32;
    }
}

/* Level 1 functions with a result return it for empty vectors, too. */
static bool answers_nothing(const struct call *c)
{
    return c->routine->uses & LEVEL_1 && (c->n <= 0 || (c->routine->uses & POSITIVE_INC && c->op[0].ld <= 0));
}

static bool has_result(const struct region r[])
{
    for (int i = 0; i < OPERANDS; i++)
        if (r[i].kind == REGION_SCALAR)
            return true;
    return false;
}

cublasStatus_t status_of(CUresult r)
{
    switch (r) {
    case CUDA_SUCCESS: return CUBLAS_STATUS_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY: return CUBLAS_STATUS_ALLOC_FAILED;
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: return CUBLAS_STATUS_INTERNAL_ERROR;
    default: return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}

cublasStatus_t call_put(cublasHandle_t handle, struct call *c)
{
    IN_CALL;
    struct blas_handle *h = handle_of(handle);
    struct region r[OPERANDS] = {0};
    log_call(handle, c->name, c);
    if (!h) {
        library_no_handle();
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    c->device_scalars = h->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
    c->math_mode = h->math_mode;
    if (!wrong_choice(c))
        c->routine->regions(c, r);
    cublasStatus_t status = check(c, r);
    const bool result = has_result(r), nothing = answers_nothing(c);
    if (status || (nothing && !result) || is_empty(c))
        return status;
    keep_scalars(c, r);
    status = check_work(c, r);
    if (status || c->checked_only)
        return status;
    if (nothing) {
        c->n = 0;
        c->routine->regions(c, r);
    }
    struct uses u;
    u.n = 0;
    u.bytes = 0;
    find_uses(&u, c, r);
    const struct library_task t = {
        .name = c->name,
        .run = run,
        .args = c,
        .arg_bytes = sizeof *c,
        .used = u.used,
        .used_count = u.n,
        .find_used = c->arrays ? find_addressed : NULL,
        .beta = may_discard_result(c) ? c->beta : NULL,
        .beta_bytes = beta_bytes(c),
        .bytes = u.bytes,
        .flops = c->routine->flops ? c->routine->flops(c) * (c->batched ? (double)c->batch : 1) : 0,
        .unit = unit_of(c)};
    const bool waits = result && !c->device_scalars;
    const CUresult put = heddle_library_put(h->stream, &t, waits);
    return waits && put == CUDA_ERROR_ILLEGAL_ADDRESS ? CUBLAS_STATUS_MAPPING_ERROR : status_of(put);
}
