/* See forbid.h. */
#include "explore/forbid.h"

#include <stdlib.h>
#include <string.h>

struct changes forbid_top(struct arena *arena, const struct execution *e, bool fences)
{
    const struct ir_insn **sites;
    uint32_t n = execution_sites(arena, e, &sites);
    enum scope scope = execution_scope(e);
    struct changes top = {0};
    for (uint32_t i = 0; i < n; i++) {
        struct strength s = change_top(sites[i], scope);
        if (!fences && ir_has_access(sites[i]))
            s.before = s.after = ORDER_WEAK;
        top = changes_with(arena, &top, sites[i], s);
    }
    return top;
}

unsigned changes_cost(const struct changes *c)
{
    unsigned cost = 0;
    for (uint32_t i = 0; i < c->n; i++)
        cost += change_cost(c->at[i].site, c->at[i].to);
    return cost;
}

/* ---- a part of which nothing can be left out ---- */

static struct changes without(struct arena *arena, const struct changes *c, uint32_t i)
{
    struct changes less = changes_copy(arena, c);
    for (uint32_t k = i; k + 1 < less.n; k++)
        less.at[k] = less.at[k + 1];
    less.n--;
    return less;
}

/* The changes with a site's strength replaced by that in `now`, or removed. */
static struct changes as_before(struct arena *arena, const struct changes *c, const struct changes *now, uint32_t i)
{
    struct changes less = changes_copy(arena, c);
    for (uint32_t k = 0; now && k < now->n; k++)
        if (site_same(now->at[k].site, c->at[i].site)) {
            less.at[i] = now->at[k];
            return less;
        }
    return without(arena, c, i);
}

static bool is_above(const struct changes *now, const struct change *c)
{
    struct strength least = strength_with(now, c->site);
    return strength_equal(strength_join(least, c->to), c->to);
}

struct changes forbid_least(struct arena *arena, struct changes all, const struct changes *now,
                            bool (*forbids)(void *data, const struct changes *c), void *data)
{
    for (uint32_t i = all.n; i-- > 0;) {
        struct changes less = as_before(arena, &all, now, i);
        if (!changes_equal(&less, &all) && forbids(data, &less))
            all = less;
    }
    for (uint32_t i = 0; i < all.n; i++) {
        struct strength parts[MAX_STEPS_OF_SITE];
        for (bool again = true; again;) {
            unsigned n = change_parts(all.at[i].site, all.at[i].to, parts);
            again = false;
            for (unsigned k = 0; k < n && !again; k++) {
                struct changes less = changes_copy(arena, &all);
                less.at[i].to = parts[k];
                again = is_above(now, &less.at[i]) && forbids(data, &less);
                all = again ? less : all;
            }
        }
    }
    return all;
}

/* ---- sets of few steps ---- */

struct step {
    const struct ir_insn *site;
    struct strength to;
};

static uint32_t find_steps(struct arena *arena, const struct execution *e, struct step **steps)
{
    const struct ir_insn **sites;
    uint32_t n_sites = execution_sites(arena, e, &sites), n = 0;
    struct step *all = *steps = ARENA_ARRAY(arena, struct step, n_sites * MAX_STEPS_OF_SITE + 1);
    for (uint32_t i = 0; i < n_sites; i++) {
        struct strength to[MAX_STEPS_OF_SITE];
        unsigned here = change_steps(sites[i], execution_scope(e), to);
        for (unsigned k = 0; k < here; k++)
            all[n++] = (struct step){sites[i], to[k]};
    }
    return n;
}

static bool is_less(const struct changes *a, const struct changes *b)
{
    for (uint32_t i = 0; i < a->n; i++) {
        struct strength s = strength_with(b, a->at[i].site);
        if (!strength_equal(strength_join(s, a->at[i].to), s))
            return false;
    }
    return true;
}

static bool is_known(const forbidding_list *list, const struct changes *c)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (is_less(&list->at[i].changes, c))
            return true;
    return false;
}

/* Adds a set, unless a subset of it is in the list; removes supersets of it. */
static void add(struct arena *arena, forbidding_list *list, struct changes c)
{
    if (is_known(list, &c))
        return;
    for (uint32_t i = list->n; i-- > 0;)
        if (is_less(&c, &list->at[i].changes))
            list->at[i] = list->at[--list->n];
    *VEC_PUSH(arena, list) = (struct forbidding){c, changes_cost(&c)};
}

static int by_cost(const void *a, const void *b)
{
    const struct forbidding *x = a, *y = b;
    return x->cost != y->cost ? (x->cost > y->cost) - (x->cost < y->cost)
                              : (x->changes.n > y->changes.n) - (x->changes.n < y->changes.n);
}

static bool forbids(void *data, const struct changes *c)
{
    return execution_judge(data, c) == FORBIDDEN;
}

/* Finds the strongest additional changes that forbid the execution; false if none do. */
static bool find_top(struct arena *arena, const struct execution *e, const struct changes *now, struct changes *top)
{
    for (int fences = 0; fences < 2; fences++) {
        *top = forbid_top(arena, e, fences);
        for (uint32_t i = 0; i < now->n; i++)
            *top = changes_with(arena, top, now->at[i].site, now->at[i].to);
        if (execution_judge(e, top) == FORBIDDEN)
            return true;
    }
    return false;
}

enum { MAX_PAIRS = 12000 };

/* Adds pairs of changes that cost no more than the single changes that were found. */
static void add_pairs(struct arena *arena, const struct execution *e, const struct changes *now,
                      const struct step *steps, uint32_t n, forbidding_list *list)
{
    struct change *room = ARENA_ARRAY(arena, struct change, now->n + 2);
    unsigned most = UINT32_MAX;
    for (uint32_t i = 0; i < list->n; i++)
        most = list->at[i].cost < most ? list->at[i].cost : most;
    if (n * n / 2 > MAX_PAIRS)
        return;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) {
            struct changes two = {.n = now->n, .at = room};
            if (now->n)
                memcpy(room, now->at, now->n * sizeof *room);
            changes_put(&two, steps[i].site, steps[i].to);
            changes_put(&two, steps[k].site, steps[k].to);
            if (changes_cost(&two) <= most && !is_known(list, &two) && execution_judge(e, &two) == FORBIDDEN)
                add(arena, list, changes_copy(arena, &two));
        }
}

/* Adds a set of minimal size, and alternatives that avoid one of its sites. */
static void add_larger(struct arena *arena, const struct execution *e, const struct changes *now,
                       const struct changes *top, forbidding_list *list)
{
    void *data = (void *)(uintptr_t)e;
    struct changes first = forbid_least(arena, *top, now, forbids, data);
    add(arena, list, first);
    for (uint32_t i = 0; i < first.n; i++)
        for (uint32_t k = 0; k < top->n; k++) {
            struct changes less = as_before(arena, top, now, k);
            if (site_same(top->at[k].site, first.at[i].site) && forbids(data, &less))
                add(arena, list, forbid_least(arena, less, now, forbids, data));
        }
}

forbidding_list forbid(struct arena *arena, const struct execution *e, const struct changes *now)
{
    static const struct changes none = {0};
    forbidding_list list = {0};
    struct step *steps;
    uint32_t n = find_steps(arena, e, &steps);
    struct changes top;
    now = now ? now : &none;
    if (!find_top(arena, e, now, &top))
        return list;
    for (uint32_t i = 0; i < n; i++) {
        struct changes c = changes_with(arena, now, steps[i].site, steps[i].to);
        if (!changes_equal(&c, now) && execution_judge(e, &c) == FORBIDDEN)
            add(arena, &list, c);
    }
    add_pairs(arena, e, now, steps, n, &list);
    if (!list.n)
        add_larger(arena, e, now, &top, &list);
    qsort(list.at, list.n, sizeof *list.at, by_cost);
    return list;
}
