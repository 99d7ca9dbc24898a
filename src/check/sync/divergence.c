/* Finds lanes that skip an aligned barrier at which other lanes of their warp wait; see sync.h.
 *
 * Either all threads of a warp execute an aligned barrier, or none does (9.7.13.1). A GPU, and
 * Heddle, let the lanes that skip it continue, and count the warp when all of its lanes that have
 * not exited have arrived. So nothing hangs if the others exit.
 *
 * A thread that skips the barrier runs code behind it, from which no path leads back. That
 * distinguishes it from a thread that leaves the kernel earlier. Code that does nothing but exit
 * does not count.
 */
#include "check/checker.h"

#include <stdlib.h>

#include "exec/barrier.h"
#include "exec/code.h"

/* Which blocks of the function are behind an operation that ends a block: a barrier, or a call that
 * leads to one. */
struct bypassed {
    struct bypassed *next;
    const struct site *site;
    uint64_t behind[]; /* a bit a block, in order */
};

/* Does a lane that enters the block nothing more than exit? */
static bool is_exit(const struct code *c, uint32_t o)
{
    enum { MOST_BRANCHES = 8 };
    const struct op *first = &c->ops[c->blocks[o].first];
    for (int i = 0; i < MOST_BRANCHES && first->kind == OP_BRA && !(first->flags & OPF_GUARD); i++)
        first = &c->ops[c->blocks[first->target].first];
    return first->kind == OP_EXIT || first->kind == OP_RET;
}

static uint32_t block_of(const struct code *c, const struct op *op)
{
    uint32_t at = (uint32_t)(op - c->ops), o = 0;
    while (o + 1 < c->n_blocks && !(at - c->blocks[o].first < c->blocks[o].n))
        o++;
    return o;
}

/* What can be reached from `to`, that one included, is set in `set`; `ahead` false: what leads
 * there. Loops are contiguous in the order, so that few passes do. */
static void reach(const struct ir_func *f, bool *set, bool ahead)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < f->n_ordered; i++) {
            uint32_t o = ahead ? i : f->n_ordered - 1 - i;
            for (uint32_t k = ir_count_from(f, o); k-- > 0;) {
                uint32_t s = ir_order_from(f, o, k), from = ahead ? o : s, to = ahead ? s : o;
                if (set[from] && !set[to])
                    set[to] = more = true;
            }
        }
    }
}

static struct bypassed *find_behind(struct findings *findings, const struct code *c, const struct site *site)
{
    const struct op *op = &c->ops[site->number - c->first_site];
    const struct ir_func *f = c->ir;
    struct bypassed *p = arena_alloc(&findings->arena, sizeof *p + (c->n_blocks / 64 + 1) * sizeof p->behind[0]);
    bool *behind = calloc(2 * (size_t)c->n_blocks, sizeof *behind);
    if (p && behind) {
        bool *before = behind + c->n_blocks;
        p->site = site;
        behind[op->next] = true;
        before[block_of(c, op)] = true;
        reach(f, behind, true);
        reach(f, before, false);
        for (uint32_t o = 0; o < f->n_ordered; o++)
            if (behind[o] && !before[o] && !is_exit(c, o))
                p->behind[o / 64] |= 1ull << o % 64;
    }
    free(behind);
    return p;
}

static const struct bypassed *find(const struct checker *c, const struct site *site)
{
    const struct bypassed *p = atomic_load_explicit(&c->sync.bypassed, memory_order_acquire);
    while (p && p->site != site)
        p = p->next;
    return p;
}

static const struct bypassed *bypassed_of(struct checker *c, const struct code *code, const struct site *site)
{
    const struct bypassed *known = find(c, site);
    if (known || code->ops[site->number - code->first_site].next >= code->n_blocks)
        return known;
    pthread_mutex_lock(&c->findings.lock);
    known = find(c, site);
    struct bypassed *made = known ? NULL : find_behind(&c->findings, code, site);
    if (made) {
        made->next = c->sync.bypassed;
        atomic_store_explicit(&c->sync.bypassed, made, memory_order_release);
        if (c->listener)
            c->listener->behind(c->listener->data, site, made->behind, code->n_blocks / 64 + 1);
    }
    pthread_mutex_unlock(&c->findings.lock);
    return known ? known : made;
}

static bool is_behind(struct checker *c, const struct site_table *k, const struct site *site, uint32_t block)
{
    if (!k->code)
        return c->world.behind(c->world.data, site, block);
    const struct bypassed *p = bypassed_of(c, k->code->functions.at[site->function], site);
    return p && p->behind[block / 64] >> block % 64 & 1;
}

/* ---- the lanes that do so, of a block's warps ---- */

/* Of a warp some of whose lanes wait at a barrier, and where: those that have come behind it
 * meanwhile. */
struct bypass {
    const struct site *site; /* or NULL */
    uint32_t waiting, barrier, lanes;
    bool reported;
};

static unsigned slot; /* of a block's, by warp */

void divergence_open(void)
{
    event_slot_take(&slot);
}

static struct bypass *bypass_of(struct event_block *b, uint32_t warp, bool make)
{
    if (!event_kept(b, slot) && make)
        event_keep(b, slot, calloc(b->n_warps, sizeof(struct bypass)));
    struct bypass *all = event_kept(b, slot);
    return all ? &all[warp] : NULL;
}

void divergence_barrier_opens(const struct event_block *b)
{
    struct bypass *all = event_kept(b, slot);
    if (all)
        memset(all, 0, b->n_warps * sizeof *all);
}

void divergence_block_ends(struct event_block *b)
{
    free(event_kept(b, slot));
    event_keep(b, slot, NULL);
}

static bool is_of(const struct bypass *by, const struct event_wait *t)
{
    return by->site == t->site && by->waiting == t->lanes;
}

void divergence_enter(struct checker *c, const struct enter_event *e)
{
    for (const struct event_wait *t = e->waits; t < e->waits + e->n_waits; t++) {
        const struct site *left = t->site->aligned ? t->left : NULL;
        if (!left || !is_behind(c, e->block->launch->kernel, left, e->code_block))
            continue;
        struct bypass *by = bypass_of(e->block, e->warp, true);
        if (by && !is_of(by, t))
            *by = (struct bypass){.site = t->site, .waiting = t->lanes, .barrier = t->barrier};
        if (by)
            by->lanes |= e->lanes;
    }
}

static void report(struct checker *c, const struct sync_event *e, const struct bypass *by)
{
    struct arena *arena = &c->findings.arena;
    struct finding *f = findings_count(&c->findings, &(struct occurrence){.code = "divergent-barrier",
                                                                          .site = by->site,
                                                                          .key = "passed",
                                                                          .block = e->block,
                                                                          .warp = e->warp,
                                                                          .lanes = lowest_lane(by->waiting),
                                                                          .kind = "passed"});
    if (f)
        findings_describe(&c->findings, f,
                          "move the barrier out of the condition, so that all threads reach it; threads without work "
                          "may exit before it",
                          "%s is executed only by %s of warp %u of %s; %s skipped it and exited: all threads of the "
                          "warp must execute an aligned barrier",
                          barrier_name(by->barrier), fault_members("lane", by->waiting, arena), e->warp,
                          block_name(arena, e->block), fault_members("lane", by->lanes, arena));
}

void divergence_exit(struct checker *c, const struct sync_event *e)
{
    struct bypass *by = bypass_of(e->block, e->warp, false);
    if (!by || by->reported || !(by->lanes & e->lanes))
        return;
    for (const struct event_wait *t = e->waits; t < e->waits + e->n_waits; t++)
        if (is_of(by, t)) {
            by->reported = true;
            report(c, e, by);
        }
}

static bool is_aligned(const struct site *s)
{
    return s->aligned;
}

bool divergence_concerns(const struct site_table *k)
{
    return sites_any(k, is_aligned);
}
