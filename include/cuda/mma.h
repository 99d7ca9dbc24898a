/* Products of matrices by a warp, in namespace nvcuda::wmma (CUDA C++ Programming Guide, "Warp
 * Matrix Functions"): `wmma` of the PTX ISA (9.7.14.4), of every shape and type that it has up to
 * sm_90.
 *
 * All lanes of a warp call a function together, with the same arguments. What a lane holds of a
 * matrix is a fragment; which elements these are is not said, but it is the same for all fragments
 * of a type, so that a program may do to each what it does to all.
 */
#if defined(__CUDA__) && !defined(HEDDLE_MMA_H) /* other compilers have nothing of it */
#define HEDDLE_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "heddle/wmma.h"

namespace nvcuda
{
namespace wmma
{

/* All elements are v. */
template <class Use, int m, int n, int k, class T, class Layout>
HEDDLE_INLINE void fill_fragment(fragment<Use, m, n, k, T, Layout> &f,
                                 const typename fragment<Use, m, n, k, T, Layout>::fill_type &v)
{
    for (int i = 0; i < f.num_storage_elements; i++)
        f.x[i] = heddle_element<T>::all(v);
}

/* Rounded as elements of precision::tf32 are to be before a product: to 10 bits of mantissa, ties
 * away from zero. */
HEDDLE_WMMA_80 float __float_to_tf32(float v)
{
    unsigned bits;
    __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
    return __builtin_bit_cast(float, bits);
}

/* Both layouts of A and of B; the registers that a lane has of each; the compute capability from
 * which on. */
HEDDLE_WMMA_INPUT(70, 16, 16, 16, __half, __half, "f16", 16, 8, 16, 8, U)
HEDDLE_WMMA_INPUT(70, 32, 8, 16, __half, __half, "f16", 16, 8, 16, 8, U)
HEDDLE_WMMA_INPUT(70, 8, 32, 16, __half, __half, "f16", 16, 8, 16, 8, U)
HEDDLE_WMMA_INPUT(80, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, "bf16", 8, 4, 8, 4, U)
HEDDLE_WMMA_INPUT(80, 32, 8, 16, __nv_bfloat16, __nv_bfloat16, "bf16", 16, 8, 4, 2, U)
HEDDLE_WMMA_INPUT(80, 8, 32, 16, __nv_bfloat16, __nv_bfloat16, "bf16", 4, 2, 16, 8, U)
HEDDLE_WMMA_INPUT(80, 16, 16, 8, precision::tf32, float, "tf32", 4, 4, 4, 4, U)
HEDDLE_WMMA_INPUT(80, 8, 8, 4, double, double, "f64", 1, 1, 1, 1, D)
HEDDLE_WMMA_INPUT(72, 16, 16, 16, signed char, signed char, "s8", 8, 2, 8, 2, U)
HEDDLE_WMMA_INPUT(72, 32, 8, 16, signed char, signed char, "s8", 16, 4, 4, 1, U)
HEDDLE_WMMA_INPUT(72, 8, 32, 16, signed char, signed char, "s8", 4, 1, 16, 4, U)
HEDDLE_WMMA_INPUT(72, 16, 16, 16, unsigned char, unsigned char, "u8", 8, 2, 8, 2, U)
HEDDLE_WMMA_INPUT(72, 32, 8, 16, unsigned char, unsigned char, "u8", 16, 4, 4, 1, U)
HEDDLE_WMMA_INPUT(72, 8, 32, 16, unsigned char, unsigned char, "u8", 4, 1, 16, 4, U)
/* A by row, B by column, and no other. */
HEDDLE_WMMA_PACKED(75, 8, 8, 32, experimental::precision::s4, "s4", 8)
HEDDLE_WMMA_PACKED(75, 8, 8, 32, experimental::precision::u4, "u4", 8)
HEDDLE_WMMA_PACKED(75, 8, 8, 128, experimental::precision::b1, "b1", 32)

HEDDLE_WMMA_ACCUMULATOR(70, 16, 16, 16, __half, "f16", 8, 4, U)
HEDDLE_WMMA_ACCUMULATOR(70, 32, 8, 16, __half, "f16", 8, 4, U)
HEDDLE_WMMA_ACCUMULATOR(70, 8, 32, 16, __half, "f16", 8, 4, U)
HEDDLE_WMMA_ACCUMULATOR(70, 16, 16, 16, float, "f32", 8, 8, F)
HEDDLE_WMMA_ACCUMULATOR(70, 32, 8, 16, float, "f32", 8, 8, F)
HEDDLE_WMMA_ACCUMULATOR(70, 8, 32, 16, float, "f32", 8, 8, F)
HEDDLE_WMMA_ACCUMULATOR(80, 16, 16, 8, float, "f32", 8, 8, F)
HEDDLE_WMMA_ACCUMULATOR(72, 16, 16, 16, int, "s32", 8, 8, U)
HEDDLE_WMMA_ACCUMULATOR(72, 32, 8, 16, int, "s32", 8, 8, U)
HEDDLE_WMMA_ACCUMULATOR(72, 8, 32, 16, int, "s32", 8, 8, U)
HEDDLE_WMMA_ACCUMULATOR(75, 8, 8, 32, int, "s32", 2, 2, U)
HEDDLE_WMMA_ACCUMULATOR(75, 8, 8, 128, int, "s32", 2, 2, U)
HEDDLE_WMMA_ACCUMULATOR(80, 8, 8, 4, double, "f64", 2, 2, D)

/* Types of D, A and B, C. */
HEDDLE_WMMA_PRODUCT(70, 16, 16, 16, float, __half, float, ".f32.f32", 8, 8, 8, 8, F, U, F)
HEDDLE_WMMA_PRODUCT(70, 16, 16, 16, float, __half, __half, ".f32.f16", 8, 8, 8, 4, F, U, U)
HEDDLE_WMMA_PRODUCT(70, 16, 16, 16, __half, __half, float, ".f16.f32", 4, 8, 8, 8, U, U, F)
HEDDLE_WMMA_PRODUCT(70, 16, 16, 16, __half, __half, __half, ".f16.f16", 4, 8, 8, 4, U, U, U)
HEDDLE_WMMA_PRODUCT(70, 32, 8, 16, float, __half, float, ".f32.f32", 8, 8, 8, 8, F, U, F)
HEDDLE_WMMA_PRODUCT(70, 32, 8, 16, float, __half, __half, ".f32.f16", 8, 8, 8, 4, F, U, U)
HEDDLE_WMMA_PRODUCT(70, 32, 8, 16, __half, __half, float, ".f16.f32", 4, 8, 8, 8, U, U, F)
HEDDLE_WMMA_PRODUCT(70, 32, 8, 16, __half, __half, __half, ".f16.f16", 4, 8, 8, 4, U, U, U)
HEDDLE_WMMA_PRODUCT(70, 8, 32, 16, float, __half, float, ".f32.f32", 8, 8, 8, 8, F, U, F)
HEDDLE_WMMA_PRODUCT(70, 8, 32, 16, float, __half, __half, ".f32.f16", 8, 8, 8, 4, F, U, U)
HEDDLE_WMMA_PRODUCT(70, 8, 32, 16, __half, __half, float, ".f16.f32", 4, 8, 8, 8, U, U, F)
HEDDLE_WMMA_PRODUCT(70, 8, 32, 16, __half, __half, __half, ".f16.f16", 4, 8, 8, 4, U, U, U)
HEDDLE_WMMA_PRODUCT(80, 16, 16, 16, float, __nv_bfloat16, float, ".f32.bf16.bf16.f32", 8, 4, 4, 8, F, U, F)
HEDDLE_WMMA_PRODUCT(80, 32, 8, 16, float, __nv_bfloat16, float, ".f32.bf16.bf16.f32", 8, 8, 2, 8, F, U, F)
HEDDLE_WMMA_PRODUCT(80, 8, 32, 16, float, __nv_bfloat16, float, ".f32.bf16.bf16.f32", 8, 2, 8, 8, F, U, F)
HEDDLE_WMMA_PRODUCT(80, 16, 16, 8, float, precision::tf32, float, ".f32.tf32.tf32.f32", 8, 4, 4, 8, F, U, F)
HEDDLE_WMMA_PRODUCT(80, 8, 8, 4, double, double, double, ".f64.f64.f64.f64", 2, 1, 1, 2, D, D, D)
/* Integers: with `saturates`, sums that 32 bits do not hold become the
 * least or the largest number. */
HEDDLE_WMMA_INTEGERS(72, 16, 16, 16, signed char, ".s32.s8.s8.s32", 2, 2)
HEDDLE_WMMA_INTEGERS(72, 32, 8, 16, signed char, ".s32.s8.s8.s32", 4, 1)
HEDDLE_WMMA_INTEGERS(72, 8, 32, 16, signed char, ".s32.s8.s8.s32", 1, 4)
HEDDLE_WMMA_INTEGERS(72, 16, 16, 16, unsigned char, ".s32.u8.u8.s32", 2, 2)
HEDDLE_WMMA_INTEGERS(72, 32, 8, 16, unsigned char, ".s32.u8.u8.s32", 4, 1)
HEDDLE_WMMA_INTEGERS(72, 8, 32, 16, unsigned char, ".s32.u8.u8.s32", 1, 4)
HEDDLE_WMMA_SMALL(75, 8, 8, 32, experimental::precision::s4, ".s32.s4.s4.s32")
HEDDLE_WMMA_SMALL(75, 8, 8, 32, experimental::precision::u4, ".s32.u4.u4.s32")

/* D = popcount(A op B) + C: of 128 bits along k, those that are set in one of the two, or in both
 * (sm_80). */
HEDDLE_WMMA_75 void bmma_sync(fragment<accumulator, 8, 8, 128, int> &d,
                              const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> &a,
                              const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> &b,
                              const fragment<accumulator, 8, 8, 128, int> &c,
                              experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
                              experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (op == experimental::bmmaBitOpAND)
        HEDDLE_WMMA_RUN(".and.popc", "row", "col", 8, 8, 128, ".s32.b1.b1.s32", 2, 1, 1, 2, U, U, U)
    else
#endif
        HEDDLE_WMMA_RUN(".xor.popc", "row", "col", 8, 8, 128, ".s32.b1.b1.s32", 2, 1, 1, 2, U, U, U)
}

} // namespace wmma
} // namespace nvcuda

#endif
