/* Looking at cells without an access: for torn reads, for shared memory that begins or ends, for
 * the proxies. See current.h. */
#include "check/race/current.h"

#include <string.h>

void race_lock_all(struct races *r)
{
    for (uint32_t i = 0; i < LOCKS; i++)
        spin_lock(&r->locks[i]);
}

void race_unlock_all(struct races *r)
{
    for (uint32_t i = 0; i < LOCKS; i++)
        spin_unlock(&r->locks[i]);
}

/* ---- torn reads ---- */

/* Who has written the byte last. */
static struct history_entry last_write(const struct current_access *cur, const cell *c, unsigned byte)
{
    cell at = *c & CELL_SPLIT ? race_split_at(cur, *c)->byte[byte] : *c;
    const struct access_history *h = history_at(cur->h, cell_history(at));
    for (uint32_t i = at ? h->n : 0; i-- > 0;) {
        const struct access_kind *kind = race_kind_at(cur->r, history_site_epoch(cur->h, h->at[i].site_epoch)->kind);
        unsigned lane = cell_lane(at) + (*c & CELL_SPLIT ? 0 : mapping_lane((enum lane_mapping)h->mapping, byte));
        if (kind->writes)
            return (struct history_entry){h->at[i].site_epoch, rotate_left(h->at[i].lanes, kind->site ? lane : 0)};
    }
    return (struct history_entry){0};
}

/* Does the element at an address hold parts of several writes? */
bool race_is_torn(const struct current_access *cur, const cell *c, uint64_t address)
{
    struct history_entry first = last_write(cur, c, address % 4);
    for (uint64_t at = address + 1; at < address + cur->kind->bytes; at++) {
        struct history_entry w = last_write(cur, c + (at / 4 - address / 4), at % 4);
        if (w.site_epoch != first.site_epoch || w.lanes != first.lanes)
            return true;
    }
    return false;
}

/* ---- all cells of some bytes ---- */

static void clear_cells(struct current_access *cur, cell *c, uint32_t words, uint64_t address)
{
    (void)cur, (void)address;
    memset((void *)c, 0, words * sizeof *c);
}

static void check_end_of(struct current_access *cur, cell *c, uint32_t words, uint64_t address)
{
    for (uint32_t i = 0; i < words; i++)
        for (unsigned byte = 0; byte < (c[i] & CELL_SPLIT ? 4 : 1); byte++)
            race_check_end(cur, c[i] & CELL_SPLIT ? race_split_at(cur, c[i])->byte[byte] : c[i],
                           address + 4 * i + byte);
}

/* Sees the cells of words, lock by lock. */
static void each_cells(struct current_access *cur, uint64_t begin, uint64_t end,
                       void (*see)(struct current_access *, cell *, uint32_t, uint64_t))
{
    for (uint64_t at = begin & ~3ull, to; at < end; at = to) {
        to = race_end_of_lock(at, end);
        cell *c = cells_find(&cur->r->cells, at);
        spin_lock(race_lock_of(cur->r, at));
        if (c)
            see(cur, c, (uint32_t)(to - at + 3) / 4, at);
        spin_unlock(race_lock_of(cur->r, at));
    }
}

static void each_shared(struct current_access *cur, const struct event_block *block,
                        void (*see)(struct current_access *, cell *, uint32_t, uint64_t))
{
    each_cells(cur, block->shared, block->shared + block->launch->shared_bytes, see);
}

void race_clear_shared(struct races *r, const struct event_block *block)
{
    struct current_access cur = {.r = r};
    each_shared(&cur, block, clear_cells);
}

void race_check_ends(struct race_block *b, const struct event_block *block)
{
    struct current_access cur = {.r = b->races,
                                 .b = b,
                                 .h = &b->races->global,
                                 .kernel = block->launch->kernel,
                                 .owner = block,
                                 .base = block->shared};
    if (order_all_have_exited(b->order) && !atomic_load(&b->races->no_memory))
        each_shared(&cur, block, check_end_of);
}

/* Who sees the histories of bytes. */
struct look {
    struct current_access now;
    uint64_t begin, end;
    race_history_fn *see;
    void *data;
};

static void see_history(struct current_access *cur, cell *c, uint32_t words, uint64_t address)
{
    struct look *l = (struct look *)cur;
    for (uint64_t at = address; at < address + 4ull * words; at++) {
        cell word = c[(at - address) / 4];
        cell byte = word & CELL_SPLIT ? race_split_at(cur, word)->byte[at % 4] : word;
        const struct access_history *h = byte ? history_at(cur->h, cell_history(byte)) : NULL;
        if (h && at >= l->begin && at < l->end)
            l->see(l->data, cur->h, h, cell_lane(byte) + mapping_lane((enum lane_mapping)h->mapping, at % 4), at);
        if (!(word & CELL_SPLIT) && (!h || h->mapping == LANES_SAME))
            at |= 3;
    }
}

void race_each_history(struct races *r, uint64_t address, uint64_t bytes, race_history_fn *see, void *data)
{
    struct look l = {{.r = r, .h = &r->global}, address, address + bytes, see, data};
    if (!atomic_load(&r->no_memory))
        each_cells(&l.now, address, address + bytes, see_history);
}
