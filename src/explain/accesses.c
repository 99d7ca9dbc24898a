/* See accesses.h. */
#include "explain/accesses.h"

#include "exec/async.h"
#include "explain/rules.h"

/* ---- a warp's loads, stores and atomics ---- */

static unsigned bits(uint32_t mask)
{
    return (unsigned)__builtin_popcount(mask);
}

/* The number of sector pairs (64 bytes) that have a sector of the set. */
static unsigned pairs_of(uint32_t sectors)
{
    return (sectors & 3 ? 1u : 0) + (sectors >> 2 ? 1u : 0);
}

static void count_stride(struct access_counters *c, int64_t step)
{
    c->stride = !c->strided || c->stride == step ? step : INT64_MIN;
    c->strided++;
}

/* Returns the sectors that a load asks L2 for: those that L1 does not have, or all if it bypasses
   L1. */
static uint32_t load_line(struct footprint *f, struct l1 *l1, bool past_l1, const struct line *line,
                          struct access_counters *c)
{
    uint32_t missing = past_l1 || !l1 ? line->sectors : l1_load(l1, line->number, line->sectors);
    c->pairs += pairs_of(missing);
    if (missing)
        footprint_touch(f, line, FOOTPRINT_READ);
    return missing;
}

static void count_load(struct footprint *f, struct l1 *l1, const struct access_site *s, const struct lanes *a,
                       struct access_counters *c)
{
    struct line lines[RULE_LANES];
    unsigned n = rule_lines(a, lines);
    c->tags += n;
    for (unsigned i = 0; i < n; i++) {
        uint32_t missing = load_line(f, l1, s->past_l1, &lines[i], c);
        c->sectors += bits(lines[i].sectors);
        c->l1_miss_sectors += bits(missing);
        c->l1_miss_tags += missing != 0;
    }
}

static void count_store(struct footprint *f, const struct lanes *a, struct access_counters *c)
{
    struct line lines[RULE_LANES];
    unsigned n = rule_lines(a, lines);
    c->tags += n;
    c->partial_sectors += rule_partial_sectors(a);
    for (unsigned i = 0; i < n; i++) {
        c->sectors += bits(lines[i].sectors);
        c->pairs += pairs_of(lines[i].sectors);
        footprint_touch(f, &lines[i], FOOTPRINT_WRITE);
    }
}

static void count_atomic(struct footprint *f, const struct lanes *a, struct access_counters *c)
{
    struct line lines[RULE_LANES];
    struct sector_operations sectors[RULE_LANES];
    unsigned n = rule_lines(a, lines);
    c->tags += n;
    c->operations += bits(a->mask);
    c->distinct += rule_distinct(a);
    for (unsigned i = 0; i < n; i++)
        footprint_touch(f, &lines[i], FOOTPRINT_READ | FOOTPRINT_WRITE);
    n = rule_atomic_sectors(a, sectors);
    for (unsigned i = 0; i < n; i++) {
        c->sectors += sectors[i].operations;
        footprint_heat(f, sectors[i].sector, sectors[i].operations);
    }
}

static void count_shared(const struct access_site *s, const struct lanes *a, struct access_counters *c)
{
    enum access_kind kind = (enum access_kind)s->kind[SITE_SHARED];
    bool stores = kind == KIND_of_shared_st || kind == KIND_of_copy_st;
    enum shared_kind how = kind == KIND_of_shared_ld ? SHARED_LD
                           : stores                  ? SHARED_ST
                           : s->increments           ? SHARED_INCREMENT
                                                     : SHARED_ATOM;
    struct wavefronts w = rule_wavefronts(a, how);
    c->wavefronts += w.all;
    c->ideal_wavefronts += w.ideal;
    if (how >= SHARED_ATOM) {
        c->operations += bits(a->mask);
        c->distinct += rule_distinct(a);
    }
}

static void count_global(struct footprint *f, struct l1 *l1, const struct access_site *s, const struct lanes *a,
                         struct access_counters *c)
{
    switch ((enum access_kind)s->kind[SITE_GLOBAL]) {
    case KIND_of_global_ld: count_load(f, l1, s, a, c); break;
    case KIND_of_global_st: count_store(f, a, c); break;
    case KIND_of_const_ld: c->distinct += rule_distinct(a); break;
    default: count_atomic(f, a, c); break;
    }
}

/* Replaces a list of addresses by base and step if all lanes have one step. */
static struct lanes simplified(struct lanes a, int64_t *step, bool *has_step)
{
    *has_step = rule_step(&a, step);
    if (a.address && *has_step) {
        unsigned first = (unsigned)__builtin_ctz(a.mask);
        a.base = a.address[first] - (uint64_t)first * (uint64_t)*step;
        a.step = *step;
        a.address = NULL;
    }
    return a;
}

/* Counts one request; returns its lanes as the rules take them. */
static struct lanes count_request(struct access_counters *c, struct lanes all)
{
    int64_t step;
    bool has_step;
    struct lanes a = simplified(all, &step, &has_step);
    unsigned lanes = bits(a.mask);
    c->requests++;
    c->lanes += lanes;
    c->bytes += (uint64_t)lanes * a.bytes;
    c->ideal_sectors += (lanes * a.bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    if (has_step && lanes > 1)
        count_stride(c, step);
    return a;
}

static struct lanes lanes_of(const struct access_event *e)
{
    struct lanes a = {.mask = e->lanes, .bytes = e->bytes};
    if (e->pattern == ACCESS_UNIFORM || e->pattern == ACCESS_LINEAR) {
        a.base = e->base;
        a.step = e->pattern == ACCESS_LINEAR ? e->bytes : 0;
    } else {
        a.address = e->address;
    }
    return a;
}

void count_access(struct footprint *f, struct l1 *l1, const struct access_site *s, struct site_tally *t,
                  const struct access_event *e)
{
    enum site_space space = site_space(e->space);
    struct access_counters *c = &t->by[space];
    struct lanes a = count_request(c, lanes_of(e));
    if (s->summed)
        a.mask &= -a.mask;
    switch (space) {
    case SITE_GLOBAL: count_global(f, l1, s, &a, c); break;
    case SITE_SHARED: count_shared(s, &a, c); break;
    default: {
        struct local_traffic local = rule_local(&a);
        c->requests += local.requests - 1;
        c->sectors += local.sectors;
        c->tags += local.lines;
        break;
    }
    }
}

/* ---- asynchronous copies ---- */

/* cp.async counts as a load of global memory, for the lanes that read anything, and a store to
   shared memory. */
static void count_copy(struct footprint *f, struct l1 *l1, const struct access_site *s, struct site_tally *t,
                       const struct issue_event *e)
{
    struct access_counters *ld = &t->by[SITE_GLOBAL], *st = &t->by[SITE_SHARED];
    struct lanes from = {.address = e->from};
    struct line lines[RULE_LANES];
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        from.mask |= e->taken[lane] ? 1u << lane : 0;
        from.bytes = e->taken[lane] > from.bytes ? e->taken[lane] : from.bytes;
    }
    struct lanes to = count_request(st, (struct lanes){.mask = e->lanes, .bytes = e->bytes, .address = e->to});
    if (!from.mask) {
        count_shared(s, &to, st);
        return;
    }
    from = count_request(ld, from);
    struct copy_traffic c = rule_copy(&from, &to, s->past_l1);
    ld->tags += c.tags;
    ld->sectors += c.sectors;
    st->wavefronts += c.wavefronts;
    st->ideal_wavefronts += c.ideal_wavefronts;
    unsigned n = rule_lines(&from, lines);
    for (unsigned i = 0; i < n; i++) {
        uint32_t missing = load_line(f, l1, s->past_l1, &lines[i], ld);
        ld->l1_miss_sectors += s->past_l1 ? 0 : bits(missing);
        ld->l1_miss_tags += !s->past_l1 && missing;
    }
    ld->l1_miss_sectors += s->past_l1 ? c.l2_sectors : 0;
    ld->l1_miss_tags += s->past_l1 ? c.tags : 0;
}

/* A bulk copy moves a contiguous range of global memory: it asks L2 for each sector once, and L1
 * for none. */
static void count_range(struct footprint *f, enum access_kind kind, uint64_t from, uint64_t to,
                        struct access_counters *c)
{
    unsigned how = kind == KIND_of_bulk_ld   ? FOOTPRINT_READ
                   : kind == KIND_of_bulk_st ? FOOTPRINT_WRITE
                                             : FOOTPRINT_READ | FOOTPRINT_WRITE;
    c->bytes += to - from;
    c->partial_sectors += (from % SECTOR_BYTES != 0) + (to % SECTOR_BYTES != 0);
    for (uint64_t n = from / LINE_BYTES; to > from && n <= (to - 1) / LINE_BYTES; n++) {
        uint64_t first = n * LINE_BYTES < from ? (from - n * LINE_BYTES) / SECTOR_BYTES : 0;
        uint64_t end = (n + 1) * LINE_BYTES > to ? (to - 1 - n * LINE_BYTES) / SECTOR_BYTES + 1 : LINE_SECTORS;
        struct line line = {n, (1u << end) - (1u << first)};
        c->tags++;
        c->sectors += bits(line.sectors);
        c->pairs += pairs_of(line.sectors);
        footprint_touch(f, &line, how);
        for (uint64_t i = first; kind == KIND_of_bulk_red && i < end; i++)
            footprint_heat(f, n * LINE_SECTORS + i, 1);
    }
}

static void count_tensor(struct footprint *f, enum access_kind kind, const struct async_tensor *tensor,
                         struct access_counters *c)
{
    struct tensor_lines lines = tensor_lines_of(&tensor->map, &tensor->at);
    struct tensor_line line;
    while (tensor_next_line(&lines, &line))
        if (line.to > line.from)
            count_range(f, kind, line.global + line.from,
                        line.global + (kind == KIND_of_bulk_ld ? line.to : tensor_stored_to(&line)), c);
}

static uint64_t count_bulk(struct footprint *f, const struct access_site *s, struct site_tally *t,
                           const struct issue_event *e)
{
    bool in_shared = e->site->mode == ASYNC_BULK_SHARED;
    unsigned lane = (unsigned)__builtin_ctz(e->lanes);
    struct access_counters *c = &t->by[in_shared ? SITE_SHARED : SITE_GLOBAL];
    enum access_kind kind = (enum access_kind)s->kind[SITE_GLOBAL];
    uint64_t before = c->bytes, sectors = c->sectors,
             at = e->site->mode == ASYNC_BULK_FROM_GLOBAL ? e->from[lane] : e->to[lane];
    c->requests++;
    c->lanes++;
    if (e->tensor)
        count_tensor(f, kind, e->tensor, c);
    else if (in_shared)
        c->bytes += e->bytes;
    else
        count_range(f, kind, at, at + e->bytes, c);
    c->ideal_sectors += (c->bytes - before + SECTOR_BYTES - 1) / SECTOR_BYTES;
    c->l1_miss_sectors += c->sectors - sectors;
    if (e->ranks) /* one request to L2 serves all blocks of a multicast */
        c->sectors += (c->sectors - sectors) * (unsigned)(__builtin_popcount(e->ranks) - 1);
    return c->bytes - before;
}

uint64_t count_issue(struct footprint *f, struct l1 *l1, const struct access_site *s, struct site_tally *t,
                     const struct issue_event *e)
{
    switch ((enum async_mode)e->site->mode) {
    case ASYNC_COPY: count_copy(f, l1, s, t, e); return 0;
    case ASYNC_STORE:
        count_request(&t->by[SITE_SHARED], (struct lanes){.mask = e->lanes, .bytes = e->bytes, .address = e->to});
        return 0;
    default: return count_bulk(f, s, t, e);
    }
}
