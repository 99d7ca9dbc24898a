/* See trace.h. Every turn of a warp is a slice; what lies between two turns is another, named after what was waited
 * for. So nothing has to be remembered from event to event.
 */
#include "trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/demangle.h"
#include "base/monotonic.h"
#include "exec/barrier.h"
#include "exec/hooks.h"
#include "exec/launch.h"
#include "exec/worker.h"
#include "trace/events.h"

enum { MAX_EVENTS = 4000000 };

struct tracer {
    struct hooks hooks;
    FILE *file;
    pthread_mutex_t lock;
    uint64_t events;
    double start;
};

static double now_us(const struct tracer *t, const struct block *b)
{
    if (b->launch->schedule)
        return 1e-3 * (double)b->worker->warp_instructions;
    return 1e6 * (seconds_now() - t->start);
}

/* One id a block of a launch: launches follow each other in the file. */
static struct trace_thread thread_of(const struct block *b, uint32_t warp)
{
    return (struct trace_thread){b->launch->number * 1000000 + b->index, warp};
}

static void put(struct tracer *t, char phase, const char *name, const struct block *b, uint32_t warp)
{
    if (t->events++ < MAX_EVENTS)
        trace_event(t->file, phase, thread_of(b, warp), name, now_us(t, b));
}

static void put_name(struct tracer *t, const struct block *b)
{
    struct arena scratch = {0};
    const char *name =
        arena_printf(&scratch, "%s, block (%u,%u,%u)", demangle(b->launch->kernel->func->symbol.name, &scratch),
                     b->ctaid[0], b->ctaid[1], b->ctaid[2]);
    if (t->events++ < MAX_EVENTS)
        trace_name_process(t->file, thread_of(b, 0).process, name);
    arena_free(&scratch);
}

/* What a warp does until its next turn. */
static void wait_name(const struct warp *w, char *name, size_t size)
{
    const struct wait *t = w->waits;
    if (w->state != WARP_WAITING || !t)
        snprintf(name, size, "ready");
    else if (t->op->kind == OP_BAR)
        snprintf(name, size, "%s", barrier_name(t->barrier));
    else
        snprintf(name, size, "mask 0x%08x", t->membermask);
}

static void on_schedule(void *data, const struct schedule_event *e)
{
    struct tracer *t = data;
    char name[32];
    pthread_mutex_lock(&t->lock);
    switch (e->kind) {
    case SCHEDULE_BLOCK_START: put_name(t, e->block); break;
    case SCHEDULE_BLOCK_END: break;
    case SCHEDULE_TURN_START:
        if (e->warp->state != WARP_FRESH)
            put(t, 'E', "", e->block, e->warp->index);
        put(t, 'B', "run", e->block, e->warp->index);
        break;
    case SCHEDULE_TURN_END:
        put(t, 'E', "", e->block, e->warp->index);
        if (e->warp->state == WARP_DONE)
            break;
        wait_name(e->warp, name, sizeof name);
        put(t, 'B', name, e->block, e->warp->index);
        break;
    }
    pthread_mutex_unlock(&t->lock);
}

struct tracer *trace_open(const char *path)
{
    struct tracer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->hooks = (struct hooks){.data = t, .schedule = on_schedule};
    t->start = seconds_now();
    t->file = fopen(path, "wb");
    if (!t->file) {
        free(t);
        return NULL;
    }
    pthread_mutex_init(&t->lock, NULL);
    trace_head(t->file);
    return t;
}

const struct hooks *trace_hooks(struct tracer *t)
{
    return &t->hooks;
}

bool trace_close(struct tracer *t)
{
    if (!t)
        return true;
    if (t->events > MAX_EVENTS) {
        char left_out[64];
        snprintf(left_out, sizeof left_out, "%llu more events left out", (unsigned long long)(t->events - MAX_EVENTS));
        trace_name_process(t->file, 0, left_out);
    }
    trace_tail(t->file);
    bool ok = fflush(t->file) == 0 && !ferror(t->file);
    ok &= fclose(t->file) == 0;
    pthread_mutex_destroy(&t->lock);
    free(t);
    return ok;
}
