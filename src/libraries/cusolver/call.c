/* See call.h. */
#include "libraries/cusolver/call.h"

#include <stdlib.h>

size_t precision_real_bytes(enum precision p)
{
    return p == PRECISION_S || p == PRECISION_C ? sizeof(float) : sizeof(double);
}

bool precision_is_complex(enum precision p)
{
    return p == PRECISION_C || p == PRECISION_Z;
}

size_t precision_bytes(enum precision p)
{
    return precision_real_bytes(p) * (precision_is_complex(p) ? 2 : 1);
}

bool precision_of(cudaDataType type, enum precision *p)
{
    switch (type) {
    case CUDA_R_32F: *p = PRECISION_S; return true;
    case CUDA_R_64F: *p = PRECISION_D; return true;
    case CUDA_C_32F: *p = PRECISION_C; return true;
    case CUDA_C_64F: *p = PRECISION_Z; return true;
    default: return false;
    }
}

double real_at(enum precision p, const void *from, int64_t i)
{
    const void *at = element_at(p, from, i);
    return precision_real_bytes(p) == sizeof(float) ? *(const float *)at : *(const double *)at;
}

const void *precision_one(enum precision p)
{
    static const double one[2] = {1, 0};
    static const float one_float[2] = {1, 0};
    return precision_real_bytes(p) == sizeof(float) ? (const void *)one_float : one;
}

int *call_narrow_pivots(const struct call *c)
{
    int *narrow = malloc((size_t)(c->n + 1) * sizeof *narrow);
    for (int i = 0; narrow && i < c->n; i++)
        narrow[i] = (int)((const int64_t *)c->at[OP_PIVOTS])[i];
    return narrow;
}

/* LAPACK returns the size in an element, which rounds large sizes. */
int work_wanted(enum precision p, const void *answer)
{
    double n = real_at(p, answer, 0) * (1 + 1e-6) + 1;
    return n > 1 ? (int)n : 1;
}

/* ---- what is used ---- */

struct call call_new(const char *name, enum precision p, call_run *run)
{
    return (struct call){.name = name, .precision = p, .run = run, .batch = 1};
}

static void add_used(struct call *c, const void *at, size_t width, size_t height, size_t pitch, unsigned use)
{
    if (!width || !height)
        return;
    c->bytes += library_moved((double)width * (double)height, use);
    c->no_memory |= !library_add_use(&c->used, &c->n_used, library_uses(at, width, height, pitch, use));
}

static void set_operand(struct call *c, enum operand o, const void *at, int64_t ld)
{
    c->at[o] = (void *)at;
    c->ld[o] = (int)ld;
}

void call_matrices(struct call *c, enum operand o, const void *at, int64_t rows, int64_t columns, int64_t ld,
                   int64_t step, unsigned use)
{
    size_t bytes = precision_bytes(c->precision);
    set_operand(c, o, at, ld);
    c->step[o] = step;
    for (int i = 0; rows > 0 && columns > 0 && i < c->batch; i++)
        add_used(c, element_at(c->precision, at, i * step), (size_t)rows * bytes, (size_t)columns, (size_t)ld * bytes,
                 use);
}

void call_matrix(struct call *c, enum operand o, const void *at, int64_t rows, int64_t columns, int64_t ld,
                 unsigned use)
{
    size_t bytes = precision_bytes(c->precision);
    set_operand(c, o, at, ld);
    if (rows > 0 && columns > 0)
        add_used(c, at, (size_t)rows * bytes, (size_t)columns, (size_t)ld * bytes, use);
}

void call_triangle(struct call *c, enum operand o, const void *at, cublasFillMode_t uplo, int64_t n, int64_t ld,
                   unsigned use)
{
    c->uplo = uplo_of(uplo);
    set_operand(c, o, at, ld);
    hd_used ranges[TRIANGLE_RANGES];
    const size_t told = library_triangle(ranges, at, c->uplo == 'L', n, ld, precision_bytes(c->precision), use);
    for (size_t i = 0; i < told; i++)
        c->no_memory |= !library_add_use(&c->used, &c->n_used, ranges[i]);
    c->bytes += library_moved((double)n * (double)(n + 1) / 2 * (double)precision_bytes(c->precision), use);
}

void call_vector(struct call *c, enum operand o, const void *at, int64_t n, size_t element_bytes, unsigned use)
{
    set_operand(c, o, at, 1);
    if (n > 0)
        add_used(c, at, (size_t)n * element_bytes, 1, (size_t)n * element_bytes, use);
}

void call_info(struct call *c, int *info, int64_t n)
{
    call_vector(c, OP_INFO, info, info ? n : 0, sizeof *info, HD_WRITES);
}

void call_needs_info(struct call *c, int *info)
{
    call_vector(c, OP_INFO, info, 1, sizeof *info, HD_WRITES);
}

struct call call_solution(const char *name, enum precision p, call_run *run, int64_t n, int64_t nrhs, void *B,
                          int64_t ldb)
{
    struct call c = call_new(name, p, run);
    c.n = (int)n;
    c.nrhs = (int)nrhs;
    c.flops = 2 * (double)n * (double)n * (double)nrhs;
    call_matrix(&c, OP_B, B, n, nrhs, ldb, HD_READS | HD_WRITES);
    return c;
}

/* ---- the task ---- */

bool call_pivots_lie_in(const int *pivots, int64_t n, int step, int64_t rows)
{
    for (int64_t i = 0; i < n; i++)
        if (pivots[i * step] == 0 || abs(pivots[i * step]) > rows)
            return false;
    return true;
}

static hd_result run_call(void *args)
{
    struct call c = *(const struct call *)args;
    for (int o = 0; o < OPERANDS; o++)
        c.at[o] = c.at[o] ? library_view(c.at[o]) : NULL;
    int info = c.run(&c);
    if (info == OUT_OF_MEMORY)
        return HD_ERROR_OUT_OF_MEMORY;
    if (info == BAD_ADDRESS)
        return HD_ERROR_ILLEGAL_ADDRESS;
    if (c.at[OP_INFO])
        *(int *)c.at[OP_INFO] = info;
    return HD_SUCCESS;
}

static hd_used *find_addressed(const void *args, size_t *count)
{
    struct call c = *(const struct call *)args;
    c.used = NULL;
    c.n_used = 0;
    c.name_addressed(&c);
    *count = c.n_used;
    return c.used;
}

static void drop_call(void *args)
{
    const struct call *c = args;
    if (c->drop)
        c->drop(c->host);
}

static cusolverStatus_t status_of(CUresult r)
{
    return r == CUDA_SUCCESS               ? CUSOLVER_STATUS_SUCCESS
           : r == CUDA_ERROR_OUT_OF_MEMORY ? CUSOLVER_STATUS_ALLOC_FAILED
                                           : CUSOLVER_STATUS_INTERNAL_ERROR;
}

cusolverStatus_t call_put(const struct solver *s, struct call *c)
{
    const struct library_task t = {.name = c->name,
                                   .run = run_call,
                                   .drop = c->drop ? drop_call : NULL,
                                   .args = c,
                                   .arg_bytes = sizeof *c,
                                   .used = c->used,
                                   .used_count = c->n_used,
                                   .find_used = c->name_addressed ? find_addressed : NULL,
                                   .bytes = c->bytes,
                                   .flops = c->flops * (precision_is_complex(c->precision) ? 4 : 1),
                                   .unit = precision_real_bytes(c->precision) == sizeof(float) ? HD_UNIT_FP32
                                                                                               : HD_UNIT_FP64};
    cusolverStatus_t r = CUSOLVER_STATUS_ALLOC_FAILED;
    if (!c->no_memory)
        r = status_of(heddle_library_put((CUstream)s->stream, &t, c->waits));
    else if (c->drop)
        c->drop(c->host);
    free(c->used);
    return r;
}

cusolverStatus_t call_put_info(const struct solver *s, struct call *c, int *info)
{
    call_info(c, info, 1);
    return call_put(s, c);
}

bool call_fits(const char *name, const int64_t *sizes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sizes[i] > MOST) {
            library_failed(name, "sizes of more than 2^30 are not supported by Heddle");
            return false;
        }
    return true;
}

static int run_info(const struct call *c)
{
    return c->value;
}

static cusolverStatus_t put_info(const struct solver *s, const char *name, int *info, int value)
{
    struct call c = call_new(name, PRECISION_S, run_info);
    c.value = value;
    call_info(&c, info, 1);
    return call_put(s, &c);
}

cusolverStatus_t call_wrong(const struct solver *s, const char *name, int *info, int value, cusolverStatus_t status,
                            const char *why)
{
    library_failed(name, "an argument is wrong; the function requires that %s", why);
    if (info)
        put_info(s, name, info, value);
    return status;
}

cusolverStatus_t call_nothing(const struct solver *s, const char *name, int *info)
{
    return info ? put_info(s, name, info, 0) : CUSOLVER_STATUS_SUCCESS;
}
