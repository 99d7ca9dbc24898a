/* Phases of shared memory that repeat.
 *
 * In a kernel that synchronises by whole blocks and warps nothing orders weak accesses to shared
 * memory between two barriers of the block: they race or they do not, whatever came before the
 * phase. So the accesses of a phase without a race are remembered, and a later one of the launch
 * that does the same, access after access, needs no cells. Where it does something else, its
 * accesses so far are brought to the cells first: in the order in which they came, as nothing has
 * ordered any of them since.
 */
#include "check/race/current.h"

#include <stdlib.h>
#include <string.h>

/* ---- one access ---- */

static bool describe(const struct access_event *e, struct phase_access *a)
{
    bool is_halves = e->pattern == ACCESS_LINEAR_HALVES || e->pattern == ACCESS_UNIFORM_HALVES;
    enum access_pattern pattern = is_halves && e->lanes != UINT32_MAX ? ACCESS_ANY : e->pattern;
    *a = (struct phase_access){e->site, {0}, e->lanes, (uint16_t)e->bytes, (uint8_t)e->warp, (uint8_t)pattern};
    if (pattern == ACCESS_LINEAR || pattern == ACCESS_UNIFORM) {
        a->at[0] = (int32_t)e->base;
    } else if (pattern != ACCESS_ANY) {
        a->at[0] = (int32_t)e->address[0];
        a->at[1] = (int32_t)e->address[HALF_WARP];
    }
    return !e->strong && !e->is_async && e->owner == e->block && e->bytes <= UINT16_MAX && e->warp <= UINT8_MAX;
}

static bool are_same(const struct phase_access *a, const struct phase_access *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Of lanes that take part. */
static bool same_addresses(const uint32_t known[WARP_LANES], const uint64_t *address, uint32_t lanes)
{
    uint32_t differ = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        differ |= (known[l] ^ (uint32_t)address[l]) & (0 - (lanes >> l & 1));
    return !differ;
}

/* May several lanes write one place? Then it depends on the values whether that is a race. */
static bool may_meet(const struct access_event *e, const struct phase_access *a)
{
    uint64_t places = 0;
    if (!e->writes || !(e->lanes & (e->lanes - 1)))
        return false;
    if (a->pattern != ACCESS_ANY)
        return a->pattern != ACCESS_LINEAR && !(a->pattern == ACCESS_LINEAR_HALVES && a->at[0] != a->at[1]);
    EACH_BIT(l, e->lanes)
        places |= 1ull << (access_address(e, l) / e->bytes & 63);
    return __builtin_popcountll(places) != __builtin_popcount(e->lanes);
}

/* ---- phases ---- */

static struct phase *phase_of(struct phases *p, const struct phase_access *first)
{
    uint64_t x = (uint64_t)(uintptr_t)first->site * 0x9e3779b97f4a7c15ull ^
                 (((uint64_t)(uint32_t)first->at[0] << 32) + first->lanes) * 0xc2b2ae3d27d4eb4full ^
                 (uint64_t)first->warp << 40;
    return &p->known[(x ^ x >> 29) * 0xbf58476d1ce4e5b9ull >> 32 & (PHASES_KNOWN - 1)];
}

static void free_phase(struct phase *s)
{
    free(s->at);
    free(s->lanes);
    *s = (struct phase){0};
}

static bool grow(void **of, uint32_t *room, uint32_t n, size_t bytes)
{
    uint32_t more = *room ? 2 * *room : 64;
    void *grown = n < *room ? *of : realloc(*of, more * bytes);
    if (!grown)
        return false;
    *room = n < *room ? *room : more;
    *of = grown;
    return true;
}

static bool record(struct phase *s, const struct phase_access *a, const uint64_t *address)
{
    if (s->n == PHASE_MOST || !grow((void **)&s->at, &s->room, s->n, sizeof *s->at))
        return false;
    if (a->pattern == ACCESS_ANY) {
        if (!grow((void **)&s->lanes, &s->lanes_room, s->n_lanes, sizeof *s->lanes))
            return false;
        for (unsigned l = 0; l < WARP_LANES; l++)
            s->lanes[s->n_lanes][l] = a->lanes >> l & 1 ? (uint32_t)address[l] : 0;
        s->n_lanes++;
    }
    s->at[s->n++] = *a;
    return true;
}

/* Ends a repetition: records the accesses that this phase had in common with the other one. They
 * are yet to be applied to the cells (race_phase_left). */
static bool part(struct phases *p)
{
    const struct phase *s = p->like;
    uint64_t address[WARP_LANES];
    bool is_recorded = true;
    for (uint32_t i = 0, k = 0; i < p->n && is_recorded; i++) {
        bool has_lanes = s->at[i].pattern == ACCESS_ANY;
        for (unsigned l = 0; has_lanes && l < WARP_LANES; l++)
            address[l] = s->lanes[k][l];
        k += has_lanes;
        is_recorded = record(&p->now, &s->at[i], address);
    }
    p->worth -= (int32_t)p->n;
    p->left = p->n;
    p->n = p->n_lanes = 0;
    return is_recorded;
}

void race_phase_part(struct phases *p)
{
    if (p->state == PHASE_LIKE) {
        p->left = p->n;
        p->n = p->n_lanes = 0;
    }
    p->state = PHASE_WATCHED;
}

bool race_phase_left(struct phases *p, struct event_block *block, struct access_event *e, uint64_t at[WARP_LANES])
{
    if (p->n >= p->left) {
        p->left = 0;
        return false;
    }
    const struct phase_access *a = &p->like->at[p->n++];
    enum access_pattern pattern = (enum access_pattern)a->pattern;
    const uint32_t *lanes = pattern == ACCESS_ANY ? p->like->lanes[p->n_lanes++] : NULL;
    bool by_lane = pattern != ACCESS_LINEAR && pattern != ACCESS_UNIFORM;
    *e = (struct access_event){.site = a->site,
                               .block = block,
                               .owner = block,
                               .warp = a->warp,
                               .space = SPACE_SHARED,
                               .pattern = pattern,
                               .lanes = a->lanes,
                               .bytes = a->bytes,
                               .reads = a->site->reads,
                               .writes = a->site->writes,
                               .base = (uint64_t)a->at[0],
                               .address = by_lane ? at : NULL,
                               .low = UINT64_MAX};
    for (unsigned l = 0; by_lane && l < WARP_LANES; l++)
        at[l] = lanes ? lanes[l]
                      : (uint64_t)a->at[l / HALF_WARP] +
                            (pattern == ACCESS_LINEAR_HALVES ? (uint64_t)(l % HALF_WARP) * a->bytes : 0);
    EACH_BIT(l, e->lanes) {
        uint64_t address = access_address(e, l);
        e->low = address < e->low ? address : e->low;
        e->high = address + e->bytes > e->high ? address + e->bytes : e->high;
    }
    return true;
}

static bool is_like(struct phases *p, const struct phase_access *a, const struct access_event *e)
{
    const struct phase *s = p->like;
    if (p->n == s->n || !are_same(&s->at[p->n], a))
        return false;
    if (a->pattern == ACCESS_ANY && !same_addresses(s->lanes[p->n_lanes++], e->address, a->lanes))
        return false;
    p->n++;
    return true;
}

bool race_phase_repeats(struct phases *p, const struct access_event *e)
{
    struct phase_access a;
    if (!describe(e, &a)) {
        race_phase_part(p);
        return false;
    }
    if (p->state == PHASE_BEGINS) {
        p->like = phase_of(p, &a);
        p->n = p->n_lanes = p->now.n = p->now.n_lanes = 0;
        p->reported = false;
        p->state = p->like->n ? PHASE_LIKE : PHASE_RECORDED;
    }
    if (p->state == PHASE_LIKE) {
        if (is_like(p, &a, e))
            return true;
        p->state = part(p) ? PHASE_RECORDED : PHASE_WATCHED;
    }
    if (p->state == PHASE_RECORDED && (may_meet(e, &a) || !record(&p->now, &a, e->address)))
        p->state = PHASE_WATCHED;
    return false;
}

/* Whether looking for repeats pays: the accesses saved so far, less those recorded in vain. */
enum { WORTH_FIRST = 1 << 14, WORTH_MOST = 1 << 16 };

void race_phase_ends(struct phases *p, bool is_plain)
{
    if (p->state == PHASE_LIKE)
        p->worth += p->worth < WORTH_MOST ? (int32_t)p->n : 0;
    if (p->state == PHASE_RECORDED)
        p->worth -= (int32_t)p->now.n;
    if (p->state == PHASE_RECORDED && is_plain && !p->reported) {
        struct phase *s = phase_of(p, &p->now.at[0]), was = *s;
        *s = p->now;
        p->now = was;
    }
    p->state = p->on && p->worth > 0 ? PHASE_BEGINS : PHASE_WATCHED;
}

void race_phases_begin(struct phases *p, bool on, bool is_of_new_launch)
{
    for (uint32_t i = 0; is_of_new_launch && i < PHASES_KNOWN; i++)
        p->known[i].n = p->known[i].n_lanes = 0;
    if (is_of_new_launch)
        p->worth = WORTH_FIRST;
    p->on = on;
    p->state = p->on && p->worth > 0 ? PHASE_BEGINS : PHASE_WATCHED;
}

void race_phases_free(struct phases *p)
{
    for (uint32_t i = 0; i < PHASES_KNOWN; i++)
        free_phase(&p->known[i]);
    free_phase(&p->now);
}
