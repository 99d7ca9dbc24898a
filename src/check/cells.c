/* Cells of the race detector; see cells.h. */
#include "check/cells.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TABLE = 1 << CELLS_TABLE_BITS };

static cell *_Atomic *find_table(const struct cells *c, uint64_t address)
{
    uint64_t i = address >> (CELLS_PAGE_BITS + CELLS_TABLE_BITS);
    return i < 1u << CELLS_ROOT_BITS ? atomic_load_explicit(&c->root[i], memory_order_acquire) : NULL;
}

static cell *page_of(cell *_Atomic *table, uint64_t address)
{
    return atomic_load_explicit(&table[address >> CELLS_PAGE_BITS & (TABLE - 1)], memory_order_acquire);
}

static unsigned index_of(uint64_t address)
{
    return (unsigned)(address & (CELLS_PAGE_BYTES - 1)) / 4;
}

static cell *make_page(struct cells *c, cell *_Atomic *table, uint64_t address)
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
    if (!atomic_compare_exchange_strong(&table[address >> CELLS_PAGE_BITS & (TABLE - 1)], &there, fresh)) {
        munmap(fresh, CELLS_PAGE_BYTES);
        budget_give(c->budget, CELLS_PAGE_BYTES);
        return there;
    }
    atomic_fetch_add(&c->pages, 1);
    return fresh;
}

static cell *_Atomic *make_table(struct cells *c, uint64_t address)
{
    uint64_t i = address >> (CELLS_PAGE_BITS + CELLS_TABLE_BITS);
    cell *_Atomic *fresh = i < 1u << CELLS_ROOT_BITS ? calloc(TABLE, sizeof *fresh) : NULL, *_Atomic *there = NULL;
    if (fresh && !atomic_compare_exchange_strong(&c->root[i], &there, fresh)) {
        free(fresh);
        return there;
    }
    return fresh;
}

cell *cells_find(struct cells *c, uint64_t address)
{
    cell *_Atomic *table = find_table(c, address);
    if (!table && !(table = make_table(c, address)))
        return NULL;
    cell *page = page_of(table, address);
    if (!page && !(page = make_page(c, table, address)))
        return NULL;
    return page + index_of(address);
}

cell *cells_look(const struct cells *c, uint64_t address)
{
    cell *_Atomic *table = find_table(c, address);
    cell *page = table ? page_of(table, address) : NULL;
    return page ? page + index_of(address) : NULL;
}

void cells_clear(struct cells *c)
{
    for (unsigned i = 0; i < 1u << CELLS_ROOT_BITS; i++) {
        cell *_Atomic *table = c->root[i];
        for (unsigned k = 0; table && k < TABLE; k++)
            if (table[k])
                munmap(table[k], CELLS_PAGE_BYTES);
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
        cell *first = cells_look(c, at);
        if (first)
            memset((void *)first, 0, (to - at + 3) & ~3ull);
        at = to;
    }
}
