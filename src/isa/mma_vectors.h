/* Vectors of the CPU level that a source is compiled for, as gcc's and clang's vector types; for
 * products of matrices (mma.h), which are compiled once per level.
 */
#ifndef HEDDLE_ISA_MMA_VECTORS_H
#define HEDDLE_ISA_MMA_VECTORS_H

#include <string.h>

#include "isa/sem.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

#if defined __AVX512F__
enum { W = 16 }; /* lanes of a vector */
#elif defined __AVX2__
enum { W = 8 };
#else
enum { W = 4 };
#endif

typedef f32 vf __attribute__((vector_size(4 * W)));
typedef s32 vi __attribute__((vector_size(4 * W)));
typedef u32 vu __attribute__((vector_size(4 * W)));
typedef s16 vh __attribute__((vector_size(4 * W)));
typedef s8 vb __attribute__((vector_size(4 * W)));

/* Macros, as functions would pass vectors in ways that depend on the level. */
#define LOAD(v, at)     memcpy(&(v), (at), sizeof(v))
#define STORE(at, v)    memcpy((at), &(v), sizeof(v))
#define SELECT(m, x, y) (((x) & (m)) | ((y) & ~(m)))
/* gcc 12 makes two instructions of a comparison and a selection. */
#if defined __AVX512BW__
#define MAX_BYTES(x, y) ((vb)_mm512_max_epi8((__m512i)(x), (__m512i)(y)))
#elif defined __AVX2__
#define MAX_BYTES(x, y) ((vb)_mm256_max_epi8((__m256i)(x), (__m256i)(y)))
#elif defined __SSE4_1__
#define MAX_BYTES(x, y) ((vb)_mm_max_epi8((__m128i)(x), (__m128i)(y)))
#else
#define MAX_BYTES(x, y) SELECT((vb)((x) > (y)), x, y)
#endif
#if defined __AVX512BW__
#define MAX_HALVES(x, y) ((vh)_mm512_max_epi16((__m512i)(x), (__m512i)(y)))
#define MIN_HALVES(x, y) ((vh)_mm512_min_epi16((__m512i)(x), (__m512i)(y)))
#elif defined __AVX2__
#define MAX_HALVES(x, y) ((vh)_mm256_max_epi16((__m256i)(x), (__m256i)(y)))
#define MIN_HALVES(x, y) ((vh)_mm256_min_epi16((__m256i)(x), (__m256i)(y)))
#elif defined __SSE4_1__
#define MAX_HALVES(x, y) ((vh)_mm_max_epi16((__m128i)(x), (__m128i)(y)))
#define MIN_HALVES(x, y) ((vh)_mm_min_epi16((__m128i)(x), (__m128i)(y)))
#else
#define MAX_HALVES(x, y) SELECT((vh)((x) > (y)), x, y)
#define MIN_HALVES(x, y) SELECT((vh)((x) < (y)), x, y)
#endif
#if defined __AVX512F__
#define MAX(x, y) ((vi)_mm512_max_epi32((__m512i)(x), (__m512i)(y)))
#define MIN(x, y) ((vi)_mm512_min_epi32((__m512i)(x), (__m512i)(y)))
#elif defined __AVX2__
#define MAX(x, y) ((vi)_mm256_max_epi32((__m256i)(x), (__m256i)(y)))
#define MIN(x, y) ((vi)_mm256_min_epi32((__m256i)(x), (__m256i)(y)))
#elif defined __SSE4_1__
#define MAX(x, y) ((vi)_mm_max_epi32((__m128i)(x), (__m128i)(y)))
#define MIN(x, y) ((vi)_mm_min_epi32((__m128i)(x), (__m128i)(y)))
#else
#define MAX(x, y) SELECT((x) > (y), x, y)
#define MIN(x, y) SELECT((x) < (y), x, y)
#endif

INLINE bool any_lane(vi v)
{
#if defined __AVX512F__
    return _mm512_test_epi32_mask((__m512i)v, (__m512i)v) != 0;
#elif defined __AVX2__
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#elif defined __SSE4_1__
    return !_mm_testz_si128((__m128i)v, (__m128i)v);
#else
    s32 any = 0;
    for (unsigned l = 0; l < W; l++)
        any |= v[l];
    return any != 0;
#endif
}

/* The name of what is there once per level. */
#define MMA_PASTE(name, level)    name##_##level
#define MMA_PASTE_OF(name, level) MMA_PASTE(name, level)
#define MMA_OF_LEVEL(name)        MMA_PASTE_OF(name, MMA_LEVEL)

#endif
