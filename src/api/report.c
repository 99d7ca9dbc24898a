/* Reports of the library (include/heddle.h). */
#include <stdlib.h>

#include "api/findings.h"
#include "api/handles.h"
#include "api/sized.h"

enum { MAX_ERRORS = 50 };

hd_report *report_new(void)
{
    hd_report *r = calloc(1, sizeof *r);
    if (r)
        r->diags = (struct diags){.arena = &r->arena, .limit = MAX_ERRORS};
    return r;
}

void report_keep_places(hd_report *r)
{
    const struct source *from = NULL;
    struct source *copy = NULL;
    for (uint32_t i = 0; i < r->diags.list.n; i++) {
        struct diag *d = &r->diags.list.at[i];
        if (d->help)
            d->help = arena_strdup(&r->arena, d->help);
        if (!d->place.source)
            continue;
        if (d->place.source != from) {
            from = d->place.source;
            copy = source_new(&r->arena, from->name, from->text);
            copy->lines_before = from->lines_before;
        }
        d->place.source = copy;
    }
}

void report_give(hd_report *r, hd_report **report)
{
    if (report && r->diags.list.n)
        *report = r;
    else
        hd_report_free(r);
}

hd_result report_during(hd_report **report, struct arena *kept, report_step_fn *step, void *data)
{
    hd_report *r = report_new();
    if (report)
        *report = NULL;
    if (!r)
        return HD_ERROR_OUT_OF_MEMORY;
    /* In case memory is exhausted before the end. */
    volatile hd_result result = HD_ERROR_OUT_OF_MEMORY;
    jmp_buf oom;
    r->arena.on_oom = &oom;
    if (kept)
        kept->on_oom = &oom;
    if (setjmp(oom) == 0) {
        hd_result of_step = step(data, &r->diags);
        report_keep_places(r);
        result = of_step;
    }
    r->arena.on_oom = NULL;
    if (kept)
        kept->on_oom = NULL;
    report_give(r, report);
    return result;
}

void hd_report_free(hd_report *r)
{
    if (!r)
        return;
    arena_free(&r->arena);
    free(r);
}

size_t hd_report_count(const hd_report *r)
{
    return r ? r->diags.list.n : 0;
}

static hd_diagnostic public_form(const struct diag *d)
{
    hd_diagnostic out = {.severity = (hd_severity)d->severity,
                         .code = d->code,
                         .text = d->text,
                         .help = d->help,
                         .count = d->count,
                         .kernel = d->kernel,
                         .reason = d->reason,
                         .frames = d->frames,
                         .frame_count = d->n_frames,
                         .launch = d->launch,
                         .launch_count = d->n_launch};
    if (d->place.cuda) {
        out.cuda_file = d->place.cuda->file;
        out.cuda_line = d->place.cuda->line;
        const struct cuda_line *inner = cuda_innermost(d->place.cuda);
        out.inlined_file = inner ? inner->file : NULL;
        out.inlined_line = inner ? inner->line : 0;
    }
    if (d->place.source) {
        struct place_line at = place_locate(d->place);
        out.file = d->place.source->name;
        out.line = at.line;
        out.column = at.column;
        out.length = d->place.length;
    }
    return out;
}

bool hd_report_get_sized(const hd_report *r, size_t i, hd_diagnostic *diagnostic, size_t bytes)
{
    if (!r || !diagnostic || i >= r->diags.list.n)
        return false;
    const hd_diagnostic own = public_form(&r->diags.list.at[i]);
    SIZED_WRITE(diagnostic, bytes, &own);
    return true;
}

/* The writer's text of the report, or `instead` if memory is exhausted. */
static const char *written(hd_report *r, struct str (*write)(const struct diags *, struct arena *), const char *instead)
{
    jmp_buf oom;
    const char *volatile text = instead;
    r->arena.on_oom = &oom;
    if (setjmp(oom) == 0)
        text = write(&r->diags, &r->arena).p;
    r->arena.on_oom = NULL;
    return text;
}

const char *hd_report_text(hd_report *r)
{
    return r ? written(r, report_text, "out of memory\n") : "";
}

const char *hd_report_json(hd_report *r)
{
    return r ? written(r, report_json, "[]") : "[]";
}

const char *report_next_finding(hd_report *r, size_t *at)
{
    jmp_buf oom;
    const char *volatile text = NULL;
    if (*at >= hd_report_count(r))
        return NULL;
    r->arena.on_oom = &oom;
    if (setjmp(oom) == 0)
        text = report_json_finding(&r->diags, (uint32_t)*at, &r->arena).p;
    r->arena.on_oom = NULL;
    *at += text ? report_finding(&r->diags, (uint32_t)*at) : 0;
    return text;
}

uint32_t report_change(hd_report *r, report_change_fn *change, void *data)
{
    jmp_buf oom;
    volatile uint32_t result = 0;
    if (!r)
        return 0;
    r->arena.on_oom = &oom;
    if (setjmp(oom) == 0)
        result = change(data, &r->diags);
    r->arena.on_oom = NULL;
    return result;
}

const char *hd_report_sarif(hd_report *r)
{
    return r ? written(r, report_sarif, "{}") : "{}";
}

hd_result hd_report_add(hd_report **to, const hd_report *from)
{
    jmp_buf oom;
    if (!to)
        return HD_ERROR_INVALID_VALUE;
    if (!*to && !(*to = report_new()))
        return HD_ERROR_OUT_OF_MEMORY;
    volatile hd_result result = HD_ERROR_OUT_OF_MEMORY;
    (*to)->arena.on_oom = &oom;
    if (setjmp(oom) == 0) {
        if (from)
            diags_append(&(*to)->diags, &from->diags);
        report_keep_places(*to);
        result = HD_SUCCESS;
    }
    (*to)->arena.on_oom = NULL;
    return result;
}

static hd_result add_diagnostic(hd_report **to, const hd_diagnostic *d)
{
    jmp_buf oom;
    bool known = d->code && d->text && (unsigned)d->severity <= HD_SEVERITY_NOTE;
    if (!to || !known || d->file || d->frame_count > UINT32_MAX || (d->frame_count && !d->frames))
        return HD_ERROR_INVALID_VALUE;
    if (!*to && !(*to = report_new()))
        return HD_ERROR_OUT_OF_MEMORY;
    volatile hd_result result = HD_ERROR_OUT_OF_MEMORY;
    (*to)->arena.on_oom = &oom;
    (*to)->diags.limit = 0;
    if (setjmp(oom) == 0) {
        diag_host(&(*to)->diags, (enum diag_severity)d->severity, d->code, d->help, d->count, d->frames,
                  (uint32_t)d->frame_count, d->text);
        result = HD_SUCCESS;
    }
    (*to)->arena.on_oom = NULL;
    return result;
}

hd_result hd_report_add_diagnostic_sized(hd_report **to, const hd_diagnostic *diagnostic, size_t bytes)
{
    hd_diagnostic own;
    hd_result r = SIZED_READ(hd_diagnostic, &own, diagnostic, bytes);
    return r ? r : add_diagnostic(to, &own);
}
