/* Arithmetic for tests of bounds. A test shows nothing where what it compares has wrapped around;
 * so sums and products that a test is made of, or left out for, are taken here, where one that does
 * not fit is *lost* and everything made of it is, too.
 *
 * Addresses themselves are modular: the address of a lane is what 64 (or 32) bits hold, whatever
 * overflowed on the way. What makes a modular address a place in memory is that two ends are inside
 * and that the way between them is shorter than a half turn:
 *
 *     first, last = first + iterations * step (modulo 2^64)    both in [lo, hi), hi - lo < 2^63
 *     iterations < 2^ITERATIONS_LOG2, |step| <= 2^STEP_LOG2        so |iterations * step| < 2^63
 *
 * Then `last - first`, taken in integers, is iterations * step: both are below 2^63 and equal
 * modulo 2^64. So first, first + step, ..., last are the same numbers in integers, rise or fall
 * from one end to the other, and lie between two that are inside.
 */
#ifndef HEDDLE_BASE_CHECKED_H
#define HEDDLE_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

enum { ITERATIONS_LOG2 = 31, STEP_LOG2 = 32 };
_Static_assert(ITERATIONS_LOG2 + STEP_LOG2 <= 63, "offsets stay below half of the address space");

/* An integer, or none any more. */
struct checked {
    int64_t v; /* 0 where it is lost */
    bool lost;
};

static inline struct checked checked(int64_t v)
{
    return (struct checked){v, false};
}

static inline struct checked checked_or_lost(int64_t v, bool lost)
{
    return (struct checked){lost ? 0 : v, lost};
}

static inline struct checked checked_add(struct checked a, struct checked b)
{
    int64_t v;
    bool wraps = __builtin_add_overflow(a.v, b.v, &v);
    return checked_or_lost(v, wraps || a.lost || b.lost);
}

static inline struct checked checked_sub(struct checked a, struct checked b)
{
    int64_t v;
    bool wraps = __builtin_sub_overflow(a.v, b.v, &v);
    return checked_or_lost(v, wraps || a.lost || b.lost);
}

static inline struct checked checked_mul(struct checked a, struct checked b)
{
    int64_t v;
    bool wraps = __builtin_mul_overflow(a.v, b.v, &v);
    return checked_or_lost(v, wraps || a.lost || b.lost);
}

/* Is it known, and between two numbers? */
static inline bool checked_is_within(struct checked a, int64_t least, int64_t most)
{
    return !a.lost && a.v >= least && a.v <= most;
}

/* Does [first, last + bytes) lie in [lo, hi)? An end behind the last
 * address wraps, and is outside. */
static inline bool range_holds(uint64_t lo, uint64_t hi, uint64_t first, uint64_t last, uint64_t bytes)
{
    return lo <= first && first <= last && last <= hi && bytes <= hi - last;
}

/* The next multiple of a power of two, from `at` on; false where there is none. */
static inline bool range_align(uint64_t at, uint64_t align, uint64_t *aligned)
{
    bool wraps = __builtin_add_overflow(at, align - 1, aligned);
    *aligned &= ~(align - 1);
    return align && (align & (align - 1)) == 0 && !wraps;
}

#endif
