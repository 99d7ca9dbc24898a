/* See tails.h. */
#include "cuda/process/tails.h"

#include "cuda/api.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Templates of lambdas have names of thousands of characters. */
enum { MOST_KERNELS = 64, MOST_OF_NAME = 200 };

static struct {
    pthread_mutex_t lock;
    char *kernels[MOST_KERNELS];
    unsigned n, more;
} used = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool tails_are_open(void)
{
    const char *exact = secure_getenv("HEDDLE_EXACT_BOUNDS");
    return !secure_getenv("HEDDLE_CHECK") && !(exact && *exact && strcmp(exact, "0") != 0);
}

static char *shortened(const char *name)
{
    char *text = NULL;
    int n = asprintf(&text, "%.*s%s", MOST_OF_NAME, name, strlen(name) > MOST_OF_NAME ? "..." : "");
    return n < 0 ? NULL : text;
}

static bool is_noted(const char *kernel)
{
    unsigned i = 0;
    while (i < used.n && strcmp(used.kernels[i], kernel) != 0)
        i++;
    return i < used.n;
}

void tails_used(void *data, const char *kernel)
{
    (void)data;
    pthread_mutex_lock(&used.lock);
    char *name = shortened(kernel);
    if (name && !is_noted(name)) {
        if (used.n < MOST_KERNELS) {
            used.kernels[used.n++] = name;
            name = NULL;
        } else {
            used.more++;
        }
    }
    free(name);
    pthread_mutex_unlock(&used.lock);
}

void tails_after_fork(void)
{
    pthread_mutex_init(&used.lock, NULL);
    used.n = used.more = 0;
}

/* "kernel `a`"; "kernels `a`, `b` and `c`" */
__attribute__((destructor)) static void tell(void)
{
    if (!used.n)
        return;
    fprintf(stderr, "heddle: %s: kernel%s ", program_invocation_short_name, used.n + used.more > 1 ? "s" : "");
    for (unsigned i = 0; i < used.n; i++) {
        const char *before = i == 0 ? "" : i + 1 == used.n && !used.more ? " and " : ", ";
        fprintf(stderr, "%s`%s`", before, used.kernels[i]);
    }
    if (used.more)
        fputs(" and others", stderr);
    fputs(" accessed memory just past the end of an allocation, which a GPU lets pass; `heddle check` shows where\n",
          stderr);
}
