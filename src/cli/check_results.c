/* See check_results.h. */
#include "cli/check_results.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/process_files.h"
#include "report/report.h"

/* ---- the file of a process ---- */

typedef VEC(struct str) texts;

/* What a process reported. */
struct said {
    json_t *itself; /* an object that describes the process itself */
    /* each finding's lines by its number, from 1: arrays; parsed only when the finding is known
       to be valid */
    texts findings;
    json_t *standing;      /* numbers of the valid findings, in the order of reports; or NULL */
    uint64_t done, blocks; /* of running launches */
    bool lost;
};

static uint64_t number(const json_t *o, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(o, key));
}

/* Reads a line "12, rest". */
static bool read_finding(struct said *s, struct str line, struct arena *arena)
{
    static const char before[] = ", \"says\": ";
    char *end;
    uint64_t n = strtoull(line.p, &end, 10);
    size_t begin = (size_t)(end - line.p) + sizeof before - 1;
    if (n == 0 || n > s->findings.n + 1 || begin >= line.n || strncmp(end, before, sizeof before - 1) != 0)
        return false;
    if (n > s->findings.n)
        (void)VEC_PUSH(arena, &s->findings);
    s->findings.at[n - 1] = (struct str){line.p + begin, line.n - begin - 1};
    return true;
}

static void read_counts(struct said *s, const json_t *line)
{
    json_object_set(s->itself, "launches", json_object_get(line, "launches"));
    json_object_set(s->itself, "unchecked", json_object_get(line, "unchecked"));
    json_object_set(s->itself, "calls", json_object_get(line, "calls"));
    json_object_set(s->itself, "running", json_object_get(line, "running"));
    json_array_extend(json_object_get(s->itself, "kernels"), json_object_get(line, "kernels"));
    const json_t *blocks = json_object_get(line, "blocks");
    s->done = (uint64_t)json_integer_value(json_array_get(blocks, 0));
    s->blocks = (uint64_t)json_integer_value(json_array_get(blocks, 1));
}

static bool read_line(struct said *s, struct str text, struct arena *arena)
{
    static const char finding[] = "{\"finding\": ";
    size_t n = sizeof finding - 1;
    if (text.n > n && memcmp(text.p, finding, n) == 0)
        return read_finding(s, (struct str){text.p + n, text.n - n}, arena);
    json_t *line = json_loadb(text.p, text.n, 0, NULL);
    if (json_object_get(line, "program"))
        json_object_update(s->itself, line);
    else if (json_object_get(line, "findings"))
        s->standing = (json_decref(s->standing), json_incref(json_object_get(line, "findings")));
    else if (json_object_get(line, "ended"))
        json_object_update(s->itself, line);
    else
        read_counts(s, line);
    json_decref(line);
    return line != NULL;
}

/* The caller frees the file's bytes. Returns false if no process has written there. */
static bool read_said(struct said *s, const char *path, struct file_bytes *file, struct arena *arena)
{
    *s =
        (struct said){.itself = json_pack("{s:n, s:i, s:b, s:i, s:i, s:i, s:[], s:{}}", "program", "process", 0,
                                          "ended", 0, "launches", 0, "unchecked", 0, "calls", 0, "kernels", "running")};
    s->lost = file_read(arena, path, 0, file) != NULL;
    for (const char *at = file->bytes, *end; at && *at; at = end + 1) {
        end = strchr(at, '\n');
        s->lost |= !end || !read_line(s, (struct str){at, (size_t)(end - at)}, arena);
        if (!end) /* the last line was cut off */
            break;
    }
    return json_is_string(json_object_get(s->itself, "program"));
}

static void said_free(struct said *s, struct file_bytes *file)
{
    json_decref(s->itself);
    json_decref(s->standing);
    free(file->bytes);
}

/* ---- collecting ---- */

/* The valid findings: an array for each, with its notes. */
static json_t *findings_of(struct said *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < json_array_size(s->standing); i++) {
        uint64_t n = (uint64_t)json_integer_value(json_array_get(s->standing, i));
        bool known = n && n <= s->findings.n;
        json_t *finding = known ? json_loadb(s->findings.at[n - 1].p, s->findings.at[n - 1].n, 0, NULL) : NULL;
        s->lost |= !finding;
        if (finding)
            json_array_append_new(all, finding);
    }
    return all;
}

struct reading {
    struct arena *arena;
    json_t *processes;
    bool lost;
};

static void read_process(void *data, const char *path)
{
    struct reading *r = data;
    struct file_bytes file;
    struct said s;
    if (read_said(&s, path, &file, r->arena))
        json_array_append_new(r->processes, json_pack("{s:O, s:o}", "said", s.itself, "findings", findings_of(&s)));
    r->lost |= s.lost;
    said_free(&s, &file);
}

json_t *check_results_read(const char *folder, struct arena *arena, bool *lost)
{
    struct reading r = {arena, json_array(), false};
    process_files_each(folder, read_process, &r);
    *lost = r.lost || process_files_lost(folder);
    return r.processes;
}

static void add_counts(struct check_results *r, const json_t *said)
{
    const char *kernel;
    json_t *n;
    size_t i;
    r->launches += number(said, "launches");
    r->unchecked += number(said, "unchecked");
    r->calls += number(said, "calls");
    json_object_foreach(json_object_get(said, "running"), kernel, n)
    {
        json_int_t before = json_integer_value(json_object_get(r->running, kernel));
        json_object_set_new(r->running, kernel, json_integer(before + json_integer_value(n)));
        r->unended += (uint64_t)json_integer_value(n);
    }
    json_array_foreach(json_object_get(said, "kernels"), i, n)
    {
        if (json_is_string(n))
            json_object_set_new(r->kernels, json_string_value(n), json_true());
    }
}

static struct diag_origin *collect(struct check_results *r, const json_t *process, const char *repeat,
                                   const char *stops)
{
    struct arena *arena = r->diags.arena;
    struct diags own = {.arena = arena};
    json_t *said = json_object_get(process, "said"), *findings = json_object_get(process, "findings"), *finding;
    size_t i;
    struct diag_origin *origin = ARENA_NEW(arena, struct diag_origin);
    *origin = (struct diag_origin){.program = arena_strdup(arena, json_string_value(json_object_get(said, "program"))),
                                   .pid = (int)number(said, "process"),
                                   .repeat = repeat,
                                   .stops = stops};
    json_array_foreach(findings, i, finding) r->lost |= !report_read(finding, &own);
    report_merge(&r->diags, &own, origin);
    add_counts(r, said);
    r->n_processes++;
    json_array_append(r->processes, said);
    return origin;
}

void check_results_init(struct check_results *r, struct arena *arena)
{
    *r = (struct check_results){
        .diags = {.arena = arena}, .kernels = json_object(), .running = json_object(), .processes = json_array()};
}

void check_results_collect(struct check_results *r, const json_t *processes, const char *repeat, const char *stops)
{
    size_t i;
    json_t *process;
    json_array_foreach(processes, i, process)
    {
        struct diag_origin *origin = collect(r, process, repeat, stops);
        const char *command = json_string_value(json_object_get(json_object_get(process, "said"), "command"));
        /* With several processes, their number is shown instead. */
        if (json_array_size(processes) == 1)
            origin->pid = 0;
        else if (command)
            origin->program = arena_strdup(r->diags.arena, command);
    }
}

void check_results_add(struct check_results *r, json_t *said, const json_t *findings)
{
    struct arena *arena = r->diags.arena;
    struct diags own = {.arena = arena};
    const char *program = json_string_value(json_object_get(said, "program"));
    struct diag_origin *origin = program ? ARENA_NEW(arena, struct diag_origin) : NULL;
    if (origin)
        origin->program = arena_strdup(arena, program);
    r->lost |= !report_read(findings, &own);
    report_merge(&r->diags, &own, origin);
    add_counts(r, said);
    r->n_processes++;
    json_array_append(r->processes, said);
}

void check_results_free(struct check_results *r)
{
    json_decref(r->processes);
    json_decref(r->kernels);
    json_decref(r->running);
}

/* ---- while processes run ---- */

struct look {
    struct arena arena;
    struct status_now now;
    uint64_t found;
    char kernel[256];
};

static void look_at(void *data, const char *path)
{
    struct look *l = data;
    struct file_bytes file;
    struct said s;
    const char *kernel;
    json_t *n;
    if (read_said(&s, path, &file, &l->arena)) {
        l->now.launches += number(s.itself, "launches");
        l->now.done += s.done;
        l->now.blocks += s.blocks;
        l->found += json_array_size(s.standing);
        json_object_foreach(json_object_get(s.itself, "running"), kernel, n)
            snprintf(l->kernel, sizeof l->kernel, "%s", kernel);
    }
    said_free(&s, &file);
}

struct status_now check_results_look(const char *folder, uint64_t *found, struct arena *arena)
{
    struct look l = {0};
    jmp_buf oom;
    l.arena.on_oom = &oom;
    if (setjmp(oom) == 0)
        process_files_each(folder, look_at, &l);
    *found = l.found;
    if (l.kernel[0])
        l.now.kernel = arena_strdup(arena, l.kernel);
    l.arena.on_oom = NULL;
    arena_free(&l.arena);
    return l.now;
}
