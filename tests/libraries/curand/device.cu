/* The device API's generators, and what the host gives them. */
#include "randcase.h"
__global__ void draw_mrg(unsigned *p) { curandStateMRG32k3a_t s; curand_init(1234ull, 5ull, 0ull, &s); for (int i = 0; i < 4; i++) p[i] = curand(&s); }
__global__ void draw_sobol(unsigned *v, unsigned *p) { curandStateSobol32_t s; curand_init(v, 1u, &s); for (int i = 0; i < 4; i++) p[i] = curand(&s); }
CASE(mrg32k3a)
{
    Dev<unsigned> d(4); draw_mrg<<<1, 1>>>(d); auto v = d.get(); E("bits", "%08x,%08x,%08x,%08x", v[0], v[1], v[2], v[3]);
}
CASE(sobol32)
{
    curandDirectionVectors32_t *v; S0(curandGetDirectionVectors32(&v, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
    Dev<unsigned> d(4), w(32); CU(cudaMemcpy(w, v[1], 128, cudaMemcpyHostToDevice)); draw_sobol<<<1, 1>>>(w, d); auto x = d.get(); E("bits", "%08x,%08x,%08x,%08x", x[0], x[1], x[2], x[3]);
}
CASE(directions)
{
    curandDirectionVectors32_t *v; curandDirectionVectors64_t *w;
    S0(curandGetDirectionVectors32(&v, CURAND_DIRECTION_VECTORS_32_JOEKUO6)); S0(curandGetDirectionVectors64(&w, CURAND_DIRECTION_VECTORS_64_JOEKUO6));
    H("v32", v, 20000 * sizeof *v); H("v64", w, 20000 * sizeof *w); E("wrong", "%d", (int)curandGetDirectionVectors32(&v, CURAND_DIRECTION_VECTORS_64_JOEKUO6));
}
