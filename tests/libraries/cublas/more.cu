/* cuBLAS, more cases: every routine in every type, on small integers. nvcc -std=c++17 -arch=sm_90 more.cu -lcublas */
#include "ora.h"
#include <cublas_v2.h>
static cublasHandle_t h;
struct Open { Open() { S0(cublasCreate(&h)); } ~Open() { S0(cublasDestroy(h)); } };
static const char Ops[] = "NTC";
static cublasOperation_t op(char c) { return c == 'N' ? CUBLAS_OP_N : c == 'T' ? CUBLAS_OP_T : CUBLAS_OP_C; }
template <class T> struct Cu { typedef T t; };
template <> struct Cu<cf> { typedef cuComplex t; };
template <> struct Cu<cd> { typedef cuDoubleComplex t; };
template <class T> typename Cu<T>::t *P(T *p) { return (typename Cu<T>::t *)p; }
template <class T> const typename Cu<T>::t *P(const T *p) { return (const typename Cu<T>::t *)p; }
template <class T> struct Re { typedef T t; };
template <> struct Re<cf> { typedef float t; };
template <> struct Re<cd> { typedef double t; };
/* F(name): an overload that calls the routine of the type. */
#define F2(name, N) \
    template <class... A> cublasStatus_t name(float *, A... a) { return cublasS##N(h, a...); } \
    template <class... A> cublasStatus_t name(double *, A... a) { return cublasD##N(h, a...); } 
#define F4(name, N) F2(name, N) FC(name, N)
#define FC(name, N) \
    template <class... A> cublasStatus_t name(cf *, A... a) { return cublasC##N(h, a...); } \
    template <class... A> cublasStatus_t name(cd *, A... a) { return cublasZ##N(h, a...); }
F4(axpy, axpy) F4(scal, scal) F4(copy, copy) F4(swp, swap) F2(dot, dot) FC(dot, dotu) FC(dotc, dotc) F4(gemv, gemv) F4(gbmv, gbmv) F4(trmv, trmv) F4(trsv, trsv) F4(tbmv, tbmv) F4(tbsv, tbsv)
F4(tpmv, tpmv) F4(tpsv, tpsv) F4(symv, symv) FC(hemv, hemv) F2(sbmv, sbmv) FC(hbmv, hbmv) F2(spmv, spmv) FC(hpmv, hpmv) F2(ger, ger) FC(ger, geru) FC(gerc, gerc) F4(syr, syr) FC(her, her) F2(spr, spr) FC(hpr, hpr)
F4(syr2, syr2) FC(her2, her2) F2(spr2, spr2) FC(hpr2, hpr2) F4(gemm, gemm) F4(symm, symm) FC(hemm, hemm) F4(syrk, syrk) FC(herk, herk) F4(syr2k, syr2k) FC(her2k, her2k) F4(syrkx, syrkx) FC(herkx, herkx) F4(trmm, trmm) F4(trsm, trsm)
F4(geam, geam) F4(dgmm, dgmm) F4(tpttr, tpttr) F4(trttp, trttp) F4(gemmb, gemmBatched) F4(gemms, gemmStridedBatched) F4(gemvb, gemvBatched) F4(gemvs, gemvStridedBatched) F4(trsmb, trsmBatched) FC(gemm3m, gemm3m)
F4(getrf, getrfBatched) F4(getrs, getrsBatched) F4(getri, getriBatched) F4(geqrf, geqrfBatched) F4(gels, gelsBatched) F4(matinv, matinvBatched)
static void Tol(const std::string &key, double err, double tol) { T(key.c_str(), err, tol); }
static uint64_t acc;
template <class T> static void mix(std::vector<T> v) { for (auto &x : v) plain(x); acc = fnv(v.data(), v.size() * sizeof(T), acc); }
static void start() { acc = 14695981039346656037ull; }
static void put(const char *key) { E(key, "%016llx", (unsigned long long)acc); }
static cublasFillMode_t U[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}; static cublasDiagType_t DG[] = {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}; static cublasSideMode_t SD[] = {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT};
/* powers of two on the diagonal, small elsewhere: solves are exact */
template <class T> static std::vector<T> tri(int n, int ld, uint32_t seed) { auto a = ints<T>(ld * n, seed, -1, 1); for (int i = 0; i < n; i++) a[i + i * ld] = Num<T>::of(i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : -1, 0); return a; }

template <class T> static void level1(const char *key)
{
    const int n = 211; T al = Num<T>::of(2, -1); auto x = ints<T>(n * 3, 1), y = ints<T>(n * 2, 2); Dev<T> dx(x), dy(y); T *t = 0; start();
    for (int ix : {1, 3, -3}) for (int iy : {1, 2, -2}) { S0(axpy(t, n, P(&al), P(dx.p), ix, P(dy.p), iy)); mix(dy.get()); S0(copy(t, n / 2, P(dx.p), ix, P(dy.p), iy)); mix(dy.get()); S0(swp(t, n / 3, P(dx.p), ix, P(dy.p), iy)); mix(dx.get()); dx.put(x); dy.put(y); T r; S0(dot(t, n, P(dx.p), ix, P(dy.p), iy, P(&r))); mix(std::vector<T>{r}); }
    S0(scal(t, n, P(&al), P(dx.p), 3)); mix(dx.get()); put(key);
}
CASE(l1) { Open o; level1<float>("s"); level1<double>("d"); level1<cf>("c"); level1<cd>("z"); }
CASE(l1_double)
{
    Open o; const int n = 333; auto x = ints<double>(n * 2, 31); Dev<double> dx(x), dy(x); double r[3]; int i[2]; S0(cublasDasum(h, n, dx, 2, r)); S0(cublasDnrm2(h, n, dx, 2, r + 1)); S0(cublasIdamax(h, n, dx, 2, i)); S0(cublasIdamin(h, n, dx, 2, i + 1)); double q = 0; for (int k = 0; k < n; k++) q += x[2 * k] * x[2 * k];
    E("asum", "%.0f", r[0]); T("nrm2", fabs(r[1] - sqrt(q)) / sqrt(q), 1e-14); E("amax", "%d,%d", i[0], i[1]); double c = 3, s = -2, pm[5] = {1, 2, -3, 4, 5}; S0(cublasDrot(h, n, dx, 1, dy, 2, &c, &s)); H("rot", dx.get()); S0(cublasDrotm(h, n, dx, 1, dy, -1, pm)); H("rotm", dy.get()); pm[0] = 0; S0(cublasDrotm(h, n, dx, 1, dy, -1, pm)); H("rotm0", dy.get()); pm[0] = -2; S0(cublasDrotm(h, n, dx, 1, dy, -1, pm)); H("rotm2", dx.get());
}
CASE(l1_complex)
{
    Open o; const int n = 301; auto x = ints<cf>(n * 2, 41); auto z = ints<cd>(n, 42); Dev<cf> dx(x), dy(x); Dev<cd> dz(z), dw(z); float r[3]; double d[3]; int i[4]; cf f[2]; cd g[2];
    S0(cublasScasum(h, n, P(dx.p), 2, r)); S0(cublasScnrm2(h, n, P(dx.p), 2, r + 1)); S0(cublasDzasum(h, n, P(dz.p), 1, d)); S0(cublasDznrm2(h, n, P(dz.p), 1, d + 1)); S0(cublasIcamax(h, n, P(dx.p), 2, i)); S0(cublasIcamin(h, n, P(dx.p), 2, i + 1)); S0(cublasIzamax(h, n, P(dz.p), 1, i + 2)); S0(cublasIzamin(h, n, P(dz.p), 1, i + 3));
    E("asum", "%.0f,%.0f", r[0], d[0]); E("am", "%d,%d,%d,%d", i[0], i[1], i[2], i[3]); double q = 0, p = 0; for (int k = 0; k < n; k++) q += std::norm(cd(x[2 * k])), p += std::norm(z[k]); T("nrm2", fabs(r[1] - sqrt(q)) / sqrt(q) + fabs(d[1] - sqrt(p)) / sqrt(p), 1e-6);
    S0(cublasCdotu(h, n, P(dx.p), 2, P(dy.p), -1, P(f))); S0(cublasCdotc(h, n, P(dx.p), 2, P(dy.p), -1, P(f + 1))); S0(cublasZdotu(h, n, P(dz.p), 1, P(dw.p), -1, P(g))); S0(cublasZdotc(h, n, P(dz.p), 1, P(dw.p), -1, P(g + 1))); E("dot", "%g,%g %g,%g", f[0].real(), f[0].imag(), f[1].real(), f[1].imag()); E("zdot", "%g,%g,%g,%g", g[0].real(), g[0].imag(), g[1].real(), g[1].imag());
    float c = 2, s = -1, a = 3; cf cs(1, -2); S0(cublasCrot(h, n, P(dx.p), 1, P(dy.p), 2, &c, P(&cs))); H("crot", dx.get()); S0(cublasCsrot(h, n, P(dx.p), 1, P(dy.p), 2, &c, &s)); H("csrot", dy.get()); S0(cublasCsscal(h, n, &a, P(dx.p), 2)); H("csscal", dx.get()); double zc = 2, zs = 1; cd zz(0, 1); S0(cublasZrot(h, n, P(dz.p), 1, P(dw.p), 1, &zc, P(&zz))); H("zrot", dz.get()); S0(cublasZdrot(h, n, P(dz.p), 1, P(dw.p), 1, &zc, &zs)); H("zdrot", dw.get()); S0(cublasZdscal(h, n, &zc, P(dz.p), 1)); H("zdscal", dz.get());
}
template <class T> static void level2(const char *key)
{
    T *t = 0; const int m = 19, n = 23, la = 29, kl = 3, ku = 2; T al = Num<T>::of(2, 1), be = Num<T>::of(-1, 2); typename Re<T>::t ra = 3; (void)ra; auto a = ints<T>(la * 32, 51), x = ints<T>(96, 52), y = ints<T>(96, 53); Dev<T> da(a), dx(x), dy(y); start();
    for (char o : {'N', 'T', 'C'}) for (int ix : {1, -2}) for (int iy : {1, 3, -3}) { dy.put(y); S0(gemv(t, op(o), m, n, P(&al), P(da.p), la, P(dx.p), ix, P(&be), P(dy.p), iy)); mix(dy.get()); dy.put(y); S0(gbmv(t, op(o), m, n, kl, ku, P(&al), P(da.p), la, P(dx.p), ix, P(&be), P(dy.p), iy)); mix(dy.get()); }
    put((std::string(key) + "_ge").c_str()); start();
    auto tr = tri<T>(n, la, 54); auto bl = tri<T>(n, la, 55), bu = bl; for (int j = 0; j < n; j++) bl[j * la] = Num<T>::of(j & 1 ? 1 : -1, 0), bu[4 + j * la] = Num<T>::of(j & 1 ? 1 : -1, 0); Dev<T> dt(tr), dbl(bl), dbu(bu); std::vector<T> pk(n * (n + 1) / 2);
    for (auto u : U) { int k = 0; for (int j = 0; j < n; j++) for (int i = u == U[0] ? j : 0; i < (u == U[0] ? n : j + 1); i++) pk[k++] = tr[i + j * la]; Dev<T> dp(pk); for (char o : {'N', 'T', 'C'}) for (auto d : DG) for (int ix : {1, -2}) { dx.put(x); S0(trmv(t, u, op(o), d, n, P(dt.p), la, P(dx.p), ix)); mix(dx.get()); dx.put(x); S0(tbmv(t, u, op(o), d, n, 4, P((u == U[0] ? dbl : dbu).p), la, P(dx.p), ix)); mix(dx.get()); dx.put(x); S0(tpmv(t, u, op(o), d, n, P(dp.p), P(dx.p), ix)); mix(dx.get()); } }
    put((std::string(key) + "_tr").c_str()); start();
    const int q = 7; for (auto u : U) { int k = 0; for (int j = 0; j < q; j++) for (int i = u == U[0] ? j : 0; i < (u == U[0] ? q : j + 1); i++) pk[k++] = tr[i + j * la]; Dev<T> dp(pk); for (char o : {'N', 'T', 'C'}) for (auto d : DG) for (int ix : {1, -2}) { dx.put(x); S0(trsv(t, u, op(o), d, q, P(dt.p), la, P(dx.p), ix)); mix(dx.get()); dx.put(x); S0(tbsv(t, u, op(o), d, q, 4, P((u == U[0] ? dbl : dbu).p), la, P(dx.p), ix)); mix(dx.get()); dx.put(x); S0(tpsv(t, u, op(o), d, q, P(dp.p), P(dx.p), ix)); mix(dx.get()); } }
    put((std::string(key) + "_sv").c_str()); start(); dx.put(x);
    for (auto u : U) for (int ix : {1, -2}) for (int iy : {1, 3}) { dy.put(y); S0(symv(t, u, n, P(&al), P(da.p), la, P(dx.p), ix, P(&be), P(dy.p), iy)); mix(dy.get()); Dev<T> dc(a); S0(syr(t, u, n, P(&al), P(dx.p), ix, P(dc.p), la)); mix(dc.get()); S0(syr2(t, u, n, P(&al), P(dx.p), ix, P(dy.p), iy, P(dc.p), la)); mix(dc.get()); dc.put(a); S0(ger(t, m, n, P(&al), P(dx.p), ix, P(dy.p), iy, P(dc.p), la)); mix(dc.get()); }
    put((std::string(key) + "_sy").c_str());
}
template <class T> static void level2r(const char *key) { T *t = 0; const int n = 17, la = 20; T al = 2, be = -1; auto a = ints<T>(la * n, 61), x = ints<T>(64, 62), y = ints<T>(64, 63); Dev<T> da(a), dx(x), dy(y); start(); for (auto u : U) for (int ix : {1, -2}) { dy.put(y); S0(sbmv(t, u, n, 3, &al, da.p, la, dx.p, ix, &be, dy.p, 2)); mix(dy.get()); S0(spmv(t, u, n, &al, da.p, dx.p, ix, &be, dy.p, 2)); mix(dy.get()); Dev<T> dc(a); S0(spr(t, u, n, &al, dx.p, ix, dc.p)); S0(spr2(t, u, n, &al, dx.p, ix, dy.p, 1, dc.p)); mix(dc.get()); } put(key); }
template <class T> static void level2c(const char *key) { T *t = 0; const int n = 17, la = 20; T al(2, 1), be(-1, 1); typename Re<T>::t ra = 2; auto a = ints<T>(la * n, 71), x = ints<T>(64, 72), y = ints<T>(64, 73); Dev<T> da(a), dx(x), dy(y); start(); for (auto u : U) for (int ix : {1, -2}) { dy.put(y); S0(hemv(t, u, n, P(&al), P(da.p), la, P(dx.p), ix, P(&be), P(dy.p), 2)); mix(dy.get()); dy.put(y); S0(hbmv(t, u, n, 3, P(&al), P(da.p), la, P(dx.p), ix, P(&be), P(dy.p), 2)); mix(dy.get()); dy.put(y); S0(hpmv(t, u, n, P(&al), P(da.p), P(dx.p), ix, P(&be), P(dy.p), 2)); mix(dy.get()); dy.put(y); Dev<T> dc(a); S0(her(t, u, n, &ra, P(dx.p), ix, P(dc.p), la)); mix(dc.get()); dc.put(a); S0(hpr(t, u, n, &ra, P(dx.p), ix, P(dc.p))); mix(dc.get()); dc.put(a); S0(her2(t, u, n, P(&al), P(dx.p), ix, P(dy.p), 1, P(dc.p), la)); mix(dc.get()); dc.put(a); S0(hpr2(t, u, n, P(&al), P(dx.p), ix, P(dy.p), 1, P(dc.p))); mix(dc.get()); dc.put(a); S0(gerc(t, n, n, P(&al), P(dx.p), ix, P(dy.p), 1, P(dc.p), la)); mix(dc.get()); } put(key); }
CASE(l2) { Open o; level2<float>("s"); level2<double>("d"); level2<cf>("c"); level2<cd>("z"); }
CASE(l2_packed) { Open o; level2r<float>("s"); level2r<double>("d"); level2c<cf>("c"); level2c<cd>("z"); }
template <class T> static void level3(const char *key)
{
    T *t = 0; const int m = 21, n = 18, k = 25, ld = 32; T al = Num<T>::of(2, 1), be = Num<T>::of(-1, 2); auto a = ints<T>(ld * 32, 81), b = ints<T>(ld * 32, 82), c = ints<T>(ld * 32, 83); Dev<T> da(a), db(b), dc(c); start();
    for (auto s : SD) for (auto u : U) { dc.put(c); S0(symm(t, s, u, m, n, P(&al), P(da.p), ld, P(db.p), ld, P(&be), P(dc.p), ld)); mix(dc.get()); }
    put((std::string(key) + "_symm").c_str()); start();
    for (auto u : U) for (char o : {'N', 'T'}) { dc.put(c); S0(syrk(t, u, op(o), n, k, P(&al), P(da.p), ld, P(&be), P(dc.p), ld)); mix(dc.get()); dc.put(c); S0(syr2k(t, u, op(o), n, k, P(&al), P(da.p), ld, P(db.p), ld, P(&be), P(dc.p), ld)); mix(dc.get()); dc.put(c); S0(syrkx(t, u, op(o), n, k, P(&al), P(da.p), ld, P(db.p), ld, P(&be), P(dc.p), ld)); mix(dc.get()); }
    put((std::string(key) + "_syrk").c_str()); start(); auto tr = tri<T>(ld, ld, 84); Dev<T> dt(tr);
    for (auto s : SD) for (auto u : U) for (char o : {'N', 'T', 'C'}) for (auto d : DG) { dc.put(c); S0(trmm(t, s, u, op(o), d, m, n, P(&al), P(dt.p), ld, P(db.p), ld, P(dc.p), ld)); mix(dc.get()); S0(trmm(t, s, u, op(o), d, m, n, P(&al), P(dt.p), ld, P(dc.p), ld, P(dc.p), ld)); mix(dc.get()); }
    put((std::string(key) + "_trmm").c_str()); start();
    for (auto s : SD) for (auto u : U) for (char o : {'N', 'T', 'C'}) for (auto d : DG) { db.put(b); S0(trsm(t, s, u, op(o), d, 6, 5, P(&al), P(dt.p), ld, P(db.p), ld)); mix(db.get()); }
    put((std::string(key) + "_trsm").c_str()); start(); db.put(b);
    for (char p : {'N', 'T', 'C'}) for (char q : {'N', 'T', 'C'}) { dc.put(c); S0(geam(t, op(p), op(q), m, n, P(&al), P(da.p), ld, P(&be), P(db.p), ld, P(dc.p), ld)); mix(dc.get()); }
    for (auto s : SD) for (int ix : {1, -2}) { S0(dgmm(t, s, m, n, P(da.p), ld, P(db.p), ix, P(dc.p), ld)); mix(dc.get()); }
    for (auto u : U) { dc.put(c); S0(tpttr(t, u, m, P(da.p), P(dc.p), ld)); mix(dc.get()); S0(trttp(t, u, m, P(da.p), ld, P(dc.p))); mix(dc.get()); }
    put((std::string(key) + "_geam").c_str());
}
template <class T> static void level3c(const char *key)
{
    T *t = 0; const int m = 21, n = 18, k = 25, ld = 32; T al(2, 1), be(-1, 2); typename Re<T>::t ra = 2, rb = -1; auto a = ints<T>(ld * 32, 91), b = ints<T>(ld * 32, 92), c = ints<T>(ld * 32, 93); Dev<T> da(a), db(b), dc(c); start();
    for (auto s : SD) for (auto u : U) { dc.put(c); S0(hemm(t, s, u, m, n, P(&al), P(da.p), ld, P(db.p), ld, P(&be), P(dc.p), ld)); mix(dc.get()); }
    for (auto u : U) for (char o : {'N', 'C'}) { dc.put(c); S0(herk(t, u, op(o), n, k, &ra, P(da.p), ld, &rb, P(dc.p), ld)); mix(dc.get()); dc.put(c); S0(her2k(t, u, op(o), n, k, P(&al), P(da.p), ld, P(db.p), ld, &rb, P(dc.p), ld)); mix(dc.get()); dc.put(c); S0(herkx(t, u, op(o), n, k, P(&al), P(da.p), ld, P(db.p), ld, &rb, P(dc.p), ld)); mix(dc.get()); }
    for (char p : {'N', 'T', 'C'}) for (char q : {'N', 'T', 'C'}) { dc.put(c); S0(gemm3m(t, op(p), op(q), m, n, k, P(&al), P(da.p), ld, P(db.p), ld, P(&be), P(dc.p), ld)); mix(dc.get()); }
    put(key);
}
CASE(l3_s) { Open o; level3<float>("s"); }
CASE(l3_d) { Open o; level3<double>("d"); }
CASE(l3_c) { Open o; level3<cf>("c"); }
CASE(l3_z) { Open o; level3<cd>("z"); }
CASE(l3_hermitian) { Open o; level3c<cf>("c"); level3c<cd>("z"); }
template <class A, class C, class S> static void ex(const char *key, cudaDataType at, cudaDataType ct, cublasComputeType_t comp, S al, S be)
{
    const int m = 40, n = 24, k = 32; auto a = ints<A>(k * m, 101, -2, 2), b = ints<A>(k * n, 102, -2, 2); auto c = ints<C>(m * n, 103, -2, 2); Dev<A> da(a), db(b); std::string s;
    for (char p : {'N', 'T'}) for (char q : {'N', 'T'}) { Dev<C> dc(c); int st = cublasGemmEx(h, op(p), op(q), m, n, k, &al, da, at, p == 'N' ? m : k, db, at, q == 'N' ? k : n, &be, dc, ct, m, comp, CUBLAS_GEMM_DEFAULT); CU(cudaDeviceSynchronize()); char w[64]; auto v = dc.get(); for (auto &x : v) plain(x); snprintf(w, 64, "%d:%016llx,", st, (unsigned long long)(st ? 0 : fnv(v.data(), v.size() * sizeof(C)))); s += w; }
    E(key, "%s", s.c_str());
}
CASE(gemm_ex)
{
    Open o; __half h2 = __float2half(2), hm = __float2half(-1); ex<__half, __half>("hhh", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, h2, hm); ex<__half, __half>("hhs", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2.f, -1.f); ex<__half, float>("hss", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2.f, -1.f); ex<__nv_bfloat16, __nv_bfloat16>("bbs", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2.f, -1.f); ex<__nv_bfloat16, float>("bss", CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2.f, -1.f);
    ex<float, float>("sss", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2.f, -1.f); ex<float, float>("tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 2.f, -1.f); ex<float, float>("f16", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F, 2.f, -1.f); ex<double, double>("ddd", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 2., -1.); ex<cf, cf>("ccc", CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F, cf(2, 1), cf(-1, 1)); ex<cd, cd>("zzz", CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F, cd(2, 1), cd(-1, 1)); ex<int8_t, float>("i8s", CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2.f, -1.f); ex<int8_t, int>("i8i", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 2, -1); ex<__half, float>("bad", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_16F, h2, hm); ex<float, double>("bad2", CUDA_R_32F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 2., -1.);
}
template <class T> static void batches(const char *key)
{
    T *t = 0; const int m = 9, n = 7, k = 8, nb = 5, s = 100; T al = Num<T>::of(2, 1), be = Num<T>::of(1, -1); auto a = ints<T>(s * nb, 111), b = ints<T>(s * nb, 112), c = ints<T>(s * nb, 113); Dev<T> da(a), db(b), dc(c); typedef typename Cu<T>::t Q; std::vector<Q *> pa, pb, pc; for (int i = 0; i < nb; i++) pa.push_back(P(da.p) + i * s), pb.push_back(P(db.p) + i * s), pc.push_back(P(dc.p) + i * s); Dev<Q *> xa(pa), xb(pb), xc(pc); start();
    for (char p : {'N', 'T', 'C'}) { dc.put(c); S0(gemmb(t, op(p), op(p), m, n, k, P(&al), (const Q *const *)xa.p, 9, (const Q *const *)xb.p, 10, P(&be), xc.p, 9, nb)); mix(dc.get()); dc.put(c); S0(gemms(t, op(p), op('N'), m, n, k, P(&al), P(da.p), 10, (long long)s, P(db.p), 9, (long long)s, P(&be), P(dc.p), 9, (long long)s, nb)); mix(dc.get()); dc.put(c); S0(gemvb(t, op(p), m, n, P(&al), (const Q *const *)xa.p, 9, (const Q *const *)xb.p, 2, P(&be), xc.p, -1, nb)); mix(dc.get()); dc.put(c); S0(gemvs(t, op(p), m, n, P(&al), P(da.p), 9, (long long)s, P(db.p), 1, (long long)s, P(&be), P(dc.p), 2, (long long)s, nb)); mix(dc.get()); }
    std::vector<T> tr; for (int i = 0; i < nb; i++) { auto q = tri<T>(10, 10, 114 + i); tr.insert(tr.end(), q.begin(), q.end()); } da.put(tr); for (auto sd : SD) for (auto u : U) { db.put(b); S0(trsmb(t, sd, u, op('N'), DG[0], 5, 4, P(&al), (const Q *const *)xa.p, 10, xb.p, 10, nb)); mix(db.get()); } put(key);
}
CASE(batches) { Open o; batches<float>("s"); batches<double>("d"); batches<cf>("c"); batches<cd>("z"); }
template <class T> static void factors(const char *key, double tol)
{
    T *t = 0; const int n = 11, nb = 4, nr = 3; auto a = reals<T>(n * n * nb, 121), b = reals<T>(n * nr * nb, 122); for (int k = 0; k < nb; k++) for (int i = 0; i < n; i++) a[k * n * n + i * n + (i * 5 + 3) % n] += Num<T>::of(6, 0); Dev<T> da(a), db(b), dc(n * n * nb); Dev<int> piv(n * nb), inf(nb); typedef typename Cu<T>::t Q; std::vector<Q *> pa, pb, pc; for (int i = 0; i < nb; i++) pa.push_back(P(da.p) + i * n * n), pb.push_back(P(db.p) + i * n * nr), pc.push_back(P(dc.p) + i * n * n); Dev<Q *> xa(pa), xb(pb), xc(pc);
    S0(getrf(t, n, xa.p, n, piv.p, inf.p, nb)); H((std::string(key) + "_piv").c_str(), piv.get()); H((std::string(key) + "_info").c_str(), inf.get()); int hi = -1; S0(getrs(t, op('N'), n, nr, (const Q *const *)xa.p, n, piv.p, xb.p, n, &hi, nb)); auto x = db.get(); double e = 0; for (int k = 0; k < nb; k++) for (int r = 0; r < nr; r++) for (int i = 0; i < n; i++) { cd s = 0; for (int j = 0; j < n; j++) s += W(a[k * n * n + i + j * n]) * W(x[k * n * nr + j + r * n]); e = std::max(e, std::abs(s - W(b[k * n * nr + i + r * n]))); } Tol(std::string(key) + "_solve", e, tol);
    for (char o : {'T', 'C'}) { db.put(b); S0(getrs(t, op(o), n, nr, (const Q *const *)xa.p, n, piv.p, xb.p, n, &hi, nb)); x = db.get(); e = 0; for (int k = 0; k < nb; k++) for (int r = 0; r < nr; r++) for (int i = 0; i < n; i++) { cd s = 0; for (int j = 0; j < n; j++) { cd v = W(a[k * n * n + j + i * n]); s += (o == 'C' ? std::conj(v) : v) * W(x[k * n * nr + j + r * n]); } e = std::max(e, std::abs(s - W(b[k * n * nr + i + r * n]))); } Tol(std::string(key) + "_solve" + o, e, tol); }
    S0(getri(t, n, (const Q *const *)xa.p, n, piv.p, xc.p, n, inf.p, nb)); auto v = dc.get(); auto chk = [&](const char *w) { double e = 0; for (int k = 0; k < nb; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { cd s = 0; for (int l = 0; l < n; l++) s += W(a[k * n * n + i + l * n]) * W(v[k * n * n + l + j * n]); e = std::max(e, std::abs(s - cd(i == j))); } Tol(std::string(key) + w, e, tol); }; chk("_inv"); da.put(a); S0(matinv(t, n, (const Q *const *)xa.p, n, xc.p, n, inf.p, nb)); v = dc.get(); chk("_matinv");
    da.put(a); Dev<T> dt(n * nb); std::vector<Q *> pt; for (int i = 0; i < nb; i++) pt.push_back(P(dt.p) + i * n); Dev<Q *> xt(pt); S0(geqrf(t, n, n, xa.p, n, xt.p, &hi, nb)); E((std::string(key) + "_i").c_str(), "%d", hi); auto q = da.get(); std::string sg; for (int i = 0; i < n; i++) sg += q[i * n + i] == q[i * n + i] && W(q[i * n + i]).real() < 0 ? '-' : '+'; E((std::string(key) + "_signs").c_str(), "%s", sg.c_str());
    da.put(a); db.put(b); S0(gels(t, op('N'), n, 7, nr, xa.p, n, xb.p, n, &hi, inf.p, nb)); x = db.get(); e = 0; for (int k = 0; k < nb; k++) for (int r = 0; r < nr; r++) { std::vector<cd> res(n); for (int i = 0; i < n; i++) { res[i] = -W(b[k * n * nr + i + r * n]); for (int j = 0; j < 7; j++) res[i] += W(a[k * n * n + i + j * n]) * W(x[k * n * nr + j + r * n]); } for (int j = 0; j < 7; j++) { cd s = 0; for (int i = 0; i < n; i++) s += std::conj(W(a[k * n * n + i + j * n])) * res[i]; e = std::max(e, std::abs(s)); } } Tol(std::string(key) + "_gels", e, tol * 10);
}
CASE(factors) { Open o; factors<float>("s", 1e-4); factors<double>("d", 1e-12); factors<cf>("c", 1e-4); factors<cd>("z", 1e-12); }
CASE(modes)
{
    Open o; const int n = 64; auto x = ints<float>(n, 131), y = ints<float>(n, 132); Dev<float> dx(x), dy(y), r(8); Dev<int> ri(4); std::vector<float> sc{3, -1, 0}; Dev<float> ds(sc); cudaStream_t st; CU(cudaStreamCreate(&st)); S0(cublasSetStream(h, st)); S0(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    S0(cublasSaxpy(h, n, ds.p, dx, 1, dy, 1)); S0(cublasSdot(h, n, dx, 1, dy, 1, r.p)); S0(cublasSscal(h, n, r.p, dx, 1)); S0(cublasSasum(h, n, dy, 1, r.p + 1)); S0(cublasSnrm2(h, 3, ds, 1, r.p + 2)); S0(cublasIsamax(h, n, dy, 1, ri.p)); S0(cublasSgemv(h, CUBLAS_OP_N, 8, 8, ds.p, dy, 8, dx, 1, ds.p + 1, dx.p + 32, 1)); S0(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, 4, 4, 4, ds.p + 1, dy, 4, dy.p + 16, 4, ds.p + 2, dx, 4)); CU(cudaStreamSynchronize(st)); H("x", dx.get()); H("y", dy.get()); auto v = r.get(); E("r", "%g,%g", v[0], v[1]); E("i", "%d", ri.get()[0]);
    cudaGraph_t g; cudaGraphExec_t e; CU(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal)); S0(cublasSaxpy(h, n, ds.p, dx, 1, dy, 1)); S0(cublasSdot(h, n, dx, 1, dy, 1, r.p)); S0(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST)); float al = 2; S0(cublasSscal(h, n, &al, dy, 1)); al = 77; CU(cudaStreamEndCapture(st, &g)); size_t nn; CU(cudaGraphGetNodes(g, 0, &nn)); CU(cudaGraphInstantiate(&e, g, 0)); for (int i = 0; i < 3; i++) CU(cudaGraphLaunch(e, st)); CU(cudaStreamSynchronize(st)); H("graph_y", dy.get()); E("graph_dot", "%g", r.get()[0]);
    cublasPointerMode_t pm; cublasAtomicsMode_t am; cublasMath_t mm; cudaStream_t s2; S0(cublasGetPointerMode(h, &pm)); S0(cublasGetAtomicsMode(h, &am)); S0(cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH)); S0(cublasGetMathMode(h, &mm)); S0(cublasGetStream(h, &s2)); E("get", "%d,%d,%d,%d", pm, am, mm, s2 == st); CU(cudaStreamDestroy(st));
}
CASE(special)
{
    Open o; const float NA = NAN; float one = 1, zero = 0; Dev<float> a(ints<float>(64, 141)), b(ints<float>(64, 142)), c(std::vector<float>(64, NA)); S0(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a, 8, b, 8, &zero, c, 8)); H("beta0", c.get()); c.put(std::vector<float>(64, NA)); S0(cublasSgemv(h, CUBLAS_OP_T, 8, 8, &one, a, 8, b, 1, &zero, c, 1)); H("gemv0", c.get()); c.put(std::vector<float>(64, NA)); S0(cublasSsyrk(h, U[0], CUBLAS_OP_N, 8, 8, &one, a, 8, &zero, c, 8)); H("syrk0", c.get()); c.put(std::vector<float>(64, NA)); S0(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 0, &one, a, 8, b, 8, &zero, c, 8)); H("k0", c.get()); S0(cublasSgeam(h, CUBLAS_OP_N, CUBLAS_OP_T, 8, 8, &one, a, 8, &zero, (float *)nullptr, 8, c, 8)); H("geam", c.get());
    std::vector<float> v{1, NA, -3, 3, INFINITY, -INFINITY}; Dev<float> d(v); int i[2]; float r[2]; S0(cublasIsamax(h, 6, d, 1, i)); S0(cublasIsamin(h, 6, d, 1, i + 1)); S0(cublasSnrm2(h, 6, d, 1, r)); S0(cublasSasum(h, 4, d, 1, r + 1)); E("nan", "%d,%d,%g,%d", i[0], i[1], r[0], r[1] != r[1]); v = {1e30f, 1e30f}; d.put(v); S0(cublasSnrm2(h, 2, d, 1, r)); T("big", fabs(r[0] / 1.41421356e30 - 1), 1e-6);
}
CASE(status2)
{
    Open o; Dev<float> a(4096), b(4096), c(4096); float al = 1, be = 0; std::string s; auto g = [&](cublasStatus_t r) { s += std::to_string((int)r) + ","; };
    TRY(cublasSgemv(h, CUBLAS_OP_N, 4, 4, &al, a, 3, b, 1, &be, c, 1)); TRY(cublasSgemv(h, CUBLAS_OP_N, 4, 4, &al, a, 4, b, 0, &be, c, 1)); TRY(cublasSgemv(h, CUBLAS_OP_N, -1, 4, &al, a, 4, b, 1, &be, c, 1)); TRY(cublasSsymv(h, (cublasFillMode_t)5, 4, &al, a, 4, b, 1, &be, c, 1)); TRY(cublasSger(h, 4, 4, &al, a, 0, b, 1, c, 4)); TRY(cublasSger(h, 4, 4, &al, a, 1, b, 1, c, 3)); TRY(cublasStrsm(h, SD[0], U[0], CUBLAS_OP_N, DG[0], 4, 4, &al, a, 3, b, 4)); TRY(cublasStrsm(h, SD[0], U[0], CUBLAS_OP_N, (cublasDiagType_t)3, 4, 4, &al, a, 4, b, 4)); TRY(cublasStrsm(h, SD[1], U[0], CUBLAS_OP_N, DG[0], 4, 5, &al, a, 4, b, 4)); TRY(cublasSsyrk(h, U[0], CUBLAS_OP_N, 4, -1, &al, a, 4, &be, c, 4)); TRY(cublasStbmv(h, U[0], CUBLAS_OP_N, DG[0], 4, 3, a, 3, b, 1)); TRY(cublasSgbmv(h, CUBLAS_OP_N, 4, 4, 2, 2, &al, a, 4, b, 1, &be, c, 1)); E("l23", "%s", s.c_str()); s.clear();
    TRY(cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &al, nullptr, 4, nullptr, 4, &be, nullptr, 4, 0)); TRY(cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &al, nullptr, 4, nullptr, 4, &be, nullptr, 4, -1)); TRY(cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &al, a, 4, 16, b, 4, 16, &be, c, 3, 16, 2)); TRY(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &al, a, CUDA_R_32F, 4, b, CUDA_R_16F, 4, &be, c, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT)); TRY(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &al, a, CUDA_R_32F, 4, b, CUDA_R_32F, 4, &be, c, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, (cublasGemmAlgo_t)500)); TRY(cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, 4, 4, &al, a, 4, &be, b, 4, a, 4)); TRY(cublasSgeam(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, &al, a, 3, &be, b, 4, c, 4)); TRY(cublasSdgmm(h, (cublasSideMode_t)4, 4, 4, a, 4, b, 1, c, 4)); TRY(cublasSdgmm(h, SD[0], 4, 4, a, 4, b, 0, c, 4)); float *n0 = nullptr; (void)n0; TRY(cublasSdot(h, 4, a, 1, b, 1, nullptr)); TRY(cublasSnrm2(h, 4, a, 1, nullptr)); TRY(cublasIsamax(h, 4, a, 1, nullptr)); TRY(cublasSetMathMode(h, (cublasMath_t)64)); TRY(cublasSetAtomicsMode(h, (cublasAtomicsMode_t)2)); TRY(cublasGetPointerMode(h, nullptr)); E("more", "%s", s.c_str()); s.clear();
    std::vector<float> hv(64, 1); TRY(cublasSetVector(4, 4, hv.data(), 0, a, 1)); TRY(cublasSetVector(4, 0, hv.data(), 1, a, 1)); TRY(cublasSetMatrix(4, 4, 4, hv.data(), 3, a, 4)); TRY(cublasGetMatrix(4, 4, 4, a, 4, hv.data(), 0)); TRY(cublasGetVector(0, 4, a, 1, hv.data(), 1)); E("set", "%s", s.c_str()); E("names", "%s,%s,%s", cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), cublasGetStatusString(CUBLAS_STATUS_ALLOC_FAILED), cublasGetStatusName((cublasStatus_t)5)); int v = 0, p = 0; S0(cublasGetVersion(h, &v)); S0(cublasGetProperty(MAJOR_VERSION, &p)); E("version", "%d,%d", v / 10000, p);
}
CASE(transfer)
{
    std::vector<float> x = ints<float>(64, 151), y(64, -1); Dev<float> d(64); S0(cublasSetVector(10, 4, x.data(), 3, d.p, 2)); H("set", d.get()); S0(cublasGetVector(10, 4, d.p, 2, y.data(), 5)); H("get", y); S0(cublasSetMatrix(5, 6, 4, x.data(), 8, d.p, 7)); H("setm", d.get()); S0(cublasGetMatrix(5, 6, 4, d.p, 7, y.data(), 9)); H("getm", y); cudaStream_t s; CU(cudaStreamCreate(&s)); S0(cublasSetMatrixAsync(5, 6, 4, x.data(), 6, d.p, 8, s)); S0(cublasGetVectorAsync(12, 4, d.p, 3, y.data(), 2, s)); CU(cudaStreamSynchronize(s)); H("async", y);
}
CASE(ex_level1)
{
    Open o; const int n = 100; auto x = ints<__half>(n, 161, -3, 3), y = ints<__half>(n, 162, -3, 3); Dev<__half> dx(x), dy(y); float al = 2; __half r; int i; S0(cublasAxpyEx(h, n, &al, CUDA_R_32F, dx, CUDA_R_16F, 1, dy, CUDA_R_16F, 1, CUDA_R_32F)); H("axpy", dy.get()); S0(cublasDotEx(h, n, dx, CUDA_R_16F, 1, dy, CUDA_R_16F, -1, &r, CUDA_R_16F, CUDA_R_32F)); E("dot", "%g", (double)__half2float(r)); S0(cublasNrm2Ex(h, 1, dx, CUDA_R_16F, 1, &r, CUDA_R_16F, CUDA_R_32F)); E("nrm2", "%g", (double)__half2float(r)); S0(cublasScalEx(h, n, &al, CUDA_R_32F, dx, CUDA_R_16F, 1, CUDA_R_32F)); H("scal", dx.get()); S0(cublasIamaxEx(h, n, dy, CUDA_R_16F, 1, &i)); E("amax", "%d", i); S0(cublasCopyEx(h, n, dx, CUDA_R_16F, 1, dy, CUDA_R_16F, 1)); H("copy", dy.get()); float f; S0(cublasAsumEx(h, n, dx, CUDA_R_16F, 1, &f, CUDA_R_32F, CUDA_R_32F)); E("asum", "%g", f); E("bad", "%d,%d", (int)cublasDotEx(h, n, dx, CUDA_R_16F, 1, dy, CUDA_R_32F, 1, &r, CUDA_R_16F, CUDA_R_32F), (int)cublasScalEx(h, n, &al, CUDA_R_16F, dx, CUDA_R_32F, 1, CUDA_R_32F));
}
CASE(threads64)
{
    Open o; const int m = 300, n = 260, k = 280; auto a = ints<float>(m * k, 171), b = ints<float>(k * n, 172), c = ints<float>(m * n, 173); Dev<float> da(a), db(b), dc(c); float al = 1, be = 2; S0(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &al, da, m, db, k, &be, dc, m)); H("sgemm", dc.get()); dc.put(c); S0(cublasSgemm_64(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &al, da, k, db, k, &be, dc, m)); H("sgemm64", dc.get()); int64_t r; S0(cublasIsamax_64(h, m * n, dc, 1, &r)); E("amax", "%d", (int)r); cublasOperation_t ta[2] = {CUBLAS_OP_N, CUBLAS_OP_T}; int mm[2] = {4, 6}, nn[2] = {5, 3}, kk[2] = {6, 4}, ld[2] = {8, 8}, gs[2] = {2, 1}; float als[2] = {1, 2}, bes[2] = {0, 1}; std::vector<float *> pa{da.p, da.p + 64, da.p + 128}, pb{db.p, db.p + 64, db.p + 128}, pc{dc.p, dc.p + 64, dc.p + 128}; Dev<float *> xa(pa), xb(pb), xc(pc); S0(cublasSgemmGroupedBatched(h, ta, ta, mm, nn, kk, als, (const float *const *)xa.p, ld, (const float *const *)xb.p, ld, bes, xc.p, ld, 2, gs)); H("grouped", dc.get());
}
