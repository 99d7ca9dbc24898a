/* heddle launch, heddle check: run one kernel of PTX files, and show its results and errors. */
#include <float.h>
#include <stdio.h>
#include <errno.h>
#include <stdlib.h>

#include "api/debug.h"
#include "api/kernel_name.h"
#include "base/monotonic.h"
#include "base/printable.h"
#include "base/vec.h"
#include "cli/check_runs.h"
#include "cli/check_settings.h"
#include "cli/launch.h"
#include "cli/sandbox.h"
#include "cli/show.h"

static int read_format(struct launch *l)
{
    static const char *const formats[] = {"text", "json", "sarif", "junit"};
    const int n = l->s->o.check ? 4 : 3; /* JUnit's format is only for checks */
    const struct options *o = &l->s->o;
    const char *asked = o->format ? o->format : o->json ? "json" : "text";
    for (int i = 0; i < n; i++)
        if (strcmp(asked, formats[i]) == 0) {
            l->format = (enum launch_format)i;
            return 0;
        }
    return usage_error(l->s, "`--format %s`: it is text, json%s", asked,
                       n == 4 ? ", sarif or junit" : " or sarif; junit is for heddle check");
}

/* ---- loading ---- */

static int read_files(struct launch *l)
{
    struct session *s = l->s;
    const char *command = s->command->name;
    if (s->n_words == 0)
        return usage_error(s,
                           "the PTX file is missing, as in `heddle %s saxpy.ptx --grid 4 --block 256 ARG...`; `heddle "
                           "%s --help` tells more",
                           command, command);
    int status = arg_read_files(s, &l->n_files, &l->files);
    if (status)
        return status;
    l->first_arg = l->n_files;
    l->names_kernel = l->first_arg < s->n_words && kernel_is_name(s->words[l->first_arg]);
    l->first_arg += l->names_kernel;
    return 0;
}

/* Ends a line that a kernel's output has left open, so that our own output starts a new one. */
static void end_printed_line(struct launch *l)
{
    if (l->is_in_line)
        fputc('\n', stderr);
    l->is_in_line = false;
}

static void print_note(void *data, const char *text)
{
    struct launch *l = data;
    progress_clear(&l->s->progress);
    end_printed_line(l);
    fprintf(stderr, "heddle: note: %s\n", text);
}

/* Keeps the kernel's output for --json, which prints it at the end. */
static void keep_printed(struct launch *l, const char *text, size_t n)
{
    if (l->cannot_keep)
        return;
    if (!VEC_RESERVE(&l->printed, n)) {
        l->cannot_keep = true;
        print_note(l, "out of memory: the kernel's further output is lost");
        return;
    }
    memcpy(l->printed.at + l->printed.n, text, n);
    l->printed.n += n;
}

/* Shows the kernel's output beside a report that programs parse. Each line is escaped for
 * terminals, and prefixed so that neither our parser nor a CI service takes it for a command. */
static void show_beside_report(struct launch *l, const char *text, size_t n)
{
    struct arena scratch = {0};
    struct text shown = {.arena = &scratch};
    for (const char *p = text, *end = text + n; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;
        if (!l->is_in_line)
            text_puts(&shown, "kernel: ");
        printable_put(&shown, (struct str){p, (size_t)(stop - p)});
        if (newline)
            text_puts(&shown, "\n");
        l->is_in_line = !newline;
        p = stop + !!newline;
    }
    fwrite(shown.p, 1, shown.n, stderr);
    arena_free(&scratch);
}

static bool is_standard_output(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static bool has_file_at_standard_output(const struct launch *l)
{
    const struct options *o = &l->s->o;
    bool saves = false;
    for (uint32_t i = 0; i < l->args.buffers.n; i++)
        saves |= is_standard_output(l->args.buffers.at[i]->save);
    return saves || is_standard_output(o->trace) || is_standard_output(o->record) ||
           (l->explanation && explanation_writes(o, "-"));
}

static void take_printed(void *data, const char *text, size_t n)
{
    struct launch *l = data;
    if (l->format == FORMAT_JSON) {
        keep_printed(l, text, n);
        return;
    }
    progress_clear(&l->s->progress);
    if (l->format == FORMAT_TEXT && !has_file_at_standard_output(l))
        fwrite(text, 1, n, stdout);
    else
        show_beside_report(l, text, n);
}

static int load(struct launch *l)
{
    struct session *s = l->s;
    hd_source *sources = ARENA_ARRAY(&s->arena, hd_source, (size_t)l->n_files);
    for (int i = 0; i < l->n_files; i++)
        sources[i] = (hd_source){s->words[i], l->files[i].bytes, l->files[i].n};
    hd_report *report;
    progress_phase(&s->progress, "reading PTX", NULL);
    hd_result r = hd_module_load(l->machine, sources, (size_t)l->n_files, &l->module, &report);
    if (r)
        return launch_fail_with(l, r, report);
    if (l->format == FORMAT_JSON)
        l->warnings = report_entries(l->s, report);
    else if (report)
        report_print(s, report);
    const char *error, *typed = l->names_kernel ? s->words[l->first_arg - 1] : NULL;
    const char *name = kernel_find(l->module, typed, &error, &s->arena);
    if (!name)
        return usage_error(s, "%s", error);
    l->name = kernel_readable(name, &s->arena);
    r = hd_module_get_kernel(l->module, name, &l->kernel, &report);
    if (r)
        return launch_fail_with(l, r, report);
    hd_kernel_get_info(l->kernel, &l->info);
    return 0;
}

/* ---- running ---- */

static void restore_buffers(struct launch *l)
{
    for (uint32_t i = 0; i < l->args.buffers.n; i++)
        if (l->args.buffers.at[i]->argument)
            memcpy(l->args.buffers.at[i]->at, l->args.buffers.at[i]->before, arg_buffer_bytes(l->args.buffers.at[i]));
}

/* Marks buffers with undefined contents as uninitialised again before each launch; returns false if
   memory is exhausted. */
static bool mark_undefined(struct launch *l)
{
    bool ok = true;
    for (uint32_t i = 0; l->checker && i < l->args.buffers.n; i++) {
        const struct buffer *b = l->args.buffers.at[i];
        if (b->has_content && b->content.kind == CONTENT_UNDEF)
            ok &= !hd_checker_mark_undefined(l->checker, b->at, arg_buffer_bytes(b), buffer_label(b, &l->s->arena));
    }
    return ok;
}

static int compare_doubles(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* What is left of --timeout for the next repetition, in seconds; 0 if there is no limit. */
static double time_left(const struct launch *l, double start)
{
    double left = l->s->o.timeout - (seconds_now() - start);
    return l->s->o.timeout <= 0 ? 0 : left > 0 ? left : DBL_MIN;
}

static int run_kernel(struct launch *l)
{
    double start = seconds_now();
    l->seconds = ARENA_ARRAY(&l->s->arena, double, launch_repetitions(l));
    if (l->debugger) /* a debugged launch may stand still as long as the user likes */
        progress_end(&l->s->progress);
    else
        progress_phase(&l->s->progress, l->name, l->machine);
    for (uint64_t i = 0; i < launch_repetitions(l); i++) {
        hd_report *report;
        if (i > 0)
            restore_buffers(l);
        if (!mark_undefined(l))
            return cli_failure(l->s, "out of memory");
        l->config.timeout_seconds = time_left(l, start);
        interrupt_cancels(&l->interrupt, l->machine);
        hd_result r = hd_launch(l->kernel, &l->config, &l->stats, &report);
        interrupt_cancels(&l->interrupt, NULL);
        end_printed_line(l);
        if (r)
            return launch_fail_with(l, r, report);
        l->seconds[i] = l->stats.seconds;
    }
    progress_end(&l->s->progress);
    qsort(l->seconds, launch_repetitions(l), sizeof *l->seconds, compare_doubles);
    return 0;
}

/* ---- results ---- */

static int save_buffers(struct launch *l)
{
    for (uint32_t i = 0; i < l->args.buffers.n; i++) {
        const struct buffer *b = l->args.buffers.at[i];
        if (!b->save)
            continue;
        progress_phase(&l->s->progress, arena_printf(&l->s->arena, "writing %s", b->save), NULL);
        const char *error = show_save(b, &l->s->arena);
        if (error)
            return cli_failure(l->s, "%s", error);
    }
    progress_end(&l->s->progress);
    return 0;
}

/* ---- heddle explain ---- */

static void take_launch(void *data, const char *json)
{
    struct launch *l = data;
    json_t *launch = json ? json_loads(json, 0, NULL) : NULL;
    l->explanation->lost |= !launch;
    if (launch)
        explanation_add(l->explanation, 0, json_pack("{s:i, s:o}", "device", 0, "launch", launch));
}

static int open_explainer(struct launch *l)
{
    const hd_explainer_options o = {.device = explanation_device(&l->s->o),
                                    .launched = take_launch,
                                    .data = l,
                                    .sample_after = explanation_sample_after(&l->s->o)};
    if (!l->explanation)
        return 0;
    const char *wrong = explanation_files_wrong(l->s);
    if (wrong)
        return usage_error(l->s, "%s", wrong);
    hd_result r = hd_explainer_create(l->machine, &o, &l->explainer);
    if (r == HD_ERROR_INVALID_VALUE)
        return explanation_no_device(l->s);
    return r ? cli_failure(l->s, "out of memory") : 0;
}

static int show_explanation(struct launch *l)
{
    struct explanation *e = l->explanation;
    char *text = NULL;
    hd_result r;
    if (!e)
        return 0;
    for (size_t i = 0; (r = hd_explainer_kernel(l->explainer, i, &text)) == HD_SUCCESS && text; i++) {
        json_t *kernel = json_loads(text, 0, NULL);
        e->lost |= !kernel;
        if (kernel)
            explanation_add(e, 0, json_pack("{s:i, s:o}", "device", 0, "kernel", kernel));
        free(text);
    }
    if (r || e->lost)
        return cli_failure(l->s, "out of memory: some counts could not be kept");
    explanation_print(e, &l->s->o, explanation_writes(&l->s->o, "-") ? stderr : stdout, &l->s->arena);
    return explanation_write_files(l->s, e, l->s->words[0]);
}

/* ---- the command ---- */

static int open_own_machine(struct launch *l)
{
    hd_machine_options options = {.print = take_printed, .note = print_note, .print_data = l};
    hd_checker_options checks = {.shadow_bytes = l->s->o.shadow_memory};
    const char *wrong = check_tools(&l->s->o, &checks.tools, &l->s->arena);
    if (wrong)
        return usage_error(l->s, "%s", wrong);
    if (l->s->o.baseline)
        wrong = baseline_read(&l->baseline, l->s->o.baseline, &l->s->arena);
    if (wrong)
        return usage_error(l->s, "%s", wrong);
    interrupt_start(&l->interrupt);
    int status = open_machine(l->s, &options, &l->machine);
    if (!status && l->debugger)
        api_debug(l->machine, l->debugger);
    if (!status && l->s->o.check && hd_checker_create(l->machine, &checks, &l->checker))
        status = cli_failure(l->s, "out of memory");
    const char *events = l->s->o.record_events;
    if (!status && events && hd_checker_record(l->checker, events))
        status = cli_failure(l->s, "cannot write %s: %s", events, strerror(errno));
    return status ? status : open_explainer(l);
}

/* If standard output is a file, output for people goes to standard error. */
static int show(struct launch *l)
{
    FILE *output = stdout;
    if (has_file_at_standard_output(l))
        stdout = stderr;
    int status = launch_show_results(l);
    stdout = output;
    status = status ? status : show_explanation(l);
    return status ? status : l->errors > 0;
}

/* Enters the sandbox before an untrusted file is read. */
static int confine(struct launch *l)
{
    return enter_sandbox(l->s, l->machine, l->n_files);
}

/* Returns the exit status: `status`, or 1 if the machine's final output could not be written. */
static int clean_up(struct launch *l, int status)
{
    const char *events = l->s->o.record_events;
    if (l->checker && events && hd_checker_record_end(l->checker, NULL, NULL))
        status = cli_failure(l->s, "cannot write %s: %s", events, strerror(errno));
    hd_checker_destroy(l->checker);
    hd_explainer_destroy(l->explainer);
    if (hd_machine_destroy(l->machine) && !status)
        status = cli_failure(l->s, "the schedule or the timeline could not be written completely");
    interrupt_stop(&l->interrupt);
    for (int i = 0; l->files && i < l->n_files; i++)
        free(l->files[i].bytes);
    for (uint32_t i = 0; i < l->args.buffers.n; i++) {
        content_free(&l->args.buffers.at[i]->content);
        free(l->args.buffers.at[i]->before);
    }
    json_decref(l->warnings);
    free(l->printed.at);
    return status;
}

static int launch(struct session *s, struct explanation *explanation, struct debugger *debugger)
{
    static int (*const steps[])(struct launch *) = {
        read_format,          read_files,       open_own_machine, confine,      load, launch_read_args,
        launch_place_buffers, launch_pack_args, run_kernel,       save_buffers, show,
    };
    struct launch l = {.s = s, .explanation = explanation, .debugger = debugger};
    int status = 0;
    for (size_t i = 0; !status && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](&l);
    return clean_up(&l, status);
}

int cmd_launch(struct session *s)
{
    return launch(s, NULL, NULL);
}

int launch_debugged(struct session *s, struct debugger *d)
{
    int status = d ? launch(s, NULL, d) : cli_failure(s, "out of memory");
    api_debugger_destroy(d);
    return status;
}

int cmd_check(struct session *s)
{
    s->o.check = true;
    return s->o.runs > 1 ? check_runs(s) : launch(s, NULL, NULL);
}

int cmd_explain(struct session *s)
{
    struct explanation e;
    explanation_init(&e, &s->arena);
    int status = launch(s, &e, NULL);
    explanation_free(&e);
    return status;
}
