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

void library_no_handle(void)
{
    heddle_library_failed(NULL, "the handle was never created, or it was destroyed");
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

/* Columns with w to 2 w elements are a rectangle of w rows at the triangle's edge, and a
 * parallelogram of w elements along the diagonal. */
size_t library_triangle(hd_used ranges[TRIANGLE_RANGES], const void *at, bool lower, int64_t n, int64_t ld,
                        size_t element_bytes, unsigned use)
{
    const int64_t bytes = (int64_t)element_bytes;
    size_t told = 0;
    for (int64_t w = 1; w <= n; w *= 2) {
        const int64_t columns = (2 * w < n ? 2 * w : n) - w + 1, first = lower ? n - w - columns + 1 : w - 1;
        const char *column = (const char *)at + first * ld * bytes;
        const size_t width = (size_t)(w * bytes), height = (size_t)columns;
        ranges[told++] = library_uses(column + (lower ? n - w : 0) * bytes, width, height, (size_t)(ld * bytes), use);
        ranges[told++] =
            library_uses(column + (lower ? first : 0) * bytes, width, height, (size_t)((ld + 1) * bytes), use);
    }
    return told;
}
