/* Misused barriers and masks; see check.h. What makes threads wait for ever is not here: exec/stall.c reports it. */
#include "check/findings.h"

static bool is_aligned(const struct op *o)
{
    const struct isa_inst *i = o->origin->origin->inst;
    return i->op == OP_bar || isa_has(i, MOD_aligned);
}

static void divergent(struct checker *c, const struct warp *w, const struct wait *a, const struct wait *b)
{
    bool fresh;
    struct finding *f = finding_add(c, "divergent-barrier", a->op, b->op, &fresh);
    const uint32_t *at = w->block->ctaid;
    f->severity = DIAG_ERROR;
    if (!fresh)
        return;
    f->text = arena_printf(&c->arena,
                           "%s of warp %u of block (%u,%u,%u) reach %s here, %s %s: all threads of the "
                           "warp must execute one instruction",
                           lanes_name(c, a->lanes), w->index, at[0], at[1], at[2], barrier_name(a->barrier),
                           lanes_name(c, b->lanes), place_name(&c->arena, b->op));
    f->help = "move the barrier out of the branch, or use barrier.sync without .aligned";
}

/* 9.7.13.1: .aligned says that all threads of the warp execute the same barrier instruction. Looked at when the barrier
 * opens, so that it does not depend on who came first; lanes that have exited by then do not count. */
static void check_alignment(struct checker *c, const struct block *b, uint32_t id)
{
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct wait *first = NULL;
        for (const struct wait *t = b->warps[i].waits; t; t = t->next) {
            if (t->op->kind != OP_BAR || t->barrier != id || !is_aligned(t->op))
                continue;
            if (first && first->op != t->op)
                divergent(c, &b->warps[i], t, first);
            first = first ? first : t;
        }
    }
}

/* Threads that meet at a barrier must give it the same count. */
static void check_count(struct checker *c, const struct sync_event *e)
{
    bool fresh;
    for (uint32_t i = 0; i < c->n_barriers; i++) {
        struct barrier_use *u = &c->barriers[i];
        if (u->block != e->block || u->id != e->id)
            continue;
        if (u->threads == e->threads)
            return;
        struct finding *f = finding_add(c, "barrier-count", e->op, u->op, &fresh);
        f->severity = DIAG_ERROR;
        if (fresh)
            f->text = arena_printf(&c->arena, "barrier %u is given %u threads here and %u %s (0: all of the block)",
                                   e->id, e->threads, u->threads, place_name(&c->arena, u->op));
        return;
    }
    if (c->n_barriers < MAX_BARRIERS)
        c->barriers[c->n_barriers++] = (struct barrier_use){e->block, e->id, e->threads, e->op};
}

static void barrier_opened(struct checker *c, const struct sync_event *e)
{
    for (uint32_t i = 0; i < c->n_barriers; i++)
        if (c->barriers[i].block == e->block && c->barriers[i].id == e->id)
            c->barriers[i--] = c->barriers[--c->n_barriers];
}

static struct finding *mask_finding(struct checker *c, const struct sync_event *e, const char *code, bool *fresh)
{
    struct finding *f = finding_add(c, code, e->op, NULL, fresh);
    f->severity = DIAG_ERROR;
    return f;
}

/* 9.7.9.6, 9.7.13: a lane that executes a .sync instruction stands in its own mask; shfl reads from lanes that take
 * part. */
static void check_mask(struct checker *c, const struct sync_event *e)
{
    bool fresh;
    uint32_t strangers = e->lanes & ~e->membermask, readers = 0;
    const uint32_t *at = e->block->ctaid;
    if (e->op->flags & OPF_NO_MASK)
        return;
    if (strangers) {
        struct finding *f = mask_finding(c, e, "mask", &fresh);
        if (fresh)
            f->text = arena_printf(&c->arena,
                                   "%s of warp %u of block (%u,%u,%u) use mask 0x%08x, which does not name "
                                   "them",
                                   lanes_name(c, strangers), e->warp->index, at[0], at[1], at[2], e->membermask);
    }
    for (uint32_t m = e->source_lane ? e->lanes : 0; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        readers |= e->lanes >> e->source_lane[l] & 1 ? 0 : 1u << l;
    }
    if (readers) {
        struct finding *f = mask_finding(c, e, "shfl-source", &fresh);
        unsigned l = (unsigned)__builtin_ctz(readers);
        if (fresh)
            f->text = arena_printf(&c->arena,
                                   "%s of warp %u of block (%u,%u,%u) read from lanes that take no part (lane "
                                   "%u from lane %u): the values are undefined",
                                   lanes_name(c, readers), e->warp->index, at[0], at[1], at[2], l, e->source_lane[l]);
    }
}

void check_sync(void *data, const struct sync_event *e)
{
    struct checker *c = data;
    switch (e->kind) {
    case SYNC_BARRIER_ARRIVE: check_count(c, e); break;
    case SYNC_BARRIER_OPEN:
        check_alignment(c, e->block, e->id);
        barrier_opened(c, e);
        break;
    case SYNC_COLLECTIVE: check_mask(c, e); break;
    default: break;
    }
}
