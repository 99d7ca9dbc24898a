/* Memory that nothing uses or nobody frees, handles that nobody destroys: watch.h. */
#include "cuda/watch_found.h"

#include <stdio.h>
#include <stdlib.h>

#include "cuda/contexts.h"

/* ---- memory that nothing uses ---- */

struct unused {
    const struct stack *allocated;
    hd_machine *machine;
    void *start;
    size_t bytes;
};

static void look_for_unused(const struct unused *u, bool at_end)
{
    size_t n = hd_checker_undefined_bytes(hd_machine_checker(u->machine), u->start, u->bytes);
    struct watch_finding w = {
        .severity = HD_SEVERITY_WARNING, .code = "unused-memory", .stack = u->allocated, .at_end = at_end};
    if (!n || !u->allocated)
        return;
    if (n == u->bytes)
        watch_found(&w, "nothing is ever written to the %zu bytes of %s", n, watch_call_of(u->allocated));
    else
        watch_found(&w, "%zu of the %zu bytes of %s are never written", n, u->bytes, watch_call_of(u->allocated));
}

static void free_comes(void *data, hd_result status)
{
    if (!status)
        look_for_unused(data, false);
    free(data);
}

static struct unused unused_of(const struct allocation *a)
{
    return (struct unused){a->stack, a->context->device->machine, a->start, a->bytes};
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

static void leaked(const struct stack *s, uint64_t bytes, hd_severity severity, const char *what)
{
    struct watch_finding w = {.severity = severity, .code = "leak", .stack = s, .bytes = bytes, .at_end = true};
    if (s)
        watch_found(&w, "%s", what);
}

static void leaked_handle(const char *what, const struct stack *created)
{
    char text[128];
    snprintf(text, sizeof text, "the %s of %s is never destroyed", what, watch_call_of(created));
    leaked(created, 0, HD_SEVERITY_WARNING, text);
}

static bool ended; /* the process: watch_end() */

void watch_leaks(CUcontext c)
{
    if (ended)
        return;
    for (const struct allocation *a = c->allocations; a && watch_options()->unused; a = a->next)
        look_for_unused(&(struct unused){a->stack, c->device->machine, a->start, a->bytes}, true);
    if (!watch_options()->leaks)
        return;
    for (const struct allocation *a = c->allocations; a; a = a->next) {
        char what[128];
        snprintf(what, sizeof what, "of %s are never freed", watch_giver(a->stack, a->type));
        leaked(a->stack, a->bytes, HD_SEVERITY_ERROR, what);
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
