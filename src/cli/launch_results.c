/* What heddle launch and heddle check print about a launch: see launch.h. */
#include <stdio.h>

#include "api/findings.h"
#include "base/text.h"
#include "cli/launch.h"
#include "cli/show.h"
#include "report/report.h"

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

/* The members that the JSON always has. */
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

/* Adds the checker's findings to a report, which may be NULL, and counts them. */
static hd_report *add_findings(struct launch *l, hd_report *report)
{
    hd_report *findings = NULL;
    hd_diagnostic d;
    hd_checker_end(l->checker);
    hd_checker_report(l->checker, &findings);
    if (l->s->o.baseline)
        l->known = report_change(findings, baseline_apply, &l->baseline);
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
    hd_report_add(&report, NULL); /* an empty log is a report, too */
    const char *text = report ? hd_report_sarif(report) : "{}";
    bool whole = strcmp(text, "{}") != 0;
    if (whole)
        puts(text);
    hd_report_free(report);
    return whole ? 0 : cli_failure(l->s, "out of memory: the findings cannot be written as SARIF");
}

static int print_junit(struct launch *l, hd_report *report)
{
    struct arena *arena = &l->s->arena;
    struct diags d = {.arena = arena};
    json_t *entries = report_entries(l->s, report), *kernels = json_object();
    bool whole = report_read(entries, &d);
    if (l->name)
        json_object_set_new(kernels, l->name, json_true());
    fputs(report_junit(&d, &(struct report_run){.program = l->s->words[0], .kernels = kernels}, arena).p, stdout);
    json_decref(entries);
    json_decref(kernels);
    return whole ? 0 : cli_failure(l->s, "out of memory: not all findings could be kept");
}

static void print_verdict(const struct launch *l)
{
    progress_clear(&l->s->progress);
    if (!l->errors && !l->warnings_found)
        fputs("check: no errors", stderr);
    else
        fprintf(stderr, "check: %u error%s, %u warning%s", l->errors, l->errors == 1 ? "" : "s", l->warnings_found,
                l->warnings_found == 1 ? "" : "s");
    fputs(baseline_verdict(l->known, &l->s->arena), stderr);
    if (l->s->o.baseline)
        fputs(baseline_remark(&l->baseline, &l->s->arena), stderr);
}

/* Prints how to repeat the run if its policy can; if not, and there are findings, names the
 * policies that can. */
static void print_repeat(const struct launch *l)
{
    if (strcmp(policy_of(l), "fair") != 0)
        fprintf(stderr, "heddle: repeat this run with --policy %s\n", policy_of(l));
    else if (!l->debugger && l->checker && (l->errors || l->warnings_found))
        fputs("heddle: --policy serial or random:SEED makes a run repeatable\n", stderr);
}

int launch_fail_with(struct launch *l, hd_result result, hd_report *report)
{
    if (l->checker)
        report = add_findings(l, report);
    if (l->format == FORMAT_SARIF && hd_report_count(report)) {
        print_sarif(l, report);
        return 1;
    }
    if (l->format == FORMAT_JUNIT && hd_report_count(report)) {
        print_junit(l, report);
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
    json_t *diagnostics = report_entries(l->s, report);
    if (json_array_size(diagnostics) == 0)
        json_array_append_new(diagnostics, json_pack("{s:s, s:s, s:s}", "severity", "error", "code", "heddle", "text",
                                                     hd_result_string(result)));
    print_json(l->s, json_head(l, result, diagnostics));
    return 1;
}

uint64_t launch_repetitions(const struct launch *l)
{
    return l->s->o.repeat ? l->s->o.repeat : 1;
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
    uint64_t n = launch_repetitions(l), threads = threads_per_block(&l->config);
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
    for (uint64_t i = 0; i < launch_repetitions(l); i++)
        json_array_append_new(seconds, json_real(l->seconds[i]));
    return json_pack("{s:f, s:o, s:I, s:I, s:I, s:I, s:f, s:I}", "seconds", l->seconds[launch_repetitions(l) / 2],
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
        json_object_set_new(o, "findings", report_entries(l->s, add_findings(l, NULL)));
    if (l->s->o.baseline)
        json_object_set_new(o, "known", json_integer(l->known));
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

int launch_show_results(struct launch *l)
{
    switch (l->format) {
    case FORMAT_JSON: return show_json(l);
    case FORMAT_JUNIT: return print_junit(l, l->checker ? add_findings(l, NULL) : NULL);
    case FORMAT_SARIF: return print_sarif(l, l->checker ? add_findings(l, NULL) : NULL);
    default: show_text(l); return 0;
    }
}
