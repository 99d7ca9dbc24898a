/* cuRAND: Poisson's numbers of every generator, and by every method. nvcc -std=c++17 -arch=sm_90 poisson.cu -lcurand */
#include "randcase.h"
/* The default, and what each method answers where it does not refuse. */
static void draws(curandRngType_t type)
{
    Dev<unsigned> v(4096);
    for (double lambda : {3., 5., 15., 20., 100., 1000., 5000.}) {
        { Gen g(type); S0(curandGeneratePoisson(g, v, 4096, lambda)); HB(("l" + std::to_string((int)lambda)).c_str(), v.get()); }
        if (lambda < 2000) { Gen g(type); int s = curandGeneratePoissonMethod(g, v, 4096, lambda, CURAND_3RD); if (s) E("third", "%d", s); else HB("third", v.get()); }
    }
    std::string s; for (int m : {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14}) { Gen g(type); s += std::to_string((int)curandGeneratePoissonMethod(g, v, 4096, 100, (curandMethod_t)m)) + ","; } E("methods", "%s", s.c_str());
}
CASE(xorwow) { draws(CURAND_RNG_PSEUDO_XORWOW); }
CASE(mrg32k3a) { draws(CURAND_RNG_PSEUDO_MRG32K3A); }
CASE(mtgp32) { draws(CURAND_RNG_PSEUDO_MTGP32); }
CASE(mt19937) { draws(CURAND_RNG_PSEUDO_MT19937); }
CASE(philox) { draws(CURAND_RNG_PSEUDO_PHILOX4_32_10); }
CASE(sobol32) { draws(CURAND_RNG_QUASI_SOBOL32); }
CASE(scrambled32) { draws(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32); }
CASE(sobol64) { draws(CURAND_RNG_QUASI_SOBOL64); }
CASE(scrambled64) { draws(CURAND_RNG_QUASI_SCRAMBLED_SOBOL64); }
/* All words that differ in their upper 20 bits: the borders. */
CASE(borders)
{
    Dev<unsigned> v(1 << 20);
    for (double lambda : {1., 5., 9., 9.99, 10., 10.5, 11., 15., 19.5, 20., 25., 30., 63.9, 64., 100., 333.3, 1000., 3999., 4000., 4001., 10000., 100000., 400000.}) { Gen g(CURAND_RNG_QUASI_SOBOL32); S0(curandGeneratePoisson(g, v, 1 << 20, lambda)); char k[32]; snprintf(k, sizeof k, "l%g", lambda); HB(k, v.get()); }
}
CASE(lambda)
{
    Gen g(CURAND_RNG_PSEUDO_XORWOW); Dev<unsigned> v(1000); for (double l : {0., -1., 1e-300, 400000., 400001., 1e9}) { char k[32]; snprintf(k, sizeof k, "l%g", l); E(k, "%d", (int)curandGeneratePoisson(g, v, 1000, l)); }
}
