/* cuBLAS's logger ("cuBLAS Library", 2.4.18 to 2.4.20): some lines for each call, to stdout,
 * stderr, a file and a callback, as set by cublasLoggerConfigure(), or by CUBLAS_LOGINFO_DBG and
 * CUBLAS_LOGDEST_DBG in the environment.
 */
#include "libraries/cublas/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    bool started, to_stdout, to_stderr;
    _Atomic bool on;
    FILE *file;
    cublasLogCallback callback;
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Call with the lock held. Returns false if the file cannot be written. */
static bool configure(bool on, bool to_stdout, bool to_stderr, const char *path)
{
    FILE *file = path ? fopen(path, "w") : NULL;
    if (path && !file)
        return false;
    if (logger.file)
        fclose(logger.file);
    logger.file = file;
    logger.to_stdout = to_stdout;
    logger.to_stderr = to_stderr;
    logger.on = on;
    return true;
}

static void enter(void)
{
    pthread_mutex_lock(&logger.lock);
    if (logger.started)
        return;
    __atomic_store_n(&logger.started, true, __ATOMIC_RELEASE);
    const char *on = getenv("CUBLAS_LOGINFO_DBG"), *to = getenv("CUBLAS_LOGDEST_DBG");
    bool is_stdout = to && !strcmp(to, "stdout"), is_stderr = to && !strcmp(to, "stderr");
    if (on && atoi(on))
        configure(true, is_stdout, is_stderr, to && !is_stdout && !is_stderr ? to : NULL);
}

static void leave(void)
{
    pthread_mutex_unlock(&logger.lock);
}

static void write_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void write_line(const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    FILE *const files[] = {logger.to_stdout ? stdout : NULL, logger.to_stderr ? stderr : NULL, logger.file};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i]) {
            fputs(line, files[i]);
            fflush(files[i]);
        }
    if (logger.callback)
        logger.callback(line);
}

/* Logs the arguments that the routine has, by its description. */
static void say_arguments(const struct call *c)
{
    static const char *const operands[OPERANDS] = {"first", "second", "third", "fourth", "fifth"};
    const unsigned u = c->routine->uses;
    const struct {
        unsigned use;
        const char *name;
        int64_t value;
    } sizes[] = {{USES_TA, "transa", c->ta},    {USES_TB, "transb", c->tb},   {USES_UPLO, "uplo", c->uplo},
                 {USES_SIDE, "side", c->side},  {USES_DIAG, "diag", c->diag}, {USES_M, "m", c->m},
                 {USES_N | LEVEL_1, "n", c->n}, {USES_K, "k", c->k},          {USES_BAND, "kl", c->kl},
                 {USES_BAND, "ku", c->ku}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (u & sizes[i].use)
            write_line("i!  %s: val=%lld\n", sizes[i].name, (long long)sizes[i].value);
    if (u & USES_ALPHA)
        write_line("i!  alpha: val=POINTER (IN HEX:%p)\n", c->alpha);
    if (u & USES_BETA)
        write_line("i!  beta: val=POINTER (IN HEX:%p)\n", c->beta);
    for (int i = 0; i < OPERANDS; i++)
        if (c->op[i].at)
            write_line("i!  %s operand: val=POINTER (IN HEX:%p), leading dimension or increment %lld\n", operands[i],
                       c->op[i].at, (long long)c->op[i].ld);
    if (c->batched)
        write_line("i!  batchCount: val=%lld\n", (long long)c->batch);
}

void log_call(cublasHandle_t handle, const char *function, const struct call *c)
{
    if (__atomic_load_n(&logger.started, __ATOMIC_ACQUIRE) && !logger.on)
        return;
    enter();
    if (logger.on) {
        char when[32];
        time_t now = time(NULL);
        struct tm local;
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", localtime_r(&now, &local));
        write_line("I! cuBLAS function %s called:\n", function);
        if (c)
            say_arguments(c);
        write_line("i! Time: %s\n", when);
        write_line("i!Process=%d; Thread=%lu; Handle=POINTER (IN HEX:%p)\n", (int)getpid(),
                   (unsigned long)pthread_self(), (void *)handle);
    }
    leave();
}

API cublasLoggerConfigure(int logIsOn, int logToStdOut, int logToStdErr, const char *logFileName)
{
    enter();
    bool good = configure(logIsOn, logToStdOut, logToStdErr, logFileName);
    leave();
    return good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

API cublasSetLoggerCallback(cublasLogCallback userCallback)
{
    enter();
    logger.callback = userCallback;
    leave();
    return CUBLAS_STATUS_SUCCESS;
}

API cublasGetLoggerCallback(cublasLogCallback *userCallback)
{
    if (!userCallback)
        return CUBLAS_STATUS_INVALID_VALUE;
    enter();
    *userCallback = logger.callback;
    leave();
    return CUBLAS_STATUS_SUCCESS;
}
