/* Sparse vector clocks; see clock.h. */
#include "check/clock.h"

#include <stdlib.h>
#include <string.h>

void clock_release(struct clock *c)
{
    if (c && atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1)
        free(c);
}

/* The first entry whose key is not less. */
static uint32_t lower_bound(const struct clock *c, uint64_t key)
{
    uint32_t from = 0, to = c->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (c->at[middle].key < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool entry_knows(const struct clock *c, uint64_t key, uint32_t stamp)
{
    uint32_t i = lower_bound(c, key);
    return i < c->n && c->at[i].key == key && stamp < c->at[i].floor;
}

bool clock_knows(const struct clock *c, uint32_t instance, unsigned thread, uint32_t stamp)
{
    return c && (entry_knows(c, clock_key(instance, CLOCK_BLOCK), stamp) ||
                 entry_knows(c, clock_key(instance, CLOCK_WARP + thread / 32), stamp) ||
                 entry_knows(c, clock_key(instance, CLOCK_THREAD + thread), stamp));
}

/* Room for so many more; false where there is no memory. */
static bool make_room(struct clock_builder *b, uint32_t more)
{
    if (b->n + more > b->room) {
        uint32_t room = 2 * b->room + more + 16;
        struct clock_entry *at = realloc(b->at, room * sizeof *at);
        if (!at) {
            b->no_memory = true;
            return false;
        }
        b->at = at;
        b->room = room;
    }
    return true;
}

static void take_in(struct clock_builder *b, const struct clock *c)
{
    if (make_room(b, c->n)) {
        memcpy(b->at + b->n, c->at, c->n * sizeof *c->at);
        b->n += c->n;
    }
}

static void take_in_only(struct clock_builder *b)
{
    struct clock *only = b->only;
    b->only = NULL;
    if (only) {
        take_in(b, only);
        clock_release(only);
    }
}

void clock_add(struct clock_builder *b, uint64_t key, uint32_t floor)
{
    if (floor == 0)
        return;
    take_in_only(b);
    if (make_room(b, 1))
        b->at[b->n++] = (struct clock_entry){key, floor};
}

void clock_join(struct clock_builder *b, struct clock *c)
{
    if (!c || c == b->only)
        return;
    if (!b->only && !b->n) {
        b->only = clock_ref(c);
        return;
    }
    take_in_only(b);
    take_in(b, c);
}

static int by_key(const void *a, const void *b)
{
    const struct clock_entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->floor > y->floor ? -1 : x->floor < y->floor;
}

/* Sorted, the highest floor of each key, and none that its block's entry says already. */
static uint32_t tidy(struct clock_entry *at, uint32_t n)
{
    uint32_t kept = 0, block_floor = 0;
    qsort(at, n, sizeof *at, by_key);
    for (uint32_t i = 0; i < n; i++) {
        bool is_block = at[i].key % (1u << CLOCK_MEMBER_BITS) == CLOCK_BLOCK;
        bool new_block = !kept || at[i].key >> CLOCK_MEMBER_BITS != at[kept - 1].key >> CLOCK_MEMBER_BITS;
        if (kept && at[i].key == at[kept - 1].key)
            continue;
        if (new_block)
            block_floor = 0;
        if (is_block)
            block_floor = at[i].floor;
        else if (at[i].floor <= block_floor)
            continue;
        at[kept++] = at[i];
    }
    return kept;
}

struct clock *clock_make(struct clock_builder *b, bool *ok)
{
    struct clock *c = b->only;
    if (b->no_memory) {
        *ok = false;
    } else if (!c && b->n) {
        b->n = tidy(b->at, b->n);
        c = malloc(sizeof *c + b->n * sizeof *c->at);
        if (c) {
            atomic_init(&c->refs, 1);
            c->n = b->n;
            memcpy(c->at, b->at, b->n * sizeof *c->at);
        } else {
            *ok = false;
        }
    }
    free(b->at);
    *b = (struct clock_builder){0};
    return c;
}
