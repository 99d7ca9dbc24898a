/* See defined.h. */
#include "check/shadow/defined.h"

#include <stdlib.h>

#include "base/vec.h"

/* ---- global memory ---- */

static const struct undefined_page all_undefined = {.bits = {[0 ... DEFINED_WORDS - 1] = ~0ull}};

bool defined_init(struct defined *d, struct budget *budget)
{
    d->lost_bytes = 0;
    return shadow_init(&d->pages, DEFINED_LOG2_PAGE, sizeof(struct undefined_page), &all_undefined, budget);
}

void defined_destroy(struct defined *d)
{
    shadow_destroy(&d->pages);
}

/* How many bytes of a run are on its first page. */
static uint64_t on_page(uint64_t address, uint64_t bytes)
{
    uint64_t left = DEFINED_PAGE_BYTES - address % DEFINED_PAGE_BYTES;
    return left < bytes ? left : bytes;
}

/* The same, or as many whole pages as the run begins with. */
static uint64_t on_pages(uint64_t address, uint64_t bytes)
{
    uint64_t n = on_page(address, bytes);
    return n < DEFINED_PAGE_BYTES ? n : bytes / DEFINED_PAGE_BYTES * DEFINED_PAGE_BYTES;
}

/* Whole pages become the prototype, or none at all. */
static bool fill(struct defined *d, uint64_t address, uint64_t bytes, bool with_prototype)
{
    return shadow_fill(&d->pages, address, address + bytes - DEFINED_PAGE_BYTES, with_prototype);
}

static bool clear_bits(struct undefined_page *page, uint64_t first, uint64_t n)
{
    uint64_t cleared = 0, mask;
    for (uint64_t word; n > 0;) {
        word = bits_next(&first, &n, &mask);
        if (atomic_load_explicit(&page->bits[word], memory_order_relaxed) & mask)
            cleared |= atomic_fetch_and_explicit(&page->bits[word], ~mask, memory_order_relaxed) & mask;
    }
    return cleared;
}

static void set_bits(struct undefined_page *page, uint64_t first, uint64_t n)
{
    uint64_t mask;
    for (uint64_t word; n > 0;) {
        word = bits_next(&first, &n, &mask);
        atomic_fetch_or_explicit(&page->bits[word], mask, memory_order_relaxed);
    }
}

/* Bytes that cannot be followed count as defined. */
static void lose(struct defined *d, uint64_t address)
{
    shadow_retire(&d->pages, shadow_find_slot(&d->pages, address), (void *)d->pages.prototype);
    atomic_fetch_add(&d->lost_bytes, DEFINED_PAGE_BYTES);
}

bool defined_set(struct defined *d, uint64_t address, uint64_t bytes)
{
    bool any = false;
    for (uint64_t n; bytes; address += n, bytes -= n) {
        n = on_page(address, bytes);
        struct undefined_page *page = shadow_find(&d->pages, address);
        bool shared = page && page == d->pages.prototype;
        if (shared)
            page = shadow_demand(&d->pages, address);
        if (page)
            any |= clear_bits(page, address % DEFINED_PAGE_BYTES, n);
        else if (shared)
            lose(d, address);
    }
    return any;
}

bool defined_set_undefined(struct defined *d, uint64_t address, uint64_t bytes)
{
    bool all = true;
    for (uint64_t n; bytes; address += n, bytes -= n) {
        n = on_pages(address, bytes);
        struct undefined_page *page = NULL;
        bool ok = n >= DEFINED_PAGE_BYTES ? fill(d, address, n, true)
                                          : shadow_find(&d->pages, address) == d->pages.prototype ||
                                                (page = shadow_demand(&d->pages, address));
        if (page)
            set_bits(page, address % DEFINED_PAGE_BYTES, n);
        if (!ok)
            atomic_fetch_add(&d->lost_bytes, n);
        all &= ok;
    }
    return all;
}

void defined_set_all(struct defined *d, uint64_t address, uint64_t bytes)
{
    for (uint64_t n; bytes; address += n, bytes -= n) {
        n = on_pages(address, bytes);
        if (n >= DEFINED_PAGE_BYTES)
            fill(d, address, n, false);
        else
            defined_set(d, address, n);
    }
}

/* How many of n bits come before the first that is `bit`. */
static uint64_t bits_before(const struct undefined_page *page, uint64_t first, uint64_t n, bool bit)
{
    uint64_t from = first, all = n, mask;
    for (uint64_t word; n > 0;) {
        word = bits_next(&first, &n, &mask);
        uint64_t found = (bit ? page->bits[word] : ~page->bits[word]) & mask;
        if (found)
            return 64 * word + (uint64_t)__builtin_ctzll(found) - from;
    }
    return all;
}

static uint64_t bytes_until(const struct defined *d, uint64_t address, uint64_t bytes, bool bit)
{
    uint64_t done = 0, n, before;
    do {
        n = on_page(address + done, bytes - done);
        const struct undefined_page *page = shadow_find(&d->pages, address + done);
        before = page ? bits_before(page, (address + done) % DEFINED_PAGE_BYTES, n, bit) : bit ? n : 0;
        done += before;
    } while (before == n && done < bytes);
    return done;
}

uint64_t defined_bytes(const struct defined *d, uint64_t address, uint64_t bytes)
{
    return bytes_until(d, address, bytes, true);
}

uint64_t undefined_bytes(const struct defined *d, uint64_t address, uint64_t bytes)
{
    return bytes_until(d, address, bytes, false);
}

/* ---- a block's memory ---- */

static size_t words_of(uint32_t shared_bytes)
{
    return ((size_t)shared_bytes + 63) / 64;
}

struct block_memory *block_memory_new(uint32_t shared_bytes, uint32_t n_warps)
{
    struct block_memory *b = calloc(1, sizeof *b + 8 * words_of(shared_bytes));
    if (b) {
        b->shared_bytes = shared_bytes;
        b->n_warps = n_warps;
    }
    return b;
}

void block_memory_free(struct block_memory *b)
{
    for (uint32_t i = 0; i < b->n_warps; i++)
        free(b->local[i].at);
    free(b);
}

void block_memory_clear(struct block_memory *b)
{
    b->n_undefined = b->shared_bytes;
    b->writer = NULL;
    memset(b->region_cache, 0, sizeof b->region_cache);
    memset(b->shared, 0xff, 8 * words_of(b->shared_bytes));
    for (uint32_t i = 0; i < b->n_warps; i++) {
        b->local[i].lost = false;
        if (b->local[i].at)
            memset(b->local[i].at, 0, b->local[i].n * sizeof *b->local[i].at);
    }
}

uint32_t local_undefined(const struct defined_local *d, uint64_t address, uint64_t bytes, uint32_t lanes)
{
    uint32_t all = lanes;
    for (uint64_t i = address; i < address + bytes; i++)
        all &= i < d->n ? d->at[i] : 0;
    return d->lost ? 0 : lanes & ~all;
}

static bool grow_local(struct defined_local *d, uint64_t end)
{
    if (!VEC_RESERVE(d, end - d->n))
        return false;
    memset(d->at + d->n, 0, (d->capacity - d->n) * sizeof *d->at);
    d->n = d->capacity;
    return true;
}

void local_set(struct defined_local *d, uint64_t address, uint64_t bytes, uint32_t lanes)
{
    if (address + bytes > d->n && (d->lost || !grow_local(d, address + bytes))) {
        d->lost = true;
        return;
    }
    for (uint64_t i = address; i < address + bytes; i++)
        d->at[i] |= lanes;
}
