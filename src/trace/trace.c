/* See trace.h. Every turn of a warp is a slice; what lies between two turns is another, named after
 * what was waited for. So nothing has to be remembered from event to event.
 */
#include "trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/demangle.h"
#include "base/monotonic.h"
#include "base/output_stream.h"
#include "exec/barrier.h"
#include "exec/events.h"
#include "exec/launch.h"
#include "exec/worker.h"
#include "trace/events.h"

enum { MAX_EVENTS = 4000000 };

struct tracer {
    struct event_client client;
    FILE *file;
    pthread_mutex_t lock;
    uint64_t events;
    double start;
};

static double now_us(const struct tracer *t, const struct schedule_event *e)
{
    return e->block->launch->scheduled ? 1e-3 * (double)e->steps : 1e6 * (seconds_now() - t->start);
}

/* One id a block of a launch: launches follow each other in the file. */
static struct trace_thread thread_of(const struct schedule_event *e)
{
    return (struct trace_thread){e->block->launch->number * 1000000 + e->block->index, e->warp};
}

static void put(struct tracer *t, char phase, const char *name, const struct schedule_event *e)
{
    if (t->events++ < MAX_EVENTS)
        trace_event(t->file, phase, thread_of(e), name, now_us(t, e));
}

static void put_name(struct tracer *t, const struct schedule_event *e)
{
    struct arena scratch = {0};
    const uint32_t *ctaid = e->block->ctaid;
    const char *name = arena_printf(&scratch, "%s, block (%u,%u,%u)",
                                    demangle(e->block->launch->kernel->kernel, &scratch), ctaid[0], ctaid[1], ctaid[2]);
    if (t->events++ < MAX_EVENTS)
        trace_name_process(t->file, thread_of(e).process, name);
    arena_free(&scratch);
}

/* What a warp does until its next turn. */
static void wait_name(const struct schedule_event *e, char *name, size_t size)
{
    switch (e->state) {
    case TURN_BARRIER: snprintf(name, size, "%s", barrier_name(e->id)); break;
    case TURN_MASK: snprintf(name, size, "mask 0x%08x", e->id); break;
    default: snprintf(name, size, "ready"); break;
    }
}

static void on_schedule(void *data, const struct schedule_event *e)
{
    struct tracer *t = data;
    char name[32];
    pthread_mutex_lock(&t->lock);
    switch (e->kind) {
    case EVENT_BLOCK_START: put_name(t, e); break;
    case EVENT_TURN_START:
        if (!e->first)
            put(t, 'E', "", e);
        put(t, 'B', "run", e);
        break;
    default:
        put(t, 'E', "", e);
        if (e->state == TURN_DONE)
            break;
        wait_name(e, name, sizeof name);
        put(t, 'B', name, e);
        break;
    }
    pthread_mutex_unlock(&t->lock);
}

struct tracer *trace_open(const char *path)
{
    struct tracer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->client = (struct event_client){.data = t,
                                      .wants = EVENT_BIT(EVENT_BLOCK_START) | EVENT_BIT(EVENT_TURN_START) |
                                               EVENT_BIT(EVENT_TURN_END),
                                      .schedule = on_schedule};
    t->start = seconds_now();
    t->file = written_open(path);
    if (!t->file) {
        free(t);
        return NULL;
    }
    pthread_mutex_init(&t->lock, NULL);
    trace_head(t->file);
    return t;
}

const struct event_client *trace_client(struct tracer *t)
{
    return &t->client;
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
