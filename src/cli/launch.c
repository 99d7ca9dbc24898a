/* heddle launch, heddle check: run one kernel of PTX files and show its results, and what is wrong with it. */
#include <float.h>
#include <stdio.h>
#include <errno.h>
#include <stdlib.h>

#include "base/monotonic.h"
#include "base/printable.h"
#include "base/sparse.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/arg.h"
#include "cli/check_runs.h"
#include "cli/check_settings.h"
#include "cli/cli.h"
#include "cli/explanation.h"
#include "cli/interrupt.h"
#include "api/kernel_name.h"
#include "cli/sandbox.h"
#include "cli/show.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_SARIF };

struct launch {
    struct session *s;
    enum format format;
    int n_files, first_arg; /* in the session's words */
    bool names_kernel;      /* the word before first_arg is the kernel's name */
    struct file_bytes *files;
    struct interrupt interrupt;
    hd_machine *machine;
    hd_checker *checker; /* or NULL */
    hd_explainer *explainer;
    struct explanation *explanation; /* of heddle explain; else NULL */
    hd_module *module;
    hd_kernel *kernel;
    hd_kernel_info info;
    const char *name; /* of the kernel, readable */
    struct args args;
    hd_launch_config config;
    double *seconds; /* of each repetition */
    hd_launch_stats stats;
    unsigned errors, warnings_found; /* of the checker */
    json_t *warnings;
    struct {
        char *at;
        size_t n, capacity;
    } printed;        /* by the kernel, for --json */
    bool cannot_keep; /* what else it prints: memory has run out */
    bool is_in_line;  /* of what it prints beside a report */
};

/* ---- errors ---- */

static json_t *json_numbers(const uint32_t n[3])
{
    return json_pack("[I, I, I]", (json_int_t)n[0], (json_int_t)n[1], (json_int_t)n[2]);
}

static const char *policy_of(const struct launch *l)
{
    hd_machine_info info;
    hd_machine_get_info(l->machine, &info);
    return info.policy;
}

/* What JSON says in any case. */
static json_t *json_head(const struct launch *l, hd_result result, json_t *diagnostics)
{
    json_t *o = json_object();
    json_object_set_new(o, "result", json_string(hd_result_name(result)));
    if (l->name)
        json_object_set_new(o, "kernel", json_string(l->name));
    if (l->machine)
        json_object_set_new(o, "policy", json_string(policy_of(l)));
    json_object_set_new(o, "diagnostics", diagnostics);
    json_object_set_new(o, "output", json_text(l->printed.at ? l->printed.at : "", l->printed.n));
    return o;
}

/* What the checker has seen, added to a report, which may be NULL; counted. */
static hd_report *add_findings(struct launch *l, hd_report *report)
{
    hd_report *findings = NULL;
    hd_diagnostic d;
    hd_checker_end(l->checker);
    hd_checker_report(l->checker, &findings);
    for (size_t i = 0; hd_report_get(findings, i, &d); i++) {
        l->errors += d.severity == HD_SEVERITY_ERROR;
        l->warnings_found += d.severity == HD_SEVERITY_WARNING;
    }
    hd_report_add(&report, findings);
    hd_report_free(findings);
    return report;
}

static int print_sarif(struct launch *l, hd_report *report)
{
    hd_report_add(&report, NULL); /* an empty log is one, too */
    const char *text = report ? hd_report_sarif(report) : "{}";
    bool whole = strcmp(text, "{}") != 0;
    if (whole)
        puts(text);
    hd_report_free(report);
    return whole ? 0 : cli_failure(l->s, "out of memory: the findings cannot be written as SARIF");
}

static void print_verdict(const struct launch *l)
{
    progress_clear(&l->s->progress);
    if (!l->errors && !l->warnings_found)
        fputs("check: no errors\n", stderr);
    else
        fprintf(stderr, "check: %u error%s, %u warning%s\n", l->errors, l->errors == 1 ? "" : "s", l->warnings_found,
                l->warnings_found == 1 ? "" : "s");
}

/* How to have the same run again, for every policy that can; and where there is something to find in it, which ones can. */
static void print_repeat(const struct launch *l)
{
    if (strcmp(policy_of(l), "fair") != 0)
        fprintf(stderr, "heddle: repeat this run with --policy %s\n", policy_of(l));
    else if (l->checker && (l->errors || l->warnings_found))
        fputs("heddle: for a run that can be repeated choice by choice: --policy serial, or random:SEED\n", stderr);
}

static int fail(struct launch *l, hd_result result, hd_report *report)
{
    if (l->checker)
        report = add_findings(l, report);
    if (l->format == FORMAT_SARIF && hd_report_count(report)) {
        print_sarif(l, report);
        return 1;
    }
    if (l->format != FORMAT_JSON) {
        report_failure(l->s, result, report);
        l->errors++;
        if (l->checker && l->kernel)
            print_verdict(l);
        if (l->kernel)
            print_repeat(l);
        return 1;
    }
    json_t *diagnostics = report_entries(report);
    if (json_array_size(diagnostics) == 0)
        json_array_append_new(diagnostics, json_pack("{s:s, s:s, s:s}", "severity", "error", "code", "heddle", "text",
                                                     hd_result_string(result)));
    print_json(l->s, json_head(l, result, diagnostics));
    return 1;
}

static int read_format(struct launch *l)
{
    static const char *const formats[] = {"text", "json", "sarif"};
    const struct options *o = &l->s->o;
    const char *asked = o->format ? o->format : o->json ? "json" : "text";
    for (int i = 0; i < 3; i++)
        if (strcmp(asked, formats[i]) == 0) {
            l->format = (enum format)i;
            return 0;
        }
    return usage_error(l->s, "`--format %s`: it is text, json or sarif", asked);
}

/* ---- loading ---- */

/* The first word is a file, and so is every word behind it that ends in .ptx. */
static int read_files(struct launch *l)
{
    struct session *s = l->s;
    const char *command = s->command->name;
    if (s->n_words == 0)
        return usage_error(s,
                           "which PTX file? As in `heddle %s saxpy.ptx --grid 4 --block 256 ARG...`; `heddle %s "
                           "--help` tells more",
                           command, command);
    l->n_files = 1;
    while (l->n_files < s->n_words && strcmp(file_extension(s->words[l->n_files]), ".ptx") == 0)
        l->n_files++;
    l->files = ARENA_ARRAY(&s->arena, struct file_bytes, (size_t)l->n_files);
    for (int i = 0; i < l->n_files; i++) {
        const char *error = file_read_ptx(&s->arena, s->words[i], &l->files[i]);
        if (error)
            return usage_error(s, "%s", error);
    }
    l->first_arg = l->n_files;
    l->names_kernel = l->first_arg < s->n_words && kernel_is_name(s->words[l->first_arg]);
    l->first_arg += l->names_kernel;
    return 0;
}

/* What we say begins a line of its own, behind whatever a kernel has printed beside a report. */
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

/* For --json, which tells it at the end. */
static void keep_printed(struct launch *l, const char *text, size_t n)
{
    if (l->cannot_keep)
        return;
    if (!VEC_RESERVE(&l->printed, n)) {
        l->cannot_keep = true;
        print_note(l, "memory has run out: what the kernel prints from here on is lost");
        return;
    }
    memcpy(l->printed.at + l->printed.n, text, n);
    l->printed.n += n;
}

/* Beside a report that is for programs: lines that no terminal obeys, and that begin as no line of ours or command to a CI service. */
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
        return fail(l, r, report);
    if (l->format == FORMAT_JSON)
        l->warnings = report_entries(report);
    else if (report)
        report_print(s, report);
    const char *error, *typed = l->names_kernel ? s->words[l->first_arg - 1] : NULL;
    const char *name = kernel_find(l->module, typed, &error, &s->arena);
    if (!name)
        return usage_error(s, "%s", error);
    l->name = kernel_readable(name, &s->arena);
    r = hd_module_get_kernel(l->module, name, &l->kernel, &report);
    if (r)
        return fail(l, r, report);
    hd_kernel_get_info(l->kernel, &l->info);
    return 0;
}

/* ---- arguments ---- */

/* The kernel's parameters, and a command line that it would take. */
static const char *parameter_list(const struct launch *l)
{
    struct session *s = l->s;
    struct arena *arena = &s->arena;
    struct text list = {.arena = arena}, example = {.arena = arena};
    hd_param_info p;
    text_printf(&example, "heddle %s", s->command->name);
    for (int i = 0; i < l->n_files; i++)
        text_printf(&example, " %s", s->words[i]);
    if (hd_module_kernel_count(l->module) > 1)
        text_printf(&example, " '%s'", l->name);
    text_printf(&example, " --grid 1 --block %u", l->info.required_block[0] ? l->info.required_block[0] : 32);
    for (size_t i = 0; hd_kernel_get_param(l->kernel, i, &p); i++) {
        text_printf(&list, "\n  %2zu  .%-4s %-20s %s", i + 1, p.type, p.name, arg_hint(&p, arena));
        text_printf(&example, " %s", arg_example(&p, arena));
    }
    return arena_printf(arena, "%s\nfor example:\n  %s", list.p ? list.p : "", example.p);
}

static int read_size(struct launch *l)
{
    struct session *s = l->s;
    struct options *o = &s->o;
    if (!o->grid[0])
        return usage_error(s, "how many blocks? As in --grid 4 or --grid 32,32");
    if (!o->block[0] && !l->info.required_block[0])
        return usage_error(s, "how many threads in a block? As in --block 256 or --block 16,16");
    for (int i = 0; i < 3; i++) {
        l->config.grid[i] = o->grid[i];
        l->config.cluster[i] = o->cluster[i];
        l->config.block[i] = o->block[0] ? o->block[i] : l->info.required_block[i];
    }
    l->config.shared_bytes = o->shared;
    l->config.flags = HD_LAUNCH_CLOSED | HD_LAUNCH_NON_PORTABLE_CLUSTER | (o->cooperative ? HD_LAUNCH_COOPERATIVE : 0u);
    return 0;
}

/* Two buffers must not be written to one file. */
static int check_saves(struct launch *l)
{
    const struct args *a = &l->args;
    for (uint32_t i = 0; i < a->buffers.n; i++)
        for (uint32_t k = 0; a->buffers.at[i]->save && k < i; k++) /* of a module's many variables few are saved */
            if (a->buffers.at[k]->save && strcmp(a->buffers.at[i]->save, a->buffers.at[k]->save) == 0)
                return usage_error(l->s, "two buffers are saved to %s", a->buffers.at[i]->save);
    return 0;
}

static int read_args(struct launch *l)
{
    struct session *s = l->s;
    size_t given = (size_t)(s->n_words - l->first_arg);
    hd_param_info p;
    if (given != l->info.param_count)
        return usage_error(s, "%s takes %zu argument%s, not %zu%s", l->name, l->info.param_count,
                           l->info.param_count == 1 ? "" : "s", given, parameter_list(l));
    int status = read_size(l);
    l->args.arena = &s->arena;
    for (size_t i = 0; !status && hd_kernel_get_param(l->kernel, i, &p); i++) {
        const char *error = arg_parse(&l->args, s->words[l->first_arg + (int)i], &p);
        if (error)
            status = usage_error(s, "%s", error);
    }
    for (unsigned i = 0; !status && i < s->o.vars.n; i++) {
        const char *error = arg_parse_variable(&l->args, s->o.vars.at[i], l->module);
        if (error)
            status = usage_error(s, "%s", error);
    }
    if (!status)
        arg_add_variables(&l->args, l->module);
    return status ? status : check_saves(l);
}

/* ---- buffers ---- */

static int place_buffer(struct launch *l, struct buffer *b)
{
    struct arena *arena = &l->s->arena;
    size_t bytes = buffer_bytes(b);
    if (!b->at && hd_alloc_named(l->machine, bytes, buffer_label(b, arena), &b->at)) {
        hd_machine_info info;
        hd_machine_get_info(l->machine, &info);
        return cli_failure(l->s, "%s, `%s`, needs %s; of the machine's %s, %s are in use (--memory sets the limit)",
                           buffer_label(b, arena), b->text, size_text(bytes, arena),
                           size_text(info.memory_bytes, arena), size_text(info.memory_used_bytes, arena));
    }
    if (b->argument || b->has_content)
        content_fill(&b->content, b->type, b->at, b->count);
    content_free(&b->content);
    b->before = calloc(1, bytes);
    if (!b->before)
        return cli_failure(l->s, "out of memory for a copy of %s (%s)", buffer_label(b, arena),
                           size_text(bytes, arena));
    copy_sparse(b->before, b->at, bytes);
    return 0;
}

static int place_buffers(struct launch *l)
{
    int status = 0;
    progress_phase(&l->s->progress, "filling buffers", NULL);
    for (uint32_t i = 0; !status && i < l->args.buffers.n; i++)
        status = place_buffer(l, l->args.buffers.at[i]);
    return status;
}

static int pack_args(struct launch *l)
{
    uint8_t *packed = arena_alloc(&l->s->arena, l->info.param_bytes + 1);
    hd_param_info p;
    for (size_t i = 0; hd_kernel_get_param(l->kernel, i, &p); i++) {
        const struct arg *a = &l->args.list.at[i];
        memcpy(packed + p.offset, a->bytes, p.bytes);
        for (uint32_t k = 0; k < a->pointers.n; k++) {
            uint64_t address = (uint64_t)(uintptr_t)a->pointers.at[k].buffer->at + a->pointers.at[k].addend;
            memcpy(packed + p.offset + a->pointers.at[k].at, &address, sizeof address);
        }
    }
    l->config.packed_args = packed;
    l->config.packed_bytes = l->info.param_bytes;
    return 0;
}

/* ---- running ---- */

static uint64_t repetitions(const struct launch *l)
{
    return l->s->o.repeat ? l->s->o.repeat : 1;
}

static void restore_buffers(struct launch *l)
{
    for (uint32_t i = 0; i < l->args.buffers.n; i++)
        if (l->args.buffers.at[i]->argument)
            memcpy(l->args.buffers.at[i]->at, l->args.buffers.at[i]->before, buffer_bytes(l->args.buffers.at[i]));
}

/* Buffers of undefined contents are so again before each launch; false where memory is exhausted. */
static bool mark_undefined(struct launch *l)
{
    bool ok = true;
    for (uint32_t i = 0; l->checker && i < l->args.buffers.n; i++) {
        const struct buffer *b = l->args.buffers.at[i];
        if (b->has_content && b->content.kind == CONTENT_UNDEF)
            ok &= !hd_checker_mark_undefined(l->checker, b->at, buffer_bytes(b), buffer_label(b, &l->s->arena));
    }
    return ok;
}

static int compare_doubles(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Of --timeout, for the next repetition; 0: no limit. */
static double time_left(const struct launch *l, double start)
{
    double left = l->s->o.timeout - (seconds_now() - start);
    return l->s->o.timeout <= 0 ? 0 : left > 0 ? left : DBL_MIN;
}

static int run_kernel(struct launch *l)
{
    double start = seconds_now();
    l->seconds = ARENA_ARRAY(&l->s->arena, double, repetitions(l));
    progress_phase(&l->s->progress, l->name, l->machine);
    for (uint64_t i = 0; i < repetitions(l); i++) {
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
            return fail(l, r, report);
        l->seconds[i] = l->stats.seconds;
    }
    progress_end(&l->s->progress);
    qsort(l->seconds, repetitions(l), sizeof *l->seconds, compare_doubles);
    return 0;
}

/* ---- results ---- */

static double lane_efficiency(const hd_launch_stats *stats)
{
    return stats->warp_instructions ? (double)stats->lane_instructions / (32.0 * (double)stats->warp_instructions) : 1;
}

static uint64_t threads_per_block(const hd_launch_config *c)
{
    return (uint64_t)c->block[0] * c->block[1] * c->block[2];
}

static void print_stats(const struct launch *l)
{
    struct arena *arena = &l->s->arena;
    const hd_launch_stats *t = &l->stats;
    uint64_t threads = threads_per_block(&l->config);
    hd_machine_info info;
    hd_machine_get_info(l->machine, &info);
    printf("  threads             %s in %s warps\n", count_text(t->blocks * threads, arena),
           count_text(t->blocks * ((threads + 31) / 32), arena));
    printf("  warp instructions   %s\n", count_text(t->warp_instructions, arena));
    printf("  lane instructions   %s\n", count_text(t->lane_instructions, arena));
    printf("  lane efficiency     %.1f%%\n", 100 * lane_efficiency(t));
    double rate = (double)t->lane_instructions / (l->seconds[0] > 0 ? l->seconds[0] : 1e-9);
    printf("  speed               %s million lane instructions a second\n", count_text((uint64_t)(1e-6 * rate), arena));
    printf("  shared memory       %s of a block\n",
           size_text(l->info.static_shared_bytes + l->config.shared_bytes, arena));
    printf("  local memory        %s of a thread\n", size_text(l->info.local_bytes, arena));
    printf("  global memory       %s\n", size_text(info.memory_used_bytes, arena));
    printf("  machine             %u worker%s, %s\n", info.workers, info.workers == 1 ? "" : "s", info.cpu_level);
}

static void print_times(const struct launch *l)
{
    uint64_t n = repetitions(l), threads = threads_per_block(&l->config);
    struct arena *arena = &l->s->arena;
    printf("%s: %s block%s of %llu thread%s, ", l->name, count_text(l->stats.blocks, arena),
           l->stats.blocks == 1 ? "" : "s", (unsigned long long)threads, threads == 1 ? "" : "s");
    if (n == 1)
        printf("%.3f ms\n", 1e3 * l->seconds[0]);
    else
        printf("%llu launches: least %.3f ms, median %.3f ms, greatest %.3f ms\n", (unsigned long long)n,
               1e3 * l->seconds[0], 1e3 * l->seconds[n / 2], 1e3 * l->seconds[n - 1]);
}

static void show_text(struct launch *l)
{
    bool any = false;
    for (uint32_t i = 0; i < l->args.buffers.n; i++)
        any |= show_buffer(stdout, l->args.buffers.at[i], &l->s->arena);
    if (!any && l->args.list.n)
        puts("no buffer was changed");
    print_times(l);
    if (l->s->o.stats)
        print_stats(l);
    if (l->checker) {
        report_print(l->s, add_findings(l, NULL));
        print_verdict(l);
    }
    print_repeat(l);
}

static json_t *json_stats(const struct launch *l)
{
    const hd_launch_stats *t = &l->stats;
    json_t *seconds = json_array();
    for (uint64_t i = 0; i < repetitions(l); i++)
        json_array_append_new(seconds, json_real(l->seconds[i]));
    return json_pack("{s:f, s:o, s:I, s:I, s:I, s:I, s:f, s:I}", "seconds", l->seconds[repetitions(l) / 2],
                     "all_seconds", seconds, "blocks", (json_int_t)t->blocks, "threads",
                     (json_int_t)(t->blocks * threads_per_block(&l->config)), "warp_instructions",
                     (json_int_t)t->warp_instructions, "lane_instructions", (json_int_t)t->lane_instructions,
                     "lane_efficiency", lane_efficiency(t), "lost_print_bytes", (json_int_t)t->lost_print_bytes);
}

static int show_json(struct launch *l)
{
    hd_machine_info info;
    hd_machine_get_info(l->machine, &info);
    json_t *o = json_head(l, HD_SUCCESS, json_incref(l->warnings)), *buffers = json_array();
    if (l->checker)
        json_object_set_new(o, "findings", report_entries(add_findings(l, NULL)));
    for (uint32_t i = 0; i < l->args.buffers.n; i++) {
        const struct buffer *b = l->args.buffers.at[i];
        bool asked = b->argument || b->has_content || b->print || b->sum || b->save;
        if (!b->hide && (asked || buffer_changed(b)))
            json_array_append_new(buffers, show_buffer_json(b));
    }
    json_object_set_new(o, "grid", json_numbers(l->config.grid));
    json_object_set_new(o, "block", json_numbers(l->config.block));
    if (l->config.cluster[0])
        json_object_set_new(o, "cluster", json_numbers(l->config.cluster));
    json_object_set_new(o, "shared_bytes",
                        json_integer((json_int_t)(l->info.static_shared_bytes + l->config.shared_bytes)));
    json_object_set_new(o, "stats", json_stats(l));
    json_object_set_new(o, "machine",
                        json_pack("{s:I, s:s}", "workers", (json_int_t)info.workers, "cpu_level", info.cpu_level));
    json_object_set_new(o, "buffers", buffers);
    return print_json(l->s, o);
}

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
        return cli_failure(l->s, "out of memory: not all that was counted could be kept");
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
    interrupt_start(&l->interrupt);
    int status = open_machine(l->s, &options, &l->machine);
    if (!status && l->s->o.check && hd_checker_create(l->machine, &checks, &l->checker))
        status = cli_failure(l->s, "out of memory");
    const char *events = l->s->o.record_events;
    if (!status && events && hd_checker_record(l->checker, events))
        status = cli_failure(l->s, "cannot write %s: %s", events, strerror(errno));
    return status ? status : open_explainer(l);
}

static int show_results(struct launch *l)
{
    switch (l->format) {
    case FORMAT_JSON: return show_json(l);
    case FORMAT_SARIF: return print_sarif(l, l->checker ? add_findings(l, NULL) : NULL);
    default: show_text(l); return 0;
    }
}

/* Where standard output is a file, what is for people goes to the other stream. */
static int show(struct launch *l)
{
    FILE *output = stdout;
    if (has_file_at_standard_output(l))
        stdout = stderr;
    int status = show_results(l);
    stdout = output;
    status = status ? status : show_explanation(l);
    return status ? status : l->errors > 0;
}

/* Before the first look at what a stranger may have written. */
static int confine(struct launch *l)
{
    return enter_sandbox(l->s, l->machine, l->n_files);
}

/* Returns the exit status: `status`, or 1 where what the machine writes at its end could not be written. */
static int clean_up(struct launch *l, int status)
{
    const char *events = l->s->o.record_events;
    if (l->checker && events && hd_checker_record_end(l->checker, NULL, NULL) && !status)
        status = cli_failure(l->s, "cannot write %s: %s", events, strerror(errno));
    hd_checker_destroy(l->checker);
    hd_explainer_destroy(l->explainer);
    if (hd_machine_destroy(l->machine) && !status)
        status = cli_failure(l->s, "the schedule or the timeline could not be written whole");
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

static int launch(struct session *s, struct explanation *explanation)
{
    static int (*const steps[])(struct launch *) = {
        read_format,   read_files, open_own_machine, confine,      load, read_args,
        place_buffers, pack_args,  run_kernel,       save_buffers, show,
    };
    struct launch l = {.s = s, .explanation = explanation};
    int status = 0;
    for (size_t i = 0; !status && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](&l);
    return clean_up(&l, status);
}

int cmd_launch(struct session *s)
{
    return launch(s, NULL);
}

int cmd_check(struct session *s)
{
    s->o.check = true;
    return s->o.runs > 1 ? check_runs(s) : launch(s, NULL);
}

int cmd_explain(struct session *s)
{
    struct explanation e;
    explanation_init(&e, &s->arena);
    int status = launch(s, &e);
    explanation_free(&e);
    return status;
}
