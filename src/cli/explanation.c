/* See explanation.h. */
#include "cli/explanation.h"

#include <stdlib.h>

#include "base/text.h"
#include "explain/page.h"

void explanation_init(struct explanation *e)
{
    *e = (struct explanation){
        .launches = json_array(), .kernels = json_array(), .processes = json_array(), .host = json_array()};
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

/* Is it the same kernel? By process, device, and number among those that were launched there. */
static bool same_kernel(const json_t *a, const json_t *b)
{
    return number(a, "process") == number(b, "process") && number(a, "device") == number(b, "device") &&
           number(a, "number") == number(b, "number");
}

/* Rows of streams and threads, which say whose they are. */
static void put_streams(struct explanation *e, int process, json_t *rows)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        json_object_set_new(row, "process", json_integer(process));
        json_array_append(e->host, row);
    }
}

/* A newer record takes the place of what was known of the kernel. */
static void put_kernel(struct explanation *e, json_t *kernel)
{
    size_t i;
    json_t *old;
    json_array_foreach(e->kernels, i, old)
    {
        if (same_kernel(old, kernel)) {
            json_array_set(e->kernels, i, kernel);
            return;
        }
    }
    json_array_append(e->kernels, kernel);
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
        put_kernel(e, kernel);
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
    json_t *line;
    for (;;) {
        line = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL);
        if (!line)
            break;
        if (json_object_get(line, "program"))
            process = (int)number(line, "process");
        explanation_add(e, process, line);
    }
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
    size_t i, k;
    json_array_foreach(e->kernels, i, kernel)
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

char *explanation_json(const struct explanation *e, const char *program, const char *device, size_t flags,
                       struct arena *arena)
{
    json_t *all = json_pack("{s:i, s:o, s:s, s:O, s:I, s:b, s:O, s:O, s:O, s:o}", "version", 1, "program",
                            json_text(program, strlen(program)), "device", device, "processes", e->processes,
                            "uncounted", (json_int_t)e->uncounted, "whole", !e->lost, "launches", e->launches,
                            "kernels", e->kernels, "host", e->host, "sources", sources_json(e, arena));
    char *text = all ? json_dumps(all, flags | JSON_PRESERVE_ORDER) : NULL;
    json_decref(all);
    return text;
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

static const char *dims_text(const json_t *dims, const char *between, struct arena *arena)
{
    long long n[3] = {0};
    for (size_t i = 0; i < 3; i++)
        n[i] = json_integer_value(json_array_get(dims, i));
    return arena_printf(arena, "%lld%s%lld%s%lld", n[0], between, n[1], between, n[2]);
}

static void put_row(struct text *t, const json_t *launch, struct arena *arena)
{
    static const char *const columns[] = {"process", "kernel", "mangled"}, *const times[] = {"time_ns", "bound"};
    const char *name;
    json_t *v;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        put_field(t, value_text(json_object_get(launch, columns[i]), arena));
        text_puts(t, ",");
    }
    text_printf(t, "%s,%s", dims_text(json_object_get(launch, "grid"), "x", arena),
                dims_text(json_object_get(launch, "block"), "x", arena));
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
    json_array_foreach(e->launches, i, launch) put_row(&t, launch, arena);
    return t.p;
}

/* ---- files ---- */

const char *explanation_page(const struct options *o)
{
    return o->page ? o->page : "explain.html";
}

const char *explanation_files_wrong(struct session *s)
{
    const char *wrong = file_may_create(&s->arena, explanation_page(&s->o));
    wrong = wrong || !s->o.explain_json ? wrong : file_may_create(&s->arena, s->o.explain_json);
    return wrong || !s->o.csv ? wrong : file_may_create(&s->arena, s->o.csv);
}

bool explanation_writes(const struct options *o, const char *path)
{
    return strcmp(explanation_page(o), path) == 0 || (o->explain_json && strcmp(o->explain_json, path) == 0) ||
           (o->csv && strcmp(o->csv, path) == 0);
}

int explanation_no_device(struct session *s)
{
    return usage_error(s,
                       "`--device %s`: no such device is known; it is H200, A100, V100 and so on, or sm_90, sm_80, ...",
                       explanation_device(&s->o));
}

const char *explanation_device(const struct options *o)
{
    const char *claimed = getenv("HEDDLE_DEVICE");
    return o->report_device ? o->report_device : claimed && *claimed ? claimed : "H200";
}

static int write_file(struct session *s, const char *path, const char *text)
{
    struct file_writer w;
    const char *error = file_create(&w, &s->arena, path);
    error = error ? error : file_write(&w, text, strlen(text));
    const char *finished = file_finish(&w);
    error = error ? error : finished;
    return error ? cli_failure(s, "%s", error) : 0;
}

static int write_page(struct session *s, const char *json)
{
    struct text page = {.arena = &s->arena};
    page_write(&page, json);
    return write_file(s, explanation_page(&s->o), page.p);
}

static int write_json(struct session *s, const struct explanation *e, const char *program, size_t flags,
                      int (*write)(struct session *, const char *))
{
    char *text = explanation_json(e, program, explanation_device(&s->o), flags, &s->arena);
    int status = text ? write(s, text) : cli_failure(s, "out of memory: what was counted cannot be written");
    free(text);
    return status;
}

static int write_json_file(struct session *s, const char *json)
{
    return write_file(s, s->o.explain_json, json);
}

int explanation_write_files(struct session *s, const struct explanation *e, const char *program)
{
    int status = write_json(s, e, program, JSON_COMPACT | JSON_REAL_PRECISION(9), write_page);
    if (s->o.explain_json)
        status |= write_json(s, e, program, JSON_INDENT(1), write_json_file);
    if (s->o.csv)
        status |= write_file(s, s->o.csv, explanation_csv(e, &s->arena));
    return status;
}
