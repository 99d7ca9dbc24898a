/* See library_work.h. */
#include "cuda/state/library_work.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/sparse.h"
#include "cuda/library.h"
#include "cuda/state/devices.h"
#include "cuda/state/memory_kind.h"
#include "cuda/watch/check.h"
#include "cuda/watch/watch.h"

struct library_work {
    _Atomic unsigned refs;
    hd_result (*run)(void *args);
    hd_result (*step)(void *args, void **state);
    void (*drop)(void *args);
    hd_used *(*find_used)(const void *args, size_t *count);
    const void *beta;
    size_t beta_bytes;
    /* Ranges that it decides on; in `work`, they are only memory that has to be there. */
    const hd_used *by_beta;
    size_t by_beta_count;
    hd_work work;
    char *args;
    max_align_t rest[]; /* ranges, followed by those that beta decides on and the arguments */
};

static size_t aligned(size_t bytes)
{
    return (bytes + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
}

static double bytes_of(const struct library_task *t)
{
    double bytes = t->bytes;
    for (size_t i = 0; i < t->used_count && t->bytes == 0; i++)
        bytes += library_moved((double)t->used[i].width * (double)t->used[i].height, t->used[i].use);
    return bytes;
}

bool library_extent(const hd_used *u, size_t *bytes)
{
    return !__builtin_mul_overflow(u->height - 1, u->pitch, bytes) && !__builtin_add_overflow(*bytes, u->width, bytes);
}

/* The machine itself has only tested its own memory. */
static bool is_usable(const hd_used *u)
{
    size_t bytes;
    return (device_count() == 1 && is_of_machines(u->at)) ||
           (library_extent(u, &bytes) && memory_is_usable(u->at, bytes));
}

/* Is all memory that the call uses usable? If not, the call is not made: it would end the process
 * where a kernel ends with a fault. */
static bool may_run(const struct library_work *w)
{
    for (size_t i = 0; i < w->work.used_count; i++) {
        const hd_used *u = &w->work.used[i];
        if (!u->width || !u->height || is_usable(u))
            continue;
        if (!watch_is_on())
            say("%s %s memory at %p that kernels may not use: pass memory from cudaMalloc, cudaMallocManaged or "
                "cudaMallocHost",
                w->work.name,
                u->use & HD_WRITES ? "writes"
                : u->use           ? "reads"
                                   : "uses",
                u->at);
        return false;
    }
    return true;
}

static hd_result run(void *data)
{
    struct library_work *w = data;
    hd_result r = may_run(w) ? w->run(w->args) : HD_ERROR_ILLEGAL_ADDRESS;
    check_called();
    return r;
}

static hd_result step(void *data, void **state)
{
    struct library_work *w = data;
    hd_result r = *state || may_run(w) ? w->step(w->args, state) : HD_ERROR_ILLEGAL_ADDRESS;
    if (r != HD_ERROR_NOT_READY)
        check_called();
    return r;
}

static bool beta_is_zero(const struct library_work *w)
{
    return bytes_are_zero(device_view(w->beta), w->beta_bytes);
}

static hd_used *find_used(void *data, size_t *count)
{
    const struct library_work *w = data;
    size_t n = 0;
    *count = 0;
    if (!may_run(w))
        return NULL;
    hd_used *of_task = w->find_used ? w->find_used(w->args, &n) : NULL;
    hd_used *all = w->by_beta_count ? realloc(of_task, (n + w->by_beta_count) * sizeof *all) : of_task;
    *count = all ? n : 0;
    if (!all && w->by_beta_count)
        free(of_task);
    const unsigned kept = all && w->by_beta_count && beta_is_zero(w) ? HD_WRITES : HD_READS | HD_WRITES;
    for (size_t i = 0; all && i < w->by_beta_count; i++) {
        all[*count] = w->by_beta[i];
        all[(*count)++].use &= kept;
    }
    return all;
}

static void release(void *data)
{
    library_work_release(data);
}

/* Copies the ranges, and behind them those that beta decides on. */
static void copy_ranges(struct library_work *w, const struct library_task *t, hd_used *to)
{
    hd_used *by_beta = to + t->used_count;
    w->by_beta = by_beta;
    w->by_beta_count = 0;
    for (size_t i = 0; i < t->used_count; i++) {
        to[i] = t->used[i];
        if (to[i].use & LIBRARY_BY_BETA) {
            by_beta[w->by_beta_count++] = to[i];
            to[i].use = 0;
        }
    }
}

struct library_work *library_work_new(const struct library_task *t)
{
    size_t args = aligned(2 * t->used_count * sizeof *t->used);
    struct library_work *w = malloc(sizeof *w + args + t->arg_bytes);
    if (!w) {
        if (t->drop)
            t->drop((void *)t->args);
        return NULL;
    }
    char *rest = (char *)w->rest;
    atomic_init(&w->refs, 1);
    w->run = t->run;
    w->step = t->step;
    w->drop = t->drop;
    w->find_used = t->find_used;
    w->beta = t->beta;
    w->beta_bytes = t->beta_bytes;
    w->args = rest + args;
    copy_ranges(w, t, (hd_used *)rest);
    if (t->arg_bytes)
        memcpy(w->args, t->args, t->arg_bytes);
    w->work = (hd_work){.name = t->name,
                        .run = run,
                        .drop = release,
                        .data = w,
                        .used = (const hd_used *)rest,
                        .used_count = t->used_count,
                        .flops = t->flops,
                        .bytes = bytes_of(t),
                        .unit = t->unit,
                        .step = t->step ? step : NULL,
                        .find_used = t->find_used || w->by_beta_count ? find_used : NULL};
    return w;
}

struct library_work *library_work_hold(struct library_work *w)
{
    atomic_fetch_add(&w->refs, 1);
    return w;
}

void library_work_release(struct library_work *w)
{
    if (atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    if (w->drop)
        w->drop(w->args);
    free(w);
}

CUresult library_work_run(hd_stream *s, struct library_work *w, bool wait)
{
    library_work_hold(w);
    return from_hd(hd_stream_work(s, &w->work, wait ? HD_WAIT : HD_NO_WAIT));
}
