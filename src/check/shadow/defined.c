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

/* A part of a page, or a page. */
struct part {
    uint64_t at, bytes; /* in the page */
};

static struct part first_part(uint64_t address, uint64_t bytes)
{
    uint64_t at = address % DEFINED_PAGE_BYTES, left = DEFINED_PAGE_BYTES - at;
    return (struct part){at, left < bytes ? left : bytes};
}

static bool clear_part(struct undefined_page *page, struct part p)
{
    uint64_t cleared = 0;
    while (p.bytes) {
        unsigned at = p.at % 64;
        uint64_t n = 64 - at < p.bytes ? 64 - at : p.bytes, mask = bits_from_to(at, (unsigned)n);
        _Atomic uint64_t *word = &page->bits[p.at / 64];
        if (atomic_load_explicit(word, memory_order_relaxed) & mask)
            cleared |= atomic_fetch_and_explicit(word, ~mask, memory_order_relaxed) & mask;
        p.at += n;
        p.bytes -= n;
    }
    return cleared;
}

/* The bytes that cannot be followed count as defined. */
static void lose(struct defined *d, shadow_slot *slot)
{
    shadow_retire(&d->pages, slot, (void *)d->pages.prototype);
    atomic_fetch_add(&d->lost_bytes, DEFINED_PAGE_BYTES);
}

bool defined_set(struct defined *d, uint64_t address, uint64_t bytes)
{
    bool any = false;
    while (bytes) {
        struct part p = first_part(address, bytes);
        shadow_slot *slot = shadow_find_slot(&d->pages, address);
        bool refused = false;
        struct undefined_page *page = slot ? shadow_own(&d->pages, slot, &refused) : NULL;
        if (page)
            any |= clear_part(page, p);
        else if (refused)
            lose(d, slot);
        address += p.bytes;
        bytes -= p.bytes;
    }
    return any;
}

static void set_part(struct undefined_page *page, struct part p)
{
    while (p.bytes) {
        unsigned at = p.at % 64;
        uint64_t n = 64 - at < p.bytes ? 64 - at : p.bytes;
        atomic_fetch_or_explicit(&page->bits[p.at / 64], bits_from_to(at, (unsigned)n), memory_order_relaxed);
        p.at += n;
        p.bytes -= n;
    }
}

bool defined_set_undefined(struct defined *d, uint64_t address, uint64_t bytes)
{
    bool all = true;
    while (bytes) {
        struct part p = first_part(address, bytes);
        bool ok = true;
        if (p.bytes == DEFINED_PAGE_BYTES) {
            p.bytes = bytes / DEFINED_PAGE_BYTES * DEFINED_PAGE_BYTES;
            ok = shadow_fill(&d->pages, address, address + p.bytes - DEFINED_PAGE_BYTES, true);
        } else if (shadow_find(&d->pages, address) != d->pages.prototype) {
            struct undefined_page *page = shadow_demand(&d->pages, address);
            ok = page != NULL;
            if (ok)
                set_part(page, p);
        }
        if (!ok)
            atomic_fetch_add(&d->lost_bytes, p.bytes);
        all &= ok;
        address += p.bytes;
        bytes -= p.bytes;
    }
    return all;
}

void defined_set_all(struct defined *d, uint64_t address, uint64_t bytes)
{
    while (bytes) {
        struct part p = first_part(address, bytes);
        if (p.bytes == DEFINED_PAGE_BYTES) {
            p.bytes = bytes / DEFINED_PAGE_BYTES * DEFINED_PAGE_BYTES;
            shadow_fill(&d->pages, address, address + p.bytes - DEFINED_PAGE_BYTES, false);
        } else {
            defined_set(d, address, p.bytes);
        }
        address += p.bytes;
        bytes -= p.bytes;
    }
}

/* How many bytes of a part have a bit that is not `bit` before the first that has. */
static uint64_t bytes_before(const struct undefined_page *page, struct part p, bool bit)
{
    for (uint64_t done = 0; done < p.bytes;) {
        unsigned at = (p.at + done) % 64;
        uint64_t n = 64 - at < p.bytes - done ? 64 - at : p.bytes - done, word = page->bits[(p.at + done) / 64];
        uint64_t found = (bit ? word : ~word) & bits_from_to(at, (unsigned)n);
        if (found)
            return done + (uint64_t)__builtin_ctzll(found) - at;
        done += n;
    }
    return p.bytes;
}

static uint64_t bytes_until(const struct defined *d, uint64_t address, uint64_t bytes, bool bit)
{
    uint64_t done = 0;
    while (done < bytes) {
        struct part p = first_part(address + done, bytes - done);
        const struct undefined_page *page = shadow_find(&d->pages, address + done);
        uint64_t before = page ? bytes_before(page, p, bit) : bit ? p.bytes : 0;
        done += before;
        if (before < p.bytes)
            break;
    }
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
