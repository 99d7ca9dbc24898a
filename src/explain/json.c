/* See json.h. */
#include "explain/json.h"

#include <math.h>
#include <stdlib.h>

#include "base/demangle.h"
#include "base/printable.h"
#include "explain/advice.h"
#include "explain/l1.h"
#include "explain/model.h"
#include "explain/rules.h"
#include "explain/tables.h"
#include "explain/timeline.h"
#include "ptx/module.h"

static json_t *integer(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *text(struct str s, struct arena *arena)
{
    return json_string(printable(arena, s));
}

static struct str trimmed(struct str s)
{
    for (; s.n && (*s.p == ' ' || *s.p == '\t'); s.n--)
        s.p++;
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    return s;
}

static json_t *triple(const uint32_t n[3])
{
    return json_pack("[I, I, I]", (json_int_t)n[0], (json_int_t)n[1], (json_int_t)n[2]);
}

/* ---- accesses ---- */

static const char *const kinds[ACCESS_KINDS] = {
#define KIND(name, ncu) #name,
#include "explain/counters.def"
#undef KIND
};

/* The counters that are not 0. */
static json_t *access_json(const struct access_counters *a)
{
    json_t *o = json_object();
#define ACCESS(name, meaning)                                                                                          \
    if (a->name)                                                                                                       \
        json_object_set_new(o, #name, integer(a->name));
#include "explain/counters.def"
#undef ACCESS
    if (a->strided && a->stride != INT64_MIN)
        json_object_set_new(o, "stride", json_integer(a->stride));
    return o;
}

static json_t *accesses_json(const struct access_counters access[ACCESS_KINDS])
{
    json_t *o = json_object();
    for (int i = 0; i < ACCESS_KINDS; i++)
        if (access[i].requests)
            json_object_set_new(o, kinds[i], access_json(&access[i]));
    return o;
}

/* ---- metrics ---- */

static double limit(uint32_t blocks)
{
    return blocks == UINT32_MAX ? 0 : blocks;
}

static double conflicts(const struct access_counters *a)
{
    return (double)(a->wavefronts - a->ideal_wavefronts);
}

/* Sums loads of global memory and cp.async, which are alike to L1. */
static struct access_counters all_loads(const struct kernel_counters *c)
{
    struct access_counters sum = c->access[KIND_of_global_ld];
    access_counters_add(&sum, &c->access[KIND_of_copy_ca]);
    access_counters_add(&sum, &c->access[KIND_of_copy_cg]);
    return sum;
}

/* The sectors among them that L1 did not have. */
static uint64_t missed(const struct kernel_counters *c)
{
    return c->access[KIND_of_global_ld].l1_miss_sectors + c->access[KIND_of_copy_ca].l1_miss_sectors +
           c->access[KIND_of_copy_cg].sectors;
}

static double active_lanes(const struct kernel_counters *c)
{
    return c->warp_instructions ? (double)c->thread_instructions / (double)c->warp_instructions : 0;
}

/* In per cent, averaged over the multiprocessors that have blocks: each has as many resident as fit
 * and as there are. Starts and ends of blocks are ignored. */
static double achieved_occupancy(const struct kernel_counters *c, const struct device_model *d,
                                 const struct device_occupancy *o, double max_warps)
{
    double used = fmin(device_cluster_multiprocessors(d, cluster_blocks(c)), (double)c->blocks),
           blocks = used > 0 ? (double)c->blocks / used : 0;
    double rounds = o->blocks ? ceil(blocks / o->blocks) : 0;
    return rounds > 0 ? 100 * blocks / rounds * c->warps_per_block / max_warps : 0;
}

static json_t *number(double value)
{
    return value == (double)(json_int_t)value ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *metrics_json(const struct kernel_counters *c, const struct device_model *d,
                            const struct device_occupancy *o)
{
    json_t *metrics = json_object();
    enum { SHARED_UNIT = 128 };
    const struct access_counters loads = all_loads(c);
    uint32_t shared = c->static_shared_bytes + c->dynamic_shared_bytes;
    double max_warps = d->max_threads / WARP_LANES;
    uint32_t carveout = l1_carveout(d, c->threads_per_block, shared, c->registers);
    uint32_t block_shared = (shared + d->shared_bytes_reserved + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
#define KIND(name)                 (&c->access[KIND_of_##name])
#define METRIC(name, value, exact) json_object_set_new(metrics, name, number((double)(value)));
#include "explain/metrics.def"
#undef METRIC
#undef KIND
    return metrics;
}

/* ---- advice ---- */

static json_t *advice_json(const advice_list *list, struct arena *arena)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < list->n; i++) {
        const struct advice *a = &list->at[i];
        json_t *o = json_pack("{s:s, s:s}", "code", a->code, "text", a->text);
        if (a->place.cuda) {
            json_object_set_new(o, "file", text(str_of(a->place.cuda->file), arena));
            json_object_set_new(o, "line", json_integer(a->place.cuda->line));
        }
        json_array_append_new(all, o);
    }
    return all;
}

static json_t *launch_advice(const struct kernel_counters *c, const struct device_model *d, const struct estimate *e,
                             struct arena *arena)
{
    advice_list list = {0};
    advise_launch(c, d, e, &list, arena);
    return advice_json(&list, arena);
}

/* ---- a launch ---- */

/* Occupancy by block size, with the launch's registers and shared memory. */
static json_t *occupancy_plot(const struct kernel_counters *c, const struct device_model *d)
{
    json_t *plot = json_array();
    uint32_t shared = c->static_shared_bytes + c->dynamic_shared_bytes;
    for (uint32_t threads = WARP_LANES; threads <= DEVICE_MAX_THREADS_PER_BLOCK; threads += WARP_LANES) {
        uint32_t blocks = device_occupancy(d, threads, shared, c->registers).blocks;
        json_array_append_new(plot,
                              json_pack("{s:I, s:I, s:I}", "threads", (json_int_t)threads, "blocks", (json_int_t)blocks,
                                        "warps", (json_int_t)(blocks * (threads / WARP_LANES))));
    }
    return plot;
}

static json_t *occupancy_json(const struct kernel_counters *c, const struct device_model *d,
                              const struct device_occupancy *o)
{
    const struct {
        const char *name;
        uint32_t blocks;
    } limits[] = {{"registers", o->by_registers},
                  {"shared_mem", o->by_shared},
                  {"warps", o->by_threads},
                  {"blocks", o->by_blocks}};
    json_t *all = json_object(), *limiters = json_array();
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].blocks == UINT32_MAX)
            continue;
        json_object_set_new(all, limits[i].name, integer(limits[i].blocks));
        if (limits[i].blocks == o->blocks)
            json_array_append_new(limiters, json_string(limits[i].name));
    }
    uint64_t warps = (uint64_t)o->blocks * c->warps_per_block;
    json_t *of = json_pack("{s:I, s:I, s:f, s:o, s:o, s:o}", "blocks", (json_int_t)o->blocks, "warps",
                           (json_int_t)warps, "percent", 100.0 * (double)warps * WARP_LANES / d->max_threads, "limits",
                           all, "limiters", limiters, "plot", occupancy_plot(c, d));
    if (c->cluster[0]) {
        json_object_set_new(of, "clusters", integer(device_clusters(d, o->blocks, cluster_blocks(c))));
        json_object_set_new(of, "multiprocessors", integer(device_cluster_multiprocessors(d, cluster_blocks(c))));
    }
    return of;
}

static json_t *classes_json(const struct kernel_counters *c)
{
    json_t *o = json_object();
    for (int i = 0; i < COST_CLASSES; i++)
        if (c->classes[i] > 0)
            json_object_set_new(o, class_costs[i].name, number(c->classes[i]));
    return o;
}

/* Operations of tensor cores by type. */
static json_t *tensor_json(const struct kernel_counters *c)
{
    json_t *o = json_object();
    for (int i = 0; i < PRODUCT_TYPES; i++)
        if (c->tensor[i] > 0)
            json_object_set_new(o, product_names[i], number(c->tensor[i]));
    return o;
}

static json_t *clock_json(const double clock[CLOCK_LEVELS])
{
    return json_pack("[f, f, f]", clock[CLOCK_L1], clock[CLOCK_L2], clock[CLOCK_DRAM]);
}

/* A device with only some known rates, such as a G80, has ceilings and no time. */
static void put_roofline(json_t *o, const struct kernel_counters *c, const struct device_model *d,
                         const struct device_rates *rates)
{
    struct roofline r = model_roofline(c, d, rates);
    if (r.peak_flops > 0)
        json_object_set_new(o, "roofline",
                            json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "flops",
                                      r.flops, "flops64", r.flops64, "flops_tensor", r.flops_tensor, "peak_tensor",
                                      r.peak_tensor, "dram_bytes", r.dram_bytes, "l2_bytes", r.l2_bytes, "shared_bytes",
                                      r.shared_bytes, "loaded_bytes", r.loaded_bytes, "peak_flops", r.peak_flops,
                                      "peak_flops64", r.peak_flops64, "peak_dram", r.peak_dram, "peak_l2", r.peak_l2,
                                      "peak_shared", r.peak_shared));
}

static void put_time(json_t *o, const struct model_time *t)
{
    json_t *bounds = json_object();
    for (int i = 0; i < BOUNDS; i++)
        json_object_set_new(bounds, bound_names[i].name, json_real(t->bound_ns[i]));
    json_object_set_new(o, "time_ns", json_real(t->ns));
    json_object_set_new(o, "bound", json_string(bound_names[t->first].name));
    json_object_set_new(o, "next_bound", json_string(bound_names[t->second].name));
    json_object_set_new(o, "bounds_ns", bounds);
}

static json_t *timeline_json(const struct timeline *t)
{
    static const char *const words[] = {[SPAN_RUN] = "run", [SPAN_WAIT] = "memory", [SPAN_BARRIER] = "barrier"};
    json_t *warps = json_array();
    for (uint32_t w = 0; w < t->n_warps; w++) {
        json_t *spans = json_array();
        for (uint32_t i = 0; i < t->warps[w].n; i++) {
            const struct span *s = &t->warps[w].span[i];
            json_array_append_new(spans, json_pack("{s:f, s:f, s:s}", "from", (double)s->from, "to", (double)s->to,
                                                   "what", words[s->kind]));
        }
        json_array_append_new(warps, spans);
    }
    return json_pack("{s:o, s:b, s:o}", "block", triple(t->block), "cut", t->cut, "warps", warps);
}

static json_t *barriers_json(const struct kernel_counters *c)
{
    json_t *o = json_pack("{s:I, s:I, s:I}", "opened", (json_int_t)c->barriers, "warps",
                          (json_int_t)c->control.barrier_warps, "wait", (json_int_t)c->control.barrier_wait),
           *of_warp = json_array();
    for (uint32_t i = 0; i < c->warps_per_block && i < MAX_WARPS && c->barriers; i++)
        json_array_append_new(of_warp, integer(c->barrier_wait_of_warp[i]));
    json_object_set_new(o, "wait_of_warp", of_warp);
    return o;
}

/* The places that atomics access most, with counts. */
static json_t *hottest_json(const struct kernel_counters *c, struct arena *arena)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < HOT_PLACES && c->hottest[i].operations; i++) {
        const struct hot_place *p = &c->hottest[i];
        json_t *o = json_pack("{s:I}", "operations", (json_int_t)p->operations);
        if (p->bytes) {
            json_object_set_new(o, "offset", integer(p->offset));
            json_object_set_new(o, "of_bytes", integer(p->bytes));
        }
        if (p->name)
            json_object_set_new(o, "of", text(str_of(p->name), arena));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *footprint_json(const struct kernel_counters *c, struct arena *arena)
{
    json_t *o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "read_sectors", (json_int_t)c->read_sectors, "read_pairs",
                          (json_int_t)c->read_pairs, "written_sectors", (json_int_t)c->written_sectors,
                          "touched_sectors", (json_int_t)c->touched_sectors, "touched_lines",
                          (json_int_t)c->touched_lines, "hot", (json_int_t)c->hottest[0].operations);
    if (o && c->hottest[0].operations)
        json_object_set_new(o, "hottest", hottest_json(c, arena));
    return o;
}

json_t *counters_json(const struct kernel_counters *c, const struct device_model *d, const struct estimate *e,
                      struct arena *arena)
{
    struct device_occupancy occupancy =
        device_occupancy(d, c->threads_per_block, c->static_shared_bytes + c->dynamic_shared_bytes, c->registers);
    json_t *o = json_pack("{s:s, s:s, s:I, s:o, s:o}", "kernel", c->name, "mangled", c->mangled, "number",
                          (json_int_t)c->number, "grid", triple(c->grid), "block", triple(c->block));
    if (!o)
        return NULL;
    if (c->launched_by)
        json_object_set_new(o, "launched_by", text(str_of(demangle(str_of(c->launched_by), arena)), arena));
    put_roofline(o, c, d, &e->rates);
    if (e->time.ns > 0)
        put_time(o, &e->time);
    if (c->sampled)
        json_object_set_new(o, "sampled", json_true());
    if (c->cluster[0])
        json_object_set_new(o, "cluster", triple(c->cluster));
    json_object_set_new(o, "registers", integer(c->registers));
    json_object_set_new(o, "registers_estimated", json_boolean(c->registers_guessed));
    json_object_set_new(o, "static_shared_bytes", integer(c->static_shared_bytes));
    json_object_set_new(o, "dynamic_shared_bytes", integer(c->dynamic_shared_bytes));
    json_object_set_new(o, "local_bytes", integer(c->local_bytes));
    if (c->spill_loads + c->spill_stores > 0)
        json_object_set_new(o, "spills",
                            json_pack("{s:f, s:f, s:I}", "loads", c->spill_loads, "stores", c->spill_stores, "bytes",
                                      (json_int_t)c->spilled_bytes));
    json_object_set_new(o, "blocks", integer(c->blocks));
    json_object_set_new(o, "warps", integer(c->warps));
    json_object_set_new(o, "occupancy", occupancy_json(c, d, &occupancy));
    json_object_set_new(o, "warp_instructions", integer(c->warp_instructions));
    json_object_set_new(o, "thread_instructions", integer(c->thread_instructions));
    json_object_set_new(o, "branches", integer(c->control.branches));
    json_object_set_new(o, "divergent", integer(c->control.divergent));
    json_object_set_new(o, "busiest_sm", json_real(c->busiest_sm));
    json_object_set_new(o, "metrics", metrics_json(c, d, &occupancy));
    json_object_set_new(o, "classes", classes_json(c));
    json_object_set_new(o, "tensor", tensor_json(c));
    json_object_set_new(o, "access", accesses_json(c->access));
    json_object_set_new(o, "footprint", footprint_json(c, arena));
    json_object_set_new(o, "barriers", barriers_json(c));
    json_object_set_new(o, "clock",
                        json_pack("{s:o, s:o, s:o, s:o}", "sum_warp", clock_json(c->sum_warp_clock), "max_warp",
                                  clock_json(c->max_warp_clock), "sum_block", clock_json(c->sum_block_clock),
                                  "max_block", clock_json(c->max_block_clock)));
    json_object_set_new(o, "advice", launch_advice(c, d, e, arena));
    if (c->timeline)
        json_object_set_new(o, "timeline", timeline_json(c->timeline));
    return o;
}

/* ---- names ---- */

json_t *names_json(void)
{
    json_t *bounds = json_object(), *classes = json_object();
    for (int i = 0; i < BOUNDS; i++)
        json_object_set_new(bounds, bound_names[i].name, json_string(bound_names[i].words));
    for (int i = 0; i < COST_CLASSES; i++)
        json_object_set_new(classes, class_costs[i].name,
                            json_pack("[s, s]", class_costs[i].words, class_costs[i].meaning));
    return json_pack("{s:o, s:o}", "bounds", bounds, "classes", classes);
}

/* ---- a device ---- */

json_t *device_limits_json(const struct device_model *d)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "multiprocessors", (json_int_t)d->multiprocessors,
                     "threads", (json_int_t)d->max_threads, "blocks", (json_int_t)d->max_blocks, "registers",
                     (json_int_t)device_registers(d), "shared_bytes", (json_int_t)d->max_shared_bytes, "block_threads",
                     (json_int_t)device_block_threads(d), "block_shared_bytes", (json_int_t)d->shared_bytes_optin,
                     "l2_bytes", (json_int_t)d->l2_bytes, "clock_khz", (json_int_t)d->clock_khz);
}

json_t *device_rates_json(const struct device_model *d)
{
    json_t *all = json_array();
    for (int i = 0; i < RATE_COUNT; i++) {
        struct known_rate r = device_rate(d->product, (enum rate)i);
        if (r.from)
            json_array_append_new(all, json_pack("{s:s, s:f, s:s, s:s, s:s}", "name", r.name, "value", r.value, "unit",
                                                 r.unit, "meaning", r.meaning, "from", r.from));
    }
    return all;
}

/* ---- a kernel ---- */

static void put_sums(json_t *o, const struct insn_counters *i)
{
    json_object_set_new(o, "warp_instructions", integer(i->warp_instructions));
    json_object_set_new(o, "thread_instructions", integer(i->thread_instructions));
    if (i->control.branches) {
        json_object_set_new(o, "branches", integer(i->control.branches));
        json_object_set_new(o, "divergent", integer(i->control.divergent));
        json_object_set_new(o, "taken", integer(i->control.taken));
    }
    if (i->control.barrier_warps) {
        json_object_set_new(o, "barrier_warps", integer(i->control.barrier_warps));
        json_object_set_new(o, "barrier_wait", integer(i->control.barrier_wait));
        json_object_set_new(o, "barrier_longest", integer(i->control.barrier_longest));
    }
    json_t *access = accesses_json(i->access);
    if (json_object_size(access))
        json_object_set(o, "access", access);
    json_decref(access);
}

static json_t *line_json(const struct line_counters *l, struct arena *arena)
{
    json_t *o = json_pack("{s:o, s:I}", "file", text(str_of(l->file), arena), "line", (json_int_t)l->line);
    put_sums(o, &l->sum);
    return o;
}

static json_t *insn_json(const struct insn_counters *i, struct arena *arena)
{
    const struct cuda_place *p = i->place.cuda;
    json_t *o = json_object();
    if (i->place.source) {
        struct place_line at = place_locate(i->place);
        json_object_set_new(o, "module", text(str_of(i->place.source->name), arena));
        json_object_set_new(o, "ptx_line", integer(at.line));
        json_object_set_new(o, "text", text(trimmed(at.text), arena));
    }
    json_object_set_new(o, "opcode", text(i->insn->inst->text, arena));
    if (p) {
        json_object_set_new(o, "file", text(str_of(p->file), arena));
        json_object_set_new(o, "line", integer(p->line));
    }
    const struct cuda_line *inner = p ? cuda_innermost(p) : NULL;
    if (inner) {
        json_object_set_new(o, "inlined_file", text(str_of(inner->file), arena));
        json_object_set_new(o, "inlined_line", integer(inner->line));
    }
    put_sums(o, i);
    return o;
}

json_t *counters_kernel_json(const struct kernel_counters *c, const struct kernel_launches *launches,
                             struct arena *arena)
{
    json_t *lines = json_array(), *insns = json_array();
    for (uint32_t i = 0; i < c->lines.n; i++)
        json_array_append_new(lines, line_json(&c->lines.at[i], arena));
    for (uint32_t i = 0; i < c->insns.n; i++)
        json_array_append_new(insns, insn_json(&c->insns.at[i], arena));
    advice_list advice = {0};
    advise_lines(c, &advice, arena);
    json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "kernel", c->name, "mangled", c->mangled, "number",
                          (json_int_t)c->number, "launches", (json_int_t)launches->all, "advice",
                          advice_json(&advice, arena), "lines", lines, "instructions", insns);
    if (o && launches->sampled) {
        json_object_set_new(o, "sampled", integer(launches->sampled));
        json_object_set_new(o, "sampling_error", json_real(launches->error));
    }
    return o;
}
