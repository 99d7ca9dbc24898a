/* Every distribution of every generator, on the device and on the host. nvcc -std=c++17 -arch=sm_90 draws.cu -lcurand */
#include "randcase.h"
#define ALLP CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MTGP32, CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_PSEUDO_PHILOX4_32_10
#define QUASI CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, CURAND_RNG_QUASI_SOBOL64, CURAND_RNG_QUASI_SCRAMBLED_SOBOL64
template <class F> static void each(F f) { for (auto t : {ALLP, QUASI}) f(t); }
static std::string k(curandRngType_t t, const char *s) { return std::string(gen_name(t)) + "_" + s; }

CASE(uniform) { each([](auto t) { Gen g(t); draw_hash<float>(k(t, "f"), g, 10000, UNI); draw_hash<double>(k(t, "d"), g, 5000, UNID); }); }
CASE(normal) { each([](auto t) { Gen g(t); draw_hash<float>(k(t, "f"), g, 10000, NORM); draw_hash<double>(k(t, "d"), g, 5000, NORMD); }); }
CASE(offsets) { each([](auto t) { Gen g(t); int s = curandSetGeneratorOffset(g, 12345); E(k(t, "s").c_str(), "%d", s); if (!s) { if (t >= 203) draw_hash<unsigned long long>(k(t, "b"), g, 3000, BITS64); else draw_hash<unsigned>(k(t, "b"), g, 3000, BITS); draw_hash<double>(k(t, "d"), g, 300, UNID); } }); }
CASE(host_normals) { each([](auto t) { Gen g(t, true); draw_hash<float>(k(t, "n"), g, 3000, NORM); draw_hash<double>(k(t, "nd"), g, 3000, NORMD); draw_hash<float>(k(t, "l"), g, 1000, LOGN); draw_hash<double>(k(t, "ld"), g, 1000, LOGND); draw_hash<unsigned>(k(t, "p"), g, 1000, [](curandGenerator_t g, unsigned *p, size_t n) { return curandGeneratePoisson(g, p, n, 11.5); }); }); }
CASE(odd) { each([](auto t) { Gen g(t); std::string s; for (int n : {1, 7, 0}) { Dev<double> d(16); s += std::to_string((int)curandGenerateNormal(g, d.as<float>(), n, 0, 1)) + ","; s += std::to_string((int)curandGenerateNormalDouble(g, d, n, 0, 1)) + ","; s += std::to_string((int)curandGenerateLogNormal(g, d.as<float>(), n, 0, 1)) + ","; s += std::to_string((int)curandGenerateUniform(g, d.as<float>(), n)) + ","; s += std::to_string((int)curandGeneratePoisson(g, d.as<unsigned>(), n, 3)) + ","; } E(gen_name(t), "%s", s.c_str()); }); }
/* A draw on the host begins at the position's lower half. */
CASE(beyond)
{
    for (auto type : {CURAND_RNG_QUASI_SOBOL64, CURAND_RNG_QUASI_SCRAMBLED_SOBOL64})
        for (unsigned long long offset : {(1ull << 32) - 2, (1ull << 32) + 5, (1ull << 40) + 12345, ~0ull - 10})
            for (int twice = 0; twice < 2; twice++) {
                Gen g(type, true);
                S0(curandSetQuasiRandomGeneratorDimensions(g, 2)); S0(curandSetGeneratorOffset(g, offset));
                std::vector<unsigned long long> v(8);
                for (int draw = 0; draw <= twice; draw++) S0(curandGenerateLongLong(g, v.data(), 8));
                HB("v", v);
            }
}

/* Draws while a stream captures: the first one of these generators allocates states, and a kernel computes them. */
static void captured(curandRngType_t t, const char *key, cudaStreamCaptureMode mode, bool seeds)
{
    cudaStream_t s; cudaGraph_t graph = nullptr; Dev<double> d(4096); Gen g(t); auto draw = [&] { return (int)(t < 203 ? curandGenerate(g, d.as<unsigned>(), 100) : curandGenerateLongLong(g, d.as<unsigned long long>(), 100)); };
    CU(cudaStreamCreate(&s)); S0(curandSetStream(g, s)); if (seeds) S0(curandGenerateSeeds(g));
    CU(cudaStreamBeginCapture(s, mode)); int first = draw(), second = draw(), end = cudaStreamEndCapture(s, &graph); cudaGetLastError();
    E(k(t, key).c_str(), "%d,%d,%d,%d", first, second, end, draw());
}
CASE(captures)
{
    each([](auto t) { captured(t, "global", cudaStreamCaptureModeGlobal, false); captured(t, "relaxed", cudaStreamCaptureModeRelaxed, false); captured(t, "seeds", cudaStreamCaptureModeGlobal, true); });
    cudaStream_t s; cudaGraph_t graph; curandGenerator_t g; CU(cudaStreamCreate(&s)); CU(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    int created = curandCreateGenerator(&g, CURAND_RNG_PSEUDO_XORWOW), end = cudaStreamEndCapture(s, &graph); cudaGetLastError(); E("created", "%d,%d", created, end);
}
/* Kernels write elements whole, and the normal numbers of XORWOW and MRG32k3a in pairs. */
static void misaligned(curandRngType_t t, bool normal, int bytes)
{
    Gen g(t); Dev<double> d(4096); char *at = d.as<char>() + bytes;
    int s = normal ? curandGenerateNormal(g, (float *)at, 100, 0, 1) : curandGenerate(g, (unsigned *)at, 100); E("s", "%d,%d", s, (int)cudaDeviceSynchronize());
}
CASE(misaligned_pair) { misaligned(CURAND_RNG_PSEUDO_MRG32K3A, true, 4); }
CASE(misaligned_one) { misaligned(CURAND_RNG_PSEUDO_MTGP32, true, 4); }
CASE(misaligned_bits) { misaligned(CURAND_RNG_PSEUDO_PHILOX4_32_10, false, 2); }
CASE(misaligned_copy) { misaligned(CURAND_RNG_PSEUDO_MT19937, false, 2); }
