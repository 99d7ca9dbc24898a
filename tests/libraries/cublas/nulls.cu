/* cuBLAS: operands that are NULL, one call a case, as some are the context's fault: the status, and
 * what the device says next. nvcc -std=c++17 -arch=sm_90 nulls.cu -lcublas */
#include "ora.h"
#include <cublas_v2.h>
static cublasHandle_t h;
static const auto N = CUBLAS_OP_N;
static const auto LO = CUBLAS_FILL_MODE_LOWER;
static const auto LEFT = CUBLAS_SIDE_LEFT;
static const auto UNIT = CUBLAS_DIAG_UNIT;
static float zero = 0, one = 1, two = 2, result;
static float *a, *b, *c;
#define CALL(name, call)                                                                                               \
    CASE(name)                                                                                                         \
    {                                                                                                                  \
        S0(cublasCreate(&h));                                                                                          \
        for (float **p : {&a, &b, &c}) { S0(cudaMalloc(p, 4096)); S0(cudaMemset(*p, 0, 4096)); }                       \
        int status = call, device = cudaDeviceSynchronize();                                                           \
        E("is", "%d,%d", device && status == 13 ? 0 : status, device); /* it may be told at once */                    \
        fflush(stdout);                                                                                                \
    }
CALL(gemm_a_alpha_0, cublasSgemm(h, N, N, 4, 4, 4, &zero, 0, 4, b, 4, &two, c, 4))
CALL(gemm_k_0, cublasSgemm(h, N, N, 4, 4, 0, &one, 0, 4, 0, 1, &two, c, 4))
CALL(gemm_c, cublasSgemm(h, N, N, 4, 4, 4, &one, a, 4, b, 4, &zero, 0, 4))
CALL(gemm_a, cublasSgemm(h, N, N, 4, 4, 4, &one, 0, 4, b, 4, &zero, c, 4))
CALL(gemm_misaligned, cublasSgemm(h, N, N, 4, 4, 4, &one, (float *)((char *)a + 2), 4, b, 4, &zero, c, 4))
CALL(gemm_strided, cublasSgemmStridedBatched(h, N, N, 2, 2, 2, &one, 0, 2, 4, b, 2, 4, &zero, c, 2, 4, 2))
CALL(gemm_strided_alpha_0, cublasSgemmStridedBatched(h, N, N, 2, 2, 2, &zero, 0, 2, 4, b, 2, 4, &zero, c, 2, 4, 2))
CALL(gemm_batched, cublasSgemmBatched(h, N, N, 2, 2, 2, &one, 0, 2, 0, 2, &zero, 0, 2, 1))
CALL(gemm_ex_alpha_0, cublasGemmEx(h, N, N, 4, 4, 4, &zero, 0, CUDA_R_32F, 4, 0, CUDA_R_32F, 4, &two, c, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT))
CALL(gemv_a_alpha_0, cublasSgemv(h, N, 4, 4, &zero, 0, 4, b, 1, &two, c, 1))
CALL(gemv_x, cublasSgemv(h, N, 4, 4, &one, a, 4, 0, 1, &two, c, 1))
CALL(ger_x_alpha_0, cublasSger(h, 4, 4, &zero, 0, 1, b, 1, c, 4))
CALL(spr_x_alpha_0, cublasSspr(h, LO, 4, &zero, 0, 1, c))
CALL(axpy_x_alpha_0, cublasSaxpy(h, 4, &zero, 0, 1, c, 1))
CALL(axpy_x, cublasSaxpy(h, 4, &one, 0, 1, c, 1))
CALL(scal, cublasSscal(h, 4, &one, 0, 1))
CALL(swap_x, cublasSswap(h, 4, 0, 1, c, 1))
CALL(copy_x, cublasScopy(h, 4, 0, 1, c, 1))
CALL(dot, cublasSdot(h, 4, 0, 1, c, 1, &result))
CALL(nrm2, cublasSnrm2(h, 4, 0, 1, &result))
CALL(trsv, cublasStrsv(h, LO, N, UNIT, 4, 0, 4, c, 1))
CALL(trsm, cublasStrsm(h, LEFT, LO, N, UNIT, 4, 2, &one, 0, 4, c, 4))
CALL(trmm_alpha_0, cublasStrmm(h, LEFT, LO, N, UNIT, 4, 2, &zero, 0, 4, b, 4, c, 4))
CALL(syrk_alpha_0, cublasSsyrk(h, LO, N, 4, 2, &zero, 0, 4, &two, c, 4))
CALL(symm_alpha_0, cublasSsymm(h, LEFT, LO, 2, 2, &zero, 0, 2, b, 2, &two, c, 2))
CALL(sbmv_alpha_0, cublasSsbmv(h, LO, 4, 1, &zero, 0, 2, b, 1, &two, c, 1))
CALL(geam_b, cublasSgeam(h, N, N, 2, 2, &one, a, 2, &two, 0, 2, c, 2))
CALL(geam_a_alpha_0, cublasSgeam(h, N, N, 2, 2, &zero, 0, 2, &two, b, 2, c, 2))
CALL(dgmm_x, cublasSdgmm(h, LEFT, 2, 2, a, 2, 0, 1, c, 2))
CALL(getrf_batched, cublasSgetrfBatched(h, 2, 0, 2, (int *)b, (int *)c, 1))
