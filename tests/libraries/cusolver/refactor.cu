/* cuSOLVER: LU of sparse matrices on the host, and cusolverRf, which goes on with its factors.
 * nvcc -std=c++17 -arch=sm_90 refactor.cu -lcusolver -lcusparse */
#include "solvercase.h"
#include <cusolverRf.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>

typedef std::vector<int> I;
typedef std::vector<double> R;
struct Csr { int n; I p, i; R x; int nnz() const { return (int)i.size(); } };
static Csr make(int n, int kind, unsigned state)
{
    auto random = [&] { state = state * 1664525u + 1013904223u; return state >> 8; };
    Csr m{n, {0}, {}, {}};
    for (int r = 0; r < n; r++) {
        for (int c = 0; c < n; c++) {
            bool in = false; double v = 0;
            switch (kind) {
            case 0: in = r == c || random() % 4 == 0; v = (int)(random() % 19) - 9; if (r == c) v = 20 + r; break;
            case 1: in = r == c || random() % 5 == 0; v = (int)(random() % 19) - 9; break;
            case 2: in = abs(r - c) <= 1; v = r == c ? 4 : -1; break;
            default: in = c == (r + 1) % n || random() % 6 == 0; v = (int)(random() % 9) + 1;
            }
            if (in) { m.i.push_back(c); m.x.push_back(v); }
        }
        m.p.push_back((int)m.i.size());
    }
    return m;
}
template <class V> static std::string list(const V &v)
{
    std::string s; char t[32];
    for (auto x : v) { snprintf(t, sizeof t, "%.3g,", (double)x); s += t; }
    return s;
}
static double residual(const Csr &m, const R &x, const R &b, const R &values)
{
    double worst = 0;
    for (int r = 0; r < m.n; r++) {
        double t = b[r];
        for (int k = m.p[r]; k < m.p[r + 1]; k++) t -= values[k] * x[m.i[k]];
        worst = std::max(worst, fabs(t));
    }
    return worst;
}
struct Lu { I P, Q, Lp, Li, Up, Ui; R Lx, Ux; };
static R counting(int n) { R b; for (int k = 0; k < n; k++) b.push_back(k + 1); return b; }
static void factor(const Csr &m, double threshold, Lu &f, bool tell)
{
    cusolverSpHandle_t h; cusparseMatDescr_t d; csrluInfoHost_t info; size_t a = 0, b = 0; int position = -7, nl = -1, nu = -1;
    S0(cusolverSpCreate(&h)); cusparseCreateMatDescr(&d); S0(cusolverSpCreateCsrluInfoHost(&info));
    S0(cusolverSpXcsrluAnalysisHost(h, m.n, m.nnz(), d, m.p.data(), m.i.data(), info));
    S0(cusolverSpDcsrluBufferInfoHost(h, m.n, m.nnz(), d, m.x.data(), m.p.data(), m.i.data(), info, &a, &b));
    std::vector<char> room(b + 64); R rhs = counting(m.n), x(m.n);
    S0(cusolverSpDcsrluFactorHost(h, m.n, m.nnz(), d, m.x.data(), m.p.data(), m.i.data(), info, threshold, room.data()));
    S0(cusolverSpDcsrluZeroPivotHost(h, info, 1e-14, &position));
    S0(cusolverSpDcsrluSolveHost(h, m.n, rhs.data(), x.data(), info, room.data()));
    S0(cusolverSpXcsrluNnzHost(h, &nl, &nu, info));
    f = {I(m.n), I(m.n), I(m.n + 1), I(nl), I(m.n + 1), I(nu), R(nl), R(nu)};
    S0(cusolverSpDcsrluExtractHost(h, f.P.data(), f.Q.data(), d, f.Lx.data(), f.Lp.data(), f.Li.data(), d, f.Ux.data(), f.Up.data(), f.Ui.data(), info, room.data()));
    S0(cusolverSpDestroyCsrluInfoHost(info)); S0(cusolverSpDestroy(h));
    if (!tell) return;
    E("pivot", "%d", position); B("solved", residual(m, x, rhs, m.x) < 1e-6);
    E("P", "%s", list(f.P).c_str()); E("Q", "%s", list(f.Q).c_str()); E("L", "%s;%s;%s", list(f.Lp).c_str(), list(f.Li).c_str(), list(f.Lx).c_str());
    E("U", "%s;%s;%s", list(f.Up).c_str(), list(f.Ui).c_str(), list(f.Ux).c_str());
}
CASE(lu)
{
    Lu f;
    for (int kind = 0; kind < 4; kind++)
        for (double threshold : {1.0, 0.1}) factor(make(8, kind, 17 * kind + 3), threshold, f, true);
}
CASE(refactor)
{
    const int n = 8; Csr m = make(n, 0, 3); Lu f; factor(m, 1, f, false);
    Dev<int> p(m.p), i(m.i), P(f.P), Q(f.Q); Dev<double> room(4 * n);
    for (int alg = 0; alg < 3; alg++) {
        cusolverRfHandle_t h; S0(cusolverRfCreate(&h));
        S0(cusolverRfSetMatrixFormat(h, CUSOLVERRF_MATRIX_FORMAT_CSR, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L));
        S0(cusolverRfSetAlgs(h, (cusolverRfFactorization_t)alg, (cusolverRfTriangularSolve_t)(alg + 1)));
        S0(cusolverRfSetupHost(n, m.nnz(), m.p.data(), m.i.data(), m.x.data(), (int)f.Li.size(), f.Lp.data(), f.Li.data(), f.Lx.data(), (int)f.Ui.size(), f.Up.data(), f.Ui.data(), f.Ux.data(), f.P.data(), f.Q.data(), h));
        S0(cusolverRfAnalyze(h));
        R values = m.x; for (size_t k = 0; k < values.size(); k++) values[k] += k % 3;
        Dev<double> x(counting(n)), v(values);
        S0(cusolverRfResetValues(n, m.nnz(), p, i, v, P, Q, h)); S0(cusolverRfRefactor(h)); S0(cusolverRfSolve(h, P, Q, 1, room, n, x, n));
        B("solved", residual(m, x.get(), counting(n), values) < 1e-6);
        if (alg == 0) {
            int nnz, *mp, *mi; double *mx; S0(cusolverRfExtractBundledFactorsHost(h, &nnz, &mp, &mi, &mx));
            E("M", "%d;%s;%s;%s", nnz, list(I(mp, mp + n + 1)).c_str(), list(I(mi, mi + nnz)).c_str(), list(R(mx, mx + nnz)).c_str());
        }
        S0(cusolverRfDestroy(h));
    }
}
