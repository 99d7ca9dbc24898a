/* See process_file.h. */
#include "cuda/process_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda/state.h"

char *process_file_path(const char *folder)
{
    struct timespec t;
    char *path;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return asprintf(&path, "%s/%d-%lld.%09ld", folder, (int)getpid(), (long long)t.tv_sec, t.tv_nsec) < 0 ? NULL : path;
}

static sigset_t too_large(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

void process_file_begin(sigset_t *before)
{
    sigset_t set = too_large();
    pthread_sigmask(SIG_BLOCK, &set, before);
}

void process_file_end(const sigset_t *before)
{
    int error = errno;
    sigset_t set = too_large();
    sigtimedwait(&set, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = error;
}

void process_file_lost(const char *path, const char *what)
{
    char lost[PATH_MAX];
    FILE *f;
    if (errno == ENOENT) /* the command has gone: nobody reads it */
        return;
    say("%s cannot be written to %.*s: %s", what, (int)(strrchr(path, '/') - path), path, strerror(errno));
    snprintf(lost, sizeof lost, "%s.lost", path);
    if ((f = fopen(lost, "we")))
        fclose(f);
}
