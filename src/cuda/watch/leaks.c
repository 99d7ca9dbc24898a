/* Leaks: unused or unfreed memory, and handles that are never destroyed: watch.h. */
#include "cuda/watch/watch_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "cuda/state/contexts.h"
#include "cuda/watch/nvtx_memory.h"

/* ---- memory that nothing uses ---- */

struct unused {
    const struct stack *allocated;
    hd_machine *machine;
    void *start;
    size_t bytes;
    char name[128]; /* " `NAME`", or "" */
};

static void look_for_unused(const struct unused *u, bool at_end)
{
    size_t n = hd_checker_undefined_bytes(hd_machine_checker(u->machine), u->start, u->bytes);
    struct watch_finding w = {
        .severity = HD_SEVERITY_WARNING, .code = "unused-memory", .stack = u->allocated, .at_end = at_end};
    if (!n || !u->allocated)
        return;
    if (n == u->bytes)
        watch_found(&w, "nothing is ever written to the %zu bytes of %s%s", n, watch_call_of(u->allocated), u->name);
    else
        watch_found(&w, "%zu of the %zu bytes of %s%s are never written", n, u->bytes, watch_call_of(u->allocated),
                    u->name);
}

static void free_comes(void *data, hd_result status)
{
    if (!status)
        look_for_unused(data, false);
    free(data);
}

static struct unused unused_of(const struct allocation *a)
{
    struct unused u = {
        .allocated = a->stack, .machine = a->context->device->machine, .start = a->start, .bytes = a->bytes};
    nvtx_memory_name(a->start, u.name, sizeof u.name);
    return u;
}

void watch_unused(const struct allocation *a)
{
    struct unused u = unused_of(a);
    if (watch_options()->unused)
        look_for_unused(&u, false);
}

void watch_free_in(hd_stream *stream, const struct allocation *a)
{
    struct unused *u = watch_options()->unused ? malloc(sizeof *u) : NULL;
    if (!u)
        return;
    *u = unused_of(a);
    if (hd_stream_call(stream, free_comes, u, HD_CALL_ALWAYS | HD_CALL_UPKEEP))
        free(u);
}

/* ---- leaks ---- */

static void leaked(const struct stack *s, uint64_t bytes, hd_severity severity, const char *code, const char *what)
{
    struct watch_finding w = {.severity = severity, .code = code, .stack = s, .bytes = bytes, .at_end = true};
    if (s)
        watch_found(&w, "%s", what);
}

static void leaked_handle(const char *what, const struct stack *created)
{
    char text[128];
    snprintf(text, sizeof text, "the %s of %s is never destroyed", what, watch_call_of(created));
    leaked(created, 0, HD_SEVERITY_WARNING, "leak", text);
}

/* A region that a pool gave out and has not taken back, in memory that still exists. */
static void region_left(void *data, size_t bytes, const char *name)
{
    const struct allocation *a = data;
    char what[256];
    snprintf(what, sizeof what, "%s%s%s of a pool are handed out and never given back (NVTX)", name ? "`" : "",
             name ? name : "", name ? "`" : "");
    leaked(a->stack, bytes, HD_SEVERITY_ERROR, "region-leak", what);
}

static bool ended; /* the process is ending: watch_end() */

void watch_leaks(CUcontext c)
{
    if (ended)
        return;
    for (const struct allocation *a = c->allocations; a && watch_options()->unused; a = a->next) {
        struct unused u = unused_of(a);
        look_for_unused(&u, true);
    }
    if (!watch_options()->leaks)
        return;
    for (const struct allocation *a = c->allocations; a; a = a->next) {
        char what[256], name[128];
        snprintf(what, sizeof what, "of %s%s are never freed", watch_giver(a->stack, a->type),
                 nvtx_memory_name(a->start, name, sizeof name));
        leaked(a->stack, a->bytes, HD_SEVERITY_ERROR, "leak", what);
        nvtx_memory_each_region(a->start, a->bytes, region_left, (void *)a);
    }
    watch_each_left(c, leaked_handle);
}

void watch_end(void)
{
    if (!watch_is_on() || ended)
        return;
    context_each(watch_leaks);
    ended = true;
}
