/* Diagnostics as JSON; see report.h. */
#include <jansson.h>
#include <stdlib.h>

#include "base/printable.h"
#include "report/report.h"

static json_t *string_or_null(const char *s)
{
    return s ? json_string(s) : json_null();
}

static json_t *file_name(const char *name, struct arena *arena)
{
    return json_string(printable(arena, str_of(name)));
}

static json_t *frames_array(const hd_frame *frames, uint32_t n, struct arena *arena)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        const hd_frame *f = &frames[i];
        json_t *o = json_object();
        if (f->function)
            json_object_set_new(o, "function", file_name(f->function, arena));
        if (f->file) {
            json_object_set_new(o, "file", file_name(f->file, arena));
            json_object_set_new(o, "line", json_integer(f->line));
        }
        if (f->object) {
            json_object_set_new(o, "object", file_name(f->object, arena));
            json_object_set_new(o, "offset", json_integer((json_int_t)f->offset));
        }
        json_array_append_new(list, o);
    }
    return list;
}

/* All lines, from the kernel's own to the innermost. */
static json_t *chain_array(const struct cuda_place *cuda, struct arena *arena)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < cuda->n_chain; i++)
        json_array_append_new(list, json_pack("{s:o, s:I}", "file", file_name(cuda->chain[i].file, arena), "line",
                                              (json_int_t)cuda->chain[i].line));
    return list;
}

/* The line of PTX, for whoever reads the report where the PTX is not; not one of megabytes. */
static void put_source(json_t *o, struct str line)
{
    enum { MOST_BYTES = 16 << 10 };
    json_t *text = line.n && line.n <= MOST_BYTES ? json_stringn(line.p, line.n) : NULL;
    if (text)
        json_object_set_new(o, "source", text);
}

static void put_origin(json_t *o, const struct diag_origin *origin, struct arena *arena)
{
    json_object_set_new(o, "program", file_name(origin->program, arena));
    if (origin->pid)
        json_object_set_new(o, "process", json_integer(origin->pid));
    if (origin->repeat)
        json_object_set_new(o, "repeat", file_name(origin->repeat, arena));
}

/* The fingerprint, or NULL, is its finding's. */
static json_t *diag_object(const struct diag *d, const char *fingerprint, struct arena *arena)
{
    const struct cuda_place *cuda = d->place.cuda;
    json_t *o = json_object();
    json_object_set_new(o, "severity", json_string(report_severity(d)));
    json_object_set_new(o, "code", json_string(d->code));
    if (report_tool(d))
        json_object_set_new(o, "tool", json_string(report_tool(d)));
    if (cuda) {
        json_object_set_new(o, "cuda_file", file_name(cuda->file, arena));
        json_object_set_new(o, "cuda_line", json_integer(cuda->line));
    }
    const struct cuda_line *inner = cuda ? cuda_innermost(cuda) : NULL;
    if (inner) {
        json_object_set_new(o, "inlined_file", file_name(inner->file, arena));
        json_object_set_new(o, "inlined_line", json_integer(inner->line));
    }
    if (cuda && cuda->n_chain)
        json_object_set_new(o, "chain", chain_array(cuda, arena));
    if (d->place.source) {
        struct place_line at = place_locate(d->place);
        json_object_set_new(o, "file", file_name(d->place.source->name, arena));
        json_object_set_new(o, "line", json_integer(at.line));
        json_object_set_new(o, "column", json_integer(at.column));
        json_object_set_new(o, "length", json_integer(d->place.length));
        put_source(o, at.text);
    }
    json_object_set_new(o, "text", string_or_null(d->text));
    json_object_set_new(o, "help", string_or_null(d->help));
    if (d->kernel)
        json_object_set_new(o, "kernel", json_string(d->kernel));
    if (d->reason)
        json_object_set_new(o, "reason", json_string(d->reason));
    if (d->origin)
        put_origin(o, d->origin, arena);
    if (d->n_frames)
        json_object_set_new(o, "frames", frames_array(d->frames, d->n_frames, arena));
    if (d->n_launch)
        json_object_set_new(o, "launch", frames_array(d->launch, d->n_launch, arena));
    if (d->count)
        json_object_set_new(o, "count", json_integer((json_int_t)d->count));
    if (fingerprint)
        json_object_set_new(o, "fingerprint", json_string(fingerprint));
    return o;
}

struct str report_json_finding(const struct diags *d, uint32_t first, struct arena *arena)
{
    json_t *list = json_array();
    for (uint32_t i = first; i < first + report_finding(d, first); i++)
        json_array_append_new(list, diag_object(&d->list.at[i], NULL, arena));
    char *text = json_dumps(list, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(list);
    struct str s = {text ? arena_strdup(arena, text) : NULL, text ? strlen(text) : 0};
    free(text);
    return s;
}

struct str report_json(const struct diags *d, struct arena *arena)
{
    json_t *list = json_array();
    const char **prints = report_fingerprints(d, arena);
    for (uint32_t i = 0; i < d->list.n; i++)
        json_array_append_new(list, diag_object(&d->list.at[i], prints[i], arena));
    char *text = json_dumps(list, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(list);
    if (!text)
        return (struct str){"[]", 2};
    struct str s = {arena_strdup(arena, text), strlen(text)};
    free(text);
    return s;
}
