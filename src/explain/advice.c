/* See advice.h. */
#include "explain/advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "explain/cost.h"
#include "explain/model.h"
#include "explain/rules.h"
#include "explain/tables.h"
#include "ptx/module.h"

/* The least share of all counts of its kind that an instruction must have for advice about it. */
#define SHARE_THAT_MATTERS 0.05
/* The least gain, by the model, that is worth advice. */
#define GAIN_THAT_MATTERS 0.1

struct advisor {
    const struct kernel_counters *c;
    /* The sum of all instructions of its line, because loops are unrolled. */
    const struct insn_counters *line;
    advice_list *list;
    struct arena *arena;
};

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

/* Adds advice about a line, once. `cycles`: sectors, wavefronts and issue slots that are wasted. */
static void add(struct advisor *a, const char *code, struct place place, double cycles, const char *text)
{
    for (uint32_t i = 0; place.cuda && i < a->list->n; i++) {
        struct advice *other = &a->list->at[i];
        const struct cuda_place *line = other->place.cuda;
        if (strcmp(other->code, code) == 0 && line && line->line == place.cuda->line &&
            strcmp(line->file, place.cuda->file) == 0) {
            other->cycles += cycles;
            return;
        }
    }
    *VEC_PUSH(a->arena, a->list) = (struct advice){code, text, place, cycles};
}

/* "line 12": of CUDA if it is known, else of PTX. */
static const char *where(struct advisor *a, struct place p)
{
    if (p.cuda)
        return arena_printf(a->arena, "line %u", p.cuda->line);
    return p.source ? arena_printf(a->arena, "PTX line %u", place_locate(p).line) : "a line";
}

/* "4", "4.5" */
static const char *number(struct advisor *a, double x)
{
    return arena_printf(a->arena, x >= 10 || x == (int)x ? "%.0f" : "%.1f", x);
}

/* Gives advice about an instruction; the text says what was found and what to do. */
static void give(struct advisor *a, const char *code, const struct insn_counters *i, double wasted, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));
static void give(struct advisor *a, const char *code, const struct insn_counters *i, double wasted, const char *format,
                 ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(a->arena, format, args);
    va_end(args);
    add(a, code, i->place, wasted, arena_printf(a->arena, "%s: %s", where(a, i->place), text));
}

/* Gives advice about the launch. */
static void give_of_launch(struct advisor *a, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void give_of_launch(struct advisor *a, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(a, code, (struct place){0}, 0, arena_vprintf(a->arena, format, args));
    va_end(args);
}

/* Has the line too small a share of the kernel's count to matter? */
#define IS_MINOR(a, what) (ratio((a)->line->what, (a)->c->what) < SHARE_THAT_MATTERS)

/* ---- instructions ---- */

static uint64_t magnitude(int64_t n)
{
    return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

/* The distance between neighbouring threads if all requests have the same; else 0. */
static uint64_t stride_of(const struct access_counters *x)
{
    return x->strided == x->requests && x->stride != INT64_MIN ? magnitude(x->stride) : 0;
}

static void advise_coalescing(struct advisor *a, const struct insn_counters *i, enum access_kind kind, const char *verb)
{
    enum { SMALL_STRUCTURE = 64 }; /* bytes */
    const struct access_counters *x = &i->access[kind];
    uint64_t stride = stride_of(x), lane_bytes = (uint64_t)ratio(x->bytes, x->lanes);
    if (x->sectors < 2 * x->ideal_sectors || IS_MINOR(a, access[kind].sectors))
        return;
    const char *fact = arena_printf(a->arena, "a warp %s %s sectors of 32 bytes for %s bytes", verb,
                                    number(a, ratio(x->sectors, x->requests)), number(a, ratio(x->bytes, x->requests)));
    if (stride > lane_bytes && stride <= SMALL_STRUCTURE)
        give(a, "uncoalesced", i, (double)(x->sectors - x->ideal_sectors),
             "%s: threads are %" PRIu64
             " bytes apart; let a thread access all of these bytes at once (float4, int2), let neighbouring threads "
             "take neighbouring elements, or keep each member of a structure in an array of its own",
             fact, stride);
    else if (stride > lane_bytes)
        give(a, "uncoalesced", i, (double)(x->sectors - x->ideal_sectors),
             "%s: threads are %" PRIu64 " bytes apart; let neighbouring threads take neighbouring elements: "
             "swap the indices, or go through shared memory",
             fact, stride);
    else
        give(a, "scattered", i, (double)(x->sectors - x->ideal_sectors),
             "%s: its threads access scattered addresses; order the elements as the threads access them", fact);
}

static const enum access_kind shared_kinds[] = {KIND_of_shared_ld, KIND_of_shared_st, KIND_of_shared_atom,
                                                KIND_of_copy_st};

static void advise_banks(struct advisor *a, const struct insn_counters *i, enum access_kind kind)
{
    enum { LARGEST_ACCESS = 16 }; /* bytes per thread */
    const struct access_counters *x = &i->access[kind];
    uint64_t stride = stride_of(x), all = 0, own = 0;
    for (size_t k = 0; k < sizeof shared_kinds / sizeof shared_kinds[0]; k++) {
        all += a->c->access[shared_kinds[k]].wavefronts;
        own += a->line->access[shared_kinds[k]].wavefronts;
    }
    if (x->wavefronts < 2 * x->ideal_wavefronts || ratio(own, all) < SHARE_THAT_MATTERS)
        return;
    const char *fact =
        arena_printf(a->arena, "a warp takes %s wavefronts of shared memory where %s would do",
                     number(a, ratio(x->wavefronts, x->requests)), number(a, ratio(x->ideal_wavefronts, x->requests)));
    uint64_t lane_bytes = (uint64_t)ratio(x->bytes, x->lanes);
    if (stride > lane_bytes && stride <= LARGEST_ACCESS)
        give(a, "bank-conflicts", i, (double)(x->wavefronts - x->ideal_wavefronts),
             "%s: threads are %" PRIu64 " bytes apart; let a thread access all of these bytes at once (float4, int2)",
             fact, stride);
    else if (stride && stride % 8 == 0)
        give(a, "bank-conflicts", i, (double)(x->wavefronts - x->ideal_wavefronts),
             "%s: threads are %" PRIu64 " bytes apart, and so use the same banks; make the rows of the array "
             "one element longer",
             fact, stride);
    else if (kind != KIND_of_shared_atom)
        give(a, "bank-conflicts", i, (double)(x->wavefronts - x->ideal_wavefronts),
             "%s: threads access different words in the same banks", fact);
    else
        give(a, "shared-contention", i, (double)(x->wavefronts - x->ideal_wavefronts),
             "%s: threads change the same words or banks, one after the other; give each warp a copy of its own, "
             "and add them up at the end",
             fact);
}

static void advise_contention(struct advisor *a, const struct insn_counters *i, enum access_kind kind)
{
    enum { LANES_AT_AN_ADDRESS = 8 };
    const struct access_counters *x = &i->access[kind];
    /* ptxas sums up such a warp's lanes, and they count as one: few sectors, then. */
    if (x->sectors < LANES_AT_AN_ADDRESS * x->requests || x->lanes < LANES_AT_AN_ADDRESS * x->distinct ||
        IS_MINOR(a, access[kind].sectors))
        return;
    give(a, "contention", i, (double)(x->sectors - x->requests),
         "%s threads of a warp change the same address, one after the other; add up within the warp "
         "(__shfl_down_sync; integers: __reduce_add_sync) or the block, and let one thread do the atomic",
         number(a, ratio(x->lanes, x->distinct)));
}

static void advise_branch(struct advisor *a, const struct insn_counters *i)
{
    enum { FEW_LANES = 24 };
    double active = ratio(a->c->thread_instructions, a->c->warp_instructions),
           parted = ratio(i->control.divergent, i->control.branches);
    if (active > FEW_LANES || parted < 0.25 ||
        ratio(a->line->control.divergent, a->c->control.divergent) < 4 * SHARE_THAT_MATTERS)
        return;
    give(a, "divergence", i, a->c->warp_instructions - (double)a->c->thread_instructions / DEVICE_WARP_SIZE,
         "threads of a warp diverge in %.0f%% of this line's executions, and %s of 32 are active in this kernel; "
         "make the condition the same for 32 consecutive threads, or both sides equally long",
         100 * parted, number(a, active));
}

static void advise_constants(struct advisor *a, const struct insn_counters *i)
{
    const struct access_counters *x = &i->access[KIND_of_const_ld];
    if (x->distinct < 2 * x->requests || IS_MINOR(a, access[KIND_of_const_ld].distinct))
        return;
    double in_vain = (double)(x->distinct - x->requests);
    give(a, "constants", i, in_vain,
         "a warp reads %s different constants, one after the other; shared or global memory serves "
         "threads that read different words",
         number(a, ratio(x->distinct, x->requests)));
}

static void advise_local(struct advisor *a, const struct insn_counters *i, enum access_kind kind)
{
    const struct access_counters *x = &i->access[kind];
    const struct access_counters *all = &a->c->access[kind];
    if (x->sectors < 2 * x->ideal_sectors ||
        ratio(a->line->access[kind].requests, all->requests) < SHARE_THAT_MATTERS ||
        ratio(all->requests, a->c->warp_instructions) < SHARE_THAT_MATTERS)
        return;
    give(a, "local-memory", i, (double)(x->sectors - x->ideal_sectors),
         "a thread's array is indexed by a value that is known only at run time, so it is in local memory: "
         "%s sectors a warp; unroll the loop, or keep the array in shared memory",
         number(a, ratio(x->sectors, x->requests)));
}

static int by_cycles(const void *a, const void *b)
{
    const struct advice *x = a, *y = b;
    return x->cycles != y->cycles ? (x->cycles > y->cycles ? -1 : 1) : strcmp(x->text, y->text);
}

/* The sums of lines of CUDA, by name; an instruction without a line has its own. */
static const struct insn_counters **sums_by_line(const struct kernel_counters *c, struct arena *arena)
{
    struct map by_line;
    const struct insn_counters **of = ARENA_ARRAY(arena, const struct insn_counters *, c->insns.n);
    map_init(&by_line, arena);
    for (uint32_t n = 0; n < c->insns.n; n++) {
        const struct insn_counters *i = &c->insns.at[n];
        const struct cuda_place *p = i->place.cuda;
        of[n] = i;
        if (!p)
            continue;
        struct str name = str_of(arena_printf(arena, "%s:%u", p->file, p->line));
        struct insn_counters *sum = map_get(&by_line, name);
        if (!sum) {
            sum = ARENA_NEW(arena, struct insn_counters);
            map_put(&by_line, name, sum);
        }
        insn_counters_add(sum, i);
        of[n] = sum;
    }
    return of;
}

void advise_lines(const struct kernel_counters *sums, advice_list *list, struct arena *arena)
{
    struct advisor a = {.c = sums, .list = list, .arena = arena};
    const struct insn_counters **lines = sums_by_line(sums, arena);
    for (uint32_t n = 0; n < sums->insns.n; n++) {
        const struct insn_counters *i = &sums->insns.at[n];
        a.line = lines[n];
        if (i->access[KIND_of_global_ld].requests)
            advise_coalescing(&a, i, KIND_of_global_ld, "reads");
        if (i->access[KIND_of_global_st].requests)
            advise_coalescing(&a, i, KIND_of_global_st, "writes");
        if (i->access[KIND_of_copy_ca].requests)
            advise_coalescing(&a, i, KIND_of_copy_ca, "copies");
        if (i->access[KIND_of_copy_cg].requests)
            advise_coalescing(&a, i, KIND_of_copy_cg, "copies");
        for (size_t k = 0; k < sizeof shared_kinds / sizeof shared_kinds[0]; k++)
            if (i->access[shared_kinds[k]].requests)
                advise_banks(&a, i, shared_kinds[k]);
        for (enum access_kind k = KIND_of_global_red; k <= KIND_of_global_atom; k++)
            if (i->access[k].requests)
                advise_contention(&a, i, k);
        if (i->access[KIND_of_const_ld].requests)
            advise_constants(&a, i);
        if (i->access[KIND_of_local_ld].requests)
            advise_local(&a, i, KIND_of_local_ld);
        if (i->control.branches)
            advise_branch(&a, i);
    }
    if (list->n)
        qsort(list->at, list->n, sizeof *list->at, by_cycles);
}

/* ---- a launch ---- */

static void advise_block(struct advisor *a)
{
    uint32_t threads = a->c->threads_per_block, idle = a->c->warps_per_block * DEVICE_WARP_SIZE - threads;
    if (idle * 10 >= threads && idle)
        give_of_launch(
            a, "block-size",
            "a block of %u thread%s leaves %u lanes of its last warp with nothing to do; make it a multiple of 32",
            threads, threads == 1 ? "" : "s", idle);
}

/* Rows of the block that are shorter than a sector, where the figures show that each
 * row's threads are neighbours. */
static void advise_rows(struct advisor *a)
{
    const struct access_counters *loads = &a->c->access[KIND_of_global_ld], *stores = &a->c->access[KIND_of_global_st];
    uint64_t requests = loads->requests + stores->requests, sectors = loads->sectors + stores->sectors,
             ideal = loads->ideal_sectors + stores->ideal_sectors, lanes = loads->lanes + stores->lanes;
    uint32_t width = a->c->block[0], rows = a->c->block[1] * a->c->block[2];
    uint64_t lane_bytes = (uint64_t)ratio(loads->bytes + stores->bytes, lanes);
    if (rows < 2 || !lane_bytes || width * lane_bytes >= SECTOR_BYTES || 2 * sectors < 3 * ideal ||
        ratio(sectors, requests) > ratio(lanes, requests) / width + 1)
        return;
    give_of_launch(a, "narrow-block",
                   "a row of the block has %u thread%s, with %u of the 32 bytes of a sector: make blockDim.x at least "
                   "%u, 32 at best",
                   width, width == 1 ? "" : "s", (unsigned)(width * lane_bytes), (unsigned)(SECTOR_BYTES / lane_bytes));
}

static void advise_grid(struct advisor *a, const struct device_model *d, const struct device_occupancy *o)
{
    uint64_t at_once = (uint64_t)o->blocks * device_cluster_multiprocessors(d, cluster_blocks(a->c)),
             last = at_once ? a->c->blocks % at_once : 0;
    if (a->c->blocks < d->multiprocessors)
        give_of_launch(a, "small-grid",
                       "the grid has %" PRIu64
                       " block%s for %u multiprocessors: %u have nothing to do; take smaller blocks, "
                       "or split the work further",
                       a->c->blocks, a->c->blocks == 1 ? "" : "s", d->multiprocessors,
                       d->multiprocessors - (unsigned)a->c->blocks);
    else if (a->c->blocks > at_once && a->c->blocks < 4 * at_once && last && last < at_once / 4)
        give_of_launch(a, "tail",
                       "%" PRIu64 " blocks run at a time, so the last %" PRIu64 " of %" PRIu64
                       " run alone after all others; make "
                       "the grid a multiple of the first number, or the blocks smaller",
                       at_once, last, a->c->blocks);
}

static void advise_spills(struct advisor *a)
{
    double spills = a->c->spill_loads + a->c->spill_stores;
    if (spills < SHARE_THAT_MATTERS * (double)a->c->warp_instructions)
        return;
    give_of_launch(
        a, "spills",
        "%u registers a thread are too few: spills cause about %s loads and stores of local memory for 100 of "
        "the kernel's instructions (estimated%s); allow more "
        "(__launch_bounds__, -maxrregcount), or let a thread do less",
        a->c->registers, number(a, 100 * spills / (double)a->c->warp_instructions),
        a->c->registers_guessed ? " without machine code" : "");
}

/* Advises about multiprocessors that no cluster fits on while others have several blocks. */
static void advise_clusters(struct advisor *a, const struct device_model *d)
{
    uint32_t cluster = cluster_blocks(a->c), used = device_cluster_multiprocessors(d, cluster);
    if (d->multiprocessors - used < GAIN_THAT_MATTERS * d->multiprocessors || a->c->blocks <= used)
        return;
    give_of_launch(a, "clusters",
                   "a cluster of %u blocks lies within one GPC: %u of %u multiprocessors cannot hold a cluster and "
                   "have nothing to do; clusters of %u blocks leave %u",
                   cluster, d->multiprocessors - used, d->multiprocessors, cluster / 2,
                   d->multiprocessors - device_cluster_multiprocessors(d, cluster / 2));
}

/* Would the launch be faster if one limit of occupancy were different? */
static void try_limit(struct advisor *a, const struct device_model *d, const struct device_rates *r, double ns,
                      bool registers)
{
    struct kernel_counters other = *a->c;
    uint32_t shared = a->c->static_shared_bytes + a->c->dynamic_shared_bytes;
    if (registers)
        other.registers = a->c->registers / 2;
    else
        other.static_shared_bytes = shared / 2, other.dynamic_shared_bytes = 0;
    double then = model_time(&other, d, r, &model_fit).ns;
    if (then > (1 - GAIN_THAT_MATTERS) * ns)
        return;
    const char *limit = registers ? arena_printf(a->arena, "%u registers a thread limit", a->c->registers)
                                  : arena_printf(a->arena, "%u bytes of shared memory a block limit", shared);
    give_of_launch(
        a, "occupancy",
        "%s the number of warps, which hide latency: half as many %s would take an estimated %s instead of %s%s", limit,
        registers ? "registers" : "bytes", nanoseconds_text(then, a->arena), nanoseconds_text(ns, a->arena),
        registers ? "; use __launch_bounds__ or -maxrregcount" : "");
}

static void advise_occupancy(struct advisor *a, const struct device_model *d, const struct device_occupancy *o,
                             const struct estimate *e)
{
    bool lets_more = o->by_threads > o->blocks && o->by_blocks > o->blocks;
    if (lets_more && o->by_registers == o->blocks && a->c->registers > 32 && !a->c->registers_guessed)
        try_limit(a, d, &e->rates, e->time.ns, true);
    if (lets_more && o->by_shared == o->blocks)
        try_limit(a, d, &e->rates, e->time.ns, false);
}

void advise_launch(const struct kernel_counters *c, const struct device_model *d, const struct estimate *e,
                   advice_list *list, struct arena *arena)
{
    struct advisor a = {.c = c, .list = list, .arena = arena};
    struct device_occupancy o =
        device_occupancy(d, c->threads_per_block, c->static_shared_bytes + c->dynamic_shared_bytes, c->registers);
    advise_block(&a);
    advise_rows(&a);
    if (!o.blocks)
        return;
    advise_grid(&a, d, &o);
    advise_clusters(&a, d);
    advise_spills(&a);
    if (e->time.ns > 0)
        advise_occupancy(&a, d, &o, e);
}
