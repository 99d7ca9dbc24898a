/* See snapshot.h. */
#include "exec/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "exec/histogram.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/pool.h"
#include "exec/schedule.h"
#include "exec/worker.h"

/* ---- what the worker holds ---- */

/* Bytes of it at a time. */
struct copy {
    uint32_t refs; /* snapshots that have it */
    size_t bytes;
    uint8_t at[];
};

struct held {
    uint8_t *at; /* NULL: an empty place of the table */
    size_t bytes;
    struct copy *last; /* that of the latest snapshot; or NULL */
    uint32_t pins;     /* snapshots that it is in */
    bool in_use, window, marked;
};

struct ledger {
    struct held *at; /* a hash table, by address */
    size_t n, room;
};

static size_t place_of(const struct ledger *g, const void *p)
{
    size_t i = (size_t)((uintptr_t)p / 64 * 0x9E3779B97F4A7C15u >> 20) & (g->room - 1);
    while (g->at[i].at && g->at[i].at != p)
        i = (i + 1) & (g->room - 1);
    return i;
}

static bool grow(struct ledger *g)
{
    struct ledger bigger = {.n = g->n, .room = g->room ? 2 * g->room : 256};
    bigger.at = calloc(bigger.room, sizeof *bigger.at);
    if (!bigger.at)
        return false;
    for (size_t i = 0; i < g->room; i++)
        if (g->at[i].at)
            bigger.at[place_of(&bigger, g->at[i].at)] = g->at[i];
    free(g->at);
    *g = bigger;
    return true;
}

/* What stands behind it in the table moves up, as far as it may. */
static void forget(struct ledger *g, struct held *h)
{
    size_t hole = (size_t)(h - g->at);
    g->at[hole] = (struct held){0};
    g->n--;
    for (size_t i = (hole + 1) & (g->room - 1); g->at[i].at; i = (i + 1) & (g->room - 1)) {
        struct held moved = g->at[i];
        g->at[i].at = NULL;
        g->at[place_of(g, moved.at)] = moved;
    }
}

bool ledger_take(struct ledger *g, void *p, size_t bytes, bool window)
{
    if (2 * (g->n + 1) > g->room && !grow(g))
        return false;
    struct held *h = &g->at[place_of(g, p)];
    *h = (struct held){.at = p, .bytes = bytes, .in_use = true, .window = window};
    g->n++;
    return true;
}

bool ledger_give(struct ledger *g, void *p)
{
    struct held *h = &g->at[place_of(g, p)];
    h->in_use = false;
    if (h->pins)
        return true;
    forget(g, h);
    return false;
}

bool snapshots_begin(struct worker *k)
{
    k->ledger = calloc(1, sizeof *k->ledger);
    if (k->ledger && grow(k->ledger))
        return true;
    free(k->ledger);
    k->ledger = NULL;
    return false;
}

void snapshots_end(struct worker *k)
{
    if (k->ledger)
        free(k->ledger->at);
    free(k->ledger);
    k->ledger = NULL;
}

/* ---- counters ---- */

/* SAVED(what, member): of `l` the launch, `k` its worker, `s` its schedule, `m` the machine. */
#define EACH_COUNTER(SAVED)                                                                                            \
    SAVED(l, next_block)                                                                                               \
    SAVED(l, done_blocks)                                                                                              \
    SAVED(l, steps)                                                                                                    \
    SAVED(l, resident)                                                                                                 \
    SAVED(l, failed)                                                                                                   \
    SAVED(l, used_tail)                                                                                                \
    SAVED(l, watching)                                                                                                 \
    SAVED(l, changed)                                                                                                  \
    SAVED(l, read_global)                                                                                              \
    SAVED(l, noted)                                                                                                    \
    SAVED(l, fault)                                                                                                    \
    SAVED(l, report)                                                                                                   \
    SAVED(l, printed)                                                                                                  \
    SAVED(k, resident)                                                                                                 \
    SAVED(k, n_resident)                                                                                               \
    SAVED(k, kept)                                                                                                     \
    SAVED(k, claim)                                                                                                    \
    SAVED(k, claim_end)                                                                                                \
    SAVED(k, batch)                                                                                                    \
    SAVED(k, done_blocks)                                                                                              \
    SAVED(k, has_place)                                                                                                \
    SAVED(k, warp_instructions)                                                                                        \
    SAVED(k, lane_instructions)                                                                                        \
    SAVED(k, look_at)                                                                                                  \
    SAVED(k, counted_steps)                                                                                            \
    SAVED(k, part)                                                                                                     \
    SAVED(k, begun_at)                                                                                                 \
    SAVED(k, idle_since)                                                                                               \
    SAVED(k, looks)                                                                                                    \
    SAVED(k, wrote)                                                                                                    \
    SAVED(s, state)                                                                                                    \
    SAVED(s, choices)                                                                                                  \
    SAVED(s, diverged)                                                                                                 \
    SAVED(m, heap_used)

typedef struct launch l_type;
typedef struct worker k_type;
typedef struct schedule s_type;
typedef struct machine m_type;

struct saved {
    void *of;
    struct copy *copy;
};

struct snapshot {
    struct turns turns;
    off_t replayed;               /* where the schedule's recording stands */
    uint64_t bytes, copied, held; /* copied: of these, in copies */
    size_t n;
    struct saved *items;
#define SAVED(what, member) __typeof__(((what##_type *)NULL)->member) what##_##member;
    EACH_COUNTER(SAVED)
#undef SAVED
};

/* ---- taking ---- */

static size_t let_go(struct copy *c)
{
    size_t bytes = c->bytes;
    if (--c->refs)
        return 0;
    free(c);
    return bytes;
}

/* The same bytes as before are there once. */
static struct copy *copy_of(struct held *h, uint64_t *bytes)
{
    struct copy *c = h->last;
    if (c && memcmp(c->at, h->at, h->bytes) == 0) {
        c->refs++;
        return c;
    }
    c = malloc(sizeof *c + h->bytes);
    if (!c)
        return NULL;
    *c = (struct copy){.refs = 1, .bytes = h->bytes};
    memcpy(c->at, h->at, h->bytes);
    *bytes += h->bytes;
    return h->last = c;
}

static bool copy_all(struct snapshot *to, struct ledger *g)
{
    to->items = malloc((g->n + 1) * sizeof *to->items);
    for (size_t i = 0; to->items && i < g->room; i++) {
        struct held *h = &g->at[i];
        struct copy *c = h->at && h->in_use ? copy_of(h, &to->copied) : NULL;
        if (h->at && h->in_use && !c)
            return false;
        if (c) {
            h->pins++;
            to->held += h->bytes;
            to->items[to->n++] = (struct saved){h->at, c};
        }
    }
    return to->items;
}

struct snapshot *snapshot_take(struct worker *k, const struct turns *t)
{
    struct snapshot *to = calloc(1, sizeof *to);
    struct launch *l = k->launch;
    struct schedule *s = l->schedule;
    struct machine *m = k->machine;
    if (!to)
        return NULL;
    histogram_settle(k);
    if (!copy_all(to, k->ledger)) {
        snapshot_drop(to, k);
        return NULL;
    }
    to->bytes = to->copied + sizeof *to + to->n * sizeof *to->items;
    to->turns = *t;
    to->replayed = s->replay ? ftello(s->replay) : 0;
#define SAVED(what, member) to->what##_##member = what->member;
    EACH_COUNTER(SAVED)
#undef SAVED
    return to;
}

uint64_t snapshot_bytes(const struct snapshot *s, uint64_t *held)
{
    *held = s->held;
    return s->bytes;
}

/* ---- putting back ---- */

/* To the pool; false where a snapshot needs it. */
static bool give_back(struct worker *k, struct held *h)
{
    struct held of = *h;
    if (of.pins)
        return false;
    if (of.window)
        pool_give_window(k, of.at, of.bytes);
    else
        pool_give(k, of.at, of.bytes);
    return true;
}

void snapshot_restore(const struct snapshot *from, struct worker *k, struct turns *t)
{
    struct launch *l = k->launch;
    struct schedule *s = l->schedule;
    struct machine *m = k->machine;
    struct ledger *g = k->ledger;
    histogram_settle(k);
    for (size_t i = 0; i < from->n; i++) {
        struct held *h = &g->at[place_of(g, from->items[i].of)];
        h->in_use = h->marked = true;
        memcpy(h->at, from->items[i].copy->at, h->bytes);
    }
    for (size_t i = 0; i < g->room; i++) {
        struct held *h = &g->at[i];
        if (h->at && h->in_use && !h->marked) {
            h->in_use = false;
            i -= give_back(k, h); /* another one may stand in its place now */
        }
    }
    for (size_t i = 0; i < g->room; i++)
        g->at[i].marked = false;
    arena_free(&l->report_arena); /* what has been found since */
#define SAVED(what, member) what->member = from->what##_##member;
    EACH_COUNTER(SAVED)
#undef SAVED
    if (s->replay)
        fseeko(s->replay, from->replayed, SEEK_SET);
    *t = from->turns;
}

uint64_t snapshot_drop(struct snapshot *s, struct worker *k)
{
    struct ledger *g = k->ledger;
    uint64_t bytes = s->bytes - s->copied;
    for (size_t i = 0; i < s->n; i++) {
        struct held *h = &g->at[place_of(g, s->items[i].of)];
        if (h->last == s->items[i].copy)
            h->last = NULL;
        bytes += let_go(s->items[i].copy);
        h->pins--;
        if (!h->pins && !h->in_use)
            give_back(k, h);
    }
    free(s->items);
    free(s);
    return bytes;
}
