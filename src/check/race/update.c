/* The cells that an access touches: stretches of them at once where they have the same past. See cells.h and current.h. */
#include "check/race/current.h"

#include <string.h>

#include "base/spin_lock.h"
#include "check/shadow/defined.h"

/* Cells of global memory are under locks, one for each 128 bytes of consecutive words: those of shared memory are the worker's. */
enum { LOCKED_BYTES = 128 };

static _Atomic uint8_t *lock_of(const struct current_access *cur, uint64_t address)
{
    /* Neighbours, which other workers access, are not in one cache line. */
    return &cur->r->locks[address / LOCKED_BYTES * 0x9e3779b97f4a7c15ull >> (64 - LOCKS_BITS)];
}

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

static struct split *split_at(const struct current_access *cur, uint32_t number)
{
    return numbered_at(&cur->h->splits, number & ~CELL_SPLIT);
}

/* Others look at cells without the lock: have_no_effect(). What the number stands for is to be seen by whoever sees it. */
static void set_cell(cell *c, cell to)
{
    __atomic_store_n(c, to, __ATOMIC_RELEASE);
}

/* The cells of a word's bytes. */
static struct split *split(struct current_access *cur, cell *c)
{
    cell word = *c;
    if (!(word & CELL_SPLIT)) {
        uint32_t fresh = race_take(cur, &cur->h->splits, &cur->reservations->splits, 1);
        if (!fresh)
            return NULL;
        enum lane_mapping mapping = word ? history_at(cur->h, cell_history(word))->mapping : LANES_SAME;
        for (unsigned i = 0; i < 4; i++)
            split_at(cur, fresh)->byte[i] = word ? cell_further(word, mapping_lane(mapping, i)) : 0;
        set_cell(c, fresh | CELL_SPLIT);
    }
    return split_at(cur, *c);
}

/* Histories may be all over memory, and so may be what says whose they are: all of one kind are waited for at once.
 * (Inlined: gcc leaves out calls of what does nothing but prefetch.) */
__attribute__((always_inline)) static inline void fetch(const struct current_access *cur, const cell *c, uint32_t count)
{
    uint32_t last = 0, history;
    for (uint32_t i = 0; i < count; i++)
        if ((history = cell_history(c[i])) != last)
            __builtin_prefetch(history_at(cur->h, last = history));
    last = 0;
    for (uint32_t i = 0; i < count; i++)
        if ((history = cell_history(c[i])) != last && !(c[i] & CELL_SPLIT)) {
            last = history;
            __builtin_prefetch(history_site_epoch(cur->h, history_at(cur->h, history)->at[0].site_epoch));
        }
}

/* A stretch of places: 2^per_lane bytes of it are one lane's, those behind them the next one's; or all are the same lanes'. */
enum { ALL_BYTES = 31 };

static unsigned further(unsigned per_lane, uint32_t word)
{
    return 4 * word >> per_lane;
}

static enum lane_mapping mapping_of(unsigned per_lane)
{
    return per_lane < 2 ? LANES_BY_BYTE + per_lane : LANES_SAME;
}

/* Does the word's history count lanes as the access does, or does one of them not count them? Then cur->mapping is as it will be. */
static bool agree(struct current_access *cur, cell word, enum lane_mapping mine)
{
    const struct access_history *h = word ? history_at(cur->h, cell_history(word)) : NULL;
    cur->mapping = h && !cur->kind->site ? h->mapping : mine;
    return !h || h->mapping == cur->mapping || h->only_tasks;
}

static void update_bytes(struct current_access *cur, cell *c, uint64_t address, uint32_t bytes, struct lanes lanes,
                         unsigned per_lane)
{
    unsigned first = lanes.lane;
    cur->mapping = LANES_SAME;
    for (uint32_t i = 0; i < bytes; i++) {
        uint64_t at = address + i;
        struct split *s = split(cur, c + (at / 4 - address / 4));
        if (!s)
            return;
        lanes.lane = (first + (i >> per_lane)) & 31;
        s->byte[at % 4] = race_next(cur, s->byte[at % 4], lanes, at);
    }
}

static void update_word(struct current_access *cur, cell *c, struct lanes lanes, unsigned per_lane, uint64_t address)
{
    if (__builtin_expect(!(*c & CELL_SPLIT) && agree(cur, *c, mapping_of(per_lane)), 1)) {
        cell next = race_next(cur, *c, lanes, address);
        if (cur->mapping == LANES_SAME || cur->one_for_all) { /* else it is of the first byte's lanes alone */
            set_cell(c, next);
            return;
        }
    }
    update_bytes(cur, c, address, 4, lanes, per_lane);
}

typedef uint32_t words __attribute__((vector_size(16)));

/* How many words, of `count` of a stretch from its word `from` on, have the same past as the first of these, each that of its own
 * lanes? Four at a time: most accesses are such stretches. None has that of one which is split. */
static uint32_t count_alike(const struct current_access *cur, const cell *c, uint32_t from, uint32_t count,
                            unsigned per_lane)
{
    uint32_t first = c[from], i = 0;
    if (first & CELL_SPLIT)
        return 1;
    bool has_lanes = first && !history_at(cur->h, cell_history(first))->only_tasks;
    uint32_t lane_step = has_lanes ? cell_further(0, 1) : 0;
    first -= further(per_lane, from) * lane_step;
    for (; i + 4 <= count; i += 4) {
        uint32_t at = from + i;
        words w, expected = (words){4 * at, 4 * at + 4, 4 * at + 8, 4 * at + 12} >> per_lane;
        memcpy(&w, (const void *)(c + at), sizeof w);
        w ^= (expected * lane_step + first) & ~CELL_SPLIT;
        if (w[0] | w[1] | w[2] | w[3])
            break;
    }
    while (i < count && c[from + i] == ((first + further(per_lane, from + i) * lane_step) & ~CELL_SPLIT))
        i++;
    return i;
}

/* Four at a time, each of which is written at once. (The sanitizer takes vectors for one place.) */
__attribute__((no_sanitize("thread"))) static void fill(cell *c, uint32_t from, uint32_t count, cell first,
                                                        unsigned per_lane)
{
    typedef volatile uint32_t cells __attribute__((vector_size(16), aligned(4)));
    uint32_t i = from, end = from + count, lane_step = first ? cell_further(0, 1) : 0;
    first -= further(per_lane, from) * lane_step;
    atomic_thread_fence(memory_order_release);
    for (; i + 4 <= end; i += 4)
        *(cells *)(c + i) =
            (((words){4 * i, 4 * i + 4, 4 * i + 8, 4 * i + 12} >> per_lane) * lane_step + first) & ~CELL_SPLIT;
    for (; i < end; i++)
        set_cell(c + i, (first + further(per_lane, i) * lane_step) & ~CELL_SPLIT);
}

/* Neighbouring words: at once where they have the same past. */
static void update_words(struct current_access *cur, cell *c, uint32_t count, struct lanes lanes, unsigned per_lane,
                         uint64_t address)
{
    unsigned first = lanes.lane;
    bool fetched = cur->shared;
    for (uint32_t i = 0, alike; i < count; i += alike) {
        lanes.lane = (first + further(per_lane, i)) & 31;
        alike = count > 1 ? count_alike(cur, c, i, count - i, per_lane) : 1;
        if (alike > 1 && agree(cur, c[i], mapping_of(per_lane))) {
            cell next = race_next(cur, c[i], lanes, address + 4 * i);
            if (cur->one_for_all) {
                if (next != c[i])
                    fill(c, i, alike, next, per_lane);
                continue;
            }
        }
        if (!fetched && count > 1)
            fetch(cur, c + i, count - i);
        fetched = true;
        update_word(cur, c + i, lanes, per_lane, address + 4 * i);
        alike = 1;
    }
}

static void note_updated(const struct current_access *cur, uint64_t low, uint64_t high)
{
    uint32_t first = (uint32_t)low / 4, end = (uint32_t)(high + 3) / 4;
    if (first < cur->b->updated_from)
        cur->b->updated_from = first;
    if (end > cur->b->updated_to)
        cur->b->updated_to = end;
}

/* The cell of the word at an address, and those of `bytes` from there on. */
static cell *cells_at(const struct current_access *cur, uint64_t address, uint32_t bytes)
{
    if (!cur->shared) {
        cell *c = cells_find(&cur->r->cells, address);
        if (!c)
            atomic_store(&cur->r->no_memory, true);
        return c;
    }
    note_updated(cur, address, address + bytes);
    return &cur->b->shared_cells[address / 4];
}

/* Is all of a word one lane's, and does it not matter of how many elements it is? Or is it of consecutive lanes? */
static bool is_by_word(const struct access_kind *c, unsigned per_lane)
{
    return c->bytes >= 4 || (!c->strong && (c->lane_shift >= 2 || !c->site)) ||
           (per_lane < 2 && per_lane == c->lane_shift);
}

/* Reads that change nothing take no lock: of words that others, too, have read in this phase. What has been looked at was the cell's
 * history if none has been given back since. */
static bool have_no_effect(const struct current_access *cur, const cell *c, uint32_t count)
{
    uint32_t generation = atomic_load_explicit(&cur->h->generation, memory_order_acquire);
    cell first = __atomic_load_n(c, __ATOMIC_ACQUIRE), others = 0;
    if (!first || first & CELL_SPLIT ||
        !(race_has_no_effect(cur, cell_history(first)) || (count == 1 && race_is_left_out(cur, cell_history(first)))))
        return false;
    for (uint32_t i = 1; i < count; i++)
        others |= __atomic_load_n(c + i, __ATOMIC_RELAXED) ^ first;
    atomic_thread_fence(memory_order_acquire);
    return !(others & (CELL_SPLIT | CELL_HISTORY)) &&
           atomic_load_explicit(&cur->h->generation, memory_order_relaxed) == generation;
}

/* Numbers are taken under the lock, and may have been given back before it. */
static bool has_site_epoch(struct current_access *cur)
{
    return (cur->site_epoch && cur->generation == atomic_load_explicit(&cur->h->generation, memory_order_relaxed)) ||
           race_new_site_epoch(cur);
}

static inline void update_of_class(struct current_access *cur, cell *c, uint64_t address, uint32_t bytes,
                                   struct lanes lanes, unsigned per_lane)
{
    if (!has_site_epoch(cur))
        return;
    bool by_word = (address | bytes) % 4 == 0 && is_by_word(cur->kind, per_lane);
    if (by_word && bytes == 4)
        update_word(cur, c, lanes, per_lane, address);
    else if (by_word)
        update_words(cur, c, bytes / 4, lanes, per_lane, address);
    else
        update_bytes(cur, c, address, bytes, lanes, per_lane);
}

/* ---- torn reads ---- */

/* Who has written the byte last. */
static struct history_entry last_write(const struct current_access *cur, const cell *c, unsigned byte)
{
    cell at = *c & CELL_SPLIT ? split_at(cur, *c)->byte[byte] : *c;
    const struct access_history *h = history_at(cur->h, cell_history(at));
    for (uint32_t i = at ? h->n : 0; i-- > 0;) {
        const struct access_kind *kind = race_kind_at(cur->r, history_site_epoch(cur->h, h->at[i].site_epoch)->kind);
        unsigned lane = cell_lane(at) + (*c & CELL_SPLIT ? 0 : mapping_lane((enum lane_mapping)h->mapping, byte));
        if (kind->writes)
            return (struct history_entry){h->at[i].site_epoch, rotate_left(h->at[i].lanes, kind->site ? lane : 0)};
    }
    return (struct history_entry){0};
}

/* Does the element at an address hold what several writes have left? */
static bool is_torn(const struct current_access *cur, const cell *c, uint64_t address)
{
    struct history_entry first = last_write(cur, c, address % 4);
    for (uint64_t at = address + 1; at < address + cur->kind->bytes; at++) {
        struct history_entry w = last_write(cur, c + (at / 4 - address / 4), at % 4);
        if (w.site_epoch != first.site_epoch || w.lanes != first.lanes)
            return true;
    }
    return false;
}

/* Few strong reads come upon bytes, or upon words, with a past of their own. */
static inline bool may_be_torn(const struct current_access *cur, const cell *c, uint64_t address, uint32_t bytes)
{
    if (!cur->kind->strong || !cur->kind->reads || !cur->kind->site)
        return false;
    uint32_t words = (uint32_t)((address + bytes + 3) / 4 - address / 4), found = 0;
    for (uint32_t i = 0; i < words; i++)
        found |= (c[i] & CELL_SPLIT) | (cur->kind->bytes > 4 ? c[i] ^ c[0] : 0);
    return found;
}

/* Element by element. */
static void update_torn(struct current_access *cur, cell *c, uint64_t address, uint32_t bytes, struct lanes lanes,
                        unsigned per_lane)
{
    uint32_t whole = cur->kind_number;
    for (uint32_t i = 0; i < bytes; i += cur->kind->bytes) {
        cell *at = c + ((address + i) / 4 - address / 4);
        struct lanes of_element = {lanes.lanes, (lanes.lane + (i >> per_lane)) & 31};
        if (is_torn(cur, at, address + i))
            race_use_kind(cur, race_kind_torn(cur->r, cur->kind));
        if (cur->kind)
            update_of_class(cur, at, address + i, cur->kind->bytes, of_element, per_lane);
        race_use_kind(cur, whole);
    }
}

/* Stretches one after the other: the lock of one is held for the next one, too, where it is the same, as taking a lock waits for all
 * that was written before. */
struct held_lock {
    _Atomic uint8_t *lock; /* that is held; or NULL */
};

static void hold(struct held_lock *t, _Atomic uint8_t *lock)
{
    if (t->lock == lock)
        return;
    if (t->lock)
        spin_unlock(t->lock);
    if (lock)
        spin_lock(lock);
    t->lock = lock;
}

/* A stretch of bytes from an address on, all of whose cells, from `c` on, are under one lock. */
static void update_cells(struct current_access *cur, struct held_lock *t, cell *c, uint64_t address, uint32_t bytes,
                         struct lanes lanes, unsigned per_lane)
{
    bool by_word = (address | bytes) % 4 == 0 && is_by_word(cur->kind, per_lane);
    if (by_word && !cur->kind->writes && have_no_effect(cur, c, bytes / 4))
        return;
    hold(t, cur->shared ? NULL : lock_of(cur, address));
    if (may_be_torn(cur, c, address, bytes))
        update_torn(cur, c, address, bytes, lanes, per_lane);
    else
        update_of_class(cur, c, address, bytes, lanes, per_lane);
}

static void update_together(struct current_access *cur, uint64_t address, uint32_t bytes, struct lanes lanes,
                            unsigned per_lane)
{
    cell *c = cells_at(cur, address, bytes);
    struct held_lock t = {0};
    if (c)
        update_cells(cur, &t, c, address, bytes, lanes, per_lane);
    hold(&t, NULL);
}

static inline bool write_alike(const struct current_access *cur, uint32_t lanes)
{
    return cur->kind->writes && !cur->kind->strong && cur->event && lanes & (lanes - 1) &&
           event_alike(cur->event, lanes);
}

void race_update(struct current_access *cur, uint64_t address, uint32_t bytes, uint32_t lanes)
{
    cur->alike = write_alike(cur, lanes);
    address += cur->base;
    /* Of atomic updates of one place, which lanes perform in their order, the last has observed the others. */
    unsigned lane = race_is_rmw(cur->kind) ? 31 - (unsigned)__builtin_clz(lanes) : (unsigned)__builtin_ctz(lanes);
    uint32_t relative = race_is_rmw(cur->kind) ? 1 : lanes >> lane;
    update_together(cur, address, bytes, (struct lanes){relative, lane}, ALL_BYTES);
}

/* A stretch of neighbouring places, each for the next lanes. */
static void update_stretch(struct current_access *cur, uint64_t base, uint64_t bytes, struct lanes lanes)
{
    unsigned per_lane = cur->kind->lane_shift;
    base += cur->base;
    for (uint64_t at = base, end = base + bytes; at < end;) {
        uint64_t lock_end = (at | (LOCKED_BYTES - 1)) + 1, to = lock_end < end ? lock_end : end;
        struct lanes these = {lanes.lanes, (lanes.lane + (unsigned)((at - base) >> per_lane)) & 31};
        update_together(cur, at, (uint32_t)(to - at), these, per_lane);
        at = to;
    }
}

/* Runs of neighbouring lanes, each a stretch of places: those of the whole warp, or where few lanes between take no part. */
static bool has_few_runs(uint32_t lanes)
{
    return __builtin_popcount(lanes & ~(lanes << 1)) <= 4;
}

static void update_runs(struct current_access *cur, const struct access_event *e, uint32_t lanes)
{
    struct run r;
    while (next_run(e, &lanes, &r))
        update_stretch(cur, r.address, r.bytes, (struct lanes){1, r.lane});
}

/* Both halves of a warp: each its own stretch of places, or its own place; or both the same. */
static void update_halves(struct current_access *cur, const struct access_event *e)
{
    enum { HALF = 0xffff };
    uint64_t low = access_address(e, 0), high = access_address(e, HALF_WARP);
    bool are_linear = e->pattern == ACCESS_LINEAR_HALVES;
    uint64_t bytes = are_linear ? (uint64_t)HALF_WARP * e->bytes : e->bytes;
    if (low == high && are_linear) {
        cur->alike = true;
        for (unsigned l = 0; l < HALF_WARP && cur->alike; l++)
            cur->alike = write_alike(cur, 1u << l | 1u << (l + HALF_WARP));
        update_stretch(cur, low, bytes,
                       race_is_rmw(cur->kind) ? (struct lanes){1, HALF_WARP} : (struct lanes){1 | 1u << HALF_WARP, 0});
    } else if (are_linear) {
        update_stretch(cur, low, bytes, (struct lanes){1, 0});
        update_stretch(cur, high, bytes, (struct lanes){1, HALF_WARP});
    } else if (low == high) {
        race_update(cur, low, e->bytes, UINT32_MAX);
    } else {
        race_update(cur, low, e->bytes, HALF);
        race_update(cur, high, e->bytes, (uint32_t)HALF << HALF_WARP);
    }
}

/* Do lanes access one place? False: no two of them. */
static bool may_meet(const struct access_event *e, uint32_t lanes, unsigned lane_shift)
{
    uint64_t places = 0;
    unsigned count = (unsigned)__builtin_popcount(lanes);
    for (; lanes; lanes &= lanes - 1)
        places |= 1ull << (access_address(e, (unsigned)__builtin_ctz(lanes)) >> lane_shift & 63);
    return (unsigned)__builtin_popcountll(places) != count;
}

/* Lanes that access the same place are taken together. */
static void update_by_place(struct current_access *cur, const struct access_event *e, uint32_t lanes)
{
    uint64_t place[WARP_LANES];
    uint32_t at[WARP_LANES], count = 0;
    uint8_t slot[64];
    memset(slot, 0xff, sizeof slot);
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        uint64_t address = access_address(e, l);
        unsigned s = (unsigned)((address >> cur->kind->lane_shift) * 0x9e3779b97f4a7c15ull >> 58);
        while (slot[s] != 0xff && place[slot[s]] != address)
            s = (s + 1) % 64;
        if (slot[s] == 0xff) {
            slot[s] = (uint8_t)count;
            place[count] = address;
            at[count++] = 0;
        }
        at[slot[s]] |= 1u << l;
    }
    for (uint32_t i = 0; i < count; i++)
        race_update(cur, place[i], e->bytes, at[i]);
}

/* What the access of one lane makes of cells, by what they say of that lane, or by their histories alone: lanes of an access come upon
 * few that differ. */
enum { MET_FEW = 8 };
struct met {
    cell was, next; /* for lane 0; `was` is 0: nothing yet */
};

static cell for_lane(cell c, unsigned lane)
{
    return cell_further(c, -lane & 31);
}

/* The word at a cell, by one lane: most are as one before. */
static void update_alike(struct current_access *cur, struct met met[MET_FEW], cell *c, unsigned lane, uint64_t address)
{
    bool is_rmw = race_is_rmw(cur->kind); /* it makes the same of whichever it overtakes */
    cell was = is_rmw ? cell_history(*c) : for_lane(*c, lane);
    struct met *m = &met[cell_history(was) % MET_FEW];
    if (*c & CELL_SPLIT) {
        update_word(cur, c, (struct lanes){1, lane}, ALL_BYTES, address);
    } else if (*c && m->was == was) {
        set_cell(c, cell_further(m->next, lane));
    } else {
        bool is_one = !is_rmw || (*c && race_is_overtaken(cur, cell_history(*c)));
        bool known = *c && agree(cur, *c, LANES_SAME) && is_one;
        update_word(cur, c, (struct lanes){1, lane}, ALL_BYTES, address);
        if (known && cur->one_for_all && *c)
            *m = (struct met){was, for_lane(*c, lane)};
    }
}

static void update_shared(struct current_access *cur, const struct access_event *e, uint32_t lanes)
{
    struct met met[MET_FEW] = {0};
    if (!has_site_epoch(cur))
        return;
    note_updated(cur, e->low, e->high);
    cur->mapping = LANES_SAME;
    cell first = cur->recent->first[LANES_SAME];
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        uint64_t address = access_address(e, lane);
        cell *cells = &cur->b->shared_cells[address / 4];
        if (may_be_torn(cur, cells, address, e->bytes)) {
            update_torn(cur, cells, address, e->bytes, (struct lanes){1, lane}, ALL_BYTES);
            cur->mapping = LANES_SAME;
            if (!has_site_epoch(cur))
                return;
            continue;
        }
        for (uint32_t i = 0; i < e->bytes / 4; i++) {
            cell *c = &cells[i];
            if (first && !*c)
                *c = cell_of(first, lane);
            else
                update_alike(cur, met, c, lane, address + 4 * i);
        }
    }
}

/* Words of global memory by lanes, each with a past of its own. What was met holds while no number has been given back. */
static void update_global(struct current_access *cur, const struct access_event *e, uint32_t lanes,
                          cell *const at[WARP_LANES])
{
    struct met met[MET_FEW] = {0};
    struct held_lock t = {0};
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        uint64_t address = cur->base + access_address(e, lane);
        if (!cur->kind->writes && have_no_effect(cur, at[lane], e->bytes / 4))
            continue;
        hold(&t, lock_of(cur, address));
        if (cur->generation != atomic_load_explicit(&cur->h->generation, memory_order_relaxed))
            memset(met, 0, sizeof met);
        if (may_be_torn(cur, at[lane], address, e->bytes)) {
            update_torn(cur, at[lane], address, e->bytes, (struct lanes){1, lane}, ALL_BYTES);
            continue;
        }
        if (!has_site_epoch(cur))
            break;
        cur->mapping = LANES_SAME;
        for (uint32_t i = 0; i < e->bytes / 4; i++)
            update_alike(cur, met, at[lane] + i, lane, address + 4 * i);
    }
    hold(&t, NULL);
}

/* The cells of lanes. Of global memory, what they name is on its way: see fetch(). */
static bool find_cells(const struct current_access *cur, const struct access_event *e, uint32_t lanes,
                       cell *at[WARP_LANES])
{
    cell near[WARP_LANES], *part = NULL;
    uint32_t count = 0;
    uint64_t number = UINT64_MAX; /* of the part, which consecutive lanes have in common */
    for (uint32_t m = lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t address = cur->base + access_address(e, l);
        if (cur->shared) {
            at[l] = cells_at(cur, address, e->bytes);
            continue;
        }
        if (address >> CELLS_PART_BITS != number &&
            !(part = cells_at(cur, (number = address >> CELLS_PART_BITS) << CELLS_PART_BITS, 0)))
            return false;
        at[l] = part + (address & ((1u << CELLS_PART_BITS) - 1)) / 4;
        __builtin_prefetch(at[l], 1);
    }
    for (uint32_t m = cur->shared ? 0 : lanes; m; m &= m - 1)
        near[count++] = __atomic_load_n(at[__builtin_ctz(m)], __ATOMIC_ACQUIRE);
    if (!cur->shared)
        fetch(cur, near, count);
    return true;
}

void race_fetch(const struct current_access *cur, const struct access_event *e)
{
    cell *at[WARP_LANES];
    if (!cur->shared && e->pattern == ACCESS_ANY && (e->lanes & (e->lanes - 1)))
        find_cells(cur, e, e->lanes, at);
}

/* Lane by lane. */
static void update_by_lane(struct current_access *cur, const struct access_event *e, uint32_t lanes)
{
    cell *at[WARP_LANES];
    struct held_lock t = {0};
    bool by_word = e->bytes % 4 == 0 && is_by_word(cur->kind, ALL_BYTES);
    if (by_word && cur->shared) {
        update_shared(cur, e, lanes);
        return;
    }
    if (!find_cells(cur, e, lanes, at))
        return;
    if (by_word) {
        update_global(cur, e, lanes, at);
        return;
    }
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        update_cells(cur, &t, at[l], cur->base + access_address(e, l), e->bytes, (struct lanes){1, l}, ALL_BYTES);
    }
    hold(&t, NULL);
}

/* Weak writes of one place by one instruction race; of reads and atomic updates each lane's stands for itself. */
static void update_any(struct current_access *cur, const struct access_event *e, uint32_t lanes)
{
    if (cur->kind->writes && !cur->kind->strong && may_meet(e, lanes, cur->kind->lane_shift))
        update_by_place(cur, e, lanes);
    else
        update_by_lane(cur, e, lanes);
}

void race_update_event(struct current_access *cur, const struct access_event *e, uint32_t lanes)
{
    bool whole = lanes == UINT32_MAX;
    if (e->pattern == ACCESS_UNIFORM)
        race_update(cur, e->base, e->bytes, lanes);
    else if (e->pattern == ACCESS_LINEAR && has_few_runs(lanes))
        update_runs(cur, e, lanes);
    else if (whole && (e->pattern == ACCESS_LINEAR_HALVES || e->pattern == ACCESS_UNIFORM_HALVES))
        update_halves(cur, e);
    else
        update_any(cur, e, lanes);
}

/* Those of so many words from an address on. */
static void clear_cells(struct current_access *cur, cell *c, uint32_t words, uint64_t address)
{
    (void)cur, (void)address;
    memset((void *)c, 0, words * sizeof *c);
}

static void check_end_of(struct current_access *cur, cell *c, uint32_t words, uint64_t address)
{
    for (uint32_t i = 0; i < words; i++)
        for (unsigned byte = 0; byte < (c[i] & CELL_SPLIT ? 4 : 1); byte++)
            race_check_end(cur, c[i] & CELL_SPLIT ? split_at(cur, c[i])->byte[byte] : c[i], address + 4 * i + byte);
}

/* The cells of words, as far as they are under one lock. */
static void each_cells(struct current_access *cur, uint64_t begin, uint64_t end,
                       void (*see)(struct current_access *, cell *, uint32_t, uint64_t))
{
    for (uint64_t at = begin & ~3ull, to; at < end; at = to) {
        uint64_t lock_end = (at | (LOCKED_BYTES - 1)) + 1;
        to = lock_end < end ? lock_end : end;
        cell *c = cells_find(&cur->r->cells, at);
        spin_lock(lock_of(cur, at));
        if (c)
            see(cur, c, (uint32_t)(to - at + 3) / 4, at);
        spin_unlock(lock_of(cur, at));
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

void race_update_range(struct current_access *cur, uint64_t address, uint64_t bytes, unsigned lane)
{
    address += cur->base;
    for (uint64_t at = address, end = address + bytes; at < end;) {
        uint64_t lock_end = (at | (LOCKED_BYTES - 1)) + 1, to = lock_end < end ? lock_end : end;
        uint64_t word = (at + 3) & ~3ull, last = to & ~3ull;
        if (at % 4) /* bytes before the first word, then words, then bytes behind the last */
            to = word < to ? word : to;
        else if (last > at)
            to = last;
        update_together(cur, at, (uint32_t)(to - at), (struct lanes){1, lane}, ALL_BYTES);
        at = to;
    }
}

/* Who looks at the past of bytes. */
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
        cell byte = word & CELL_SPLIT ? split_at(cur, word)->byte[at % 4] : word;
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
