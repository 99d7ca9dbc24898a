/* See engine.h. */
#include "libraries/curand/engine.h"

#include "libraries/common/library.h"
#include "libraries/curand/poisson.h"

#include <stdlib.h>

enum { CHUNK = 512 }; /* items that are made at a time */

static const struct engine_kind *kind_of(curandRngType_t type)
{
    switch (type) {
    case CURAND_RNG_PSEUDO_XORWOW: return &xorwow_kind;
    case CURAND_RNG_PSEUDO_MRG32K3A: return &mrg32k3a_kind;
    case CURAND_RNG_PSEUDO_MTGP32: return &mtgp32_kind;
    case CURAND_RNG_PSEUDO_MT19937: return &mt19937_kind;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10: return &philox_kind;
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32: return &sobol32_kind;
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64: return &sobol64_kind;
    default: return NULL;
    }
}

bool engine_has(curandRngType_t type, enum distribution d)
{
    const struct engine_kind *kind = kind_of(type);
    bool wide = kind && kind->formulas == OF_WIDE;
    return kind && (d == BITS ? !wide : d == BITS_64 ? wide : true);
}

bool engine_pairs(curandRngType_t type)
{
    enum formulas f = kind_of(type)->formulas;
    return f == OF_XORWOW || f == OF_MRG;
}

struct engine *engine_new(const struct engine_options *o)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    atomic_init(&e->refs, 1);
    pthread_mutex_init(&e->lock, NULL);
    e->kind = kind_of(o->type);
    e->options = *o;
    return e;
}

struct engine *engine_hold(struct engine *e)
{
    atomic_fetch_add(&e->refs, 1);
    return e;
}

static void stop(struct engine *e)
{
    if (e->started)
        e->kind->end(e);
    free(e->kept);
    e->kept = NULL;
    e->started = false;
}

void engine_release(struct engine *e)
{
    if (!e || atomic_fetch_sub(&e->refs, 1) != 1)
        return;
    stop(e);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* ---- draws ---- */

struct drawing {
    struct engine *engine;
    const struct draw *draw;
    struct item item;
    size_t items;
    size_t turn;    /* the first item's strand, */
    uint64_t round; /* and how many turns all strands have had before */
};

/* Draws the items of piece i's strands, turn by turn, so that each strand is asked in order. */
static void draw_strands(void *data, size_t i)
{
    const struct drawing *w = data;
    struct engine *e = w->engine;
    uint32_t words[MOST_WORDS * CHUNK];
    const struct words made = {words, 1, CHUNK, NULL};
    size_t first = i * CHUNK, end = first + CHUNK < e->strands ? first + CHUNK : e->strands, last = w->items + w->turn;
    for (size_t turn = 0; turn * e->strands < last; turn++) {
        size_t from = turn * e->strands + first,
               to = turn * e->strands + end; /* items, counted from the first strand's */
        from = from < w->turn ? w->turn : from;
        to = to > last ? last : to;
        if (from >= to)
            continue;
        for (unsigned k = 0; k < w->item.words; k++)
            e->kind->next(e, w->round + turn, from % e->strands, to - from, words + k * CHUNK);
        item_make(e, w->draw, &made, to - from, (ptrdiff_t)((from - w->turn) * w->item.numbers));
    }
}

/* Poisson numbers from pairs of normal ones: a strand returns one at a time, and keeps the other
 * for its next turn. */
static unsigned draw_kept(struct engine *e, const struct draw *d, size_t strand)
{
    struct kept *k = &e->kept[strand];
    float pair[2] = {0, k->second};
    if (!k->there) {
        uint32_t words[2];
        const struct words made = {words, 0, 1, NULL};
        const struct draw normal = {NORMAL, pair, 2, 0, 1, NULL, 0};
        for (int i = 0; i < 2; i++)
            e->kind->next(e, 0, strand, 1, &words[i]);
        item_make(e, &normal, &made, 1, 0);
        k->second = pair[1];
    }
    k->there = !k->there;
    return poisson_of_normal(d->table, k->there ? pair[0] : pair[1], false);
}

static void draw_strands_kept(void *data, size_t i)
{
    const struct drawing *w = data;
    struct engine *e = w->engine;
    const size_t first = i * CHUNK, end = first + CHUNK < e->strands ? first + CHUNK : e->strands;
    for (size_t strand = first; strand < end; strand++)
        for (size_t at = (strand + e->strands - w->turn) % e->strands; at < w->draw->n; at += e->strands)
            ((unsigned *)w->draw->to)[at] = draw_kept(e, w->draw, strand);
}

static void draw_groups(void *data, size_t i)
{
    const struct drawing *w = data;
    struct engine *e = w->engine;
    uint32_t words[MOST_WORDS * CHUNK];
    const struct words made = {words, w->item.words, 1, NULL};
    size_t first = i * CHUNK, groups = w->items - first < CHUNK ? w->items - first : CHUNK;
    ptrdiff_t at = (ptrdiff_t)(first * w->item.numbers) - (ptrdiff_t)(w->draw->from % w->item.numbers);
    e->kind->groups(e, w->draw, first, groups, w->item.words, words);
    item_make(e, w->draw, &made, groups, at);
}

static void draw_filled(void *data, size_t i)
{
    const struct drawing *w = data;
    struct engine *e = w->engine;
    uint64_t wide[CHUNK];
    uint32_t words[CHUNK];
    const struct words made = {words, 1, 0, wide};
    size_t first = i * CHUNK, n = w->items - first < CHUNK ? w->items - first : CHUNK;
    e->kind->fill(e, w->draw, first, n, wide);
    for (size_t k = 0; k < n; k++)
        words[k] = (uint32_t)(wide[k] >> 32);
    item_make(e, w->draw, &made, n, (ptrdiff_t)first);
}

static size_t pieces(size_t items)
{
    return (items + CHUNK - 1) / CHUNK;
}

static bool start(struct engine *e)
{
    e->started = e->started || e->kind->start(e);
    return e->started;
}

static bool keeps(curandRngType_t type, const struct draw *d)
{
    return d->distribution == POISSON && draw_formula(d) == NORMAL && engine_pairs(type);
}

static size_t items_of(curandRngType_t type, const struct draw *d)
{
    const unsigned numbers = keeps(type, d) ? 1 : item_of(kind_of(type)->formulas, draw_formula(d)).numbers;
    return (d->n + numbers - 1) / numbers;
}

uint64_t engine_steps(const struct engine_options *o, const struct draw *d)
{
    const struct engine_kind *kind = kind_of(o->type);
    return kind->next ? items_of(o->type, d) : kind->groups ? d->n : d->n / o->dimensions;
}

static void draw_all(struct engine *e, const struct draw *d)
{
    const struct engine_kind *kind = e->kind;
    struct drawing w = {e, d, item_of(kind->formulas, draw_formula(d)), items_of(e->options.type, d), 0, 0};
    if (kind->prepare)
        kind->prepare(e, d->from, w.items);
    if (kind->next) {
        w.turn = d->from % e->strands;
        w.round = d->from / e->strands;
        library_parallel(pieces(e->strands), keeps(e->options.type, d) ? draw_strands_kept : draw_strands, &w);
    } else if (kind->groups) {
        w.items = (d->n + d->from % w.item.numbers + w.item.numbers - 1) / w.item.numbers;
        library_parallel(pieces(w.items), draw_groups, &w);
    } else {
        library_parallel(pieces(w.items), draw_filled, &w);
    }
    if (kind->finish)
        kind->finish(e, d, w.item.words);
}

bool engine_restart(struct engine *e, const struct engine_options *o)
{
    pthread_mutex_lock(&e->lock);
    stop(e);
    e->options = *o;
    const bool ok = start(e);
    pthread_mutex_unlock(&e->lock);
    return ok;
}

bool engine_draw(struct engine *e, const struct draw *d)
{
    pthread_mutex_lock(&e->lock);
    bool ok = start(e);
    if (ok && keeps(e->options.type, d) && !e->kept)
        ok = (e->kept = calloc(e->strands, sizeof *e->kept));
    if (ok)
        draw_all(e, d);
    pthread_mutex_unlock(&e->lock);
    return ok;
}
