/* See reduce.h. */
#include "libraries/nccl/reduce.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "isa/sem.h"

enum { BLOCK = 512 };

static inline float load_e4m3(uint8_t x)
{
    return f32_of_f16(f16_of_e4m3(x, 0));
}

static inline float load_e5m2(uint8_t x)
{
    return f32_of_f16(f16_of_e5m2(x, 0));
}

static inline uint16_t store_f16(float x)
{
    return f16_of_f32(x, RND_rn);
}

static inline uint16_t store_bf16(float x)
{
    return bf16_of_f32(x, RND_rn);
}

static inline uint8_t store_e4m3(float x)
{
    return (uint8_t)e4m3_of_f32(x, 0);
}

static inline uint8_t store_e5m2(float x)
{
    return (uint8_t)e5m2_of_f32(x, 0);
}

/* TYPE(name, what is stored, what is computed with, load, store, sum, product, least, greatest,
 * over) */
#define SAME(x)             (x)
#define WHOLE_ADD(T, a, b)  (T)((uint64_t)(a) + (uint64_t)(b))
#define WHOLE_MUL(T, a, b)  (T)((uint64_t)(a) * (uint64_t)(b))
#define WHOLE_MIN(a, b)     ((a) < (b) ? (a) : (b))
#define WHOLE_MAX(a, b)     ((a) < (b) ? (b) : (a))
#define FLOAT_ADD(T, a, b)  ((a) + (b))
#define FLOAT_MUL(T, a, b)  ((a) * (b))
#define INTEGER(X, name, T) X(name, T, T, SAME, SAME, WHOLE_ADD, WHOLE_MUL, WHOLE_MIN, WHOLE_MAX)
#define TYPES(X)                                                                                                       \
    INTEGER(X, Int8, int8_t)                                                                                           \
    INTEGER(X, Uint8, uint8_t)                                                                                         \
    INTEGER(X, Int32, int32_t)                                                                                         \
    INTEGER(X, Uint32, uint32_t)                                                                                       \
    INTEGER(X, Int64, int64_t)                                                                                         \
    INTEGER(X, Uint64, uint64_t)                                                                                       \
    X(Float16, uint16_t, float, f32_of_f16, store_f16, FLOAT_ADD, FLOAT_MUL, fminf, fmaxf)                             \
    X(Float32, float, float, SAME, SAME, FLOAT_ADD, FLOAT_MUL, fminf, fmaxf)                                           \
    X(Float64, double, double, SAME, SAME, FLOAT_ADD, FLOAT_MUL, fmin, fmax)                                           \
    X(Bfloat16, uint16_t, float, f32_of_bf16, store_bf16, FLOAT_ADD, FLOAT_MUL, fminf, fmaxf)                          \
    X(Float8e4m3, uint8_t, float, load_e4m3, store_e4m3, FLOAT_ADD, FLOAT_MUL, fminf, fmaxf)                           \
    X(Float8e5m2, uint8_t, float, load_e5m2, store_e5m2, FLOAT_ADD, FLOAT_MUL, fminf, fmaxf)

#define COMBINE(T, C, LOAD, STORE, expression)                                                                         \
    for (size_t i = 0; i < count; i++) {                                                                               \
        C a = LOAD(so_far[i]), b = LOAD(x[i]);                                                                         \
        so_far[i] = (T)STORE((C)(expression));                                                                         \
    }                                                                                                                  \
    break

#define TYPE(name, T, C, LOAD, STORE, ADD, MUL, MIN, MAX)                                                              \
    static void give_##name(const struct reduction *r, void *to, const void *elements, size_t count)                   \
    {                                                                                                                  \
        T *x = to, scalar;                                                                                             \
        const T *from = elements;                                                                                      \
        memcpy(&scalar, r->scalar, sizeof scalar);                                                                     \
        for (size_t i = 0; i < count; i++)                                                                             \
            x[i] = (T)STORE((C)MUL(C, LOAD(from[i]), LOAD(scalar)));                                                   \
    }                                                                                                                  \
    static void combine_##name(enum combine combine, T *restrict so_far, const T *restrict x, size_t count)            \
    {                                                                                                                  \
        switch (combine) {                                                                                             \
        case COMBINE_PROD: COMBINE(T, C, LOAD, STORE, MUL(C, a, b));                                                   \
        case COMBINE_MAX: COMBINE(T, C, LOAD, STORE, MAX(a, b));                                                       \
        case COMBINE_MIN: COMBINE(T, C, LOAD, STORE, MIN(a, b));                                                       \
        default: COMBINE(T, C, LOAD, STORE, ADD(C, a, b));                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    static void divide_##name(T *x, size_t count, int n)                                                               \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            x[i] = (T)STORE((C)(LOAD(x[i]) / (C)n));                                                                   \
    }                                                                                                                  \
    static void reduce_##name(const struct reduction *r, void *to, const void *const operands[], int n, int own,       \
                              size_t count)                                                                            \
    {                                                                                                                  \
        T so_far[BLOCK], x[BLOCK];                                                                                     \
        for (size_t at = 0, some; at < count; at += some) {                                                            \
            some = count - at < BLOCK ? count - at : BLOCK;                                                            \
            for (int i = 0; i < n; i++) {                                                                              \
                T *next = i ? x : so_far;                                                                              \
                if (i == own && r->combine == COMBINE_SCALED_SUM)                                                      \
                    give_##name(r, next, (const T *)operands[i] + at, some);                                           \
                else                                                                                                   \
                    memcpy(next, (const T *)operands[i] + at, some * sizeof(T));                                       \
                if (i)                                                                                                 \
                    combine_##name(r->combine, so_far, x, some);                                                       \
            }                                                                                                          \
            if (r->combine == COMBINE_SUM_OVER_N)                                                                      \
                divide_##name(so_far, some, n);                                                                        \
            memcpy((T *)to + at, so_far, some * sizeof(T));                                                            \
        }                                                                                                              \
    }
TYPES(TYPE)
#undef TYPE

static const struct {
    size_t bytes;
    void (*give)(const struct reduction *r, void *to, const void *from, size_t count);
    void (*reduce)(const struct reduction *r, void *to, const void *const operands[], int n, int own, size_t count);
} types[ncclNumTypes] = {
#define TYPE(name, T, C, LOAD, STORE, ADD, MUL, MIN, MAX) [nccl##name] = {sizeof(T), give_##name, reduce_##name},
    TYPES(TYPE)
#undef TYPE
};

size_t type_bytes(ncclDataType_t type)
{
    return (unsigned)type < ncclNumTypes ? types[type].bytes : 0;
}

struct reduction reduction_average(ncclDataType_t type, int n)
{
    struct reduction r = {.combine = COMBINE_SCALED_SUM, .type = type};
    double part = 1.0 / n;
    switch (type) {
#define TYPE(name, value)                                                                                              \
    case nccl##name: {                                                                                                 \
        __typeof__(value) scalar = value;                                                                              \
        memcpy(r.scalar, &scalar, sizeof scalar);                                                                      \
        break;                                                                                                         \
    }
        TYPE(Float16, store_f16((float)part))
        TYPE(Float32, (float)part)
        TYPE(Float64, part)
        TYPE(Bfloat16, store_bf16((float)part))
        TYPE(Float8e4m3, store_e4m3((float)part))
        TYPE(Float8e5m2, store_e5m2((float)part))
#undef TYPE
    default: r.combine = COMBINE_SUM_OVER_N;
    }
    return r;
}

void reduction_give(const struct reduction *r, void *to, const void *from, size_t count)
{
    if (r->combine == COMBINE_SCALED_SUM)
        types[r->type].give(r, to, from, count);
    else
        memcpy(to, from, count * type_bytes(r->type));
}

void reduce(const struct reduction *r, void *to, const void *const operands[], int n, int own, size_t count)
{
    types[r->type].reduce(r, to, operands, n, own, count);
}
