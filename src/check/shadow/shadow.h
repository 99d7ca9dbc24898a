/* Shadow memory: a page table from 48-bit addresses to pages of a detector's state.
 *
 * A look-up takes two loads and no lock, from any thread. A page is made at its first use and
 * starts as zeros. A removed page stays readable until shadow_reclaim(), which is called while
 * nobody uses the table.
 *
 * A table may have a prototype: a shared page that represents many equal ones. Whoever wants to
 * change one gets a copy. Clients define what pages contain and how threads share it: cells.h,
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
    /* SHADOW_TABLES entries, each for 4 GiB of memory; NULL: empty. */
    _Atomic(shadow_slot *) *tables;
    unsigned log2_page_bytes;
    size_t state_bytes;
    const void *prototype; /* or NULL */
    struct budget *budget; /* or NULL */
    _Atomic uint64_t bytes;
    _Atomic uint64_t refused; /* the number of pages that could not be made */
    pthread_mutex_t lock;     /* protects `retired`, and the making of tables */
    struct shadow_retired *retired;
};

/* False without memory. The prototype must live as long as the table. */
bool shadow_init(struct shadow *s, unsigned log2_page_bytes, size_t state_bytes, const void *prototype,
                 struct budget *budget);
void shadow_destroy(struct shadow *s);

static inline uint64_t shadow_page_bytes(const struct shadow *s)
{
    return 1ull << s->log2_page_bytes;
}

/* The slot of an address's page; NULL if its part of the table was never used. */
static inline shadow_slot *shadow_find_slot(const struct shadow *s, uint64_t address)
{
    uint64_t table = address >> SHADOW_TABLE_BITS;
    shadow_slot *slots = table < SHADOW_TABLES ? atomic_load_explicit(&s->tables[table], memory_order_acquire) : NULL;
    return slots ? &slots[(uint32_t)address >> s->log2_page_bytes] : NULL;
}

/* The state of an address's page; NULL if there is none. It may be the prototype, which must not
 * be changed. */
static inline void *shadow_find(const struct shadow *s, uint64_t address)
{
    shadow_slot *slot = shadow_find_slot(s, address);
    return slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
}

/* The same, for changes: makes a page if there is none, or only the prototype. NULL without
 * memory. */
void *shadow_demand(struct shadow *s, uint64_t address);
/* Removes `page` from its slot, if it is still there. */
void shadow_retire(struct shadow *s, shadow_slot *slot, void *page);
/* Replaces all pages in [first, last], addresses of whole pages, by the prototype, or by none.
 * False without memory. */
bool shadow_fill(struct shadow *s, uint64_t first, uint64_t last, bool with_prototype);
/* Calls `see` for all slots with a page, prototypes included. */
void shadow_each(const struct shadow *s, void (*see)(void *data, shadow_slot *slot), void *data);
/* Removes all pages. */
void shadow_clear(struct shadow *s);
/* Frees removed pages. */
void shadow_reclaim(struct shadow *s);

#endif
