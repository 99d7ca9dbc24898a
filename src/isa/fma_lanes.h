/* a * b + c of all lanes of a warp, rounded in a direction by the instruction
 * itself: for compiled code (lanes.c; AVX-512F).
 *
 * sem_fma_f32() has the same from the errors of sums in f64, in ten times as
 * many instructions: C has no word for the rounding of one operation of which
 * compilers make vectors. NaNs are not canonical yet. (Halves are parts of
 * vectors of 32 lanes, not of rows: what the compiler of kernels copies are
 * loads of whole rows.)
 */
typedef float fma_lanes __attribute__((vector_size(4 * WARP_LANES)));
typedef float fma_half __attribute__((vector_size(64)));
#define INLINE __attribute__((always_inline)) static inline

INLINE fma_half fma_part(fma_lanes v, bool upper)
{
    return upper ? __builtin_shufflevector(v, v, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)
                 : __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* The direction is MXCSR's, and 8 is for no exceptions. */
INLINE fma_half fma_directed(fma_half a, fma_half b, fma_half c, enum rnd rnd)
{
    switch (rnd) {
    case RND_rm: return __builtin_ia32_vfmaddps512_mask(a, b, c, 0xffff, 8 | 1);
    case RND_rp: return __builtin_ia32_vfmaddps512_mask(a, b, c, 0xffff, 8 | 2);
    default: return __builtin_ia32_vfmaddps512_mask(a, b, c, 0xffff, 8 | 3);
    }
}

INLINE void fmas(f32 out[WARP_LANES], const void *a, const void *b, const void *c, enum rnd rnd)
{
    fma_lanes x, y, z;
    fma_half half;
    __builtin_memcpy(&x, a, sizeof x);
    __builtin_memcpy(&y, b, sizeof y);
    __builtin_memcpy(&z, c, sizeof z);
    for (int i = 0; i < 2; i++) {
        half = fma_directed(fma_part(x, i), fma_part(y, i), fma_part(z, i), rnd);
        __builtin_memcpy(out + 16 * i, &half, sizeof half);
    }
}
#undef INLINE
