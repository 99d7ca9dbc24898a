/* See file.h. */
#include "cuda/process/file.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda/api.h"

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

/* ---- the thread that looks ---- */

static const long NANOSECONDS_BETWEEN = 250000000;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t stop;
    pthread_t thread;
    bool runs, stopping;
    void (*look)(void);
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *watch_main(void *data)
{
    (void)data;
    pthread_mutex_lock(&watch.lock);
    while (!watch.stopping) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += NANOSECONDS_BETWEEN;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&watch.stop, &watch.lock, &until) == ETIMEDOUT && !watch.stopping) {
            pthread_mutex_unlock(&watch.lock);
            watch.look();
            pthread_mutex_lock(&watch.lock);
        }
    }
    pthread_mutex_unlock(&watch.lock);
    return NULL;
}

void process_file_watch(void (*look)(void))
{
    sigset_t all, before;
    pthread_condattr_t monotonic;
    if (watch.runs)
        return;
    watch.look = look;
    watch.stopping = false;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch.stop, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watch.runs = pthread_create(&watch.thread, NULL, watch_main, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void process_file_unwatch(void)
{
    if (!watch.runs)
        return;
    pthread_mutex_lock(&watch.lock);
    watch.stopping = true;
    pthread_cond_signal(&watch.stop);
    pthread_mutex_unlock(&watch.lock);
    pthread_join(watch.thread, NULL);
    watch.runs = false;
}
