/* Prints the summary of explanation.h, a paragraph for each kernel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_name.h"
#include "base/map.h"
#include "base/text.h"
#include "cli/explanation.h"
#include "exec/device.h"
#include "explain/model.h"
#include "report/report.h"

static const char *string(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

/* A rate, in operations per nanosecond. */
static const char *rate_text(double rate, struct arena *arena)
{
    return rate < 1e3 ? arena_printf(arena, "%.1f GFLOP/s", rate) : arena_printf(arena, "%.1f TFLOP/s", 1e-3 * rate);
}

enum { MOST_KERNELS = 10 }; /* the kernels that take longest */

/* ---- a kernel and its launches ---- */

struct group {
    const json_t *kernel; /* by line, or NULL */
    const json_t *first;  /* the first launch */
    size_t launches;
    double ns, least_ns, most_ns;
    json_t *access;  /* sums over the launches */
    json_t *parents; /* launches by the kernels that launched them; the host launched the rest */
    double warp_instructions, thread_instructions, branches, divergent, flops, flops64, tensor, loaded_bytes;
    bool shapes; /* launches differ in grid or block */
};

static void add_access(json_t *sums, const json_t *access, double times)
{
    const char *kind, *name;
    json_t *of, *v;
    json_object_foreach((json_t *)access, kind, of)
    {
        json_t *sum = json_object_get(sums, kind);
        if (!sum) {
            json_object_set_new(sums, kind, json_object());
            sum = json_object_get(sums, kind);
        }
        json_object_foreach(of, name, v)
            json_object_set_new(sum, name, json_real(real_of(sum, name) + times * json_number_value(v)));
    }
}

/* Adds `times` launches that are equal. */
static void add_launches(struct group *g, const json_t *launch, uint64_t n)
{
    const json_t *roofline = json_object_get(launch, "roofline");
    double ns = real_of(launch, "time_ns"), times = (double)n;
    g->least_ns = !g->launches || ns < g->least_ns ? ns : g->least_ns;
    g->most_ns = ns > g->most_ns ? ns : g->most_ns;
    g->ns += times * ns;
    g->launches += n;
    g->warp_instructions += times * real_of(launch, "warp_instructions");
    g->thread_instructions += times * real_of(launch, "thread_instructions");
    g->branches += times * real_of(launch, "branches");
    g->divergent += times * real_of(launch, "divergent");
    g->flops += times * real_of(roofline, "flops");
    g->flops64 += times * real_of(roofline, "flops64");
    g->tensor += times * real_of(roofline, "flops_tensor");
    g->loaded_bytes += times * real_of(roofline, "loaded_bytes");
    g->shapes |= !json_equal(json_object_get(g->first, "grid"), json_object_get(launch, "grid")) ||
                 !json_equal(json_object_get(g->first, "block"), json_object_get(launch, "block"));
    add_access(g->access, json_object_get(launch, "access"), times);
    const char *parent = json_string_value(json_object_get(launch, "launched_by"));
    if (parent)
        json_object_set_new(g->parents, parent,
                            json_integer((json_int_t)n + json_integer_value(json_object_get(g->parents, parent))));
}

static void group_end(struct group *g)
{
    json_decref(g->access);
    json_decref(g->parents);
}

static int by_time(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->ns > y->ns ? -1 : x->ns < y->ns;
}

/* The kernels of the explanation, the longest first. */
static struct group *find_groups(const struct explanation *e, size_t *n, struct arena *arena)
{
    struct group *groups = ARENA_ARRAY(arena, struct group, json_array_size(e->rows));
    const uint64_t *times = explanation_times(e, arena);
    struct map by_key;
    size_t i;
    json_t *launch;
    map_init(&by_key, arena);
    *n = 0;
    json_array_foreach(e->rows, i, launch)
    {
        struct explanation_key key = explanation_key(launch);
        struct group *g = map_get(&by_key, str_of(key.text));
        if (!g) {
            g = &groups[(*n)++];
            *g = (struct group){.first = launch,
                                .access = json_object(),
                                .parents = json_object(),
                                .kernel = json_object_get(e->kernels, key.text)};
            map_put(&by_key, str_of(arena_strdup(arena, key.text)), g);
        }
        add_launches(g, launch, times[i]);
    }
    qsort(groups, *n, sizeof *groups, by_time);
    return groups;
}

/* ---- paragraphs ---- */

static const char *dims(const json_t *of, const char *key, struct arena *arena)
{
    const json_t *d = json_object_get(of, key);
    long long n[3] = {1, 1, 1};
    for (size_t i = 0; i < 3; i++)
        n[i] = json_integer_value(json_array_get(d, i));
    return n[2] > 1   ? arena_printf(arena, "%lldx%lldx%lld", n[0], n[1], n[2])
           : n[1] > 1 ? arena_printf(arena, "%lldx%lld", n[0], n[1])
                      : arena_printf(arena, "%lld", n[0]);
}

static void print_head(const struct group *g, double launch_ns, FILE *out, struct arena *arena)
{
    fprintf(out, "\n%s: ", string(g->first, "kernel"));
    if (g->launches > 1)
        fprintf(out, "%s launches, ", count_text(g->launches, arena));
    fprintf(out, "grid %s, block %s%s: ", dims(g->first, "grid", arena), dims(g->first, "block", arena),
            g->shapes ? " (the first)" : "");
    if (!(g->ns > 0))
        fputs("no time: this device's rates are not known\n", out);
    else if (g->launches == 1)
        fprintf(out, "%s", nanoseconds_text(g->ns, arena));
    else
        fprintf(out, "%s (%s to %s each)", nanoseconds_text(g->ns, arena), nanoseconds_text(g->least_ns, arena),
                nanoseconds_text(g->most_ns, arena));
    if (g->ns > 0 && launch_ns > 0.5 * real_of(g->first, "time_ns"))
        fprintf(out, ", %s of it the launch itself", nanoseconds_text(launch_ns, arena));
    if (g->ns > 0)
        fprintf(out, ", bound by %s (then %s)\n", bound_words(string(g->first, "bound")),
                bound_words(string(g->first, "next_bound")));
}

/* Prints which kernels launched this one, and how often. */
static void print_parents(const struct group *g, FILE *out, struct arena *arena)
{
    uint64_t nested = 0;
    const char *parent;
    json_t *n;
    json_object_foreach(g->parents, parent, n)
    {
        fprintf(out, nested ? ", `%s` (%s)" : "  launched by      `%s` (%s)", parent,
                count_text((uint64_t)json_integer_value(n), arena));
        nested += (uint64_t)json_integer_value(n);
    }
    if (nested && g->launches > nested)
        fprintf(out, ", the host (%s)", count_text(g->launches - nested, arena));
    if (nested)
        fputs("\n", out);
}

static void print_occupancy(const struct group *g, FILE *out, struct arena *arena)
{
    (void)arena;
    static const char *const words[][2] = {{"registers", "registers"},
                                           {"shared_mem", "shared memory"},
                                           {"warps", "its threads"},
                                           {"blocks", "its number of blocks"}};
    const json_t *o = json_object_get(g->first, "occupancy"), *limiter;
    size_t i;
    if (real_of(o, "warps") > 0)
        fprintf(out, "  occupancy        %.0f%%: up to %.0f warps a multiprocessor, limited by ", real_of(o, "percent"),
                real_of(o, "warps"));
    else
        fputs("  occupancy        none: such a block does not fit, because of ", out);
    size_t last = json_array_size(json_object_get(o, "limiters")) - 1;
    json_array_foreach(json_object_get(o, "limiters"), i, limiter)
    {
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            if (strcmp(words[k][0], json_string_value(limiter)) == 0)
                fprintf(out, "%s%s", !i ? "" : i < last ? ", " : " and ", words[k][1]);
    }
    if (real_of(o, "clusters") > 0)
        fprintf(out, "; at most %.0f clusters at a time, on %.0f multiprocessors", real_of(o, "clusters"),
                real_of(o, "multiprocessors"));
    fprintf(out, "; %.0f registers a thread%s\n", real_of(g->first, "registers"),
            json_is_true(json_object_get(g->first, "registers_estimated")) ? " (an estimate)" : "");
}

static void print_global(const struct group *g, FILE *out, struct arena *arena)
{
    static const struct {
        const char *kind, *words;
    } kinds[] = {{"global_ld", "global loads"},
                 {"global_st", "global stores"},
                 {"copy_ca", "cp.async.ca"},
                 {"copy_cg", "cp.async.cg"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const json_t *a = json_object_get(g->access, kinds[i].kind);
        bool lanes_share = a && real_of(a, "sectors") < 0.95 * real_of(a, "ideal_sectors");
        if (a)
            fprintf(out, "  %-16s %s requests, %.1f sectors each (%s%.1f%s)%s\n", kinds[i].words,
                    count_text((uint64_t)real_of(a, "requests"), arena), real_of(a, "sectors") / real_of(a, "requests"),
                    lanes_share ? "" : "ideal: ", real_of(a, "ideal_sectors") / real_of(a, "requests"),
                    lanes_share ? " if each lane had its own words" : "",
                    real_of(a, "sectors") > 1.05 * real_of(a, "ideal_sectors")
                        ? arena_printf(arena, ": %.0f%% of the traffic is wasted",
                                       100 * (1 - real_of(a, "ideal_sectors") / real_of(a, "sectors")))
                        : "");
    }
}

static void print_bulk(const struct group *g, FILE *out, struct arena *arena)
{
    static const char *const kinds[][2] = {
        {"bulk_ld", "bulk loads"}, {"bulk_st", "bulk stores"}, {"bulk_red", "bulk reductions"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const json_t *a = json_object_get(g->access, kinds[i][0]);
        if (a)
            fprintf(out, "  %-16s %s of %s each: %s sectors\n", kinds[i][1],
                    count_text((uint64_t)real_of(a, "requests"), arena),
                    size_text((uint64_t)(real_of(a, "bytes") / real_of(a, "requests")), arena),
                    count_text((uint64_t)real_of(a, "sectors"), arena));
    }
}

/* Prints operations of f32 and f64. Answers a common question about the G80, too: where memory
 * traffic would limit f32 operations if there were no caches. */
static void print_roofline(const struct group *g, FILE *out, struct arena *arena)
{
    static const char *const words[] = {"f32 operations", "f64 operations"}, *const peaks[] = {"peak_flops",
                                                                                               "peak_flops64"};
    const json_t *r = json_object_get(g->first, "roofline");
    const double flops[] = {g->flops, g->flops64};
    double without_caches = g->loaded_bytes > 0 ? real_of(r, "peak_dram") * g->flops / g->loaded_bytes : INFINITY;
    for (size_t i = 0; i < 2; i++) {
        if (flops[i] <= 0)
            continue;
        fprintf(out, "  %s   %s", words[i], count_text((uint64_t)flops[i], arena));
        if (g->ns > 0)
            fprintf(out, ": %s of %s", rate_text(flops[i] / g->ns, arena), rate_text(real_of(r, peaks[i]), arena));
        if (i == 0 && without_caches < 1.001 * real_of(r, peaks[i]))
            fprintf(out, "; %.3g byte%s loaded for each: without caches, DRAM would limit them to %s of %s",
                    g->loaded_bytes / flops[i], g->loaded_bytes / flops[i] == 1 ? "" : "s",
                    rate_text(without_caches, arena), rate_text(real_of(r, peaks[i]), arena));
        fputs("\n", out);
    }
}

static void print_tensor(const struct group *g, FILE *out, struct arena *arena)
{
    double peak = real_of(json_object_get(g->first, "roofline"), "peak_tensor");
    if (g->tensor > 0 && g->ns > 0)
        fprintf(out, "  tensor cores     %s operations: %s%s%s\n", count_text((uint64_t)g->tensor, arena),
                rate_text(g->tensor / g->ns, arena), peak > 0 ? " of " : "", peak > 0 ? rate_text(peak, arena) : "");
}

/* Describes the sector with most accesses of the first launch. */
static const char *hot_text(const struct group *g, struct arena *arena)
{
    const json_t *place = json_array_get(json_object_get(json_object_get(g->first, "footprint"), "hottest"), 0);
    const char *name = json_string_value(json_object_get(place, "of"));
    if (!(real_of(place, "of_bytes") > 0))
        return "";
    return arena_printf(
        arena, ", byte %.0f of %s", real_of(place, "offset"),
        name ? arena_printf(arena, "`%s`", name)
             : arena_printf(arena, "an allocation of %s", size_text((uint64_t)real_of(place, "of_bytes"), arena)));
}

/* Sums a count over some kinds of accesses; the list ends with NULL. */
static double sum_of(const struct group *g, const char *const *kinds, const char *count)
{
    double sum = 0;
    for (; *kinds; kinds++)
        sum += real_of(json_object_get(g->access, *kinds), count);
    return sum;
}

static void print_atomics(const struct group *g, FILE *out, struct arena *arena)
{
    static const char *const kinds[] = {"global_red", "global_atom", NULL};
    double requests = sum_of(g, kinds, "requests");
    if (requests > 0)
        fprintf(
            out, "  global atomics   %s requests, %.1f operations each at %.1f addresses; %s at the hottest sector%s\n",
            count_text((uint64_t)requests, arena), sum_of(g, kinds, "operations") / requests,
            sum_of(g, kinds, "distinct") / requests,
            count_text((uint64_t)real_of(json_object_get(g->first, "footprint"), "hot"), arena), hot_text(g, arena));
}

static void print_shared(const struct group *g, FILE *out, struct arena *arena)
{
    static const char *const kinds[] = {"shared_ld", "shared_st", "shared_atom", "copy_st", "wgmma_ld", NULL};
    double requests = sum_of(g, kinds, "requests");
    if (requests > 0)
        fprintf(out, "  shared memory    %s requests, %.1f wavefronts each (%.1f without bank conflicts)\n",
                count_text((uint64_t)requests, arena), sum_of(g, kinds, "wavefronts") / requests,
                sum_of(g, kinds, "ideal_wavefronts") / requests);
}

static void print_local(const struct group *g, FILE *out, struct arena *arena)
{
    static const char *const kinds[] = {"local_ld", "local_st", NULL};
    double requests = sum_of(g, kinds, "requests");
    if (requests > 0)
        fprintf(out, "  local memory     %s requests, %.1f sectors each; %.0f bytes a thread\n",
                count_text((uint64_t)requests, arena), sum_of(g, kinds, "sectors") / requests,
                real_of(g->first, "local_bytes"));
}

static void print_spills(const struct group *g, FILE *out, struct arena *arena)
{
    const json_t *spills = json_object_get(g->first, "spills");
    if (spills)
        fprintf(out, "  spills           %s loads and %s stores, %.0f bytes of local memory a thread (an estimate)\n",
                count_text((uint64_t)real_of(spills, "loads"), arena),
                count_text((uint64_t)real_of(spills, "stores"), arena), real_of(spills, "bytes"));
}

static void print_sampling(const struct group *g, FILE *out, struct arena *arena)
{
    if (real_of(g->kernel, "sampled") > 0)
        fprintf(out,
                "  sampling         %s launches were not counted: each is assumed to equal the last counted one; "
                "counted ones differ by %.2g%% at most\n",
                count_text((uint64_t)real_of(g->kernel, "sampled"), arena), 100 * real_of(g->kernel, "sampling_error"));
}

static void print_divergence(const struct group *g, FILE *out, struct arena *arena)
{
    (void)arena;
    if (!(g->warp_instructions > 0)) /* the launches failed before a kernel ran */
        return;
    fprintf(out, "  divergence       %.1f of 32 lanes active", g->thread_instructions / g->warp_instructions);
    if (g->branches > 0)
        fprintf(out, "; %.1f%% of branches diverge", 100 * g->divergent / g->branches);
    fputs("\n", out);
}

/* ---- what to change ---- */

/* Prints a sentence, with its line in front if it has one. */
static void print_sentence(const json_t *advice, FILE *out, struct arena *arena)
{
    const char *text = string(advice, "text"), *file = json_string_value(json_object_get(advice, "file"));
    if (!file) {
        fprintf(out, "  -> %s\n", text);
        return;
    }
    long long line = json_integer_value(json_object_get(advice, "line"));
    const char *head = arena_printf(arena, "line %lld: ", line);
    size_t n = strncmp(text, head, strlen(head)) == 0 ? strlen(head) : 0;
    fprintf(out, "  -> %s:%lld: %s\n", file_as_shown(file, arena), line, text + n);
}

/* Prints the first advice for lines, and then for the first launch. */
static void print_advice(const struct group *g, FILE *out, struct arena *arena)
{
    enum { MOST = 3 };
    const json_t *of_lines = json_object_get(g->kernel, "advice"), *advice;
    size_t i;
    json_array_foreach(of_lines, i, advice)
    {
        if (i < MOST)
            print_sentence(advice, out, arena);
    }
    json_array_foreach(json_object_get(g->first, "advice"), i, advice) print_sentence(advice, out, arena);
    if (json_array_size(of_lines) > MOST)
        fprintf(out, "  -> %zu more on the page\n", json_array_size(of_lines) - MOST);
}

/* ---- calls of libraries ---- */

/* Calls of one function of a library, sorted by time. */
struct call_row {
    const json_t *call;
    double ns, bytes;
};

static int longest_first(const void *a, const void *b)
{
    const struct call_row *x = a, *y = b;
    return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void print_call(const json_t *c, FILE *out, struct arena *arena)
{
    double ns = real_of(c, "least_ns"), flops = real_of(c, "flops");
    fprintf(out, "\n%s: %s call%s: ", string(c, "call"), count_text((uint64_t)real_of(c, "calls"), arena),
            real_of(c, "calls") == 1 ? "" : "s");
    if (ns > 0)
        fprintf(out, "%s at least, %s of it the launches themselves, bound by %s\n", nanoseconds_text(ns, arena),
                nanoseconds_text(real_of(c, "launch_ns"), arena), bound_words(string(c, "bound")));
    else
        fputs("no time: this device's rates are not known\n", out);
    if (flops > 0)
        fprintf(out, "  operations       %s of %s\n", count_text((uint64_t)flops, arena), string(c, "unit"));
    fprintf(out, "  memory           %s bytes\n", count_text((uint64_t)real_of(c, "bytes"), arena));
}

static void print_calls(const json_t *calls, FILE *out, struct arena *arena)
{
    size_t n = json_array_size(calls);
    struct call_row *rows = ARENA_ARRAY(arena, struct call_row, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *c = json_array_get(calls, i);
        rows[i] = (struct call_row){c, real_of(c, "least_ns"), real_of(c, "bytes")};
    }
    qsort(rows, n, sizeof *rows, longest_first);
    for (size_t i = 0; i < n; i++)
        print_call(rows[i].call, out, arena);
}

/* Prints the number of calls, and their total time. */
static void print_calls_counted(const json_t *calls, bool first, FILE *out, struct arena *arena)
{
    double ns = 0, n = 0;
    const json_t *c;
    size_t i;
    json_array_foreach(calls, i, c)
    {
        ns += real_of(c, "least_ns");
        n += real_of(c, "calls");
    }
    if (n > 0)
        fprintf(out, "%s%s call%s of libraries", first ? "" : "; ", count_text((uint64_t)n, arena), n == 1 ? "" : "s");
    if (ns > 0)
        fprintf(out, ": %s at least", nanoseconds_text(ns, arena));
}

/* Prints the ceilings of a device that --device or HEDDLE_DEVICE names. */
static void print_device(const struct explanation *e, const struct device_model *d, FILE *out, struct arena *arena)
{
    const json_t *r = json_object_get(json_array_get(e->rows, 0), "roofline");
    fprintf(out,
            "%s: %u multiprocessors, each with up to %u threads, %u blocks, %s registers and %s of shared memory; %u "
            "threads a block",
            d->product, d->multiprocessors, d->max_threads, d->max_blocks, count_text(device_registers(d), arena),
            size_text(d->max_shared_bytes, arena), device_block_threads(d));
    if (real_of(r, "peak_dram") > 0)
        fprintf(out, "; %s of f32, %.1f GB/s of DRAM", rate_text(real_of(r, "peak_flops"), arena),
                real_of(r, "peak_dram"));
    fputs("\n", out);
}

/* The lines below a kernel's head, in this order; each is left out if it has nothing to say. */
static void (*const lines[])(const struct group *g, FILE *out, struct arena *arena) = {
    print_parents, print_occupancy, print_roofline, print_tensor,     print_global,   print_bulk,  print_atomics,
    print_shared,  print_local,     print_spills,   print_divergence, print_sampling, print_advice};

void explanation_print(const struct explanation *e, const struct options *o, FILE *out, struct arena *arena)
{
    const char *device = explanation_device(o);
    size_t n, launches = e->launches.n;
    double ns = 0;
    struct group *groups = find_groups(e, &n, arena);
    json_t *calls = explanation_calls(e);
    double launch_ns = device_rate(device_model_of_report(device)->product, RATE_of_launch).value;
    for (size_t i = 0; i < n; i++)
        ns += groups[i].ns;
    fputs("explain: ", out);
    if (!launches && (e->running || !json_array_size(calls)))
        fputs(e->running ? "no launch has ended" : "no kernel was launched", out);
    else if (launches)
        fprintf(out, "%s launch%s of %zu kernel%s", count_text(launches, arena), launches == 1 ? "" : "es", n,
                n == 1 ? "" : "s");
    if (ns > 0)
        fprintf(out, ": %s on %s %s, estimated", nanoseconds_text(ns, arena),
                strchr("AEFHILMNORSXs8", *device) ? "an" : "a", device);
    print_calls_counted(calls, !launches && !e->running, out, arena);
    if (e->uncounted)
        fprintf(out, "; %s other launch%s not selected", count_text(e->uncounted, arena),
                e->uncounted == 1 ? "" : "es");
    if (e->running)
        fprintf(out, "; %s had begun but not ended: the figures leave %s out", count_text(e->running, arena),
                e->running == 1 ? "it" : "them");
    if (strcmp(explanation_page(o), "-"))
        fprintf(out, "; the page is %s", explanation_page(o));
    fputs("\n", out);
    if (o->report_device)
        print_device(e, device_model_of_report(device), out, arena);
    for (size_t i = MOST_KERNELS; i < n; i++)
        group_end(&groups[i]);
    size_t shown = n < MOST_KERNELS ? n : MOST_KERNELS;
    for (size_t i = 0; i < shown; i++) {
        print_head(&groups[i], launch_ns, out, arena);
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
            lines[k](&groups[i], out, arena);
        group_end(&groups[i]);
    }
    if (n > shown)
        fprintf(out, "and %zu more kernels, which take less%s\n", n - shown,
                strcmp(explanation_page(o), "-") ? ": the page has them all" : "");
    print_calls(calls, out, arena);
    json_decref(calls);
}
