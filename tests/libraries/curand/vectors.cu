/* cuRAND: what the host is told of Sobol's sequences, all 20,000 dimensions of each set; which generators of the host's begin anew with their
 * seeds. nvcc -std=c++17 vectors.cu -lcurand */
#include "randcase.h"
enum { DIMENSIONS = 20000 };
#define SET(width, prefix)                                                                                             \
    curandDirectionVectors##width##_t *v;                                                                              \
    S0(curandGetDirectionVectors##width(&v, CURAND_##prefix##DIRECTION_VECTORS_##width##_JOEKUO6));                    \
    H("vectors", v, DIMENSIONS * sizeof *v)
CASE(sobol32)
{
    SET(32, );
}
CASE(sobol64)
{
    SET(64, );
}
CASE(scrambled32)
{
    SET(32, SCRAMBLED_);
    unsigned *constants;
    S0(curandGetScrambleConstants32(&constants));
    H("constants", constants, DIMENSIONS * sizeof *constants);
}
CASE(scrambled64)
{
    SET(64, SCRAMBLED_);
    unsigned long long *constants;
    S0(curandGetScrambleConstants64(&constants));
    H("constants", constants, DIMENSIONS * sizeof *constants);
}
CASE(seeds)
{
    for (curandRngType_t type : {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MTGP32,
                                 CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_QUASI_SOBOL32}) {
        Gen g(type, true);
        float before[8], after[8];
        S0(curandGenerateUniform(g, before, 8));
        S0(curandGenerateSeeds(g));
        S0(curandGenerateUniform(g, after, 8));
        E(gen_name(type), "%d", !memcmp(before, after, sizeof before));
    }
}
