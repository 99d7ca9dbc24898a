/* heddle ptx: checks PTX files. With --isa, shows the instruction set (isa_table.c). */
#include <stdio.h>
#include <stdlib.h>

#include "base/file_name.h"
#include "base/text.h"
#include "base/printable.h"
#include "cli/cli.h"
#include "cli/isa_table.h"
#include "cli/program_ptx.h"
#include "api/kernel_name.h"
#include "report/lines.h"
#include "report/report.h"

static const char *plural(size_t n, const char *noun, struct arena *arena)
{
    return arena_printf(arena, "%s %s%s", count_text(n, arena), noun, n == 1 ? "" : "s");
}

static void print_file(struct session *s, const char *path, const hd_ptx *ptx)
{
    struct arena *a = &s->arena;
    hd_ptx_info i;
    hd_ptx_function f;
    hd_ptx_get_info(ptx, &i);
    const char *refused = i.kernels_refused ? arena_printf(a, " (valid, but %s cannot run in Heddle yet)",
                                                           count_text(i.kernels_refused, a))
                                            : "";
    printf("%s: PTX %u.%u for %s: %s%s, %s, %s, %s\n", file_as_shown(path, a), i.version_major, i.version_minor,
           i.target, plural(i.kernels, "kernel", a), refused, plural(i.functions, "function", a),
           plural(i.variables, "variable", a), plural(i.instructions, "instruction", a));
    for (size_t k = 0; s->o.verbose && hd_ptx_get_function(ptx, k, &f); k++)
        printf("  %5u  %s %s: %s, %s%s\n", f.line, f.is_kernel ? "kernel  " : "function", kernel_readable(f.name, a),
               plural(f.params, "parameter", a), plural(f.instructions, "instruction", a),
               f.missing ? arena_printf(a, "; needs %s", f.missing) : "");
}

static json_t *file_json(struct session *s, const char *path, hd_ptx *ptx, bool print, hd_report *report)
{
    hd_ptx_info i;
    hd_ptx_function f;
    json_t *o = json_pack("{s:o, s:b}", "file", json_string(file_as_shown(path, &s->arena)), "valid", ptx != NULL);
    if (ptx) {
        hd_ptx_get_info(ptx, &i);
        json_t *functions = json_array();
        for (size_t k = 0; hd_ptx_get_function(ptx, k, &f); k++)
            json_array_append_new(functions,
                                  json_pack("{s:s, s:b, s:I, s:I, s:I, s:s?}", "name", f.name, "kernel", f.is_kernel,
                                            "line", (json_int_t)f.line, "parameters", (json_int_t)f.params,
                                            "instructions", (json_int_t)f.instructions, "missing", f.missing));
        json_object_set_new(o, "version", json_sprintf("%u.%u", i.version_major, i.version_minor));
        json_object_set_new(o, "target", json_string(i.target));
        json_object_set_new(o, "kernels", json_integer((json_int_t)i.kernels));
        json_object_set_new(o, "variables", json_integer((json_int_t)i.variables));
        json_object_set_new(o, "instructions", json_integer((json_int_t)i.instructions));
        json_object_set_new(o, "functions", functions);
        size_t bytes = 0;
        const char *text = print ? hd_ptx_print(ptx, &bytes) : NULL;
        if (print)
            json_object_set_new(o, "text", json_text(text ? text : "", bytes));
        if (print && !text)
            json_lose();
    }
    json_object_set_new(o, "diagnostics", report_entries(s, report));
    return o;
}

/* Where results go: printed at once, or kept for the end. */
struct results {
    json_t *list;   /* for JSON, or NULL */
    json_t *errors; /* entries of all reports, for SARIF, or NULL */
};

/* Checks one file; returns its exit status. */
static int check_file(struct session *s, const char *path, struct results *to)
{
    json_t *list = to->list;
    struct file_bytes file;
    hd_ptx *ptx = NULL;
    hd_report *report;
    progress_phase(&s->progress, path, NULL);
    const char *error = file_read_ptx(&s->arena, path, &file);
    if (error)
        return usage_error(s, "%s", error);
    hd_source source = {path, file.bytes, file.n};
    hd_result r = hd_ptx_read(&source, &ptx, &report);
    progress_clear(&s->progress);
    if (to->errors) {
        json_t *entries = report_entries(s, report);
        json_array_extend(to->errors, entries);
        json_decref(entries);
    } else if (list) {
        json_array_append_new(list, file_json(s, path, ptx, s->o.print, report));
    } else if (r) {
        report_failure(s, r, report);
    } else {
        report_print(s, report);
        size_t bytes = 0;
        const char *text = s->o.print ? hd_ptx_print(ptx, &bytes) : NULL;
        if (text)
            fwrite(text, 1, bytes, stdout);
        else if (s->o.print)
            r = HD_ERROR_OUT_OF_MEMORY;
        else
            print_file(s, path, ptx);
        if (r)
            cli_failure(s, "%s", hd_result_string(r));
    }
    hd_ptx_free(ptx);
    free(file.bytes);
    return r != HD_SUCCESS;
}

static int print_sarif(struct session *s, json_t *entries, const char *root)
{
    struct diags d = {.arena = &s->arena};
    bool whole = report_read(entries, &d);
    json_decref(entries);
    puts(report_sarif_run(&d, &(struct report_run){.root = root}, &s->arena).p);
    return whole ? 0 : cli_failure(s, "out of memory: not all errors could be kept");
}

int cmd_ptx(struct session *s)
{
    if (s->o.isa && s->o.print)
        return usage_error(s, "`--print` goes with files, not with `--isa`");
    if (s->o.isa)
        return isa_table(s);
    if (s->o.markdown)
        return usage_error(s, "`--markdown` goes with `--isa`");
    if (s->o.ptx_of)
        return program_ptx_show(s, s->o.ptx_of);
    if (s->n_words == 0)
        return usage_error(s, "the PTX file is missing, as in `heddle ptx kernel.ptx`");
    const char *format = s->o.ptx_format ? s->o.ptx_format : s->o.json ? "json" : "text";
    bool sarif = strcmp(format, "sarif") == 0, json = strcmp(format, "json") == 0;
    if (!sarif && !json && strcmp(format, "text") != 0)
        return usage_error(s, "`--format %s`: it is text, json or sarif", format);
    if (sarif && s->o.print)
        return usage_error(s, "`--print` goes with text and JSON, not with `--format sarif`");
    struct results to = {json ? json_array() : NULL, sarif ? json_array() : NULL};
    const char *root = source_root();
    int status = 0;
    for (int i = 0; i < s->n_words; i++) {
        int one = check_file(s, s->words[i], &to);
        status = one > status ? one : status;
    }
    int printed = json ? print_json(s, to.list) : sarif ? print_sarif(s, to.errors, root) : 0;
    return status ? status : printed;
}
