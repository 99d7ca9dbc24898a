/* heddle check --runs N FILE.ptx ...: each run is a process of its own, because a machine has one
 * policy and a sandbox is entered once. Their findings are shown together. The first run has the
 * typed options, the others random policies. The typed run comes last, so that files that runs
 * write (as +save does) are its own in the end.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/shell.h"
#include "base/text.h"
#include "cli/baseline.h"
#include "cli/check_report.h"
#include "cli/check_settings.h"
#include "cli/check_runs.h"
#include "cli/numbered_runs.h"
#include "files/places.h"
#include "cli/process_files.h"
#include "cli/debug_hint.h"
#include "cli/supervise.h"
#include "report/report.h"

struct runs {
    struct session *s;
    struct check_settings settings;
    const char *folder, *file; /* what the last run reported */
    bool quiet;                /* only the findings of this run are shown */
    struct ranks ranks;
    struct numbered_runs all; /* said: {"status", "said"}; no "said" if the run reported nothing */
    unsigned done;
    struct diags diags;
    struct baseline baseline;
    uint32_t known; /* findings that the baseline leaves out */
};

static const json_t *said_by(const struct runs *r, unsigned run)
{
    return json_object_get(r->all.said[run], "said");
}

static void enter(void *data)
{
    const struct runs *r = data;
    ranks_hide();
    int out = open(r->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
        none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (out < 0 || none < 0 || dup2(out, STDOUT_FILENO) < 0 || (r->quiet && dup2(none, STDERR_FILENO) < 0))
        _exit(1);
}

/* Returns how many words an option takes that the command of a single run leaves out; 0 if it keeps
 * the option. */
static int left_out(const char *word)
{
    static const char *const values[] = {"--runs", "--seed", "--policy", "--format", "--baseline"};
    return strcmp(word, "--json") == 0 ? 1 : option_words(word, values, sizeof values / sizeof values[0]);
}

static const char *policy_of(const struct runs *r, unsigned run)
{
    struct arena *arena = &r->s->arena;
    return run ? arena_printf(arena, "random:%llu", (unsigned long long)(r->settings.seed + run - 1)) : r->s->o.policy;
}

/* The command line of one run: heddle check [--policy P] [--json] and the typed words. */
static const char **words_of(const struct runs *r, unsigned run, bool json)
{
    struct session *s = r->s;
    const char **words = ARENA_ARRAY(&s->arena, const char *, (size_t)s->argc + 6), *policy = policy_of(r, run);
    int n = 0;
    words[n++] = "heddle";
    words[n++] = "check";
    if (policy) {
        words[n++] = "--policy";
        words[n++] = policy;
    }
    if (json)
        words[n++] = "--json";
    for (int i = 1, skip; i < s->argc; i += skip ? skip : 1)
        if (!(skip = left_out(s->argv[i])))
            words[n++] = s->argv[i];
    return words;
}

static const char *command_of(const struct runs *r, unsigned run)
{
    struct text t = {.arena = &r->s->arena};
    for (const char **word = words_of(r, run, false); *word; word++)
        text_printf(&t, "%s%s", t.n ? " " : "", shell_word(t.arena, *word));
    return t.p;
}

static void be_asked(void *data)
{
    const struct runs *r = data;
    numbered_runs_asked(&r->all);
}

static json_t *run_once(void *data, unsigned run)
{
    struct runs *r = data;
    struct supervision v = {.file = place_of_program(&r->s->arena),
                            .words = (char *const *)words_of(r, run, true),
                            .in_child = enter,
                            .asked = be_asked,
                            .data = r};
    struct ending e;
    r->quiet = run > 0;
    if (supervise(r->s, &v, &e))
        return NULL;
    json_t *said = json_load_file(r->file, 0, NULL);
    unlink(r->file);
    return json_pack("{s:i, s:b, s:o*}", "status", e.status, "asked", e.asked, "said", said);
}

static int status_of(const json_t *run)
{
    return (int)json_integer_value(json_object_get(run, "status"));
}

/* If a run reports nothing, the first run prints why. */
static bool ends(void *data, const json_t *run, bool *interrupted)
{
    (void)data;
    const json_t *said = json_object_get(run, "said");
    const char *result = json_string_value(json_object_get(said, "result"));
    *interrupted = json_is_true(json_object_get(run, "asked")) || WIFSIGNALED(status_of(run)) ||
                   (result && strcmp(result, "HD_ERROR_CANCELLED") == 0);
    return *interrupted || !said;
}

static int run_all(struct runs *r)
{
    r->folder = process_folder_make(r->s, "check");
    if (!r->folder)
        return 1;
    r->file = arena_printf(&r->s->arena, "%s/said", r->folder);
    r->all = (struct numbered_runs){
        .ranks = &r->ranks, .n = r->settings.runs, .first_is_last = true, .run = run_once, .ends = ends, .data = r};
    numbered_runs_do(&r->all, &r->s->arena);
    process_folder_remove(r->folder);
    for (unsigned run = 0; run < r->settings.runs; run++)
        r->done += r->all.said[run] != NULL;
    return r->all.failed;
}

static void collect(struct runs *r)
{
    struct arena *arena = &r->s->arena;
    for (unsigned run = 0; run < r->settings.runs; run++) {
        const json_t *said = said_by(r, run), *findings = json_object_get(said, "findings");
        struct diags own = {.arena = arena};
        struct diag_origin *origin = ARENA_NEW(arena, struct diag_origin);
        *origin = (struct diag_origin){.program = r->s->words[0],
                                       .repeat = run ? command_of(r, run) : NULL,
                                       .stops = run ? command_that_stops(r->s, policy_of(r, run), false) : NULL};
        if (said && report_read(findings ? findings : json_object_get(said, "diagnostics"), &own))
            report_merge(&r->diags, &own, origin);
    }
}

static int show(struct runs *r)
{
    struct arena *arena = &r->s->arena;
    const struct diags *d = &r->diags;
    const char *output = json_string_value(json_object_get(said_by(r, 0), "output"));
    if (r->settings.format == CHECK_JSON) {
        json_t *o = json_pack("{s:i, s:i, s:i, s:o}", "runs", (int)r->done, "errors", (int)d->errors, "warnings",
                              (int)d->warnings, "findings", json_loads(report_json(d, arena).p, 0, NULL));
        if (r->s->o.baseline)
            json_object_set_new(o, "known", json_integer(r->known));
        return print_json(r->s, o);
    }
    if (r->settings.format == CHECK_SARIF) {
        puts(report_sarif(d, arena).p);
        return 0;
    }
    if (r->settings.format == CHECK_SANITIZER) {
        fputs(check_sanitizer_text(d, arena), stdout);
        return 0;
    }
    if (r->settings.format == CHECK_JUNIT) {
        fputs(report_junit(d, &(struct report_run){.program = r->s->words[0]}, arena).p, stdout);
        return 0;
    }
    fputs(output ? output : "", stdout);
    fflush(stdout);
    fputs(report_text(d, arena).p, stderr);
    bool none = !d->errors && !d->warnings;
    if (none)
        fprintf(stderr, "check: %s", r->done < r->settings.runs ? "not done, no errors so far" : "no errors");
    else
        fprintf(stderr, "check: %u error%s, %u warning%s", d->errors, d->errors == 1 ? "" : "s", d->warnings,
                d->warnings == 1 ? "" : "s");
    fprintf(stderr, r->done < r->settings.runs ? " in %u of %u runs" : " in %u runs", r->done, r->settings.runs);
    fputs(baseline_verdict(r->known, arena), stderr);
    if (r->s->o.baseline)
        fputs(baseline_remark(&r->baseline, arena), stderr);
    return 0;
}

static int run_and_show(struct runs *r)
{
    int status = connect_ranks(r->s, &r->ranks);
    if (!status)
        status = run_all(r);
    bool any = false;
    const json_t *silent = NULL;
    for (unsigned run = r->settings.runs; r->all.said && run-- > 0;) {
        any |= said_by(r, run) != NULL;
        silent = r->all.said[run] ? r->all.said[run] : silent;
    }
    if (status || r->ranks.number)
        return status;
    if (!any)
        return silent ? end_as(status_of(silent)) : 1;
    collect(r);
    if (r->s->o.baseline)
        r->known = baseline_apply(&r->baseline, &r->diags);
    status = show(r);
    if (r->ranks.lost)
        fputs(RUNS_ARE_LOST, stderr);
    return status ? status : r->diags.errors > 0 || r->done < r->settings.runs;
}

int check_runs(struct session *s)
{
    struct runs r = {.s = s, .diags = {.arena = &s->arena}};
    struct options checked = s->o;
    checked.check_policy = NULL; /* the runs themselves read --policy */
    begin_ranks(&r.ranks);
    const char *wrong = check_settings(&checked, &r.settings, &s->arena);
    if (!wrong && s->o.baseline)
        wrong = baseline_read(&r.baseline, s->o.baseline, &s->arena);
    int status = wrong ? usage_error(s, "%s", wrong) : run_and_show(&r);
    numbered_runs_free(&r.all);
    return end_ranks(&r.ranks, status);
}
