/* See rows.h. Compiled once per CPU level, with ROWS_NAME the name of the table. */
#include "exec/rows.h"

#include <string.h>

enum { LANES = 32 };

#define BLEND(bits, type)                                                                                              \
    static void blend##bits(void *d_, const void *s_, uint32_t mask)                                                   \
    {                                                                                                                  \
        type *d = __builtin_assume_aligned(d_, 64);                                                                    \
        const type *s = __builtin_assume_aligned(s_, 64);                                                              \
        for (int l = 0; l < LANES; l++)                                                                                \
            d[l] = mask & 1u << l ? s[l] : d[l];                                                                       \
    }
BLEND(16, uint16_t)
BLEND(32, uint32_t)
BLEND(64, uint64_t)

static void blend128(void *d, const void *s, uint32_t mask)
{
    for (int l = 0; l < LANES; l++)
        if (mask & 1u << l)
            memcpy((char *)d + 16 * l, (const char *)s + 16 * l, 16);
}

static void summarise(const uint64_t *out, struct scan *s)
{
    uint64_t min = out[0], max = out[0], all = 0;
    for (int l = 0; l < LANES; l++) {
        min = out[l] < min ? out[l] : min;
        max = out[l] > max ? out[l] : max;
        all |= out[l];
    }
    *s = (struct scan){min, max, all, false};
}

static void fill_inactive(uint64_t *out, uint32_t mask)
{
    uint64_t active = out[__builtin_ctz(mask)];
    for (int l = 0; l < LANES; l++)
        out[l] = mask & 1u << l ? out[l] : active;
}

/* Consecutive addresses are the usual case, told without writing a row. They must not wrap: the
 * first is the least then, and the last the largest. */
static bool found_linear(uint64_t first, uint64_t largest, unsigned log2_stride, struct scan *s)
{
    uint64_t way = 31ull << log2_stride;
    *s = (struct scan){first, first + way, first, true};
    return first <= largest - way;
}

static bool linear64(const uint64_t *restrict a, int64_t disp, unsigned log2_stride, struct scan *s)
{
    uint64_t off = 0;
    for (uint64_t l = 0; l < LANES; l++)
        off |= a[l] ^ (a[0] + (l << log2_stride));
    return off == 0 && found_linear(a[0] + (uint64_t)disp, UINT64_MAX, log2_stride, s);
}

static bool linear32(const uint32_t *restrict a, int64_t disp, unsigned log2_stride, struct scan *s)
{
    uint32_t off = 0;
    for (uint32_t l = 0; l < LANES; l++)
        off |= a[l] ^ (a[0] + (l << log2_stride));
    return off == 0 && found_linear((uint32_t)(a[0] + (uint32_t)disp), UINT32_MAX, log2_stride, s);
}

static void scan64(const uint64_t *a, int64_t disp, uint32_t mask, unsigned log2_stride, uint64_t *out, struct scan *s)
{
    if (mask == UINT32_MAX && linear64(a, disp, log2_stride, s))
        return;
    for (int l = 0; l < LANES; l++)
        out[l] = a[l] + (uint64_t)disp;
    if (mask != UINT32_MAX)
        fill_inactive(out, mask);
    summarise(out, s);
}

/* Summed up before they are extended: that is half the work. */
static void scan32(const uint32_t *a, int64_t disp, uint32_t mask, unsigned log2_stride, uint64_t *out, struct scan *s)
{
    uint32_t at[LANES] __attribute__((aligned(64))), min, max, all = 0;
    if (mask == UINT32_MAX && linear32(a, disp, log2_stride, s))
        return;
    uint32_t active = a[__builtin_ctz(mask)] + (uint32_t)disp;
    min = max = active;
    for (int l = 0; l < LANES; l++) {
        uint32_t v = a[l] + (uint32_t)disp;
        at[l] = v = mask & 1u << l ? v : active;
        min = v < min ? v : min;
        max = v > max ? v : max;
        all |= v;
    }
    for (int l = 0; l < LANES; l++)
        out[l] = at[l];
    *s = (struct scan){min, max, all, false};
}

static void fill(uint64_t *out, uint64_t first, unsigned log2_stride)
{
    for (uint64_t l = 0; l < LANES; l++)
        out[l] = first + (l << log2_stride);
}

/* Do the active lanes of lanes from..from + n - 1 differ from lane l at first + l * stride? */
static inline bool lie_apart(const uint64_t *address, uint32_t mask, int from, int n, uint64_t first, uint64_t stride)
{
    uint64_t off = 0;
    for (int l = from; l < from + n; l++)
        off |= mask & 1u << l ? address[l] ^ (first + (uint64_t)l * stride) : 0;
    return off != 0;
}

/* The same of each half of the warp, from its own first active lane on. */
static inline bool halves_lie_apart(const uint64_t *address, uint32_t mask, uint64_t stride)
{
    int low = mask & 0xffff ? __builtin_ctz(mask & 0xffff) : 0, high = mask >> 16 ? __builtin_ctz(mask >> 16) + 16 : 16;
    return lie_apart(address, mask, 0, LANES / 2, address[low] - (uint64_t)low * stride, stride) ||
           lie_apart(address, mask, LANES / 2, LANES / 2, address[high] - (uint64_t)high * stride, stride);
}

/* Of a whole warp, which is not linear, as the scan would have said so. */
static enum pattern pattern_of_all(const uint64_t *address, uint64_t stride)
{
    const uint64_t *upper = address + LANES / 2;
    uint64_t off_line = 0, off_one = 0;
    for (uint64_t l = 0; l < LANES / 2; l++) {
        uint64_t low = address[l] - address[0], high = upper[l] - upper[0];
        off_line |= (low ^ l * stride) | (high ^ l * stride);
        off_one |= low | high;
    }
    return !off_line ? PATTERN_LINEAR_HALVES : !off_one ? PATTERN_EQUAL_HALVES : PATTERN_NONE;
}

static enum pattern pattern(const uint64_t *address, uint32_t mask, unsigned log2_stride)
{
    uint64_t stride = 1ull << log2_stride, lane = (uint64_t)__builtin_ctz(mask);
    if (mask == UINT32_MAX)
        return pattern_of_all(address, stride);
    if (!lie_apart(address, mask, 0, LANES, address[lane] - lane * stride, stride))
        return PATTERN_LINEAR;
    if (!halves_lie_apart(address, mask, stride))
        return PATTERN_LINEAR_HALVES;
    return halves_lie_apart(address, mask, 0) ? PATTERN_NONE : PATTERN_EQUAL_HALVES;
}

static void gather_halves32(uint32_t *d, const uint64_t *address, uint64_t base, bool linear)
{
    for (int half = 0; half < LANES; half += LANES / 2) {
        const uint32_t *from = (const uint32_t *)(uintptr_t)(address[half] + base);
        if (linear)
            memcpy(d + half, from, LANES / 2 * sizeof *d);
        else
            for (int l = 0; l < LANES / 2; l++)
                d[half + l] = *from;
    }
}

/* Inactive lanes hold the address of an active one, so all may be read; theirs is not written. */
static void gather32(uint32_t *d, const uint64_t *address, uint64_t base, uint32_t mask)
{
    for (int l = 0; l < LANES; l++) {
        uint32_t v = *(const uint32_t *)(uintptr_t)(address[l] + base);
        d[l] = mask & 1u << l ? v : d[l];
    }
}

static void gather64(uint64_t *d, const uint64_t *address, uint64_t base, uint32_t mask)
{
    for (int l = 0; l < LANES; l++) {
        uint64_t v = *(const uint64_t *)(uintptr_t)(address[l] + base);
        d[l] = mask & 1u << l ? v : d[l];
    }
}

static void copy32(uint32_t *d, const uint32_t *s)
{
    memcpy(d, s, LANES * sizeof *d);
}

static void copy64(uint64_t *d, const uint64_t *s)
{
    memcpy(d, s, LANES * sizeof *d);
}

/* A row: they are aligned, and apart from memory. */
#define ROW(type, p) ((type *)__builtin_assume_aligned((p), 64))

/* Pairs of a type: from memory to rows, and from rows to memory. */
#define PAIRS(name, type)                                                                                              \
    static void load_##name(uint8_t *const *rows, const type *restrict s)                                              \
    {                                                                                                                  \
        type *restrict a = ROW(type, rows[0]), *restrict b = ROW(type, rows[1]);                                       \
        for (int l = 0; l < LANES; l++) {                                                                              \
            a[l] = s[2 * l];                                                                                           \
            b[l] = s[2 * l + 1];                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    static void store_##name(type *restrict d, uint8_t *const *rows)                                                   \
    {                                                                                                                  \
        const type *a = ROW(type, rows[0]), *b = ROW(type, rows[1]);                                                   \
        for (int l = 0; l < LANES; l++) {                                                                              \
            d[2 * l] = a[l];                                                                                           \
            d[2 * l + 1] = b[l];                                                                                       \
        }                                                                                                              \
    }
PAIRS(pairs32, uint32_t)
PAIRS(pairs64, uint64_t)
#undef PAIRS

static void load_vectors32(uint8_t *const *rows, const uint32_t *restrict s, unsigned n)
{
    if (n == 2) {
        load_pairs32(rows, s);
        return;
    }
    uint32_t *restrict a = ROW(uint32_t, rows[0]), *restrict b = ROW(uint32_t, rows[1]);
    uint32_t *restrict c = ROW(uint32_t, rows[2]), *restrict d = ROW(uint32_t, rows[3]);
    for (int l = 0; l < LANES; l++) {
        a[l] = s[4 * l];
        b[l] = s[4 * l + 1];
        c[l] = s[4 * l + 2];
        d[l] = s[4 * l + 3];
    }
}

static void store_vectors32(uint32_t *restrict d, uint8_t *const *rows, unsigned n)
{
    if (n == 2) {
        store_pairs32(d, rows);
        return;
    }
    const uint32_t *a = ROW(uint32_t, rows[0]), *b = ROW(uint32_t, rows[1]);
    const uint32_t *c = ROW(uint32_t, rows[2]), *e = ROW(uint32_t, rows[3]);
    for (int l = 0; l < LANES; l++) {
        d[4 * l] = a[l];
        d[4 * l + 1] = b[l];
        d[4 * l + 2] = c[l];
        d[4 * l + 3] = e[l];
    }
}

#define CONVERT(to, from)                                                                                              \
    for (int l = 0; l < LANES; l++)                                                                                    \
        ((to *)d)[l] = (to)((const from *)s)[l];

static void load_narrow(void *restrict d, const void *restrict s, unsigned bytes, unsigned width, bool sign)
{
    if (bytes == 1 && width == 16 && sign)
        CONVERT(int16_t, int8_t)
    else if (bytes == 1 && width == 16)
        CONVERT(uint16_t, uint8_t)
    else if (bytes == 1 && sign)
        CONVERT(int32_t, int8_t)
    else if (bytes == 1)
        CONVERT(uint32_t, uint8_t)
    else if (width == 16)
        CONVERT(uint16_t, uint16_t)
    else if (sign)
        CONVERT(int32_t, int16_t)
    else
        CONVERT(uint32_t, uint16_t)
}

static void store_narrow(void *restrict d, const void *restrict s, unsigned bytes, unsigned width)
{
    if (bytes == 1 && width == 16)
        CONVERT(uint8_t, uint16_t)
    else if (bytes == 1)
        CONVERT(uint8_t, uint32_t)
    else if (width == 16)
        CONVERT(uint16_t, uint16_t)
    else
        CONVERT(uint16_t, uint32_t)
}

static void splat32(uint32_t *d, uint32_t value)
{
    for (int l = 0; l < LANES; l++)
        d[l] = value;
}

static void splat64(uint64_t *d, uint64_t value)
{
    for (int l = 0; l < LANES; l++)
        d[l] = value;
}

extern const struct row_fns ROWS_NAME;
const struct row_fns ROWS_NAME = {
    .blend16 = blend16,
    .blend32 = blend32,
    .blend64 = blend64,
    .blend128 = blend128,
    .scan64 = scan64,
    .scan32 = scan32,
    .fill = fill,
    .pattern = pattern,
    .gather_halves32 = gather_halves32,
    .gather32 = gather32,
    .gather64 = gather64,
    .copy32 = copy32,
    .copy64 = copy64,
    .load_vectors32 = load_vectors32,
    .load_vectors64 = load_pairs64,
    .store_vectors32 = store_vectors32,
    .store_vectors64 = store_pairs64,
    .load_narrow = load_narrow,
    .store_narrow = store_narrow,
    .splat32 = splat32,
    .splat64 = splat64,
};
