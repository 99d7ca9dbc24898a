/* Diagnostics as a SARIF log (OASIS, Static Analysis Results Interchange Format 2.1.0); see report.h. The location of a
 * result is its line of CUDA where that is known; the place in the PTX is then the first of the related locations. */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/printable.h"
#include "report/report.h"

/* 3.10: artifact locations are URI references (RFC 3986): percent-encoded, absolute paths with their scheme. */
static json_t *uri(const char *path, struct arena *arena)
{
    char *text = arena_alloc(arena, 3 * strlen(path) + sizeof "file://"), *to = text;
    if (path[0] == '/')
        to = stpcpy(to, "file://");
    for (const char *p = path; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (isalnum(c) || strchr("-._~/", c))
            *to++ = (char)c;
        else
            to += sprintf(to, "%%%02X", c);
    }
    *to = 0;
    return json_string(text);
}

static json_t *location(const char *file, json_t *region, const char *message, struct arena *arena)
{
    json_t *l = json_pack("{s:{s:{s:o}, s:o}}", "physicalLocation", "artifactLocation", "uri",
                          uri(file_as_shown(file, arena), arena), "region", region);
    if (message)
        json_object_set_new(l, "message", json_pack("{s:s}", "text", message));
    return l;
}

static json_t *ptx_location(const struct diag *d, const char *message, struct arena *arena)
{
    struct place_line at = place_locate(d->place);
    json_t *region = json_pack("{s:i, s:i, s:i, s:i}", "startLine", (int)at.line, "startColumn", (int)at.column,
                               "endLine", (int)at.line, "endColumn", (int)(at.column + d->place.length));
    return location(d->place.source->name, region, message, arena);
}

static json_t *cuda_location(const struct diag *d, const char *message, struct arena *arena)
{
    const struct cuda_place *c = d->place.cuda;
    return location(c->file, json_pack("{s:i}", "startLine", (int)c->line), message, arena);
}

/* A program that has no lines. It is the place of results that have no other: GitHub takes no file of results of which one has no
 * location with a line (3.27.12 allows that). */
static json_t *program_location(const char *program, struct arena *arena)
{
    return location(printable(arena, str_of(program)), json_pack("{s:i}", "startLine", 1), NULL, arena);
}

/* Where the innermost call is that anything is known of. */
static json_t *host_location(const struct diag *d, struct arena *arena)
{
    const char *program = d->origin ? d->origin->program : NULL;
    for (uint32_t i = 0; i < d->n_frames; i++) {
        const hd_frame *f = &d->frames[i];
        if (f->file)
            return location(f->file, json_pack("{s:i}", "startLine", (int)f->line), NULL, arena);
        if (f->object && !program)
            program = f->object;
    }
    return program ? program_location(program, arena) : NULL;
}

/* Where it is; NULL where that is not known. */
static json_t *first_location(const struct diag *d, const char *message, struct arena *arena)
{
    if (d->place.cuda)
        return cuda_location(d, message, arena);
    return d->place.source ? ptx_location(d, message, arena) : NULL;
}

/* 3.44, 3.45: the call stack; a frame without a line of source has a place in its binary (3.29.6: an address). */
static json_t *stack(const struct diag *d, struct arena *arena)
{
    json_t *frames = json_array();
    for (uint32_t i = 0; i < d->n_frames; i++) {
        const hd_frame *f = &d->frames[i];
        json_t *at = f->file ? location(f->file, json_pack("{s:i}", "startLine", (int)f->line), NULL, arena)
                             : json_pack("{s:{s:{s:I}}}", "physicalLocation", "address", "relativeAddress",
                                         (json_int_t)f->offset);
        if (f->function)
            json_object_set_new(at, "logicalLocations",
                                json_pack("[{s:s}]", "fullyQualifiedName", printable(arena, str_of(f->function))));
        json_t *frame = json_pack("{s:o}", "location", at);
        if (f->object)
            json_object_set_new(frame, "module", json_string(printable(arena, str_of(f->object))));
        json_array_append_new(frames, frame);
    }
    return json_pack("{s:o}", "frames", frames);
}

static json_t *result(const struct diag *d, struct arena *arena)
{
    const char *text = d->help ? arena_printf(arena, "%s\nHelp: %s", d->text, d->help) : d->text;
    json_t *r =
        json_pack("{s:s, s:s, s:{s:s}}", "ruleId", d->code, "level", report_severity(d), "message", "text", text);
    json_t *at = first_location(d, NULL, arena);
    at = at ? at : host_location(d, arena);
    if (at)
        json_object_set_new(r, "locations", json_pack("[o]", at));
    json_t *more = json_object(); /* 3.8: what SARIF has no words for */
    if (report_tool(d))
        json_object_set_new(more, "tool", json_string(report_tool(d)));
    if (d->kernel)
        json_object_set_new(more, "kernel", json_string(d->kernel));
    if (d->reason)
        json_object_set_new(more, "reason", json_string(d->reason));
    if (d->origin && d->origin->repeat)
        json_object_set_new(more, "repeat", json_string(printable(arena, str_of(d->origin->repeat))));
    if (json_object_size(more))
        json_object_set(r, "properties", more);
    json_decref(more);
    if (d->n_frames)
        json_object_set_new(r, "stacks", json_pack("[o]", stack(d, arena)));
    if (d->count)
        json_object_set_new(r, "occurrenceCount", json_integer((json_int_t)d->count));
    return r;
}

static void relate(json_t *r, json_t *place)
{
    json_t *list = json_object_get(r, "relatedLocations");
    if (!place)
        return;
    if (!list)
        json_object_set_new(r, "relatedLocations", list = json_array());
    json_object_set_new(place, "id", json_integer((json_int_t)json_array_size(list)));
    json_array_append_new(list, place);
}

/* 3.49: where nothing is known of the code, its first message is what it is. */
static json_t *rule(const struct diag *d)
{
    const char *text = report_rule(d->code);
    return json_pack("{s:s, s:{s:s}}", "id", d->code, "shortDescription", "text", text ? text : d->text);
}

static json_t *results(const struct diags *d, json_t *rules, struct arena *arena)
{
    json_t *list = json_array(), *last = NULL, *seen = json_object();
    for (uint32_t i = 0; i < d->list.n; i++) {
        const struct diag *g = &d->list.at[i];
        const struct cuda_place *cuda = g->place.cuda;
        if (g->severity == DIAG_NOTE && last) {
            relate(last, first_location(g, g->text, arena));
        } else {
            last = result(g, arena);
            json_array_append_new(list, last);
            if (!json_object_get(seen, g->code))
                json_array_append_new(rules, rule(g));
            json_object_set_new(seen, g->code, json_true());
        }
        for (uint32_t k = 0; cuda && k < cuda->n_chain; k++)
            if (k != cuda->shown)
                relate(last, location(cuda->chain[k].file, json_pack("{s:i}", "startLine", (int)cuda->chain[k].line),
                                      k > cuda->shown ? "inlined from here" : "inlined in this line", arena));
        if (cuda && g->place.source)
            relate(last, ptx_location(g, "the PTX instruction", arena));
    }
    json_decref(seen);
    return list;
}

struct str report_sarif(const struct diags *d, struct arena *arena)
{
    json_t *rules = json_array(), *list = results(d, rules, arena);
    json_t *driver = json_pack("{s:s, s:s, s:o}", "name", "Heddle", "version", HEDDLE_VERSION, "rules", rules);
    json_t *log = json_pack("{s:s, s:s, s:[{s:{s:o}, s:s, s:o}]}", "$schema",
                            "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
                            "driver", driver, "columnKind", "utf16CodeUnits", "results", list);
    char *text = json_dumps(log, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(log);
    struct str s = {arena_strdup(arena, text ? text : "{}"), text ? strlen(text) : 2};
    free(text);
    return s;
}
