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

/* Consecutive addresses are the usual case, told without writing a row. */
static bool found_linear(uint64_t first, unsigned log2_stride, struct scan *s)
{
    *s = (struct scan){first, first + (31ull << log2_stride), first, true};
    return true;
}

static bool linear64(const uint64_t *restrict a, int64_t disp, unsigned log2_stride, struct scan *s)
{
    uint64_t off = 0;
    for (uint64_t l = 0; l < LANES; l++)
        off |= a[l] ^ (a[0] + (l << log2_stride));
    return off == 0 && found_linear(a[0] + (uint64_t)disp, log2_stride, s);
}

/* The sums must not wrap to be consecutive as 64-bit addresses. */
static bool linear32(const uint32_t *restrict a, int64_t disp, unsigned log2_stride, struct scan *s)
{
    uint32_t off = 0, first = a[0] + (uint32_t)disp;
    for (uint32_t l = 0; l < LANES; l++)
        off |= a[l] ^ (a[0] + (l << log2_stride));
    return off == 0 && first <= UINT32_MAX - (31u << log2_stride) && found_linear(first, log2_stride, s);
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

static void scan32(const uint32_t *a, int64_t disp, uint32_t mask, unsigned log2_stride, uint64_t *out, struct scan *s)
{
    if (mask == UINT32_MAX && linear32(a, disp, log2_stride, s))
        return;
    for (int l = 0; l < LANES; l++)
        out[l] = (uint32_t)(a[l] + (uint32_t)disp);
    if (mask != UINT32_MAX)
        fill_inactive(out, mask);
    summarise(out, s);
}

static void fill(uint64_t *out, uint64_t first, unsigned log2_stride)
{
    for (uint64_t l = 0; l < LANES; l++)
        out[l] = first + (l << log2_stride);
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
    blend16, blend32, blend64, blend128, scan64, scan32, fill, gather32, gather64, copy32, copy64, splat32, splat64,
};
