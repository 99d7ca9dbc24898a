/* Data races; see races.h. Each access of a warp goes to the cells that it touches, rows of them at once where they have the same
 * past. */
#include "check/race_state.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers in stock ---- */

static uint32_t take(struct races *r, struct numbered *n, struct stock *s, uint32_t count)
{
    if (s->left < count) {
        uint32_t row = count > ROW ? count : ROW;
        s->next = numbered_take_row(n, row);
        s->left = s->next ? row : 0;
        if (!s->next) {
            atomic_store(&r->no_memory, true);
            return 0;
        }
    }
    s->left -= count;
    s->next += count;
    return s->next - count;
}

/* ---- an access ---- */

/* A warp's access that is under way. */
struct now {
    struct races *r;
    struct race_block *b;
    const struct kernel *kernel; /* NULL: a task of another kind */
    unsigned warp;
    const struct access_class *class;
    uint32_t class_number, record;
    struct histories *h;
    struct stock *records, *histories, *splits;
    bool shared, one_event;
    struct step last; /* what was done last */
};

static uint32_t new_record(struct now *n)
{
    unsigned warp = n->warp;
    uint32_t stamp = n->b->order->warps[warp].now;
    struct recent_record *p = &n->b->recent[warp][n->shared][n->class_number % RECENT];
    if (p->class == n->class_number && p->stamp == stamp && p->record)
        return p->record;
    uint32_t number = take(n->r, &n->h->records, n->records, 1);
    if (number)
        *(struct record *)numbered_at(&n->h->records, number) =
            (struct record){n->class_number, n->b->order->number, stamp, warp};
    *p = (struct recent_record){n->class_number, stamp, number};
    return number;
}

static const struct access_class *class_at(const struct races *r, uint32_t number)
{
    return numbered_at(&r->classes, number);
}

static uint32_t class_of(struct race_block *b, const struct op *op, bool in_vain)
{
    struct race_worker *k = b->worker;
    struct known_op *p = &k->ops[(unsigned)((uintptr_t)op / sizeof *op) % OPS];
    if (p->op != op || p->in_vain != in_vain) {
        p->op = op;
        p->in_vain = in_vain;
        p->class = race_class(b->races, op, in_vain);
    }
    return p->class;
}

static void use_class(struct now *n, uint32_t class)
{
    n->class_number = class;
    n->class = class ? class_at(n->r, class) : NULL;
}

/* ---- is an earlier access ordered before this one? ---- */

/* An entry of the cell's history, as the access meets it. */
struct earlier {
    struct history_entry entry;
    const struct record *record;
    const struct access_class *class;
    uint32_t lanes;
    bool same_instance, same_task;
};

static struct earlier meet(const struct now *n, struct history_entry entry, uint64_t address)
{
    struct earlier e = {.entry = entry, .record = history_record(n->h, entry.record)};
    e.class = class_at(n->r, e.record->class);
    e.lanes = entry_lanes(entry, address, e.class->lane_shift);
    e.same_instance = e.record->instance == n->b->order->number;
    e.same_task = e.same_instance || order_instance(n->r->order, e.record->instance)->task == n->b->task;
    return e;
}

static bool is_task_before(const struct now *n, const struct earlier *e)
{
    uint32_t task = order_instance(n->r->order, e->record->instance)->task;
    return task <= n->b->floor || (n->r->strands && strands_before(n->r->strands, task, n->b->task));
}

/* Those of its lanes whose accesses happen before what `lane` does now; its own are, in program order. */
static uint32_t before(const struct now *n, const struct earlier *e, unsigned lane)
{
    unsigned warp = n->warp;
    if (!e->same_task && is_task_before(n, e))
        return e->lanes;
    uint32_t own = e->same_instance && e->record->warp == warp ? e->lanes & 1u << lane : 0;
    return own | order_before(n->b->order, warp, lane, e->record->instance, e->record->warp, e->lanes & ~own,
                              e->record->stamp);
}

/* Two lanes that are unordered; false where there are none. All lanes of a warp know the same where nobody has a clock. */
static bool are_unordered(const struct now *n, const struct earlier *e, uint32_t lanes, unsigned *of, unsigned *lane)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        uint32_t free = e->lanes & ~before(n, e, l);
        if (free) {
            *of = (unsigned)__builtin_ctz(free);
            *lane = l;
            return true;
        }
    }
    return false;
}

/* Does each of its accesses happen before one of these lanes'? */
static bool is_before_any(const struct now *n, const struct earlier *e, uint32_t lanes)
{
    uint32_t left = e->lanes;
    for (; lanes && left; lanes &= lanes - 1)
        left &= ~before(n, e, (unsigned)__builtin_ctz(lanes));
    return left == 0;
}

static bool are_morally_strong(const struct now *n, const struct earlier *e)
{
    const struct order *o = n->r->order;
    return e->class->strong && n->class->strong && e->class->bytes == n->class->bytes &&
           order_reaches(o, e->class->reach, e->record->instance, n->b->order->number) &&
           order_reaches(o, n->class->reach, n->b->order->number, e->record->instance);
}

/* Causality order, 2: what a strong operation has observed happens before what that one happens before (8.9.4). So a strong write is
 * ordered where a strong read or read-modify-write behind it, with which it is morally strong, is. */
static bool was_observed(const struct now *n, const struct history *h, uint32_t i, const struct earlier *e,
                         unsigned lane, uint64_t address)
{
    const struct order *o = n->r->order;
    for (uint32_t k = i + 1; e->class->strong && e->class->writes && k < h->n; k++) {
        struct earlier z = meet(n, h->at[k], address);
        if (!z.class->reads && z.class->writes)
            return false;
        if (z.class->reads && z.class->strong && z.class->bytes == e->class->bytes &&
            order_reaches(o, z.class->reach, z.record->instance, e->record->instance) &&
            order_reaches(o, e->class->reach, e->record->instance, z.record->instance) && before(n, &z, lane))
            return true;
    }
    return false;
}

/* ---- races ---- */

static enum race_reason reason_of(const struct now *n, const struct earlier *e)
{
    if (e->class->strong && n->class->strong)
        return e->class->bytes != n->class->bytes ? RACE_PARTLY : RACE_SCOPE;
    if (e->class->strong != n->class->strong && e->class->op && n->class->op)
        return RACE_MIXED;
    if (!e->class->op || !n->class->op)
        return RACE_HOST;
    return !e->same_task                ? RACE_LAUNCHES
           : !e->same_instance          ? RACE_BLOCKS
           : e->record->warp != n->warp ? RACE_BLOCK
                                        : RACE_WARP;
}

static struct race_side side(const struct now *n, const struct access_class *c, uint32_t instance, unsigned thread)
{
    return (struct race_side){c, *order_instance(n->r->order, instance), thread};
}

static void tell(const struct now *n, const struct earlier *e, unsigned of, unsigned lane, uint64_t address)
{
    struct race_side earlier = side(n, e->class, e->record->instance, e->record->warp * WARP_LANES + of);
    struct race_side later = side(n, n->class, n->b->order->number, n->warp * WARP_LANES + lane);
    race_found(n->r, n->kernel, reason_of(n, e), &earlier, &later, n->shared, address);
}

static void check_entry(const struct now *n, const struct history *h, uint32_t i, const struct earlier *e,
                        uint32_t lanes, uint64_t address)
{
    unsigned of, lane;
    if (!(e->class->writes || n->class->writes) || are_morally_strong(n, e) ||
        !are_unordered(n, e, lanes, &of, &lane) || was_observed(n, h, i, e, lane, address))
        return;
    tell(n, e, of, lane, address);
}

/* Lanes of one instruction that write one place: nothing orders them. */
static void check_lanes(const struct now *n, uint32_t lanes, uint64_t address)
{
    if (!n->class->writes || n->class->strong || !(lanes & (lanes - 1)))
        return;
    unsigned a = (unsigned)__builtin_ctz(lanes), b = (unsigned)__builtin_ctz(lanes & (lanes - 1));
    struct race_side x = side(n, n->class, n->b->order->number, n->warp * WARP_LANES + a), y = x;
    y.thread = n->warp * WARP_LANES + b;
    race_found(n->r, n->kernel, RACE_ONE_INSTRUCTION, &x, &y, n->shared, address);
}

/* ---- what becomes of a history ---- */

/* Behind it is all that can still come to the cell. */
static bool is_settled(const struct now *n, const struct earlier *e)
{
    if (n->shared)
        return e->record->stamp < n->b->order->floor && !(n->b->order->warps[e->record->warp].exited & e->lanes);
    return !e->same_task && order_instance(n->r->order, e->record->instance)->task <= n->b->settled;
}

/* Whoever is unordered with it is with the new access, and no scope makes a difference. */
static bool is_replaced(const struct now *n, const struct earlier *e, uint32_t lanes)
{
    bool scoped = e->class->strong && e->class->reach < REACH_GPU;
    return e->class == n->class && (!scoped || e->same_instance) && is_before_any(n, e, lanes);
}

/* Of two others of the same class in a regular launch, the one to stay with the new access: of another block, else of another warp,
 * and of these the later. */
static uint32_t thin_out(const struct now *n, struct history_entry *out, uint32_t count, uint64_t address)
{
    uint32_t same = 0, best = UINT32_MAX;
    int best_rank = -1;
    for (uint32_t i = 0; i < count; i++) {
        struct earlier e = meet(n, out[i], address);
        if (e.class != n->class || !e.same_task)
            continue;
        int rank = !e.same_instance ? 2 : e.record->warp != n->warp;
        same++;
        if (rank >= best_rank) {
            best_rank = rank;
            best = i;
        }
    }
    if (same < 2)
        return count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct earlier e = meet(n, out[i], address);
        if (e.class != n->class || !e.same_task || i == best)
            out[kept++] = out[i];
    }
    return kept;
}

static bool is_update(const struct access_class *c)
{
    return c->strong && c->reads && c->writes;
}

/* The new access has observed it (8.9.2): whatever comes behind the one comes behind the other. */
static bool is_observed_by(const struct now *n, const struct history *h, uint32_t i, const struct earlier *e)
{
    if (e->class != n->class || !is_update(n->class) || !are_morally_strong(n, e))
        return false;
    for (uint32_t k = i + 1; k < h->n; k++)
        if (!is_update(class_at(n->r, history_record(n->h, h->at[k].record)->class)))
            return false;
    return true;
}

/* In a regular launch two accesses of blocks, or of warps of this block, that differ stand for all of their class and launch: a later
 * one is of one block and one warp, and unordered with one of the two. Strong ones are needed for what they have observed. */
static bool has_enough(const struct now *n, const struct history_entry *at, uint32_t count, bool of_this_block)
{
    uint32_t first = 0, warp = 0;
    if (n->b->traits.irregular || n->class->strong)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct record *r = history_record(n->h, at[i].record);
        if (r->class != n->class_number || order_instance(n->r->order, r->instance)->task != n->b->task)
            continue;
        if (first && (r->instance != first || (of_this_block && first == n->b->order->number && r->warp != warp)))
            return true;
        first = r->instance;
        warp = r->warp;
    }
    return false;
}

/* Only reads, of which one class has enough: what another of its launch is done to the cell by is nothing. */
static uint32_t class_without_effect(const struct now *n, const struct history_entry *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (class_at(n->r, history_record(n->h, at[i].record)->class)->writes)
            return 0;
    return has_enough(n, at, count, false) ? n->class_number : 0;
}

/* Only an atomic update of this class is there, which this one observes: what becomes of the cell is what becomes of a new one. */
static bool is_overtaken(const struct now *n, uint32_t old)
{
    const struct history *h = history_at(n->h, old);
    return h->n == 1 && is_update(n->class) && (n->shared || n->class->reach >= REACH_GPU) &&
           history_record(n->h, h->at[0].record)->class == n->class_number;
}

static bool has_no_effect(const struct now *n, uint32_t old)
{
    const struct history *h = history_at(n->h, old);
    return h->without_effect == n->class_number &&
           order_instance(n->r->order, history_record(n->h, h->at[h->n - 1].record)->instance)->task == n->b->task;
}

static const struct access_class *class_of_entry(const struct now *n, const struct history *h, uint32_t i)
{
    return class_at(n->r, history_record(n->h, h->at[i].record)->class);
}

static bool is_strong_for_all(const struct access_class *c)
{
    return c->strong && c->reach >= REACH_GPU;
}

static bool are_strong_for_all(const struct now *n, const struct history *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (!is_strong_for_all(class_of_entry(n, h, i)))
            return false;
    return true;
}

/* A read is left out: of a flag that many wait for, where all that is there is strong, sooner than elsewhere. */
static bool is_full(const struct now *n, const struct history *h)
{
    if (n->class->writes || h->n < HISTORY_STRONG_MOST)
        return false;
    return h->n >= HISTORY_MOST || (is_strong_for_all(n->class) && are_strong_for_all(n, h));
}

/* Can the write race with a read that was left out? */
static bool may_miss(const struct now *n, const struct history *h)
{
    if (!n->class->writes || h->n < HISTORY_STRONG_MOST)
        return false;
    bool strong = are_strong_for_all(n, h);
    return strong ? !is_strong_for_all(n->class) : h->n >= HISTORY_MOST;
}

static uint32_t intern(struct now *n, const struct history_entry *at, uint32_t count)
{
    uint32_t number = take(n->r, &n->h->histories, n->histories, count + 1);
    if (!number)
        return 0;
    struct history *h = numbered_at(&n->h->histories, number);
    h->n = count;
    h->without_effect = class_without_effect(n, at, count);
    memcpy(h->at, at, count * sizeof *at);
    return number;
}

/* Lanes as an entry has them. */
static uint32_t lanes_at(uint32_t lanes, bool relative, uint64_t address, const struct access_class *c)
{
    return relative ? rotate_left(lanes, (unsigned)(address >> c->lane_shift)) : lanes;
}

/* The history behind an access by lanes (`lanes` as its entry has them), which is checked against those in `old`. */
static uint32_t advance(struct now *n, uint32_t old, uint32_t lanes, bool relative, uint64_t address)
{
    struct history_entry out[HISTORY_MOST + 2];
    uint32_t count = 0, mine = lanes_at(lanes, relative, address, n->class), entry_lanes_ = lanes;
    const struct history *h = old ? history_at(n->h, old) : NULL;
    check_lanes(n, mine, address);
    if (h && is_full(n, h)) {
        for (uint32_t i = 0; i < h->n; i++)
            if (class_of_entry(n, h, i)->writes) {
                struct earlier e = meet(n, h->at[i], address);
                check_entry(n, h, i, &e, mine, address);
            }
        return old;
    }
    if (h && may_miss(n, h))
        atomic_fetch_add(&n->r->forgotten, 1);
    for (uint32_t i = 0; h && i < h->n; i++) {
        struct earlier e = meet(n, h->at[i], address);
        check_entry(n, h, i, &e, mine, address);
        if ((e.entry.record & ~ENTRY_RELATIVE) == n->record) {
            uint32_t all = e.lanes | mine;
            entry_lanes_ = relative ? rotate_left(all, -(unsigned)(address >> n->class->lane_shift)) : all;
            continue;
        }
        if (!is_settled(n, &e) && !is_replaced(n, &e, mine) && !is_observed_by(n, h, i, &e))
            out[count++] = h->at[i];
    }
    if (h && has_enough(n, h->at, h->n, false))
        return old;
    if (has_enough(n, out, count, true))
        return count == h->n ? old : intern(n, out, count);
    if (!n->b->traits.irregular)
        count = thin_out(n, out, count, address);
    if (count >= HISTORY_MOST)
        memmove(out, out + 1, --count * sizeof *out);
    out[count++] = (struct history_entry){n->record | (relative ? ENTRY_RELATIVE : 0), entry_lanes_};
    if (h && h->n == count && memcmp(h->at, out, count * sizeof *out) == 0)
        return old;
    return intern(n, out, count);
}

/* Where entries and the access count lanes in different ways, or lanes of a warp know different things, what comes out depends on the
 * address, too. */
static uint32_t extra_key(const struct now *n, uint32_t old, bool relative, uint64_t address)
{
    const struct history *h = old ? history_at(n->h, old) : NULL;
    if (h && relative && n->b->order->irregular)
        return 1 + (uint32_t)(address & 1023);
    for (uint32_t i = 0; h && i < h->n; i++) {
        bool is_relative = h->at[i].record & ENTRY_RELATIVE;
        if (is_relative != relative ||
            (relative &&
             class_at(n->r, history_record(n->h, h->at[i].record)->class)->lane_shift != n->class->lane_shift))
            return 1 + (uint32_t)(address & 1023);
    }
    return 0;
}

static uint32_t hash_step(const struct step *s)
{
    uint64_t x = s->old * 0x9e3779b97f4a7c15ull ^ s->record * 0xc2b2ae3d27d4eb4full ^ s->lanes * 0x165667b19e3779f9ull ^
                 s->extra;
    return (uint32_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9ull >> 40) % STEPS;
}

static bool same_step(const struct step *a, const struct step *b)
{
    return a->old == b->old && a->record == b->record && a->lanes == b->lanes && a->extra == b->extra &&
           a->generation == b->generation;
}

static uint32_t look_up(struct now *n, uint32_t old, uint32_t lanes, bool relative, uint64_t address)
{
    struct step s = {
        old, n->record | (relative ? ENTRY_RELATIVE : 0), lanes, extra_key(n, old, relative, address), n->h->generation,
        0};
    struct step *known = &n->b->worker->steps[hash_step(&s)];
    if (!same_step(known, &s)) {
        s.new = advance(n, old, lanes, relative, address);
        *known = s;
    }
    if (!s.extra)
        n->last = *known;
    return known->new;
}

static inline uint32_t next_history(struct now *n, uint32_t old, uint32_t lanes, bool relative, uint64_t address)
{
    if (n->last.old == old && n->last.lanes == lanes &&
        n->last.record == (n->record | (relative ? ENTRY_RELATIVE : 0)) && n->last.generation == n->h->generation)
        return n->last.new;
    if (old && !n->b->traits.irregular && has_no_effect(n, old))
        return old;
    if (old && is_overtaken(n, old))
        old = 0;
    return look_up(n, old, lanes, relative, address);
}

/* ---- cells ---- */

/* Cells of global memory are under locks, one for each 128 bytes that a row of words has: those of shared memory are the worker's. */
enum { LOCKED_BYTES = 128 };

static void lock_cells(const struct now *n, uint64_t address)
{
    _Atomic uint8_t *lock = &n->r->locks[address / LOCKED_BYTES % LOCKS];
    for (unsigned tries = 0; atomic_exchange_explicit(lock, 1, memory_order_acquire); tries++)
        if (tries % 64 == 63)
            sched_yield();
}

static void unlock_cells(const struct now *n, uint64_t address)
{
    atomic_store_explicit(&n->r->locks[address / LOCKED_BYTES % LOCKS], 0, memory_order_release);
}

static struct split *split_at(const struct now *n, uint32_t number)
{
    return numbered_at(&n->h->splits, number & ~CELL_SPLIT);
}

/* The cells of a word's bytes. */
static struct split *split(struct now *n, cell *c)
{
    if (!(*c & CELL_SPLIT)) {
        uint32_t fresh = take(n->r, &n->h->splits, n->splits, 1);
        if (!fresh)
            return NULL;
        for (unsigned i = 0; i < 4; i++)
            split_at(n, fresh)->byte[i] = *c;
        *c = fresh | CELL_SPLIT;
    }
    return split_at(n, *c);
}

static void touch_word(struct now *n, cell *c, uint32_t lanes, bool relative, uint64_t address)
{
    if (__builtin_expect(!(*c & CELL_SPLIT), 1)) {
        *c = next_history(n, *c, lanes, relative, address);
        return;
    }
    struct split *s = split_at(n, *c);
    for (unsigned i = 0; i < 4; i++)
        s->byte[i] = next_history(n, s->byte[i], lanes, relative, address + i);
}

/* Neighbouring words, to which the access is the same: at once where they have the same past. */
static void touch_words(struct now *n, cell *c, uint32_t count, uint32_t lanes, bool relative, uint64_t address)
{
    uint32_t first = c[0], others = 0;
    for (uint32_t i = 1; i < count; i++)
        others |= c[i] ^ first;
    touch_word(n, c, lanes, relative, address);
    if (!others && n->last.old == first && n->last.lanes == lanes) { /* whatever the address */
        for (uint32_t i = 1; i < count; i++)
            c[i] = n->last.new;
        return;
    }
    for (uint32_t i = 1; i < count; i++)
        touch_word(n, c + i, lanes, relative, address + 4 * i);
}

/* The cell of the word at an address, and those of `bytes` from there on. */
static cell *cells_at(const struct now *n, uint64_t address, uint32_t bytes)
{
    if (!n->shared) {
        cell *c = cells_find(&n->r->cells, address);
        if (!c)
            atomic_store(&n->r->no_memory, true);
        return c;
    }
    uint32_t first = (uint32_t)address / 4, end = (uint32_t)(address + bytes + 3) / 4;
    if (first < n->b->touched_from)
        n->b->touched_from = first;
    if (end > n->b->touched_to)
        n->b->touched_to = end;
    return &n->b->shared_cells[first];
}

static void touch_bytes(struct now *n, cell *c, uint64_t address, uint32_t bytes, uint32_t lanes, bool relative)
{
    for (uint64_t at = address; at < address + bytes; at++) {
        struct split *s = split(n, c + (at / 4 - address / 4));
        if (!s)
            return;
        s->byte[at % 4] = next_history(n, s->byte[at % 4], lanes, relative, at);
    }
}

/* Is all of a word one lane's, and does it not matter of how many elements it is? */
static bool is_by_word(const struct access_class *c)
{
    return c->bytes >= 4 || (!c->strong && (c->lane_shift >= 2 || !c->op));
}

/* Bytes to which the access is the same, all of whose cells are under one lock. */
static void touch_together(struct now *n, uint64_t address, uint32_t bytes, uint32_t lanes, bool relative)
{
    bool by_word = (address | bytes) % 4 == 0 && is_by_word(n->class);
    cell *c = cells_at(n, address, bytes);
    if (!c)
        return;
    if (!n->shared)
        lock_cells(n, address);
    if (by_word)
        touch_words(n, c, bytes / 4, lanes, relative, address);
    else
        touch_bytes(n, c, address, bytes, lanes, relative);
    if (!n->shared)
        unlock_cells(n, address);
}

/* Lanes as an entry is to have them. Of atomic updates of one place, which lanes perform in their order, the last has observed the
 * others. */
static uint32_t key_of(const struct now *n, uint64_t address, uint32_t lanes, bool *relative)
{
    if (is_update(n->class))
        lanes = 1u << (31 - (unsigned)__builtin_clz(lanes));
    *relative = __builtin_popcount(lanes) <= 2;
    return *relative ? rotate_left(lanes, -(unsigned)(address >> n->class->lane_shift)) : lanes;
}

/* What lanes access together, all of them, from an address on. */
static void touch(struct now *n, uint64_t address, uint32_t bytes, uint32_t lanes)
{
    bool relative;
    uint32_t key = key_of(n, address, lanes, &relative);
    touch_together(n, address, bytes, key, relative);
}

/* A row of neighbouring places, one for each lane from the lowest of `lanes` on; or for two lanes, if it has two bits. */
static void touch_row(struct now *n, uint64_t base, uint64_t bytes, uint32_t lanes)
{
    bool relative;
    uint32_t key = key_of(n, base, lanes, &relative);
    for (uint64_t at = base, end = base + bytes; at < end;) {
        uint64_t lock_end = (at | (LOCKED_BYTES - 1)) + 1, to = lock_end < end ? lock_end : end;
        touch_together(n, at, (uint32_t)(to - at), key, relative);
        at = to;
    }
}

/* Both halves of a warp: each its own row of places, or its own place; or both the same. */
static void touch_halves(struct now *n, const struct access_event *e)
{
    enum { HALF = 0xffff };
    uint64_t low = access_address(e, 0), high = access_address(e, HALF_WARP);
    bool rows = e->pattern == ACCESS_LINEAR_HALVES;
    uint64_t bytes = rows ? (uint64_t)HALF_WARP * e->bytes : e->bytes;
    if (low == high && rows) {
        touch_row(n, low, bytes, 1 | 1u << HALF_WARP);
    } else if (rows) {
        touch_row(n, low, bytes, 1);
        touch_row(n, high, bytes, 1u << HALF_WARP);
    } else if (low == high) {
        touch(n, low, e->bytes, UINT32_MAX);
    } else {
        touch(n, low, e->bytes, HALF);
        touch(n, high, e->bytes, (uint32_t)HALF << HALF_WARP);
    }
}

/* Lanes that access the same place are taken together. */
static void touch_any(struct now *n, const struct access_event *e, uint32_t lanes)
{
    uint64_t place[WARP_LANES];
    uint32_t at[WARP_LANES], count = 0;
    uint8_t slot[64];
    memset(slot, 0xff, sizeof slot);
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        uint64_t address = access_address(e, l);
        unsigned s = (unsigned)((address >> n->class->lane_shift) * 0x9e3779b97f4a7c15ull >> 58);
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
        touch(n, place[i], e->bytes, at[i]);
}

static void touch_event(struct now *n, const struct access_event *e, uint32_t lanes)
{
    bool whole = lanes == UINT32_MAX;
    if (e->pattern == ACCESS_UNIFORM)
        touch(n, e->base, e->bytes, lanes);
    else if (e->pattern == ACCESS_LINEAR && whole)
        touch_row(n, e->base, (uint64_t)WARP_LANES * e->bytes, 1);
    else if (e->pattern == ACCESS_LINEAR)
        for (; lanes; lanes &= lanes - 1)
            touch(n, access_address(e, (unsigned)__builtin_ctz(lanes)), e->bytes, lanes & (0 - lanes));
    else if (whole && (e->pattern == ACCESS_LINEAR_HALVES || e->pattern == ACCESS_UNIFORM_HALVES))
        touch_halves(n, e);
    else
        touch_any(n, e, lanes);
}

/* ---- events ---- */

static struct race_block *block_of(const struct block *b)
{
    return b->client[CLIENT_RACES];
}

static bool begin(struct now *n, const struct access_event *e, struct race_block *b)
{
    n->r = b->races;
    n->b = b;
    n->warp = e->warp->index;
    n->kernel = e->warp->block->launch->kernel;
    n->shared = e->space == SPACE_SHARED;
    use_class(n, class_of(b, e->op, false));
    n->h = n->shared ? &b->shared : &b->races->global;
    n->records = n->shared ? &b->shared_records : &b->worker->records;
    n->histories = n->shared ? &b->shared_histories : &b->worker->histories;
    n->splits = n->shared ? &b->shared_splits : &b->worker->splits;
    n->last.record = 0;
    n->record = n->class ? new_record(n) : 0;
    return n->record != 0;
}

/* A place that strong operations have made a sync variable of is written by a weak one. */
static void forget_releases(const struct now *n, const struct access_event *e, uint32_t lanes)
{
    uint64_t from = n->shared ? (uint64_t)(uintptr_t)e->warp->block->shared : 0;
    for (; lanes; lanes &= lanes - 1)
        order_weak_write(n->b->order, from + access_address(e, (unsigned)__builtin_ctz(lanes)), e->bytes);
}

/* What comes after this launch comes after what one of its threads has learnt of another task, too. */
static void learn_from_task(const struct now *n, uint32_t task)
{
    if (task && n->r->strands)
        strands_learn(n->r->strands, n->b->task, task);
}

static void observe_elements(struct now *n, const struct access_event *e, unsigned lane, struct strong_access *s,
                             uint64_t from)
{
    bool returns = e->op->origin->origin->inst->kind != KIND_RED; /* else it is no read of an acquire pattern (8.8) */
    for (uint32_t at = 0; s->reads && returns && at < e->bytes; at += s->bytes) {
        s->address = from + access_address(e, lane) + at;
        learn_from_task(n, order_observe(n->b->order, n->warp, lane, s));
    }
}

static void release_elements(struct now *n, const struct access_event *e, unsigned lane, struct strong_access *s,
                             uint64_t from)
{
    for (uint32_t at = 0; at < e->bytes; at += s->bytes) {
        s->address = from + access_address(e, lane) + at;
        order_release(n->b->order, n->warp, lane, s);
    }
}

/* Lanes one after the other, as they have performed it. */
static void touch_strong(struct now *n, const struct access_event *e)
{
    const struct op_access *x = e->op->access;
    uint64_t from = n->shared ? (uint64_t)(uintptr_t)e->warp->block->shared : 0;
    struct strong_access s = {.bytes = x->bytes,
                              .acquires = x->order == ORDER_ACQUIRE || x->order == ORDER_ACQ_REL,
                              .releases = x->order == ORDER_RELEASE || x->order == ORDER_ACQ_REL,
                              .reads = e->reads,
                              .owner = n->shared ? n->b->order->number : 0,
                              .reach = order_reach((enum isa_mod)x->scope)};
    unsigned order = e->op->kind == OP_ST ? op_store_order(x) : 0;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        unsigned l = i ^ order;
        if (!(e->lanes >> l & 1))
            continue;
        s.writes = e->wrote >> l & 1;
        use_class(n, class_of(n->b, e->op, e->writes && !s.writes));
        if (n->b->traits.releases)
            observe_elements(n, e, l, &s, from);
        if (order && e->pattern != ACCESS_LINEAR) /* of lanes that store at one place the last has been seen, not all */
            order_step(n->b->order, n->warp);
        n->record = n->class ? new_record(n) : 0;
        if (n->record)
            touch(n, access_address(e, l), e->bytes, 1u << l);
        if (n->b->traits.releases && s.writes)
            release_elements(n, e, l, &s, from);
    }
}

static bool is_watched(const struct access_event *e)
{
    return block_of(e->warp->block) && (e->space == SPACE_GLOBAL || e->space == SPACE_SHARED) && e->op->access &&
           !e->op->access->is_const;
}

/* Must it be known what the access has seen, or whether it has written? */
static bool waits_for_result(const struct race_block *b, const struct access_event *e)
{
    return e->strong && (b->traits.releases || (e->op->kind == OP_ATOM && e->op->access->atom == ATOM_cas));
}

static void on_access(void *data, const struct access_event *e)
{
    struct now n;
    struct race_block *b = block_of(e->warp->block);
    (void)data;
    if (!is_watched(e))
        return;
    if (e->strong && b->traits.releases)
        order_lock(b->races->order);
    if (waits_for_result(b, e))
        return;
    if (!begin(&n, e, b))
        return;
    touch_event(&n, e, e->lanes);
    if (e->writes && !e->strong && b->traits.releases)
        forget_releases(&n, e, e->lanes);
}

static void on_performed(void *data, const struct access_event *e)
{
    struct now n;
    struct race_block *b = block_of(e->warp->block);
    (void)data;
    if (!is_watched(e) || !waits_for_result(b, e))
        return;
    if (begin(&n, e, b))
        touch_strong(&n, e);
    if (b->traits.releases)
        order_unlock(b->races->order);
}

/* Behind a barrier of all its threads nothing in shared memory can race with what was before. */
static void forget_shared(struct race_block *b)
{
    if (b->touched_from < b->touched_to)
        memset((void *)(b->shared_cells + b->touched_from), 0,
               (b->touched_to - b->touched_from) * sizeof *b->shared_cells);
    b->touched_from = UINT32_MAX;
    b->touched_to = 0;
    numbered_clear(&b->shared.records);
    numbered_clear(&b->shared.histories);
    numbered_clear(&b->shared.splits);
    b->shared_records = b->shared_histories = b->shared_splits = (struct stock){0};
    b->shared.generation += 2;
    for (uint32_t w = 0; w < b->order->n_warps; w++)
        memset(b->recent[w][true], 0, sizeof b->recent[w][true]);
}

static void barrier_opens(struct race_block *b, const struct sync_event *e)
{
    if (e->id < BARRIERS && order_barrier_opens(b->order, e) && b->order->least_exit_floor == UINT32_MAX)
        forget_shared(b);
}

static void fence(struct race_block *b, const struct sync_event *e)
{
    const struct isa_inst *i = e->op->origin->origin->inst;
    bool acquire_only = isa_has(i, MOD_acquire), release_only = isa_has(i, MOD_release);
    enum isa_mod scope = isa_has(i, MOD_cta)       ? MOD_cta
                         : isa_has(i, MOD_cluster) ? MOD_cluster
                         : isa_has(i, MOD_sys)     ? MOD_sys
                                                   : MOD_gpu;
    order_fence(b->order, e->warp->index, e->lanes, !release_only, !acquire_only, order_reach(scope));
}

static void mbarrier(struct race_block *b, const struct sync_event *e,
                     void (*act)(struct block_order *, unsigned, unsigned, const struct sync_event *))
{
    for (uint32_t lanes = e->lanes; lanes; lanes &= lanes - 1)
        act(b->order, e->warp->index, (unsigned)__builtin_ctz(lanes), e);
}

static void on_sync(void *data, const struct sync_event *e)
{
    struct race_block *b = block_of(e->block);
    (void)data;
    if (!b)
        return;
    switch (e->kind) {
    case SYNC_BARRIER_OPEN: barrier_opens(b, e); break;
    case SYNC_BARRIER_ARRIVE:
        if (e->op->mode == BAR_ARRIVE)
            order_barrier_arrive(b->order, e->warp->index, e->lanes, e->id);
        break;
    case SYNC_COLLECTIVE:
        if (e->op->mode == COLLECTIVE_SYNC) /* of shfl, vote, match and redux the ISA says nothing about memory */
            order_warp_meets(b->order, e->warp, e->lanes);
        break;
    case SYNC_FENCE: fence(b, e); break;
    case SYNC_CLUSTER_ARRIVE:
        order_cluster_arrive(b->order, e->warp->index, e->lanes, e->order == ORDER_RELEASE);
        break;
    case SYNC_CLUSTER_OPEN: order_cluster_opens(b->order); break;
    case SYNC_CLUSTER_WAIT: order_cluster_wait(b->order, e->warp->index, e->lanes); break;
    case SYNC_MBARRIER_ARRIVE: mbarrier(b, e, order_mbarrier_arrive); break;
    case SYNC_MBARRIER_WAIT: mbarrier(b, e, order_mbarrier_wait); break;
    case SYNC_EXIT: order_exit(b->order, e->warp, e->lanes); break;
    default: break;
    }
}

/* ---- kernels ---- */

static bool is_const_row(row_ref r)
{
    return (r & 3) == ROW_CONST;
}

static bool has_full_mask(const struct code *c, const struct op *o)
{
    return is_const_row(o->f) && *(const uint32_t *)(c->consts + (o->f & ~3u)) == UINT32_MAX;
}

static void add_traits(struct kernel_traits *t, const struct code *c, const struct op *o)
{
    const struct op_access *x = o->kind == OP_LD || o->kind == OP_ST || o->kind == OP_ATOM ? o->access : NULL;
    if (o->kind == OP_FENCE || (x && x->order > ORDER_RELAXED))
        t->releases = t->irregular = true;
    if (o->kind == OP_MBARRIER)
        t->irregular = true;
    if (o->kind == OP_BAR &&
        (o->mode == BAR_ARRIVE || o->mode == BAR_CLUSTER_ARRIVE || o->has_b || !is_const_row(o->a)))
        t->irregular = true;
    if (o->kind == OP_COLLECTIVE && o->mode == COLLECTIVE_SYNC && !has_full_mask(c, o))
        t->irregular = true;
}

static struct kernel_traits traits_of(const struct kernel *k)
{
    struct kernel_traits t = {.kernel = k};
    for (uint32_t f = 0; f < k->functions.n; f++)
        for (uint32_t i = 0; i < k->functions.at[f]->n_ops; i++)
            add_traits(&t, k->functions.at[f], &k->functions.at[f]->ops[i]);
    return t;
}

static struct kernel_traits find_traits(struct races *r, const struct kernel *k)
{
    struct kernel_traits t = {.kernel = k, .releases = true, .irregular = true};
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < r->kernels.n; i++)
        if (r->kernels.at[i].kernel == k)
            t = r->kernels.at[i];
    pthread_mutex_unlock(&r->lock);
    return t;
}

/* ---- blocks ---- */

static struct race_worker *worker_of(struct races *r, const struct worker *of)
{
    struct race_worker *k;
    pthread_mutex_lock(&r->lock);
    for (k = r->workers; k && k->of != of; k = k->next)
        ;
    if (!k && (k = calloc(1, sizeof *k))) {
        k->of = of;
        k->next = r->workers;
        r->workers = k;
    }
    pthread_mutex_unlock(&r->lock);
    return k;
}

static bool open_histories(struct histories *h, uint32_t records, uint32_t histories, uint32_t splits)
{
    return numbered_open(&h->records, sizeof(struct record), records) &&
           numbered_open(&h->histories, sizeof(struct history_entry), histories) &&
           numbered_open(&h->splits, sizeof(struct split), splits);
}

static void close_histories(struct histories *h)
{
    numbered_close(&h->records);
    numbered_close(&h->histories);
    numbered_close(&h->splits);
}

static void free_block(struct race_block *b)
{
    if (!b)
        return;
    order_block_end(b->order);
    close_histories(&b->shared);
    free((void *)b->shared_cells);
    free(b->recent);
    free(b);
}

/* Generations of shared histories are odd, and of no two blocks of a worker the same; that of the global ones is even. */
static struct race_block *make_block(const struct block *block)
{
    static _Atomic uint32_t generations;
    struct race_block *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->shared_words = (block->launch->shared_bytes + 3) / 4 + 1;
    b->shared_cells = calloc(b->shared_words, sizeof *b->shared_cells);
    b->recent = calloc(block->n_warps, sizeof *b->recent);
    b->shared.generation = 1 + (atomic_fetch_add(&generations, 1) << 20);
    if (!b->shared_cells || !b->recent || !open_histories(&b->shared, 1u << 24, 1u << 26, 1u << 22)) {
        free((void *)b->shared_cells);
        free(b->recent);
        free(b);
        return NULL;
    }
    b->touched_from = UINT32_MAX;
    return b;
}

/* One that the worker has left over, where it is large enough. */
static struct race_block *reuse_block(struct race_worker *k, const struct block *block)
{
    struct race_block *b = k->free_blocks;
    if (!b)
        return NULL;
    k->free_blocks = b->next;
    uint32_t words = (block->launch->shared_bytes + 3) / 4 + 1;
    if (words > b->shared_words || block->n_warps > b->order->n_warps) {
        free_block(b);
        return NULL;
    }
    forget_shared(b);
    for (uint32_t w = 0; w < b->order->n_warps; w++)
        memset(b->recent[w], 0, sizeof b->recent[w]);
    order_block_end(b->order);
    b->order = NULL;
    return b;
}

static void set_task(struct race_block *b, uint32_t task)
{
    const struct strands *s = b->races->strands;
    b->task = task;
    b->floor = s ? strands_floor(s, task) : task - 1;
    b->settled = s ? strands_settled(s) : task - 1;
}

static void join_cluster(struct race_block *b, const struct block *block)
{
    for (const struct block *peer = block->peer; peer && peer != block; peer = peer->peer)
        if (block_of(peer)) {
            order_join_cluster(b->order, block_of(peer)->order);
            return;
        }
}

static void block_starts(struct races *r, struct block *block)
{
    struct race_worker *k = worker_of(r, block->worker);
    struct race_block *b = k ? reuse_block(k, block) : NULL;
    block->client[CLIENT_RACES] = NULL;
    if (!k || (!b && !(b = make_block(block)))) {
        atomic_store(&r->no_memory, true);
        return;
    }
    b->races = r;
    b->worker = k;
    b->traits = find_traits(r, block->launch->kernel);
    set_task(b, r->strands ? block->launch->task : (uint32_t)block->launch->number);
    b->order = order_block_start(r->order, block, b->task);
    if (b->order) {
        block->client[CLIENT_RACES] = b;
        join_cluster(b, block);
        return;
    }
    atomic_store(&r->no_memory, true);
    free_block(b);
}

static void block_ends(struct block *block)
{
    struct race_block *b = block_of(block);
    if (!b)
        return;
    b->next = b->worker->free_blocks;
    b->worker->free_blocks = b;
    block->client[CLIENT_RACES] = NULL;
}

static void on_schedule(void *data, const struct schedule_event *e)
{
    if (e->kind == SCHEDULE_BLOCK_START)
        block_starts(data, (struct block *)e->block);
    else if (e->kind == SCHEDULE_BLOCK_END)
        block_ends((struct block *)e->block);
}

/* What malloc gives has no past: free and malloc are in the machine's hands. */
static void on_heap(void *data, const struct heap_event *e)
{
    if (!e->is_free)
        races_forget(data, e->p, e->bytes);
}

/* ---- life ---- */

/* Of one thread. */
static struct race_block *make_task_block(void)
{
    struct race_block *b = calloc(1, sizeof *b);
    if (b && !(b->recent = calloc(1, sizeof *b->recent))) {
        free(b);
        return NULL;
    }
    return b;
}

static void free_task_block(struct race_block *b)
{
    if (!b)
        return;
    order_block_end(b->order);
    free(b->recent);
    free(b);
}

struct races *races_new(struct machine *m, struct strands *strands)
{
    struct races *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->machine = m;
    r->strands = strands;
    r->order = order_new();
    if (!r->order || !open_histories(&r->global, 1u << 30, 1u << 30, 1u << 28) ||
        !numbered_open(&r->classes, sizeof(struct access_class), 1u << 24)) {
        order_free(r->order);
        free(r);
        return NULL;
    }
    pthread_mutex_init(&r->lock, NULL);
    pthread_mutex_init(&r->range_lock, NULL);
    r->range = make_task_block();
    r->host = make_task_block();
    if (!r->range || !r->host) {
        races_free(r);
        return NULL;
    }
    r->regular = (struct hooks){.data = r,
                                .access = on_access,
                                .performed = on_performed,
                                .sync = on_sync,
                                .sync_kinds = 1u << SYNC_BARRIER_OPEN | 1u << SYNC_COLLECTIVE | 1u << SYNC_FENCE |
                                              1u << SYNC_EXIT,
                                .heap = on_heap,
                                .schedule = on_schedule};
    r->irregular = r->regular;
    r->irregular.sync_kinds |= 1u << SYNC_BARRIER_ARRIVE | 1u << SYNC_CLUSTER_ARRIVE | 1u << SYNC_CLUSTER_OPEN |
                               1u << SYNC_CLUSTER_WAIT | 1u << SYNC_MBARRIER_ARRIVE | 1u << SYNC_MBARRIER_WAIT;
    return r;
}

void races_free(struct races *r)
{
    if (!r)
        return;
    for (struct race_worker *k = r->workers, *next; k; k = next) {
        next = k->next;
        for (struct race_block *b = k->free_blocks, *more; b; b = more) {
            more = b->next;
            free_block(b);
        }
        free(k);
    }
    free_task_block(r->range);
    free_task_block(r->host);
    close_histories(&r->global);
    numbered_close(&r->classes);
    cells_clear(&r->cells);
    order_free(r->order);
    arena_free(&r->arena);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

const struct hooks *races_hooks(struct races *r, const struct kernel *k)
{
    return find_traits(r, k).irregular ? &r->irregular : &r->regular;
}

void races_begin(struct races *r, const struct kernel *k)
{
    struct kernel_traits t = traits_of(k);
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < r->kernels.n; i++)
        if (r->kernels.at[i].kernel == k)
            r->kernels.at[i] = r->kernels.at[--r->kernels.n];
    *VEC_PUSH(&r->arena, &r->kernels) = t;
    pthread_mutex_unlock(&r->lock);
}

/* ---- tasks that are no launches ---- */

/* All bytes are the one thread's of an instance of its own. */
static void touch_range(struct now *n, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address, end = address + bytes; at < end;) {
        uint64_t lock_end = (at | (LOCKED_BYTES - 1)) + 1, to = lock_end < end ? lock_end : end;
        uint64_t word = (at + 3) & ~3ull, last = to & ~3ull;
        if (at % 4) /* bytes before the first word, then words, then bytes behind the last */
            to = word < to ? word : to;
        else if (last > at)
            to = last;
        touch_together(n, at, (uint32_t)(to - at), 1, false);
        at = to;
    }
}

/* Its block stands for one thread. With the range's lock held; false where memory is exhausted. */
static bool begin_task(struct now *n, struct races *r, struct race_block *b, uint32_t class)
{
    b->worker = worker_of(r, NULL);
    b->races = r;
    if (!b->worker || !b->order || !class)
        return false;
    *n = (struct now){.r = r,
                      .b = b,
                      .h = &r->global,
                      .class_number = class,
                      .class = class_at(r, class),
                      .records = &b->worker->records,
                      .histories = &b->worker->histories,
                      .splits = &b->worker->splits};
    return true;
}

static void touch_as_task(struct now *n, uint64_t address, uint64_t bytes)
{
    memset(n->b->recent[0], 0, sizeof n->b->recent[0]);
    n->record = new_record(n);
    if (n->record && n->class->strong)
        touch(n, address, (uint32_t)bytes, 1);
    else if (n->record)
        touch_range(n, address, bytes);
}

void races_range(struct races *r, uint32_t task, const void *p, uint64_t bytes, bool write)
{
    struct now n;
    uint32_t class = race_class_of_task(r, strands_note(r->strands, task), write);
    pthread_mutex_lock(&r->range_lock);
    struct race_block *b = r->range;
    b->order = order_task_start(r->order, task);
    b->races = r;
    set_task(b, task);
    if (begin_task(&n, r, b, class))
        touch_as_task(&n, (uint64_t)(uintptr_t)p, bytes);
    order_block_end(b->order);
    b->order = NULL;
    pthread_mutex_unlock(&r->range_lock);
}

/* Its accesses until it waits or submits are one task; what it has learnt from threads it knows for good. */
static void set_host_task(struct races *r, uint32_t task)
{
    struct race_block *b = r->host;
    b->races = r;
    if (!b->order || b->task != task)
        b->order = order_host_start(r->order, task, b->order);
    set_task(b, task);
}

/* What releases is told before it is done, what acquires when it is: so nobody observes what is not told yet, and a read is taken
 * for one that has seen all that had been written when it is told. */
static uint32_t host_synchronises(struct now *n, const struct host_access *a, bool done)
{
    struct strong_access s = {.address = a->address,
                              .bytes = (uint32_t)a->bytes,
                              .reads = done,
                              .writes = !done,
                              .acquires = done,
                              .releases = !done,
                              .reach = REACH_SYS};
    if (!done) {
        order_release(n->b->order, 0, 0, &s);
        return 0;
    }
    return order_observe(n->b->order, 0, 0, &s);
}

uint32_t races_host(struct races *r, uint32_t task, const void *where, const struct host_access *a, bool done)
{
    struct now n;
    uint32_t learnt = 0, class = race_class_of_host(r, strands_note(r->strands, task), where, a);
    pthread_mutex_lock(&r->range_lock);
    order_lock(r->order);
    set_host_task(r, task);
    if (begin_task(&n, r, r->host, class)) {
        if (n.class->strong && done)
            learnt = host_synchronises(&n, a, true);
        if (done != a->write)
            touch_as_task(&n, a->address, a->bytes);
        if (n.class->strong && a->write && !done)
            host_synchronises(&n, a, false);
    }
    order_unlock(r->order);
    if (!a->whole && a->write && !done && r->host->order)
        order_weak_write(r->host->order, a->address, (uint32_t)a->bytes);
    pthread_mutex_unlock(&r->range_lock);
    return learnt;
}

void races_forget(struct races *r, const void *p, uint64_t bytes)
{
    cells_forget(&r->cells, (uint64_t)(uintptr_t)p, bytes);
}
