/* Shadow updates: how an access changes the cells of its words. Runs of cells with the same history
 * are updated at once. See current.h and check/shadow/cells.h. */
#include "check/race/current.h"

#include <string.h>

#include "check/shadow/defined.h"

/* A reader without the lock (have_no_effect) that sees the number sees the history, too. */
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
            race_split_at(cur, fresh)->byte[i] = word ? cell_further(word, mapping_lane(mapping, i)) : 0;
        set_cell(c, fresh | CELL_SPLIT);
    }
    return race_split_at(cur, *c);
}

/* Prefetches the histories and site epochs of these cells, which may be anywhere in memory.
 * (Inlined: gcc drops calls of functions that only prefetch.) */
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

static unsigned further(unsigned per_lane, uint32_t word)
{
    return 4 * word >> per_lane;
}

static enum lane_mapping mapping_of(unsigned per_lane)
{
    return per_lane < 2 ? LANES_BY_BYTE + per_lane : LANES_SAME;
}

/* Do the word's history and the access have one lane mapping, or has one of them no lanes? Sets
 * cur->mapping. */
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
        /* Else the transition holds for the first byte only. */
        if (cur->mapping == LANES_SAME || cur->one_for_all) {
            set_cell(c, next);
            return;
        }
    }
    update_bytes(cur, c, address, 4, lanes, per_lane);
}

typedef uint32_t words __attribute__((vector_size(16)));

/* How many words of a stretch, of `count` from word `from` on, have the history of the first, each
 * relative to its own lanes? Compares four at a time, as most accesses are such stretches. A split
 * word is alone. */
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

/* Four at a time, each written atomically. (ThreadSanitizer takes the vector for one access.) */
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

/* Updates neighbouring words, all at once if they have the same history. */
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

/* Can words be updated as a whole? They can if all of a word belongs to one lane and its elements
 * do not matter, or if the word has a lane mapping. */
static bool is_by_word(const struct access_kind *c, unsigned per_lane)
{
    return c->bytes >= 4 || (!c->strong && (c->lane_shift >= 2 || !c->site)) ||
           (per_lane < 2 && per_lane == c->lane_shift);
}

/* Do these reads change nothing, because entries represent them already? Called without the lock:
 * the history that was seen is the cell's if no collection ran meanwhile. */
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

/* Under the lock; a number that was made before may have been collected. */
static bool has_site_epoch(struct current_access *cur)
{
    return (cur->site_epoch && cur->generation == atomic_load_explicit(&cur->h->generation, memory_order_relaxed)) ||
           race_new_site_epoch(cur);
}

static inline void update_of_kind(struct current_access *cur, cell *c, uint64_t address, uint32_t bytes,
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

/* A quick test, because strong reads rarely meet bytes or words with histories of their own. */
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
        if (race_is_torn(cur, at, address + i))
            race_use_kind(cur, race_kind_torn(cur->r, cur->kind));
        if (cur->kind)
            update_of_kind(cur, at, address + i, cur->kind->bytes, of_element, per_lane);
        race_use_kind(cur, whole);
    }
}

/* A lock that is kept from run to run while it is the same one, because taking a lock waits for all
 * earlier stores. */
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
    hold(t, cur->shared ? NULL : race_lock_of(cur->r, address));
    if (may_be_torn(cur, c, address, bytes))
        update_torn(cur, c, address, bytes, lanes, per_lane);
    else
        update_of_kind(cur, c, address, bytes, lanes, per_lane);
}

void race_update_together(struct current_access *cur, uint64_t address, uint32_t bytes, struct lanes lanes,
                          unsigned per_lane)
{
    cell *c = cells_at(cur, address, bytes);
    struct held_lock t = {0};
    if (c)
        update_cells(cur, &t, c, address, bytes, lanes, per_lane);
    hold(&t, NULL);
}

/* A small cache of one access's updates, by the cells' histories relative to the lane: the lanes of
 * an access meet few different histories. */
enum { MET_FEW = 8 };
struct met {
    cell was, next; /* relative to lane 0; `was` is 0: unused */
};

static cell for_lane(cell c, unsigned lane)
{
    return cell_further(c, -lane & 31);
}

/* A word by one lane: most are like one before. */
static void update_alike(struct current_access *cur, struct met met[MET_FEW], cell *c, unsigned lane, uint64_t address)
{
    /* Its effect does not depend on the lane that the cell names. */
    bool is_rmw = race_is_rmw(cur->kind);
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

/* Words of global memory, lane by lane. `met` is valid until the next collection. */
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
        hold(&t, race_lock_of(cur->r, address));
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

/* Finds the cells of lanes, and prefetches what those of global memory name. */
static bool find_cells(const struct current_access *cur, const struct access_event *e, uint32_t lanes,
                       cell *at[WARP_LANES])
{
    cell near[WARP_LANES], *part = NULL;
    uint32_t count = 0;
    uint64_t number = UINT64_MAX; /* of the part, which consecutive lanes share */
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

void race_update_lanes(struct current_access *cur, const struct access_event *e, uint32_t lanes)
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
