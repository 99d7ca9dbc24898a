/* The findings as sets; see verdict.h. */
#include "explore/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "explore/execution.h"
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

static bool comes_before(struct decisions a, struct decisions b)
{
    uint32_t n = a.n < b.n ? a.n : b.n;
    int differ = n ? memcmp(a.at, b.at, n) : 0;
    return differ ? differ < 0 : a.n < b.n;
}

static void keep_here(const struct verdict *v, struct decisions *to)
{
    uint8_t *kept = ARENA_ARRAY(v->arena, uint8_t, v->here.n + 1);
    if (v->here.n)
        memcpy(kept, v->here.at, v->here.n);
    *to = (struct decisions){kept, v->here.n};
}

/* For a known finding: where to put the example if this execution comes first, or is the one whose
 * example is still missing. */
static const struct example **replaces(const struct verdict *v, struct decisions *reached,
                                       const struct example **example)
{
    if (comes_before(*reached, v->here) || (*example && !comes_before(v->here, *reached)))
        return NULL;
    keep_here(v, reached);
    return example;
}

const struct example **verdict_outcome(struct verdict *v, const uint64_t *values)
{
    size_t bytes = v->n_observed * sizeof *values;
    if (2 * v->outcomes.n >= v->outcome_room)
        grow_outcomes(v);
    uint64_t h = hash_of(values, v->n_observed);
    for (; v->outcome_table[h & (v->outcome_room - 1)]; h++) {
        uint32_t i = v->outcome_table[h & (v->outcome_room - 1)] - 1;
        if (!bytes || !memcmp(v->outcomes.at[i], values, bytes))
            return replaces(v, &v->reached.at[i], &v->examples.at[i]);
    }
    uint64_t *kept = *VEC_PUSH(v->arena, &v->outcomes) = ARENA_ARRAY(v->arena, uint64_t, v->n_observed + 1);
    for (uint32_t i = 0; i < v->n_observed; i++)
        kept[i] = values[i];
    v->outcome_table[h & (v->outcome_room - 1)] = v->outcomes.n;
    keep_here(v, VEC_PUSH(v->arena, &v->reached));
    return VEC_PUSH(v->arena, &v->examples);
}

static struct race *find_race(const struct verdict *v, const struct ir_insn *a, const struct ir_insn *b)
{
    for (uint32_t i = 0; i < v->races.n; i++) {
        struct race *r = &v->races.at[i];
        if ((r->a == a && r->b == b) || (r->a == b && r->b == a))
            return r;
    }
    return NULL;
}

bool verdict_is_first_race(const struct verdict *v, const struct ir_insn *a, const struct ir_insn *b)
{
    const struct race *r = find_race(v, a, b);
    return !r || comes_before(v->here, r->decisions);
}

const struct example **verdict_race(struct verdict *v, const struct ir_insn *a, const struct ir_insn *b)
{
    struct race *known = find_race(v, a, b);
    if (known)
        return replaces(v, &known->decisions, &known->example);
    bool swap = program_line(a) > program_line(b);
    struct race *r = VEC_PUSH(v->arena, &v->races);
    *r = (struct race){.a = swap ? b : a, .b = swap ? a : b};
    keep_here(v, &r->decisions);
    return &r->example;
}

const struct example **verdict_stop(struct verdict *v, const struct ir_insn *insn, const char *fault)
{
    for (uint32_t i = 0; i < v->stops.n; i++)
        if (v->stops.at[i].insn == insn && v->stops.at[i].fault == fault)
            return replaces(v, &v->stops.at[i].decisions, &v->stops.at[i].example);
    struct stop *s = VEC_PUSH(v->arena, &v->stops);
    *s = (struct stop){.insn = insn, .fault = fault};
    keep_here(v, &s->decisions);
    return &s->example;
}

bool verdict_is_first(const struct verdict *v, const struct sight *sight)
{
    return !sight->insn || comes_before(v->here, sight->decisions);
}

const struct example **verdict_sight(struct verdict *v, struct sight *sight, const struct ir_insn *insn)
{
    if (!insn || !verdict_is_first(v, sight))
        return NULL;
    sight->insn = insn;
    keep_here(v, &sight->decisions);
    return &sight->example;
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

static void add_example(const struct verdict *to, const struct example **at, const struct example *from)
{
    if (at)
        *at = example_copy(to->arena, from);
}

static void add_sight(struct verdict *to, struct sight *at, const struct sight *from)
{
    to->here = from->decisions;
    add_example(to, verdict_sight(to, at, from->insn), from->example);
}

void verdict_unseen(struct verdict *v, const struct ir_insn *insn)
{
    if (insn && (!v->unseen || insn < v->unseen))
        v->unseen = insn;
}

void verdict_add(struct verdict *to, const struct verdict *from)
{
    for (uint32_t i = 0; i < from->outcomes.n; i++) {
        to->here = from->reached.at[i];
        add_example(to, verdict_outcome(to, from->outcomes.at[i]), from->examples.at[i]);
    }
    for (uint32_t i = 0; i < from->races.n; i++) {
        const struct race *r = &from->races.at[i];
        to->here = r->decisions;
        add_example(to, verdict_race(to, r->a, r->b), r->example);
    }
    for (uint32_t i = 0; i < from->stops.n; i++) {
        const struct stop *s = &from->stops.at[i];
        to->here = s->decisions;
        add_example(to, verdict_stop(to, s->insn, s->fault), s->example);
    }
    add_sight(to, &to->deadlock, &from->deadlock);
    add_sight(to, &to->livelock, &from->livelock);
    add_sight(to, &to->livelock_by_atomics, &from->livelock_by_atomics);
    add_sight(to, &to->cut, &from->cut);
    verdict_unseen(to, from->unseen);
    for (uint64_t i = 0; i < from->seen_room; i++)
        if (from->seen[i])
            verdict_graph(to, from->seen[i]);
    if (from->caught && !to->caught)
        to->caught = execution_copy(to->arena, from->caught);
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

/* Sorts outcomes with their examples. */
static void sort_outcomes(struct verdict *v)
{
    struct pair {
        uint64_t *values;
        const struct example *example;
        struct decisions reached;
    } *all = ARENA_ARRAY(v->arena, struct pair, v->outcomes.n + 1);
    for (uint32_t i = 0; i < v->outcomes.n; i++)
        all[i] = (struct pair){v->outcomes.at[i], v->examples.at[i], v->reached.at[i]};
    qsort(all, v->outcomes.n, sizeof *all, compare_outcomes);
    for (uint32_t i = 0; i < v->outcomes.n; i++) {
        v->outcomes.at[i] = all[i].values;
        v->examples.at[i] = all[i].example;
        v->reached.at[i] = all[i].reached;
    }
}

static int compare_decisions(struct decisions x, struct decisions y)
{
    return comes_before(x, y) ? -1 : comes_before(y, x);
}

static int compare_races(const void *a, const void *b)
{
    const struct race *x = a, *y = b;
    uint32_t lines[2][2] = {{program_line(x->a), program_line(x->b)}, {program_line(y->a), program_line(y->b)}};
    for (int i = 0; i < 2; i++)
        if (lines[0][i] != lines[1][i])
            return lines[0][i] < lines[1][i] ? -1 : 1;
    return compare_decisions(x->decisions, y->decisions);
}

static int compare_stops(const void *a, const void *b)
{
    const struct stop *x = a, *y = b;
    int by_decisions = compare_decisions(x->decisions, y->decisions);
    return by_decisions ? by_decisions : (program_line(x->insn) > program_line(y->insn)) * 2 - 1;
}

void verdict_sort(struct verdict *v)
{
    n_compared = v->n_observed;
    sort_outcomes(v);
    if (v->races.n)
        qsort(v->races.at, v->races.n, sizeof *v->races.at, compare_races);
    if (v->stops.n)
        qsort(v->stops.at, v->stops.n, sizeof *v->stops.at, compare_stops);
}
