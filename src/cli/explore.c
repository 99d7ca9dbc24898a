/* heddle explore: explores all executions of a kernel of PTX files that the memory model allows,
 * and shows their outcomes and errors. */
#include "cli/explore.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/kernel_name.h"
#include "base/monotonic.h"
#include "cli/arg.h"
#include "cli/sandbox.h"

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
    struct questions questions;
    struct ranks ranks;
    struct schedule_files schedules;
};

/* ---- what is explored ---- */

static int check_names(struct exploring *e)
{
    return written_name_error(e->s);
}

static int load_kernel(struct exploring *e)
{
    struct session *s = e->s;
    hd_report *report = NULL;
    if (s->n_words == 0)
        return usage_error(
            s, "the PTX file is missing, as in `heddle explore lock.ptx --grid 3 --block 1 'u32[4]+outcomes'`");
    int status = arg_read_files(s, &e->n_files, &e->files);
    if (status)
        return status;
    hd_source *sources = ARENA_ARRAY(&s->arena, hd_source, (size_t)e->n_files);
    for (int i = 0; i < e->n_files; i++)
        sources[i] = (hd_source){s->words[i], e->files[i].bytes, e->files[i].n};
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
        return usage_error(e->s, "the number of blocks is missing, as in --grid 3");
    if (!o->block[0] && !e->info.required_block[0])
        return usage_error(e->s, "the number of threads in a block is missing, as in --block 1 or --block 64");
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

static bool is_signed(enum isa_type type)
{
    return isa_type_class(type) == CLASS_S;
}

static const struct buffer *buffer_of(const struct exploring *e, unsigned argument)
{
    for (uint32_t i = 0; i < e->args.buffers.n; i++)
        if (e->args.buffers.at[i]->argument == argument)
            return e->args.buffers.at[i];
    return NULL;
}

static const char *find_place(void *data, const struct place_name *p, struct observed *at, bool *is_signed_type)
{
    struct exploring *e = data;
    struct arena *arena = &e->s->arena;
    unsigned argument = api_argument_of(e->kernel, p);
    if (!argument)
        return api_variable_place(e->kernel, p, at, is_signed_type, arena);
    const struct buffer *b = buffer_of(e, argument);
    if (!b && argument <= e->info.param_count)
        return arena_printf(arena, "argument %u is not a buffer, so it has no elements to observe", argument);
    if (!b)
        return arena_printf(arena, "the kernel takes %zu argument%s", e->info.param_count,
                            e->info.param_count == 1 ? "" : "s");
    enum isa_type type = p->type ? p->type : b->type;
    uint64_t bytes = value_bytes(type), count = arg_buffer_bytes(b) / bytes;
    if (p->element >= count)
        return arena_printf(arena, "%s has %llu elements", buffer_label(b, arena), (unsigned long long)count);
    *at = (struct observed){GLOBAL_MEMORY, (uint64_t)(uintptr_t)b->at + p->element * bytes, (uint8_t)bytes, NULL};
    *is_signed_type = is_signed(type);
    return NULL;
}

enum { MAX_OBSERVED = 4096 };

static int too_many_observed(struct exploring *e, const struct buffer *b)
{
    return usage_error(e->s,
                       "%s: more than %d elements would be observed; name those that matter, as in --observe 2[0]",
                       buffer_label(b, &e->s->arena), MAX_OBSERVED);
}

static void observe_all(struct exploring *e, const struct buffer *b)
{
    struct arena *arena = &e->s->arena;
    uint8_t bytes = (uint8_t)value_bytes(b->type);
    for (uint64_t k = 0; k < b->count; k++)
        questions_add(&e->questions,
                      (struct observed){GLOBAL_MEMORY, (uint64_t)(uintptr_t)b->at + k * bytes, bytes, NULL},
                      b->argument ? arena_printf(arena, "%u[%llu]", b->argument, (unsigned long long)k)
                                  : arena_printf(arena, "%s[%llu]", b->text, (unsigned long long)k),
                      is_signed(b->type));
}

static int read_observed(struct exploring *e)
{
    uint64_t left = MAX_OBSERVED;
    e->questions = (struct questions){.arena = &e->s->arena, .find = find_place, .data = e};
    for (uint32_t i = 0; i < e->args.buffers.n; i++) {
        const struct buffer *b = e->args.buffers.at[i];
        if (b->outcomes && b->count > left)
            return too_many_observed(e, b);
        left -= b->outcomes ? b->count : 0;
    }
    for (uint32_t i = 0; i < e->args.buffers.n; i++)
        if (e->args.buffers.at[i]->outcomes)
            observe_all(e, e->args.buffers.at[i]);
    return 0;
}

static int read_questions(struct exploring *e)
{
    const struct options *o = &e->s->o;
    const char *wrong = questions_ask(&e->questions, &o->observe, &o->require, &o->forbid);
    return wrong ? usage_error(e->s, "%s", wrong) : 0;
}

/* ---- a search and its result ---- */

static atomic_bool interrupted, is_first_rank;

static void interrupt(int signal)
{
    static const char line[] = "heddle: the search was interrupted; the report has what the ranks have found so far\n";
    int error = errno;
    ssize_t told = atomic_load(&is_first_rank) ? write(STDERR_FILENO, line, sizeof line - 1) : 0;
    (void)signal, (void)told;
    atomic_store(&interrupted, true);
    errno = error;
}

const atomic_bool *explore_interrupted(const struct ranks *ranks)
{
    atomic_store(&is_first_rank, ranks->n > 1 && !ranks->number);
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, now;
    for (const int *s = (const int[]){SIGINT, SIGTERM, 0}; *s; s++)
        /* A parent that ignores the signal has asked us to ignore it. */
        if (sigaction(*s, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(*s, &action, NULL);
    return &interrupted;
}

struct exploration explored(struct session *s, struct explore_result *r, double seconds)
{
    return (struct exploration){
        .arena = &s->arena, .result = r, .examples = s->o.examples, .stats = s->o.stats, .seconds = seconds};
}

int explored_write_json(struct session *s, const json_t *json, size_t flags)
{
    char *text = exploration_json_text(json, flags);
    const char *error = text ? file_write_whole(&s->arena, s->o.explore_json, text, strlen(text)) : "out of memory";
    free(text);
    return error ? cli_failure(s, "%s", error) : 0;
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
    return cli_failure(s, "%s", exploration_refusal(e));
}

/* ---- schedules ---- */

int make_schedules_folder(struct session *s)
{
    const char *folder = s->o.schedules;
    if (folder && s->o.confined && !confined_may_write(folder))
        return confined_write_error(s, folder);
    if (folder && mkdir(folder, 0777) && errno != EEXIST)
        return cli_failure(s, "cannot make the folder %s: %s", folder, strerror(errno));
    return 0;
}

static int get_schedules_ready(struct exploring *e, struct exploration *x)
{
    struct session *s = e->s;
    int status = make_schedules_folder(s);
    if (!s->o.schedules || status)
        return status;
    e->schedules = (struct schedule_files){.kernel = e->kernel,
                                           .config = &e->config,
                                           .observed = e->questions.observed.at,
                                           .n_observed = e->questions.observed.n,
                                           .interleavings = x->result->interleavings,
                                           .folder = s->o.schedules,
                                           .called = s->o.schedules,
                                           .arena = &s->arena};
    x->schedule = api_write_schedule;
    x->data = &e->schedules;
    return 0;
}

/* ---- the command ---- */

static int connect(struct exploring *e)
{
    int status = connect_ranks(e->s, &e->ranks);
    if (!status && e->ranks.n > 1 && e->s->o.schedules)
        return usage_error(e->s, "--schedules works in one process: leave mpirun out");
    return status;
}

/* A place's name: "2[0]", "counter[3]", "tile[1] of block 0". */
static const char *name_of_place(void *data, const struct location *l)
{
    const struct exploring *e = data;
    struct arena *arena = &e->s->arena;
    if (l->block != GLOBAL_MEMORY)
        return api_location_name(e->kernel, NULL, l, arena);
    for (uint32_t i = 0; i < e->args.buffers.n; i++) {
        const struct buffer *b = e->args.buffers.at[i];
        uint64_t at = l->address - (uint64_t)(uintptr_t)b->at, element = at / value_bytes(b->type);
        if (b->at && at < b->count * value_bytes(b->type))
            return b->argument ? arena_printf(arena, "%u[%llu]", b->argument, (unsigned long long)element)
                               : arena_printf(arena, "%s[%llu]", b->text, (unsigned long long)element);
    }
    return NULL;
}

static int run_exploration(struct exploring *e)
{
    struct session *s = e->s;
    struct explore_options o = {.unroll = s->o.unroll,
                                .symmetric = !s->o.no_symmetry,
                                .step_limit = s->o.search_limit,
                                .interrupted = explore_interrupted(&e->ranks),
                                .observed = e->questions.observed.at,
                                .n_observed = e->questions.observed.n,
                                .claims = e->questions.claims.at,
                                .n_claims = e->questions.claims.n,
                                .ranks = e->ranks.n > 1 ? &e->ranks : NULL,
                                .interleave = s->o.schedules != NULL};
    struct explore_result result = {0};
    hd_report *report;
    double start = seconds_now();
    hd_result r = api_explore(e->kernel, &e->config, &o, &result, &report);
    if (r || result.is_part) {
        explore_free(&result);
        return r ? report_failure(s, r, report) : 0;
    }
    o.ranks = NULL; /* the first rank does everything else alone */
    o.interleave = false;
    struct exploration x = explored(s, &result, seconds_now() - start);
    x.names = e->questions.names.at;
    x.signed_bits = e->questions.signed_bits.at;
    x.claims = e->questions.claims.at;
    x.n_claims = e->questions.claims.n;
    int status;
    if (result.refusal.text) {
        status = explore_refused(s, &x);
    } else {
        struct explored_launch launch = {e->kernel, &e->config, &o, name_of_place, e};
        status = choose_outcome(s, &x);
        status = status ? status : get_schedules_ready(e, &x);
        if (status) {
            explore_free(&result);
            return status;
        }
        json_t *json = s->o.explore_json ? exploration_json(&x) : NULL;
        explored_print(&x);
        status = explored_further(s, &x, &launch, json);
        status = status ? status : exploration_status(&x);
        int unwritten = json ? explored_write_json(s, json, JSON_INDENT(1)) : 0;
        status = unwritten ? unwritten : status;
        json_decref(json);
    }
    explore_free(&result);
    return status;
}

int cmd_explore(struct session *s)
{
    static int (*const steps[])(struct exploring *) = {
        check_names,   load_kernel,    read_launch, read_arguments,  place_buffers,
        read_observed, read_questions, connect,     run_exploration,
    };
    struct exploring e = {.s = s};
    s->one_is_found = true;
    begin_equal_ranks(s, &e.ranks);
    int status = open_machine(s, &(hd_machine_options){0}, &e.machine);
    for (size_t i = 0; !status && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](&e);
    hd_machine_destroy(e.machine);
    for (int i = 0; e.files && i < e.n_files; i++)
        free(e.files[i].bytes);
    for (uint32_t i = 0; i < e.args.buffers.n; i++)
        content_free(&e.args.buffers.at[i]->content);
    return end_ranks(&e.ranks, status);
}
