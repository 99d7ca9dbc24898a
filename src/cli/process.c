/* Programs that heddle cc runs: see cc.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cc.h"

extern char **environ;

static int spawn(struct process *p, char *const *argv, int in)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&files, in, 0);
    else
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, p->err, 2);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawnp(&p->pid, argv[0], &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

int process_start(struct process *p, char *const *argv, bool with_input)
{
    int ends[2] = {-1, -1};
    *p = (struct process){.pid = -1, .in = -1, .err = memfd_create("stderr", MFD_CLOEXEC)};
    int error = p->err < 0 || (with_input && pipe2(ends, O_CLOEXEC) != 0) ? errno : spawn(p, argv, ends[0]);
    if (ends[0] >= 0)
        close(ends[0]);
    p->in = ends[1];
    if (error) {
        if (p->err >= 0)
            close(p->err);
        if (p->in >= 0)
            close(p->in);
    }
    return error;
}

int process_finish(struct process *p, struct arena *arena, const char **err)
{
    int status = 0;
    if (p->in >= 0)
        close(p->in);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    off_t n = lseek(p->err, 0, SEEK_END);
    char *text = arena_alloc(arena, (size_t)(n > 0 ? n : 0) + 1);
    ssize_t got = n > 0 ? pread(p->err, text, (size_t)n, 0) : 0;
    text[got > 0 ? got : 0] = 0;
    close(p->err);
    *err = text;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
