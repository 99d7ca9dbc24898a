/* cuBLASLt, more cases. nvcc -std=c++17 -arch=sm_90 ltmore.cu -lcublasLt */
#include "ltcase.h"
#include <cuda_fp8.h>
template <> struct Type<__nv_fp8_e4m3> { static const cudaDataType_t t = CUDA_R_8F_E4M3; };
template <> struct Type<cd> { static const cudaDataType_t t = CUDA_C_64F; };
template <> struct Num<__nv_fp8_e4m3> { static __nv_fp8_e4m3 of(double r, double) { return __nv_fp8_e4m3((float)r); } };
static cd W(__nv_fp8_e4m3 x) { return (float)x; }
typedef __nv_bfloat16 bf; typedef __half hf;
#define EPI CUBLASLT_MATMUL_DESC_EPILOGUE
#define TA CUBLASLT_MATMUL_DESC_TRANSA
#define TB CUBLASLT_MATMUL_DESC_TRANSB
template <class X, class S> static void plain_of(const char *key, cublasComputeType_t ct, cudaDataType st, S al, S be)
{
    std::string s; for (char p : {'N', 'T'}) for (char q : {'N', 'T'}) { Mat<X> a(p == 'N' ? 48 : 40, p == 'N' ? 40 : 48, 1), b(q == 'N' ? 40 : 32, q == 'N' ? 32 : 40, 2), c(48, 32, 3), d(48, 32); Desc e(ct, st); e.set(TA, p == 'N' ? CUBLAS_OP_N : CUBLAS_OP_T); e.set(TB, q == 'N' ? CUBLAS_OP_N : CUBLAS_OP_T); int r = go(e, &al, a, b, &be, c, d); char w[64]; auto v = d.get(); for (auto &x : v) plain(x); snprintf(w, 64, "%d:%016llx,", r, (unsigned long long)(r ? 0 : fnv(v.data(), v.size() * sizeof(X)))); s += w; }
    E(key, "%s", s.c_str());
}
CASE(types) { Lt o; plain_of<float>("s", CUBLAS_COMPUTE_32F, CUDA_R_32F, 2.f, -1.f); plain_of<float>("tf32", CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, 2.f, -1.f); plain_of<double>("d", CUBLAS_COMPUTE_64F, CUDA_R_64F, 2., -1.); plain_of<cf>("c", CUBLAS_COMPUTE_32F, CUDA_C_32F, cf(2, 1), cf(-1, 1)); plain_of<cd>("z", CUBLAS_COMPUTE_64F, CUDA_C_64F, cd(2, 1), cd(-1, 1)); plain_of<hf>("h", CUBLAS_COMPUTE_32F, CUDA_R_32F, 2.f, -1.f); plain_of<hf>("hh", CUBLAS_COMPUTE_16F, CUDA_R_16F, __float2half(2), __float2half(-1)); plain_of<bf>("b", CUBLAS_COMPUTE_32F, CUDA_R_32F, 2.f, -1.f); plain_of<int8_t>("i8", CUBLAS_COMPUTE_32I, CUDA_R_32F, 2.f, -1.f); plain_of<hf>("bad", CUBLAS_COMPUTE_64F, CUDA_R_64F, 2., -1.); }
CASE(mixed)
{
    Lt o; float al = 2, be = -1; int ia = 2, ib = -1; { Mat<hf> a(64, 48, 11), b(64, 32, 12); Mat<float> c(48, 32, 13), d(48, 32); Desc e(CUBLAS_COMPUTE_32F, CUDA_R_32F); e.set(TA, CUBLAS_OP_T); S0(go(e, &al, a, b, &be, c, d)); H("hhss", d.get()); } { Mat<bf> a(64, 48, 11), b(64, 32, 12); Mat<float> c(48, 32, 13), d(48, 32); Desc e(CUBLAS_COMPUTE_32F, CUDA_R_32F); e.set(TA, CUBLAS_OP_T); S0(go(e, &al, a, b, &be, c, d)); H("bbss", d.get()); }
    { Mat<int8_t> a(64, 48, 11), b(64, 32, 12); Mat<int> c(48, 32, 13), d(48, 32); std::string s; for (int t = 0; t < 4; t++) { Mat<int8_t> a2(t & 1 ? 64 : 48, t & 1 ? 48 : 64, 11), b2(t & 2 ? 32 : 64, t & 2 ? 64 : 32, 12); Desc e(CUBLAS_COMPUTE_32I, CUDA_R_32I); e.set(TA, t & 1 ? CUBLAS_OP_T : CUBLAS_OP_N); e.set(TB, t & 2 ? CUBLAS_OP_T : CUBLAS_OP_N); int r = go(e, &ia, a2, b2, &ib, c, d); char w[64]; auto v = d.get(); snprintf(w, 64, "%d:%016llx,", r, (unsigned long long)(r ? 0 : fnv(v.data(), v.size() * 4))); s += w; } E("i8i32", "%s", s.c_str()); }
    { Mat<__nv_fp8_e4m3> a(64, 48, 11), b(64, 32, 12); Mat<bf> c(48, 32, 13), d(48, 32); Desc e(CUBLAS_COMPUTE_32F, CUDA_R_32F); e.set(TA, CUBLAS_OP_T); Dev<float> sc(std::vector<float>(16, 0)); std::vector<float> v(16, 0); v[0] = 2; v[4] = .5; v[8] = 4; sc.put(v); float *p = sc.p, *q = sc.p + 4; e.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, p); e.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, q); S0(go(e, &al, a, b, &be, c, d)); H("fp8", d.get()); Mat<__nv_fp8_e4m3> d8(48, 32); float *ds = sc.p + 8, *am = sc.p + 12; e.set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, ds); e.set(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, am); float z = 0; int r = go(e, &al, a, b, &z, c, d8); H("fp8d", d8.get().data(), d8.n); E("amax", "%d,%g", r, sc.get()[12]); }
}
CASE(layouts)
{
    Lt o; float al = 2, be = -1; std::string s; for (int t = 0; t < 8; t++) { Mat<float> a(24, 20, 31, 1, 4, t & 1), b(20, 28, 32, 1, 4, t & 2), c(24, 28, 33, 1, 4, t & 4), d(24, 28, 34, 1, 4, t & 4); Desc e(CUBLAS_COMPUTE_32F, CUDA_R_32F); int r = go(e, &al, a, b, &be, c, d); char w[64]; auto v = d.get(); for (auto &x : v) plain(x); snprintf(w, 64, "%d:%016llx,", r, (unsigned long long)(r ? 0 : fnv(v.data(), v.size() * 4))); s += w; } E("rows", "%s", s.c_str());
    { Mat<hf> a(32, 16, 35, 5), b(32, 24, 36, 5), d(16, 24, 0, 5); float z = 0; Desc e(CUBLAS_COMPUTE_32F, CUDA_R_32F); e.set(TA, CUBLAS_OP_T); S0(go(e, &al, a, b, &z, d, d)); H("batch", d.get()); Dev<hf> bias(ints<hf>(16, 37)); hf *bp = bias.p; e.set(EPI, CUBLASLT_EPILOGUE_BIAS); e.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bp); S0(go(e, &al, a, b, &z, d, d)); H("batch_bias", d.get()); int64_t zero = 0; S0(cublasLtMatrixLayoutSetAttribute(b.l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &zero, 8)); S0(go(e, &al, a, b, &z, d, d)); H("broadcast", d.get()); }
    { Mat<float> a(24, 20, 31), b(20, 28, 32), d(24, 28); Desc e(CUBLAS_COMPUTE_32F, CUDA_R_32F); std::vector<float> sv{3, 0}; Dev<float> sc(sv); int32_t pm = 1; e.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, pm); S0(go(e, sc.p, a, b, sc.p + 1, d, d)); H("device", d.get()); }
    { Mat<int8_t> a(32, 16, 31), b(32, 16, 32), d(16, 16); std::vector<float> av(16); for (int i = 0; i < 16; i++) av[i] = i % 3; Dev<float> sc(av); float z = 0; Desc e(CUBLAS_COMPUTE_32I, CUDA_R_32F); e.set(TA, CUBLAS_OP_T); int32_t pm = 4; e.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, pm); int r = go(e, sc.p, a, b, &z, d, d); E("alpha_vector", "%d,%016llx", r, (unsigned long long)fnv(d.get().data(), d.n)); float f = .3f; e.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, (int32_t)0); r = go(e, &f, a, b, &z, d, d); E("i8_round", "%d,%016llx", r, (unsigned long long)fnv(d.get().data(), d.n)); f = 100; r = go(e, &f, a, b, &z, d, d); E("i8_sat", "%d,%016llx", r, (unsigned long long)fnv(d.get().data(), d.n)); }
}
CASE(graph)
{
    Lt o; cudaStream_t st; CU(cudaStreamCreate(&st)); float al = 1, be = 1; Mat<float> a(16, 16, 61), b(16, 16, 62), c(16, 16, 63); Desc e(CUBLAS_COMPUTE_32F, CUDA_R_32F); cudaGraph_t g; cudaGraphExec_t x; CU(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal)); S0(cublasLtMatmul(lt, e.d, &al, a.p, a.l, b.p, b.l, &be, c.p, c.l, c.p, c.l, nullptr, nullptr, 0, st)); al = 55; CU(cudaStreamEndCapture(st, &g)); CU(cudaGraphInstantiate(&x, g, 0)); for (int i = 0; i < 3; i++) CU(cudaGraphLaunch(x, st)); CU(cudaStreamSynchronize(st)); H("c", c.get());
}

