/* Statuses of wrong arguments, and of right ones beside them: what an H200 answered to each. */
#include "solvercase.h"
static std::string codes;
__attribute__((noinline)) static void ST(int status) { codes += std::to_string(status) + ","; }
#include <cusolverSp.h>
struct W_ { So o; Dev<double> a{std::vector<double>(400, 1.)}, b{std::vector<double>(400, 1.)}, w{4096}, tau{64}; Dev<int> p{64}, info{1}; int lw = -9; void fill() { std::vector<double> m(400, 0.); for (int i = 0; i < 20; i++) m[i * 20 + i] = 4, i && (m[i * 20 + i - 1] = m[(i - 1) * 20 + i] = 1); a.put(m); } W_() { fill(); } };

CASE(lu)
{
    codes.clear();
    W_ c;
    ST(cusolverDnDgetrf_bufferSize(0, 4, 4, c.a, 4, &c.lw));
    ST(cusolverDnDgetrf_bufferSize(so, -4, 4, c.a, 4, &c.lw));
    ST(cusolverDnDgetrf_bufferSize(so, 4, -4, c.a, 4, &c.lw));
    ST(cusolverDnDgetrf_bufferSize(so, 4, 4, 0, 4, &c.lw));
    ST(cusolverDnDgetrf_bufferSize(so, 4, 4, c.a, 3, &c.lw));
    ST(cusolverDnDgetrf_bufferSize(so, 0, 0, c.a, 1, &c.lw));
    ST(cusolverDnDgetrf_bufferSize(so, 20, 20, c.a, 20, &c.lw));
    ST(cusolverDnDgetrf(so, 4, 4, c.a, 20, c.w, 0, c.info));
    c.fill();
    ST(cusolverDnDgetrf(so, 0, 4, c.a, 20, c.w, c.p, c.info));
    c.fill();
    c.fill();
    ST(cusolverDnDgetrf(so, 20, 20, c.a, 20, c.w, c.p, c.info));
    ST(cusolverDnDgetrs(0, CUBLAS_OP_N, 20, 1, c.a, 20, c.p, c.b, 20, c.info));
    ST(cusolverDnDgetrs(so, (cublasOperation_t)9, 20, 1, c.a, 20, c.p, c.b, 20, c.info));
    ST(cusolverDnDgetrs(so, CUBLAS_OP_N, -1, 1, c.a, 20, c.p, c.b, 20, c.info));
    ST(cusolverDnDgetrs(so, CUBLAS_OP_N, 20, -1, c.a, 20, c.p, c.b, 20, c.info));
    ST(cusolverDnDgetrs(so, CUBLAS_OP_N, 20, 1, c.a, 19, c.p, c.b, 20, c.info));
    ST(cusolverDnDgetrs(so, CUBLAS_OP_N, 20, 1, c.a, 20, c.p, c.b, 19, c.info));
    ST(cusolverDnDgetrs(so, CUBLAS_OP_N, 20, 1, c.a, 20, 0, c.b, 20, c.info));
    ST(cusolverDnDgetrs(so, CUBLAS_OP_N, 0, 1, c.a, 20, c.p, c.b, 20, c.info));
    ST(cusolverDnDgetrs(so, CUBLAS_OP_N, 20, 0, c.a, 20, c.p, c.b, 20, c.info));
    ST(cusolverDnDgetrs(so, CUBLAS_OP_N, 20, 1, c.a, 20, c.p, c.b, 20, 0));
    E("codes", "%s", codes.c_str());
}
CASE(cholesky)
{
    codes.clear();
    W_ c;
    ST(cusolverDnDpotrf_bufferSize(so, (cublasFillMode_t)9, 20, c.a, 20, &c.lw));
    ST(cusolverDnDpotrf_bufferSize(so, LO, -20, c.a, 20, &c.lw));
    ST(cusolverDnDpotrf_bufferSize(so, LO, 20, c.a, 19, &c.lw));
    ST(cusolverDnDpotrf_bufferSize(so, LO, 20, 0, 20, &c.lw));
    ST(cusolverDnDpotrf_bufferSize(so, CUBLAS_FILL_MODE_FULL, 20, c.a, 20, &c.lw));
    ST(cusolverDnDpotrf_bufferSize(so, LO, 20, c.a, 20, &c.lw));
    ST(cusolverDnDpotrf(so, (cublasFillMode_t)9, 20, c.a, 20, c.w, 4096, c.info));
    ST(cusolverDnDpotrf(so, LO, -1, c.a, 20, c.w, 4096, c.info));
    ST(cusolverDnDpotrf(so, LO, 20, c.a, 19, c.w, 4096, c.info));
    ST(cusolverDnDpotrf(so, LO, 20, c.a, 20, c.w, 0, c.info));
    c.fill();
    ST(cusolverDnDpotrf(so, LO, 20, c.a, 20, c.w, -1, c.info));
    c.fill();
    ST(cusolverDnDpotrf(so, LO, 0, c.a, 20, c.w, 4096, c.info));
    c.fill();
    ST(cusolverDnDpotrf(so, LO, 20, c.a, 20, c.w, 4096, c.info));
    ST(cusolverDnDpotrs(so, (cublasFillMode_t)9, 20, 1, c.a, 20, c.b, 20, c.info));
    ST(cusolverDnDpotrs(so, LO, -20, 1, c.a, 20, c.b, 20, c.info));
    ST(cusolverDnDpotrs(so, LO, 20, -1, c.a, 20, c.b, 20, c.info));
    ST(cusolverDnDpotrs(so, LO, 20, 1, c.a, 19, c.b, 20, c.info));
    ST(cusolverDnDpotrs(so, LO, 20, 1, c.a, 20, c.b, 19, c.info));
    ST(cusolverDnDpotrs(so, LO, 20, 0, c.a, 20, c.b, 20, c.info));
    ST(cusolverDnDpotri_bufferSize(so, LO, 20, c.a, 20, &c.lw));
    ST(cusolverDnDpotri(so, LO, 20, c.a, 19, c.w, 4096, c.info));
    ST(cusolverDnDpotri(so, LO, 20, c.a, 20, c.w, 4096, c.info));
    double *hp[2] = {c.a.p, c.b.p}; Dev<double *> pa(std::vector<double *>{c.a.p, c.b.p});
    ST(cusolverDnDpotrfBatched(so, LO, 20, pa, 19, c.info, 2));
    ST(cusolverDnDpotrfBatched(so, LO, -1, pa, 20, c.info, 2));
    ST(cusolverDnDpotrfBatched(so, LO, 20, pa, 20, c.info, -2));
    ST(cusolverDnDpotrfBatched(so, LO, 20, pa, 20, c.info, 0));
    ST(cusolverDnDpotrfBatched(so, (cublasFillMode_t)9, 20, pa, 20, c.info, 1));
    ST(cusolverDnDpotrsBatched(so, LO, 20, 2, pa, 20, pa, 20, c.info, 1));
    ST(cusolverDnDpotrsBatched(so, LO, 20, 1, pa, 19, pa, 20, c.info, 1));
    ST(cusolverDnDpotrsBatched(so, LO, 20, 1, pa, 20, pa, 19, c.info, 1));
    E("codes", "%s", codes.c_str());
}
CASE(qr)
{
    codes.clear();
    W_ c;
    ST(cusolverDnDgeqrf_bufferSize(so, 20, 20, c.a, 19, &c.lw));
    ST(cusolverDnDgeqrf_bufferSize(so, -1, 20, c.a, 20, &c.lw));
    ST(cusolverDnDgeqrf_bufferSize(so, 20, 20, c.a, 20, &c.lw));
    ST(cusolverDnDgeqrf(so, 20, 20, c.a, 19, c.tau, c.w, 4096, c.info));
    ST(cusolverDnDgeqrf(so, 20, -1, c.a, 20, c.tau, c.w, 4096, c.info));
    ST(cusolverDnDgeqrf(so, 20, 20, c.a, 20, c.tau, c.w, 1, c.info));
    ST(cusolverDnDgeqrf(so, 20, 20, c.a, 20, c.tau, 0, 4096, c.info));
    c.fill();
    ST(cusolverDnDgeqrf(so, 20, 20, c.a, 20, c.tau, c.w, 4096, c.info));
    ST(cusolverDnDorgqr_bufferSize(so, 20, 20, 20, c.a, 20, c.tau, &c.lw));
    ST(cusolverDnDorgqr_bufferSize(so, 10, 20, 5, c.a, 20, c.tau, &c.lw));
    ST(cusolverDnDorgqr_bufferSize(so, 20, 10, 15, c.a, 20, c.tau, &c.lw));
    ST(cusolverDnDorgqr(so, 20, 10, 15, c.a, 20, c.tau, c.w, 4096, c.info));
    ST(cusolverDnDorgqr(so, 10, 20, 5, c.a, 20, c.tau, c.w, 4096, c.info));
    ST(cusolverDnDorgqr(so, 20, 20, -1, c.a, 20, c.tau, c.w, 4096, c.info));
    ST(cusolverDnDorgqr(so, 20, 20, 20, c.a, 19, c.tau, c.w, 4096, c.info));
    ST(cusolverDnDormqr_bufferSize(so, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 20, 1, 20, c.a, 20, c.tau, c.b, 20, &c.lw));
    ST(cusolverDnDormqr_bufferSize(so, (cublasSideMode_t)9, CUBLAS_OP_T, 20, 1, 20, c.a, 20, c.tau, c.b, 20, &c.lw));
    ST(cusolverDnDormqr(so, (cublasSideMode_t)9, CUBLAS_OP_T, 20, 1, 20, c.a, 20, c.tau, c.b, 20, c.w, 4096, c.info));
    ST(cusolverDnDormqr(so, CUBLAS_SIDE_LEFT, CUBLAS_OP_C, 20, 1, 20, c.a, 20, c.tau, c.b, 20, c.w, 4096, c.info));
    ST(cusolverDnDormqr(so, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 20, 1, 21, c.a, 20, c.tau, c.b, 20, c.w, 4096, c.info));
    ST(cusolverDnDormqr(so, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 20, 1, 20, c.a, 19, c.tau, c.b, 20, c.w, 4096, c.info));
    ST(cusolverDnDormqr(so, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 20, 1, 20, c.a, 20, c.tau, c.b, 19, c.w, 4096, c.info));
    E("codes", "%s", codes.c_str());
}
CASE(eigen)
{
    codes.clear();
    W_ c; Dev<double> w(20);
    ST(cusolverDnDsyevd_bufferSize(so, (cusolverEigMode_t)9, LO, 20, c.a, 20, w, &c.lw));
    ST(cusolverDnDsyevd_bufferSize(so, VEC, (cublasFillMode_t)9, 20, c.a, 20, w, &c.lw));
    ST(cusolverDnDsyevd_bufferSize(so, VEC, LO, -1, c.a, 20, w, &c.lw));
    ST(cusolverDnDsyevd_bufferSize(so, VEC, LO, 20, c.a, 19, w, &c.lw));
    ST(cusolverDnDsyevd_bufferSize(so, VEC, LO, 20, 0, 20, w, &c.lw));
    ST(cusolverDnDsyevd_bufferSize(so, VEC, LO, 20, c.a, 20, 0, &c.lw));
    ST(cusolverDnDsyevd_bufferSize(so, VEC, LO, 20, c.a, 20, w, &c.lw));
    Dev<double> q(c.lw + 65536);
    ST(cusolverDnDsyevd(so, (cusolverEigMode_t)9, LO, 20, c.a, 20, w, q, c.lw, c.info));
    ST(cusolverDnDsyevd(so, VEC, (cublasFillMode_t)9, 20, c.a, 20, w, q, c.lw, c.info));
    ST(cusolverDnDsyevd(so, VEC, LO, -1, c.a, 20, w, q, c.lw, c.info));
    ST(cusolverDnDsyevd(so, VEC, LO, 20, c.a, 19, w, q, c.lw, c.info));
    ST(cusolverDnDsyevd(so, VEC, LO, 20, c.a, 20, w, q, 1, c.info));
    ST(cusolverDnDsyevd(so, VEC, LO, 0, c.a, 20, w, q, c.lw, c.info));
    syevjInfo_t j; S0(cusolverDnCreateSyevjInfo(&j));
    ST(cusolverDnDsyevj_bufferSize(so, VEC, LO, 20, c.a, 19, w, &c.lw, j));
    ST(cusolverDnDsyevj_bufferSize(so, VEC, LO, 20, c.a, 20, w, &c.lw, 0));
    ST(cusolverDnDsyevj_bufferSize(so, VEC, LO, 20, c.a, 20, w, &c.lw, j));
    ST(cusolverDnDsyevj(so, VEC, LO, 20, c.a, 20, w, q, 1, c.info, j));
    c.fill();
    ST(cusolverDnDsyevj(so, VEC, LO, 20, c.a, 20, w, q, c.lw, c.info, j));
    int sw; double rs;
    ST(cusolverDnXsyevjGetSweeps(so, j, &sw));
    ST(cusolverDnXsyevjGetResidual(so, j, &rs));
    c.fill(); S0(cusolverDnXsyevjSetMaxSweeps(j, 1)); S0(cusolverDnXsyevjSetTolerance(j, 1e-15));
    ST(cusolverDnDsyevj(so, VEC, LO, 20, c.a, 20, w, q, c.lw, c.info, j));
    ST(cusolverDnXsyevjGetSweeps(so, j, &sw));
    ST(cusolverDnDsyevjBatched_bufferSize(so, VEC, LO, 20, c.a, 20, w, &c.lw, j, 1));
    ST(cusolverDnDsyevjBatched_bufferSize(so, VEC, LO, 20, c.a, 20, w, &c.lw, j, 0));
    ST(cusolverDnDsyevjBatched_bufferSize(so, VEC, LO, 33, c.a, 33, w, &c.lw, j, 1));
    int h; c.fill();
    ST(cusolverDnDsyevdx_bufferSize(so, VEC, CUSOLVER_EIG_RANGE_I, LO, 20, c.a, 20, 0, 0, 0, 3, &h, w, &c.lw));
    ST(cusolverDnDsyevdx_bufferSize(so, VEC, CUSOLVER_EIG_RANGE_I, LO, 20, c.a, 20, 0, 0, 3, 2, &h, w, &c.lw));
    ST(cusolverDnDsyevdx_bufferSize(so, VEC, CUSOLVER_EIG_RANGE_I, LO, 20, c.a, 20, 0, 0, 1, 21, &h, w, &c.lw));
    ST(cusolverDnDsyevdx_bufferSize(so, VEC, CUSOLVER_EIG_RANGE_V, LO, 20, c.a, 20, 2, 1, 0, 0, &h, w, &c.lw));
    ST(cusolverDnDsyevdx_bufferSize(so, VEC, (cusolverEigRange_t)9, LO, 20, c.a, 20, 0, 0, 1, 3, &h, w, &c.lw));
    ST(cusolverDnDsygvd_bufferSize(so, CUSOLVER_EIG_TYPE_1, VEC, LO, 20, c.a, 20, c.b, 20, w, &c.lw));
    ST(cusolverDnDsygvd_bufferSize(so, (cusolverEigType_t)9, VEC, LO, 20, c.a, 20, c.b, 20, w, &c.lw));
    ST(cusolverDnDsygvd_bufferSize(so, CUSOLVER_EIG_TYPE_1, VEC, LO, 20, c.a, 20, c.b, 19, w, &c.lw));
    Dev<double> qq(65536); std::vector<double> neg(400, 0.); for (int i = 0; i < 20; i++) neg[21 * i] = i == 6 ? -1 : 1; c.b.put(neg); c.fill();
    ST(cusolverDnDsygvd(so, CUSOLVER_EIG_TYPE_1, VEC, LO, 20, c.a, 20, c.b, 20, w, qq, 65536, c.info));
    E("codes", "%s", codes.c_str());
}
CASE(svd)
{
    codes.clear();
    W_ c; Dev<double> s(20), u(400), v(400), q(1 << 18), r(64);
    ST(cusolverDnDgesvd_bufferSize(so, 20, 20, &c.lw));
    ST(cusolverDnDgesvd_bufferSize(so, 10, 20, &c.lw));
    ST(cusolverDnDgesvd_bufferSize(so, -1, 20, &c.lw));
    int lw = 1 << 18;
    ST(cusolverDnDgesvd(so, 'A', 'A', 20, 20, c.a, 20, s, u, 20, v, 20, q, lw, 0, c.info));
    c.fill();
    ST(cusolverDnDgesvd(so, 'X', 'A', 20, 20, c.a, 20, s, u, 20, v, 20, q, lw, 0, c.info));
    ST(cusolverDnDgesvd(so, 'A', 'X', 20, 20, c.a, 20, s, u, 20, v, 20, q, lw, 0, c.info));
    ST(cusolverDnDgesvd(so, 'O', 'O', 20, 20, c.a, 20, s, u, 20, v, 20, q, lw, 0, c.info));
    ST(cusolverDnDgesvd(so, 'A', 'A', 10, 20, c.a, 20, s, u, 20, v, 20, q, lw, 0, c.info));
    ST(cusolverDnDgesvd(so, 'A', 'A', 20, 20, c.a, 19, s, u, 20, v, 20, q, lw, 0, c.info));
    ST(cusolverDnDgesvd(so, 'A', 'A', 20, 20, c.a, 20, s, u, 19, v, 20, q, lw, 0, c.info));
    ST(cusolverDnDgesvd(so, 'A', 'A', 20, 20, c.a, 20, s, u, 20, v, 19, q, lw, 0, c.info));
    ST(cusolverDnDgesvd(so, 'A', 'A', 20, 20, c.a, 20, s, u, 20, v, 20, q, 1, 0, c.info));
    ST(cusolverDnDgesvd(so, 'A', 'A', -20, 20, c.a, 20, s, u, 20, v, 20, q, lw, 0, c.info));
    c.fill();
    ST(cusolverDnDgesvd(so, 'N', 'N', 20, 20, c.a, 20, s, 0, 20, 0, 20, q, lw, 0, c.info));
    c.fill();
    ST(cusolverDnDgesvd(so, 'N', 'N', 20, 20, c.a, 20, s, 0, 1, 0, 1, q, lw, 0, c.info));
    gesvdjInfo_t g; S0(cusolverDnCreateGesvdjInfo(&g));
    ST(cusolverDnDgesvdj_bufferSize(so, VEC, 0, 20, 20, c.a, 20, s, u, 20, v, 20, &c.lw, g));
    ST(cusolverDnDgesvdj_bufferSize(so, VEC, 2, 20, 20, c.a, 20, s, u, 20, v, 20, &c.lw, g));
    ST(cusolverDnDgesvdj_bufferSize(so, VEC, 0, 20, 20, c.a, 20, s, u, 19, v, 20, &c.lw, g));
    ST(cusolverDnDgesvdj_bufferSize(so, VEC, 0, 20, 20, c.a, 19, s, u, 20, v, 20, &c.lw, g));
    ST(cusolverDnDgesvdj_bufferSize(so, VEC, 0, 20, 20, c.a, 20, s, u, 20, v, 20, &c.lw, 0));
    c.fill();
    ST(cusolverDnDgesvdj(so, VEC, 0, 20, 20, c.a, 20, s, u, 20, v, 20, q, 1, c.info, g));
    ST(cusolverDnDgesvdjBatched_bufferSize(so, VEC, 33, 20, c.a, 33, s, u, 33, v, 20, &c.lw, g, 1));
    ST(cusolverDnDgesvdaStridedBatched_bufferSize(so, VEC, 5, 20, 20, c.a, 20, 400, s, 20, u, 20, 400, v, 20, 400, &c.lw, 1));
    ST(cusolverDnDgesvdaStridedBatched_bufferSize(so, VEC, 21, 20, 20, c.a, 20, 400, s, 20, u, 20, 400, v, 20, 400, &c.lw, 1));
    ST(cusolverDnDgesvdaStridedBatched_bufferSize(so, VEC, 5, 10, 20, c.a, 20, 400, s, 20, u, 20, 400, v, 20, 400, &c.lw, 1));
    E("codes", "%s", codes.c_str());
}
CASE(rest)
{
    codes.clear();
    W_ c; Dev<double> e(20), dd(20), t2(20);
    ST(cusolverDnDgebrd_bufferSize(so, 20, 20, &c.lw));
    ST(cusolverDnDgebrd_bufferSize(so, 10, 20, &c.lw));
    ST(cusolverDnDgebrd(so, 10, 20, c.a, 20, dd, e, c.tau, t2, c.w, 4096, c.info));
    ST(cusolverDnDsytrf_bufferSize(so, 20, c.a, 20, &c.lw));
    ST(cusolverDnDsytrf_bufferSize(so, 20, c.a, 19, &c.lw));
    ST(cusolverDnDsytrf(so, LO, 20, c.a, 19, c.p, c.w, 4096, c.info));
    ST(cusolverDnDsytrf(so, LO, 20, c.a, 20, c.p, c.w, 0, c.info));
    ST(cusolverDnDsytrf(so, (cublasFillMode_t)9, 20, c.a, 20, c.p, c.w, 4096, c.info));
    c.fill();
    ST(cusolverDnDsytrd_bufferSize(so, LO, 20, c.a, 20, dd, e, c.tau, &c.lw));
    ST(cusolverDnDsytrd_bufferSize(so, LO, 20, c.a, 19, dd, e, c.tau, &c.lw));
    ST(cusolverDnDorgtr_bufferSize(so, LO, 20, c.a, 20, c.tau, &c.lw));
    ST(cusolverDnDormtr_bufferSize(so, CUBLAS_SIDE_LEFT, LO, CUBLAS_OP_N, 20, 1, c.a, 20, c.tau, c.b, 20, &c.lw));
    ST(cusolverDnDlaswp(so, -1, c.a, 20, 1, 4, c.p, 1));
    ST(cusolverDnDlaswp(so, 1, c.a, 20, 1, 4, c.p, 0));
    cusolverDnParams_t pr; S0(cusolverDnCreateParams(&pr)); size_t d_, h_; c.fill();
    ST(cusolverDnXgetrf_bufferSize(so, 0, 20, 20, CUDA_R_64F, c.a, 20, CUDA_R_64F, &d_, &h_));
    ST(cusolverDnXgetrf_bufferSize(so, pr, 20, 20, CUDA_R_32F, c.a, 20, CUDA_R_64F, &d_, &h_));
    ST(cusolverDnXgetrf_bufferSize(so, pr, 20, 20, CUDA_R_16F, c.a, 20, CUDA_R_16F, &d_, &h_));
    ST(cusolverDnXgetrf_bufferSize(so, pr, 20, 20, CUDA_R_64F, c.a, 19, CUDA_R_64F, &d_, &h_));
    ST(cusolverDnXgetrf_bufferSize(so, pr, -20, 20, CUDA_R_64F, c.a, 20, CUDA_R_64F, &d_, &h_));
    ST(cusolverDnXgetrf_bufferSize(so, pr, 20, 20, CUDA_R_64F, c.a, 20, CUDA_R_64F, &d_, &h_));
    Dev<int64_t> pv(20); char *bd; cudaMalloc(&bd, d_ + 1024); std::vector<char> bh(h_ + 16);
    ST(cusolverDnXgetrf(so, pr, 20, 20, CUDA_R_64F, c.a, 20, pv, CUDA_R_64F, bd, 1, bh.data(), h_, c.info));
    ST(cusolverDnXgetrf(so, pr, 20, 20, CUDA_R_64F, c.a, 20, 0, CUDA_R_64F, bd, d_, bh.data(), h_, c.info));
    c.fill();
    ST(cusolverDnXgetrf(so, pr, 20, 20, CUDA_R_64F, c.a, 20, pv, CUDA_R_64F, bd, d_, bh.data(), h_, c.info));
    ST(cusolverDnXgetrs(so, pr, CUBLAS_OP_N, 20, 1, CUDA_R_64F, c.a, 20, pv, CUDA_R_32F, c.b, 20, c.info));
    ST(cusolverDnXgetrs(so, pr, CUBLAS_OP_N, 20, 1, CUDA_R_64F, c.a, 20, pv, CUDA_R_64F, c.b, 19, c.info));
    ST(cusolverDnXpotrf_bufferSize(so, pr, LO, 20, CUDA_R_64F, c.a, 20, CUDA_R_64F, &d_, &h_));
    ST(cusolverDnXgeqrf_bufferSize(so, pr, 20, 20, CUDA_R_64F, c.a, 20, CUDA_R_64F, c.tau, CUDA_R_64F, &d_, &h_));
    ST(cusolverDnXsyevd_bufferSize(so, pr, VEC, LO, 20, CUDA_R_64F, c.a, 20, CUDA_R_64F, e, CUDA_R_64F, &d_, &h_));
    ST(cusolverDnXsyevd_bufferSize(so, pr, VEC, LO, 20, CUDA_R_64F, c.a, 20, CUDA_R_32F, e, CUDA_R_64F, &d_, &h_));
    ST(cusolverDnXgesvd_bufferSize(so, pr, 'A', 'A', 20, 20, CUDA_R_64F, c.a, 20, CUDA_R_64F, e, CUDA_R_64F, c.b, 20, CUDA_R_64F, c.b, 20, CUDA_R_64F, &d_, &h_));
    ST(cusolverDnXgesvd_bufferSize(so, pr, 'A', 'A', 10, 20, CUDA_R_64F, c.a, 20, CUDA_R_64F, e, CUDA_R_64F, c.b, 20, CUDA_R_64F, c.b, 20, CUDA_R_64F, &d_, &h_));
    ST(cusolverDnXtrtri_bufferSize(so, LO, CUBLAS_DIAG_NON_UNIT, 20, CUDA_R_64F, c.a, 20, &d_, &h_));
    ST(cusolverDnXtrtri_bufferSize(so, LO, CUBLAS_DIAG_NON_UNIT, 20, CUDA_R_64F, c.a, 19, &d_, &h_));
    E("codes", "%s", codes.c_str());
}
CASE(sp)
{
    codes.clear();
    cusolverSpHandle_t h;
    ST(cusolverSpCreate(&h));
    cusparseMatDescr_t d; cusparseCreateMatDescr(&d); cudaStream_t st;
    Dev<double> v(std::vector<double>{4, 1, 1, 4}), b(std::vector<double>{1, 2}), x(2); Dev<int> r(std::vector<int>{0, 2, 4}), c(std::vector<int>{0, 1, 0, 1}); int sg = -9;
    ST(cusolverSpDcsrlsvqr(h, 2, 4, d, v, r, c, b, 1e-12, 0, x, &sg));
    ST(cusolverSpDcsrlsvqr(0, 2, 4, d, v, r, c, b, 1e-12, 0, x, &sg));
    ST(cusolverSpDcsrlsvqr(h, -2, 4, d, v, r, c, b, 1e-12, 0, x, &sg));
    ST(cusolverSpDcsrlsvqr(h, 2, -4, d, v, r, c, b, 1e-12, 0, x, &sg));
    ST(cusolverSpDcsrlsvqr(h, 2, 4, d, v, r, c, b, -1, 0, x, &sg));
    v.put({1, 1, 1, 1});
    ST(cusolverSpDcsrlsvqr(h, 2, 4, d, v, r, c, b, 1e-12, 0, x, &sg));
    ST(cusolverSpDcsrlsvchol(h, 2, 4, d, v, r, c, b, 1e-12, 0, x, &sg));
    v.put({4, 1, 1, -4});
    ST(cusolverSpDcsrlsvchol(h, 2, 4, d, v, r, c, b, 1e-12, 0, x, &sg));
    cusparseSetMatType(d, CUSPARSE_MATRIX_TYPE_SYMMETRIC);
    ST(cusolverSpDcsrlsvchol(h, 2, 4, d, v, r, c, b, 1e-12, 0, x, &sg));
    ST(cusolverSpDcsrlsvqr(h, 2, 4, d, v, r, c, b, 1e-12, 0, x, &sg));
    E("codes", "%s", codes.c_str());
}

CASE(work)
{
    codes.clear();
    W_ c; int found;
    for (int n : {1, 18})
        for (int lwork : {0, 1, 2, 64}) ST(cusolverDnDsyevd(so, VEC, LO, n, c.a, 20, c.b, c.w, lwork, c.info));
    for (int lwork : {0, 1, 5}) ST(cusolverDnDsyevdx(so, VEC, CUSOLVER_EIG_RANGE_ALL, LO, 18, c.a, 20, 0, 0, 0, 0, &found, c.b, c.w, lwork, c.info));
    E("codes", "%s", codes.c_str());
}
