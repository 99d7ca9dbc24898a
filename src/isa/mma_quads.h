/* Registers of fragments as vectors: lane 4 r + t has what is in row r and in column t of a few
 * (struct mma_eights). */
#ifndef HEDDLE_ISA_MMA_QUADS_H
#define HEDDLE_ISA_MMA_QUADS_H

#include "isa/mma_vectors.h"

enum { PARTS = 32 / W }; /* vectors of a row of lanes */

#if defined __AVX2__
/* Lanes 4 r + t of a row, by t: eight of them behind the other; and back. */
#if defined __AVX512F__
INLINE void mma_part_lanes(const u32 *row, vu out[PARTS])
{
    vu r[PARTS];
    LOAD(r[0], row);
    LOAD(r[1], row + W);
    out[0] = __builtin_shufflevector(r[0], r[1], 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    out[1] = __builtin_shufflevector(r[0], r[1], 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
}

INLINE void mma_join_lanes(const vu in[PARTS], u32 *row)
{
    vu low = __builtin_shufflevector(in[0], in[1], 0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
    vu high = __builtin_shufflevector(in[0], in[1], 4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31);
    STORE(row, low);
    STORE(row + W, high);
}
#else
/* The first halves of two vectors, and the second ones. */
INLINE vu low_halves(vu a, vu b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
}

INLINE vu high_halves(vu a, vu b)
{
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

/* Of two vectors' lanes 4 r + t those with t = 0, then with t = 1; those with t = 2, then with t =
 * 3. */
INLINE vu first_two(vu a, vu b)
{
    return __builtin_shufflevector(a, b, 0, 4, 8, 12, 1, 5, 9, 13);
}

INLINE vu last_two(vu a, vu b)
{
    return __builtin_shufflevector(a, b, 2, 6, 10, 14, 3, 7, 11, 15);
}

INLINE void mma_part_lanes(const u32 *row, vu out[4])
{
    vu r[4];
    for (unsigned i = 0; i < 4; i++)
        LOAD(r[i], row + 8 * i);
    vu a = first_two(r[0], r[1]), b = first_two(r[2], r[3]), c = last_two(r[0], r[1]), d = last_two(r[2], r[3]);
    out[0] = low_halves(a, b);
    out[1] = high_halves(a, b);
    out[2] = low_halves(c, d);
    out[3] = high_halves(c, d);
}

/* Elements of two vectors in turn, from the first halves; from the second ones. */
INLINE vu in_turn_low(vu a, vu b)
{
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

INLINE vu in_turn_high(vu a, vu b)
{
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

/* The same of pairs of elements. */
INLINE vu pairs_low(vu a, vu b)
{
    return __builtin_shufflevector(a, b, 0, 1, 8, 9, 2, 3, 10, 11);
}

INLINE vu pairs_high(vu a, vu b)
{
    return __builtin_shufflevector(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
}

INLINE void mma_join_lanes(const vu in[4], u32 *row)
{
    vu a = in_turn_low(in[0], in[1]), b = in_turn_high(in[0], in[1]);
    vu c = in_turn_low(in[2], in[3]), d = in_turn_high(in[2], in[3]);
    vu out[4] = {pairs_low(a, c), pairs_high(a, c), pairs_low(b, d), pairs_high(b, d)};
    for (unsigned i = 0; i < 4; i++)
        STORE(row + 8 * i, out[i]);
}

#endif
#endif

/* W rows, of four columns, by column: from `row` on, and in the register of the next eight rows. */
INLINE void load_columns(const u32 *row, const u32 *next, vu column[4])
{
#if defined __AVX512F__
    vu a[2], b[2];
    mma_part_lanes(row, a);
    mma_part_lanes(next, b);
    for (unsigned t = 0; t < 4; t += 2) {
        column[t] = __builtin_shufflevector(a[t / 2], b[t / 2], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
        column[t + 1] =
            __builtin_shufflevector(a[t / 2], b[t / 2], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    }
#elif defined __AVX2__
    (void)next;
    mma_part_lanes(row, column);
#else
    (void)next;
    for (unsigned t = 0; t < 4; t++)
        column[t] = (vu){row[t], row[4 + t], row[8 + t], row[12 + t]};
#endif
}

/* And back. */
INLINE void store_columns(const vu column[4], u32 *row, u32 *next)
{
#if defined __AVX512F__
    vu a[2], b[2];
    for (unsigned t = 0; t < 4; t += 2) {
        a[t / 2] =
            __builtin_shufflevector(column[t], column[t + 1], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
        b[t / 2] = __builtin_shufflevector(column[t], column[t + 1], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28,
                                           29, 30, 31);
    }
    mma_join_lanes(a, row);
    mma_join_lanes(b, next);
#elif defined __AVX2__
    (void)next;
    mma_join_lanes(column, row);
#else
    (void)next;
    for (unsigned r = 0; r < 4; r++)
        for (unsigned t = 0; t < 4; t++)
            row[4 * r + t] = column[t][r];
#endif
}

/* By t, and by r: those of even r, and those of odd ones. */
INLINE void split_rows(const u32 *row, u32 even[16], u32 odd[16])
{
#if defined __AVX512F__
    vu low, high;
    LOAD(low, row);
    LOAD(high, row + W);
    vu e = __builtin_shufflevector(low, high, 0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
    vu o = __builtin_shufflevector(low, high, 4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31);
    STORE(even, e);
    STORE(odd, o);
#else
    for (unsigned r = 0; r < 8; r++)
        for (unsigned t = 0; t < 4; t++)
            (r % 2 ? odd : even)[4 * t + r / 2] = row[4 * r + t];
#endif
}

#endif
