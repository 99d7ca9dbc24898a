/* Shadow cells of the race detector; see cells.h. */
#include "check/shadow/cells.h"

#include <sched.h>
#include <string.h>

enum { EMPTY = 0, CLEARING = 1, FIRST_ERA = 2 }; /* no eras: never accessed; being cleared */
enum { PAGE_BYTES = 1 << CELLS_PAGE_BITS, PART_BYTES = 1 << CELLS_PART_BITS, PART_CELLS = PART_BYTES / sizeof(cell) };

struct cells_page {
    _Atomic uint32_t era[CELLS_PARTS]; /* in which the part was accessed last */
    /* So that the cells, after shadow memory's header, begin at a cache line. */
    uint32_t unused[12];
    cell at[CELLS_PARTS][PART_CELLS];
};

bool cells_open(struct cells *c, struct budget *budget)
{
    c->era = FIRST_ERA;
    return shadow_init(&c->pages, CELLS_PAGE_BITS, sizeof(struct cells_page), NULL, budget);
}

void cells_close(struct cells *c)
{
    shadow_destroy(&c->pages);
}

static unsigned part_of(uint64_t address)
{
    return address % PAGE_BYTES / PART_BYTES;
}

static cell *cell_at(struct cells_page *page, uint64_t address)
{
    return &page->at[part_of(address)][address % PART_BYTES / sizeof(cell)];
}

/* The part is of an earlier era: the first thread that comes to it clears it, others wait. */
static void clear_part(const struct cells *c, struct cells_page *page, unsigned part)
{
    _Atomic uint32_t *era = &page->era[part];
    uint32_t was = atomic_load_explicit(era, memory_order_relaxed);
    if (was != c->era && was != CLEARING && atomic_compare_exchange_strong(era, &was, CLEARING)) {
        if (was != EMPTY)
            memset((void *)page->at[part], 0, PART_BYTES);
        atomic_store_explicit(era, c->era, memory_order_release);
    }
    while (atomic_load_explicit(era, memory_order_acquire) != c->era)
        sched_yield();
}

cell *cells_find(struct cells *c, uint64_t address)
{
    struct cells_page *page = shadow_find(&c->pages, address);
    if (!page && !(page = shadow_demand(&c->pages, address)))
        return NULL;
    unsigned part = part_of(address);
    if (__builtin_expect(atomic_load_explicit(&page->era[part], memory_order_acquire) != c->era, 0))
        clear_part(c, page, part);
    return cell_at(page, address);
}

void cells_clear(struct cells *c, bool give)
{
    if (++c->era < FIRST_ERA)
        c->era = FIRST_ERA;
    if (give) {
        shadow_clear(&c->pages);
        shadow_reclaim(&c->pages);
    }
}

void cells_forget(struct cells *c, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address & ~3ull, end = address + bytes, to; at < end; at = to) {
        uint64_t part_end = (at | (PART_BYTES - 1)) + 1;
        to = part_end < end ? part_end : end;
        struct cells_page *page = shadow_find(&c->pages, at);
        if (page)
            memset((void *)cell_at(page, at), 0, (to - at + 3) & ~3ull);
    }
}

struct look {
    const struct cells *cells;
    void (*see)(void *data, cell *first, uint32_t count);
    void *data;
};

/* Parts of earlier eras are empty, and so are those that are being cleared. */
static void see_page(void *data, shadow_slot *slot)
{
    struct look *l = data;
    struct cells_page *page = atomic_load_explicit(slot, memory_order_acquire);
    for (unsigned i = 0; i < CELLS_PARTS; i++)
        if (atomic_load_explicit(&page->era[i], memory_order_acquire) == l->cells->era)
            l->see(l->data, page->at[i], PART_CELLS);
}

void cells_each(const struct cells *c, void (*see)(void *, cell *, uint32_t), void *data)
{
    struct look l = {c, see, data};
    shadow_each(&c->pages, see_page, &l);
}
