/* Complex numbers as vectors of two: cuFloatComplex is float2, cuDoubleComplex double2; on host and
 * device. Absolute values and quotients do not overflow in between. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "vector_types.h"

#define HEDDLE_COMPLEX static __inline__ __host__ __device__ HEDDLE_NODEBUG

/* Names end in f for float: make_cuFloatComplex, cuCaddf; cuCadd. */
#define HEDDLE_COMPLEX_OF(Complex, T, vector, s, absolute, greatest)                                                   \
    typedef vector Complex;                                                                                            \
    HEDDLE_COMPLEX Complex make_##Complex(T x, T y)                                                                    \
    {                                                                                                                  \
        Complex z;                                                                                                     \
        z.x = x;                                                                                                       \
        z.y = y;                                                                                                       \
        return z;                                                                                                      \
    }                                                                                                                  \
    HEDDLE_COMPLEX T cuCreal##s(Complex z)                                                                             \
    {                                                                                                                  \
        return z.x;                                                                                                    \
    }                                                                                                                  \
    HEDDLE_COMPLEX T cuCimag##s(Complex z)                                                                             \
    {                                                                                                                  \
        return z.y;                                                                                                    \
    }                                                                                                                  \
    HEDDLE_COMPLEX Complex cuConj##s(Complex z)                                                                        \
    {                                                                                                                  \
        return make_##Complex(z.x, -z.y);                                                                              \
    }                                                                                                                  \
    HEDDLE_COMPLEX Complex cuCadd##s(Complex z, Complex w)                                                             \
    {                                                                                                                  \
        return make_##Complex(z.x + w.x, z.y + w.y);                                                                   \
    }                                                                                                                  \
    HEDDLE_COMPLEX Complex cuCsub##s(Complex z, Complex w)                                                             \
    {                                                                                                                  \
        return make_##Complex(z.x - w.x, z.y - w.y);                                                                   \
    }                                                                                                                  \
    HEDDLE_COMPLEX Complex cuCmul##s(Complex z, Complex w)                                                             \
    {                                                                                                                  \
        return make_##Complex(z.x * w.x - z.y * w.y, z.x * w.y + z.y * w.x);                                           \
    }                                                                                                                  \
    HEDDLE_COMPLEX Complex cuCdiv##s(Complex z, Complex w)                                                             \
    {                                                                                                                  \
        const T scale = 1 / (absolute(w.x) + absolute(w.y)); /* keeps the squares in range */                          \
        const T a = z.x * scale, b = z.y * scale, c = w.x * scale, d = w.y * scale, norm = 1 / (c * c + d * d);        \
        return make_##Complex((a * c + b * d) * norm, (b * c - a * d) * norm);                                         \
    }                                                                                                                  \
    HEDDLE_COMPLEX T cuCabs##s(Complex z)                                                                              \
    {                                                                                                                  \
        /* not hypot(), so that the result is nvcc's to the bit */                                                     \
        const T x = absolute(z.x), y = absolute(z.y), most = x > y ? x : y, least = x > y ? y : x;                     \
        const T ratio = least / most;                                                                                  \
        const int is_end = most == 0 || most > greatest || least > greatest;                                           \
        return is_end ? most + least : most * sqrt##s(1 + ratio * ratio);                                              \
    }                                                                                                                  \
    HEDDLE_COMPLEX Complex cuCfma##s(Complex x, Complex y, Complex d)                                                  \
    {                                                                                                                  \
        return make_##Complex(x.x * y.x + d.x - x.y * y.y, x.x * y.y + d.y + x.y * y.x);                               \
    }
HEDDLE_COMPLEX_OF(cuFloatComplex, float, float2, f, fabsf, 3.402823466e38f)
HEDDLE_COMPLEX_OF(cuDoubleComplex, double, double2, , fabs, 1.7976931348623157e308)
#undef HEDDLE_COMPLEX_OF

typedef cuFloatComplex cuComplex;
HEDDLE_COMPLEX cuComplex make_cuComplex(float x, float y)
{
    return make_cuFloatComplex(x, y);
}
HEDDLE_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z)
{
    return make_cuDoubleComplex(z.x, z.y);
}
HEDDLE_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z)
{
    return make_cuFloatComplex((float)z.x, (float)z.y);
}
#undef HEDDLE_COMPLEX

#endif
