/* heddle explain --compare: the differences between two files of --json, by kernel, in words and as
 * a page (explain/page/compare.js). */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/explanation.h"
#include "explain/json.h"
#include "explain/page.h"

/* A figure of a kernel, summed over its launches: a member of a launch, or of an object in a
   launch. */
struct figure {
    const char *words, *object, *kind, *key;
};
static const struct figure figures[] = {
    {"warp instructions", NULL, NULL, "warp_instructions"},
    {"divergent branches", NULL, NULL, "divergent"},
    {"operations of f32", "roofline", NULL, "flops"},
    {"tensor-core operations", "roofline", NULL, "flops_tensor"},
    {"bytes requested from global memory", "roofline", NULL, "loaded_bytes"},
    {"sectors of global loads", "access", "global_ld", "sectors"},
    {"sectors of global loads not in L1", "access", "global_ld", "l1_miss_sectors"},
    {"sectors of global stores", "access", "global_st", "sectors"},
    {"sectors of cp.async.ca", "access", "copy_ca", "sectors"},
    {"sectors of cp.async.cg", "access", "copy_cg", "sectors"},
    {"sectors of bulk loads", "access", "bulk_ld", "sectors"},
    {"sectors of bulk stores", "access", "bulk_st", "sectors"},
    {"sectors of bulk reductions", "access", "bulk_red", "sectors"},
    {"sectors of global atomics", "access", "global_atom", "sectors"},
    {"sectors of global reductions", "access", "global_red", "sectors"},
    {"requests of local loads", "access", "local_ld", "requests"},
    {"requests of local stores", "access", "local_st", "requests"},
    {"wavefronts of shared loads", "access", "shared_ld", "wavefronts"},
    {"wavefronts of shared stores", "access", "shared_st", "wavefronts"},
    {"wavefronts of shared atomics", "access", "shared_atom", "wavefronts"},
    {"wavefronts of cp.async", "access", "copy_st", "wavefronts"},
    {"wavefronts of wgmma", "access", "wgmma_ld", "wavefronts"},
    {"warps that reached barriers", "barriers", NULL, "warps"},
};
enum { N_FIGURES = sizeof figures / sizeof figures[0] };

enum { BEFORE, AFTER, SIDES };

/* All launches of a kernel in one of the files. */
struct side {
    size_t launches;
    double ns, bound_ns[BOUNDS], figure[N_FIGURES];
    double occupancy, registers; /* of the last launch */
    json_t *advice;              /* advice for its lines and its last launch; borrowed objects */
};

/* A kernel, by its name in both files. */
struct compared {
    const char *name;
    struct side side[SIDES];
};
struct comparison {
    VEC(struct compared *) kernels;
    struct map by_name;
    json_t *file[SIDES];
};

/* ---- reading ---- */

static struct compared *kernel_named(struct comparison *all, const char *name, struct arena *arena)
{
    struct compared *k = map_get(&all->by_name, str_of(name));
    if (k)
        return k;
    k = ARENA_NEW(arena, struct compared);
    k->name = name;
    for (unsigned side = 0; side < SIDES; side++)
        k->side[side].advice = json_array();
    map_put(&all->by_name, str_of(name), k);
    return *VEC_PUSH(arena, &all->kernels) = k;
}

static double figure_of(const json_t *launch, const struct figure *f)
{
    const json_t *of = f->object ? json_object_get(launch, f->object) : launch;
    return real_of(f->kind ? json_object_get(of, f->kind) : of, f->key);
}

static void add_launch(struct side *k, const json_t *launch)
{
    k->launches++;
    k->ns += real_of(launch, "time_ns");
    k->occupancy = real_of(json_object_get(launch, "occupancy"), "percent");
    k->registers = real_of(launch, "registers");
    for (unsigned i = 0; i < BOUNDS; i++)
        k->bound_ns[i] += real_of(json_object_get(launch, "bounds_ns"), bound_names[i].name);
    for (size_t i = 0; i < N_FIGURES; i++)
        k->figure[i] += figure_of(launch, &figures[i]);
}

/* Adds a file's launches, or its kernels by line. */
static void add_all(struct comparison *all, unsigned side, const char *key, struct arena *arena)
{
    const json_t *list = json_object_get(all->file[side], key), *of;
    bool launches = strcmp(key, "launches") == 0;
    size_t i;
    json_array_foreach(list, i, of)
    {
        const char *name = json_string_value(json_object_get(of, "kernel"));
        json_t *advice = json_object_get(of, "advice");
        if (!name)
            continue;
        struct side *k = &kernel_named(all, name, arena)->side[side];
        if (advice && (!launches || !k->launches))
            json_array_extend(k->advice, advice);
        if (launches)
            add_launch(k, of);
    }
}

/* Returns false after an error message. */
static bool read_side(struct session *s, const char *path, unsigned side, struct comparison *all)
{
    json_error_t wrong;
    json_t *file = all->file[side] = json_load_file(path, 0, &wrong);
    if (!file && wrong.line > 0)
        cli_failure(s, "%s: line %d: %s", path, wrong.line, wrong.text);
    else if (!file)
        cli_failure(s, "%s", wrong.text);
    else if (!json_is_array(json_object_get(file, "launches")))
        cli_failure(s, "%s is not what `heddle explain --json` writes: it has no launches", path);
    else {
        add_all(all, side, "launches", &s->arena);
        add_all(all, side, "kernels", &s->arena);
        return true;
    }
    return false;
}

static void comparison_free(struct comparison *all)
{
    for (uint32_t i = 0; i < all->kernels.n; i++)
        for (unsigned side = 0; side < SIDES; side++)
            json_decref(all->kernels.at[i]->side[side].advice);
    for (unsigned side = 0; side < SIDES; side++)
        json_decref(all->file[side]);
}

/* ---- what has changed ---- */

/* Returns NULL if the bound is not known. */
static const struct bound_name *bound_of(const struct side *k)
{
    unsigned most = 0;
    for (unsigned i = 1; i < BOUNDS; i++)
        if (k->bound_ns[i] > k->bound_ns[most])
            most = i;
    return k->bound_ns[most] > 0 ? &bound_names[most] : NULL;
}

/* Does the list have this piece of advice? Compares the subject, since lines move when a source is
 * edited. */
static bool is_told(const json_t *list, const json_t *advice)
{
    const json_t *other;
    size_t i;
    json_array_foreach(list, i, other)
    {
        if (json_equal(json_object_get(other, "code"), json_object_get(advice, "code")))
            return true;
    }
    return false;
}

/* ---- in words ---- */

static const char *speed_of(double before, double after, struct arena *arena)
{
    double times = before > 0 && after > 0 ? before / after : 1;
    return fabs(times - 1) < 0.005 ? "the same"
           : times > 1             ? arena_printf(arena, "%.2f times as fast", times)
                                   : arena_printf(arena, "%.2f times as slow", 1 / times);
}

static void show_advice(const char *words, const struct side *of, const struct side *other)
{
    const json_t *advice;
    size_t i;
    json_array_foreach(of->advice, i, advice)
    {
        if (!is_told(other->advice, advice))
            printf("  %s: %s\n", words, json_string_value(json_object_get(advice, "text")));
    }
}

static void show_kernel(const struct compared *k, struct arena *arena)
{
    const struct side *a = &k->side[BEFORE], *b = &k->side[AFTER];
    const struct bound_name *bound[SIDES] = {bound_of(a), bound_of(b)};
    printf("\n%s: %s before, %s after: %s\n", k->name, nanoseconds_text(a->ns, arena), nanoseconds_text(b->ns, arena),
           speed_of(a->ns, b->ns, arena));
    if (a->launches != b->launches)
        printf("  %-34s%24zu%24zu\n", "launches", a->launches, b->launches);
    if (bound[BEFORE] != bound[AFTER])
        printf("  %-34s%24s%24s\n", "bound by", bound[BEFORE] ? bound[BEFORE]->words : "?",
               bound[AFTER] ? bound[AFTER]->words : "?");
    if (fabs(a->occupancy - b->occupancy) >= 0.5)
        printf("  %-34s%23.0f%%%23.0f%%\n", "occupancy", a->occupancy, b->occupancy);
    if (a->registers != b->registers)
        printf("  %-34s%24.0f%24.0f\n", "registers a thread", a->registers, b->registers);
    for (size_t i = 0; i < N_FIGURES; i++)
        if (a->figure[i] != b->figure[i])
            printf("  %-34s%24s%24s\n", figures[i].words, count_text((uint64_t)a->figure[i], arena),
                   count_text((uint64_t)b->figure[i], arena));
    show_advice("no longer", a, b);
    show_advice("new", b, a);
}

static void show(const struct comparison *all, struct arena *arena)
{
    double ns[SIDES] = {0};
    for (uint32_t i = 0; i < all->kernels.n; i++)
        for (unsigned side = 0; side < SIDES; side++)
            ns[side] += all->kernels.at[i]->side[side].ns;
    printf("all kernels: %s before, %s after, estimated: %s\n", nanoseconds_text(ns[BEFORE], arena),
           nanoseconds_text(ns[AFTER], arena), speed_of(ns[BEFORE], ns[AFTER], arena));
    for (uint32_t i = 0; i < all->kernels.n; i++)
        if (all->kernels.at[i]->side[BEFORE].launches && all->kernels.at[i]->side[AFTER].launches)
            show_kernel(all->kernels.at[i], arena);
    for (unsigned side = 0; side < SIDES; side++)
        for (uint32_t i = 0; i < all->kernels.n; i++)
            if (!all->kernels.at[i]->side[!side].launches)
                printf("\n%s: only %s, %s\n", all->kernels.at[i]->name, side == AFTER ? "after" : "before",
                       nanoseconds_text(all->kernels.at[i]->side[side].ns, arena));
}

/* ---- as a page ---- */

static json_t *side_json(const struct side *k)
{
    json_t *bounds = json_object(), *list = json_array();
    for (unsigned i = 0; i < BOUNDS; i++)
        json_object_set_new(bounds, bound_names[i].name, json_real(k->bound_ns[i]));
    for (size_t i = 0; i < N_FIGURES; i++)
        json_array_append_new(list, json_real(k->figure[i]));
    return json_pack("{s:I, s:f, s:f, s:f, s:s*, s:o, s:o, s:O}", "launches", (json_int_t)k->launches, "time_ns", k->ns,
                     "occupancy", k->occupancy, "registers", k->registers, "bound",
                     bound_of(k) ? bound_of(k)->name : NULL, "bounds_ns", bounds, "figures", list, "advice", k->advice);
}

static json_t *comparison_json(const struct comparison *all, struct session *s)
{
    json_t *kernels = json_array(), *names = json_array(), *sides = json_array();
    for (uint32_t i = 0; i < all->kernels.n; i++) {
        const struct compared *k = all->kernels.at[i];
        json_array_append_new(kernels, json_pack("{s:s, s:[o, o]}", "kernel", k->name, "sides",
                                                 side_json(&k->side[BEFORE]), side_json(&k->side[AFTER])));
    }
    for (size_t i = 0; i < N_FIGURES; i++)
        json_array_append_new(names, json_string(figures[i].words));
    for (unsigned side = 0; side < SIDES; side++)
        json_array_append_new(sides,
                              json_pack("{s:o, s:O*, s:O*}", "file", json_text(s->words[side], strlen(s->words[side])),
                                        "program", json_object_get(all->file[side], "program"), "device",
                                        json_object_get(all->file[side], "device")));
    return json_pack("{s:i, s:O*, s:O*, s:o, s:[], s:{s:o, s:o, s:o}}", "version", 1, "program",
                     json_object_get(all->file[AFTER], "program"), "device",
                     json_object_get(all->file[AFTER], "device"), "names", names_json(), "launches", "comparison",
                     "sides", sides, "figures", names, "kernels", kernels);
}

int explain_compare(struct session *s)
{
    struct comparison all = {0};
    map_init(&all.by_name, &s->arena);
    if (s->n_words != 2)
        return usage_error(
            s, "--compare takes two files that `heddle explain --json` has written: BEFORE.json AFTER.json");
    if (s->o.explain_json || s->o.csv || s->o.explain_trace)
        return usage_error(s, "--compare runs nothing, so there is nothing to write with --json, --csv or --trace");
    bool read = read_side(s, s->words[BEFORE], BEFORE, &all) && read_side(s, s->words[AFTER], AFTER, &all);
    int status = read ? 0 : 2;
    if (read && !explanation_writes(&s->o, "-"))
        show(&all, &s->arena);
    if (read && s->o.page) {
        json_t *json = comparison_json(&all, s);
        status = explanation_write_page(s, json);
        json_decref(json);
    }
    comparison_free(&all);
    return status;
}
