/* Values on their way between memory and the lanes' registers: single accesses of a lane, as others
 * see them. Private to access.c and access_by_lane.c.
 */
#ifndef HEDDLE_EXEC_ACCESS_VALUES_H
#define HEDDLE_EXEC_ACCESS_VALUES_H

#if defined __x86_64__
#include <emmintrin.h>
#endif

#include "exec/access_plan.h"

/* An element of memory as it stands in a register of `width` bits. */
static inline uint64_t access_extend(uint64_t v, unsigned bytes, bool sign)
{
    unsigned shift = 64 - 8 * bytes;
    return bytes >= 8 || !sign ? v : (uint64_t)((int64_t)(v << shift) >> shift);
}

static inline void access_put_lane(uint8_t *row, unsigned width, unsigned lane, const uint64_t *v)
{
    memcpy(row + lane * width / 8, v, width / 8);
}

/* Strong loads and stores of a lane are single accesses; weak ones may be, too. */
static inline void access_load_element(void *to, const void *from, unsigned bytes)
{
    switch (bytes) {
    case 1: *(uint8_t *)to = __atomic_load_n((const uint8_t *)from, __ATOMIC_RELAXED); break;
    case 2: *(uint16_t *)to = __atomic_load_n((const uint16_t *)from, __ATOMIC_RELAXED); break;
    case 4: *(uint32_t *)to = __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED); break;
    case 8: *(uint64_t *)to = __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED); break;
    default: memcpy(to, from, bytes); break;
    }
}

static inline void access_store_element(void *to, const void *from, unsigned bytes)
{
    switch (bytes) {
    case 1: __atomic_store_n((uint8_t *)to, *(const uint8_t *)from, __ATOMIC_RELAXED); break;
    case 2: __atomic_store_n((uint16_t *)to, *(const uint16_t *)from, __ATOMIC_RELAXED); break;
    case 4: __atomic_store_n((uint32_t *)to, *(const uint32_t *)from, __ATOMIC_RELAXED); break;
    case 8: __atomic_store_n((uint64_t *)to, *(const uint64_t *)from, __ATOMIC_RELAXED); break;
    default: memcpy(to, from, bytes); break;
    }
}

/* Are aligned elements of a row loaded and stored whole, as others see it? CPUs of x86-64 do that;
 * of registers of vectors the Arm architecture does not promise it (Arm ARM B2.2.1).
 * jit/targets.def says the same of compiled code. */
#if defined __x86_64__
enum { HOST_HAS_WHOLE_ELEMENTS = 1 };
#else
enum { HOST_HAS_WHOLE_ELEMENTS = 0 };
#endif

/* All 16 bytes at once, as others see it. CPUs that have AVX promise that of an aligned load or
 * store (Intel SDM 3A, 10.1.1; AMD64 APM 2, 7.3.2); of the Arm architecture, what compares and
 * swaps does it. */
#if defined __x86_64__
static inline void access_load_16(void *to, const void *from)
{
    _mm_storeu_si128(to, *(const volatile __m128i *)from);
}

static inline void access_store_16(void *to, const void *from)
{
    *(volatile __m128i *)to = _mm_loadu_si128(from);
}
#else
static inline void access_load_16(void *to, const void *from)
{
    unsigned __int128 v = __sync_val_compare_and_swap((unsigned __int128 *)(uintptr_t)from, 0, 0);
    memcpy(to, &v, 16);
}

static inline void access_store_16(void *to, const void *from)
{
    unsigned __int128 wanted, seen = 0, expected;
    memcpy(&wanted, from, 16);
    do {
        expected = seen;
        seen = __sync_val_compare_and_swap((unsigned __int128 *)to, expected, wanted);
    } while (seen != expected);
}
#endif

/* What follows moves a lane's values between memory, at `to` where it `writes` and else at `from`,
 * and a buffer. */

static inline __attribute__((always_inline)) void access_move_element(void *to, const void *from, unsigned bytes,
                                                                      bool writes)
{
    if (writes)
        access_store_element(to, from, bytes);
    else
        access_load_element(to, from, bytes);
}

static inline __attribute__((always_inline)) void access_move_16(void *to, const void *from, bool writes)
{
    if (writes)
        access_store_16(to, from);
    else
        access_load_16(to, from);
}

/* As one access. */
static inline __attribute__((always_inline)) void access_move_whole(void *to, const void *from, unsigned bytes,
                                                                    bool writes)
{
    if (bytes <= 8)
        access_move_element(to, from, bytes, writes);
    for (unsigned at = 0; at + 16 <= bytes; at += 16)
        access_move_16((uint8_t *)to + at, (const uint8_t *)from + at, writes);
}

/* Those of all lanes, one behind the other. */
static inline __attribute__((always_inline)) void access_move_whole_lanes(const struct mem_access *m, uint8_t *to,
                                                                          const uint8_t *from, bool writes)
{
    unsigned bytes = (unsigned)m->bytes * m->n;
    for (unsigned at = 0; bytes == 16 && at < 16 * WARP_LANES; at += 16)
        access_move_16(to + at, from + at, writes);
    for (unsigned l = 0; bytes != 16 && l < WARP_LANES; l++)
        access_move_whole(to + l * bytes, from + l * bytes, bytes, writes);
}

static inline __attribute__((always_inline)) void access_move_lane(const struct mem_access *m, uint8_t *to,
                                                                   const uint8_t *from, bool writes)
{
    if (mem_access_is_whole(m))
        access_move_whole(to, from, (unsigned)m->bytes * m->n, writes);
    else
        for (unsigned k = 0; k < m->n; k++)
            access_move_element(to + k * m->bytes, from + k * m->bytes, m->bytes, writes);
}

/* ---- registers ---- */

/* Elements in memory or in a buffer to the lane's registers. */
static inline void access_load_lane(const struct op_access *x, uint8_t *const rows[8], unsigned lane,
                                    const uint8_t *from)
{
    for (unsigned k = 0; k < x->mem.n; k++) {
        uint64_t v[2] = {0, 0};
        access_load_element(v, from + k * x->mem.bytes, x->mem.bytes);
        v[0] = access_extend(v[0], x->mem.bytes, x->mem.sign);
        access_put_lane(rows[k], x->width[k], lane, v);
    }
}

static inline void access_gather_lane(const struct op_access *x, uint8_t *const rows[8], unsigned lane, uint8_t *to)
{
    for (unsigned k = 0; k < x->mem.n; k++)
        memcpy(to + k * x->mem.bytes, rows[k] + lane * x->width[k] / 8, x->mem.bytes);
}

/* A mask of lanes with bit n for the lane that is the n-th to store, n ^ order. */
static inline uint32_t access_in_order(uint32_t mask, unsigned order)
{
    static const uint32_t odd[] = {0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00, 0xffff0000};
    for (unsigned k = 0; order >> k; k++)
        mask = (mask & odd[k]) >> (1u << k) | (mask & ~odd[k]) << (1u << k);
    return mask;
}

/* ---- access_by_lane.c ---- */

/* Lanes located one by one; false after a fault. */
bool access_load_by_lane(struct warp *w, const struct op *o, uint8_t *const rows[8], uint32_t mask, struct plan *p);
/* The fault is the lowest lane's that has one; lanes below it have stored. */
bool access_store_by_lane(struct warp *w, const struct op *o, uint8_t *const rows[8], uint32_t mask, struct plan *p);
/* While a stall is looked into: does the store change anything? */
void access_watch_store(struct warp *w, const struct op *o, uint8_t *const rows[8], uint32_t mask, struct plan *p);

#endif
