/* cuBLAS: where a NaN in an operand comes through, with alpha and beta 0 and not. nvcc -std=c++17 -arch=sm_90 nan.cu -lcublas */
#include "ora.h"
#include <cublas_v2.h>
#include <functional>
static cublasHandle_t h;
template <class T> struct Cu { typedef T t; };
template <> struct Cu<cf> { typedef cuComplex t; };
template <> struct Cu<cd> { typedef cuDoubleComplex t; };
template <class T> typename Cu<T>::t *P(T *p) { return (typename Cu<T>::t *)p; }
template <class T> struct Re { typedef T t; };
template <> struct Re<cf> { typedef float t; };
template <> struct Re<cd> { typedef double t; };
#define F2(name, N) \
    template <class... A> cublasStatus_t name(float *, A... a) { return cublasS##N(h, a...); } \
    template <class... A> cublasStatus_t name(double *, A... a) { return cublasD##N(h, a...); }
#define FC(name, N) \
    template <class... A> cublasStatus_t name(cf *, A... a) { return cublasC##N(h, a...); } \
    template <class... A> cublasStatus_t name(cd *, A... a) { return cublasZ##N(h, a...); }
#define F4(name, N) F2(name, N) FC(name, N)
F4(axpy, axpy) F4(scal, scal) F2(dot, dot) FC(dot, dotu) F4(gemv, gemv) F4(gbmv, gbmv) F4(trmv, trmv) F4(trsv, trsv) F4(tbmv, tbmv) F4(tbsv, tbsv) F4(tpmv, tpmv) F4(tpsv, tpsv)
F4(symv, symv) FC(hemv, hemv) F2(sbmv, sbmv) FC(hbmv, hbmv) F2(spmv, spmv) FC(hpmv, hpmv) F2(ger, ger) FC(ger, geru) FC(gerc, gerc) F4(syr, syr) FC(her, her) F2(spr, spr) FC(hpr, hpr)
F4(syr2, syr2) FC(her2, her2) F2(spr2, spr2) FC(hpr2, hpr2) F4(gemm, gemm) F4(symm, symm) FC(hemm, hemm) F4(syrk, syrk) FC(herk, herk) F4(syr2k, syr2k) FC(her2k, her2k) F4(syrkx, syrkx) FC(herkx, herkx)
F4(trmm, trmm) F4(trsm, trsm) F4(geam, geam) F4(dgmm, dgmm) F4(gemms, gemmStridedBatched) F4(gemvs, gemvStridedBatched)
static const float none = NAN;
static bool nan_(float x) { return x != x; }
static bool nan_(double x) { return x != x; }
static bool nan_(cf x) { return nan_(x.real()) || nan_(x.imag()); }
static bool nan_(cd x) { return nan_(x.real()) || nan_(x.imag()); }
static uint64_t acc;
/* Each operand in turn is NaN, first all of it, then one element: how many of the result's are, and a hash of all of them. */
template <class T> struct Problem {
    std::vector<std::vector<T>> ops;
    std::vector<Dev<T> *> dev;
    Problem(std::vector<size_t> sizes) { for (size_t i = 0; i < sizes.size(); i++) { ops.push_back(ints<T>(sizes[i], 7 + (uint32_t)i, -2, 2)); for (size_t k = 0; k < sizes[i]; k++) if (std::abs(W(ops[i][k])) == 0) ops[i][k] = Num<T>::of(1, 0); dev.push_back(new Dev<T>(ops[i])); } }
    ~Problem() { for (auto d : dev) delete d; }
    typename Cu<T>::t *operator[](int i) { return P(dev[i]->p); }
    void go(const char *name, std::function<int(T, T)> call, bool scalars = true)
    {
        std::string s; acc = 14695981039346656037ull;
        for (int mode = 0; mode < (scalars ? 4 : 1); mode++) {
            T al = Num<T>::of(mode == 1 || !scalars ? 2 : 0, 0), be = Num<T>::of(mode == 0 ? 2 : mode == 3 ? 1 : 0, 0);
            s += mode ? "|" : "";
            for (int one = 0; one < 2; one++)
                for (size_t o = 0; o < ops.size(); o++) {
                    for (size_t i = 0; i < ops.size(); i++) dev[i]->put(ops[i]);
                    std::vector<T> bad = ops[o]; for (size_t k = 0; k < bad.size(); k++) if (!one || k == bad.size() / 3) bad[k] = Num<T>::of(none, one ? 1 : none);
                    dev[o]->put(bad);
                    int st = call(al, be); if (st) { s += "e" + std::to_string(st) + ","; continue; }
                    auto v = dev.back()->get(); size_t n = 0; for (auto &x : v) { n += nan_(x); if (nan_(x)) x = Num<T>::of(none, none); plain(x); }
                    acc = fnv(v.data(), v.size() * sizeof(T), acc); s += std::to_string(n) + ",";
                }
        }
        E(name, "%s%016llx", s.c_str(), (unsigned long long)acc);
    }
};
static cublasFillMode_t U[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};
static cublasOperation_t OP[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
template <class T> static void level1(std::string t)
{
    T *p = 0; const int n = 9;
    { Problem<T> q({9, 9}); q.go((t + "axpy").c_str(), [&](T al, T) { return axpy(p, n, P(&al), q[0], 1, q[1], 1); }); }
    { Problem<T> q({9}); q.go((t + "scal").c_str(), [&](T al, T) { return scal(p, n, P(&al), q[0], 1); }); }
}
template <class T> static void level2(std::string t, int n)
{
    T *p = 0; size_t N = n, M = N * N, K = N * (N + 1) / 2; (void)K;
    for (int o = 0; o < 3; o++) {
        { Problem<T> q({M, N, N}); q.go((t + "gemv" + "ntc"[o]).c_str(), [&](T al, T be) { return gemv(p, OP[o], n, n, P(&al), q[0], n, q[1], 1, P(&be), q[2], 1); }); }
        { Problem<T> q({N * 4, N, N}); q.go((t + "gbmv" + "ntc"[o]).c_str(), [&](T al, T be) { return gbmv(p, OP[o], n, n, 1, 2, P(&al), q[0], 4, q[1], 1, P(&be), q[2], 1); }); }
        for (int u = 0; u < 2; u++) for (int d = 0; d < 2; d++) {
            std::string w = std::string() + "ntc"[o] + "lu"[u] + "nu"[d]; cublasDiagType_t D = d ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
            { Problem<T> q({M, N}); q.go((t + "trmv" + w).c_str(), [&](T, T) { return trmv(p, U[u], OP[o], D, n, q[0], n, q[1], 1); }, false); }
            { Problem<T> q({K, N}); q.go((t + "tpmv" + w).c_str(), [&](T, T) { return tpmv(p, U[u], OP[o], D, n, q[0], q[1], 1); }, false); }
            { Problem<T> q({N * 3, N}); q.go((t + "tbmv" + w).c_str(), [&](T, T) { return tbmv(p, U[u], OP[o], D, n, 2, q[0], 3, q[1], 1); }, false); }
        }
    }
    for (int u = 0; u < 2; u++) {
        std::string w(1, "lu"[u]);
        { Problem<T> q({M, N, N}); q.go((t + "symv" + w).c_str(), [&](T al, T be) { return symv(p, U[u], n, P(&al), q[0], n, q[1], 1, P(&be), q[2], 1); }); }
        { Problem<T> q({N, M}); q.go((t + "syr" + w).c_str(), [&](T al, T) { return syr(p, U[u], n, P(&al), q[0], 1, q[1], n); }); }
        { Problem<T> q({N, N, M}); q.go((t + "syr2" + w).c_str(), [&](T al, T) { return syr2(p, U[u], n, P(&al), q[0], 1, q[1], 1, q[2], n); }); }
    }
    { Problem<T> q({N, N, M}); q.go((t + "ger").c_str(), [&](T al, T) { return ger(p, n, n, P(&al), q[0], 1, q[1], 1, q[2], n); }); }
}
template <class T> static void level2r(std::string t, int n)
{
    T *p = 0; size_t N = n, K = N * (N + 1) / 2;
    for (int u = 0; u < 2; u++) {
        std::string w(1, "lu"[u]);
        { Problem<T> q({N * 3, N, N}); q.go((t + "sbmv" + w).c_str(), [&](T al, T be) { return sbmv(p, U[u], n, 2, P(&al), q[0], 3, q[1], 1, P(&be), q[2], 1); }); }
        { Problem<T> q({K, N, N}); q.go((t + "spmv" + w).c_str(), [&](T al, T be) { return spmv(p, U[u], n, P(&al), q[0], q[1], 1, P(&be), q[2], 1); }); }
        { Problem<T> q({N, K}); q.go((t + "spr" + w).c_str(), [&](T al, T) { return spr(p, U[u], n, P(&al), q[0], 1, q[1]); }); }
        { Problem<T> q({N, N, K}); q.go((t + "spr2" + w).c_str(), [&](T al, T) { return spr2(p, U[u], n, P(&al), q[0], 1, q[1], 1, q[2]); }); }
    }
}
template <class T> static void level2c(std::string t, int n)
{
    T *p = 0; size_t N = n, M = N * N, K = N * (N + 1) / 2; typename Re<T>::t ra;
    for (int u = 0; u < 2; u++) {
        std::string w(1, "lu"[u]);
        { Problem<T> q({M, N, N}); q.go((t + "hemv" + w).c_str(), [&](T al, T be) { return hemv(p, U[u], n, P(&al), q[0], n, q[1], 1, P(&be), q[2], 1); }); }
        { Problem<T> q({N * 3, N, N}); q.go((t + "hbmv" + w).c_str(), [&](T al, T be) { return hbmv(p, U[u], n, 2, P(&al), q[0], 3, q[1], 1, P(&be), q[2], 1); }); }
        { Problem<T> q({K, N, N}); q.go((t + "hpmv" + w).c_str(), [&](T al, T be) { return hpmv(p, U[u], n, P(&al), q[0], q[1], 1, P(&be), q[2], 1); }); }
        { Problem<T> q({N, M}); q.go((t + "her" + w).c_str(), [&](T al, T) { ra = al.real(); return her(p, U[u], n, &ra, q[0], 1, q[1], n); }); }
        { Problem<T> q({N, K}); q.go((t + "hpr" + w).c_str(), [&](T al, T) { ra = al.real(); return hpr(p, U[u], n, &ra, q[0], 1, q[1]); }); }
        { Problem<T> q({N, N, M}); q.go((t + "her2" + w).c_str(), [&](T al, T) { return her2(p, U[u], n, P(&al), q[0], 1, q[1], 1, q[2], n); }); }
        { Problem<T> q({N, N, K}); q.go((t + "hpr2" + w).c_str(), [&](T al, T) { return hpr2(p, U[u], n, P(&al), q[0], 1, q[1], 1, q[2]); }); }
    }
    { Problem<T> q({N, N, M}); q.go((t + "gerc").c_str(), [&](T al, T) { return gerc(p, n, n, P(&al), q[0], 1, q[1], 1, q[2], n); }); }
}
template <class T> static void level3(std::string t, int n)
{
    T *p = 0; size_t N = n, M = N * N;
    for (int o = 0; o < 3; o++) {
        { Problem<T> q({M, M, M}); q.go((t + "gemm" + "ntc"[o]).c_str(), [&](T al, T be) { return gemm(p, OP[o], OP[o], n, n, n, P(&al), q[0], n, q[1], n, P(&be), q[2], n); }); }
        { Problem<T> q({M, M, M}); q.go((t + "gemm0" + "ntc"[o]).c_str(), [&](T al, T be) { return gemm(p, OP[o], OP[o], n, n, 0, P(&al), q[0], n, q[1], n, P(&be), q[2], n); }); }
        { Problem<T> q({M, M, M}); q.go((t + "geam" + "ntc"[o]).c_str(), [&](T al, T be) { return geam(p, OP[o], OP[o], n, n, P(&al), q[0], n, P(&be), q[1], n, q[2], n); }); }
    }
    for (int u = 0; u < 2; u++) for (int s = 0; s < 2; s++) {
        cublasSideMode_t S = s ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
        { Problem<T> q({M, M, M}); q.go((t + "symm" + "lu"[u] + "lr"[s]).c_str(), [&](T al, T be) { return symm(p, S, U[u], n, n, P(&al), q[0], n, q[1], n, P(&be), q[2], n); }); }
        for (int o = 0; o < 2; o++) for (int d = 0; d < 2; d++) {
            std::string w = std::string() + "ntc"[o] + "lu"[u] + "lr"[s] + "nu"[d]; cublasDiagType_t D = d ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
            { Problem<T> q({M, M, M}); q.go((t + "trmm" + w).c_str(), [&](T al, T) { return trmm(p, S, U[u], OP[o], D, n, n, P(&al), q[0], n, q[1], n, q[2], n); }); }
        }
    }
    for (int u = 0; u < 2; u++) for (int o = 0; o < 2; o++) {
        std::string w = std::string() + "nt"[o] + "lu"[u];
        { Problem<T> q({M, M}); q.go((t + "syrk" + w).c_str(), [&](T al, T be) { return syrk(p, U[u], OP[o], n, n, P(&al), q[0], n, P(&be), q[1], n); }); }
        { Problem<T> q({M, M}); q.go((t + "syrk0" + w).c_str(), [&](T al, T be) { return syrk(p, U[u], OP[o], n, 0, P(&al), q[0], n, P(&be), q[1], n); }); }
        { Problem<T> q({M, M, M}); q.go((t + "syr2k" + w).c_str(), [&](T al, T be) { return syr2k(p, U[u], OP[o], n, n, P(&al), q[0], n, q[1], n, P(&be), q[2], n); }); }
        { Problem<T> q({M, M, M}); q.go((t + "syrkx" + w).c_str(), [&](T al, T be) { return syrkx(p, U[u], OP[o], n, n, P(&al), q[0], n, q[1], n, P(&be), q[2], n); }); }
    }
    { Problem<T> q({M, N, M}); q.go((t + "dgmm").c_str(), [&](T, T) { return dgmm(p, CUBLAS_SIDE_LEFT, n, n, q[0], n, q[1], 1, q[2], n); }, false); }
    if (n < 20) {
        { Problem<T> q({M * 2, M * 2, M * 2}); q.go((t + "gemmStrided").c_str(), [&](T al, T be) { return gemms(p, OP[0], OP[0], n, n, n, P(&al), q[0], n, (long long)M, q[1], n, (long long)M, P(&be), q[2], n, (long long)M, 2); }); }
        { Problem<T> q({M * 2, N * 2, N * 2}); q.go((t + "gemvStrided").c_str(), [&](T al, T be) { return gemvs(p, OP[0], n, n, P(&al), q[0], n, (long long)M, q[1], 1, (long long)N, P(&be), q[2], 1, (long long)N, 2); }); }
    }
}
template <class T> static void level3c(std::string t, int n)
{
    T *p = 0; size_t N = n, M = N * N; typename Re<T>::t ra, rb;
    for (int u = 0; u < 2; u++) {
        for (int s = 0; s < 2; s++) { Problem<T> q({M, M, M}); q.go((t + "hemm" + "lu"[u] + "lr"[s]).c_str(), [&](T al, T be) { return hemm(p, s ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT, U[u], n, n, P(&al), q[0], n, q[1], n, P(&be), q[2], n); }); }
        for (int o = 0; o < 3; o += 2) {
            std::string w = std::string() + "ntc"[o] + "lu"[u];
            { Problem<T> q({M, M}); q.go((t + "herk" + w).c_str(), [&](T al, T be) { ra = al.real(), rb = be.real(); return herk(p, U[u], OP[o], n, n, &ra, q[0], n, &rb, q[1], n); }); }
            { Problem<T> q({M, M}); q.go((t + "herk0" + w).c_str(), [&](T al, T be) { ra = al.real(), rb = be.real(); return herk(p, U[u], OP[o], n, 0, &ra, q[0], n, &rb, q[1], n); }); }
            { Problem<T> q({M, M, M}); q.go((t + "her2k" + w).c_str(), [&](T al, T be) { rb = be.real(); return her2k(p, U[u], OP[o], n, n, P(&al), q[0], n, q[1], n, &rb, q[2], n); }); }
            { Problem<T> q({M, M, M}); q.go((t + "herkx" + w).c_str(), [&](T al, T be) { rb = be.real(); return herkx(p, U[u], OP[o], n, n, P(&al), q[0], n, q[1], n, &rb, q[2], n); }); }
        }
    }
}
/* Solves: exact, as the diagonal's elements are powers of two. */
template <class T> static void solves(std::string t, int n)
{
    T *p = 0; size_t N = n, M = N * N, K = N * (N + 1) / 2;
    for (int o = 0; o < 2; o++) for (int u = 0; u < 2; u++) for (int d = 0; d < 2; d++) {
        std::string w = std::string() + "nt"[o] + "lu"[u] + "nu"[d]; cublasDiagType_t D = d ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        auto diagonal = [&](Problem<T> &q) { for (size_t i = 0; i < N; i++) for (size_t j = 0; j < N; j++) q.ops[0][i + j * N] = Num<T>::of(i == j ? (n > 10 ? 1 : 2) : (i + 2 * j) % 5 == 1 && (i > j ? i - j : j - i) < 4 ? 1 : 0, 0); };
        { Problem<T> q({M, N}); diagonal(q); q.go((t + "trsv" + w).c_str(), [&](T, T) { return trsv(p, U[u], OP[o], D, n, q[0], n, q[1], 1); }, false); }
        { Problem<T> q({K, N}); for (auto &x : q.ops[0]) x = Num<T>::of(1, 0); q.go((t + "tpsv" + w).c_str(), [&](T, T) { return tpsv(p, U[u], OP[o], D, n, q[0], q[1], 1); }, false); }
        { Problem<T> q({N * 3, N}); for (auto &x : q.ops[0]) x = Num<T>::of(1, 0); q.go((t + "tbsv" + w).c_str(), [&](T, T) { return tbsv(p, U[u], OP[o], D, n, 2, q[0], 3, q[1], 1); }, false); }
        for (int s = 0; s < 2; s++) { Problem<T> q({M, M}); diagonal(q); q.go((t + "trsm" + w + "lr"[s]).c_str(), [&](T al, T) { return trsm(p, s ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT, U[u], OP[o], D, n, n, P(&al), q[0], n, q[1], n); }); }
    }
}
struct Open { Open() { S0(cublasCreate(&h)); } ~Open() { S0(cublasDestroy(h)); } };
CASE(l1) { Open o; level1<float>("s"); level1<double>("d"); level1<cf>("c"); level1<cd>("z"); }
CASE(l2_s) { Open o; level2<float>("s", 5); level2r<float>("s", 5); }
CASE(l2_d) { Open o; level2<double>("d", 5); level2r<double>("d", 5); }
CASE(l2_c) { Open o; level2<cf>("c", 5); level2c<cf>("c", 5); }
CASE(l2_z) { Open o; level2<cd>("z", 5); level2c<cd>("z", 5); }
CASE(l2_s_large) { Open o; level2<float>("s", 70); level2r<float>("s", 70); }
CASE(l2_z_large) { Open o; level2<cd>("z", 70); level2c<cd>("z", 70); }
CASE(l3_s) { Open o; level3<float>("s", 5); }
CASE(l3_d) { Open o; level3<double>("d", 5); }
CASE(l3_c) { Open o; level3<cf>("c", 5); level3c<cf>("c", 5); }
CASE(l3_z) { Open o; level3<cd>("z", 5); level3c<cd>("z", 5); }
CASE(l3_s_large) { Open o; level3<float>("s", 70); }
CASE(l3_d_large) { Open o; level3<double>("d", 70); }
CASE(l3_c_large) { Open o; level3<cf>("c", 70); level3c<cf>("c", 70); }
CASE(solves) { Open o; solves<float>("s", 5); solves<double>("d", 5); solves<cf>("c", 5); solves<cd>("z", 5); }
CASE(solves_large) { Open o; solves<float>("s", 40); solves<cd>("z", 40); }
