/* See follow.h. A turn is one access, so it is described by its thread. Arrivals at barriers may
 * come early, because other threads do not see them; accesses may not. */
#include "explore/follow.h"

#include <stdlib.h>
#include <string.h>

#include "exec/block.h"
#include "exec/site.h"

static uint32_t block_number(const struct follow *f, const uint32_t ctaid[3])
{
    return (ctaid[2] * f->grid[1] + ctaid[1]) * f->grid[0] + ctaid[0];
}

static const struct interleaved_step *step_at(const struct follow *f, uint32_t i)
{
    return &f->order->steps[i];
}

static bool is_of(const struct follow *f, uint32_t i, const uint32_t ctaid[3], uint32_t warp)
{
    return step_at(f, i)->warp == warp && step_at(f, i)->block == block_number(f, ctaid);
}

static void skip_what_has_come(struct follow *f)
{
    while (f->at < f->order->n && !f->left[f->at])
        f->at++;
}

/* ---- memory ---- */

/* The bytes that an access overwrote. */
struct overwritten {
    struct overwritten *next;
    uint8_t *at;
    uint32_t n;
    uint8_t bytes[];
};

static void keep(struct follow *f, uint64_t address, uint32_t n)
{
    struct overwritten *o = malloc(sizeof *o + n);
    f->is_lost |= !o;
    if (!o)
        return;
    *o = (struct overwritten){.next = f->overwritten, .at = (uint8_t *)(uintptr_t)address, .n = n};
    memcpy(o->bytes, o->at, n);
    f->overwritten = o;
}

/* ---- what the engine does ---- */

/* The lane's next step; the number of steps if there is none. */
static uint32_t next_of_lane(const struct follow *f, const uint32_t ctaid[3], uint32_t warp, unsigned lane)
{
    uint32_t i = f->at;
    while (i < f->order->n && !(f->left[i] >> lane & 1 && is_of(f, i, ctaid, warp)))
        i++;
    return i;
}

static void lane_comes(struct follow *f, const struct event_block *b, uint32_t warp, unsigned lane,
                       const struct site *site, bool meets)
{
    uint32_t i = next_of_lane(f, b->ctaid, warp, lane);
    if (i == f->order->n || step_at(f, i)->meets != meets || step_at(f, i)->insn->origin != site->instruction)
        return; /* local memory is not shared */
    skip_what_has_come(f);
    f->is_lost |= !meets && i != f->at;
    f->left[i] &= ~(1u << lane);
}

static void on_access(void *data, const struct access_event *e)
{
    for (uint32_t m = e->space == SPACE_LOCAL ? 0 : e->lanes; m; m &= m - 1)
        lane_comes(data, e->block, e->warp, (unsigned)__builtin_ctz(m), e->site, false);
    for (uint32_t m = e->writes && e->space == SPACE_GLOBAL ? e->lanes : 0; m; m &= m - 1)
        keep(data, access_address(e, (unsigned)__builtin_ctz(m)), e->bytes);
}

static void on_meeting(void *data, const struct sync_event *e)
{
    for (uint32_t m = e->lanes; m; m &= m - 1)
        lane_comes(data, e->block, e->warp, (unsigned)__builtin_ctz(m), e->site, true);
}

/* ---- what it is to do ---- */

/* The lanes that can run, as far as the warp knows. */
static uint32_t lanes_that_run(const struct warp *w)
{
    uint32_t lanes = w->state == WARP_FRESH ? w->exists : w->act ? w->mask : 0;
    for (const struct activation *a = w->acts; a; a = a->next)
        for (uint32_t b = pending_first(a, 0); b != NO_BLOCK; b = pending_first(a, b + 1))
            lanes |= a->pending[b];
    return lanes;
}

static const struct warp *warp_of_step(const struct follow *f, struct warp *const *list, uint32_t n, uint32_t *place)
{
    for (*place = 0; *place < n; ++*place)
        if (is_of(f, f->at, list[*place]->block->ctaid, list[*place]->index))
            return list[*place];
    return NULL;
}

static uint32_t choose_warp(void *data, struct warp *const *list, uint32_t n)
{
    struct follow *f = data;
    uint32_t place;
    for (skip_what_has_come(f); f->at < f->order->n && !f->is_lost; skip_what_has_come(f)) {
        const struct warp *w = warp_of_step(f, list, n, &place);
        if (w && lanes_that_run(w) & f->left[f->at])
            return place;
        f->is_lost = !step_at(f, f->at)->meets; /* a waiting thread has reached its meeting */
        f->left[f->at] = 0;
    }
    return (uint32_t)(f->turn++ % n);
}

static uint32_t choose_lanes(void *data, const struct warp *w)
{
    struct follow *f = data;
    skip_what_has_come(f);
    if (f->is_lost || f->at == f->order->n)
        return 1u << f->turn % WARP_LANES;
    return is_of(f, f->at, w->block->ctaid, w->index) ? f->left[f->at] : 0;
}

static bool turn_is_over(void *data, const struct warp *w)
{
    struct follow *f = data;
    skip_what_has_come(f);
    return !f->is_lost && f->at < f->order->n && !is_of(f, f->at, w->block->ctaid, w->index);
}

/* ---- a launch ---- */

bool follow_begin(struct follow *f, const struct interleaving *order, const uint32_t grid[3])
{
    *f = (struct follow){.order = order,
                         .grid = {grid[0], grid[1], grid[2]},
                         .left = calloc(order->n + 1u, sizeof *f->left),
                         .guide = {f, choose_warp, choose_lanes, turn_is_over},
                         .client = {.data = f,
                                    .wants = EVENT_BIT(EVENT_ACCESS) | EVENT_BIT(EVENT_BARRIER_ARRIVE) |
                                             EVENT_BIT(EVENT_COLLECTIVE) | EVENT_BIT(EVENT_CLUSTER_ARRIVE) |
                                             EVENT_BIT(EVENT_CLUSTER_WAIT),
                                    .access = on_access,
                                    .sync = on_meeting}};
    for (uint32_t i = 0; f->left && i < order->n; i++)
        f->left[i] = order->steps[i].lanes;
    return f->left;
}

bool follow_has_come(struct follow *f, bool failed)
{
    skip_what_has_come(f);
    return !f->is_lost && (f->at == f->order->n || failed);
}

void follow_end(struct follow *f)
{
    struct overwritten *next;
    for (struct overwritten *o = f->overwritten; o; o = next) {
        memcpy(o->at, o->bytes, o->n);
        next = o->next;
        free(o);
    }
    free(f->left);
}
