/* See check_findings.h. */
#include "cli/check_findings.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "report/report.h"

enum { WAIT_ROUNDS = 50, WAIT_ROUND_MS = 100 };

/* ---- the folder ---- */

/* Files that a process has finished writing have a name without a point: PROCESS-TIME.TIME has one. */
static int is_whole(const struct dirent *e)
{
    const char *end = strrchr(e->d_name, '.');
    return end && strchr(e->d_name, '-') && strcmp(end, ".new") != 0 && strcmp(end, ".lost") != 0;
}

/* In the order in which the processes have started. */
static int by_time(const struct dirent **a, const struct dirent **b)
{
    double x = strtod(strchr((*a)->d_name, '-') + 1, NULL), y = strtod(strchr((*b)->d_name, '-') + 1, NULL);
    return x < y ? -1 : x > y;
}

/* Calls `each` with what every process has said; returns how many there are. */
static unsigned each_process(const char *folder, void (*each)(void *data, json_t *said), void *data, bool *unread)
{
    struct dirent **list;
    int n = scandir(folder, &list, is_whole, by_time);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        json_t *said = json_load_file(path, 0, NULL);
        if (said)
            each(data, said);
        *unread |= !said;
        json_decref(said);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    return n > 0 ? (unsigned)n : 0;
}

static int is_lost(const struct dirent *e)
{
    const char *end = strrchr(e->d_name, '.');
    return end && strcmp(end, ".lost") == 0;
}

static bool has_lost(const char *folder)
{
    struct dirent **list;
    int n = scandir(folder, &list, is_lost, NULL);
    for (int i = 0; i < n; i++)
        free(list[i]);
    if (n >= 0)
        free(list);
    return n > 0;
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
    const char *program = json_string_value(json_object_get(said, "program"));
    struct diag_origin *origin = ARENA_NEW(arena, struct diag_origin);
    *origin = (struct diag_origin){.program = arena_strdup(arena, program ? program : "?"),
                                   .pid = c->several ? (int)number(said, "process") : 0,
                                   .repeat = c->repeat};
    f->lost |= !report_read(json_object_get(said, "findings"), &own);
    report_merge(&f->diags, &own, origin);
    f->launches += number(said, "launches");
    f->unchecked += number(said, "unchecked");
    f->n_processes++;
    note_kernels(f, json_object_get(said, "kernels"));
    json_object_del(said, "findings");
    json_array_append(f->processes, said);
}

void findings_init(struct findings *f, struct arena *arena)
{
    *f = (struct findings){.diags = {.arena = arena}, .kernels = json_object(), .processes = json_array()};
}

void findings_collect(struct findings *f, const char *folder, const char *repeat)
{
    unsigned n = 0;
    struct collection c = {f, repeat, false};
    each_process(folder, count_one, &n, &f->lost);
    c.several = n > 1;
    each_process(folder, collect, &c, &f->lost);
    f->lost |= has_lost(folder);
}

void check_findings_free(struct findings *f)
{
    json_decref(f->processes);
    json_decref(f->kernels);
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

struct survivor {
    struct arena *arena;
    const char *text;
};

static void find_survivor(void *data, json_t *said)
{
    struct survivor *s = data;
    pid_t pid = (pid_t)number(said, "process");
    if (json_is_true(json_object_get(said, "ended")) || pid <= 0 || (kill(pid, 0) && errno == ESRCH))
        return;
    const char *program = json_string_value(json_object_get(said, "program"));
    s->text = arena_printf(s->arena, "process %d, `%s`", (int)pid, program ? program : "?");
}

const char *findings_await(const char *folder, struct arena *arena)
{
    struct survivor s = {arena, NULL};
    for (int round = 0; round < WAIT_ROUNDS; round++) {
        bool unread = false;
        while (waitpid(-1, NULL, WNOHANG) > 0) /* orphans come to this process */
            ;
        s.text = NULL;
        each_process(folder, find_survivor, &s, &unread);
        if (!s.text)
            return NULL;
        nanosleep(&(struct timespec){0, WAIT_ROUND_MS * 1000000L}, NULL);
    }
    return s.text;
}
