/* Diagnostics as a SARIF log (OASIS, Static Analysis Results Interchange Format 2.1.0); see
 * report.h. The location of a result is its line of CUDA where that is known; the place in the PTX
 * is then the first of the related locations. */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_name.h"
#include "base/printable.h"
#include "report/codes.h"
#include "report/lines.h"
#include "report/report.h"

static const char root_id[] = "%SRCROOT%"; /* 3.14.14: as GitHub calls it */

struct writer {
    struct arena *arena;
    const struct report_run *run;
    json_t *rules, *rule_numbers, *artifacts, *artifact_numbers;
    const char **fingerprints;
};

/* 3.10: artifact locations are URI references (RFC 3986): percent-encoded, absolute paths with
 * their scheme. */
static const char *uri(const char *path, const char *end, struct arena *arena)
{
    char *text = arena_alloc(arena, 3 * strlen(path) + strlen(end) + sizeof "file://"), *to = text;
    if (path[0] == '/')
        to = stpcpy(to, "file://");
    for (const char *p = path; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (isalnum(c) || strchr("-._~/", c))
            *to++ = (char)c;
        else
            to += sprintf(to, "%%%02X", c);
    }
    strcpy(to, end);
    return text;
}

/* PTX that a program has inside is no file: the driver calls it `PTX 3 of app`. */
static bool is_file(const char *name)
{
    return strncmp(name, "PTX ", 4) != 0;
}

static json_t *artifact_location(struct writer *w, const char *file)
{
    const char *below = is_file(file) ? source_below(w->run->root, file, w->arena) : NULL;
    const char *name = printable_excerpt(w->arena, str_of(below ? below : file), false);
    json_t *o = json_pack("{s:s}", "uri", uri(name, "", w->arena));
    if (below)
        json_object_set_new(o, "uriBaseId", json_string(root_id));
    return o;
}

static json_t *location(struct writer *w, const char *file, json_t *region, const char *message)
{
    json_t *l = json_pack("{s:{s:o, s:o}}", "physicalLocation", "artifactLocation", artifact_location(w, file),
                          "region", region);
    if (message)
        json_object_set_new(l, "message", json_pack("{s:s}", "text", message));
    return l;
}

/* 3.30. GitHub wants all four. `text`: what is there; .p is NULL where that is not at hand. */
static json_t *region_of(struct writer *w, uint32_t line, size_t from, size_t to, struct str text)
{
    json_t *region = json_pack("{s:i, s:I, s:i, s:I}", "startLine", (int)line, "startColumn", (json_int_t)from,
                               "endLine", (int)line, "endColumn", (json_int_t)to);
    if (text.p)
        json_object_set_new(region, "snippet", json_pack("{s:s}", "text", printable_excerpt(w->arena, text, false)));
    return region;
}

static const struct str no_text;

/* 3.14.17: a column counts UTF-16's units. */
static size_t units(struct str utf8)
{
    size_t n = 0;
    for (size_t i = 0; i < utf8.n; i++)
        n += ((unsigned char)utf8.p[i] & 0xc0) != 0x80 ? 1 + ((unsigned char)utf8.p[i] >= 0xf0) : 0;
    return n;
}

/* The text of the line; its first character where the file is not at hand. */
static json_t *line_region(struct writer *w, uint32_t number, struct str line)
{
    size_t first = 0;
    while (first < line.n && isspace((unsigned char)line.p[first]))
        first++;
    if (first == line.n)
        return region_of(w, number, 1, 2, no_text);
    return region_of(w, number, first + 1, units(line) + 1, (struct str){line.p + first, line.n - first});
}

/* 3.29.5: the line between its neighbours, which are those from `first` on, for viewers without the
 * file; NULL where it is not at hand. */
static json_t *context_of(struct writer *w, uint32_t number, uint32_t first, const struct str lines[])
{
    struct text all = {.arena = w->arena};
    uint32_t last = number;
    for (uint32_t i = first; i <= number + 1; i++) {
        struct str line = lines[i - first];
        if (!line.p && i <= number)
            return NULL;
        if (line.p) {
            text_printf(&all, "%s\n", printable_excerpt(w->arena, line, false));
            last = i;
        }
    }
    return json_pack("{s:i, s:i, s:{s:s}}", "startLine", (int)first, "endLine", (int)last, "snippet", "text", all.p);
}

static json_t *line_location(struct writer *w, const char *file, uint32_t number, const struct place *p,
                             const char *message)
{
    uint32_t first = number > 1 ? number - 1 : 1;
    struct str lines[3];
    source_lines(file, p, first, number + 2 - first, lines, w->arena);
    json_t *l = location(w, file, line_region(w, number, number ? lines[number - first] : no_text), message);
    json_t *context = context_of(w, number, first, lines);
    if (context)
        json_object_set_new(json_object_get(l, "physicalLocation"), "contextRegion", context);
    return l;
}

/* 3.24: the PTX itself, which a viewer then needs no file for. */
static void add_artifact(struct writer *w, const char *name)
{
    enum { MOST_BYTES = 1 << 20 };
    if (json_object_get(w->artifact_numbers, name))
        return;
    json_object_set_new(w->artifact_numbers, name, json_true());
    json_t *artifact = json_pack("{s:o, s:s, s:s}", "location", artifact_location(w, name), "mimeType", "text/plain",
                                 "sourceLanguage", "ptx");
    struct str text = !is_file(name) && w->run->ptx ? w->run->ptx(w->run->data, name, w->arena) : (struct str){0};
    json_t *contents = text.p && text.n <= MOST_BYTES ? json_stringn(text.p, text.n) : NULL;
    if (!is_file(name))
        json_object_set_new(
            artifact, "description",
            json_pack("{s:o}", "text", json_sprintf("PTX inside of the program: heddle ptx --of PROGRAM shows it")));
    if (contents)
        json_object_set_new(artifact, "contents", json_pack("{s:o}", "text", contents));
    json_array_append_new(w->artifacts, artifact);
}

static json_t *ptx_location(struct writer *w, const struct diag *d, const char *message)
{
    add_artifact(w, d->place.source->name);
    struct place_line at = place_locate(d->place);
    size_t length = d->place.length ? d->place.length : 1;
    struct str text = {d->place.source->text.p + d->place.offset, d->place.length};
    return location(w, d->place.source->name, region_of(w, at.line, at.column, at.column + length, text), message);
}

static json_t *cuda_location(struct writer *w, const struct diag *d, const char *message)
{
    const struct cuda_place *c = d->place.cuda;
    return line_location(w, c->file, c->line, &d->place, message);
}

/* A program that has no lines. It is the place of results that have no other: GitHub takes no file
 * of results of which one has no location with a line (3.27.12 allows that). */
static json_t *program_location(struct writer *w, const char *program)
{
    /* Without its arguments. */
    const char *file = arena_strndup(w->arena, program, strcspn(program, " "));
    return location(w, file, region_of(w, 1, 1, 2, no_text), NULL);
}

/* Where the innermost call is that anything is known of. */
static json_t *host_location(struct writer *w, const struct diag *d)
{
    const char *program = d->origin ? d->origin->program : w->run->program;
    for (uint32_t i = 0; i < d->n_frames; i++) {
        const hd_frame *f = &d->frames[i];
        if (f->file)
            return line_location(w, f->file, f->line, NULL, NULL);
        if (f->object && !program)
            program = f->object;
    }
    return program ? program_location(w, program) : NULL;
}

/* Where it is; NULL where that is not known. */
static json_t *first_location(struct writer *w, const struct diag *d, const char *message)
{
    if (d->place.cuda)
        return cuda_location(w, d, message);
    return d->place.source ? ptx_location(w, d, message) : NULL;
}

/* A frame without a line of source has a place in its binary (3.29.6: an address), a test none. */
static json_t *frame_location(struct writer *w, const hd_frame *f)
{
    if (f->file)
        return line_location(w, f->file, f->line, NULL, NULL);
    if (!f->object)
        return json_object();
    return json_pack("{s:{s:{s:I}}}", "physicalLocation", "address", "relativeAddress", (json_int_t)f->offset);
}

/* 3.44, 3.45: the call stack. */
static json_t *stack(struct writer *w, const hd_frame *calls, uint32_t n)
{
    struct arena *arena = w->arena;
    json_t *frames = json_array();
    for (uint32_t i = 0; i < n; i++) {
        const hd_frame *f = &calls[i];
        json_t *at = frame_location(w, f);
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

/* ---- code flows ---- */

/* "thread (64,0,0) of block (0,0,0)", where the text names one. */
static const char *thread_of(const char *text, struct arena *arena)
{
    const char *at = strstr(text, "thread ("), *of = at ? strstr(at, " of block (") : NULL;
    const char *end = of ? strchr(of + 11, ')') : NULL;
    return end ? arena_strndup(arena, at, (size_t)(end + 1 - at)) : NULL;
}

static json_t *flow_location(json_t *at)
{
    return json_pack("{s:o}", "location", at);
}

static void add_thread_flow(struct writer *w, json_t *flows, const struct diag *d)
{
    json_t *at = first_location(w, d, d->text);
    const char *thread = thread_of(d->text, w->arena);
    if (!at)
        return;
    json_t *flow = json_pack("{s:{s:s}, s:[o]}", "message", "text", d->text, "locations", flow_location(at));
    if (thread)
        json_object_set_new(flow, "id", json_string(thread));
    json_array_append_new(flows, flow);
}

/* Is the note about what has happened before, rather than about another thread? */
static bool is_history(const struct diag *note)
{
    return strcmp(note->code, "allocated") == 0 || strcmp(note->code, "freed") == 0;
}

/* 3.36: of a race, a thread flow for each of its sides; of a use of memory, one that goes through
 * its life. */
static json_t *code_flows(struct writer *w, const struct diag *group, uint32_t n)
{
    json_t *flows = json_array();
    bool history = n > 1 && is_history(&group[1]);
    if (history) {
        json_t *locations = json_array();
        for (uint32_t i = n; i-- > 0;) { /* notes go back in time */
            json_t *at = first_location(w, &group[i], group[i].text);
            if (at)
                json_array_append_new(locations, flow_location(at));
        }
        if (json_array_size(locations) > 1)
            json_array_append_new(flows, json_pack("{s:O}", "locations", locations));
        json_decref(locations);
    } else {
        for (uint32_t i = 0; i < n; i++)
            add_thread_flow(w, flows, &group[i]);
    }
    if (json_array_size(flows) > (history ? 0 : 1))
        return json_pack("[{s:o}]", "threadFlows", flows);
    json_decref(flows);
    return NULL;
}

/* ---- rules ---- */

/* 3.49.7: "DataRace" */
static const char *rule_name(const char *code, struct arena *arena)
{
    char *name = arena_strdup(arena, code), *to = name;
    bool first = true;
    for (const char *p = code; *p; p++) {
        if (*p != '-')
            *to++ = first ? (char)toupper((unsigned char)*p) : *p;
        first = *p == '-';
    }
    *to = 0;
    return name;
}

/* 3.49. Of a code that has no row in the table its first message is what is known. */
static json_t *rule(struct writer *w, const struct diag *d)
{
    const struct report_code *c = report_code_find(d->code);
    const char *level = report_severity(d), *fix = c ? c->fix : d->help ? d->help : d->text;
    const char *meaning = c ? c->meaning : d->text, *title = c ? c->title : d->text, *tool = report_tool(d);
    const char *text =
        c ? arena_printf(w->arena, "%s.\n%s\nExample: %s\nWhat to do: %s", title, meaning, c->example, fix) : fix;
    const char *markdown =
        c ? arena_printf(w->arena, "**%s.** %s\n\n*Example*: %s\n\n*What to do*: %s", title, meaning, c->example, fix)
          : fix;
    return json_pack("{s:s, s:s, s:{s:s}, s:{s:s}, s:{s:s, s:s}, s:{s:s}, s:{s:[s, s], s:s, s:s}}", "id", d->code,
                     "name", rule_name(d->code, w->arena), "shortDescription", "text", title, "fullDescription", "text",
                     meaning, "help", "text", text, "markdown", markdown, "defaultConfiguration", "level", level,
                     "properties", "tags", "cuda", tool ? tool : "ptx", "precision", "very-high", "problem.severity",
                     strcmp(level, "note") == 0 ? "recommendation" : level);
}

static json_int_t rule_number(struct writer *w, const struct diag *d)
{
    json_t *known = json_object_get(w->rule_numbers, d->code);
    if (!known) {
        json_object_set_new(w->rule_numbers, d->code, known = json_integer((json_int_t)json_array_size(w->rules)));
        json_array_append_new(w->rules, rule(w, d));
    }
    return json_integer_value(known);
}

/* ---- results ---- */

/* 3.8: what SARIF has no words for. */
static void add_properties(json_t *r, const struct diag *d, struct arena *arena)
{
    json_t *more = json_object();
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
}

/* 3.11.5: sentences end. */
static const char *sentence(const char *text, struct arena *arena)
{
    size_t n = strlen(text);
    return n && strchr(".!?", text[n - 1]) ? text : arena_printf(arena, "%s.", text);
}

static json_t *result(struct writer *w, const struct diag *group, uint32_t n, const char *fingerprint)
{
    const struct diag *d = group;
    const char *text = sentence(d->text, w->arena);
    if (d->help)
        text = arena_printf(w->arena, "%s\nHelp: %s", text, sentence(d->help, w->arena));
    json_t *r = json_pack("{s:s, s:I, s:s, s:{s:s}}", "ruleId", d->code, "ruleIndex", rule_number(w, d), "level",
                          report_severity(d), "message", "text", text);
    json_t *at = first_location(w, d, NULL);
    at = at ? at : host_location(w, d);
    if (at)
        json_object_set_new(r, "locations", json_pack("[o]", at));
    if (fingerprint) /* 3.27.17; the second name is the one that GitHub knows */
        json_object_set_new(r, "partialFingerprints",
                            json_pack("{s:s, s:s}", "heddle/v1", fingerprint, "primaryLocationLineHash", fingerprint));
    json_t *flows = code_flows(w, group, n);
    if (flows)
        json_object_set_new(r, "codeFlows", flows);
    if (w->run->all_new)
        json_object_set_new(r, "baselineState", json_string("new"));
    add_properties(r, d, w->arena);
    json_t *stacks = json_array();
    if (d->n_frames)
        json_array_append_new(stacks, stack(w, d->frames, d->n_frames));
    if (d->n_launch) {
        json_array_append_new(stacks, stack(w, d->launch, d->n_launch));
        json_object_set_new(json_array_get(stacks, json_array_size(stacks) - 1), "message",
                            json_pack("{s:s}", "text", "the kernel was launched here"));
    }
    if (json_array_size(stacks))
        json_object_set(r, "stacks", stacks);
    json_decref(stacks);
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

/* The lines that are inlined there, and the instruction. */
static void relate_inlined(struct writer *w, json_t *r, const struct diag *d)
{
    const struct cuda_place *cuda = d->place.cuda;
    for (uint32_t k = 0; cuda && k < cuda->n_chain; k++)
        if (k != cuda->shown)
            relate(r, line_location(w, cuda->chain[k].file, cuda->chain[k].line, &d->place,
                                    k > cuda->shown ? "inlined from here" : "inlined in this line"));
    if (cuda && d->place.source)
        relate(r, ptx_location(w, d, "the PTX instruction"));
}

static const char *root_uri(const struct writer *w)
{
    return uri(w->run->root, w->run->root[1] ? "/" : "", w->arena);
}

static json_t *results(struct writer *w, const struct diags *d)
{
    json_t *list = json_array();
    for (uint32_t i = 0, n; i < d->list.n; i += n) {
        n = report_finding(d, i);
        const struct diag *group = &d->list.at[i];
        json_t *r = result(w, group, n, w->fingerprints[i]);
        for (uint32_t k = 0; k < n; k++) {
            if (k)
                relate(r, first_location(w, &group[k], group[k].text));
            relate_inlined(w, r, &group[k]);
        }
        json_array_append_new(list, r);
    }
    return list;
}

static json_t *run_object(struct writer *w, json_t *list)
{
    const struct report_run *run = w->run;
    json_t *driver =
        json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", "Heddle", "version", HEDDLE_VERSION, "semanticVersion",
                  HEDDLE_VERSION, "fullName", "Heddle: CUDA without a GPU", "rules", w->rules);
    json_t *o =
        json_pack("{s:{s:o}, s:s, s:o}", "tool", "driver", driver, "columnKind", "utf16CodeUnits", "results", list);
    const char *slash = run->program ? strrchr(run->program, '/') : NULL, *program = slash ? slash + 1 : run->program;
    if (program)
        json_object_set_new(
            o, "automationDetails",
            json_pack("{s:s}", "id", arena_printf(w->arena, "heddle/%s/", printable(w->arena, str_of(program)))));
    if (json_array_size(w->artifacts))
        json_object_set(o, "artifacts", w->artifacts);
    json_decref(w->artifacts);
    if (run->root)
        json_object_set_new(o, "originalUriBaseIds", json_pack("{s:{s:s}}", root_id, "uri", root_uri(w)));
    if (run->root) /* 3.20: GitHub names files that are named absolutely from here */
        json_object_set_new(
            o, "invocations",
            json_pack("[{s:b, s:{s:s}}]", "executionSuccessful", true, "workingDirectory", "uri", root_uri(w)));
    return o;
}

struct str report_sarif_run(const struct diags *d, const struct report_run *run, struct arena *arena)
{
    struct writer w = {.arena = arena,
                       .run = run,
                       .rules = json_array(),
                       .rule_numbers = json_object(),
                       .artifacts = json_array(),
                       .artifact_numbers = json_object(),
                       .fingerprints = report_fingerprints(d, arena)};
    json_t *list = results(&w, d);
    json_t *log = json_pack("{s:s, s:s, s:[o]}", "$schema", "https://json.schemastore.org/sarif-2.1.0.json", "version",
                            "2.1.0", "runs", run_object(&w, list));
    char *text = json_dumps(log, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(log);
    json_decref(w.rule_numbers);
    json_decref(w.artifact_numbers);
    struct str s = {arena_strdup(arena, text ? text : "{}"), text ? strlen(text) : 2};
    free(text);
    return s;
}

struct str report_sarif(const struct diags *d, struct arena *arena)
{
    return report_sarif_run(d, &(struct report_run){0}, arena);
}
