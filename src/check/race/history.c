/* The next history of a cell: which entries race with an access, and which it replaces; see
 * history.h. */
#include "check/race/earlier.h"

#include <string.h>

/* ---- reserved numbers ---- */

static bool refill(const struct current_access *cur, struct numbered *from, struct reservation *s, uint32_t count)
{
    if (!numbered_refill(from, s, count)) {
        atomic_store(&cur->r->no_memory, true);
        return false;
    }
    if (!cur->h->gc_due && race_gc_is_due(cur->r, cur->h))
        cur->h->gc_due = true;
    return true;
}

uint32_t race_take(struct current_access *cur, struct numbered *from, struct reservation *s, uint32_t count)
{
    if (s->left < count && !refill(cur, from, s, count))
        return 0;
    s->left -= count;
    s->next += count;
    return s->next - count;
}

bool race_new_site_epoch(struct current_access *cur)
{
    uint32_t epoch = cur->b->order->warps[cur->warp].epoch - (cur->shared ? cur->b->shared_from : 0);
    struct recent_site_epoch *p = &cur->b->recent[cur->warp][cur->kind_number % RECENT];
    if (cur->shared)
        p = &cur->b->recent_shared[cur->warp * cur->b->recent_each + cur->kind_number % cur->b->recent_each];
    cur->recent = p;
    cur->generation = cur->h->generation;
    if (p->kind != cur->kind_number || p->epoch != epoch || p->generation != cur->generation || !p->site_epoch) {
        uint32_t number = race_take(cur, &cur->h->site_epochs, &cur->reservations->site_epochs, 1);
        if (number)
            *(struct site_epoch *)numbered_at(&cur->h->site_epochs, number) =
                (struct site_epoch){cur->kind_number, cur->shared ? 0 : cur->b->order->number, epoch, cur->warp};
        *p = (struct recent_site_epoch){cur->kind_number, epoch, cur->generation, number, {0}, 0, 0};
    }
    cur->site_epoch = p->site_epoch;
    return cur->site_epoch != 0;
}

/* ---- entries that go ---- */

/* Does it happen before every access that can still come to the cell? */
static bool is_retired(const struct current_access *cur, const struct earlier *e)
{
    if (cur->shared)
        return race_epoch_of(cur, e->site_epoch) < cur->b->order->frontier &&
               !(cur->b->order->warps[e->site_epoch->warp].exited & e->lanes);
    return !e->same_task && order_incarnation(cur->r->order, e->incarnation)->task <= cur->b->retired;
}

/* Is every access that is unordered with it also unordered with the new access, whatever the
 * scopes? */
static bool is_replaced(const struct current_access *cur, const struct earlier *e, uint32_t lanes)
{
    bool scoped = e->kind->strong && e->kind->scope < SCOPE_GPU;
    return e->kind == cur->kind && (!scoped || e->same_incarnation) && race_is_before_any(cur, e, lanes);
}

static const struct access_kind *kind_of_entry(const struct current_access *cur, const struct access_history *h,
                                               uint32_t i)
{
    return race_kind_at(cur->r, history_site_epoch(cur->h, h->at[i].site_epoch)->kind);
}

/* May a thread that still runs be ordered by what this read has observed (race_was_observed)? */
static bool is_needed(const struct current_access *cur, const struct earlier *e, bool behind_write)
{
    return behind_write && e->kind->strong && e->kind->reads && !order_has_ended(cur->r->order, e->incarnation);
}

/* How well this entry and the new access together represent all accesses of that kind and launch;
 * -1: the entry is of another kind or launch. */
static int rank_of(const struct current_access *cur, const struct earlier *e)
{
    if (e->kind != cur->kind || !e->same_task)
        return -1;
    return !e->same_incarnation ? 2 : e->site_epoch->warp != cur->warp;
}

/* In a regular launch one entry of the new access's kind stays: of another block, else of another
 * warp, and of these the latest. Those that are still needed stay, too. Lanes are relative to
 * `lane`. */
static uint32_t thin_out(const struct current_access *cur, struct history_entry *out, uint32_t count, unsigned lane)
{
    uint32_t best = 0, same = 0, kept = 0;
    int best_rank = -1;
    bool behind_write = false;
    for (uint32_t i = 0; i < count; i++) {
        struct earlier e = race_meet(cur, out[i], lane);
        int rank = rank_of(cur, &e);
        same += rank >= 0;
        if (rank >= best_rank) {
            best_rank = rank;
            best = i;
        }
    }
    for (uint32_t i = 0; same > 1 && i < count; i++) {
        struct earlier e = race_meet(cur, out[i], lane);
        if (rank_of(cur, &e) < 0 || i == best || is_needed(cur, &e, behind_write))
            out[kept++] = out[i];
        behind_write |= e.kind->strong && e.kind->writes;
    }
    return same > 1 ? kept : count;
}

/* Has the new access observed it (8.9.2), through read-modify-writes only? Then whatever happens
 * after the new access also happens after this one. */
static bool is_observed_by(const struct current_access *cur, const struct access_history *h, uint32_t i,
                           const struct earlier *e)
{
    if (e->kind != cur->kind || !race_is_rmw(cur->kind) || !race_are_morally_strong(cur, e))
        return false;
    for (uint32_t k = i + 1; k < h->n; k++) {
        const struct access_kind *between = kind_of_entry(cur, h, k);
        if (between->writes && !race_is_rmw(between))
            return false;
    }
    return true;
}

/* Do two entries represent all accesses of the new one's kind and launch? In a regular launch, if
 * they are of different blocks, or of different warps of this block: a later access is of one block
 * and one warp, and unordered with one of the two. Strong ones are needed for what they have
 * observed. */
static bool has_enough(const struct current_access *cur, const struct history_entry *at, uint32_t count,
                       bool of_this_block)
{
    uint32_t first = 0, warp = 0;
    if (cur->b->traits.irregular || cur->kind->strong)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct site_epoch *r = history_site_epoch(cur->h, at[i].site_epoch);
        if (r->kind != cur->kind_number || race_task_of(cur, r) != cur->b->task)
            continue;
        uint32_t incarnation = race_incarnation_of(cur, r);
        if (first && (incarnation != first || (of_this_block && first == cur->b->order->number && r->warp != warp)))
            return true;
        first = incarnation;
        warp = r->warp;
    }
    return false;
}

enum { READS_MOST = 32 };

static bool is_weak_read(const struct current_access *cur, const struct site_epoch *r)
{
    const struct access_kind *c = race_kind_at(cur->r, r->kind);
    return !c->strong && !c->writes && race_task_of(cur, r) == cur->b->task;
}

/* The first kind determines from which number on there are bits. */
static void add_enough(struct access_history *h, uint32_t kind)
{
    if (!h->enough && kind <= UINT16_MAX)
        h->enough_from = (uint16_t)(kind > 16 ? kind - 16 : 0);
    if (kind - h->enough_from < 32)
        h->enough |= 1u << (kind - h->enough_from);
}

static bool are_weak_reads(const struct current_access *cur, const struct access_history *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (!is_weak_read(cur, history_site_epoch(cur->h, h->at[i].site_epoch)))
            return false;
    return true;
}

/* Is every later access of this phase unordered with at least one of the two? They are of different
 * blocks, or in shared memory warps. */
static bool stand_for_others(const struct current_access *cur, const struct site_epoch *a, const struct site_epoch *b)
{
    return cur->shared ? a->warp != b->warp && a->epoch >= race_phase(cur) && b->epoch >= race_phase(cur)
                       : a->incarnation != b->incarnation;
}

/* Finds the kinds that are represented already. */
static void find_enough(const struct current_access *cur, struct access_history *h)
{
    h->phase = race_phase(cur);
    h->only_reads = !cur->b->traits.irregular && h->n <= READS_MOST && are_weak_reads(cur, h);
    for (uint32_t i = 0; h->only_reads && i < h->n; i++) {
        const struct site_epoch *a = history_site_epoch(cur->h, h->at[i].site_epoch);
        bool enough = race_kind_at(cur->r, a->kind)->read_only;
        for (uint32_t k = 0; k < i && !enough; k++) {
            const struct site_epoch *b = history_site_epoch(cur->h, h->at[k].site_epoch);
            enough = a->kind == b->kind && stand_for_others(cur, a, b);
        }
        if (enough)
            add_enough(h, a->kind);
    }
}

static bool is_strong_for_all(const struct access_kind *c)
{
    return c->strong && c->scope >= SCOPE_GPU;
}

static bool are_strong_for_all(const struct current_access *cur, const struct access_history *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (!is_strong_for_all(kind_of_entry(cur, h, i)))
            return false;
    return true;
}

/* Is this read left out, because the history is full? If all entries are strong, as of a flag that
 * many threads poll, the limit is lower. */
static bool is_full(const struct current_access *cur, const struct access_history *h)
{
    if (cur->kind->writes || h->n < HISTORY_STRONG_MOST)
        return false;
    return h->n >= HISTORY_MOST || (is_strong_for_all(cur->kind) && (h->is_strong || are_strong_for_all(cur, h)));
}

/* Can the write race with a read that was left out? */
static bool may_miss(const struct current_access *cur, const struct access_history *h)
{
    if (!cur->kind->writes || h->n < HISTORY_STRONG_MOST)
        return false;
    bool strong = h->is_strong || are_strong_for_all(cur, h);
    return strong ? !is_strong_for_all(cur->kind) : h->n >= HISTORY_MOST;
}

static struct access_history *take_history(struct current_access *cur, uint32_t count, uint32_t *number)
{
    uint32_t units = history_units(count);
    struct reservation *s = units == 1 ? &cur->reservations->small_histories : &cur->reservations->histories;
    *number = race_take(cur, &cur->h->histories, s, units);
    struct access_history *h = *number ? numbered_at(&cur->h->histories, *number) : NULL;
    if (h)
        *h = (struct access_history){.n = (uint16_t)count & 0x7ff, .mapping = cur->mapping & 3};
    return h;
}

/* The history is complete before a reader without the cell's lock can find its number. */
static void publish_history(void)
{
    atomic_thread_fence(memory_order_release);
}

/* Lanes of `at` are the warps', those of the history relative to `lane`. */
static uint32_t new_history(struct current_access *cur, const struct history_entry *at, uint32_t count, unsigned lane)
{
    uint32_t number;
    struct access_history *h = take_history(cur, count, &number);
    if (!h)
        return 0;
    h->only_tasks = true;
    h->is_strong = is_strong_for_all(cur->kind) && cur->kind->site;
    for (uint32_t i = 0; i < count; i++) {
        struct earlier e = race_meet(cur, at[i], 0);
        uint32_t task = e.same_task ? cur->b->task : order_incarnation(cur->r->order, e.incarnation)->task;
        h->at[i] = (struct history_entry){at[i].site_epoch, rotate_left(at[i].lanes, e.kind->site ? -lane : 0)};
        h->only_tasks &= !e.kind->site;
        h->is_strong &= is_strong_for_all(e.kind) && e.kind->bytes == cur->kind->bytes && e.same_task;
        h->newest = task > h->newest ? task : h->newest;
    }
    if (h->is_strong)
        h->element_bytes = cur->kind->bytes;
    else
        find_enough(cur, h);
    publish_history();
    return number;
}

bool race_join_reads(struct current_access *cur, const struct history_view *p, uint32_t lanes, unsigned lane,
                     uint32_t *number)
{
    const struct access_history *old = p->history;
    const struct site_epoch *other = NULL;
    if (!old || !old->only_reads || old->phase != race_phase(cur) || old->n >= READS_MOST || cur->b->traits.irregular ||
        cur->kind->writes || cur->kind->strong || old->only_tasks != !cur->kind->site)
        return false;
    for (uint32_t i = 0; i < old->n; i++) {
        const struct site_epoch *r = history_site_epoch(cur->h, old->at[i].site_epoch);
        if (r->kind != cur->kind_number)
            continue;
        if (other || (race_incarnation_of(cur, r) == cur->b->order->number && r->warp == cur->warp))
            return false;
        other = r;
    }
    struct access_history *h = take_history(cur, old->n + 1u, number);
    if (!h)
        return true;
    unsigned by = old->only_tasks ? 0 : p->lane - lane;
    for (uint32_t i = 0; i < old->n; i++)
        h->at[i] = (struct history_entry){old->at[i].site_epoch, rotate_left(old->at[i].lanes, by)};
    h->at[old->n] = (struct history_entry){cur->site_epoch, rotate_left(lanes, cur->kind->site ? -lane : 0)};
    h->phase = old->phase;
    h->newest = old->newest;
    h->only_tasks = old->only_tasks;
    h->enough = old->enough;
    h->enough_from = old->enough_from;
    h->only_reads = true;
    if (cur->kind->read_only || (other && stand_for_others(cur, other, history_site_epoch(cur->h, cur->site_epoch))))
        add_enough(h, cur->kind_number);
    publish_history();
    return true;
}

/* The same as new_history() of this access alone. */
uint32_t race_first_history(struct current_access *cur)
{
    uint32_t number;
    struct access_history *h = take_history(cur, 1, &number);
    if (!h)
        return 0;
    h->at[0] = (struct history_entry){cur->site_epoch, 1};
    h->only_tasks = !cur->kind->site;
    h->is_strong = is_strong_for_all(cur->kind) && cur->kind->site;
    h->newest = cur->b->task;
    if (h->is_strong)
        h->element_bytes = cur->kind->bytes;
    else
        find_enough(cur, h);
    publish_history();
    return cur->recent->first[cur->mapping] = number;
}

/* Has a history these entries? */
static bool is_same(const struct current_access *cur, const struct history_view *p, const struct history_entry *at,
                    uint32_t count)
{
    if (!p->history || p->history->n != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (p->history->at[i].site_epoch != at[i].site_epoch ||
            race_meet(cur, p->history->at[i], p->lane).lanes != at[i].lanes)
            return false;
    return true;
}

/* Checks a read that is left out. */
static void check_writes(struct current_access *cur, const struct history_view *p, uint32_t lanes, uint64_t address)
{
    for (uint32_t i = 0; i < p->history->n; i++)
        if (kind_of_entry(cur, p->history, i)->writes) {
            struct earlier e = race_meet(cur, p->history->at[i], p->lane);
            race_check_entry(cur, p, i, &e, lanes, address);
        }
}

/* May lanes be added to an entry of the same site epoch? Not where it matters which of them was the
 * last: race_was_observed. */
static bool joins_entry(const struct current_access *cur, uint32_t site_epoch)
{
    return site_epoch == cur->site_epoch && !(cur->kind->strong && cur->kind->writes && !cur->kind->reads);
}

/* Checks the access, by these lanes of the warp, against all entries. Those that stay go to `out`;
 * lanes of an entry of the same site epoch are added to `lanes`. */
static uint32_t check_all(struct current_access *cur, const struct history_view *p, uint32_t *lanes, uint64_t address,
                          struct history_entry *out)
{
    uint32_t count = 0, mine = *lanes;
    for (uint32_t i = 0; p->history && i < p->history->n; i++) {
        struct earlier e = race_meet(cur, p->history->at[i], p->lane);
        race_check_entry(cur, p, i, &e, mine, address);
        if (joins_entry(cur, e.entry.site_epoch))
            *lanes |= e.lanes;
        else if (!is_retired(cur, &e) && !is_observed_by(cur, p->history, i, &e) && !is_replaced(cur, &e, mine))
            out[count++] = (struct history_entry){e.entry.site_epoch, e.lanes};
    }
    return count;
}

/* The same for strong entries, of which none races with the access. Lanes of `out` are relative to
 * p->lane; the first `reads` of it only read, and a write is of no kind of these. */
static uint32_t keep_strong(struct current_access *cur, const struct history_view *p, uint32_t *lanes,
                            struct history_entry *out, uint32_t *reads)
{
    const struct access_history *old = p->history;
    const struct site_epoch *site_epochs = history_site_epoch(cur->h, 0);
    uint32_t count = cur->kind->writes ? old->n_reads : 0, mine = *lanes;
    *reads = old->n_reads;
    memcpy(out, old->at, count * sizeof *out);
    for (uint32_t i = count; i < old->n; i++) {
        struct history_entry at = old->at[i];
        if (site_epochs[at.site_epoch].kind == cur->kind_number) {
            struct earlier e = race_meet(cur, at, p->lane);
            bool joins = joins_entry(cur, at.site_epoch);
            if (joins)
                *lanes |= e.lanes;
            if (joins || is_observed_by(cur, old, i, &e) || is_replaced(cur, &e, mine)) {
                *reads -= i < old->n_reads;
                continue;
            }
        }
        out[count++] = at;
    }
    return count;
}

static uint32_t join_strong(struct current_access *cur, const struct history_view *p, uint32_t lanes, unsigned lane)
{
    struct history_entry out[HISTORY_MOST + 2];
    const struct access_history *old = p->history;
    uint32_t number, reads, count = keep_strong(cur, p, &lanes, out, &reads);
    if (!cur->b->traits.irregular) {
        count = thin_out(cur, out, count, p->lane);
        reads = 0;
    }
    const struct history_entry *last = &old->at[old->n - 1];
    if (count + 1 == old->n && last->site_epoch == cur->site_epoch && rotate_left(last->lanes, p->lane) == lanes)
        return TRANSITION_STAYS;
    out[count++] = (struct history_entry){cur->site_epoch, rotate_left(lanes, -p->lane)};
    while (reads < count && !race_kind_at(cur->r, history_site_epoch(cur->h, out[reads].site_epoch)->kind)->writes)
        reads++;
    struct access_history *h = take_history(cur, count, &number);
    for (uint32_t i = 0; h && i < count; i++)
        h->at[i] = (struct history_entry){out[i].site_epoch, rotate_left(out[i].lanes, p->lane - lane)};
    if (h) {
        h->is_strong = true;
        h->n_reads = (uint16_t)reads;
        h->element_bytes = cur->kind->bytes;
        h->newest = cur->b->task;
    }
    publish_history();
    return number;
}

uint32_t race_compute_transition(struct current_access *cur, const struct history_view *p, uint32_t lanes,
                                 unsigned lane, uint64_t address)
{
    struct history_entry out[HISTORY_MOST + 2];
    const struct access_history *h = p->history;
    bool joins = h && race_is_one_of(cur, h);
    race_check_lanes(cur, lanes, address);
    if (h && is_full(cur, h)) {
        if (!joins)
            check_writes(cur, p, lanes, address);
        return TRANSITION_STAYS;
    }
    if (joins && h->n < HISTORY_MOST)
        return join_strong(cur, p, lanes, lane);
    if (h && may_miss(cur, h))
        atomic_store(&cur->r->may_miss, true);
    uint32_t count = check_all(cur, p, &lanes, address, out);
    if (h && has_enough(cur, h->at, h->n, false))
        return TRANSITION_STAYS;
    if (has_enough(cur, out, count, true))
        return h && count == h->n ? TRANSITION_STAYS : new_history(cur, out, count, lane);
    if (!cur->b->traits.irregular)
        count = thin_out(cur, out, count, 0);
    if (count >= HISTORY_MOST)
        memmove(out, out + 1, --count * sizeof *out);
    out[count++] = (struct history_entry){cur->site_epoch, lanes};
    return is_same(cur, p, out, count) ? TRANSITION_STAYS : new_history(cur, out, count, lane);
}
