/* heddle explain --compare: what has changed from one file of --json to another, by kernel. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/explanation.h"

/* A figure of a kernel, summed up over its launches: a launch's member, or of one kind of access. */
struct figure {
    const char *words, *kind, *key;
};
static const struct figure figures[] = {
    {"warp instructions", NULL, "warp_instructions"},
    {"branches whose lanes part", NULL, "divergent"},
    {"sectors of global loads", "global_ld", "sectors"},
    {"sectors of global stores", "global_st", "sectors"},
    {"sectors of global atomics", "global_atom", "sectors"},
    {"sectors of global reductions", "global_red", "sectors"},
    {"requests of local loads", "local_ld", "requests"},
    {"requests of local stores", "local_st", "requests"},
    {"wavefronts of shared loads", "shared_ld", "wavefronts"},
    {"wavefronts of shared stores", "shared_st", "wavefronts"},
    {"wavefronts of shared atomics", "shared_atom", "wavefronts"},
};
enum { N_FIGURES = sizeof figures / sizeof figures[0] };

/* A kernel by its name, before [0] and after [1]. */
struct compared {
    const char *name, *bound[2];
    size_t launches[2];
    double ns[2], occupancy[2], figure[2][N_FIGURES];
};
struct comparison {
    VEC(struct compared *) kernels;
    struct map by_name;
};

static struct compared *kernel_named(struct comparison *all, const char *name, struct arena *arena)
{
    struct compared *k = map_get(&all->by_name, str_of(name));
    if (k)
        return k;
    k = ARENA_NEW(arena, struct compared);
    k->name = name;
    map_put(&all->by_name, str_of(name), k);
    return *VEC_PUSH(arena, &all->kernels) = k;
}

static double figure_of(const json_t *launch, const struct figure *f)
{
    const json_t *of = f->kind ? json_object_get(json_object_get(launch, "access"), f->kind) : launch;
    return real_of(of, f->key);
}

static void add_launch(struct compared *k, unsigned side, const json_t *launch)
{
    const char *bound = json_string_value(json_object_get(launch, "bound"));
    k->launches[side]++;
    k->ns[side] += real_of(launch, "time_ns");
    k->bound[side] = bound ? bound : "?";
    k->occupancy[side] = real_of(json_object_get(launch, "occupancy"), "percent");
    for (size_t i = 0; i < N_FIGURES; i++)
        k->figure[side][i] += figure_of(launch, &figures[i]);
}

/* The file, which must stay for as long as names of kernels are used; or NULL, which has been said. */
static json_t *read_side(struct session *s, const char *path, unsigned side, struct comparison *all)
{
    json_error_t wrong;
    json_t *file = json_load_file(path, 0, &wrong), *launches = json_object_get(file, "launches"), *launch;
    size_t i;
    if (!file && wrong.line > 0)
        cli_failure(s, "%s: line %d: %s", path, wrong.line, wrong.text);
    else if (!file)
        cli_failure(s, "%s", wrong.text);
    else if (!json_is_array(launches))
        cli_failure(s, "%s is not what `heddle explain --json` writes: it has no launches", path);
    json_array_foreach(launches, i, launch)
    {
        const char *name = json_string_value(json_object_get(launch, "kernel"));
        if (name)
            add_launch(kernel_named(all, name, &s->arena), side, launch);
    }
    if (json_is_array(launches))
        return file;
    json_decref(file);
    return NULL;
}

static const char *speed_of(double before, double after, struct arena *arena)
{
    double times = before > 0 && after > 0 ? before / after : 1;
    return fabs(times - 1) < 0.005 ? "the same"
           : times > 1             ? arena_printf(arena, "%.2f times as fast", times)
                                   : arena_printf(arena, "%.2f times as slow", 1 / times);
}

static void show_kernel(const struct compared *k, struct arena *arena)
{
    printf("\n%s: %s before, %s after: %s\n", k->name, nanoseconds_text(k->ns[0], arena),
           nanoseconds_text(k->ns[1], arena), speed_of(k->ns[0], k->ns[1], arena));
    if (k->launches[0] != k->launches[1])
        printf("  %-32s%16zu%16zu\n", "launches", k->launches[0], k->launches[1]);
    if (strcmp(k->bound[0], k->bound[1]) != 0)
        printf("  %-32s%16s%16s\n", "bound by", k->bound[0], k->bound[1]);
    if (fabs(k->occupancy[0] - k->occupancy[1]) >= 0.5)
        printf("  %-32s%15.0f%%%15.0f%%\n", "occupancy", k->occupancy[0], k->occupancy[1]);
    for (size_t i = 0; i < N_FIGURES; i++)
        if (k->figure[0][i] != k->figure[1][i])
            printf("  %-32s%16.0f%16.0f\n", figures[i].words, k->figure[0][i], k->figure[1][i]);
}

static void show(const struct comparison *all, struct arena *arena)
{
    double ns[2] = {0};
    for (uint32_t i = 0; i < all->kernels.n; i++)
        for (unsigned side = 0; side < 2; side++)
            ns[side] += all->kernels.at[i]->ns[side];
    printf("all kernels: %s before, %s after, estimated: %s\n", nanoseconds_text(ns[0], arena),
           nanoseconds_text(ns[1], arena), speed_of(ns[0], ns[1], arena));
    for (uint32_t i = 0; i < all->kernels.n; i++)
        if (all->kernels.at[i]->launches[0] && all->kernels.at[i]->launches[1])
            show_kernel(all->kernels.at[i], arena);
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < all->kernels.n; i++)
            if (!all->kernels.at[i]->launches[!side])
                printf("\n%s: only %s, %s\n", all->kernels.at[i]->name, side ? "after" : "before",
                       nanoseconds_text(all->kernels.at[i]->ns[side], arena));
}

int explain_compare(struct session *s)
{
    struct comparison all = {0};
    map_init(&all.by_name, &s->arena);
    if (s->n_words != 2)
        return usage_error(
            s, "--compare takes two files that `heddle explain --json` has written: BEFORE.json AFTER.json");
    if (s->o.page || s->o.explain_json || s->o.csv || s->o.explain_trace)
        return usage_error(
            s, "--compare runs nothing, so there is nothing to write with --output, --json, --csv or --trace");
    json_t *before = read_side(s, s->words[0], 0, &all), *after = before ? read_side(s, s->words[1], 1, &all) : NULL;
    if (after)
        show(&all, &s->arena);
    json_decref(before);
    json_decref(after);
    return after ? 0 : 2;
}
