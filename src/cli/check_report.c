/* See check_report.h. */
#include "cli/check_report.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "cli/program_ptx.h"
#include "report/report.h"

static json_t *json_kernels(const struct check_results *f)
{
    json_t *list = json_array(), *set;
    const char *name;
    json_object_foreach(f->kernels, name, set) json_array_append_new(list, json_string(name));
    return list;
}

static const char *as_json(const struct check_report *r, struct arena *arena)
{
    const struct check_results *f = r->results;
    const struct ending *e = r->first;
    json_t *o = json_object();
    json_object_set_new(o, "program", json_text(r->name, strlen(r->name)));
    json_object_set_new(o, "runs", json_integer(r->runs));
    if (!e->over_time)
        json_object_set_new(o, WIFSIGNALED(e->status) ? "signal" : "status",
                            json_integer(WIFSIGNALED(e->status) ? WTERMSIG(e->status) : WEXITSTATUS(e->status)));
    json_object_set_new(o, "launches", json_integer((json_int_t)f->launches));
    json_object_set_new(o, "unchecked", json_integer((json_int_t)f->unchecked));
    json_object_set_new(o, "calls", json_integer((json_int_t)f->calls));
    json_object_set_new(o, "kernels", json_kernels(f));
    json_object_set_new(o, "processes", json_incref(f->processes));
    json_object_set_new(o, "errors", json_integer(f->diags.errors));
    json_object_set_new(o, "warnings", json_integer(f->diags.warnings));
    json_object_set_new(o, "suppressed", json_integer(r->suppressed));
    json_object_set_new(o, "known", json_integer(r->known));
    json_object_set_new(o, "unended", json_integer((json_int_t)f->unended));
    json_object_set_new(o, "whole", json_boolean(r->whole));
    json_object_set_new(o, "findings", json_show_files(json_loads(report_json(&f->diags, arena).p, 0, NULL), arena));
    char *text = json_dumps(o, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(o);
    const char *kept = arena_printf(arena, "%s\n", text ? text : "{}");
    free(text);
    return kept;
}

static struct str ptx_text(void *data, const char *name, struct arena *arena)
{
    const struct check_report *r = data;
    return program_ptx_named(r->program, name, arena);
}

const char *check_report_text(const struct check_report *r, enum check_format format, struct arena *arena)
{
    const struct diags *d = &r->results->diags;
    struct report_run run = {.root = r->root,
                             .program = r->name,
                             .all_new = r->has_baseline,
                             .kernels = r->results->kernels,
                             .ptx = ptx_text,
                             .data = (void *)r};
    switch (format) {
    case CHECK_SARIF: return arena_printf(arena, "%s\n", report_sarif_run(d, &run, arena).p);
    case CHECK_SANITIZER: return check_sanitizer_text(d, arena);
    case CHECK_JUNIT: return report_junit(d, &run, arena).p;
    default: return as_json(r, arena);
    }
}

enum check_format check_report_format(const char *path)
{
    const char *end = file_extension(path);
    return strcmp(end, ".sarif") == 0 ? CHECK_SARIF : strcmp(end, ".xml") == 0 ? CHECK_JUNIT : CHECK_JSON;
}
