/* Programs that heddle cc runs: see cc.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cc/cc.h"

extern char **environ;

/* ---- signals ---- */

enum { MOST_RUNNING = 2 };
static volatile sig_atomic_t stopped_by;
static volatile pid_t running[MOST_RUNNING];

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};

/* The programs end by the signal, too, and what was made on the way is
 * removed as after any error. */
static void stop(int signal)
{
    int error = errno;
    stopped_by = signal;
    for (int i = 0; i < MOST_RUNNING; i++)
        if (running[i] > 0)
            kill(running[i], signal);
    errno = error;
}

static sigset_t stopping_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof stopping / sizeof stopping[0]; i++)
        sigaddset(&set, stopping[i]);
    return set;
}

void process_catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop}, before;
    action.sa_mask = stopping_set();
    for (size_t i = 0; i < sizeof stopping / sizeof stopping[0]; i++)
        if (sigaction(stopping[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(stopping[i], &action, NULL);
}

void process_end_by_signal(void)
{
    if (!stopped_by)
        return;
    signal(stopped_by, SIG_DFL);
    raise(stopped_by);
}

static void note(pid_t from, pid_t to)
{
    for (int i = 0; i < MOST_RUNNING; i++)
        if (running[i] == from) {
            running[i] = to;
            return;
        }
}

/* ---- running ---- */

static int spawn(struct process *p, char *const *argv, int in, const sigset_t *mask)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults = stopping_set();
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&files, in, 0);
    else
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (p->out >= 0)
        posix_spawn_file_actions_adddup2(&files, p->out, 1);
    posix_spawn_file_actions_adddup2(&files, p->err, 2);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawnp(&p->pid, argv[0], &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Either a signal comes before, and nothing is started, or it finds the program. */
static int spawn_unless_stopped(struct process *p, char *const *argv, int in)
{
    sigset_t set = stopping_set(), before;
    sigprocmask(SIG_BLOCK, &set, &before);
    int error = stopped_by ? EINTR : spawn(p, argv, in, &before);
    if (!error)
        note(0, p->pid);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void close_all(struct process *p)
{
    int *files[] = {&p->err, &p->out, &p->in};
    for (int i = 0; i < 3; i++) {
        if (*files[i] >= 0)
            close(*files[i]);
        *files[i] = -1;
    }
}

int process_start(struct process *p, char *const *argv, unsigned flags)
{
    int ends[2] = {-1, -1}, error = 0;
    *p = (struct process){.pid = -1, .in = -1, .out = -1, .err = memfd_create("stderr", MFD_CLOEXEC)};
    if (p->err < 0 || (flags & PROCESS_OUTPUT && (p->out = memfd_create("stdout", MFD_CLOEXEC)) < 0) ||
        (flags & PROCESS_INPUT && pipe2(ends, O_CLOEXEC) != 0))
        error = errno;
    p->in = ends[1];
    if (!error)
        error = spawn_unless_stopped(p, argv, ends[0]);
    if (ends[0] >= 0)
        close(ends[0]);
    if (error)
        close_all(p);
    return error;
}

/* All that is in a file; it ends with a zero. */
static const char *text_of(int file, struct arena *arena)
{
    off_t n = file >= 0 ? lseek(file, 0, SEEK_END) : 0;
    char *text = arena_alloc(arena, (size_t)(n > 0 ? n : 0) + 1);
    ssize_t got = n > 0 ? pread(file, text, (size_t)n, 0) : 0;
    text[got > 0 ? got : 0] = 0;
    return text;
}

int process_finish(struct process *p, struct arena *arena, const char **out, const char **err)
{
    int status = 0;
    if (p->in >= 0)
        close(p->in);
    p->in = -1;
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    note(p->pid, 0);
    if (out)
        *out = text_of(p->out, arena);
    *err = text_of(p->err, arena);
    close_all(p);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
