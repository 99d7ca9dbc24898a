/* See shadow.h. Tables have room for all of their part of the address space, and take memory where
 * they are touched. */
#include "check/shadow/shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* In front of each page, so that taking it away needs no memory. */
struct shadow_retired {
    struct shadow_retired *next;
    uint64_t unused;
};

static struct shadow_retired *header_of(void *page)
{
    return (struct shadow_retired *)page - 1;
}

bool shadow_init(struct shadow *s, unsigned log2_page_bytes, size_t state_bytes, const void *prototype,
                 struct budget *budget)
{
    *s = (struct shadow){
        .log2_page_bytes = log2_page_bytes, .state_bytes = state_bytes, .prototype = prototype, .budget = budget};
    s->tables = calloc(SHADOW_TABLES, sizeof *s->tables);
    pthread_mutex_init(&s->lock, NULL);
    return s->tables != NULL;
}

static size_t slots_of_table(const struct shadow *s)
{
    return 1ull << (SHADOW_TABLE_BITS - s->log2_page_bytes);
}

/* ---- memory ---- */

/* Large pages are the system's: they take memory where they are touched, and leave none behind. */
enum { LARGE_BYTES = 1 << 18 };

static void *allocate(size_t bytes)
{
    if (bytes < LARGE_BYTES)
        return calloc(1, bytes);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* `from`: what it is to be a copy of, or NULL. */
static void *new_page(struct shadow *s, const void *from)
{
    bool allowed = budget_take(s->budget, s->state_bytes);
    struct shadow_retired *r = allowed ? allocate(sizeof *r + s->state_bytes) : NULL;
    if (!r) {
        if (allowed)
            budget_give(s->budget, s->state_bytes);
        atomic_fetch_add(&s->refused, 1);
        return NULL;
    }
    atomic_fetch_add(&s->bytes, s->state_bytes);
    if (from)
        memcpy(r + 1, from, s->state_bytes);
    return r + 1;
}

static void free_page(struct shadow *s, void *page)
{
    size_t bytes = sizeof(struct shadow_retired) + s->state_bytes;
    if (bytes < LARGE_BYTES)
        free(header_of(page));
    else
        munmap(header_of(page), bytes);
    atomic_fetch_sub(&s->bytes, s->state_bytes);
    budget_give(s->budget, s->state_bytes);
}

static void put_away(struct shadow *s, void *page)
{
    if (!page || page == s->prototype)
        return;
    pthread_mutex_lock(&s->lock);
    header_of(page)->next = s->retired;
    s->retired = header_of(page);
    pthread_mutex_unlock(&s->lock);
}

void shadow_reclaim(struct shadow *s)
{
    while (s->retired) {
        struct shadow_retired *r = s->retired;
        s->retired = r->next;
        free_page(s, r + 1);
    }
}

/* ---- pages ---- */

static shadow_slot *make_slot(struct shadow *s, uint64_t address)
{
    uint64_t table = address >> SHADOW_TABLE_BITS;
    shadow_slot *slot = shadow_find_slot(s, address);
    if (slot || table >= SHADOW_TABLES)
        return slot;
    pthread_mutex_lock(&s->lock);
    if (!atomic_load(&s->tables[table]))
        atomic_store_explicit(&s->tables[table], calloc(slots_of_table(s), sizeof(shadow_slot)), memory_order_release);
    pthread_mutex_unlock(&s->lock);
    return shadow_find_slot(s, address);
}

/* Puts `page` into a slot. Returns what is there then: that, or the page of another thread that was
 * faster. */
static void *put(struct shadow *s, shadow_slot *slot, void *expected, void *page)
{
    if (atomic_compare_exchange_strong(slot, &expected, page))
        return page;
    free_page(s, page);
    return expected;
}

void *shadow_demand(struct shadow *s, uint64_t address)
{
    shadow_slot *slot = make_slot(s, address);
    void *page = slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
    while (slot && (!page || page == s->prototype)) {
        void *fresh = new_page(s, page);
        if (!fresh)
            return NULL;
        page = put(s, slot, page, fresh);
    }
    return page;
}

void shadow_retire(struct shadow *s, shadow_slot *slot, void *page)
{
    void *expected = page;
    if (atomic_compare_exchange_strong(slot, &expected, NULL))
        put_away(s, page);
}

bool shadow_fill(struct shadow *s, uint64_t first, uint64_t last, bool with_prototype)
{
    void *page = with_prototype ? (void *)s->prototype : NULL;
    uint64_t step;
    for (uint64_t at = first; at <= last && at >> SHADOW_ADDRESS_BITS == 0; at += step) {
        shadow_slot *slot = page ? make_slot(s, at) : shadow_find_slot(s, at);
        if (slot && atomic_load_explicit(slot, memory_order_relaxed) != page)
            put_away(s, atomic_exchange(slot, page));
        if (!slot && page)
            return false;
        /* To the next table. */
        step = slot ? shadow_page_bytes(s) : (1ull << SHADOW_TABLE_BITS) - (uint32_t)at;
    }
    return true;
}

void shadow_each(const struct shadow *s, void (*see)(void *data, shadow_slot *slot), void *data)
{
    for (size_t t = 0; s->tables && t < SHADOW_TABLES; t++) {
        shadow_slot *slots = atomic_load_explicit(&s->tables[t], memory_order_acquire);
        for (size_t i = 0; slots && i < slots_of_table(s); i++)
            if (atomic_load_explicit(&slots[i], memory_order_acquire))
                see(data, &slots[i]);
    }
}

static void take_away(void *data, shadow_slot *slot)
{
    put_away(data, atomic_exchange(slot, NULL));
}

void shadow_clear(struct shadow *s)
{
    shadow_each(s, take_away, s);
}

void shadow_destroy(struct shadow *s)
{
    shadow_clear(s);
    shadow_reclaim(s);
    for (size_t t = 0; s->tables && t < SHADOW_TABLES; t++)
        free(s->tables[t]);
    free(s->tables);
    pthread_mutex_destroy(&s->lock);
}
