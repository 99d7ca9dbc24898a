/* Reports of the library (include/heddle.h). */
#include <stdlib.h>

#include "api/handles.h"

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
            copy = ARENA_NEW(&r->arena, struct source);
            copy->name = arena_strdup(&r->arena, from->name);
            copy->text = (struct str){arena_strndup(&r->arena, from->text.p, from->text.n), from->text.n};
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

bool hd_report_get(const hd_report *r, size_t i, hd_diagnostic *out)
{
    if (!r || i >= r->diags.list.n)
        return false;
    const struct diag *d = &r->diags.list.at[i];
    *out = (hd_diagnostic){
        .severity = (hd_severity)d->severity, .code = d->code, .text = d->text, .help = d->help, .count = d->count};
    if (d->place.source) {
        struct place_line at = place_locate(d->place);
        out->file = d->place.source->name;
        out->line = at.line;
        out->column = at.column;
        out->length = d->place.length;
    }
    return true;
}

const char *hd_report_text(hd_report *r)
{
    return r ? report_text(&r->diags, &r->arena).p : "";
}

const char *hd_report_json(hd_report *r)
{
    return r ? report_json(&r->diags, &r->arena).p : "[]";
}
