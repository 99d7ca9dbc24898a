/* See elements.h. */
#include "libraries/blas/elements.h"

#include <math.h>
#include <string.h>

#include "isa/sem.h"

size_t element_bytes(cudaDataType type)
{
    switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8U:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2: return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_C_8I: return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
    case CUDA_C_16F:
    case CUDA_C_16BF: return 4;
    case CUDA_R_64F:
    case CUDA_R_64I:
    case CUDA_C_32F: return 8;
    case CUDA_C_64F: return 16;
    default: return 0;
    }
}

bool element_is_complex(cudaDataType type)
{
    return type == CUDA_C_8I || type == CUDA_C_16F || type == CUDA_C_16BF || type == CUDA_C_32F || type == CUDA_C_64F;
}

enum precision element_precision(cudaDataType type)
{
    return type == CUDA_R_64F   ? PRECISION_D
           : type == CUDA_C_32F ? PRECISION_C
           : type == CUDA_C_64F ? PRECISION_Z
                                : PRECISION_S;
}

cudaDataType precision_type(enum precision p)
{
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    return types[p];
}

/* ---- one element: a real type, or a part of a complex one ---- */

static inline float f32_of_e4m3(uint8_t x)
{
    return f32_of_f16(f16_of_e4m3(x, 0));
}

static inline float f32_of_e5m2(uint8_t x)
{
    return f32_of_f16(f16_of_e5m2(x, 0));
}

static inline float f32_itself(float x)
{
    return x;
}

static inline double integer(double x, double least, double most)
{
    return x != x ? 0 : x < least ? least : x > most ? most : rint(x);
}

static inline uint16_t narrow_f16(double x)
{
    return f16_of_f32(x == (float)x ? (float)x : f32_odd_of_f64(x), RND_rn);
}

static inline uint16_t narrow_bf16(double x)
{
    return bf16_of_f32(x == (float)x ? (float)x : f32_odd_of_f64(x), RND_rn);
}

#define NARROW_I8(x)   (int8_t)integer(x, -128, 127)
#define NARROW_U8(x)   (uint8_t)integer(x, 0, 255)
#define NARROW_I32(x)  (int32_t)integer(x, -2147483648.0, 2147483647.0)
#define NARROW_E4M3(x) (uint8_t)e4m3_of_f32((float)(x), 0)
#define NARROW_E5M2(x) (uint8_t)e5m2_of_f32((float)(x), 0)

/* A type, the C type that holds it (or a part of it), and how it is widened and narrowed. */
#define REAL_TYPES(X)                                                                                                  \
    X(CUDA_R_32F, float, f32_itself, (float))                                                                          \
    X(CUDA_R_64F, double, (double), (double))                                                                          \
    X(CUDA_R_16F, uint16_t, f32_of_f16, narrow_f16)                                                                    \
    X(CUDA_R_16BF, uint16_t, f32_of_bf16, narrow_bf16)                                                                 \
    X(CUDA_R_8I, int8_t, (float), NARROW_I8)                                                                           \
    X(CUDA_R_8U, uint8_t, (float), NARROW_U8)                                                                          \
    X(CUDA_R_32I, int32_t, (double), NARROW_I32)                                                                       \
    X(CUDA_R_8F_E4M3, uint8_t, f32_of_e4m3, NARROW_E4M3)                                                               \
    X(CUDA_R_8F_E5M2, uint8_t, f32_of_e5m2, NARROW_E5M2)

/* The type of a complex number's parts. */
static cudaDataType part(cudaDataType type)
{
    switch (type) {
    case CUDA_C_8I: return CUDA_R_8I;
    case CUDA_C_16F: return CUDA_R_16F;
    case CUDA_C_16BF: return CUDA_R_16BF;
    case CUDA_C_32F: return CUDA_R_32F;
    case CUDA_C_64F: return CUDA_R_64F;
    default: return type;
    }
}

/* ---- rows of parts ---- */

/* Converts parts that are `from_step` and `to_step` apart. */
#define WIDEN_CASE(name, c_type, widen, narrow)                                                                        \
    case name:                                                                                                         \
        for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++)                                                                   \
            to[i * to_step] = widen(((const c_type *)from)[i * from_step]);                                            \
        break;
#define NARROW_CASE(name, c_type, widen, narrow)                                                                       \
    case name:                                                                                                         \
        for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++)                                                                   \
            ((c_type *)to)[i * to_step] = narrow(from[i * from_step]);                                                 \
        break;
#define ROWS_OF(float_type)                                                                                            \
    static void widen_to_##float_type(float_type *to, ptrdiff_t to_step, cudaDataType type, const void *from,          \
                                      ptrdiff_t from_step, size_t n)                                                   \
    {                                                                                                                  \
        switch (type) {                                                                                                \
            REAL_TYPES(WIDEN_CASE)                                                                                     \
        default: break;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    static void narrow_##float_type(const float_type *from, ptrdiff_t from_step, cudaDataType type, void *to,          \
                                    ptrdiff_t to_step, size_t n)                                                       \
    {                                                                                                                  \
        switch (type) {                                                                                                \
            REAL_TYPES(NARROW_CASE)                                                                                    \
        default: break;                                                                                                \
        }                                                                                                              \
    }
ROWS_OF(float)
ROWS_OF(double)

/* ---- rows of elements ---- */

static void widen_part(bool wide, void *to, size_t at, ptrdiff_t to_step, cudaDataType type, const void *from,
                       ptrdiff_t from_step, size_t n)
{
    if (wide)
        widen_to_double((double *)to + at, to_step, type, from, from_step, n);
    else
        widen_to_float((float *)to + at, to_step, type, from, from_step, n);
}

static void narrow_part(bool wide, const void *from, size_t at, ptrdiff_t from_step, cudaDataType type, void *to,
                        ptrdiff_t to_step, size_t n)
{
    if (wide)
        narrow_double((const double *)from + at, from_step, type, to, to_step, n);
    else
        narrow_float((const float *)from + at, from_step, type, to, to_step, n);
}

void elements_widen(enum precision p, void *to, cudaDataType type, const void *from, ptrdiff_t stride, size_t n)
{
    const bool wide = p == PRECISION_D || p == PRECISION_Z, to_complex = p >= PRECISION_C,
               from_complex = element_is_complex(type);
    const ptrdiff_t to_step = to_complex ? 2 : 1, from_step = stride * (from_complex ? 2 : 1);
    const size_t part_bytes = element_bytes(part(type));
    if (type == precision_type(p) && stride == 1) {
        memcpy(to, from, n * element_bytes(type));
        return;
    }
    widen_part(wide, to, 0, to_step, part(type), from, from_step, n);
    if (to_complex && from_complex)
        widen_part(wide, to, 1, to_step, part(type), (const char *)from + part_bytes, from_step, n);
    else if (to_complex) {
        static const float zero = 0;
        widen_part(wide, to, 1, to_step, CUDA_R_32F, &zero, 0, n);
    }
}

void elements_narrow(enum precision p, const void *from, cudaDataType type, void *to, ptrdiff_t stride, size_t n)
{
    const bool wide = p == PRECISION_D || p == PRECISION_Z, from_complex = p >= PRECISION_C,
               to_complex = element_is_complex(type);
    const ptrdiff_t from_step = from_complex ? 2 : 1, to_step = stride * (to_complex ? 2 : 1);
    if (type == precision_type(p) && stride == 1) {
        memcpy(to, from, n * element_bytes(type));
        return;
    }
    narrow_part(wide, from, 0, from_step, part(type), to, to_step, n);
    if (from_complex && to_complex)
        narrow_part(wide, from, 1, from_step, part(type), (char *)to + element_bytes(part(type)), to_step, n);
}

float element_through(cudaDataType type, float x)
{
    return type == CUDA_R_16F    ? f32_of_f16(f16_of_f32(x, RND_rn))
           : type == CUDA_R_16BF ? f32_of_bf16(bf16_of_f32(x, RND_rn))
                                 : x;
}

float element_tf32(float x)
{
    return f32_of(sem_cvt_tf32(x, RND_rn, 0));
}
