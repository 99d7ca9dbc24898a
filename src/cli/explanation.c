/* See explanation.h. */
#include "cli/explanation.h"
#include "cli/process_files.h"

#include <stdlib.h>

#include "base/text.h"
#include "exec/device.h"
#include "explain/json.h"
#include "explain/page.h"

void explanation_init(struct explanation *e, struct arena *arena)
{
    *e = (struct explanation){.arena = arena,
                              .rows = json_array(),
                              .calls = json_object(),
                              .kernels = json_object(),
                              .latest = json_object(),
                              .processes = json_array(),
                              .host = json_array()};
}

void explanation_free(struct explanation *e)
{
    json_decref(e->rows);
    json_decref(e->latest);
    json_decref(e->calls);
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

/* Adds the tracks of streams and host threads, each with its process. */
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

/* The rows of a device, in the order in which its process told them. A program can write anything
 * into its file, so the number is checked. */
static row_list *rows_of(struct explanation *e, json_int_t device)
{
    return &e->told[device >= 0 && device < EXPLAINED_DEVICES ? device : 0];
}

/* Launches of a kernel have many equal members: a member that equals the row before shares its
   value. */
static void share_members(struct explanation *e, json_t *row)
{
    struct explanation_key key = explanation_key(row);
    json_t *before = json_object_get(e->latest, key.text), *member, *same;
    const char *name;
    void *next;
    json_object_foreach_safe(row, next, name, member)
    {
        same = json_object_get(before, name);
        if (json_equal(same, member))
            json_object_set(row, name, same);
    }
    json_object_set(e->latest, key.text, row);
}

static void add_row(struct explanation *e, json_t *row)
{
    uint32_t n = (uint32_t)json_array_size(e->rows);
    share_members(e, row);
    json_array_append(e->rows, row);
    *VEC_PUSH(e->arena, rows_of(e, number(row, "device"))) = *VEC_PUSH(e->arena, &e->launches) = n;
}

/* Adds a launch that equals an earlier one of the device. */
static void add_again(struct explanation *e, json_int_t device, json_int_t n)
{
    const row_list *rows = rows_of(e, device);
    if (n >= 0 && n < rows->n)
        *VEC_PUSH(e->arena, &e->launches) = rows->at[n];
    else
        e->lost = true;
}

static void add_process(struct explanation *e, json_t *line)
{
    memset(e->told, 0, sizeof e->told);
    json_array_append(e->processes, line);
}

/* Replaces the calls that the process told of the device before. */
static void put_calls(struct explanation *e, int process, const json_t *line)
{
    json_t *device = json_object_get(line, "device"), *calls = json_object_get(line, "calls"), *call;
    size_t i;
    json_array_foreach(calls, i, call)
    {
        json_object_set_new(call, "process", json_integer(process));
        json_object_set(call, "device", device);
    }
    json_object_set(e->calls, explanation_key(json_array_get(calls, 0)).text, calls);
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
        add_row(e, launch);
    else if (json_object_get(line, "again"))
        add_again(e, number(line, "device"), number(line, "again"));
    else if (kernel)
        /* Replaces an older one. */
        json_object_set(e->kernels, explanation_key(kernel).text, kernel);
    else if (json_object_get(line, "calls"))
        put_calls(e, process, line);
    else if (json_object_get(line, "streams"))
        put_streams(e, process, json_object_get(line, "streams"));
    else if (json_object_get(line, "program"))
        add_process(e, line);
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
        /* a line without a newline was cut off */
        json_t *line = text[n - 1] == '\n' ? json_loads(text, 0, NULL) : NULL;
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

/* ---- while processes run ---- */

struct look {
    struct status_now now;
    struct arena *arena;
};

static void look_at(void *data, const char *path)
{
    enum { TAIL_BYTES = 64 << 10 };
    static const char head[] = "\n{\"running\": ";
    struct look *l = data;
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    char *tail = arena_alloc(l->arena, TAIL_BYTES + 1), *last = NULL;
    if (fseek(f, -TAIL_BYTES, SEEK_END))
        rewind(f);
    tail[fread(tail, 1, TAIL_BYTES, f)] = 0;
    fclose(f);
    for (char *at = tail; (at = strstr(at, head)); at++)
        last = strchr(at + 1, '\n') ? at + 1 : last;
    json_t *line = last ? json_loads(last, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    const json_t *blocks = json_object_get(line, "blocks");
    const char *kernel = number(line, "running") ? json_string_value(json_object_get(line, "kernel")) : NULL;
    l->now.launches += (uint64_t)number(line, "ended");
    l->now.done += (uint64_t)json_integer_value(json_array_get(blocks, 0));
    l->now.blocks += (uint64_t)json_integer_value(json_array_get(blocks, 1));
    if (kernel && *kernel)
        l->now.kernel = arena_strdup(l->arena, kernel);
    json_decref(line);
}

struct status_now explanation_look(const char *folder, struct arena *arena)
{
    struct look l = {.now = {.found = "", .run = ""}, .arena = arena};
    process_files_each(folder, look_at, &l);
    return l.now;
}

/* ---- JSON ---- */

/* The text of a source file, or null. */
static json_t *source_text(const char *path, struct arena *arena)
{
    struct file_bytes f;
    if (file_read(arena, path, 0, &f))
        return json_null();
    json_t *text = json_text(f.bytes, f.n);
    free(f.bytes);
    return text;
}

/* All source files that lines name, each once. */
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

static json_t *launches_json(const struct explanation *e, bool each, struct arena *arena)
{
    json_t *list = json_array();
    /* the first launch of each row, from 1 */
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, json_array_size(e->rows));
    for (uint32_t i = 0; i < e->launches.n; i++) {
        uint32_t row = e->launches.at[i];
        if (first[row] && !each) {
            json_array_append_new(list, json_integer(first[row] - 1));
            continue;
        }
        json_array_append(list, json_array_get(e->rows, row));
        first[row] = i + 1;
    }
    return list;
}

uint64_t *explanation_times(const struct explanation *e, struct arena *arena)
{
    uint64_t *times = ARENA_ARRAY(arena, uint64_t, json_array_size(e->rows));
    for (uint32_t i = 0; i < e->launches.n; i++)
        times[e->launches.at[i]]++;
    return times;
}

json_t *explanation_calls(const struct explanation *e)
{
    json_t *all = json_array(), *calls;
    const char *key;
    json_object_foreach(e->calls, key, calls) json_array_extend(all, calls);
    return all;
}

json_t *explanation_json(const struct explanation *e, const char *program, const char *device, bool each,
                         struct arena *arena)
{
    json_t *kernels = json_array(), *kernel;
    const char *key;
    json_object_foreach(e->kernels, key, kernel) json_array_append(kernels, kernel);
    const struct device_model *d = device_model_of_report(device);
    json_show_files(kernels, arena);
    return json_pack("{s:i, s:o, s:s, s:o, s:o, s:o, s:O, s:I, s:I, s:b, s:o, s:o, s:o, s:O, s:o}", "version", 1,
                     "program", json_text(program, strlen(program)), "device", device, "limits", device_limits_json(d),
                     "rates", device_rates_json(d), "names", names_json(), "processes", e->processes, "uncounted",
                     (json_int_t)e->uncounted, "running", (json_int_t)e->running, "whole", !e->lost && !e->running,
                     "launches", launches_json(e, each, arena), "kernels", kernels, "calls", explanation_calls(e),
                     "host", e->host, "sources", sources_json(e, arena));
}

/* ---- CSV ---- */

/* Writes a field of CSV (RFC 4180). */
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

static const char *text_of_value(const json_t *v, struct arena *arena)
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
        put_field(t, text_of_value(json_object_get(launch, columns[i]), arena));
        text_puts(t, ",");
    }
    text_printf(t, "%s,%s", dims_text(json_object_get(launch, "grid"), arena),
                dims_text(json_object_get(launch, "block"), arena));
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        text_puts(t, ",");
        put_field(t, text_of_value(json_object_get(launch, times[i]), arena));
    }
    json_object_foreach(json_object_get(launch, "metrics"), name, v)
    {
        text_puts(t, ",");
        put_field(t, text_of_value(v, arena));
    }
    text_puts(t, "\n");
}

const char *explanation_csv(const struct explanation *e, struct arena *arena)
{
    struct text t = {.arena = arena};
    const char *name;
    json_t *v;
    text_puts(&t, "process,kernel,mangled,grid,block,time_ns,bound");
    json_object_foreach(json_object_get(json_array_get(e->rows, 0), "metrics"), name, v) text_printf(&t, ",%s", name);
    text_puts(&t, "\n");
    for (uint32_t i = 0; i < e->launches.n; i++)
        put_launch(&t, json_array_get(e->rows, e->launches.at[i]), arena);
    return t.p;
}

/* ---- files ---- */

const char *explanation_page(const struct options *o)
{
    return o->page ? o->page : "explain.html";
}

enum { FILES = 4 };

/* The output files that the options name; NULL for a kind that is not asked for. */
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
    return usage_error(
        s, "`%s%s` is not a device that Heddle knows; devices are H200, A100, V100 and so on, or sm_90, sm_80, ...",
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
    /* Instructions that one core counts in about ten seconds. */
    static const uint64_t ENOUGH = 200000000;
    return o->sample_after.given ? o->sample_after.value : ENOUGH;
}

/* Returns an error if `text` is NULL: memory was exhausted. */
static int write_file(struct session *s, const char *path, const char *text)
{
    const char *error =
        text ? file_write_whole(&s->arena, path, text, strlen(text)) : "out of memory: the counts cannot be written";
    return error ? cli_failure(s, "%s", error) : 0;
}

/* Writes a text into a file, in pieces. */
struct parts {
    struct file_writer w;
    size_t n;
    char text[1 << 16];
};

static int put_part(const char *text, size_t n, void *data)
{
    struct parts *p = data;
    if (n > sizeof p->text - p->n) {
        file_write(&p->w, p->text, p->n);
        p->n = 0;
    }
    if (n > sizeof p->text)
        return file_write(&p->w, text, n) ? -1 : 0;
    memcpy(p->text + p->n, text, n);
    p->n += n;
    return 0;
}

/* Writes each launch in full, piece by piece: the text may be many times larger than the values in
   memory. */
static int write_json(struct session *s, const struct explanation *e, const char *program)
{
    struct parts p = {.n = 0};
    const char *error = file_create(&p.w, &s->arena, s->o.explain_json);
    if (error)
        return cli_failure(s, "%s", error);
    json_t *json = explanation_json(e, program, explanation_device(&s->o), true, &s->arena);
    if (json_dump_callback(json, put_part, &p, JSON_INDENT(1) | JSON_PRESERVE_ORDER) && !p.w.error)
        p.w.error = "out of memory: the counts cannot be written";
    file_write(&p.w, p.text, p.n);
    json_decref(json);
    error = file_finish(&p.w);
    return error ? cli_failure(s, "%s", error) : 0;
}

int explanation_write_page(struct session *s, const json_t *json)
{
    json_t *small = explanation_for_page(json, &s->arena);
    char *text = json_dumps(small, EXPLANATION_FORMAT);
    json_decref(small);
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
    json_t *json = explanation_json(e, program, explanation_device(&s->o), false, &s->arena);
    int status = explanation_write_page(s, json);
    json_decref(json);
    if (s->o.explain_json)
        status |= write_json(s, e, program);
    if (s->o.csv)
        status |= write_file(s, s->o.csv, explanation_csv(e, &s->arena));
    if (s->o.explain_trace)
        status |= write_trace(s, e);
    return status;
}
