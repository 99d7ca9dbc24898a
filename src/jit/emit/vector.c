/* Interleaves the elements of vectors, and back; see load_store.h. */
#include "jit/emit/load_store.h"

#include <string.h>

value vector_collect(struct emit *e, const value *from, unsigned n, const int index[WARP_LANES])
{
    value v = LLVMGetPoison(LLVMTypeOf(from[0])); /* the vector collected so far */
    for (unsigned k = 0; k < n; k++) {
        int lanes[WARP_LANES];
        bool used = false;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            /* Larger than any for a negative index. */
            unsigned number = (unsigned)index[l] / WARP_LANES;
            used |= number == k;
            lanes[l] = number == k ? WARP_LANES + index[l] % WARP_LANES : number < k ? (int)l : -1;
        }
        v = used ? emit_shuffle(e, v, from[k], lanes, WARP_LANES) : v;
    }
    return v;
}

/* ---- four words, eight lanes at a time ---- */

/* CPUs whose vectors have eight words or four interleave pairs of words, and pairs of such pairs,
 * within 16 bytes in one instruction each, and exchange 16 bytes in another. LLVM takes longer ways
 * for the same shuffle as a whole. With mask registers one instruction picks from two vectors. */
enum { PIECE = 8 };
static const int low_words[PIECE] = {0, 8, 1, 9, 4, 12, 5, 13}, high_words[PIECE] = {2, 10, 3, 11, 6, 14, 7, 15},
                 low_pairs[PIECE] = {0, 1, 8, 9, 4, 5, 12, 13}, high_pairs[PIECE] = {2, 3, 10, 11, 6, 7, 14, 15},
                 low_halves[PIECE] = {0, 1, 2, 3, 8, 9, 10, 11}, high_halves[PIECE] = {4, 5, 6, 7, 12, 13, 14, 15};

static bool is_by_pieces(struct emit *e, value v)
{
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(v));
    return !e->fn->target->has_mask_registers &&
           (element == e->m->i32 || element == LLVMFloatTypeInContext(e->m->context));
}

/* The same shuffle of each piece of x and y. */
static value shuffle_pieces(struct emit *e, value x, value y, const int at[PIECE])
{
    int index[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++) {
        int of = at[l % PIECE], piece = l / PIECE * PIECE;
        index[l] = of < PIECE ? piece + of : WARP_LANES + piece + of - PIECE;
    }
    return emit_shuffle(e, x, y, index, WARP_LANES);
}

/* Piece k of vector j becomes piece j of vector k. */
static void transpose_pieces(struct emit *e, value v[4])
{
    value from[4];
    memcpy(from, v, sizeof from);
    for (int k = 0; k < 4; k++) {
        int index[WARP_LANES];
        for (int l = 0; l < WARP_LANES; l++)
            index[l] = l / PIECE * WARP_LANES + k * PIECE + l % PIECE;
        v[k] = vector_collect(e, from, 4, index);
    }
}

/* The same vector. LLVM does not merge what makes it with what uses it: a shuffle of pairs and
 * one of halves, merged, are three instructions, of which none serves another vector. */
static value keep_apart(struct emit *e, value v)
{
    LLVMTypeRef type = vector_of(LLVMFloatTypeInContext(e->m->context), WARP_LANES);
    value as_floats = LLVMBuildBitCast(e->m->b, v, type, "");
    return LLVMBuildBitCast(e->m->b, emit_intrinsic_of(e, "llvm.arithmetic.fence", &type, 1, &as_floats, 1),
                            LLVMTypeOf(v), "");
}

static void zip_four(struct emit *e, value v[4])
{
    value words[4] = {shuffle_pieces(e, v[0], v[1], low_words), shuffle_pieces(e, v[0], v[1], high_words),
                      shuffle_pieces(e, v[2], v[3], low_words), shuffle_pieces(e, v[2], v[3], high_words)};
    /* of each piece, the first and the fifth lane's four words, the
     * second's and the sixth's, ... */
    value lanes[4] = {
        shuffle_pieces(e, words[0], words[2], low_pairs), shuffle_pieces(e, words[0], words[2], high_pairs),
        shuffle_pieces(e, words[1], words[3], low_pairs), shuffle_pieces(e, words[1], words[3], high_pairs)};
    for (int k = 0; k < 4; k++)
        lanes[k] = keep_apart(e, lanes[k]);
    for (int k = 0; k < 4; k++)
        v[k] = shuffle_pieces(e, lanes[k % 2 * 2], lanes[k % 2 * 2 + 1], k < 2 ? low_halves : high_halves);
    transpose_pieces(e, v);
}

static void unzip_four(struct emit *e, value v[4])
{
    transpose_pieces(e, v);
    value lanes[4] = {shuffle_pieces(e, v[0], v[2], low_halves), shuffle_pieces(e, v[0], v[2], high_halves),
                      shuffle_pieces(e, v[1], v[3], low_halves), shuffle_pieces(e, v[1], v[3], high_halves)};
    value words[4] = {
        shuffle_pieces(e, lanes[0], lanes[1], low_words), shuffle_pieces(e, lanes[0], lanes[1], high_words),
        shuffle_pieces(e, lanes[2], lanes[3], low_words), shuffle_pieces(e, lanes[2], lanes[3], high_words)};
    for (int k = 0; k < 4; k++)
        v[k] = shuffle_pieces(e, words[k / 2], words[k / 2 + 2], k % 2 ? high_pairs : low_pairs);
}

/* ---- any number ---- */

/* Interleaves the elements of two vectors, from element `from` on; and
 * takes every second element. */
static value zip_two(struct emit *e, value x, value y, unsigned from)
{
    int index[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        index[l] = (int)(from + l / 2 + l % 2 * WARP_LANES);
    return emit_shuffle(e, x, y, index, WARP_LANES);
}

static value unzip_two(struct emit *e, value x, value y, unsigned from)
{
    int index[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        index[l] = (int)(from + 2 * l);
    return emit_shuffle(e, x, y, index, WARP_LANES);
}

static void part_in_turns(const value *v, unsigned n, value *even, value *odd)
{
    for (unsigned k = 0; k < n / 2; k++) {
        even[k] = v[2 * k];
        odd[k] = v[2 * k + 1];
    }
}

void vector_zip(struct emit *e, value *v, unsigned n)
{
    value even[MAX_VALUES / 2], odd[MAX_VALUES / 2];
    if (n == 1)
        return;
    if (n == 4 && is_by_pieces(e, v[0])) {
        zip_four(e, v);
        return;
    }
    part_in_turns(v, n, even, odd);
    vector_zip(e, even, n / 2);
    vector_zip(e, odd, n / 2);
    for (unsigned k = 0; k < n; k++)
        v[k] = zip_two(e, even[k / 2], odd[k / 2], k % 2 * WARP_LANES / 2);
}

void vector_unzip(struct emit *e, value *v, unsigned n)
{
    value even[MAX_VALUES / 2], odd[MAX_VALUES / 2];
    if (n == 1)
        return;
    if (n == 4 && is_by_pieces(e, v[0])) {
        unzip_four(e, v);
        return;
    }
    for (unsigned k = 0; k < n / 2; k++) {
        even[k] = unzip_two(e, v[2 * k], v[2 * k + 1], 0);
        odd[k] = unzip_two(e, v[2 * k], v[2 * k + 1], 1);
    }
    vector_unzip(e, even, n / 2);
    vector_unzip(e, odd, n / 2);
    for (unsigned k = 0; k < n; k++)
        v[k] = k % 2 ? odd[k / 2] : even[k / 2];
}
