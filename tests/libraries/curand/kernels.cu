/* cuRAND's device API: every generator, every distribution. nvcc -std=c++17 -arch=sm_90 kernels.cu -lcurand */
#include "ora.h"
#include <curand.h>
#include <curand_kernel.h>
#include <curand_mtgp32_host.h>
#include <curand_mtgp32dc_p_11213.h>
enum { THREADS = 64, DRAWS = 12 };
/* A distribution: how one draw is made of a state, as elements of a type. */
#define DIST(name, T, n, ...) struct name { typedef T type; enum { count = n }; template <class S> static __device__ void draw(S *s, T *p, curandDiscreteDistribution_t d) { (void)d; __VA_ARGS__; } };
DIST(Bits, unsigned, 1, *p = curand(s)) DIST(Bits64, unsigned long long, 1, *p = curand(s)) DIST(Uniform, float, 1, *p = curand_uniform(s)) DIST(UniformD, double, 1, *p = curand_uniform_double(s))
DIST(Normal, float, 1, *p = curand_normal(s)) DIST(NormalD, double, 1, *p = curand_normal_double(s)) DIST(LogNormal, float, 1, *p = curand_log_normal(s, 0.5f, 0.25f)) DIST(LogNormalD, double, 1, *p = curand_log_normal_double(s, 0.5, 0.25))
DIST(Normal2, float, 2, float2 v = curand_normal2(s); p[0] = v.x; p[1] = v.y) DIST(Normal2D, double, 2, double2 v = curand_normal2_double(s); p[0] = v.x; p[1] = v.y)
DIST(LogNormal2, float, 2, float2 v = curand_log_normal2(s, 0.5f, 0.25f); p[0] = v.x; p[1] = v.y) DIST(LogNormal2D, double, 2, double2 v = curand_log_normal2_double(s, 0.5, 0.25); p[0] = v.x; p[1] = v.y)
DIST(Bits4, unsigned, 4, uint4 v = curand4(s); p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w) DIST(Uniform4, float, 4, float4 v = curand_uniform4(s); p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w)
DIST(Normal4, float, 4, float4 v = curand_normal4(s); p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w) DIST(LogNormal4, float, 4, float4 v = curand_log_normal4(s, 0.5f, 0.25f); p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w)
DIST(Uniform2D, double, 2, double2 v = curand_uniform2_double(s); p[0] = v.x; p[1] = v.y)
DIST(Uniform4D, double, 4, double4 v = curand_uniform4_double(s); p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w) DIST(Normal4D, double, 4, double4 v = curand_normal4_double(s); p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w)
DIST(LogNormal4D, double, 4, double4 v = curand_log_normal4_double(s, 0.5, 0.25); p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w)
DIST(Poisson3, unsigned, 1, *p = curand_poisson(s, 3.5)) DIST(Poisson50, unsigned, 1, *p = curand_poisson(s, 50)) DIST(Poisson100, unsigned, 1, *p = curand_poisson(s, 100)) DIST(Poisson1000, unsigned, 1, *p = curand_poisson(s, 1000.5)) DIST(Poisson5000, unsigned, 1, *p = curand_poisson(s, 5000))
DIST(Poisson3x4, unsigned, 4, uint4 v = curand_poisson4(s, 3.5); p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w) DIST(Poisson5000x4, unsigned, 4, uint4 v = curand_poisson4(s, 5000); p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w) DIST(Poisson100x4, unsigned, 4, uint4 v = curand_poisson4(s, 100); p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w)
DIST(Discrete, unsigned, 1, *p = curand_discrete(s, d)) DIST(Discrete4, unsigned, 4, uint4 v = curand_discrete4(s, d); p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w)
/* A generator: how a thread's state begins. */
static __device__ unsigned dirs32[8][32], consts32[8];
static __device__ unsigned long long dirs64[8][64], consts64[8];
static __device__ void begin(curandStateXORWOW_t *s, int t) { curand_init(1234ull + (t / 16), t % 16, t, s); }
static __device__ void begin(curandStatePhilox4_32_10_t *s, int t) { curand_init(1234567890123ull + (t / 16), t % 16, t, s); }
static __device__ void begin(curandStateMRG32k3a_t *s, int t) { curand_init(99ull + (t / 16), t % 16, t * 3, s); }
static __device__ void begin(curandStateSobol32_t *s, int t) { curand_init(dirs32[t % 8], 1000 * t, s); }
static __device__ void begin(curandStateScrambledSobol32_t *s, int t) { curand_init(dirs32[t % 8], consts32[t % 8], 1000 * t, s); }
static __device__ void begin(curandStateSobol64_t *s, int t) { curand_init(dirs64[t % 8], 1000ull * t, s); }
static __device__ void begin(curandStateScrambledSobol64_t *s, int t) { curand_init(dirs64[t % 8], consts64[t % 8], 1000ull * t, s); }
template <class S, class D> __global__ void draw(typename D::type *p, curandDiscreteDistribution_t d)
{
    S s; begin(&s, threadIdx.x);
    for (int i = 0; i < DRAWS; i++) D::draw(&s, p + (threadIdx.x * DRAWS + i) * D::count, d);
}
template <class S, class D> static void show(const char *key, curandDiscreteDistribution_t d = 0)
{
    Dev<typename D::type> v(THREADS * DRAWS * D::count); draw<S, D><<<1, THREADS>>>(v.p, d); CU(cudaGetLastError()); HB(key, v.get());
}
#define SHOW(S, D) show<S, D>(#D)
template <class S> static void all()
{
    SHOW(S, Uniform); SHOW(S, UniformD); SHOW(S, Normal); SHOW(S, NormalD); SHOW(S, LogNormal); SHOW(S, LogNormalD); SHOW(S, Poisson3); SHOW(S, Poisson50); SHOW(S, Poisson5000);
    for (double l : {3.5, 100., 5000.}) { curandDiscreteDistribution_t d; S0(curandCreatePoissonDistribution(l, &d)); show<S, Discrete>("Discrete", d); S0(curandDestroyDistribution(d)); }
}
template <class S> static void middle() { SHOW(S, Poisson100); SHOW(S, Poisson1000); }
static void directions(bool scrambled)
{
    curandDirectionVectors32_t *v; curandDirectionVectors64_t *w; unsigned *c; unsigned long long *e;
    S0(curandGetDirectionVectors32(&v, scrambled ? CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6 : CURAND_DIRECTION_VECTORS_32_JOEKUO6)); S0(curandGetDirectionVectors64(&w, scrambled ? CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6 : CURAND_DIRECTION_VECTORS_64_JOEKUO6));
    S0(curandGetScrambleConstants32(&c)); S0(curandGetScrambleConstants64(&e));
    CU(cudaMemcpyToSymbol(dirs32, v, sizeof dirs32)); CU(cudaMemcpyToSymbol(dirs64, w, sizeof dirs64)); CU(cudaMemcpyToSymbol(consts32, c, sizeof consts32)); CU(cudaMemcpyToSymbol(consts64, e, sizeof consts64));
}
CASE(xorwow) { SHOW(curandStateXORWOW_t, Bits); all<curandStateXORWOW_t>(); SHOW(curandStateXORWOW_t, Normal2); SHOW(curandStateXORWOW_t, Normal2D); SHOW(curandStateXORWOW_t, LogNormal2); SHOW(curandStateXORWOW_t, LogNormal2D); }
CASE(mrg32k3a) { SHOW(curandStateMRG32k3a_t, Bits); all<curandStateMRG32k3a_t>(); SHOW(curandStateMRG32k3a_t, Normal2); SHOW(curandStateMRG32k3a_t, Normal2D); SHOW(curandStateMRG32k3a_t, LogNormal2); SHOW(curandStateMRG32k3a_t, LogNormal2D); }
CASE(philox)
{
    typedef curandStatePhilox4_32_10_t S; SHOW(S, Bits); all<S>(); SHOW(S, Normal2); SHOW(S, Normal2D); SHOW(S, LogNormal2); SHOW(S, LogNormal2D); SHOW(S, Bits4); SHOW(S, Uniform4); SHOW(S, Normal4); SHOW(S, LogNormal4); SHOW(S, Uniform2D); SHOW(S, Uniform4D); SHOW(S, Normal4D); SHOW(S, LogNormal4D); SHOW(S, Poisson3x4); SHOW(S, Poisson5000x4);
    curandDiscreteDistribution_t d; S0(curandCreatePoissonDistribution(7, &d)); show<S, Discrete4>("Discrete4", d); S0(curandDestroyDistribution(d));
}
CASE(sobol32) { directions(false); SHOW(curandStateSobol32_t, Bits); all<curandStateSobol32_t>(); }
CASE(scrambled32) { directions(true); SHOW(curandStateScrambledSobol32_t, Bits); all<curandStateScrambledSobol32_t>(); }
CASE(sobol64) { directions(false); SHOW(curandStateSobol64_t, Bits64); all<curandStateSobol64_t>(); }
CASE(scrambled64) { directions(true); SHOW(curandStateScrambledSobol64_t, Bits64); all<curandStateScrambledSobol64_t>(); }
CASE(middle) { directions(false); middle<curandStateXORWOW_t>(); middle<curandStateMRG32k3a_t>(); middle<curandStatePhilox4_32_10_t>(); SHOW(curandStatePhilox4_32_10_t, Poisson100x4); middle<curandStateSobol32_t>(); middle<curandStateSobol64_t>(); }
/* What is skipped is what would have been drawn. */
template <class S> __global__ void skip(unsigned long long *p)
{
    S s; begin(&s, 3); skipahead(5, &s); p[0] = curand(&s); skipahead(1000003, &s); p[1] = curand(&s); curand_uniform(&s); skipahead(7, &s); p[2] = curand(&s); curand_normal(&s); skipahead(2, &s); p[3] = curand(&s);
}
template <class S> __global__ void skip_sequence(unsigned long long *p) { S s; begin(&s, 3); skipahead_sequence(3, &s); p[0] = curand(&s); skipahead(9, &s); p[1] = curand(&s); }
__global__ void skip_subsequence(unsigned long long *p) { curandStateMRG32k3a_t s; begin(&s, 3); skipahead_subsequence(3, &s); p[0] = curand(&s); skipahead_sequence(2, &s); p[1] = curand(&s); skipahead(1ull << 40, &s); p[2] = curand(&s); }
template <class K> static void skipped(const char *key, K kernel, int n) { Dev<unsigned long long> v(4); kernel<<<1, 1>>>(v.p); auto x = v.get(); std::string s; char w[32]; for (int i = 0; i < n; i++) snprintf(w, sizeof w, "%s%llx", i ? "," : "", x[i]), s += w; E(key, "%s", s.c_str()); }
CASE(skips)
{
    directions(false); skipped("xorwow", skip<curandStateXORWOW_t>, 4); skipped("mrg", skip<curandStateMRG32k3a_t>, 4); skipped("philox", skip<curandStatePhilox4_32_10_t>, 4); skipped("sobol32", skip<curandStateSobol32_t>, 4); skipped("sobol64", skip<curandStateSobol64_t>, 4); skipped("xorwow_s", skip_sequence<curandStateXORWOW_t>, 2); skipped("philox_s", skip_sequence<curandStatePhilox4_32_10_t>, 2); skipped("mrg_s", skip_sequence<curandStateMRG32k3a_t>, 2); skipped("mrg_ss", skip_subsequence, 3);
    directions(true); skipped("scrambled32", skip<curandStateScrambledSobol32_t>, 4); skipped("scrambled64", skip<curandStateScrambledSobol64_t>, 4);
}
/* MTGP32: a block's threads share a state. */
template <class D> __global__ void draw_block(curandStateMtgp32 *s, typename D::type *p, curandDiscreteDistribution_t d)
{
    for (int i = 0; i < DRAWS; i++) D::draw(s + blockIdx.x, p + ((blockIdx.x * DRAWS + i) * blockDim.x + threadIdx.x) * D::count, d);
}
__global__ void specific(curandStateMtgp32 *s, unsigned *p) { for (int i = 0; i < 4; i++) if (threadIdx.x < 100) p[i * 100 + threadIdx.x] = curand_mtgp32_specific(s, threadIdx.x, 100); }
struct Mtgp {
    Dev<curandStateMtgp32> s{8}; Dev<mtgp32_kernel_params> k{1};
    Mtgp(unsigned long long seed = 1234) { S0(curandMakeMTGP32Constants(mtgp32dc_params_fast_11213, k.p)); S0(curandMakeMTGP32KernelState(s.p, mtgp32dc_params_fast_11213, k.p, 8, seed)); }
};
template <class D> static void show_block(const char *key, int threads = 256, curandDiscreteDistribution_t d = 0) { Mtgp m; Dev<typename D::type> v(8 * threads * DRAWS * D::count); draw_block<D><<<8, threads>>>(m.s.p, v.p, d); CU(cudaGetLastError()); HB(key, v.get()); }
#define SHOWB(D) show_block<D>(#D)
CASE(mtgp32)
{
    SHOWB(Bits); show_block<Bits>("Bits64threads", 64); show_block<Bits>("Bits32threads", 32); SHOWB(Uniform); SHOWB(UniformD); SHOWB(Normal); SHOWB(NormalD); SHOWB(LogNormal); SHOWB(LogNormalD);
    { Mtgp m(77); Dev<unsigned> v(400); specific<<<1, 128>>>(m.s.p, v.p); CU(cudaGetLastError()); HB("specific", v.get()); }
    curandDiscreteDistribution_t d; S0(curandCreatePoissonDistribution(7, &d)); show_block<Discrete>("Discrete", 256, d); S0(curandDestroyDistribution(d));
    SHOWB(Poisson3); SHOWB(Poisson5000);
}
CASE(sizes) { E("sizes", "%zu,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%zu", sizeof(curandStateXORWOW_t), sizeof(curandStatePhilox4_32_10_t), sizeof(curandStateMRG32k3a_t), sizeof(curandStateSobol32_t), sizeof(curandStateScrambledSobol32_t), sizeof(curandStateSobol64_t), sizeof(curandStateScrambledSobol64_t), sizeof(curandStateMtgp32), sizeof(mtgp32_kernel_params), sizeof(mtgp32_params_fast)); }
