/* cuRAND: what the host is told of Sobol's sequences, all 20,000 dimensions of each set. nvcc -std=c++17 vectors.cu -lcurand */
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
