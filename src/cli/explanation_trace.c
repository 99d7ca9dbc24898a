/* Writes the timelines of explanation.h as a file of events (trace/events.h): what the page draws
 * of the whole program, and of the warps of one block of each kernel.
 *
 * Each process of the program is a process of the file, with a line for each stream and each host
 * thread. Each kernel whose warps were recorded is a process, too, with a line for each warp; its
 * block begins with the kernel's first launch.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/explanation.h"
#include "exec/device.h"
#include "trace/events.h"

struct trace {
    const struct explanation *e;
    FILE *f;
    uint64_t processes; /* processes whose track is named already */
    double us_of_cycle;
    struct arena *arena;
};

static const char *string(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "?";
}

static bool same(const json_t *a, const json_t *b, const char *key)
{
    return json_equal(json_object_get(a, key), json_object_get(b, key));
}

static void put_program(struct trace *t, const json_t *process)
{
    struct trace_thread at = {++t->processes, 0};
    size_t i, k;
    json_t *track, *span;
    trace_name_process(
        t->f, at.process,
        arena_printf(t->arena, "%s (process %.0f)", string(process, "program"), real_of(process, "process")));
    json_array_foreach(t->e->host, i, track)
    {
        if (!same(track, process, "process"))
            continue;
        trace_name_thread(t->f, at, string(track, "name"));
        json_array_foreach(json_object_get(track, "spans"), k, span)
            trace_span(t->f, at, string(span, "name"), string(span, "kind"), 1e-3 * real_of(span, "from"),
                       1e-3 * real_of(span, "to"));
        at.thread++;
    }
}

/* When the kernel's first counted launch begins, in nanoseconds; 0 if no stream shows it. */
static double start_of(const struct explanation *e, const json_t *launch)
{
    size_t i, k;
    json_t *track, *span;
    double first = -1;
    json_array_foreach(e->host, i, track)
    {
        if (!same(track, launch, "process") || !same(track, launch, "device"))
            continue;
        json_array_foreach(json_object_get(track, "spans"), k, span)
        {
            double from = real_of(span, "from");
            if (strcmp(string(span, "kind"), "kernel") == 0 &&
                strcmp(string(span, "name"), string(launch, "kernel")) == 0 && real_of(span, "to") > from &&
                (first < 0 || from < first))
                first = from;
        }
    }
    return first > 0 ? first : 0;
}

static void put_warps(struct trace *t, const json_t *launch, const json_t *timeline)
{
    const json_t *block = json_object_get(timeline, "block"), *warps = json_object_get(timeline, "warps");
    struct trace_thread at = {++t->processes, 0};
    double start = 1e-3 * start_of(t->e, launch);
    size_t i, k;
    json_t *spans, *span;
    trace_name_process(t->f, at.process,
                       arena_printf(t->arena, "%s: warps of block (%.0f,%.0f,%.0f)", string(launch, "kernel"),
                                    json_number_value(json_array_get(block, 0)),
                                    json_number_value(json_array_get(block, 1)),
                                    json_number_value(json_array_get(block, 2))));
    json_array_foreach(warps, i, spans)
    {
        at.thread = (uint32_t)i;
        trace_name_thread(t->f, at, arena_printf(t->arena, "warp %zu", i));
        json_array_foreach(spans, k, span)
            trace_span(t->f, at, string(span, "what"), "warp", start + t->us_of_cycle * real_of(span, "from"),
                       start + t->us_of_cycle * real_of(span, "to"));
    }
}

char *explanation_trace(const struct explanation *e, const char *device, struct arena *arena)
{
    char *text = NULL;
    size_t n, i;
    json_t *process, *launch;
    struct trace t = {e, open_memstream(&text, &n), 0, 1e3 / device_model_of_report(device)->clock_khz, arena};
    if (!t.f)
        return NULL;
    trace_head(t.f);
    json_array_foreach(e->processes, i, process) put_program(&t, process);
    json_array_foreach(e->rows, i, launch)
    {
        const json_t *timeline = json_object_get(launch, "timeline");
        if (timeline)
            put_warps(&t, launch, timeline);
    }
    trace_tail(t.f);
    bool bad = ferror(t.f);
    bad |= fclose(t.f) != 0;
    if (!bad)
        return text;
    free(text);
    return NULL;
}
