/* See library.h. */
#include "libraries/common/library.h"
#include "libraries/common/logger.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "library_interface.h"

struct handle_table library_handles = {.lock = PTHREAD_MUTEX_INITIALIZER};

void *library_add_handle(unsigned kind, void *record)
{
    void *handle = record ? handle_add(&library_handles, kind, record, NULL) : NULL;
    if (!handle)
        free(record);
    return handle;
}

void library_refuse(_Atomic bool *told, const char *what)
{
    if (!atomic_exchange(told, true))
        fprintf(stderr, "heddle: %s is not supported by Heddle: docs/LIBRARIES.md\n", what);
}

void library_failed(const char *call, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    heddle_library_failed(call, text);
    if (library_logger && logger_takes(library_logger, LOG_OF_ERROR))
        logger_say(library_logger, LOG_OF_ERROR, call, "%s", text);
}

static void after_fork(void)
{
    handle_after_fork(&library_handles);
    calls_after_fork();
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(NULL, NULL, after_fork);
    heddle_library_meet(HEDDLE_LIBRARY_INTERFACE);
}

bool library_add_use(hd_used **used, size_t *n, hd_used u)
{
    if ((*n & (*n - 1)) == 0) { /* full: n is a power of two */
        hd_used *grown = realloc(*used, (*n ? 2 * *n : 1) * sizeof *grown);
        if (!grown)
            return false;
        *used = grown;
    }
    (*used)[(*n)++] = u;
    return true;
}
