/* Cells of the race detector; see cells.h. */
#include "check/shadow/cells.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CLEARING = 0 }; /* no era */
enum { TABLE = 1 << CELLS_TABLE_BITS, PART_BYTES = 1 << CELLS_PART_BITS };

void cells_open(struct cells *c, struct budget *budget)
{
    c->era = CLEARING + 1;
    c->budget = budget;
}

static struct cells_table *find_table(const struct cells *c, uint64_t address)
{
    uint64_t i = address >> (CELLS_PAGE_BITS + CELLS_TABLE_BITS);
    return i < 1u << CELLS_ROOT_BITS ? atomic_load_explicit(&c->root[i], memory_order_acquire) : NULL;
}

static unsigned page_index(uint64_t address)
{
    return address >> CELLS_PAGE_BITS & (TABLE - 1);
}

static cell *page_of(struct cells_table *table, uint64_t address)
{
    return atomic_load_explicit(&table->page[page_index(address)], memory_order_acquire);
}

static _Atomic uint32_t *era_of(struct cells_table *table, uint64_t address)
{
    return &table->era[page_index(address)][address % CELLS_PAGE_BYTES / PART_BYTES];
}

static unsigned index_of(uint64_t address)
{
    return (unsigned)(address & (CELLS_PAGE_BYTES - 1)) / 4;
}

static cell *make_page(struct cells *c, struct cells_table *table, uint64_t address)
{
    cell *there = NULL;
    if (!budget_take(c->budget, CELLS_PAGE_BYTES))
        return NULL;
    cell *fresh =
        mmap(NULL, CELLS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED) {
        budget_give(c->budget, CELLS_PAGE_BYTES);
        return NULL;
    }
    for (unsigned i = 0; i < CELLS_PARTS; i++)
        atomic_store_explicit(&table->era[page_index(address)][i], c->era, memory_order_relaxed);
    if (!atomic_compare_exchange_strong(&table->page[page_index(address)], &there, fresh)) {
        munmap(fresh, CELLS_PAGE_BYTES);
        budget_give(c->budget, CELLS_PAGE_BYTES);
        return there;
    }
    atomic_fetch_add(&c->pages, 1);
    return fresh;
}

static struct cells_table *make_table(struct cells *c, uint64_t address)
{
    uint64_t i = address >> (CELLS_PAGE_BITS + CELLS_TABLE_BITS);
    struct cells_table *fresh = i < 1u << CELLS_ROOT_BITS ? calloc(1, sizeof *fresh) : NULL, *there = NULL;
    if (fresh && !atomic_compare_exchange_strong(&c->root[i], &there, fresh)) {
        free(fresh);
        return there;
    }
    return fresh;
}

/* What is in the part is of an earlier era: one who comes to it clears it, the others wait for that one. */
static void clear_part(const struct cells *c, cell *page, uint64_t address, _Atomic uint32_t *era)
{
    uint32_t was = atomic_load_explicit(era, memory_order_relaxed);
    if (was != c->era && was != CLEARING && atomic_compare_exchange_strong(era, &was, CLEARING)) {
        memset((void *)(page + index_of(address & ~(uint64_t)(PART_BYTES - 1))), 0, PART_BYTES);
        atomic_store_explicit(era, c->era, memory_order_release);
    }
    while (atomic_load_explicit(era, memory_order_acquire) != c->era)
        sched_yield();
}

cell *cells_find(struct cells *c, uint64_t address)
{
    struct cells_table *table = find_table(c, address);
    if (!table && !(table = make_table(c, address)))
        return NULL;
    cell *page = page_of(table, address);
    if (!page && !(page = make_page(c, table, address)))
        return NULL;
    _Atomic uint32_t *era = era_of(table, address);
    if (__builtin_expect(atomic_load_explicit(era, memory_order_acquire) != c->era, 0))
        clear_part(c, page, address, era);
    return page + index_of(address);
}

void cells_clear(struct cells *c)
{
    if (++c->era == CLEARING)
        c->era++;
}

void cells_close(struct cells *c)
{
    for (unsigned i = 0; i < 1u << CELLS_ROOT_BITS; i++) {
        struct cells_table *table = c->root[i];
        for (unsigned k = 0; table && k < TABLE; k++)
            if (table->page[k])
                munmap(table->page[k], CELLS_PAGE_BYTES);
        free(table);
        c->root[i] = NULL;
    }
    budget_give(c->budget, c->pages * CELLS_PAGE_BYTES);
    c->pages = 0;
}

void cells_forget(struct cells *c, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address & ~3ull, end = address + bytes; at < end;) {
        uint64_t page_end = (at | (CELLS_PAGE_BYTES - 1)) + 1, to = page_end < end ? page_end : end;
        struct cells_table *table = find_table(c, at);
        cell *page = table ? page_of(table, at) : NULL;
        if (page)
            memset((void *)(page + index_of(at)), 0, (to - at + 3) & ~3ull);
        at = to;
    }
}

/* What is of an earlier era, or is being cleared, is empty. */
static void each_part(const struct cells *c, struct cells_table *table, unsigned page,
                      void (*see)(void *, cell *, uint32_t), void *data)
{
    enum { PART_CELLS = PART_BYTES / sizeof(cell) };
    cell *cells = atomic_load_explicit(&table->page[page], memory_order_acquire);
    for (unsigned i = 0; cells && i < CELLS_PARTS; i++)
        if (atomic_load_explicit(&table->era[page][i], memory_order_acquire) == c->era)
            see(data, cells + i * PART_CELLS, PART_CELLS);
}

void cells_each(struct cells *c, void (*see)(void *, cell *, uint32_t), void *data)
{
    for (unsigned i = 0; i < 1u << CELLS_ROOT_BITS; i++) {
        struct cells_table *table = atomic_load_explicit(&c->root[i], memory_order_acquire);
        for (unsigned page = 0; table && page < TABLE; page++)
            each_part(c, table, page, see, data);
    }
}
