/* The checker's life; see check.h. */
#include "check/report/findings.h"

#include <stdlib.h>

static void init_locks(struct checker *c)
{
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->host_places_lock, NULL);
    pthread_mutex_init(&c->findings.lock, NULL);
}

static bool open_races(struct checker *c, const struct checker *with)
{
    if (!(c->options.tools & HD_TOOL_RACECHECK))
        return true;
    c->timelines = with && with->timelines ? timelines_share(with->timelines) : timelines_new();
    c->races = c->timelines ? races_new(c->machine, c->timelines, c->budget) : NULL;
    if (c->races)
        tasks_watch(c);
    return c->races;
}

struct checker *checker_new(struct machine *m, const hd_checker_options *o, const struct checker *with)
{
    struct checker *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->machine = m;
    c->options = *o;
    budget_init(&c->own_budget, o->shadow_bytes);
    c->budget = with ? with->budget : &c->own_budget;
    init_locks(c);
    sync_open(c);
    rules_open(c);
    copies_open(c);
    proxies_open(c);
    if (memory_open(c) && open_races(c, with))
        return c;
    checker_free(c);
    return NULL;
}

void checker_free(struct checker *c)
{
    if (!c)
        return;
    tasks_unwatch(c);
    races_free(c->races);
    timelines_free(c->timelines);
    memory_close(c);
    wgmma_close(c);
    findings_close(&c->findings);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->host_places_lock);
    free(c);
}

void checker_forget(struct checker *c, const void *p, uint64_t bytes)
{
    memory_forget(c, p, bytes);
    if (c->races)
        races_forget(c->races, p, bytes);
}

/* Those of racecheck. */
static bool add_races(struct checker *c, const struct site_table *k, struct event_list *events,
                      const struct event_client *wgmma)
{
    races_begin(c->races, k);
    return (!k->has_async || events_add(events, &c->copies)) && (!wgmma || events_add(events, wgmma)) &&
           events_add(events, races_client(c->races, k)) && (!proxies_concern(k) || events_add(events, &c->proxies));
}

bool checker_begin(struct checker *c, struct kernel *kernel, struct event_list *events, bool ruled)
{
    const struct site_table *k = kernel_sites(kernel);
    unsigned tools = c->options.tools;
    pthread_mutex_lock(&c->lock);
    if (c->running++ == 0 && c->races)
        races_rest(c->races);
    const struct event_client *wgmma = c->races && k ? wgmma_client(c, k) : NULL;
    pthread_mutex_unlock(&c->lock);
    return k && (!(tools & (HD_TOOL_MEMCHECK | HD_TOOL_INITCHECK)) || events_add(events, &c->memory)) &&
           (!ruled || !(tools & HD_TOOL_MEMCHECK) || events_add(events, &c->rules)) &&
           (!(tools & HD_TOOL_SYNCCHECK) || events_add(events, sync_client(c, k))) &&
           (!c->races || add_races(c, k, events, wgmma));
}

void checker_end(struct checker *c)
{
    pthread_mutex_lock(&c->lock);
    if (--c->running == 0)
        memory_rest(c);
    pthread_mutex_unlock(&c->lock);
}

void checker_finish(struct checker *c)
{
    pthread_mutex_lock(&c->findings.lock);
    c->finished = true;
    pthread_mutex_unlock(&c->findings.lock);
}

size_t checker_count(struct checker *c)
{
    pthread_mutex_lock(&c->findings.lock);
    size_t n = c->findings.n;
    pthread_mutex_unlock(&c->findings.lock);
    return n + (atomic_load(&c->lost) != NULL) + (c->races ? races_count(c->races) : 0);
}

bool checker_report(struct checker *c, struct diags *diags)
{
    jmp_buf oom, *outer = diags->arena->on_oom;
    volatile bool whole = false;
    diags->arena->on_oom = &oom;
    pthread_mutex_lock(&c->findings.lock);
    if (setjmp(oom) == 0) {
        if (c->finished && c->options.tools & HD_TOOL_MEMCHECK)
            memory_count_leaks(c);
        findings_report(c, diags);
        memory_tell_lost(c, diags);
        if (c->races)
            races_report(c->races, &c->options, diags);
        whole = true;
    }
    pthread_mutex_unlock(&c->findings.lock);
    diags->arena->on_oom = outer;
    return whole;
}
