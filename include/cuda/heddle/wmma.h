/* What mma.h is made of: fragments, and for each row of its tables the functions that are one
 * `wmma` instruction (PTX ISA 9.7.14.4).
 *
 * A fragment's elements lie in memory as in the registers of the instruction, so that they are
 * copied as a whole; compilers make nothing of it. The types of registers: U, 32 bits with one or
 * several elements; F, float; D, double.
 */
#ifndef HEDDLE_WMMA_H
#define HEDDLE_WMMA_H

#include "define.h"

namespace nvcuda
{
namespace wmma
{

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision
{
struct tf32;
}
namespace experimental
{
namespace precision
{
struct u4;
struct s4;
struct b1;
} // namespace precision
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
#else
enum bmmaBitOp { bmmaBitOpXOR = 1 };
#endif
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
} // namespace experimental

/* What an element is stored as, what it is filled with, and a stored one
 * whose elements all are v. */
template <class T, class Stored = T> struct heddle_stored {
    typedef Stored stored;
    static __device__ HEDDLE_NODEBUG Stored all(Stored v)
    {
        return v;
    }
};
template <class T> struct heddle_element : heddle_stored<T> {
};
template <> struct heddle_element<precision::tf32> : heddle_stored<precision::tf32, float> {
};
template <> struct heddle_element<experimental::precision::u4> : heddle_stored<experimental::precision::u4, unsigned> {
    static __device__ HEDDLE_NODEBUG unsigned all(unsigned v)
    {
        return (v & 15) * 0x11111111u;
    }
};
template <> struct heddle_element<experimental::precision::s4> : heddle_stored<experimental::precision::s4, int> {
    static __device__ HEDDLE_NODEBUG int all(int v)
    {
        return (int)((v & 15) * 0x11111111u);
    }
};
template <> struct heddle_element<experimental::precision::b1> : heddle_stored<experimental::precision::b1, unsigned> {
    static __device__ HEDDLE_NODEBUG unsigned all(unsigned v)
    {
        return v & 1 ? ~0u : 0;
    }
};

template <class T, int count, int stored> struct heddle_fragment {
    typedef T element_type;
    typedef typename heddle_element<T>::stored storage_element_type;
    typedef storage_element_type fill_type;
    enum { num_elements = count, num_storage_elements = stored };
    storage_element_type x[stored];
};
template <class Use, int m, int n, int k, class T, class Layout = void> class fragment;

/* Functions of a compute capability. */
#define HEDDLE_WMMA_TOO_OLD(sm)                                                                                        \
    HEDDLE_INLINE __attribute__((unavailable("it needs compute capability " sm " or higher, as -arch=sm_" sm)))
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define HEDDLE_WMMA_70 HEDDLE_INLINE
#else
#define HEDDLE_WMMA_70 HEDDLE_WMMA_TOO_OLD("70")
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 720
#define HEDDLE_WMMA_72 HEDDLE_INLINE
#else
#define HEDDLE_WMMA_72 HEDDLE_WMMA_TOO_OLD("72")
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 750
#define HEDDLE_WMMA_75 HEDDLE_INLINE
#else
#define HEDDLE_WMMA_75 HEDDLE_WMMA_TOO_OLD("75")
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define HEDDLE_WMMA_80 HEDDLE_INLINE
#else
#define HEDDLE_WMMA_80 HEDDLE_WMMA_TOO_OLD("80")
#endif

/* ---- operands of inline PTX ---- */

#define HEDDLE_TYPE_U       unsigned
#define HEDDLE_TYPE_F       float
#define HEDDLE_TYPE_D       double
#define HEDDLE_CONSTRAINT_U "r"
#define HEDDLE_CONSTRAINT_F "f"
#define HEDDLE_CONSTRAINT_D "d"

#define HEDDLE_NAMES_1(r) "%[" #r "0]"
#define HEDDLE_NAMES_2(r) HEDDLE_NAMES_1(r) ", %[" #r "1]"
#define HEDDLE_NAMES_4(r) HEDDLE_NAMES_2(r) ", %[" #r "2], %[" #r "3]"
#define HEDDLE_NAMES_8(r) HEDDLE_NAMES_4(r) ", %[" #r "4], %[" #r "5], %[" #r "6], %[" #r "7]"
/* c: "=" or nothing, and the constraint */
#define HEDDLE_OPERAND(name) [name]
#define HEDDLE_REG(r, i, c)  HEDDLE_OPERAND(r##i) c(r[i])
#define HEDDLE_REGS_1(r, c)  HEDDLE_REG(r, 0, c)
#define HEDDLE_REGS_2(r, c)  HEDDLE_REGS_1(r, c), HEDDLE_REG(r, 1, c)
#define HEDDLE_REGS_4(r, c)  HEDDLE_REGS_2(r, c), HEDDLE_REG(r, 2, c), HEDDLE_REG(r, 3, c)
#define HEDDLE_REGS_8(r, c)                                                                                            \
    HEDDLE_REGS_4(r, c), HEDDLE_REG(r, 4, c), HEDDLE_REG(r, 5, c), HEDDLE_REG(r, 6, c), HEDDLE_REG(r, 7, c)

/* ---- loads and stores ---- */

#define HEDDLE_WMMA_LOAD(letter, layout, m, n, k, type, words, R)                                                      \
    {                                                                                                                  \
        HEDDLE_TYPE_##R r[words];                                                                                      \
        __asm__ volatile("wmma.load." letter ".sync.aligned." layout ".m" #m "n" #n "k" #k "." type                    \
                         " {" HEDDLE_NAMES_##words(r) "}, [%[p]], %[stride];"                                          \
                         : HEDDLE_REGS_##words(r, "=" HEDDLE_CONSTRAINT_##R)                                           \
                         : [p] "l"(p), [stride] "r"(stride)                                                            \
                         : "memory");                                                                                  \
        static_assert(sizeof r == sizeof f.x, "a fragment lies as its registers");                                     \
        __builtin_memcpy(f.x, r, sizeof r);                                                                            \
    }

#define HEDDLE_WMMA_STORE(layout, m, n, k, type, words, R)                                                             \
    {                                                                                                                  \
        HEDDLE_TYPE_##R r[words];                                                                                      \
        __builtin_memcpy(r, f.x, sizeof r);                                                                            \
        __asm__ volatile(                                                                                              \
            "wmma.store.d.sync.aligned." layout ".m" #m "n" #n "k" #k "." type                                         \
            " [%[p]], {" HEDDLE_NAMES_##words(r) "}, %[stride];" ::HEDDLE_REGS_##words(r, HEDDLE_CONSTRAINT_##R),      \
            [p] "l"(p), [stride] "r"(stride)                                                                           \
            : "memory");                                                                                               \
    }

#define HEDDLE_WMMA_FACTOR(sm, use, letter, Layout, layout, m, n, k, T, P, type, count, stored, words, R)              \
    template <> class fragment<use, m, n, k, T, Layout> : public heddle_fragment<T, count, stored>                     \
    {                                                                                                                  \
    };                                                                                                                 \
    HEDDLE_WMMA_##sm void load_matrix_sync(fragment<use, m, n, k, T, Layout> &f, const P *p, unsigned stride)          \
    {                                                                                                                  \
        HEDDLE_WMMA_LOAD(letter, layout, m, n, k, type, words, R)                                                      \
    }

/* Elements and registers of A and of B. */
#define HEDDLE_WMMA_INPUT(sm, m, n, k, T, P, type, a_count, a_words, b_count, b_words, R)                              \
    HEDDLE_WMMA_FACTOR(sm, matrix_a, "a", row_major, "row", m, n, k, T, P, type, a_count, a_count, a_words, R)         \
    HEDDLE_WMMA_FACTOR(sm, matrix_a, "a", col_major, "col", m, n, k, T, P, type, a_count, a_count, a_words, R)         \
    HEDDLE_WMMA_FACTOR(sm, matrix_b, "b", row_major, "row", m, n, k, T, P, type, b_count, b_count, b_words, R)         \
    HEDDLE_WMMA_FACTOR(sm, matrix_b, "b", col_major, "col", m, n, k, T, P, type, b_count, b_count, b_words, R)

/* Several elements in one of storage. */
#define HEDDLE_WMMA_PACKED(sm, m, n, k, T, type, count)                                                                \
    HEDDLE_WMMA_FACTOR(sm, matrix_a, "a", row_major, "row", m, n, k, T, void, type, count, 1, 1, U)                    \
    HEDDLE_WMMA_FACTOR(sm, matrix_b, "b", col_major, "col", m, n, k, T, void, type, count, 1, 1, U)

#define HEDDLE_WMMA_ACCUMULATOR(sm, m, n, k, T, type, count, words, R)                                                 \
    template <> class fragment<accumulator, m, n, k, T> : public heddle_fragment<T, count, count>                      \
    {                                                                                                                  \
    };                                                                                                                 \
    HEDDLE_WMMA_##sm void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *p, unsigned stride,          \
                                           layout_t layout)                                                            \
    {                                                                                                                  \
        if (layout == mem_row_major)                                                                                   \
            HEDDLE_WMMA_LOAD("c", "row", m, n, k, type, words, R)                                                      \
        else                                                                                                           \
            HEDDLE_WMMA_LOAD("c", "col", m, n, k, type, words, R)                                                      \
    }                                                                                                                  \
    HEDDLE_WMMA_##sm void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &f, unsigned stride,         \
                                            layout_t layout)                                                           \
    {                                                                                                                  \
        if (layout == mem_row_major)                                                                                   \
            HEDDLE_WMMA_STORE("row", m, n, k, type, words, R)                                                          \
        else                                                                                                           \
            HEDDLE_WMMA_STORE("col", m, n, k, type, words, R)                                                          \
    }

/* ---- products ---- */

#define HEDDLE_WMMA_RUN(op, a_layout, b_layout, m, n, k, types, d_words, a_words, b_words, c_words, RD, RA, RC)        \
    {                                                                                                                  \
        HEDDLE_TYPE_##RD rd[d_words];                                                                                  \
        HEDDLE_TYPE_##RA ra[a_words], rb[b_words];                                                                     \
        HEDDLE_TYPE_##RC rc[c_words];                                                                                  \
        __builtin_memcpy(ra, a.x, sizeof ra);                                                                          \
        __builtin_memcpy(rb, b.x, sizeof rb);                                                                          \
        __builtin_memcpy(rc, c.x, sizeof rc);                                                                          \
        __asm__("wmma.mma" op ".sync.aligned." a_layout "." b_layout ".m" #m "n" #n "k" #k types                       \
                " {" HEDDLE_NAMES_##d_words(rd) "}, {" HEDDLE_NAMES_##a_words(ra) "}, {" HEDDLE_NAMES_##b_words(       \
                    rb) "}, {" HEDDLE_NAMES_##c_words(rc) "};"                                                         \
                : HEDDLE_REGS_##d_words(rd, "=" HEDDLE_CONSTRAINT_##RD)                                                \
                : HEDDLE_REGS_##a_words(ra, HEDDLE_CONSTRAINT_##RA),                                                   \
                  HEDDLE_REGS_##b_words(rb, HEDDLE_CONSTRAINT_##RA),                                                   \
                  HEDDLE_REGS_##c_words(rc, HEDDLE_CONSTRAINT_##RC));                                                  \
        __builtin_memcpy(d.x, rd, sizeof rd);                                                                          \
    }

#define HEDDLE_WMMA_OF(sm, m, n, k, D, T, C, LayoutA, a_layout, LayoutB, b_layout, types, dw, aw, bw, cw, RD, RA, RC)  \
    HEDDLE_WMMA_##sm void mma_sync(                                                                                    \
        fragment<accumulator, m, n, k, D> &d, const fragment<matrix_a, m, n, k, T, LayoutA> &a,                        \
        const fragment<matrix_b, m, n, k, T, LayoutB> &b, const fragment<accumulator, m, n, k, C> &c)                  \
    {                                                                                                                  \
        HEDDLE_WMMA_RUN("", a_layout, b_layout, m, n, k, types, dw, aw, bw, cw, RD, RA, RC)                            \
    }
#define HEDDLE_WMMA_PRODUCT(sm, m, n, k, D, T, C, ...)                                                                 \
    HEDDLE_WMMA_OF(sm, m, n, k, D, T, C, row_major, "row", row_major, "row", __VA_ARGS__)                              \
    HEDDLE_WMMA_OF(sm, m, n, k, D, T, C, row_major, "row", col_major, "col", __VA_ARGS__)                              \
    HEDDLE_WMMA_OF(sm, m, n, k, D, T, C, col_major, "col", row_major, "row", __VA_ARGS__)                              \
    HEDDLE_WMMA_OF(sm, m, n, k, D, T, C, col_major, "col", col_major, "col", __VA_ARGS__)

#define HEDDLE_WMMA_SUMS(sm, m, n, k, T, LayoutA, a_layout, LayoutB, b_layout, types, words, aw, bw)                   \
    HEDDLE_WMMA_##sm void mma_sync(fragment<accumulator, m, n, k, int> &d,                                             \
                                   const fragment<matrix_a, m, n, k, T, LayoutA> &a,                                   \
                                   const fragment<matrix_b, m, n, k, T, LayoutB> &b,                                   \
                                   const fragment<accumulator, m, n, k, int> &c, bool saturates = false)               \
    {                                                                                                                  \
        if (saturates)                                                                                                 \
            HEDDLE_WMMA_RUN("", a_layout, b_layout, m, n, k, types ".satfinite", words, aw, bw, words, U, U, U)        \
        else                                                                                                           \
            HEDDLE_WMMA_RUN("", a_layout, b_layout, m, n, k, types, words, aw, bw, words, U, U, U)                     \
    }
#define HEDDLE_WMMA_INTEGERS(sm, m, n, k, T, types, aw, bw)                                                            \
    HEDDLE_WMMA_SUMS(sm, m, n, k, T, row_major, "row", row_major, "row", types, 8, aw, bw)                             \
    HEDDLE_WMMA_SUMS(sm, m, n, k, T, row_major, "row", col_major, "col", types, 8, aw, bw)                             \
    HEDDLE_WMMA_SUMS(sm, m, n, k, T, col_major, "col", row_major, "row", types, 8, aw, bw)                             \
    HEDDLE_WMMA_SUMS(sm, m, n, k, T, col_major, "col", col_major, "col", types, 8, aw, bw)
#define HEDDLE_WMMA_SMALL(sm, m, n, k, T, types)                                                                       \
    HEDDLE_WMMA_SUMS(sm, m, n, k, T, row_major, "row", col_major, "col", types, 2, 1, 1)

} // namespace wmma
} // namespace nvcuda

#endif
