/* Starts what heddle debug stops in, the program or the kernel of PTX files, in another process;
 * see debug_front.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "api/debug.h"
#include "cli/debug_front.h"
#include "cli/launch.h"
#include "cli/program.h"
#include "cli/sandbox.h"
#include "cuda/process/check_options.h"
#include "exec/schedule.h"
#include "files/places.h"

enum { DEFAULT_SNAPSHOTS = 1 << 30 };

static struct debug_settings settings_of(const struct options *o)
{
    return (struct debug_settings){.policy = o->debug_policy ? o->debug_policy : "serial",
                                   .snapshot_bytes = o->snapshots ? o->snapshots : DEFAULT_SNAPSHOTS};
}

/* Connects this process with a new one. Returns 0 in the new process, its number in this one, -1
 * after an error message. */
static pid_t part(struct front *f, int *end)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        cli_failure(f->s, "cannot connect to another process: %s", strerror(errno));
        return -1;
    }
    fflush(stdout);
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        cli_failure(f->s, "cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        signal(SIGINT, SIG_IGN); /* only the process that talks with the user takes Ctrl-C */
        signal(SIGPIPE, SIG_DFL);
        close(ends[0]);
        for (int i = 0; i < 2; i++)
            if (f->output[i] >= 0)
                dup2(f->output[i], STDOUT_FILENO + i);
        for (int i = 0; i < 2; i++)
            if (f->private[i] > STDERR_FILENO)
                close(f->private[i]);
        bool reads_commands = !f->on_terminal && !f->s->o.debug_batch;
        if (reads_commands || f->input_of_it) { /* the program must not read the debugger's commands */
            int in = open(f->input_of_it ? f->input_of_it : "/dev/null", O_RDONLY | O_CLOEXEC);
            dup2(in, STDIN_FILENO);
        }
        *end = ends[1];
        return 0;
    }
    close(ends[1]);
    f->link = pid > 0 ? ends[0] : -1;
    if (pid < 0)
        close(ends[0]);
    f->pid = pid;
    return pid;
}

/* ---- a kernel of PTX files ---- */

static int start_kernel(struct front *f)
{
    int end;
    pid_t pid = part(f, &end);
    if (pid)
        return pid < 0;
    struct debug_settings settings = settings_of(&f->s->o);
    const char *libraries = place_of_libraries(&f->s->arena);
    settings.always = true;
    settings.dwarf_library = libraries ? arena_printf(&f->s->arena, "%s/libheddle-dwarf.so", libraries) : NULL;
    int status = launch_debugged(f->s, api_debugger_create(end, &settings));
    fflush(stdout);
    _exit(status);
}

/* Returns what is wrong with the policy, or NULL: a launch that can go back must run the same way
   each time. */
static const char *wrong_policy(struct session *s)
{
    const char *policy = s->o.debug_policy, *file = policy ? schedule_replayed_file(policy) : NULL;
    struct timespec now;
    char *end = "";
    if (!policy || strcmp(policy, "serial") == 0)
        return NULL;
    if (strcmp(policy, "random") == 0) {
        clock_gettime(CLOCK_REALTIME, &now);
        s->o.debug_policy = arena_printf(&s->arena, "random:%ld", now.tv_nsec % 1000000);
        return NULL;
    }
    if (strncmp(policy, "random:", 7) == 0 && policy[7]) {
        strtoull(policy + 7, &end, 0);
        return *end ? "the seed of random:SEED is a number" : NULL;
    }
    if (file)
        return access(file, R_OK) ? arena_printf(&s->arena, "cannot read %s: %s", file, strerror(errno)) : NULL;
    return "a policy is serial, random:SEED, random or replay:FILE";
}

/* ---- a program ---- */

/* Asks the process to check its launches; it keeps its findings to itself. */
static bool ask_for_checks(void)
{
    char *text = check_options_text(&(struct check_options){0});
    bool set = text && setenv("HEDDLE_CHECK", text, 1) == 0;
    free(text);
    return set;
}

/* Returns a pipe with one byte, which the first process of the program takes (cuda/watch/debug.c);
   -1 if there is none. */
static int byte_for_one(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    bool written = write(ends[1], "", 1) == 1;
    close(ends[1]);
    return written ? ends[0] : -1;
}

static int start_program(struct front *f)
{
    int end;
    pid_t pid = part(f, &end);
    char text[PATH_MAX + 256];
    if (pid)
        return pid < 0;
    const struct debug_settings settings = settings_of(&f->s->o);
    snprintf(text, sizeof text, "%d %d %llu %d %s", end, byte_for_one(), (unsigned long long)settings.snapshot_bytes,
             f->s->o.check || f->s->o.debug_on_fault, settings.policy);
    if (f->s->o.check && !ask_for_checks())
        _exit(PROGRAM_CANNOT_RUN);
    fcntl(end, F_SETFD, 0);
    if (setenv("HEDDLE_DEBUG", text, 1) == 0 && (!f->s->o.confined || !confine_program(f->s, "/tmp")))
        execv(f->data, (char *const *)f->s->words);
    cli_failure(f->s, "cannot run `%s`: %s", (const char *)f->data, strerror(errno));
    _exit(PROGRAM_CANNOT_RUN);
}

/* ---- fronts ---- */

int front_open(struct front *f, struct session *s, bool is_program)
{
    const char *wrong = wrong_policy(s);
    int status = 0;
    *f = (struct front){.s = s,
                        .start = is_program ? start_program : start_kernel,
                        .await = front_wait,
                        .output = {-1, -1},
                        .private = {-1, -1},
                        .is_program = is_program,
                        .link = -1};
    if (wrong)
        return usage_error(s, "--policy: %s", wrong);
    if (!s->n_words)
        return usage_error(s, "heddle debug needs a program or a PTX file; `heddle debug --help` explains");
    if (is_program && !(f->data = (void *)program_prepare(s, NULL, &status)))
        return status;
    f->points = json_array();
    f->displays = json_array();
    f->printed = json_array();
    f->variables = json_object();
    f->list_size = 10;
    f->commands = json_object();
    return 0;
}

void front_close(struct front *f)
{
    front_end(f);
    json_decref(f->points);
    json_decref(f->displays);
    json_decref(f->printed);
    json_decref(f->variables);
    json_decref(f->commands);
    json_decref(f->stopped_at);
    json_decref(f->place);
    arena_free(&f->last_arena);
    arena_free(&f->arena);
}
