/* Definedness: which bytes of global memory, of a block's shared memory, and of the local memory of
 * a warp's threads have been written. For global memory this is a bit for each byte in shadow
 * memory, for all threads together.
 *
 * Unknown bytes count as defined. All functions take ranges of bytes, as a warp accesses.
 */
#ifndef HEDDLE_CHECK_DEFINED_H
#define HEDDLE_CHECK_DEFINED_H

#include "check/shadow/shadow.h"
#include "exec/events.h"

/* ---- global memory ---- */

enum { DEFINED_LOG2_PAGE = 12, DEFINED_PAGE_BYTES = 1 << DEFINED_LOG2_PAGE, DEFINED_WORDS = DEFINED_PAGE_BYTES / 64 };

/* A bit for each byte: 1 is undefined. */
struct undefined_page {
    _Atomic uint64_t bits[DEFINED_WORDS];
};

struct defined {
    struct shadow pages;
    _Atomic uint64_t lost_bytes; /* bytes that count as defined because memory ran out */
};

bool defined_init(struct defined *d, struct budget *budget);
void defined_destroy(struct defined *d);
/* False without memory: some bytes then count as defined. */
bool defined_set_undefined(struct defined *d, uint64_t address, uint64_t bytes);
/* Marks bytes as defined. Returns whether some of them were undefined. */
bool defined_set(struct defined *d, uint64_t address, uint64_t bytes);
/* The same for large memory that nobody else uses. */
void defined_set_all(struct defined *d, uint64_t address, uint64_t bytes);
/* The number of bytes from the address on before the first undefined one; before the first
 * defined one. */
uint64_t defined_bytes(const struct defined *d, uint64_t address, uint64_t bytes);
uint64_t undefined_bytes(const struct defined *d, uint64_t address, uint64_t bytes);

static inline uint64_t bits_from_to(unsigned first, unsigned n)
{
    return (n < 64 ? (1ull << n) - 1 : ~0ull) << first;
}

/* Splits the bits of the first word off a range of bits: returns the word's index, and a mask of
 * these bits. */
static inline uint64_t bits_next(uint64_t *first, uint64_t *n, uint64_t *mask)
{
    unsigned at = *first % 64;
    uint64_t word = *first / 64, part = 64 - at < *n ? 64 - at : *n;
    *mask = bits_from_to(at, (unsigned)part);
    *first += part;
    *n -= part;
    return word;
}

static inline uint64_t bits_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Is any of the bits first..first + n - 1 set? Others may change some meanwhile. */
static inline bool bits_any(const uint64_t *bits, uint64_t first, uint64_t n)
{
    const uint64_t *word = bits + first / 64;
    unsigned at = first % 64;
    if (at + n <= 64)
        return bits_load(word) & bits_from_to(at, (unsigned)n);
    uint64_t any = bits_load(word++) & ~0ull << at;
    for (n -= 64 - at; n >= 64; n -= 64)
        any |= bits_load(word++);
    return any | (n ? bits_load(word) & bits_from_to(0, (unsigned)n) : 0);
}

/* Are all bytes of a range defined? */
static inline bool defined_has(const struct defined *d, uint64_t address, uint64_t bytes)
{
    while (bytes) {
        uint64_t at = address % DEFINED_PAGE_BYTES,
                 n = DEFINED_PAGE_BYTES - at < bytes ? DEFINED_PAGE_BYTES - at : bytes;
        const struct undefined_page *page = shadow_find(&d->pages, address);
        if (page && bits_any((const uint64_t *)page->bits, at, n))
            return false;
        address += n;
        bytes -= n;
    }
    return true;
}

/* ---- a block's memory ---- */

/* Local memory of a warp: for each byte, which lanes have written it. */
struct defined_local {
    uint32_t *at;
    size_t n, capacity;
    bool lost; /* memory ran out: all bytes count as written */
};

struct block_memory {
    struct block_memory *next; /* the next free one */
    uint32_t shared_bytes, n_warps;
    uint32_t n_undefined;      /* undefined bytes of shared memory */
    const struct site *writer; /* the last site that defined some bytes */
    struct region_cache {
        const struct site *site;
        struct region *region;
    } region_cache[16]; /* the allocations of recent stores */
    struct defined_local local[MAX_WARPS];
    uint64_t shared[]; /* a bit for each byte: 1 is undefined */
};

struct block_memory *block_memory_new(uint32_t shared_bytes, uint32_t n_warps);
void block_memory_free(struct block_memory *b);
/* Resets it for a new block. */
void block_memory_clear(struct block_memory *b);

/* Marks bytes as defined. Returns whether some of them were undefined. */
static inline bool shared_set(struct block_memory *b, uint64_t first, uint64_t n)
{
    uint32_t before = b->n_undefined;
    while (n) {
        uint64_t mask, *word = &b->shared[bits_next(&first, &n, &mask)];
        b->n_undefined -= (uint32_t)__builtin_popcountll(*word & mask);
        *word &= ~mask;
    }
    return b->n_undefined != before;
}

/* The lanes among `lanes` that have not written all of these bytes. */
uint32_t local_undefined(const struct defined_local *d, uint64_t address, uint64_t bytes, uint32_t lanes);
void local_set(struct defined_local *d, uint64_t address, uint64_t bytes, uint32_t lanes);

/* ---- runs of an event: neighbouring lanes that access neighbouring bytes ---- */

struct run {
    uint64_t address, bytes;
    unsigned lane; /* the first lane */
};

static inline uint32_t lanes_from_to(unsigned first, unsigned n)
{
    return (n < WARP_LANES ? (1u << n) - 1 : UINT32_MAX) << first;
}

/* Takes the next run off `*lanes`. False if none is left. */
static inline bool next_run(const struct access_event *e, uint32_t *lanes, struct run *r)
{
    if (!*lanes)
        return false;
    unsigned l = (unsigned)__builtin_ctz(*lanes), n = 1;
    uint32_t taken = 1u << l;
    *r = (struct run){e->address ? e->address[l] : e->base, e->bytes, l};
    switch (e->pattern) {
    case ACCESS_UNIFORM: taken = *lanes; break;
    case ACCESS_UNIFORM_HALVES: taken = l < HALF_WARP ? lanes_from_to(0, HALF_WARP) : *lanes; break;
    case ACCESS_LINEAR:
    case ACCESS_LINEAR_HALVES: {
        unsigned end = e->pattern == ACCESS_LINEAR || l >= HALF_WARP ? WARP_LANES : HALF_WARP;
        uint32_t gaps = ~*lanes >> l;
        n = gaps ? (unsigned)__builtin_ctz(gaps) : WARP_LANES;
        n = n < end - l ? n : end - l;
        taken = lanes_from_to(l, n);
        r->address = e->address ? e->address[l] : e->base + (uint64_t)l * e->bytes;
        r->bytes = (uint64_t)n * e->bytes;
        break;
    }
    default: break;
    }
    *lanes &= ~taken;
    return true;
}

#endif
