/* See check_findings.h. */
#include "cli/check_findings.h"

#include "cli/process_files.h"
#include "report/report.h"

/* Calls `each` with what every process has said; returns how many there are. */
struct reading {
    void (*each)(void *data, json_t *said);
    void *data;
    bool unread;
};

static void read_one(void *data, const char *path)
{
    struct reading *r = data;
    json_t *said = json_load_file(path, 0, NULL);
    if (said)
        r->each(r->data, said);
    r->unread |= !said;
    json_decref(said);
}

static unsigned each_process(const char *folder, void (*each)(void *data, json_t *said), void *data, bool *unread)
{
    struct reading r = {each, data, false};
    unsigned n = process_files_each(folder, read_one, &r);
    *unread |= r.unread;
    return n;
}

/* ---- collecting ---- */

struct collection {
    struct findings *f;
    const char *repeat;
    bool several; /* processes in this run */
};

static uint64_t number(const json_t *said, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(said, key));
}

static void count_one(void *data, json_t *said)
{
    (void)said;
    (*(unsigned *)data)++;
}

static void note_kernels(struct findings *f, const json_t *names)
{
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name)
            json_object_set_new(f->kernels, name, json_true());
    }
}

static void collect(void *data, json_t *said)
{
    struct collection *c = data;
    struct findings *f = c->f;
    struct arena *arena = f->diags.arena;
    struct diags own = {.arena = arena};
    const char *kernel;
    json_t *n;
    const char *program = json_string_value(json_object_get(said, "program"));
    struct diag_origin *origin = ARENA_NEW(arena, struct diag_origin);
    *origin = (struct diag_origin){.program = arena_strdup(arena, program ? program : "?"),
                                   .pid = c->several ? (int)number(said, "process") : 0,
                                   .repeat = c->repeat};
    f->lost |= !report_read(json_object_get(said, "findings"), &own);
    report_merge(&f->diags, &own, origin);
    f->launches += number(said, "launches");
    f->unchecked += number(said, "unchecked");
    json_object_foreach(json_object_get(said, "running"), kernel, n)
    {
        json_int_t before = json_integer_value(json_object_get(f->running, kernel));
        json_object_set_new(f->running, kernel, json_integer(before + json_integer_value(n)));
        f->unended += (uint64_t)json_integer_value(n);
    }
    f->n_processes++;
    note_kernels(f, json_object_get(said, "kernels"));
    json_object_del(said, "findings");
    json_array_append(f->processes, said);
}

void findings_init(struct findings *f, struct arena *arena)
{
    *f = (struct findings){
        .diags = {.arena = arena}, .kernels = json_object(), .running = json_object(), .processes = json_array()};
}

void findings_collect(struct findings *f, const char *folder, const char *repeat)
{
    unsigned n = 0;
    struct collection c = {f, repeat, false};
    each_process(folder, count_one, &n, &f->lost);
    c.several = n > 1;
    each_process(folder, collect, &c, &f->lost);
    f->lost |= process_files_lost(folder);
}

void check_findings_free(struct findings *f)
{
    json_decref(f->processes);
    json_decref(f->kernels);
    json_decref(f->running);
}

/* ---- while processes run ---- */

struct look {
    uint64_t launches, found;
};

static void look_at(void *data, json_t *said)
{
    struct look *l = data;
    size_t i;
    json_t *d;
    l->launches += number(said, "launches");
    json_array_foreach(json_object_get(said, "findings"), i, d)
    {
        const char *severity = json_string_value(json_object_get(d, "severity"));
        l->found += severity && strcmp(severity, "note") != 0;
    }
}

void findings_look(const char *folder, uint64_t *launches, uint64_t *found)
{
    struct look l = {0};
    bool unread = false;
    each_process(folder, look_at, &l, &unread);
    *launches = l.launches;
    *found = l.found;
}

static struct process_state read_state(const char *path, struct arena *arena)
{
    json_t *said = json_load_file(path, 0, NULL);
    const char *program = json_string_value(json_object_get(said, "program"));
    struct process_state p = {program ? arena_strdup(arena, program) : NULL, (pid_t)number(said, "process"),
                              json_is_true(json_object_get(said, "ended"))};
    json_decref(said);
    return p;
}

const char *findings_await(const char *folder, struct arena *arena)
{
    return process_files_await(folder, read_state, arena);
}
