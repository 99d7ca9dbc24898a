/* Shadow memory: what a detector keeps of each page of the memory that kernels use.
 *
 * A page table from addresses of 48 bits to pages of a detector's state, so many bytes for a page of so many bytes of memory.
 * Looking up takes two loads and no lock, from any thread; pages are made when they are first asked for. A page that is taken away
 * (by one who has found it needless, or where memory is freed) stays readable until shadow_reclaim(), which is called while nobody
 * uses the table.
 *
 * Pages begin as zeros. A table may have a prototype besides: a page that stands for many that are all alike, shared until somebody
 * wants one of his own, which begins as a copy of it. What lies in pages, and how threads share it, is the client's.
 */
#ifndef HEDDLE_CHECK_SHADOW_H
#define HEDDLE_CHECK_SHADOW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/shadow/budget.h"

enum {
    SHADOW_ADDRESS_BITS = 48,
    SHADOW_TABLE_BITS = 32,
    SHADOW_TABLES = 1 << (SHADOW_ADDRESS_BITS - SHADOW_TABLE_BITS)
};

typedef _Atomic(void *) shadow_slot;

struct shadow_retired;

struct shadow {
    _Atomic(shadow_slot *) *tables; /* SHADOW_TABLES of them, each of 4 GiB of memory; NULL: nothing is there */
    unsigned log2_page_bytes;
    size_t state_bytes;
    const void *prototype; /* or NULL */
    struct budget *budget; /* or NULL */
    _Atomic uint64_t bytes;
    _Atomic uint64_t refused; /* how often a page could not be made */
    pthread_mutex_t lock;     /* of retired, and of making tables */
    struct shadow_retired *retired;
};

/* False where memory is exhausted. The prototype has to live as long as the table. */
bool shadow_init(struct shadow *s, unsigned log2_page_bytes, size_t state_bytes, const void *prototype,
                 struct budget *budget);
void shadow_destroy(struct shadow *s);

static inline uint64_t shadow_page_bytes(const struct shadow *s)
{
    return 1ull << s->log2_page_bytes;
}

/* The place of an address's page in the table; NULL where nothing near it was ever asked for. */
static inline shadow_slot *shadow_find_slot(const struct shadow *s, uint64_t address)
{
    uint64_t table = address >> SHADOW_TABLE_BITS;
    shadow_slot *slots = table < SHADOW_TABLES ? atomic_load_explicit(&s->tables[table], memory_order_acquire) : NULL;
    return slots ? &slots[(uint32_t)address >> s->log2_page_bytes] : NULL;
}

/* The state of an address's page; NULL where there is none. It may be the prototype, which must not be changed. */
static inline void *shadow_find(const struct shadow *s, uint64_t address)
{
    shadow_slot *slot = shadow_find_slot(s, address);
    return slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
}

/* The same, to be changed: a page is made where there is none, or the prototype. NULL where memory or the budget is exhausted. */
void *shadow_demand(struct shadow *s, uint64_t address);
/* The page in a slot, to be changed, where it is `page` or the prototype: a copy is made of that. What stands in the slot then
 * may be another's copy, or NULL. NULL, and *refused, where memory is exhausted. */
void *shadow_own(struct shadow *s, shadow_slot *slot, bool *refused);
/* Takes `page` out of its slot, if it is there still. */
void shadow_retire(struct shadow *s, shadow_slot *slot, void *page);
/* All pages that lie in [first, last], whole pages' addresses, become the prototype (or none at all). False where memory is
 * exhausted. */
bool shadow_fill(struct shadow *s, uint64_t first, uint64_t last, bool with_prototype);
/* All slots that have a page, prototypes among them. */
void shadow_each(const struct shadow *s, void (*see)(void *data, shadow_slot *slot), void *data);
/* Takes all pages away. */
void shadow_clear(struct shadow *s);
/* Frees what has been taken away. */
void shadow_reclaim(struct shadow *s);

#endif
