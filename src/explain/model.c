/* See model.h. */
#include "explain/model.h"

#include <math.h>
#include <string.h>

#include "explain/cost.h"
#include "explain/rules.h"

const struct bound_name bound_names[BOUNDS] = {
#define BOUND(name, words) {#name, words},
#include "explain/model.def"
#undef BOUND
};

const char *bound_words(const char *name)
{
    unsigned i = 0;
    while (i + 1 < BOUNDS && strcmp(bound_names[i].name, name) != 0)
        i++;
    return bound_names[i].words;
}

const struct model_fit model_fit = {
#define FIT(name, value, ...) .name = (value),
#include "explain/model.def"
#undef FIT
};

enum { SCHEDULERS = 4 };

/* Facts about a launch that its bounds are computed from. */
struct launch {
    const struct kernel_counters *c;
    const struct device_model *d;
    const struct device_rates *r;
    const struct model_fit *fit;
    double ghz;
    double sms;      /* multiprocessors that have blocks */
    double resident; /* resident blocks per multiprocessor */
    double busiest;  /* the busiest multiprocessor's share of the work */
    double blocks;   /* blocks of that multiprocessor */
    double miss;     /* share of the loads' sectors that miss L1 ... */
    double in_dram;  /* ... and L2 */
};

static const struct access_counters *access_of(const struct launch *l, enum access_kind kind)
{
    return &l->c->access[kind];
}

/* The counters with the estimated spills added: each spill accesses one word in all lanes. */
static struct kernel_counters with_spills(const struct kernel_counters *c)
{
    struct kernel_counters all = *c;
    struct access_counters *ld = &all.access[KIND_of_local_ld], *st = &all.access[KIND_of_local_st];
    uint64_t n[] = {(uint64_t)llround(c->spill_loads), (uint64_t)llround(c->spill_stores)};
    struct access_counters *of[] = {ld, st};
    for (unsigned i = 0; i < 2; i++) {
        of[i]->requests += n[i];
        of[i]->tags += n[i];
        of[i]->sectors += n[i] * LINE_SECTORS;
        of[i]->bytes += n[i] * LINE_BYTES;
    }
    all.local_bytes += c->spilled_bytes;
    return all;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* (sum of x^n)^(1/n): the largest term, and more if others are close to it. */
static double norm(const double *x, unsigned count, double n)
{
    double top = 0, sum = 0;
    for (unsigned i = 0; i < count; i++)
        top = fmax(top, x[i]);
    for (unsigned i = 0; top > 0 && i < count; i++)
        sum += pow(x[i] / top, n);
    return top > 0 ? top * pow(sum, 1 / n) : 0;
}

/* The share of a working set that L2 has lost before it is used again: all of a much larger set,
 * part of a slightly larger one. */
static double share_in_dram(const struct launch *l)
{
    double touched = (double)l->c->touched_lines * LINE_BYTES;
    return fmin(1, fmax(0, 2 * (touched / l->r->l2_resident - 1)));
}

static struct launch describe(const struct kernel_counters *c, const struct device_model *d,
                              const struct device_rates *r, const struct model_fit *fit)
{
    struct launch l = {.c = c, .d = d, .r = r, .fit = fit, .ghz = d->clock_khz / 1e6};
    const struct access_counters *ld = &c->access[KIND_of_global_ld], *ca = &c->access[KIND_of_copy_ca],
                                 *cg = &c->access[KIND_of_copy_cg], *bulk = &c->access[KIND_of_bulk_ld];
    double blocks = (double)c->blocks;
    l.resident =
        device_occupancy(d, c->threads_per_block, c->static_shared_bytes + c->dynamic_shared_bytes, c->registers)
            .blocks;
    l.sms = device_cluster_multiprocessors(d, cluster_blocks(c));
    double rounds = ratio(blocks, l.resident * l.sms);
    /* after so many rounds, blocks of different lengths have evened out over the multiprocessors */
    enum { MANY_ROUNDS = 4 };
    l.blocks = rounds < MANY_ROUNDS ? ceil(blocks / l.sms) : blocks / l.sms;
    l.busiest = fmax(ratio(l.blocks, blocks), rounds <= 1 ? c->busiest_sm : 0);
    l.miss = ratio((double)(ld->l1_miss_sectors + ca->l1_miss_sectors + cg->sectors + bulk->sectors),
                   (double)(ld->sectors + ca->sectors + cg->sectors + bulk->sectors));
    l.in_dram = share_in_dram(&l);
    return l;
}

/* ---- bounds, in cycles ---- */

double model_instructions(const struct kernel_counters *c)
{
    /* per warp: a stack pointer, a descriptor; per divergence: BSSY, BSYNC, BREAK */
    enum { OF_A_WARP = 2, OF_A_DIVERGENCE = 3 };
    double n = OF_A_WARP * (double)c->warps + OF_A_DIVERGENCE * (double)c->control.divergent + c->spill_loads +
               c->spill_stores;
    for (unsigned k = 0; k < COST_CLASSES; k++)
        n += c->classes[k] * class_costs[k].instructions;
    return n;
}

/* Cycles of one multiprocessor's tensor cores for all products, at the full rate that wgmma
 * reaches. */
static double tensor_cycles(const struct kernel_counters *c, const struct device_rates *r)
{
    double cycles = 0;
#define TENSOR(name) cycles += ratio(c->tensor[PRODUCT_##name], r->tensor_##name);
#include "explain/cost.def"
#undef TENSOR
    return cycles;
}

/* The additional cycles of mma and wmma. */
static double mma_cycles(const struct kernel_counters *c, const struct device_rates *r)
{
    static const enum cost_class by_warps[] = {COST_mma, COST_mma_half, COST_wmma, COST_wmma_tf32, COST_wmma_s8};
    double cycles = r->mma_f64 * c->classes[COST_mma64];
    for (size_t i = 0; i < sizeof by_warps / sizeof by_warps[0]; i++)
        cycles += r->mma * c->classes[by_warps[i]] * class_costs[by_warps[i]].instructions;
    return cycles;
}

static void bound_pipes(const struct launch *l, double cycles[BOUNDS])
{
    const struct kernel_counters *c = l->c;
    double fma = 0, alu = 0, xu = 0, fp64 = 0;
    double warps = fmin(SCHEDULERS, (double)c->warps_per_block * fmin(l->resident, l->blocks));
    for (unsigned k = 0; k < COST_CLASSES; k++) {
        fma += c->classes[k] * class_costs[k].fma;
        alu += c->classes[k] * class_costs[k].alu;
        xu += c->classes[k] * class_costs[k].xu;
        fp64 += c->classes[k] * class_costs[k].fp64;
    }
    double slots = model_instructions(c) + l->fit->branch * c->classes[COST_bra];
    cycles[BOUND_issue] = l->busiest * slots / (l->r->issue * warps / SCHEDULERS);
    cycles[BOUND_fma] = l->busiest * fma / l->r->fma;
    cycles[BOUND_alu] = l->busiest * alu * l->fit->alu_share / l->r->alu;
    cycles[BOUND_xu] = l->busiest * xu / l->r->xu;
    cycles[BOUND_fp64] = l->busiest * fp64 / l->r->fp64;
    cycles[BOUND_tensor] = l->busiest * (tensor_cycles(c, l->r) + mma_cycles(c, l->r));
}

/* Passes of L1's data stage for accesses to global memory: one for each line, and one for each 128
   bytes. */
static double passes(const struct access_counters *a)
{
    return fmax((double)a->tags, (double)a->bytes / LINE_BYTES);
}

/* Wavefronts of accesses that the warp itself waits for. */
static double waited_waves(const struct launch *l)
{
    return (double)access_of(l, KIND_of_shared_ld)->wavefronts + (double)access_of(l, KIND_of_shared_st)->wavefronts +
           l->fit->shared_atomic * (double)access_of(l, KIND_of_shared_atom)->wavefronts +
           passes(access_of(l, KIND_of_global_ld)) + passes(access_of(l, KIND_of_global_st)) +
           (double)access_of(l, KIND_of_global_red)->tags + (double)access_of(l, KIND_of_global_atom)->tags +
           passes(access_of(l, KIND_of_local_ld)) + passes(access_of(l, KIND_of_local_st)) + l->c->classes[COST_shfl];
}

/* Wavefronts of accesses that proceed beside the warp. */
static double data_stage_waves(const struct launch *l)
{
    return waited_waves(l) + (double)access_of(l, KIND_of_copy_st)->wavefronts +
           (double)access_of(l, KIND_of_wgmma_ld)->wavefronts +
           (double)access_of(l, KIND_of_cluster_st)->bytes / LINE_BYTES;
}

static double data_stage_requests(const struct launch *l)
{
    double n = l->c->classes[COST_shfl];
    for (enum access_kind k = KIND_of_global_ld; k <= KIND_of_local_st; k++)
        n += (double)access_of(l, k)->requests;
    return n;
}

static void bound_data_stage(const struct launch *l, double cycles[BOUNDS])
{
    const struct access_counters *constant = access_of(l, KIND_of_const_ld);
    cycles[BOUND_lsu] = l->busiest * data_stage_waves(l) / l->r->lsu;
    cycles[BOUND_constant] = l->busiest * (l->r->const_request * (double)constant->requests +
                                           l->r->const_word * (double)(constant->distinct - constant->requests));
}

/* The share of local loads that do not fit in L1. Stores write through to L2. */
static double local_misses(const struct launch *l)
{
    double blocks = fmin(l->resident, l->blocks), threads = blocks * l->c->threads_per_block;
    double shared = l->c->static_shared_bytes + l->c->dynamic_shared_bytes + l->d->shared_bytes_reserved;
    double room = fmax(0, l->d->max_shared_bytes - l->resident * shared);
    return fmax(0, 1 - ratio(room, threads * l->c->local_bytes));
}

/* The requests of loads and stores to L2. */
struct traffic {
    double sectors, partial_lines; /* partial: lines in which a store writes parts of sectors */
    /* requested by warps, not by bulk copies; those that a warp itself waits for */
    double lines, waited_lines;
};

static void add_stores(struct traffic *t, const struct access_counters *st, double partial)
{
    t->sectors += (double)st->sectors * (1 - partial);
    t->lines += (double)st->tags * (1 - partial);
    t->waited_lines += (double)st->tags * (1 - partial);
    t->partial_lines += (double)st->tags * partial;
}

static struct traffic l2_traffic(const struct launch *l)
{
    const struct access_counters *ld = access_of(l, KIND_of_global_ld), *st = access_of(l, KIND_of_global_st);
    const struct access_counters *local_ld = access_of(l, KIND_of_local_ld), *local_st = access_of(l, KIND_of_local_st);
    const struct access_counters *ca = access_of(l, KIND_of_copy_ca), *cg = access_of(l, KIND_of_copy_cg);
    struct traffic t = {.sectors = (double)(ld->l1_miss_sectors + ca->l1_miss_sectors + cg->l1_miss_sectors +
                                            access_of(l, KIND_of_bulk_ld)->l1_miss_sectors),
                        .waited_lines = (double)ld->l1_miss_tags,
                        .lines = (double)(ld->l1_miss_tags + ca->l1_miss_tags + cg->l1_miss_tags)};
    add_stores(&t, st, ratio((double)st->partial_sectors, (double)st->sectors));
    add_stores(&t, local_st, (double)local_st->bytes < SECTOR_BYTES * (double)local_st->sectors ? 1 : 0);
    t.sectors += local_misses(l) * (double)local_ld->sectors;
    t.lines += local_misses(l) * (double)local_ld->tags;
    t.waited_lines += local_misses(l) * (double)local_ld->tags;
    return t;
}

/* Pairs of sectors of asynchronous copies, which move whole lines. */
static double copied_pairs(const struct launch *l)
{
    return (double)(access_of(l, KIND_of_copy_ca)->pairs + access_of(l, KIND_of_copy_cg)->pairs +
                    access_of(l, KIND_of_bulk_ld)->pairs + access_of(l, KIND_of_bulk_st)->pairs +
                    access_of(l, KIND_of_bulk_red)->pairs);
}

/* The time of the busiest multiprocessor's copy engine. */
static void bound_bulk(const struct launch *l, double cycles[BOUNDS])
{
    const struct device_rates *r = l->r;
    cycles[BOUND_bulk] = l->busiest * (ratio((double)access_of(l, KIND_of_bulk_ld)->bytes, r->bulk_load) +
                                       ratio((double)access_of(l, KIND_of_bulk_st)->bytes, r->bulk_store) +
                                       ratio((double)access_of(l, KIND_of_bulk_red)->bytes, r->bulk_red));
}

static void bound_memory(const struct launch *l, double cycles[BOUNDS])
{
    const struct access_counters *ld = access_of(l, KIND_of_global_ld), *st = access_of(l, KIND_of_global_st);
    double partial = ratio((double)st->partial_sectors, (double)st->sectors);
    struct traffic t = l2_traffic(l);
    double l2_ns = t.sectors / l->r->l2_sectors + t.partial_lines / l->r->l2_partial +
                   (double)access_of(l, KIND_of_bulk_st)->sectors / l->r->bulk_store_sectors;
    double copied = copied_pairs(l);
    double pairs = (double)ld->pairs + copied + (double)st->pairs * (1 + partial * (l->fit->dram_partial - 1));
    double whole_lines =
        fmin(1, ratio((double)(ld->pairs + st->pairs) + copied, 2.0 * (double)(ld->tags + st->tags) + copied));
    double rate = whole_lines * l->r->dram + (1 - whole_lines) * l->r->dram_random;
    cycles[BOUND_l2] = fmax(l2_ns * l->ghz, l->busiest * t.lines / l->r->l1_miss_lines);
    cycles[BOUND_dram] = l->in_dram * 2 * SECTOR_BYTES * pairs / rate * l->ghz;
}

static void bound_device(const struct launch *l, double cycles[BOUNDS])
{
    const struct access_counters *red = access_of(l, KIND_of_global_red), *atom = access_of(l, KIND_of_global_atom);
    double ns = fmax((double)(red->sectors + atom->sectors) / l->r->atomic_sectors,
                     (double)(red->lanes + atom->lanes) / l->r->atomic_lanes) +
                (double)access_of(l, KIND_of_bulk_red)->sectors / l->r->bulk_red_sectors;
    bool in_bulk = access_of(l, KIND_of_bulk_red)->sectors > red->sectors + atom->sectors;
    double hot = (double)l->c->hottest[0].operations / (in_bulk ? l->r->bulk_red_hot : l->r->atomic_hot);
    cycles[BOUND_atomic] = fmax(ns, hot) * l->ghz;
    cycles[BOUND_launch] = (double)l->c->blocks * l->r->block * l->ghz;
}

/* ---- a multiprocessor ---- */

/* Weighs the clocks for global loads from L1, L2 and DRAM by where the loads come from. */
static double mixed(const struct launch *l, const double clock[CLOCK_LEVELS])
{
    double far = (1 - l->in_dram) * clock[CLOCK_L2] + l->in_dram * clock[CLOCK_DRAM];
    /* Warps that hit a line another warp has just requested wait as long. */
    double miss = fmin(1, l->miss * l->c->warps_per_block);
    return (1 - miss) * clock[CLOCK_L1] + miss * far;
}

/* Cycles of a block alone: its warps' chains, then the additional wavefronts of each warp's
 * accesses and the lines that miss L1, and one warp after another at each barrier. */
static double block_latency(const struct launch *l)
{
    double per_block = mixed(l, l->c->sum_block_clock) / (double)l->c->blocks;
    double waves = fmax(0, waited_waves(l) - data_stage_requests(l)) / (double)l->c->warps / l->r->lsu;
    double barriers = (double)l->c->control.barrier_warps / (double)l->c->blocks / l->r->barrier_warps;
    double misses = l2_traffic(l).waited_lines / (double)l->c->warps / l->r->l1_miss_lines;
    return per_block + waves + misses + (l->c->warps_per_block > 1 ? barriers : 0);
}

/* Cycles of so many concurrent blocks, which use the pipes for `demand` cycles each and take
 * `latency` alone. Four schedulers with pipes of their own share the warps: one of them is
 * modelled. */
static double round_cycles(const struct launch *l, double blocks, double demand, double latency)
{
    double warps = fmax(1, blocks * l->c->warps_per_block / SCHEDULERS), own = demand * blocks / warps;
    double wait = demand * blocks, think = fmax(0, latency - own);
    if (blocks <= 0)
        return 0;
    for (int i = 0; i < 60; i++) /* iterates to a fixed point, which takes few steps */
        wait = own * (1 + (warps - 1) * ratio(wait, wait + think));
    return wait + think;
}

/* Cycles of a multiprocessor's pipes for its share. An instruction occupies its issue slot and its
 * pipe at once, then leaves the rest to the data stage, special function units, tensor cores and
 * constant cache. */
static double pipe_cycles(const struct launch *l, const double cycles[BOUNDS])
{
    double slots = fmax(fmax(cycles[BOUND_issue], cycles[BOUND_fma]), fmax(cycles[BOUND_alu], cycles[BOUND_fp64]));
    double units[] = {slots, cycles[BOUND_xu], cycles[BOUND_tensor], cycles[BOUND_lsu], cycles[BOUND_constant]};
    return norm(units, sizeof units / sizeof units[0], l->fit->pipes);
}

static double multiprocessor_cycles(const struct launch *l, const double cycles[BOUNDS], double latency)
{
    double demand = pipe_cycles(l, cycles) / l->blocks;
    double rounds = floor(l->blocks / l->resident), rest = l->blocks - rounds * l->resident;
    double full = round_cycles(l, l->resident, demand, latency);
    bool evened = l->blocks != floor(l->blocks);
    if (evened)
        return l->blocks / l->resident * (full + l->fit->turnover);
    double turns = rounds + (rest > 0) - 1;
    return rounds * full + round_cycles(l, rest, demand, latency) + turns * l->fit->turnover;
}

static void rank(struct model_time *t)
{
    for (unsigned k = 0; k < BOUNDS; k++)
        if (t->bound_ns[k] > t->bound_ns[t->first])
            t->first = k;
    t->second = t->first == 0 ? 1 : 0;
    for (unsigned k = 0; k < BOUNDS; k++)
        if (k != t->first && t->bound_ns[k] > t->bound_ns[t->second])
            t->second = k;
}

struct model_time model_time(const struct kernel_counters *c, const struct device_model *d,
                             const struct device_rates *r, const struct model_fit *fit)
{
    struct kernel_counters all = with_spills(c);
    struct launch l = describe(&all, d, r, fit);
    struct model_time t = {0};
    double cycles[BOUNDS] = {0};
    if (l.resident * l.sms == 0 || c->blocks == 0)
        return t;
    bound_pipes(&l, cycles);
    bound_data_stage(&l, cycles);
    bound_memory(&l, cycles);
    bound_bulk(&l, cycles);
    bound_device(&l, cycles);
    double latency = block_latency(&l);
    double sm = fmax(multiprocessor_cycles(&l, cycles, latency), mixed(&l, c->max_block_clock));
    cycles[BOUND_latency] = latency * fmax(1, l.blocks / l.resident);
    double parts[] = {
        sm, cycles[BOUND_bulk], cycles[BOUND_l2], cycles[BOUND_dram], cycles[BOUND_atomic], cycles[BOUND_launch]};
    t.ns = r->launch + norm(parts, sizeof parts / sizeof parts[0], fit->bounds) / l.ghz;
    for (unsigned k = 0; k < BOUNDS; k++)
        t.bound_ns[k] = cycles[k] / l.ghz;
    rank(&t);
    return t;
}

struct estimate model_estimate(const struct kernel_counters *c, const struct device_model *d)
{
    bool known;
    struct estimate e = {.rates = device_rates(d->product, &known)};
    if (known)
        e.time = model_time(c, d, &e.rates, &model_fit);
    return e;
}

/* ---- roofline ---- */

struct roofline model_roofline(const struct kernel_counters *c, const struct device_model *d,
                               const struct device_rates *r)
{
    double sms = d->multiprocessors * (d->clock_khz / 1e6);
    struct device_rates rates = *r;
    struct launch l = {.c = c, .d = d, .r = &rates};
    const struct access_counters *ld = access_of(&l, KIND_of_global_ld), *st = access_of(&l, KIND_of_global_st);
    double waves =
        (double)(access_of(&l, KIND_of_shared_ld)->wavefronts + access_of(&l, KIND_of_shared_st)->wavefronts +
                 access_of(&l, KIND_of_shared_atom)->wavefronts + access_of(&l, KIND_of_copy_st)->wavefronts +
                 access_of(&l, KIND_of_wgmma_ld)->wavefronts);
    uint64_t copied = access_of(&l, KIND_of_copy_ca)->l1_miss_sectors +
                      access_of(&l, KIND_of_copy_cg)->l1_miss_sectors +
                      access_of(&l, KIND_of_bulk_ld)->l1_miss_sectors + access_of(&l, KIND_of_bulk_st)->sectors +
                      access_of(&l, KIND_of_bulk_red)->sectors;
    double tensor = 0;
    for (unsigned t = 0; t < PRODUCT_TYPES; t++)
        tensor += c->tensor[t];
    return (struct roofline){
        .flops = c->flops,
        .flops64 = c->flops64,
        .flops_tensor = tensor,
        .dram_bytes = share_in_dram(&l) * 2 * SECTOR_BYTES * ((double)(ld->pairs + st->pairs) + copied_pairs(&l)),
        .l2_bytes = SECTOR_BYTES * (double)(ld->l1_miss_sectors + st->sectors + copied),
        .shared_bytes = LINE_BYTES * waves,
        .loaded_bytes = (double)(ld->bytes + access_of(&l, KIND_of_copy_ca)->bytes +
                                 access_of(&l, KIND_of_copy_cg)->bytes + access_of(&l, KIND_of_bulk_ld)->bytes),
        .peak_flops = 2 * DEVICE_WARP_SIZE * r->fma * sms,
        .peak_flops64 = 2 * DEVICE_WARP_SIZE * r->fp64 * sms,
        .peak_tensor = ratio(tensor, tensor_cycles(c, r)) * sms,
        .peak_dram = r->dram,
        .peak_l2 = SECTOR_BYTES * r->l2_sectors,
        .peak_shared = LINE_BYTES * r->lsu * sms,
    };
}
