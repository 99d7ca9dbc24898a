/* See file.h. */
#include "cuda/process/file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/above_standard.h"
#include "cuda/api.h"

/* ---- writing ---- */

static char *new_path(const char *folder)
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

/* Between these two, a file's size limit is an error of write() and does not end the program. errno
 * is kept. */
static void hold_signal(sigset_t *before)
{
    sigset_t set = too_large();
    pthread_sigmask(SIG_BLOCK, &set, before);
}

static void drop_signal(const sigset_t *before)
{
    int error = errno;
    sigset_t set = too_large();
    sigtimedwait(&set, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = error;
}

/* Reports that the file could not be written; errno says why. */
static void tell_lost(struct process_file *x)
{
    char lost[PATH_MAX];
    FILE *f;
    /* ENOENT: the command has ended, and nobody reads the file. */
    bool again = x->lost || errno == ENOENT;
    x->lost = true;
    if (again)
        return;
    say("%s cannot be written to %.*s: %s", x->what, (int)(strrchr(x->path, '/') - x->path), x->path, strerror(errno));
    snprintf(lost, sizeof lost, "%s.lost", x->path);
    if ((f = fopen(lost, "we")))
        fclose(f);
}

static bool write_all(struct process_file *f, const char *text, size_t n)
{
    while (n) {
        ssize_t done = write(f->fd, text, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        f->cut = text[done - 1] != '\n';
        text += done;
        n -= (size_t)done;
    }
    return true;
}

bool process_file_append(struct process_file *f, const char *head, const char *text, const char *tail)
{
    int error = errno;
    sigset_t before;
    if (f->fd < 0)
        return false;
    hold_signal(&before);
    bool ok = text && (!f->cut || write_all(f, "\n", 1)) && write_all(f, head, strlen(head)) &&
              write_all(f, text, strlen(text)) && write_all(f, tail, strlen(tail));
    if (!ok) {
        errno = text ? errno : ENOMEM;
        tell_lost(f);
    }
    drop_signal(&before);
    errno = error;
    return ok;
}

/* The process's arguments as JSON, separated by blanks, which identify one of many tests; NULL if
 * they are not known. */
static char *command_text(void)
{
    char words[512];
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t n = file ? fread(words, 1, sizeof words - 1, file) : 0;
    if (file)
        fclose(file);
    while (n && !words[n - 1])
        n--;
    for (size_t i = 0; i < n; i++)
        words[i] = (unsigned char)words[i] < ' ' ? ' ' : words[i];
    json_t *command = n ? json_stringn(words, n) : NULL;
    char *text = command ? json_dumps(command, JSON_ENCODE_ANY) : NULL;
    json_decref(command);
    return text;
}

bool process_file_open(struct process_file *f, const char *folder, const char *what)
{
    char head[1600], *command = command_text();
    json_t *name = json_string(program_invocation_short_name), *program = name ? name : json_string("?");
    char *text = json_dumps(program, JSON_ENCODE_ANY);
    json_decref(program);
    *f = (struct process_file){.what = what, .path = new_path(folder), .fd = -1};
    if (f->path && (f->fd = above_standard(open(f->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600))) < 0)
        tell_lost(f);
    bool fits = command && strlen(command) < sizeof head - 64;
    snprintf(head, sizeof head, "{\"process\": %d, %s%s%s\"program\": ", (int)getpid(), fits ? "\"command\": " : "",
             fits ? command : "", fits ? ", " : "");
    free(command);
    bool ok = process_file_append(f, head, text, "}\n");
    free(text);
    return ok;
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

bool process_takes(const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" PROCESS_TAKEN, folder);
    int fd = open(path, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}
