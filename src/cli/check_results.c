/* See check_results.h. */
#include "cli/check_results.h"

#include <stdlib.h>

#include "cli/process_files.h"
#include "report/report.h"

/* ---- the file of a process ---- */

typedef VEC(struct str) texts;

/* What a process has said. */
struct said {
    json_t *itself;   /* an object: the same as one */
    texts findings;   /* by their numbers, from 1: arrays; each is read when it is known to stand */
    json_t *standing; /* numbers, in the order of reports; or NULL */
    bool lost;
};

static uint64_t number(const json_t *o, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(o, key));
}

/* "12, rest" */
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
    json_object_set(s->itself, "running", json_object_get(line, "running"));
    json_array_extend(json_object_get(s->itself, "kernels"), json_object_get(line, "kernels"));
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

/* The file's bytes are the caller's to free. False where there is nothing that a process has said. */
static bool read_said(struct said *s, const char *path, struct file_bytes *file, struct arena *arena)
{
    *s = (struct said){.itself = json_pack("{s:n, s:i, s:b, s:i, s:i, s:[], s:{}}", "program", "process", 0, "ended", 0,
                                           "launches", 0, "unchecked", 0, "kernels", "running")};
    s->lost = file_read(arena, path, 0, file) != NULL;
    for (const char *at = file->bytes, *end; at && *at; at = end + 1) {
        end = strchr(at, '\n');
        s->lost |= !end || !read_line(s, (struct str){at, (size_t)(end - at)}, arena);
        if (!end) /* it was cut off */
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

struct collection {
    struct check_results *r;
    const char *repeat;
    struct diag_origin *first; /* process in this run */
};

static void add_findings(struct check_results *r, const struct said *s, struct diags *own)
{
    for (size_t i = 0; i < json_array_size(s->standing); i++) {
        uint64_t n = (uint64_t)json_integer_value(json_array_get(s->standing, i));
        bool known = n && n <= s->findings.n;
        json_t *finding = known ? json_loadb(s->findings.at[n - 1].p, s->findings.at[n - 1].n, 0, NULL) : NULL;
        r->lost |= !finding || !report_read(finding, own);
        json_decref(finding);
    }
}

static void add_counts(struct check_results *r, const json_t *said)
{
    const char *kernel;
    json_t *n;
    size_t i;
    r->launches += number(said, "launches");
    r->unchecked += number(said, "unchecked");
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

static void collect(void *data, const char *path)
{
    struct collection *c = data;
    struct check_results *r = c->r;
    struct arena *arena = r->diags.arena;
    struct diags own = {.arena = arena};
    struct file_bytes file;
    struct said s;
    if (read_said(&s, path, &file, arena)) {
        struct diag_origin *origin = ARENA_NEW(arena, struct diag_origin);
        *origin = (struct diag_origin){.program =
                                           arena_strdup(arena, json_string_value(json_object_get(s.itself, "program"))),
                                       .pid = (int)number(s.itself, "process"),
                                       .repeat = c->repeat};
        c->first = c->first ? c->first : origin;
        add_findings(r, &s, &own);
        report_merge(&r->diags, &own, origin);
        add_counts(r, s.itself);
        r->n_processes++;
        json_array_append(r->processes, s.itself);
    }
    r->lost |= s.lost;
    said_free(&s, &file);
}

void check_results_init(struct check_results *r, struct arena *arena)
{
    *r = (struct check_results){
        .diags = {.arena = arena}, .kernels = json_object(), .running = json_object(), .processes = json_array()};
}

void check_results_collect(struct check_results *r, const char *folder, const char *repeat)
{
    struct collection c = {r, repeat, NULL};
    bool alone = process_files_each(folder, collect, &c) == 1;
    if (alone && c.first) /* which one it was is of interest where there are several */
        c.first->pid = 0;
    r->lost |= process_files_lost(folder);
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
    uint64_t launches, found;
};

static void look_at(void *data, const char *path)
{
    struct look *l = data;
    struct file_bytes file;
    struct said s;
    if (read_said(&s, path, &file, &l->arena)) {
        l->launches += number(s.itself, "launches");
        l->found += json_array_size(s.standing);
    }
    said_free(&s, &file);
}

void check_results_look(const char *folder, uint64_t *launches, uint64_t *found)
{
    struct look l = {0};
    jmp_buf oom;
    l.arena.on_oom = &oom;
    if (setjmp(oom) == 0)
        process_files_each(folder, look_at, &l);
    *launches = l.launches;
    *found = l.found;
    l.arena.on_oom = NULL;
    arena_free(&l.arena);
}
