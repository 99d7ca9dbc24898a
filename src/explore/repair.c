/* See repair.h. */
#include "explore/repair.h"

#include <stdlib.h>
#include <string.h>

#include "explore/forbid.h"
#include "explore/memory.h"

enum { MAX_EXPLORED = 300, MAX_CANDIDATES = 3000, MAX_REMAINING = 64 };

struct repairing {
    const struct repair_options *o;
    struct repair *r;
    struct arena *arena;
    uint32_t n_observed;
    VEC(const struct execution *) bad;
    forbidding_list open, seen; /* candidates that are still to be examined; all candidates */
};

/* ---- what was found ---- */

static bool same_notice(const struct notice *a, const struct notice *b, uint32_t n_values)
{
    if (a->kind != b->kind || a->fault != b->fault)
        return false;
    if (a->kind == NOTICE_OUTCOME)
        return memcmp(a->values, b->values, n_values * sizeof *a->values) == 0;
    if (a->kind == NOTICE_RACE)
        return (site_same(a->a, b->a) && site_same(a->b, b->b)) || (site_same(a->a, b->b) && site_same(a->b, b->a));
    return site_same(a->a, b->a);
}

/* Is the finding one that a repair must remove? */
static bool has_to_go(void *data, const struct notice *s)
{
    const struct repairing *g = data;
    const struct wanted *findings = g->o->findings;
    if (!findings->is(findings->data, s))
        return false;
    for (uint32_t i = 0; i < g->r->remaining.n; i++)
        if (same_notice(&g->r->remaining.at[i], s, g->n_observed))
            return false;
    return true;
}

enum explored { GONE, FOUND, UNKNOWN };

/* Explores the kernel with the changes; keeps an execution that is found. */
static enum explored explore_with(struct repairing *g, const struct changes *c, const struct execution **found)
{
    struct explore_result result = {0};
    struct wanted w = {has_to_go, g};
    enum explored e = UNKNOWN;
    *found = NULL;
    g->r->n_explored++;
    g->o->explore(g->o->data, c->n ? c : NULL, &w, &result);
    if (result.refusal.text) {
        g->r->reason = arena_strdup(g->arena, result.refusal.text);
    } else if (result.verdict.caught) {
        *found = execution_copy(g->arena, result.verdict.caught);
        g->n_observed = (*found)->n_observed;
        e = FOUND;
    } else if (result.complete) {
        e = GONE;
    } else {
        g->r->reason = arena_strdup(g->arena, result.n_bounds ? result.bounds[0] : "the search was ended");
    }
    explore_free(&result);
    return e;
}

/* ---- candidates ---- */

static void add_candidate(struct repairing *g, struct changes c)
{
    for (uint32_t i = 0; i < g->seen.n; i++)
        if (changes_equal(&g->seen.at[i].changes, &c))
            return;
    struct forbidding f = {c, changes_cost(&c)};
    *VEC_PUSH(g->arena, &g->seen) = f;
    *VEC_PUSH(g->arena, &g->open) = f;
}

static bool take_cheapest(struct repairing *g, struct changes *c)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < g->open.n; i++)
        if (g->open.at[i].cost < g->open.at[best].cost)
            best = i;
    if (!g->open.n)
        return false;
    *c = g->open.at[best].changes;
    VEC_REMOVE(&g->open, best, 1);
    return true;
}

/* A known execution that the changes allow, and that has a finding to remove. */
static const struct execution *allowed_one(const struct repairing *g, const struct changes *c)
{
    for (uint32_t i = 0; i < g->bad.n; i++)
        if (execution_judge(g->bad.at[i], c) != FORBIDDEN)
            return g->bad.at[i];
    return NULL;
}

static bool is_beyond_orders(struct repairing *g, const struct execution *e)
{
    struct changes top = forbid_top(g->arena, e, true);
    return execution_judge(e, &top) == ALLOWED;
}

static bool out_of_bounds(struct repairing *g)
{
    g->r->reason = "no changes were found within the bounds of this search";
    return false;
}

/* Finds the cheapest changes that forbid all known executions, until an exploration finds no
 * further one; false if there are none. */
static bool find_changes(struct repairing *g, struct changes *c)
{
    add_candidate(g, (struct changes){0});
    while (g->r->n_explored < MAX_EXPLORED && g->r->remaining.n < MAX_REMAINING && g->seen.n < MAX_CANDIDATES &&
           take_cheapest(g, c)) {
        const struct execution *e = allowed_one(g, c);
        while (!e) {
            enum explored now = explore_with(g, c, &e);
            if (now != FOUND)
                return now == GONE;
            if (!is_beyond_orders(g, e)) {
                *VEC_PUSH(g->arena, &g->bad) = e;
                break;
            }
            *VEC_PUSH(g->arena, &g->r->remaining) = e->notice;
            e = NULL;
            if (g->r->n_explored == MAX_EXPLORED || g->r->remaining.n == MAX_REMAINING)
                return out_of_bounds(g);
        }
        forbidding_list list = forbid(g->arena, e, c);
        for (uint32_t i = 0; i < list.n; i++)
            add_candidate(g, list.at[i].changes);
    }
    return out_of_bounds(g);
}

/* ---- nothing too much ---- */

/* The changes without their `part`-th part; false if there is no such part. */
static bool take_back(struct arena *arena, const struct changes *c, uint32_t part, struct changes *less)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct strength parts[MAX_STEPS_OF_SITE];
        unsigned n = change_parts(c->at[i].site, c->at[i].to, parts);
        if (part >= n) {
            part -= n;
            continue;
        }
        *less = changes_copy(arena, c);
        less->at[i].to = parts[part];
        if (strength_equal(parts[part], strength_of(c->at[i].site))) {
            memmove(&less->at[i], &less->at[i + 1], (c->n - i - 1) * sizeof *less->at);
            less->n--;
        }
        return true;
    }
    return false;
}

/* Removes parts as long as no finding returns. */
static bool make_least(struct repairing *g, struct changes *c)
{
    bool least = true;
    struct changes less;
    g->r->n_parts = 0;
    for (uint32_t part = 0; take_back(g->arena, c, part, &less);) {
        const struct execution *found;
        enum explored e = explore_with(g, &less, &found);
        if (e == GONE) {
            *c = less;
            part = g->r->n_parts = 0;
            least = true;
            continue;
        }
        least &= e == FOUND;
        g->r->n_parts++;
        part++;
    }
    return least;
}

static void repair_all(void *data)
{
    struct repairing *g = data;
    struct changes c = {0};
    bool found = find_changes(g, &c);
    if (!found || !c.n)
        return;
    g->r->verified = true;
    g->r->minimal = make_least(g, &c);
    g->r->changes = c;
    g->r->reason = NULL;
}

void repair(const struct repair_options *o, struct repair *r)
{
    struct repairing g = {.o = o, .r = r, .arena = &r->arena};
    if (!memory_try(&r->arena, repair_all, &g)) {
        r->verified = false;
        r->reason = "out of memory";
    }
}

void repair_free(struct repair *r)
{
    arena_free(&r->arena);
}
