/* Parameters of MTGP32 of period 2^11213 - 1 (heddle/mtgp32_parameters.def). */
#ifndef CURAND_MTGP32DC_P_11213_H
#define CURAND_MTGP32DC_P_11213_H

#include "curand_mtgp32.h"

/* Sums of entries 1, 2, 4 and 8, and of what is put to all of them: as a float, the tempering's is
 * of a mantissa. */
#define HEDDLE_MTGP_TABLE(a, b, c, d, of)                                                                              \
    {of(0),                                                                                                            \
     of(a),                                                                                                            \
     of(b),                                                                                                            \
     of((a) ^ (b)),                                                                                                    \
     of(c),                                                                                                            \
     of((a) ^ (c)),                                                                                                    \
     of((b) ^ (c)),                                                                                                    \
     of((a) ^ (b) ^ (c)),                                                                                              \
     of(d),                                                                                                            \
     of((a) ^ (d)),                                                                                                    \
     of((b) ^ (d)),                                                                                                    \
     of((a) ^ (b) ^ (d)),                                                                                              \
     of((c) ^ (d)),                                                                                                    \
     of((a) ^ (c) ^ (d)),                                                                                              \
     of((b) ^ (c) ^ (d)),                                                                                              \
     of((a) ^ (b) ^ (c) ^ (d))}
#define HEDDLE_MTGP_ENTRY(x)    (x)
#define HEDDLE_MTGP_MANTISSA(x) (0x3f800000u | (x) >> 9)
static mtgp32_params_fast_t mtgp32dc_params_fast_11213[] __attribute__((unused)) = {
#define MTGP32(position, shift1, shift2, r1, r2, r4, r8, t1, t2, t4, t8)                                               \
    {MTGPDC_MEXP,                                                                                                      \
     position,                                                                                                         \
     shift1,                                                                                                           \
     shift2,                                                                                                           \
     HEDDLE_MTGP_TABLE(r1, r2, r4, r8, HEDDLE_MTGP_ENTRY),                                                             \
     HEDDLE_MTGP_TABLE(t1, t2, t4, t8, HEDDLE_MTGP_ENTRY),                                                             \
     HEDDLE_MTGP_TABLE(t1, t2, t4, t8, HEDDLE_MTGP_MANTISSA),                                                          \
     0xfff80000u,                                                                                                      \
     {0}},
#include "heddle/mtgp32_parameters.def"
#undef MTGP32
};
#undef HEDDLE_MTGP_TABLE
#undef HEDDLE_MTGP_ENTRY
#undef HEDDLE_MTGP_MANTISSA

#endif
