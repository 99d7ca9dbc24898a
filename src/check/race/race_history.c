/* What becomes of the history of a cell that an access comes to; see history.h and race_now.h. */
#include "check/race/race_earlier.h"

#include <string.h>

/* ---- numbers in stock ---- */

static bool refill(const struct now *n, struct numbered *from, struct stock *s, uint32_t count)
{
    if (!numbered_refill(from, s, count)) {
        atomic_store(&n->r->no_memory, true);
        return false;
    }
    if (!n->h->due && race_is_due(n->r, n->h))
        n->h->due = true;
    return true;
}

uint32_t race_take(struct now *n, struct numbered *from, struct stock *s, uint32_t count)
{
    if (s->left < count && !refill(n, from, s, count))
        return 0;
    s->left -= count;
    s->next += count;
    return s->next - count;
}

bool race_new_record(struct now *n)
{
    uint32_t epoch = n->b->order->warps[n->warp].epoch - (n->shared ? n->b->shared_from : 0);
    struct recent_record *p = &n->b->recent[n->warp][n->class_number % RECENT];
    if (n->shared)
        p = &n->b->recent_shared[n->warp * n->b->recent_each + n->class_number % n->b->recent_each];
    n->recent = p;
    n->generation = n->h->generation;
    if (p->class != n->class_number || p->epoch != epoch || p->generation != n->generation || !p->record) {
        uint32_t number = race_take(n, &n->h->records, &n->stocks->records, 1);
        if (number)
            *(struct record *)numbered_at(&n->h->records, number) =
                (struct record){n->class_number, n->shared ? 0 : n->b->order->number, epoch, n->warp};
        *p = (struct recent_record){n->class_number, epoch, n->generation, number, {0}, 0, 0};
    }
    n->record = p->record;
    return n->record != 0;
}

/* ---- what becomes of a history ---- */

/* Behind it is all that can still come to the cell. */
static bool is_settled(const struct now *n, const struct earlier *e)
{
    if (n->shared)
        return race_epoch_of(n, e->record) < n->b->order->frontier &&
               !(n->b->order->warps[e->record->warp].exited & e->lanes);
    return !e->same_task && order_incarnation(n->r->order, e->incarnation)->task <= n->b->settled;
}

/* Whoever is unordered with it is with the new access, and no scope makes a difference. */
static bool is_replaced(const struct now *n, const struct earlier *e, uint32_t lanes)
{
    bool scoped = e->class->strong && e->class->scope < SCOPE_GPU;
    return e->class == n->class && (!scoped || e->same_incarnation) && race_is_before_any(n, e, lanes);
}

static const struct access_class *class_of_entry(const struct now *n, const struct history *h, uint32_t i)
{
    return race_class_at(n->r, history_record(n->h, h->at[i].record)->class);
}

/* Does it stand for what a thread that still runs has observed (was_observed)? */
static bool is_needed(const struct now *n, const struct earlier *e, bool behind_write)
{
    return behind_write && e->class->strong && e->class->reads && !order_has_ended(n->r->order, e->incarnation);
}

/* Another of the new access's class, in its launch: how well the two stand for all of these. */
static int rank_of(const struct now *n, const struct earlier *e)
{
    if (e->class != n->class || !e->same_task)
        return -1;
    return !e->same_incarnation ? 2 : e->record->warp != n->warp;
}

/* Of others of the same class in a regular launch, the one to stay with the new access: of another block, else of another warp, and
 * of these the later. With it stay those that are still needed. Their lanes are relative to `lane`. */
static uint32_t thin_out(const struct now *n, struct history_entry *out, uint32_t count, unsigned lane)
{
    uint32_t best = 0, same = 0, kept = 0;
    int best_rank = -1;
    bool behind_write = false;
    for (uint32_t i = 0; i < count; i++) {
        struct earlier e = race_meet(n, out[i], lane);
        int rank = rank_of(n, &e);
        same += rank >= 0;
        if (rank >= best_rank) {
            best_rank = rank;
            best = i;
        }
    }
    for (uint32_t i = 0; same > 1 && i < count; i++) {
        struct earlier e = race_meet(n, out[i], lane);
        if (rank_of(n, &e) < 0 || i == best || is_needed(n, &e, behind_write))
            out[kept++] = out[i];
        behind_write |= e.class->strong && e.class->writes;
    }
    return same > 1 ? kept : count;
}

/* The new access has observed it (8.9.2), through updates alone: whatever comes behind the one comes behind the other. */
static bool is_observed_by(const struct now *n, const struct history *h, uint32_t i, const struct earlier *e)
{
    if (e->class != n->class || !race_is_update(n->class) || !race_are_morally_strong(n, e))
        return false;
    for (uint32_t k = i + 1; k < h->n; k++) {
        const struct access_class *between = class_of_entry(n, h, k);
        if (between->writes && !race_is_update(between))
            return false;
    }
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
        if (r->class != n->class_number || race_task_of(n, r) != n->b->task)
            continue;
        uint32_t incarnation = race_incarnation_of(n, r);
        if (first && (incarnation != first || (of_this_block && first == n->b->order->number && r->warp != warp)))
            return true;
        first = incarnation;
        warp = r->warp;
    }
    return false;
}

enum { READS_MOST = 32 };

static bool is_weak_read(const struct now *n, const struct record *r)
{
    const struct access_class *c = race_class_at(n->r, r->class);
    return !c->strong && !c->writes && race_task_of(n, r) == n->b->task;
}

/* The first such class says from which number on bits count. */
static void add_enough(struct history *h, uint32_t class)
{
    if (!h->enough && class <= UINT16_MAX)
        h->enough_from = (uint16_t)(class > 16 ? class - 16 : 0);
    if (class - h->enough_from < 32)
        h->enough |= 1u << (class - h->enough_from);
}

static bool are_weak_reads(const struct now *n, const struct history *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (!is_weak_read(n, history_record(n->h, h->at[i].record)))
            return false;
    return true;
}

/* Is what comes in this phase unordered with one of the two at least? Of blocks, or in shared memory of warps, that differ. */
static bool stand_for_others(const struct now *n, const struct record *a, const struct record *b)
{
    return n->shared ? a->warp != b->warp && a->epoch >= race_phase(n) && b->epoch >= race_phase(n)
                     : a->incarnation != b->incarnation;
}

/* Which classes have enough? */
static void find_enough(const struct now *n, struct history *h)
{
    h->phase = race_phase(n);
    h->only_reads = !n->b->traits.irregular && h->n <= READS_MOST && are_weak_reads(n, h);
    for (uint32_t i = 0; h->only_reads && i < h->n; i++) {
        const struct record *a = history_record(n->h, h->at[i].record);
        bool enough = race_class_at(n->r, a->class)->read_only;
        for (uint32_t k = 0; k < i && !enough; k++) {
            const struct record *b = history_record(n->h, h->at[k].record);
            enough = a->class == b->class && stand_for_others(n, a, b);
        }
        if (enough)
            add_enough(h, a->class);
    }
}

static bool is_strong_for_all(const struct access_class *c)
{
    return c->strong && c->scope >= SCOPE_GPU;
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
    return h->n >= HISTORY_MOST || (is_strong_for_all(n->class) && (h->is_strong || are_strong_for_all(n, h)));
}

/* Can the write race with a read that was left out? */
static bool may_miss(const struct now *n, const struct history *h)
{
    if (!n->class->writes || h->n < HISTORY_STRONG_MOST)
        return false;
    bool strong = h->is_strong || are_strong_for_all(n, h);
    return strong ? !is_strong_for_all(n->class) : h->n >= HISTORY_MOST;
}

static struct history *take_history(struct now *n, uint32_t count, uint32_t *number)
{
    uint32_t units = history_units(count);
    struct stock *s = units == 1 ? &n->stocks->small_histories : &n->stocks->histories;
    *number = race_take(n, &n->h->histories, s, units);
    struct history *h = *number ? numbered_at(&n->h->histories, *number) : NULL;
    if (h)
        *h = (struct history){.n = (uint16_t)count & 0x7ff, .spread = n->spread & 3};
    return h;
}

/* It is whole before who has no lock of a cell finds its number there. */
static void publish_history(void)
{
    atomic_thread_fence(memory_order_release);
}

/* The lanes of the entries are the warps'; those of the history are relative to `lane`. */
static uint32_t new_history(struct now *n, const struct history_entry *at, uint32_t count, unsigned lane)
{
    uint32_t number;
    struct history *h = take_history(n, count, &number);
    if (!h)
        return 0;
    h->only_tasks = true;
    h->is_strong = is_strong_for_all(n->class) && n->class->site;
    for (uint32_t i = 0; i < count; i++) {
        struct earlier e = race_meet(n, at[i], 0);
        uint32_t task = e.same_task ? n->b->task : order_incarnation(n->r->order, e.incarnation)->task;
        h->at[i] = (struct history_entry){at[i].record, rotate_left(at[i].lanes, e.class->site ? -lane : 0)};
        h->only_tasks &= !e.class->site;
        h->is_strong &= is_strong_for_all(e.class) && e.class->bytes == n->class->bytes && e.same_task;
        h->newest = task > h->newest ? task : h->newest;
    }
    if (h->is_strong)
        h->element_bytes = n->class->bytes;
    else
        find_enough(n, h);
    publish_history();
    return number;
}

bool race_join_reads(struct now *n, const struct past *p, uint32_t lanes, unsigned lane, uint32_t *number)
{
    const struct history *old = p->history;
    const struct record *other = NULL;
    if (!old || !old->only_reads || old->phase != race_phase(n) || old->n >= READS_MOST || n->b->traits.irregular ||
        n->class->writes || n->class->strong || old->only_tasks != !n->class->site)
        return false;
    for (uint32_t i = 0; i < old->n; i++) {
        const struct record *r = history_record(n->h, old->at[i].record);
        if (r->class != n->class_number)
            continue;
        if (other || (race_incarnation_of(n, r) == n->b->order->number && r->warp == n->warp))
            return false;
        other = r;
    }
    struct history *h = take_history(n, old->n + 1u, number);
    if (!h)
        return true;
    unsigned by = old->only_tasks ? 0 : p->lane - lane;
    for (uint32_t i = 0; i < old->n; i++)
        h->at[i] = (struct history_entry){old->at[i].record, rotate_left(old->at[i].lanes, by)};
    h->at[old->n] = (struct history_entry){n->record, rotate_left(lanes, n->class->site ? -lane : 0)};
    h->phase = old->phase;
    h->newest = old->newest;
    h->only_tasks = old->only_tasks;
    h->enough = old->enough;
    h->enough_from = old->enough_from;
    h->only_reads = true;
    if (n->class->read_only || (other && stand_for_others(n, other, history_record(n->h, n->record))))
        add_enough(h, n->class_number);
    publish_history();
    return true;
}

/* As new_history() makes one of this access alone. */
uint32_t race_first_history(struct now *n)
{
    uint32_t number;
    struct history *h = take_history(n, 1, &number);
    if (!h)
        return 0;
    h->at[0] = (struct history_entry){n->record, 1};
    h->only_tasks = !n->class->site;
    h->is_strong = is_strong_for_all(n->class) && n->class->site;
    h->newest = n->b->task;
    if (h->is_strong)
        h->element_bytes = n->class->bytes;
    else
        find_enough(n, h);
    publish_history();
    return n->recent->first[n->spread] = number;
}

/* Does a history say what these entries say? */
static bool is_same(const struct now *n, const struct past *p, const struct history_entry *at, uint32_t count)
{
    if (!p->history || p->history->n != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (p->history->at[i].record != at[i].record || race_meet(n, p->history->at[i], p->lane).lanes != at[i].lanes)
            return false;
    return true;
}

/* Of a cell that takes up no more reads. */
static void check_writes(struct now *n, const struct past *p, uint32_t lanes, uint64_t address)
{
    for (uint32_t i = 0; i < p->history->n; i++)
        if (class_of_entry(n, p->history, i)->writes) {
            struct earlier e = race_meet(n, p->history->at[i], p->lane);
            race_check_entry(n, p, i, &e, lanes, address);
        }
}

/* Does an entry of the record that the access has take up its lanes? Not where it matters which of them was the last: race_was_observed. */
static bool joins_entry(const struct now *n, uint32_t record)
{
    return record == n->record && !(n->class->strong && n->class->writes && !n->class->reads);
}

/* The access, by these lanes of the warp, is checked against all that is there. What stays of it goes to `out`; lanes that this
 * access has come from before join it. */
static uint32_t check_all(struct now *n, const struct past *p, uint32_t *lanes, uint64_t address,
                          struct history_entry *out)
{
    uint32_t count = 0, mine = *lanes;
    for (uint32_t i = 0; p->history && i < p->history->n; i++) {
        struct earlier e = race_meet(n, p->history->at[i], p->lane);
        race_check_entry(n, p, i, &e, mine, address);
        if (joins_entry(n, e.entry.record))
            *lanes |= e.lanes;
        else if (!is_settled(n, &e) && !is_observed_by(n, p->history, i, &e) && !is_replaced(n, &e, mine))
            out[count++] = (struct history_entry){e.entry.record, e.lanes};
    }
    return count;
}

/* What stays of the history goes to `out`, relative to p->lane as it was; `reads` of these, at the beginning, only read: a write is of
 * another class than all of them. Lanes that this access has come from before join it. */
static uint32_t keep_strong(struct now *n, const struct past *p, uint32_t *lanes, struct history_entry *out,
                            uint32_t *reads)
{
    const struct history *old = p->history;
    const struct record *records = history_record(n->h, 0);
    uint32_t count = n->class->writes ? old->n_reads : 0, mine = *lanes;
    *reads = old->n_reads;
    memcpy(out, old->at, count * sizeof *out);
    for (uint32_t i = count; i < old->n; i++) {
        struct history_entry at = old->at[i];
        if (records[at.record].class == n->class_number) {
            struct earlier e = race_meet(n, at, p->lane);
            bool joins = joins_entry(n, at.record);
            if (joins)
                *lanes |= e.lanes;
            if (joins || is_observed_by(n, old, i, &e) || is_replaced(n, &e, mine)) {
                *reads -= i < old->n_reads;
                continue;
            }
        }
        out[count++] = at;
    }
    return count;
}

static uint32_t join_strong(struct now *n, const struct past *p, uint32_t lanes, unsigned lane)
{
    struct history_entry out[HISTORY_MOST + 2];
    const struct history *old = p->history;
    uint32_t number, reads, count = keep_strong(n, p, &lanes, out, &reads);
    if (!n->b->traits.irregular) {
        count = thin_out(n, out, count, p->lane);
        reads = 0;
    }
    const struct history_entry *last = &old->at[old->n - 1];
    if (count + 1 == old->n && last->record == n->record && rotate_left(last->lanes, p->lane) == lanes)
        return STEP_STAYS;
    out[count++] = (struct history_entry){n->record, rotate_left(lanes, -p->lane)};
    while (reads < count && !race_class_at(n->r, history_record(n->h, out[reads].record)->class)->writes)
        reads++;
    struct history *h = take_history(n, count, &number);
    for (uint32_t i = 0; h && i < count; i++)
        h->at[i] = (struct history_entry){out[i].record, rotate_left(out[i].lanes, p->lane - lane)};
    if (h) {
        h->is_strong = true;
        h->n_reads = (uint16_t)reads;
        h->element_bytes = n->class->bytes;
        h->newest = n->b->task;
    }
    publish_history();
    return number;
}

uint32_t race_find_next(struct now *n, const struct past *p, uint32_t lanes, unsigned lane, uint64_t address)
{
    struct history_entry out[HISTORY_MOST + 2];
    const struct history *h = p->history;
    bool joins = h && race_is_one_of(n, h);
    race_check_lanes(n, lanes, address);
    if (h && is_full(n, h)) {
        if (!joins)
            check_writes(n, p, lanes, address);
        return STEP_STAYS;
    }
    if (joins && h->n < HISTORY_MOST)
        return join_strong(n, p, lanes, lane);
    if (h && may_miss(n, h)) {
        n->told = true;
        atomic_fetch_add(&n->r->forgotten, 1);
    }
    uint32_t count = check_all(n, p, &lanes, address, out);
    if (h && has_enough(n, h->at, h->n, false))
        return STEP_STAYS;
    if (has_enough(n, out, count, true))
        return h && count == h->n ? STEP_STAYS : new_history(n, out, count, lane);
    if (!n->b->traits.irregular)
        count = thin_out(n, out, count, 0);
    if (count >= HISTORY_MOST)
        memmove(out, out + 1, --count * sizeof *out);
    out[count++] = (struct history_entry){n->record, lanes};
    return is_same(n, p, out, count) ? STEP_STAYS : new_history(n, out, count, lane);
}
