/* heddle check PROGRAM: runs a CUDA program, and shows what its processes found
 * (cuda/watch/check.h).
 *
 * This process stays the program's parent. The processes write to a temporary folder, which this
 * process reads and removes when the program has ended, whatever ended it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/demangle.h"
#include "base/file_name.h"
#include "base/monotonic.h"
#include "base/printable.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/output_stream.h"
#include "cli/baseline.h"
#include "cli/check_replay.h"
#include "cli/check_report.h"
#include "cli/check_results.h"
#include "cli/check_settings.h"
#include "cli/numbered_runs.h"
#include "files/places.h"
#include "cli/process_files.h"
#include "cli/program.h"
#include "cli/sandbox.h"
#include "cli/debug_hint.h"
#include "cli/supervise.h"
#include "cli/suppressions.h"
#include "record/replay.h"
#include "report/lines.h"
#include "report/report.h"

struct check {
    struct session *s;
    struct check_settings settings;
    struct suppressions suppressions;
    struct baseline baseline;
    const char *program;
    const char *name; /* as it is shown */
    FILE *log;        /* --log-file, or NULL */
    /* The current run: */
    unsigned run; /* from 0 */
    char *folder;
    struct check_options options;
    struct status progress;
    /* All runs: */
    struct ranks ranks;
    struct numbered_runs all; /* said: what run_once() makes */
    unsigned done;
    int status; /* the exit status if something could not be done */
    struct ending first, last;
    /* The first signal that ended the program, in run `killed_in` (from 1); 0: none. */
    int killed_by;
    unsigned killed_in;
    struct check_results results;
    uint32_t suppressed, known;
    const char *survivor; /* names a process that still runs, or NULL */
    bool unreplayed;      /* the launch that --policy replay:FILE asks for did not occur */
};

static const char *plural(uint64_t n, const char *what, struct arena *arena)
{
    return arena_printf(arena, "%s %s%s", count_text(n, arena), what,
                        n == 1                          ? ""
                        : what[strlen(what) - 1] == 'h' ? "es"
                                                        : "s");
}

/* ---- before the program ---- */

static const char *realpath_of(const char *path, struct arena *arena)
{
    char real[PATH_MAX];
    return realpath(path, real) ? arena_strdup(arena, real) : NULL;
}

/* A file that is both read and written would lose the findings that it hides: they are not written
 * again. */
static const char *refuse_same(const char *writes, const char *to, const char *reads, const char *from,
                               struct arena *arena)
{
    const char *a = to ? realpath_of(to, arena) : NULL, *b = a && from ? realpath_of(from, arena) : NULL;
    return b && strcmp(a, b) == 0
               ? arena_printf(arena,
                              "`%s %s` would overwrite the file of %s, and the findings that %s hides would be lost: "
                              "write another file, or leave out %s to write all findings",
                              writes, to, reads, reads, reads)
               : NULL;
}

static int get_ready(struct check *c)
{
    struct session *s = c->s;
    struct arena *arena = &s->arena;
    const struct options *o = &s->o;
    if (!s->n_words && !o->replay_events)
        return usage_error(s, "heddle check needs a program or a PTX file; `heddle check --help` explains");
    if (s->n_words && o->replay_events)
        return usage_error(s, "--replay-events runs nothing, so `%s` is not run: leave one of the two out",
                           s->words[0]);
    if (o->record_events && !o->replay_events && o->runs > 1)
        return usage_error(s, "--record-events records one run: leave out --runs");
    c->name = s->n_words ? s->words[0] : "";
    const char *wrong = check_settings(o, &c->settings, arena);
    if (!wrong && o->suppressions)
        wrong = suppressions_read(&c->suppressions, o->suppressions, arena);
    if (!wrong && o->baseline)
        wrong = baseline_read(&c->baseline, o->baseline, arena);
    c->suppressions.root = o->source_root ? realpath_of(o->source_root, arena) : source_root();
    if (!wrong && !c->suppressions.root)
        wrong = arena_printf(arena, "`--source-root %s`: there is no such folder", o->source_root);
    if (!wrong && o->generate_suppressions && !c->ranks.number)
        wrong = file_may_create(arena, o->generate_suppressions);
    for (size_t i = 0; i < c->settings.save.n && !c->ranks.number; i++) {
        wrong = wrong ? wrong : refuse_same("--save", c->settings.save.at[i], "--baseline", o->baseline, arena);
        wrong = wrong ? wrong : file_may_create(arena, c->settings.save.at[i]);
    }
    wrong = wrong ? wrong
                  : refuse_same("--generate-suppressions", o->generate_suppressions, "--suppressions", o->suppressions,
                                arena);
    if (wrong)
        return usage_error(s, "%s", wrong);
    if (c->settings.log_file && !c->ranks.number && !(c->log = written_open(c->settings.log_file)))
        return usage_error(s, "cannot write %s: %s", c->settings.log_file, strerror(errno));
    check_results_init(&c->results, arena);
    return 0;
}

static int find(struct check *c)
{
    int status;
    c->program = program_prepare(c->s, "libheddle-watch-io.so", &status);
    return status;
}

/* ---- a run ---- */

static void redirect(const char *path, int flags, int to)
{
    int fd = open(path, flags);
    if (fd >= 0 && fd != to) {
        dup2(fd, to);
        close(fd);
    }
}

/* Runs in the child before it becomes the program. */
static void enter(void *data)
{
    struct check *c = data;
    struct check_options o = c->options;
    if (c->settings.runs > 1) /* a single run may be a rank itself */
        ranks_hide();
    o.process = c->settings.application_only ? (int)getpid() : 0;
    char *text = check_options_text(&o);
    if (!text || setenv("HEDDLE_CHECK", text, 1)) {
        cli_failure(c->s,
                    "the options cannot be passed to the program: a text is not valid UTF-8, or memory has run out");
        _exit(PROGRAM_CANNOT_RUN);
    }
    free(text);
    /* cuda/watch/nvtx_memory.h */
    const char *libraries = c->settings.nvtx ? place_of_libraries(&c->s->arena) : NULL;
    if (libraries)
        setenv("NVTX_INJECTION64_PATH", arena_printf(&c->s->arena, "%s/libcuda.so.1", libraries), 0);
    if (c->s->o.confined && confine_program(c->s, c->folder))
        _exit(PROGRAM_CANNOT_RUN);
    if (c->run > 0) {
        redirect("/dev/null", O_RDONLY, STDIN_FILENO);
        redirect("/dev/null", O_WRONLY, STDOUT_FILENO);
        redirect("/dev/null", O_WRONLY, STDERR_FILENO);
    }
}

static void show_progress(void *data)
{
    struct check *c = data;
    struct arena scratch = {.on_oom = c->s->arena.on_oom};
    uint64_t found;
    double begun = seconds_now();
    if (!status_is_due(&c->progress))
        return;
    struct status_now now = check_results_look(c->folder, &found, &scratch);
    now.found = plural(found, "finding", &scratch);
    now.run = c->settings.runs > 1 ? arena_printf(&scratch, " of run %u of %u", c->run + 1, c->settings.runs) : "";
    status_show(&c->progress, &now, seconds_now() - begun, &scratch);
    arena_free(&scratch);
}

/* Options that say how often the program runs and where results go: a command that repeats one run
   by --policy leaves them out. */
static int left_out(const char *word)
{
    static const char *const names[] = {"--runs", "--seed",   "--policy",   "--log-file",
                                        "--save", "--format", "--baseline", "--generate-suppressions"};
    return option_words(word, names, sizeof names / sizeof names[0]);
}

/* The command that repeats this run alone. */
static const char *repeat_command(const struct check *c, const char *policy)
{
    struct text t = {.arena = &c->s->arena};
    text_printf(&t, "heddle check --policy %s", shell_word(t.arena, policy));
    char **argv = c->s->argv;
    int i = 1;
    for (int skip; i < c->s->argc && argv[i] != c->s->words[0]; i += skip ? skip : 1)
        if (!(skip = left_out(argv[i])))
            text_printf(&t, " %s", shell_word(t.arena, argv[i]));
    for (; i < c->s->argc; i++)
        text_printf(&t, " %s", shell_word(t.arena, argv[i]));
    return t.p;
}

/* Removes the results of earlier runs, so that they are not taken for this run's. Refuses before
 * the run if the program could not write its own. */
static int clear_record(struct check *c)
{
    struct session *s = c->s;
    const char *path = s->o.record_events;
    struct stat known;
    if (!path)
        return 0;
    if (s->o.confined && !confined_may_write(path))
        return confined_write_error(s, path);
    if (stat(path, &known) == 0 && !S_ISREG(known.st_mode))
        return cli_failure(s, "cannot write %s: it is not a regular file", path);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || close(file) || unlink(path))
        return cli_failure(s, "cannot write %s: %s", path, strerror(errno));
    return 0;
}

static void be_asked(void *data)
{
    const struct check *c = data;
    numbered_runs_asked(&c->all);
}

/* How a run ended, which process survives the program, and what its processes reported. */
static json_t *run_once(void *data, unsigned run)
{
    struct check *c = data;
    struct session *s = c->s;
    struct supervision v = {.file = c->program,
                            .words = (char *const *)s->words,
                            .seconds = s->o.run_timeout,
                            .in_child = enter,
                            .tick = show_progress,
                            .asked = be_asked,
                            .data = c};
    struct ending e;
    c->run = run;
    c->folder = process_folder_make(s, "check");
    if (!c->folder) {
        c->status = 1;
        return NULL;
    }
    c->options = c->settings.process;
    c->options.folder = c->folder;
    if (run > 0) {
        c->options.policy = arena_printf(&s->arena, "random:%llu", (unsigned long long)(c->settings.seed + run - 1));
        c->options.replayed = NULL;
    }
    c->progress = (struct status){.command = "check"};
    int status = supervise(s, &v, &e);
    status_end(&c->progress);
    bool lost, unreplayed = c->options.replayed && !process_has_taken(c->folder);
    const char *survivor = status ? NULL : process_files_await(c->folder, &s->arena);
    json_t *processes = check_results_read(c->folder, &s->arena, &lost);
    process_folder_remove(c->folder);
    c->status = status;
    return status ? NULL
                  : json_pack("{s:i, s:b, s:b, s:s*, s:b, s:b, s:o}", "status", e.status, "over time", e.over_time,
                              "asked", e.asked, "survivor", survivor, "lost", lost, "unreplayed", unreplayed,
                              "processes", processes);
}

static struct ending ending_of(const json_t *run)
{
    return (struct ending){.status = (int)json_integer_value(json_object_get(run, "status")),
                           .asked = json_is_true(json_object_get(run, "asked")),
                           .over_time = json_is_true(json_object_get(run, "over time"))};
}

/* Was the program asked to end? */
static bool is_interrupted(const struct ending *e)
{
    int signal = ending_signal(e);
    return signal == SIGINT || signal == SIGTERM || signal == SIGQUIT || signal == SIGHUP;
}

static bool ends(void *data, const json_t *run, bool *interrupted)
{
    (void)data;
    struct ending e = ending_of(run);
    *interrupted = e.asked || is_interrupted(&e);
    return e.over_time || *interrupted;
}

static void collect(struct check *c, unsigned number, const json_t *run)
{
    struct arena *arena = &c->s->arena;
    const char *survivor = json_string_value(json_object_get(run, "survivor")), *policy = NULL;
    c->last = ending_of(run);
    if (number == 0)
        c->first = c->last;
    if (number)
        policy = arena_printf(arena, "random:%llu", (unsigned long long)(c->settings.seed + number - 1));
    else if (c->settings.runs > 1 && c->s->o.check_policy && strcmp(c->s->o.check_policy, "fair") != 0)
        policy = c->s->o.check_policy;
    if (!c->killed_by && ending_signal(&c->last)) {
        c->killed_by = ending_signal(&c->last);
        c->killed_in = number + 1;
    }
    c->unreplayed |= number == 0 && json_is_true(json_object_get(run, "unreplayed"));
    c->survivor = survivor ? arena_strdup(arena, survivor) : NULL;
    c->results.lost |= json_is_true(json_object_get(run, "lost"));
    check_results_collect(&c->results, json_object_get(run, "processes"), policy ? repeat_command(c, policy) : NULL,
                          policy ? command_that_stops(c->s, policy, true) : NULL);
}

static int run_all(struct check *c)
{
    int status = clear_record(c);
    status = status ? status : connect_ranks(c->s, &c->ranks);
    if (status)
        return status;
    c->all =
        (struct numbered_runs){.ranks = &c->ranks, .n = c->settings.runs, .run = run_once, .ends = ends, .data = c};
    numbered_runs_do(&c->all, &c->s->arena);
    for (; !c->ranks.number && c->done < c->settings.runs && c->all.said[c->done]; c->done++)
        collect(c, c->done, c->all.said[c->done]);
    return c->all.failed ? (c->status ? c->status : 1) : 0;
}

/* ---- what was found ---- */

static FILE *output(const struct check *c)
{
    return c->log ? c->log : stderr;
}

/* "3 launches of 2 kernels and 4 calls of libraries"; NULL if there were none. */
static const char *checked(const struct check_results *f, struct arena *arena)
{
    const char *launches = plural(f->launches, "launch", arena), *calls = plural(f->calls, "call", arena);
    const char *of = plural(json_object_size(f->kernels), "kernel", arena);
    if (f->launches && f->calls)
        return arena_printf(arena, "%s of %s and %s of libraries", launches, of, calls);
    if (f->launches)
        return arena_printf(arena, "%s of %s", launches, of);
    return f->calls ? arena_printf(arena, "%s of libraries", calls) : NULL;
}

/* The last line. */
static const char *verdict(const struct check *c)
{
    struct arena *arena = &c->s->arena;
    const struct check_results *f = &c->results;
    const char *what = checked(f, arena);
    struct text t = {.arena = arena};
    /* a run that was cut short proves nothing about the rest */
    bool is_cut = c->killed_by || c->last.over_time || f->unended;
    const char *why = f->n_processes ? NULL : process_nothing_text(c->name, f->lost, is_cut, arena);
    if (why)
        return arena_printf(arena, "check: %s\n", why);
    if (!f->n_processes)
        return arena_printf(arena, "check: `%s` ran without using CUDA%s: there was nothing to check\n", c->name,
                            c->settings.application_only ? " itself" : "");
    text_puts(&t, "check: ");
    if (f->diags.errors || f->diags.warnings)
        text_printf(&t, "%s, %s", plural(f->diags.errors, "error", arena), plural(f->diags.warnings, "warning", arena));
    else if (what)
        text_printf(&t, "%s in %s%s", is_cut ? "not done, no errors so far" : "no errors", what,
                    is_cut ? " that had ended" : "");
    else
        text_puts(&t, is_cut ? "not done, no errors so far, and no launch had ended"
                             : "no errors, and no kernel was launched");
    if (c->done > 1)
        text_printf(&t, " in %u runs", c->done);
    if (f->unchecked)
        text_printf(&t, "; %s not checked", plural(f->unchecked, "launch", arena));
    if (f->unended)
        text_printf(&t, "; %s had not ended", plural(f->unended, "launch", arena));
    if (c->suppressed)
        text_printf(&t, "; %s suppressed", count_text(c->suppressed, arena));
    text_puts(&t, baseline_verdict(c->known, arena));
    return t.p;
}

/* Advice for findings that name only lines of PTX: how to get lines of the source. */
static const char *lines_remark(const struct diags *d)
{
    bool lacks = false, python = false;
    for (uint32_t i = 0; i < d->list.n; i++) {
        const struct diag *g = &d->list.at[i];
        lacks |= g->place.source && !g->place.cuda;
        python |= g->place.source && !g->place.cuda && strstr(g->place.source->name, " of python");
    }
    return !lacks   ? ""
           : python ? "heddle: write @cuda.jit(lineinfo=True) to see the lines of kernels\n"
                    : "heddle: compile with -lineinfo to see the lines of kernels\n";
}

/* Remarks behind the findings, such as results that were lost. */
static const char *remarks(const struct check *c)
{
    struct text t = {.arena = &c->s->arena};
    const char *kernel;
    json_t *n;
    const char *when = c->done > 1 ? arena_printf(t.arena, " in run %u", c->killed_in) : "";
    text_puts(&t, process_ending_text(c->name, c->killed_by, when, c->survivor, t.arena));
    if (c->unreplayed)
        text_printf(
            &t,
            "heddle: the schedule is of launch %llu of `%s`, which the program did not make: nothing was replayed\n",
            (unsigned long long)c->settings.process.replayed_number,
            demangle(str_of(c->settings.process.replayed), t.arena));
    json_object_foreach(c->results.running, kernel, n)
        text_printf(&t, "heddle: %s of `%s` had not ended; the report holds the findings up to then\n",
                    plural((uint64_t)json_integer_value(n), "launch", t.arena), demangle(str_of(kernel), t.arena));
    if (c->results.lost)
        text_puts(&t, "heddle: not all findings could be kept: some are missing here\n");
    if (c->settings.runs > c->done)
        text_printf(&t, "heddle: %u of %u runs were done\n", c->done, c->settings.runs);
    if (c->ranks.lost)
        text_puts(&t, RUNS_ARE_LOST);
    text_puts(&t, lines_remark(&c->results.diags));
    text_puts(&t, suppressions_unused(&c->suppressions, t.arena).p);
    if (c->s->o.baseline)
        text_puts(&t, baseline_remark(&c->baseline, t.arena));
    return t.p ? t.p : "";
}

/* The first findings with their notes; the list's counts stay those of all findings. */
static struct diags first_findings(const struct diags *d, uint64_t limit)
{
    struct diags first = *d;
    uint64_t n = 0;
    for (uint32_t i = 0; i < d->list.n && limit; i++) {
        n += d->list.at[i].severity != DIAG_NOTE;
        if (n > limit) {
            first.list.n = i;
            break;
        }
    }
    return first;
}

static struct check_report report_of(struct check *c)
{
    return (struct check_report){.name = c->name,
                                 .program = c->program,
                                 .runs = c->done,
                                 .first = &c->first,
                                 .results = &c->results,
                                 .suppressed = c->suppressed,
                                 .known = c->known,
                                 .has_baseline = c->s->o.baseline != NULL,
                                 .whole = !c->results.lost && !c->survivor && !c->results.unended && !c->ranks.lost,
                                 .root = c->suppressions.root};
}

static void print(struct check *c)
{
    FILE *out = output(c);
    struct diags shown = first_findings(&c->results.diags, c->settings.print_limit);
    const char *words = arena_printf(&c->s->arena, "%s%s", remarks(c), verdict(c));
    const struct check_report report = report_of(c);
    fflush(stdout);
    switch (c->settings.format) {
    case CHECK_TEXT:
        fputs(report_text(&shown, &c->s->arena).p, out);
        fputs(words, out);
        return;
    default: fputs(check_report_text(&report, c->settings.format, &c->s->arena), out);
    }
    if (c->log)
        fputs(words, stderr);
}

static int write_file(struct check *c, const char *path, const char *text)
{
    const char *error = file_write_whole(&c->s->arena, path, text, strlen(text));
    return error ? cli_failure(c->s, "%s", error) : 0;
}

static int show(struct check *c)
{
    const struct options *o = &c->s->o;
    struct arena *arena = &c->s->arena;
    int status = 0;
    if (o->baseline)
        baseline_meet(&c->baseline, &c->results.diags);
    c->suppressed = suppressions_apply(&c->suppressions, &c->results.diags);
    if (o->baseline)
        c->known = baseline_apply(&c->baseline, &c->results.diags);
    print(c);
    const struct check_report report = report_of(c);
    for (size_t i = 0; i < c->settings.save.n; i++) {
        const char *file = c->settings.save.at[i];
        status |= write_file(c, file, check_report_text(&report, check_report_format(file), arena));
    }
    if (o->generate_suppressions)
        status |=
            write_file(c, o->generate_suppressions, suppressions_text(&c->suppressions, &c->results.diags, arena).p);
    bool lost = c->log && (ferror(c->log) | fclose(c->log));
    if (lost)
        status |= cli_failure(c->s, "cannot write %s: %s", c->settings.log_file, strerror(errno));
    c->log = NULL;
    if (lost)
        print(c);
    return status;
}

/* The program's own exit status, unless that is 0 and errors were found that the baseline does not
   have. */
static int exit_status(struct check *c, int status)
{
    const struct ending *e = &c->first;
    if (c->last.over_time)
        return TIME_IS_OVER;
    if (WIFSIGNALED(e->status) || WEXITSTATUS(e->status))
        return end_as(e->status);
    if (c->results.diags.errors && c->settings.error_exitcode)
        return c->settings.error_exitcode;
    return status ? status : c->results.lost || c->ranks.lost || c->done < c->settings.runs;
}

static int replay(struct check *c)
{
    const char *wrong = check_replay(c->s->o.replay_events, &c->results, &c->name, &c->s->arena);
    c->done = 1;
    return wrong ? cli_failure(c->s, "%s", wrong) : 0;
}

static int copy_record(struct session *s)
{
    const char *wrong = replay_copy(s->o.replay_events, s->o.record_events, &s->arena);
    return wrong ? cli_failure(s, "%s", wrong) : 0;
}

enum { STEPS = 4 };

int cmd_check_program(struct session *s)
{
    static int (*const run[STEPS])(struct check *) = {get_ready, find, run_all, show};
    static int (*const again[STEPS])(struct check *) = {get_ready, replay, show};
    int (*const *steps)(struct check *) = s->o.replay_events ? again : run;
    struct check c = {.s = s, .ranks = {.n = 1}};
    int status = 0;
    size_t i = 0;
    if (s->o.replay_events && s->o.record_events && !s->n_words)
        return copy_record(s);
    if (s->o.runs > 1)
        begin_ranks(&c.ranks);
    /* Of several ranks, only the first one shows what was found. */
    size_t n = c.ranks.number ? 3 : STEPS;
    for (; !status && i < n && steps[i]; i++)
        status = steps[i](&c);
    if (c.log)
        fclose(c.log);
    if (!c.ranks.number && (i == STEPS || !steps[i]))
        status = exit_status(&c, status);
    check_results_free(&c.results);
    numbered_runs_free(&c.all);
    return end_ranks(&c.ranks, status);
}
