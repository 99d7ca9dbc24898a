/* Statuses of wrong arguments, and of right ones beside them: what an H200 answered to each. */
#include "fftcase.h"
static std::string codes;
__attribute__((noinline)) static void ST(int status) { codes += std::to_string(status) + ","; }
struct F { Dev<cd> a{4096}, b{4096}; cufftHandle p = 0; size_t n = 77; int d2[2] = {8, 8}, d1[1] = {16}; int e2[2] = {8, 8}; long long l1[1] = {16}, l2[2] = {8, 8}; };

CASE(plans)
{
    codes.clear();
    // An H200's answer was recorded with one element in z, and read what lay behind it: -2 stands for that.
    F c; int z[2] = {0, -2}, neg[1] = {-2}; int small[2] = {8, 7}; int big4[4] = {2, 2, 2, 2};
    ST(cufftPlan2d(&c.p, 0, 4, CUFFT_C2C));
    ST(cufftPlan2d(&c.p, 4, -1, CUFFT_C2C));
    ST(cufftPlan2d(&c.p, 4, 4, (cufftType)1));
    ST(cufftPlan2d(0, 4, 4, CUFFT_C2C));
    ST(cufftPlan3d(&c.p, 4, 4, 0, CUFFT_C2C));
    ST(cufftPlan3d(0, 4, 4, 4, CUFFT_C2C));
    ST(cufftPlan1d(&c.p, 16, CUFFT_C2C, -1));
    ST(cufftPlanMany(&c.p, 0, c.d1, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1));
    ST(cufftPlanMany(&c.p, 4, big4, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1));
    ST(cufftPlanMany(&c.p, -1, c.d1, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1));
    ST(cufftPlanMany(&c.p, 1, 0, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1));
    ST(cufftPlanMany(&c.p, 1, z, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1));
    ST(cufftPlanMany(&c.p, 1, neg, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1));
    ST(cufftPlanMany(&c.p, 1, c.d1, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 0));
    ST(cufftPlanMany(&c.p, 1, c.d1, c.e2, 0, 16, c.e2, 1, 16, CUFFT_C2C, 2));
    ST(cufftPlanMany(&c.p, 1, c.d1, c.e2, -1, 16, c.e2, 1, 16, CUFFT_C2C, 2));
    ST(cufftPlanMany(&c.p, 1, c.d1, c.e2, 1, 0, c.e2, 1, 16, CUFFT_C2C, 2));
    ST(cufftPlanMany(&c.p, 1, c.d1, c.e2, 1, -16, c.e2, 1, 16, CUFFT_C2C, 2));
    ST(cufftPlanMany(&c.p, 1, c.d1, c.d1, 1, 16, 0, 1, 16, CUFFT_C2C, 2));
    ST(cufftPlanMany(&c.p, 1, c.d1, 0, 1, 16, c.d1, 1, 16, CUFFT_C2C, 2));
    ST(cufftPlanMany(&c.p, 2, c.d2, small, 1, 64, small, 1, 64, CUFFT_C2C, 1));
    ST(cufftPlanMany(&c.p, 2, c.d2, z, 1, 64, small, 1, 64, CUFFT_C2C, 1));
    ST(cufftPlanMany(&c.p, 2, c.d2, 0, 5, 3, 0, 7, 2, CUFFT_C2C, 1));
    ST(cufftPlanMany(&c.p, 1, c.d1, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1));
    ST(cufftCreate(0));
    cufftHandle q;
    ST(cufftCreate(&q));
    ST(cufftMakePlan1d(q, 0, CUFFT_C2C, 1, &c.n));
    ST(cufftMakePlan1d(q, 16, CUFFT_C2C, 1, 0));
    ST(cufftMakePlan1d(q, 16, CUFFT_C2C, 1, &c.n));
    ST(cufftMakePlan1d(q, 16, CUFFT_C2C, 1, &c.n));
    ST(cufftMakePlan1d(9999, 16, CUFFT_C2C, 1, &c.n));
    cufftHandle r; S0(cufftCreate(&r));
    ST(cufftMakePlanMany64(r, 1, c.l1, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 0, &c.n));
    ST(cufftMakePlanMany64(r, 5, c.l1, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1, &c.n));
    ST(cufftMakePlanMany64(r, 1, c.l1, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1, &c.n));
    cufftHandle t; S0(cufftCreate(&t));
    ST(cufftMakePlan2d(t, 8, 0, CUFFT_C2C, &c.n));
    ST(cufftMakePlan2d(t, 8, 8, CUFFT_R2C, &c.n));
    ST(cufftEstimate1d(16, CUFFT_C2C, 1, &c.n));
    ST(cufftEstimate1d(0, CUFFT_C2C, 1, &c.n));
    ST(cufftEstimate1d(16, (cufftType)1, 1, &c.n));
    ST(cufftEstimate1d(16, CUFFT_C2C, 0, &c.n));
    ST(cufftEstimate1d(16, CUFFT_C2C, 1, 0));
    ST(cufftEstimate2d(8, 0, CUFFT_C2C, &c.n));
    ST(cufftEstimate2d(8, 8, CUFFT_C2C, &c.n));
    ST(cufftEstimate3d(8, 8, 8, CUFFT_C2C, &c.n));
    ST(cufftEstimateMany(1, c.d1, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1, &c.n));
    ST(cufftEstimateMany(4, big4, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1, &c.n));
    cufftHandle u; S0(cufftCreate(&u));
    ST(cufftGetSize(u, &c.n));
    ST(cufftGetSize1d(u, 16, CUFFT_C2C, 1, &c.n));
    ST(cufftGetSize1d(9999, 16, CUFFT_C2C, 1, &c.n));
    ST(cufftGetSize1d(u, 0, CUFFT_C2C, 1, &c.n));
    ST(cufftGetSizeMany(u, 1, c.d1, 0, 1, 16, 0, 1, 16, CUFFT_C2C, 1, &c.n));
    ST(cufftGetSize(q, 0));
    ST(cufftGetSize(q, &c.n));
    ST(cufftGetSize(9999, &c.n));
    ST(cufftSetStream(9999, 0));
    ST(cufftSetStream(u, 0));
    ST(cufftSetWorkArea(9999, c.a));
    ST(cufftSetWorkArea(u, c.a));
    ST(cufftSetWorkArea(q, 0));
    ST(cufftSetWorkArea(q, c.a));
    ST(cufftSetAutoAllocation(9999, 0));
    ST(cufftSetAutoAllocation(u, 0));
    ST(cufftSetAutoAllocation(q, 0));
    ST(cufftSetAutoAllocation(q, 7));
    int v;
    ST(cufftGetVersion(0));
    ST(cufftGetVersion(&v));
    ST(cufftGetProperty((libraryPropertyType)9, &v));
    ST(cufftGetProperty(MAJOR_VERSION, 0));
    ST(cufftGetProperty(MAJOR_VERSION, &v));
    cufftHandle big;
    ST(cufftPlan1d(&big, 1 << 30, CUFFT_C2C, 8));
    S0(cufftCreate(&u));
    ST(cufftSetPlanPropertyInt64(u, (cufftProperty)1, 1));
    ST(cufftSetPlanPropertyInt64(u, (cufftProperty)77, 1));
    long long pv;
    ST(cufftGetPlanPropertyInt64(u, (cufftProperty)1, &pv));
    ST(cufftResetPlanProperty(u, (cufftProperty)1));
    ST(cufftSetPlanPropertyInt64(9999, (cufftProperty)1, 1));
    E("codes", "%s", codes.c_str());
}

/* A plan that is made while a stream captures: tables are put into the device's memory. */
template <class F> static void captured(const char *key, cudaStreamCaptureMode mode, F make)
{
    cudaStream_t s; cudaGraph_t g = nullptr;
    CU(cudaStreamCreate(&s)); CU(cudaStreamBeginCapture(s, mode));
    int made = make(), end = cudaStreamEndCapture(s, &g), last = cudaGetLastError();
    E(key, "%d,%d,%d", made, end, last);
    CU(cudaStreamDestroy(s));
}
CASE(captures)
{
    cufftHandle p, q; size_t n; S0(cufftCreate(&q));
    captured("short", cudaStreamCaptureModeGlobal, [&] { return cufftPlan1d(&p, 16, CUFFT_C2C, 1); });
    captured("prime", cudaStreamCaptureModeGlobal, [&] { return cufftPlan1d(&p, 100003, CUFFT_C2C, 1); });
    captured("relaxed", cudaStreamCaptureModeRelaxed, [&] { return cufftPlan1d(&p, 16, CUFFT_C2C, 1); });
    captured("made", cudaStreamCaptureModeGlobal, [&] { S0(cufftSetAutoAllocation(q, 0)); return cufftMakePlan2d(q, 16, 8, CUFFT_C2C, &n); });
    captured("created", cudaStreamCaptureModeGlobal, [&] { S0(cufftDestroy(q)); return cufftCreate(&q); });
}
/* Work areas of 137, 644 and 550 GB. */
CASE(huge)
{
    cufftHandle p; size_t n = 0; long long l = 1ll << 33; int r = cufftPlan1d(&p, 1 << 27, CUFFT_Z2Z, 64);
    E("fits", "%d", r); E("large", "%d", (int)cufftPlan1d(&p, 100000007, CUFFT_Z2Z, 100));
    S0(cufftCreate(&p)); S0(cufftSetAutoAllocation(p, 0)); E("own", "%d", (int)cufftMakePlan1d(p, 100000007, CUFFT_Z2Z, 100, &n));
    S0(cufftCreate(&p)); r = cufftMakePlanMany64(p, 1, &l, nullptr, 1, 0, nullptr, 1, 0, CUFFT_Z2Z, 4, &n); E("many", "%d,%zu", r, n);
}
