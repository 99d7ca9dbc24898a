/* Shadow memory: a page table from addresses of 48 bits to pages of a detector's state.
 *
 * A look-up takes two loads and no lock, from any thread. Pages are made when they are first asked
 * for, and begin as zeros. A page that is taken away stays readable until shadow_reclaim(), which
 * is called while nobody uses the table.
 *
 * A table may have a prototype: a page that stands for many equal ones, until somebody wants to
 * change one and gets a copy. What is in pages, and how threads share it, is the client's: cells.h,
 * defined.h.
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

/* The slot of an address's page; NULL where its part of the table was never asked for. */
static inline shadow_slot *shadow_find_slot(const struct shadow *s, uint64_t address)
{
    uint64_t table = address >> SHADOW_TABLE_BITS;
    shadow_slot *slots = table < SHADOW_TABLES ? atomic_load_explicit(&s->tables[table], memory_order_acquire) : NULL;
    return slots ? &slots[(uint32_t)address >> s->log2_page_bytes] : NULL;
}

/* The state of an address's page; NULL where there is none. It may be the prototype, which must not
 * be changed. */
static inline void *shadow_find(const struct shadow *s, uint64_t address)
{
    shadow_slot *slot = shadow_find_slot(s, address);
    return slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
}

/* The same, to be changed: a page is made where there is none, or the prototype. NULL without
 * memory. */
void *shadow_demand(struct shadow *s, uint64_t address);
/* Takes `page` out of its slot, if it is there still. */
void shadow_retire(struct shadow *s, shadow_slot *slot, void *page);
/* All pages that lie in [first, last], whole pages' addresses, become the prototype (or none at
 * all). False where memory is exhausted. */
bool shadow_fill(struct shadow *s, uint64_t first, uint64_t last, bool with_prototype);
/* All slots that have a page, prototypes among them. */
void shadow_each(const struct shadow *s, void (*see)(void *data, shadow_slot *slot), void *data);
/* Takes all pages away. */
void shadow_clear(struct shadow *s);
/* Frees what has been taken away. */
void shadow_reclaim(struct shadow *s);

#endif
