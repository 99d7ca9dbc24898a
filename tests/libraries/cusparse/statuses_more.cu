/* Statuses of wrong arguments, and of right ones beside them: what an H200 answered to each. */
#include "sparsecase.h"
static std::string codes;
__attribute__((noinline)) static void ST(int status) { codes += std::to_string(status) + ","; }
typedef cusparseSpMatDescr_t SM; typedef cusparseDnVecDescr_t DV; typedef cusparseDnMatDescr_t DM; typedef cusparseSpVecDescr_t SV;
#define F32 CUDA_R_32F
#define F64 CUDA_R_64F
static const auto RO = CUSPARSE_ORDER_ROW, CO = CUSPARSE_ORDER_COL;
struct Ctx { Sp o; Dev<int> row{std::vector<int>{0,1,2,3,4,4,4,4,4}}, col{std::vector<int>{0,1,2,3,0,0,0,0,0}}; Dev<float> v{std::vector<float>(256, 1.f)}, w{std::vector<float>(256, 1.f)}; Dev<double> d{std::vector<double>(256, 1.)}; float al = 1, be = 0; double dal = 1, dbe = 0; size_t n = 77; char buf[64]; SM A, C, K; DV x4, y4, y5, d4; DM B44, C44, B45, R44, D44;
  SM csr(int m, int k, int nnz, cudaDataType t = F32) { SM A; S0(cusparseCreateCsr(&A, m, k, nnz, row, col, v, I32, I32, B0, t)); return A; }
  DV dv(int n, cudaDataType t = F32, void *at = 0) { DV x; S0(cusparseCreateDnVec(&x, n, at ? at : (void *)w.p, t)); return x; }
  DM dm(int m, int k, int ld, cudaDataType t = F32, cusparseOrder_t o = CO) { DM x; S0(cusparseCreateDnMat(&x, m, k, ld, w, t, o)); return x; }
  Ctx() { A = csr(4, 4, 4); S0(cusparseCreateCoo(&C, 4, 4, 4, row, col, v, I32, B0, F32)); S0(cusparseCreateCsc(&K, 4, 4, 4, row, col, v, I32, I32, B0, F32)); x4 = dv(4); y4 = dv(4); y5 = dv(5); d4 = dv(4, F64, d.p); B44 = dm(4, 4, 4); C44 = dm(4, 4, 4); B45 = dm(4, 5, 4); R44 = dm(4, 4, 4, F32, RO); D44 = dm(4, 4, 4, F64); } };
#define SPMV(op, al, A, x, be, y, t, alg) cusparseSpMV_bufferSize(sp, op, al, A, x, be, y, t, alg, &c.n)
#define SPMM(oa, ob, al, A, B, be, C, t, alg) cusparseSpMM_bufferSize(sp, oa, ob, al, A, B, be, C, t, alg, &c.n)
CASE(solve)
{
    codes.clear();
    Ctx c; auto D = CUSPARSE_SPSV_ALG_DEFAULT; cusparseSpSVDescr_t q, q2; cusparseSpSMDescr_t m; SM a34 = c.csr(3, 4, 3), a64 = c.csr(4, 4, 4, F64), ah = c.csr(4, 4, 4, CUDA_R_16F), b; S0(cusparseCreateBsr(&b, 2, 2, 2, 2, 2, c.row, c.col, c.v, I32, I32, B0, F32, CO)); DV h4 = c.dv(4, CUDA_R_16F);
    ST(cusparseSpSV_createDescr(0));
    ST(cusparseSpSV_createDescr(&q));
    ST(cusparseSpSV_createDescr(&q2));
    ST(cusparseSpSV_destroyDescr(0));
    ST(cusparseSpSM_createDescr(0));
    ST(cusparseSpSM_createDescr(&m));
    ST(cusparseSpSM_destroyDescr(0));
#define SV_(al, A, x, y, t, alg, d) cusparseSpSV_bufferSize(sp, NN, al, A, x, y, t, alg, d, &c.n)
    ST(SV_(0, c.A, c.x4, c.y4, F32, D, q));
    ST(SV_(&c.al, 0, c.x4, c.y4, F32, D, q));
    ST(SV_(&c.al, c.A, 0, c.y4, F32, D, q));
    ST(SV_(&c.al, c.A, c.x4, 0, F32, D, q));
    ST(SV_(&c.al, c.A, c.x4, c.y4, F64, D, q));
    ST(SV_(&c.al, c.A, c.x4, c.y4, F32, (cusparseSpSVAlg_t)9, q));
    ST(SV_(&c.al, c.A, c.x4, c.y4, F32, D, 0));
    ST(cusparseSpSV_bufferSize(sp, NN, &c.al, c.A, c.x4, c.y4, F32, D, q, 0));
    ST(SV_(&c.al, c.A, c.x4, c.y5, F32, D, q));
    ST(SV_(&c.al, c.A, c.y5, c.y5, F32, D, q));
    ST(SV_(&c.al, a34, c.x4, c.y4, F32, D, q));
    ST(SV_(&c.al, a64, c.x4, c.y4, F32, D, q));
    ST(SV_(&c.al, a64, c.d4, c.d4, F64, D, q));
    ST(SV_(&c.al, ah, h4, h4, F32, D, q));
    ST(SV_(&c.al, c.K, c.x4, c.y4, F32, D, q));
    ST(SV_(&c.al, b, c.x4, c.y4, F32, D, q));
    ST(SV_(&c.al, c.C, c.x4, c.y4, F32, D, q));
    ST(cusparseSpSV_bufferSize(sp, (cusparseOperation_t)5, &c.al, c.A, c.x4, c.y4, F32, D, q, &c.n));
    ST(cusparseSpSV_bufferSize(0, NN, &c.al, c.A, c.x4, c.y4, F32, D, q, &c.n));
    ST(cusparseSpSV_solve(sp, NN, &c.al, c.A, c.x4, c.y4, F32, D, q));
    ST(SV_(&c.al, c.A, c.x4, c.y4, F32, D, q));
    ST(cusparseSpSV_solve(sp, NN, &c.al, c.A, c.x4, c.y4, F32, D, q));
    char *bf; cudaMalloc(&bf, c.n + 4096);
    ST(cusparseSpSV_analysis(sp, NN, &c.al, c.A, c.x4, c.y4, F32, D, q2, bf));
    ST(cusparseSpSV_analysis(sp, NN, &c.al, c.A, c.x4, c.y4, F32, D, q, bf));
    ST(cusparseSpSV_solve(sp, NN, &c.al, c.A, c.x4, c.y4, F32, D, q));
    ST(cusparseSpSV_solve(sp, TT, &c.al, c.A, c.x4, c.y4, F32, D, q));
    ST(cusparseSpSV_solve(sp, NN, &c.al, c.C, c.x4, c.y4, F32, D, q));
    ST(cusparseSpSV_solve(sp, NN, 0, c.A, c.x4, c.y4, F32, D, q));
    ST(cusparseSpSV_updateMatrix(0, q, c.v, CUSPARSE_SPSV_UPDATE_GENERAL));
    ST(cusparseSpSV_updateMatrix(sp, 0, c.v, CUSPARSE_SPSV_UPDATE_GENERAL));
    ST(cusparseSpSV_updateMatrix(sp, q, 0, CUSPARSE_SPSV_UPDATE_GENERAL));
    ST(cusparseSpSV_updateMatrix(sp, q2, c.v, CUSPARSE_SPSV_UPDATE_GENERAL));
    ST(cusparseSpSV_updateMatrix(sp, q, c.v, (cusparseSpSVUpdate_t)9));
    ST(cusparseSpSV_updateMatrix(sp, q, c.v, CUSPARSE_SPSV_UPDATE_GENERAL));
    ST(cusparseSpSV_updateMatrix(sp, q, c.v, CUSPARSE_SPSV_UPDATE_DIAGONAL));
    auto M = CUSPARSE_SPSM_ALG_DEFAULT;
#define SM_(oa, ob, al, A, B, C, t, alg, d) cusparseSpSM_bufferSize(sp, oa, ob, al, A, B, C, t, alg, d, &c.n)
    ST(SM_(NN, NN, 0, c.A, c.B44, c.C44, F32, M, m));
    ST(SM_(NN, NN, &c.al, 0, c.B44, c.C44, F32, M, m));
    ST(SM_(NN, NN, &c.al, c.A, 0, c.C44, F32, M, m));
    ST(SM_(NN, NN, &c.al, c.A, c.B44, 0, F32, M, m));
    ST(SM_(NN, NN, &c.al, c.A, c.B44, c.C44, F64, M, m));
    ST(SM_(NN, NN, &c.al, c.A, c.B44, c.C44, F32, (cusparseSpSMAlg_t)9, m));
    ST(SM_(NN, NN, &c.al, c.A, c.B44, c.C44, F32, M, 0));
    ST(SM_(NN, NN, &c.al, c.A, c.B45, c.C44, F32, M, m));
    ST(SM_(NN, TT, &c.al, c.A, c.B44, c.C44, F32, M, m));
    ST(SM_(NN, HH, &c.al, c.A, c.B44, c.C44, F32, M, m));
    ST(SM_(HH, NN, &c.al, c.A, c.B44, c.C44, F32, M, m));
    ST(SM_(NN, NN, &c.al, c.A, c.R44, c.C44, F32, M, m));
    ST(SM_(NN, NN, &c.al, c.A, c.R44, c.R44, F32, M, m));
    ST(SM_(NN, NN, &c.al, c.K, c.B44, c.C44, F32, M, m));
    ST(SM_(NN, NN, &c.al, c.C, c.B44, c.C44, F32, M, m));
    ST(SM_(NN, NN, &c.al, a34, c.B44, c.C44, F32, M, m));
    ST(cusparseSpSM_bufferSize(sp, NN, NN, &c.al, c.A, c.B44, c.C44, F32, M, m, 0));
    ST(cusparseSpSM_solve(sp, NN, NN, &c.al, c.A, c.B44, c.C44, F32, M, m));
    ST(SM_(NN, NN, &c.al, c.A, c.B44, c.C44, F32, M, m));
    ST(cusparseSpSM_solve(sp, NN, NN, &c.al, c.A, c.B44, c.C44, F32, M, m));
    char *b3; cudaMalloc(&b3, c.n + 4096);
    ST(cusparseSpSM_analysis(sp, NN, NN, &c.al, c.A, c.B44, c.C44, F32, M, m, 0));
    ST(cusparseSpSM_analysis(sp, NN, NN, &c.al, c.A, c.B44, c.C44, F32, M, m, b3));
    ST(cusparseSpSM_solve(sp, NN, NN, &c.al, c.A, c.B44, c.C44, F32, M, m));
    ST(cusparseSpSM_updateMatrix(sp, m, c.v, CUSPARSE_SPSM_UPDATE_GENERAL));
    ST(cusparseSpSM_updateMatrix(sp, m, 0, CUSPARSE_SPSM_UPDATE_GENERAL));
    ST(cusparseSpSM_updateMatrix(sp, 0, c.v, CUSPARSE_SPSM_UPDATE_GENERAL));
    ST(cusparseSpSM_updateMatrix(sp, m, c.v, CUSPARSE_SPSM_UPDATE_DIAGONAL));
    E("codes", "%s", codes.c_str());
}
CASE(gemm)
{
    codes.clear();
    Ctx c; auto D = CUSPARSE_SPGEMM_DEFAULT; cusparseSpGEMMDescr_t g; SM r; S0(cusparseCreateCsr(&r, 4, 4, 0, 0, 0, 0, I32, I32, B0, F32)); SM a34 = c.csr(3, 4, 3), a64 = c.csr(4, 4, 4, F64); int64_t np; size_t n2, n3;
    ST(cusparseSpGEMM_createDescr(0));
    ST(cusparseSpGEMM_createDescr(&g));
    ST(cusparseSpGEMM_destroyDescr(0));
#define GE(oa, ob, al, A, B, be, C, t, alg, d) cusparseSpGEMM_workEstimation(sp, oa, ob, al, A, B, be, C, t, alg, d, &c.n, 0)
    ST(GE(NN, NN, 0, c.A, c.A, &c.be, r, F32, D, g));
    ST(GE(NN, NN, &c.al, 0, c.A, &c.be, r, F32, D, g));
    ST(GE(NN, NN, &c.al, c.A, 0, &c.be, r, F32, D, g));
    ST(GE(NN, NN, &c.al, c.A, c.A, 0, r, F32, D, g));
    ST(GE(NN, NN, &c.al, c.A, c.A, &c.be, 0, F32, D, g));
    ST(GE(NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, 0));
    ST(GE(TT, NN, &c.al, c.A, c.A, &c.be, r, F32, D, g));
    ST(GE(NN, TT, &c.al, c.A, c.A, &c.be, r, F32, D, g));
    ST(GE((cusparseOperation_t)5, NN, &c.al, c.A, c.A, &c.be, r, F32, D, g));
    ST(GE(NN, NN, &c.al, c.A, c.A, &c.be, r, F64, D, g));
    ST(GE(NN, NN, &c.al, a34, a34, &c.be, r, F32, D, g));
    ST(GE(NN, NN, &c.al, a34, c.A, &c.be, r, F32, D, g));
    ST(GE(NN, NN, &c.al, a64, c.A, &c.be, r, F32, D, g));
    ST(GE(NN, NN, &c.al, c.C, c.A, &c.be, r, F32, D, g));
    ST(GE(NN, NN, &c.al, c.K, c.K, &c.be, r, F32, D, g));
    ST(GE(NN, NN, &c.al, c.A, c.A, &c.be, r, F32, (cusparseSpGEMMAlg_t)99, g));
    for (int i = 0; i < 6; i++)
    ST(GE(NN, NN, &c.al, c.A, c.A, &c.be, r, F32, (cusparseSpGEMMAlg_t)i, g));
    ST(cusparseSpGEMM_workEstimation(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, g, 0, 0));
    ST(cusparseSpGEMM_compute(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, g, &n2, 0));
    ST(cusparseSpGEMM_copy(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, g));
    ST(cusparseSpGEMM_getNumProducts(g, &np));
    ST(cusparseSpGEMM_getNumProducts(0, &np));
    ST(cusparseSpGEMM_getNumProducts(g, 0));
    cusparseSpGEMMDescr_t h; S0(cusparseSpGEMM_createDescr(&h));
    ST(cusparseSpGEMM_workEstimation(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, h, &c.n, 0));
    char *b1; cudaMalloc(&b1, c.n);
    ST(cusparseSpGEMM_workEstimation(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, h, &c.n, b1));
    ST(cusparseSpGEMM_getNumProducts(h, &np));
    ST(cusparseSpGEMM_compute(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, h, &n2, 0));
    char *b2; cudaMalloc(&b2, n2);
    ST(cusparseSpGEMM_compute(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, h, &n2, b2));
    int64_t m, k, z; S0(cusparseSpMatGetSize(r, &m, &k, &z));
    ST(cusparseSpGEMM_copy(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, h));
    Dev<int> ro(5), co(8); Dev<float> va(8); S0(cusparseCsrSetPointers(r, ro, co, va));
    ST(cusparseSpGEMM_copy(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, h));
    ST(cusparseSpGEMM_copy(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, h));
    cusparseSpGEMMDescr_t e; S0(cusparseSpGEMM_createDescr(&e));
    ST(cusparseSpGEMM_workEstimation(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, CUSPARSE_SPGEMM_ALG2, e, &c.n, 0));
    cudaMalloc(&b1, c.n);
    ST(cusparseSpGEMM_workEstimation(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, CUSPARSE_SPGEMM_ALG2, e, &c.n, b1));
    n3 = n2 = 0;
    ST(cusparseSpGEMM_estimateMemory(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, CUSPARSE_SPGEMM_ALG2, e, 0.2f, &n3, 0, 0));
    cudaMalloc(&b2, n3);
    ST(cusparseSpGEMM_estimateMemory(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, CUSPARSE_SPGEMM_ALG2, e, 0.2f, &n3, b2, &n2));
    ST(cusparseSpGEMM_estimateMemory(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, D, e, 0.2f, &n3, 0, 0));
    ST(cusparseSpGEMM_estimateMemory(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F32, CUSPARSE_SPGEMM_ALG3, e, 2.f, &n3, 0, 0));
    E("codes", "%s", codes.c_str());
}
CASE(reuse)
{
    codes.clear();
    Ctx c; auto D = CUSPARSE_SPGEMM_DEFAULT; cusparseSpGEMMDescr_t g; SM r; Dev<int> ro(5), co(8); Dev<float> va(8); S0(cusparseCreateCsr(&r, 4, 4, 0, ro, 0, 0, I32, I32, B0, F32)); S0(cusparseSpGEMM_createDescr(&g)); size_t n1 = 0, n2 = 0, n3 = 0, n4 = 0, n5 = 0; char *b1, *b2, *b3, *b4, *b5; int64_t m, k, z; auto A = CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC;
    ST(cusparseSpGEMMreuse_workEstimation(sp, NN, NN, 0, c.A, r, D, g, &n1, 0));
    ST(cusparseSpGEMMreuse_workEstimation(sp, NN, NN, c.A, c.A, r, D, 0, &n1, 0));
    ST(cusparseSpGEMMreuse_workEstimation(sp, TT, NN, c.A, c.A, r, D, g, &n1, 0));
    ST(cusparseSpGEMMreuse_workEstimation(sp, NN, NN, c.C, c.A, r, D, g, &n1, 0));
    ST(cusparseSpGEMMreuse_workEstimation(sp, NN, NN, c.A, c.A, r, CUSPARSE_SPGEMM_ALG2, g, &n1, 0));
    ST(cusparseSpGEMMreuse_workEstimation(sp, NN, NN, c.A, c.A, r, D, g, 0, 0));
    ST(cusparseSpGEMMreuse_workEstimation(sp, NN, NN, c.A, c.A, r, A, g, &n1, 0));
    ST(cusparseSpGEMMreuse_workEstimation(sp, NN, NN, c.A, c.A, r, D, g, &n1, 0));
    cudaMalloc(&b1, n1);
    ST(cusparseSpGEMMreuse_workEstimation(sp, NN, NN, c.A, c.A, r, D, g, &n1, b1));
    ST(cusparseSpGEMMreuse_nnz(sp, NN, NN, c.A, c.A, r, D, g, &n2, 0, &n3, 0, &n4, 0));
    cudaMalloc(&b2, n2); cudaMalloc(&b3, n3); cudaMalloc(&b4, n4);
    ST(cusparseSpGEMMreuse_nnz(sp, NN, NN, c.A, c.A, r, D, g, &n2, b2, &n3, b3, &n4, b4));
    S0(cusparseSpMatGetSize(r, &m, &k, &z));
    S0(cusparseCsrSetPointers(r, ro, co, va));
    ST(cusparseSpGEMMreuse_copy(sp, NN, NN, c.A, c.A, r, D, g, &n5, 0));
    cudaMalloc(&b5, n5);
    ST(cusparseSpGEMMreuse_copy(sp, NN, NN, c.A, c.A, r, D, g, &n5, b5));
    ST(cusparseSpGEMMreuse_compute(sp, NN, NN, 0, c.A, c.A, &c.be, r, F32, D, g));
    ST(cusparseSpGEMMreuse_compute(sp, NN, NN, &c.al, c.A, c.A, &c.be, r, F64, D, g));
    E("codes", "%s", codes.c_str());
}
CASE(sddmm_convert)
{
    codes.clear();
    Ctx c; auto D = CUSPARSE_SDDMM_ALG_DEFAULT; SM a64 = c.csr(4, 4, 4, F64), b, e, a34 = c.csr(3, 4, 3); S0(cusparseCreateBsr(&b, 2, 2, 2, 2, 2, c.row, c.col, c.v, I32, I32, B0, F32, CO)); S0(cusparseCreateBlockedEll(&e, 4, 4, 2, 2, c.col, c.v, I32, B0, F32)); DM h = c.dm(4, 4, 4, CUDA_R_16F); SM ah = c.csr(4, 4, 4, CUDA_R_16F);
#define SD(oa, ob, al, A, B, be, C, t, alg) cusparseSDDMM_bufferSize(sp, oa, ob, al, A, B, be, C, t, alg, &c.n)
    ST(SD(NN, NN, 0, c.B44, c.C44, &c.be, c.A, F32, D));
    ST(SD(NN, NN, &c.al, 0, c.C44, &c.be, c.A, F32, D));
    ST(SD(NN, NN, &c.al, c.B44, c.C44, 0, c.A, F32, D));
    ST(SD(NN, NN, &c.al, c.B44, c.C44, &c.be, 0, F32, D));
    ST(SD(HH, NN, &c.al, c.B44, c.C44, &c.be, c.A, F32, D));
    ST(SD(NN, HH, &c.al, c.B44, c.C44, &c.be, c.A, F32, D));
    ST(SD((cusparseOperation_t)7, NN, &c.al, c.B44, c.C44, &c.be, c.A, F32, D));
    ST(SD(NN, NN, &c.al, c.B44, c.B45, &c.be, c.A, F32, D));
    ST(SD(NN, NN, &c.al, c.B44, c.R44, &c.be, c.A, F32, D));
    ST(SD(TT, TT, &c.al, c.B44, c.R44, &c.be, c.A, F32, D));
    ST(SD(NN, NN, &c.al, c.B44, c.C44, &c.be, c.A, F64, D));
    ST(SD(NN, NN, &c.al, c.D44, c.D44, &c.be, a64, F64, D));
    ST(SD(NN, NN, &c.al, c.B44, c.C44, &c.be, c.C, F32, D));
    ST(SD(NN, NN, &c.al, c.B44, c.C44, &c.be, c.K, F32, D));
    ST(SD(NN, NN, &c.al, c.B44, c.C44, &c.be, b, F32, D));
    ST(SD(NN, NN, &c.al, c.B44, c.C44, &c.be, e, F32, D));
    ST(SD(NN, NN, &c.al, h, h, &c.be, ah, F32, D));
    ST(SD(NN, NN, &c.al, h, h, &c.be, c.A, F32, D));
    ST(SD(NN, NN, &c.al, h, h, &c.be, ah, CUDA_R_16F, D));
    ST(SD(NN, NN, &c.al, c.B44, c.C44, &c.be, c.A, F32, (cusparseSDDMMAlg_t)9));
    ST(cusparseSDDMM_bufferSize(sp, NN, NN, &c.al, c.B44, c.C44, &c.be, c.A, F32, D, 0));
    ST(SD(NN, NN, &c.al, c.B44, c.C44, &c.be, c.A, F32, D));
    ST(cusparseSDDMM_preprocess(sp, NN, NN, &c.al, c.B44, c.C44, &c.be, c.A, F32, D, 0));
    ST(cusparseSDDMM(sp, NN, NN, &c.al, c.B44, c.C44, &c.be, c.A, F32, D, 0));
    auto Z = CUSPARSE_SPARSETODENSE_ALG_DEFAULT; auto Y = CUSPARSE_DENSETOSPARSE_ALG_DEFAULT;
    ST(cusparseSparseToDense_bufferSize(sp, 0, c.B44, Z, &c.n));
    ST(cusparseSparseToDense_bufferSize(sp, c.A, 0, Z, &c.n));
    ST(cusparseSparseToDense_bufferSize(sp, c.A, c.B44, (cusparseSparseToDenseAlg_t)9, &c.n));
    ST(cusparseSparseToDense_bufferSize(sp, c.A, c.B45, Z, &c.n));
    ST(cusparseSparseToDense_bufferSize(sp, c.A, c.D44, Z, &c.n));
    ST(cusparseSparseToDense_bufferSize(sp, c.A, c.B44, Z, 0));
    ST(cusparseSparseToDense_bufferSize(sp, b, c.B44, Z, &c.n));
    ST(cusparseSparseToDense_bufferSize(sp, e, c.B44, Z, &c.n));
    ST(cusparseSparseToDense_bufferSize(sp, c.K, c.R44, Z, &c.n));
    ST(cusparseSparseToDense_bufferSize(sp, c.A, c.B44, Z, &c.n));
    ST(cusparseSparseToDense(sp, c.A, c.B44, Z, 0));
    ST(cusparseDenseToSparse_bufferSize(sp, 0, c.A, Y, &c.n));
    ST(cusparseDenseToSparse_bufferSize(sp, c.B45, c.A, Y, &c.n));
    ST(cusparseDenseToSparse_bufferSize(sp, c.D44, c.A, Y, &c.n));
    ST(cusparseDenseToSparse_bufferSize(sp, c.B44, b, Y, &c.n));
    ST(cusparseDenseToSparse_bufferSize(sp, c.B44, e, Y, &c.n));
    ST(cusparseDenseToSparse_bufferSize(sp, c.B44, c.A, (cusparseDenseToSparseAlg_t)5, &c.n));
    ST(cusparseDenseToSparse_bufferSize(sp, c.B44, c.A, Y, &c.n));
    ST(cusparseDenseToSparse_analysis(sp, c.B44, c.A, Y, 0));
    ST(cusparseDenseToSparse_analysis(sp, 0, c.A, Y, room(4096)));
    ST(cusparseDenseToSparse_convert(sp, c.B44, 0, Y, room(4096)));
    E("codes", "%s", codes.c_str());
}
CASE(legacy)
{
    codes.clear();
    Ctx c; cusparseMatDescr_t d, t1; S0(cusparseCreateMatDescr(&d)); S0(cusparseCreateMatDescr(&t1)); S0(cusparseSetMatType(t1, CUSPARSE_MATRIX_TYPE_TRIANGULAR)); Dev<int> p(64), out(64), o2(64); int nnz; Dev<float> fo(64); int z = -5; Dev<float> buf(4096);
    ST(cusparseXcoo2csr(sp, c.col, -1, 4, out, B0));
    ST(cusparseXcoo2csr(sp, c.col, 4, -1, out, B0));
    ST(cusparseXcoo2csr(sp, c.col, 4, 4, out, (cusparseIndexBase_t)3));
    ST(cusparseXcoo2csr(sp, c.col, 0, 4, out, B0));
    ST(cusparseXcoo2csr(sp, c.col, 4, 0, out, B0));
    ST(cusparseXcsr2coo(sp, c.row, -1, 4, out, B0));
    ST(cusparseXcsr2coo(sp, c.row, 0, 4, out, B0));
    ST(cusparseXcsr2coo(sp, c.row, 4, 4, out, (cusparseIndexBase_t)3));
    ST(cusparseXcoosort_bufferSizeExt(sp, 4, 4, -1, c.row, c.col, &c.n));
    ST(cusparseXcoosort_bufferSizeExt(sp, 4, 4, 4, 0, c.col, &c.n));
    ST(cusparseXcoosort_bufferSizeExt(sp, 4, 4, 4, c.row, c.col, 0));
    ST(cusparseXcoosort_bufferSizeExt(sp, 4, 4, 4, out, out, &c.n));
    ST(cusparseXcoosortByRow(sp, 4, 4, -4, out, o2, p, buf));
    ST(cusparseXcoosortByRow(sp, 4, 4, 4, out, o2, 0, buf));
    ST(cusparseXcoosortByRow(sp, 4, 4, 4, out, o2, p, 0));
    ST(cusparseXcsrsort(sp, 4, 4, 4, d, c.row, out, p, 0));
    ST(cusparseXcsrsort(sp, 4, 4, 4, t1, c.row, out, p, buf));
    ST(cusparseCreateIdentityPermutation(sp, -1, p));
    ST(cusparseCreateIdentityPermutation(sp, 0, 0));
    ST(cusparseSnnz(sp, CUSPARSE_DIRECTION_ROW, -4, 4, d, c.v, 4, out, &nnz));
    ST(cusparseSnnz(sp, CUSPARSE_DIRECTION_ROW, 4, 4, d, c.v, 3, out, &nnz));
    ST(cusparseSnnz(sp, CUSPARSE_DIRECTION_ROW, 4, 4, d, c.v, 4, out, 0));
    ST(cusparseSnnz(sp, (cusparseDirection_t)4, 4, 4, d, c.v, 4, out, &nnz));
    ST(cusparseSnnz(sp, CUSPARSE_DIRECTION_ROW, 4, 4, t1, c.v, 4, out, &nnz));
    ST(cusparseSnnz(sp, CUSPARSE_DIRECTION_ROW, 0, 4, d, c.v, 4, out, &nnz));
    float one = 1;
    ST(cusparseScsrgeam2_bufferSizeExt(sp, 4, 4, &one, d, 4, c.v, c.row, c.col, &one, d, 4, c.v, c.row, c.col, d, fo, out, o2, &c.n));
    ST(cusparseXcsrgeam2Nnz(sp, 4, 4, d, 4, c.row, c.col, d, 4, c.row, c.col, d, out, &nnz, 0));
    ST(cusparseXcsrgeam2Nnz(sp, 4, 4, 0, 4, c.row, c.col, d, 4, c.row, c.col, d, out, &nnz, buf));
    ST(cusparseXcsrgeam2Nnz(sp, 4, 4, d, 4, c.row, c.col, d, 4, c.row, c.col, d, out, 0, buf));
    ST(cusparseXcsrgeam2Nnz(sp, -4, 4, d, 4, c.row, c.col, d, 4, c.row, c.col, d, out, &nnz, buf));
    ST(cusparseXcsrgeam2Nnz(sp, 4, 4, t1, 4, c.row, c.col, d, 4, c.row, c.col, d, out, &nnz, buf));
    ST(cusparseXcsrgeam2Nnz(sp, 4, 4, d, 4, c.row, c.col, d, 4, c.row, c.col, d, out, &nnz, buf));
    ST(cusparseScsrgeam2(sp, 4, 4, 0, d, 4, c.v, c.row, c.col, &one, d, 4, c.v, c.row, c.col, d, fo, out, o2, buf));
    ST(cusparseScsrgeam2(sp, 4, 4, &one, t1, 4, c.v, c.row, c.col, &one, d, 4, c.v, c.row, c.col, d, fo, out, o2, buf));
    ST(cusparseScsrgeam2(sp, 4, 4, &one, d, 4, c.v, c.row, c.col, &one, d, 4, c.v, c.row, c.col, d, fo, out, o2, 0));
    auto G = CUSPARSE_CSR2CSC_ALG1; auto N = CUSPARSE_ACTION_NUMERIC;
    ST(cusparseCsr2cscEx2_bufferSize(sp, 4, 4, 4, c.v, c.row, c.col, fo, out, o2, F32, N, B0, G, 0));
    ST(cusparseCsr2cscEx2_bufferSize(sp, -4, 4, 4, c.v, c.row, c.col, fo, out, o2, F32, N, B0, G, &c.n));
    ST(cusparseCsr2cscEx2_bufferSize(sp, 4, 4, 4, c.v, c.row, c.col, fo, out, o2, CUDA_R_32I, N, B0, G, &c.n));
    ST(cusparseCsr2cscEx2_bufferSize(sp, 4, 4, 4, c.v, c.row, c.col, fo, out, o2, F32, (cusparseAction_t)9, B0, G, &c.n));
    ST(cusparseCsr2cscEx2_bufferSize(sp, 4, 4, 4, c.v, c.row, c.col, fo, out, o2, F32, N, (cusparseIndexBase_t)8, G, &c.n));
    ST(cusparseCsr2cscEx2_bufferSize(sp, 4, 4, 4, c.v, c.row, c.col, fo, out, o2, F32, N, B0, (cusparseCsr2CscAlg_t)9, &c.n));
    ST(cusparseCsr2cscEx2_bufferSize(sp, 4, 4, 0, 0, c.row, 0, 0, out, 0, F32, N, B0, G, &c.n));
    ST(cusparseCsr2cscEx2(sp, 4, 4, 4, c.v, c.row, c.col, fo, out, o2, F32, N, B0, G, 0));
    ST(cusparseCsr2cscEx2(sp, 4, 4, 4, 0, c.row, c.col, fo, out, o2, F32, N, B0, G, room(4096)));
    ST(cusparseCsr2cscEx2(sp, 4, 4, 0, 0, c.row, 0, 0, out, 0, F32, N, B0, G, room(4096)));
    ST(cusparseSgtsv2_bufferSizeExt(sp, 8, 2, c.v, c.v, c.v, fo, 8, &c.n));
    ST(cusparseSgtsv2_bufferSizeExt(sp, 8, 0, c.v, c.v, c.v, fo, 8, &c.n));
    ST(cusparseSgtsv2(sp, 2, 2, c.v, c.v, c.v, fo, 8, buf));
    ST(cusparseSgtsv2_nopivot_bufferSizeExt(sp, 8, 2, c.v, c.v, c.v, fo, 8, &c.n));
    ST(cusparseSgtsv2_nopivot(sp, 2, 2, c.v, c.v, c.v, fo, 8, buf));
    ST(cusparseSgtsv2StridedBatch_bufferSizeExt(sp, 8, c.v, c.v, c.v, fo, 2, 8, &c.n));
    ST(cusparseSgtsv2StridedBatch_bufferSizeExt(sp, 2, c.v, c.v, c.v, fo, 2, 8, &c.n));
    ST(cusparseSgtsv2StridedBatch_bufferSizeExt(sp, 8, c.v, c.v, c.v, fo, 2, 7, &c.n));
    ST(cusparseSgtsv2StridedBatch_bufferSizeExt(sp, 8, c.v, c.v, c.v, fo, -1, 8, &c.n));
    ST(cusparseSgtsvInterleavedBatch_bufferSizeExt(sp, 0, 8, c.v, c.v, c.v, fo, 2, &c.n));
    ST(cusparseSgtsvInterleavedBatch_bufferSizeExt(sp, 3, 8, c.v, c.v, c.v, fo, 2, &c.n));
    ST(cusparseSgtsvInterleavedBatch_bufferSizeExt(sp, 1, 8, c.v, c.v, c.v, fo, 2, &c.n));
    ST(cusparseSgtsvInterleavedBatch_bufferSizeExt(sp, 0, 1, c.v, c.v, c.v, fo, 2, &c.n));
    ST(cusparseSgtsvInterleavedBatch(sp, 7, 8, c.v, c.v, c.v, fo, 2, buf));
    ST(cusparseSgpsvInterleavedBatch_bufferSizeExt(sp, 0, 8, c.v, c.v, c.v, c.v, c.v, fo, 2, &c.n));
    ST(cusparseSgpsvInterleavedBatch_bufferSizeExt(sp, 0, 2, c.v, c.v, c.v, c.v, c.v, fo, 2, &c.n));
    float tol = 0.5;
    ST(cusparseSnnz_compress(sp, 4, d, c.v, c.row, out, &nnz, -1.f));
    ST(cusparseSnnz_compress(sp, -4, d, c.v, c.row, out, &nnz, tol));
    ST(cusparseSnnz_compress(sp, 4, d, c.v, c.row, out, &nnz, tol));
    ST(cusparseSnnz_compress(sp, 4, d, c.v, c.row, out, &nnz, 1.f));
    Dev<int> cc(64), cr(64);
    ST(cusparseScsr2csr_compress(sp, 4, 4, d, c.v, c.col, c.row, 4, out, fo, cc, cr, -1.f));
    E("codes", "%s", codes.c_str());
}
CASE(bsr)
{
    codes.clear();
    Ctx c; cusparseMatDescr_t d, t1; S0(cusparseCreateMatDescr(&d)); S0(cusparseCreateMatDescr(&t1)); S0(cusparseSetMatType(t1, CUSPARSE_MATRIX_TYPE_TRIANGULAR)); auto R_ = CUSPARSE_DIRECTION_ROW; float one = 1, zero = 0; Dev<float> buf(65536), x(64), y(64); Dev<int> out(64), o2(64); int z, n; Dev<int> brow(std::vector<int>{0, 1, 3}), bcol(std::vector<int>{0, 0, 1}); Dev<float> bv(std::vector<float>{4,1,2,5, 1,2,3,4, 6,1,1,7});
    ST(cusparseSbsrmv(sp, R_, NN, 2, 2, 3, &one, d, bv, brow, bcol, 2, x, &zero, y));
    ST(cusparseSbsrmv(sp, R_, TT, 2, 2, 3, &one, d, bv, brow, bcol, 2, x, &zero, y));
    ST(cusparseSbsrmv(sp, R_, HH, 2, 2, 3, &one, d, bv, brow, bcol, 2, x, &zero, y));
    ST(cusparseSbsrmv(sp, R_, NN, 2, 2, 3, &one, d, bv, brow, bcol, 0, x, &zero, y));
    ST(cusparseSbsrmv(sp, R_, NN, 2, 2, 3, &one, d, bv, brow, bcol, 1, x, &zero, y));
    ST(cusparseSbsrmv(sp, R_, NN, 2, 2, 3, &one, t1, bv, brow, bcol, 2, x, &zero, y));
    ST(cusparseSbsrmv(sp, R_, NN, 2, 2, 3, 0, d, bv, brow, bcol, 2, x, &zero, y));
    ST(cusparseSbsrmv(sp, R_, NN, -2, 2, 3, &one, d, bv, brow, bcol, 2, x, &zero, y));
    ST(cusparseSbsrmv(sp, (cusparseDirection_t)4, NN, 2, 2, 3, &one, d, bv, brow, bcol, 2, x, &zero, y));
    ST(cusparseSbsrmv(sp, R_, NN, 2, 2, 3, &one, 0, bv, brow, bcol, 2, x, &zero, y));
    ST(cusparseSbsrmv(sp, R_, NN, 0, 2, 0, &one, d, bv, brow, bcol, 2, x, &zero, y));
    ST(cusparseSbsrmm(sp, R_, NN, NN, 2, 3, 2, 3, &one, d, bv, brow, bcol, 2, x, 4, &zero, y, 4));
    ST(cusparseSbsrmm(sp, R_, TT, NN, 2, 3, 2, 3, &one, d, bv, brow, bcol, 2, x, 4, &zero, y, 4));
    ST(cusparseSbsrmm(sp, R_, NN, TT, 2, 3, 2, 3, &one, d, bv, brow, bcol, 2, x, 4, &zero, y, 4));
    ST(cusparseSbsrmm(sp, R_, NN, HH, 2, 3, 2, 3, &one, d, bv, brow, bcol, 2, x, 4, &zero, y, 4));
    ST(cusparseSbsrmm(sp, R_, NN, NN, 2, 3, 2, 3, &one, d, bv, brow, bcol, 2, x, 3, &zero, y, 4));
    ST(cusparseSbsrmm(sp, R_, NN, NN, 2, 3, 2, 3, &one, d, bv, brow, bcol, 2, x, 4, &zero, y, 3));
    ST(cusparseSbsrmm(sp, R_, NN, NN, 2, 3, 2, 3, &one, d, bv, brow, bcol, 1, x, 4, &zero, y, 4));
    ST(cusparseSbsrmm(sp, R_, NN, NN, 2, 3, 2, 3, &one, t1, bv, brow, bcol, 2, x, 4, &zero, y, 4));
    bsrsv2Info_t sv; bsrsm2Info_t sm; bsrilu02Info_t il; bsric02Info_t ic; csrilu02Info_t cl; csric02Info_t cc;
    ST(cusparseCreateBsrsv2Info(0));
    ST(cusparseCreateBsrsv2Info(&sv));
    ST(cusparseCreateBsrsm2Info(&sm));
    ST(cusparseCreateBsrilu02Info(&il));
    ST(cusparseCreateBsric02Info(&ic));
    ST(cusparseCreateCsrilu02Info(&cl));
    ST(cusparseCreateCsric02Info(&cc));
    ST(cusparseDestroyBsrsv2Info(0));
    ST(cusparseDestroyCsrilu02Info(0));
    ST(cusparseDestroyBsric02Info(0));
    auto PO = CUSPARSE_SOLVE_POLICY_NO_LEVEL; z = -7;
    ST(cusparseXbsrsv2_zeroPivot(sp, sv, &z));
    ST(cusparseSbsrsv2_bufferSize(sp, R_, NN, 2, 3, d, bv, brow, bcol, 2, sv, &n));
    ST(cusparseSbsrsv2_bufferSize(sp, R_, NN, 2, 3, d, bv, brow, bcol, 0, sv, &n));
    ST(cusparseSbsrsv2_bufferSize(sp, R_, NN, 2, 3, t1, bv, brow, bcol, 2, sv, &n));
    ST(cusparseSbsrsv2_solve(sp, R_, NN, 2, 3, &one, d, bv, brow, bcol, 2, sv, x, y, PO, buf));
    ST(cusparseSbsrsv2_analysis(sp, R_, NN, 2, 3, d, bv, brow, bcol, 2, sv, PO, 0));
    ST(cusparseSbsrsv2_analysis(sp, R_, NN, 2, 3, d, bv, brow, bcol, 2, sv, PO, buf));
    ST(cusparseXbsrsv2_zeroPivot(sp, sv, &z));
    ST(cusparseXbsrsv2_zeroPivot(sp, 0, &z));
    ST(cusparseSbsrsv2_solve(sp, R_, NN, 2, 3, &one, d, bv, brow, bcol, 2, sv, x, y, PO, buf));
    ST(cusparseSbsrsv2_solve(sp, R_, NN, 2, 3, &one, d, bv, brow, bcol, 2, sv, x, y, PO, 0));
    ST(cusparseSbsrsv2_solve(sp, R_, HH, 2, 3, &one, d, bv, brow, bcol, 2, sv, x, y, PO, buf));
    ST(cusparseSbsrsm2_bufferSize(sp, R_, NN, NN, 2, 3, 3, d, bv, brow, bcol, 2, sm, &n));
    ST(cusparseSbsrsm2_solve(sp, R_, NN, NN, 2, 3, 3, &one, d, bv, brow, bcol, 2, sm, x, 4, y, 4, PO, buf));
    ST(cusparseSbsrsm2_analysis(sp, R_, NN, NN, 2, 3, 3, d, bv, brow, bcol, 2, sm, PO, buf));
    ST(cusparseXbsrsm2_zeroPivot(sp, sm, &z));
    ST(cusparseSbsrsm2_solve(sp, R_, NN, NN, 2, 3, 3, &one, d, bv, brow, bcol, 2, sm, x, 3, y, 4, PO, buf));
    ST(cusparseSbsrsm2_solve(sp, R_, NN, NN, 2, 3, 3, &one, d, bv, brow, bcol, 2, sm, x, 4, y, 4, PO, buf));
    ST(cusparseSbsrilu02_bufferSize(sp, R_, 2, 3, d, bv, brow, bcol, 2, il, &n));
    ST(cusparseSbsrilu02(sp, R_, 2, 3, d, bv, brow, bcol, 2, il, PO, buf));
    ST(cusparseSbsrilu02_analysis(sp, R_, 2, 3, d, bv, brow, bcol, 2, il, PO, buf));
    ST(cusparseXbsrilu02_zeroPivot(sp, il, &z));
    ST(cusparseSbsrilu02(sp, R_, 2, 3, d, bv, brow, bcol, 2, il, PO, buf));
    ST(cusparseXbsrilu02_zeroPivot(sp, il, &z));
    ST(cusparseSbsrilu02_numericBoost(sp, il, 1, 0, 0));
    double tol = .5; float boost = 3;
    ST(cusparseSbsrilu02_numericBoost(sp, il, 1, &tol, &boost));
    ST(cusparseSbsrilu02_numericBoost(sp, 0, 1, &tol, &boost));
    ST(cusparseSbsrilu02_numericBoost(sp, il, 0, 0, 0));
    bv.put({4,1,1,5, 1,2,3,4, 6,1,1,7});
    ST(cusparseSbsric02_bufferSize(sp, R_, 2, 3, d, bv, brow, bcol, 2, ic, &n));
    ST(cusparseSbsric02_analysis(sp, R_, 2, 3, d, bv, brow, bcol, 2, ic, PO, buf));
    ST(cusparseSbsric02(sp, R_, 2, 3, d, bv, brow, bcol, 2, ic, PO, buf));
    ST(cusparseXbsric02_zeroPivot(sp, ic, &z));
    bv.put({4,1,1,5, 1,2,3,4, 0,1,1,0});
    ST(cusparseSbsric02(sp, R_, 2, 3, d, bv, brow, bcol, 2, ic, PO, buf));
    ST(cusparseXbsric02_zeroPivot(sp, ic, &z));
    bv.put({4,1,2,5, 1,2,3,4, 0,0,0,0});
    ST(cusparseSbsrilu02(sp, R_, 2, 3, d, bv, brow, bcol, 2, il, PO, buf));
    ST(cusparseXbsrilu02_zeroPivot(sp, il, &z));
    brow.put({0, 1, 2}); bcol.put({0, 0, 0});
    ST(cusparseSbsrilu02_analysis(sp, R_, 2, 2, d, bv, brow, bcol, 2, il, PO, buf));
    ST(cusparseXbsrilu02_zeroPivot(sp, il, &z));
    Dev<float> cv(std::vector<float>{2, 1, 1, .5f}); Dev<int> cr(std::vector<int>{0, 2, 4}), ci(std::vector<int>{0, 1, 0, 1});
    ST(cusparseScsrilu02_bufferSize(sp, 2, 4, d, cv, cr, ci, cl, &n));
    ST(cusparseScsrilu02_bufferSize(sp, 2, -4, d, cv, cr, ci, cl, &n));
    ST(cusparseScsrilu02_bufferSize(sp, 2, 4, t1, cv, cr, ci, cl, &n));
    ST(cusparseScsrilu02(sp, 2, 4, d, cv, cr, ci, cl, PO, buf));
    ST(cusparseScsrilu02_analysis(sp, 2, 4, d, cv, cr, ci, cl, PO, 0));
    ST(cusparseScsrilu02_analysis(sp, 2, 4, d, cv, cr, ci, cl, PO, buf));
    ST(cusparseXcsrilu02_zeroPivot(sp, cl, &z));
    ST(cusparseScsrilu02(sp, 2, 4, d, cv, cr, ci, cl, PO, buf));
    ST(cusparseXcsrilu02_zeroPivot(sp, cl, &z));
    ST(cusparseScsrilu02_numericBoost(sp, cl, 1, &tol, &boost));
    cv.put({2, 1, 1, .5f});
    ST(cusparseScsrilu02(sp, 2, 4, d, cv, cr, ci, cl, PO, buf));
    ST(cusparseXcsrilu02_zeroPivot(sp, cl, &z));
    cv.put({.5, 1, 1, 1});
    ST(cusparseScsrilu02(sp, 2, 4, d, cv, cr, ci, cl, PO, buf));
    cv.put({-.3f, 1, 1, 1});
    ST(cusparseScsrilu02(sp, 2, 4, d, cv, cr, ci, cl, PO, buf));
    cv.put({4, 1, 1, -3});
    ST(cusparseScsric02_bufferSize(sp, 2, 4, d, cv, cr, ci, cc, &n));
    ST(cusparseScsric02(sp, 2, 4, d, cv, cr, ci, cc, PO, buf));
    ST(cusparseScsric02_analysis(sp, 2, 4, d, cv, cr, ci, cc, PO, buf));
    ST(cusparseScsric02(sp, 2, 4, d, cv, cr, ci, cc, PO, buf));
    ST(cusparseXcsric02_zeroPivot(sp, cc, &z));
    cr.put({0, 1, 2}); ci.put({0, 0, 0, 0}); cv.put({4, 1, 1, 1});
    ST(cusparseScsrilu02_analysis(sp, 2, 2, d, cv, cr, ci, cl, PO, buf));
    ST(cusparseXcsrilu02_zeroPivot(sp, cl, &z));
    ST(cusparseScsric02_analysis(sp, 2, 2, d, cv, cr, ci, cc, PO, buf));
    ST(cusparseXcsric02_zeroPivot(sp, cc, &z));
    E("codes", "%s", codes.c_str());
}

/* A matrix whose fill mode has been set is there for solutions. */
CASE(triangle)
{
    codes.clear();
    Ctx c; auto lower = CUSPARSE_FILL_MODE_LOWER; SM of[3] = {c.csr(4, 4, 4), c.csr(4, 4, 4), c.csr(4, 4, 4)}; cusparseSpGEMMDescr_t d; DM x = c.dm(4, 4, 4), y = c.dm(4, 4, 4);
    S0(cusparseSpGEMM_createDescr(&d));
    for (int i = 0; i < 3; i++) {
        SM m = of[i], plain = c.csr(4, 4, 4);
        S0(cusparseSpMatSetAttribute(m, CUSPARSE_SPMAT_FILL_MODE, &lower, sizeof lower));
        ST(cusparseSpGEMM_workEstimation(sp, NN, NN, &c.al, i == 0 ? m : plain, i == 1 ? m : plain, &c.al, i == 2 ? m : c.csr(4, 4, 4), F32, CUSPARSE_SPGEMM_DEFAULT, d, &c.n, nullptr));
        ST(cusparseSpGEMMreuse_workEstimation(sp, NN, NN, i == 0 ? m : plain, i == 1 ? m : plain, i == 2 ? m : c.csr(4, 4, 4), CUSPARSE_SPGEMM_DEFAULT, d, &c.n, nullptr));
    }
    ST(SPMV(NN, &c.al, of[0], c.x4, &c.al, c.y4, F32, CUSPARSE_SPMV_ALG_DEFAULT));
    ST(SPMM(NN, NN, &c.al, of[0], x, &c.al, y, F32, CUSPARSE_SPMM_ALG_DEFAULT));
    ST(cusparseSDDMM_bufferSize(sp, NN, NN, &c.al, x, y, &c.al, of[0], F32, CUSPARSE_SDDMM_ALG_DEFAULT, &c.n));
    ST(cusparseSparseToDense_bufferSize(sp, of[0], x, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &c.n));
    ST(cusparseDenseToSparse_bufferSize(sp, x, of[0], CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &c.n));
    E("codes", "%s", codes.c_str());
}
CASE(reductions)
{
    Ctx c; size_t s, d, z;
    for (int m : {3, 16, 50, 512, 513, 2048, 5000, 65536, 100000})
        for (int n : {1, 3, 64}) {
            S0(cusparseSgtsv2_nopivot_bufferSizeExt(sp, m, n, c.v, c.v, c.v, c.w, m, &s)); S0(cusparseDgtsv2_nopivot_bufferSizeExt(sp, m, n, (double *)c.v.p, (double *)c.v.p, (double *)c.v.p, (double *)c.w.p, m, &d));
            S0(cusparseZgtsv2_nopivot_bufferSizeExt(sp, m, n, (cuDoubleComplex *)c.v.p, (cuDoubleComplex *)c.v.p, (cuDoubleComplex *)c.v.p, (cuDoubleComplex *)c.w.p, m, &z)); E("n", "%d/%d:%zu,%zu,%zu", m, n, s, z, d);
        }
}
