/* What has been found, as sets; see verdict.h. */
#include "explore/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "explore/memory.h"

void verdict_begin(struct verdict *v, struct arena *arena)
{
    v->arena = arena;
}

void verdict_end(struct verdict *v)
{
    free(v->outcome_table);
    free(v->seen);
}

/* ---- sets ---- */

static uint64_t hash_of(const uint64_t *values, uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++)
        h = mix(h, values[i]);
    return h;
}

static void grow_outcomes(struct verdict *v)
{
    uint32_t size = v->outcome_room ? 2 * v->outcome_room : 64;
    uint32_t *table = memory_zeroed(size, sizeof *table);
    for (uint32_t i = 0; i < v->outcomes.n; i++) {
        uint64_t h = hash_of(v->outcomes.at[i], v->n_observed);
        while (table[h & (size - 1)])
            h++;
        table[h & (size - 1)] = i + 1;
    }
    free(v->outcome_table);
    v->outcome_table = table;
    v->outcome_room = size;
}

bool verdict_outcome(struct verdict *v, const uint64_t *values)
{
    size_t bytes = v->n_observed * sizeof *values;
    if (2 * v->outcomes.n >= v->outcome_room)
        grow_outcomes(v);
    uint64_t h = hash_of(values, v->n_observed);
    for (; v->outcome_table[h & (v->outcome_room - 1)]; h++)
        if (!bytes || !memcmp(v->outcomes.at[v->outcome_table[h & (v->outcome_room - 1)] - 1], values, bytes))
            return false;
    uint64_t *kept = *VEC_PUSH(v->arena, &v->outcomes) = ARENA_ARRAY(v->arena, uint64_t, v->n_observed + 1);
    for (uint32_t i = 0; i < v->n_observed; i++)
        kept[i] = values[i];
    v->outcome_table[h & (v->outcome_room - 1)] = v->outcomes.n;
    return true;
}

bool verdict_race(struct verdict *v, const struct ir_insn *a, const struct ir_insn *b)
{
    for (uint32_t i = 0; i < v->races.n; i++)
        if ((v->races.at[i].a == a && v->races.at[i].b == b) || (v->races.at[i].a == b && v->races.at[i].b == a))
            return false;
    bool swap = program_line(a) > program_line(b);
    *VEC_PUSH(v->arena, &v->races) = swap ? (struct race){b, a, NULL} : (struct race){a, b, NULL};
    return true;
}

bool verdict_stop(struct verdict *v, const struct ir_insn *insn, const char *fault)
{
    for (uint32_t i = 0; i < v->stops.n; i++)
        if (v->stops.at[i].insn == insn && v->stops.at[i].fault == fault)
            return false;
    *VEC_PUSH(v->arena, &v->stops) = (struct stop){insn, fault, NULL};
    return true;
}

enum { MAX_SEEN = 1 << 23 };

void verdict_graph(struct verdict *v, uint64_t hash)
{
    if (2 * v->n_seen >= v->seen_room) {
        uint64_t size = v->seen_room ? 2 * v->seen_room : 1024, *all;
        if (size > MAX_SEEN || !(all = calloc(size, sizeof *all)))
            return;
        for (uint64_t i = 0; i < v->seen_room; i++) {
            uint64_t h = v->seen[i];
            while (v->seen[i] && all[h & (size - 1)])
                h++;
            if (v->seen[i])
                all[h & (size - 1)] = v->seen[i];
        }
        free(v->seen);
        v->seen = all;
        v->seen_room = size;
    }
    hash += hash == 0;
    uint64_t at = hash;
    for (; v->seen[at & (v->seen_room - 1)]; at++)
        if (v->seen[at & (v->seen_room - 1)] == hash) {
            v->duplicates++;
            return;
        }
    v->seen[at & (v->seen_room - 1)] = hash;
    v->n_seen++;
}

/* ---- examples ---- */

struct example *example_new(struct arena *arena, uint32_t n)
{
    struct example *e = arena_alloc(arena, sizeof *e + n * sizeof e->reads[0]);
    e->n = n;
    return e;
}

static const struct example *example_copy(struct arena *arena, const struct example *from)
{
    if (!from)
        return NULL;
    struct example *to = example_new(arena, from->n);
    to->is_cut = from->is_cut;
    memcpy(to->reads, from->reads, from->n * sizeof to->reads[0]);
    return to;
}

/* ---- results ---- */

void verdict_add(struct verdict *to, const struct verdict *from)
{
    for (uint32_t i = 0; i < from->outcomes.n; i++)
        if (verdict_outcome(to, from->outcomes.at[i]))
            *VEC_PUSH(to->arena, &to->examples) = example_copy(to->arena, from->examples.at[i]);
    for (uint32_t i = 0; i < from->races.n; i++)
        if (verdict_race(to, from->races.at[i].a, from->races.at[i].b))
            to->races.at[to->races.n - 1].example = example_copy(to->arena, from->races.at[i].example);
    for (uint32_t i = 0; i < from->stops.n; i++)
        if (verdict_stop(to, from->stops.at[i].insn, from->stops.at[i].fault))
            to->stops.at[to->stops.n - 1].example = example_copy(to->arena, from->stops.at[i].example);
    if (from->deadlock && !to->deadlock)
        to->deadlock_example = example_copy(to->arena, from->deadlock_example);
    if (from->livelock && !to->livelock)
        to->livelock_example = example_copy(to->arena, from->livelock_example);
    for (uint64_t i = 0; i < from->seen_room; i++)
        if (from->seen[i])
            verdict_graph(to, from->seen[i]);
    if (from->deadlock && !to->deadlock)
        to->deadlock_at = from->deadlock_at;
    if (from->livelock && !to->livelock)
        to->livelock_at = from->livelock_at;
    if (!to->cut_at)
        to->cut_at = from->cut_at;
    to->deadlock |= from->deadlock;
    to->livelock |= from->livelock;
    to->graphs += from->graphs;
    to->blocked += from->blocked;
    to->dead += from->dead;
    to->duplicates += from->duplicates;
}

static _Thread_local uint32_t n_compared;

static int compare_outcomes(const void *a, const void *b)
{
    const uint64_t *x = *(uint64_t *const *)a, *y = *(uint64_t *const *)b;
    for (uint32_t i = 0; i < n_compared; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* With their examples. */
static void sort_outcomes(struct verdict *v)
{
    struct pair {
        uint64_t *values;
        const struct example *example;
    } *all = ARENA_ARRAY(v->arena, struct pair, v->outcomes.n + 1);
    for (uint32_t i = 0; i < v->outcomes.n; i++)
        all[i] = (struct pair){v->outcomes.at[i], v->examples.at[i]};
    qsort(all, v->outcomes.n, sizeof *all, compare_outcomes);
    for (uint32_t i = 0; i < v->outcomes.n; i++) {
        v->outcomes.at[i] = all[i].values;
        v->examples.at[i] = all[i].example;
    }
}

static int compare_races(const void *a, const void *b)
{
    const struct race *x = a, *y = b;
    uint32_t lines[2][2] = {{program_line(x->a), program_line(x->b)}, {program_line(y->a), program_line(y->b)}};
    for (int i = 0; i < 2; i++)
        if (lines[0][i] != lines[1][i])
            return lines[0][i] < lines[1][i] ? -1 : 1;
    return 0;
}

void verdict_sort(struct verdict *v)
{
    n_compared = v->n_observed;
    sort_outcomes(v);
    if (v->races.n)
        qsort(v->races.at, v->races.n, sizeof *v->races.at, compare_races);
}
