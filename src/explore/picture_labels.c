/* The texts of a picture; see picture.h. */
#include <inttypes.h>

#include "explore/picture.h"
#include "base/file_name.h"
#include "explore/repair.h"
#include "isa/opcodes.h"

/* ---- events ---- */

static const char *location_text(const struct picture *p, uint16_t location)
{
    const struct location *l = &p->e->locations[location];
    const char *name = p->name(p->data, l);
    if (name)
        return name;
    return l->block == GLOBAL_MEMORY ? arena_printf(p->arena, "[0x%" PRIx64 "]", l->address)
                                     : arena_printf(p->arena, "shared[%" PRIu64 "] of block %u", l->address, l->block);
}

static const char *meeting_text(const struct picture *p, const struct run_event *r)
{
    if (r->kind == RUN_EXCHANGE)
        return "meets its warp";
    if (r->barrier == CLUSTER_BARRIER)
        return r->mode == BAR_CLUSTER_WAIT ? "waits at the cluster's barrier" : "arrives at the cluster's barrier";
    return arena_printf(p->arena, r->mode == BAR_ARRIVE ? "arrives at barrier %u" : "barrier %u", r->barrier);
}

const char *picture_event_text(const struct picture *p, uint16_t event)
{
    const struct run_event *r = &p->e->events[event].run;
    const char *at = r->location == NO_LOCATION ? "" : location_text(p, r->location);
    switch ((enum run_kind)r->kind) {
    case RUN_READ: return arena_printf(p->arena, "R %s = %" PRIu64, at, r->read);
    case RUN_WRITE: return arena_printf(p->arena, "W %s = %" PRIu64, at, r->wrote);
    case RUN_UPDATE: return arena_printf(p->arena, "U %s: %" PRIu64 " -> %" PRIu64, at, r->read, r->wrote);
    case RUN_FENCE: return "fence";
    default: return meeting_text(p, r);
    }
}

static const char *owner(const struct picture *p, uint16_t event)
{
    const struct execution_thread *t = &p->e->thread[p->e->events[event].thread];
    return exploration_thread_text(p->x, t->block, t->number);
}

static const char *noun(const struct picture *p, uint16_t event)
{
    static const char *const nouns[] = {[RUN_READ] = "read",   [RUN_WRITE] = "write",     [RUN_UPDATE] = "update",
                                        [RUN_FENCE] = "fence", [RUN_BARRIER] = "arrival", [RUN_EXCHANGE] = "meeting"};
    const char *name = nouns[p->e->events[event].run.kind];
    return name ? name : "event";
}

/* "the write at mp.cu:12 (PTX 34) of block 0" */
static const char *the(const struct picture *p, uint16_t event)
{
    return arena_printf(p->arena, "the %s at %s of %s", noun(p, event),
                        exploration_place_text(p->arena, p->e->events[event].run.insn), owner(p, event));
}

/* ---- changes ---- */

static void put_change(const struct picture *p, const struct change *c, struct text *t)
{
    const struct cuda_place *cuda = ptx_cuda_place(c->site->module, c->site->loc, p->arena);
    if (cuda)
        text_printf(t, "%s at %s:%u (PTX %u: %s)", change_cuda_text(p->arena, c), file_as_shown(cuda->file, p->arena),
                    cuda->line, program_line(c->site), change_text(p->arena, c));
    else
        text_printf(t, "%s at %s", change_text(p->arena, c), exploration_place_text(p->arena, c->site));
}

static void put_changes(const struct picture *p, const struct changes *c, struct text *t)
{
    for (uint32_t i = 0; i < c->n; i++) {
        text_puts(t, !i ? "" : i + 1 == c->n ? " and " : ", ");
        put_change(p, &c->at[i], t);
    }
}

/* Is the event's instruction one of those that are changed? */
static bool changes_it(const struct changes *c, const struct ir_insn *insn)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (site_same(c->at[i].site, insn))
            return true;
    return false;
}

const char *picture_event_sentence(const struct picture *p, uint16_t event)
{
    const struct ir_insn *insn = p->e->events[event].run.insn;
    struct text t = {.arena = p->arena};
    unsigned n = 0;
    text_printf(&t, "%s, %s: %s. %s", owner(p, event), exploration_place_text(p->arena, insn),
                picture_event_text(p, event), exploration_insn_text(p->arena, insn));
    for (uint32_t i = 0; i < p->why->all.n && n < MAX_REASONS; i++) {
        const struct changes *c = &p->why->all.at[i].changes;
        if (!changes_it(c, insn))
            continue;
        text_puts(&t, n++ ? " Or so would " : " ");
        put_changes(p, c, &t);
        text_puts(&t, n == 1 ? " would have forbidden this execution." : ".");
    }
    return t.p;
}

static void put_remedies(const struct picture *p, const struct why_edge *e, struct text *t)
{
    for (unsigned i = 0; i < e->n_not; i++) {
        text_puts(t, i ? " Or so would " : " ");
        put_changes(p, &e->not[i].changes, t);
        text_printf(t, "%s (%s).", i ? "" : " would have forbidden it", axiom_text(e->not[i].axiom));
    }
    if (!e->n_not && edge_can_break(e) && p->why->at_top == ALLOWED)
        text_puts(t, " " PICTURE_NO_REMEDY);
}

/* ---- edges ---- */

static void put_reads_from(const struct picture *p, const struct why_edge *e, struct text *t)
{
    uint64_t value = p->e->events[e->to].run.read;
    if (e->from == NO_EVENT) {
        text_printf(t,
                    "%s reads %" PRIu64
                    ", the initial value. Allowed: no write to the location precedes the read in causality order.",
                    the(p, e->to), value);
        return;
    }
    text_printf(t, "%s reads %" PRIu64 " from %s.", the(p, e->to), value, the(p, e->from));
    if (p->e->events[e->from].thread == p->e->events[e->to].thread) {
        text_puts(t, " Both are in one thread.");
        return;
    }
    text_puts(t, " Allowed: the read does not precede the write in causality order.");
    text_puts(t, !e->strong ? " The two are not morally strong (8.7), so reading the value orders nothing."
                 : e->synchronizes
                     ? " So a release pattern synchronizes with an acquire pattern."
                     : " Reading the value orders no other accesses: for that, a release pattern must end with the "
                       "write and an acquire pattern begin with the read, in scopes that include each other (8.8).");
}

static void put_from_read(const struct picture *p, const struct why_edge *e, struct text *t)
{
    text_printf(t, "%s does not read what %s writes, but an earlier write in coherence order.", the(p, e->from),
                the(p, e->to));
    if (e->ordered)
        text_puts(t, " It precedes that write in causality order.");
    else
        text_puts(t, " Allowed: that write does not precede the read in causality order.");
}

static void put_coherence(const struct picture *p, const struct why_edge *e, struct text *t)
{
    text_printf(t, "%s comes before %s in coherence order", the(p, e->from), the(p, e->to));
    text_puts(t, e->ordered  ? ", because it precedes it in causality order (8.9.6)."
                 : e->at_end ? ", because its value is the final one."
                 : e->strong ? ". Morally strong writes are ordered one way or the other."
                             : ".");
    if (!e->ordered)
        text_puts(t, " Allowed: the second does not precede the first in causality order.");
}

/* Of the edges that are of one sentence: what comes before, between and after the two events. */
static const struct {
    const char *before, *between, *after;
} edge_sentences[] = {
    [EDGE_PO] = {"", " precedes ", " in program order."},
    [EDGE_SYNC] = {"The release pattern that begins with ", " synchronizes with the acquire pattern that ends with ",
                   " (8.9.4): all that precedes the first precedes all that follows the second."},
    [EDGE_BARRIER] =
        {"", " and ",
         " meet at a barrier: all that precedes an arrival precedes all that follows the barrier (8.9.4)."},
    [EDGE_FENCE] = {"", " precedes ",
                    " in Fence-SC order (8.9.3): morally strong fence.sc are ordered one way or the other."},
    [EDGE_CAUSE] = {"", " precedes ", " in causality order (8.9.5)."},
    [EDGE_RACE] = {"", " and ",
                   " race (8.7.1): one of them writes, they are not morally strong, and causality order does not order "
                   "them."},
};

const char *picture_edge_sentence(const struct picture *p, const struct why_edge *e)
{
    struct text t = {.arena = p->arena};
    switch ((enum edge_kind)e->kind) {
    case EDGE_RF: put_reads_from(p, e, &t); break;
    case EDGE_FR: put_from_read(p, e, &t); break;
    case EDGE_CO: put_coherence(p, e, &t); break;
    case EDGE_PO:
    case EDGE_SYNC:
    case EDGE_BARRIER:
    case EDGE_FENCE:
    case EDGE_CAUSE:
    case EDGE_RACE:
        text_printf(&t, "%s%s%s%s%s", edge_sentences[e->kind].before, the(p, e->from), edge_sentences[e->kind].between,
                    the(p, e->to), edge_sentences[e->kind].after);
        break;
    default: break;
    }
    put_remedies(p, e, &t);
    if (t.p[0] == 't') /* "the read at ..." */
        t.p[0] = 'T';
    return t.p;
}

/* ---- all of it ---- */

const char *picture_title(const struct picture *p)
{
    const struct notice *n = &p->e->notice;
    struct text t = {.arena = p->arena};
    if (n->kind != NOTICE_OUTCOME)
        return notice_text(p->x, n);
    text_puts(&t, p->e->n_observed ? notice_text(p->x, n) : "an execution");
    for (unsigned i = 0; i < p->x->n_claims; i++)
        if (claim_is_broken(&p->x->claims[i], n->values))
            text_printf(&t, ", against --%s '%s'", p->x->claims[i].forbidden ? "forbid" : "require",
                        p->x->claims[i].text);
    return t.p;
}

unsigned picture_remedies(const struct picture *p, const char *texts[MAX_REASONS])
{
    unsigned n = 0;
    for (; n < p->why->all.n && n < MAX_REASONS; n++) {
        struct text t = {.arena = p->arena};
        put_changes(p, &p->why->all.at[n].changes, &t);
        texts[n] = t.p;
    }
    return n;
}
