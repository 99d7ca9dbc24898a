/* heddle explore: all executions of a kernel of PTX files that the memory model allows; their outcomes, and what is wrong with any. */
#include "cli/explore.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel_name.h"
#include "base/monotonic.h"
#include "cli/arg.h"

struct exploring {
    struct session *s;
    hd_machine *machine;
    hd_module *module;
    hd_kernel *kernel;
    hd_kernel_info info;
    hd_launch_config config;
    struct args args;
    struct file_bytes *files;
    int n_files, first_arg;
    VEC(struct observed) observed;
    VEC(const char *) names;
    VEC(uint8_t) signed_bits; /* of those that have a signed type; else 0 */
    VEC(struct claim) claims;
};

/* ---- what is explored ---- */

static int load_kernel(struct exploring *e)
{
    struct session *s = e->s;
    hd_report *report = NULL;
    if (s->n_words == 0)
        return usage_error(s, "which PTX file? As in `heddle explore lock.ptx --grid 3 --block 1 'u32[4]+outcomes'`");
    e->n_files = 1;
    while (e->n_files < s->n_words && strcmp(file_extension(s->words[e->n_files]), ".ptx") == 0)
        e->n_files++;
    e->files = ARENA_ARRAY(&s->arena, struct file_bytes, (size_t)e->n_files);
    hd_source *sources = ARENA_ARRAY(&s->arena, hd_source, (size_t)e->n_files);
    for (int i = 0; i < e->n_files; i++) {
        const char *error = file_read_ptx(&s->arena, s->words[i], &e->files[i]);
        if (error)
            return usage_error(s, "%s", error);
        sources[i] = (hd_source){s->words[i], e->files[i].bytes, e->files[i].n};
    }
    hd_result r = hd_module_load(e->machine, sources, (size_t)e->n_files, &e->module, &report);
    if (r)
        return report_failure(s, r, report);
    if (report)
        report_print(s, report);
    e->first_arg = e->n_files;
    bool named = e->first_arg < s->n_words && kernel_is_name(s->words[e->first_arg]);
    const char *error, *name = kernel_find(e->module, named ? s->words[e->first_arg] : NULL, &error, &s->arena);
    if (!name)
        return usage_error(s, "%s", error);
    e->first_arg += named;
    r = hd_module_get_kernel(e->module, name, &e->kernel, &report);
    if (r)
        return report_failure(s, r, report);
    hd_kernel_get_info(e->kernel, &e->info);
    return 0;
}

static int read_launch(struct exploring *e)
{
    struct options *o = &e->s->o;
    if (!o->grid[0])
        return usage_error(e->s, "how many blocks? As in --grid 3");
    if (!o->block[0] && !e->info.required_block[0])
        return usage_error(e->s, "how many threads in a block? As in --block 1 or --block 64");
    arg_shape(o, &e->info, &e->config);
    e->config.flags = HD_LAUNCH_NON_PORTABLE_CLUSTER;
    return 0;
}

static int read_arguments(struct exploring *e)
{
    struct session *s = e->s;
    size_t given = (size_t)(s->n_words - e->first_arg);
    hd_param_info p;
    if (given != e->info.param_count)
        return usage_error(s, "the kernel takes %zu argument%s, not %zu; `heddle launch` lists them",
                           e->info.param_count, e->info.param_count == 1 ? "" : "s", given);
    e->args.arena = &s->arena;
    for (size_t i = 0; hd_kernel_get_param(e->kernel, i, &p); i++) {
        const char *error = arg_parse(&e->args, s->words[e->first_arg + (int)i], &p);
        if (error)
            return usage_error(s, "%s", error);
    }
    for (unsigned i = 0; i < s->o.vars.n; i++) {
        const char *error = arg_parse_variable(&e->args, s->o.vars.at[i], e->module);
        if (error)
            return usage_error(s, "%s", error);
    }
    arg_add_variables(&e->args, e->module);
    return 0;
}

static int place_buffers(struct exploring *e)
{
    for (uint32_t i = 0; i < e->args.buffers.n; i++) {
        struct buffer *b = e->args.buffers.at[i];
        if (!b->at && hd_alloc_named(e->machine, arg_buffer_bytes(b), buffer_label(b, &e->s->arena), &b->at))
            return cli_failure(e->s, "%s, `%s`: out of memory", buffer_label(b, &e->s->arena), b->text);
        if (b->argument || b->has_content)
            content_fill(&b->content, b->type, b->at, b->count);
    }
    arg_pack(&e->args, e->kernel, &e->config);
    if (!e->info.param_bytes)
        e->config.packed_args = NULL;
    return 0;
}

/* ---- what is observed ---- */

static void add_observed(struct exploring *e, struct observed o, const char *name, bool is_signed)
{
    for (uint32_t i = 0; i < e->names.n; i++)
        if (strcmp(e->names.at[i], name) == 0)
            return;
    *VEC_PUSH(&e->s->arena, &e->observed) = o;
    *VEC_PUSH(&e->s->arena, &e->names) = name;
    *VEC_PUSH(&e->s->arena, &e->signed_bits) = is_signed ? 8 * o.bytes : 0;
}

static void observe_buffer(struct exploring *e, const struct buffer *b, uint64_t element, const char *name)
{
    uint8_t bytes = (uint8_t)value_bytes(b->type);
    add_observed(e, (struct observed){GLOBAL_MEMORY, (uint64_t)(uintptr_t)b->at + element * bytes, bytes}, name,
                 value_load(b->type, &(uint64_t){0}).kind == VALUE_SIGNED);
}

static const struct buffer *find_buffer(const struct exploring *e, const char *name, size_t n)
{
    char *end;
    unsigned long argument = strtoul(name, &end, 10);
    for (uint32_t i = 0; i < e->args.buffers.n; i++) {
        const struct buffer *b = e->args.buffers.at[i];
        if (argument && end == name + n ? b->argument == argument
                                        : !b->argument && strlen(b->text) == n && memcmp(b->text, name, n) == 0)
            return b;
    }
    return NULL;
}

/* "2[0]": an argument and its element; "counter[3]", "counter": a variable in global or shared memory. */
static int observe_name(struct exploring *e, const char *name)
{
    const char *bracket = strchr(name, '['), *kept = arena_strdup(&e->s->arena, name);
    size_t n = bracket ? (size_t)(bracket - name) : strlen(name);
    char *end = NULL;
    uint64_t element = bracket ? strtoull(bracket + 1, &end, 0) : 0, at, bytes;
    if (!n || (bracket && (end == bracket + 1 || strcmp(end, "]") != 0)))
        return usage_error(
            e->s, "`%s`: what is observed is written as 2[0], an argument and its element, or as counter[3]", name);
    const struct buffer *b = find_buffer(e, name, n);
    if (b && element >= b->count)
        return usage_error(e->s, "`%s`: %s has %llu elements", name, buffer_label(b, &e->s->arena),
                           (unsigned long long)b->count);
    if (b) {
        observe_buffer(e, b, element, kept);
        return 0;
    }
    if (api_shared_variable(e->kernel, arena_strndup(&e->s->arena, name, n), &at, &bytes) && 4 * element + 4 <= bytes) {
        add_observed(e, (struct observed){0, at + 4 * element, 4}, kept, false);
        return 0;
    }
    return usage_error(e->s, "`%s`: there is no such buffer or variable", name);
}

enum { MAX_OBSERVED = 4096 };

static int too_many_observed(struct exploring *e, const struct buffer *b)
{
    return usage_error(e->s,
                       "%s: more than %d elements would be observed; name those that matter, as in --observe 2[0]",
                       buffer_label(b, &e->s->arena), MAX_OBSERVED);
}

static int read_observed(struct exploring *e)
{
    struct session *s = e->s;
    uint64_t left = MAX_OBSERVED;
    for (uint32_t i = 0; i < e->args.buffers.n; i++) {
        const struct buffer *b = e->args.buffers.at[i];
        if (b->outcomes && b->count > left)
            return too_many_observed(e, b);
        left -= b->outcomes ? b->count : 0;
    }
    for (uint32_t i = 0; i < e->args.buffers.n; i++)
        for (uint64_t k = 0; e->args.buffers.at[i]->outcomes && k < e->args.buffers.at[i]->count; k++) {
            const struct buffer *b = e->args.buffers.at[i];
            observe_buffer(e, b, k,
                           b->argument ? arena_printf(&s->arena, "%u[%llu]", b->argument, (unsigned long long)k)
                                       : arena_printf(&s->arena, "%s[%llu]", b->text, (unsigned long long)k));
        }
    for (unsigned i = 0; i < s->o.observe.n; i++) {
        int status = observe_name(e, s->o.observe.at[i]);
        if (status)
            return status;
    }
    return 0;
}

/* The number of a place in a condition, which is observed from then on. */
static int observe_place(void *data, const char *name, unsigned *signed_bits)
{
    struct exploring *e = data;
    if (observe_name(e, name))
        return -1;
    for (uint32_t i = 0; i < e->names.n; i++)
        if (strcmp(e->names.at[i], name) == 0) {
            *signed_bits = e->signed_bits.at[i];
            return (int)i;
        }
    return -1;
}

static int read_claims_of(struct exploring *e, const struct opt_list *list, bool forbidden)
{
    for (unsigned i = 0; i < list->n; i++) {
        const char *error;
        struct condition *c = condition_parse(&e->s->arena, list->at[i], observe_place, e, &error);
        if (!c)
            return *error ? usage_error(e->s, "--%s `%s`: %s", forbidden ? "forbid" : "require", list->at[i], error)
                          : 2;
        *VEC_PUSH(&e->s->arena, &e->claims) = (struct claim){list->at[i], forbidden, c};
    }
    return 0;
}

static int read_claims(struct exploring *e)
{
    int status = read_claims_of(e, &e->s->o.require, false);
    return status ? status : read_claims_of(e, &e->s->o.forbid, true);
}

/* ---- a search and its result ---- */

static atomic_bool interrupted;

static void interrupt(int signal)
{
    (void)signal;
    atomic_store(&interrupted, true);
}

const atomic_bool *explore_interrupted(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, now;
    for (const int *s = (const int[]){SIGINT, SIGTERM, 0}; *s; s++)
        if (sigaction(*s, NULL, &now) == 0 && now.sa_handler == SIG_DFL) /* else who has started us ignores it */
            sigaction(*s, &action, NULL);
    return &interrupted;
}

uint32_t workers_of(hd_machine *machine)
{
    hd_machine_info info;
    hd_machine_get_info(machine, &info);
    return info.workers;
}

struct exploration explored(struct session *s, struct explore_result *r, double seconds)
{
    return (struct exploration){
        .arena = &s->arena, .result = r, .examples = s->o.examples, .stats = s->o.stats, .seconds = seconds};
}

void explored_print(const struct exploration *e)
{
    struct text t = {.arena = e->arena};
    exploration_outcomes_text(e, &t);
    exploration_findings_text(e, &t);
    fputs(t.p, stdout);
}

int explore_refused(struct session *s, const struct exploration *e)
{
    cli_failure(s, "%s", exploration_refusal(e));
    return 2;
}

/* ---- the command ---- */

static int run_exploration(struct exploring *e)
{
    struct session *s = e->s;
    struct explore_options o = {.n_threads = workers_of(e->machine),
                                .unroll = (uint32_t)s->o.unroll.value,
                                .symmetric = !s->o.no_symmetry,
                                .step_limit = s->o.search_limit.value,
                                .interrupted = explore_interrupted(),
                                .observed = e->observed.at,
                                .n_observed = e->observed.n};
    struct explore_result result = {0};
    hd_report *report;
    double start = seconds_now();
    hd_result r = api_explore(e->kernel, &e->config, &o, &result, &report);
    if (r) {
        explore_free(&result);
        return report_failure(s, r, report);
    }
    struct exploration x = explored(s, &result, seconds_now() - start);
    x.names = e->names.at;
    x.signed_bits = e->signed_bits.at;
    x.claims = e->claims.at;
    x.n_claims = e->claims.n;
    int status;
    if (result.refusal.text) {
        status = explore_refused(s, &x);
    } else {
        json_t *json = s->o.explore_json ? exploration_json(&x) : NULL;
        explored_print(&x);
        status = exploration_status(&x);
        if (json && json_dump_file(json, s->o.explore_json, JSON_INDENT(1)))
            status = cli_failure(s, "%s cannot be written", s->o.explore_json);
        json_decref(json);
    }
    explore_free(&result);
    return status;
}

int cmd_explore(struct session *s)
{
    static int (*const steps[])(struct exploring *) = {
        load_kernel, read_launch, read_arguments, place_buffers, read_observed, read_claims, run_exploration,
    };
    struct exploring e = {.s = s};
    int status = open_machine(s, &(hd_machine_options){0}, &e.machine);
    for (size_t i = 0; !status && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](&e);
    hd_machine_destroy(e.machine);
    for (int i = 0; e.files && i < e.n_files; i++)
        free(e.files[i].bytes);
    for (uint32_t i = 0; i < e.args.buffers.n; i++)
        content_free(&e.args.buffers.at[i]->content);
    return status;
}
