/* Replays control flow and synchronisation of a launch's lanes; see replaying.h. */
#include <stdlib.h>

#include "record/replaying.h"

static bool waits_of(struct replay *r, const struct event_block *b, const struct number_list *sites,
                     const struct number_list *left, const struct number_list *lanes,
                     const struct number_list *barriers, struct event_wait waits[WARP_LANES])
{
    bool good = true;
    if (sites->n > WARP_LANES || lanes->n != sites->n || barriers->n != sites->n || (left && left->n != sites->n))
        return replay_impossible(r, "`waiting`, `barrier` and the sites of waiting lanes must have the same length");
    for (uint32_t i = 0; i < sites->n && good; i++) {
        const struct site *s = replay_site_at(r, b, sites->at[i]);
        good = s && lanes->at[i] && lanes->at[i] <= UINT32_MAX;
        waits[i] = (struct event_wait){s, left ? replay_site_or_none(r, b, left->at[i], &good) : NULL,
                                       (uint32_t)lanes->at[i], (uint32_t)barriers->at[i]};
    }
    return good || replay_impossible(r, "a waiting lane's site or mask is not possible");
}

bool replay_enter(struct replay *r, const struct record *x)
{
    struct event_block *b = replay_warp_at(r, x->enter.block, x->enter.warp);
    struct event_wait waits[WARP_LANES];
    if (!b || !waits_of(r, b, &x->enter.site, &x->enter.left, &x->enter.waiting, &x->enter.barrier, waits))
        return false;
    if (!x->enter.lanes)
        return replay_impossible(r, "`enter` needs at least one lane");
    const struct enter_event e = {b,     x->enter.warp,  x->enter.lanes, x->enter.function, x->enter.code_block,
                                  waits, x->enter.site.n};
    const event_set any = EVENT_BIT(EVENT_ENTER) | (e.n_waits ? EVENT_BIT(EVENT_ENTER_PARTED) : 0);
    const struct event_list *list = replay_list_of(b);
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i]->wants & any)
            list->at[i]->enter(list->at[i]->data, &e);
    return true;
}

/* The columns must have one length. */
static struct barrier_party *parties_of(struct replay *r, const struct event_block *b, const struct record *x)
{
    uint32_t n = x->sync.party_block.n;
    const struct number_list *const columns[] = {&x->sync.party_warp, &x->sync.party_lanes, &x->sync.party_site,
                                                 &x->sync.party_call, &x->sync.party_alone};
    struct barrier_party *p = calloc(n + 1, sizeof *p);
    bool good = p;
    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++)
        good &= columns[i]->n == n;
    for (uint32_t i = 0; i < n && good; i++) {
        struct replay_block *of = replay_block_at(r, x->sync.party_block.at[i]);
        good = of && of->block.launch == b->launch && x->sync.party_warp.at[i] < of->block.n_warps &&
               x->sync.party_lanes.at[i] && x->sync.party_lanes.at[i] <= UINT32_MAX;
        if (!good)
            break;
        p[i] = (struct barrier_party){.block = &of->block,
                                      .warp = (uint32_t)x->sync.party_warp.at[i],
                                      .lanes = (uint32_t)x->sync.party_lanes.at[i],
                                      .site = replay_site_at(r, b, x->sync.party_site.at[i]),
                                      .call = replay_site_or_none(r, b, x->sync.party_call.at[i], &good),
                                      .alone = x->sync.party_alone.at[i]};
        good &= p[i].site != NULL;
    }
    if (good)
        return p;
    replay_impossible(r, "the parties of this barrier are not possible");
    free(p);
    return NULL;
}

static bool by_warp(struct replay *r, const struct number_list *list, const struct event_block *b,
                    uint32_t to[MAX_WARPS])
{
    for (uint32_t i = 0; i < list->n && i < MAX_WARPS; i++)
        to[i] = (uint32_t)list->at[i];
    return list->n == b->n_warps || replay_impossible(r, "the list needs the lanes of each warp");
}

static bool is_possible_sync(struct replay *r, const struct sync_event *e)
{
    bool opens = e->kind == EVENT_BARRIER_OPEN || e->kind == EVENT_CLUSTER_OPEN,
         meets = e->kind == EVENT_BARRIER_COUNTS || e->kind == EVENT_BARRIER_MIXED,
         object = e->kind == EVENT_MBARRIER_ARRIVE || e->kind == EVENT_MBARRIER_WAIT;
    if (!opens && (!e->site || !e->lanes))
        return replay_impossible(r, "the record needs a site and at least one lane");
    if (meets && !e->first)
        return replay_impossible(r, "the record needs the party that came first");
    if (object != (e->owner != NULL))
        return replay_impossible(r, "`owner` is needed for an mbarrier, and only there");
    if (e->id > CLUSTER_BARRIER || (e->id == CLUSTER_BARRIER && e->kind == EVENT_BARRIER_ARRIVE))
        return replay_impossible(r, "the number of the barrier is not possible");
    return true;
}

static bool sync_of(struct replay *r, const struct record *x, struct event_block *b, struct sync_event *e)
{
    uint32_t waited[MAX_WARPS] = {0}, arrived[MAX_WARPS] = {0};
    uint8_t sources[WARP_LANES];
    struct event_wait waits[WARP_LANES];
    for (uint32_t l = 0; l < x->sync.sources.n && l < WARP_LANES; l++)
        sources[l] = x->sync.sources.at[l] % WARP_LANES;
    if (x->sync.sources.n && x->sync.sources.n != WARP_LANES)
        return replay_impossible(r, "`sources` needs 32 lanes");
    if (!is_possible_sync(r, e) ||
        (e->kind == EVENT_BARRIER_OPEN &&
         (!by_warp(r, &x->sync.waited, b, waited) || !by_warp(r, &x->sync.arrived, b, arrived))) ||
        !waits_of(r, b, &x->sync.wait_site, NULL, &x->sync.waiting, &x->sync.wait_barrier, waits))
        return false;
    struct barrier_party *parties = parties_of(r, b, x);
    if (!parties)
        return false;
    e->source_lane = x->sync.sources.n ? sources : NULL;
    e->waited = waited;
    e->arrived = arrived;
    e->parties = parties;
    e->n_parties = x->sync.party_block.n;
    e->waits = waits;
    e->n_waits = x->sync.wait_site.n;
    EVENT_TELL(replay_list_of(b), e->kind, sync, e);
    free(parties);
    return true;
}

bool replay_sync(struct replay *r, const struct record *x)
{
    struct event_block *b = replay_warp_at(r, x->sync.block, x->sync.warp);
    bool good = b;
    if (!b)
        return false;
    struct sync_event e = {.kind = x->sync.kind,
                           .site = replay_site_or_none(r, b, x->sync.site, &good),
                           .block = b,
                           .warp = x->sync.warp,
                           .lanes = x->sync.lanes,
                           .id = x->sync.id,
                           .threads = x->sync.threads,
                           .membermask = x->sync.membermask,
                           .owner = replay_block_or_none(r, x->sync.owner, b, &good),
                           .address = x->sync.address,
                           .order = x->sync.order,
                           .scope = x->sync.scope,
                           .parity = x->sync.parity,
                           .completes = x->sync.completes,
                           .invalid = x->sync.invalid,
                           .first = replay_site_or_none(r, b, x->sync.first, &good),
                           .expected = x->sync.expected};
    return good && sync_of(r, x, b, &e);
}
