/* Generates Givens rotations ("cuBLAS Library", 2.5.8 and 2.5.10) from four or five scalars,
 * immediately on the host, or on the device. */
#include "libraries/cublas/call.h"

#include "libraries/blas/level1.h"

static const unsigned BOTH = HD_READS | HD_WRITES;

static struct region scalar(int64_t n, unsigned use)
{
    return (struct region){REGION_SCALAR, n, 1, use, false};
}

static void rotg_regions(const struct call *c, struct region r[])
{
    (void)c;
    r[0] = scalar(1, BOTH);
    r[1] = scalar(1, BOTH);
    r[2] = r[3] = scalar(1, HD_WRITES);
}

static bool run_rotg(const struct call *c)
{
    level1_rotg(element_precision(c->op[0].type), (void *)c->op[0].at, (void *)c->op[1].at, (void *)c->op[2].at,
                (void *)c->op[3].at);
    return true;
}

static void rotmg_regions(const struct call *c, struct region r[])
{
    (void)c;
    r[0] = r[1] = r[2] = scalar(1, BOTH);
    r[3] = scalar(1, HD_READS);
    r[4] = scalar(5, HD_WRITES);
}

static bool run_rotmg(const struct call *c)
{
    level1[element_precision(c->op[0].type)].rotmg((void *)c->op[0].at, (void *)c->op[1].at, (void *)c->op[2].at,
                                                   c->op[3].at, (void *)c->op[4].at);
    return true;
}

static const struct routine rotg = {0, 0, rotg_regions, NULL, run_rotg, NULL},
                            rotmg = {0, 0, rotmg_regions, NULL, run_rotmg, NULL};

/* In host pointer mode the stream is not involved. */
static cublasStatus_t put(cublasHandle_t handle, struct call *c)
{
    IN_CALL;
    const struct blas_handle *h = handle_of(handle);
    if (!h || h->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
        return call_put(handle, c);
    for (int i = 0; i < (c->routine == &rotg ? 4 : 5); i++) {
        call_host_scalar(c->op[i].at, true);
        if (!c->op[i].at) {
            library_failed(c->name, "an address is NULL");
            return CUBLAS_STATUS_INVALID_VALUE;
        }
    }
    c->routine->run(c);
    return CUBLAS_STATUS_SUCCESS;
}

#define TYPED(at_, type_) {.at = (at_), .ld = 1, .type = (type_)}

#define ROTG(X, T, D, ...)                                                                                             \
    API cublas##X##rotg_v2(cublasHandle_t handle, T *a, T *b, ROTG_REAL_##X *c, T *s)                                  \
    {                                                                                                                  \
        return put(handle, &(struct call){.routine = &rotg,                                                            \
                                          .name = "cublas" #X "rotg",                                                  \
                                          .mixed = true,                                                               \
                                          .op = {TYPED(a, D), TYPED(b, D), TYPED(c, real_type(D)), TYPED(s, D)}});     \
    }
#define ROTG_REAL_S float
#define ROTG_REAL_D double
#define ROTG_REAL_C float
#define ROTG_REAL_Z double
ALL_TYPES(ROTG, )

#define ROTMG(X, T, D, ...)                                                                                            \
    API cublas##X##rotmg_v2(cublasHandle_t handle, T *d1, T *d2, T *x1, const T *y1, T *param)                         \
    {                                                                                                                  \
        return put(handle,                                                                                             \
                   &(struct call){.routine = &rotmg,                                                                   \
                                  .name = "cublas" #X "rotmg",                                                         \
                                  .mixed = true,                                                                       \
                                  .op = {TYPED(d1, D), TYPED(d2, D), TYPED(x1, D), TYPED(y1, D), TYPED(param, D)}});   \
    }
REAL_TYPES(ROTMG, )

/* ---- of types that are said: BLAS's ---- */

static bool is_real(cudaDataType t)
{
    return t == CUDA_R_32F || t == CUDA_R_64F;
}

static bool is_blas(cudaDataType t)
{
    return is_real(t) || t == CUDA_C_32F || t == CUDA_C_64F;
}

API cublasRotgEx(cublasHandle_t handle, void *a, void *b, cudaDataType abType, void *c, void *s, cudaDataType csType,
                 cudaDataType executiontype)
{
    if (handle_of(handle) && (!is_blas(abType) || csType != abType || executiontype != abType))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return put(handle, &(struct call){
                           .routine = &rotg,
                           .name = "cublasRotgEx",
                           .mixed = true,
                           .op = {TYPED(a, abType), TYPED(b, abType), TYPED(c, real_type(abType)), TYPED(s, abType)}});
}

API cublasRotmgEx(cublasHandle_t handle, void *d1, cudaDataType d1Type, void *d2, cudaDataType d2Type, void *x1,
                  cudaDataType x1Type, const void *y1, cudaDataType y1Type, void *param, cudaDataType paramType,
                  cudaDataType executiontype)
{
    if (handle_of(handle) && (!is_real(d1Type) || d2Type != d1Type || x1Type != d1Type || y1Type != d1Type ||
                              paramType != d1Type || executiontype != d1Type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return put(handle, &(struct call){.routine = &rotmg,
                                      .name = "cublasRotmgEx",
                                      .mixed = true,
                                      .op = {TYPED(d1, d1Type), TYPED(d2, d1Type), TYPED(x1, d1Type), TYPED(y1, d1Type),
                                             TYPED(param, d1Type)}});
}
