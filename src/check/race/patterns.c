/* Access events as stretches of memory, by the pattern of their addresses; see current.h. */
#include "check/race/current.h"

#include <string.h>

#include "check/shadow/defined.h"

static inline bool write_alike(const struct current_access *cur, uint32_t lanes)
{
    return cur->kind->writes && !cur->kind->strong && cur->event && lanes & (lanes - 1) &&
           event_alike(cur->event, lanes);
}

void race_update(struct current_access *cur, uint64_t address, uint32_t bytes, uint32_t lanes)
{
    cur->alike = write_alike(cur, lanes);
    address += cur->base;
    /* Lanes perform read-modify-writes of one place in their order: the last has observed the
     * others. */
    unsigned lane = race_is_rmw(cur->kind) ? 31 - (unsigned)__builtin_clz(lanes) : (unsigned)__builtin_ctz(lanes);
    uint32_t relative = race_is_rmw(cur->kind) ? 1 : lanes >> lane;
    race_update_together(cur, address, bytes, (struct lanes){relative, lane}, ALL_BYTES);
}

/* Neighbouring places, each accessed by the next lanes. */
static void update_stretch(struct current_access *cur, uint64_t base, uint64_t bytes, struct lanes lanes)
{
    unsigned per_lane = cur->kind->lane_shift;
    base += cur->base;
    for (uint64_t at = base, end = base + bytes; at < end;) {
        uint64_t to = race_end_of_lock(at, end);
        struct lanes these = {lanes.lanes, (lanes.lane + (unsigned)((at - base) >> per_lane)) & 31};
        race_update_together(cur, at, (uint32_t)(to - at), these, per_lane);
        at = to;
    }
}

/* Runs of neighbouring lanes are taken as stretches where there are few of them. */
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

/* Each half of a warp accesses its own run of places, or its own place; or both access the same. */
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

/* May two lanes access one place? */
static bool may_meet(const struct access_event *e, uint32_t lanes, unsigned lane_shift)
{
    uint64_t places = 0;
    unsigned count = (unsigned)__builtin_popcount(lanes);
    EACH_BIT(l, lanes)
        places |= 1ull << (access_address(e, l) >> lane_shift & 63);
    return (unsigned)__builtin_popcountll(places) != count;
}

/* Lanes that access the same place are taken together. */
static void update_by_place(struct current_access *cur, const struct access_event *e, uint32_t lanes)
{
    uint64_t place[WARP_LANES];
    uint32_t at[WARP_LANES], count = 0;
    uint8_t slot[64];
    memset(slot, 0xff, sizeof slot);
    EACH_BIT(l, lanes) {
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

/* Weak writes of one place by one instruction race with each other; else each lane is taken by
 * itself. */
static void update_any(struct current_access *cur, const struct access_event *e, uint32_t lanes)
{
    if (cur->kind->writes && !cur->kind->strong && may_meet(e, lanes, cur->kind->lane_shift))
        update_by_place(cur, e, lanes);
    else
        race_update_lanes(cur, e, lanes);
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

void race_update_range(struct current_access *cur, uint64_t address, uint64_t bytes, unsigned lane)
{
    address += cur->base;
    for (uint64_t at = address, end = address + bytes; at < end;) {
        uint64_t to = race_end_of_lock(at, end);
        uint64_t word = (at + 3) & ~3ull, last = to & ~3ull;
        if (at % 4) /* bytes before the first word, then words, then bytes behind the last */
            to = word < to ? word : to;
        else if (last > at)
            to = last;
        race_update_together(cur, at, (uint32_t)(to - at), (struct lanes){1, lane}, ALL_BYTES);
        at = to;
    }
}
