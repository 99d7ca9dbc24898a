/* cuRAND: CURAND_ORDERING_PSEUDO_DYNAMIC on 132 multiprocessors, a draw and the next. nvcc -std=c++17 -arch=sm_90 dynamic.cu -lcurand */
#include "randcase.h"
static void draws(curandRngType_t type)
{
    for (size_t n : {1000ul, 10000ul, 300000ul, 600000ul, 1000000ul}) {
        Gen g(type); S0(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_DYNAMIC)); Dev<unsigned> v(n), w(100000);
        S0(curandGenerate(g, v, n)); S0(curandGenerate(g, w, 100000)); HB(("n" + std::to_string(n)).c_str(), v.get()); HB("then", w.get());
    }
}
CASE(xorwow) { draws(CURAND_RNG_PSEUDO_XORWOW); }
CASE(mrg32k3a) { draws(CURAND_RNG_PSEUDO_MRG32K3A); }
CASE(philox) { draws(CURAND_RNG_PSEUDO_PHILOX4_32_10); }
CASE(distributions)
{
    const size_t n = 600000; auto gen = [](Gen &g) { S0(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_DYNAMIC)); };
    { Gen g(CURAND_RNG_PSEUDO_XORWOW); gen(g); Dev<double> v(n); S0(curandGenerateUniformDouble(g, v, n)); HB("uniform_double", v.get()); }
    { Gen g(CURAND_RNG_PSEUDO_XORWOW); gen(g); Dev<unsigned> v(n); S0(curandGeneratePoisson(g, v, n, 3)); HB("poisson", v.get()); }
}
