/* Decides whether a launch without progress can ever continue, and reports where it stands.
 *
 * Lanes that wait at barriers or for other lanes, when no lane is left to arrive, are a deadlock
 * at once. Lanes that spin are examined after a while. All workers park, and one of them lets
 * every warp that can run spin for some turns. If each warp returns to the state it was in, and
 * memory has not changed meanwhile, the launch will spin for ever, unless somebody outside (the
 * host, a copy, another launch) changes what it reads. That is possible only for global memory,
 * and not if the caller has excluded it (LAUNCH_CLOSED). What cannot be decided continues to run;
 * after five seconds a note says where it spins.
 */
#include "exec/access.h"
#include "exec/async.h"
#include "exec/barrier.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/stall.h"
#include "exec/stops.h"
#include "exec/worker.h"

#include <stdio.h>

#include "base/demangle.h"
#include "base/monotonic.h"

enum { MAX_GROUPS = 12, TURNS = 64 };
static const double first_look_seconds = 0.05, note_seconds = 5;

/* ---- in words ---- */

/* "waits", "wait" */
static const char *verb(uint32_t set, const char *singular, const char *plural)
{
    return set & (set - 1) ? plural : singular;
}

static struct place place_of(const struct op *o, struct arena *arena)
{
    return fault_place(o ? o->origin : NULL, arena);
}

static bool may_be_waited_for(const struct op *o)
{
    return o->kind == OP_LD || o->kind == OP_ATOM || o->kind == OP_COLLECTIVE || o->kind == OP_MBARRIER;
}

/* Where a warp spins: the first access, vote or test of the block of code that it stands at, or
 * what has ended the one before. */
static const struct op *spin_op(const struct warp *w)
{
    const struct code *c = w->act->code;
    const struct op *first = &c->ops[c->blocks[w->at_block].first];
    for (uint32_t i = 0; i < c->blocks[w->at_block].n; i++)
        if (may_be_waited_for(&first[i]))
            return &first[i];
    if (w->at_block && may_be_waited_for(first - 1) && first[-1].next == w->at_block)
        return first - 1;
    return w->op;
}

static const char *instruction(const struct op *o, struct arena *arena)
{
    const struct ptx_insn *i = o && o->origin ? o->origin->origin : NULL;
    return i && i->inst ? arena_printf(arena, "`%.*s`", STR_ARG(i->inst->text)) : "the end of the kernel";
}

static const char *block_name(const struct block *b, struct arena *arena)
{
    return arena_printf(arena, "block (%u,%u,%u)", b->ctaid[0], b->ctaid[1], b->ctaid[2]);
}

/* The first warp of the cluster of which lanes have not arrived. */
static const char *cluster_lacks(const struct block *b, struct arena *arena)
{
    const struct block *at = b;
    do {
        for (const struct warp *w = at->warps; w < at->warps + at->n_warps; w++) {
            uint32_t missing = cluster_missing(w);
            const char *of_block = at == b ? "" : arena_printf(arena, " of %s", block_name(at, arena));
            if (missing)
                return arena_printf(arena, "%s of warp %u%s %s not arrived", fault_members("lane", missing, arena),
                                    w->index, of_block, verb(missing, "has", "have"));
        }
        at = at->peer;
    } while (at != b);
    return "all have arrived";
}

/* What a barrier lacks: warps, or lanes of a warp. */
static const char *barrier_lacks(const struct warp *w, uint32_t id, struct arena *arena)
{
    const struct block *b = w->block;
    if (id == CLUSTER_BARRIER)
        return cluster_lacks(b, arena);
    const struct barrier *bar = &b->barriers[id];
    uint32_t missing = w->exists & ~w->exited & ~w->at_barrier[id] & ~w->arrived_at[id],
             absent = b->live & ~bar->waiting;
    if (missing)
        return arena_printf(arena, "%s of this warp %s not there", fault_members("lane", missing, arena),
                            verb(missing, "is", "are"));
    if (bar->expected)
        return arena_printf(arena, "%u of %u threads are there", bar->arrived, bar->expected);
    return arena_printf(arena, "%s %s not there", fault_members("warp", absent, arena), verb(absent, "is", "are"));
}

static const char *mask_lacks(const struct warp *w, const struct wait *t, struct arena *arena)
{
    uint32_t here = 0;
    for (const struct wait *u = w->waits; u; u = u->next)
        if (u->op->kind == OP_COLLECTIVE && u->op->mode == t->op->mode && u->membermask == t->membermask)
            here |= u->lanes;
    uint32_t missing = t->membermask & w->exists & ~w->exited & ~here;
    return arena_printf(arena, "%s of mask 0x%08x %s not come", fault_members("lane", missing, arena), t->membermask,
                        verb(missing, "has", "have"));
}

static void note_wait(struct diags *d, const struct warp *w, const struct wait *t)
{
    bool barrier = t->op->kind == OP_BAR;
    const char *lacks = barrier ? barrier_lacks(w, t->barrier, d->arena) : mask_lacks(w, t, d->arena);
    const char *what = barrier ? barrier_name(t->barrier) : "the others of the mask";
    diag_note(d, place_of(t->op, d->arena), "waits", "%s, warp %u: %s %s for %s in %s; %s",
              block_name(w->block, d->arena), w->index, fault_members("lane", t->lanes, d->arena),
              verb(t->lanes, "waits", "wait"), what, instruction(t->op, d->arena), lacks);
}

/* What the mbarrier that lanes test has not had yet. */
static const char *mbarrier_lacks(const struct warp *w, const struct op *o, uint32_t lanes, struct arena *arena)
{
    uint64_t address[WARP_LANES] __attribute__((aligned(64)));
    uint8_t *base[4];
    struct location at;
    struct warp *tests = (struct warp *)w;
    warp_bases(w, w->act, base);
    access_addresses(tests, w->act, base, o, lanes, address);
    if (access_locate_op(tests, o, address[__builtin_ctz(lanes)], &at))
        return "";
    struct mbarrier_state s = mbarrier_state(at.owner, at.address);
    const char *of_block = at.owner == w->block ? "" : arena_printf(arena, " of %s", block_name(at.owner, arena));
    const char *bytes = !s.transactions ? ""
                        : s.transactions > 0
                            ? arena_printf(arena, " and %d bytes of transactions", s.transactions)
                            : arena_printf(arena, ", and %d bytes more than expected have arrived", -s.transactions);
    return arena_printf(
        arena, "; the mbarrier at shared address 0x%llx%s is in a phase of parity %d, which still needs %u arrival%s%s",
        (unsigned long long)at.address, of_block, s.parity, s.pending, s.pending == 1 ? "" : "s", bytes);
}

static void note_spin(struct diags *d, const struct warp *w)
{
    if (warp_is_fresh(w)) {
        diag_note(d, (struct place){0}, "waits", "%s, warp %u has not run yet", block_name(w->block, d->arena),
                  w->index);
        return;
    }
    uint32_t spinning = w->exists & ~w->exited;
    for (const struct wait *t = w->waits; t; t = t->next)
        spinning &= ~t->lanes;
    const struct op *o = w->act ? spin_op(w) : NULL;
    diag_note(d, place_of(o, d->arena), "spins", "%s, warp %u: %s %s at %s%s", block_name(w->block, d->arena), w->index,
              fault_members("lane", spinning, d->arena), verb(spinning, "spins", "spin"), instruction(o, d->arena),
              o && o->kind == OP_MBARRIER ? mbarrier_lacks(w, o, w->mask ? w->mask : spinning, d->arena) : "");
}

/* A note for each group of lanes that waits or spins, up to a limit. */
static void note_block(struct diags *d, const struct block *b, uint32_t *groups)
{
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct warp *w = &b->warps[i];
        for (const struct wait *t = w->waits; t; t = t->next)
            if ((*groups)++ < MAX_GROUPS)
                note_wait(d, w, t);
        if ((w->state == WARP_RUNNABLE || warp_is_fresh(w)) && (*groups)++ < MAX_GROUPS)
            note_spin(d, w);
    }
}

static const struct op *first_op(const struct block *b)
{
    for (uint32_t i = 0; i < b->n_warps; i++) {
        if (b->warps[i].waits)
            return b->warps[i].waits->op;
        if (b->warps[i].act)
            return spin_op(&b->warps[i]);
    }
    return NULL;
}

/* The launch's report, made by whoever finds the stall; the launching thread passes it on. */
static void make_report(struct launch *l, const struct block *only, const char *what)
{
    jmp_buf oom;
    struct diags *d = &l->report;
    l->report_arena.on_oom = &oom;
    d->arena = &l->report_arena;
    if (setjmp(oom) == 0) {
        uint32_t groups = 0;
        const struct block *b = only;
        for (struct worker *k = l->workers; k && !b; k = k->next)
            b = k->resident;
        const struct op *o = b ? first_op(b) : NULL;
        const char *help = o && o->kind == OP_MBARRIER
                               ? "a phase ends after the number of arrivals that mbarrier.init has set and the bytes "
                                 "that expect_tx has counted: let more threads arrive, copy more bytes, or expect fewer"
                               : NULL;
        diag_error(d, place_of(o, d->arena), "deadlock", help, "kernel `%s` can never finish: %s",
                   demangle(l->kernel->func->symbol.name, d->arena), what);
        for (b = only; b; b = b->peer == only ? NULL : b->peer)
            note_block(d, b, &groups);
        if (!only)
            for (struct worker *k = l->workers; k; k = k->next)
                for (b = k->resident; b; b = b->next)
                    note_block(d, b, &groups);
        if (groups > MAX_GROUPS)
            diag_note(d, (struct place){0}, "waits", "and %u more groups of lanes", groups - MAX_GROUPS);
    }
    l->report_arena.on_oom = NULL;
}

void stall_report_deadlock(struct block *b)
{
    struct launch *l = b->launch;
    pthread_mutex_lock(&l->lock);
    if (!l->fault.kind) {
        l->fault.kind = FAULT_deadlock;
        make_report(l, b,
                    b->peer == b ? "all threads of a block wait for each other"
                                 : "all threads of a cluster wait for each other");
        atomic_store(&l->failed, true);
        stops_tell_fault(l, &b->warps[0], NULL, 0);
    }
    pthread_mutex_unlock(&l->lock);
}

/* ---- looking ---- */

enum verdict { ALIVE, UNDECIDED, STUCK };

/* Lets a spinning warp go on: does it come back to where it is, with memory as it was? */
static bool repeats(struct warp *w)
{
    struct launch *l = w->block->launch;
    uint64_t before = warp_hash(w);
    for (int i = 0; i < TURNS; i++) {
        w->access_quantum = INT32_MAX;
        block_run_warp(w);
        if (w->state != WARP_RUNNABLE || l->changed || atomic_load(&l->failed))
            return false;
        if (warp_hash(w) == before)
            return true;
        if (i == 0) /* it may have been stopped where no turn ends by itself */
            before = warp_hash(w);
    }
    return false;
}

static bool block_repeats(struct block *b)
{
    for (uint32_t i = 0; i < b->n_warps; i++) {
        struct warp *w = &b->warps[i];
        if (warp_is_fresh(w))
            return false;
        if (w->state == WARP_RUNNABLE && !repeats(w))
            return false;
    }
    return true;
}

/* Can anybody but this launch change memory? */
static bool is_closed(struct launch *l)
{
    return (l->request->flags & LAUNCH_CLOSED) && l->machine->launches == l && !l->next;
}

static enum verdict probe(struct launch *l)
{
    l->changed = l->read_global = false;
    atomic_store(&l->watching, true);
    bool all = true;
    for (struct worker *k = l->workers; k && all; k = k->next) {
        all = k->claim >= k->claim_end || atomic_load(&l->resident) >= l->max_resident;
        for (struct block *b = k->resident; b && all; b = b->next)
            all = block_repeats(b);
    }
    atomic_store(&l->watching, false);
    if (!all || l->changed)
        return ALIVE;
    return l->read_global && !is_closed(l) ? UNDECIDED : STUCK;
}

static void write_note(struct launch *l)
{
    struct machine *m = l->machine;
    if (l->noted || !m->config.note)
        return;
    l->noted = true;
    for (struct worker *k = l->workers; k; k = k->next)
        for (struct block *b = k->resident; b; b = b->next)
            for (uint32_t i = 0; i < b->n_warps; i++) {
                struct warp *w = &b->warps[i];
                const struct op *o = w->act ? spin_op(w) : w->waits ? w->waits->op : NULL;
                if (!o)
                    continue;
                struct arena scratch = {0};
                char text[512];
                snprintf(text, sizeof text,
                         "kernel `%s` has been waiting for %.0f seconds: warp %u of block (%u,%u,%u) spins at %s",
                         demangle(l->kernel->func->symbol.name, &scratch), note_seconds, w->index, b->ctaid[0],
                         b->ctaid[1], b->ctaid[2], fault_line(o->origin, &scratch));
                m->config.note(m->config.print_data, text);
                arena_free(&scratch);
                return;
            }
}

static bool others_parked(const struct worker *k, const struct launch *l)
{
    for (const struct worker *o = l->workers; o; o = o->next)
        if (o != k && !o->parked)
            return false;
    return true;
}

static void park(struct worker *k, struct launch *l)
{
    k->parked = true;
    pthread_cond_broadcast(&l->parking);
}

static void unpark(struct worker *k, struct launch *l)
{
    while (stall_parks(l))
        pthread_cond_wait(&l->parking, &l->lock);
    k->parked = false;
}

void stall_park(struct worker *k, struct launch *l)
{
    pthread_mutex_lock(&l->lock);
    park(k, l);
    unpark(k, l);
    pthread_mutex_unlock(&l->lock);
}

void stall_leave(struct worker *k, struct launch *l)
{
    pthread_mutex_lock(&l->lock);
    park(k, l);
    pthread_mutex_unlock(&l->lock);
}

void stall_return(struct worker *k, struct launch *l)
{
    pthread_mutex_lock(&l->lock);
    unpark(k, l);
    pthread_mutex_unlock(&l->lock);
}

void stall_look(struct worker *k, struct launch *l, double since)
{
    double waited = since ? seconds_now() - since : 0;
    uint32_t nobody = 0;
    if (since && waited < first_look_seconds * (1 << (k->looks < 6 ? k->looks : 6)))
        return;
    if (!atomic_compare_exchange_strong(&l->prober, &nobody, 1))
        return;
    k->looks++;
    pthread_mutex_lock(&l->lock);
    while (!others_parked(k, l))
        pthread_cond_wait(&l->parking, &l->lock);
    /* The lock is not needed while the others are parked, and faults take it. */
    pthread_mutex_unlock(&l->lock);
    enum verdict v = atomic_load(&l->failed) ? ALIVE : probe(l);
    pthread_mutex_lock(&l->lock);
    if (v == STUCK && !l->fault.kind) {
        l->fault.kind = FAULT_deadlock;
        make_report(l, NULL, "threads spin on a value that no thread will change");
        atomic_store(&l->failed, true);
        if (k->resident)
            stops_tell_fault(l, &k->resident->warps[0], NULL, 0);
    } else if (v == UNDECIDED && waited >= note_seconds) {
        write_note(l);
    }
    atomic_store(&l->prober, 0);
    pthread_cond_broadcast(&l->parking);
    pthread_mutex_unlock(&l->lock);
}
