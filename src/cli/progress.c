/* See progress.h. A thread wakes up four times a second, and rewrites one line on a terminal, or
 * writes one a minute into a log. */
#include "cli/progress.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { DELAY_MS = 2000, PERIOD_MS = 250, LOG_SECONDS = 60 };

void progress_init(struct progress *p)
{
    pthread_condattr_t monotonic;
    *p = (struct progress){0};
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void put_blocks(const hd_progress *launches, double seconds)
{
    double done = (double)launches->blocks_done, all = (double)launches->blocks;
    fprintf(stderr, "%llu of %llu blocks (%.0f%%), ", (unsigned long long)launches->blocks_done,
            (unsigned long long)launches->blocks, 100.0 * done / all);
    if (done > 0 && done < all)
        fprintf(stderr, "about %.0f s left, ", seconds * (all - done) / done);
}

static void show(struct progress *p)
{
    struct timespec now;
    hd_progress launches = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - p->since.tv_sec) + 1e-9 * (double)(now.tv_nsec - p->since.tv_nsec);
    if (1e3 * seconds < DELAY_MS || (!p->terminal && seconds < LOG_SECONDS * (p->lines + 1)))
        return;
    if (p->machine)
        hd_machine_get_progress(p->machine, &launches);
    fprintf(stderr, "%s%s: ", p->terminal ? "\r" : "heddle: ", p->what);
    if (launches.blocks)
        put_blocks(&launches, seconds);
    fprintf(stderr, "%.0f s%s", seconds, p->terminal ? "\033[K" : "\n");
    fflush(stderr);
    p->shown = p->terminal;
    p->lines++;
}

static void clear(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

static void *progress_main(void *data)
{
    struct progress *p = data;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += PERIOD_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        if (pthread_cond_timedwait(&p->wake, &p->lock, &until) == ETIMEDOUT)
            show(p);
    }
    clear(p);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void progress_phase(struct progress *p, const char *what, hd_machine *machine)
{
    pthread_mutex_lock(&p->lock);
    p->terminal = isatty(STDERR_FILENO);
    p->lines = 0;
    p->what = what;
    p->machine = machine;
    clock_gettime(CLOCK_MONOTONIC, &p->since);
    pthread_mutex_unlock(&p->lock);
    if (!p->running)
        p->running = pthread_create(&p->thread, NULL, progress_main, p) == 0;
}

void progress_clear(struct progress *p)
{
    pthread_mutex_lock(&p->lock);
    clear(p);
    pthread_mutex_unlock(&p->lock);
}

void progress_end(struct progress *p)
{
    if (!p->running)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    p->running = p->stop = false;
}
