/* See logger.h. */
#include "libraries/common/logger.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct logger *library_logger;

static unsigned mask_of(int level)
{
    return (1u << level) - 1;
}

static const char *setting(const struct logger *l, const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "%s_LOG_%s", l->prefix, what);
    return getenv(name);
}

/* Call with the lock held. */
static void start(struct logger *l)
{
    const char *level = setting(l, "LEVEL"), *mask = setting(l, "MASK"), *path = setting(l, "FILE");
    if (l->started)
        return;
    l->started = true;
    if (level && atoi(level) >= 0 && atoi(level) < LOG_LEVELS)
        l->mask = mask_of(atoi(level));
    if (mask)
        l->mask = (unsigned)atoi(mask);
    if (path && l->mask) {
        char whole[4096]; /* %i is the process number */
        const char *mark = strstr(path, "%i");
        if (mark)
            snprintf(whole, sizeof whole, "%.*s%d%s", (int)(mark - path), path, (int)getpid(), mark + 2);
        else
            snprintf(whole, sizeof whole, "%s", path);
        l->file = fopen(whole, "w");
    }
}

/* Begins to change, or to read, settings that other threads may change. */
static void enter(struct logger *l)
{
    pthread_mutex_lock(&l->lock);
    start(l);
}

static void leave(struct logger *l)
{
    pthread_mutex_unlock(&l->lock);
}

bool logger_takes(struct logger *l, enum log_level level)
{
    if (!__atomic_load_n(&l->started, __ATOMIC_ACQUIRE)) {
        enter(l);
        leave(l);
    }
    return l->mask >> (level - 1) & 1;
}

void logger_say(struct logger *l, enum log_level level, const char *function, const char *format, ...)
{
    static const char *const names[] = {"Off", "Error", "Trace", "Hint", "Info", "Api"};
    char message[2048], when[32];
    time_t now = time(NULL);
    struct tm local;
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &local));
    enter(l);
    logger_callback *callback = l->callback;
    leave(l);
    if (callback)
        callback((int)level, function, message);
    enter(l);
    FILE *file = l->file ? l->file : stdout;
    fprintf(file, "[%s][%s][%d][%s][%s] %s\n", when, l->library, (int)getpid(), names[level], function, message);
    fflush(file);
    leave(l);
}

bool logger_set_level(struct logger *l, int level)
{
    if (level < LOG_OFF || level >= LOG_LEVELS)
        return false;
    logger_set_mask(l, (int)mask_of(level));
    return true;
}

void logger_set_mask(struct logger *l, int mask)
{
    enter(l);
    if (!l->disabled)
        l->mask = (unsigned)mask;
    leave(l);
}

void logger_set_callback(struct logger *l, logger_callback *callback)
{
    enter(l);
    l->callback = callback;
    leave(l);
}

void logger_set_file(struct logger *l, FILE *file)
{
    enter(l);
    l->file = file;
    leave(l);
}

bool logger_open_file(struct logger *l, const char *path)
{
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file)
        logger_set_file(l, file);
    return file;
}

void logger_disable(struct logger *l)
{
    enter(l);
    l->disabled = true;
    l->mask = 0;
    leave(l);
}
