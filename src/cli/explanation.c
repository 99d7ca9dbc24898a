/* See explanation.h. */
#include "cli/explanation.h"

#include <stdlib.h>

#include "base/text.h"
#include "exec/device.h"
#include "explain/json.h"
#include "explain/page.h"

void explanation_init(struct explanation *e)
{
    *e = (struct explanation){
        .launches = json_array(), .kernels = json_object(), .processes = json_array(), .host = json_array()};
}

void explanation_free(struct explanation *e)
{
    json_decref(e->launches);
    json_decref(e->kernels);
    json_decref(e->processes);
    json_decref(e->host);
}

/* ---- reading ---- */

static json_int_t number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

struct explanation_key explanation_key(const json_t *of)
{
    struct explanation_key k;
    snprintf(k.text, sizeof k.text, "%lld/%lld/%lld", (long long)number(of, "process"), (long long)number(of, "device"),
             (long long)number(of, "number"));
    return k;
}

/* Tracks of streams and threads, which say whose they are. */
static void put_streams(struct explanation *e, int process, json_t *tracks)
{
    size_t i;
    json_t *track;
    json_array_foreach(tracks, i, track)
    {
        json_object_set_new(track, "process", json_integer(process));
        json_array_append(e->host, track);
    }
}

void explanation_add(struct explanation *e, int process, json_t *line)
{
    json_t *launch = json_object_get(line, "launch"), *kernel = json_object_get(line, "kernel");
    json_t *of = launch ? launch : kernel;
    if (of) {
        json_object_set_new(of, "process", json_integer(process));
        json_object_set(of, "device", json_object_get(line, "device"));
    }
    if (launch)
        json_array_append(e->launches, launch);
    else if (kernel)
        json_object_set(e->kernels, explanation_key(kernel).text, kernel); /* in place of an older one */
    else if (json_object_get(line, "streams"))
        put_streams(e, process, json_object_get(line, "streams"));
    else if (json_object_get(line, "program"))
        json_array_append(e->processes, line);
    else if (json_is_true(json_object_get(line, "ended")))
        e->uncounted += (uint64_t)number(line, "uncounted");
    else
        e->lost = true;
    json_decref(line);
}

void explanation_read(struct explanation *e, FILE *f)
{
    int process = 0;
    uint64_t running = 0;
    char *text = NULL;
    size_t room = 0;
    ssize_t n;
    while ((n = getline(&text, &room, f)) > 0) {
        json_t *line = text[n - 1] == '\n' ? json_loads(text, 0, NULL) : NULL; /* else it was cut off */
        if (!line) {
            e->lost = true;
            continue;
        }
        if (json_object_get(line, "program"))
            process = (int)number(line, "process");
        if (json_object_get(line, "running")) {
            running = (uint64_t)number(line, "running");
            json_decref(line);
            continue;
        }
        explanation_add(e, process, line);
    }
    e->running += running;
    e->lost |= ferror(f) != 0;
    free(text);
}

/* ---- JSON ---- */

/* The text of a file of source, or null. */
static json_t *source_text(const char *path, struct arena *arena)
{
    struct file_bytes f;
    if (file_read(arena, path, 0, &f))
        return json_null();
    json_t *text = json_text(f.bytes, f.n);
    free(f.bytes);
    return text;
}

/* Every file that a line is of, once. */
static json_t *sources_json(const struct explanation *e, struct arena *arena)
{
    json_t *seen = json_object(), *list = json_array(), *kernel, *line;
    const char *key;
    size_t k;
    json_object_foreach(e->kernels, key, kernel)
    {
        json_array_foreach(json_object_get(kernel, "lines"), k, line)
        {
            const char *file = json_string_value(json_object_get(line, "file"));
            if (!file || json_object_get(seen, file))
                continue;
            json_object_set_new(seen, file, json_true());
            json_array_append_new(list, json_pack("{s:s, s:o}", "file", file, "text", source_text(file, arena)));
        }
    }
    json_decref(seen);
    return list;
}

json_t *explanation_json(const struct explanation *e, const char *program, const char *device, struct arena *arena)
{
    json_t *kernels = json_array(), *kernel;
    const char *key;
    json_object_foreach(e->kernels, key, kernel) json_array_append(kernels, kernel);
    const struct device_model *d = device_model_of_report(device);
    return json_pack("{s:i, s:o, s:s, s:o, s:o, s:o, s:O, s:I, s:I, s:b, s:O, s:o, s:O, s:o}", "version", 1, "program",
                     json_text(program, strlen(program)), "device", device, "limits", device_limits_json(d), "rates",
                     device_rates_json(d), "names", names_json(), "processes", e->processes, "uncounted",
                     (json_int_t)e->uncounted, "running", (json_int_t)e->running, "whole", !e->lost && !e->running,
                     "launches", e->launches, "kernels", kernels, "host", e->host, "sources", sources_json(e, arena));
}

/* ---- CSV ---- */

/* RFC 4180. */
static void put_field(struct text *t, const char *field)
{
    if (!field[strcspn(field, ",\"\n\r")]) {
        text_puts(t, field);
        return;
    }
    text_puts(t, "\"");
    for (const char *p = field; *p; p++)
        text_puts(t, *p == '"' ? "\"\"" : (char[]){*p, 0});
    text_puts(t, "\"");
}

static const char *value_text(const json_t *v, struct arena *arena)
{
    if (json_is_string(v))
        return json_string_value(v);
    if (json_is_integer(v))
        return arena_printf(arena, "%lld", (long long)json_integer_value(v));
    return json_is_real(v) ? arena_printf(arena, "%.6g", json_real_value(v)) : "";
}

static const char *dims_text(const json_t *dims, struct arena *arena)
{
    long long n[3] = {0};
    for (size_t i = 0; i < 3; i++)
        n[i] = json_integer_value(json_array_get(dims, i));
    return arena_printf(arena, "%lldx%lldx%lld", n[0], n[1], n[2]);
}

static void put_launch(struct text *t, const json_t *launch, struct arena *arena)
{
    static const char *const columns[] = {"process", "kernel", "mangled"}, *const times[] = {"time_ns", "bound"};
    const char *name;
    json_t *v;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        put_field(t, value_text(json_object_get(launch, columns[i]), arena));
        text_puts(t, ",");
    }
    text_printf(t, "%s,%s", dims_text(json_object_get(launch, "grid"), arena),
                dims_text(json_object_get(launch, "block"), arena));
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        text_puts(t, ",");
        put_field(t, value_text(json_object_get(launch, times[i]), arena));
    }
    json_object_foreach(json_object_get(launch, "metrics"), name, v)
    {
        text_puts(t, ",");
        put_field(t, value_text(v, arena));
    }
    text_puts(t, "\n");
}

const char *explanation_csv(const struct explanation *e, struct arena *arena)
{
    struct text t = {.arena = arena};
    const char *name;
    size_t i;
    json_t *v, *launch;
    text_puts(&t, "process,kernel,mangled,grid,block,time_ns,bound");
    json_object_foreach(json_object_get(json_array_get(e->launches, 0), "metrics"), name, v)
        text_printf(&t, ",%s", name);
    text_puts(&t, "\n");
    json_array_foreach(e->launches, i, launch) put_launch(&t, launch, arena);
    return t.p;
}

/* ---- files ---- */

const char *explanation_page(const struct options *o)
{
    return o->page ? o->page : "explain.html";
}

enum { FILES = 4 };

/* Those that the options name; NULL: none of that kind. */
static void name_files(const struct options *o, const char *files[FILES])
{
    files[0] = explanation_page(o);
    files[1] = o->explain_json;
    files[2] = o->csv;
    files[3] = o->explain_trace;
}

const char *explanation_files_wrong(struct session *s)
{
    const char *files[FILES], *wrong = NULL;
    name_files(&s->o, files);
    for (int i = 0; i < FILES && !wrong; i++)
        wrong = files[i] ? file_may_create(&s->arena, files[i]) : NULL;
    return wrong;
}

bool explanation_writes(const struct options *o, const char *path)
{
    const char *files[FILES];
    name_files(o, files);
    for (int i = 0; i < FILES; i++)
        if (files[i] && strcmp(files[i], path) == 0)
            return true;
    return false;
}

int explanation_no_device(struct session *s)
{
    return usage_error(s, "`%s%s`: no such device is known; it is H200, A100, V100 and so on, or sm_90, sm_80, ...",
                       s->o.report_device ? "--device " : "HEDDLE_DEVICE=", explanation_device(&s->o));
}

const char *explanation_device(const struct options *o)
{
    const char *claimed = getenv("HEDDLE_DEVICE");
    bool is_device = claimed && *claimed && strcmp(claimed, "auto") != 0;
    return o->report_device ? o->report_device : is_device ? claimed : "H200";
}

uint64_t explanation_sample_after(const struct options *o)
{
    static const uint64_t ENOUGH = 200000000; /* what one core counts in some ten seconds */
    return o->sample_after.given ? o->sample_after.value : ENOUGH;
}

/* NULL: there was not enough memory for it. */
static int write_file(struct session *s, const char *path, const char *text)
{
    const char *error = text ? file_write_whole(&s->arena, path, text, strlen(text))
                             : "out of memory: what was counted cannot be written";
    return error ? cli_failure(s, "%s", error) : 0;
}

static int write_json(struct session *s, const json_t *json)
{
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    int status = write_file(s, s->o.explain_json, text);
    free(text);
    return status;
}

int explanation_write_page(struct session *s, const json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9) | JSON_PRESERVE_ORDER);
    struct text page = {.arena = &s->arena};
    if (text)
        page_write(&page, text);
    free(text);
    return write_file(s, explanation_page(&s->o), page.p);
}

static int write_trace(struct session *s, const struct explanation *e)
{
    char *text = explanation_trace(e, explanation_device(&s->o), &s->arena);
    int status = write_file(s, s->o.explain_trace, text);
    free(text);
    return status;
}

int explanation_write_files(struct session *s, const struct explanation *e, const char *program)
{
    json_t *json = explanation_json(e, program, explanation_device(&s->o), &s->arena);
    int status = explanation_write_page(s, json);
    if (s->o.explain_json)
        status |= write_json(s, json);
    if (s->o.csv)
        status |= write_file(s, s->o.csv, explanation_csv(e, &s->arena));
    if (s->o.explain_trace)
        status |= write_trace(s, e);
    json_decref(json);
    return status;
}
