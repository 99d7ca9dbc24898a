/* See process_files.h. */
#include "cli/process_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda/process/file.h"

enum { WAIT_ROUNDS = 50, WAIT_ROUND_MS = 100, REMOVE_ROUNDS = 10 };

/* ---- the folder ---- */

char *process_folder_make(struct session *s, const char *what)
{
    const char *temporary = getenv("TMPDIR");
    char *folder =
        arena_printf(&s->arena, "%s/heddle-%s-XXXXXX", temporary && temporary[0] == '/' ? temporary : "/tmp", what);
    if (mkdtemp(folder))
        return folder;
    cli_failure(s, "cannot make the folder %s: %s", folder, strerror(errno));
    return NULL;
}

/* The folder has only files. A surviving process may add one while the folder is emptied. */
void process_folder_remove(const char *folder)
{
    for (int round = 0; round < REMOVE_ROUNDS && rmdir(folder) && errno == ENOTEMPTY; round++) {
        DIR *d = opendir(folder);
        for (const struct dirent *e; d && (e = readdir(d));)
            unlinkat(dirfd(d), e->d_name, 0);
        if (d)
            closedir(d);
    }
}

/* ---- files ---- */

const char *process_path(const char *path, struct arena *arena)
{
    char *here = *path == '/' ? NULL : getcwd(NULL, 0);
    const char *whole = here ? arena_printf(arena, "%s/%s", here, path) : path;
    free(here);
    return whole;
}

bool process_has_taken(const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" PROCESS_TAKEN, folder);
    return access(path, F_OK) == 0;
}

/* Names of files that report a loss have a word behind the process: PROCESS-TIME.TIME has none. */
static int is_of_process(const struct dirent *e)
{
    const char *end = strrchr(e->d_name, '.');
    return end && strchr(e->d_name, '-') && strcmp(end, ".lost") != 0;
}

static int is_lost(const struct dirent *e)
{
    const char *end = strrchr(e->d_name, '.');
    return end && strcmp(end, ".lost") == 0;
}

static int by_time(const struct dirent **a, const struct dirent **b)
{
    double x = strtod(strchr((*a)->d_name, '-') + 1, NULL), y = strtod(strchr((*b)->d_name, '-') + 1, NULL);
    return x < y ? -1 : x > y;
}

unsigned process_files_each(const char *folder, void (*each)(void *data, const char *path), void *data)
{
    struct dirent **list;
    int n = scandir(folder, &list, is_of_process, by_time);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        each(data, path);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    return n > 0 ? (unsigned)n : 0;
}

bool process_files_lost(const char *folder)
{
    struct dirent **list;
    int n = scandir(folder, &list, is_lost, NULL);
    for (int i = 0; i < n; i++)
        free(list[i]);
    if (n >= 0)
        free(list);
    return n > 0;
}

/* ---- processes that go on ---- */

struct process_state {
    const char *program; /* in the arena, or NULL */
    pid_t pid;           /* 0: not known */
    bool ended;          /* the process ended by itself and wrote everything */
};

/* Reads the first and the last line of a process's file; other lines may be long. */
static struct process_state read_state(const char *path, struct arena *arena)
{
    struct process_state p = {0};
    char tail[128], *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "re");
    json_t *first = f && getline(&line, &room, f) > 0 ? json_loads(line, 0, NULL) : NULL;
    const char *program = json_string_value(json_object_get(first, "program"));
    if (program) {
        p.program = arena_strdup(arena, program);
        p.pid = (pid_t)json_integer_value(json_object_get(first, "process"));
    }
    if (f && (fseek(f, -(long)sizeof tail + 1, SEEK_END) == 0 || fseek(f, 0, SEEK_SET) == 0)) {
        size_t n = fread(tail, 1, sizeof tail - 1, f);
        tail[n] = 0;
        p.ended = n && tail[n - 1] == '\n' && strstr(tail, "\n{\"ended\": true");
    }
    if (f)
        fclose(f);
    json_decref(first);
    free(line);
    return p;
}

struct survivor {
    struct arena *arena;
    const char *text;
};

static void find_survivor(void *data, const char *path)
{
    struct survivor *s = data;
    struct process_state p = read_state(path, s->arena);
    if (p.ended || p.pid <= 0 || (kill(p.pid, 0) && errno == ESRCH))
        return;
    s->text = arena_printf(s->arena, "process %d, `%s`", (int)p.pid, p.program ? p.program : "?");
}

const char *process_files_await(const char *folder, struct arena *arena)
{
    struct survivor s = {arena, NULL};
    for (int round = 0; round < WAIT_ROUNDS; round++) {
        /* orphaned children of the program become children of this process */
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        s.text = NULL;
        process_files_each(folder, find_survivor, &s);
        if (!s.text)
            return NULL;
        nanosleep(&(struct timespec){0, WAIT_ROUND_MS * 1000000L}, NULL);
    }
    return s.text;
}

int process_files_run(struct session *s, struct process_run *r)
{
    struct supervision v = {.file = r->file,
                            .words = (char *const *)s->words,
                            .seconds = s->o.run_timeout,
                            .in_child = r->in_child,
                            .tick = r->tick,
                            .data = r->data};
    r->folder = process_folder_make(s, r->what);
    if (!r->folder)
        return 1;
    int status = r->begin ? r->begin(r->data) : 0;
    status = status ? status : supervise(s, &v, &r->ending);
    if (!status)
        r->survivor = process_files_await(r->folder, &s->arena);
    process_files_each(r->folder, r->each, r->data);
    r->lost = process_files_lost(r->folder);
    process_folder_remove(r->folder);
    return status;
}

const char *process_ending_text(const char *program, int signal, const char *when, const char *survivor,
                                struct arena *arena)
{
    static const char until[] = "the report has what is known so far";
    const char *name = sigabbrev_np(signal), *text = "";
    if (signal)
        text = arena_printf(arena, "heddle: `%s` was ended by SIG%s%s; %s\n", program, name ? name : "?", when, until);
    if (survivor)
        text = arena_printf(arena, "%sheddle: %s did not end with the program; the report has what is known of it\n",
                            text, survivor);
    return text;
}

const char *process_nothing_text(const char *program, bool lost, bool is_cut, struct arena *arena)
{
    return lost     ? arena_printf(arena, "not done: what `%s` did could not be recorded", program)
           : is_cut ? arena_printf(arena, "not done: `%s` had not used CUDA yet", program)
                    : NULL;
}
