/* Replays accesses by lanes, and asynchronous work that they issued; see replaying.h. */
#include "check/shadow/shadow.h"
#include "record/replaying.h"

enum { MOST_LOCAL_BYTES = 1 << 24, MOST_LANE_BYTES = 128, MOST_ASYNC_BYTES = 1 << 28 };

/* ---- accesses ---- */

/* Computes addresses by the pattern, for lanes that take no part, too. */
static bool spread_addresses(struct replay *r, struct access_event *e, const struct number_list *list,
                             uint64_t address[WARP_LANES])
{
    bool one = e->pattern == ACCESS_UNIFORM || e->pattern == ACCESS_LINEAR, halves = e->pattern > ACCESS_LINEAR;
    uint32_t n = 0;
    if (one || list->n != (uint32_t)__builtin_popcount(e->lanes))
        return (one && !list->n) ||
               replay_impossible(r, "`address` needs a value for each lane, or the first one of a pattern");
    for (unsigned l = 0; l < WARP_LANES; l++)
        address[l] = e->lanes >> l & 1 ? list->at[n++] : 0;
    for (unsigned half = 0; half < WARP_LANES; half += HALF_WARP) {
        uint32_t these = e->lanes >> half & 0xffff, from = these ? half : half ^ HALF_WARP;
        unsigned known = (unsigned)__builtin_ctz(e->lanes >> from & 0xffff) + from, step;
        for (unsigned l = half; l < half + HALF_WARP; l++) {
            step = e->pattern == ACCESS_LINEAR_HALVES ? e->bytes : 0;
            uint64_t goes_on = address[known] + ((uint64_t)(l - half) - (known - from)) * step;
            if (!(e->lanes >> l & 1))
                address[l] = goes_on;
            else if (halves && address[l] != goes_on)
                return replay_impossible(r, "the addresses do not follow the pattern");
        }
    }
    e->address = address;
    return true;
}

static void find_span(struct access_event *e)
{
    e->low = UINT64_MAX;
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        uint64_t at = access_address(e, (unsigned)__builtin_ctz(m));
        e->low = at < e->low ? at : e->low;
        e->high = at + e->bytes > e->high ? at + e->bytes : e->high;
    }
}

/* Is the access to memory that can exist, at a multiple of the bytes of a lane? */
static bool is_possible(struct replay *r, const struct access_event *e)
{
    uint64_t most = e->space == SPACE_SHARED  ? e->block->launch->shared_bytes
                    : e->space == SPACE_LOCAL ? MOST_LOCAL_BYTES
                                              : 1ull << SHADOW_ADDRESS_BITS;
    bool by_lanes = !e->is_async && e->site->accesses, power = (e->bytes & (e->bytes - 1)) == 0;
    if (!e->bytes ||
        e->bytes > (e->is_async ? MOST_ASYNC_BYTES
                    : by_lanes  ? MOST_LANE_BYTES
                                : MOST_LOCAL_BYTES) ||
        (by_lanes && !power) || (by_lanes && e->bytes < e->site->access.bytes))
        return replay_impossible(r, "`bytes` is not a possible size of an access");
    if (!by_lanes && !e->is_async && e->space != SPACE_LOCAL)
        return replay_impossible(r, "the instruction of this site does not access memory");
    if (e->is_async && (e->site->kind != SITE_COPY || (e->pattern != ACCESS_UNIFORM && e->pattern != ACCESS_ANY) ||
                        e->lanes & (e->lanes - 1)))
        return replay_impossible(r, "an asynchronous access needs the site of a copy, and a single lane");
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        uint64_t at = access_address(e, (unsigned)__builtin_ctz(m));
        if (at > most || e->bytes > most - at || (by_lanes && at % e->bytes))
            return replay_impossible(r, "the address is outside the memory, or misaligned");
    }
    return true;
}

bool replay_access(struct replay *r, const struct record *x)
{
    struct event_block *b;
    const struct site *site = replay_warp_site(r, x->access.block, x->access.warp, x->access.site, &b);
    bool good = site;
    if (!good || !x->access.lanes)
        return good && replay_impossible(r, "an access needs at least one lane");
    struct replay_block *k = r->blocks.at[x->access.block];
    struct access_event *e = &k->last;
    *e = (struct access_event){.site = site,
                               .block = b,
                               .warp = x->access.warp,
                               .space = (enum ptx_space)x->access.space,
                               .owner = replay_block_or_none(r, x->access.owner, b, &good),
                               .is_async = x->access.is_async,
                               .pattern = (enum access_pattern)x->access.pattern,
                               .lanes = x->access.lanes,
                               .bytes = x->access.bytes,
                               .reads = x->access.reads,
                               .writes = x->access.writes,
                               .strong = x->access.strong,
                               .base = x->access.base,
                               .signals = replay_block_or_none(r, x->access.signals, b, &good),
                               .object = x->access.object,
                               .parity = x->access.parity};
    if ((e->space == SPACE_SHARED) != (e->owner != NULL) && good)
        good =
            replay_impossible(r, "an access needs `owner` if it is to shared memory, and must not have it otherwise");
    k->source = (struct access_source){.space = (enum ptx_space)x->access.source_space,
                                       .owner = replay_block_or_none(r, x->access.source_owner, b, &good),
                                       .address = x->access.source_address,
                                       .bytes = x->access.source_bytes};
    if (x->access.has_source) {
        e->source = &k->source;
        uint64_t most = k->source.owner ? b->launch->shared_bytes : 1ull << SHADOW_ADDRESS_BITS;
        if ((k->source.space == SPACE_SHARED) != (k->source.owner != NULL) || k->source.address > most ||
            k->source.bytes > most - k->source.address)
            good = replay_impossible(r, "the source of the copy is outside the memory, or lacks its owner");
    }
    if (!good || !spread_addresses(r, e, &x->access.address, k->address) || !is_possible(r, e))
        return false;
    find_span(e);
    EVENT_TELL(replay_list_of(b), EVENT_ACCESS, access, e);
    if (event_will_be_performed(e)) {
        r->performing = *e;
        memcpy(r->performing_at, k->address, sizeof r->performing_at);
        r->performing.address = e->address ? r->performing_at : NULL;
    }
    return true;
}

bool replay_performed(struct replay *r, const struct record *x)
{
    struct access_event e = r->performing;
    if (!e.block)
        return replay_impossible(r, "`performed` follows an access that writes or is strong");
    r->performing.block = NULL;
    e.wrote = e.writes ? x->access.wrote & e.lanes : 0;
    EVENT_TELL(replay_list_of(e.block), EVENT_PERFORMED, performed, &e);
    return true;
}

bool replay_overtake(struct replay *r, const struct record *x)
{
    struct replay_block *k = replay_block_at(r, x->overtake.block);
    const struct site *copy = k ? replay_site_at(r, &k->block, x->overtake.copy) : NULL;
    if (!copy)
        return false;
    if (!k->last.site || x->overtake.lane >= WARP_LANES || !(k->last.lanes >> x->overtake.lane & 1))
        return replay_impossible(r, "the last access of the block does not have this lane");
    const struct overtake_event e = {&k->last, x->overtake.lane, copy, x->overtake.written};
    EVENT_TELL(replay_list_of(&k->block), EVENT_OVERTAKE, overtake, &e);
    return true;
}

/* Spreads a list to lanes. */
static bool spread_lanes(const struct number_list *list, uint32_t lanes, uint64_t to[WARP_LANES])
{
    uint32_t n = 0;
    memset(to, 0, WARP_LANES * sizeof *to);
    for (uint32_t m = list->n == (uint32_t)__builtin_popcount(lanes) ? lanes : 0; m; m &= m - 1)
        to[__builtin_ctz(m)] = list->at[n++];
    return list->n == n;
}

static bool is_to_shared(enum async_mode mode)
{
    return mode == ASYNC_BULK_FROM_GLOBAL || mode == ASYNC_BULK_SHARED || mode == ASYNC_TENSOR_LOAD;
}

bool replay_issue(struct replay *r, const struct record *x)
{
    struct event_block *b;
    const struct site *site = replay_warp_site(r, x->issue.block, x->issue.warp, x->issue.site, &b);
    uint64_t to[WARP_LANES], from[WARP_LANES], taken[WARP_LANES];
    uint32_t taken_by[WARP_LANES];
    bool good = site;
    if (!good || site->kind != SITE_COPY || !x->issue.lanes || x->issue.bytes > MOST_ASYNC_BYTES ||
        !spread_lanes(&x->issue.to, x->issue.lanes, to) ||
        (x->issue.from.n && !spread_lanes(&x->issue.from, x->issue.lanes, from)) ||
        (x->issue.taken.n && !spread_lanes(&x->issue.taken, x->issue.lanes, taken)) || x->issue.ranges.n % 2)
        return good &&
               replay_impossible(r, "the site, the lanes or the sizes of this asynchronous operation are not possible");
    for (unsigned l = 0; x->issue.taken.n && l < WARP_LANES; l++)
        taken_by[l] = (uint32_t)taken[l];
    const struct issue_event e = {.site = site,
                                  .block = b,
                                  .warp = x->issue.warp,
                                  .lanes = x->issue.lanes,
                                  .bytes = x->issue.bytes,
                                  .ranks = x->issue.ranks,
                                  .signals = replay_block_or_none(r, x->issue.signals, b, &good),
                                  .object = x->issue.object,
                                  .to = to,
                                  .from = x->issue.from.n ? from : NULL,
                                  .taken = x->issue.taken.n ? taken_by : NULL,
                                  .ranges = x->issue.ranges.at,
                                  .n_ranges = x->issue.ranges.n};
    if (good && site->mode > ASYNC_STORE && !e.from)
        return replay_impossible(r, "a bulk copy needs a source");
    if (good && is_to_shared((enum async_mode)site->mode) && !e.ranks && !e.signals)
        return replay_impossible(r, "a bulk copy to shared memory needs an mbarrier");
    if (good)
        EVENT_TELL(replay_list_of(b), EVENT_ISSUE, issue, &e);
    return good;
}

/* ---- faults, the heap, matrices ---- */

bool replay_fault(struct replay *r, const struct record *x)
{
    struct event_block *b;
    const struct site *site = replay_warp_site(r, x->fault.block, x->fault.warp, x->fault.site, &b);
    const struct fault_event e = {.site = site,
                                  .block = b,
                                  .warp = x->fault.warp,
                                  .lane = x->fault.lane,
                                  .kind = (enum fault_kind)x->fault.fault,
                                  .space = (enum ptx_space)x->fault.space,
                                  .address = x->fault.address,
                                  .bytes = x->fault.bytes,
                                  .window = x->fault.window,
                                  .writes = x->fault.writes};
    if (!site || x->fault.lane >= WARP_LANES || x->fault.fault >= FAULT_COUNT)
        return site && replay_impossible(r, "the lane or the kind of this fault does not exist");
    events_tell_fault(replay_list_of(b), &e);
    return true;
}

bool replay_heap(struct replay *r, const struct record *x)
{
    struct event_block *b;
    const struct site *site = replay_warp_site(r, x->heap.block, x->heap.warp, x->heap.site, &b);
    const struct heap_event e = {site, b, x->heap.warp, x->heap.lane, x->heap.is_free, x->heap.address, x->heap.bytes};
    if (!site || x->heap.lane >= WARP_LANES || x->heap.bytes > MOST_ASYNC_BYTES ||
        x->heap.address >= (1ull << SHADOW_ADDRESS_BITS) - MOST_ASYNC_BYTES)
        return site && replay_impossible(r, "the lane, the address or the size of this heap call is not possible");
    EVENT_TELL(replay_list_of(b), EVENT_HEAP, heap, &e);
    return true;
}

bool replay_matrix(struct replay *r, const struct record *x)
{
    struct event_block *b;
    const struct site *site = replay_warp_site(r, x->matrix.block, x->matrix.warp, x->matrix.site, &b);
    if (!site || !x->matrix.lanes || x->matrix.address > b->launch->shared_bytes ||
        x->matrix.bytes > b->launch->shared_bytes - x->matrix.address)
        return site && replay_impossible(r, "the matrix is outside the block's shared memory, or has no lanes");
    const struct matrix_event e = {site, b, x->matrix.warp, x->matrix.lanes, x->matrix.address, x->matrix.bytes};
    EVENT_TELL(replay_list_of(b), EVENT_MATRIX, matrix, &e);
    return true;
}
