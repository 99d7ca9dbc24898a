/* See where.h. */
#include "debug/where.h"

#include <string.h>

#include "base/demangle.h"
#include "base/diag.h"
#include "exec/launch.h"
#include "exec/worker.h"

const char *thread_state_word(enum thread_state s)
{
    static const char *const words[] = {"absent", "fresh", "ready", "waits", "exited"};
    return words[s];
}

struct block *block_find(const struct launch *l, uint64_t index)
{
    for (struct worker *k = l->workers; k; k = k->next)
        for (struct block *b = k->resident; b; b = b->next)
            if (b->index == index)
                return b;
    return NULL;
}

static struct where at(enum thread_state state, struct activation *a, const struct op *o, uint32_t block,
                       uint32_t lanes)
{
    return (struct where){.state = state, .act = a, .op = o, .code_block = block, .lanes = lanes};
}

static struct where find(const struct stop *now, struct warp *w, uint32_t bit)
{
    if (warp_is_fresh(w))
        return at(THREAD_FRESH, NULL, NULL, 0, w->exists);
    if (w->exited & bit)
        return at(THREAD_EXITED, NULL, NULL, 0, w->exited);
    if (now && now->warp == w && now->lanes & bit)
        return at(THREAD_READY, now->act, now->op, now->code_block, now->lanes);
    for (struct wait *t = w->waits; t; t = t->next)
        if (t->lanes & bit)
            return at(THREAD_WAITS, t->act, t->op, t->op->next, t->lanes);
    for (struct activation *a = w->acts; a; a = a->next)
        for (uint32_t b = pending_first(a, 0); b != NO_BLOCK; b = pending_first(a, b + 1))
            if (a->pending[b] & bit)
                return at(THREAD_READY, a, &a->code->ops[a->code->blocks[b].first], b, a->pending[b]);
    if (w->act && w->mask & bit && !(now && now->warp == w))
        return at(THREAD_READY, w->act, w->op, w->at_block, w->mask);
    return at(THREAD_ABSENT, NULL, NULL, 0, 0);
}

struct where lane_find(const struct stop *now, struct warp *w, unsigned lane)
{
    struct where p = {0};
    if (lane < WARP_LANES && w->exists >> lane & 1)
        p = find(now, w, 1u << lane);
    p.warp = w;
    p.lane = lane;
    return p;
}

struct where thread_find(const struct launch *l, const struct stop *now, const struct thread_name *t)
{
    struct block *b = l ? block_find(l, t->block) : NULL;
    if (!b || t->warp >= b->n_warps)
        return (struct where){0};
    return lane_find(now, &b->warps[t->warp], t->lane);
}

/* ---- in the texts ---- */

uint32_t ptx_line(const struct site *s)
{
    return s && s->place.source ? place_locate(s->place).line : 0;
}

static uint32_t add_frames(const struct lines *l, struct activation *a, const struct op *o, struct call_frame *to,
                           uint32_t n, struct arena *arena)
{
    const struct source_place *p = place_of_op(l, o);
    const struct ptx_symbol *f = &a->code->ir->func->symbol;
    struct call_frame frame = {.act = a, .op = o, .ptx_line = ptx_line(site_of(l, o))};
    for (uint32_t i = p ? p->n : 1; i-- && n < MOST_FRAMES;) {
        frame.function = i ? p->at[i].function : demangle(f->name, arena);
        frame.file = p ? p->at[i].file : NULL;
        frame.line = p ? p->at[i].line : 0;
        frame.inlined = i;
        to[n++] = frame;
    }
    return n;
}

uint32_t frames_find(const struct lines *l, const struct where *w, struct call_frame to[MOST_FRAMES],
                     struct arena *arena)
{
    uint32_t n = 0;
    const struct op *o = w->op;
    for (struct activation *a = w->act; a && o; o = a->call, a = a->parent)
        n = add_frames(l, a, o, to, n, arena);
    return n;
}

/* ---- lines ---- */

/* How many of the lines of a place are shown: library lines outside of the user's code are
 * hidden. */
static uint32_t calls_shown(const struct source_place *p)
{
    uint32_t n = p->n;
    while (n > 1 && p->at[n - 1].is_library)
        n--;
    return n;
}

/* Of calls of a library's functions that call none of the user's, the innermost that is not:
 * *skipped, how many frames lie before it. */
static void skip_library(const struct lines *l, const struct activation **a, const struct op **o, uint32_t *skipped)
{
    const struct source_place *p;
    *skipped = 0;
    while ((*a)->parent && *o && (p = place_of_op(l, *o)) && p->at[0].is_library && calls_shown(p) == 1) {
        *skipped += p->n;
        *o = (*a)->call;
        *a = (*a)->parent;
    }
}

uint32_t frames_hidden(const struct lines *l, const struct where *w)
{
    const struct activation *a = w->act;
    const struct op *o = w->op;
    uint32_t skipped = 0;
    if (a)
        skip_library(l, &a, &o, &skipped);
    const struct source_place *p = o ? place_of_op(l, o) : NULL;
    return p ? skipped + p->n - calls_shown(p) : skipped;
}

static void add_keys(const struct lines *l, const struct activation *a, const struct op *o, struct line_keys *k)
{
    const struct site *s = o ? site_of(l, o) : NULL;
    const struct source_place *p = o ? place_of_op(l, o) : NULL;
    if (a->parent)
        add_keys(l, a->parent, a->call, k);
    for (uint32_t i = 0; i < (p ? calls_shown(p) : 1) && k->n < MOST_KEYS; i++)
        k->at[k->n++] = p ? (struct line_key){p->at[i].file, NULL, p->at[i].line}
                          : (struct line_key){NULL, a->code, s ? s->place.offset : 0};
}

void keys_find(const struct lines *l, const struct activation *a, const struct op *o, struct line_keys *k)
{
    uint32_t skipped;
    k->n = 0;
    skip_library(l, &a, &o, &skipped);
    add_keys(l, a, o, k);
}

uint32_t keys_before(const struct lines *l, const struct activation *a, const struct op *o, uint32_t frame)
{
    uint32_t keys = 0, skipped;
    skip_library(l, &a, &o, &skipped);
    for (frame -= skipped < frame ? skipped : frame; a && o; o = a->call, a = a->parent) {
        const struct source_place *p = place_of_op(l, o);
        uint32_t all = p ? p->n : 1, shown = p ? calls_shown(p) : 1;
        /* A library's, which the call of what is further in leads back to. */
        if (frame + shown < all)
            return keys - (keys > 0);
        if (frame < all)
            return keys + frame + shown - all;
        frame -= all;
        keys += shown;
    }
    return keys;
}

static bool same_key(const struct line_key *a, const struct line_key *b)
{
    return a->line == b->line && a->code == b->code &&
           (a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0));
}

bool keys_begin_line(const struct line_keys *before, const struct line_keys *now, uint32_t *depth)
{
    uint32_t i = 0;
    while (i < before->n && i < now->n && same_key(&before->at[i], &now->at[i]))
        i++;
    *depth = i < now->n ? i + 1 : now->n;
    return i < now->n;
}

bool line_is_unknown(const struct lines *l, const struct activation *a, const struct op *o)
{
    return l->sites && !l->own[o->site] && l->known[a->code->index];
}
