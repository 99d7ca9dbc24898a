/* Interleaves the elements of vectors, and back; see load_store.h. */
#include "jit/emit/load_store.h"

/* Interleaves the elements of two vectors, from element `from` on; and takes every second element. */
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
    for (unsigned k = 0; k < n / 2; k++) {
        even[k] = unzip_two(e, v[2 * k], v[2 * k + 1], 0);
        odd[k] = unzip_two(e, v[2 * k], v[2 * k + 1], 1);
    }
    vector_unzip(e, even, n / 2);
    vector_unzip(e, odd, n / 2);
    for (unsigned k = 0; k < n; k++)
        v[k] = k % 2 ? odd[k / 2] : even[k / 2];
}

value vector_collect(struct emit *e, const value *from, unsigned n, const int index[WARP_LANES])
{
    value v = LLVMGetPoison(LLVMTypeOf(from[0])); /* the vector collected so far */
    for (unsigned k = 0; k < n; k++) {
        int lanes[WARP_LANES];
        bool used = false;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            unsigned number = (unsigned)index[l] / WARP_LANES; /* larger than any for a negative index */
            used |= number == k;
            lanes[l] = number == k ? WARP_LANES + index[l] % WARP_LANES : number < k ? (int)l : -1;
        }
        v = used ? emit_shuffle(e, v, from[k], lanes, WARP_LANES) : v;
    }
    return v;
}
