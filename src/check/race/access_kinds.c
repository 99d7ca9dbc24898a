/* Numbers of access kinds; see history.h. A place in a kernel is an instruction of its PTX, not a
 * line of CUDA: of two that stand for one line a thread may have run only one. */
#include "check/race/state.h"

#include <string.h>

static unsigned log2_of(uint32_t power_of_two)
{
    return (unsigned)__builtin_ctz(power_of_two);
}

/* Of an asynchronous copy: copies are weak, reductions are read-modify-writes (9.7.9.25.4). */
static struct access_kind describe_async(const struct site *s, bool writes)
{
    const struct mem_access *m = &s->access;
    bool updates = writes && (m->type || s->mode == ASYNC_TENSOR_REDUCE);
    return (struct access_kind){.site = s,
                                .bytes = updates && m->type ? (uint8_t)(isa_type_bits((enum isa_type)m->type) / 8) : 4,
                                .lane_shift = 2,
                                .reads = !writes || updates,
                                .writes = writes,
                                .strong = updates,
                                .atomic = updates,
                                .issued = s->signals,
                                .scope = updates ? SCOPE_GPU : SCOPE_CTA};
}

static struct access_kind describe(const struct site *s, uint32_t lane_bytes, enum access_part part)
{
    const struct mem_access *m = &s->access;
    bool strong = mem_access_is_strong(m);
    return (struct access_kind){.site = s,
                                .bytes = m->bytes,
                                .lane_shift = (uint8_t)log2_of(lane_bytes),
                                .reads = s->reads,
                                .writes = s->writes && part != ACCESS_FAILED_CAS,
                                .strong = strong,
                                .atomic = site_is_atomic(s),
                                .read_only = part == ACCESS_READ_ONLY,
                                .is_init = s->kind == SITE_MBARRIER && s->mode == MBARRIER_INIT,
                                .is_mbarrier = s->kind == SITE_MBARRIER && s->mode != MBARRIER_INIT,
                                .scope = strong ? order_scope((enum isa_mod)m->scope) : SCOPE_CTA};
}

static bool same_kind(const struct access_kind *a, const struct access_kind *b)
{
    return a->bytes == b->bytes && a->lane_shift == b->lane_shift && a->reads == b->reads && a->writes == b->writes &&
           a->strong == b->strong && a->atomic == b->atomic && a->torn == b->torn && a->issued == b->issued &&
           a->read_only == b->read_only && a->is_init == b->is_init && a->is_mbarrier == b->is_mbarrier &&
           a->scope == b->scope;
}

/* For accesses that are not by a kernel: looked up by the place on the host. */
static bool same_place(const struct access_kind *a, const struct access_kind *b)
{
    if (a->site && b->site)
        return a->site->instruction == b->site->instruction;
    return a->note && b->note && a->note->kind == b->note->kind && a->note->name == b->note->name &&
           a->where == b->where;
}

static uint32_t *bucket_of(struct races *r, const struct access_kind *c)
{
    uint64_t of = c->site ? (uintptr_t)c->site->instruction : (uintptr_t)c->where ^ (uintptr_t)c->note->kind;
    return &r->kind_of[of * 0x9e3779b97f4a7c15 >> (64 - KIND_BUCKETS_BITS)];
}

/* The number of the kind; adds the kind if it is new. */
static uint32_t number_of(struct races *r, struct access_kind c)
{
    uint32_t place = 0, found = 0;
    pthread_mutex_lock(&r->lock);
    uint32_t *bucket = bucket_of(r, &c);
    for (uint32_t i = *bucket; i && !found; i = ((struct access_kind *)numbered_at(&r->kinds, i))->next) {
        const struct access_kind *k = numbered_at(&r->kinds, i);
        if (!same_place(k, &c))
            continue;
        place = k->place;
        found = same_kind(k, &c) ? i : 0;
    }
    if (!found && (found = numbered_take(&r->kinds))) {
        c.place = place ? place : ++r->n_places;
        c.next = *bucket;
        *bucket = found;
        *(struct access_kind *)numbered_at(&r->kinds, found) = c;
    }
    pthread_mutex_unlock(&r->lock);
    return found;
}

uint32_t race_kind(struct races *r, const struct site *site, uint32_t lane_bytes, enum access_part part)
{
    bool is_async = part == ACCESS_READS || part == ACCESS_WRITES;
    return number_of(r, is_async ? describe_async(site, part == ACCESS_WRITES) : describe(site, lane_bytes, part));
}

uint32_t race_kind_torn(struct races *r, const struct access_kind *of)
{
    struct access_kind c = *of;
    c.torn = true;
    return number_of(r, c);
}

uint32_t race_kind_of_task(struct races *r, const struct task_note *note, bool write)
{
    return number_of(
        r, (struct access_kind){.note = note, .where = note->where, .bytes = 1, .reads = !write, .writes = write});
}

/* One instruction of the host may be a volatile or atomic access: it counts as strong, and as an
 * acquire or a release, as on the processor. */
uint32_t race_kind_of_host(struct races *r, const struct task_note *note, const void *where,
                           const struct host_access *a)
{
    struct access_kind c = {
        .note = note, .where = where, .bytes = 1, .reads = !a->write, .writes = a->write, .scope = SCOPE_SYS};
    if (a->whole) {
        c.strong = true;
        c.bytes = (uint8_t)a->bytes;
        c.lane_shift = (uint8_t)log2_of((uint32_t)a->bytes);
    }
    return number_of(r, c);
}
