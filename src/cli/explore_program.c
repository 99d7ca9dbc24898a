/* heddle explore PROGRAM: runs a CUDA program, and shows what one of its processes found when it
 * explored the requested launch (cuda/watch/explore.h).
 *
 * This process stays the program's parent, and reads the processes' files when the program has
 * ended, whatever ended it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/demangle.h"
#include "base/text.h"
#include "cli/explore.h"
#include "cli/process_files.h"
#include "cli/program.h"
#include "cli/ranks.h"
#include "cli/sandbox.h"
#include "cli/supervise.h"
#include "cuda/process/explore_options.h"
#include "explore/questions.h"
#include "explore/split.h"
#include "ranks/relay.h"

struct explore_program {
    struct session *s;
    struct explore_asked asked;
    const char *program;
    struct ranks ranks;
    struct relay relay;
    struct process_run run;
    /* What the processes wrote: */
    unsigned n_processes;
    json_t *exploring, *explored; /* or NULL */
    json_t *launches;             /* the number of launches by kernel, as far as it is known */
    uint64_t matching;
    bool lost;
};

/* ---- before the program ---- */

/* Before the launch is known, every well-formed place is accepted, and may be signed. */
static const char *any_place(void *data, const struct place_name *name, struct observed *at, bool *is_signed)
{
    (void)data;
    *at = (struct observed){.bytes = 8};
    *is_signed = name->type == TYPE_none || isa_type_class(name->type) == CLASS_S;
    return NULL;
}

static int is_source(struct session *s, const char *source)
{
    int base = (int)(strlen(source) - strlen(".cu"));
    return usage_error(
        s,
        "%s is CUDA C++, not PTX: `heddle cc -ptx -lineinfo %s -o %.*s.ptx` compiles it for `heddle explore "
        "%.*s.ptx KERNEL --grid ...`; `heddle cc -lineinfo %s -o PROGRAM` makes a program of it, for `heddle "
        "explore ./PROGRAM --kernel NAME`",
        source, source, base, source, base, source, source);
}

static int get_ready(struct explore_program *e)
{
    struct session *s = e->s;
    const struct options *o = &s->o;
    if (!s->n_words)
        return usage_error(s, "heddle explore needs a program or a PTX file; `heddle explore --help` explains");
    if (strcmp(file_extension(s->words[0]), ".cu") == 0 && access(s->words[0], X_OK))
        return is_source(s, s->words[0]);
    if (written_name_error(s))
        return 2;
    if (o->outcome.given && !o->outcome.value)
        return usage_error(s, "--outcome 0: outcomes count from 1");
    struct questions q = {.arena = &s->arena, .find = any_place};
    const char *wrong = questions_ask(&q, &o->observe, &o->require, &o->forbid);
    if (wrong)
        return usage_error(s, "%s", wrong);
    int status = make_schedules_folder(s);
    if (status)
        return status;
    e->asked = (struct explore_asked){.launches = {.skip = o->launch ? o->launch - 1 : 0, .count = 1},
                                      .observe = o->observe,
                                      .require = o->require,
                                      .forbid = o->forbid,
                                      .unroll = o->unroll,
                                      .step_limit = o->search_limit,
                                      .workers = o->workers,
                                      .symmetric = !o->no_symmetry,
                                      .examples = o->examples,
                                      .stats = o->stats,
                                      .repair = o->repair,
                                      .outcome = o->outcome.value,
                                      .picture = o->graph ? (int)picture_format_of(file_extension(o->graph)) : 0,
                                      .schedules = o->schedules ? process_path(o->schedules, &s->arena) : NULL,
                                      .schedules_called = o->schedules};
    if (o->kernel)
        e->asked.launches.only = (struct kernel_filters){1, {{FILTER_CALLED, o->kernel}}};
    e->launches = json_object();
    return 0;
}

static int find(struct explore_program *e)
{
    int status;
    e->program = program_prepare(e->s, NULL, &status);
    return e->program ? 0 : status;
}

static int connect(struct explore_program *e)
{
    int status = connect_ranks(e->s, &e->ranks);
    if (!status && e->ranks.n > 1 && e->s->o.schedules)
        return usage_error(e->s, "--schedules works only in a single process: leave mpirun out");
    return status;
}

/* ---- the run ---- */

static int begin(void *data)
{
    struct explore_program *e = data;
    if (e->ranks.n < 2 || relay_begin(&e->relay, &e->ranks, e->run.folder))
        return 0;
    return cli_failure(e->s, "the program cannot be connected to other ranks: %s", strerror(errno));
}

/* Runs in the child before it becomes the program. */
static void enter(void *data)
{
    struct explore_program *e = data;
    e->asked.folder = e->run.folder;
    if (e->ranks.n > 1) {
        e->asked.rank = e->ranks.number;
        e->asked.ranks = e->ranks.n;
        e->asked.ranks_here = e->ranks.on_this_host;
        ranks_hide();
    }
    char *text = explore_asked_text(&e->asked);
    if (!text || setenv("HEDDLE_EXPLORE", text, 1)) {
        cli_failure(e->s,
                    "the options cannot be passed to the program: a text is not valid UTF-8, or memory has run out");
        _exit(PROGRAM_CANNOT_RUN);
    }
    free(text);
    /* the result is the only output to stdout */
    if (e->s->o.explore_json && strcmp(e->s->o.explore_json, "-") == 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    if (e->s->o.confined && confine_program(e->s, e->run.folder))
        _exit(PROGRAM_CANNOT_RUN);
}

static void read_ended(struct explore_program *e, const json_t *line)
{
    const char *kernel;
    json_t *n;
    json_object_foreach(json_object_get(line, "launches"), kernel, n)
    {
        json_int_t before = json_integer_value(json_object_get(e->launches, kernel));
        json_object_set_new(e->launches, kernel, json_integer(before + json_integer_value(n)));
    }
    e->matching += (uint64_t)json_integer_value(json_object_get(line, "matching"));
}

static void read_line(struct explore_program *e, const json_t *line)
{
    const char *kernel = json_string_value(json_object_get(line, "kernel"));
    json_t *exploring = json_object_get(line, "exploring"), *explored = json_object_get(line, "explored");
    /* the number of launches is reported at the end, if it is known */
    if (kernel && !json_object_get(e->launches, kernel))
        json_object_set_new(e->launches, kernel, json_integer(0));
    else if (exploring)
        e->exploring = json_incref(exploring);
    else if (explored)
        e->explored = json_incref(explored);
    else if (json_object_get(line, "ended"))
        read_ended(e, line);
}

static void collect(void *data, const char *path)
{
    struct explore_program *e = data;
    char *text = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "re");
    e->n_processes++;
    e->lost |= !f;
    while (f && getline(&text, &room, f) > 0) {
        json_t *line = json_loads(text, 0, NULL);
        e->lost |= !line;
        read_line(e, line);
        json_decref(line);
    }
    if (f)
        fclose(f);
    free(text);
}

static int run(struct explore_program *e)
{
    e->run = (struct process_run){
        .file = e->program, .what = "explore", .begin = begin, .in_child = enter, .each = collect, .data = e};
    int status = process_files_run(e->s, &e->run);
    if (e->relay.ranks)
        relay_end(&e->relay);
    if (e->relay.ranks && !e->exploring)
        split_absent(&e->ranks);
    e->lost |= e->run.lost;
    return status;
}

/* ---- afterwards ---- */

static const char *times(json_int_t n, struct arena *arena)
{
    return n == 0 ? "" : n == 1 ? ", once" : arena_printf(arena, ", %s times", count_text((uint64_t)n, arena));
}

static const char *kernels_text(const struct explore_program *e)
{
    enum { SHOWN = 50 };
    struct text t = {.arena = &e->s->arena};
    const char *kernel;
    unsigned n = 0;
    json_t *count;
    text_puts(&t, "");
    json_object_foreach(e->launches, kernel, count)
    {
        const char *readable = demangle(str_of(kernel), t.arena);
        if (n++ < SHOWN)
            text_printf(&t, "\n  %s%s%s%s%s", readable, strcmp(readable, kernel) ? "   (" : "",
                        strcmp(readable, kernel) ? kernel : "", strcmp(readable, kernel) ? ")" : "",
                        times(json_integer_value(count), t.arena));
    }
    if (n > SHOWN)
        text_printf(&t, "\n  and %u more", n - SHOWN);
    return t.p;
}

/* Reports that the requested launch did not occur. */
static int not_found(const struct explore_program *e)
{
    struct session *s = e->s;
    const char *program = s->words[0], *kernel = s->o.kernel;
    if (!e->n_processes)
        return usage_error(s, "`%s` ran without using CUDA: there was nothing to explore", program);
    if (!json_object_size(e->launches))
        return usage_error(s, "`%s` ran without launching a kernel: there was nothing to explore", program);
    if (e->matching)
        return usage_error(s, "%s%s%s was launched %s: there is no launch %llu", kernel ? "`" : "",
                           kernel ? kernel : "a kernel", kernel ? "`" : "",
                           times((json_int_t)e->matching, &s->arena) + 2, (unsigned long long)s->o.launch);
    return usage_error(s, "`%s` has launched no kernel `%s`; it has launched:%s", program, kernel ? kernel : "",
                       kernels_text(e));
}

static const char *dims_text(const json_t *launch, const char *key, struct arena *arena)
{
    const json_t *d = json_object_get(launch, key);
    struct text t = {.arena = arena};
    size_t n = 3;
    while (n > 1 && json_integer_value(json_array_get(d, n - 1)) <= 1)
        n--;
    for (size_t i = 0; i < n; i++)
        text_printf(&t, "%s%lld", i ? "," : "", (long long)json_integer_value(json_array_get(d, i)));
    return t.p;
}

/* "launch 2 of `push`, grid 4, block 32" */
static const char *launch_text(const struct explore_program *e)
{
    struct arena *arena = &e->s->arena;
    const char *kernel = json_string_value(json_object_get(e->exploring, "kernel"));
    return arena_printf(arena, "launch %lld of `%s`, grid %s, block %s",
                        (long long)json_integer_value(json_object_get(e->exploring, "launch")), kernel ? kernel : "?",
                        dims_text(e->exploring, "grid", arena), dims_text(e->exploring, "block", arena));
}

/* Shows the result; returns its exit status. */
static int show_found(const struct explore_program *e)
{
    struct session *s = e->s;
    const char *error = json_string_value(json_object_get(e->explored, "error")),
               *text = json_string_value(json_object_get(e->explored, "text")),
               *picture = json_string_value(json_object_get(e->explored, "picture"));
    const json_t *json = json_object_get(e->explored, "json");
    int status = (int)json_integer_value(json_object_get(e->explored, "status")), written = 0;
    if (e->exploring)
        fprintf(stderr, "explore: %s\n", launch_text(e));
    if (error)
        usage_error(s, "%s", error);
    if (text)
        fputs(text, stderr);
    if (json && s->o.explore_json)
        written = explored_write_json(s, json, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    if (picture && !written) {
        struct text t = {.arena = &s->arena};
        text_puts(&t, picture);
        written = write_graph(s, &t, json_string_value(json_object_get(e->explored, "shows")), stderr);
    }
    if (e->matching > s->o.launch + !s->o.launch)
        fprintf(stderr, "heddle: of %s launches%s%s%s; --launch N explores another\n",
                count_text(e->matching, &s->arena), s->o.kernel ? " of `" : "", s->o.kernel ? s->o.kernel : "",
                s->o.kernel ? "`" : "");
    return written ? written : status;
}

static int show(struct explore_program *e)
{
    struct session *s = e->s;
    int status;
    fflush(stdout);
    if (e->explored)
        status = show_found(e);
    else if (e->exploring)
        status = cli_failure(s, "the program ended while %s was being explored: there is no result", launch_text(e));
    else
        status = not_found(e);
    fputs(process_ending_text(s->words[0], ending_signal(&e->run.ending), "", e->run.survivor, &s->arena), stderr);
    if (e->lost)
        fputs("heddle: some results could not be saved: this report is incomplete\n", stderr);
    return status;
}

/* The exit status of a rank other than the first. It has sent its results to the first rank. */
static int part_status(struct explore_program *e)
{
    const char *error = json_string_value(json_object_get(e->explored, "error"));
    if (error)
        return cli_failure(e->s, "%s", error);
    return e->explored || !e->exploring ? 0 : show(e);
}

/* The program's own exit status, unless that is 0. */
static int exit_status(const struct explore_program *e, int status)
{
    if (e->run.ending.over_time)
        return TIME_IS_OVER;
    if (WIFSIGNALED(e->run.ending.status) || WEXITSTATUS(e->run.ending.status))
        return end_as(e->run.ending.status);
    return status ? status : e->lost ? failure_status(e->s) : 0;
}

int cmd_explore_program(struct session *s)
{
    static int (*const steps[])(struct explore_program *) = {get_ready, find, connect, run};
    struct explore_program e = {.s = s};
    s->one_is_found = true;
    begin_equal_ranks(s, &e.ranks);
    int status = 0;
    for (size_t i = 0; !status && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](&e);
    if (!status)
        status = e.ranks.number ? part_status(&e) : exit_status(&e, show(&e));
    json_decref(e.exploring);
    json_decref(e.explored);
    json_decref(e.launches);
    return end_ranks(&e.ranks, status);
}
