/* Which argument of a batched factorization is told to be wrong. nvcc -std=c++17 -arch=sm_90 infos.cu -lcublas */
#include "ora.h"
#include <cublas_v2.h>
CASE(infos) { cublasHandle_t h; S0(cublasCreate(&h)); std::string s; auto g = [&](int st, int i) { s += std::to_string(st) + ":" + std::to_string(i) + ","; }; Dev<float *> p(8); Dev<int> pv(64), di(8); int i;
#define RS(...) do { i = 77; int st = cublasSgetrsBatched(h, __VA_ARGS__); g(st, i); } while (0)
 RS((cublasOperation_t)9, 4, 1, p, 4, pv, p, 4, &i, 1); RS(CUBLAS_OP_N, -1, 1, p, 4, pv, p, 4, &i, 1); RS(CUBLAS_OP_N, 4, -1, p, 4, pv, p, 4, &i, 1); RS(CUBLAS_OP_N, 4, 1, p, 3, pv, p, 4, &i, 1); RS(CUBLAS_OP_N, 4, 1, p, 4, pv, p, 3, &i, 1); RS(CUBLAS_OP_N, 4, 1, p, 4, pv, p, 4, &i, -1); RS(CUBLAS_OP_N, 0, 1, p, 4, pv, p, 4, &i, 1); E("rs", "%s", s.c_str()); s = "";
#define QF(...) do { i = 77; int st = cublasSgeqrfBatched(h, __VA_ARGS__); g(st, i); } while (0)
 QF(-1, 2, p, 4, p, &i, 1); QF(4, -2, p, 4, p, &i, 1); QF(4, 2, p, 3, p, &i, 1); QF(4, 2, p, 4, p, &i, -1); QF(4, 2, nullptr, 4, p, &i, 1); QF(4, 2, p, 4, nullptr, &i, 1); QF(0, 2, p, 4, p, &i, 1); E("qf", "%s", s.c_str()); s = "";
#define LS(...) do { i = 77; int st = cublasSgelsBatched(h, __VA_ARGS__); g(st, i); } while (0)
 LS((cublasOperation_t)9, 4, 2, 1, p, 4, p, 4, &i, di, 1); LS(CUBLAS_OP_T, 4, 2, 1, p, 4, p, 4, &i, di, 1); LS(CUBLAS_OP_N, -4, 2, 1, p, 4, p, 4, &i, di, 1); LS(CUBLAS_OP_N, 4, -2, 1, p, 4, p, 4, &i, di, 1); LS(CUBLAS_OP_N, 4, 2, -1, p, 4, p, 4, &i, di, 1); LS(CUBLAS_OP_N, 4, 2, 1, p, 3, p, 4, &i, di, 1); LS(CUBLAS_OP_N, 4, 2, 1, p, 4, p, 3, &i, di, 1); LS(CUBLAS_OP_N, 4, 2, 1, p, 4, p, 4, &i, di, -1); LS(CUBLAS_OP_N, 2, 4, 1, p, 4, p, 4, &i, di, 1); E("ls", "%s", s.c_str()); }
CASE(pivots)
{
    const int n = 9, nb = 6; auto A = ints<cf>(n * n * nb, 1, -5, 5); Dev<cf> a(A); std::vector<cuComplex *> pa; for (int i = 0; i < nb; i++) pa.push_back((cuComplex *)(a.p + i * n * n));
    Dev<cuComplex *> xa(pa); Dev<int> p(n * nb), info(nb); cublasHandle_t h; S0(cublasCreate(&h)); S0(cublasCgetrfBatched(h, n, xa, n, p, info, nb)); auto P = p.get(); H("piv0", std::vector<int>(P.begin(), P.begin() + 3 * n));
    E("matinv", "%d,%d", (int)cublasCmatinvBatched(h, 33, xa, 33, xa, 33, info, 0), (int)cublasCmatinvBatched(h, 33, xa, 33, xa, 33, info, 1));
    cudaStream_t st; cudaGraph_t g; CU(cudaStreamCreate(&st)); CU(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal)); int s = cublasCreate(&h), e = cudaStreamEndCapture(st, &g); cudaGetLastError(); E("captured", "%d,%d", s, e);
}
