/* See message.h. */
#include "explore/message.h"

#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

void bytes_put(struct bytes *b, const void *from, size_t n)
{
    if (b->failed || !n)
        return;
    if (b->room - b->n < n) {
        size_t room = 2 * (b->n + n) + 64;
        uint8_t *at = realloc(b->at, room);
        if (!at) {
            b->failed = true;
            return;
        }
        b->at = at;
        b->room = room;
    }
    memcpy(b->at + b->n, from, n);
    b->n += n;
}

static void put_number(struct bytes *b, uint64_t v)
{
    bytes_put(b, &v, sizeof v);
}

static void put_text(struct bytes *b, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    put_number(b, n);
    bytes_put(b, text, n);
}

static void put_decisions(struct bytes *b, struct decisions d)
{
    put_number(b, d.n);
    bytes_put(b, d.at, d.n);
}

struct reader {
    const uint8_t *at, *end;
    bool failed;
};

static const uint8_t *get(struct reader *r, uint64_t n)
{
    if (r->failed || (uint64_t)(r->end - r->at) < n) {
        r->failed = true;
        return NULL;
    }
    r->at += n;
    return r->at - n;
}

static uint64_t get_number(struct reader *r)
{
    uint64_t v = 0;
    const uint8_t *at = get(r, sizeof v);
    if (at)
        memcpy(&v, at, sizeof v);
    return v;
}

static struct decisions get_decisions(struct reader *r)
{
    uint64_t n = get_number(r);
    const uint8_t *at = get(r, n);
    return (struct decisions){at, at ? (uint32_t)n : 0};
}

/* ---- who ---- */

static uint64_t hash_bytes(uint64_t h, const void *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = mix(h, ((const uint8_t *)at)[i]);
    return mix(h, n);
}

static void hash_constant(const struct mem_block *b, void *data)
{
    uint64_t *h = data;
    if (b->kind == MEM_CONST)
        *h = hash_bytes(mix(*h, b->start), (const uint8_t *)(uintptr_t)b->start, b->size);
}

/* Hashes the launch, the addresses of its memory, its constants and the text of its code. */
static uint64_t launch_hash(const struct search *s)
{
    const struct kernel *k = s->launch->kernel;
    uint64_t h = hash_bytes(1, s->launch->params, k->param_bytes);
    h = hash_bytes(h, s->launch->dims.grid, sizeof s->launch->dims.grid);
    h = hash_bytes(h, s->launch->dims.block, sizeof s->launch->dims.block);
    for (uint32_t i = 0; i < s->options->n_observed; i++)
        h = mix(h, s->options->observed[i].address);
    for (uint32_t f = 0; f < k->functions.n; f++) {
        const struct ir_func *ir = k->functions.at[f]->ir;
        h = mix(h, ir->insns.n);
        if (ir->insns.n && ir->insns.at[0].module)
            h = hash_bytes(h, ir->insns.at[0].module->source->text.p, ir->insns.at[0].module->source->text.n);
    }
    mem_for_each(s->launch->mem, hash_constant, &h);
    return mix(h, s->unroll << 2 | s->swaps_left_out << 1 | s->updates_stay);
}

/* Numbers an instruction by function and index, from 1; 0: none. */
static uint64_t insn_number(const struct search *s, const struct ir_insn *insn)
{
    const struct kernel *k = s->launch->kernel;
    for (uint32_t f = 0; f < k->functions.n; f++) {
        const struct ir_func *ir = k->functions.at[f]->ir;
        if (insn >= ir->insns.at && insn < ir->insns.at + ir->insns.n)
            return (uint64_t)f << 32 | ((uint64_t)(insn - ir->insns.at) + 1);
    }
    return 0;
}

static const struct ir_insn *insn_of(const struct search *s, uint64_t number)
{
    const struct kernel *k = s->launch->kernel;
    uint64_t f = number >> 32, i = number & UINT32_MAX;
    return i && f < k->functions.n && i <= k->functions.at[f]->ir->insns.n ? &k->functions.at[f]->ir->insns.at[i - 1]
                                                                           : NULL;
}

/* ---- a searcher's findings ---- */

static void write_outcomes(const struct verdict *v, struct bytes *b)
{
    put_number(b, v->outcomes.n);
    for (uint32_t i = 0; i < v->outcomes.n; i++) {
        put_decisions(b, v->reached.at[i]);
        bytes_put(b, v->outcomes.at[i], v->n_observed * sizeof *v->outcomes.at[i]);
    }
}

static bool read_outcomes(struct reader *in, struct verdict *v, struct tree *leaves)
{
    uint64_t n = get_number(in);
    uint64_t *values = ARENA_ARRAY(v->arena, uint64_t, v->n_observed + 1);
    for (uint64_t i = 0; i < n && !in->failed; i++) {
        v->here = get_decisions(in);
        const uint8_t *at = get(in, v->n_observed * sizeof *values);
        if (!at)
            return false;
        memcpy(values, at, v->n_observed * sizeof *values);
        const struct example **example = verdict_outcome(v, values);
        if (example)
            *example = NULL; /* until it is examined again */
        if (example && !tree_give(leaves, v->here.at, v->here.n, 0))
            return false;
    }
    return true;
}

static void write_places(const struct verdict *v, struct bytes *b)
{
    const struct sight *sights[] = {&v->deadlock, &v->livelock, &v->livelock_by_atomics, &v->cut};
    enum { SIGHTS = sizeof sights / sizeof sights[0] };
    uint64_t n = v->races.n + v->stops.n;
    for (int i = 0; i < SIGHTS; i++)
        n += sights[i]->insn != NULL;
    put_number(b, n);
    for (uint32_t i = 0; i < v->races.n; i++)
        put_decisions(b, v->races.at[i].decisions);
    for (uint32_t i = 0; i < v->stops.n; i++)
        put_decisions(b, v->stops.at[i].decisions);
    for (int i = 0; i < SIGHTS; i++)
        if (sights[i]->insn)
            put_decisions(b, sights[i]->decisions);
}

static bool read_places(struct reader *in, struct tree *leaves)
{
    uint64_t n = get_number(in);
    for (uint64_t i = 0; i < n && !in->failed; i++) {
        struct decisions d = get_decisions(in);
        if (!in->failed && !tree_give(leaves, d.at, d.n, 0))
            return false;
    }
    return true;
}

/* The initial contents of the global memory that was used. They can differ between ranks if the
 * launch is one of a program's. */
static void write_memory(const struct program *p, struct bytes *b)
{
    put_number(b, p->locations.n);
    for (uint32_t i = 0; i < p->locations.n; i++) {
        const struct location *l = &p->locations.at[i];
        put_number(b, l->block == GLOBAL_MEMORY ? l->bytes : 0);
        put_number(b, l->address);
        put_number(b, l->initial);
    }
}

/* Returns false if the contents differ here. */
static bool read_memory(const struct search *s, struct reader *in)
{
    uint64_t n = get_number(in);
    bool same = true;
    for (uint64_t i = 0; i < n && !in->failed; i++) {
        uint64_t bytes = get_number(in), address = get_number(in), initial = get_number(in), here;
        same &= bytes <= sizeof here &&
                (!bytes || (program_memory(s->launch->mem, address, (uint8_t)bytes, &here) && here == initial));
    }
    return same && !in->failed;
}

static void write_searcher(const struct search *s, const struct searcher *w, struct bytes *b)
{
    const struct verdict *v = &w->verdict;
    uint64_t n_events = 0;
    for (uint16_t t = 0; t < w->explorer.threads.n; t++)
        n_events += w->explorer.runners[t].n_runs;
    write_memory(&w->program, b);
    put_number(b, n_events);
    put_number(b, w->explorer.is_full);
    put_text(b, w->program.refusal.text);
    put_number(b, insn_number(s, w->program.refusal.insn));
    put_number(b, v->graphs);
    put_number(b, v->blocked);
    put_number(b, v->dead);
    put_number(b, v->duplicates);
    put_number(b, insn_number(s, v->unseen));
    write_outcomes(v, b);
    write_places(v, b);
    put_number(b, v->n_seen);
    for (uint64_t i = 0; i < v->seen_room; i++)
        if (v->seen[i])
            put_number(b, v->seen[i]);
}

static bool read_searcher(const struct search *s, struct reader *in, struct explore_result *r, struct tree *leaves,
                          struct found_elsewhere *f)
{
    struct verdict *v = &r->verdict;
    if (!read_memory(s, in))
        return false;
    r->n_events += get_number(in);
    f->is_full |= get_number(in);
    uint64_t n = get_number(in);
    const char *text = (const char *)get(in, n);
    uint64_t insn = get_number(in);
    if (text && n && !r->refusal.text)
        r->refusal = (struct refusal){insn_of(s, insn), arena_strndup(&r->arena, text, n)};
    v->graphs += get_number(in);
    v->blocked += get_number(in);
    v->dead += get_number(in);
    v->duplicates += get_number(in);
    verdict_unseen(v, insn_of(s, get_number(in)));
    if (!read_outcomes(in, v, leaves) || !read_places(in, leaves))
        return false;
    n = get_number(in);
    for (uint64_t i = 0; i < n && !in->failed; i++)
        verdict_graph(v, get_number(in));
    return !in->failed;
}

/* ---- all of it ---- */

void message_write(const struct search *s, bool counts, struct bytes *b)
{
    const struct explore_options *o = s->options;
    put_number(b, launch_hash(s));
    put_number(b, o->interrupted && atomic_load(o->interrupted));
    put_number(b, counts ? s->n_searchers : 0);
    for (uint32_t i = 0; counts && i < s->n_searchers; i++)
        write_searcher(s, s->searchers[i], b);
}

bool message_read(const struct search *s, const uint8_t *at, size_t n, struct explore_result *r, struct tree *leaves,
                  struct found_elsewhere *f)
{
    struct reader in = {at, at + n, false};
    *f = (struct found_elsewhere){0};
    if (get_number(&in) != launch_hash(s))
        return false;
    f->interrupted = get_number(&in);
    uint64_t searchers = get_number(&in);
    for (uint64_t i = 0; i < searchers; i++)
        if (!read_searcher(s, &in, r, leaves, f))
            return false;
    return !in.failed;
}
