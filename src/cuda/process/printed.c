/* See printed.h. */
#include "cuda/process/printed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };

static struct {
    pthread_mutex_t lock;
    char *text;
    size_t bytes;
} printed = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void write_out(const char *text, size_t bytes)
{
    fwrite(text, 1, bytes, stdout);
}

void print_flush(void)
{
    if (!__atomic_load_n(&printed.bytes, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&printed.lock);
    write_out(printed.text, printed.bytes);
    printed.bytes = 0;
    pthread_mutex_unlock(&printed.lock);
}

void print_keep(void *data, const char *text, size_t bytes)
{
    (void)data;
    pthread_mutex_lock(&printed.lock);
    if (!printed.text)
        printed.text = malloc(MOST_BYTES);
    if (!printed.text || printed.bytes + bytes > MOST_BYTES) {
        write_out(printed.text, printed.bytes);
        printed.bytes = 0;
    }
    if (!printed.text || bytes > MOST_BYTES) {
        write_out(text, bytes);
    } else {
        memcpy(printed.text + printed.bytes, text, bytes);
        printed.bytes += bytes;
    }
    pthread_mutex_unlock(&printed.lock);
}

void print_after_fork(void)
{
    pthread_mutex_init(&printed.lock, NULL);
    printed.bytes = 0;
}
